"""Paths that Spark reads in, rows out, in the order in which the local engine would read them.

A row is where it stands: the line of JSON Lines, the record of CSV or Parquet, from 1. Files
come as they were given, then by name; where Spark cuts them makes no difference.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from pyspark.sql import functions as F  # noqa: N812

from simdup.errors import InputError
from simdup.rows.parsed import names
from simdup.rows.tables import form_of
from simdup.spark.prints import Source, column
from simdup.spark.readers import Columns, JsonLines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from pyspark.sql import Column, DataFrame, DataFrameReader, SparkSession

#: What can be read.
FORMS = ("jsonl", "csv", "parquet")

# Where Spark puts a record of CSV that it cannot read.
BROKEN = "_corrupt_record"


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
    source: Source
    """The rows to be compared: their id is their number in the corpus; file (the index of its
    name) and position are carried."""

    def whole(self) -> DataFrame:
        """Every row with `id` and, as `record`, all that the file has of it."""
        columns = [name for name in self.frame.columns if name != BROKEN]
        record = F.struct(*map(column, columns)).alias("record")
        rows = _placed(self.frame, self.splits, record)
        return rows.where(r"record.value rlike '\\S'") if self.form == "jsonl" else rows


def read(
    session: SparkSession, paths: Mapping[str, str], form: str | None, text: str, name: str | None
) -> Files:
    """The rows of some files, folders or patterns; `text` and `name` are fields or columns.

    `paths` has, by the path that Spark is to read, what it is called in messages.
    `form` is one of FORMS; None: what the end of each path says. Raises InputError for a
    column that is not there, and what Spark raises for what it cannot read.
    """
    form = form or _form_of(paths.values())
    frame = _READ[form](session.read, list(paths))
    splits, found = _splits(frame, paths)
    carried = ("file", "position")
    if form == "jsonl":
        line = F.col("value").cast("binary").alias("line")
        rows = _placed(frame, splits, line).where(r"cast(line as string) rlike '\\S'")
        source = Source(rows, JsonLines(text, name), carried)
    else:
        _check_columns(frame, text, name)
        own, nothing = column(text).alias("text"), F.lit(None).cast("string")
        broken = column(BROKEN) if BROKEN in frame.columns else nothing
        called = nothing if name is None else column(name)
        rows = _placed(frame, splits, own, called.alias("called"), broken.alias("broken"))
        source = Source(rows, Columns(), carried)
    return Files(form, tuple(paths.values()), frame, splits, found, source)


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


def _lines(reader: DataFrameReader, paths: list[str]) -> DataFrame:
    return reader.text(paths, lineSep="\n")


def _records(reader: DataFrameReader, paths: list[str]) -> DataFrame:
    """The records, all columns strings; those that are broken have BROKEN besides."""
    how = {"header": True, "quote": '"', "escape": '"', "multiLine": True}
    header = reader.csv(paths, **how, inferSchema=False).columns
    schema = ", ".join(f"`{each.replace('`', '``')}` string" for each in [*header, BROKEN])
    how |= {"enforceSchema": False, "columnNameOfCorruptRecord": BROKEN}
    return reader.csv(paths, schema, **how)


def _parquet(reader: DataFrameReader, paths: list[str]) -> DataFrame:
    return reader.parquet(*paths)


_READ: dict[str, Callable[[DataFrameReader, list[str]], DataFrame]] = {
    "jsonl": _lines,
    "csv": _records,
    "parquet": _parquet,
}


def _check_columns(frame: DataFrame, text: str, name: str | None) -> None:
    there = [each for each in frame.columns if each != BROKEN]
    for wanted in (text, name):
        if wanted is not None and wanted not in there:
            raise InputError(f"no column {wanted!r}; {names(there)}")
    kind = frame.schema[text].dataType.simpleString()
    if kind != "string":
        raise InputError(f"column {text!r} has no strings, but is {kind}")


def _split_columns() -> list[Column]:
    """In which part of which file a row is, and its serial number, which rises there."""
    return [
        F.col("_metadata.file_path").alias("split_path"),
        F.col("_metadata.file_block_start").alias("split_block"),
        F.monotonically_increasing_id().alias("split_at"),
    ]


def _splits(frame: DataFrame, paths: Mapping[str, str]) -> tuple[DataFrame, tuple[str, ...]]:
    """`Files.splits`, from reading all files once, and the names of files."""
    own = frame.select(*_split_columns()).groupBy("split_path", "split_block")
    counted = own.agg(F.min("split_at").alias("first"), F.count("*").alias("count")).collect()
    order = {path.rstrip("/"): place for place, path in enumerate(paths)}

    def by_order(split: Any) -> tuple[int, str, int]:  # noqa: ANN401
        place = _path_of(split["split_path"])
        above = (order[each] for each in (place, os.path.dirname(place)) if each in order)
        return next(above, len(paths)), split["split_path"], split["split_block"]

    rows, begin, found = [], 0, list[str]()
    every = sorted(counted, key=by_order)
    for path, splits in groupby(every, key=lambda split: split["split_path"]):
        number = 1
        for split in splits:
            rows.append((*split, begin, len(found), number))
            begin, number = begin + split["count"], number + split["count"]
        found.append(paths.get(_path_of(path), _path_of(path)))
    schema = (
        "split_path string, split_block long, first long, count long,"
        " begin long, file int, before long"
    )
    return frame.sparkSession.createDataFrame(rows, schema), tuple(found)


def _path_of(uri: str) -> str:
    """The path of a local file, or the address of another one."""
    parts = urlsplit(uri)
    return unquote(parts.path) if parts.scheme == "file" else uri


def _placed(frame: DataFrame, splits: DataFrame, *columns: Column) -> DataFrame:
    """Some columns of all rows, and their id, file and position."""
    rows = frame.select(*columns, *_split_columns())
    joined = rows.join(F.broadcast(splits), ["split_path", "split_block"], "left")
    inside = F.col("split_at") - F.col("first")
    is_there = (inside >= 0) & (inside < F.col("count"))
    changed = F.raise_error(F.lit("simdup: files changed while they were read"))
    own = [name for name in rows.columns if not name.startswith("split_")]
    return joined.select(
        F.when(is_there, F.col("begin") + inside).otherwise(changed.cast("long")).alias("id"),
        "file",
        (F.col("before") + inside).alias("position"),
        *own,
    )
