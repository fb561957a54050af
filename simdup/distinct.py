"""Equal fingerprints as one, which a search then meets once.

>>> distinct = distinct_rows(np.uint8([[7], [3], [7]]))
>>> distinct.rows.ravel().tolist(), distinct.members.tolist(), distinct.sizes.tolist()
([3, 7], [1, 0, 2], [1, 2])
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simdup.hamming import words

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simdup.hamming import Rows


@dataclass(frozen=True, slots=True)
class DistinctRows:
    """Rows without repetition, and where each of them occurs."""

    rows: Rows
    """(u, width), in lexical order of their words"""
    members: NDArray[np.int64]
    """(n,): the original indices, those of distinct row i at offsets[i]:offsets[i + 1], rising"""
    offsets: NDArray[np.int64]
    """(u + 1,)"""

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How often each distinct row occurs."""
        return np.diff(self.offsets)


def distinct_rows(rows: Rows) -> DistinctRows:
    """The distinct rows of a collection. A hundred thousand equal rows are one."""
    columns = words(rows).T
    members = np.lexsort(columns)
    is_new = np.zeros(len(rows), bool)
    is_new[:1] = True
    for column in columns:  # one at a time, so that scratch is (n,) and never (n, words)
        ordered = column[members]
        is_new[1:] |= ordered[1:] != ordered[:-1]
    first = np.flatnonzero(is_new)
    return DistinctRows(rows[members[first]], members, np.append(first, len(rows)))


def joint_rows(left: Rows, right: Rows) -> tuple[int, DistinctRows]:
    """How many distinct rows the left side has; these, then those of the right side.

    Members are indices into both sides, one after the other.
    """
    a, b = distinct_rows(left), distinct_rows(right)
    members = np.concatenate((a.members, len(left) + b.members))
    offsets = np.concatenate((a.offsets, len(left) + b.offsets[1:]))
    return len(a.rows), DistinctRows(np.concatenate((a.rows, b.rows)), members, offsets)
