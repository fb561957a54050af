"""Batches of rows of files in, the text of each row out, in Spark's workers.

A row without a text has the reason instead. A file of CSV is read whole, by one task, because only
parsing it from the beginning tells where a record ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import pyarrow as pa

from simdup.corpus.flaws import Fault, RowError
from simdup.corpus.formats.csv import ROWS, header_of, records
from simdup.corpus.formats.jsonl import row_in, text_of, value_of
from simdup.corpus.formats.open import form_of
from simdup.corpus.formats.streams import BLOCK, LONGEST_ROW, lines_of, too_long, unpacked
from simdup.corpus.formats.table import LACKING, Record, with_line_end
from simdup.errors import InputError
from simdup.report.json_csv import to_json
from simdup.report.rows import beginning, id_as_json
from simdup.spark.arrow import Batches, strings

#: Columns of rows of files besides the text: why a row is not compared, its id as JSON, and how
#: its text begins.
FAULTS = dict.fromkeys(("fault", "detail", "name", "beginning"), "string")

#: A row for each file of CSV: where it is, its rows, its columns and its header.
COUNTS = (
    "split_path string, split_block long, first long, count long,"
    " columns array<string>, header string"
)

_RECORD = pa.schema(
    {
        "split_path": pa.string(),
        **dict.fromkeys(("split_block", "split_at", "position"), pa.int64()),
        **dict.fromkeys(("text", "name", "fault", "detail", "value"), pa.string()),
    }
)

#: A row for each record of CSV: where it stands, its RowText, and the record as it is written.
RECORDS = ", ".join(
    f"{each.name} {'long' if each.type == pa.int64() else 'string'}" for each in _RECORD
)

_BOM = b"\xef\xbb\xbf"


class RowText(NamedTuple):
    """The text of a row, or why it has none."""

    text: str | None
    name: str | None = None
    """The id of the row as JSON."""
    fault: str | None = None
    """The value of a Fault."""
    detail: str = ""

    @property
    def beginning(self) -> str:
        """How the text begins, as text output shows it."""
        return beginning(self.text or "")


@dataclass(frozen=True, slots=True)
class Reader:
    """How a worker finds the texts of a batch of rows."""

    inputs: tuple[str, ...]
    """The columns that it needs."""
    row: Callable[..., RowText]
    """Returns the text of a row from the values of its `inputs`."""
    has_faults: bool = True
    """Whether rows have ids and may lack a text: then `read` makes the columns FAULTS."""

    @property
    def extras(self) -> dict[str, str]:
        """The columns that it makes besides the text, with their types."""
        return FAULTS if self.has_faults else {}

    def read(
        self, batch: pa.RecordBatch | pa.Table
    ) -> tuple[list[str | None], dict[str, pa.Array]]:
        """Return the text of each row, and the columns `extras`."""
        columns = (batch.column(name).to_pylist() for name in self.inputs)
        rows = [self.row(*each) for each in zip(*columns, strict=True)]
        extras = {name: strings([getattr(row, name) for row in rows]) for name in self.extras}
        return [row.text for row in rows], extras


#: The reader of a column of strings, `text`.
STRINGS = Reader(("text",), RowText, has_faults=False)

#: The reader of the records that `CsvFiles` makes.
CSV_RECORDS = Reader(RowText._fields, RowText)


def json_text(line: bytes, number: int, *, field: str, name: str | None) -> RowText:
    """The text of line `number` of JSON Lines; the field `name` has the id of the row."""
    if len(line) > LONGEST_ROW:
        flaw = too_long(number)
        return RowText(None, None, flaw.fault.value, flaw.detail)
    id_ = None
    try:
        row = row_in(line.removeprefix(_BOM) if number == 1 else line)
        if name is not None:
            found = value_of(row, name)
            id_ = to_json(id_as_json(None if found is LACKING else found))
        return RowText(text_of(row, (field,)), id_)
    except RowError as error:
        return RowText(None, id_, error.fault.value, error.detail)


def column_text(text: str | None, id_: object, *, is_named: bool) -> RowText:
    """The text of a row, from its text column; null counts as no text."""
    name = to_json(id_as_json(id_)) if is_named else None
    return RowText(text, name, *(() if text is not None else (Fault.EMPTY.value, "null")))


class _File(NamedTuple):
    path: str
    name: str
    columns: tuple[str, ...]
    header: bytes
    records: Iterator[Record]


@dataclass(frozen=True, slots=True)
class CsvFiles:
    """Tasks that read whole files of CSV, given as `path` and `content`."""

    field: str
    """The column of the text."""
    name: str | None
    """The column of the ids."""
    called: Callable[[str], str]
    """Returns the name of a file for messages from the path that Spark gives."""

    def counted(self, batches: Batches) -> Batches:
        """Count the records of each file: COUNTS. Raises InputError for a missing column."""
        for file in self._files(batches):
            columns = {
                "split_path": [file.path],
                "split_block": [0],
                "first": [0],
                "count": [sum(1 for _ in file.records)],
                "columns": [list(file.columns)],
                "header": [file.header.decode().removesuffix("\n")],
            }
            yield pa.RecordBatch.from_pydict(columns)

    def parsed(self, batches: Batches) -> Batches:
        """Parse the records of each file: RECORDS."""
        for file in self._files(batches):
            rows, size = list[tuple[object, ...]](), 0
            for index, record in enumerate(file.records):
                rows.append((file.path, 0, index, record.number, *self._row(file, record)))
                size += len(record.raw)
                if size > BLOCK or len(rows) == ROWS:
                    yield _batch(rows)
                    rows, size = [], 0
            yield _batch(rows)

    def _files(self, batches: Batches) -> Iterator[_File]:
        for each in batches:
            for path, content in zip(each.column("path"), each.column("content"), strict=True):
                name = self.called(path.as_py())
                blocks = unpacked(pa.BufferReader(content.as_buffer()), form_of(name)[1])
                every = records(lines_of(blocks))
                columns, header = header_of(name, every, [self.field], self.name)
                yield _File(path.as_py(), name, columns, header, _checked(name, every))

    def _row(self, file: _File, record: Record) -> tuple[object, ...]:
        """The RowText of a record, and the record as it is written."""
        fields = record.fields
        if isinstance(fields, RowError):
            return *RowText(None, None, fields.fault.value, fields.detail), None
        row = dict(zip(file.columns, fields, strict=True))
        name = None if self.name is None else to_json(id_as_json(row[self.name]))
        value = with_line_end(record.raw, file.header).decode().removesuffix("\n")
        return *RowText(row[self.field], name), value


def _checked(name: str, every: Iterator[Record]) -> Iterator[Record]:
    """The records of a file. Raises InputError where the rest cannot be unpacked."""
    for record in every:
        lost = record.fields
        if isinstance(lost, RowError) and lost.fault in {Fault.CUT_SHORT, Fault.JUNK}:
            raise InputError(f"{name!r}: {lost.fault.value.removeprefix('file ')} ({lost.detail})")
        yield record


def _batch(rows: list[tuple[object, ...]]) -> pa.RecordBatch:
    columns = zip(*rows, strict=True) if rows else ((),) * len(_RECORD)
    return pa.RecordBatch.from_pydict(dict(zip(_RECORD.names, columns, strict=True)), _RECORD)
