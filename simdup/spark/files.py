"""Paths that Spark reads in, rows out, in the order in which the local engine would read them.

A row is where it stands: the line of JSON Lines and CSV, the record of Parquet, from 1. Files
and folders come as they were given, what a pattern or a folder below names by name; where Spark
cuts them makes no difference.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from pyspark.sql import functions as F  # noqa: N812

from simdup.corpus.formats.open import form_of
from simdup.corpus.formats.table import listed_fields
from simdup.errors import InputError
from simdup.spark.fingerprints import TextFrame, column
from simdup.spark.readers import Columns, JsonLines, Records
from simdup.spark.whole import COUNTS, RECORDS, CsvFiles

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pyspark.sql import Column, DataFrame, Row, SparkSession

# How many parts Spark cuts files into at least; as it stands, as many as there are cores just
# then, and executors come and go.
LEAST_PARTS = "spark.sql.files.minPartitionNum"

# How Parquet may be packed that is written as it was, as Spark calls it.
PACKINGS = {
    **{name: name.lower() for name in ("GZIP", "LZ4_RAW", "SNAPPY", "ZSTD")},
    "UNCOMPRESSED": "none",
}
PACKING = "spark.sql.parquet.compression.codec"

# What is known of a row besides what its reader takes.
CARRIED = ("file", "position")


@dataclass(frozen=True, slots=True)
class Files:
    """Files as Spark reads them."""

    form: str
    paths: tuple[str, ...]
    """As they were given."""
    frame: DataFrame
    """What Spark reads."""
    splits: DataFrame
    """Where the parts of files begin that Spark reads: path, block, first (the serial number
    of its first row), count, begin (its number in the corpus), file, and before (in its file)."""
    names: tuple[str, ...]
    """Of each file that has rows, in their order."""
    source: TextFrame
    """The rows to be compared: their id is their number in the corpus; file (the index of its
    name) and position are carried."""

    columns: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Of each file of CSV, by what it is called."""
    header: str = ""
    """Of CSV: the record that names the columns."""

    def check_one_form(self) -> None:
        """Raise InputError if the rows of all files cannot go into one file."""
        every = iter(self.columns.items())
        first, columns = next(every, ("", ()))
        for path, others in every:
            if list(others) != list(columns):
                raise InputError(f"{path!r} has another columns than {first!r}: not one file")

    def whole(self) -> DataFrame:
        """Every row with `id` and, as `record`, all that the file has of it."""
        # Of lines without what the names of folders say.
        columns = self.frame.columns if self.form == "parquet" else ["value"]
        record = F.struct(*map(column, columns)).alias("record")
        rows = _placed(self.frame, self.splits, record)
        return rows.where(r"record.value rlike '\\S'") if self.form == "jsonl" else rows


def read(
    session: SparkSession, paths: Mapping[str, str], form: str | None, text: str, name: str | None
) -> Files:
    """The rows of some files, folders or patterns; `text` and `name` are fields or columns.

    `paths` has, by the path that Spark is to read, what it is called in messages.
    `form` is "jsonl", "csv" or "parquet"; None: what the end of each path says. Raises
    InputError for a column that is not there, and what Spark raises for what it cannot read.
    """
    form = form or _form_of(paths.values())
    _check_names(session, paths)
    if not session.conf.get(LEAST_PARTS, None):
        session.conf.set(LEAST_PARTS, str(session.sparkContext.defaultParallelism))
    if form == "csv":
        return _whole_files(session, paths, CsvFiles(text, name, partial(_called, paths=paths)))
    if form == "jsonl":
        frame = session.read.text(list(paths), lineSep="\n")
        splits, found = _in_order(session, _split(frame), paths)
        line = F.col("value").cast("binary").alias("line")
        rows = _placed(frame, splits, line).where(r"cast(line as string) rlike '\\S'")
        source = TextFrame(rows, JsonLines(text, name), CARRIED)
    else:
        # A column that only some files have is one of all.
        frame = session.read.option("mergeSchema", "true").parquet(*paths)
        _check_columns(frame, text, name)
        splits, found = _in_order(session, _split(frame), paths)
        called = F.lit(None).cast("string") if name is None else column(name)
        rows = _placed(frame, splits, column(text).alias("text"), called.alias("called"))
        source = TextFrame(rows, Columns(is_named=name is not None), CARRIED)
    return Files(form, tuple(paths.values()), frame, splits, found, source)


