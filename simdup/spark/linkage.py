"""Pairs in, representatives out: `simdup.match.groups`, with each component in one task."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from simdup.arrays import Indices, Similarities
from simdup.match.distinct_texts import contents
from simdup.match.groups import Precedence, leaders, with_near_copies
from simdup.spark.arrow import Batches, numbers, rows_of, whole_runs
from simdup.spark.distinct_texts import checkpointed

#: Makes leaders from pairs, their closeness, which text goes first, and the leaders before.
Rule: TypeAlias = Callable[[Indices, Similarities, Precedence, Indices], Indices]

# The most pairs grouped in one task, however they are connected: 100 MB.
PAIRS_AT_ONCE = 1 << 21

#: The columns of a frame of texts that another text represents.
LED = "number long, leader long, similarity double, own_share double"

#: The figures of a pair; null if unknown.
KNOWN = ("similarity", "own_share")


def led_texts(pairs: DataFrame, texts: DataFrame, linkage: str) -> DataFrame:
    """The texts that another one represents, lazily: LED.

    `pairs`, which are checkpointed, have a, b, closeness, similarity and own_share; the last two
    may be null. `texts` have number, digest, and how many copies each one has. The similarity of
    a text to its leader, and their own share, are null if they are not a pair.
    """

    def rule(pairs: Indices, close: Similarities, order: Precedence, _: Indices) -> Indices:
        return leaders(pairs, close, linkage, order)

    return _led(pairs, texts.withColumn("leader", F.col("number")), rule)


def led_near_copies(pairs: DataFrame, texts: DataFrame, led: DataFrame) -> DataFrame:
    """The texts that another one represents once no text with a near copy is alone, lazily: LED.

    `pairs`, which are checkpointed, are the pairs of near copies, and of the texts in `led` with
    their leaders; see `led_texts`.
    """
    before = texts.join(led.select("number", "leader"), "number", "left")
    before = before.withColumn("leader", F.coalesce("leader", "number"))

    def rule(pairs: Indices, close: Similarities, order: Precedence, leader: Indices) -> Indices:
        return with_near_copies(pairs, close, leader, order)

    return _led(pairs, before, rule)


def _led(pairs: DataFrame, texts: DataFrame, rule: Rule) -> DataFrame:
    """The texts that another one represents by a rule, which sees whole components: LED."""
    if pairs.count() <= PAIRS_AT_ONCE:
        both = pairs.select("a", "b").select(F.explode(F.array("a", "b")).alias("number"))
        roots = both.distinct().withColumn("root", F.lit(0).cast("long"))
    else:
        roots = rooted(pairs)
    root_of = roots.withColumnRenamed("number", "a")
    edges = pairs.select("a", "b", "closeness", *KNOWN).join(root_of, "a")
    about = texts.select(F.col("number").alias("a"), "copies", "digest", "leader")
    own = root_of.join(about, "a")
    both = edges.unionByName(own, allowMissingColumns=True)
    together = both.repartition("root").sortWithinPartitions("root")

    def leading(batches: Batches) -> Batches:
        for table in whole_runs(batches, ("root",), PAIRS_AT_ONCE):
            yield _leaders_in(table, rule)

    return together.mapInArrow(leading, LED)


def _leaders_in(table: pa.Table, rule: Rule) -> pa.RecordBatch:
    """The led texts of whole components, from their edges and texts."""
    is_edge = table.column("b").is_valid()
    edges, own = table.filter(is_edge), table.filter(pc.invert(is_edge))
    own = own.sort_by("a")
    number, copies, before = (numbers(own.column(name)) for name in ("a", "copies", "leader"))
    digests = np.ascontiguousarray(rows_of(own.column("digest"))).view(np.uint64)
    order = Precedence(copies, contents(digests))
    a, b = (numbers(edges.column(name)) for name in ("a", "b"))
    pairs = np.searchsorted(number, np.column_stack((a, b)))
    closeness = edges.column("closeness").to_numpy()
    leader = rule(pairs, closeness, order, np.searchsorted(number, before))
    others = np.flatnonzero(leader != np.arange(len(number)))
    places = _places(pairs, others, leader[others], len(number))
    known = {name: edges.column(name).combine_chunks().take(places) for name in KNOWN}
    return pa.RecordBatch.from_pydict(
        {"number": number[others], "leader": number[leader[others]], **known}
    )


def _places(pairs: Indices, i: Indices, j: Indices, n: int) -> pa.Array:
    """The index of each pair i, j among `pairs`; null if it is not there."""
    keys, asked = pairs.min(axis=1) * n + pairs.max(axis=1), np.minimum(i, j) * n + np.maximum(i, j)
    order = np.argsort(keys)
    place = order[np.minimum(np.searchsorted(keys[order], asked), len(keys) - 1)]
    return pa.array(place, mask=keys[place] != asked)


def rooted(pairs: DataFrame) -> DataFrame:
    """Each text of a pair, `number`, with the lowest text that it is connected with, `root`.

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
    """The lowest neighbour of each text with a lower one."""
    return edges.groupBy("high").agg(F.min("low").alias("lowest"))
