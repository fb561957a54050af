"""JSON Lines: each line is an object, and some of its fields are the text.

Lines with nothing but white space are not rows.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from json import JSONDecodeError, JSONDecoder
from typing import IO, Any, ClassVar, NamedTuple

from simdup.corpus.flaws import Fault, RowError
from simdup.corpus.formats.streams import Lines, Packed, lines_of
from simdup.corpus.formats.table import (
    LACKING,
    Chunk,
    Parsed,
    Record,
    TextTable,
    listed_fields,
    named_by,
    other_fields,
)
from simdup.errors import InputError
from simdup.extract.packed import CutShortError
from simdup.text.fields import joined

# The JSON types, as messages call them.
_KINDS = {bool: "a boolean", int: "a number", float: "a number", list: "a list", dict: "an object"}

# Bytes that may stand before the first row: a byte-order mark and white space.
_BLANK = b"\xef\xbb\xbf \t\r\n"

_decoder = JSONDecoder()


class JsonChunk(NamedTuple):
    """Some lines of a table, still to be parsed."""

    table: JsonLines
    lines: Lines

    def parsed(self) -> Parsed:
        """Return the texts on these lines."""
        return self.table.parsed(_records(self.lines))

    def __reduce__(self) -> tuple[Any, ...]:
        """Let a worker read the lines from the file, which is faster than to send them."""
        lines = self.lines
        if not self.table.is_seekable:
            return JsonChunk, (self.table, lines)
        return _read_again, (self.table, lines.number, lines.offset, len(lines.data))


def _read_again(table: JsonLines, number: int, offset: int, size: int) -> JsonChunk:
    """Some lines of a table. Raises InputError if the file has changed."""
    with table.file.open() as file:
        file.seek(offset)
        return JsonChunk(table, Lines(file.read(size), number, offset))


def _records(lines: Lines) -> Iterator[Record]:
    """Yield the lines that are not blank, unparsed."""
    begin = lines.offset
    for number, line in enumerate(lines.data.split(b"\n"), lines.number):
        if line and not line.isspace():
            yield Record(number, begin, [], line)
        begin += len(line) + 1


@dataclass(frozen=True, slots=True)
class JsonLines(TextTable):
    """A file of JSON Lines."""

    form: ClassVar[str] = "jsonl"

    @classmethod
    def opened(cls, file: Packed, fields: tuple[str, ...], wanted: str | None) -> JsonLines:
        """Return the table of a file.

        Raises InputError for a JSON array, and if there are rows but none has the field `wanted`,
        or one of several `fields`.
        """
        table = cls(file, fields, None)
        if _is_array(table):
            raise InputError(f"{file.path!r}: a JSON array, not JSON Lines; jq -c '.[]' makes them")
        # A row may lack some of several fields, but a field that all rows lack is a mistake.
        for name, option in named_by(fields if len(fields) > 1 else (), wanted).items():
            _check_that_some_row_has(name, table, option)
        return table

    def chunks(self) -> Iterator[Chunk]:
        """Yield all lines, still to be parsed."""
        for each in lines_of(self.file.blocks()):
            if isinstance(each, Lines):
                yield JsonChunk(self, each)
            else:
                yield Parsed(flaws=[each])

    def records(self) -> Generator[Record]:
        """Yield the lines that are not blank, unparsed."""
        for each in lines_of(self.file.blocks()):
            if isinstance(each, Lines):
                yield from _records(each)

    def record_at(self, file: IO[bytes]) -> Record:
        """Return the line that begins at the present place of the open file."""
        return Record(0, 0, [], file.readline())

    def row(self, record: Record) -> dict[str, Any]:
        """Return the object on a line. Raises RowError."""
        try:
            row = _decoder.decode(record.raw.decode("utf-8"))
        except UnicodeDecodeError as error:
            raise RowError(Fault.NOT_UTF8, f"byte {error.start + 1}") from None
        except RecursionError:
            raise RowError(Fault.BROKEN, "nested too deeply") from None
        except JSONDecodeError as error:
            what = error.msg.removesuffix(" at").removesuffix(" starting")
            raise RowError(Fault.BROKEN, f"{what} at column {error.colno}") from None
        except ValueError:  # Python's limit, see sys.set_int_max_str_digits
            raise RowError(Fault.BROKEN, "a number of thousands of digits") from None
        if not isinstance(row, dict):
            kind = _KINDS.get(type(row), "a string or null")
            raise RowError(Fault.BROKEN, f"{kind}, not an object")
        return row

    def text(self, row: dict[str, Any]) -> str:
        """Return the text of an object: the fields that it has. Raises RowError if it has none."""
        fields = self.fields
        if len(fields) == 1 and isinstance(text := row.get(fields[0]), str):  # nearly all rows
            return text
        found = [self.value(row, field) for field in fields]
        if found.count(LACKING) == len(found):
            raise RowError(Fault.NO_FIELD, listed_fields(list(row)))
        for name, value in zip(fields, found, strict=True):
            if kind := _KINDS.get(type(value)):
                raise RowError(Fault.NO_STRING, kind if len(fields) == 1 else f"{name} is {kind}")
        if not any(isinstance(each, str) for each in found):
            raise RowError(Fault.EMPTY, "null")
        return joined([each if isinstance(each, str) else "" for each in found])

    @staticmethod
    def value(row: dict[str, Any], field: str) -> Any:  # noqa: ANN401
        """Return a field of an object, or LACKING; "a.b" is also the field "b" of the object "a".

        A field of this very name comes first.

        >>> JsonLines.value({"a": {"b": 1}}, "a.b")
        1
        >>> JsonLines.value({"a.b": 2, "a": {"b": 1}}, "a.b")
        2
        """
        if field in row:
            return row[field]
        value: Any = row
        for name in field.split("."):
            if not isinstance(value, dict) or name not in value:
                return LACKING
            value = value[name]
        return value


def _is_array(table: JsonLines) -> bool:
    """Whether the file is one JSON array.

    If so, "[" begins its only line, or a first line that no "]" ends.
    """
    with suppress(CutShortError), closing(table.file.blocks()) as blocks:
        begins = (block.lstrip(_BLANK) for block in blocks)
        if not next(filter(None, begins), b"").startswith(b"["):
            return False
    with closing(table.records()) as records:
        first, second = next(records, None), next(records, None)
    return first is None or second is None or not first.raw.rstrip().endswith(b"]")


def _check_that_some_row_has(wanted: str, table: JsonLines, option: str) -> None:
    """Read up to the first row that has the field. Raises InputError if none does."""
    first: list[str] | None = None
    with closing(table.records()) as records:
        for record in records:
            with suppress(RowError):
                row = table.row(record)
                if table.value(row, wanted) is not LACKING:
                    return
                first = list(row) if first is None else first
    if first is not None:
        there = other_fields(first, option)
        raise InputError(f"{table.path!r}: no row has a field {wanted!r}; {there}")
