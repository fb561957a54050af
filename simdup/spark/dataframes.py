"""DataFrames in, DataFrames out: fingerprints, pairs, groups, and the rows that are left."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import ArrayType, MapType, StructType, VariantType

from simdup.corpus.records import KEEPS
from simdup.records import Kind
from simdup.search.hamming import paired_distances
from simdup.settings import Settings
from simdup.spark import stay
from simdup.spark.arrow import rows_of
from simdup.spark.distinct_texts import distinct_texts
from simdup.spark.fingerprints import Strings, TextFrame, column, fingerprinted
from simdup.spark.match import Matching
from simdup.spark.verify import Originals

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType

    from simdup.records import Candidates
    from simdup.spark.arrow import Batches
    from simdup.spark.distinct_texts import NumberedTexts

# What is known of the texts of groups.
KEPT = ("digest", "representative", "first_digest", "similarity")


@dataclass(frozen=True, slots=True)
class Found:
    """What grouping the rows of a DataFrame gave."""

    rows: DataFrame
    """A row for each: id, length in characters, reason or null, and what else its source has."""
    groups: DataFrame
    """As `groups` returns them, lazily."""
    matching: Matching
    """What can compare its texts again."""
    candidates: Candidates | None
    """How pairs were found; None when nothing was verified."""


def fingerprints(
    df: DataFrame,
    text: str = "text",
    id: str = "id",  # noqa: A002  (what everybody calls it)
    settings: Settings | None = None,
) -> DataFrame:
    """For each row id, fingerprint (binary), features and reason, lazily.

    The fingerprint is null where there can be none, and `reason` says why: no id, no text,
    nothing in it to compare, or features that cancel out. Raises ValueError for columns
    that are not there or hold no text.
    """
    recipe = (settings or Settings()).recipe
    made = fingerprinted(_source(df, text, id), recipe, recipe.bits)
    return made.select("id", "fingerprint", "features", "reason")


def pairs(
    df: DataFrame,
    text: str = "text",
    id: str = "id",  # noqa: A002
    settings: Settings | None = None,
) -> DataFrame:
    """Every pair of near-duplicate rows: id_a, id_b, distance, similarity.

    The lower id is id_a; the similarity is null where distances decide. Equal rows are pairs
    too, m of them m (m - 1) / 2. Fingerprints are made now, and what is found is kept while
    the frame is. Raises InputError for an id of several rows, ValueError as `fingerprints`.
    """
    settings = settings or Settings()
    texts, matching = prepared(_source(df, text, id), settings)
    numbered = texts.frame.select("number", "digest")
    ids = texts.rows.where("reason is null").join(numbered, "digest").select("number", "id")
    near = matching.pairs()
    for side in ("a", "b"):
        near = near.join(ids.toDF(side, f"id_{side}"), side)
    similarity = F.lit(1.0 if settings.verified else None).cast("double").alias("similarity")
    other = ids.toDF("number", "id_b")
    copies = ids.withColumnRenamed("id", "id_a").join(other, "number").where("id_a < id_b")
    low, high = F.least("id_a", "id_b").alias("id_a"), F.greatest("id_a", "id_b").alias("id_b")
    zero = F.lit(0).cast("long").alias("distance")
    return near.select(low, high, "distance", "similarity").unionAll(
        copies.select("id_a", "id_b", zero, similarity)
    )


def groups(
    df: DataFrame,
    text: str = "text",
    id: str = "id",  # noqa: A002
    settings: Settings | None = None,
) -> DataFrame:
    """For each row that is in a group id, representative, kind, similarity and distance.

    `representative` is the id that a group has in common, and is in it itself. The others are
    to it: whether the text is the very same ("identical text") or near, and how much; the
    similarity is null where distances decide. No row is in two groups. Everything is found
    out now but the last joins. Raises as `pairs`.
    """
    return found(_source(df, text, id), settings or Settings()).groups


def deduplicate(
    df: DataFrame,
    text: str = "text",
    id: str = "id",  # noqa: A002
    settings: Settings | None = None,
    keep: str = "first",
) -> DataFrame:
    """The rows of the DataFrame without those that are near-duplicates of a row that is left.

    `keep` says which rows of a group are preferred: those with the lowest ids ("first"), those
    with the most characters, of several the lowest id ("longest"), or the "representative" and
    rows that are most like it. In that order a row goes if it is alike to one that stays, and
    stays otherwise. Rows without a fingerprint stay. The frame is computed more than once, and must
    give the same ids each time. Raises as `pairs`.
    """
    if keep not in KEEPS:
        raise ValueError(f"keep must be one of {', '.join(KEEPS)}, not {keep!r}")
    matched = found(_source(df, text, id), settings or Settings())
    ids, rows = dropped(matched, keep), _by_place(df)
    own = column(str(df.columns.index(id)))
    return rows.join(ids, own == F.col("id"), "left_anti").toDF(*df.columns)


def found(source: TextFrame, settings: Settings) -> Found:
    """The groups of some rows with what else is to be said of them. Raises as `pairs`."""
    texts, matching = prepared(source, settings)
    led, candidates = matching.match()
    leading = _leading(texts, matching.to_leaders(led), settings)
    rows = texts.rows.where("reason is null").select("id", "digest", "text_digest")
    same = F.col("text_digest") == F.col("first_digest")
    kind = F.when(same, Kind.IDENTICAL_TEXT.value).otherwise(Kind.NEAR.value).alias("kind")
    grouped = rows.join(leading, "digest").select(
        "id", "representative", kind, "similarity", "distance"
    )
    columns = ("id", "length", "reason", *source.reader.extras, *source.carried)
    return Found(texts.rows.select(*columns), grouped, matching, candidates)


def dropped(found: Found, keep: str) -> DataFrame:
    """The ids of the rows of groups that go: each is alike to one that stays."""
    return stay.dropped(found.groups, found.matching.texts, found.matching, keep)


def _source(df: DataFrame, text: str, id: str) -> TextFrame:  # noqa: A002
    """The rows of a DataFrame. Raises ValueError unless it has these columns, and text in one."""
    for name in (text, id):
        if df.columns.count(name) != 1:
            what = "more than one" if name in df.columns else "no"
            raise ValueError(f"there is {what} column {name!r} among {', '.join(df.columns)}")
    kind = df.schema[text].dataType.simpleString()
    if kind != "string":
        raise ValueError(f"column {text!r} must hold strings, not {kind}")
    own, words = (column(str(df.columns.index(name))) for name in (id, text))
    return TextFrame(_by_place(df).select(own.alias("id"), words.alias("text")), Strings())


def _by_place(df: DataFrame) -> DataFrame:
    """The frame with columns called 0, 1, ...: for Spark names may differ in case alone."""
    return df.toDF(*map(str, range(len(df.columns))))


def prepared(source: TextFrame, settings: Settings) -> tuple[NumberedTexts, Matching]:
    """The distinct texts of some rows, and what is to match them. Raises as `pairs`."""
    kind = source.frame.schema["id"].dataType
    if not _has_order(kind):
        raise ValueError(f"ids are {kind.simpleString()}, of which none is the lowest; give others")
    texts = distinct_texts(source, settings)
    originals = Originals(
        texts.frame.select("number", "id", "text_digest"),
        source.frame.select("id", *source.reader.inputs),
        source.reader,
        texts.count,
        texts.features,
        settings.recipe,
    )
    return texts, Matching(texts, originals, settings)


def _has_order(kind: DataType) -> bool:
    """Whether Spark can tell which of two such values is the lower one."""
    if isinstance(kind, StructType):
        return all(_has_order(each.dataType) for each in kind.fields)
    if isinstance(kind, ArrayType):
        return _has_order(kind.elementType)
    return not isinstance(kind, (MapType, VariantType))


def _leading(texts: NumberedTexts, led: DataFrame, settings: Settings) -> DataFrame:
    """For each text of a group its digest, representative, distance and similarity."""
    alike = F.lit(1.0 if settings.verified else None).cast("double")
    bits = F.substring("fingerprint", 1, settings.recipe.bits // 8).alias("own")
    each = texts.frame.select("number", "id", "digest", "text_digest", "copies", bits)
    members = each.join(led, "number", "left").withColumns(
        {
            "similarity": F.when(F.col("leader").isNull(), alike).otherwise(F.col("similarity")),
            "leader": F.coalesce("leader", "number"),
        }
    )
    rows = members.groupBy("leader").agg(F.sum("copies").alias("rows")).where("rows > 1")
    firsts = each.select("number", "id", "own", "text_digest")
    firsts = firsts.toDF("leader", "representative", "first", "first_digest")
    chosen = members.join(rows, "leader").join(firsts, "leader").select(*KEPT, "own", "first")
    schema = chosen.select(*KEPT).schema.add("distance", "long")
    return chosen.mapInArrow(_with_distances, schema)


def _with_distances(batches: Batches) -> Batches:
    for each in batches:
        both = np.concatenate([rows_of(each.column(name)) for name in ("own", "first")])
        own = np.arange(len(each))
        distance = paired_distances(both, own, own + len(each)).astype(np.int64)
        columns = {name: each.column(name) for name in KEPT}
        yield pa.RecordBatch.from_pydict(columns | {"distance": distance})
