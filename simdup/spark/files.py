"""Paths for Spark in, rows out, numbered in the order in which the local engine reads them.

A row is named by its position, counted from 1: its line in JSON Lines and CSV, its record in
Parquet. Paths keep the order in which they were given; files of one pattern or folder are ordered
by name. Where Spark cuts the files makes no difference. A file of CSV is read whole, by one task,
because only parsing it from the beginning tells where a record ends.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.window import Window

from simdup.corpus.formats.csv import ROWS, CommaSeparated
from simdup.corpus.formats.jsonl import JsonLines
from simdup.corpus.formats.open import TSV, form_of
from simdup.corpus.formats.parquet import Parquet, parsed_columns
from simdup.corpus.formats.streams import BLOCK, LONGEST_ROW, Packed, Status, too_long, unpacked
from simdup.corpus.formats.table import (
    LACKING,
    Parsed,
    Record,
    Table,
    named_by,
    other_fields,
    with_line_end,
)
from simdup.errors import InputError
from simdup.report.json_csv import to_json
from simdup.report.rows import BEGINNING, id_as_json
from simdup.spark.arrow import Batches, encoded, strings
from simdup.spark.texts import Reader, Source, checkpointed, column, with_texts
from simdup.text.chunking import batched

# The least number of parts into which Spark cuts files. Its default is the number of cores at
# that moment, which changes as executors come and go.
LEAST_PARTS = "spark.sql.files.minPartitionNum"

# The codecs of Parquet that Spark always has, and the setting that names one.
CODECS = {"gzip", "lz4_raw", "snappy", "uncompressed", "zstd"}
CODEC = "spark.sql.parquet.compression.codec"

# The number of a row in the corpus is its position, and from this bit on the index of its file.
FILE_BIT = 40

_BOM = b"\xef\xbb\xbf"

NO_STATUS = Status(0, 0, 0, 0)


# The columns of strings that reading adds to a row besides its text: its id as JSON, and why it has
# no text. A binary column has how the text begins, for text output.
ABOUT = ("name", "fault", "detail")

# A row for each record of CSV: where it stands, the record as written, ABOUT it, and its text.
RECORDS = "file int, position long, value string, name string, fault string, detail string"
RECORDS += ", beginning binary, text binary"


@dataclass(frozen=True, slots=True)
class Content(Packed):
    """A file whose bytes Spark has read."""

    status: Status = NO_STATUS
    data: Any = b""

    def blocks(self) -> Generator[bytes]:
        """Yield the content, unpacked."""
        yield from unpacked(pa.BufferReader(self.data), self.packing)


class Files(NamedTuple):
    """The rows of some files, as Spark reads them.

    `paths` are the ones that were given, and `names` the names of the files, in order. Each row
    has id (its number in the corpus), file (the index of its name), position, record (all that the
    file has of it), and what `read` needs. `tables` tell whether the rows can go into one file: one
    for each file of CSV, and one for all other files, without their content.
    """

    paths: tuple[str, ...]
    names: tuple[str, ...]
    rows: DataFrame
    read: Reader
    tables: Sequence[Table]

    @property
    def source(self) -> Source:
        """The rows as they are compared, with the name and the flaw of each."""
        kept = self.rows.select("id", "file", "position").schema
        kept.add("name", "string").add("detail", "string").add("beginning", "binary")
        return Source(self.rows.drop("record"), kept, self.read, has_unique_ids=True)


def read(
    session: SparkSession, paths: Mapping[str, str], form: str | None, text: str, name: str | None
) -> Files:
    """The rows of some files, folders or patterns; `text` and `name` are fields or columns.

    The keys of `paths` are for Spark to read, the values are their names in messages. `form` is
    "jsonl", "csv" or "parquet", or None to go by the end of each path. Raises InputError for a
    missing column, and Spark's own errors for unreadable files.
    """
    form = form or _form_of(paths.values())
    uris = _files_of(session, paths)
    names = tuple(paths.get(_path_of(uri), _path_of(uri)) for uri in uris)
    if not session.conf.get(LEAST_PARTS, None):
        session.conf.set(LEAST_PARTS, str(session.sparkContext.defaultParallelism))
    named = tuple(paths.values())
    if form == "csv":
        content = session.read.format("binaryFile").load(list(paths))
        files = content.select(_index("_metadata.file_path", uris), "content")
        return _csv(files, CsvFiles(names, text, name), named)
    opened = _json_lines if form == "jsonl" else _parquet
    table, rows, parse = opened(session, list(paths), text, name)
    rows = _numbered(rows, uris)
    inputs = [each for each in rows.columns if each not in {"id", "file", "record"}]
    if form == "jsonl":
        rows = rows.where(F.ltrim("line", F.lit(" \t\r\v\f")) != "")
    return Files(named, names, rows, partial(_reading, parse, inputs), [table])


def _reading(
    parse: Callable[..., Parsed], inputs: Sequence[str], batches: Batches
) -> Iterator[tuple[pa.RecordBatch, list[str]]]:
    """Find the texts of rows from their columns `inputs`."""
    for each in batches:
        made, texts = _described(parse(*(each[name] for name in inputs)), len(each))
        kept = {name: each[name] for name in ("id", "file", "position")}
        yield pa.RecordBatch.from_pydict(kept | made), texts


def _described(parsed: Parsed, n: int) -> tuple[dict[str, pa.Array], list[str]]:
    """The columns ABOUT n rows, which are numbered from 0 on, and their texts."""
    made, texts = {name: np.full(n, None, object) for name in ABOUT}, np.full(n, "", object)
    at = parsed.numbers
    texts[at] = parsed.texts
    if parsed.ids:
        made["name"][at] = [
            to_json(id_as_json(None if each is LACKING else each)) for each in parsed.ids
        ]
    for flaw in parsed.flaws:
        made["fault"][flaw.row], made["detail"][flaw.row] = flaw.fault.value, flaw.detail
    columns = {name: strings(each) for name, each in made.items()}
    columns["beginning"] = encoded(text[: 2 * BEGINNING] for text in texts)
    return columns, texts.tolist()


def _json_lines(
    session: SparkSession, paths: list[str], text: str, name: str | None
) -> tuple[Table, DataFrame, Callable[..., Parsed]]:
    """A table, the lines of files, blank ones too, and a function that parses some of them."""
    table = JsonLines(Content("", ""), (text,), None)
    frame = session.read.text(paths, lineSep="\n")
    # The record leaves out the columns that the names of folders add.
    rows = frame.select(_record(["value"]), F.col("value").alias("line"), *_split_columns())
    return table, rows, partial(json_texts, table, name)


def json_texts(
    table: JsonLines, id_field: str | None, positions: pa.Array, lines: pa.Array
) -> Parsed:
    """The texts of lines, numbered from 0 on, which stand at these positions of their files."""
    # Spark's strings may be not UTF-8.
    numbered = zip(positions.to_pylist(), lines.cast(pa.binary()).to_pylist(), strict=True)
    every = [line.removeprefix(_BOM) if number == 1 else line for number, line in numbered]
    are_long = [len(line) > LONGEST_ROW for line in every]
    records = (Record(row, 0, [], line) for row, line in enumerate(every) if not are_long[row])
    parsed = table.parsed(records, id_field)
    parsed.flaws += map(too_long, np.flatnonzero(are_long).tolist())
    return parsed


def _parquet(
    session: SparkSession, paths: list[str], text: str, name: str | None
) -> tuple[Table, DataFrame, Callable[..., Parsed]]:
    """A table, the rows of files, each with the columns of all, and a function for their texts.

    Raises InputError for a missing column, and for a text column without strings.
    """
    frame = session.read.option("mergeSchema", "true").parquet(*paths)
    for each, option in named_by([text], name).items():
        if each not in frame.columns:
            raise InputError(f"no column {each!r}; {other_fields(frame.columns, option)}")
    kind = frame.schema[text].dataType.simpleString()
    if kind != "string":
        raise InputError(f"column {text!r} has no strings, but is {kind}")
    inputs = [
        column(each).alias(f"input_{place}") for place, each in enumerate((text, name)) if each
    ]
    rows = frame.select(_record(frame.columns), *inputs, *_split_columns())
    return Parquet(Content("", ""), (text,), None), rows, _column_texts


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
    return _with_ids(joined.select("file", position.alias("position"), *taken))


def _index(path: str, uris: list[str]) -> Column:
    """The index of the file that a column names; Spark writes local addresses in two ways."""
    uri = F.regexp_replace(path, "^file:/+", "file:///")
    return (F.array_position(F.lit(uris).cast("array<string>"), uri) - 1).cast("int").alias("file")


def _with_ids(frame: DataFrame) -> DataFrame:
    """The rows with their numbers in the corpus, which follow from file and position."""
    number = F.shiftleft(F.col("file").cast("long"), FILE_BIT).bitwiseOR(F.col("position"))
    return frame.select(number.alias("id"), "*")


def _files_of(session: SparkSession, paths: Mapping[str, str]) -> list[str]:
    """The addresses of all files, in order.

    Raises InputError for a file that Spark would pass over, or one named twice.
    """
    for called in paths.values():
        name = os.path.basename(called)
        if name.startswith(("_", ".")) and name not in {".", ".."}:
            raise InputError(f"{called!r}: Spark passes over names that begin with _ or .")
    files = session.read.format("binaryFile")
    taken = Counter(uri for path in paths for uri in files.load(path).inputFiles())
    every = files.option("recursiveFileLookup", "true")
    # `inputFiles` also names files of which no row is read.
    found, read = (
        {row[0] for row in frame.load(list(paths)).select("path").collect()}
        for frame in (every, session.read.format("binaryFile"))
    )
    for lost in sorted(found - read):
        why = "from a folder it reads either files or folders named name=value"
        raise InputError(f"{_path_of(lost)!r}: Spark passes over it ({why}); name each folder")
    for twice in sorted(uri for uri, count in taken.items() if count > 1):
        raise InputError(f"{_path_of(twice)!r}: named twice")
    order = {path.rstrip("/"): place for place, path in enumerate(paths)}

    def by_order(uri: str) -> tuple[int, str]:
        path = _path_of(uri)
        return order.get(path, order.get(os.path.dirname(path), len(paths))), uri

    return sorted(taken, key=by_order)


def _path_of(uri: str) -> str:
    """The path of a local file, or the address of another one."""
    parts = urlsplit(uri)
    return unquote(parts.path) if parts.scheme == "file" else uri


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


class CsvFiles(NamedTuple):
    """Tasks that read whole files of CSV, given as `file` and `content`.

    `names` are the names of all files for messages; `text` and `name` are the columns of the texts
    and of the ids.
    """

    names: tuple[str, ...]
    text: str
    name: str | None

    def heads(self, batches: Batches) -> Batches:
        """Yield the header of each file. Raises InputError for a missing column."""
        for file, table in self._tables(batches):
            head = {"file": pa.array([file], pa.int32()), "header": [table.header]}
            yield pa.RecordBatch.from_pydict(head)

    def parsed(self, batches: Batches) -> Batches:
        """Parse the records of each file: RECORDS."""
        for file, table in self._tables(batches):
            for some in batched(table.records(), lambda each: len(each.raw), BLOCK, ROWS):
                rows = [each._replace(number=row) for row, each in enumerate(some)]
                lines = (with_line_end(each.raw, table.header) for each in some)
                about, texts = _described(table.parsed(rows, self.name), len(some))
                columns = {
                    "file": np.full(len(some), file, np.int32),
                    "position": np.array([each.number for each in some]),
                    "value": [each.decode("utf-8", "replace").removesuffix("\n") for each in lines],
                }
                about["text"] = encoded(texts)
                yield pa.RecordBatch.from_pydict(columns | about)

    def _tables(self, batches: Batches) -> Iterator[tuple[int, CommaSeparated]]:
        """Yield the index of each file, and its table."""
        for each in batches:
            for file, content in zip(each["file"].to_pylist(), each["content"], strict=True):
                packing = form_of(self.names[file])[1]
                yield file, self.table(file, packing, content.as_buffer())

    def table(self, file: int, packing: str, content: object) -> CommaSeparated:
        """The table of a file. Raises InputError for a missing column or header."""
        opened = Content(self.names[file], packing, data=content)
        return CommaSeparated.opened(opened, (self.text,), self.name)


def _csv(files: DataFrame, wanted: CsvFiles, paths: tuple[str, ...]) -> Files:
    """The rows of files of CSV, each read by one task."""
    heads = dict(files.mapInArrow(wanted.heads, "file int, header binary").collect())
    # A frame of whole files has no row for an empty one.
    tables = [wanted.table(file, "", heads.get(file, b"")) for file in range(len(wanted.names))]
    rows = _with_ids(files.mapInArrow(wanted.parsed, RECORDS))
    rows = rows.withColumn("record", _record(["value"])).drop("value")
    return Files(paths, wanted.names, rows, with_texts, tables)


def codec(frame: DataFrame) -> str | None:
    """The compression of the first column of the first of some Parquet files, from its footer.

    None leaves the choice to Spark: the user has set it, or the column is missing.
    """
    session, paths = frame.sparkSession, frame.inputFiles()
    if session.conf.get(CODEC, None) is not None or not paths:
        return None
    java, conf = session._jvm, session._jsc.hadoopConfiguration()  # noqa: SLF001
    path = java.org.apache.hadoop.fs.Path(java.java.net.URI(paths[0]))
    parquet = java.org.apache.parquet.hadoop
    file = parquet.ParquetFileReader.open(parquet.util.HadoopInputFile.fromPath(path, conf))
    groups = file.getFooter().getBlocks()
    file.close()
    name = groups[0].getColumns()[0].getCodec().name().lower() if len(groups) else None
    return name if name in CODECS else None
