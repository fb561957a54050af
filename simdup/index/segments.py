"""Packed fingerprints of an index, and the two ways to find those within k bits of a query.

Fingerprints lie in segments, and within one by columns of 64-bit words, so that a query is a
handful of vector operations on arrays that fit in the cache, or one call of a compiled loop.
Many queries at once go to the room `search`, which picks its method by their number.

Tables of blocks find near fingerprints of 64 bits without loading any segment. Two fingerprints
within 3 bits have at least one of their four 16-bit blocks in common. So each segment's
fingerprints lie in four tables, ordered in each by another block and cut into pieces by its first
bits: one piece of every table holds all candidates for a query.
Source: Manku, Jain, Das Sarma, "Detecting near-duplicates for web crawling", 2007, section 3.

A piece belongs to one segment and is written with it, so that a batch costs the same in a large
index as in a small one. With a table row for each fingerprint, a batch would change nearly
every page of the tables.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simdup.arrays import Distances, Indices, Rows, Words
from simdup.compute.compiled import load_kernels_if_worth, loaded_kernels
from simdup.errors import InputError
from simdup.index.connection import BLOCKED_BITS, BLOCKS, IndexFile, checksum_of
from simdup.search.hamming import words
from simdup.search.pairs import iter_pairs_between

#: Rows in a full segment: 1 MB of 128 bits.
SIZE = 1 << 16

# From this many queries on, one search of pairs is faster than a pass for each.
QUERIES_WORTH_A_SEARCH = 24

#: The most bits in which two fingerprints may differ for the tables to find them.
BLOCKED_K = BLOCKS - 1

# The pieces of a segment in a table: in a full one 64 fingerprints each, if they are random.
PIECE_BITS = 10
PIECES = 1 << PIECE_BITS

# A larger piece is stored as NULL: comparing with all fingerprints is faster then.
MOST_IN_PIECE = 2048

BLOCK = BLOCKED_BITS // BLOCKS

# A fingerprint, and its document's number less the lowest of the segment.
ENTRY = np.dtype([("fingerprint", "<u8"), ("document", "<u4")])


@dataclass(frozen=True, slots=True, eq=False)
class Segment:
    """Up to SIZE fingerprints and the numbers of their documents.

    batch: The batch that wrote it last.
    rows: (n, width)
    columns: (words, n): the same bits.
    documents: (n,): the numbers of their documents.
    """

    batch: int
    rows: Rows
    columns: Words
    documents: Indices


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
    for index, every in _passes(segments, queries):
        for each, distances in zip(segments, every, strict=True):
            if distances.min() <= k:
                near = np.flatnonzero(distances <= k)
                yield _hits(index, each.documents[near], distances[near])


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
    for index, every in _passes(segments, queries):
        distances = np.concatenate([np.empty(0, np.uint16), *every])
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


def _distances(columns: Words, query: Words, scratch: Words) -> Distances:
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


# Tables of blocks


def write_pieces(file: IndexFile, number: int, rows: Rows, numbers: Indices) -> None:
    """Write the fingerprints of a segment into all tables, replacing its old pieces."""
    first, last = number * PIECES, number * PIECES + PIECES - 1
    for block in file.blocks:
        table = f"block_{block}"
        file.execute(f"DELETE FROM {table} WHERE id BETWEEN ? AND ?", first, last)  # noqa: S608
        if len(numbers):
            insert = f"INSERT INTO {table} VALUES (?, ?, ?)"  # noqa: S608
            file.execute_many(insert, pieces(block, number, rows, numbers))


def pieces(
    block: int, number: int, rows: Rows, numbers: Indices
) -> Iterator[tuple[int, bytes | None, int]]:
    """Yield the rows of a block's table for a segment: number, entries and their checksum."""
    values, low = _values(rows), int(numbers.min())
    if int(numbers.max()) - low >> 32:
        raise InputError("numbers of documents are too far apart; build the index anew")
    own = _block(values, block)
    order = np.argsort(own, kind="stable")
    entries = np.empty(len(rows), ENTRY)
    entries["fingerprint"], entries["document"] = values[order], numbers[order] - low
    edges = np.arange(PIECES + 1) << BLOCK - PIECE_BITS
    bounds = np.searchsorted(own[order].astype(np.int64), edges).tolist()
    packed, size = entries.tobytes(), ENTRY.itemsize
    for piece_id, (begin, end) in enumerate(pairwise(bounds), number * PIECES):
        if begin < end:
            is_few = end - begin <= MOST_IN_PIECE
            data = packed[size * begin : size * end] if is_few else None
            yield piece_id, data, checksum_of(piece_id ^ low, data or b"")


