"""All against all: distinct fingerprints in chunks, and a task for each two of them.

Rows go to chunks by a hash of their bits, so that chunks are equally large. Two chunks make
a tile; these are numbered as a triangle: 0-0, 0-1, 1-1, 0-2, ... Each chunk is sent to all
tiles that it is in, one a chunk.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import functions as F  # noqa: N812

from simdup.compute.hashing import mix64
from simdup.search.distinct import DistinctRows
from simdup.search.hamming import words
from simdup.search.pairs import iter_near_pairs, iter_near_pairs_between
from simdup.spark.arrow import PAIRS, emitted, lists_of, rows_of, runs

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pyspark.sql import Column, DataFrame

    from simdup.search.hamming import Rows
    from simdup.search.pairs import Reach
    from simdup.spark.arrow import Batches, Task

# Rows in a chunk at most, and bytes of fingerprints. A task has two of them.
CHUNK_ROWS, CHUNK_BYTES = 1 << 22, 1 << 29

# Tasks for each one that runs at a time, so that all end together.
TASKS_A_SLOT = 4

# Comparisons that are worth a task: less than a second of work.
COMPARISONS_WORTH = 1 << 28

# Where the rows of a part stand in a cell.
LEFT, RIGHT, DIAGONAL = range(3)


def chunks_for(n: int, width: int, slots: int) -> int:
    """In how many chunks n rows of so many bytes are cut where so many tasks run at a time.

    >>> [chunks_for(n, 64, 2) for n in (1000, 100_000, 1_000_000, 1_000_000_000)]
    [1, 4, 4, 239]
    """
    rows = min(CHUNK_ROWS, CHUNK_BYTES // width)
    return max(parts_for(n * n // 2 // COMPARISONS_WORTH, slots), -(-n // rows))


def parts_for(tasks: int, slots: int) -> int:
    """The parts, each two of which make a task, for so many of these or TASKS_A_SLOT."""
    wanted = min(tasks, TASKS_A_SLOT * slots)
    return next(parts for parts in count(1) if parts * (parts + 1) // 2 >= wanted)


def tiled_pairs(distinct: DataFrame, reach: Reach, chunks: int) -> DataFrame:
    """Near pairs of texts whose fingerprints are not the same one, each once: PAIRS.

    `distinct` has a row for each fingerprint, with the numbers of its texts as members.
    """
    packed = distinct.select("fingerprint", "members").mapInArrow(
        _packing(chunks), "chunk long, rows binary, members binary, counts binary"
    )
    sent = in_triangles(packed, F.col("chunk"), F.lit(chunks)).drop("chunk")
    tiles = chunks * (chunks + 1) // 2
    if hasattr(sent, "repartitionById"):  # since Spark 4.1; no two in one partition
        placed = sent.repartitionById(tiles, F.col("cell").cast("int"))
    else:
        placed = sent.repartition(tiles, "cell")
    return placed.sortWithinPartitions("cell").mapInArrow(_comparing(reach), PAIRS)


def in_triangles(frame: DataFrame, of: Column, parts: Column) -> DataFrame:
    """Rows once for each cell that their part is in, with `cell` and `side`.

    A row belongs to part `of` modulo `parts`; each two parts have a cell, and so has each
    part with itself. No two rows are in two cells together.
    """
    frame = frame.withColumn("part", F.pmod(of.cast("long"), parts.cast("long")))
    other = F.sequence(F.lit(0).cast("long"), parts.cast("long") - 1)
    frame = frame.withColumn("other", F.explode(other))
    own, other = F.col("part"), F.col("other")
    high, low = F.greatest(own, other), F.least(own, other)
    cell = (high * (high + 1) / 2).cast("long") + low
    side = F.when(own == other, DIAGONAL).when(own < other, LEFT).otherwise(RIGHT)
    return frame.withColumns({"cell": cell, "side": side}).drop("part", "other")


def hashed(rows: Rows) -> NDArray[np.uint64]:
    """A number for each row, equal for equal rows: (n,)."""
    mixed = np.zeros(len(rows), np.uint64)
    for word in words(rows).T:
        mixed = mix64(mixed ^ word)
    return mixed


def _packing(chunks: int) -> Task:
    """Make one row of the rows of a batch that belong to one chunk."""

    def packing(batches: Batches) -> Batches:
        for each in batches:
            rows = rows_of(each.column("fingerprint"))
            members, offsets = lists_of(each.column("members"))
            counts = np.diff(offsets)
            chunk = (hashed(rows) % np.uint64(chunks)).astype(np.int64)
            owner = np.repeat(chunk, counts)
            parts = np.unique(chunk)
            columns = {
                "chunk": parts,
                "rows": [rows[chunk == part].tobytes() for part in parts],
                "members": [members[owner == part].tobytes() for part in parts],
                "counts": [counts[chunk == part].tobytes() for part in parts],
            }
            yield pa.RecordBatch.from_pydict(columns)

    return packing


def _comparing(reach: Reach) -> Task:
    def comparing(batches: Batches) -> Batches:
        for _, table in runs(batches, "cell"):
            ordered = table.sort_by("side")
            both = _unpacked(ordered)
            side = ordered.column("side")
            if side[0].as_py() == DIAGONAL:
                pairs = iter_near_pairs(both.rows, reach)
            else:
                lengths = pc.binary_length(ordered.column("counts")).filter(pc.equal(side, LEFT))
                left = sum(lengths.to_pylist()) // both.offsets.itemsize
                across = iter_near_pairs_between(both.rows[:left], both.rows[left:], reach)
                pairs = (each + np.array([0, left, 0]) for each in across)
            yield from emitted(both, pairs)

    return comparing


def _unpacked(table: pa.Table) -> DistinctRows:
    """The rows that were packed into the rows of a table, one after the other."""
    # Arrays of bytes could not be written to, and kernels would be compiled again for these.
    rows, members, counts = (
        bytearray().join(table.column(name).to_pylist()) for name in ("rows", "members", "counts")
    )
    ends = np.cumsum(np.frombuffer(counts, np.int64))
    return DistinctRows(
        np.frombuffer(rows, np.uint8).reshape(len(ends), -1),
        np.frombuffer(members, np.int64),
        np.concatenate((np.zeros(1, np.int64), ends)),
    )
