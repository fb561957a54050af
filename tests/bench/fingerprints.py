"""How fast texts become fingerprints, beside other packages, in one process.

    python tests/bench/fingerprints.py [--megabytes 4]

Seeded texts of 3 kB, English and Chinese, made here. Medians of 5 runs, single core.
"""

from __future__ import annotations

import argparse
import time
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING

from corpus import Corpus
from datasketch import MinHash
from rensa import RMinHash
from simhash import Simhash

import simdup
from simdup import fast

if TYPE_CHECKING:
    from collections.abc import Callable

RUNS = 5


def minhash(text: str) -> None:
    made = MinHash(128)
    tokens = text.split() if " " in text else list(text)
    made.update_batch([" ".join(pair).encode() for pair in pairwise(tokens)])


def rensa(text: str) -> None:
    made = RMinHash(128, 1)
    tokens = text.split() if " " in text else list(text)
    made.update([" ".join(gram) for gram in zip(tokens, tokens[1:], tokens[2:], strict=False)])


CONTENDERS: dict[str, Callable[[list[str]], object]] = {
    "simdup, shingles, 256 bits": simdup.fingerprint_texts,
    "simdup, shingles, 128 bits": lambda texts: simdup.fingerprint_texts(texts, 128),
    "simdup, shingles, 64 bits": lambda texts: simdup.fingerprint_texts(texts, 64),
    "simdup, words, 128 bits": lambda texts: simdup.fingerprint_texts(texts, 128, features="words"),
    "1e0ng/simhash, 64 bits": lambda texts: [Simhash(text) for text in texts],
    "datasketch MinHash(128)": lambda texts: [minhash(text) for text in texts],
    "rensa RMinHash(128), triples": lambda texts: [rensa(text) for text in texts],
}


def seconds(work: Callable[[list[str]], object], texts: list[str]) -> float:
    work(texts[:2])
    times = []
    for _ in range(RUNS):
        began = time.perf_counter()
        work(texts)
        times.append(time.perf_counter() - began)
    return median(times)


def show(language: str, texts: list[str]) -> None:
    megabytes = sum(len(text.encode()) for text in texts) / 1e6
    print(f"  {language}, {len(texts)} texts, {megabytes:.1f} MB; times as fast as 1e0ng/simhash")
    speeds = {name: megabytes / seconds(work, texts) for name, work in CONTENDERS.items()}
    for name, speed in speeds.items():
        ratio = speed / speeds["1e0ng/simhash, 64 bits"]
        print(f"    {name:<30} {speed:7.1f} MB/s {ratio:7.1f} x")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--megabytes", type=float, default=2)
    size = options.parse_args().megabytes
    corpus = Corpus(1)
    texts = {
        language: [make(3000) for _ in range(int(size * 1e6 / 3000))]
        for language, make in (("English", corpus.english), ("Chinese", corpus.chinese))
    }
    for kernel in ("numpy", "compiled"):
        print(f"{kernel}:")
        for language, of_language in texts.items():
            show(language, of_language)
        fast.load()


if __name__ == "__main__":
    main()
