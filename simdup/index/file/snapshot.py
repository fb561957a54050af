"""What is in an index: segments of fingerprints, documents, places."""

from __future__ import annotations

import json
import os
from functools import lru_cache
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from simdup.errors import InputError
from simdup.index.file.connection import explained, sound
from simdup.index.segments import Segment, segment
from simdup.records import Document, Source
from simdup.settings import FORMATS
from simdup.storage.codec import made_of, status_in
from simdup.text.encodings import encoding_named

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simdup.index.file.connection import Catalogue
    from simdup.index.segments import Numbers
    from simdup.search.hamming import Rows

# Documents asked for at once.
NUMBERS_AT_ONCE = 1 << 14

# More features than any text has.
FEATURES = 1 << 48

#: What is wrong where one is there without the other.
DISAGREEMENT = "documents and fingerprints do not agree; build the index anew"


@sound
def segments(catalogue: Catalogue, known: dict[int, Segment]) -> dict[int, Segment]:
    """All segments by number; those in `known` that have not changed since are the same.

    Within `Catalogue.reading` or `writing`.
    """
    stamps = dict(catalogue.ask("SELECT id, batch FROM segments ORDER BY id"))
    made = {}
    for number, batch in stamps.items():
        old = known.get(number)
        made[number] = old if old and old.batch == batch else segment_of(catalogue, number)
    if sum(len(each.documents) for each in made.values()) != len(catalogue):
        raise InputError(f"{catalogue.path!r}: {DISAGREEMENT}")
    return made


@sound
def segment_of(catalogue: Catalogue, number: int) -> Segment:
    """A segment as it is in the file. Raises InputError if it is damaged."""
    sql = "SELECT batch, size, low, high, rows, documents, checksum FROM segments WHERE id = ?"
    ((batch, size, low, high, packed, listed, checksum),) = catalogue.ask(sql, number)
    is_whole = (len(packed), len(listed)) == (size * catalogue.width, 8 * size)
    numbers = np.frombuffer(listed, np.dtype("<i8")).astype(np.int64)
    is_whole = is_whole and crc32(listed, crc32(packed)) == checksum
    if not is_whole or (low, high) != (numbers.min(), numbers.max()):
        raise InputError(f"{catalogue.path!r}: segment {number} is damaged; build the index anew")
    rows = np.frombuffer(packed, np.uint8).reshape(size, catalogue.width)
    return segment(batch, rows, numbers)


@sound
def documents(catalogue: Catalogue, numbers: Numbers) -> dict[int, Document]:
    """Documents by their numbers, each of which is to come once and to be there."""
    found: dict[int, Document] = {}
    for begin in range(0, len(numbers), NUMBERS_AT_ONCE):
        asked = json.dumps(numbers[begin : begin + NUMBERS_AT_ONCE].tolist())
        sql = (
            "SELECT documents.id, folders.path, name, entry, checksum FROM json_each(?) AS asked"
            " JOIN documents ON documents.id = asked.value"
            " JOIN folders ON folders.id = folder"
        )
        found |= {row[0]: _document(catalogue, row) for row in catalogue.ask(sql, asked)}
    if len(found) < len(numbers):
        raise InputError(f"{catalogue.path!r}: {DISAGREEMENT}")
    return found


@sound
def every_number(catalogue: Catalogue) -> Numbers:
    """The numbers of all documents, rising."""
    return np.array(catalogue.ask("SELECT id FROM documents ORDER BY id"), np.int64).reshape(-1)


def every_document(catalogue: Catalogue) -> Iterator[tuple[int, Document]]:
    """All documents with their numbers, in their order."""
    last = 0
    sql = (
        "SELECT documents.id, path, name, entry, checksum FROM documents"
        " JOIN folders ON folders.id = folder WHERE documents.id > ?"
        " ORDER BY documents.id LIMIT ?"
    )
    while found := catalogue.ask(sql, last, NUMBERS_AT_ONCE):
        last = found[-1][0]
        with explained(catalogue.path):
            part = [(row[0], _document(catalogue, row)) for row in found]
        yield from part


@sound
def everything(catalogue: Catalogue, loaded: Sequence[Segment]) -> tuple[list[Document], Rows]:
    """All documents in the order of their numbers, and their fingerprints, from all segments."""
    known = dict(every_document(catalogue))
    numbers = np.concatenate([np.empty(0, np.int64), *(each.documents for each in loaded)])
    order = np.argsort(numbers)
    if numbers[order].tolist() != list(known):
        raise InputError(f"{catalogue.path!r}: {DISAGREEMENT}")
    rows = np.concatenate([each.rows for each in loaded])[order] if loaded else None
    empty = np.empty((0, catalogue.width), np.uint8)
    return list(known.values()), empty if rows is None else rows


def checksum_of(number: int, folder: bytes, name: bytes, data: bytes) -> int:
    """Of all that is written of a document besides its fingerprint."""
    return crc32(data, crc32(name, crc32(folder, number & 0xFFFFFFFF)))


def _document(catalogue: Catalogue, row: tuple[int, bytes, bytes, bytes, int]) -> Document:
    number, folder, name, data, checksum = row
    path = os.fsdecode(folder + name)
    if checksum_of(number, folder, name, data) != checksum:
        raise InputError(f"{catalogue.path!r}: the entry of {path!r} is damaged; build it anew")
    inode, size, mtime_ns, ctime_ns = status_in(data)
    found, _ = made_of(Source(path, size, mtime_ns, ctime_ns, 0, inode), data, 0)
    if not isinstance(found, Document) or not 0 < found.features < FEATURES:
        raise InputError(f"{catalogue.path!r}: the entry of {path!r} is none of a document")
    _check_encoding(found.encoding)
    return found


@lru_cache
def _check_encoding(name: str) -> None:
    """Raise ValueError for what neither is an encoding nor names a format."""
    if name not in FORMATS and not name.startswith("."):
        encoding_named(name)


@sound
def in_folder(catalogue: Catalogue, folder: bytes) -> dict[bytes, tuple[int, bytes]]:
    """The documents right in a folder: their numbers and entries, by name."""
    sql = (
        "SELECT name, documents.id, entry FROM folders JOIN documents ON folder = folders.id"
        " WHERE path = ?"
    )
    found = {name: (number, data) for name, number, data in catalogue.ask(sql, folder)}
    if not all(type(name) is type(data) is bytes for name, (_, data) in found.items()):
        raise ValueError(f"names or entries in {folder!r}")
    return found


@sound
def at_or_under(catalogue: Catalogue, path: bytes) -> Numbers:
    """The numbers of the document of this path, and of those in a folder of this path."""
    if not path:
        return np.empty(0, np.int64)
    folder, name = os.path.split(path)
    inside = os.path.join(path, b"")
    sql = (
        "SELECT documents.id FROM folders JOIN documents ON folder = folders.id"
        " WHERE (path = ? AND name = ?) OR (path >= ? AND path < ?)"
    )
    end = inside[:-1] + bytes([inside[-1] + 1])
    found = catalogue.ask(sql, os.path.join(folder, b"") if folder else b"", name, inside, end)
    return np.array(found, np.int64).reshape(-1)


@sound
def places(catalogue: Catalogue) -> dict[bytes, str | None]:
    """What was added, with its filters as JSON; None for what was taken out."""
    found = dict(catalogue.ask("SELECT path, filters FROM places ORDER BY path"))
    for path in found:
        # An update walks them: a relative one would be whatever is in the current folder.
        if type(path) is not bytes or not os.path.isabs(path) or b"\0" in path:
            raise ValueError(f"place {path!r:.80}, which is not an absolute path")
    return found
