"""Equal fingerprints as one, which a search then meets once.

>>> distinct = distinct_rows(np.uint8([[7], [3], [7]]))
>>> distinct.rows.ravel().tolist(), distinct.members.tolist(), distinct.sizes.tolist()
([3, 7], [1, 0, 2], [1, 2])
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simdup.search.hamming import hamming_distances, words

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simdup.search.hamming import Rows

#: Distinct rows of which all pairs are compared for a diameter: a quarter of a second at 256 bits.
MOST_COMPARED = 1 << 13

# Distinct rows compared at once, and those of them that a bound is tried from.
BLOCK, CENTRES = 1 << 10, 64


def distinct_numbers(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return each number once, ascending. `np.unique` would import numpy.ma, a slow start.

    >>> distinct_numbers(np.array([[7, 3], [3, 5]])).tolist()
    [3, 5, 7]
    """
    ascending = np.sort(numbers, axis=None)
    return ascending[np.diff(ascending, prepend=ascending[:1] - 1) != 0]


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


def diameter(rows: Rows) -> tuple[int, bool]:
    """The largest distance between any two rows, in bits, and whether it is exact.

    Of more than MOST_COMPARED distinct rows it is a bound that no distance exceeds: the way
    between the two farthest rows by way of a third, the shortest of several.

    >>> diameter(np.uint8([[0b0000_0111], [0], [0], [0b1000_0000]]))
    (4, True)
    """
    distinct = distinct_rows(rows).rows
    if len(distinct) > MOST_COMPARED:
        return _bound(distinct), False
    parts = [distinct[begin : begin + BLOCK] for begin in range(0, len(distinct), BLOCK)]
    return max(
        int(hamming_distances(a, b).max()) for index, a in enumerate(parts) for b in parts[index:]
    ), True


def _bound(rows: Rows) -> int:
    """By the triangle inequality: the two largest distances to one row, added up."""
    centres = rows[:: -(-len(rows) // CENTRES)]
    largest = np.zeros((len(centres), 2), np.uint16)
    for begin in range(0, len(rows), MOST_COMPARED):
        distances = hamming_distances(centres, rows[begin : begin + MOST_COMPARED])
        both = np.column_stack((largest, distances))
        largest = np.partition(both, -2, axis=1)[:, -2:]
    return min(int(largest.sum(axis=1).min()), 8 * rows.shape[1])
