"""How fast every pair of near fingerprints is found, beside faiss, in one process.

    python tests/bench/search.py [--large]

Seeded rows, half of them copies of the others with some bits flipped. Medians of 3 runs, all
cores. With --large also a million rows all against all, and ten million.
"""

from __future__ import annotations

import argparse
import resource
import time
from statistics import median
from typing import TYPE_CHECKING

import faiss
import numpy as np

from simdup import fast
from simdup.search import all_pairs, iter_pairs, pairs_within

if TYPE_CHECKING:
    from collections.abc import Callable

RUNS = 3


def corpus(n: int, bits: int, most: int) -> np.ndarray:
    """Half random rows, half copies of them with up to `most` bits flipped on average."""
    random = np.random.default_rng(1)
    rows = random.integers(0, 256, (n // 2, bits // 8), np.uint8)
    shares = random.integers(0, most, (n // 2, 1)) / bits
    copies = np.empty_like(rows)
    for begin in range(0, len(rows), 100_000):
        part = slice(begin, begin + 100_000)
        flips = random.random((len(rows[part]), bits), np.float32) < shares[part]
        copies[part] = rows[part] ^ np.packbits(flips, axis=1)
    return np.concatenate((rows, copies))


def flat(rows: np.ndarray, k: int) -> int:
    """The pairs that faiss finds by comparing all with all."""
    index = faiss.IndexBinaryFlat(8 * rows.shape[1])
    index.add(rows)
    limits, _, _ = index.range_search(rows, k + 1)
    return int(limits[-1] - len(rows)) // 2


def show(name: str, work: Callable[[], int], runs: int = RUNS) -> float:
    times, found = [], 0
    for _ in range(runs):
        began = time.perf_counter()
        found = work()
        times.append(time.perf_counter() - began)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"{name:<58} {median(times):8.2f} s {found:>10,} pairs, {memory:,} MB at most so far")
    return median(times)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--large", action="store_true")
    large = options.parse_args().large
    rows = corpus(1_000_000, 64, 6)
    show("1,000,000 x 64 bits, k = 3, numpy", lambda: len(pairs_within(rows, 3)))
    fast.load()
    show("1,000,000 x 64 bits, k = 3, compiled", lambda: len(pairs_within(rows, 3)))
    rows = corpus(200_000, 128, 20)
    ours = show("200,000 x 128 bits, k = 16", lambda: len(pairs_within(rows, 16)))
    show("200,000 x 128 bits, k = 40", lambda: sum(map(len, all_pairs(rows, 40))))
    theirs = show("200,000 x 128 bits, k = 16, faiss IndexBinaryFlat", lambda: flat(rows, 16), 1)
    print(f"faiss takes {theirs / ours:.1f} times as long")
    if large:
        rows = corpus(1_000_000, 128, 20)
        name = "1,000,000 x 128 bits, k = 30, all against all"
        show(name, lambda: sum(map(len, all_pairs(rows, 30))), 1)
        rows = corpus(10_000_000, 64, 6)
        show("10,000,000 x 64 bits, k = 3", lambda: sum(map(len, iter_pairs(rows, 3))), 1)


if __name__ == "__main__":
    main()
