"""DataFrames in, DataFrames out: fingerprints, pairs, groups, and the rows that stay."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import ArrayType, DataType, MapType, StructType, VariantType

from simdup.records import Candidates, Kind
from simdup.settings import KEEPS, Settings
from simdup.spark.distinct_texts import checkpointed, distinct_texts
from simdup.spark.fingerprints import TextFrame, column, fingerprinted
from simdup.spark.parts import KNOWN, matched, near_duplicates
from simdup.spark.readers import STRINGS


@dataclass(frozen=True, slots=True)
class GroupedRows:
    """The rows of a DataFrame, and their groups."""

    rows: DataFrame
    """Each row: id, length in characters, reason or null, and further columns of its source."""
    groups: DataFrame
    """The result of `groups`, and for each row the `kept` one of its text, or null; lazily."""
    siblings: int
    """Pairs of similar texts whose common wording is in too many other texts."""
    candidates: Candidates | None
    """How pairs were found; None if none were verified."""

    @property
    def dropped(self) -> DataFrame:
        """The `id` of each row to drop, which the local engine drops too."""
        return self.groups.where(~F.col("kept").eqNullSafe(F.col("id"))).select("id")


def fingerprints(
    df: DataFrame,
    text: str = "text",
    id: str = "id",  # noqa: A002  (the usual name)
    settings: Settings | None = None,
) -> DataFrame:
    """The columns id, fingerprint (binary), features and reason for each row, lazily.

    A row without an id or without anything to compare has a null fingerprint and a `reason`, and
    so has one whose features cancel out. Raises ValueError for a column that does not exist or
    does not hold strings.
    """
    recipe = (settings or Settings()).recipe
    made = fingerprinted(_text_frame(df, text, id), recipe, recipe.bits)
    return made.select("id", "fingerprint", "features", "reason")


def pairs(
    df: DataFrame,
    text: str = "text",
    id: str = "id",  # noqa: A002
    settings: Settings | None = None,
) -> DataFrame:
    """Every pair of near-duplicate rows: id_a, id_b, distance, similarity, own_share.

    id_a is the lower id. The similarity and the own share (the part of their common wording that no
    other row has) are null where distances decide, the own share also if the settings switch it
    off. Rows of equal text are pairs too: m of them make m (m - 1) / 2. Fingerprints and pairs
    are made now, and are kept as long as the frame is. Raises InputError for an id that several
    rows have, and ValueError as `fingerprints` does.
    """
    settings = settings or Settings()
    source = _text_frame(df, text, id)
    texts = distinct_texts(source, settings)
    numbered = texts.frame.select("number", "digest")
    ids = texts.rows.where("reason is null").join(numbered, "digest").select("number", "id")
    near = checkpointed(near_duplicates(texts, source, settings), "pairs")
    for side in ("a", "b"):
        near = near.join(ids.toDF(side, f"id_{side}"), side)
    same = (_of_copies(settings)[name].alias(name) for name in KNOWN)
    other = ids.toDF("number", "id_b")
    copies = ids.withColumnRenamed("id", "id_a").join(other, "number").where("id_a < id_b")
    low, high = F.least("id_a", "id_b").alias("id_a"), F.greatest("id_a", "id_b").alias("id_b")
    zero = F.lit(0).cast("long").alias("distance")
    return near.select(low, high, "distance", *KNOWN).unionAll(
        copies.select("id_a", "id_b", zero, *same)
    )


def _of_copies(settings: Settings) -> dict[str, Column]:
    """The similarity and the own share of two rows of one text; null if not asked for."""
    asked = settings.verified, settings.verified and settings.own_share > 0
    return {
        name: F.lit(1.0 if is_asked else None).cast("double")
        for name, is_asked in zip(KNOWN, asked, strict=True)
    }


def groups(
    df: DataFrame,
    text: str = "text",
    id: str = "id",  # noqa: A002
    settings: Settings | None = None,
) -> DataFrame:
    """For each row in a group: id, representative, kind, similarity, own_share, distance.

    `representative` is the id of the row that represents the group, which is a member too. The
    other columns compare a row with its representative: kind is "identical text" or "near", and
    similarity and own_share may be null as in `pairs`. No row is in two groups. Everything but
    the last joins is computed now. Raises the errors of `pairs`.
    """
    return grouped(_text_frame(df, text, id), settings or Settings()).groups.drop("kept")


def deduplicate(
    df: DataFrame,
    text: str = "text",
    id: str = "id",  # noqa: A002
    settings: Settings | None = None,
    keep: str = "first",
) -> DataFrame:
    """The rows of the DataFrame without the near-duplicates of kept rows.

    `keep` says which rows of a group are preferred: those with the lowest ids ("first"), those
    with the most characters and then the lowest ids ("longest"), or the representative and the
    rows most similar to it ("representative"). Taken in that order, a row is dropped if it is
    alike to a row kept before it. Rows without a fingerprint are kept. The DataFrame is
    computed more than once, and must give the same ids each time. Raises the errors of `pairs`.
    """
    if keep not in KEEPS:
        raise ValueError(f"keep must be one of {', '.join(KEEPS)}, not {keep!r}")
    found = grouped(_text_frame(df, text, id), settings or Settings(), keep)
    own = column(str(df.columns.index(id)))
    kept = _by_place(df).join(found.dropped, own == F.col("id"), "left_anti")
    return kept.toDF(*df.columns)


def grouped(source: TextFrame, settings: Settings, keep: str | None = None) -> GroupedRows:
    """The groups of rows; with `keep`, which row stays for each. Raises the errors of `pairs`."""
    texts = distinct_texts(source, settings)
    found = matched(texts, source, settings, keep)
    rows = texts.rows.where("reason is null").select("id", "digest", "text_digest")
    same = F.col("text_digest") == F.col("first_digest")
    kind = F.when(same, Kind.IDENTICAL_TEXT.value).otherwise(Kind.NEAR.value).alias("kind")
    groups = rows.join(found.members, "digest").select(
        "id", "representative", kind, *KNOWN, "distance", "kept"
    )
    columns = ("id", "length", "reason", *source.reader.extras, *source.carried)
    return GroupedRows(texts.rows.select(*columns), groups, found.siblings, found.candidates)


def _text_frame(df: DataFrame, text: str, id: str) -> TextFrame:  # noqa: A002
    """The texts and ids of a DataFrame.

    Raises ValueError unless it has these columns, and strings in `text`.
    """
    for name in (text, id):
        if df.columns.count(name) != 1:
            what = "more than one" if name in df.columns else "no"
            raise ValueError(f"there is {what} column {name!r} among {', '.join(df.columns)}")
    kind = df.schema[text].dataType.simpleString()
    if kind != "string":
        raise ValueError(f"column {text!r} must hold strings, not {kind}")
    ids, texts = (column(str(df.columns.index(name))) for name in (id, text))
    kind = df.schema[id].dataType
    if not _has_order(kind):
        raise ValueError(f"ids are {kind.simpleString()}, which cannot be ordered; give others")
    return TextFrame(_by_place(df).select(ids.alias("id"), texts.alias("text")), STRINGS)


def _by_place(df: DataFrame) -> DataFrame:
    """The frame with columns named 0, 1, ...: Spark may not tell names apart by case."""
    return df.toDF(*map(str, range(len(df.columns))))


def _has_order(kind: DataType) -> bool:
    """Whether Spark can order values of a type."""
    if isinstance(kind, StructType):
        return all(_has_order(each.dataType) for each in kind.fields)
    if isinstance(kind, ArrayType):
        return _has_order(kind.elementType)
    return not isinstance(kind, (MapType, VariantType))
