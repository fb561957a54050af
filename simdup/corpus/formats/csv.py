"""CSV as RFC 4180 has it, in UTF-8, with a header: a record a row, one column the text.

Records may go over several lines. Lines without anything on them are no rows. Where quotes are
wrong only the first line is refused, so that a stray one does not take other rows with it.
"""

from __future__ import annotations

import csv
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from simdup.corpus.formats.base import Parsed, RowError, names
from simdup.corpus.formats.streams import BLOCK, LONGEST_ROW, Lines, Streamed, changed, lines_of
from simdup.corpus.records import Fault, Flaw
from simdup.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import numpy as np
    from numpy.typing import NDArray

    from simdup.corpus.formats.base import Chunk
    from simdup.corpus.formats.streams import Packed

    Indices = NDArray[np.int64]

# Rows that are handed on together at most.
ROWS = 4096


# What `csv` says, by its beginning, in words that need no knowledge of Python.
_WORDS = {
    "unexpected end of data": "a quote is never closed",
    "field larger than field limit": f"a quote is not closed within {LONGEST_ROW >> 20} MB",
    "new-line character seen": r"a \r within a line; lines end in \n or \r\n",
}


class Record(NamedTuple):
    """A row, or what stands where one should."""

    number: int
    offset: int
    fields: list[str] | RowError
    raw: bytes


class _Feed:
    """Lines for `csv.reader`, and where the record that it reads begins."""

    def __init__(self, lines: Iterable[Lines | Flaw]) -> None:
        self.lines = _single(lines)
        self.again = deque[tuple[bytes | Flaw, int, int]]()
        self.taken: list[bytes] = []
        self.number = self.offset = 0
        self.is_broken = False

    def begin(self) -> None:
        """Forget the previous record."""
        self.taken, self.is_broken = [], False

    def refuse_first(self) -> None:
        """End the record with its first line; the others are read again."""
        first, *others = self.taken
        again = Lines(b"".join(others), self.number + 1, self.offset + len(first))
        self.again.extendleft(reversed(list(_single([again]))))
        self.taken = [first]

    def __iter__(self) -> _Feed:
        return self

    def __next__(self) -> str:
        line, number, offset = self.again.popleft() if self.again else next(self.lines)
        if not self.taken:
            self.number, self.offset = number, offset
        if isinstance(line, Flaw):
            raise RowError(line.fault, line.detail)
        self.taken.append(line)
        try:
            return line.decode("utf-8")
        except UnicodeDecodeError:
            self.is_broken = True
            return line.decode("utf-8", "surrogateescape")


def _single(lines: Iterable[Lines | Flaw]) -> Iterator[tuple[bytes | Flaw, int, int]]:
    """Each line with its end, its number and where it begins."""
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


def records(lines: Iterable[Lines | Flaw]) -> Iterator[Record]:
    """The records of a file, the header first; without empty lines."""
    feed = _Feed(lines)
    reader = csv.reader(feed, strict=True)
    columns = 0
    while True:
        feed.begin()
        found: list[str] | RowError
        try:
            found = _next(reader)
        except StopIteration:
            return
        except RowError as error:
            found = error
        except csv.Error as error:
            found = RowError(Fault.BROKEN, _broken(str(error), feed))
        if not found:
            continue
        columns = columns or len(found) if isinstance(found, list) else columns
        if isinstance(found, list) and feed.is_broken:
            found = RowError(Fault.NOT_UTF8, _lines("", feed))
        elif isinstance(found, list) and len(found) != columns:
            found = RowError(Fault.COLUMNS, _lines(f"{len(found)} instead of {columns}", feed))
        yield Record(feed.number, feed.offset, found, b"".join(feed.taken))


def _next(reader: Iterator[list[str]]) -> list[str]:
    """The next record; the limit of a field is the whole process's, so it is put back."""
    before = csv.field_size_limit(LONGEST_ROW)
    try:
        return next(reader)
    finally:
        csv.field_size_limit(before)


def _broken(error: str, feed: _Feed) -> str:
    """What is wrong; the lines that the record took besides its first are free again."""
    words = next((own for begin, own in _WORDS.items() if error.startswith(begin)), error)
    if len(feed.taken) < 2:
        return words
    last = feed.number + len(feed.taken) - 1
    feed.refuse_first()
    return f"{words} on line {last}" if words is error else words


