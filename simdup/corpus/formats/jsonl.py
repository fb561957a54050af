"""JSON Lines: each line is an object, and some of its fields are the text.

Lines with nothing but white space are not rows.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from json import JSONDecodeError, JSONDecoder
from typing import Any, ClassVar, NamedTuple

import numpy as np

from simdup.arrays import Indices
from simdup.corpus.flaws import Fault, RowError
from simdup.corpus.formats.streams import Lines, Packed, changed, lines_of
from simdup.corpus.formats.table import LACKING, Chunk, Parsed, Table, left_in, listed_fields
from simdup.errors import InputError
from simdup.extract.packed import CutShortError
from simdup.text.fields import joined

# What messages call the JSON types.
_KINDS = {bool: "a boolean", int: "a number", float: "a number", list: "a list", dict: "an object"}

# What may stand before the first row: a byte-order mark and white space.
_BLANK = b"\xef\xbb\xbf \t\r\n"

_decoder = JSONDecoder()


class JsonChunk(NamedTuple):
    """Some lines, still to be parsed."""

    lines: Lines
    fields: tuple[str, ...]
    kept_id: str | None = None

    def parsed(self) -> Parsed:
        """Return the texts on these lines."""
        parsed, end = Parsed(), self.lines.offset
        for number, line in enumerate(self.lines.data.split(b"\n"), self.lines.number):
            begin, end = end, end + len(line) + 1
            try:
                if not _is_blank(line):
                    row = row_in(line)
                    parsed.add(text_of(row, self.fields), number, begin)
                    if self.kept_id is not None:
                        value = value_of(row, self.kept_id)
                        parsed.ids.append([] if value is LACKING else [value])
            except RowError as error:
                parsed.flaws.append(error.at(number))
        return parsed


def _is_blank(line: bytes) -> bool:
    return not line or line.isspace()


def text_of(row: dict[str, Any], fields: tuple[str, ...]) -> str:
    """The text of a parsed row: the fields that it has. Raises RowError if it has none."""
    if len(fields) == 1 and isinstance(text := row.get(fields[0]), str):  # nearly every row
        return text
    found = [value_of(row, field) for field in fields]
    if found.count(LACKING) == len(found):
        raise RowError(Fault.NO_FIELD, listed_fields(list(row)))
    for name, value in zip(fields, found, strict=True):
        if kind := _KINDS.get(type(value)):
            raise RowError(Fault.NO_STRING, kind if len(fields) == 1 else f"{name} is {kind}")
    if not any(isinstance(each, str) for each in found):
        raise RowError(Fault.EMPTY, "null")
    return joined([each if isinstance(each, str) else "" for each in found])


def value_of(row: dict[str, Any], field: str) -> Any:  # noqa: ANN401
    """A field of a row, or LACKING; "a.b" is also the field "b" of the object "a".

    >>> value_of({"a": {"b": 1}}, "a.b"), value_of({"a.b": 2, "a": {"b": 1}}, "a.b")
    (1, 2)
    """
    if field in row:
        return row[field]
    value: Any = row
    for name in field.split("."):
        if not isinstance(value, dict) or name not in value:
            return LACKING
        value = value[name]
    return value


def row_in(line: bytes) -> dict[str, Any]:
    """The object on a line. Raises RowError."""
    try:
        row = _decoded(line.decode("utf-8"))
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
        raise RowError(Fault.BROKEN, f"{_KINDS.get(type(row), 'a string or null')}, not an object")
    return row


def _decoded(line: str) -> Any:  # noqa: ANN401
    """The value on a line; `decode` would look for white space around it, which takes longer."""
    try:
        value, end = _decoder.raw_decode(line)
    except JSONDecodeError:
        end = -1
    return value if end == len(line) else _decoder.decode(line)


@dataclass(frozen=True, slots=True)
class JsonLines(Table):
    """A file of JSON Lines."""

    form: ClassVar[str] = "jsonl"

    def chunks(self) -> Iterator[Chunk]:
        """Yield all lines, still to be parsed."""
        for each in lines_of(self.file.blocks()):
            if isinstance(each, Lines):
                yield JsonChunk(each, self.fields, self.kept_id)
            else:
                yield Parsed(flaws=[each])

    def values(self, field: str | None, numbers: Indices, offsets: Indices) -> Iterator[Any]:
        """Yield a field of these rows, or their texts.

        A packed file is unpacked up to the last of these rows.
        """
        lines = self._at(offsets) if self.is_seekable else self._numbered(numbers)
        for line in lines:
            try:
                row = row_in(line)
                yield text_of(row, self.fields) if field is None else value_of(row, field)
            except RowError:
                raise changed(self.path) from None

    def _at(self, offsets: Indices) -> Iterator[bytes]:
        with self.file.open() as file:
            for offset in offsets.tolist():
                file.seek(offset)
                yield file.readline()

    def _numbered(self, numbers: Indices) -> Iterator[bytes]:
        found = 0
        for each in lines_of(self.file.blocks()):
            if found == len(numbers):
                return
            if isinstance(each, Lines):
                lines = each.data.split(b"\n")
                end = int(np.searchsorted(numbers, each.number + each.count))
                yield from (lines[n - each.number] for n in numbers[found:end].tolist())
                found = end
        if found < len(numbers):
            raise changed(self.path)

    def kept(self, left_out: Indices) -> Iterator[tuple[bytes, int]]:
        """Yield the lines of all rows but those with these numbers."""
        for each in lines_of(self.file.blocks()):
            if isinstance(each, Lines):
                lines = each.data.split(b"\n")
                stays = left_in(np.arange(each.number, each.number + len(lines)), left_out)
                pairs = zip(lines, stays.tolist(), strict=True)
                kept = [line for line, is_kept in pairs if is_kept and not _is_blank(line)]
                if kept:
                    yield b"\n".join([*kept, b""]), len(kept)


def json_lines(file: Packed, fields: tuple[str, ...], wanted: str | None) -> JsonLines:
    """The table of a JSON Lines file.

    Raises InputError for a JSON array, and if there are rows but none has the field `wanted`, or
    one of several `fields`.
    """
    if _is_array(file):
        raise InputError(f"{file.path!r}: a JSON array, not JSON Lines; jq -c '.[]' makes them")
    # A row may lack some of several fields, but a field that all rows lack is a mistake.
    for name in (*(fields if len(fields) > 1 else ()), wanted):
        if name is not None:
            _check_that_some_row_has(name, file)
    return JsonLines(file, fields, None, wanted if file.packing else None)


def _is_array(file: Packed) -> bool:
    """Whether the file is one JSON array.

    If so, "[" begins its only line, or a first line that is no JSON by itself.
    """
    with suppress(CutShortError), closing(file.blocks()) as blocks:
        begins = (block.lstrip(_BLANK) for block in blocks)
        if not next(filter(None, begins), b"").startswith(b"["):
            return False
    with closing(_lines(file)) as lines:
        first, second = next(lines, b""), next(lines, None)
    return second is None or not _is_json(first)


def _is_json(line: bytes) -> bool:
    try:
        _decoded(line.decode("utf-8"))
    except (ValueError, RecursionError):
        return False
    return True


def _check_that_some_row_has(wanted: str, file: Packed) -> None:
    """Read up to the first row that has the field. Raises InputError if none does."""
    first: list[str] | None = None
    with closing(_lines(file)) as lines:
        for line in lines:
            with suppress(RowError):
                row = row_in(line)
                if value_of(row, wanted) is not LACKING:
                    return
                first = list(row) if first is None else first
    if first is not None:
        raise InputError(f"{file.path!r}: no row has a field {wanted!r}; {listed_fields(first)}")


def _lines(file: Packed) -> Generator[bytes]:
    """Yield the lines that are neither blank nor too long."""
    for each in lines_of(file.blocks()):
        if isinstance(each, Lines):
            yield from (line for line in each.data.split(b"\n") if not _is_blank(line))
