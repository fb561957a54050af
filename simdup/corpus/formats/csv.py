"""CSV as in RFC 4180, in UTF-8, with a header: each record is a row, some columns are the text.

TSV is the same with tabs in place of commas.

Records may span several lines; empty lines are not rows. Where quotes are wrong only the first
line is refused, so that a stray quote does not take other rows with it.
"""

from __future__ import annotations

import csv
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import IO, ClassVar

from simdup.corpus.flaws import Fault, Flaw, RowError
from simdup.corpus.formats.streams import BLOCK, LONGEST_ROW, Lines, Packed, lines_of
from simdup.corpus.formats.table import Chunk, Record, TextTable, check_columns, with_line_end
from simdup.errors import InputError
from simdup.text.chunking import batched
from simdup.text.fields import joined

# The most rows that are handed on together.
ROWS = 4096

# Messages of the module `csv`, by their beginning, in words that need no knowledge of Python.
_WORDS = {
    "unexpected end of data": "a quote is never closed",
    "field larger than field limit": f"a quote is not closed within {LONGEST_ROW >> 20} MB",
    "new-line character seen": r"a \r within a line; lines end in \n or \r\n",
}


class _Feed:
    """Feeds lines to `csv.reader`, and knows where the record being read begins."""

    def __init__(self, lines: Iterable[Lines | Flaw]) -> None:
        self.lines = _single(lines)
        self.returned = deque[tuple[bytes | Flaw, int, int]]()
        self.taken: list[bytes] = []
        self.number = self.offset = 0
        self.is_utf8 = True

    def begin_record(self) -> None:
        """Forget the previous record."""
        self.taken, self.is_utf8 = [], True

    def return_all_but_first(self) -> None:
        """End the record with its first line; the other lines will be read again."""
        first, *others = self.taken
        lines = Lines(b"".join(others), self.number + 1, self.offset + len(first))
        self.returned.extendleft(reversed(list(_single([lines]))))
        self.taken = [first]

    def __iter__(self) -> _Feed:
        return self

    def __next__(self) -> str:
        line, number, offset = self.returned.popleft() if self.returned else next(self.lines)
        if not self.taken:
            self.number, self.offset = number, offset
        if isinstance(line, Flaw):
            raise RowError(line.fault, line.detail)
        self.taken.append(line)
        try:
            return line.decode("utf-8")
        except UnicodeDecodeError:
            self.is_utf8 = False
            return line.decode("utf-8", "surrogateescape")


def _single(lines: Iterable[Lines | Flaw]) -> Iterator[tuple[bytes | Flaw, int, int]]:
    """Yield each line (its line end included) or flaw, its number and its offset."""
    for each in lines:
        if isinstance(each, Flaw):
            yield each, each.row, 0
            continue
        end = each.offset
        *whole, last = each.data.split(b"\n")
        every = [line + b"\n" for line in whole] + ([last] if last else [])
        for number, line in enumerate(every, each.number):
            begin, end = end, end + len(line)
            yield line, number, begin


def records(lines: Iterable[Lines | Flaw], delimiter: str = ",") -> Iterator[Record]:
    """Yield the records of a file, the header first; empty lines are passed over."""
    feed = _Feed(lines)
    reader = csv.reader(feed, strict=True, delimiter=delimiter)
    columns = 0
    while (found := _next_record(reader, feed)) is not None:
        if isinstance(found, list) and found:
            columns = columns or len(found)
            found = _fault_of(found, columns, feed) or found
        if found:
            yield Record(feed.number, feed.offset, found, b"".join(feed.taken))


def _next_record(reader: Iterator[list[str]], feed: _Feed) -> list[str] | RowError | None:
    """The fields of the next record, or why it cannot be read; None at the end."""
    feed.begin_record()
    before = csv.field_size_limit(LONGEST_ROW)  # for the whole process, so it is put back
    try:
        return next(reader, None)
    except RowError as error:
        return error
    except csv.Error as error:
        return RowError(Fault.BROKEN, _explained(str(error), feed))
    finally:
        csv.field_size_limit(before)


