"""Distinct texts in, parts that are matched alone out: `simdup.match.division` in DataFrames.

Families are inside parts, so the families that have each value are counted where the parts lie, and
texts without a part where these lie. The counters of all tasks are added.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.window import Window

from simdup.arrays import Counters
from simdup.fingerprint.sketch import Sketches, thinned
from simdup.match.division import MOST_TEXTS, STEPS
from simdup.match.groups import components
from simdup.match.own_share import (
    COUNTERS,
    FAMILY,
    MOST_COUNTED,
    CountedValues,
    Frequencies,
    estimated_cosines,
    least_kept,
    least_similarity,
    may_be_alike,
)
from simdup.search.distinct import distinct_numbers
from simdup.settings import Settings
from simdup.spark.arrow import Batches, Task, binary, numbers, rows_of, sketches_of, whole_runs
from simdup.spark.lists import texts_together
from simdup.spark.search import near_pairs
from simdup.spark.texts import DIGEST, NumberedTexts, checkpointed, job_description

# The most pairs that one task connects: some 100 MB.
PAIRS_AT_ONCE = 1 << 21

#: Rows of parts that a task holds at once, unless a part has more.
ROWS_AT_ONCE = 1 << 14

# Counters are sent in blocks; blocks of zeros only are left out.
BLOCK = 1 << 16
BLOCKS = "block int, counters binary"


class Division(NamedTuple):
    """The parts of texts, and the candidate pairs that a search among all texts found.

    `roots` has number and root, the part of each text that is in a pair; the lowest text gives a
    part its number. `pairs` has a and b. `crowded` has the number of each text whose pairs are not
    all among `pairs`, and `is_crowded`, which is true. `proposed` is the number of all candidate
    pairs; None if all texts are one part, in which nothing was searched yet.
    """

    roots: DataFrame
    pairs: DataFrame
    crowded: DataFrame
    proposed: int | None


def divided(texts: NumberedTexts, settings: Settings) -> Division:
    """The parts of these texts.

    All are one part if they are few, or if exact similarities decide and sketches cannot propose
    pairs: then further rounds have to search for pairs of any two texts.
    """
    frame, is_crowded = texts.frame, F.lit(True).alias("is_crowded")  # noqa: FBT003  (Spark's)
    nobody = frame.where("false").select("number", is_crowded)
    is_sketched = texts.is_sketched and settings.recipe.has_equal_weights
    if texts.size <= settings.limits.by_distance or (settings.verified and not is_sketched):
        no_pairs = nobody.select(F.col("number").alias("a"), F.col("number").alias("b"))
        return Division(frame.select("number", F.lit(0).alias("root")), no_pairs, nobody, None)
    if not settings.verified:
        bits = settings.recipe.bits
        closeness = F.cos(F.lit(np.pi / bits) * F.col("distance")).alias("closeness")
        near = near_pairs(frame, bits, settings.distance)
        near = checkpointed(near.select("a", "b", closeness), "near pairs")
        return Division(parts_of(near, frame), near, nobody, 0)
    found = checkpointed(texts_together(frame), "lists")
    crowded = found.where("is_star").select(F.explode(F.array("a", "b")).alias("number"))
    near = checkpointed(_perhaps_alike(found, frame, settings), "near sketches")
    crowded = crowded.distinct().select("number", is_crowded)
    return Division(parts_of(near, frame), near, crowded, found.count())


def _perhaps_alike(pairs: DataFrame, texts: DataFrame, settings: Settings) -> DataFrame:
    """The pairs that may be similar enough, or one family, by their sketches: a, b, closeness."""
    pairs = pairs.select("a", "b")
    for side in ("a", "b"):
        own = texts.select("number", "features", "sketch")
        pairs = pairs.join(own.toDF(side, f"{side}_features", f"{side}_sketch"), side)
    return pairs.mapInArrow(_sieving(settings.similarity), "a long, b long, closeness double")


def _sieving(similarity: float) -> Task:
    """A task that keeps the pairs that sketches do not rule out."""

    def sieving(batches: Batches) -> Batches:
        for each in batches:
            both = pa.chunked_array([each["a_sketch"], each["b_sketch"]])
            counts = np.concatenate([numbers(each[f"{side}_features"]) for side in ("a", "b")])
            sketches, n = thinned(sketches_of(both), counts), len(each)
            pairs = np.column_stack((np.arange(n), np.arange(n, 2 * n)))
            least = np.minimum(least_similarity(similarity, counts[pairs].min(axis=1)), FAMILY)
            kept = may_be_alike(sketches, counts, pairs, least)
            cosines = pa.array(estimated_cosines(sketches, counts, pairs[kept]))
            named = each.select(["a", "b"]).filter(pa.array(kept))
            yield named.append_column("closeness", cosines)

    return sieving


def parts_of(pairs: DataFrame, texts: DataFrame) -> DataFrame:
    """number, root: the part of each text of a pair; large parts are cut as locally.

    `pairs`, which are checkpointed, have a, b and closeness.
    """
    roots = rooted(pairs)
    for least in STEPS:
        large = roots.groupBy("root").count().where(F.col("count") > MOST_TEXTS)
        if large.isEmpty():
            return roots
        cut = roots.join(large, "root", "left_semi").select(F.col("number").alias("a"))
        inside = pairs.where(F.col("closeness") >= least).join(cut, "a", "left_semi")
        whole = roots.join(large, "root", "left_anti").select("number", "root")
        roots = checkpointed(whole.unionAll(rooted(checkpointed(inside, "parts"))), "parts")
    size = F.count("*").over(Window.partitionBy("root"))
    bits = F.ceil(F.log2(F.greatest(size / MOST_TEXTS, F.lit(1.0))))
    # The first bits of the last word of the digest, whose lowest byte comes first.
    first = F.conv(F.hex(F.substring("digest", DIGEST, 1)), 16, 10).cast("int")
    sized = roots.withColumn("bits", bits).join(texts.select("number", "digest"), "number")
    piece = Window.partitionBy("root", F.floor(first / F.pow(F.lit(2), 8 - F.col("bits"))))
    lowest = F.min("number").over(piece).alias("root")
    return checkpointed(sized.select("number", lowest), "parts")


def rooted(pairs: DataFrame) -> DataFrame:
    """Each text of a pair, `number`, with the lowest text that it is connected with, `root`.

    `pairs`, which are checkpointed, have a and b.
    """
    high, low = F.greatest("a", "b").alias("high"), F.least("a", "b").alias("low")
    edges = pairs.select(high, low)
    if edges.count() <= PAIRS_AT_ONCE:
        found = edges.coalesce(1).mapInArrow(_connecting, "number long, root long")
        return checkpointed(found, "components")
    edges, before = checkpointed(edges.where("high > low").distinct(), "components"), None
    state = F.count("*"), F.sum(F.xxhash64("high", "low").cast("decimal(38, 0)"))
    while (now := edges.agg(*state).first()) != before:
        before, edges = now, checkpointed(_small_star(_large_star(edges)), "components")
    members = edges.select(F.col("high").alias("number"), F.col("low").alias("root"))
    roots = edges.select(F.col("low").alias("number"), F.col("low").alias("root")).distinct()
    return members.unionAll(roots)


def _connecting(batches: Batches) -> Batches:
    """Connect all pairs in one task."""
    pairs = [np.column_stack([numbers(each[name]) for name in ("high", "low")]) for each in batches]
    every = np.concatenate([np.empty((0, 2), np.int64), *pairs])
    number = distinct_numbers(every)
    root = number[components(np.searchsorted(number, every), len(number))]
    yield pa.RecordBatch.from_pydict({"number": number, "root": root})


def _large_star(edges: DataFrame) -> DataFrame:
    """Hang each text's higher neighbours on the lowest of its neighbours and itself."""
    lowest = _lowest(edges).toDF("low", "lowest")
    return edges.join(lowest, "low", "left").select(
        "high", F.coalesce("lowest", "low").alias("low")
    )


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