def looked_up(file: IndexFile, queries: Rows, k: int) -> Indices | None:
    """Return what `within` does, from the tables of blocks.

    None if they cannot tell: for other sizes or larger distances than they are made for, and
    where too many fingerprints share a block.
    """
    if not file.blocks or k > BLOCKED_K:
        return None
    found = [np.empty((0, 3), np.int64)]
    for index, query in enumerate(queries[:, None]):
        near = _by_blocks(file, index, query, k)
        if near is None:
            return None
        found.append(near)
    return np.concatenate(found)


def _by_blocks(file: IndexFile, index: int, query: Rows, k: int) -> Indices | None:
    """Return what `looked_up` does for one query, whose index is given."""
    found = []
    for block in file.blocks:
        candidates = _candidates(file, block, _values(query))
        if candidates is None:
            return None
        differences, numbers = candidates
        is_near = (np.bitwise_count(differences) <= k) & (_block(differences, block) == 0)
        found.append((differences[is_near], numbers[is_near]))
    every, owners = map(np.concatenate, zip(*found, strict=True))
    numbers, first, counts = np.unique(owners, return_index=True, return_counts=True)
    differences = every[first]
    # A fingerprint that shares n blocks with the query is found in n tables.
    shared = sum((_block(differences, block) == 0).astype(np.int64) for block in range(BLOCKS))
    if not np.array_equal(counts, shared):
        raise file.broken("a table of blocks")
    distances = np.bitwise_count(differences)
    return in_order(np.column_stack((np.full_like(numbers, index), numbers, distances)))


def _candidates(file: IndexFile, block: int, query: Words) -> tuple[Words, Indices] | None:
    """Return the candidates of a block as their XOR with the query, and their documents' numbers.

    None if they are too many.
    """
    table, piece = f"block_{block}", int(_block(query, block)[0]) >> BLOCK - PIECE_BITS
    sql = (
        f"SELECT {table}.id, low, entries, {table}.checksum FROM segments"  # noqa: S608
        f" JOIN {table} ON {table}.id = segments.id * {PIECES} + ?"
    )
    kinds: list[tuple[type, ...]] = [(int, int, bytes, int), (int, int, type(None), int)]
    rows = file.select(sql, piece, kinds=kinds)
    stored = [(piece_id ^ low, data, checksum) for piece_id, low, data, checksum in rows]
    if any(data is None and checksum_of(number) == checksum for number, data, checksum in stored):
        return None
    entries, sizes = entries_in(file, stored, ENTRY, f"the table {table}")
    lows = np.array([low for _, low, _, _ in rows], np.int64)
    numbers = np.repeat(lows, sizes) + entries["document"]
    return entries["fingerprint"].astype(np.uint64) ^ query, numbers


def entries_in(
    file: IndexFile, stored: Sequence[tuple[int, Any, int]], kind: np.dtype[Any], what: str
) -> tuple[NDArray[Any], list[int]]:
    """Return the entries in some pieces, one after the other, and how many each piece has.

    A piece is stored with a number and the checksum of both. Raises InputError for damage.
    """
    for number, data, checksum in stored:
        if not data or checksum_of(number, data) != checksum or len(data) % kind.itemsize:
            raise file.broken(what)
    packed = [data for _, data, _ in stored]
    return np.frombuffer(b"".join(packed), kind), [len(each) // kind.itemsize for each in packed]


def wrong_tables(file: IndexFile, number: int, found: Segment) -> list[int]:
    """Return the blocks whose tables do not agree with a segment."""
    wrong = []
    for block in file.blocks:
        sql = f"SELECT * FROM block_{block} WHERE id BETWEEN ? AND ? ORDER BY id"  # noqa: S608
        there = file.execute(sql, number * PIECES, number * PIECES + PIECES - 1)
        if there != list(pieces(block, number, found.rows, found.documents)):
            wrong.append(block)
    return wrong


def _values(rows: Rows) -> Words:
    """Return fingerprints as numbers, the first byte lowest."""
    return np.ascontiguousarray(rows).view("<u8").astype(np.uint64).reshape(-1)


def _block(values: Words, block: int) -> Distances:
    """Return one block of each number."""
    return (values >> np.uint64(BLOCK * block)).astype(np.uint16)
