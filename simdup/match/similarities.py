"""Pairs of texts in, exact similarities out.

Sketches that keep every feature of two texts tell how many they share. The similarities of longer
texts, and of features that weigh differently, are known or computed from texts read again.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from simdup.arrays import Hashes, Indices, Similarities
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
    """Reads texts again for their features, which exact similarities need."""

    def expect(self, texts: Indices) -> None:
        """Announce the texts (ascending) whose features will be asked for next."""

    def features(self, texts: Indices) -> Features:
        """Return the features of these texts, whose numbers ascend."""


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
        similarities, digests = np.full(len(pairs), np.nan), self._texts.digests
        if self._sketches is not None:
            is_whole = self._sketches.sizes == self._texts.counts
            are_whole = is_whole[pairs].all(axis=1)
            similarities[are_whole] = cosines_of_whole(self._sketches, pairs[are_whole])
        if self.cache is not None:
            asked = np.flatnonzero(np.isnan(similarities))
            i, j = pairs[asked].T
            similarities[asked] = self.cache.similarities(digests[i], digests[j])
        unknown = np.flatnonzero(np.isnan(similarities))
        i, j = pairs[unknown].T
        self.source.expect(distinct_numbers(pairs[unknown]))
        parts = decide(pairs[unknown], self._texts.counts, self.source.features)
        decided = self._progress(parts, "verify", len(unknown), lambda done: len(done[0]))
        for part, values in decided:
            similarities[unknown[part]] = values
            if self.cache is not None:
                self.cache.keep_similarities(digests[i[part]], digests[j[part]], values)
        return similarities
