"""Tables of rows, read a chunk at a time: the base of all formats."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import IO, Any, ClassVar, NamedTuple, Protocol

from simdup.arrays import Indices
from simdup.corpus.flaws import Flaw, RowError
from simdup.corpus.formats.streams import BLOCK, Packed, changed, pack
from simdup.errors import InputError
from simdup.text.chunking import batched

#: The value of a field that a row does not have; the value of null is None.
LACKING = object()

# A guess: how many times larger a packed file, or one of Parquet, becomes when it is unpacked.
UNPACKED = 4

# How many field names a message lists, and how many characters of each.
MOST_NAMES, LONGEST_NAME = 10, 60


@dataclass(slots=True)
class Parsed:
    """The texts of some consecutive rows of a file, and the rows that have none.

    numbers: The number of each text's row, as in `ComparedRows`.
    ids: Where `TextTable.parsed` was asked for them, the id of each text's row, or LACKING.
    """

    texts: list[str] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    offsets: list[int] = field(default_factory=list)
    flaws: list[Flaw] = field(default_factory=list)
    ids: list[Any] = field(default_factory=list)

    def add(self, text: str, number: int, offset: int) -> None:
        """Append a row with a text."""
        self.texts.append(text)
        self.numbers.append(number)
        self.offsets.append(offset)

    def parsed(self) -> Parsed:
        """Return itself: nothing is left to parse."""
        return self


class Chunk(Protocol):
    """Some rows on their way to a worker, which parses them."""

    def parsed(self) -> Parsed:
        """Return the texts of these rows."""


@dataclass(frozen=True, slots=True)
class Table(ABC):
    """A file of rows, which may be read several times.

    Every method that reads raises InputError if the file has changed.

    fields: The fields that have the texts; `text.fields.joined` makes one text of several.
    columns: Rows of two tables go into one file only if these are equal: None for JSON Lines, the
        names of columns for CSV, an Arrow schema for Parquet.
    form: "jsonl", "csv", "tsv" or "parquet".
    """

    file: Packed
    fields: tuple[str, ...]
    columns: Any

    form: ClassVar[str]

    @property
    def path(self) -> str:
        """Where the file is."""
        return self.file.path

    @property
    def is_seekable(self) -> bool:
        """Whether a row can be read again from its offset; otherwise the file is read through."""
        return not self.file.packing

    @property
    def size(self) -> int:
        """About how many bytes the file has, unpacked."""
        return self.file.status.size * (1 if self.is_seekable else UNPACKED)

    @abstractmethod
    def chunks(self) -> Iterator[Chunk]:
        """Yield all rows, in order."""

    @abstractmethod
    def values(self, field: str | None, numbers: Indices, offsets: Indices) -> Iterator[Any]:
        """Yield a field of these rows (ascending), LACKING where a row does not have it.

        With `field` None, yield their texts.
        """

    @abstractmethod
    def kept(self, left_out: Indices) -> Iterator[tuple[Any, int]]:
        """Yield all rows except these (by number) in batches, each with its number of rows.

        In a text file, a batch is the very bytes of its rows; in Parquet it is a record batch.
        """

    @abstractmethod
    def written(self, batches: Iterable[Any], packing: str) -> Iterator[bytes]:
        """Yield the content of a file that has these batches, as `kept` yields them."""


class Record(NamedTuple):
    """A row of a text file, still to be parsed unless parsing tells where it ends.

    fields: The fields, or the error that the row has; none if the row is still to be parsed.
    """

    number: int
    offset: int
    fields: list[str] | RowError
    raw: bytes


@dataclass(frozen=True, slots=True)
class TextTable(Table):
    """A text file of rows: its rows can be found by lines, and written again byte for byte.

    header: The bytes before the first row: the header of CSV.
    """

    header: bytes = b""

    @abstractmethod
    def records(self) -> Iterator[Record]:
        """Yield all rows."""

    @abstractmethod
    def record_at(self, file: IO[bytes]) -> Record:
        """Return the row that begins at the present place of the open file."""

    @abstractmethod
    def row(self, record: Record) -> Any:  # noqa: ANN401
        """Return the row, parsed. Raises RowError if it is broken."""

    @abstractmethod
    def text(self, row: Any) -> str:  # noqa: ANN401
        """Return the text of a parsed row. Raises RowError if it has none."""

    @abstractmethod
    def value(self, row: Any, field: str) -> Any:  # noqa: ANN401
        """Return a field of a parsed row, or LACKING."""

    def parsed(self, records: Iterable[Record], id_field: str | None = None) -> Parsed:
        """Return the texts of these rows, and their ids if a field of ids is given."""
        parsed = Parsed()
        for record in records:
            try:
                row = self.row(record)
                parsed.add(self.text(row), record.number, record.offset)
                if id_field is not None:
                    parsed.ids.append(self.value(row, id_field))
            except RowError as error:
                parsed.flaws.append(error.at(record.number))
        return parsed

    def values(self, field: str | None, numbers: Indices, offsets: Indices) -> Iterator[Any]:
        """Yield a field of these rows, or their texts.

        A packed file is unpacked up to the last of these rows.
        """
        for record in self._at(offsets) if self.is_seekable else self._numbered(numbers):
            try:
                row = self.row(record)
                yield self.text(row) if field is None else self.value(row, field)
            except RowError:
                raise changed(self.path) from None

    def _at(self, offsets: Indices) -> Iterator[Record]:
        with self.file.open() as file:
            for offset in offsets.tolist():
                file.seek(offset)
                yield self.record_at(file)

    def _numbered(self, numbers: Indices) -> Iterator[Record]:
        left = deque(numbers.tolist())
        for record in self.records() if left else ():
            if record.number == left[0]:
                yield record
                left.popleft()
                if not left:
                    return
        if left:
            raise changed(self.path)

    def kept(self, left_out: Indices) -> Iterator[tuple[bytes, int]]:
        """Yield the bytes of all rows except these (by number)."""
        gone = set(left_out.tolist())
        stay = (each for each in self.records() if each.raw and each.number not in gone)
        lines = (with_line_end(each.raw, self.header) for each in stay)
        for batch in batched(lines, len, BLOCK, BLOCK):
            yield b"".join(batch), len(batch)

    def written(self, batches: Iterable[bytes], packing: str) -> Iterator[bytes]:
        """Yield the content of a file that has these batches, as `kept` yields them."""
        return pack(filter(None, chain((self.header,), batches)), packing)


def with_line_end(raw: bytes, header: bytes) -> bytes:
    """A row with its own line end, or with the header's where it lacks one."""
    if raw.endswith(b"\n"):
        return raw
    return raw + (b"\r\n" if header.endswith(b"\r\n") else b"\n")


def check_columns(
    path: str, columns: Sequence[str], texts: Iterable[str], id_field: str | None
) -> None:
    """Raise InputError unless each field of texts or ids belongs to exactly one column."""
    for name, option in named_by(texts, id_field).items():
        if columns.count(name) != 1:
            what = "no" if name not in columns else "more than one"
            raise InputError(f"{path!r}: {what} column {name!r}; {other_fields(columns, option)}")


def named_by(texts: Iterable[str], id_field: str | None) -> dict[str, str]:
    """The option that names each field."""
    named = {} if id_field is None else {id_field: "--id-field"}
    return named | dict.fromkeys(texts, "--text-field")


def other_fields(names: Sequence[str], option: str) -> str:
    """The end of a message about a missing field: which fields there are."""
    return f"{listed_fields(names)}; {option} names another"


def listed_fields(names: Sequence[str]) -> str:
    """The fields that a file or row has, as messages list them.

    >>> listed_fields(["id", "body"])
    'there are: body, id'
    """
    shown = ", ".join(map(_shortened, sorted(map(str, names))[:MOST_NAMES])) or "none"
    return f"there are: {shown}" + (", ..." if len(names) > MOST_NAMES else "")


def _shortened(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]}..."
