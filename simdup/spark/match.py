"""Distinct texts in, representatives out: the rounds of `simdup.match.match`, in DataFrames.

A text that represents itself is in no frame here: `led` has the others, each with its leader.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812

from simdup.match.candidates import affordable, recall, sample, sieve, wanted
from simdup.match.match import ROUNDS
from simdup.records import SHORT, Candidates
from simdup.search.hamming import paired_distances
from simdup.search.pairs import Reach
from simdup.spark.arrow import PAIRS, numbers, rows_of
from simdup.spark.distinct_texts import checkpointed, job_description, numbered
from simdup.spark.search import near_pairs
from simdup.spark.stars import led as star_led
from simdup.spark.verify import Originals, with_similarities
from simdup.theory import similarity_at

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from simdup.settings import Settings
    from simdup.spark.arrow import Batches, Task
    from simdup.spark.distinct_texts import NumberedTexts

# What is checkpointed, as Spark names its jobs.
COMPARED, VERIFIED, GROUPED = "near pairs", "similarities", "groups"


@dataclass(frozen=True, slots=True)
class Matched:
    """What matching texts gave."""

    led: DataFrame
    """number, leader and similarity of each text that another one represents; the similarity
    is null where nothing was verified."""
    candidates: Candidates | None
    """None when nothing was verified."""


class Matching:
    """Some texts, and how they are to be compared."""

    def __init__(self, texts: NumberedTexts, originals: Originals, settings: Settings) -> None:
        self.texts, self.originals, self.settings = texts, originals, settings
        self.bits = settings.recipe.bits
        self.sieve = None
        if settings.verified and texts.bits > self.bits:
            self.sieve = sieve(settings.similarity, texts.bits)

    def matched(self) -> Matched:
        """Which text represents which."""
        if self.settings.verified:
            return self._verified()
        return Matched(self._bare(), None)

    def pairs(self) -> DataFrame:
        """Every pair of near-duplicate texts: a, b, distance, similarity (null if bare)."""
        if not self.settings.verified:
            return self._bare_pairs().withColumn("similarity", F.lit(None).cast("double"))
        k = wanted(self.settings.similarity, self.bits)
        candidates = checkpointed(self._near(self.texts.frame, k), COMPARED)
        return self._alike(candidates, candidates.count())

    def to_leaders(self, led: DataFrame) -> DataFrame:
        """Complete the similarities to leaders: the ones that belong to no pair are computed."""
        if not self.settings.verified or self.settings.linkage == "star":
            return led
        unknown = led.where("similarity is null").toDF("a", "b", "similarity")
        computed = with_similarities(unknown, unknown.count(), self.originals)
        known = led.where("similarity is not null")
        return known.unionAll(computed.select("a", "b", "similarity"))

    def alike(self, pairs: DataFrame, count: int) -> DataFrame:
        """Keep those of `count` pairs of texts, a and b, that are near-duplicates."""
        if self.settings.verified:
            return self._alike(pairs, count)
        bits = F.substring("fingerprint", 1, self.bits // 8)
        measured = pairs
        for side in ("a", "b"):
            own = self.texts.frame.select(F.col("number").alias(side), bits.alias(f"{side}_row"))
            measured = measured.join(own, side)
        return self._held(measured.mapInArrow(_measuring(self.settings.distance), PAIRS))

    def _bare_pairs(self) -> DataFrame:
        """Pairs of texts that are near by distance alone, unless one of them is short."""
        return self._held(self._near(self.texts.frame, self.settings.distance))

    def _held(self, pairs: DataFrame) -> DataFrame:
        """Keep pairs of long texts, and pairs with a short one whose exact similarity agrees."""
        short = self.texts.frame.where(F.col("features") < SHORT).select("number")
        if short.isEmpty():
            return pairs
        # The distance of a short text says too little by itself.
        flagged = pairs
        for side in ("a", "b"):
            own = short.select(F.col("number").alias(side), F.lit(1).alias(f"short_{side}"))
            flagged = flagged.join(own, side, "left")
        is_short = F.coalesce("short_a", "short_b").isNotNull()
        flagged = checkpointed(
            flagged.select("a", "b", "distance", is_short.alias("is_short")), COMPARED
        )
        doubtful, columns = flagged.where("is_short"), ("a", "b", "distance")
        decided = with_similarities(doubtful, doubtful.count(), self.originals)
        held = decided.where(
            F.col("similarity") >= similarity_at(self.settings.distance, self.bits)
        )
        return flagged.where("not is_short").select(*columns).unionAll(held.select(*columns))

    def _bare(self) -> DataFrame:
        unknown = F.lit(None).cast("double").alias("similarity")
        pairs = checkpointed(self._bare_pairs().select("a", "b", unknown), COMPARED)
        return checkpointed(self._led(pairs, self.texts.frame), GROUPED)

    def _verified(self) -> Matched:
        """As `simdup.match.match` does, where this is explained."""
        similarity, linkage = self.settings.similarity, self.settings.linkage
        want = reach = wanted(similarity, self.bits)
        active, count, decided = self.texts.frame, self.texts.count, 0
        led: DataFrame | None = None
        for _ in range(ROUNDS):
            k = self._affordable(active, count, want)
            reach = min(reach, k) if linkage == "components" else k
            near = self._near(active, k) if k or not want else self._equal_rows(active)
            candidates = checkpointed(near, COMPARED)
            found = candidates.count()
            alike = checkpointed(self._alike(candidates, found), VERIFIED)
            new = checkpointed(self._led(alike, active), GROUPED)
            led, moved, lost = (new, 0, 0) if led is None else self._followed(led, new)
            decided += found + moved
            if (k == want and not lost) or new.isEmpty():
                break
            active = self.texts.frame.join(led.select("number"), "number", "left_anti")
            active = checkpointed(active, GROUPED)
            count = active.count()
        share = recall(similarity, self.bits, reach, self.texts.bits)
        return Matched(led, Candidates(reach, want, share, decided))

    def _followed(self, led: DataFrame, new: DataFrame) -> tuple[DataFrame, int, int]:
        """Who is led now; how many had a leader that got one, and how many of them lost it."""
        further = new.select(F.col("leader").alias("b"), F.col("number").alias("leader"))
        spokes = led.join(further, "leader").select(F.col("number").alias("a"), "b")
        moved = checkpointed(spokes, GROUPED)
        count = moved.count()
        if self.settings.linkage == "star":
            alike = self._alike(moved, count)
        else:
            alike = moved.withColumn("similarity", F.lit(None).cast("double"))
        followers = alike.select("a", "b", "similarity").toDF(*led.columns)
        follow = checkpointed(followers, VERIFIED)
        stay = led.join(moved.withColumnRenamed("a", "number"), "number", "left_anti")
        now = checkpointed(new.unionByName(stay).unionByName(follow), GROUPED)
        return now, count, count - follow.count()

    def _led(self, pairs: DataFrame, active: DataFrame) -> DataFrame:
        """The representatives of active texts, by the pairs among them."""
        return star_led(pairs, active.select("number", "copies"), self.settings.linkage)

    def _near(self, active: DataFrame, k: int) -> DataFrame:
        return near_pairs(active, Reach(self.bits, k, self.sieve))

    def _alike(self, candidates: DataFrame, count: int) -> DataFrame:
        """Keep those of `count` pairs that are as similar as asked, with exact similarities."""
        decided = with_similarities(candidates, count, self.originals)
        return decided.where(F.col("similarity") >= self.settings.similarity)

    def _equal_rows(self, active: DataFrame) -> DataFrame:
        """Of texts with the same fingerprint each with the first: PAIRS."""
        bits = F.substring("fingerprint", 1, self.bits // 8).alias("bits")
        rows = active.select("number", bits)
        first = rows.groupBy("bits").agg(F.min("number").alias("a"))
        spokes = rows.join(first, "bits").where(F.col("a") != F.col("number"))
        return spokes.select(
            "a", F.col("number").alias("b"), F.lit(0).cast("long").alias("distance")
        )

    def _affordable(self, active: DataFrame, count: int, want: int) -> int:
        """The distance up to `want` within which these texts have not too many pairs."""
        drawn_pairs, _, pairs = sample(count)
        if not len(drawn_pairs):
            return want
        by_place = active
        if count < self.texts.count:
            rows = active.select("fingerprint", F.col("number").alias("text"))
            by_place, _ = numbered(rows, "text")
        slots = active.sparkSession.sparkContext.defaultParallelism
        tasks = active.sparkSession.range(slots, numPartitions=slots)
        drawn = tasks.mapInArrow(_drawing(count, slots), "left long, right long")
        for side in ("left", "right"):
            own = by_place.select("number", "fingerprint").toDF(side, f"{side}_row")
            drawn = drawn.join(own, side)
        tally = drawn.select("left_row", "right_row").mapInArrow(
            _tallying(Reach(self.bits, want, self.sieve)), "distance int, count long"
        )
        with job_description(active.sparkSession, "sample"):
            found = tally.groupBy("distance").agg(F.sum("count").alias("count")).toArrow()
        distances = np.repeat(found["distance"].to_numpy(), found["count"].to_numpy())
        return affordable(distances, pairs / len(drawn_pairs), count, want)


def _measuring(k: int) -> Task:
    """Of pairs a and b, with their rows, those within k bits: PAIRS."""

    def measuring(batches: Batches) -> Batches:
        for each in batches:
            rows = [rows_of(each.column(name)) for name in ("a_row", "b_row")]
            own = np.arange(len(each))
            distance = paired_distances(np.concatenate(rows), own, own + len(each))
            columns = {"a": each.column("a"), "b": each.column("b")}
            made = pa.RecordBatch.from_pydict(columns | {"distance": distance.astype(np.int64)})
            yield made.filter(pa.array(distance <= k))

    return measuring


def _drawing(n: int, tasks: int) -> Task:
    """The sampled pairs of n texts, a part of them in each task: numbered 0 to tasks - 1."""

    def drawing(batches: Batches) -> Batches:
        left, right, _ = sample(n)
        for each in batches:
            for task in numbers(each.column("id")).tolist():
                part = slice(task, None, tasks)
                yield pa.RecordBatch.from_pydict({"left": left[part], "right": right[part]})

    return drawing


def _tallying(reach: Reach) -> Task:
    """How many of some pairs of rows have each distance, of those that pass the sieve."""

    def tallying(batches: Batches) -> Batches:
        for each in batches:
            left, right = (rows_of(each.column(name)) for name in ("left_row", "right_row"))
            both, n = np.concatenate((left, right)), len(left)
            i = np.arange(n)
            distance = paired_distances(reach.compared(both), i, i + n)
            if reach.sieve is not None:
                distance = distance[paired_distances(both, i, i + n) <= reach.sieve]
            values, counts = np.unique(distance, return_counts=True)
            yield pa.RecordBatch.from_pydict({"distance": values.astype(np.int32), "count": counts})

    return tallying
