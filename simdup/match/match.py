"""Distinct texts with fingerprints in, groups out; what a text is of, a caller knows.

    distinct texts -> pairs within reach -> exact similarity decides -> groups

A search that would give too many pairs is narrowed. What it finds is grouped, the
representatives are searched again, further out since they are fewer, and so on: so a
collection of look-alikes is found whole, without ever listing all its pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from simdup.errors import TooManyPairsError
from simdup.match.candidates import affordable, recall, sample, sample_between, sieve, wanted
from simdup.match.groups import closest, leaders, members_of
from simdup.match.verify import decide
from simdup.records import SHORT, Candidates
from simdup.search.distinct import distinct_numbers, distinct_rows
from simdup.search.hamming import paired_distances
from simdup.search.pairs import MAX_PAIRS, Reach, iter_near_pairs, iter_pairs, iter_pairs_between
from simdup.theory import similarity_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from simdup.fingerprint.features import Features
    from simdup.match.distinct_texts import Texts
    from simdup.progress import Progress
    from simdup.settings import Settings

    Indices = NDArray[np.int64]
    Similarities = NDArray[np.float64]


# Rounds of searching representatives again. Each leaves a fraction of them; two or three
# are usual, and more than this would mean that they do not become fewer.
ROUNDS = 10


class Known(Protocol):
    """Similarities that were found out before, by the digests of two texts' features."""

    def similarities(self, left: NDArray[np.uint64], right: NDArray[np.uint64]) -> Similarities:
        """Return the similarity of each pair, NaN for one that is not known."""

    def keep_similarities(
        self, left: NDArray[np.uint64], right: NDArray[np.uint64], values: Similarities
    ) -> None:
        """Remember the similarities of these pairs."""


class Again(Protocol):
    """Where the features of texts come from when exact similarities decide."""

    def expect(self, texts: Indices) -> None:
        """Announce the texts (ascending) whose features will be asked for next."""

    def features(self, texts: Indices) -> Features:
        """Return the features of these texts, whose numbers ascend."""


@dataclass(frozen=True, slots=True, eq=False)
class Matched:
    """What matching some texts gave."""

    groups: tuple[Indices, ...]
    """The texts of each group, its representative first."""
    alike: Similarities
    """How similar each of them is to the first of its group, for all groups one after the
    other; NaN where nothing was verified."""
    candidates: Candidates | None
    """None when nothing was verified."""


def match(
    texts: Texts,
    settings: Settings,
    again: Again,
    progress: Progress,
    known: Known | None = None,
) -> Matched:
    """The groups of some texts, each of at least two items.

    Similarities that are known are not computed again.
    """
    return _Matching(texts, settings, again, progress, known).matched()


