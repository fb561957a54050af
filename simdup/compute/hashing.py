"""Arrays of features in, arrays of their hashes out.

A feature is a span of an array of code points. `span_hashes` identifies it: a polynomial over
its code points modulo 2**64, read off prefix sums, then the finalizer of splitmix64 (Steele,
Lea, Flood: "Fast splittable pseudorandom number generators", 2014). Equal spans have equal
hashes wherever they stand.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache

import numpy as np

from simdup.arrays import CodePoints, Hashes, Indices

# Odd numbers with no pattern: the golden ratio and two of the constants of wyhash.
BASE = 0x9E3779B97F4A7C15
GRAM_BASE = 0xD6E8FEB86659FD93
WORD_STEP = 0xA0761D6478BD642F

# The golden ratio again, for 32 bits.
COUNTER_HASH = 0x9E3779B1

# The multiplier of Python 2's string hash, which the assignment uses.
STRING_MULTIPLIER = 1_000_003


def mix64(x: Hashes) -> Hashes:
    """Each number with its bits spread over all 64: a bijection (splitmix64's finalizer)."""
    x = x ^ (x >> np.uint64(30))
    x *= np.uint64(0xBF58476D1CE4E5B9)
    x ^= x >> np.uint64(27)
    x *= np.uint64(0x94D049BB133111EB)
    x ^= x >> np.uint64(31)
    return x


def widened(hashes: Hashes, word: int) -> Hashes:
    """The 64-bit word number `word` of features whose first 64 bits are `hashes`."""
    return mix64(hashes ^ np.uint64(word * WORD_STEP & (1 << 64) - 1))


def span_hashes(codes: CodePoints | Hashes, starts: Indices, ends: Indices) -> Hashes:
    """One hash for each span codes[start:end] of code points, or of hashes; shape (len(starts),).

    Two spans of the same code points have the same hash; an empty one has mix64(0).
    """
    powers, inverses = _powers(max(len(codes), 1).bit_length())
    sums = np.zeros(len(codes) + 1, np.uint64)
    terms = codes.astype(np.uint64)
    terms += np.uint64(1)
    terms *= powers[: len(codes)]
    np.cumsum(terms, out=sums[1:])
    hashes = sums[ends] - sums[starts]
    hashes *= inverses[starts]
    return mix64(hashes)


def gram_hashes(hashes: Hashes, starts: Indices, n: int) -> Hashes:
    """One hash for each n consecutive token hashes from `starts`; shape (len(starts),)."""
    grams = hashes[starts]
    for offset in range(1, n):
        grams *= np.uint64(GRAM_BASE)
        grams += hashes[starts + offset]
    return mix64(grams)


def blake2b_hashes(texts: list[str]) -> Hashes:
    """The first 64 bits of BLAKE2b-64 of each text's UTF-8; shape (len(texts),)."""
    digests = (
        hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        for text in texts
    )
    return np.frombuffer(b"".join(digests), ">u8").astype(np.uint64)


def string_hashes(codes: CodePoints, starts: Indices, ends: Indices) -> tuple[Hashes, Hashes]:
    """The assignment's hash of each span, modulo 2**128: its high and its low 64 bits.

    x = first << 7; for each code point c: x = (x * 1000003) ^ c; x ^= length. The
    hash in f bits is the low f bits of this one, since carries only go upwards.
    """
    lengths = ends - starts
    high, low = np.zeros((2, len(starts)), np.uint64)
    low[lengths > 0] = codes[starts[lengths > 0]].astype(np.uint64) << np.uint64(7)
    # Longest first, so that the spans with a character at `position` come first.
    order = np.argsort(-lengths, kind="stable")
    longer = np.searchsorted(-lengths[order], -np.arange(lengths.max(initial=0)))
    for position, count in enumerate(longer):
        spans = order[:count]
        high[spans], low[spans] = _times(high[spans], low[spans], STRING_MULTIPLIER)
        low[spans] ^= codes[starts[spans] + position]
    return high, low ^ lengths.astype(np.uint64)


def _times(high: Hashes, low: Hashes, factor: int) -> tuple[Hashes, Hashes]:
    """128-bit numbers times a factor below 2**32, modulo 2**128."""
    m, half = np.uint64(factor), np.uint64(32)
    lower = (low & np.uint64(0xFFFFFFFF)) * m
    upper = (low >> half) * m + (lower >> half)
    return high * m + (upper >> half), low * m


@lru_cache(maxsize=4)
def _powers(log2: int) -> tuple[Hashes, Hashes]:
    """BASE**i and BASE**-i modulo 2**64 for i from 0 to 2**log2."""
    inverse = pow(BASE, -1, 1 << 64)
    size = (1 << log2) + 1
    return _powers_of(BASE, size), _powers_of(inverse, size)


def _powers_of(base: int, size: int) -> Hashes:
    factors = np.full(size, base, np.uint64)
    factors[0] = 1
    return np.multiply.accumulate(factors)