def _lines(detail: str, feed: _Feed) -> str:
    """The detail, and how far a record goes that has several lines."""
    if len(feed.taken) < 2:
        return detail
    last = f"to line {feed.number + len(feed.taken) - 1}"
    return f"{detail}, {last}" if detail else last


@dataclass(frozen=True, slots=True)
class CommaSeparated(Streamed):
    """A CSV file."""

    columns: tuple[str, ...]
    header: bytes

    form: ClassVar[str] = "csv"

    def chunks(self) -> Iterator[Chunk]:
        """All rows, parsed: where a record ends, only parsing tells."""
        column, parsed, size = self.columns.index(self.field), Parsed(), 0
        for number, offset, fields, raw in self._rows():
            if isinstance(fields, RowError):
                parsed.flaws.append(fields.at(number))
            else:
                parsed.add(fields[column], number, offset)
            size += len(raw)
            if size > BLOCK or len(parsed.texts) + len(parsed.flaws) == ROWS:
                yield parsed
                parsed, size = Parsed(), 0
        yield parsed

    def _rows(self) -> Iterator[Record]:
        every = records(lines_of(self.file.blocks()))
        next(every)
        return every

    def values(self, field: str, numbers: Indices, offsets: Indices) -> Iterator[str]:
        """A column of some rows, as `corpora.Table`.

        Where the file is packed, it is read again up to the last of them.
        """
        column = self.columns.index(field)
        found = self._at(offsets) if self.file.is_seekable else self._numbered(numbers)
        for fields in found:
            if isinstance(fields, RowError) or len(fields) != len(self.columns):
                raise changed(self.path)
            yield fields[column]

    def _at(self, offsets: Indices) -> Iterator[list[str] | RowError]:
        with self.file.open() as file:
            for offset in offsets.tolist():
                file.seek(offset)
                lines = (Lines(line, 0, 0) for line in iter(file.readline, b""))
                yield next(records(lines)).fields

    def _numbered(self, numbers: Indices) -> Iterator[list[str] | RowError]:
        wanted = iter(numbers.tolist())
        asked = next(wanted, None)
        for record in self._rows() if asked is not None else ():
            if record.number == asked:
                yield record.fields
                asked = next(wanted, None)
                if asked is None:
                    return
        if asked is not None:
            raise changed(self.path)

    def head(self) -> bytes:
        """The header."""
        return self.header

    def kept(self, left_out: Indices) -> Iterator[tuple[bytes, int]]:
        """The records of all rows but some, as `corpora.Table`; the last line gets its end."""
        waiting = iter(left_out.tolist())
        goes, parts, size = next(waiting, None), list[bytes](), 0
        for record in self._rows():
            if goes is not None and record.number >= goes:
                goes = next(waiting, None)
            elif record.raw:
                parts.append(ended(record.raw, self.header))
                size += len(record.raw)
            if size > BLOCK:
                yield b"".join(parts), len(parts)
                parts, size = [], 0
        if parts:
            yield b"".join(parts), len(parts)


def ended(raw: bytes, header: bytes) -> bytes:
    """A record with the line end that it has, or that of the header."""
    if raw.endswith(b"\n"):
        return raw
    return raw + (b"\r\n" if header.endswith(b"\r\n") else b"\n")


def comma_separated(file: Packed, field: str, wanted: str | None) -> CommaSeparated:
    """The table of a file. Raises InputError as `header_of`."""
    columns, header = header_of(file.path, records(lines_of(file.blocks())), field, wanted)
    return CommaSeparated(file, field, columns, header)


def header_of(
    path: str, every: Iterator[Record], field: str, wanted: str | None
) -> tuple[tuple[str, ...], bytes]:
    """The columns of a file, and the bytes that name them: its first record.

    Raises InputError if the text's column is not among them, or a wanted one.
    """
    first = next(every, None)
    if first is None:
        raise InputError(f"{path!r}: no header of columns (there is nothing in it)")
    if isinstance(first.fields, RowError):
        why = first.fields.detail or first.fields.fault.value
        raise InputError(f"{path!r}: no header of columns ({why})")
    for name in (field, wanted):
        if name is not None and first.fields.count(name) != 1:
            what = "no" if name not in first.fields else "more than one"
            raise InputError(f"{path!r}: {what} column {name!r}; {names(first.fields)}")
    return tuple(first.fields), ended(first.raw, b"")
