"""Whether the parts of an index agree with each other and with their checksums."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simdup.errors import InputError
from simdup.index.block_tables import PIECES, wrong_tables
from simdup.index.file.snapshot import NUMBERS_AT_ONCE, documents, every_number, segment_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simdup.index.file.connection import IndexConnection
    from simdup.index.segments import Numbers


def problems(connection: IndexConnection) -> Iterator[str]:
    """Yield a line for each thing that is wrong with the file."""
    for (line,) in connection.execute("PRAGMA integrity_check"):
        if line != "ok":
            yield f"SQLite: {line}"
    numbers = [np.empty(0, np.int64)]
    for (own,) in connection.execute("SELECT id FROM segments"):
        found, lines = _checked_segment(connection, own)
        numbers.append(found)
        yield from lines
    listed, known = np.concatenate(numbers), every_number(connection)
    if not np.array_equal(np.sort(listed), known) or len(known) != len(connection):
        yield f"{len(known):,} documents, but {len(listed):,} fingerprints, or those of others"
    if len(known) and known[-1] >= connection.number("next"):
        yield "the number of the next document is taken"
    for begin in range(0, len(known), NUMBERS_AT_ONCE):
        try:
            documents(connection, known[begin : begin + NUMBERS_AT_ONCE])
        except InputError as error:
            yield str(error)
    for block in connection.blocks:
        sql = (
            f"SELECT count(*) FROM block_{block}"  # noqa: S608  (a number)
            " WHERE id / ? NOT IN (SELECT id FROM segments)"
        )
        if connection.execute(sql, PIECES) != [(0,)]:
            yield f"the table of block {block} has what is in no segment"


def _checked_segment(connection: IndexConnection, own: int) -> tuple[Numbers, list[str]]:
    """Return the numbers of a segment's documents, and a line for each thing wrong with it."""
    try:
        found = segment_of(connection, own)
    except InputError:
        return np.empty(0, np.int64), [f"segment {own} is damaged"]
    return found.documents, [
        f"the table of block {block} does not agree with segment {own}"
        for block in wrong_tables(connection, own, found)
    ]
