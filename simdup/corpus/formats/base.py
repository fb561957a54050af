"""What readers of rows give: texts with their places, and rows that are none."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np

from simdup.corpus.records import Fault, Flaw, Table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Indices = NDArray[np.int64]

# Names of fields that a message lists, and characters of each.
MOST_NAMES, LONGEST_NAME = 10, 60


class RowError(Exception):
    """Carries why one row is refused up to where the next one is read."""

    def __init__(self, fault: Fault, detail: str = "") -> None:
        super().__init__(fault, detail)
        self.fault, self.detail = fault, detail

    def at(self, row: int) -> Flaw:
        """The record of it."""
        return Flaw(row, 1, self.fault, self.detail)


@dataclass(slots=True)
class Parsed:
    """Some consecutive rows of a file."""

    texts: list[str] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    """Of the rows that have texts, as in `corpora.Rows`."""
    offsets: list[int] = field(default_factory=list)
    flaws: list[Flaw] = field(default_factory=list)

    def add(self, text: str, number: int, offset: int) -> None:
        """Another row with a text."""
        self.texts.append(text)
        self.numbers.append(number)
        self.offsets.append(offset)

    def parsed(self) -> Parsed:
        """Itself; other chunks are parsed by a worker."""
        return self


class Chunk(Protocol):
    """Some rows as they are handed to a worker."""

    def parsed(self) -> Parsed:
        """What is in them."""


class ReadableTable(Table, Protocol):
    """A table as the engine reads it first."""

    @property
    def size(self) -> int:
        """About how many bytes are in it, unpacked."""

    def chunks(self) -> Iterator[Chunk]:
        """All rows, in order. Raises InputError when the file is not what it was."""


def names(fields: list[str]) -> str:
    """Names of fields, as a message lists them.

    >>> names(["id", "body"])
    'there are: body, id'
    """
    shown = ", ".join(map(_cut, sorted(map(str, fields))[:MOST_NAMES])) or "none"
    return f"there are: {shown}" + (", ..." if len(fields) > MOST_NAMES else "")


def _cut(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]}..."


def left_in(numbers: Indices, left_out: Indices) -> NDArray[np.bool_]:
    """Which of some numbers are not among those left out; both rise."""
    at = np.searchsorted(left_out, numbers)
    found = np.append(left_out, -1)[at]
    return found != numbers
