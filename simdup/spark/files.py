"""Paths for Spark in, rows out, numbered in the order in which the local engine reads them.

A row is named by its position, counted from 1: its line in JSON Lines, its record in Parquet. Paths
keep the order in which they were given; files of one pattern or folder are ordered by name. Where
Spark cuts the files makes no difference.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import StructType
from pyspark.sql.window import Window

from simdup.corpus.formats.jsonl import JsonLines
from simdup.corpus.formats.open import JSONL, PARQUET, form_of
from simdup.corpus.formats.parquet import parsed_columns
from simdup.corpus.formats.streams import Packed, Status
from simdup.corpus.formats.table import LACKING, Parsed, Record, check_columns
from simdup.errors import InputError
from simdup.report.json_csv import to_json
from simdup.report.rows import id_as_json
from simdup.spark.texts import Batches, Source, checkpointed, column, strings

# What is kept of each row: where it stands, its id as JSON, and what is wrong with it.
KEPT = "id long, file int, position long, name string, detail string"

# The number of a row in the corpus is its position, and from this bit on the index of its file.
FILE_BIT = 40

_BOM = b"\xef\xbb\xbf"


class Files(NamedTuple):
    """The rows of some files, as Spark reads them.

    `paths` are the ones that were given, and `names` the names of the files, in order. Each row
    has id (its number in the corpus), file (the index of its name), position, and record (all that
    the file has of it); in `source` it has its name and its flaw. `form` is "jsonl" or "parquet".
    """

    paths: tuple[str, ...]
    names: tuple[str, ...]
    rows: DataFrame
    source: Source
    form: str


def read(
    session: SparkSession, paths: Mapping[str, str], form: str | None, text: str, name: str | None
) -> Files:
    """The rows of some files, folders or patterns; `text` and `name` are fields or columns.

    The keys of `paths` are for Spark to read, the values are their names in messages. `form` is
    "jsonl" or "parquet", or None to go by the end of each path. Raises InputError for a missing
    column, and Spark's own errors for unreadable files.
    """
    form = form or _form_of(paths.values())
    uris = _files_of(session, paths)
    names = tuple(paths.get(_path_of(uri), _path_of(uri)) for uri in uris)
    reader = _json_lines if form == JSONL else _parquet
    rows, parse = reader(session, paths, text, name)
    rows = _numbered(rows, uris)
    inputs = [each for each in rows.columns if each not in {"id", "file", "record"}]
    if form == JSONL:
        rows = rows.where(F.ltrim("line", F.lit(" \t\r\v\f")) != "")
    kept, reading = StructType.fromDDL(KEPT), partial(_reading, parse, inputs)
    source = Source(rows.drop("record"), kept, reading, has_unique_ids=True)
    return Files(tuple(paths.values()), names, rows, source, form)


def _reading(
    parse: Callable[..., Parsed], inputs: Sequence[str], batches: Batches
) -> Iterator[tuple[pa.RecordBatch, list[str]]]:
    """Find the texts of rows from their columns `inputs`, and what `Files.source` keeps of rows."""
    for each in batches:
        n, parsed = len(each), parse(*(each[name] for name in inputs))
        texts = np.full(n, "", object)
        texts[parsed.numbers] = parsed.texts
        made = {name: np.full(n, None, object) for name in ("name", "fault", "detail")}
        if parsed.ids:
            ids = (None if name is LACKING else name for name in parsed.ids)
            made["name"][parsed.numbers] = [to_json(id_as_json(name)) for name in ids]
        for flaw in parsed.flaws:
            made["fault"][flaw.row], made["detail"][flaw.row] = flaw.fault.value, flaw.detail
        columns = {name: each[name] for name in ("id", "file", "position")}
        columns |= {name: strings(values) for name, values in made.items()}
        yield pa.RecordBatch.from_pydict(columns), texts.tolist()


def _json_lines(
    session: SparkSession, paths: Mapping[str, str], text: str, name: str | None
) -> tuple[DataFrame, Callable[..., Parsed]]:
    """The lines of files, blank ones too, and a function that parses some of them."""
    table = JsonLines(Packed("", "", Status(0, 0, 0, 0)), (text,), None)
    frame = session.read.text(list(paths), lineSep="\n")
    # The record leaves out the columns that the names of folders add.
    rows = frame.select(_record(["value"]), F.col("value").alias("line"), *_split_columns())
    return rows, partial(json_texts, table, name)


def json_texts(
    table: JsonLines, id_field: str | None, positions: pa.Array, lines: pa.Array
) -> Parsed:
    """The texts of lines, numbered from 0 on, which stand at these positions of their files."""
    # Spark's strings may be not UTF-8.
    numbered = zip(positions.to_pylist(), lines.cast(pa.binary()).to_pylist(), strict=True)
    every = (line.removeprefix(_BOM) if number == 1 else line for number, line in numbered)
    return table.parsed((Record(row, 0, [], line) for row, line in enumerate(every)), id_field)


def _parquet(
    session: SparkSession, paths: Mapping[str, str], text: str, name: str | None
) -> tuple[DataFrame, Callable[..., Parsed]]:
    """The rows of files, each with the columns of all, and a function for their texts.

    Raises InputError for a missing column, and for a text column without strings.
    """
    frame = session.read.option("mergeSchema", "true").parquet(*paths)
    check_columns(", ".join(paths.values()), frame.columns, [text], name)
    kind = frame.schema[text].dataType.simpleString()
    if kind != "string":
        raise InputError(f"column {text!r} has no strings, but is {kind}")
    inputs = [
        column(each).alias(f"input_{place}") for place, each in enumerate((text, name)) if each
    ]
    rows = frame.select(_record(frame.columns), *inputs, *_split_columns())
    return rows, _column_texts


def _column_texts(_: pa.Array, texts: pa.Array, *ids: pa.Array) -> Parsed:
    """The texts of a text column, from 0 on."""
    parsed = parsed_columns([texts], 0)
    for names in ids:
        parsed.ids = [names[row].as_py() for row in parsed.numbers]
    return parsed


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


def _numbered(frame: DataFrame, uris: list[str]) -> DataFrame:
    """The rows with id, file and position instead of the columns that say where Spark read them."""
    split = ["split_path", "split_block"]
    before = F.sum("count").over(Window.partitionBy("split_path").orderBy("split_block"))
    sizes = frame.groupBy(split).agg(F.min("split_at").alias("first"), F.count("*").alias("count"))
    before = (before - F.col("count")).alias("before")
    splits = sizes.select(*split, "first", "count", before, _index("split_path", uris))
    joined = frame.join(F.broadcast(checkpointed(splits, "rows of files")), split, "left")
    inside = F.col("split_at") - F.col("first")
    is_there = (inside >= 0) & (inside < F.col("count"))
    changed = F.raise_error(F.lit("simdup: files changed while they were read")).cast("long")
    position = F.when(is_there, F.col("before") + inside + 1).otherwise(changed)
    taken = [name for name in frame.columns if not name.startswith("split_")]
    place = joined.select("file", position.alias("position"), *taken)
    number = F.shiftleft(F.col("file").cast("long"), FILE_BIT).bitwiseOR(F.col("position"))
    return place.select(number.alias("id"), "*")


def _index(path: str, uris: list[str]) -> Column:
    """The index of the file that a column names; Spark writes local addresses in two ways."""
    uri = F.regexp_replace(path, "^file:/+", "file:///")
    return (F.array_position(F.lit(uris).cast("array<string>"), uri) - 1).cast("int").alias("file")


def _files_of(session: SparkSession, paths: Mapping[str, str]) -> list[str]:
    """The addresses of all files, in order.

    Raises InputError for a file that Spark would pass over, or one named twice.
    """
    for called in paths.values():
        name = os.path.basename(called)
        if name.startswith(("_", ".")) and name not in {".", ".."}:
            raise InputError(f"{called!r}: Spark passes over names that begin with _ or .")
    files = session.read.format("binaryFile")
    taken = Counter(uri for path in paths for uri in sorted(files.load(path).inputFiles()))
    every = files.option("recursiveFileLookup", "true")
    # `inputFiles` also names files of which no row is read.
    there, are_read = (
        {row[0] for row in frame.load(list(paths)).select("path").collect()}
        for frame in (every, session.read.format("binaryFile"))
    )
    for lost in sorted(there - are_read):
        why = "from a folder it reads either files or folders named name=value"
        raise InputError(f"{_path_of(lost)!r}: Spark passes over it ({why}); name each folder")
    for twice in sorted(uri for uri, count in taken.items() if count > 1):
        raise InputError(f"{_path_of(twice)!r}: named twice")
    return list(taken)


def _path_of(uri: str) -> str:
    """The path of a local file, or the address of another one."""
    parts = urlsplit(uri)
    return unquote(parts.path) if parts.scheme == "file" else uri


def _form_of(paths: Iterable[str]) -> str:
    """The form of files, by their names. Raises InputError unless all have one form."""
    forms = {str(form_of(path.rstrip("/*"))[0]): path for path in paths}
    for neither in sorted(forms.keys() - {JSONL, PARQUET}):
        how = "leave out --engine spark, or name the format with --input-format"
        raise InputError(f"{forms[neither]!r}: its name shows no JSON Lines and no Parquet; {how}")
    form, *others = forms
    for other in others:
        raise InputError(f"{forms[form]!r} is {form} and {forms[other]!r} {other}: not one corpus")
    return form
