"""Whether an index is whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simdup.errors import InputError
from simdup.index.block_tables import PIECES, wrong_tables
from simdup.index.file.connection import BLOCKS
from simdup.index.file.snapshot import NUMBERS_AT_ONCE, documents, every_number, segment_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simdup.index.file.connection import Catalogue
    from simdup.index.segments import Numbers


def problems(catalogue: Catalogue) -> Iterator[str]:
    """What is wrong with the file, a line each; nothing if it is whole."""
    for (line,) in catalogue.ask("PRAGMA integrity_check"):
        if line != "ok":
            yield f"SQLite: {line}"
    numbers = [np.empty(0, np.int64)]
    for (own,) in catalogue.ask("SELECT id FROM segments"):
        try:
            found = segment_of(catalogue, own)
        except InputError:
            yield f"segment {own} is damaged"
            continue
        numbers.append(found.documents)
        for block in wrong_tables(catalogue, own, found):
            yield f"the table of block {block} does not agree with segment {own}"
    have, known = np.concatenate(numbers), every_number(catalogue)
    if not np.array_equal(np.sort(have), known) or len(known) != len(catalogue):
        yield f"{len(known):,} documents, but {len(have):,} fingerprints, or those of others"
    if len(known) and known[-1] >= catalogue.number("next"):
        yield "the number of the next document is taken"
    yield from _damaged_entries(catalogue, known)
    yield from _stray_pieces(catalogue)


def _damaged_entries(catalogue: Catalogue, numbers: Numbers) -> Iterator[str]:
    """Documents whose entries do not fit their checksums, or whose folder is gone."""
    for begin in range(0, len(numbers), NUMBERS_AT_ONCE):
        part = numbers[begin : begin + NUMBERS_AT_ONCE]
        try:
            documents(catalogue, part)
        except InputError as error:
            yield str(error)


def _stray_pieces(catalogue: Catalogue) -> Iterator[str]:
    """Tables of blocks that have something of no segment."""
    for block in range(BLOCKS if catalogue.has_blocks else 0):
        sql = (
            f"SELECT count(*) FROM block_{block}"  # noqa: S608  (a number)
            " WHERE id / ? NOT IN (SELECT id FROM segments)"
        )
        if catalogue.ask(sql, PIECES) != [(0,)]:
            yield f"the table of block {block} has what is in no segment"
