"""How fast every pair of near fingerprints is found, beside faiss.

    python tests/bench/search.py [--large] [--runs 5] [--json FILE]

Seeded rows: half of them copies of the others with some bits flipped, and three kinds that are
hard. Each row of a table is a process of its own on all cores; what takes over 10 s runs once.
Pairs per second are all that were decided, compared or not. --large adds a million rows all
against all, ten million, and faiss IndexBinaryMultiHash where it needs minutes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import faiss
import numpy as np
from report import Report, choose_kernels, measured, options, reported

from simdup.errors import TooManyPairsError
from simdup.search.pairs import all_pairs, iter_pairs, pairs_within

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable

    from numpy.typing import NDArray

    Rows = NDArray[np.uint8]

COLUMNS = {
    "seconds": ",.2f",
    "runs": "",
    "x simdup": ",.2f",
    "pairs found": ",",
    "million pairs/s": ",.0f",
    "peak MB": ",.0f",
}


def copies(n: int, bits: int, most: int) -> Rows:
    """Half random rows, half copies of them with up to `most` bits flipped on average."""
    random = np.random.default_rng(1)
    rows = random.integers(0, 256, (n // 2, bits // 8), np.uint8)
    shares = random.integers(0, most, (n // 2, 1)) / bits
    edited = np.empty_like(rows)
    for begin in range(0, len(rows), 10_000):
        part = slice(begin, begin + 10_000)
        flips = random.random((len(rows[part]), bits), np.float32) < shares[part]
        edited[part] = rows[part] ^ np.packbits(flips, axis=1)
    return np.concatenate((rows, edited))


def skewed(n: int, bits: int, most: int) -> Rows:
    """The same, but every other row begins with the same 16 bits."""
    rows = copies(n, bits, most)
    rows[::2, :2] = 0
    return rows


def chain(n: int) -> Rows:
    """Rows of 64 bits, each one bit from the previous one."""
    steps = np.random.default_rng(1).integers(0, 64, n).astype(np.uint64)
    return np.bitwise_xor.accumulate(np.uint64(1) << steps).view(np.uint8).reshape(n, 8)


def equal(n: int) -> Rows:
    """One row of 64 bits again and again."""
    return np.full((n, 8), 0b01011010, np.uint8)


def chosen(rows: Rows, k: int) -> int:
    """The pairs, by the method that simdup chooses; too many are only counted."""
    try:
        return len(pairs_within(rows, k))
    except TooManyPairsError as error:
        return int(re.findall(r"\d+", str(error))[0])


def streamed(rows: Rows, k: int) -> int:
    return sum(map(len, iter_pairs(rows, k)))


def every(rows: Rows, k: int) -> int:
    return sum(map(len, all_pairs(rows, rows, k, is_half=True)))


def flat(rows: Rows, k: int) -> int:
    return searched(faiss.IndexBinaryFlat(8 * rows.shape[1]), rows, k)


def multi_hash(rows: Rows, k: int) -> int:
    """By blocks of 16 bits, with as many flips in each as find every pair."""
    blocks = rows.shape[1] // 2
    index = faiss.IndexBinaryMultiHash(8 * rows.shape[1], blocks, 16)
    index.nflip = k // blocks
    return searched(index, rows, k)


def searched(index: faiss.IndexBinary, rows: Rows, k: int) -> int:
    """The pairs that an index finds when each row asks for those nearer than k + 1."""
    index.add(rows)
    limits, _, _ = index.range_search(rows, k + 1)
    return int(limits[-1] - len(rows)) // 2


@dataclass(frozen=True)
class Method:
    """Something that counts the pairs of some rows within k bits."""

    name: str
    work: Callable[[Rows, int], int]
    compiled: bool = False
    is_large: bool = False


@dataclass(frozen=True)
class Case:
    """Rows to be searched, and by what; the others are compared with the first."""

    name: str
    rows: Callable[[int], Rows]
    n: int
    k: int
    methods: tuple[Method, ...]
    is_large: bool = False


CHOSEN = Method("simdup", chosen, compiled=True)
NUMPY = Method("simdup, numpy", chosen)
EVERY = Method("simdup, all against all", every, compiled=True)
STREAMED = Method("simdup, streamed", streamed, compiled=True)
FLAT = Method("faiss IndexBinaryFlat", flat)
MULTI_HASH = Method("faiss IndexBinaryMultiHash", multi_hash)
LONG_MULTI_HASH = Method("faiss IndexBinaryMultiHash", multi_hash, is_large=True)

NARROW, WIDE = partial(copies, bits=64, most=6), partial(copies, bits=128, most=20)
HOT = partial(skewed, bits=64, most=6)

CASES = (
    Case("64 bits", NARROW, 1_000_000, 3, (CHOSEN, NUMPY, MULTI_HASH)),
    Case("128 bits", WIDE, 200_000, 16, (CHOSEN, NUMPY, FLAT, LONG_MULTI_HASH)),
    Case("128 bits", WIDE, 200_000, 40, (CHOSEN, FLAT)),
    Case("64 bits, half share a block", HOT, 200_000, 3, (CHOSEN, NUMPY, FLAT)),
    Case("64 bits, each near the previous", chain, 100_000, 1, (CHOSEN, NUMPY, FLAT, MULTI_HASH)),
    Case("64 bits, all equal", equal, 1_000_000, 3, (CHOSEN, NUMPY)),
    Case("128 bits", WIDE, 1_000_000, 30, (EVERY,), is_large=True),
    Case("64 bits", NARROW, 10_000_000, 3, (STREAMED,), is_large=True),
)


def prepared(make: Callable[[int], Rows], n: int, k: int, method: Method) -> Callable[[], int]:
    choose_kernels(compiled=method.compiled)
    return partial(method.work, make(n), k)


def show(report: Report, case: Case, given: Namespace) -> None:
    n = case.n
    report.table(f"{n:,} rows of {case.name}, k = {case.k}", COLUMNS)
    taken = [each for each in case.methods if given.large or not each.is_large]
    found = []
    for method in taken:
        found.append(measured(partial(prepared, case.rows, n, case.k, method), given.runs))
        seconds, pairs = found[-1].seconds, found[-1].result
        ratio, speed = seconds / found[0].seconds, n * (n - 1) / 2 / seconds / 1e6
        report.row(method.name, seconds, found[-1].runs, ratio, pairs, speed, found[-1].peak)
    if len({each.result for each in found}) > 1:
        raise SystemExit("they do not find the same pairs")


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--large", action="store_true", help="also what takes minutes")
    given = parser.parse_args()
    with reported(given, ("faiss-cpu",)) as report:
        for case in CASES:
            if given.large or not case.is_large:
                show(report, case, given)


if __name__ == "__main__":
    main()
