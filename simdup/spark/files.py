"""Paths for Spark in, rows out, numbered in the order in which the local engine reads them.

A row is named by its position, counted from 1: its line in JSON Lines and CSV, its record in
Parquet. Paths keep the order in which they were given; files of one pattern or folder are ordered
by name. Where Spark cuts the files makes no difference.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from urllib.parse import unquote, urlsplit

from pyspark.sql import Column, DataFrame, Row, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from simdup.corpus.formats.open import TSV, form_of
from simdup.corpus.formats.table import named_by, other_fields
from simdup.errors import InputError
from simdup.spark.fingerprints import TextFrame, column
from simdup.spark.readers import (
    COUNTS,
    CSV_RECORDS,
    RECORDS,
    CsvFiles,
    Reader,
    column_text,
    json_text,
)

# The least number of parts into which Spark cuts files. Its default is the number of cores at
# that moment, which changes as executors come and go.
LEAST_PARTS = "spark.sql.files.minPartitionNum"

# Codecs of Parquet by their names in its footer, and as Spark calls them.
CODECS = {
    **{name: name.lower() for name in ("GZIP", "LZ4_RAW", "SNAPPY", "ZSTD")},
    "UNCOMPRESSED": "none",
}
CODEC = "spark.sql.parquet.compression.codec"


@dataclass(frozen=True, slots=True)
class Files:
    """The rows of some files, as Spark reads them."""

    form: str
    paths: tuple[str, ...]
    """The paths as they were given."""
    names: tuple[str, ...]
    """The name of each file with rows, in order."""
    rows: DataFrame
    """Each row: id (its number in the corpus), file (the index of its name), position, record
    (all that the file has of it), and the inputs of the reader."""
    reader: Reader
    columns: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Of CSV: the columns of each file, by its name."""
    header: str = ""
    """Of CSV: the record that names the columns."""

    @property
    def source(self) -> TextFrame:
        """The rows as they are compared; file and position are carried."""
        return TextFrame(self.rows, self.reader, ("file", "position"))

    def check_one_form(self) -> None:
        """Raise InputError if the rows of all files cannot go into one file."""
        every = iter(self.columns.items())
        first, columns = next(every, ("", ()))
        for path, others in every:
            if list(others) != list(columns):
                raise InputError(f"{path!r} has another columns than {first!r}: not one file")


def read(
    session: SparkSession, paths: Mapping[str, str], form: str | None, text: str, name: str | None
) -> Files:
    """The rows of some files, folders or patterns; `text` and `name` are fields or columns.

    The keys of `paths` are for Spark to read, the values are their names in messages. `form` is
    "jsonl", "csv" or "parquet", or None to go by the end of each path. Raises InputError for a
    missing column, and Spark's own errors for unreadable files.
    """
    form = form or _form_of(paths.values())
    _check_names(session, paths)
    if not session.conf.get(LEAST_PARTS, None):
        session.conf.set(LEAST_PARTS, str(session.sparkContext.defaultParallelism))
    if form == "csv":
        return _csv(session, paths, CsvFiles(text, name, partial(_called, paths=paths)))
    opened = _json_lines if form == "jsonl" else _parquet
    frame, reader = opened(session, list(paths), text, name)
    parts = frame.groupBy("split_path", "split_block")
    sizes = parts.agg(F.min("split_at").alias("first"), F.count("*").alias("count"))
    splits, names_ = _in_order(session, sizes.collect(), paths)
    rows = _numbered(frame, splits)
    if form == "jsonl":
        rows = rows.where(r"record.value rlike '\\S'")
    return Files(form, tuple(paths.values()), names_, rows, reader)


def _json_lines(
    session: SparkSession, paths: list[str], text: str, name: str | None
) -> tuple[DataFrame, Reader]:
    """The lines of files, blank ones too, and their reader."""
    frame = session.read.text(paths, lineSep="\n")
    line = F.col("value").cast("binary").alias("line")
    reader = Reader(("line", "position"), partial(json_text, field=text, name=name))
    # The record leaves out the columns that the names of folders add.
    return frame.select(_record(["value"]), line, *_split_columns()), reader


