"""A join on blocks of bits, for distances so small that rows which share one are few.

Fingerprints are cut into m blocks. Two within k bits differ in k blocks at most, so that
m - k of them are equal: every choice of m - k blocks is a table, in which rows with equal
bits meet. A pair comes from the first table that it shares, and from no other.
Source: Manku, Jain, Das Sarma, "Detecting near-duplicates for web crawling", 2007, section 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812

from simdup.compute.hashing import mix64
from simdup.search.distinct import DistinctRows
from simdup.search.hamming import paired_distances
from simdup.search.pairs import ranges
from simdup.spark.arrow import (
    PAIRS,
    begins_of,
    emitted,
    lists_of,
    numbers,
    rows_of,
    whole_runs,
)
from simdup.spark.tiles import DIAGONAL, hashed, in_triangles

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray
    from pyspark.sql import DataFrame

    from simdup.search.hamming import Rows
    from simdup.search.pairs import Reach
    from simdup.spark.arrow import Batches, Task

    Indices = NDArray[np.int64]

# Candidates a row from which comparing all with all is no dearer than shuffling.
MOST_CANDIDATES = 100

# Times that a row is sent at most.
MOST_TABLES = 40

# Rows with the same bits in a table that one task compares; more are split over several.
HOT = 4096

# Rows that a task looks at together.
ROWS_AT_ONCE = 1 << 16


@dataclass(frozen=True, slots=True)
class Layout:
    """How rows are cut."""

    bits: int
    blocks: int
    equal: int
    """Blocks in a table."""

    @property
    def tables(self) -> list[tuple[int, ...]]:
        """The blocks of each table, in the order in which pairs are looked for."""
        return list(combinations(range(self.blocks), self.equal))

    @property
    def masks(self) -> Rows:
        """(blocks, bits // 8): the bits of each block."""
        bounds = np.linspace(0, self.bits, self.blocks + 1).astype(np.int64)
        place = np.arange(self.bits)
        return np.packbits((bounds[:-1, None] <= place) & (place < bounds[1:, None]), axis=1)


def layout_for(n: int, bits: int, k: int) -> Layout | None:
    """The layout with the fewest tables in which rows that are random meet few others.

    None where each would meet MOST_CANDIDATES or more, or where tables are too many.

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


def keyed(distinct: DataFrame, reach: Reach, layout: Layout) -> DataFrame:
    """Every fingerprint once a table: a key that is equal where the table's bits are."""
    schema = "key long, place int, fingerprint binary, members array<long>"
    return distinct.select("fingerprint", "members").mapInArrow(_keying(reach, layout), schema)


def candidates_of(keys: DataFrame) -> tuple[int, int]:
    """How many pairs of rows meet, and how many rows meet with one key at most."""
    counts = keys.groupBy("key").count()
    pairs = F.sum(F.expr("cast(count as double) * (count - 1) / 2"))
    found = counts.agg(pairs.alias("pairs"), F.max("count").alias("most")).first()
    return (int(found["pairs"] or 0), found["most"] or 0) if found else (0, 0)


def joined_pairs(keys: DataFrame, reach: Reach, layout: Layout, most: int) -> DataFrame:
    """Near pairs of texts whose fingerprints are not the same one, each once: PAIRS.

    `most` rows meet with one key at most (`candidates_of`).
    """
    parts = F.lit(1)
    if most > HOT:
        counts = keys.groupBy("key").count().where(F.col("count") > HOT)
        hot = counts.select("key", F.ceil(F.col("count") / HOT).alias("parts"))
        keys = keys.join(F.broadcast(hot), "key", "left").fillna(1, ["parts"])
        parts = F.col("parts")
    # What each two of the parts of a hot key make is compared in a place of its own.
    placed = in_triangles(keys, F.xxhash64("fingerprint"), parts)
    together = placed.repartition("key", "cell").sortWithinPartitions("key", "cell")
    return together.mapInArrow(_meeting(reach, layout), PAIRS)


def _keying(reach: Reach, layout: Layout) -> Task:
    def keying(batches: Batches) -> Batches:
        for each in batches:
            rows = reach.compared(rows_of(each.column("fingerprint")))
            for place, blocks in enumerate(layout.tables):
                kept = np.bitwise_or.reduce(layout.masks[list(blocks)])
                key = mix64(hashed(rows & kept) + np.uint64(place)).view(np.int64)
                columns = {
                    "key": pa.array(key),
                    "place": pa.array(np.full(len(rows), place, np.int32)),
                    "fingerprint": each.column("fingerprint"),
                    "members": each.column("members"),
                }
                yield pa.RecordBatch.from_pydict(columns)

    return keying


def _meeting(reach: Reach, layout: Layout) -> Task:
    def meeting(batches: Batches) -> Batches:
        for table in whole_runs(batches, ("key", "cell"), ROWS_AT_ONCE):
            members, offsets = lists_of(table.column("members").combine_chunks())
            rows = rows_of(table.column("fingerprint").combine_chunks())
            yield from emitted(
                DistinctRows(rows, members, offsets), _near(table, rows, reach, layout)
            )

    return meeting


def _near(table: pa.Table, rows: Rows, reach: Reach, layout: Layout) -> Iterator[Indices]:
    """Near pairs among rows that meet for the first time: (m, 3) of i, j and distance."""
    side, place = (numbers(table.column(name)) for name in ("side", "place"))
    compared, begins = reach.compared(rows), begins_of(table, ("key", "cell"))
    ends = np.repeat(np.append(begins[1:], len(rows)), np.diff(begins, append=len(rows)))
    after = np.arange(1, len(rows) + 1)
    for left, right in ranges(after, ends - after):
        distance = paired_distances(compared, left, right)
        kept = (distance <= reach.k) & (place[left] == place[right])
        kept &= (side[left] == DIAGONAL) | (side[left] != side[right])
        i, j, distance = left[kept], right[kept], distance[kept]
        counts = _first_tables(compared[i] ^ compared[j], layout) == place[i]
        counts &= reach.passes(rows, i, j)
        yield np.column_stack((i, j, distance))[counts]


def _first_tables(differing: Rows, layout: Layout) -> Indices:
    """The first table in which rows that differ in these bits meet; (m,)."""
    equal = np.array([~(differing & mask).any(axis=1) for mask in layout.masks]).T
    # Of so many equal blocks the first ones; tables are in the order of their blocks.
    first = equal & (np.cumsum(equal, axis=1) <= layout.equal)
    tables = np.zeros((len(layout.tables), layout.blocks), bool)
    for place, blocks in enumerate(layout.tables):
        tables[place, list(blocks)] = True
    weights = 1 << np.arange(layout.blocks)
    by_weight = np.argsort(tables @ weights)
    return by_weight[np.searchsorted((tables @ weights)[by_weight], first @ weights)]
