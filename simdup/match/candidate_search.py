"""Texts in, candidate pairs out: pairs whose sketches share enough, or whose fingerprints are near.

`candidates` says how far to search by distance, and `postings` finds what sketches share.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from simdup.arrays import Distances, Indices, Mask
from simdup.errors import TooManyPairsError
from simdup.match.candidates import reach_of, sample
from simdup.match.distinct_texts import Texts
from simdup.match.postings import BY_DISTANCE, Together, texts_together
from simdup.progress import Progress
from simdup.search.distinct import distinct_rows
from simdup.search.hamming import paired_distances
from simdup.search.pairs import MAX_PAIRS, Reach, iter_near_pairs, iter_near_pairs_between
from simdup.settings import Settings


class CandidateSearch:
    """Searches distinct texts for candidate pairs."""

    def __init__(self, texts: Texts, settings: Settings, progress: Progress) -> None:
        self.texts, self.settings, self.progress = texts, settings, progress
        self.bits, self.wide = settings.recipe.bits, 8 * texts.wide.shape[1]
        #: Pairs within one of two sides do not count.
        self.is_two_sided = bool(texts.is_reference.any())
        is_usable = settings.own_share and settings.recipe.has_equal_weights
        #: The sketches, if own shares decide and all features weigh the same.
        self.sketches = texts.sketches if is_usable else None

    def together(self, active: Indices, is_reference: Mask) -> Together | None:
        """The pairs of these texts whose sketches share enough; None if distances cost less.

        See `texts_together`.
        """
        if self.sketches is None or len(active) <= BY_DISTANCE:
            return None
        order, counts = self.texts.content_order(active), self.texts.counts[active]
        taken = self.sketches.take(active)
        found = texts_together(taken, counts, order, is_reference, self.progress)
        return Together(active[found.pairs], active[found.crowded])

    def sampled_distances(self, active: Indices, reach: int) -> tuple[Distances, float]:
        """Distances of sampled pairs that may be candidates, and how many pairs each stands for."""
        active = active[self.texts.content_order(active)]
        references, others = self._sides(active) if self.is_two_sided else (active, active)
        left, right, pairs = sample(len(others), len(references) if self.is_two_sided else None)
        i, j = others[left], references[right]
        passes = reach_of(self.settings, reach, self.wide).passes(self.texts.wide, i, j)
        distances = paired_distances(self.texts.rows, i[passes], j[passes])
        return distances, pairs / max(len(left), 1)

    def near_pairs(self, active: Indices, k: int) -> Indices:
        """Pairs of these texts within k bits that may count: (m, 2)."""
        found, count = [np.empty((0, 2), np.int64)], 0
        for chunk in self._near_pairs(active, k):
            found.append(chunk)
            count += len(chunk)
            if count > MAX_PAIRS:
                advice = "lower -k, raise --similarity, or take more --bits"
                raise TooManyPairsError(f"more than {MAX_PAIRS} pairs within {k} bits; {advice}")
        return np.concatenate(found)

    def _near_pairs(self, active: Indices, k: int) -> Iterator[Indices]:
        """Yield pairs of these texts within k bits, in chunks."""
        reach, wide = reach_of(self.settings, k, self.wide), self.texts.wide
        if self.is_two_sided:
            references, others = self._sides(active)
            sides = wide[others], wide[references]
            for pairs in iter_near_pairs_between(*sides, reach, self.progress):
                yield np.column_stack((others[pairs[:, 0]], references[pairs[:, 1]]))
        else:
            yield from self.near_on_one_side(active, reach)

    def near_on_one_side(self, active: Indices, reach: Reach) -> Iterator[Indices]:
        """Yield pairs (m, 2) of these texts, of whichever side, within reach."""
        for pairs in iter_near_pairs(self.texts.wide[active], reach, self.progress):
            yield active[pairs[:, :2]]

    def _sides(self, active: Indices) -> tuple[Indices, Indices]:
        """The references among these texts, and the others."""
        is_reference = self.texts.is_reference[active]
        return active[is_reference], active[~is_reference]

    def equal_rows(self, active: Indices) -> Indices:
        """Pair each of these texts with the first one that has the same fingerprint: (m, 2)."""
        return self.near_pairs(active, 0) if self.is_two_sided else self.spokes(active)

    def spokes(self, active: Indices) -> Indices:
        """Pair each text with the first one of the same fingerprint, of either side: (m, 2)."""
        active = active[self.texts.content_order(active)]
        distinct = distinct_rows(self.texts.rows[active])
        first = np.repeat(distinct.members[distinct.offsets[:-1]], distinct.sizes)
        spokes = active[np.column_stack((first, distinct.members))]
        return spokes[spokes[:, 0] != spokes[:, 1]]
