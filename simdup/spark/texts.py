"""Rows in, fingerprints out; and their distinct texts, numbered.

Fingerprints are made by the functions of the local engine. Rows with equal features are one text,
as in `simdup.match.distinct_texts`. Texts are numbered in the order of their digests. So neither
ids nor partitions of the rows change a group.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import accumulate
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  (everybody's name for it)
from pyspark.sql.types import StructType

from simdup.arrays import Digests
from simdup.compute.compiled import load_kernels_if_worth
from simdup.corpus.fingerprint import text_digests
from simdup.corpus.flaws import Fault
from simdup.errors import InputError
from simdup.fingerprint.simhash import are_degenerate, fingerprint_texts
from simdup.fingerprint.sketch import LEVELS
from simdup.match.candidates import sieve_recipe
from simdup.recipe import Recipe
from simdup.settings import Settings
from simdup.spark.arrow import Batches, Task, binary, sketch_column

#: The reason of a row without an id; other reasons are values of `Fault`.
NO_ID = "no id"

# The columns that fingerprinting adds to a row, and the one that it adds if own shares count.
COLUMNS = "fingerprint binary, features long, digest binary, text_digest binary"
COLUMNS += ", length long, reason string"
SKETCH = ", sketch binary"

# An error message shows at most this many of the ids that several rows have.
MOST_SHOWN = 3

#: The bytes of a digest.
DIGEST = 16

# The property by which Spark describes a job.
DESCRIPTION = "spark.job.description"

# In Spark's own number of a row, the bits from this one on are the partition.
PARTITION_BIT = 33


class Source(NamedTuple):
    """Rows to compare, and how a worker finds their texts.

    The batches that `read` returns have the columns `kept`, of which `id` is the first, `text`
    (encoded, with halves of surrogate pairs) and `fault` (why there is no text); the last two may
    be null.
    """

    frame: DataFrame
    read: Task
    kept: StructType


class HowToFingerprint(NamedTuple):
    """The recipe, the number of its bits that are compared, and whether sketches are made."""

    recipe: Recipe
    bits: int
    is_sketched: bool


class NumberedTexts(NamedTuple):
    """Fingerprinted rows and their distinct texts; both frames are checkpointed.

    `rows` are as `fingerprinted` returns them. `frame` has for each distinct text its number (below
    `size`), the id and the text_digest of its first row, digest, fingerprint, features, copies
    (the number of rows with this text), `longest` (the length below zero and the id of its longest
    row), and its sketch if sketches are made.
    """

    rows: DataFrame
    frame: DataFrame
    size: int

    @property
    def is_sketched(self) -> bool:
        """Whether texts have sketches."""
        return "sketch" in self.frame.columns


def column(name: str) -> Column:
    """The column with exactly this name, whatever characters are in it."""
    return F.col("`" + name.replace("`", "``") + "`")


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


def fingerprinted(source: Source, how: HowToFingerprint) -> DataFrame:
    """Each row: the columns that the source keeps, COLUMNS, and SKETCH if asked for; lazily.

    `digest` identifies the features; the length is in characters. `reason` says why a row has no
    fingerprint (for example because its first bits are all equal), and is null if it has one.
    """
    made = StructType.fromDDL(COLUMNS + SKETCH * how.is_sketched)
    schema = StructType(source.kept.fields + made.fields)
    return source.frame.mapInArrow(_fingerprinting(source.read, source.kept.names, how), schema)


def _fingerprinting(read: Task, kept: list[str], how: HowToFingerprint) -> Task:
    """Fingerprint rows. Raises InputError in a worker for which the recipe has another key."""
    key = how.recipe.key()

    def fingerprinting(batches: Batches) -> Batches:
        if how.recipe.key() != key:  # another version of Unicode's tables or of jieba, say
            raise InputError(f"a worker makes other fingerprints: {how.recipe.key()}, not {key}")
        characters = 0
        for each in read(batches):
            texts = texts_of(each)
            characters += sum(map(len, texts))
            load_kernels_if_worth(characters=characters)
            taken = {name: each[name] for name in kept}
            yield pa.RecordBatch.from_pydict(taken | _columns(each, texts, how))

    return fingerprinting


def texts_of(batch: pa.RecordBatch) -> list[str]:
    """The texts of a batch that a source has read; empty where there is none."""
    return [(text or b"").decode("utf-8", "surrogatepass") for text in batch["text"].to_pylist()]


def _columns(batch: pa.RecordBatch, texts: list[str], how: HowToFingerprint) -> dict[str, pa.Array]:
    """COLUMNS, and SKETCH if asked for, for a batch with these texts."""
    made = fingerprint_texts(texts, how.recipe, LEVELS if how.is_sketched else None)
    reasons = np.full(len(texts), None, object)
    # If there are several reasons, the last one is given.
    reasons[are_degenerate(made.rows, how.bits)] = Fault.DEGENERATE.value
    reasons[made.counts == 0] = Fault.EMPTY.value
    reasons[np.asarray(batch["id"].is_null())] = NO_ID
    reason = pc.coalesce(batch["fault"], pa.array(reasons, pa.string()))
    nothing = pa.scalar(None, pa.binary())
    return {
        "fingerprint": pc.if_else(reason.is_null(), binary(made.rows), nothing),
        "features": pa.array(made.counts),
        "digest": pc.if_else(reason.is_null(), _digests(made.digests), nothing),
        "text_digest": _digests(text_digests(texts)),
        "length": pa.array(list(map(len, texts)), pa.int64()),
        "reason": reason,
        **({} if made.sketches is None else {"sketch": sketch_column(made.sketches)}),
    }


def _digests(digests: Digests) -> pa.Array:
    """Digests of two words each as a binary column."""
    return binary(np.ascontiguousarray(digests).view(np.uint8).reshape(-1, DIGEST))


def distinct_texts(source: Source, settings: Settings) -> NumberedTexts:
    """The distinct texts of rows. Raises InputError for an id that several rows have.

    Fingerprints have the extra bits of the sieve, which sorts out chance candidates, if a scan of
    as many files would make these bits too.
    """
    recipe = sieve_recipe(settings.recipe) if settings.verified else settings.recipe
    is_sketched = settings.verified and settings.own_share > 0
    how = HowToFingerprint(recipe, settings.recipe.bits, is_sketched)
    rows = checkpointed(fingerprinted(source, how), "fingerprints")
    _check_ids(rows)
    sketch = ["sketch"] if how.is_sketched else []
    longest = F.min(F.struct((-F.col("length")).alias("below"), "id")).alias("longest")
    of_text = F.struct("id", "fingerprint", "features", "text_digest", *sketch)
    compared = rows.where("reason is null")
    distinct = compared.groupBy("digest").agg(
        F.min(of_text).alias("first"), F.count("*").alias("copies"), longest
    )
    # The local engine sorts digests by their second word, then by the first; the lowest byte of a
    # word comes first.
    place = F.concat(*(F.substring("digest", byte, 1) for byte in range(DIGEST, 0, -1)))
    distinct = distinct.select("first.*", "digest", "copies", "longest", place.alias("place"))
    frame, count = numbered(distinct, "place")
    frame = frame.drop("place")
    if settings.verified and compared.count() <= settings.limits.sieve_from:
        frame = frame.withColumn("fingerprint", F.substring("fingerprint", 1, how.bits // 8))
    return NumberedTexts(rows, frame, count)


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
