"""The rows that stay, written in the format of the input."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from simdup.arguments import check_type
from simdup.arrays import Indices
from simdup.corpus.formats.open import form_of
from simdup.corpus.formats.streams import PACKINGS, changed, check_packing
from simdup.corpus.formats.table import Table
from simdup.corpus.records import CorpusResult
from simdup.corpus.stay import check_keep, dropped
from simdup.errors import InputError

# Endings of names that promise a packing that simdup does not write.
_NOT_WRITTEN = {".7z", ".br", ".bz2", ".lz", ".lz4", ".lzma", ".rar", ".tgz", ".xz", ".z", ".zip"}


def check_target(tables: Sequence[Table], target: str) -> None:
    """Raise InputError unless the rows of all tables can go into one file of that name.

    Raises ExtraMissingError if packing it needs the extra `corpus`.
    """
    if os.path.splitext(target.lower())[1] in _NOT_WRITTEN:
        raise InputError(f"{target!r}: rows are packed as {' or '.join(PACKINGS)}, or not at all")
    first, (form, packing) = tables[0], form_of(target)
    for table in tables[1:]:
        if table.form != first.form:
            raise _mismatch(table, first, "format")
        if table.columns != first.columns:
            raise _mismatch(table, first, "columns")
    if form not in {None, first.form} or (first.form == "parquet" and packing):
        raise InputError(f"{target!r}: the rows are {first.form}, and are written as such")
    check_packing(target, packing)


def _mismatch(table: Table, first: Table, what: str) -> InputError:
    return InputError(f"{table.path!r} has another {what} than {first.path!r}: not one file")


def rewritten(result: CorpusResult, keep: str, target: str = "") -> Iterator[bytes]:
    """The content of a file with the rows that stay, a part at a time.

    `keep` says which rows of a group are preferred: the "first", the "longest" or the
    "representative"; every row that goes is similar enough to one that stays. Rows of JSON Lines
    and CSV are the very bytes of the input; Parquet keeps its schema. The end of `target` says
    how the file is packed. Raises ValueError for another `keep`, and InputError if the rows
    cannot go into one file of that name, or a file has changed.
    """
    check_keep(keep)
    check_type(target, "target", str)
    if result.rows.tables:
        check_target(result.rows.tables, target)
    return _rewritten(result, keep, target)


def _rewritten(result: CorpusResult, keep: str, target: str) -> Iterator[bytes]:
    yield from without(result, dropped(result, keep), target)


def without(result: CorpusResult, goes: Indices, target: str = "") -> Iterator[bytes]:
    """The content of a file with all rows but these (ascending), a part at a time."""
    tables = result.rows.tables
    if not tables:
        return iter(())
    return tables[0].written(_parts(result, goes), form_of(target)[1])


def _parts(result: CorpusResult, goes: Indices) -> Iterator[Any]:
    """Yield the rows of each table that stay. Raises InputError unless as many as expected do."""
    rows, written = result.rows, 0
    bounds = np.searchsorted(goes, rows.begins)
    for index, table in enumerate(rows.tables):
        left_out = rows.numbers[goes[bounds[index] : bounds[index + 1]]]
        for part, count in table.kept(np.union1d(left_out, result.refused[index])):
            written += count
            yield part
    if written != replace(result.balance, dropped=len(goes)).kept:
        raise changed(rows.tables[0].path)
