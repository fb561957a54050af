"""How long corpora of rows take, how much memory, and how well planted copies are found.

    python tests/bench/corpus_rows.py --rows 1000000 [--bits 128,256] [--size 1000]
    python tests/bench/corpus_rows.py --rows 10000000 --judged 1500000
    python tests/bench/corpus_rows.py --rows 100000 --peers --kinds english,chinese,mixed,skewed

Makes files of JSON Lines in a temporary folder unless --folder is given, of so many rows, a half
and a quarter: by default words by Zipf's law, half Chinese. One row in five is a copy of another,
with 0 to 30 % of its words (or characters) replaced. Each run is a process of its own.

What counts is processor time, of all processes and threads: other work on the machine changes it
little. *x a doubling* says how it grows from a file to one with twice the rows.

With --peers, the largest files are given to datasketch and rensa too, or to the one that it names:
MinHash of 128 values of the same pairs of tokens, and the index of each, whose answers are checked
by signatures.

F1 is that of the pairs within groups, or of the pairs returned, against the planted ones, which are
all pairs of the corpus that are alike. The last table has the share of these that is found, by
their exact similarity. There *candidates* also counts pairs that were found and then set aside,
since too many other rows have what the two share. With --judged, only pairs among the first so
many rows are judged: the exact similarities of all take far longer than a run.
"""

from __future__ import annotations

import json
import re
import resource
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from itertools import combinations, islice, pairwise
from math import log2
from pathlib import Path
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np
from corpus import KINDS, make_rows
from report import Clock, fresh, numbers, options, peak_memory, place, reported

import simdup
from simdup.compute.compiled import load_kernels
from simdup.match.engine import LocalEngine
from simdup.match.verify import exact_similarities

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Iterator

    from report import Report

    from simdup.match.engine import TextGroups

Pair = tuple[int, int]

# Phases of a run and their columns.
PHASES = {"rows": "read", "list": "list", "search": "search", "verify": "verify"}
TOKEN = re.compile(r"[\u3400-\u9fff]|[^\W_\u3400-\u9fff]+")

# The values of a signature, and in how many bands rensa, which takes just that, divides it.
VALUES, BANDS = 128, 32

# Bounds of similarity in the last table.
SIMILARITIES = (0.35, 0.4, 0.45, 0.5, 0.6, 0.8, 1.01)

# Pairs whose texts are held at once.
PAIRS_AT_ONCE = 5000

COLUMNS = {
    "rows": ",",
    "MB": ",.0f",
    "seconds": ",.1f",
    "CPU s": ",.1f",
    "x a doubling": ".2f",
    **dict.fromkeys((*PHASES.values(), "rest"), ",.1f"),
    "peak MB": ",.0f",
    "worker MB": ",.0f",
    "F1": ".4f",
    "precision": ".4f",
    "recall": ".4f",
}
NAME_WIDTH = 41


@dataclass(frozen=True, slots=True)
class Found:
    """What a run took, and which pairs it found."""

    seconds: float
    cpu: float
    """Seconds of processor time, of all processes and threads."""
    phases: tuple[float, ...]
    """Those of each of PHASES, and the rest; nothing for others than simdup."""
    peak: float
    """MB of the process itself."""
    worker: float
    """MB of its largest worker; at least what the process had when that began."""
    pairs: set[Pair]
    candidates: set[Pair]
    """Of simdup: the pairs within groups, and those that own shares set aside."""

    def among(self, rows: int) -> Found:
        """Return this with the pairs among the first rows alone."""
        pairs, candidates = (
            {pair for pair in every if pair[1] < rows} for every in (self.pairs, self.candidates)
        )
        return replace(self, pairs=pairs, candidates=candidates)


