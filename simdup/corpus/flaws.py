"""Why a row of a corpus is not compared."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple


class Fault(Enum):
    """Why a row is not compared; the value is what reports print."""

    BROKEN = "broken row"
    NOT_UTF8 = "not UTF-8"
    NO_FIELD = "no text field"
    NO_STRING = "text is no string"
    COLUMNS = "wrong number of columns"
    TOO_LONG = "too long"
    CUT_SHORT = "file cut short"
    JUNK = "junk after its end"  # of a packed file
    UNREADABLE = "unreadable"
    EMPTY = "nothing to compare"  # null, or without a letter or digit
    DEGENERATE = "fingerprint all 0 or all 1"

    @property
    def is_refused(self) -> bool:
        """Whether the row is broken; otherwise it is sound, and stays when rows are written."""
        return self not in {Fault.EMPTY, Fault.DEGENERATE}


class Flaw(NamedTuple):
    """One or more consecutive rows of a file that are not compared.

    row: The number of the first of these rows, as in `ComparedRows.numbers`.
    rows: How many rows; whatever is lost at the end of a packed file counts as one.
    """

    row: int
    rows: int
    fault: Fault
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Faulty:
    """A flaw and the file that has it."""

    path: str
    flaw: Flaw


class RowError(Exception):
    """A row that cannot be compared; raised while it is parsed, caught where rows are listed."""

    def __init__(self, fault: Fault, detail: str = "") -> None:
        super().__init__(fault, detail)
        self.fault, self.detail = fault, detail

    def at(self, row: int) -> Flaw:
        """The flaw of the row with this number."""
        return Flaw(row, 1, self.fault, self.detail)
