"""Pairs in, connected components out: by alternating large-star and small-star.

Both hang the neighbours of each text on the lowest one: large-star those with higher
numbers, small-star those with lower ones and the text itself. After some log(n) rounds each
component is a star around its lowest number.
Source: Kiveris, Lattanzi, Mirrokni, Rastogi, Vassilvitskii, "Connected components in
MapReduce and beyond", 2014, section 3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812

from simdup.spark.distinct_texts import checkpointed

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


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
    """The number of edges, and a sum that is another one where the edges are others."""
    mixed = F.xxhash64("high", "low").cast("decimal(38, 0)")
    found = edges.agg(F.count("*").alias("count"), F.sum(mixed).alias("sum")).first()
    return (found["count"], int(found["sum"] or 0)) if found else (0, 0)


def _large_star(edges: DataFrame) -> DataFrame:
    """Each text's higher neighbours hung on the lowest of its neighbours and itself."""
    lowest = _lowest(edges).toDF("own", "lowest")
    through = edges.join(lowest, edges["low"] == lowest["own"], "left")
    return through.select("high", F.coalesce("lowest", "low").alias("low"))


def _small_star(edges: DataFrame) -> DataFrame:
    """Each text and its lower neighbours hung on the lowest of these."""
    through = edges.join(_lowest(edges), "high")
    neighbour = F.struct(F.col("low").alias("high"), F.col("lowest").alias("low"))
    own = F.struct("high", F.col("lowest").alias("low"))
    hung = through.select(F.inline(F.array(neighbour, own)))
    return hung.where("high > low").distinct()


def _lowest(edges: DataFrame) -> DataFrame:
    """The lowest neighbour of each text that has a lower one."""
    return edges.groupBy("high").agg(F.min("low").alias("lowest"))
