"""Frozen records that pass between the stages of a corpus scan.

A corpus is the rows of some files. Facts about many rows are kept in arrays, by row in the order
of the files, since an object for each row would cost too much memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import isnan
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simdup.arrays import Digests, Indices, Mask, Rows
from simdup.corpus.flaws import Fault, Faulty
from simdup.corpus.formats.table import Table
from simdup.fingerprint.sketch import Sketches
from simdup.match.own_share import OwnShares
from simdup.match.parts import TextParts
from simdup.records import Candidates, Kind
from simdup.settings import Settings


@dataclass(frozen=True, slots=True, eq=False)
class ComparedRows:
    """The rows that were compared, and where they stand: arrays by row.

    begins: (tables + 1,): the rows of table i are begins[i]:begins[i + 1].
    numbers: The line on which each row begins, from 1; in Parquet the row's number, from 1.
    offsets: The byte at which each row begins, where the file can be read from there.
    lengths: The number of characters of each text.
    """

    tables: tuple[Table, ...]
    begins: Indices
    numbers: Indices
    offsets: Indices
    lengths: Indices

    def __len__(self) -> int:
        return len(self.numbers)

    def tables_of(self, rows: Indices) -> Indices:
        """The index of the table of each of these rows."""
        return np.searchsorted(self.begins, rows, side="right") - 1

    def places(self, rows: Indices) -> list[tuple[str, int]]:
        """The file of each of these rows, and its number there."""
        paths = (self.tables[index].path for index in self.tables_of(rows).tolist())
        return list(zip(paths, self.numbers[rows].tolist(), strict=True))


class RowPlace(str):
    """The name of a row without an id: its file and number, as "rows.jsonl:7"."""

    __slots__ = ()


class RowGroup(NamedTuple):
    """One group, as a report shows it: lists by member, the representative first."""

    id: int
    kind: Kind
    rows: list[int]
    kinds: list[Kind]
    similarities: list[float | None]
    distances: list[int]
    own_shares: list[float | None]


@dataclass(frozen=True, slots=True, eq=False)
class RowGroups:
    """Groups of near-duplicate rows, most similar groups first; arrays by member.

    members: Indices of rows; group i is members[offsets[i]:offsets[i + 1]], its representative
        first, then the most similar rows.
    offsets: (groups + 1,)
    are_identical: Whether each member has the very text of its representative.
    similarities: How similar each member is to its representative; NaN where nothing was verified.
    distances: The distance of each member from its representative, in bits.
    own_shares: The share of the wording common to a member and its representative that is theirs
        alone; from 0 to 1, or NaN where own shares were not asked for.
    """

    members: Indices
    offsets: Indices
    are_identical: Mask
    similarities: NDArray[np.float64]
    distances: Indices
    own_shares: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __iter__(self) -> Iterator[RowGroup]:
        for number, (begin, end) in enumerate(pairwise(self.offsets.tolist()), 1):
            own = slice(begin, end)
            same = self.are_identical[own].tolist()
            yield RowGroup(
                number,
                Kind.IDENTICAL_TEXT if all(same) else Kind.NEAR,
                self.members[own].tolist(),
                [Kind.IDENTICAL_TEXT if each else Kind.NEAR for each in same],
                _known(self.similarities[own]),
                self.distances[own].tolist(),
                _known(self.own_shares[own]),
            )


def _known(values: NDArray[np.float64]) -> list[float | None]:
    return [None if isnan(value) else value for value in values.tolist()]


class TextFingerprints(NamedTuple):
    """The fingerprints and digests of some texts: arrays by text.

    rows: The fingerprints.
    counts: How many features each text has.
    digests: (n, 2): 128-bit digests of the features of the texts.
    text_digests: (n, 2): 128-bit digests of the texts.
    sketches: None where exact similarities do not decide.
    """

    rows: Rows
    counts: Indices
    digests: Digests
    text_digests: Digests
    sketches: Sketches | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Balance:
    """How many rows of a corpus were compared, grouped, dropped and refused.

    paths: The files, or folders and patterns that name several files.
    members: Rows that are in a group.
    dropped: Rows that were dropped; a scan that drops none counts all but one of each group.
    droppable: Rows that --keep would drop, about, and the similarity to a kept row that it would
        ask for; None where rows were dropped, and if it is not known.
    faults: How many rows were not compared, by reason, the most frequent reason first.
    faulty: The first rows that were not compared.
    candidates: None when nothing was verified.
    siblings: Pairs of texts that are similar enough, but by content that too many other texts have.
    """

    settings: Settings
    paths: tuple[str, ...]
    compared: int
    groups: int
    members: int
    dropped: int
    faults: dict[Fault, int]
    faulty: tuple[Faulty, ...]
    candidates: Candidates | None
    siblings: int
    seconds: float
    droppable: tuple[int, float] | None = None

    @property
    def rows_in(self) -> int:
        """How many rows the files have."""
        return self.compared + sum(self.faults.values())

    @property
    def refused_rows(self) -> int:
        """How many rows are broken in some way."""
        return sum(count for fault, count in self.faults.items() if fault.is_refused)

    @property
    def kept(self) -> int:
        """How many rows stay, including rows without comparable text."""
        return self.rows_in - self.refused_rows - self.dropped

    @property
    def has_trouble(self) -> bool:
        """Whether some input could not be read."""
        return any(fault.is_refused for fault in self.faults)


@dataclass(frozen=True, slots=True, eq=False)
class CorpusResult:
    """Everything that a scan of rows found out.

    prints: For each member of the groups, in their order; the fingerprints have the bits compared.
    faults: How many rows were not compared, by reason, the most frequent reason first.
    faulty: The first rows that were not compared.
    refused: For each table the numbers of the broken rows, which cannot be written again.
    candidates: None when nothing was verified.
    siblings: Pairs of texts that are similar enough, but by content that too many other texts have.
    texts: For each member of the groups the number of its text; equal features have equal numbers.
    shares: The own shares of texts, by the numbers in `texts`; None where they were not asked for.
    parts: Pairs of rows, of which the first row of a text represents the others; None unless asked
        for.
    """

    settings: Settings
    rows: ComparedRows
    groups: RowGroups
    prints: TextFingerprints
    faults: dict[Fault, int]
    faulty: tuple[Faulty, ...]
    refused: tuple[Indices, ...]
    candidates: Candidates | None
    siblings: int
    texts: Indices
    shares: OwnShares | None
    seconds: float
    parts: TextParts | None

    @property
    def balance(self) -> Balance:
        """The numbers of the result."""
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
            self.siblings,
            self.seconds,
        )
