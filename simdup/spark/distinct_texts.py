"""Rows in, distinct texts out, numbered.

Rows with equal features are one text, as in `simdup.match.distinct_texts`. Texts are
numbered in the order of the ids that stand for them. So a lower number is a lower rank, and
nothing depends on how the rows were partitioned.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812

from simdup.errors import InputError
from simdup.match.candidates import SIEVE_FROM, sieve_recipe
from simdup.spark.fingerprints import fingerprinted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame, SparkSession

    from simdup.settings import Settings
    from simdup.spark.fingerprints import TextFrame

# How many ids that stand in several rows are named.
NAMED = 3

# What Spark calls a job by.
DESCRIPTION = "spark.job.description"

# Spark's own number of a row has its partition above this bit.
PARTITION_BIT = 33


@dataclass(frozen=True, slots=True)
class NumberedTexts:
    """What is known of rows once they are fingerprinted; both frames are checkpointed."""

    rows: DataFrame
    """A row for each: as `fingerprinted`."""
    frame: DataFrame
    """A row for each distinct text: number, id and text_digest of its first row, digest,
    fingerprint, features, and copies, the rows that have it."""
    count: int
    """Distinct texts: numbers are below."""
    features: int
    """Of all texts together."""
    bits: int
    """Of the fingerprints in `frame`; more than are compared where there is a sieve."""


@contextmanager
def job_description(session: SparkSession, what: str) -> Iterator[None]:
    """What Spark runs meanwhile is shown by that name."""
    context = session.sparkContext
    before = context.getLocalProperty(DESCRIPTION)
    context.setLocalProperty(DESCRIPTION, f"simdup: {what}")
    try:
        yield
    finally:
        context.setLocalProperty(DESCRIPTION, before)


def checkpointed(frame: DataFrame, what: str) -> DataFrame:
    """Compute the rows of a frame now, and keep them.

    In the checkpoint directory of the session if it has one, where they stay; else with the
    executors for as long as somebody holds the frame, and lost if one of these is. `what` is
    what it is shown by.
    """
    has_place = frame.sparkSession.sparkContext.getCheckpointDir() is not None
    with job_description(frame.sparkSession, what):
        return frame.checkpoint() if has_place else frame.localCheckpoint()


def distinct_texts(source: TextFrame, settings: Settings) -> NumberedTexts:
    """The distinct texts of some rows. Raises InputError for an id that stands twice.

    Fingerprints have the bits that sort out chance candidates where a scan of as many files
    would give them these.
    """
    bits = settings.recipe.bits
    recipe = sieve_recipe(settings.recipe) if settings.verified else settings.recipe
    rows = checkpointed(fingerprinted(source, recipe, bits), "fingerprints")
    _check_ids(rows)
    of_text = F.struct("id", "fingerprint", "features", "text_digest")
    distinct = (
        rows.where("reason is null")
        .groupBy("digest")
        .agg(F.min(of_text).alias("first"), F.count("*").alias("copies"))
        .select("first.*", "digest", "copies")
    )
    frame, count = numbered(distinct, "id")
    sums = frame.agg(F.sum("features").alias("features"), F.sum("copies").alias("rows"))
    features, compared = sums.collect()[0]
    if settings.verified and (compared or 0) <= SIEVE_FROM:
        recipe = settings.recipe
        frame = frame.withColumn("fingerprint", F.substring("fingerprint", 1, bits // 8))
    return NumberedTexts(rows, frame, count, features or 0, recipe.bits)


def _check_ids(rows: DataFrame) -> None:
    counts = rows.where("id is not null").groupBy("id").count().where("count > 1")
    found = counts.orderBy("id").limit(NAMED).collect()
    if found:
        named = ", ".join(f"{each['id']!r} ({each['count']} times)" for each in found)
        raise InputError(f"{counts.count()} ids stand in several rows: {named}; give unique ones")


def numbered(frame: DataFrame, by: str) -> tuple[DataFrame, int]:
    """The frame checkpointed, with `number` from 0 on in the order of a column; and the count."""
    at = F.monotonically_increasing_id()
    placed = checkpointed(frame.sort(by).withColumn("number", at), "texts, numbered")
    partition = F.shiftright("number", PARTITION_BIT)
    sizes = placed.groupBy(partition.alias("partition")).count().collect()
    by_partition = {each["partition"]: each["count"] for each in sizes}
    counts = [by_partition.get(each, 0) for each in range(max(by_partition, default=-1) + 1)]
    begins = [0, *accumulate(counts)]
    inside = F.col("number").bitwiseAND((1 << PARTITION_BIT) - 1)
    begin = F.element_at(F.lit(begins), (partition + 1).cast("int"))
    return placed.withColumn("number", inside + begin), begins[-1]
