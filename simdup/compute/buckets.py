"""Keys in, the same keys sorted or in buckets out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import pairwise

import numpy as np

from simdup.arrays import Indices, Words
from simdup.compute.compiled import each_in_threads, loaded_kernels

# Keys that a thread puts into buckets at once, 16 MB, and the most threads that do so, since one
# thread writes what they make. More keys lie in a file.
KEYS_AT_ONCE, MOST_THREADS = 1 << 21, 2

_HALF = np.uint64(32)
_NO_KEYS = np.empty(0, np.uint64)


def sorted_keys(keys: Words) -> Words:
    """The keys (n,), ascending. Their array, which can be written to, has no meaning afterwards."""
    if kernels := loaded_kernels():
        return kernels.sorted_keys(keys)
    keys.sort()
    return keys


def in_buckets(chunks: Iterable[Words], buckets: int) -> Iterator[Words]:
    """Yield the keys of all chunks in so many buckets, equal high halves in the same one.

    The number of buckets is a power of two. Many keys lie in a temporary file.
    """
    from tempfile import SpooledTemporaryFile  # noqa: PLC0415  slow to import

    bounds = list[Indices]()
    with SpooledTemporaryFile(8 * KEYS_AT_ONCE) as file:
        order = partial(_ordered, buckets)
        for ordered, ends in each_in_threads(order, _blocks(chunks), MOST_THREADS):
            bounds.append(np.append(0, 8 * ends) + file.tell())
            file.write(ordered.data)
        for begins, ends in pairwise(np.transpose(bounds).tolist()):
            parts = list[bytes]()
            for begin, end in zip(begins, ends, strict=True):
                file.seek(begin)
                parts.append(file.read(end - begin))
            yield np.frombuffer(bytearray().join(parts), np.uint64)


def _blocks(chunks: Iterable[Words]) -> Iterator[list[Words]]:
    """Yield several chunks together, at least KEYS_AT_ONCE keys but for the last ones."""
    waiting, count = [_NO_KEYS], 0
    for keys in chunks:
        waiting.append(keys)
        count += len(keys)
        if count >= KEYS_AT_ONCE:
            yield waiting
            waiting, count = [_NO_KEYS], 0
    yield waiting


def _ordered(buckets: int, chunks: list[Words]) -> tuple[Words, Indices]:
    """The result of `by_bucket` for the keys of several chunks."""
    return by_bucket(np.concatenate(chunks), buckets)


def by_bucket(keys: Words, buckets: int) -> tuple[Words, Indices]:
    """The keys by the last bits of their high halves, and where each bucket ends."""
    if kernels := loaded_kernels():
        return kernels.by_bucket(keys, buckets)
    bucket = ((keys >> _HALF) & np.uint64(buckets - 1)).astype(np.uint16)
    order = np.argsort(bucket, kind="stable")
    return keys[order], np.cumsum(np.bincount(bucket, minlength=buckets))
