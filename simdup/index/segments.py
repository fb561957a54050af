"""Packed fingerprints of an index, and the search for those within k bits of a query.

Rows lie in segments, and within one by columns of 64-bit words, so that a query is a
handful of vector operations on arrays that fit in the cache, or one call of a compiled loop.
Many queries at once go to the room `search`, which picks its method by their number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simdup.arrays import Distances, Indices, Rows
from simdup.compute.compiled import load_kernels_if_worth, loaded_kernels
from simdup.search.hamming import words
from simdup.search.pairs import iter_pairs_between

#: Rows in a full segment: 1 MB of 128 bits.
SIZE = 1 << 16

# From this many queries on, one search of pairs is faster than a pass for each.
QUERIES_WORTH_A_SEARCH = 24


@dataclass(frozen=True, slots=True, eq=False)
class Segment:
    """Up to SIZE fingerprints and the numbers of their documents."""

    batch: int
    """The batch that wrote it last."""
    rows: Rows
    """(n, width)"""
    columns: NDArray[np.uint64]
    """(words, n): the same bits."""
    documents: Indices
    """(n,): the numbers of their documents."""


def segment(batch: int, rows: Rows, documents: Indices) -> Segment:
    """Lay fingerprints out as a segment."""
    # Always copied: for read-only arrays numba would compile the kernel again.
    return Segment(batch, rows, np.array(words(rows).T, order="C"), documents)


def cut(segments: Sequence[Segment], bits: int) -> list[Segment]:
    """Cut the fingerprints of segments to their first `bits` bits."""
    if not segments or 8 * segments[0].rows.shape[1] == bits:
        return list(segments)
    return [segment(each.batch, each.rows[:, : bits // 8], each.documents) for each in segments]


def within(segments: Sequence[Segment], queries: Rows, k: int) -> Indices:
    """Return every fingerprint at most k bits from a query; (m, 3).

    Columns are the query's index, the document's number, and their distance; rows are ordered
    by query, distance, document.
    """
    n = sum(len(each.documents) for each in segments)
    load_kernels_if_worth(words=len(queries) * n * -(-queries.shape[1] // 8))
    if len(queries) >= QUERIES_WORTH_A_SEARCH:
        found = _searched(segments, queries, k)
    else:
        compared = _compared_by_kernel if loaded_kernels() else _compared
        found = compared(segments, queries, k)
    return in_order(np.concatenate([np.empty((0, 3), np.int64), *found]))


def _searched(segments: Sequence[Segment], queries: Rows, k: int) -> Iterator[Indices]:
    """Yield the rows of `within` for many queries, in no order."""
    for each in segments:
        for pairs in iter_pairs_between(queries, each.rows, k):
            yield np.column_stack((pairs[:, 0], each.documents[pairs[:, 1]], pairs[:, 2]))


def _compared(segments: Sequence[Segment], queries: Rows, k: int) -> Iterator[Indices]:
    """Yield the rows of `within` for a few queries, in no order."""
    for index, distances in _passes(segments, queries):
        for each, part in zip(segments, distances, strict=True):
            if part.min() <= k:
                near = np.flatnonzero(part <= k)
                yield _hits(index, each.documents[near], part[near])


def _compared_by_kernel(segments: Sequence[Segment], queries: Rows, k: int) -> Iterator[Indices]:
    """Yield the rows that `_compared` yields, computed by a compiled loop."""
    columns, k = np.array(words(queries)[:, :, None]), min(k, 8 * queries.shape[1])
    found, near_pairs, is_half = np.empty((SIZE, 3), np.int64), loaded_kernels().near_pairs, False
    for index, query in enumerate(columns):
        for each in segments:
            all_rows = 0, len(each.documents)
            _, count = near_pairs(query, each.columns, all_rows, 0, is_half, k, found)
            if count:
                yield _hits(index, each.documents[found[:count, 1]], found[:count, 2])


def nearest(segments: Sequence[Segment], queries: Rows, count: int) -> Indices:
    """Return the `count` nearest fingerprints to each query, ordered as by `within`.

    Of equally near ones the lowest documents come first. Fingerprints at distance 0 are all
    kept, since only the caller can tell which of them have the same text.
    """
    found = [np.empty((0, 3), np.int64)]
    documents = np.concatenate([np.empty(0, np.int64), *(each.documents for each in segments)])
    for index, parts in _passes(segments, queries):
        distances = np.concatenate([np.empty(0, np.uint16), *parts])
        last = min(count, len(distances)) - 1
        if last < 0:
            continue
        near = np.flatnonzero(distances <= np.partition(distances, last)[last])
        rows = in_order(_hits(index, documents[near], distances[near]))
        found.append(rows[: max(count, np.count_nonzero(rows[:, 2] == 0))])
    return np.concatenate(found)


def _hits(query: int, documents: Indices, distances: NDArray[Any]) -> Indices:
    return np.column_stack((np.full(len(documents), query), documents, distances))


def in_order(found: Indices) -> Indices:
    """Sort rows of query, document and distance by query, then nearest first."""
    return found[np.lexsort((found[:, 1], found[:, 2], found[:, 0]))]


def _passes(
    segments: Sequence[Segment], queries: Rows
) -> Iterator[tuple[int, Iterator[Distances]]]:
    """Yield each query's index, and its distances to the fingerprints of every segment."""
    scratch = np.empty(SIZE, np.uint64)  # one for all: fresh memory is half of the time
    for index, query in enumerate(words(queries)):
        yield index, (_distances(each.columns, query, scratch) for each in segments)


def _distances(
    columns: NDArray[np.uint64], query: NDArray[np.uint64], scratch: NDArray[np.uint64]
) -> Distances:
    """Return how many bits differ between a query and each fingerprint of a segment; (n,)."""
    scratch = scratch[: columns.shape[1]]
    total = np.bitwise_count(np.bitwise_xor(columns[0], query[0], out=scratch))
    if len(columns) > 1:
        # A byte holds the number of differing bits if there are fewer than 256.
        total = total.astype(np.uint8 if len(columns) < 4 else np.uint16)
        for column, word in zip(columns[1:], query[1:], strict=True):
            np.bitwise_xor(column, word, out=scratch)
            total += np.bitwise_count(scratch)
    return total
