"""Groups of rows in, the rows to drop out: `simdup.corpus.stay`, in DataFrames."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.window import Window

from simdup.match.groups import MOST_STAYING, unlike
from simdup.records import Kind
from simdup.spark.arrow import numbers, whole_runs
from simdup.spark.distinct_texts import checkpointed

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from simdup.spark.arrow import Batches
    from simdup.spark.distinct_texts import NumberedTexts
    from simdup.spark.match import Matching

# Rows that are looked at in one task, however many groups they are.
ROWS_AT_ONCE = 1 << 20

# What of the later text of a pair is to be known.
LATER = ("number", "place", "is_centre")

# What Spark calls these jobs by.
STAYING = "rows that stay"


def dropped(groups: DataFrame, texts: NumberedTexts, matching: Matching, keep: str) -> DataFrame:
    """The ids of the rows that go: what the local engine drops. `keep` is one of its KEEPS.

    `groups` are those that `simdup.spark.linkage` returns, of these texts.
    """
    is_star = matching.settings.linkage == "star"
    if is_star and keep == "representative":
        return groups.where("id != representative").select("id")
    ordered = checkpointed(_ordered(groups, texts, keep, is_star=is_star), STAYING)
    stays = _Rounds(ordered, matching).stays()
    return groups.join(ordered.join(stays, "number").select("id"), "id", "left_anti").select("id")


def _ordered(groups: DataFrame, texts: NumberedTexts, keep: str, *, is_star: bool) -> DataFrame:
    """For each text of a group number, group, place, is_centre, and the id that stands for it.

    Preferred texts have lower places; a group goes by the number of its
    representative's text.
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
    """Columns by which a preferred row comes first; of equal rows the lowest id does."""
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


class _Rounds:
    """The rounds of `groups.staying`, where this is explained."""

    def __init__(self, ordered: DataFrame, matching: Matching) -> None:
        self.ordered, self.matching = ordered, matching

    def stays(self) -> DataFrame:
        """The number of each text that stays."""
        left, size = self.ordered, 1
        stays = self.ordered.limit(0)
        while not left.isEmpty():
            decided = checkpointed(self._decided(left, size), STAYING)
            chosen = left.join(decided.where("stays").select("number"), "number")
            stays = checkpointed(stays.unionByName(chosen), STAYING)
            left = left.join(decided.select("number"), "number", "left_anti")
            left = checkpointed(left.join(self._over(stays), "group", "left_anti"), STAYING)
            size *= 2
        return self._limited(stays)

    def _decided(self, left: DataFrame, size: int) -> DataFrame:
        """Whether texts stay, of those left the first ones of each group and all like these."""
        rank = F.row_number().over(Window.partitionBy("group").orderBy("place"))
        first = left.withColumn("rank", rank).where(F.col("rank") <= size)
        first = checkpointed(first.select("number", "group", "place", "is_centre"), STAYING)
        later = left.select("group", *(F.col(name).alias(f"later_{name}") for name in LATER))
        both = first.join(later, "group").where("place < later_place")
        centred = F.col("is_centre") | F.col("later_is_centre")
        pair = F.col("number").alias("a"), F.col("later_number").alias("b")
        pairs = checkpointed(both.select(*pair, centred.alias("centred")), STAYING)
        asked = pairs.where("not centred").select("a", "b")
        like = self.matching.alike(asked, asked.count()).select("a", "b")
        like = like.unionByName(pairs.where("centred").select("a", "b"))
        places = first.select(F.col("number").alias("a"), "group", "place")
        both = places.join(like, "a").unionByName(places, allowMissingColumns=True)
        together = both.repartition("group").sortWithinPartitions("group", "place")
        return together.mapInArrow(_choosing, "number long, stays boolean")

    def _over(self, stays: DataFrame) -> DataFrame:
        """The groups with a centre in which too many texts stay."""
        counts = stays.groupBy("group").count().where(F.col("count") > MOST_STAYING)
        centres = self.ordered.where("is_centre").select("group")
        return counts.select("group").join(centres, "group")

    def _limited(self, stays: DataFrame) -> DataFrame:
        """As `groups.limited`: of groups with too many the first ones, and the centre."""
        over = self._over(stays)
        place = F.row_number().over(Window.partitionBy("group").orderBy("place"))
        ranked = stays.withColumn("rank", place)
        few = ranked.where(F.col("rank") <= MOST_STAYING).unionByName(
            ranked.join(over, "group", "left_anti").where(F.col("rank") > MOST_STAYING)
        )
        centres = over.select(F.col("group").alias("number"))
        return few.select("number").unionByName(centres).distinct()


def _choosing(batches: Batches) -> Batches:
    """Which texts of whole groups stay, and those that are alike to these: number, stays.

    Takes the texts, a, in their order, and each with those that it is alike to, b.
    """
    for table in whole_runs(batches, ("group",), ROWS_AT_ONCE):
        pairs = table.filter(pc.is_valid(table.column("b")))
        texts = table.filter(pc.is_null(table.column("b"))).column("a")
        a, b = (numbers(pairs.column(name).combine_chunks()) for name in ("a", "b"))
        first = numbers(texts.combine_chunks())
        chosen, covered = unlike(first, np.column_stack((a, b)))
        number = np.union1d(first, covered)
        yield pa.RecordBatch.from_pydict({"number": number, "stays": np.isin(number, chosen)})
