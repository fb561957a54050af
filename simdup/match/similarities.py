"""Pairs of texts in, exact similarities out.

Sketches that keep every feature of two texts tell how many they share. The similarities of longer
texts, and of features that weigh differently, are known or computed from texts read again.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Protocol

import numpy as np

from simdup.arrays import Hashes, Indices, Mask, Similarities
from simdup.fingerprint.features import Features
from simdup.match.distinct_texts import Texts
from simdup.match.own_share import cosines_of_whole
from simdup.match.recall import Sample
from simdup.match.verify import decide
from simdup.progress import Progress
from simdup.search.distinct import distinct_numbers
from simdup.settings import Settings


class SimilarityCache(Protocol):
    """Similarities that earlier scans computed, by the digests of two texts' features."""

    def similarities(self, left: Hashes, right: Hashes) -> Similarities:
        """Return the similarity of each pair, NaN for one that is not known."""

    def keep_similarities(self, left: Hashes, right: Hashes, values: Similarities) -> None:
        """Remember the similarities of these pairs."""


class FeatureSource(Protocol):
    """Reads texts again: for their features, where sketches do not keep all, or for their words."""

    def expect(self, texts: Indices) -> None:
        """Announce the texts (ascending) whose features will be asked for next."""

    def features(self, texts: Indices) -> Features:
        """Return the features of these texts, whose numbers ascend."""

    def chunks(self, text: int) -> Iterator[str]:
        """Yield a text in chunks of `text.chunking.chunks_of`; nothing if it has changed."""


class ExactSimilarities:
    """Computes exact similarities, of candidates together with the pairs of the sample."""

    def __init__(
        self,
        texts: Texts,
        settings: Settings,
        source: FeatureSource,
        progress: Progress,
        cache: SimilarityCache | None = None,
    ) -> None:
        self._texts, self.source, self._progress, self.cache = texts, source, progress, cache
        is_usable = settings.verified and settings.recipe.has_equal_weights
        self._sketches = texts.large if is_usable else None
        self.sample: Sample | None = None
        """The sample by which recall is measured, if it is measured."""

    def of_candidates(self, pairs: Indices) -> Similarities:
        """The exact similarity of each candidate pair; (m,).

        The first call also computes the pairs of the sample, so that texts are read once.
        """
        if self.sample is None or self.sample.is_verified:
            return self.of(pairs)
        every = np.concatenate((pairs, self.sample.missing(pairs)))
        similarities = self.of(every)
        self.sample.note_similarities(every, similarities)
        return similarities[: len(pairs)]

    def of(self, pairs: Indices) -> Similarities:
        """The exact similarity of any pair of texts (m, 2), however low; (m,)."""
        similarities = np.full(len(pairs), np.nan)
        are_whole = self._are_whole(pairs)
        if self.cache is not None:
            digests = self._texts.digests[pairs[~are_whole]]
            similarities[~are_whole] = self.cache.similarities(digests[:, 0], digests[:, 1])
        unknown = np.isnan(similarities)
        parts = chain(
            self._from_sketches(pairs, np.flatnonzero(unknown & are_whole)),
            self._read_again(pairs, np.flatnonzero(unknown & ~are_whole)),
        )
        total = int(np.count_nonzero(unknown))
        for part, values in self._progress(parts, "verify", total, lambda done: len(done[0])):
            similarities[part] = values
        return similarities

    def _are_whole(self, pairs: Indices) -> Mask:
        """Whether the sketches of both texts of each pair keep all their features; (m,)."""
        if self._sketches is None:
            return np.zeros(len(pairs), bool)
        found: Mask = (self._sketches.sizes[pairs] == self._texts.counts[pairs]).all(axis=1)
        return found

    def _from_sketches(
        self, pairs: Indices, asked: Indices
    ) -> Iterator[tuple[Indices, Similarities]]:
        """Yield which of the pairs were asked for, and their similarities."""
        if self._sketches is not None and len(asked):
            yield asked, cosines_of_whole(self._sketches, pairs[asked])

    def _read_again(self, pairs: Indices, asked: Indices) -> Iterator[tuple[Indices, Similarities]]:
        """Yield parts of the pairs that were asked for, and their similarities; keep these."""
        self.source.expect(distinct_numbers(pairs[asked]))
        for part, values in decide(pairs[asked], self._texts.counts, self.source.features):
            if self.cache is not None:
                digests = self._texts.digests[pairs[asked[part]]]
                self.cache.keep_similarities(digests[:, 0], digests[:, 1], values)
            yield asked[part], values
