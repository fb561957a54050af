"""Documents with fingerprints in, groups out.

    distinct texts -> pairs within reach -> exact similarity decides -> groups

A search that would give too many pairs is narrowed. What it finds is grouped, the
representatives are searched again, further out since they are fewer, and so on: so a
collection of look-alikes is found whole, without ever listing all its pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simdup.candidates import affordable, recall, sample, sample_between, sieve, wanted
from simdup.errors import TooManyPairsError
from simdup.fingerprint import features_of
from simdup.groups import closest, leaders, members_of
from simdup.hamming import paired_distances, similarity_at
from simdup.records import SHORT, Candidates, Document, Group, Settings, Skipped
from simdup.search import MAX_PAIRS, distinct_rows, iter_pairs, iter_pairs_between
from simdup.texts import distinct_texts, groups_of
from simdup.verify import decide

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from simdup.features import Features
    from simdup.hamming import Rows
    from simdup.progress import Progress
    from simdup.shelf import Shelf

    Indices = NDArray[np.int64]
    Similarities = NDArray[np.float64]


# Rounds of searching representatives again. Each leaves a fraction of them; two or three
# are usual, and more than this would mean that they do not become fewer.
ROUNDS = 10


@dataclass(frozen=True, slots=True)
class Matches:
    """What matching some documents gave."""

    groups: tuple[Group, ...]
    candidates: Candidates | None
    """None when nothing was verified."""
    changed: tuple[Skipped, ...]
    """Files that were no longer what they were when their texts were read again."""


def match(
    documents: Sequence[Document],
    rows: Rows,
    settings: Settings,
    progress: Progress,
    shelf: Shelf | None = None,
) -> Matches:
    """The groups of some documents, most similar first.

    `rows` may be wider than the settings' bits: their first bits are the fingerprints,
    and all of them sort out candidates that are near by chance. Similarities that `shelf`
    knows are not computed again.
    """
    return _Matching(documents, rows, settings, progress, shelf).matches()


class _Matching:
    """One run: the texts, how they are to be compared, and the files found changed."""

    def __init__(
        self,
        documents: Sequence[Document],
        rows: Rows,
        settings: Settings,
        progress: Progress,
        shelf: Shelf | None,
    ) -> None:
        self.settings, self.progress, self.shelf = settings, progress, shelf
        self.bits = settings.recipe.bits
        self.texts = distinct_texts(documents, rows[:, : self.bits // 8])
        self.wide = rows[self.texts.by_text[self.texts.begins[:-1]]]
        self.changed: list[Skipped] = []
        # Copies within one of two sides are no match: there each text counts for one.
        sizes = np.diff(self.texts.begins)
        self.is_two_sided = bool(self.texts.is_reference.any())
        self.sizes = np.ones_like(sizes) if self.is_two_sided else sizes

    def matches(self) -> Matches:
        """The groups, how candidates were found, and what changed meanwhile."""
        alike: list[float] | list[None]
        if self.settings.verified:
            leader, pairs, similarities, candidates = self._verified()
            groups = members_of(leader, self.texts.rank, self.sizes)
            alike = self._to_first(groups, pairs, similarities)
        else:
            leader, candidates = self._bare(), None
            groups = members_of(leader, self.texts.rank, self.sizes)
            alike = [None] * sum(map(len, groups))
        gone = {skipped.path for skipped in self.changed}
        made = groups_of(self.texts, groups, alike, gone)
        return Matches(made, candidates, tuple(dict.fromkeys(self.changed)))

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
            active = np.unique(leader)
        found = Candidates(reach, want, recall(similarity, self.bits, reach), decided)
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
        rows = self.texts.rows[active]
        if self.is_two_sided:
            is_reference = self.texts.is_reference[active]
            left, right = active[~is_reference], active[is_reference]
            stream = iter_pairs_between(rows[~is_reference], rows[is_reference], k)
        else:
            left = right = active
            stream = iter_pairs(rows, k)
        found, count = [np.empty((0, 2), np.int64)], 0
        for chunk in self.progress(stream, "compare", None):
            i, j = left[chunk[:, 0]], right[chunk[:, 1]]
            passes = self._passes(i, j)
            found.append(np.column_stack((i[passes], j[passes])))
            count += len(found[-1])
            if count > MAX_PAIRS:
                advice = "lower -k, raise --similarity, or take more --bits"
                raise TooManyPairsError(f"more than {MAX_PAIRS} pairs within {k} bits; {advice}")
        return np.concatenate(found)

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
        bits = 8 * self.wide.shape[1]
        if bits == self.bits or not self.settings.verified:
            return np.ones(len(i), bool)
        return paired_distances(self.wide, i, j) <= sieve(self.settings.similarity, bits)

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
        """The pairs that are as similar as asked, and their exact similarities."""
        similarities = self._similarities(pairs)
        alike = similarities >= self.settings.similarity
        return pairs[alike], similarities[alike]

    def _similarities(self, pairs: Indices) -> Similarities:
        """The exact similarity of each pair of texts, these read again; (m,)."""
        if self.shelf is None:
            similarities = np.full(len(pairs), np.nan)
        else:
            left, right = self.texts.digests[pairs[:, 0]], self.texts.digests[pairs[:, 1]]
            similarities = self.shelf.similarities(left, right)
        unknown = np.flatnonzero(np.isnan(similarities))
        i, j = pairs[unknown].T
        parts = decide(i, j, self.texts.counts, self._features)
        for part, values in self.progress(parts, "verify", None):
            similarities[unknown[part]] = values
            # What changed meanwhile counts as a text without features: true of this scan only.
            if self.shelf is not None and not self.changed:
                digests = self.texts.digests
                self.shelf.keep_similarities(digests[i[part]], digests[j[part]], values)
        return similarities

    def _features(self, texts: Indices) -> Features:
        copies = map(self.texts.documents_of, texts.tolist())
        settings = self.settings
        return features_of(
            copies, settings.recipe, self.changed, settings.formats, settings.converters
        )

    def _to_first(
        self, groups: list[Indices], pairs: Indices, similarities: Similarities
    ) -> list[float]:
        """For each text of each group how similar it is to the first, by pairs or computed."""
        spokes = [(text, texts[0]) for texts in groups for text in texts]
        asked, n = np.array(spokes, np.int64).reshape(-1, 2), len(self.texts)
        known = np.append(pairs.min(axis=1) * n + pairs.max(axis=1), -1)
        values = np.append(similarities, np.nan)
        keys = asked.min(axis=1) * n + asked.max(axis=1)
        order = np.argsort(known)
        at = order[np.searchsorted(known, keys, sorter=order) % len(known)]
        alike = np.where(known[at] == keys, values[at], np.nan)
        alike[asked[:, 0] == asked[:, 1]] = 1
        missing = np.isnan(alike)
        alike[missing] = self._similarities(asked[missing])
        return alike.tolist()