def by_simdup(bits: int, path: str, k: int | None = None) -> Found:
    load_kernels()
    spent, began, cpu = Clock(process_time), perf_counter(), process_time()
    settings = simdup.Settings(simdup.Recipe(bits=bits), k=k)
    set_aside = set[Pair]()

    def matched(engine: LocalEngine, groups: Callable = LocalEngine.groups) -> TextGroups:
        found = groups(engine)
        set_aside.update(map(tuple, np.sort(engine.texts.first[found.siblings.pairs]).tolist()))
        return found

    with patch.object(LocalEngine, "groups", matched):
        result = simdup.scan_rows([path], settings, jobs=None, progress=spent)
    seconds, children = perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    reading = children.ru_utime + children.ru_stime
    cpu = process_time() - cpu + reading
    spent.seconds["rows"] += reading
    phases = [spent.seconds[phase] for phase in PHASES]
    peaks = peak_memory(), peak_memory(resource.RUSAGE_CHILDREN)
    pairs = {(a, b) for group in result.groups for a, b in combinations(sorted(group.rows), 2)}
    return Found(seconds, cpu, (*phases, cpu - sum(phases)), *peaks, pairs, pairs | set_aside)


def by_peer(found: Callable[[float, str], set[Pair]], jaccard: float, path: str) -> Found:
    """What a function for pairs with this Jaccard index takes, and what it finds."""
    began, cpu = perf_counter(), process_time()
    pairs = found(jaccard, path)
    spent = perf_counter() - began, process_time() - cpu
    return Found(*spent, (), peak_memory(), 0.0, pairs, set())


def datasketch_pairs(jaccard: float, path: str) -> set[Pair]:
    from datasketch import MinHash, MinHashLSH  # noqa: PLC0415

    def made(grams: list[str]) -> MinHash:
        signature = MinHash(VALUES)
        signature.update_batch([each.encode() for each in grams])
        return signature

    return pairs_by(MinHashLSH(jaccard, VALUES), made, jaccard, path)


def rensa_pairs(jaccard: float, path: str) -> set[Pair]:
    from rensa import RMinHash, RMinHashLSH  # noqa: PLC0415

    def made(grams: list[str]) -> RMinHash:
        signature = RMinHash(VALUES, 42)
        signature.update(grams)
        return signature

    return pairs_by(RMinHashLSH(jaccard, VALUES, BANDS), made, jaccard, path)


def pairs_by(lsh: Any, made: Callable[[list[str]], Any], jaccard: float, path: str) -> set[Pair]:
    """What an index of signatures returns for each row, checked by the signatures."""
    pairs, kept = set[Pair](), []
    for number, tokens in enumerate(tokens_of(path)):
        signature = made(pairs_of(tokens))
        near = lsh.query(signature)
        pairs.update((each, number) for each in near if kept[each].jaccard(signature) >= jaccard)
        kept.append(signature)
        lsh.insert(number, signature)
    return pairs


PEERS = {"datasketch": datasketch_pairs, "rensa": rensa_pairs}


def tokens_of(path: str) -> Iterator[list[str]]:
    """The tokens of each row."""
    return (TOKEN.findall(row["text"].casefold()) for row in rows_of(path))


def pairs_of(tokens: list[str]) -> list[str]:
    """The different pairs of neighbours."""
    return [f"{a} {b}" for a, b in set(pairwise(tokens))]


def rows_of(path: str) -> Iterator[dict[str, object]]:
    with open(path, encoding="utf-8") as file:
        yield from map(json.loads, file)


def planted(path: str, judged: int | None) -> dict[Pair, float]:
    """Each pair of a row and its copy, among the first rows, and their exact similarity."""
    load_kernels()
    waiting, pairs, similarities = dict[int, str](), list[Pair](), [np.empty(0)]
    # A row waits for its copy, which is never far (`corpus.WAITING`).
    originals = {row["copied"] for row in islice(rows_of(path), judged)}
    left, right = list[str](), list[str]()

    def compare() -> None:
        i = np.arange(len(left))
        every, recipe = [*left, *right], simdup.Recipe()
        similarities.append(exact_similarities(every, i, i + len(left), recipe))
        left.clear()
        right.clear()

    for number, row in enumerate(islice(rows_of(path), judged)):
        if number in originals:
            waiting[number] = row["text"]
        if row["copied"] is not None:
            pairs.append((row["copied"], number))
            left.append(waiting.pop(row["copied"]))
            right.append(row["text"])
            if len(left) == PAIRS_AT_ONCE:
                compare()
    compare()
    return dict(zip(pairs, np.concatenate(similarities).tolist(), strict=True))


