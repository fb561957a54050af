"""Hamming distances between packed fingerprints.

A fingerprint of `bits` bits is one row of `bits // 8` bytes, first bit highest (the
order of `numpy.packbits`). A collection is a uint8 array of shape (n, bits // 8). A
distance counts differing bits: an integer, 0 to `bits`.
"""

from __future__ import annotations

import numpy as np

from simdup.arrays import Distances, Indices, Rows, Words

# Pairs of rows compared at once: their scratch fits in the cache.
PAIRS_AT_ONCE = 1 << 13


def hamming_distances(queries: Rows, rows: Rows) -> Distances:
    """Differing bits between every query and every row.

    Takes shapes (q, width) and (n, width) in bytes; returns shape (q, n). Raises
    ValueError if the widths differ, TypeError unless both are arrays of fingerprints.

    >>> hamming_distances(np.uint8([[0b1111_0000]]), np.uint8([[0b1111_0000], [0b0000_0001]]))
    array([[0, 5]], dtype=uint16)
    """
    check_rows(queries, "queries")
    check_rows(rows)
    if queries.shape[1] != rows.shape[1]:
        bits = f"{8 * queries.shape[1]} and {8 * rows.shape[1]} bits"
        raise ValueError(f"cannot compare fingerprints of {bits}")
    return word_distances(words(queries).T, words(rows).T)


def word_distances(left: Words, right: Words) -> Distances:
    """Distances between columns of 64-bit words, (words, q) and (words, n): shape (q, n)."""
    total = np.zeros((left.shape[1], right.shape[1]), np.uint16)
    # One word at a time, so that scratch is (q, n) and never (q, n, words).
    for a, b in zip(left, right, strict=True):
        total += np.bitwise_count(a[:, None] ^ b)
    return total


def check_rows(rows: Rows, name: str = "rows") -> None:
    """Raise TypeError unless the value is an array of packed fingerprints, (n, bytes) of uint8.

    The bytes of numbers of another type would give wrong distances.
    """
    if not isinstance(rows, np.ndarray) or rows.ndim != 2 or rows.dtype != np.uint8:
        kind = f"{rows.ndim}-dimensional {rows.dtype}" if isinstance(rows, np.ndarray) else ""
        found = kind or type(rows).__name__
        raise TypeError(f"{name} must be an array (n, bytes) of uint8, not {found}")


def paired_distances(rows: Rows, i: Indices, j: Indices) -> Distances:
    """Differing bits between rows i[p] and j[p]; shape (m,). The indices are broadcast."""
    i, j = np.broadcast_arrays(i, j)
    whole, distances = words(rows), np.empty(len(i), np.uint16)
    for begin in range(0, len(i), PAIRS_AT_ONCE):
        part = slice(begin, begin + PAIRS_AT_ONCE)
        np.bitwise_count(whole[i[part]] ^ whole[j[part]]).sum(1, np.uint16, distances[part])
    return distances


def words(rows: Rows) -> Words:
    """View rows as 64-bit words, padded with zeros: (n, words).

    Byte order does not matter here: counting bits ignores where they are.
    """
    missing = -rows.shape[1] % 8
    padded = np.pad(rows, ((0, 0), (0, missing))) if missing else rows
    return np.ascontiguousarray(padded).view(np.uint64)
