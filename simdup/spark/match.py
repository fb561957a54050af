"""Distinct texts in, representatives out: `simdup.match.engine` in DataFrames.

A text that represents itself is in no frame of leaders: these hold the other texts, each with
its leader.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.window import Window

from simdup.arrays import Distances, Indices
from simdup.match.candidates import affordable_distance, reach_of, sample, search_distance
from simdup.match.groups import NEAR_COPY
from simdup.match.own_share import FAMILY
from simdup.match.postings import BY_DISTANCE
from simdup.match.rounds import ROUNDS, Search, affordable_search, run_rounds
from simdup.records import SHORT, Candidates
from simdup.search.hamming import paired_distances
from simdup.search.pairs import Reach
from simdup.settings import Settings
from simdup.spark.arrow import Batches, Task, numbers, rows_of
from simdup.spark.distinct_texts import NumberedTexts, checkpointed, job_description, numbered
from simdup.spark.linkage import KNOWN, led_near_copies, led_texts
from simdup.spark.own_share import OwnShareFrames, alike_by_sketches, led_in_families, perhaps_alike
from simdup.spark.postings import texts_together
from simdup.spark.search import near_pairs
from simdup.spark.verify import Originals, with_similarities
from simdup.theory import similarity_at

# The names of Spark's jobs, by the frame that they checkpoint.
COMPARED, LISTED, SKETCHED = "near pairs", "lists", "near sketches"
VERIFIED, SHARED, GROUPED = "similarities", "own shares", "groups"


@dataclass(frozen=True, slots=True)
class Counted:
    """A checkpointed frame, and how many rows it has."""

    frame: DataFrame
    count: int

    def __len__(self) -> int:
        return self.count


@dataclass(frozen=True, slots=True)
class Matched:
    """Who represents whom, and how that was found."""

    led: DataFrame
    """The texts that another one represents: LED."""
    siblings: DataFrame
    """a and b: pairs of similar texts whose common wording is in too many other texts."""
    candidates: Candidates | None
    """None where nothing was verified."""


class Matching:
    """Compares texts on Spark, as an `Engine` of `simdup.match.rounds`."""

    def __init__(self, texts: NumberedTexts, originals: Originals, settings: Settings) -> None:
        self.texts, self.originals, self.settings = texts, originals, settings
        self.bits = settings.recipe.bits
        self.shares: OwnShareFrames | None = None
        none = texts.frame.select(*(F.col("number").alias(side) for side in ("a", "b"))).limit(0)
        self.siblings = none
        # Texts that a further search may find something for, if they represent themselves.
        self.unsettled = texts.frame.select("number")
        # The near copies of each round.
        self.near_copies: list[DataFrame] = []

    def match(self) -> Matched:
        """The texts that another one represents; similarities are null if nothing is verified."""
        if self.settings.verified:
            led, candidates = run_rounds(self, self.texts.bits)
            led = self._lower_of_two(self._none_alone(led))
            return Matched(led, self.siblings.distinct(), candidates)
        closeness = F.cos(F.lit(np.pi / self.bits) * F.col("distance")).alias("closeness")
        pairs = self._bare_pairs().select("a", "b", closeness, *_unknown())
        pairs = checkpointed(pairs, COMPARED)
        led = self._lower_of_two(self._led(pairs, self.texts.frame))
        return Matched(led, self.siblings, None)

    def pairs(self) -> DataFrame:
        """Every pair of near-duplicate texts: a, b, distance, similarity and own_share.

        The last two are null where distances decide, the own share also if it is switched off.
        """
        if not self.settings.verified:
            return self._bare_pairs().select("*", *_unknown())
        k, every = search_distance(self.settings.similarity, self.bits), self.every_text()
        if not self._is_listed(every):
            return self._first_duplicates(self.near_pairs(every, k), k)
        together, crowded = self._together(every)
        # Some pairs of crowded texts are not in `together`.
        crowd = self.texts.frame.join(crowded, "number", "left_semi")
        near = near_pairs(crowd, self._reach(k)).select("a", "b")
        found = _counted(together.frame.unionAll(near).distinct(), COMPARED)
        return self._measured(self._first_duplicates(found, k), self.bits)

    def to_leaders(self, led: DataFrame) -> DataFrame:
        """Fill in missing similarities of texts to their leaders, where the two were no pair."""
        if not self.settings.verified or self.settings.linkage == "star":
            return led
        unknown = led.where("similarity is null").toDF("a", "b", *KNOWN).drop(*KNOWN)
        count = unknown.count()
        computed = with_similarities(unknown, count, self.originals)
        computed = self._with_own_shares(computed, count).select("a", "b", *KNOWN)
        return led.where("similarity is not null").unionAll(computed)

    def alike(self, pairs: DataFrame, count: int) -> DataFrame:
        """Keep the near-duplicates among `count` pairs of texts, a and b."""
        if self.settings.verified:
            own = self._with_own_shares(pairs, count).where(self._is_own())
            return _similar_enough(with_similarities(own, count, self.originals))
        return self._confirmed(self._measured(pairs.select("a", "b"), self.settings.distance))

    def _measured(self, pairs: DataFrame, k: int) -> DataFrame:
        """Keep the pairs within k bits, with their `distance`, lazily."""
        bits, schema = F.substring("fingerprint", 1, self.bits // 8), pairs.schema
        measured = pairs
        for side in ("a", "b"):
            own = self.texts.frame.select(F.col("number").alias(side), bits.alias(f"{side}_row"))
            measured = measured.join(own, side)
        measuring = _measuring(k, pairs.columns)
        return measured.mapInArrow(measuring, schema.add("distance", "long"))

    def _bare_pairs(self) -> DataFrame:
        """The near-duplicates by distance; exact similarities decide on pairs with a short text."""
        return self._confirmed(near_pairs(self.texts.frame, self._reach(self.settings.distance)))

    def _confirmed(self, pairs: DataFrame) -> DataFrame:
        """Keep pairs of long texts, and pairs with a short one if their exact similarity agrees."""
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
        confirmed = decided.where(
            F.col("similarity") >= similarity_at(self.settings.distance, self.bits)
        )
        return flagged.where("not is_short").select(*columns).unionAll(confirmed.select(*columns))

    def every_text(self) -> Counted:
        """All texts."""
        return Counted(self.texts.frame, self.texts.count)

    def search(self, active: Counted, wanted: int) -> Search[Counted]:
        """Candidate pairs of these texts: by shared shingles, or by distance if that is cheaper."""
        if not self._is_listed(active):
            self.unsettled = active.frame.select("number")
            return affordable_search(self, active, wanted)
        pairs, self.unsettled = self._together(active)
        return Search(None, pairs, self.unsettled.isEmpty())

    def _is_listed(self, active: Counted) -> bool:
        """Whether candidates of these texts are found by shared shingles."""
        return self._is_sketched() and len(active) > BY_DISTANCE

    def _is_sketched(self) -> bool:
        """Whether sketches tell how alike texts are: they exist, and features weigh the same."""
        return self.texts.values is not None and self.settings.recipe.has_equal_weights

    def _together(self, active: Counted) -> tuple[Counted, DataFrame]:
        """The pairs of these texts that share enough, a and b, and the `number` of crowded texts.

        Not all pairs of crowded texts are there.
        """
        found = checkpointed(texts_together(active.frame), LISTED)
        in_stars = found.where("is_star").select(F.explode(F.array("a", "b")).alias("number"))
        crowded = checkpointed(in_stars.distinct(), LISTED)
        return Counted(found.select("a", "b"), found.count()), crowded

    def sampled_distances(self, active: Counted, reach: int) -> tuple[Indices | Distances, float]:
        """Distances of sampled candidate pairs, and how many pairs each represents."""
        return self._sampled(active, self._reach(reach))

    def _sampled(self, active: Counted, reach: Reach) -> tuple[Indices | Distances, float]:
        """Distances of sampled pairs that pass the sieve, and how many pairs each represents."""
        drawn_pairs, _, pairs = sample(len(active))
        if not len(drawn_pairs):
            return np.empty(0, np.int64), 0
        by_place = active.frame
        if len(active) < self.texts.count:
            rows = by_place.select("fingerprint", F.col("number").alias("text"))
            by_place, _ = numbered(rows, "text")
        session = by_place.sparkSession
        slots = session.sparkContext.defaultParallelism
        tasks = session.range(slots, numPartitions=slots)
        drawn = tasks.mapInArrow(_drawing(len(active), slots), "left long, right long")
        for side in ("left", "right"):
            own = by_place.select("number", "fingerprint").toDF(side, f"{side}_row")
            drawn = drawn.join(own, side)
        tally = drawn.select("left_row", "right_row").mapInArrow(
            _tallying(reach), "distance int, count long"
        )
        with job_description(session, "sample"):
            found = tally.groupBy("distance").agg(F.sum("count").alias("count")).toArrow()
        distances = np.repeat(found["distance"].to_numpy(), found["count"].to_numpy())
        return distances, pairs / len(drawn_pairs)

    def near_pairs(self, active: Counted, k: int) -> Counted:
        """All pairs of these texts within k bits: PAIRS."""
        return _counted(near_pairs(active.frame, self._reach(k)), COMPARED)

    def equal_rows(self, active: Counted) -> Counted:
        """Pair each of these texts with the first one of the same fingerprint: PAIRS."""
        bits = F.substring("fingerprint", 1, self.bits // 8).alias("bits")
        rows = active.frame.select("number", bits)
        first = rows.groupBy("bits").agg(F.min("number").alias("a"))
        spokes = rows.join(first, "bits").where(F.col("a") != F.col("number"))
        number, distance = F.col("number").alias("b"), F.lit(0).cast("long").alias("distance")
        return _counted(spokes.select("a", number, distance), COMPARED)

    def leaders(self, active: Counted, compared: Counted) -> DataFrame:
        """Group these texts by the pairs that are near-duplicates: LED."""
        similar = self._duplicates(compared).withColumn("closeness", F.col("similarity"))
        self.near_copies.append(similar.where(F.col("similarity") >= NEAR_COPY))
        return self._led(similar, active.frame)

    def is_none_led(self, leaders: DataFrame) -> bool:
        """Whether every text represents itself."""
        return leaders.isEmpty()

    def follow(self, before: DataFrame, found: DataFrame) -> tuple[DataFrame, int, int]:
        """Let texts follow their representatives; see `simdup.match.rounds.Engine`."""
        further = found.select(F.col("leader").alias("b"), F.col("number").alias("leader"))
        spokes = before.join(further, "leader").select(F.col("number").alias("a"), "b")
        moved = _counted(spokes, GROUPED)
        if self.settings.linkage == "star":
            similar = self._duplicates(self.compare(moved))
        else:
            similar = moved.frame.select("*", *_unknown())
        columns = similar.select("a", "b", *KNOWN).toDF(*before.columns)
        followers = _counted(columns, VERIFIED)
        moving = moved.frame.select(F.col("a").alias("number"))
        stay = before.join(moving, "number", "left_anti")
        freed = moving.join(followers.frame, "number", "left_anti")
        self.unsettled = checkpointed(self.unsettled.unionAll(freed).distinct(), GROUPED)
        now = checkpointed(found.unionByName(stay).unionByName(followers.frame), GROUPED)
        return now, len(moved), len(moved) - len(followers)

    def _none_alone(self, led: DataFrame) -> DataFrame:
        """Join texts that the rounds left alone to near copies that the rounds moved to groups."""
        if self.settings.linkage != "star" or len(self.near_copies) == 1:
            return led
        low, high = F.least("number", "leader").alias("a"), F.greatest("number", "leader")
        closeness = F.col("similarity").alias("closeness")
        pairs = led.select(low, high.alias("b"), closeness, *KNOWN)
        for each in self.near_copies:
            pairs = pairs.unionByName(each.select(*pairs.columns))
        pairs = checkpointed(pairs.dropDuplicates(["a", "b"]), GROUPED)
        return checkpointed(led_near_copies(pairs, self.texts.frame, led), GROUPED)

    def _lower_of_two(self, led: DataFrame) -> DataFrame:
        """Let the lower id lead each group of two texts; see `simdup.match.groups`."""
        about = self.texts.frame.select("number", "id", "copies")
        first = about.toDF("leader", "leader_id", "leader_copies")
        others = F.count("*").over(Window.partitionBy("leader"))
        both = led.withColumn("others", others).join(about, "number").join(first, "leader")
        is_lower = F.expr("others = 1 and copies = leader_copies and id < leader_id")
        one, other = F.col("number"), F.col("leader")
        number = F.when(is_lower, other).otherwise(one).alias("number")
        leader = F.when(is_lower, one).otherwise(other).alias("leader")
        return checkpointed(both.select(number, leader, *KNOWN), GROUPED)

    def representatives(self, leaders: DataFrame) -> Counted:
        """The texts that represent themselves, and that a further search may find something for."""
        left = self.unsettled.join(leaders, "number", "left_anti")
        return _counted(self.texts.frame.join(left, "number", "left_semi"), GROUPED)

    def _led(self, pairs: DataFrame, active: DataFrame) -> DataFrame:
        """The texts that another one represents, by the pairs among active texts: LED."""
        return checkpointed(led_texts(pairs, active, self.settings.linkage), GROUPED)

    def _reach(self, k: int) -> Reach:
        return reach_of(self.settings, k, self.texts.bits)

    def compare(self, candidates: Counted) -> Counted:
        """The candidate pairs that sketches do not rule out, with their exact similarities."""
        pairs = candidates
        if self._is_sketched() and len(pairs):
            least = self.settings.similarity
            pairs = _counted(perhaps_alike(pairs.frame, len(pairs), self.texts, least), SKETCHED)
        decided = with_similarities(pairs.frame, len(pairs), self.originals)
        return Counted(checkpointed(decided, VERIFIED), len(pairs))

    def prepare_families(self, compared: Counted, reached: int) -> None:
        """Find the families of all texts, which own shares need."""
        if self.texts.values is None:
            return
        columns = "a", "b", "similarity"
        families = compared.frame.where(F.col("similarity") >= FAMILY).select(*columns)
        wanted = search_distance(FAMILY, self.bits)
        if reached < wanted or self.settings.similarity > FAMILY:
            families = self._sketched_families(families, wanted)
        self.shares = OwnShareFrames.of_families(self.texts, families)

    def _first_duplicates(self, candidates: Counted, reached: int) -> DataFrame:
        """The near-duplicates among the candidates of a first search within `reached` bits."""
        compared = self.compare(candidates)
        self.prepare_families(compared, reached)
        return self._duplicates(compared)

    def _duplicates(self, compared: Counted) -> DataFrame:
        """Keep the near-duplicates, with similarity and own share; note which are siblings."""
        similar = self._with_own_shares(_similar_enough(compared.frame), len(compared))
        similar = checkpointed(similar, SHARED)
        low, high = F.least("a", "b").alias("a"), F.greatest("a", "b").alias("b")
        siblings = similar.where(~self._is_own()).select(low, high)
        self.siblings = self.siblings.unionAll(siblings)
        return similar.where(self._is_own())

    def _sketched_families(self, families: DataFrame, wanted: int) -> DataFrame:
        """`families`, and further pairs of one family by their sketches: a, b, similarity.

        The first search may have left these out. A search by distance goes as far as is affordable.
        Then one text of each family is searched again.
        """
        active = self.every_text()
        if self._is_listed(active):
            together, _ = self._together(active)
            return self._with_alike(families, together)
        for _ in range(ROUNDS):
            distances, weight = self._sampled(active, Reach(self.bits, wanted))
            k = affordable_distance(distances, weight, len(active), wanted)
            if k:
                found = _counted(near_pairs(active.frame, Reach(self.bits, k)), COMPARED)
            else:
                found = self.equal_rows(active)
            families = self._with_alike(families, found)
            if k == wanted:
                break
            before, active = active, self._first_of_families(families)
            if len(active) == len(before):
                break
        return families

    def _with_alike(self, families: DataFrame, found: Counted) -> DataFrame:
        """`families`, and the found pairs within one family by their sketches."""
        more = alike_by_sketches(found.frame, len(found), self.texts)
        more = more.withColumn("similarity", F.lit(FAMILY)).select(*families.columns)
        return checkpointed(families.unionAll(more), SKETCHED)

    def _first_of_families(self, families: DataFrame) -> Counted:
        """The first text of each family, and all texts without a family."""
        led = led_in_families(self.texts, families)
        every = led.unionAll(led.select(F.col("family").alias("number"), "family").distinct())
        first = every.groupBy("family").agg(F.min("number").alias("number")).select("number")
        others = every.select("number").join(first, "number", "left_anti")
        return _counted(self.texts.frame.join(others, "number", "left_anti"), GROUPED)

    def _is_own(self) -> Column:
        """Whether the own share of a pair is large enough."""
        return F.coalesce("own_share", F.lit(1.0)) >= self.settings.own_share

    def _with_own_shares(self, pairs: DataFrame, count: int) -> DataFrame:
        """At most `count` pairs with `own_share`; null where it is not asked for."""
        if self.shares is None or not count:
            return pairs.withColumn("own_share", F.lit(None).cast("double"))
        return self.shares.joined(pairs, count)


def _counted(frame: DataFrame, what: str) -> Counted:
    """The frame, checkpointed under this name, with the number of its rows."""
    made = checkpointed(frame, what)
    return Counted(made, made.count())


def _similar_enough(decided: DataFrame) -> DataFrame:
    """The near-duplicates among the pairs from `with_similarities`."""
    return decided.where(F.col("similarity") >= F.col("least")).drop("least")


def _unknown() -> list[Column]:
    """The columns KNOWN of pairs whose texts were not compared."""
    return [F.lit(None).cast("double").alias(name) for name in KNOWN]


def _measuring(k: int, columns: list[str]) -> Task:
    """A task that keeps these columns, and `distance`, of pairs within k bits."""

    def measuring(batches: Batches) -> Batches:
        for each in batches:
            rows = [rows_of(each.column(name)) for name in ("a_row", "b_row")]
            own = np.arange(len(each))
            distance = paired_distances(np.concatenate(rows), own, own + len(each))
            made = each.select(columns).append_column("distance", pa.array(distance, pa.int64()))
            yield made.filter(pa.array(distance <= k))

    return measuring


def _drawing(n: int, tasks: int) -> Task:
    """A task that yields its part of the sampled pairs of n texts, by its number from 0 on."""

    def drawing(batches: Batches) -> Batches:
        left, right, _ = sample(n)
        for each in batches:
            for task in numbers(each.column("id")).tolist():
                part = slice(task, None, tasks)
                yield pa.RecordBatch.from_pydict({"left": left[part], "right": right[part]})

    return drawing


def _tallying(reach: Reach) -> Task:
    """A task that counts, at each distance, the pairs of rows that pass the sieve."""

    def tallying(batches: Batches) -> Batches:
        for each in batches:
            left, right = (rows_of(each.column(name)) for name in ("left_row", "right_row"))
            both, i = np.concatenate((left, right)), np.arange(len(left))
            passes = reach.passes(both, i, i + len(left))
            distances = paired_distances(reach.compared(both), i, i + len(left))[passes]
            values, counts = np.unique(distances, return_counts=True)
            yield pa.RecordBatch.from_pydict({"distance": values.astype(np.int32), "count": counts})

    return tallying
