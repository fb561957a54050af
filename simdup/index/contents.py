"""The contents of an index: segments of fingerprints and documents, read and changed.

`problems` says whether they agree. A `ReaderPool` shares connections, and the segments read last,
between threads.
"""

from __future__ import annotations

import json
import os
import struct
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import groupby
from typing import Any

import numpy as np

from simdup.arrays import Indices, Rows
from simdup.errors import InputError
from simdup.files.fingerprint import Fingerprinted
from simdup.fingerprint.sketch import DENSE_LEVELS, Collected, Sketches, read_back, thinned
from simdup.index import samples
from simdup.index.connection import MOST_PARTS, IndexFile, checksum_of
from simdup.index.entries import document_in, entry
from simdup.index.metadata import damaged, has_samples, is_made_alike
from simdup.index.segments import PIECES, SIZE, Segment, cut, segment, write_pieces, wrong_tables
from simdup.records import Document, Source
from simdup.settings import FORMATS, Limits
from simdup.storage.status import STATUS_SIZE, folder_of, status_in
from simdup.text.encodings import encoding_named

# Documents read at once.
NUMBERS_AT_ONCE = 1 << 14

# The bytes of a value of a sketch.
SKETCH_VALUE = 4

# More features than any text has.
FEATURES = 1 << 48

#: The damage of a document without a fingerprint, or of a fingerprint without a document.
DISAGREEMENT = "documents and fingerprints do not agree"


def segments(file: IndexFile, known: dict[int, Segment]) -> dict[int, Segment]:
    """Return all segments by number, taking unchanged ones from `known`.

    Within `reading` or `writing`.
    """
    stamps = file.select("SELECT id, batch FROM segments ORDER BY id", kinds=[(int, int)])
    made = {}
    for number, batch in stamps:
        old = known.get(number)
        made[number] = old if old and old.batch == batch else segment_of(file, number)
    if sum(len(each.documents) for each in made.values()) != len(file):
        raise damaged(file.path, DISAGREEMENT)
    return made


def segment_of(file: IndexFile, number: int) -> Segment:
    """Read a segment. Raises InputError if it is damaged."""
    sql = "SELECT batch, size, checksum, low, high, rows, documents FROM segments WHERE id = ?"
    kinds = [(int, int, int, int, int, bytes, bytes)]
    batch, size, checksum, *edges, packed, listed = file.row(sql, number, kinds=kinds)
    lengths = size * file.width, 8 * size
    is_sound = 0 < number < MOST_PARTS and 0 < size <= SIZE
    is_sound = is_sound and (len(packed), len(listed)) == lengths
    if is_sound and checksum_of(0, packed, listed) == checksum:
        numbers = np.frombuffer(listed, np.dtype("<i8")).astype(np.int64)
        if edges == [numbers.min(), numbers.max()]:
            rows = np.frombuffer(packed, np.uint8).reshape(size, file.width)
            return segment(batch, rows, numbers)
    raise file.broken(f"segment {number}")


def documents(file: IndexFile, numbers: Indices) -> dict[int, Document]:
    """Return documents by number. Raises InputError unless there is one for each number."""
    return {number: document for number, (document, _) in sketched(file, numbers)}


def sketched(file: IndexFile, numbers: Indices) -> Iterator[tuple[int, tuple[Document, bytes]]]:
    """Yield the number, document and sketch of each of these documents, as `documents` does."""
    sql = (
        "SELECT documents.id, folders.path, name, entry, checksum FROM json_each(?) AS asked"
        " JOIN documents ON documents.id = asked.value JOIN folders ON folders.id = folder"
    )
    for begin in range(0, len(numbers), NUMBERS_AT_ONCE):
        asked = numbers[begin : begin + NUMBERS_AT_ONCE].tolist()
        rows = file.select(sql, json.dumps(asked), kinds=[(int, bytes, bytes, bytes, int)])
        if len(rows) < len(asked):
            raise damaged(file.path, DISAGREEMENT)
        for row in rows:
            yield row[0], _document(file, row)


def every_number(file: IndexFile) -> Indices:
    """Return the numbers of all documents, ascending."""
    rows = file.execute("SELECT id FROM documents ORDER BY id")
    return np.array(rows, np.int64).reshape(-1)