def _check_names(session: SparkSession, paths: Mapping[str, str]) -> None:
    """Raise InputError for a file that Spark would pass over, or that is named twice."""
    for called in paths.values():
        name = os.path.basename(called)
        if name.startswith(("_", ".")) and name not in {".", ".."}:
            raise InputError(f"{called!r}: Spark passes over names that begin with _ or .")
    files = session.read.format("binaryFile")
    taken = files.load(list(paths)).select("path")
    every = files.option("recursiveFileLookup", "true").load(list(paths)).select("path")
    lost = every.join(taken, "path", "left_anti").orderBy("path").first()
    if lost is not None:
        why = "of a folder it takes the files, or else folders called name=value"
        raise InputError(
            f"{_path_of(lost['path'])!r}: Spark passes over it ({why}); name each folder"
        )
    if len(paths) > 1:
        twice = taken.groupBy("path").count().where("count > 1").orderBy("path").first()
        if twice is not None:
            raise InputError(f"{_path_of(twice['path'])!r}: named twice")


def _whole_files(session: SparkSession, paths: Mapping[str, str], wanted: CsvFiles) -> Files:
    content = session.read.format("binaryFile").load(list(paths))
    empty = _empty(content)
    if empty is not None:
        raise InputError(
            f"{_called(empty, paths)!r}: no header of columns (there is nothing in it)"
        )
    files = content.select(F.col("_metadata.file_path").alias("path"), "content")
    counted = files.mapInArrow(wanted.counted, COUNTS).collect()
    splits, found = _in_order(session, counted, paths)
    frame = files.mapInArrow(wanted.recorded, RECORDS)
    rows = _placed(frame, splits, "position", *Records().inputs)
    source = TextFrame(rows, Records(), CARRIED)
    by_name = {_called(each["split_path"], paths): each for each in counted}
    columns = {name: by_name[name]["columns"] for name in found}
    header = by_name[found[0]]["header"] if found else ""
    return Files("csv", tuple(paths.values()), frame, splits, found, source, columns, header)


def _empty(content: DataFrame) -> str | None:
    """The first file without a byte, of which there is no row in this frame of whole files."""
    named = content._jdf.inputFiles()  # noqa: SLF001  (an array of Java's)
    if len(named) == content.count():
        return None
    there = {_path_of(row["file_path"]) for row in content.select("_metadata.file_path").collect()}
    return next((uri for uri in sorted(named) if _path_of(uri) not in there), None)


def _form_of(paths: Iterable[str]) -> str:
    forms = {}
    for path in paths:
        form, _ = form_of(path.rstrip("/*"))
        if form is None:
            raise InputError(f"{path!r}: its name does not say what it is; give --input-format")
        forms[form] = path
    if len(forms) > 1:
        (one, first), (two, second), *_ = forms.items()
        raise InputError(f"{first!r} is {one} and {second!r} {two}: not one corpus")
    return next(iter(forms))


def _check_columns(frame: DataFrame, text: str, name: str | None) -> None:
    for wanted in (text, name):
        if wanted is not None and wanted not in frame.columns:
            raise InputError(f"no column {wanted!r}; {listed_fields(frame.columns)}")
    kind = frame.schema[text].dataType.simpleString()
    if kind != "string":
        raise InputError(f"column {text!r} has no strings, but is {kind}")


