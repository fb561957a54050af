"""DataFrames in, DataFrames out: fingerprints, groups, and the rows that stay."""

from __future__ import annotations

from dataclasses import replace

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from simdup.corpus.rewrite import check_keep
from simdup.settings import Settings
from simdup.spark.parts import grouped
from simdup.spark.texts import Source, column, fingerprinted


def fingerprints(
    df: DataFrame, text: str = "text", id: str = "id", settings: Settings | None = None
) -> DataFrame:
    """The columns id, fingerprint (binary), features and reason for each row, lazily.

    A row without an id or without anything to compare has a null fingerprint and a `reason`, and
    so has one whose features cancel out. Raises ValueError for a column that does not exist or
    does not hold strings.
    """
    plain = replace(settings or Settings(), verified=False, parts=None)
    made = fingerprinted(_source(df, text, id), plain)
    return made.select("id", "fingerprint", "features", "reason")


def groups(
    df: DataFrame, text: str = "text", id: str = "id", settings: Settings | None = None
) -> DataFrame:
    """For each row in a group: id, representative, kind, similarity, own_share, distance.

    `representative` is the id of the row that represents the group, which is a member too. The
    other columns compare a row with its representative: kind is "identical text" or "near". The
    similarity and the own share (the part of their common wording that no other row has) are null
    where distances decide, the own share also if the settings switch it off. No row is in two
    groups. Groups are computed now, and are kept as long as the frame is. Ids must have an
    order. Raises InputError for an id that several rows have, and ValueError as `fingerprints`
    does.
    """
    return grouped(_source(df, text, id), settings or Settings()).groups.drop("place", "goes")


def deduplicate(
    df: DataFrame,
    text: str = "text",
    id: str = "id",
    settings: Settings | None = None,
    keep: str = "first",
) -> DataFrame:
    """The rows of the DataFrame without the near-duplicates of kept rows.

    `keep` says which rows of a group are preferred: those with the lowest ids ("first"), those
    with the most characters and then the lowest ids ("longest"), or the representative and the
    rows most similar to it ("representative"). Taken in that order, a row is dropped if it is
    alike to a row kept before it. Rows without a fingerprint are kept. The DataFrame is
    computed more than once, and must give the same ids each time. Raises the errors of `groups`.
    """
    check_keep(keep)
    found = grouped(_source(df, text, id), settings or Settings(), keep)
    own = column(str(df.columns.index(id)))
    goes = found.groups.where("goes").select("id")
    kept = _by_place(df).join(goes, own == F.col("id"), "left_anti")
    return kept.toDF(*df.columns)


def _source(df: DataFrame, text: str, id: str) -> Source:
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
    no_fault = F.lit(None).cast("string").alias("fault")
    frame = _by_place(df).select(ids.alias("id"), texts.cast("binary").alias("text"), no_fault)
    return Source(frame, frame.select("id").schema)


def _by_place(df: DataFrame) -> DataFrame:
    """The frame with columns named 0, 1, ...: Spark may not tell names apart by case."""
    return df.toDF(*map(str, range(len(df.columns))))
