"""Rows in, distinct rows out, so that a search compares equal fingerprints only once.

>>> distinct = distinct_rows(np.uint8([[7], [3], [7]]))
>>> distinct.rows.ravel().tolist(), distinct.members.tolist(), distinct.sizes.tolist()
([3, 7], [1, 0, 2], [1, 2])
"""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from simdup.arrays import Indices, Rows
from simdup.compute.buckets import sorted_keys
from simdup.search.hamming import hamming_distances, words

Number = TypeVar("Number", np.int64, np.uint64)

#: Up to this many distinct rows, all pairs are compared for a diameter: .25 s at 256 bits.
MOST_COMPARED = 1 << 13

# Distinct rows compared at once, and the number of rows from which a bound is computed.
BLOCK, CENTRES = 1 << 10, 64


def distinct_numbers(numbers: NDArray[Number]) -> NDArray[Number]:
    """Return each number, none below 0, once, ascending. `np.unique` would import numpy.ma: slow.

    >>> distinct_numbers(np.array([[7, 3], [3, 5]])).tolist()
    [3, 5, 7]
    """
    ascending = sorted_keys(numbers.flatten().view(np.uint64)).view(numbers.dtype)
    is_new = np.ones(len(ascending), bool)
    np.not_equal(ascending[1:], ascending[:-1], out=is_new[1:])
    return ascending[is_new]


def pair_keys(pairs: Indices, n: int) -> Indices:
    """A number for each pair (m, 2) of n items, whichever of the two comes first; (m,)."""
    return pairs.min(axis=1) * n + pairs.max(axis=1)


class DistinctRows(NamedTuple):
    """Rows without repetition, and where each of them occurs.

    rows: (u, width), in lexical order of their words
    members: (n,): the original indices; distinct row i has offsets[i]:offsets[i + 1], ascending
    offsets: (u + 1,)
    """

    rows: Rows
    members: Indices
    offsets: Indices

    @property
    def sizes(self) -> Indices:
        """How often each distinct row occurs."""
        return np.diff(self.offsets)


def distinct_rows(rows: Rows) -> DistinctRows:
    """The distinct rows of a collection, and where each of them occurs."""
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
    """The number of distinct left rows, and all distinct rows: of the left side, then the right.

    Members are indices into the left rows followed by the right rows.
    """
    a, b = distinct_rows(left), distinct_rows(right)
    members = np.concatenate((a.members, len(left) + b.members))
    offsets = np.concatenate((a.offsets, len(left) + b.offsets[1:]))
    return len(a.rows), DistinctRows(np.concatenate((a.rows, b.rows)), members, offsets)


def diameter(rows: Rows) -> tuple[int, bool]:
    """The largest distance between any two rows, in bits, and whether it is exact.

    For more than MOST_COMPARED distinct rows it is an upper bound: the sum of the two largest
    distances from one row; the lowest such sum over several rows.

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
    """An upper bound of all distances, by the triangle inequality."""
    centres = rows[:: -(-len(rows) // CENTRES)]
    largest = np.zeros((len(centres), 2), np.uint16)
    for begin in range(0, len(rows), MOST_COMPARED):
        distances = hamming_distances(centres, rows[begin : begin + MOST_COMPARED])
        both = np.column_stack((largest, distances))
        largest = np.partition(both, -2, axis=1)[:, -2:]
    return min(int(largest.sum(axis=1).min()), 8 * rows.shape[1])