def _parquet(
    session: SparkSession, paths: list[str], text: str, name: str | None
) -> tuple[DataFrame, Reader]:
    """The rows of files, each with the columns of all files, and their reader.

    Raises InputError for a missing column, and for a text column without strings.
    """
    frame = session.read.option("mergeSchema", "true").parquet(*paths)
    for wanted, option in named_by([text], name).items():
        if wanted not in frame.columns:
            raise InputError(f"no column {wanted!r}; {other_fields(frame.columns, option)}")
    kind = frame.schema[text].dataType.simpleString()
    if kind != "string":
        raise InputError(f"column {text!r} has no strings, but is {kind}")
    id_ = F.lit(None).cast("string") if name is None else column(name)
    inputs = column(text).alias("text"), id_.alias("name")
    reader = Reader(("text", "name"), partial(column_text, is_named=name is not None))
    return frame.select(_record(frame.columns), *inputs, *_split_columns()), reader


def _record(columns: Sequence[str]) -> Column:
    """All that a file has of a row, as one column."""
    return F.struct(*map(column, columns)).alias("record")


def _split_columns() -> tuple[Column, ...]:
    """Columns for the file of a row, the part of the file, and a number that rises in the part."""
    return (
        F.col("_metadata.file_path").alias("split_path"),
        F.col("_metadata.file_block_start").alias("split_block"),
        F.monotonically_increasing_id().alias("split_at"),
    )


def _check_names(session: SparkSession, paths: Mapping[str, str]) -> None:
    """Raise InputError for a file that Spark would pass over, or one named twice."""
    for called in paths.values():
        name = os.path.basename(called)
        if name.startswith(("_", ".")) and name not in {".", ".."}:
            raise InputError(f"{called!r}: Spark passes over names that begin with _ or .")
    files = session.read.format("binaryFile")
    taken = files.load(list(paths)).select("path")
    every = files.option("recursiveFileLookup", "true").load(list(paths)).select("path")
    lost = every.join(taken, "path", "left_anti").orderBy("path").first()
    if lost is not None:
        why = "from a folder it reads either files or folders named name=value"
        raise InputError(
            f"{_path_of(lost['path'])!r}: Spark passes over it ({why}); name each folder"
        )
    if len(paths) > 1:
        twice = taken.groupBy("path").count().where("count > 1").orderBy("path").first()
        if twice is not None:
            raise InputError(f"{_path_of(twice['path'])!r}: named twice")


def _csv(session: SparkSession, paths: Mapping[str, str], wanted: CsvFiles) -> Files:
    """The rows of files of CSV, each read by one task."""
    content = session.read.format("binaryFile").load(list(paths))
    empty = _empty(content)
    if empty is not None:
        raise InputError(
            f"{_called(empty, paths)!r}: no header of columns (there is nothing in it)"
        )
    files = content.select(F.col("_metadata.file_path").alias("path"), "content")
    counted = files.mapInArrow(wanted.counted, COUNTS).collect()
    splits, names_ = _in_order(session, counted, paths)
    parsed = files.mapInArrow(wanted.parsed, RECORDS).withColumn("record", _record(["value"]))
    by_name = {_called(each["split_path"], paths): each for each in counted}
    columns = {name: by_name[name]["columns"] for name in names_}
    header = by_name[names_[0]]["header"] if names_ else ""
    rows = _numbered(parsed.drop("value"), splits)
    return Files("csv", tuple(paths.values()), names_, rows, CSV_RECORDS, columns, header)


def _empty(content: DataFrame) -> str | None:
    """The first empty file; empty files have no row in this frame of whole files."""
    uris = content._jdf.inputFiles()  # noqa: SLF001  (an array of Java's)
    if len(uris) == content.count():
        return None
    there = {_path_of(row["file_path"]) for row in content.select("_metadata.file_path").collect()}
    return next((uri for uri in sorted(uris) if _path_of(uri) not in there), None)


