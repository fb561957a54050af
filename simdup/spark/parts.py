"""Parts in, groups out: each task runs the engine of `simdup.match` on whole parts.

The rows of a part are its texts and its candidate pairs. Small parts are handed to the engine many
at a time. Where parts come from a search among all texts, tasks read them twice: first they count
the families that have each value, and then, once the counters of all tasks are added, they group
the texts. Texts without a part are counted where they lie. Unlike one process, a task has no store
and no excluded pairs, and measures no recall.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import astuple, dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.broadcast import Broadcast
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.window import Window

from simdup.arrays import Counters, Indices, Mask, Similarities
from simdup.compute.compiled import load_kernels_if_worth
from simdup.corpus.fingerprint import text_digests
from simdup.errors import InputError
from simdup.fingerprint.features import Features, all_features
from simdup.fingerprint.sketch import Sketches, read_back, thinned
from simdup.match import own_share
from simdup.match.candidates import recall, search_distance
from simdup.match.distinct_texts import Texts, contents
from simdup.match.division import MOST_TEXTS, STEPS, Divided, Search
from simdup.match.engine import LocalEngine, TextGroups
from simdup.match.groups import components, staying
from simdup.match.own_share import COUNTERS, FAMILY, CountedValues, OwnShares
from simdup.progress import silent
from simdup.records import SHORT, Candidates, Kind
from simdup.search.distinct import distinct_numbers
from simdup.search.hamming import paired_distances
from simdup.settings import Settings
from simdup.spark.arrow import Batches, Task, binary, numbers, rows_of, whole_runs
from simdup.spark.lists import texts_together
from simdup.spark.search import near_pairs
from simdup.spark.texts import NumberedTexts, Source, checkpointed, distinct_texts, small, texts_of

# The most pairs that one task connects: some 100 MB.
PAIRS_AT_ONCE = 1 << 21

#: Rows of parts that a task holds at once, unless a part has more.
ROWS_AT_ONCE = 1 << 14

# Counters are sent in blocks; blocks of zeros only are left out.
BLOCK = 1 << 16
BLOCKS = "block int, counters binary"

# The figures of a pair; null if unknown.
KNOWN = ("similarity", "own_share")

# The columns of a pair of near-duplicates.
PAIR = "a long, b long, distance long, similarity double, own_share double"

# A member of a group: a text, the first row of the text that represents it, how it compares with
# that, and the row that stays for the text, or null. Or facts of a task as JSON.
MEMBERS = (
    "digest binary, representative {id}, first_digest binary, distance long, similarity double,"
    " own_share double, kept {id}, facts string"
)

#: The message of the error for a row that no longer has its text.
CHANGED = "rows changed while they were compared"


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


class GroupedRows(NamedTuple):
    """The rows of a source as `fingerprinted` returns them, and their groups.

    The groups are as `groups` returns them, with the columns that the source keeps, and for each
    row the `kept` one of its text, or null; lazily. `siblings` counts pairs of similar texts whose
    common wording is in too many other texts. `candidates` is None if no pairs were verified.
    """

    rows: DataFrame
    groups: DataFrame
    siblings: int
    candidates: Candidates | None

    @property
    def dropped(self) -> DataFrame:
        """The `id` of each row to drop, which the local engine drops too."""
        return self.groups.where(~F.col("kept").eqNullSafe(F.col("id"))).select("id")


def grouped(source: Source, settings: Settings, keep: str | None = None) -> GroupedRows:
    """The groups of rows; with `keep`, one of KEEPS, which row stays for each.

    Raises InputError for an id that several rows have.
    """
    texts = distinct_texts(source, settings, keep)
    division = divided(texts, source, settings)
    frame, job = _prepared(texts, division, source, Job(source.read, settings, keep))
    id_, *others = source.kept.names
    schema = MEMBERS.format(id=texts.frame.schema["id"].dataType.simpleString())
    found = checkpointed(frame.mapInArrow(job.grouping, schema), "groups")
    facts = [json.loads(row["facts"]) for row in found.where("facts is not null").collect()]
    same = F.col("text_digest") == F.col("first_digest")
    kinds = F.when(same, Kind.IDENTICAL_TEXT.value).otherwise(Kind.NEAR.value).alias("kind")
    members = texts.rows.where("reason is null").join(found, "digest")
    members = members.select(id_, "representative", kinds, *KNOWN, "distance", "kept", *others)
    candidates = _added([Candidates(*each) for _, each in facts if each], division, settings)
    return GroupedRows(texts.rows, members, sum(siblings for siblings, _ in facts), candidates)


def _added(several: list[Candidates], division: Division, settings: Settings) -> Candidates | None:
    """How candidates were found, from what each task says of its texts."""
    if not settings.verified:
        return None
    if division.proposed is not None:
        return Candidates(division.proposed + sum(each.pairs for each in several))
    k, bits = search_distance(settings.similarity, settings.recipe.bits), settings.recipe.bits
    return several[0] if several else Candidates(0, k, k, recall(settings.similarity, bits, k))


def near_duplicates(texts: NumberedTexts, source: Source, settings: Settings) -> DataFrame:
    """All pairs of near-duplicate texts, lazily: PAIR. KNOWN are null if they are not asked for."""
    job = Job(source.read, settings, is_every_pair=True)
    frame, job = _prepared(texts, divided(texts, source, settings), source, job)
    return frame.mapInArrow(job.pairing, PAIR)


def _prepared(
    texts: NumberedTexts, division: Division, source: Source, job: Job
) -> tuple[DataFrame, Job]:
    """The rows of parts, the ones of each part together, and what tasks have to know for them."""
    frame = _rows_of_parts(texts, division, source, job)
    if division.proposed is None or not job.settings.verified:
        return frame, replace(job, is_divided=division.proposed is not None)
    frame = checkpointed(frame, "parts")
    counts = texts.frame.groupBy("features").count().toArrow()
    least = own_share.least_kept(numbers(counts["features"]), numbers(counts["count"]))
    job = replace(job, is_divided=True, least=least)
    alone = texts.frame.where("copies = 1").join(small(division.roots), "number", "left_anti")
    context = frame.sparkSession.sparkContext
    # Each task sends up to 64 MB, so there are no more tasks than run at a time.
    alone = alone.select("features", "sketch").coalesce(context.defaultParallelism)
    blocks = alone.mapInArrow(job.counting_alone, BLOCKS)
    blocks = blocks.unionAll(frame.mapInArrow(job.counting, BLOCKS)).repartition("block")
    blocks = checkpointed(blocks.mapInArrow(_adding, BLOCKS), "frequencies")
    counted = context.broadcast(CountedValues(_sum(blocks.toArrow().to_batches())))
    return frame, replace(job, frequencies=counted)


def divided(texts: NumberedTexts, source: Source, settings: Settings) -> Division:
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
    found = checkpointed(texts_together(texts, source, settings), "lists")
    crowded = found.where("is_star").select(F.explode(F.array("a", "b")).alias("number"))
    near = checkpointed(_perhaps_alike(found, frame, settings), "near sketches")
    crowded = crowded.distinct().select("number", is_crowded)
    return Division(parts_of(near, frame), near, crowded, found.count())


def _perhaps_alike(pairs: DataFrame, texts: DataFrame, settings: Settings) -> DataFrame:
    """The pairs that may be similar enough, or one family, by their sketches: a, b, closeness.

    `pairs` are checkpointed.
    """
    ends = pairs.select(F.explode(F.array("a", "b")).alias("number")).distinct()
    asked = checkpointed(ends, "near sketches")
    own = texts.select("number", "features", "sketch").join(small(asked), "number", "left_semi")
    pairs = small(pairs.select("a", "b"))
    for side in ("a", "b"):
        pairs = own.toDF(side, f"{side}_features", f"{side}_sketch").join(pairs, side)
    return pairs.mapInArrow(_sieving(settings.similarity), "a long, b long, closeness double")


def _sieving(similarity: float) -> Task:
    """A task that keeps the pairs that sketches do not rule out."""

    def sieving(batches: Batches) -> Batches:
        for each in batches:
            both = pa.chunked_array([each["a_sketch"], each["b_sketch"]])
            counts = np.concatenate([numbers(each[f"{side}_features"]) for side in ("a", "b")])
            sieves, n = own_share.sieves(read_back(both.to_pylist()), counts), len(each)
            pairs = np.column_stack((np.arange(n), np.arange(n, 2 * n)))
            least = own_share.least_similarity(similarity, counts[pairs].min(axis=1))
            kept = own_share.passing(sieves, counts, pairs, np.minimum(least, FAMILY))
            cosines = pa.array(own_share.estimated_cosines(sieves[0][0], counts, pairs[kept]))
            named = each.select(["a", "b"]).take(pa.array(kept))
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
    first = F.conv(F.hex(F.substring("digest", -1, 1)), 16, 10).cast("int")
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
    hung = edges.join(_lowest(edges).toDF("low", "lowest"), "low", "left")
    return hung.select("high", F.coalesce("lowest", "low").alias("low"))


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


def _rows_of_parts(texts: NumberedTexts, division: Division, source: Source, job: Job) -> DataFrame:
    """The texts of parts in the order of their ids, and the candidate pairs, part by part.

    Copies are a part, too. Texts are there where they may have to be compared.
    """
    # Short rows first: only texts of parts bring their sketches.
    short = ("number", "id", "features", "copies", "preferred")
    own = texts.frame.select(*short).join(small(division.roots), "number", "left")
    own = own.where("root is not null or copies > 1").join(division.crowded, "number", "left")
    own = own.withColumn("root", F.coalesce("root", "number"))
    by_choice = F.row_number().over(Window.partitionBy("root").orderBy("preferred")).alias("place")
    roots = checkpointed(own.select("*", by_choice), "parts")
    about = texts.frame.drop(*short[1:]).join(small(roots), "number")
    read = roots if job.settings.verified else roots.where(F.col("features") < SHORT)
    rows = source.frame.join(small(read.select("id")), "id", "left_semi")
    pairs = roots.select(F.col("number").alias("a"), "root").join(division.pairs, "a")
    every = about.join(rows, "id", "left")
    every = every.unionByName(pairs.select("a", "b", "root"), allowMissingColumns=True)
    return every.repartition("root").sortWithinPartitions("root", "id")


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
    """The counters that BLOCKS add up to, at most MOST_COUNTED."""
    counters = np.zeros(COUNTERS, np.uint16)
    rows = counters.reshape(-1, BLOCK)
    for each in batches:
        for block, more in zip(numbers(each["block"]), rows_of(each["counters"]), strict=True):
            rows[block] += np.minimum(more.view(np.uint16), own_share.MOST_COUNTED - rows[block])
    return counters


@dataclass(frozen=True, slots=True)
class Job:
    """What tasks have to find out about parts, and how.

    With `is_divided`, a search among all texts has found the candidate pairs. With `is_every_pair`
    all pairs are asked for, also the ones of crowded texts. Each text keeps `least` values for its
    own shares.
    """

    read: Task
    settings: Settings
    keep: str | None = None
    is_divided: bool = False
    is_every_pair: bool = False
    frequencies: Broadcast[CountedValues] | None = None
    least: int = 0

    def kept(self, texts: pa.RecordBatch | pa.Table) -> Sketches:
        """The values of these texts by which own shares are computed."""
        counts = numbers(texts["features"])
        return thinned(read_back(texts["sketch"].to_pylist()), counts, least=self.least)

    def counting_alone(self, batches: Batches) -> Batches:
        """Count the values of texts, each of which is a family: BLOCKS."""
        counters = np.zeros(COUNTERS, np.uint16)
        for each in batches:
            own_share.count_families(counters, self.kept(each), np.arange(len(each)))
        yield _blocks(counters)

    def counting(self, batches: Batches) -> Batches:
        """Count the values of the families of parts: BLOCKS."""
        counters = np.zeros(COUNTERS, np.uint16)
        for table in whole_runs(batches, "root", ROWS_AT_ONCE):
            pack = Pack(table, self)
            own_share.count_families(counters, self.kept(pack.table), pack.families)
        yield _blocks(counters)

    def grouping(self, batches: Batches) -> Batches:
        """Group the texts of parts."""
        for table in whole_runs(batches, "root", ROWS_AT_ONCE):
            pack = Pack(table, self)
            found = pack.engine.groups(pack.divided)
            candidates = found.candidates and astuple(found.candidates)
            facts = pa.table({"facts": [json.dumps([len(found.siblings.pairs), candidates])]})
            tables = [pack.members(found), facts]
            yield from pa.concat_tables(tables, promote_options="default").to_batches()

    def pairing(self, batches: Batches) -> Batches:
        """Find all pairs of near-duplicates of parts: PAIR."""
        for table in whole_runs(batches, "root", ROWS_AT_ONCE):
            pack = Pack(table, self)
            pairs, similarities, shares = pack.engine.every_pair(pack.divided)
            a, b = pack.number[np.sort(pairs, axis=1)].T
            figures = pack.figures(pairs, similarities, shares)
            yield pa.RecordBatch.from_pydict({"a": a, "b": b, **figures})


class Pack:
    """Whole parts, as the engine takes them."""

    def __init__(self, table: pa.Table, job: Job) -> None:
        self._job, self._characters = job, 0
        is_pair = pc.is_null(table["number"])
        self.table, asked = table.filter(pc.invert(is_pair)), table.filter(is_pair)
        self.number, root = numbers(self.table["number"]), numbers(self.table["root"])
        self._part = np.searchsorted(root, root)
        pairs = np.column_stack([self._places(numbers(asked[side])) for side in ("a", "b")])
        # A part that was cut has pairs with texts of another piece.
        is_inside = (pairs >= 0).all(axis=1) & np.equal(*self._part[pairs].T)
        self._pairs = pairs[is_inside]
        self.texts = self._texts()
        self.engine = LocalEngine(self.texts, job.settings, self, silent)
        if job.frequencies is not None:
            about = self.texts.counts, self.families, job.frequencies.value, job.least
            self.engine.own.shares = OwnShares(job.kept(self.table), *about)

    def _places(self, asked: Indices) -> Indices:
        """The texts with these numbers; -1 for one that is not here."""
        order = np.argsort(self.number)
        at = order[np.searchsorted(self.number, asked, sorter=order) % len(order)]
        return np.where(self.number[at] == asked, at, -1)

    def _texts(self) -> Texts:
        """The texts, as the engine takes them."""
        begins = np.append(0, np.cumsum(numbers(self.table["copies"])))
        wide = rows_of(self.table["fingerprint"])
        digests = np.ascontiguousarray(rows_of(self.table["digest"])).view(np.uint64)
        n, width = len(wide), self._job.settings.recipe.bits // 8
        counts = numbers(self.table["features"])
        is_sketched = "sketch" in self.table.column_names
        large = read_back(self.table["sketch"].to_pylist()) if is_sketched else None
        return Texts(
            np.arange(begins[-1]),
            begins,
            np.arange(n),
            np.ascontiguousarray(wide[:, :width]),
            wide,
            counts,
            digests,
            contents(digests),
            np.zeros(n, bool),
            None if large is None else thinned(large, counts),
            large,
        )

    @property
    def divided(self) -> Divided | None:
        """What a search among all texts found in these parts, if there was one."""
        return self._searched if self._job.is_divided else None

    @cached_property
    def _searched(self) -> Divided:
        crowded = np.flatnonzero(np.asarray(pc.is_valid(self.table["is_crowded"])))
        search = Search(self._pairs, crowded, not len(crowded))
        asked = self._pairs if self._job.settings.verified else self._pairs[:0]
        return Divided(search, self._part, self.engine.exact.of(asked), 0)

    @property
    def families(self) -> Indices:
        """The family of each text, in divided parts."""
        pairs, similarities = self._pairs, self._searched.similarities
        if self._job.is_every_pair:
            pairs, similarities = self.engine.with_crowded_pairs(self._searched)
        return components(pairs[similarities >= FAMILY], len(self.texts))

    def expect(self, texts: Indices) -> None:
        """Texts are here already; see `FeatureSource`."""

    def features(self, texts: Indices) -> Features:
        """The features of these texts. Raises InputError for a text that has changed."""
        given = self.table.take(texts)
        batches = self._job.read(iter(given.to_batches()))
        read = [text for each in batches for text in texts_of(each)]
        self._characters += sum(map(len, read))
        load_kernels_if_worth(characters=self._characters)
        if text_digests(read).tobytes() != b"".join(given["text_digest"].to_pylist()):
            raise InputError(CHANGED)
        return all_features(read, self._job.settings.recipe)

    def members(self, found: TextGroups) -> pa.Table:
        """The members of groups; see MEMBERS."""
        members = np.concatenate([self.number[:0], *found.groups])
        sizes = np.array([len(each) for each in found.groups], np.int64)
        first = np.repeat(members[np.cumsum(sizes) - sizes], sizes)
        figures = self.figures(np.column_stack((members, first)), *found[1:3])
        goes = ~self._stay(members, first, found.similarities, numbers(figures["distance"]))
        preferred = self.table["preferred"].combine_chunks()
        return pa.table(
            {
                "digest": self.table["digest"].take(members),
                "representative": self.table["id"].take(first),
                "first_digest": self.table["text_digest"].take(first),
                **figures,
                "kept": preferred.field("id").take(pa.array(members, mask=goes)),
            }
        )

    def figures(
        self, pairs: Indices, similarities: Similarities, shares: Similarities
    ) -> dict[str, pa.Array]:
        """How the texts of each pair compare, as columns; null if unknown."""
        return {
            "distance": pa.array(paired_distances(self.texts.rows, *pairs.T), pa.int64()),
            "similarity": pa.array(similarities, from_pandas=True),
            "own_share": pa.array(shares, from_pandas=True),
        }

    def _stay(
        self, members: Indices, first: Indices, similarities: Similarities, distance: Indices
    ) -> Mask:
        """Which of these members of groups stay; `first` (m,) represents each one's group; (m,)."""
        keep, settings = self._job.keep, self._job.settings
        if keep is None:
            return np.ones(len(members), bool)
        place = numbers(self.table["place"])[members]
        closeness = distance, -np.nan_to_num(similarities), members != first
        order = np.lexsort([place, *(closeness if keep == "representative" else ()), first])
        text, centre = members[order], members[order] == first[order]
        is_centre = centre & (settings.linkage == "star")

        def alike(pairs: Indices) -> Mask:
            return self.engine.are_near(text[pairs])

        stays = np.empty(len(members), bool)
        stays[order] = staying(first[order], is_centre, alike) == np.arange(len(order))
        return stays
