"""What is in an index: segments of fingerprints, documents, places."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from simdup.catalogue.file import BLOCK, BLOCKED_BITS, BLOCKED_K, rotations
from simdup.entries import made_of, status_in
from simdup.errors import InputError
from simdup.records import Document, Source
from simdup.segments import Segment, in_order, segment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simdup.catalogue.file import Catalogue
    from simdup.hamming import Rows
    from simdup.segments import Numbers

# Fingerprints that share a block with a question: more are sooner compared with all others.
MOST_IN_BLOCK = 4096

# Documents asked for at once.
NUMBERS_AT_ONCE = 1 << 14


def segments(catalogue: Catalogue, known: dict[int, Segment]) -> dict[int, Segment]:
    """All segments by number; those in `known` that have not changed since are the same."""
    stamps = dict(catalogue.ask("SELECT id, batch FROM segments ORDER BY id"))
    made = {}
    for number, batch in stamps.items():
        old = known.get(number)
        made[number] = old if old and old.batch == batch else segment_of(catalogue, number)
    return made


def segment_of(catalogue: Catalogue, number: int) -> Segment:
    """A segment as it is in the file. Raises InputError if it is damaged."""
    sql = "SELECT batch, size, rows, documents, checksum FROM segments WHERE id = ?"
    ((batch, size, packed, numbers, checksum),) = catalogue.ask(sql, number)
    is_whole = (len(packed), len(numbers)) == (size * catalogue.width, 8 * size)
    if not is_whole or crc32(numbers, crc32(packed)) != checksum:
        raise InputError(f"{catalogue.path!r}: segment {number} is damaged; build the index anew")
    rows = np.frombuffer(packed, np.uint8).reshape(size, catalogue.width)
    return segment(batch, rows, np.frombuffer(numbers, np.dtype("<i8")).astype(np.int64))


def by_blocks(catalogue: Catalogue, question: Rows, k: int) -> Numbers | None:
    """What `segments.within` gives for one question, from the tables of blocks.

    None where they do not answer: for other sizes or more bits than they are for, and
    where too many fingerprints share a block.
    """
    if not catalogue.has_blocks or k > BLOCKED_K:
        return None
    found, rest = [], BLOCKED_BITS - BLOCK
    for block, turned in enumerate(rotations(question)):
        low = int(turned[0]) >> rest << rest
        near = catalogue.ask(
            f"SELECT fingerprint, document FROM block_{block}"  # noqa: S608  (a number)
            " WHERE fingerprint BETWEEN ? AND ? LIMIT ?",
            low,
            low + (1 << rest) - 1,
            MOST_IN_BLOCK + 1,
        )
        if len(near) > MOST_IN_BLOCK:
            return None
        values = np.array(near, np.int64).reshape(-1, 2)
        distances = np.bitwise_count((values[:, 0] ^ turned[0]).view(np.uint64))
        same = np.zeros(len(values), np.int64)
        rows = np.column_stack((same, values[:, 1], distances))
        found.append(rows[distances <= k])
    return in_order(np.unique(np.concatenate(found), axis=0))


def documents(catalogue: Catalogue, numbers: Numbers) -> dict[int, Document]:
    """Documents by their numbers."""
    found = {}
    for begin in range(0, len(numbers), NUMBERS_AT_ONCE):
        asked = json.dumps(numbers[begin : begin + NUMBERS_AT_ONCE].tolist())
        sql = (
            "SELECT documents.id, folders.path, name, entry, checksum FROM json_each(?) AS asked"
            " JOIN documents ON documents.id = asked.value"
            " JOIN folders ON folders.id = folder"
        )
        for number, *columns in catalogue.ask(sql, asked):
            found[number] = _document(catalogue, *columns)
    return found


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
        for number, *columns in found:
            yield number, _document(catalogue, *columns)


def _document(
    catalogue: Catalogue, folder: bytes, name: bytes, data: bytes, checksum: int
) -> Document:
    path = os.fsdecode(folder + name)
    if crc32(data, crc32(name, crc32(folder))) != checksum:
        raise InputError(f"{catalogue.path!r}: the entry of {path!r} is damaged; build it anew")
    inode, size, mtime_ns, ctime_ns = status_in(data)
    found, _ = made_of(Source(path, size, mtime_ns, ctime_ns, 0, inode), data, 0)
    if not isinstance(found, Document):
        raise InputError(f"{catalogue.path!r}: the entry of {path!r} is none of a document")
    return found


def in_folder(catalogue: Catalogue, folder: bytes) -> dict[bytes, tuple[int, bytes]]:
    """The documents right in a folder: their numbers and entries, by name."""
    sql = (
        "SELECT name, documents.id, entry FROM folders JOIN documents ON folder = folders.id"
        " WHERE path = ?"
    )
    return {name: (number, data) for name, number, data in catalogue.ask(sql, folder)}


def at_or_under(catalogue: Catalogue, path: bytes) -> Numbers:
    """The numbers of the document of this path, and of those in a folder of this path."""
    folder, name = os.path.split(path)
    inside = os.path.join(path, b"")
    sql = (
        "SELECT documents.id FROM folders JOIN documents ON folder = folders.id"
        " WHERE (path = ? AND name = ?) OR (path >= ? AND path < ?)"
    )
    end = inside[:-1] + bytes([inside[-1] + 1])
    found = catalogue.ask(sql, os.path.join(folder, b"") if folder else b"", name, inside, end)
    return np.array(found, np.int64).reshape(-1)


def places(catalogue: Catalogue) -> dict[bytes, str | None]:
    """What was added, with its filters as JSON; None for what was taken out."""
    return dict(catalogue.ask("SELECT path, filters FROM places ORDER BY path"))