def packing(frame: DataFrame) -> str | None:
    """How the first column of the first of some Parquet files is packed, by its footer.

    None where Spark is to decide: somebody has set it, or there is nothing to go by.
    """
    session, paths = frame.sparkSession, frame._jdf.inputFiles()  # noqa: SLF001
    if session.conf.get(PACKING, None) is not None or not len(paths):
        return None
    java, conf = session._jvm, session._jsc.hadoopConfiguration()  # noqa: SLF001
    path = java.org.apache.hadoop.fs.Path(java.java.net.URI(paths[0]))
    parquet = java.org.apache.parquet.hadoop
    file = parquet.ParquetFileReader.open(parquet.util.HadoopInputFile.fromPath(path, conf))
    groups = file.getFooter().getBlocks()
    file.close()
    return PACKINGS.get(groups[0].getColumns()[0].getCodec().name()) if len(groups) else None


def _split_columns() -> list[Column]:
    """In which part of which file a row is, and its serial number, which rises there."""
    return [
        F.col("_metadata.file_path").alias("split_path"),
        F.col("_metadata.file_block_start").alias("split_block"),
        F.monotonically_increasing_id().alias("split_at"),
    ]


def _split(frame: DataFrame) -> list[Row]:
    """What of each file Spark reads together, and how many rows are in it; reads all files."""
    own = frame.select(*_split_columns()).groupBy("split_path", "split_block")
    return own.agg(F.min("split_at").alias("first"), F.count("*").alias("count")).collect()


def _in_order(
    session: SparkSession, counted: list[Row], paths: Mapping[str, str]
) -> tuple[DataFrame, tuple[str, ...]]:
    """`Files.splits` and the names of files, from what is in each part of them."""
    order = {path.rstrip("/"): place for place, path in enumerate(paths)}

    def by_order(split: Row) -> tuple[int, str, int]:
        place = _path_of(split["split_path"])
        above = (order[each] for each in (place, os.path.dirname(place)) if each in order)
        return next(above, len(paths)), split["split_path"], split["split_block"]

    rows, begin, found = [], 0, list[str]()
    every = sorted((split for split in counted if split["count"]), key=by_order)
    for path, splits in groupby(every, key=lambda split: split["split_path"]):
        number = 1
        for split in splits:
            places = split["split_path"], split["split_block"], split["first"], split["count"]
            rows.append((*places, begin, len(found), number))
            begin, number = begin + split["count"], number + split["count"]
        found.append(_called(path, paths))
    schema = (
        "split_path string, split_block long, first long, count long,"
        " begin long, file int, before long"
    )
    return session.createDataFrame(rows, schema), tuple(found)


def _called(uri: str, paths: Mapping[str, str]) -> str:
    """What a file is called in messages."""
    path = _path_of(uri)
    return paths.get(path, path)


def _path_of(uri: str) -> str:
    """The path of a local file, or the address of another one."""
    parts = urlsplit(uri)
    return unquote(parts.path) if parts.scheme == "file" else uri


def _placed(frame: DataFrame, splits: DataFrame, *columns: Column | str) -> DataFrame:
    """Some columns of all rows, and their id, file and position."""
    own = ("split_path", "split_block", "split_at")
    places = own if set(own) <= set(frame.columns) else _split_columns()
    rows = frame.select(*columns, *places)
    joined = rows.join(F.broadcast(splits), ["split_path", "split_block"], "left")
    inside = F.col("split_at") - F.col("first")
    is_there = (inside >= 0) & (inside < F.col("count"))
    changed = F.raise_error(F.lit("simdup: files changed while they were read"))
    taken = [name for name in rows.columns if not name.startswith("split_")]
    position = (F.col("before") + inside).alias("position")
    return joined.select(
        F.when(is_there, F.col("begin") + inside).otherwise(changed.cast("long")).alias("id"),
        "file",
        *([] if "position" in taken else [position]),
        *taken,
    )
