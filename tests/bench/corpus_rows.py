"""How long corpora of rows take, how much memory, and how well planted copies are found.

    python tests/bench/corpus_rows.py [--rows 100000] [--bits 128,256] [--size 1000]
    python tests/bench/corpus_rows.py --rows 1000000 --bits 128 --peers 0

Makes a file of JSON Lines in a temporary folder unless --folder is given: words by Zipf's law,
half Chinese; one row in five is a copy of another, with 0 to 30 % of its words (or characters)
replaced. Each run is a process of its own. Beside it datasketch's MinHashLSH(128) of the same
tokens' pairs, where there are no more than --peers rows: with the Jaccard index that simdup's
default similarity stands for and with its usual one, and with and without asking the signatures
themselves about what a query returns. F1 is that of the pairs within groups, or of those
returned, against the planted ones.
"""

from __future__ import annotations

import json
import re
import resource
from collections import defaultdict
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING

from corpus import SHARES, make_rows
from report import Clock, fresh, options, peak_memory, reported

import simdup

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from report import Report

Pair = tuple[int, int]

# Phases of a run and their columns.
PHASES = {"rows": "read", "search": "search", "verify": "verify"}
TOKEN = re.compile(r"[\u3400-\u9fff]|[^\W_\u3400-\u9fff]+")

# For sets of one size a cosine s is a Jaccard index of s / (2 - s): 0.45 is 0.29.
JACCARDS = (0.3, 0.5)

COLUMNS = {
    "rows": ",",
    "MB": ",.0f",
    "seconds": ",.1f",
    "rows/s": ",.0f",
    **dict.fromkeys((*PHASES.values(), "rest"), ",.1f"),
    "peak MB": ",.0f",
    "worker MB": ",.0f",
    "bytes/row more": ",.0f",
    "F1": ".4f",
    "precision": ".4f",
    "recall": ".4f",
}
NAME_WIDTH = 41


@dataclass(frozen=True, slots=True)
class Found:
    """What a run took, and which pairs it found."""

    seconds: float
    phases: tuple[float, ...]
    """Seconds of each of PHASES, and the rest; nothing for others than simdup."""
    begin: float
    """MB before: modules."""
    peak: float
    """MB of the process itself."""
    worker: float
    """MB of its largest worker; at least what the process had when that began."""
    pairs: set[Pair]


def by_simdup(bits: int, path: str, k: int | None = None) -> Found:
    begin, clock, began = peak_memory(), Clock(), perf_counter()
    settings = simdup.Settings(simdup.Recipe(bits=bits), k=k)
    result = simdup.scan_rows([path], settings, jobs=None, progress=clock)
    seconds = perf_counter() - began
    phases = [clock.seconds[phase] for phase in PHASES]
    peaks = peak_memory(), peak_memory(resource.RUSAGE_CHILDREN)
    pairs = {(a, b) for group in result.groups for a, b in combinations(sorted(group.rows), 2)}
    return Found(seconds, (*phases, seconds - sum(phases)), begin, *peaks, pairs)


def by_datasketch(jaccard: float, path: str, *, is_checked: bool = False) -> Found:
    from datasketch import MinHash, MinHashLSH  # noqa: PLC0415

    begin, began = peak_memory(), perf_counter()
    lsh, pairs, kept = MinHashLSH(jaccard, 128), set[Pair](), dict[int, MinHash]()
    for number, row in enumerate(rows_of(path)):
        tokens = TOKEN.findall(row["text"].casefold())
        made = MinHash(128)
        made.update_batch([f"{a} {b}".encode() for a, b in set(zip(tokens, tokens[1:]))])  # noqa: B905, RUF007
        near = lsh.query(made)
        if is_checked:
            near = [other for other in near if kept[other].jaccard(made) >= jaccard]
            kept[number] = made
        pairs.update((other, number) for other in near)
        lsh.insert(number, made)
    seconds = perf_counter() - began
    return Found(seconds, (), begin, peak_memory(), 0.0, pairs)


def rows_of(path: str) -> Iterator[dict[str, object]]:
    with open(path, encoding="utf-8") as file:
        yield from map(json.loads, file)


def planted(path: str) -> dict[Pair, float]:
    """Each pair of a row and its copy, and what share of it is replaced."""
    rows = enumerate(rows_of(path))
    return {
        (row["copied"], number): row["share"] for number, row in rows if row["copied"] is not None
    }


def shares_found(pairs: dict[Pair, float], found: set[Pair]) -> list[float]:
    """Of the copies with each share of SHARES replaced, how many are found."""
    every, hits = defaultdict(int), defaultdict(int)
    for pair, share in pairs.items():
        every[share] += 1
        hits[share] += pair in found
    return [hits[share] / max(1, every[share]) for share in SHARES]


def cells(path: str, rows: int, found: Found, previous: tuple[int, float] | None) -> list[object]:
    """The row of the table; `previous` are the rows and the memory of a smaller run."""
    pairs = planted(path)
    hits = len(found.pairs & pairs.keys())
    precision, recall = hits / max(1, len(found.pairs)), hits / max(1, len(pairs))
    return [
        rows,
        Path(path).stat().st_size / 1e6,
        found.seconds,
        rows / found.seconds,
        *(found.phases or [None] * (len(PHASES) + 1)),
        found.peak,
        found.worker or None,
        previous and 1e6 * (found.peak - previous[1]) / (rows - previous[0]),
        2 * precision * recall / max(1e-9, precision + recall),
        precision,
        recall,
    ]


def show(report: Report, folder: Path, given: dict[str, object]) -> None:
    report.table("corpora of rows", COLUMNS, NAME_WIDTH)
    recalls: dict[str, list[float]] = {}
    previous: dict[str, tuple[int, float]] = {}
    for rows in given["rows"]:
        path = folder / f"{rows}-{given['size']}.jsonl"
        if not path.exists():
            fresh(make_rows, rows, given["size"], path)
        runs: dict[str, Callable[[str], Found]] = {
            f"simdup, {bits} bits": partial(by_simdup, bits) for bits in given["bits"]
        }
        if rows <= given["peers"]:
            for jaccard in JACCARDS:
                name = f"datasketch MinHashLSH(128), {jaccard}"
                runs[name] = partial(by_datasketch, jaccard)
                runs[f"{name}, checked"] = partial(by_datasketch, jaccard, is_checked=True)
        for name, run in runs.items():
            found = fresh(run, str(path))
            report.row(name, *cells(str(path), rows, found, previous.get(name)))
            previous[name] = rows, found.peak
            recalls[f"{name}, {rows:,}"] = shares_found(planted(str(path)), found.pairs)
    columns = {f"{share:.0%}": ".4f" for share in SHARES}
    report.table("copies found, by the share of words that is replaced", columns, NAME_WIDTH + 12)
    for name, shares in recalls.items():
        report.row(name, *shares)


def numbers(text: str) -> list[int]:
    return [int(each) for each in text.split(",")]


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--rows", type=numbers, default=[100_000], help="rising numbers, by commas")
    parser.add_argument("--bits", type=numbers, default=[128, 256], help="sizes, by commas")
    parser.add_argument("--size", type=int, default=1000, help="bytes of a text")
    parser.add_argument("--peers", type=int, default=100_000, help="rows that others are given")
    parser.add_argument("--folder", type=Path, metavar="DIRECTORY", help="keep what is made here")
    given = parser.parse_args()
    with (
        nullcontext(given.folder) if given.folder else TemporaryDirectory() as folder,
        reported(given, ["datasketch"]) as report,
    ):
        show(report, Path(folder), vars(given))


if __name__ == "__main__":
    main()
