"""Changing an index: documents in and out, all within `IndexConnection.writing`."""

from __future__ import annotations

import json
import os
from itertools import groupby
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from simdup.errors import InputError
from simdup.index.block_tables import write_pieces
from simdup.index.file.metadata import damaged
from simdup.index.file.snapshot import SEGMENTS, checksum_of, disagreement, segment_of
from simdup.index.segments import SIZE
from simdup.storage.codec import entry, folder_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simdup.index.file.connection import IndexConnection
    from simdup.index.segments import Numbers
    from simdup.records import Document
    from simdup.search.hamming import Rows


def put(connection: IndexConnection, documents: Sequence[Document], rows: Rows) -> int:
    """Add documents with their fingerprints; return how many replace one of the same path.

    Of several with one path the last is kept.
    """
    places = sorted({each.path: place for place, each in enumerate(documents)}.values())
    documents, rows = [documents[place] for place in places], rows[places]
    first = connection.number("next")
    entries = []
    for name_of_folder, in_folder in groupby(
        enumerate(documents, first), lambda each: folder_of(each[1].path)
    ):
        folder = os.fsencode(name_of_folder)
        connection.execute("INSERT OR IGNORE INTO folders (path) VALUES (?)", folder)
        ((parent,),) = connection.execute("SELECT id FROM folders WHERE path = ?", folder)
        for own, document in in_folder:
            name = os.fsencode(document.path)[len(folder) :]
            data = entry(document.source, document, b"")
            entries.append((own, parent, name, data, checksum_of(own, folder, name, data)))
    insert = "INSERT OR IGNORE INTO documents VALUES (?, ?, ?, ?, ?)"
    new = connection.execute_many(insert, entries) if entries else 0
    if new < len(entries):
        _make_way(connection, entries)
        if new + connection.execute_many(insert, entries) < len(entries):
            raise InputError(f"{connection.path!r}: the next number is taken; build the index anew")
    connection.execute("UPDATE about SET value = ? WHERE name = 'next'", first + len(entries))
    _pack(connection, np.arange(first, first + len(entries)), rows)
    _count(connection, len(entries))
    return len(entries) - new


def _count(connection: IndexConnection, more: int) -> None:
    connection.execute("UPDATE about SET value = value + ? WHERE name = 'documents'", more)


def _make_way(connection: IndexConnection, entries: Sequence[tuple[Any, ...]]) -> None:
    """Take out the documents whose paths the new entries have."""
    sql = "SELECT id FROM documents WHERE folder = ? AND name = ? AND id < ?"
    found = (connection.execute(sql, folder, name, own) for own, folder, name, *_ in entries)
    take_out(connection, np.array([old for olds in found for (old,) in olds], np.int64))


def _pack(connection: IndexConnection, numbers: Numbers, rows: Rows) -> None:
    """Lay fingerprints into segments, those with room first."""
    batch = connection.number("batches") + 1
    while len(numbers):
        sql = "SELECT id FROM segments WHERE size < ? ORDER BY id LIMIT 1"
        found = connection.execute(sql, SIZE)
        own, old_rows, old_numbers = None, rows[:0], numbers[:0]
        if found:
            own = found[0][0]
            old = segment_of(connection, own)
            old_rows, old_numbers = old.rows, old.documents
        fit = SIZE - len(old_numbers)
        _write(
            connection,
            own,
            batch,
            np.concatenate((old_rows, rows[:fit])),
            np.concatenate((old_numbers, numbers[:fit])),
        )
        numbers, rows = numbers[fit:], rows[fit:]


def _write(
    connection: IndexConnection, own: int | None, batch: int, rows: Rows, numbers: Numbers
) -> None:
    """Write a segment, a new one if it has no number yet; delete it if it is empty."""
    if own is None:
        ((last,),) = connection.execute("SELECT coalesce(max(id), 0) FROM segments")
        if last >= SEGMENTS - 1:
            raise damaged(connection.path, f"segment {last}")
        own = int(last) + 1
    write_pieces(connection, own, rows, numbers)
    if not len(numbers):
        connection.execute("DELETE FROM segments WHERE id = ?", own)
        return
    packed, listed = rows.tobytes(), numbers.astype("<i8").tobytes()
    low, high, checksum = int(numbers.min()), int(numbers.max()), crc32(listed, crc32(packed))
    values = (own, batch, len(numbers), low, high, packed, listed, checksum)
    connection.execute("INSERT OR REPLACE INTO segments VALUES (?, ?, ?, ?, ?, ?, ?, ?)", *values)


def take_out(connection: IndexConnection, numbers: Numbers) -> None:
    """Remove documents by their numbers; a number that is gone already is no error."""
    if not len(numbers):
        return
    taken = 0
    batch, low, high = connection.number("batches") + 1, int(numbers.min()), int(numbers.max())
    sql = "SELECT id FROM segments WHERE low <= ? AND high >= ?"
    for (own,) in connection.execute(sql, high, low):
        old = segment_of(connection, own)
        goes = np.isin(old.documents, numbers)
        if goes.any():
            taken += int(goes.sum())
            _write(connection, own, batch, old.rows[~goes], old.documents[~goes])
    delete = "DELETE FROM documents WHERE id = ?"
    if connection.execute_many(delete, ((each,) for each in numbers.tolist())) != taken:
        raise disagreement(connection)
    _count(connection, -taken)


def forget_empty_folders(connection: IndexConnection) -> None:
    """Drop folders that have no document any more."""
    connection.execute(
        "DELETE FROM folders WHERE NOT EXISTS (SELECT 1 FROM documents WHERE folder = folders.id)"
    )


def set_places(connection: IndexConnection, places: dict[bytes, str | None]) -> None:
    """Replace the paths that were added or removed, with their filters."""
    connection.execute("DELETE FROM places")
    connection.execute_many("INSERT INTO places VALUES (?, ?)", places.items())


def set_about(connection: IndexConnection, about: dict[str, Any]) -> None:
    """Replace the metadata of the index."""
    connection.execute("UPDATE about SET value = ? WHERE name = 'about'", json.dumps(about))
    connection.about = about
