"""Frames of texts in, frames of near pairs out: `simdup.search.pairs` distributed, for any k.

Fingerprints meet, and are compared, if they have a key in common. They are cut into m blocks. Two
fingerprints within k bits differ in at most k blocks, so at least m - k blocks are equal. Each
choice of m - k blocks is a table, in which fingerprints with equal bits in these blocks meet. Only
the first table in which a pair meets reports it. Where fingerprints would meet too many others,
all meet: they are cut into chunks by a hash of their bits, and each chunk is compared with itself
and with every other one.
Source: Manku, Jain, Das Sarma, "Detecting near-duplicates for web crawling", 2007, section 3.

Fingerprints that are compared with each other are in one cell. A cell of two chunks has two sides;
such cells are numbered as a triangle: 0-0, 0-1, 1-1, 0-2, ...
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import combinations, count
from math import comb
from typing import TypeAlias

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from simdup.arrays import Hashes, Indices, Mask, Pairs, Rows
from simdup.compute.hashing import mix64
from simdup.search.hamming import words
from simdup.search.pairs import iter_pairs, iter_pairs_between
from simdup.spark.arrow import Batches, numbers, rows_of, runs, whole

# Cells of rows, and their places in these, again and again; (n,) each.
Cells: TypeAlias = Iterator[tuple[Indices, Indices | Mask]]

#: The columns of every frame of pairs of texts: their numbers, the lower first, and the distance.
PAIRS = "a long, b long, distance long"

# The least number of fingerprints for which tables are made: to compare fewer of them all
# with all takes less time than to shuffle tables.
ROWS_WORTH_TABLES = 200_000

# The most rows in a chunk, and the most bytes of fingerprints. A task holds two chunks.
CHUNK_ROWS, CHUNK_BYTES = 1 << 22, 1 << 29

# Tasks for each slot of the cluster, so that all slots end at about the same time.
TASKS_A_SLOT = 4

# The number of comparisons worth a task of their own: less than a second of work.
COMPARISONS_WORTH = 1 << 28

# Candidates for each row from which comparing all with all costs no more than shuffling.
MOST_CANDIDATES = 100

# The most tables, and so the most copies of a row in a shuffle.
MOST_TABLES = 40


def near_pairs(texts: DataFrame, bits: int, k: int) -> DataFrame:
    """Every pair of texts within k of the first `bits` bits, each once, lazily: PAIRS.

    `texts` have number and fingerprint.
    """
    rows = texts.select("number", F.substring("fingerprint", 1, bits // 8).alias("fingerprint"))
    n = rows.count()
    masks = masks_for(n, bits, k) if n >= ROWS_WORTH_TABLES else None
    if masks is not None:
        keys = _keyed(rows, partial(_in_tables, masks))
        if 2 * _candidates(keys) < MOST_CANDIDATES * n:
            return keys.repartition("cell").mapInArrow(partial(_by_tables, k, masks), PAIRS)
    chunks = chunks_for(n, bits // 8, texts.sparkSession.sparkContext.defaultParallelism)
    cells = _keyed(rows, partial(_in_chunks, chunks)).repartition("cell")
    return cells.sortWithinPartitions("cell", "place").mapInArrow(partial(_by_chunks, k), PAIRS)


def _keyed(rows: DataFrame, cells_of: Callable[[Rows], Cells]) -> DataFrame:
    """Every fingerprint once for each of its cells."""

    def keying(batches: Batches) -> Batches:
        for each in batches:
            for cell, place in cells_of(rows_of(each["fingerprint"])):
                own = {name: each[name] for name in ("fingerprint", "number")}
                placed = {"cell": cell, "place": place.astype(np.int32)}
                yield pa.RecordBatch.from_pydict(placed | own)

    return rows.mapInArrow(keying, "cell long, place int, fingerprint binary, number long")


def _named(table: pa.Table, pairs: Pairs) -> pa.RecordBatch:
    """The PAIRS of texts for pairs (i, j, distance) of the rows of a table."""
    a, b = np.sort(numbers(table["number"])[pairs[:, :2]], axis=1).T
    return pa.RecordBatch.from_pydict({"a": a, "b": b, "distance": pairs[:, 2]})


def chunks_for(n: int, width: int, slots: int) -> int:
    """The number of chunks for n rows of `width` bytes where `slots` tasks run at a time.

    >>> [chunks_for(n, 64, 2) for n in (1000, 100_000, 1_000_000, 1_000_000_000)]
    [1, 4, 4, 239]
    """
    rows = min(CHUNK_ROWS, CHUNK_BYTES // width)
    tasks = min(n * n // 2 // COMPARISONS_WORTH, TASKS_A_SLOT * slots)
    enough = next(chunks for chunks in count(1) if chunks * (chunks + 1) // 2 >= tasks)
    return max(enough, -(-n // rows))


def _in_chunks(chunks: int, rows: Rows) -> Cells:
    """The cells of two chunks in which each row meets the others; its place is 1 on the right.

    All rows of a cell of one chunk are on the left.
    """
    own = (hashed(rows) % np.uint64(chunks)).astype(np.int64)
    for other in range(chunks):
        high = np.maximum(own, other)
        yield high * (high + 1) // 2 + np.minimum(own, other), own > other


def _by_chunks(k: int, batches: Batches) -> Batches:
    """Compare the two sides of each cell, or all rows of a cell of one chunk: PAIRS."""
    for _, table in runs(batches, "cell"):
        # A copy can be written to; for read-only arrays the kernels would be compiled again.
        rows = rows_of(table["fingerprint"]).copy()
        left = int((numbers(table["place"]) == 0).sum())
        if left == len(rows):
            found = iter_pairs(rows, k)
        else:
            between = iter_pairs_between(rows[:left], rows[left:], k)
            found = (each + np.array([0, left, 0]) for each in between)
        yield from (_named(table, each) for each in found)


def hashed(rows: Rows) -> Hashes:
    """A hash of each row: (n,)."""
    mixed = np.zeros(len(rows), np.uint64)
    for word in words(rows).T:
        mixed = mix64(mixed ^ word)
    return mixed


def masks_for(n: int, bits: int, k: int) -> Rows | None:
    """The bits that must be equal in each of the fewest tables in which n random rows meet few.

    Shape (tables, bits // 8). None if all need more than MOST_TABLES tables or give a row
    MOST_CANDIDATES or more.

    >>> [len(masks_for(n, 64, 3)) for n in (1_000_000, 10**8, 10**9)], masks_for(10**6, 64, 13)
    ([4, 10, 20], None)
    """
    for blocks in range(k + 1, bits + 1):
        tables, width = comb(blocks, k), bits * (blocks - k) // blocks
        if tables > MOST_TABLES:
            return None
        if tables * n / 2**width < MOST_CANDIDATES:
            chosen = list(combinations(range(blocks), blocks - k))
            block = np.arange(bits) * blocks // bits
            return np.packbits([np.isin(block, each) for each in chosen], axis=1)
    return None


def _in_tables(masks: Rows, rows: Rows) -> Cells:
    """The cell of each row in each table, by its bits there; its place is the table."""
    for place, mask in enumerate(masks):
        cell = mix64(hashed(rows & mask) + np.uint64(place)).view(np.int64)
        yield cell, np.full(len(rows), place)


def _candidates(keys: DataFrame) -> float:
    """The number of pairs of distinct fingerprints in one cell."""
    pairs = F.sum(F.expr("cast(count as double) * (count - 1) / 2")).alias("pairs")
    distinct = keys.select("cell", "fingerprint").distinct()
    found = distinct.groupBy("cell").count().agg(pairs).collect()
    return found[0]["pairs"] or 0


def _by_tables(k: int, masks: Rows, batches: Batches) -> Batches:
    """Compare the rows of a task, and keep the pairs that are in one cell: PAIRS.

    A pair counts only in the first table that it meets in.
    """
    for table in whole(batches):
        rows, place = rows_of(table["fingerprint"]).copy(), numbers(table["place"])
        for pairs in iter_pairs(rows, k):
            i, j, _ = pairs.T
            are_met = np.array([~((rows[i] ^ rows[j]) & mask).any(axis=1) for mask in masks])
            is_first = (place[i] == place[j]) & (are_met.argmax(axis=0) == place[i])
            yield _named(table, pairs[is_first])
