"""Reading an index: segments of fingerprints, documents, places, and whether they agree.

A `ReaderPool` shares connections, and the segments read last, between threads.
"""

from __future__ import annotations

import json
import os
import struct
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any
from zlib import crc32

import numpy as np

from simdup.arrays import Indices
from simdup.errors import InputError
from simdup.files.fingerprint import Fingerprinted
from simdup.fingerprint.sketch import Collected, read_back
from simdup.index import samples
from simdup.index.connection import IndexFile
from simdup.index.metadata import damaged, is_made_alike
from simdup.index.segments import PIECES, SIZE, Segment, cut, segment, wrong_tables
from simdup.records import Document, Source
from simdup.settings import FORMATS
from simdup.storage.codec import STATUS_SIZE, outcome_in, status_in
from simdup.text.encodings import encoding_named

# Documents read at once.
NUMBERS_AT_ONCE = 1 << 14

# The bytes of a value of a sketch.
SKETCH_VALUE = 4

# More features than any text has.
FEATURES = 1 << 48

#: More segments than any index has.
SEGMENTS = 1 << 32


def disagreement(file: IndexFile) -> InputError:
    """Return the error for a document without a fingerprint, or one without a document."""
    told = "documents and fingerprints do not agree; build the index anew"
    return InputError(f"{file.path!r}: {told}")


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
        raise disagreement(file)
    return made


def segment_of(file: IndexFile, number: int) -> Segment:
    """Read a segment. Raises InputError if it is damaged."""
    sql = "SELECT batch, size, checksum, low, high, rows, documents FROM segments WHERE id = ?"
    kinds = [(int, int, int, int, int, bytes, bytes)]
    batch, size, checksum, *edges, packed, listed = file.row(sql, number, kinds=kinds)
    lengths = size * file.width, 8 * size
    is_sound = 0 < number < SEGMENTS and 0 < size <= SIZE
    is_sound = is_sound and (len(packed), len(listed)) == lengths
    if is_sound and crc32(listed, crc32(packed)) == checksum:
        numbers = np.frombuffer(listed, np.dtype("<i8")).astype(np.int64)
        if edges == [numbers.min(), numbers.max()]:
            rows = np.frombuffer(packed, np.uint8).reshape(size, file.width)
            return segment(batch, rows, numbers)
    told = f"segment {number} is damaged; build the index anew"
    raise InputError(f"{file.path!r}: {told}")


def documents(file: IndexFile, numbers: Indices) -> dict[int, Document]:
    """Return documents by number. Raises InputError unless there is one for each number."""
    found = {number: document for number, (document, _) in sketched(file, numbers)}
    if len(found) < len(numbers):
        raise disagreement(file)
    return found


def sketched(file: IndexFile, numbers: Indices) -> Iterator[tuple[int, tuple[Document, bytes]]]:
    """Yield the number, document and sketch of each of these documents that exists."""
    sql = (
        "SELECT documents.id, folders.path, name, entry, checksum FROM json_each(?) AS asked"
        " JOIN documents ON documents.id = asked.value JOIN folders ON folders.id = folder"
    )
    for begin in range(0, len(numbers), NUMBERS_AT_ONCE):
        asked = json.dumps(numbers[begin : begin + NUMBERS_AT_ONCE].tolist())
        for row in file.select(sql, asked, kinds=[(int, bytes, bytes, bytes, int)]):
            yield row[0], _document(file, row)


def every_number(file: IndexFile) -> Indices:
    """Return the numbers of all documents, ascending."""
    rows = file.execute("SELECT id FROM documents ORDER BY id")
    return np.array(rows, np.int64).reshape(-1)


def everything(
    file: IndexFile, loaded: Sequence[Segment], *, is_sketched: bool = False
) -> Fingerprinted:
    """Return all documents by ascending number, their fingerprints, and if asked their sketches.

    Fingerprints come from all segments; sketches may be in a temporary file (`Collected`).
    """
    numbers = np.concatenate([np.empty(0, np.int64), *(each.documents for each in loaded)])
    order = np.argsort(numbers)
    if not np.array_equal(numbers[order], every_number(file)):
        raise disagreement(file)
    known, collected = list[Document](), Collected(is_sketched=is_sketched)
    for begin in range(0, len(numbers), NUMBERS_AT_ONCE):
        asked = numbers[order[begin : begin + NUMBERS_AT_ONCE]]
        there = dict(sketched(file, asked))
        if len(there) < len(asked):
            raise disagreement(file)
        found = [there[number] for number in asked.tolist()]
        known += [document for document, _ in found]
        if is_sketched:
            collected.add(read_back(sketch for _, sketch in found))
    empty = np.empty((0, file.width), np.uint8)
    rows = np.concatenate([empty, *(each.rows for each in loaded)])[order]
    return Fingerprinted(tuple(known), rows, collected.sketches())


def checksum_of(number: int, folder: bytes, name: bytes, data: bytes) -> int:
    """Return the checksum of all that is written of a document besides its fingerprint."""
    return crc32(data, crc32(name, crc32(folder, number & 0xFFFFFFFF)))


def _document(file: IndexFile, row: tuple[int, bytes, bytes, bytes, int]) -> tuple[Document, bytes]:
    """Return the document in a row, and its sketch. Raises InputError for damage."""
    number, folder, name, data, checksum = row
    path = os.fsdecode(folder + name)
    if checksum_of(number, folder, name, data) != checksum:
        raise InputError(f"{file.path!r}: the entry of {path!r} is damaged; build it anew")
    try:
        inode, size, mtime_ns, ctime_ns = status_in(data)
        found, _, sketch = outcome_in(Source(path, size, mtime_ns, ctime_ns, 0, inode), data, 0)
        is_sound = not len(sketch) % SKETCH_VALUE
        if isinstance(found, Document) and 0 < found.features < FEATURES and is_sound:
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


def places(file: IndexFile) -> dict[bytes, str | None]:
    """Return the paths that were added, with their filters as JSON; None for removed ones."""
    found = dict(file.execute("SELECT path, filters FROM places ORDER BY path"))
    for path, filters in found.items():
        # An update walks these paths; a relative one would depend on the current folder.
        if type(path) is not bytes or not os.path.isabs(path) or b"\0" in path:
            raise damaged(file.path, f"place {path!r:.80}, which is not an absolute path")
        if not isinstance(filters, str | None):
            raise damaged(file.path, f"filters {filters!r:.80}")
    return found


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
