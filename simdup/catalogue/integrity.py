"""Whether an index is whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simdup.catalogue.contents import NUMBERS_AT_ONCE, documents, every_number, segment_of
from simdup.catalogue.file import rotations
from simdup.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simdup.catalogue.file import Catalogue
    from simdup.hamming import Rows
    from simdup.segments import Numbers


def problems(catalogue: Catalogue) -> Iterator[str]:
    """What is wrong with the file, a line each; nothing if it is whole."""
    for (line,) in catalogue.ask("PRAGMA integrity_check"):
        if line != "ok":
            yield f"SQLite: {line}"
    rows, numbers = [np.empty((0, catalogue.width), np.uint8)], [np.empty(0, np.int64)]
    for (own,) in catalogue.ask("SELECT id FROM segments"):
        try:
            found = segment_of(catalogue, own)
        except InputError:
            yield f"segment {own} is damaged"
            continue
        rows.append(found.rows)
        numbers.append(found.documents)
    packed, have = np.concatenate(rows), np.concatenate(numbers)
    known = every_number(catalogue)
    if not np.array_equal(np.sort(have), known):
        yield f"{len(known):,} documents, but {len(have):,} fingerprints, or those of others"
    if len(known) and known[-1] >= catalogue.number("next"):
        yield "the number of the next document is taken"
    yield from _damaged_entries(catalogue, known)
    yield from _wrong_blocks(catalogue, packed, have)


def _damaged_entries(catalogue: Catalogue, numbers: Numbers) -> Iterator[str]:
    """Documents whose entries do not fit their checksums, or whose folder is gone."""
    for begin in range(0, len(numbers), NUMBERS_AT_ONCE):
        part = numbers[begin : begin + NUMBERS_AT_ONCE]
        try:
            documents(catalogue, part)
        except InputError as error:
            yield str(error)


def _wrong_blocks(catalogue: Catalogue, rows: Rows, numbers: Numbers) -> Iterator[str]:
    """Tables of blocks that say something else than the segments."""
    order = np.argsort(numbers)
    tables = rotations(rows[order]) if catalogue.has_blocks else []
    for block, turned in enumerate(tables):
        sql = f"SELECT document, fingerprint FROM block_{block} ORDER BY document"  # noqa: S608
        if catalogue.ask(sql) != list(zip(numbers[order].tolist(), turned.tolist(), strict=True)):
            yield f"the table of block {block} does not agree with the fingerprints"