def shares_found(pairs: dict[Pair, float], found: set[Pair]) -> list[float | None]:
    """Of the planted pairs between two of SIMILARITIES, how many are found."""
    shares = list[float | None]()
    for low, high in pairwise(SIMILARITIES):
        alike = [pair in found for pair, similarity in pairs.items() if low <= similarity < high]
        shares.append(sum(alike) / len(alike) if alike else None)
    return shares


def cells(
    path: Path, rows: int, found: Found, pairs: dict[Pair, float], before: tuple[int, Found] | None
) -> list[object]:
    """The row of the table; `before` are the rows of a smaller run, and what it took."""
    hits = len(found.pairs & pairs.keys())
    precision, recall = hits / max(1, len(found.pairs)), hits / max(1, len(pairs))
    return [
        rows,
        path.stat().st_size / 1e6,
        found.seconds,
        found.cpu,
        before and (found.cpu / before[1].cpu) ** (1 / log2(rows / before[0])),
        *(found.phases or [None] * (len(PHASES) + 1)),
        found.peak,
        found.worker or None,
        2 * precision * recall / max(1e-9, precision + recall),
        precision,
        recall,
    ]


def show(report: Report, folder: Path, given: Namespace) -> None:
    report.table("corpora of rows; phases in processor time", COLUMNS, NAME_WIDTH)
    shares: dict[str, list[float | None]] = {}
    for kind in given.kinds:
        before: dict[str, tuple[int, Found]] = {}
        for rows in (given.rows // 4, given.rows // 2, given.rows):
            path = folder / f"{kind}-{rows}-{given.size}.jsonl"
            if not path.exists():
                fresh(make_rows, rows, given.size, path, kind)
            pairs = fresh(planted, str(path), given.judged)
            runs = {f"simdup, {bits} bits": partial(by_simdup, bits) for bits in given.bits}
            if rows == given.rows:
                runs |= {
                    f"{peer}, Jaccard {given.jaccard}": partial(by_peer, work, given.jaccard)
                    for peer, work in PEERS.items()
                    if peer in given.peers and find_spec(peer)
                }
            for name, run in runs.items():
                found = fresh(run, str(path)).among(given.judged or rows)
                named = f"{kind}: {name}"
                report.row(named, *cells(path, rows, found, pairs, before.get(name)))
                before[name] = rows, found
                shares[f"{named}, {rows:,}"] = shares_found(pairs, found.pairs)
                if found.candidates:
                    shares[f"{named}, {rows:,}: candidates"] = shares_found(pairs, found.candidates)
    columns = {f"from {low:.2f}": ".4f" for low in SIMILARITIES[:-1]}
    report.table("planted pairs found, by their similarity", columns, NAME_WIDTH + 24)
    for name, found_shares in shares.items():
        report.row(name, *found_shares)


def main() -> None:
    parser = options(__doc__, keeps=True)
    parser.add_argument("--rows", type=int, default=100_000, help="also a half and a quarter")
    parser.add_argument("--bits", type=numbers, default=[128], help="sizes, by commas")
    parser.add_argument("--size", type=int, default=1000, help="bytes of a text")
    parser.add_argument("--kinds", type=lambda text: text.split(","), default=["skewed"])
    parser.add_argument(
        "--peers",
        nargs="?",
        const=[*PEERS],
        default=[],
        type=lambda text: text.split(","),
        help=f"compare with other packages, or with some of {','.join(PEERS)}",
    )
    parser.add_argument("--judged", type=int, help="judge pairs among the first so many rows")
    parser.add_argument("--jaccard", type=float, default=0.3, help="for other packages")
    given = parser.parse_args()
    if not set(given.kinds) <= set(KINDS):
        parser.error(f"kinds are {', '.join(KINDS)}")
    if not set(given.peers) <= set(PEERS):
        parser.error(f"peers are {', '.join(PEERS)}")
    with place(given.folder) as folder, reported(given, PEERS) as report:
        show(report, Path(folder), given)


if __name__ == "__main__":
    main()
