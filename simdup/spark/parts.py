"""Parts in, groups out: each task runs the engine of `simdup.match` on whole parts.

The rows of a part are all rows with its texts, its candidate pairs, and the texts themselves where
sketches do not say all of them. Small parts are handed to the engine many at a time. Where parts
come from a search among all texts, tasks read them twice: first they count the families that have
each value, and then, once the counters of all tasks are added, they group the texts. Texts without
a part are counted where they lie. Unlike one process, a task has no store and no excluded pairs,
and measures no recall.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, replace
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.broadcast import Broadcast
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import StructField, StructType
from pyspark.sql.window import Window

from simdup.arrays import Counters, Indices, Mask
from simdup.compute.compiled import load_kernels_if_worth
from simdup.corpus.fingerprint import text_digests
from simdup.corpus.records import RowGroups, TextFingerprints
from simdup.corpus.rewrite import preferred_texts
from simdup.corpus.scan import row_groups, texts_in
from simdup.errors import InputError
from simdup.fingerprint.features import Features, all_features
from simdup.fingerprint.sketch import Sketches, read_back, thinned
from simdup.match import own_share
from simdup.match.candidates import recall, search_distance
from simdup.match.distinct_texts import Texts
from simdup.match.division import MOST_TEXTS, STEPS, Divided, Search
from simdup.match.engine import LocalEngine, TextGroups
from simdup.match.forms import LEAST_TEXTS, forms_of, may_have_forms
from simdup.match.groups import components
from simdup.match.own_share import COUNTERS, FAMILY, CountedValues, OwnShares
from simdup.progress import silent
from simdup.records import SHORT, Candidates, Kind
from simdup.search.distinct import distinct_numbers
from simdup.settings import Settings
from simdup.spark.search import near_pairs, texts_together
from simdup.spark.texts import (
    Batches,
    NumberedTexts,
    Reader,
    Source,
    checkpointed,
    numbered_texts,
    numbers,
    read_digests,
    rows_of,
    small,
    whole,
)
from simdup.text.chunking import chunks_of

# The most pairs that one task connects: some 100 MB.
PAIRS_AT_ONCE = 1 << 21

# A text, and the part that it is in: the lowest text of it.
ROOTS = "number long, root long"

# Counters are sent in packed blocks, since most of them are 0; blocks of zeros only are left out.
BLOCK, PACKING = 1 << 16, "zstd"
BLOCKS = "block int, counters binary"

# What a task says of a member of a group besides its row and its representative: how it compares
# with that one (null if unknown), its place among all members that the task found, and whether it
# is dropped. Or facts of a task as JSON.
MEMBER = "kind string, similarity double, own_share double, distance long, place long"
MEMBER += ", goes boolean, facts string"


class Division(NamedTuple):
    """The parts of texts, and the candidate pairs that a search among all texts found.

    `roots` has number and root, the part of each text that is in a pair; the lowest text gives a
    part its number. `pairs` has a and b, and each text whose pairs are not all there as a pair with
    itself. `proposed` is the number of all candidate pairs; None if all texts are one part, in
    which nothing was searched yet.
    """

    roots: DataFrame
    pairs: DataFrame
    proposed: int | None


class GroupedRows(NamedTuple):
    """The rows of a source as `fingerprinted` returns them, and their groups.

    The groups are as `groups` returns them, with the columns that the source keeps, the place of a
    row in its group, and whether the row `goes`, as the local engine decides. `candidates` is None
    if no pairs were verified. `siblings` counts pairs of similar texts whose common wording is in
    too many other texts.
    """

    rows: DataFrame
    groups: DataFrame
    candidates: Candidates | None
    siblings: int
    total: int
    members: int


def grouped(source: Source, settings: Settings, keep: str | None = None) -> GroupedRows:
    """The groups of rows; with `keep`, one of KEEPS, also which rows go.

    Raises InputError for an id that several rows have. Errors of tasks are of Spark.
    """
    texts = numbered_texts(source, settings)
    division = divided(texts)
    frame, job = _prepared(texts, division, Job(source.read, settings, source.kept.names, keep))
    own = [StructField(each.name, each.dataType) for each in source.kept]  # each may be null
    first = StructField("representative", source.kept["id"].dataType)
    schema = StructType([*own, first, *StructType.fromDDL(MEMBER)])
    found = checkpointed(frame.mapInArrow(job.grouping, schema), "groups")
    facts = [json.loads(row["facts"]) for row in found.where("facts is not null").collect()]
    several = [Candidates(*each) for _, each in facts if each] or [Candidates(0)]
    if not facts and division.proposed is None:  # one machine says how it would have searched
        k, bits = search_distance(settings.similarity, settings.recipe.bits), settings.recipe.bits
        several = [Candidates(0, k, k, recall(settings.similarity, bits, k))]
    pairs = (division.proposed or 0) + sum(each.pairs for each in several)
    candidates = replace(several[0], pairs=pairs) if settings.verified else None
    members = found.where("facts is null").drop("facts")
    sums = np.sum([(0, 0, 0), *(each for each, _ in facts)], axis=0).tolist()
    return GroupedRows(texts.every, members, candidates, *sums)


def _prepared(texts: NumberedTexts, division: Division, job: Job) -> tuple[DataFrame, Job]:
    """The rows of parts, the ones of each part together, and what tasks have to know for them."""
    frame = _rows_of_parts(texts, division)
    if division.proposed is None or not job.settings.verified:
        return frame, replace(job, is_divided=division.proposed is not None)
    frame = checkpointed(frame, "parts")
    counts = texts.firsts.groupBy("features").count().toArrow()
    least = own_share.least_kept(numbers(counts["features"]), numbers(counts["count"]))
    job = replace(job, is_divided=True, least=least)
    roots = small(division.roots, texts.size)
    alone = texts.firsts.where("copies = 1").join(roots, "number", "left_anti")
    context = frame.sparkSession.sparkContext
    # Each task sends up to 64 MB, so there are no more tasks than run at a time.
    alone = alone.select("features", "sketch").coalesce(context.defaultParallelism)
    blocks = alone.mapInArrow(job.counting_alone, BLOCKS)
    blocks = blocks.unionAll(frame.mapInArrow(job.counting, BLOCKS)).repartition("block")
    blocks = checkpointed(blocks.mapInArrow(_adding, BLOCKS), "frequencies")
    counted = context.broadcast(CountedValues(_sum(blocks.toArrow().to_batches())))
    return frame, replace(job, frequencies=counted)


def divided(texts: NumberedTexts) -> Division:
    """The parts of these texts.

    All are one part if they are few, or if exact similarities decide and sketches cannot propose
    pairs: then further rounds have to search for pairs of any two texts.
    """
    frame, settings = texts.firsts, texts.settings
    is_listed = settings.verified and settings.recipe.has_equal_weights
    if texts.size <= settings.limits.by_distance or (settings.verified and not is_listed):
        one = frame.selectExpr("number", "0L as root")
        return Division(one, one.toDF("a", "b").where("false"), None)
    if not settings.verified:
        bits = settings.recipe.bits
        closeness = F.cos(F.lit(np.pi / bits) * F.col("distance")).alias("closeness")
        near = near_pairs(frame, bits, settings.distance)
        near = checkpointed(near.select("a", "b", closeness), "near pairs")
        return Division(parts_of(near, frame), near.select("a", "b"), 0)
    found = checkpointed(texts_together(texts), "lists")
    proposed = found.count()
    pairs = small(found.select("a", "b"), proposed)
    near = checkpointed(_perhaps_alike(pairs, texts), "near sketches")
    crowded = found.where("is_star").select(F.explode(F.array("a", "b")).alias("a")).distinct()
    pairs = near.select("a", "b").unionAll(crowded.select("a", F.col("a").alias("b")))
    return Division(parts_of(near, frame), pairs, proposed)


def _perhaps_alike(pairs: DataFrame, texts: NumberedTexts) -> DataFrame:
    """The pairs that may be similar enough, or one family, by their sketches: a, b, closeness."""
    ends = pairs.select(F.explode(F.array("a", "b")).alias("number")).distinct()
    own = texts.firsts.select("number", "features", "sketch")
    own = own.join(small(ends, texts.size), "number", "left_semi")
    for side in ("a", "b"):
        pairs = own.toDF(side, f"{side}_features", f"{side}_sketch").join(pairs, side)
    sieving = partial(_sieving, texts.settings.similarity)
    return pairs.mapInArrow(sieving, "a long, b long, closeness double")


def _sieving(similarity: float, batches: Batches) -> Batches:
    """Keep the pairs that sketches do not rule out."""
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
        others = roots.join(large, "root", "left_anti").select("number", "root")
        roots = checkpointed(others.unionAll(rooted(checkpointed(inside, "parts"))), "parts")
    size = F.count("*").over(Window.partitionBy("root"))
    bits = F.ceil(F.log2(F.greatest(size / MOST_TEXTS, F.lit(1.0))))
    sized = roots.withColumn("bits", bits).join(texts.select("number", "digest"), "number")
    first_bits = F.expr("left(lpad(conv(hex(left(digest, 8)), 16, 2), 64, '0'), int(bits))")
    lowest = F.min("number").over(Window.partitionBy("root", first_bits)).alias("root")
    return checkpointed(sized.select("number", lowest), "parts")


def rooted(pairs: DataFrame) -> DataFrame:
    """Each text of a pair, `number`, with the lowest text that it is connected with, `root`.

    Tasks connect all pairs of the texts that they have, and hang these on the lowest one, again and
    again until nothing changes; or one task connects all, if they are few. `pairs`, which are
    checkpointed, have a and b.
    """
    edges, now = pairs.select("a", "b").toDF("number", "root"), None
    state = F.count("*"), F.sum(F.xxhash64("number", "root").cast("decimal(38, 0)"))
    while edges.count() > PAIRS_AT_ONCE:
        at_both = edges.withColumn("end", F.explode(F.array("number", "root"))).repartition("end")
        found = at_both.mapInArrow(_connecting, ROOTS).distinct()
        edges, before = checkpointed(found, "components"), now
        if (now := edges.agg(*state).first()) == before:
            return edges
    return checkpointed(edges.coalesce(1).mapInArrow(_connecting, ROOTS), "components")


def _connecting(batches: Batches) -> Batches:
    """Connect all pairs that a task has."""
    for table in whole(batches):
        pairs = np.column_stack((numbers(table["number"]), numbers(table["root"])))
        number = distinct_numbers(pairs)
        root = number[components(np.searchsorted(number, pairs), len(number))]
        yield pa.RecordBatch.from_pydict({"number": number, "root": root})


def _rows_of_parts(texts: NumberedTexts, division: Division) -> DataFrame:
    """All rows of each part in the order of their ids: its rows, the texts to read, its pairs.

    Copies are a part, too.
    """
    roots = small(division.roots, texts.size)
    rows = texts.rows.join(roots, "number", "left").where("root is not null or copies > 1")
    rows = rows.withColumn("root", F.coalesce("root", "number"))
    # Where one text is asked for, any other text of its part may be compared with it. Several texts
    # may be of one form.
    of_part = Window.partitionBy("root")
    any_asked = F.max(_is_asked_for(texts.settings)).over(of_part)
    any_asked |= F.lit(may_have_forms(texts.settings)) & (F.count("*").over(of_part) >= LEAST_TEXTS)
    asked = rows.where("is_first").select("id", "number", "root", any_asked.alias("is_asked"))
    read = texts.source.frame.join(
        small(asked.where("is_asked").drop("is_asked"), texts.size), "id"
    )
    pairs = division.pairs.toDF("number", "partner").join(roots, "number")
    for more in (read, pairs):
        rows = rows.unionByName(more, allowMissingColumns=True)
    return rows.repartition("root").sortWithinPartitions("id")


def _is_asked_for(settings: Settings) -> Column:
    """Whether a text itself may be asked for: where neither sketch nor distance can decide."""
    if not settings.verified:
        return F.col("features") < SHORT
    if not settings.recipe.has_equal_weights:
        return F.lit(True)  # noqa: FBT003  (Spark's)
    return F.octet_length("sketch") < 4 * F.col("features")


def _adding(batches: Batches) -> Batches:
    """Add the counters of BLOCKS."""
    yield _blocks(_sum(batches))


def _blocks(counters: Counters) -> pa.RecordBatch:
    """The BLOCKS of these counters with any number above 0."""
    rows = counters.reshape(-1, BLOCK)
    (there,) = np.nonzero(rows.any(axis=1))
    packed = [pa.compress(row.tobytes(), PACKING, asbytes=True) for row in rows[there]]
    return pa.RecordBatch.from_pydict({"block": there.astype(np.int32), "counters": packed})


def _sum(batches: Iterable[pa.RecordBatch]) -> Counters:
    """The counters that BLOCKS add up to, at most MOST_COUNTED."""
    counters = np.zeros(COUNTERS, np.uint16)
    rows = counters.reshape(-1, BLOCK)
    for each in batches:
        for block, packed in zip(numbers(each["block"]), each["counters"].to_pylist(), strict=True):
            more = np.frombuffer(pa.decompress(packed, 2 * BLOCK, PACKING), np.uint16)
            rows[block] += np.minimum(more, own_share.MOST_COUNTED - rows[block])
    return counters


@dataclass(frozen=True, slots=True)
class Job:
    """What tasks have to find out about parts, and how.

    `names` are the columns that groups keep of their rows. With `is_divided`, a search among all
    texts has found the candidate pairs. Each text keeps `least` values for its own shares.
    """

    read: Reader
    settings: Settings
    names: Sequence[str]
    keep: str | None
    is_divided: bool = False
    frequencies: Broadcast[CountedValues] | None = None
    least: int = 0

    def kept(self, sketches: Sketches | None, counts: Indices) -> Sketches:
        """The values by which own shares of texts are computed, of their sketches."""
        return thinned(sketches or read_back(()), counts, least=self.least)

    def counting_alone(self, batches: Batches) -> Batches:
        """Count the values of texts, each of which is a family: BLOCKS."""
        counters = np.zeros(COUNTERS, np.uint16)
        for each in batches:
            kept = self.kept(read_back(each["sketch"].to_pylist()), numbers(each["features"]))
            own_share.count_families(counters, kept, np.arange(len(each)))
        yield _blocks(counters)

    def counting(self, batches: Batches) -> Batches:
        """Count the values of the families of parts: BLOCKS."""
        counters = np.zeros(COUNTERS, np.uint16)
        for table in whole(batches):
            pack = Pack(table, self)
            kept = self.kept(pack.texts.large, pack.texts.counts)
            own_share.count_families(counters, kept, pack.families)
        yield _blocks(counters)

    def grouping(self, batches: Batches) -> Batches:
        """Group the rows of parts."""
        for table in whole(batches):
            pack = Pack(table, self)
            found = pack.engine.groups(pack.divided)
            members, candidates = pack.members(found), found.candidates
            sums = len(found.siblings.pairs), len(found.groups), len(members)
            # A part has no recall of its own.
            candidates = candidates and replace(candidates, recall=None, sampled=0)
            facts = json.dumps([sums, candidates and astuple(candidates)])
            tables = [members, pa.table({"facts": [facts]})]
            yield from pa.concat_tables(tables, promote_options="default").to_batches()


class Pack:
    """Whole parts, as the engine takes them."""

    def __init__(self, table: pa.Table, job: Job) -> None:
        self._job = job
        is_row, is_pair = pc.is_valid(table["digest"]), pc.is_valid(table["partner"])
        self.rows, asked = table.filter(is_row), table.filter(is_pair)
        self._read = table.filter(pc.invert(pc.or_(is_row, is_pair)))
        self._digests = rows_of(self.rows["text_digest"]).view(np.uint64)
        self.texts = self._texts()
        first = self.texts.first
        self._number, root = (numbers(self.rows[name])[first] for name in ("number", "root"))
        self._part = np.unique(root, return_inverse=True)[1]
        ends = (numbers(asked[side]) for side in ("number", "partner"))
        pairs = np.column_stack(list(map(self._places, ends)))
        # A part that was cut has pairs with texts of another piece.
        is_inside = (pairs >= 0).all(axis=1) & np.equal(*self._part[pairs].T)
        self.engine = LocalEngine(self.texts, job.settings, self, silent)
        found = self._found(pairs[is_inside])
        self.divided = found if job.is_divided else None
        self._own_shares(found)

    def _own_shares(self, found: Divided) -> None:
        """Find the families of divided parts and, once they are counted, the own shares."""
        texts, own, job = self.texts, self.engine.own, self._job
        pairs, similarities = found.search.pairs, found.similarities
        if not job.is_divided or texts.large is None:
            return
        family = components(pairs[similarities >= FAMILY], len(texts))
        form, self.families = forms_of(texts, texts.large, family, (pairs, similarities), self)
        if job.frequencies is not None:
            kept, counted = job.kept(texts.large, texts.counts), job.frequencies.value
            own.shares = OwnShares(kept, texts.counts, self.families, counted, job.least)
            own.shares.form = form

    def _texts(self) -> Texts:
        """The distinct texts of the rows, in the order in which they first occur."""
        table, sketches = self.rows, None
        if self._job.settings.verified:
            sketches = read_back(each or b"" for each in table["sketch"].to_pylist())
        rows, counts = rows_of(table["fingerprint"]), numbers(table["features"])
        digests = read_digests(table["digest"]), self._digests
        return texts_in(TextFingerprints(rows, counts, *digests, sketches), self._job.settings)

    def _places(self, asked: Indices) -> Indices:
        """The texts with these numbers; -1 for one that is not here."""
        order = np.argsort(self._number)
        at = order[np.searchsorted(self._number, asked, sorter=order) % len(order)]
        return np.where(self._number[at] == asked, at, -1)

    def _found(self, pairs: Indices) -> Divided:
        """What a search among all texts found in these parts; a pair with itself is crowded."""
        is_crowd = np.equal(*pairs.T)
        crowded, pairs = np.sort(pairs[is_crowd, 0]), pairs[~is_crowd]
        search = Search(pairs, crowded, not len(crowded))
        asked = pairs if self._job.settings.verified else pairs[:0]
        return Divided(search, self._part, self.engine.exact.of(asked), 0)

    def expect(self, texts: Indices) -> None:
        """Texts are here already; see `FeatureSource`."""

    def features(self, texts: Indices) -> Features:
        """The features of these texts. Raises InputError for a text that has changed."""
        read = self._strings(texts)
        load_kernels_if_worth(characters=sum(map(len, read)))
        return all_features(read, self._job.settings.recipe)

    def chunks(self, text: int) -> Iterator[str]:
        """Yield a text in chunks. Raises InputError for a text that has changed."""
        return chunks_of(*self._strings(np.array([text])))

    def _strings(self, texts: Indices) -> list[str]:
        """Read some texts again. Raises InputError for a text that has changed."""
        order, numbered = self._in_read
        rows = order[np.searchsorted(numbered, self._number[texts])]
        given = self._read.take(pa.array(rows))
        read = [text for _, texts in self._job.read(iter(given.to_batches())) for text in texts]
        if text_digests(read).tobytes() != self._digests[self.texts.first[texts]].tobytes():
            raise InputError("rows changed while they were compared")
        return read

    @cached_property
    def _in_read(self) -> tuple[Indices, Indices]:
        """The rows to be read in the order of the numbers of their texts, and these numbers."""
        numbered = numbers(self._read["number"])
        order = np.argsort(numbered)
        return order, numbered[order]

    def members(self, found: TextGroups) -> pa.Table:
        """The rows of groups, group by group; see MEMBER."""
        groups = row_groups(self.texts, found, self._digests)
        first = np.repeat(groups.members[groups.offsets[:-1]], np.diff(groups.offsets))
        same, near = Kind.IDENTICAL_TEXT.value, Kind.NEAR.value
        columns = {
            "representative": self.rows["id"].take(pa.array(first)),
            "kind": np.where(groups.are_identical, same, near),
            "similarity": pa.array(groups.similarities, from_pandas=True),
            "own_share": pa.array(groups.own_shares, from_pandas=True),
            "distance": groups.distances,
            "place": np.arange(len(first)),
            "goes": self._go(groups),
        }
        own = self.rows.select(self._job.names).take(pa.array(groups.members))
        return pa.table(dict(zip(own.column_names, own.columns, strict=True)) | columns)

    def _go(self, groups: RowGroups) -> Mask:
        """Which of the members of groups go."""
        keep, text = self._job.keep, self.texts.text_of[groups.members]
        if keep is None:
            return np.zeros(len(text), bool)
        lengths = numbers(self.rows["length"])[groups.members]
        chosen = preferred_texts(groups, text, lengths, keep, self._job.settings)
        stands_for = chosen.staying(lambda pairs: self.engine.are_near(text[chosen.members[pairs]]))
        return np.isin(np.arange(len(text)), chosen.going(stands_for))