def everything(
    file: IndexFile, loaded: Sequence[Segment], limits: Limits, *, is_sketched: bool = False
) -> Fingerprinted:
    """Return all documents by ascending number, their fingerprints, and if asked their sketches.

    Fingerprints come from all segments; sketches may be in a temporary file (`Collected`).
    """
    numbers = np.concatenate([np.empty(0, np.int64), *(each.documents for each in loaded)])
    order = np.argsort(numbers)
    if not np.array_equal(numbers[order], every_number(file)):
        raise damaged(file.path, DISAGREEMENT)
    known, collected = list[Document](), Collected(is_sketched=is_sketched, limits=limits)
    for begin in range(0, len(numbers), NUMBERS_AT_ONCE):
        asked = numbers[order[begin : begin + NUMBERS_AT_ONCE]]
        there = dict(sketched(file, asked))
        found = [there[number] for number in asked.tolist()]
        known += [document for document, _ in found]
        if is_sketched:
            collected.add(read_back(sketch for _, sketch in found))
    empty = np.empty((0, file.width), np.uint8)
    rows = np.concatenate([empty, *(each.rows for each in loaded)])[order]
    return Fingerprinted(tuple(known), rows, collected.sketches())


def _document(file: IndexFile, row: tuple[int, bytes, bytes, bytes, int]) -> tuple[Document, bytes]:
    """Return the document in a row, and its sketch. Raises InputError for damage."""
    number, folder, name, data, checksum = row
    path = os.fsdecode(folder + name)
    if checksum_of(number, folder, name, data) != checksum:
        raise file.broken(f"the entry of {path!r}")
    try:
        inode, size, mtime_ns, ctime_ns = status_in(data)
        found, sketch = document_in(Source(path, size, mtime_ns, ctime_ns, 0, inode), data)
        is_sound = not len(sketch) % SKETCH_VALUE
        if 0 < found.features < FEATURES and is_sound:
            _check_encoding(found.encoding)
            return found, sketch
    except (ValueError, struct.error) as error:
        raise damaged(file.path, error) from None
    raise InputError(f"{file.path!r}: the entry of {path!r} is none of a document")


@lru_cache
def _check_encoding(name: str) -> None:
    """Raise ValueError for a name of neither an encoding nor a format."""
    if name not in FORMATS and not name.startswith("."):
        encoding_named(name)


def in_folder(file: IndexFile, folder: bytes) -> dict[bytes, tuple[int, bytes]]:
    """Return the numbers and statuses of the documents right in a folder, by name."""
    sql = (
        "SELECT name, documents.id, substr(entry, 1, ?) FROM folders"
        " JOIN documents ON folder = folders.id WHERE path = ?"
    )
    found = file.select(sql, STATUS_SIZE, folder, kinds=[(bytes, int, bytes)])
    return {name: (number, data) for name, number, data in found}


def at_or_under(file: IndexFile, path: bytes) -> Indices:
    """Return the numbers of the document at this path, and of all documents under the path."""
    if not path:
        return np.empty(0, np.int64)
    folder, name = os.path.split(path)
    inside = os.path.join(path, b"")
    sql = (
        "SELECT documents.id FROM folders JOIN documents ON folder = folders.id"
        " WHERE (path = ? AND name = ?) OR (path >= ? AND path < ?)"
    )
    end = inside[:-1] + bytes([inside[-1] + 1])
    found = file.execute(sql, os.path.join(folder, b"") if folder else b"", name, inside, end)
    return np.array(found, np.int64).reshape(-1)


def problems(file: IndexFile) -> Iterator[str]:
    """Yield a line for each fault of the file."""
    for (line,) in file.execute("PRAGMA integrity_check"):
        if line != "ok":
            yield f"SQLite: {line}"
    numbers = [np.empty(0, np.int64)]
    for (own,) in file.execute("SELECT id FROM segments"):
        found, lines = _checked_segment(file, own)
        numbers.append(found)
        yield from lines
    listed, known = np.concatenate(numbers), every_number(file)
    if not np.array_equal(np.sort(listed), known) or len(known) != len(file):
        yield f"{len(known):,} documents, but {len(listed):,} fingerprints, or those of others"
    if len(known) and known[-1] >= file.number("next"):
        yield "the number of the next document is taken"
    for begin in range(0, len(known), NUMBERS_AT_ONCE):
        try:
            documents(file, known[begin : begin + NUMBERS_AT_ONCE])
        except InputError as error:
            yield str(error)
    yield from samples.problems(file, known)
    for block in file.blocks:
        sql = (
            f"SELECT count(*) FROM block_{block}"  # noqa: S608  (a number)
            " WHERE id / ? NOT IN (SELECT id FROM segments)"
        )
        if file.execute(sql, PIECES) != [(0,)]:
            yield f"the table of block {block} has what is in no segment"


def _checked_segment(file: IndexFile, own: int) -> tuple[Indices, list[str]]:
    """Return the numbers of a segment's documents, and a line for each thing wrong with it."""
    try:
        found = segment_of(file, own)
    except InputError:
        return np.empty(0, np.int64), [f"segment {own} is damaged"]
    return found.documents, [
        f"the table of block {block} does not agree with segment {own}"
        for block in wrong_tables(file, own, found)
    ]


