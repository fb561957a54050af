"""Batches of rows of files in, texts out; of rows that have none, why."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import pyarrow as pa

from simdup.corpus.flaws import Fault, RowError
from simdup.corpus.formats.jsonl import row_in, text_of
from simdup.corpus.formats.streams import LONGEST_ROW, too_long
from simdup.report.json_csv import to_json
from simdup.report.rows import id_as_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: What these readers make: why a row is not compared, and its id as JSON.
EXTRAS = {"fault": "string", "detail": "string", "name": "string"}

_BOM = b"\xef\xbb\xbf"


class _Row(NamedTuple):
    text: str | None
    called: str | None
    fault: Fault | None = None
    detail: str = ""


class _Reader(ABC):
    """What all readers do that look into each row."""

    __slots__ = ()

    @property
    @abstractmethod
    def inputs(self) -> tuple[str, ...]:
        """The columns that it takes."""

    @property
    def extras(self) -> Mapping[str, str]:
        """EXTRAS."""
        return EXTRAS

    def texts(self, batch: pa.RecordBatch | pa.Table) -> list[str | None]:
        """The texts; None for rows that have none."""
        return [row.text for row in self._rows(batch)]

    def read(self, batch: pa.RecordBatch) -> tuple[list[str | None], dict[str, pa.Array]]:
        """Return the text of each row, and columns of faults and ids."""
        rows = self._rows(batch)
        return [row.text for row in rows], _extras(rows)

    def _rows(self, batch: pa.RecordBatch | pa.Table) -> list[_Row]:
        columns = (batch.column(name).to_pylist() for name in self.inputs)
        return [self._row(*each) for each in zip(*columns, strict=True)]

    @abstractmethod
    def _row(self, *values: Any) -> _Row:  # noqa: ANN401  (what columns hold)
        """A row, of the values of its inputs."""


@dataclass(frozen=True, slots=True)
class JsonLines(_Reader):
    """The reader of lines of JSON."""

    field: str
    name: str | None

    inputs: ClassVar[tuple[str, ...]] = ("line", "position")

    def _row(self, line: bytes, number: int) -> _Row:
        called = None
        if len(line) > LONGEST_ROW:
            flaw = too_long(number)
            return _Row(None, None, flaw.fault, flaw.detail)
        try:
            row = row_in(line.removeprefix(_BOM) if number == 1 else line)
            if self.name is not None:
                called = to_json(id_as_json(row.get(self.name)))
            return _Row(text_of(row, self.field), called)
        except RowError as error:
            return _Row(None, called, error.fault, error.detail)


@dataclass(frozen=True, slots=True)
class Columns(_Reader):
    """The reader of columns: the text, and what the row is called."""

    is_named: bool

    inputs: ClassVar[tuple[str, ...]] = ("text", "called")

    def _row(self, text: str | None, name: object) -> _Row:
        called = to_json(id_as_json(name)) if self.is_named else None
        return _Row(text, called, *(() if text is not None else (Fault.EMPTY, "null")))


@dataclass(frozen=True, slots=True)
class Records(_Reader):
    """The reader of what `whole` has made of files."""

    inputs: ClassVar[tuple[str, ...]] = ("text", "called", "fault", "detail")

    def _row(self, text: str | None, called: str | None, fault: str | None, detail: str) -> _Row:
        return _Row(text, called, None if fault is None else Fault(fault), detail)


def _extras(rows: Sequence[_Row]) -> dict[str, pa.Array]:
    """The columns of EXTRAS."""
    return {
        "fault": pa.array([row.fault and row.fault.value for row in rows], pa.string()),
        "detail": strings([row.detail for row in rows]),
        "name": strings([row.called for row in rows]),
    }


def strings(values: Sequence[str | None]) -> pa.Array:
    """A column; what UTF-8 has no place for is escaped."""
    plain = [None if each is None else each.encode("utf-8", "backslashreplace") for each in values]
    return pa.array(plain, pa.binary()).cast(pa.string())
