"""Parts in, groups out: each task runs the engine of `simdup.match` on whole parts.

The rows of a part are its texts and its candidate pairs. Small parts are handed to the engine many
at a time. Where parts come from a search among all texts, they are read twice: exact
similarities tell which texts are one family, and then, once the families that have each value
are counted, the engine groups the texts. The rows stay where they are in between. Unlike one
process, a task has no store and no excluded pairs, and measures no recall.
"""

from __future__ import annotations

import json
from dataclasses import astuple, dataclass, replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.broadcast import Broadcast
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.window import Window

from simdup.arrays import Distances, Indices, Mask, Similarities
from simdup.compute.compiled import load_kernels_if_worth
from simdup.corpus.fingerprint import text_digests
from simdup.errors import InputError
from simdup.fingerprint.features import Features, all_features
from simdup.fingerprint.sketch import thinned
from simdup.match.candidates import recall, search_distance
from simdup.match.distinct_texts import Texts, contents
from simdup.match.division import Divided, Search
from simdup.match.engine import LocalEngine, TextGroups
from simdup.match.exclusions import NO_EXCLUSIONS
from simdup.match.groups import components, staying
from simdup.match.own_share import FAMILY, CountedValues, OwnShares
from simdup.progress import silent
from simdup.records import SHORT, Candidates, Kind
from simdup.search.hamming import paired_distances
from simdup.settings import Settings
from simdup.spark.arrow import Batches, Task, numbers, rows_of, sketches_of, whole_runs
from simdup.spark.division import ROWS_AT_ONCE, Division, divided, frequencies, kept_of, least_of
from simdup.spark.texts import NumberedTexts, Source, checkpointed, distinct_texts, texts_of

# The figures of a pair; null if unknown.
KNOWN = ("similarity", "own_share")

# The columns of a pair of near-duplicates.
PAIR = "a long, b long, distance long, similarity double, own_share double"

# A member of a group: a text, the first row of the text that represents it, how it compares with
# that, and the row that stays for the text, or null. Or facts of a task as JSON.
MEMBERS = (
    "digest binary, representative {id}, first_digest binary, similarity double,"
    " own_share double, distance long, kept {id}, facts string"
)

#: The message of the error for a row that no longer has its text.
CHANGED = "rows changed while they were compared"


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
    texts = distinct_texts(source, settings)
    division = divided(texts, settings)
    frame, job = _prepared(texts, division, source, Job(source.read, settings, keep))
    id_, *others = source.kept.names
    kind = texts.frame.schema["id"].dataType.simpleString()
    schema = MEMBERS.format(id=kind)
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
    if several:
        return several[0]
    k, bits = search_distance(settings.similarity, settings.recipe.bits), settings.recipe.bits
    return Candidates(0, k, k, recall(settings.similarity, bits, k))


def near_duplicates(texts: NumberedTexts, source: Source, settings: Settings) -> DataFrame:
    """All pairs of near-duplicate texts, lazily: PAIR. KNOWN are null if they are not asked for."""
    job = Job(source.read, settings, is_every_pair=True)
    frame, job = _prepared(texts, divided(texts, settings), source, job)
    return frame.mapInArrow(job.pairing, PAIR)


def _prepared(
    texts: NumberedTexts, division: Division, source: Source, job: Job
) -> tuple[DataFrame, Job]:
    """The rows of parts, the ones of each part together, and what tasks have to know for them."""
    job = replace(job, is_divided=division.proposed is not None)
    frame = _rows_of_parts(texts, division, source, job)
    if not job.is_divided or not job.settings.verified:
        return frame, job
    schema = frame.select("*").schema.add("family", "long").add("similarity", "double")
    frame = checkpointed(frame.mapInArrow(job.comparing, schema), "similarities")
    number = F.col("number")
    alone = texts.frame.where("copies = 1").join(division.roots, "number", "left_anti")
    alone = alone.select(number.alias("root"), number.alias("family"), "features", "sketch")
    together, least = frame.select("root", "family", "features", "sketch"), least_of(texts.frame)
    counted = frequencies(alone.unionAll(together), least)
    known = frame.sparkSession.sparkContext.broadcast(counted)
    return frame, replace(job, frequencies=known, least=least)