# Changing, within `IndexFile.writing`


def put(file: IndexFile, documents: Sequence[Document], rows: Rows, sketches: Sketches) -> int:
    """Add documents with fingerprints and sketches; return how many replace one of the same path.

    Of several with one path the last is kept. Sketches are dense too if the index has samples.
    """
    last = sorted({each.path: index for index, each in enumerate(documents)}.values())
    documents, rows = [documents[index] for index in last], rows[last]
    sketches = sketches.take(np.array(last, np.int64))
    counts = np.array([each.features for each in documents], np.int64)
    each_sketch = sketches.each()
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
            data = entry(document, next(each_sketch))
            entries.append((own, parent, name, data, checksum_of(own, folder, name, data)))
    insert = "INSERT OR IGNORE INTO documents VALUES (?, ?, ?, ?, ?)"
    new = file.execute_many(insert, entries) if entries else 0
    if new < len(entries):
        _make_way(file, entries)
        if new + file.execute_many(insert, entries) < len(entries):
            raise InputError(f"{file.path!r}: the next number is taken; build the index anew")
    file.execute("UPDATE about SET value = ? WHERE name = 'next'", first + len(entries))
    _pack(file, np.arange(first, first + len(entries)), rows)
    if has_samples(file.about):
        dense = thinned(sketches, counts, DENSE_LEVELS)
        samples.add_run(file, np.arange(first, first + len(entries)), dense)
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
        whole = np.concatenate((old_rows, rows[:fit]))
        _write(file, own, batch, whole, np.concatenate((old_numbers, numbers[:fit])))
        numbers, rows = numbers[fit:], rows[fit:]


def _write(file: IndexFile, own: int | None, batch: int, rows: Rows, numbers: Indices) -> None:
    """Write a segment, a new one if it has no number yet; delete it if it is empty."""
    own = file.new_part("segments") if own is None else own
    write_pieces(file, own, rows, numbers)
    if not len(numbers):
        file.execute("DELETE FROM segments WHERE id = ?", own)
        return
    packed, listed = rows.tobytes(), numbers.astype("<i8").tobytes()
    low, high, checksum = int(numbers.min()), int(numbers.max()), checksum_of(0, packed, listed)
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
        raise damaged(file.path, DISAGREEMENT)
    if has_samples(file.about) and len(gone):
        samples.take_out_samples(file, gone)
    _count(file, -len(gone))


def forget_empty_folders(file: IndexFile) -> None:
    """Drop folders that have no document any more."""
    file.execute(
        "DELETE FROM folders WHERE NOT EXISTS (SELECT 1 FROM documents WHERE folder = folders.id)"
    )


class ReaderPool:
    """Read connections, each lent to one thread at a time and kept for reuse until `close`.

    If another file replaces the index under its name, it is read from then on, provided that it
    is an index made in the same way. Every method raises InputError for a damaged or unusable
    file.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        #: How the index was made, as it was written when it was opened last.
        self.about: dict[str, Any] = {}
        self._lock = threading.Lock()
        self._idle: list[IndexFile] = []
        # The identity of the file whose segments were read last, and these segments.
        self._segments: tuple[object, dict[int, Segment]] = (None, {})
        with self.one():
            pass  # so that an index that cannot be opened is reported at once

    def close(self) -> None:
        """Close all connections; those in use by other threads close when they are returned."""
        with self._lock:
            idle, self._idle = self._idle, []
            self._segments = (None, {})
        for reader in idle:
            reader.close()

    @contextmanager
    def one(self) -> Iterator[IndexFile]:
        """Lend a connection to the current file that no other thread uses meanwhile."""
        with self._lock:
            idle = self._idle
            reader = idle.pop() if idle else None
        if reader is None or not reader.is_there():
            if reader is not None:
                reader.close()
            reader = self._opened()
        try:
            yield reader
        except BaseException:
            reader.close()
            raise
        with self._lock:
            is_open = idle is self._idle
            if is_open:
                idle.append(reader)
        if not is_open:
            reader.close()

    def _opened(self) -> IndexFile:
        reader = IndexFile(self.path)
        if self.about and not is_made_alike(reader.about, self.about):
            reader.close()
            other = "an index that is made in another way has taken its place"
            raise InputError(f"{self.path!r}: {other}; open it anew")
        self.about = reader.about
        return reader

    def loaded(self, reader: IndexFile, bits: int) -> list[Segment]:
        """Return the current segments, cut to `bits`; only changed segments are read anew."""
        identity, known = self._segments
        found = segments(reader, known if identity == reader.identity else {})
        self._segments = (reader.identity, found)
        return cut(list(found.values()), bits)