class _Matching:
    """One run: the texts, and how they are to be compared."""

    def __init__(
        self,
        texts: Texts,
        settings: Settings,
        again: Again,
        progress: Progress,
        known: Known | None,
    ) -> None:
        self.texts, self.settings, self.again = texts, settings, again
        self.progress, self.known = progress, known
        self.bits = settings.recipe.bits
        self.is_sieved = settings.verified and 8 * texts.wide.shape[1] > self.bits
        # Copies within one of two sides are no match: there each text counts for one.
        self.is_two_sided = bool(texts.is_reference.any())
        self.sizes = np.ones_like(texts.sizes) if self.is_two_sided else texts.sizes

    def matched(self) -> Matched:
        """The groups, and how candidates were found."""
        if self.settings.verified:
            leader, pairs, similarities, candidates = self._verified()
            groups = self._members(leader)
            alike = self._to_first(groups, pairs, similarities)
        else:
            leader, candidates = self._bare(), None
            groups = self._members(leader)
            alike = np.full(sum(map(len, groups)), np.nan)
        return Matched(tuple(groups), alike, candidates)

    def _members(self, leader: Indices) -> list[Indices]:
        """The texts of each group, its representative first."""
        rank = self.texts.rank
        return members_of(self.texts.apart.led(leader, rank), rank, self.sizes)

    def _bare(self) -> Indices:
        """The representative of each text when distances decide."""
        every = np.arange(len(self.texts))
        pairs = self._pairs(every, self.settings.distance)
        short = (self.texts.counts[pairs] < SHORT).any(axis=1)
        # The distance of a short text says too little by itself.
        least = similarity_at(self.settings.distance, self.bits)
        holds = np.ones(len(pairs), bool)
        holds[short] = self._similarities(pairs[short]) >= least
        pairs = pairs[holds]
        pairs = pairs[self.texts.apart.allows(pairs)]
        distances = paired_distances(self.texts.rows, pairs[:, 0], pairs[:, 1])
        return self._leaders(pairs, -distances.astype(np.float64), every)

    def _verified(self) -> tuple[Indices, Indices, Similarities, Candidates]:
        """The representative of each text when exact similarities decide.

        Then the pairs that were found alike, how much they are, and how they were found.
        """
        similarity = self.settings.similarity
        want = k = wanted(similarity, self.bits)
        leader = active = np.arange(len(self.texts))
        known, values, decided, reach = [np.empty((0, 2), np.int64)], [np.empty(0)], 0, want
        for _ in range(ROUNDS):
            k = self._affordable(active, want)
            # Only representatives are searched again: a chain through others is as short as
            # the narrowest search.
            reach = min(reach, k) if self.settings.linkage == "components" else k
            candidates = self._pairs(active, k) if k or not want else self._equal_rows(active)
            pairs, similarities = self._alike(candidates)
            before, leader = leader, leader.copy()
            leader[active] = self._leaders(pairs, similarities, active)
            # Who was with a representative goes where that went, or is free again.
            moved = np.flatnonzero(leader[before] != leader)
            spokes = np.column_stack((moved, leader[before][moved]))
            follows, likeness = spokes, np.empty(0)
            if self.settings.linkage == "star":
                follows, likeness = self._alike(spokes)
                known, values = [*known, follows], [*values, likeness]
            leader[moved] = moved
            leader[follows[:, 0]] = follows[:, 1]
            known, values = [*known, pairs], [*values, similarities]
            decided += len(candidates) + len(spokes)
            is_settled = k == want and len(follows) == len(moved)
            if is_settled or (leader == before).all():
                break
            active = distinct_numbers(leader)
        wide = 8 * self.texts.wide.shape[1]
        found = Candidates(reach, want, recall(similarity, self.bits, reach, wide), decided)
        return leader, np.concatenate(known), np.concatenate(values), found

    def _affordable(self, active: Indices, want: int) -> int:
        """The distance up to `want` within which these texts have not too many pairs."""
        if not self.is_two_sided:
            left, right, pairs = sample(len(active))
        else:
            is_reference = self.texts.is_reference[active]
            others, references = np.flatnonzero(~is_reference), np.flatnonzero(is_reference)
            left, right, pairs = sample_between(len(others), len(references))
            left, right = others[left], references[right]
        left, right = active[left], active[right]
        distances = paired_distances(self.texts.rows, left, right)
        distances = distances[self._passes(left, right)]
        return affordable(distances, pairs / max(len(left), 1), len(active), want)

    def _pairs(self, active: Indices, k: int) -> Indices:
        """Pairs of these texts within k bits that may count: (m, 2)."""
        found, count = [np.empty((0, 2), np.int64)], 0
        for chunk in self._near(active, k):
            found.append(chunk)
            count += len(chunk)
            if count > MAX_PAIRS:
                advice = "lower -k, raise --similarity, or take more --bits"
                raise TooManyPairsError(f"more than {MAX_PAIRS} pairs within {k} bits; {advice}")
        return np.concatenate(found)

    def _near(self, active: Indices, k: int) -> Iterator[Indices]:
        """Yield pairs of these texts within k bits, in chunks."""
        rows = self.texts.rows[active]
        if self.is_two_sided:
            is_reference = self.texts.is_reference[active]
            left, right = active[~is_reference], active[is_reference]
            sides = rows[~is_reference], rows[is_reference]
            for pairs in iter_pairs_between(*sides, k, progress=self.progress):
                i, j = left[pairs[:, 0]], right[pairs[:, 1]]
                passes = self._passes(i, j)
                yield np.column_stack((i[passes], j[passes]))
            return
        if self.is_sieved:
            most = sieve(self.settings.similarity, 8 * self.texts.wide.shape[1])
            every = len(active) == len(self.texts)
            wide = self.texts.wide if every else self.texts.wide[active]
            stream = iter_near_pairs(wide, Reach(self.bits, k, most), self.progress)
        else:
            stream = iter_pairs(rows, k, progress=self.progress)
        yield from (active[pairs[:, :2]] for pairs in stream)

    def _equal_rows(self, active: Indices) -> Indices:
        """Of texts with the same fingerprint each with the first: (m, 2).

        For collections in which even these have too many pairs among themselves.
        """
        if self.is_two_sided:
            return self._pairs(active, 0)
        active = active[np.argsort(self.texts.rank[active])]
        distinct = distinct_rows(self.texts.rows[active])
        first = np.repeat(distinct.members[distinct.offsets[:-1]], distinct.sizes)
        spokes = active[np.column_stack((first, distinct.members))]
        return spokes[spokes[:, 0] != spokes[:, 1]]

    def _passes(self, i: Indices, j: Indices) -> NDArray[np.bool_]:
        """Which pairs are near in the wide fingerprints too, if there are any."""
        if not self.is_sieved:
            return np.ones(len(i), bool)
        most = sieve(self.settings.similarity, 8 * self.texts.wide.shape[1])
        return paired_distances(self.texts.wide, i, j) <= most

    def _leaders(self, pairs: Indices, closeness: Similarities, active: Indices) -> Indices:
        """The representative of each of these texts, by the pairs among them."""
        rank = self.texts.rank[active]
        position = np.empty(len(self.texts), np.int64)
        position[active] = np.arange(len(active))
        local = position[pairs]
        if self.is_two_sided and self.settings.linkage == "star":
            # References stand for groups, and each file goes to the closest.
            return active[closest(local, closeness, len(active), rank)]
        return active[leaders(local, len(active), self.settings.linkage, rank, self.sizes[active])]

    def _alike(self, pairs: Indices) -> tuple[Indices, Similarities]:
        """The pairs that are as similar as asked and not apart, and their exact similarities."""
        similarities = self._similarities(pairs)
        alike = similarities >= self.settings.similarity
        alike[alike] = self.texts.apart.allows(pairs[alike])
        return pairs[alike], similarities[alike]

    def _similarities(self, pairs: Indices) -> Similarities:
        """The exact similarity of each pair of texts, these read again; (m,)."""
        digests = self.texts.digests
        if self.known is None:
            similarities = np.full(len(pairs), np.nan)
        else:
            similarities = self.known.similarities(digests[pairs[:, 0]], digests[pairs[:, 1]])
        unknown = np.flatnonzero(np.isnan(similarities))
        i, j = pairs[unknown].T
        self.again.expect(distinct_numbers(pairs[unknown]))
        parts = decide(i, j, self.texts.counts, self.again.features)
        decided = self.progress(parts, "verify", len(unknown), lambda done: len(done[0]))
        for part, values in decided:
            similarities[unknown[part]] = values
            if self.known is not None:
                self.known.keep_similarities(digests[i[part]], digests[j[part]], values)
        return similarities

    def _to_first(
        self, groups: list[Indices], pairs: Indices, similarities: Similarities
    ) -> Similarities:
        """For each text of each group how similar it is to the first, by pairs or computed."""
        first = np.repeat(
            np.array([texts[0] for texts in groups], np.int64), list(map(len, groups))
        )
        asked, n = np.column_stack((_joined(groups), first)), len(self.texts)
        known = np.append(pairs.min(axis=1) * n + pairs.max(axis=1), -1)
        values = np.append(similarities, np.nan)
        keys = asked.min(axis=1) * n + asked.max(axis=1)
        order = np.argsort(known)
        at = order[np.searchsorted(known, keys, sorter=order) % len(known)]
        alike = np.where(known[at] == keys, values[at], np.nan)
        alike[asked[:, 0] == asked[:, 1]] = 1
        missing = np.isnan(alike)
        alike[missing] = self._similarities(asked[missing])
        return alike


def _joined(groups: list[Indices]) -> Indices:
    return np.concatenate([np.empty(0, np.int64), *groups])