def least_of(texts: DataFrame) -> int:
    """How many values each of all texts keeps for its own shares; see `own_share.least_kept`."""
    with job_description(texts.sparkSession, "frequencies"):
        found = texts.groupBy("features").count().toArrow()
    return least_kept(numbers(found["features"]), numbers(found["count"]))


def kept_of(texts: pa.RecordBatch | pa.Table, least: int) -> Sketches:
    """The sketches of these texts, which keep `least` values or more."""
    return thinned(sketches_of(texts["sketch"]), numbers(texts["features"]), least=least)


def frequencies(texts: DataFrame, least: int) -> CountedValues:
    """The number of families with each value, if each text keeps `least` values or more.

    `texts` have root, family, features and sketch, part by part; rows without a sketch are
    passed over.
    """
    counted = texts.mapInArrow(_counting(least), BLOCKS).repartition("block")
    with job_description(texts.sparkSession, "frequencies"):
        found = counted.mapInArrow(_adding, BLOCKS).toArrow()
    return CountedValues(_sum(found.to_batches()))


def _counting(least: int) -> Task:
    """Count the values of the families of parts: BLOCKS."""

    def counting(batches: Batches) -> Batches:
        counters = np.zeros(COUNTERS, np.uint16)
        for table in whole_runs(batches, ("root",), ROWS_AT_ONCE):
            texts = table.filter(pc.is_valid(table["sketch"]))
            _, family = np.unique(numbers(texts["family"]), return_inverse=True)
            _add(counters, Frequencies(kept_of(texts, least), family).counters)
        yield _blocks(counters)

    return counting


def _adding(batches: Batches) -> Batches:
    """Add the counters of BLOCKS."""
    yield _blocks(_sum(batches))


def _blocks(counters: Counters) -> pa.RecordBatch:
    """The BLOCKS of these counters with any number above 0."""
    rows = counters.reshape(-1, BLOCK)
    (there,) = np.nonzero(rows.any(axis=1))
    columns = {"block": there.astype(np.int32), "counters": binary(rows[there].view(np.uint8))}
    return pa.RecordBatch.from_pydict(columns)


def _sum(batches: Iterable[pa.RecordBatch]) -> Counters:
    """The counters that BLOCKS add up to."""
    counters = np.zeros(COUNTERS, np.uint16)
    rows = counters.reshape(-1, BLOCK)
    for each in batches:
        for block, more in zip(numbers(each["block"]), rows_of(each["counters"]), strict=True):
            _add(rows[block], more.view(np.uint16))
    return counters


def _add(counters: Counters, more: Counters) -> None:
    """Add counters to others, up to MOST_COUNTED."""
    np.add(counters, np.minimum(more, MOST_COUNTED - counters), out=counters)
