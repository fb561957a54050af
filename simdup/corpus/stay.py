"""Chooses the rows of groups to drop: each is similar enough to a row that stays."""

from __future__ import annotations

from contextlib import closing
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simdup.arrays import Indices, Mask
from simdup.corpus.records import CorpusResult
from simdup.corpus.reread import RereadTexts
from simdup.errors import BadValueError
from simdup.match.groups import staying
from simdup.match.own_share import least_similarity
from simdup.match.verify import decide
from simdup.progress import Progress, silent
from simdup.records import SHORT
from simdup.search.hamming import paired_distances
from simdup.settings import KEEPS
from simdup.theory import similarity_at


def check_keep(keep: str) -> None:
    """Raise ValueError unless `keep` is one of KEEPS."""
    if keep not in KEEPS:
        raise BadValueError(f"keep must be one of {', '.join(KEEPS)}, not {keep!r}")


class Dropped(NamedTuple):
    """The rows that are dropped, and for each the row that stays for it: arrays by dropped row."""

    rows: Indices
    """Ascending."""
    like: Indices
    are_identical: Mask
    """Whether the two have the very same text."""
    similarities: NDArray[np.float64] | None
    """None where they were not asked for."""


def dropped(result: CorpusResult, keep: str, progress: Progress = silent) -> Indices:
    """The rows of groups that go (ascending); see `dropped_for`."""
    return dropped_for(result, keep, progress).rows


def dropped_for(
    result: CorpusResult, keep: str, progress: Progress = silent, *, is_measured: bool = False
) -> Dropped:
    """The rows of groups that are dropped, and for each the row that stays for it.

    `keep` says which rows of a group are preferred: the "first", the "longest" (of equally long
    rows the first), or the "representative" and those most similar to it. In that order a row
    goes if it is a near-duplicate of a row that stays, by the rule of the scan, and stays
    otherwise; see also `groups.MOST_STAYING`. Texts are read again to compare them; with
    `is_measured` once more, for the similarity of each row that goes to the row that stays for it.
    Raises ValueError for another `keep`, InputError when a file has changed.
    """
    check_keep(keep)
    groups = result.groups
    group = np.repeat(np.arange(len(groups)), np.diff(groups.offsets))
    order = _preferred(result, keep, group)
    text = result.texts
    # Rows with equal features are one text, for which the most preferred one stands.
    _, first, of = np.unique(text[order], return_index=True, return_inverse=True)
    places = np.sort(first)
    members = order[places]
    is_centre = np.zeros(len(members), bool)
    if result.settings.linkage == "star":
        is_centre = np.isin(text[members], text[groups.offsets[:-1]])
    with closing(_Comparing(result, members, progress)) as comparing:
        stands_for = staying(group[members], is_centre, comparing.alike)
        one = np.empty(len(order), np.int64)
        one[order] = np.searchsorted(places, first[of])
        goes = np.flatnonzero(members[stands_for[one]] != np.arange(len(order)))
        goes = goes[np.argsort(groups.members[goes])]
        pairs = np.column_stack((one[goes], stands_for[one[goes]]))
        measured = comparing.measured(pairs) if is_measured else None
    like = members[pairs[:, 1]]
    digests = result.prints.text_digests
    same = (digests[goes] == digests[like]).all(axis=1)
    return Dropped(groups.members[goes], groups.members[like], same, measured)


def _preferred(result: CorpusResult, keep: str, group: Indices) -> Indices:
    """The members of the groups, group by group, the preferred ones first."""
    members = result.groups.members
    if keep == "representative":
        return np.arange(len(members))
    length = result.rows.lengths[members] if keep == "longest" else np.zeros_like(members)
    return np.lexsort((members, -length, group))


class _Comparing:
    """Compares some members of groups in the way that the search compared them."""

    def __init__(self, result: CorpusResult, members: Indices, progress: Progress) -> None:
        self.settings, self.prints, self.progress = result.settings, result.prints, progress
        self.members, self.texts, self.shares = members, result.texts[members], result.shares
        # Texts are read again in the order of their rows.
        rows = result.groups.members[members]
        order = np.argsort(rows)
        self.place = np.empty_like(order)
        self.place[order] = np.arange(len(rows))
        self.counts = self.prints.counts[members[order]]
        digests = self.prints.text_digests[members[order]]
        self.reread = RereadTexts(result.rows, rows[order], digests, self.settings.recipe)

    def close(self) -> None:
        """Remove the temporary file."""
        self.reread.close()

    def alike(self, pairs: Indices) -> Mask:
        """Return which pairs of members, given by their places, are near-duplicates: (m,)."""
        settings = self.settings
        if settings.verified:
            return self._are_versions(pairs)
        i, j = self.members[pairs].T
        are_near = paired_distances(self.prints.rows, i, j) <= settings.distance
        are_short = (self.prints.counts[self.members[pairs]] < SHORT).any(axis=1)
        doubtful = np.flatnonzero(are_near & are_short)
        least = similarity_at(settings.distance, settings.recipe.bits)
        are_near[doubtful] = self._similarities(pairs[doubtful]) >= least
        return are_near

    def measured(self, pairs: Indices) -> NDArray[np.float64]:
        """Return the exact similarity of each pair of places of members; 1 for two equal places."""
        similarities = np.ones(len(pairs))
        differ = pairs[:, 0] != pairs[:, 1]
        unique, inverse = np.unique(pairs[differ], axis=0, return_inverse=True)
        similarities[differ] = self._similarities(unique)[inverse]
        return similarities

    def _are_versions(self, pairs: Indices) -> Mask:
        """Which pairs are similar enough, and share enough that is theirs alone; (m,)."""
        alike = np.ones(len(pairs), bool)
        if self.shares is not None:  # which reads no text
            alike = self.shares.of(self.texts[pairs]) >= self.settings.own_share
        counts = self.prints.counts[self.members[pairs[alike]]].min(axis=1)
        least = least_similarity(self.settings.similarity, counts)
        alike[alike] = self._similarities(pairs[alike]) >= least
        return alike

    def _similarities(self, pairs: Indices) -> NDArray[np.float64]:
        """The exact similarity of each pair, with the texts read again."""
        places = self.place[pairs]
        similarities = np.empty(len(pairs))
        self.reread.expect(np.unique(places))
        decided = decide(places, self.counts, self.reread.features)
        for part, values in self.progress(decided, "keep", len(pairs), lambda done: len(done[0])):
            similarities[part] = values
        return similarities
