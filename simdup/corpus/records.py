"""What passes between the stages of a corpus: frozen records, as in `records` for files.

A corpus is the rows of some files. What is known of many rows are arrays, by row in the
order of the files; there is no object a row.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from simdup.records import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from simdup.records import Candidates
    from simdup.settings import Settings

    Indices = NDArray[np.int64]

#: What a row has for a field that is not there, where null is None.
LACKING = object()

#: Which rows of a group are preferred.
KEEPS = ("first", "longest", "representative")


class Fault(Enum):
    """Why a row is not compared; the value is what reports print."""

    BROKEN = "broken row"
    NOT_UTF8 = "not UTF-8"
    NO_FIELD = "no text field"
    NO_STRING = "text is no string"
    COLUMNS = "wrong number of columns"
    TOO_LONG = "too long"
    CUT_SHORT = "file cut short"
    JUNK = "junk after its end"  # of what is packed
    UNREADABLE = "unreadable"
    EMPTY = "nothing to compare"  # null, or without a letter or digit
    DEGENERATE = "fingerprint all 0 or all 1"

    @property
    def is_refused(self) -> bool:
        """Whether the row is not what was asked for; else it is whole, and stays."""
        return self not in {Fault.EMPTY, Fault.DEGENERATE}


class Flaw(NamedTuple):
    """A row of a file that is not compared."""

    row: int
    """As `Rows.numbers`."""
    rows: int
    """How many from there on; what is lost at the end of a packed file counts as one."""
    fault: Fault
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Faulty:
    """A row that is not compared, and in which file."""

    path: str
    flaw: Flaw


class Table(Protocol):
    """A file of rows, which may be read several times."""

    @property
    def path(self) -> str:
        """Where the file is."""

    @property
    def field(self) -> str:
        """The field that has the texts."""

    @property
    def form(self) -> str:
        """What it is: "jsonl", "csv" or "parquet"."""

    def values(self, field: str, numbers: Indices, offsets: Indices) -> Iterator[Any]:
        """A field of some rows, these in rising order; LACKING where a row has none.

        Raises InputError when the file is not what it was.
        """

    @property
    def is_seekable(self) -> bool:
        """Whether rows are read again by their offset, and not by going through the file."""

    @property
    def columns(self) -> Any:  # noqa: ANN401  (a schema of an optional package)
        """What must be equal for the rows of two tables to go into one file."""

    def head(self) -> bytes:
        """What stands before the first row."""

    def kept(self, left_out: Indices) -> Iterator[tuple[Any, int]]:
        """All rows but those with these numbers, and how many, a part at a time.

        Of text files the very bytes; of Parquet record batches. Raises InputError when the
        file is not what it was.
        """


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Where the rows that were compared stand; arrays by row."""

    tables: tuple[Table, ...]
    begins: Indices
    """(tables + 1,): the rows of table i are begins[i]:begins[i + 1]."""
    numbers: Indices
    """The line on which a row begins, from 1; of Parquet its number, from 1."""
    offsets: Indices
    """The byte at which it begins, where the file can be read from there."""
    lengths: Indices
    """Characters of the text."""

    def __len__(self) -> int:
        return len(self.numbers)

    def tables_of(self, rows: Indices) -> Indices:
        """The index of the table of each of these rows."""
        return np.searchsorted(self.begins, rows, side="right") - 1

    def places(self, rows: Indices) -> list[tuple[str, int]]:
        """The file of each of these rows, and its number there."""
        paths = (self.tables[index].path for index in self.tables_of(rows).tolist())
        return list(zip(paths, self.numbers[rows].tolist(), strict=True))


class Place(str):
    """What a row goes by that lacks an id: its file and number, as "rows.jsonl:7"."""

    __slots__ = ()


class RowGroup(NamedTuple):
    """One group, as a report shows it: lists by member, the representative first."""

    id: int
    kind: Kind
    rows: list[int]
    kinds: list[Kind]
    similarities: list[float | None]
    distances: list[int]