def _fault_of(fields: list[str], columns: int, feed: _Feed) -> RowError | None:
    """Why a record that was read is refused, if it is."""
    if not feed.is_utf8:
        return RowError(Fault.NOT_UTF8, _with_last_line("", feed))
    if len(fields) != columns:
        detail = _with_last_line(f"{len(fields)} instead of {columns}", feed)
        return RowError(Fault.COLUMNS, detail)
    return None


def _explained(error: str, feed: _Feed) -> str:
    """Explain an error of `csv`; return all lines of the record but the first to the feed."""
    words = next((own for begin, own in _WORDS.items() if error.startswith(begin)), error)
    if len(feed.taken) < 2:
        return words
    last = feed.number + len(feed.taken) - 1
    feed.return_all_but_first()
    return f"{words} on line {last}" if words is error else words


def _with_last_line(detail: str, feed: _Feed) -> str:
    """The detail, and the number of the last line if the record has several."""
    if len(feed.taken) < 2:
        return detail
    last = f"to line {feed.number + len(feed.taken) - 1}"
    return f"{detail}, {last}" if detail else last


@dataclass(frozen=True, slots=True)
class CommaSeparated(TextTable):
    """A CSV file."""

    form: ClassVar[str] = "csv"
    delimiter: ClassVar[str] = ","

    @classmethod
    def opened(cls, file: Packed, fields: tuple[str, ...], wanted: str | None) -> CommaSeparated:
        """Return the table of a file. Raises InputError as `header_of` does."""
        every = records(lines_of(file.blocks()), cls.delimiter)
        columns, header = header_of(file.path, every, fields, wanted)
        return cls(file, fields, columns, header)

    def chunks(self) -> Iterator[Chunk]:
        """Yield all rows, parsed, since only parsing tells where a record ends."""
        batches = batched(self.records(), lambda each: len(each.raw), BLOCK, ROWS)
        return map(self.parsed, batches)

    def records(self) -> Iterator[Record]:
        """Yield all records but the header."""
        return islice(records(lines_of(self.file.blocks()), self.delimiter), 1, None)

    def record_at(self, file: IO[bytes]) -> Record:
        """Return the record that begins at the present place of the open file."""
        lines = (Lines(line, 0, 0) for line in iter(file.readline, b""))
        return next(records(lines, self.delimiter))

    def row(self, record: Record) -> list[str]:
        """Return the fields of a record. Raises the RowError that it has."""
        if isinstance(record.fields, RowError):
            raise record.fields
        if len(record.fields) != len(self.columns):
            raise RowError(Fault.COLUMNS)
        return record.fields

    def text(self, row: list[str]) -> str:
        """Return the text of a record."""
        return joined([self.value(row, field) for field in self.fields])

    def value(self, row: list[str], field: str) -> str:
        """Return a field of a record."""
        return row[self.columns.index(field)]


@dataclass(frozen=True, slots=True)
class TabSeparated(CommaSeparated):
    """A file like CSV, with tabs in place of commas."""

    form: ClassVar[str] = "tsv"
    delimiter: ClassVar[str] = "\t"


def header_of(
    path: str, every: Iterator[Record], texts: Sequence[str], id_field: str | None
) -> tuple[tuple[str, ...], bytes]:
    """The columns of a file, and the bytes of its header: the first record, which names them.

    Raises InputError if a column for texts or ids is not among them.
    """
    first = next(every, None)
    if first is None:
        raise InputError(f"{path!r}: no header of columns (there is nothing in it)")
    if isinstance(first.fields, RowError):
        why = first.fields.detail or first.fields.fault.value
        raise InputError(f"{path!r}: no header of columns ({why})")
    check_columns(path, first.fields, texts, id_field)
    return tuple(first.fields), with_line_end(first.raw, b"")
