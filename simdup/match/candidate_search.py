"""Texts in, candidate pairs out: pairs whose sketches share enough, or whose fingerprints are near.

`candidates` says how far to search by distance, and `postings` finds what sketches share.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from simdup.arrays import Distances, Hashes, Indices, Mask, Similarities
from simdup.errors import TooManyPairsError
from simdup.fingerprint.sketch import Sketches
from simdup.match.candidates import affordable_distance, needs_sieve, reach_of, sample
from simdup.match.distinct_texts import Texts
from simdup.match.division import Search, pairs_inside, salts_of
from simdup.match.own_share import Sieve, least_similarity, passing, sieves
from simdup.match.postings import Together, texts_together
from simdup.progress import Progress
from simdup.search.distinct import distinct_rows
from simdup.search.hamming import paired_distances
from simdup.search.pairs import iter_near_pairs, iter_near_pairs_between
from simdup.settings import Settings

#: The most texts of a part of which a further round compares all with all: they have
#: 64 pairs each, as many as a search by distance may have.
ALL_WITH_ALL = 128


class CandidateSearch:
    """Searches distinct texts for candidate pairs."""

    def __init__(self, texts: Texts, settings: Settings, progress: Progress) -> None:
        self.texts, self.settings, self.progress = texts, settings, progress
        self.limits = settings.limits
        self.bits, self.wide = settings.recipe.bits, 8 * texts.wide.shape[1]
        #: Pairs within one of two sides do not count.
        self.is_two_sided = bool(texts.is_reference.any())
        #: The sketches, if texts are compared and all features weigh the same.
        self.sketches = None if needs_sieve(settings) else texts.sketches

    def search(self, active: Indices, wanted: int) -> Search:
        """The candidate pairs of these texts: by what they share, or by distance if it is cheaper.

        A search by distance goes as far as `wanted` bits, or as far as is affordable.
        """
        if self.sketches is None or len(active) <= self.limits.by_distance:
            return self.affordable(active, wanted)
        together = self._by_lists(self.sketches, active, self.texts.is_reference[active])
        return Search(*together, is_complete=not len(together.crowded))

    def _by_lists(
        self, sketches: Sketches, active: Indices, is_reference: Mask, salts: Hashes | None = None
    ) -> Together:
        """The pairs of these texts whose sketches share enough; see `texts_together`."""
        order, counts = self.texts.content_order(active), self.texts.counts[active]
        taken = sketches.take(active)
        found = texts_together(
            taken, counts, order, is_reference, progress=self.progress, salts=salts
        )
        return Together(active[found.pairs], active[found.crowded])

    def inside(self, active: Indices, part: Indices) -> Search:
        """The candidate pairs of these texts inside their parts; `part` (n,) is of all texts.

        All pairs, or in parts with many of the texts the ones whose sketches share enough.
        """
        is_few = np.bincount(part[active], minlength=len(part))[part[active]] <= ALL_WITH_ALL
        few, many = active[is_few], active[~is_few]
        is_reference = self.texts.is_reference
        few = few[np.lexsort((is_reference[few], part[few]))]
        pairs, crowded = pairs_inside(few, part[few]), many
        if len(many) and self.sketches is not None:
            salts = salts_of(part, self.texts.digests)[many]
            more, crowded = self._by_lists(self.sketches, many, is_reference[many], salts)
            pairs = np.concatenate((pairs, more))
        if self.is_two_sided:
            pairs = pairs[is_reference[pairs[:, 0]] != is_reference[pairs[:, 1]]]
        return Search(pairs, crowded, not len(crowded))

    def affordable(self, active: Indices, wanted: int) -> Search:
        """The pairs of these texts within `wanted` bits, or fewer if they would be too many."""
        distances, weight = self.sampled_distances(active, wanted)
        k = affordable_distance(distances, weight, len(active), wanted, self.limits)
        # Even texts with the same fingerprint may have too many pairs among themselves.
        pairs = self.near_pairs(active, k) if k or not wanted else self.equal_rows(active)
        return Search(pairs, active, k == wanted, k)

    def may_be_alike(self, pairs: Indices, most: float = 1.0) -> Indices:
        """Of these candidate pairs, the ones that sketches do not rule out; (m, 2).

        Pairs that may have a cosine of `most` are kept, even if more is asked for.
        """
        least = np.minimum(self.least(pairs), most)
        return pairs[passing(self._sieves, self.texts.counts, pairs, least)]

    @cached_property
    def _sieves(self) -> list[Sieve]:
        """The sketches that rule pairs out; none if they cannot."""
        large = None if self.sketches is None else self.texts.large
        return [] if large is None else sieves(large, self.texts.counts, self.sketches)

    def least(self, pairs: Indices) -> Similarities:
        """The similarity that the lengths of the two texts of each pair ask for; (m,)."""
        shorter = self.texts.counts[pairs].min(axis=1)
        return least_similarity(self.settings.similarity, shorter)

    def sampled_distances(self, active: Indices, reach: int) -> tuple[Distances, float]:
        """Distances of sampled pairs that may be candidates, and how many pairs each stands for."""
        active = active[self.texts.content_order(active)]
        references, others = self._sides(active) if self.is_two_sided else (active, active)
        most = len(references) if self.is_two_sided else None
        left, right, pairs = sample(len(others), most, self.limits)
        i, j = others[left], references[right]
        passes = reach_of(self.settings, reach, self.wide).passes(self.texts.wide, i, j)
        distances = paired_distances(self.texts.rows, i[passes], j[passes])
        return distances, pairs / max(len(left), 1)

    def near_pairs(self, active: Indices, k: int) -> Indices:
        """Pairs of these texts within k bits that may count: (m, 2)."""
        found, count, most = [np.empty((0, 2), np.int64)], 0, self.limits.near_pairs
        for chunk in self._near_pairs(active, k):
            found.append(chunk)
            count += len(chunk)
            if count > most:
                advice = "lower -k, raise --similarity, or take more --bits"
                raise TooManyPairsError(f"more than {most} pairs within {k} bits; {advice}")
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
            for pairs in iter_near_pairs(wide[active], reach, self.progress):
                yield active[pairs[:, :2]]

    def _sides(self, active: Indices) -> tuple[Indices, Indices]:
        """The references among these texts, and the others."""
        is_reference = self.texts.is_reference[active]
        return active[is_reference], active[~is_reference]

    def equal_rows(self, active: Indices) -> Indices:
        """Pair each of these texts with the first one that has the same fingerprint: (m, 2)."""
        if self.is_two_sided:
            return self.near_pairs(active, 0)
        active = active[self.texts.content_order(active)]
        distinct = distinct_rows(self.texts.rows[active])
        first = np.repeat(distinct.members[distinct.offsets[:-1]], distinct.sizes)
        spokes = active[np.column_stack((first, distinct.members))]
        return spokes[spokes[:, 0] != spokes[:, 1]]
