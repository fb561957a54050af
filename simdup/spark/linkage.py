"""Pairs in, representatives out: `simdup.match.groups`, with each component in one task."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import functions as F  # noqa: N812

from simdup.match.groups import leaders
from simdup.spark.arrow import numbers, whole_runs
from simdup.spark.distinct_texts import checkpointed

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pyspark.sql import DataFrame

    from simdup.spark.arrow import Batches, Task

    Indices = NDArray[np.int64]

# Pairs that are grouped in one task, however they hang together: 100 MB.
PAIRS_AT_ONCE = 1 << 21

#: The columns of a frame of texts that another text represents.
LED = "number long, leader long, similarity double, own_share double"

#: What is known of a pair, null if nobody asked.
KNOWN = ("similarity", "own_share")


def led_texts(pairs: DataFrame, copies: DataFrame, linkage: str) -> DataFrame:
    """The texts that another one represents, lazily: LED.

    `pairs`, which are checkpointed, have a, b, similarity and own_share, which may be null;
    `copies` the number of each text and how many rows have it. The similarity of a text to its
    leader, and their own share, are null if they are no pair.
    """
    if pairs.count() <= PAIRS_AT_ONCE:
        both = pairs.select("a", "b").select(F.explode(F.array("a", "b")).alias("number"))
        roots = both.distinct().withColumn("root", F.lit(0).cast("long"))
    else:
        roots = rooted(pairs)
    root_of = roots.withColumnRenamed("number", "a")
    edges = pairs.select("a", "b", *KNOWN).join(root_of, "a")
    own = root_of.join(copies.toDF("a", "copies"), "a")
    both = edges.unionByName(own, allowMissingColumns=True)
    together = both.repartition("root").sortWithinPartitions("root")
    return together.mapInArrow(_leading(linkage), LED)


def _leading(linkage: str) -> Task:
    """A task that groups many connected components, none of them split over tasks."""

    def leading(batches: Batches) -> Batches:
        for table in whole_runs(batches, ("root",), PAIRS_AT_ONCE):
            yield _leaders_in(table, linkage)

    return leading


def _leaders_in(table: pa.Table, linkage: str) -> pa.RecordBatch:
    """The led texts of whole components, from their edges and texts."""
    is_edge = table.column("b").is_valid()
    edges, own = table.filter(is_edge), table.filter(pc.invert(is_edge))
    number, copies = (numbers(own.column(name).combine_chunks()) for name in ("a", "copies"))
    order = np.argsort(number)
    number, n = number[order], len(number)
    a, b = (numbers(edges.column(name).combine_chunks()) for name in ("a", "b"))
    pairs = np.searchsorted(number, np.column_stack((a, b)))
    leader = leaders(pairs, n, linkage, np.arange(n), copies[order])
    others = np.flatnonzero(leader != np.arange(n))
    places = _places(pairs, others, leader[others], n)
    known = {name: edges.column(name).combine_chunks().take(places) for name in KNOWN}
    return pa.RecordBatch.from_pydict(
        {"number": number[others], "leader": number[leader[others]], **known}
    )


def _places(pairs: Indices, i: Indices, j: Indices, n: int) -> pa.Array:
    """The index of each pair i, j among `pairs`, whose lower number is on the left; else null."""
    keys, asked = pairs[:, 0] * n + pairs[:, 1], np.minimum(i, j) * n + np.maximum(i, j)
    order = np.argsort(keys)
    place = order[np.minimum(np.searchsorted(keys[order], asked), len(keys) - 1)]
    return pa.array(place, mask=keys[place] != asked)


def rooted(pairs: DataFrame) -> DataFrame:
    """Every text that is in a pair, `number`, with the lowest that it is connected with, `root`.

    `pairs` have a and b. Checkpoints the edges after each round.
    """
    high, low = F.greatest("a", "b").alias("high"), F.least("a", "b").alias("low")
    edges = checkpointed(pairs.select(high, low).where("high > low").distinct(), "components")
    before = None
    while (state := _state(edges)) != before:
        before, edges = state, checkpointed(_small_star(_large_star(edges)), "components")
    members = edges.select(F.col("high").alias("number"), F.col("low").alias("root"))
    roots = edges.select(F.col("low").alias("number"), F.col("low").alias("root")).distinct()
    return members.unionAll(roots)


def _state(edges: DataFrame) -> tuple[int, int]:
    """The number of edges, and a checksum of them."""
    mixed = F.xxhash64("high", "low").cast("decimal(38, 0)")
    found = edges.agg(F.count("*").alias("count"), F.sum(mixed).alias("sum")).first()
    return (found["count"], int(found["sum"] or 0)) if found else (0, 0)


def _large_star(edges: DataFrame) -> DataFrame:
    """Hang each text's higher neighbours on the lowest of its neighbours and itself."""
    lowest = _lowest(edges).toDF("own", "lowest")
    through = edges.join(lowest, edges["low"] == lowest["own"], "left")
    return through.select("high", F.coalesce("lowest", "low").alias("low"))


def _small_star(edges: DataFrame) -> DataFrame:
    """Hang each text and its lower neighbours on the lowest of these."""
    through = edges.join(_lowest(edges), "high")
    neighbour = F.struct(F.col("low").alias("high"), F.col("lowest").alias("low"))
    own = F.struct("high", F.col("lowest").alias("low"))
    hung = through.select(F.inline(F.array(neighbour, own)))
    return hung.where("high > low").distinct()


def _lowest(edges: DataFrame) -> DataFrame:
    """The lowest neighbour of each text that has a lower one."""
    return edges.groupBy("high").agg(F.min("low").alias("lowest"))
