"""Changing an index: documents in and out. All of it within `Catalogue.writing`."""

from __future__ import annotations

import json
import os
from itertools import groupby
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from simdup.errors import InputError
from simdup.index.block_tables import write_pieces
from simdup.index.file.connection import sound
from simdup.index.file.snapshot import DISAGREEMENT, checksum_of, segment_of
from simdup.index.segments import SIZE
from simdup.storage.codec import entry

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simdup.index.file.connection import Catalogue
    from simdup.index.segments import Numbers
    from simdup.records import Document
    from simdup.search.hamming import Rows


@sound
def put(catalogue: Catalogue, documents: Sequence[Document], rows: Rows) -> int:
    """Add documents with their fingerprints; how many of them replace one of the same path.

    Of several with one path the last stays.
    """
    places = sorted({each.path: place for place, each in enumerate(documents)}.values())
    documents, rows = [documents[place] for place in places], rows[places]
    first = catalogue.number("next")
    entries = []
    for folder, in_folder in groupby(
        enumerate(documents, first), lambda each: _folder_of(each[1].path)
    ):
        number = _number_of(catalogue, folder)
        for own, document in in_folder:
            name = os.fsencode(document.path)[len(folder) :]
            data = entry(document.source, document, b"")
            entries.append((own, number, name, data, checksum_of(own, folder, name, data)))
    insert = "INSERT OR IGNORE INTO documents VALUES (?, ?, ?, ?, ?)"
    new = catalogue.tell(insert, entries) if entries else 0
    if new < len(entries):
        _make_way(catalogue, entries)
        if new + catalogue.tell(insert, entries) < len(entries):
            raise InputError(f"{catalogue.path!r}: the next number is taken; build the index anew")
    numbers = np.arange(first, first + len(entries))
    catalogue.ask("UPDATE about SET value = ? WHERE name = 'next'", first + len(entries))
    _pack(catalogue, numbers, rows)
    _count(catalogue, len(entries))
    return len(entries) - new


def _count(catalogue: Catalogue, more: int) -> None:
    catalogue.ask("UPDATE about SET value = value + ? WHERE name = 'documents'", more)


def _make_way(catalogue: Catalogue, entries: Sequence[tuple[int, int, bytes, bytes, int]]) -> None:
    """Take out the documents whose paths are wanted for others."""
    sql = "SELECT id FROM documents WHERE folder = ? AND name = ? AND id < ?"
    found = (catalogue.ask(sql, folder, name, own) for own, folder, name, *_ in entries)
    take_out(catalogue, np.array([old for olds in found for (old,) in olds], np.int64))


def _number_of(catalogue: Catalogue, folder: bytes) -> int:
    catalogue.ask("INSERT OR IGNORE INTO folders (path) VALUES (?)", folder)
    return int(catalogue.ask("SELECT id FROM folders WHERE path = ?", folder)[0][0])


def _pack(catalogue: Catalogue, numbers: Numbers, rows: Rows) -> None:
    """Lay fingerprints into segments, those with room first."""
    batch = catalogue.number("batches") + 1
    while len(numbers):
        found = catalogue.ask("SELECT id FROM segments WHERE size < ? ORDER BY id LIMIT 1", SIZE)
        own, old_rows, old_numbers = None, rows[:0], numbers[:0]
        if found:
            own = found[0][0]
            old = segment_of(catalogue, own)
            old_rows, old_numbers = old.rows, old.documents
        fit = SIZE - len(old_numbers)
        _write(
            catalogue,
            own,
            batch,
            np.concatenate((old_rows, rows[:fit])),
            np.concatenate((old_numbers, numbers[:fit])),
        )
        numbers, rows = numbers[fit:], rows[fit:]


def _write(catalogue: Catalogue, own: int | None, batch: int, rows: Rows, numbers: Numbers) -> None:
    """Write a segment, or a new one; of an empty one nothing is left."""
    if own is None:
        ((own,),) = catalogue.ask("SELECT coalesce(max(id), 0) + 1 FROM segments")
    write_pieces(catalogue, own, rows, numbers)
    if not len(numbers):
        catalogue.ask("DELETE FROM segments WHERE id = ?", own)
        return
    packed, listed = rows.tobytes(), numbers.astype("<i8").tobytes()
    low, high, checksum = int(numbers.min()), int(numbers.max()), crc32(listed, crc32(packed))
    values = (own, batch, len(numbers), low, high, packed, listed, checksum)
    catalogue.ask("INSERT OR REPLACE INTO segments VALUES (?, ?, ?, ?, ?, ?, ?, ?)", *values)


@sound
def take_out(catalogue: Catalogue, numbers: Numbers) -> None:
    """Remove documents by their numbers; those that are gone already are no error."""
    if not len(numbers):
        return
    taken = 0
    batch, low, high = catalogue.number("batches") + 1, int(numbers.min()), int(numbers.max())
    for (own,) in catalogue.ask("SELECT id FROM segments WHERE low <= ? AND high >= ?", high, low):
        old = segment_of(catalogue, own)
        goes = np.isin(old.documents, numbers)
        if goes.any():
            taken += int(goes.sum())
            _write(catalogue, own, batch, old.rows[~goes], old.documents[~goes])
    delete = "DELETE FROM documents WHERE id = ?"
    if catalogue.tell(delete, ((each,) for each in numbers.tolist())) != taken:
        raise InputError(f"{catalogue.path!r}: {DISAGREEMENT}")
    _count(catalogue, -taken)


def forget_empty_folders(catalogue: Catalogue) -> None:
    """Drop folders that have no document any more."""
    catalogue.ask(
        "DELETE FROM folders WHERE NOT EXISTS (SELECT 1 FROM documents WHERE folder = folders.id)"
    )


def set_places(catalogue: Catalogue, places: dict[bytes, str | None]) -> None:
    """What was added and taken out, instead of what was known of that."""
    catalogue.ask("DELETE FROM places")
    catalogue.tell("INSERT INTO places VALUES (?, ?)", places.items())


def set_about(catalogue: Catalogue, about: dict[str, Any]) -> None:
    """What is said of how the documents were made, instead of what was said."""
    catalogue.ask("UPDATE about SET value = ? WHERE name = 'about'", json.dumps(about))
    catalogue.about = about


def _folder_of(path: str) -> bytes:
    """The part of a path up to its last separator, with it; nothing for a bare name."""
    return os.fsencode(path[: path.rfind(os.sep) + 1])
