"""Keys in, pairs of rows whose keys differ in a few bits out: the tables of multi-index hashing.

A key is a block of a fingerprint, as a number; rows with the same key are a bucket.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from simdup.search.hamming import Rows

# Pairs looked at together, which bounds the memory of a search to some 100 MB.
CHUNK = 1 << 20


def keys_of(rows: Rows, begin: int, width: int) -> NDArray[np.uint32]:
    """The `width` bits from bit `begin` of each row, as a number; width is 25 at most."""
    last = begin + width
    key = np.zeros(len(rows), np.uint64)
    for byte in range(begin // 8, -(-last // 8)):
        key = key << np.uint64(8) | rows[:, byte]
    key >>= np.uint64(-last % 8)
    return (key & np.uint64((1 << width) - 1)).astype(np.uint32)


def sharing(
    keys: NDArray[np.uint32], width: int, radius: int
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Pairs of rows whose keys differ in at most `radius` bits, each once, in chunks."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    starts = np.zeros((1 << width) + 1, np.int64)
    np.cumsum(np.bincount(ordered, minlength=1 << width), out=starts[1:])
    for flips in range(radius + 1):
        for bits in combinations(range(width), flips):
            mask = np.uint32(sum(1 << bit for bit in bits))
            other = ordered ^ mask
            # Of two different buckets the lower one looks; in one bucket, each at those behind it.
            begins = starts[other] if flips else np.arange(1, len(keys) + 1)
            counts = starts[other.astype(np.int64) + 1] - begins
            if flips:
                counts[other < ordered] = 0
            for left, right in ranges(begins, counts):
                yield order[left], order[right]


def ranges(
    begins: NDArray[np.int64], counts: NDArray[np.int64]
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Each index i with begins[i], begins[i] + 1, ... counts[i] times, in chunks of CHUNK."""
    busy = np.flatnonzero(counts)
    begins, counts = begins[busy], counts[busy]
    ends = np.cumsum(counts)
    for low in range(0, int(ends[-1]) if len(ends) else 0, CHUNK):
        high = min(low + CHUNK, int(ends[-1]))
        first, last = np.searchsorted(ends, (low, high - 1), side="right")
        part = slice(first, last + 1)
        before = ends[part] - counts[part]
        taken = np.minimum(ends[part], high) - np.maximum(before, low)
        serial = np.arange(low, high) + np.repeat(begins[part] - before, taken)
        yield np.repeat(busy[part], taken), serial
