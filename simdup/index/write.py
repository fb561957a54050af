"""Changing an index: documents in and out, all within `IndexFile.writing`."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from itertools import groupby
from typing import Any
from zlib import crc32

import numpy as np

from simdup.arrays import Indices, Rows
from simdup.errors import InputError
from simdup.fingerprint.sketch import Sketches, thinned
from simdup.index.connection import IndexFile
from simdup.index.metadata import damaged
from simdup.index.samples import add_run, take_out_samples
from simdup.index.segments import SIZE, write_pieces
from simdup.index.snapshot import SEGMENTS, checksum_of, disagreement, segment_of
from simdup.records import Document
from simdup.storage.codec import entry, folder_of


def put(file: IndexFile, documents: Sequence[Document], rows: Rows, sketches: Sketches) -> int:
    """Add documents with fingerprints and sketches; return how many replace one of the same path.

    Of several with one path the last is kept. Sketches are dense if the index has samples.
    """
    last = sorted({each.path: index for index, each in enumerate(documents)}.values())
    documents, rows = [documents[index] for index in last], rows[last]
    sketches = sketches.take(np.array(last, np.int64))
    counts = np.array([each.features for each in documents], np.int64)
    each_sketch = thinned(sketches, counts).each()
    first = file.number("next")
    entries = []
    for name_of_folder, in_folder in groupby(
        enumerate(documents, first), lambda each: folder_of(each[1].path)
    ):
        folder = os.fsencode(name_of_folder)
        file.execute("INSERT OR IGNORE INTO folders (path) VALUES (?)", folder)
        (parent,) = file.row("SELECT id FROM folders WHERE path = ?", folder, kinds=[(int,)])
        for own, document in in_folder:
            name = os.fsencode(document.path)[len(folder) :]
            data = entry(document.source, document, b"", next(each_sketch))
            entries.append((own, parent, name, data, checksum_of(own, folder, name, data)))
    insert = "INSERT OR IGNORE INTO documents VALUES (?, ?, ?, ?, ?)"
    new = file.execute_many(insert, entries) if entries else 0
    if new < len(entries):
        _make_way(file, entries)
        if new + file.execute_many(insert, entries) < len(entries):
            raise InputError(f"{file.path!r}: the next number is taken; build the index anew")
    file.execute("UPDATE about SET value = ? WHERE name = 'next'", first + len(entries))
    _pack(file, np.arange(first, first + len(entries)), rows)
    if file.has_samples:
        add_run(file, np.arange(first, first + len(entries)), sketches)
    _count(file, len(entries))
    return len(entries) - new


def _count(file: IndexFile, more: int) -> None:
    file.execute("UPDATE about SET value = value + ? WHERE name = 'documents'", more)


def _make_way(file: IndexFile, entries: Sequence[tuple[Any, ...]]) -> None:
    """Take out the documents whose paths the new entries have."""
    sql = "SELECT id FROM documents WHERE folder = ? AND name = ? AND id < ?"
    found = (file.execute(sql, folder, name, own) for own, folder, name, *_ in entries)
    take_out(file, np.array([old for olds in found for (old,) in olds], np.int64))


def _pack(file: IndexFile, numbers: Indices, rows: Rows) -> None:
    """Put fingerprints into segments, first into old ones that have room."""
    batch = file.number("batches") + 1
    while len(numbers):
        sql = "SELECT id FROM segments WHERE size < ? ORDER BY id LIMIT 1"
        found = file.execute(sql, SIZE)
        own, old_rows, old_numbers = None, rows[:0], numbers[:0]
        if found:
            own = found[0][0]
            old = segment_of(file, own)
            old_rows, old_numbers = old.rows, old.documents
        fit = SIZE - len(old_numbers)
        _write(
            file,
            own,
            batch,
            np.concatenate((old_rows, rows[:fit])),
            np.concatenate((old_numbers, numbers[:fit])),
        )
        numbers, rows = numbers[fit:], rows[fit:]


def _write(file: IndexFile, own: int | None, batch: int, rows: Rows, numbers: Indices) -> None:
    """Write a segment, a new one if it has no number yet; delete it if it is empty."""
    if own is None:
        ((last,),) = file.execute("SELECT coalesce(max(id), 0) FROM segments")
        if last >= SEGMENTS - 1:
            raise damaged(file.path, f"segment {last}")
        own = int(last) + 1
    write_pieces(file, own, rows, numbers)
    if not len(numbers):
        file.execute("DELETE FROM segments WHERE id = ?", own)
        return
    packed, listed = rows.tobytes(), numbers.astype("<i8").tobytes()
    low, high, checksum = int(numbers.min()), int(numbers.max()), crc32(listed, crc32(packed))
    values = (own, batch, len(numbers), low, high, packed, listed, checksum)
    file.execute("INSERT OR REPLACE INTO segments VALUES (?, ?, ?, ?, ?, ?, ?, ?)", *values)


def take_out(file: IndexFile, numbers: Indices) -> None:
    """Remove documents by their numbers; a number that is gone already does no harm."""
    if not len(numbers):
        return
    taken = [np.empty(0, np.int64)]
    batch, low, high = file.number("batches") + 1, int(numbers.min()), int(numbers.max())
    sql = "SELECT id FROM segments WHERE low <= ? AND high >= ?"
    for (own,) in file.execute(sql, high, low):
        old = segment_of(file, own)
        goes = np.isin(old.documents, numbers)
        if goes.any():
            taken.append(old.documents[goes])
            _write(file, own, batch, old.rows[~goes], old.documents[~goes])
    delete = "DELETE FROM documents WHERE id = ?"
    gone = np.concatenate(taken)
    if file.execute_many(delete, ((each,) for each in numbers.tolist())) != len(gone):
        raise disagreement(file)
    if file.has_samples and len(gone):
        take_out_samples(file, gone)
    _count(file, -len(gone))


def forget_empty_folders(file: IndexFile) -> None:
    """Drop folders that have no document any more."""
    file.execute(
        "DELETE FROM folders WHERE NOT EXISTS (SELECT 1 FROM documents WHERE folder = folders.id)"
    )


def set_places(file: IndexFile, places: dict[bytes, str | None]) -> None:
    """Replace the paths that were added or removed, with their filters."""
    file.execute("DELETE FROM places")
    file.execute_many("INSERT INTO places VALUES (?, ?)", places.items())


def set_about(file: IndexFile, about: dict[str, Any]) -> None:
    """Replace the metadata of the index."""
    file.execute("UPDATE about SET value = ? WHERE name = 'about'", json.dumps(about))
    file.about = about