@dataclass(frozen=True, slots=True, eq=False)
class RowGroups:
    """Groups of rows that are the same, most similar first; arrays by member."""

    members: Indices
    """Indices of rows, those of group i at offsets[i]:offsets[i + 1]: the representative
    first, then the most similar."""
    offsets: Indices
    """(groups + 1,)"""
    are_identical: NDArray[np.bool_]
    """Whether each has the very text of its representative."""
    similarities: NDArray[np.float64]
    """To the representative; NaN where nothing was verified."""
    distances: Indices
    """To the representative, in bits."""

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __iter__(self) -> Iterator[RowGroup]:
        bounds = self.offsets.tolist()
        for number, (begin, end) in enumerate(pairwise(bounds), 1):
            part = slice(begin, end)
            kinds = [
                Kind.IDENTICAL_TEXT if same else Kind.NEAR for same in self.are_identical[part]
            ]
            alike = self.similarities[part].tolist()
            yield RowGroup(
                number,
                Kind.NEAR if Kind.NEAR in kinds else Kind.IDENTICAL_TEXT,
                self.members[part].tolist(),
                kinds,
                [None if value != value else value for value in alike],  # noqa: PLR0124  (NaN)
                self.distances[part].tolist(),
            )


@dataclass(frozen=True, slots=True, eq=False)
class Prints:
    """What is known of some rows once their texts are gone; arrays by row."""

    rows: NDArray[np.uint8]
    counts: Indices
    """Features."""
    digests: NDArray[np.uint64]
    """(n, 2): of the features."""
    text_digests: NDArray[np.uint64]
    """(n, 2): of the text."""


@dataclass(frozen=True, slots=True, eq=False)
class Balance:
    """What became of the rows of a corpus, in numbers."""

    settings: Settings
    paths: tuple[str, ...]
    """The files, or what names several of them."""
    compared: int
    groups: int
    members: int
    """Rows that are in a group."""
    dropped: int
    """Rows of groups that go; where none was asked to, all but one of each group."""
    faults: dict[Fault, int]
    """How many rows were not compared, by reason, most first."""
    faulty: tuple[Faulty, ...]
    """The first of them."""
    candidates: Candidates | None
    """None when nothing was verified."""
    seconds: float

    @property
    def rows_in(self) -> int:
        """All rows of the files."""
        return self.compared + sum(self.faults.values())

    @property
    def refused_rows(self) -> int:
        """Rows that are broken in some way."""
        return sum(count for fault, count in self.faults.items() if fault.is_refused)

    @property
    def kept(self) -> int:
        """Rows that stay, with those that have nothing to compare."""
        whole = sum(count for fault, count in self.faults.items() if not fault.is_refused)
        return self.compared - self.dropped + whole

    @property
    def has_trouble(self) -> bool:
        """Whether some input could not be read."""
        return any(fault.is_refused for fault in self.faults)


@dataclass(frozen=True, slots=True, eq=False)
class CorpusResult:
    """Everything that a scan of rows found out."""

    settings: Settings
    rows: Rows
    """Those that were compared."""
    groups: RowGroups
    prints: Prints
    """By member of the groups, in their order; the fingerprints have the bits compared."""
    faults: dict[Fault, int]
    """As `Balance` has them."""
    faulty: tuple[Faulty, ...]
    refused: tuple[Indices, ...]
    """By table the numbers of the rows that cannot be written again."""
    candidates: Candidates | None
    """None when nothing was verified."""
    seconds: float

    @property
    def balance(self) -> Balance:
        """What became of the rows."""
        return Balance(
            self.settings,
            tuple(table.path for table in self.rows.tables),
            len(self.rows),
            len(self.groups),
            len(self.groups.members),
            len(self.groups.members) - len(self.groups),
            self.faults,
            self.faulty,
            self.candidates,
            self.seconds,
        )