def _rows_of_parts(texts: NumberedTexts, division: Division, source: Source, job: Job) -> DataFrame:
    """The texts of parts in the order of their ids, and the candidate pairs, part by part.

    Copies are a part, too. Texts are there where they may have to be compared.
    """
    copied = texts.frame.where("copies > 1").join(division.roots, "number", "left_anti")
    own = copied.select("number", F.col("number").alias("root"))
    roots = division.roots.unionAll(own)
    about = texts.frame.join(roots, "number").join(division.crowded, "number", "left")
    read = about if job.settings.verified else about.where(F.col("features") < SHORT)
    rows = source.frame.join(read.select("id"), "id", "left_semi")
    placed = division.pairs.select("a", "b").join(roots.withColumnRenamed("number", "a"), "a")
    every = about.join(rows, "id", "left").unionByName(placed, allowMissingColumns=True)
    if job.keep == "longest":
        by_length = Window.partitionBy("root").orderBy("longest")
        every = every.withColumn("place", F.row_number().over(by_length).cast("long"))
    else:
        every = every.repartition("root")
    return every.sortWithinPartitions("root", "id")


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

    def comparing(self, batches: Batches) -> Batches:
        """Add the exact similarity of each pair, and the family of each text."""
        for table in whole_runs(batches, ("root",), ROWS_AT_ONCE):
            pack = Pack(table, self)
            similarity, family = np.full(len(table), np.nan), np.full(len(table), -1)
            pairs, similarities = pack.pairs, pack.engine.exact.of(pack.pairs)
            similarity[pack.pair_rows] = similarities
            if self.is_every_pair:
                more, alike = pack.engine.crowded_pairs(pack.divided_by(similarities))
                pairs = np.concatenate((pairs, more))
                similarities = np.concatenate((similarities, alike))
            first = components(pairs[similarities >= FAMILY], len(pack.texts))
            family[pack.text_rows] = pack.number[first]
            made = table.append_column("family", pa.array(family))
            yield from made.append_column("similarity", pa.array(similarity)).to_batches()

    def grouping(self, batches: Batches) -> Batches:
        """Group the texts of parts."""
        for table in whole_runs(batches, ("root",), ROWS_AT_ONCE):
            pack = Pack(table, self)
            found = pack.engine.groups(pack.divided)
            candidates = found.candidates and astuple(found.candidates)
            facts = pa.table({"facts": [json.dumps([len(found.siblings.pairs), candidates])]})
            tables = [pack.members(found), facts]
            yield from pa.concat_tables(tables, promote_options="default").to_batches()

    def pairing(self, batches: Batches) -> Batches:
        """Find all pairs of near-duplicates of parts: PAIR."""
        for table in whole_runs(batches, ("root",), ROWS_AT_ONCE):
            pack = Pack(table, self)
            found = pack.engine.every_pair(pack.divided)
            a, b = pack.number[np.sort(found.pairs, axis=1)].T
            columns = {
                "a": pa.array(a),
                "b": pa.array(b),
                "distance": pa.array(paired_distances(pack.texts.rows, *found.pairs.T), pa.int64()),
                "similarity": pa.array(found.similarities, from_pandas=True),
                "own_share": pa.array(found.own_shares, from_pandas=True),
            }
            yield pa.RecordBatch.from_pydict(columns)


class Pack:
    """Whole parts, as the engine takes them."""

    def __init__(self, table: pa.Table, job: Job) -> None:
        self._job, self._characters = job, 0
        is_text = np.asarray(pc.is_valid(table["number"]))
        self.text_rows, pair_rows = np.flatnonzero(is_text), np.flatnonzero(~is_text)
        self.table = table.take(self.text_rows)
        self.number, root = numbers(self.table["number"]), numbers(self.table["root"])
        self.part = np.searchsorted(root, root)
        asked = table.take(pair_rows)
        pairs = np.column_stack([self._places(numbers(asked[side])) for side in ("a", "b")])
        # A part that was cut has pairs with texts of another piece.
        is_inside = (pairs >= 0).all(axis=1) & (self.part[pairs[:, 0]] == self.part[pairs[:, 1]])
        self.pairs, self.pair_rows = pairs[is_inside], pair_rows[is_inside]
        self._asked = asked.take(np.flatnonzero(is_inside))
        self.texts = self._texts()
        self.engine = LocalEngine(self.texts, job.settings, self, silent, None, NO_EXCLUSIONS)
        if job.frequencies is not None and self.texts.sketches is not None:
            family, kept = numbers(self.table["family"]), kept_of(self.table, job.least)
            self.engine.own.shares = OwnShares(
                kept, self.texts.counts, family, job.frequencies.value, job.least
            )

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
        large = sketches_of(self.table["sketch"]) if is_sketched else None
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
        if not self._job.is_divided:
            return None
        is_known = "similarity" in self._asked.column_names
        return self.divided_by(self._asked["similarity"].to_numpy() if is_known else np.empty(0))

    def divided_by(self, similarities: Similarities) -> Divided:
        """The pairs of the search among all texts, with these similarities."""
        crowded = np.flatnonzero(np.asarray(pc.is_valid(self.table["is_crowded"])))
        return Divided(Search(self.pairs, crowded, not len(crowded)), self.part, similarities, 0)

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
        members = np.concatenate([self.part[:0], *found.groups])
        sizes = np.array([len(each) for each in found.groups], np.int64)
        first = np.repeat(members[np.cumsum(sizes) - sizes], sizes)
        distance = paired_distances(self.texts.rows, members, first)
        kept = self.table["longest" if self._job.keep == "longest" else "id"].combine_chunks()
        if self._job.keep == "longest":
            kept = kept.field("id")
        goes = ~self._stay(members, first, found.similarities, distance)
        return pa.table(
            {
                "digest": self.table["digest"].take(members),
                "representative": self.table["id"].take(first),
                "first_digest": self.table["text_digest"].take(first),
                "similarity": pa.array(found.similarities, from_pandas=True),
                "own_share": pa.array(found.own_shares, from_pandas=True),
                "distance": pa.array(distance, pa.int64()),
                "kept": kept.take(pa.array(members, mask=goes)),
            }
        )

    def _stay(
        self, members: Indices, first: Indices, similarities: Similarities, distance: Distances
    ) -> Mask:
        """Which of these members of groups stay; `first` (m,) represents each one's group; (m,)."""
        keep, settings = self._job.keep, self._job.settings
        if keep is None:
            return np.ones(len(members), bool)
        place = numbers(self.table["place"])[members] if keep == "longest" else members
        closeness = distance, -np.nan_to_num(similarities), members != first
        order = np.lexsort([place, *(closeness if keep == "representative" else ()), first])
        text, centre = members[order], members[order] == first[order]
        is_centre = centre & (settings.linkage == "star")

        def alike(pairs: Indices) -> Mask:
            return self.engine.are_near(text[pairs])

        stays = np.empty(len(members), bool)
        stays[order] = staying(first[order], is_centre, alike) == np.arange(len(order))
        return stays
