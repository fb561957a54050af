"""How fast texts become fingerprints, beside other packages.

    python tests/bench/fingerprints.py [--megabytes 2] [--characters 3000] [--runs 5] [--json FILE]

Seeded texts: English, Chinese, mixed and skewed. Each row is a process of its own on one core;
slow packages get a tenth of the texts.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from corpus import KINDS, Corpus
from datasketch import MinHash
from rensa import RMinHash
from report import Report, choose_kernels, fresh, measured, options, reported
from simhash import Simhash

import simdup

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable

    Work = Callable[[list[str]], object]

TOKEN = re.compile(r"[\u3400-\u9fff]|[^\W_\u3400-\u9fff]+")

#: A dictionary of one's own, were it empty, needs jieba itself.
JIEBA = {"user_dict": os.devnull}

# Loads what is loaded only when needed: jieba's dictionary, say.
WARM_UP = "To warm up: 热身运动。"

COLUMNS = {
    "MB/s": ",.2f",
    "x 1e0ng": ",.2f",
    "x rensa": ",.3f",
    "texts": ",",
    "runs": "",
    "peak MB": ",.0f",
}


def tokens(text: str) -> list[str]:
    """Words and Han characters, by the fastest way for the text."""
    if text.isascii():
        return text.split()
    return TOKEN.findall(text) if " " in text else list(text)


def minhash(text: str) -> MinHash:
    made = MinHash(128)
    made.update_batch([" ".join(pair).encode() for pair in pairwise(tokens(text))])
    return made


def rensa(text: str) -> RMinHash:
    made = RMinHash(128, 1)
    words = tokens(text)
    made.update([" ".join(gram) for gram in zip(words, words[1:], words[2:], strict=False)])
    return made


@dataclass(frozen=True)
class Contender:
    """Something that makes fingerprints."""

    work: Work
    is_slow: bool = False
    compiled: bool = False


def own(name: str, **recipe: Any) -> dict[str, Contender]:
    """simdup without and with its compiled kernels."""
    work, is_slow = partial(simdup.fingerprint_texts, **recipe), "user_dict" in recipe
    return {
        f"simdup, {name}": Contender(work, is_slow),
        f"simdup, {name}, compiled": Contender(work, is_slow, compiled=True),
    }


SIMHASH, RENSA = "1e0ng/simhash, 64 bits", "rensa RMinHash(128), triples"

#: Those that the others are compared with come first.
CONTENDERS = {
    SIMHASH: Contender(lambda texts: [Simhash(text) for text in texts], is_slow=True),
    RENSA: Contender(lambda texts: [rensa(text) for text in texts]),
    "datasketch MinHash(128)": Contender(lambda texts: [minhash(t) for t in texts], is_slow=True),
    **own("shingles, 256 bits", bits=256),
    **own("shingles, 128 bits", bits=128),
    **own("shingles, 64 bits", bits=64),
    **own("words, 128 bits", bits=128, features="words"),
    **own("words, plain jieba, 128 bits", bits=128, features="words", **JIEBA),
}


def texts_of(kind: str, megabytes: float, size: int) -> list[str]:
    made, count = getattr(Corpus(1), kind), max(1, round(megabytes * 1e6 / size))
    return [made(size) for _ in range(count)]


def prepared(name: str, texts: list[str]) -> Callable[[], object]:
    contender = CONTENDERS[name]
    choose_kernels(compiled=contender.compiled)
    contender.work([WARM_UP])
    return partial(contender.work, texts)


def show(report: Report, kind: str, given: Namespace) -> None:
    texts = fresh(texts_of, kind, given.megabytes, given.characters)
    report.table(f"{kind}, texts of {given.characters:,} bytes", COLUMNS)
    speeds: dict[str, float] = {}
    for name, contender in CONTENDERS.items():
        taken = texts[::10] if contender.is_slow else texts
        found = measured(partial(prepared, name, taken), given.runs)
        speeds[name] = speed = sum(len(text.encode()) for text in taken) / 1e6 / found.seconds
        ratios = (speed / speeds[other] if other in speeds else None for other in (SIMHASH, RENSA))
        report.row(name, speed, *ratios, len(taken), found.runs, found.peak)


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--megabytes", type=float, default=2, help="of each corpus")
    parser.add_argument("--characters", type=int, default=3000, help="of a text, in bytes")
    given = parser.parse_args()
    with reported(given, ("simhash", "datasketch", "rensa")) as report:
        for kind in KINDS:
            show(report, kind, given)


if __name__ == "__main__":
    main()
