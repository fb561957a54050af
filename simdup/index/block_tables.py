"""The tables of blocks: near fingerprints of 64 bits, found without loading any segment.

Of two fingerprints within 3 bits one of the four 16-bit blocks is equal. So those of a segment
lie in four tables, in each in the order of another block and cut into pieces by its first
bits: the piece of the question in every table holds all candidates.
Source: Manku, Jain, Das Sarma, "Detecting near-duplicates for web crawling", 2007, section 3.

A piece is of one segment and is written with it: a batch writes as much of a large index as of
a small one. Rows of their own in four large tables, in the order of all fingerprints, would
have it change nearly every page of these.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from simdup.errors import InputError
from simdup.index.file.connection import BLOCKED_BITS, BLOCKS, sound
from simdup.index.segments import in_order

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from simdup.index.file.connection import Catalogue
    from simdup.index.segments import Numbers, Segment
    from simdup.search.hamming import Rows

    Values = NDArray[np.uint64]

#: So many bits of two fingerprints may differ.
BLOCKED_K = BLOCKS - 1

# The pieces of a segment in a table: in a full one 64 fingerprints each, if they are random.
PIECE_BITS = 10
PIECES = 1 << PIECE_BITS

# Fingerprints in a piece: of more it is NULL, for all are sooner compared.
MOST_IN_PIECE = 2048

BLOCK = BLOCKED_BITS // BLOCKS

# A fingerprint, and its document's number less the lowest of the segment.
ENTRY = np.dtype([("fingerprint", "<u8"), ("document", "<u4")])


def write_pieces(catalogue: Catalogue, number: int, rows: Rows, numbers: Numbers) -> None:
    """Write the fingerprints of a segment into all tables, instead of what they had of it."""
    first, last = number * PIECES, number * PIECES + PIECES - 1
    for block in range(BLOCKS if catalogue.has_blocks else 0):
        table = f"block_{block}"
        catalogue.ask(f"DELETE FROM {table} WHERE id BETWEEN ? AND ?", first, last)  # noqa: S608
        if len(numbers):
            insert = f"INSERT INTO {table} VALUES (?, ?, ?)"  # noqa: S608
            catalogue.tell(insert, pieces(block, number, rows, numbers))


def pieces(
    block: int, number: int, rows: Rows, numbers: Numbers
) -> Iterator[tuple[int, bytes | None, int]]:
    """The rows of a table for a segment: place, entries and their checksum."""
    values, low = _values(rows), int(numbers.min())
    if int(numbers.max()) - low >> 32:
        raise InputError("numbers of documents are too far apart; build the index anew")
    own = _block(values, block)
    order = np.argsort(own, kind="stable")
    entries = np.empty(len(rows), ENTRY)
    entries["fingerprint"], entries["document"] = values[order], numbers[order] - low
    edges = np.arange(PIECES + 1) << BLOCK - PIECE_BITS
    bounds = np.searchsorted(own[order].astype(np.int64), edges).tolist()
    packed, size = entries.tobytes(), ENTRY.itemsize
    for place, (begin, end) in enumerate(pairwise(bounds), number * PIECES):
        if begin < end:
            is_few = end - begin <= MOST_IN_PIECE
            data = packed[size * begin : size * end] if is_few else None
            yield place, data, checksum_of(place, low, data)


def checksum_of(place: int, low: int, entries: bytes | None) -> int:
    """Of a piece, where it belongs, and the lowest number of its segment."""
    return crc32(entries or b"", (place ^ low) & 0xFFFFFFFF)


def looked_up(catalogue: Catalogue, questions: Rows, k: int) -> Numbers | None:
    """What `segments.within` gives, from the tables of blocks; None where they do not answer."""
    found = [np.empty((0, 3), np.int64)]
    for index, question in enumerate(questions[:, None]):
        near = by_blocks(catalogue, question, k)
        if near is None:
            return None
        near[:, 0] = index
        found.append(near)
    return np.concatenate(found)


@sound
def by_blocks(catalogue: Catalogue, question: Rows, k: int) -> Numbers | None:
    """What `segments.within` gives for one question, from the tables of blocks.

    None where they do not answer: for other sizes or more bits than they are for, and
    where too many fingerprints share a block.
    """
    if not catalogue.has_blocks or k > BLOCKED_K:
        return None
    found = []
    for block in range(BLOCKS):
        candidates = _candidates(catalogue, block, _values(question))
        if candidates is None:
            return None
        differences, numbers = candidates
        is_near = (np.bitwise_count(differences) <= k) & (_block(differences, block) == 0)
        found.append((differences[is_near], numbers[is_near]))
    every, places = map(np.concatenate, zip(*found, strict=True))
    numbers, first, counts = np.unique(places, return_index=True, return_counts=True)
    differences = every[first]
    # Whatever shares n blocks with the question stands n times in the tables.
    shared = sum((_block(differences, block) == 0).astype(np.int64) for block in range(BLOCKS))
    if not np.array_equal(counts, shared):
        raise InputError(f"{catalogue.path!r}: a table of blocks is damaged; build it anew")
    distances = np.bitwise_count(differences)
    return in_order(np.column_stack((np.zeros_like(numbers), numbers, distances)))


def _candidates(catalogue: Catalogue, block: int, asked: Values) -> tuple[Values, Numbers] | None:
    """How what may share a block with the question differs from it, and whose that is.

    None if it is too much.
    """
    table, piece = f"block_{block}", int(_block(asked, block)[0]) >> BLOCK - PIECE_BITS
    sql = (
        f"SELECT {table}.id, low, entries, {table}.checksum FROM segments"  # noqa: S608
        f" JOIN {table} ON {table}.id = segments.id * {PIECES} + ?"
    )
    lows, packed = [], []
    for place, low, data, checksum in catalogue.ask(sql, piece):
        if checksum_of(place, low, data) != checksum:
            raise InputError(f"{catalogue.path!r}: the table {table} is damaged; build it anew")
        if data is None:
            return None
        lows.append(low)
        packed.append(data)
    entries = np.frombuffer(b"".join(packed), ENTRY)
    sizes = [len(data) // ENTRY.itemsize for data in packed]
    numbers = np.repeat(np.array(lows, np.int64), sizes) + entries["document"]
    return entries["fingerprint"].astype(np.uint64) ^ asked, numbers


def wrong_tables(catalogue: Catalogue, number: int, found: Segment) -> list[int]:
    """The blocks whose tables say something else of a segment than it does itself."""
    wrong = []
    for block in range(BLOCKS if catalogue.has_blocks else 0):
        sql = f"SELECT * FROM block_{block} WHERE id BETWEEN ? AND ? ORDER BY id"  # noqa: S608
        there = catalogue.ask(sql, number * PIECES, number * PIECES + PIECES - 1)
        if there != list(pieces(block, number, found.rows, found.documents)):
            wrong.append(block)
    return wrong


def _values(rows: Rows) -> Values:
    """Fingerprints as numbers, the first byte lowest."""
    return np.ascontiguousarray(rows).view("<u8").astype(np.uint64).reshape(-1)


def _block(values: Values, block: int) -> NDArray[np.uint16]:
    """A block of each number."""
    return (values >> np.uint64(BLOCK * block)).astype(np.uint16)
