"""Frames of texts in, frames of near pairs out: `simdup.search.pairs` distributed, for any k.

Fingerprints meet, and are compared, if they have a key in common. They are cut into m blocks. Two
fingerprints within k bits differ in at most k blocks, so at least m - k blocks are equal. Each
choice of m - k blocks is a table, in which fingerprints with equal bits in these blocks meet. Only
the first table in which a pair meets reports it. Where fingerprints would meet too many others,
there is one table of no blocks: all meet.
Source: Manku, Jain, Das Sarma, "Detecting near-duplicates for web crawling", 2007, section 3.

Rows that all meet are compared in cells: they are cut into chunks by a hash of their bits, and each
two chunks are one cell. A chunk is sent to every cell that it belongs to. Cells are numbered as a
triangle: 0-0, 0-1, 1-1, 0-2, ... The rows of a table that have a key in common are one cell.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, count
from math import comb

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from simdup.arrays import Hashes, Indices, Mask, Rows
from simdup.compute.hashing import mix64
from simdup.search.distinct import DistinctRows
from simdup.search.hamming import paired_distances, words
from simdup.search.pairs import iter_pairs, iter_pairs_between, ranges
from simdup.spark.arrow import (
    PAIRS,
    Batches,
    Task,
    begins_of,
    emitted,
    lists_of,
    numbers,
    rows_of,
    whole_runs,
)
from simdup.spark.distinct_texts import checkpointed

# The least number of distinct fingerprints for which tables are made: to compare fewer of them all
# with all takes less time than to shuffle tables.
ROWS_WORTH_TABLES = 200_000

# The most rows in a chunk, and the most bytes of fingerprints. A task holds two chunks.
CHUNK_ROWS, CHUNK_BYTES = 1 << 22, 1 << 29

# Tasks for each slot of the cluster, so that all slots end at about the same time.
TASKS_A_SLOT = 4

# The number of comparisons worth a task of their own: less than a second of work.
COMPARISONS_WORTH = 1 << 28

# Where the rows of a part stand in a cell.
LEFT, RIGHT, DIAGONAL = range(3)

# Candidates for each row from which comparing all with all costs no more than shuffling.
MOST_CANDIDATES = 100

# The most tables, and so the most copies of a row in a shuffle.
MOST_TABLES = 40

# The most rows of a cell that numpy compares, many small cells at once.
FEW_ROWS = 256

# Rows that a task holds at once, unless a cell has more.
ROWS_AT_ONCE = 1 << 16


def near_pairs(texts: DataFrame, bits: int, k: int) -> DataFrame:
    """Every pair of texts within k of the first `bits` bits, each once, lazily: PAIRS.

    `texts` have number and fingerprint.
    """
    row = F.substring("fingerprint", 1, bits // 8).alias("fingerprint")
    members = F.sort_array(F.collect_list("number")).alias("members")
    distinct = texts.select("number", row).groupBy("fingerprint").agg(members)
    distinct = checkpointed(distinct, "distinct fingerprints")
    repeated = distinct.where(F.size("members") > 1)
    copies = repeated.select("fingerprint", "members").mapInArrow(_copies, PAIRS)
    n = distinct.count()
    layout = layout_for(n, bits, k) if n >= ROWS_WORTH_TABLES else None
    if layout is not None:
        keys = keyed(distinct, layout)
        if 2 * _candidates(keys) < MOST_CANDIDATES * n:
            return copies.unionAll(compared(keys.repartition("cell"), k, layout))
    slots = texts.sparkSession.sparkContext.defaultParallelism
    together = _all_in_cells(distinct, chunks_for(n, bits // 8, slots))
    return copies.unionAll(compared(together, k, EVERYTHING))


def _copies(batches: Batches) -> Batches:
    """The pairs of texts with the same fingerprint: PAIRS."""
    for each in batches:
        distinct = _distinct(each)
        own = np.arange(len(each))
        yield from emitted(distinct, [np.column_stack((own, own, 0 * own))])


def _distinct(table: pa.RecordBatch | pa.Table) -> DistinctRows:
    """The fingerprints of a batch, and the texts of each."""
    return DistinctRows(rows_of(table["fingerprint"]), *lists_of(table["members"]))


def chunks_for(n: int, width: int, slots: int) -> int:
    """The number of chunks for n rows of `width` bytes where `slots` tasks run at a time.

    >>> [chunks_for(n, 64, 2) for n in (1000, 100_000, 1_000_000, 1_000_000_000)]
    [1, 4, 4, 239]
    """
    rows = min(CHUNK_ROWS, CHUNK_BYTES // width)
    return max(parts_for(n * n // 2 // COMPARISONS_WORTH, slots), -(-n // rows))


def parts_for(tasks: int, slots: int) -> int:
    """The number of parts whose pairs give `tasks` tasks, but at most TASKS_A_SLOT a slot."""
    wanted = min(tasks, TASKS_A_SLOT * slots)
    return next(parts for parts in count(1) if parts * (parts + 1) // 2 >= wanted)


def _all_in_cells(distinct: DataFrame, chunks: int) -> DataFrame:
    """Every fingerprint with every other one in a cell of two chunks.

    Each row is there once for every cell of its chunk, with `cell` and `side`.
    """
    own, other = F.col("chunk"), F.col("other")
    chunk = F.pmod(F.xxhash64("fingerprint"), F.lit(chunks)).alias("chunk")
    every = F.explode(F.sequence(F.lit(0).cast("long"), F.lit(chunks - 1).cast("long")))
    placed = distinct.select("*", chunk, every.alias("other"))
    high, low = F.greatest(own, other), F.least(own, other)
    cell = (high * (high + 1) / 2).cast("long") + low
    side = F.when(own == other, DIAGONAL).when(own < other, LEFT).otherwise(RIGHT)
    columns = {"cell": cell, "side": side, "place": F.lit(0)}
    sent, cells = placed.withColumns(columns), chunks * (chunks + 1) // 2
    if hasattr(sent, "repartitionById"):  # since Spark 4.1; no two cells in one partition
        return sent.repartitionById(cells, F.col("cell").cast("int"))
    return sent.repartition(cells, "cell")


def hashed(rows: Rows) -> Hashes:
    """A hash of each row: (n,)."""
    mixed = np.zeros(len(rows), np.uint64)
    for word in words(rows).T:
        mixed = mix64(mixed ^ word)
    return mixed


@dataclass(frozen=True, slots=True)
class Layout:
    """How fingerprints are cut into blocks, and which blocks must be equal."""

    bits: int
    blocks: int
    equal: int
    """The number of blocks in a table."""

    @property
    def tables(self) -> Mask:
        """Which blocks are in each table: (tables, blocks), the first blocks first."""
        chosen = combinations(range(self.blocks), self.equal)
        return np.array([np.isin(range(self.blocks), each) for each in chosen])

    @property
    def masks(self) -> Rows:
        """The bits of each block: (blocks, bits // 8)."""
        bounds = np.linspace(0, self.bits, self.blocks + 1).astype(np.int64)
        place = np.arange(self.bits)
        return np.packbits((bounds[:-1, None] <= place) & (place < bounds[1:, None]), axis=1)


# The layout of one table, for which no block must be equal: all fingerprints meet.
EVERYTHING = Layout(8, 1, 0)


def layout_for(n: int, bits: int, k: int) -> Layout | None:
    """The layout with the fewest tables in which n random fingerprints meet few others.

    None if every layout needs more than MOST_TABLES tables or gives a fingerprint
    MOST_CANDIDATES or more.

    >>> [layout_for(n, 64, 3).blocks for n in (1_000_000, 10**8, 10**9)], layout_for(10**6, 64, 13)
    ([4, 5, 6], None)
    """
    for blocks in range(k + 1, bits + 1):
        tables, width = comb(blocks, k), bits * (blocks - k) // blocks
        if tables > MOST_TABLES:
            return None
        if tables * n / 2**width < MOST_CANDIDATES:
            return Layout(bits, blocks, blocks - k)
    return None


def keyed(distinct: DataFrame, layout: Layout) -> DataFrame:
    """Every fingerprint once for each table, in a `cell` numbered by its bits there."""

    def keying(batches: Batches) -> Batches:
        for each in batches:
            rows = rows_of(each.column("fingerprint"))
            for place, in_table in enumerate(layout.tables):
                kept = np.bitwise_or.reduce(layout.masks[in_table])
                columns = {
                    "cell": mix64(hashed(rows & kept) + np.uint64(place)).view(np.int64),
                    "side": np.full(len(rows), DIAGONAL, np.int32),
                    "place": np.full(len(rows), place, np.int32),
                    "fingerprint": each.column("fingerprint"),
                    "members": each.column("members"),
                }
                yield pa.RecordBatch.from_pydict(columns)

    schema = "cell long, side int, place int, fingerprint binary, members array<long>"
    return distinct.select("fingerprint", "members").mapInArrow(keying, schema)


def _candidates(keys: DataFrame) -> float:
    """The number of pairs of rows in one cell."""
    pairs = F.sum(F.expr("cast(count as double) * (count - 1) / 2")).alias("pairs")
    found = keys.groupBy("cell").count().agg(pairs).collect()
    return found[0]["pairs"] or 0


def compared(together: DataFrame, k: int, layout: Layout) -> DataFrame:
    """Near pairs of texts with different fingerprints, each once, from whole cells: PAIRS."""
    return together.sortWithinPartitions("cell", "side").mapInArrow(_meeting(k, layout), PAIRS)


def _meeting(k: int, layout: Layout) -> Task:
    """Compare the fingerprints of each cell: PAIRS."""

    def meeting(batches: Batches) -> Batches:
        for table in whole_runs(batches, ("cell",), ROWS_AT_ONCE):
            distinct = _distinct(table)
            yield from emitted(distinct, _met(table, distinct.rows, k, layout))

    return meeting


def _met(table: pa.Table, rows: Rows, k: int, layout: Layout) -> Iterator[Indices]:
    """Yield the near pairs of rows in one cell, each only in the first table in which it meets."""
    side, place = (numbers(table.column(name)) for name in ("side", "place"))
    for i, j, distance in _near(rows, side, begins_of(table, ("cell",)), k):
        counts = _is_first_table(rows[i] ^ rows[j], place[i], layout) & (place[i] == place[j])
        yield np.column_stack((i, j, distance))[counts]


def _near(rows: Rows, side: Indices, begins: Indices, k: int) -> Iterator[Indices]:
    """Yield near pairs of rows (3, m): between the two chunks of a cell, or within its only one.

    Cells begin at `begins`; `side` (n,) is ascending within each.
    """
    sizes = np.diff(begins, append=len(rows))
    is_large = sizes > FEW_ROWS
    for begin, size in np.column_stack((begins, sizes))[is_large].tolist():
        # A copy can be written to; for read-only arrays the kernels would be compiled again.
        own, left = rows[begin : begin + size].copy(), 0
        if side[begin] == DIAGONAL:
            pairs = iter_pairs(own, k)
        else:
            left = int(np.searchsorted(side[begin : begin + size], RIGHT))
            pairs = iter_pairs_between(own[:left], own[left:], k)
        for each in pairs:
            yield each.T + np.array([[begin], [begin + left], [0]])
    few = ~np.repeat(is_large, sizes)
    after = np.arange(1, len(rows) + 1)
    for i, j in ranges(after, np.where(few, np.repeat(begins + sizes, sizes) - after, 0)):
        distance = paired_distances(rows, i, j)
        kept = (distance <= k) & ((side[i] == DIAGONAL) | (side[i] != side[j]))
        yield np.stack((i, j, distance.astype(np.int64)))[:, kept]


def _is_first_table(differing: Rows, place: Indices, layout: Layout) -> Mask:
    """Whether table `place` is the first in which rows that differ in these bits meet: (m,)."""
    equal = np.array([~(differing & mask).any(axis=1) for mask in layout.masks]).T
    # Tables are in the order of their blocks, so the first one has the first equal blocks.
    first = equal & (np.cumsum(equal, axis=1) <= layout.equal)
    return (first == layout.tables[place]).all(axis=1)
