"""Rows in, distinct texts out, numbered, with their fingerprints.

Rows with equal features are one text, as in `simdup.match.distinct_texts`. Texts are numbered in
the order of their digests. So neither ids nor partitions of the rows change a group.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from simdup.errors import InputError
from simdup.match.candidates import SIEVE_FROM, sieve_recipe
from simdup.settings import Settings
from simdup.spark.fingerprints import SKETCH, TextFrame, fingerprinted

# An error message shows at most this many of the ids that several rows have.
MOST_SHOWN = 3

# The bytes of a digest.
DIGEST = 16

# The property by which Spark describes a job.
DESCRIPTION = "spark.job.description"

# In Spark's own number of a row, the bits from this one on are the partition.
PARTITION_BIT = 33


@dataclass(frozen=True, slots=True)
class NumberedTexts:
    """Fingerprinted rows and their distinct texts; both frames are checkpointed."""

    rows: DataFrame
    """Each row, as `fingerprinted` returns it."""
    frame: DataFrame
    """Each distinct text: number, id and text_digest of its first row, digest, fingerprint,
    features, copies (the number of rows with this text), `longest` (the length below zero and the
    id of its longest row), and its sketch if sketches are made."""
    count: int
    """The number of distinct texts; their numbers are lower than this."""
    is_sketched: bool


@contextmanager
def job_description(session: SparkSession, what: str) -> Iterator[None]:
    """Describe the jobs that Spark runs meanwhile."""
    context = session.sparkContext
    before = context.getLocalProperty(DESCRIPTION)
    context.setLocalProperty(DESCRIPTION, f"simdup: {what}")
    try:
        yield
    finally:
        context.setLocalProperty(DESCRIPTION, before)


def checkpointed(frame: DataFrame, what: str) -> DataFrame:
    """Compute the rows of a frame now, and keep them; `what` describes the job.

    They are written to the checkpoint directory of the session, where they stay. Without such a
    directory the executors keep them as long as the frame is used, and lose them if they end.
    """
    has_place = frame.sparkSession.sparkContext.getCheckpointDir() is not None
    with job_description(frame.sparkSession, what):
        return frame.checkpoint() if has_place else frame.localCheckpoint()


def distinct_texts(source: TextFrame, settings: Settings) -> NumberedTexts:
    """The distinct texts of rows. Raises InputError for an id that several rows have.

    Fingerprints have the extra bits of the sieve, which sorts out chance candidates, if a scan of
    as many files would make these bits too.
    """
    bits = settings.recipe.bits
    recipe = sieve_recipe(settings.recipe) if settings.verified else settings.recipe
    is_sketched = settings.verified and settings.own_share > 0
    made = fingerprinted(source, recipe, bits, is_sketched=is_sketched)
    rows = checkpointed(made, "fingerprints")
    _check_ids(rows)
    sketch = list(SKETCH) if is_sketched else []
    longest = F.min(F.struct((-F.col("length")).alias("below"), "id")).alias("longest")
    of_text = F.struct("id", "fingerprint", "features", "text_digest", *sketch)
    distinct = (
        rows.where("reason is null")
        .groupBy("digest")
        .agg(F.min(of_text).alias("first"), F.count("*").alias("copies"), longest)
        .select("first.*", "digest", "copies", "longest")
    )
    # The local engine sorts digests by their second word, then by the first; the lowest byte of a
    # word comes first.
    place = F.concat(*(F.substring("digest", byte, 1) for byte in range(DIGEST, 0, -1)))
    frame, count = numbered(distinct.withColumn("place", place), "place")
    frame = frame.drop("place")
    if settings.verified and rows.where("reason is null").count() <= SIEVE_FROM:
        frame = frame.withColumn("fingerprint", F.substring("fingerprint", 1, bits // 8))
    return NumberedTexts(rows, frame, count, is_sketched)


def _check_ids(rows: DataFrame) -> None:
    """Raise InputError for an id that several rows have."""
    counts = rows.where("id is not null").groupBy("id").count().where("count > 1")
    found = counts.orderBy("id").limit(MOST_SHOWN).collect()
    if found:
        shown = ", ".join(f"{each['id']!r} ({each['count']} times)" for each in found)
        raise InputError(f"{counts.count()} ids stand in several rows: {shown}; give unique ones")


def numbered(frame: DataFrame, by: str) -> tuple[DataFrame, int]:
    """The checkpointed frame with `number`, from 0 on in the order of a column; and the count."""
    serial = F.monotonically_increasing_id()
    placed = checkpointed(frame.sort(by).withColumn("number", serial), "texts, numbered")
    partition = F.shiftright("number", PARTITION_BIT)
    sizes = dict[int, int](placed.groupBy(partition).count().collect())
    counts = (sizes.get(each, 0) for each in range(max(sizes, default=-1) + 1))
    begins = [0, *accumulate(counts)]
    inside = F.col("number").bitwiseAND((1 << PARTITION_BIT) - 1)
    begin = F.element_at(F.lit(begins), (partition + 1).cast("int"))
    return placed.withColumn("number", inside + begin), begins[-1]
