"""Rows in, fingerprints out; and their distinct texts, numbered.

Fingerprints are made by the functions of the local engine. Rows with equal features are one text,
as in `simdup.match.distinct_texts`. Texts are numbered in the order of their digests. So neither
ids nor partitions of the rows change a group.

Spark hands rows to tasks, which run in its Python workers, as Arrow columns. Many numbers travel
in one row, a parcel, since Spark takes far longer for a row than numpy for a number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import accumulate, groupby, pairwise
from operator import itemgetter
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812  (everybody's name for it)
from pyspark.sql.types import StructType

from simdup.arrays import Digests, Indices, Rows
from simdup.compute.compiled import load_kernels_if_worth
from simdup.corpus.fingerprint import levels_of, recipe_of, text_digests
from simdup.corpus.flaws import Fault
from simdup.errors import InputError
from simdup.fingerprint.simhash import are_degenerate, fingerprint_texts
from simdup.settings import Settings

#: The reason of a row without an id; other reasons are values of `Fault`.
NO_ID = "no id"

# The columns that fingerprinting adds to a row, and the one that it adds if own shares count.
COLUMNS = "fingerprint binary, features long, digest binary, text_digest binary"
COLUMNS += ", length long, reason string"
SKETCH = ", sketch binary"

# An error message shows at most this many of the ids that several rows have.
MOST_SHOWN = 3

# The property by which Spark describes a job.
DESCRIPTION = "spark.job.description"

# The most rows that are copied to each task for a join: some 200 MB, if ids are strings.
MOST_COPIED = 1 << 21

# The fingerprint of a row that has a reason for it.
NOTHING = pa.scalar(None, pa.binary())

# In Spark's own number of a row, the bits from this one on are the partition.
PARTITION_BIT = 33

#: The rows of one partition, as functions for `mapInArrow` take and yield them.
Batches: TypeAlias = Iterator[pa.RecordBatch]

#: The columns of parcels: two numbers of each entry, `left` and `right`, many in one row. The
#: parcels of a bucket meet in one task. `origin` sorts them there.
PARCELS = "kind int, bucket long, origin long, left binary, right binary"

#: From the batches of one partition to batches with the text of each row, empty where it has none.
Reader: TypeAlias = Callable[[Batches], Iterator[tuple[pa.RecordBatch, list[str]]]]


def with_texts(batches: Batches) -> Iterator[tuple[pa.RecordBatch, list[str]]]:
    """Read the texts of a binary column `text`: strings of Spark, or null."""
    for each in batches:
        texts = (text or b"" for text in each["text"].to_pylist())
        yield each, [text.decode("utf-8", "surrogatepass") for text in texts]


class Source(NamedTuple):
    """Rows to compare, and how a worker finds their texts.

    The batches that `read` returns have the columns `kept`, of which `id` is the first, and `fault`
    (why there is no text, or null). With `has_unique_ids` nobody has to look whether several rows
    have one id.
    """

    frame: DataFrame
    kept: StructType
    read: Reader = with_texts
    has_unique_ids: bool = False


class NumberedTexts(NamedTuple):
    """The fingerprinted rows of a source, and the number of the text of each.

    Both frames are checkpointed. `every` has all rows, as `fingerprinted` returns them. `rows` has
    the ones with a fingerprint, the number of each one's text (below `size`), and the copies (how
    many rows have this text). The row with the lowest id of a text `is_first`, and no other row of
    the text has its sketch; `firsts` are these rows.
    """

    every: DataFrame
    rows: DataFrame
    firsts: DataFrame
    size: int
    source: Source
    settings: Settings


def column(name: str) -> Column:
    """The column with exactly this name, whatever characters are in it."""
    return F.col("`" + name.replace("`", "``") + "`")


def checkpointed(frame: DataFrame, what: str) -> DataFrame:
    """Compute the rows of a frame now, and keep them; `what` describes the jobs of it.

    They are written to the checkpoint directory of the session, where they stay. Without such a
    directory the executors keep them as long as the frame is used, and lose them if they end.
    """
    context = frame.sparkSession.sparkContext
    before = context.getLocalProperty(DESCRIPTION)
    context.setLocalProperty(DESCRIPTION, f"simdup: {what}")
    made = frame.checkpoint() if context.getCheckpointDir() else frame.localCheckpoint()
    context.setLocalProperty(DESCRIPTION, before)  # not after an interrupt, which it would hide
    return made


def small(frame: DataFrame, most: int) -> DataFrame:
    """A frame of at most so many rows, of which each task gets a copy in a join if they are few.

    Then the rows of the other side, with their sketches, stay where they are. Otherwise they are
    not sorted at least.
    """
    return frame.hint("broadcast" if most <= MOST_COPIED else "shuffle_hash")


def fingerprinted(source: Source, settings: Settings) -> DataFrame:
    """Each row: the columns that the source keeps, COLUMNS, and SKETCH if asked for; lazily.

    `digest` identifies the features; the length is in characters. `reason` says why a row has no
    fingerprint (for example because its first bits are all equal), and is null if it has one.
    """
    made = StructType.fromDDL(COLUMNS + SKETCH * (levels_of(settings) is not None))
    schema, key = StructType(source.kept.fields + made.fields), recipe_of(settings).key()
    task = partial(_fingerprinting, source.read, source.kept.names, settings, key)
    return source.frame.mapInArrow(task, schema)


def _fingerprinting(
    read: Reader, names: list[str], settings: Settings, key: str, batches: Batches
) -> Batches:
    """Fingerprint rows. Raises InputError in a worker for which the recipe has another key."""
    recipe, bits = recipe_of(settings), settings.recipe.bits
    if recipe.key() != key:  # another version of Unicode's tables or of jieba
        raise InputError(f"a worker makes other fingerprints: {recipe.key()}, not {key}")
    for each, texts in read(batches):
        load_kernels_if_worth(characters=sum(map(len, texts)))
        made = fingerprint_texts(texts, recipe, levels_of(settings), has_words=False)
        reasons = np.full(len(texts), None, object)
        # Of these reasons the last one is given; a fault that reading found goes before them.
        reasons[are_degenerate(made.rows, bits)] = Fault.DEGENERATE.value
        reasons[made.counts == 0] = Fault.EMPTY.value
        reasons[np.asarray(each["id"].is_null())] = NO_ID
        reason = pc.coalesce(each["fault"], pa.array(reasons, pa.string()))
        columns = {name: each[name] for name in names} | {
            "fingerprint": pc.if_else(reason.is_null(), binary(made.rows), NOTHING),
            "features": pa.array(made.counts),
            # Bytes that sort as the local engine sorts digests: by their second word.
            "digest": binary(np.ascontiguousarray(made.digests[:, ::-1], ">u8").view(np.uint8)),
            "text_digest": binary(text_digests(texts).view(np.uint8)),
            "length": pa.array(list(map(len, texts)), pa.int64()),
            "reason": reason,
        }
        if made.sketches is not None:
            columns["sketch"] = pa.array(list(made.sketches.each()), pa.binary())
        yield pa.RecordBatch.from_pydict(columns)


def read_digests(packed: pa.ChunkedArray) -> Digests:
    """The digests of features in a column: (n, 2)."""
    return np.ascontiguousarray(rows_of(packed).view(">u8")[:, ::-1], np.uint64)


def numbered_texts(source: Source, settings: Settings) -> NumberedTexts:
    """The distinct texts of rows. Raises InputError for an id that several rows have."""
    every = checkpointed(fingerprinted(source, settings), "fingerprints")
    if not source.has_unique_ids:
        _check_ids(every)
    rows = every.where("reason is null")
    firsts = rows.groupBy("digest").agg(F.min("id").alias("first"), F.count("*").alias("copies"))
    firsts, count = numbered(firsts, "digest")
    rows = rows.join(small(firsts, count), "digest").withColumn(
        "is_first", F.col("id") == F.col("first")
    )
    if settings.verified:
        rows = rows.withColumn("sketch", F.when(F.col("is_first"), F.col("sketch")))
    rows = checkpointed(rows.drop("first"), "texts")
    return NumberedTexts(every, rows, rows.where("is_first"), count, source, settings)


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


def binary(rows: Rows) -> pa.Array:
    """A binary column of rows (n, width)."""
    return pa.array([row.tobytes() for row in rows], pa.binary())


def rows_of(packed: pa.Array | pa.ChunkedArray) -> Rows:
    """The rows of a binary column without nulls, all of one width: (n, width)."""
    n, data = len(packed), np.frombuffer(b"".join(packed.to_pylist()), np.uint8)
    return data.reshape(n, len(data) // max(n, 1))


def numbers(packed: pa.Array | pa.ChunkedArray) -> Indices:
    """The integers of a column without nulls: (n,)."""
    return packed.to_numpy(zero_copy_only=False).astype(np.int64, copy=False)


def strings(values: Iterable[str | None]) -> pa.Array:
    """A column of strings, in which halves of surrogate pairs are escaped."""
    encoded = [each and each.encode("utf-8", "backslashreplace") for each in values]
    return pa.array(encoded, pa.binary()).cast(pa.string())


def parcels(
    kind: int, bucket: Indices, left: NDArray[Any], right: Indices, origin: int = 0
) -> pa.RecordBatch:
    """The PARCELS of numbers of 64 bits (n,), each of which goes to a `bucket` (n,) of 16 bits."""
    order = np.argsort(bucket.astype(np.uint16), kind="stable")  # numpy then sorts by radix
    bucket = bucket[order]
    begins = np.flatnonzero(np.diff(bucket, prepend=-1))
    n = len(begins)
    columns = {"kind": pa.array(np.full(n, kind, np.int32)), "bucket": bucket[begins]}
    columns["origin"] = np.full(n, origin)
    for name, values in (("left", left), ("right", right)):
        parts = np.split(values[order], begins[1:])[:n]
        # Byte by byte, since the high bytes of neighbours are alike, and so take little room.
        packed = [part.view(np.uint8).reshape(-1, 8).T.tobytes() for part in parts]
        columns[name] = pa.array(packed, pa.binary())
    return pa.RecordBatch.from_pydict(columns)


def opened(packed: pa.Array | pa.ChunkedArray) -> Indices:
    """The numbers in a column of parcels, one parcel after the other."""
    parts = [np.frombuffer(each, np.uint8).reshape(8, -1).T for each in packed.to_pylist()]
    every = np.concatenate([np.empty((0, 8), np.uint8), *parts])
    return every.view(np.int64).ravel()


def pieces(
    batches: Iterable[pa.RecordBatch], key: str
) -> Iterator[tuple[Any, Iterator[pa.RecordBatch]]]:
    """Each value of a sorted column, with the batches of its rows."""

    def each_run() -> Iterator[tuple[Any, pa.RecordBatch]]:
        for each in batches:
            values = numbers(each[key])
            begins = np.flatnonzero(np.diff(values, prepend=values[:1] - 1)).tolist()
            for begin, end in pairwise([*begins, len(each)]):
                yield values[begin].item(), each.slice(begin, end - begin)

    for value, found in groupby(each_run(), itemgetter(0)):
        yield value, (piece for _, piece in found)


def runs(batches: Iterable[pa.RecordBatch], key: str) -> Iterator[tuple[Any, pa.Table]]:
    """Each value of a sorted column, with the table of its rows."""
    return ((value, pa.Table.from_batches(found)) for value, found in pieces(batches, key))


def whole(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """All rows of a task as one table, if there are any."""
    if filled := list(filter(len, batches)):
        yield pa.Table.from_batches(filled)