def _form_of(paths: Iterable[str]) -> str:
    """The form of files, by their names. Raises InputError unless all have one form."""
    forms = {}
    for path in paths:
        form, _ = form_of(path.rstrip("/*"))
        if form is None:
            raise InputError(f"{path!r}: its name does not say what it is; give --input-format")
        if form == TSV:
            raise InputError(f"{path!r}: Spark reads no TSV here; leave out --engine spark")
        forms[form] = path
    if len(forms) > 1:
        (one, first), (two, second), *_ = forms.items()
        raise InputError(f"{first!r} is {one} and {second!r} {two}: not one corpus")
    return next(iter(forms))


def codec(frame: DataFrame) -> str | None:
    """The compression of the first column of the first of some Parquet files, from its footer.

    None leaves the choice to Spark: the user has set it, or the column is missing.
    """
    session, paths = frame.sparkSession, frame._jdf.inputFiles()  # noqa: SLF001
    if session.conf.get(CODEC, None) is not None or not len(paths):
        return None
    java, conf = session._jvm, session._jsc.hadoopConfiguration()  # noqa: SLF001
    path = java.org.apache.hadoop.fs.Path(java.java.net.URI(paths[0]))
    parquet = java.org.apache.parquet.hadoop
    file = parquet.ParquetFileReader.open(parquet.util.HadoopInputFile.fromPath(path, conf))
    groups = file.getFooter().getBlocks()
    file.close()
    return CODECS.get(groups[0].getColumns()[0].getCodec().name()) if len(groups) else None


def _in_order(
    session: SparkSession, counted: list[Row], paths: Mapping[str, str]
) -> tuple[DataFrame, tuple[str, ...]]:
    """A frame that says where each part of a file begins in the corpus; and the files' names.

    `counted` has a row for each part: split_path, split_block, first (the serial number of its
    first row) and count. The frame adds begin (the number of that row in the corpus), file
    (the index of its name) and before (its position in the file).
    """
    order = {path.rstrip("/"): place for place, path in enumerate(paths)}

    def by_order(split: Row) -> tuple[int, str, int]:
        path = _path_of(split["split_path"])
        above = (order[each] for each in (path, os.path.dirname(path)) if each in order)
        return next(above, len(paths)), split["split_path"], split["split_block"]

    rows, begin, found = [], 0, list[str]()
    every = sorted((split for split in counted if split["count"]), key=by_order)
    for path, splits in groupby(every, key=lambda split: split["split_path"]):
        position = 1
        for split in splits:
            about = path, split["split_block"], split["first"], split["count"]
            rows.append((*about, begin, len(found), position))
            begin, position = begin + split["count"], position + split["count"]
        found.append(_called(path, paths))
    schema = (
        "split_path string, split_block long, first long, count long,"
        " begin long, file int, before long"
    )
    return session.createDataFrame(rows, schema), tuple(found)


def _called(uri: str, paths: Mapping[str, str]) -> str:
    """The name of a file in messages."""
    path = _path_of(uri)
    return paths.get(path, path)


def _path_of(uri: str) -> str:
    """The path of a local file, or the address of another one."""
    parts = urlsplit(uri)
    return unquote(parts.path) if parts.scheme == "file" else uri


def _numbered(frame: DataFrame, splits: DataFrame) -> DataFrame:
    """The rows with id, file and position instead of the columns that say where Spark read them.

    A frame of CSV has the position already, which counts lines and not records.
    """
    joined = frame.join(F.broadcast(splits), ["split_path", "split_block"], "left")
    inside = F.col("split_at") - F.col("first")
    is_there = (inside >= 0) & (inside < F.col("count"))
    changed = F.raise_error(F.lit("simdup: files changed while they were read"))
    id_ = F.when(is_there, F.col("begin") + inside).otherwise(changed.cast("long"))
    taken = [name for name in frame.columns if not name.startswith("split_")]
    if "position" not in taken:
        taken.append((F.col("before") + inside).alias("position"))
    return joined.select(id_.alias("id"), "file", *taken)
