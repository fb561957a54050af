"""Whole files of CSV in, their records out, as the local engine cuts them.

Where a record ends only parsing from the beginning tells, so a file is the work of one task.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa

from simdup.corpus.flaws import Fault, RowError
from simdup.corpus.formats.csv import ROWS, header_of, records, with_line_end
from simdup.corpus.formats.open import form_of
from simdup.corpus.formats.streams import BLOCK, lines_of, unpacked
from simdup.errors import InputError
from simdup.report.json_csv import to_json
from simdup.report.rows import id_as_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from simdup.corpus.formats.csv import Record
    from simdup.spark.arrow import Batches

#: A row for each file: where it is, its rows, and its header.
COUNTS = (
    "split_path string, split_block long, first long, count long,"
    " columns array<string>, header string"
)

#: A row for each record: where it stands, what readers take, and the record as it is written.
RECORDS = (
    "split_path string, split_block long, split_at long, position long,"
    " text string, called string, fault string, detail string, value string"
)


class _File(NamedTuple):
    called: str
    columns: tuple[str, ...]
    header: bytes
    records: Iterator[Record]


@dataclass(frozen=True, slots=True)
class CsvFiles:
    """What is wanted of files, `path` and `content`. Its methods are tasks."""

    field: str
    name: str | None
    called: Callable[[str], str]
    """What a file is called in messages, by the path that Spark gives."""

    def counted(self, batches: Batches) -> Batches:
        """COUNTS. Raises InputError for a file without a column that is wanted."""
        for path, file in self._files(batches):
            columns = {
                "split_path": [path],
                "split_block": [0],
                "first": [0],
                "count": [sum(1 for _ in self._whole(file))],
                "columns": [list(file.columns)],
                "header": [file.header.decode().removesuffix("\n")],
            }
            yield pa.RecordBatch.from_pydict(columns)

    def recorded(self, batches: Batches) -> Batches:
        """RECORDS."""
        for path, file in self._files(batches):
            rows, size = list[tuple[object, ...]](), 0
            for number, record in enumerate(self._whole(file)):
                rows.append((path, 0, number, *self._row(file, record)))
                size += len(record.raw)
                if size > BLOCK or len(rows) == ROWS:
                    yield _batch(rows)
                    rows, size = [], 0
            yield _batch(rows)

    def _files(self, batches: Batches) -> Iterator[tuple[str, _File]]:
        for each in batches:
            for path, content in zip(each.column("path"), each.column("content"), strict=True):
                called = self.called(path.as_py())
                blocks = unpacked(pa.BufferReader(content.as_buffer()), form_of(called)[1])
                every = records(lines_of(blocks))
                columns, header = header_of(called, every, self.field, self.name)
                yield path.as_py(), _File(called, columns, header, every)

    def _whole(self, file: _File) -> Iterator[Record]:
        """The records. Raises InputError where the rest cannot be unpacked."""
        for record in file.records:
            lost = record.fields
            if isinstance(lost, RowError) and lost.fault in {Fault.CUT_SHORT, Fault.JUNK}:
                raise InputError(
                    f"{file.called!r}: {lost.fault.value.removeprefix('file ')} ({lost.detail})"
                )
            yield record

    def _row(self, file: _File, record: Record) -> tuple[object, ...]:
        """RECORDS without the place."""
        fields = record.fields
        if isinstance(fields, RowError):
            return record.number, None, None, fields.fault.value, fields.detail, None
        name = None if self.name is None else fields[file.columns.index(self.name)]
        called = None if self.name is None else to_json(id_as_json(name))
        value = with_line_end(record.raw, file.header).decode().removesuffix("\n")
        text = fields[file.columns.index(self.field)]
        return record.number, text, called, None, None, value


_SCHEMA = pa.schema(
    [
        ("split_path", pa.string()),
        *((name, pa.int64()) for name in ("split_block", "split_at", "position")),
        *((name, pa.string()) for name in ("text", "called", "fault", "detail", "value")),
    ]
)


def _batch(rows: list[tuple[object, ...]]) -> pa.RecordBatch:
    columns = zip(*rows, strict=True) if rows else ((),) * len(_SCHEMA)
    return pa.RecordBatch.from_pydict(dict(zip(_SCHEMA.names, columns, strict=True)), _SCHEMA)
