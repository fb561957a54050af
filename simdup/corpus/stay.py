"""Groups of rows in, the rows to drop out: each is alike to a row that stays."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import numpy as np

from simdup.corpus.groups import ByRow
from simdup.corpus.records import KEEPS
from simdup.corpus.reread import RowsAgain
from simdup.errors import BadValueError
from simdup.match.distinct_texts import numbered
from simdup.match.groups import staying
from simdup.match.verify import decide
from simdup.progress import silent
from simdup.records import SHORT
from simdup.search.hamming import paired_distances
from simdup.theory import similarity_at

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simdup.corpus.records import CorpusResult
    from simdup.progress import Progress

    Indices = NDArray[np.int64]


def dropped(result: CorpusResult, keep: str, progress: Progress = silent) -> Indices:
    """The rows of groups that go, in order.

    `keep` says which rows of a group are preferred: the "first" ones, the "longest" ones (of
    equally long ones the first), or the "representative" and those most similar to it. In that
    order a row goes if it is alike to one that stays, and stays otherwise; see also
    `groups.MOST_STAYING`. Texts are read again to see what is alike. Raises ValueError for
    another word, InputError when a file is not what it was.
    """
    if keep not in KEEPS:
        raise BadValueError(f"keep must be one of {', '.join(KEEPS)}, not {keep!r}")
    groups = result.groups
    group = np.repeat(np.arange(len(groups)), np.diff(groups.offsets))
    order = _preferred(result, keep, group)
    text = numbered(result.prints.digests)
    # Rows with equal features are one text, for which the most preferred one stands.
    _, first = np.unique(text[order], return_index=True)
    members = order[np.sort(first)]
    is_centre = np.zeros(len(members), bool)
    if result.settings.linkage == "star":
        is_centre = np.isin(text[members], text[groups.offsets[:-1]])
    with closing(_Comparing(result, members, progress)) as comparing:
        stays = members[staying(group[members], is_centre, comparing.alike)]
    return np.sort(np.delete(groups.members, stays))


def _preferred(result: CorpusResult, keep: str, group: Indices) -> Indices:
    """The members of the groups, group by group, the preferred ones first."""
    members = result.groups.members
    if keep == "representative":
        return np.arange(len(members))
    length = result.rows.lengths[members] if keep == "longest" else np.zeros_like(members)
    return np.lexsort((members, -length, group))


class _Comparing:
    """Some members of groups, compared as the search compared them."""

    def __init__(self, result: CorpusResult, members: Indices, progress: Progress) -> None:
        self.settings, self.prints, self.progress = result.settings, result.prints, progress
        self.members = members
        rows = result.groups.members[members]
        self.order = np.argsort(rows)
        self.place = np.empty_like(self.order)
        self.place[self.order] = np.arange(len(rows))
        digests = np.zeros((len(result.rows), 2), np.uint64)
        digests[rows] = self.prints.text_digests[members]
        self.again = RowsAgain(result.rows, digests, self.settings.recipe)
        self.by_row = ByRow(self.again, rows[self.order])

    def close(self) -> None:
        """Remove what was put aside."""
        self.again.close()

    def alike(self, pairs: Indices) -> NDArray[np.bool_]:
        """Which pairs of the members, by their places, are near-duplicates; (m,)."""
        settings = self.settings
        if settings.verified:
            return self._similarities(pairs) >= settings.similarity
        i, j = self.members[pairs].T
        are_near = paired_distances(self.prints.rows, i, j) <= settings.distance
        are_short = (self.prints.counts[self.members[pairs]] < SHORT).any(axis=1)
        doubtful = np.flatnonzero(are_near & are_short)
        least = similarity_at(settings.distance, settings.recipe.bits)
        are_near[doubtful] = self._similarities(pairs[doubtful]) >= least
        return are_near

    def _similarities(self, pairs: Indices) -> NDArray[np.float64]:
        """The exact similarity of each pair, the texts read again."""
        i, j = self.place[pairs].T
        similarities = np.empty(len(pairs))
        self.by_row.expect(np.unique(self.place[pairs]))
        counts = self.prints.counts[self.members[self.order]]
        decided = decide(i, j, counts, self.by_row.features)
        for part, values in self.progress(decided, "keep", len(pairs), lambda done: len(done[0])):
            similarities[part] = values
        return similarities
