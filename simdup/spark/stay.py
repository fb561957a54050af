"""Groups of rows in, the rows to drop out: `simdup.corpus.rewrite`, in DataFrames."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.window import Window

from simdup.match.groups import MOST_STAYING, unlike
from simdup.records import Kind
from simdup.spark.arrow import Batches, numbers, whole_runs
from simdup.spark.distinct_texts import NumberedTexts, checkpointed
from simdup.spark.match import Matching

# Rows that one task holds at once, however many groups they are.
ROWS_AT_ONCE = 1 << 20

# The columns of the later text of a pair.
LATER = ("number", "place", "is_centre")

# The description of the jobs of this module.
STAYING = "rows that stay"


def dropped(groups: DataFrame, matching: Matching, keep: str) -> DataFrame:
    """The ids of the rows to drop, which the local engine drops too: each is alike to one kept.

    `groups` is the result of `simdup.spark.groups` for the texts of `matching`; `keep` is one
    of KEEPS.
    """
    is_star = matching.settings.linkage == "star"
    if is_star and keep == "representative":
        return groups.where("id != representative").select("id")
    ordered = checkpointed(_ordered(groups, matching.texts, keep, is_star=is_star), STAYING)
    stays = _staying(ordered, matching)
    return groups.join(ordered.join(stays, "number").select("id"), "id", "left_anti").select("id")


def _ordered(groups: DataFrame, texts: NumberedTexts, keep: str, *, is_star: bool) -> DataFrame:
    """Each text of a group: number, group, place, is_centre, and the id of its preferred row.

    Preferred texts have lower places. `group` is the number of the representative's text.
    """
    rows = texts.rows.where("reason is null").select("id", "digest", "length")
    numbered = rows.join(texts.frame.select("number", "digest"), "digest").drop("digest")
    members = groups.join(numbered, "id")
    own = members.where("id = representative")
    group = own.select("representative", F.col("number").alias("group"))
    best = F.min(F.struct(*_preference(keep), "id")).alias("best")
    each = members.join(group, "representative").groupBy("group", "number").agg(best)
    place = F.row_number().over(Window.partitionBy("group").orderBy("best"))
    is_centre = (F.col("number") == F.col("group")) & F.lit(is_star)
    return each.select(
        "number",
        "group",
        place.cast("long").alias("place"),
        is_centre.alias("is_centre"),
        F.col("best.id").alias("id"),
    )


def _preference(keep: str) -> tuple[Column, ...]:
    """The columns that sort preferred rows first; among equal rows the lowest id decides."""
    if keep == "first":
        return ()
    if keep == "longest":
        return ((-F.col("length")).alias("length"),)
    return (
        (F.col("id") != F.col("representative")).alias("is_other"),
        (F.col("kind") == Kind.NEAR.value).alias("is_near"),
        (-F.coalesce("similarity", F.lit(0.0))).alias("unlike"),
        F.col("distance"),
    )


def _staying(ordered: DataFrame, matching: Matching) -> DataFrame:
    """The number of each text that stays, found in rounds as in `groups.staying`."""
    left, size = ordered, 1
    stays = ordered.limit(0)
    while not left.isEmpty():
        decided = checkpointed(_decided(left, size, matching), STAYING)
        chosen = left.join(decided.where("stays").select("number"), "number")
        stays = checkpointed(stays.unionByName(chosen), STAYING)
        left = left.join(decided.select("number"), "number", "left_anti")
        left = checkpointed(left.join(_over(stays, ordered), "group", "left_anti"), STAYING)
        size *= 2
    return _limited(stays, ordered)


def _decided(left: DataFrame, size: int, matching: Matching) -> DataFrame:
    """Which of the first `size` texts of each group stay, and which texts are alike to these."""
    rank = F.row_number().over(Window.partitionBy("group").orderBy("place"))
    first = left.withColumn("rank", rank).where(F.col("rank") <= size)
    first = checkpointed(first.select("number", "group", "place", "is_centre"), STAYING)
    later = left.select("group", *(F.col(name).alias(f"later_{name}") for name in LATER))
    both = first.join(later, "group").where("place < later_place")
    centred = F.col("is_centre") | F.col("later_is_centre")
    pair = F.col("number").alias("a"), F.col("later_number").alias("b")
    pairs = checkpointed(both.select(*pair, centred.alias("centred")), STAYING)
    asked = pairs.where("not centred").select("a", "b")
    alike = matching.alike(asked, asked.count()).select("a", "b")
    alike = alike.unionByName(pairs.where("centred").select("a", "b"))
    places = first.select(F.col("number").alias("a"), "group", "place")
    both = places.join(alike, "a").unionByName(places, allowMissingColumns=True)
    together = both.repartition("group").sortWithinPartitions("group", "place")
    return together.mapInArrow(_choosing, "number long, stays boolean")


def _over(stays: DataFrame, ordered: DataFrame) -> DataFrame:
    """The groups with a centre in which too many texts stay."""
    counts = stays.groupBy("group").count().where(F.col("count") > MOST_STAYING)
    centres = ordered.where("is_centre").select("group")
    return counts.select("group").join(centres, "group")


def _limited(stays: DataFrame, ordered: DataFrame) -> DataFrame:
    """The texts that stay; of groups with too many, the first ones and the centre."""
    over = _over(stays, ordered)
    place = F.row_number().over(Window.partitionBy("group").orderBy("place"))
    ranked = stays.withColumn("rank", place)
    few = ranked.where(F.col("rank") <= MOST_STAYING).unionByName(
        ranked.join(over, "group", "left_anti").where(F.col("rank") > MOST_STAYING)
    )
    centres = over.select(F.col("group").alias("number"))
    return few.select("number").unionByName(centres).distinct()


def _choosing(batches: Batches) -> Batches:
    """Decide which texts of whole groups stay, and which are alike to these: number, stays.

    A row has a text, a, in the order of places, and a text that it is alike to, b, or null.
    """
    for table in whole_runs(batches, ("group",), ROWS_AT_ONCE):
        pairs = table.filter(pc.is_valid(table["b"]))
        texts = numbers(table.filter(pc.is_null(table["b"]))["a"])
        alike = np.column_stack([numbers(pairs[name]) for name in ("a", "b")])
        chosen, covered = unlike(texts, alike)
        number = np.union1d(texts, covered)
        yield pa.RecordBatch.from_pydict({"number": number, "stays": np.isin(number, chosen)})
