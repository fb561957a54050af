"""How fast an index is built and asked, cold and warm, and how large it is, beside others.

    python tests/bench/index.py [--documents 100000] [--runs 20] [--json FILE]

Seeded fingerprints of documents that do not exist, in 300 folders, put in 65,536 at a time. In
skewed ones every other row begins with the same 16 bits, and a tenth are equal in hundreds. Of
1,000 questions half are rows with up to k bits flipped; they are asked one by one, then in one
call. Cold is the command, a process for each question; each other figure is of a process for
each method, its memory what it had at most beyond modules and rows. Medians. What takes too long
is asked fewer questions. All must find the same. --documents takes several numbers with commas.
"""

from __future__ import annotations

import logging
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from report import Report, choose_kernels, fresh, numbers, options, peak_memory, reported

from simdup import Index, Recipe, Settings
from simdup.fingerprint.sketch import Sketches
from simdup.index.connection import IndexFile
from simdup.index.contents import put
from simdup.records import Document, Source

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    Rows = NDArray[np.uint8]
    Pairs = NDArray[np.int64]
    # What asks for some rows, and what says which question has found which number.
    Ask, Told = Callable[[Rows], Any], Callable[[Any], Pairs]
    Opener = Callable[[], tuple[Ask, Told]]

QUESTIONS, BATCH, FOLDERS = 1000, 65_536, 300

# Seconds that questions one by one may take, and those in one call.
SINGLE_S, CALL_S = 20, 60

COLUMNS = {
    "build s": ",.1f",
    "bytes each": ",.0f",
    "without paths": ",.0f",
    "cold s": ".2f",
    "slowest": ".2f",
    "warm ms": ",.2f",
    "99 %": ",.2f",
    "1,000 in s": ",.2f",
    "MB": ",.0f",
    "found": ",",
}


@dataclass(frozen=True)
class Case:
    """Fingerprints, and the distances within which they are asked for."""

    name: str
    bits: int
    reach: tuple[int, ...]
    is_skewed: bool = False

    def rows(self, n: int) -> Rows:
        """So many of them."""
        random = np.random.default_rng(1)
        rows = random.integers(0, 256, (n, self.bits // 8), np.uint8)
        if self.is_skewed:
            rows[::2, :2] = 0
            rows[5::10] = rows[5::1000].repeat(100, axis=0)[: len(rows[5::10])]
        return rows

    def questions(self, n: int, k: int) -> Rows:
        """What to ask for: near ones and others in turn."""
        random = np.random.default_rng(2)
        asked = random.integers(0, 256, (QUESTIONS, self.bits // 8), np.uint8)
        asked[::2] = self.rows(n)[random.integers(0, n, QUESTIONS // 2)]
        flips = [random.permutation(self.bits) < random.integers(0, k + 1) for _ in asked[::2]]
        asked[::2] ^= np.packbits(flips, axis=1)
        return asked


CASES = (
    Case("64 bits", 64, (3,)),
    Case("64 bits, skewed", 64, (3,), is_skewed=True),
    Case("128 bits", 128, (16, 32)),
    Case("128 bits, skewed", 128, (16,), is_skewed=True),
)


@dataclass(frozen=True)
class Built:
    """What it took to build an index, and where it is."""

    place: str
    n: int
    seconds: float
    each: float
    """Bytes a document."""
    bare: float
    """Those of them for fingerprints."""


@dataclass(frozen=True)
class Asked:
    """What it took to ask."""

    opened: float
    """Seconds until it could be asked."""
    single: list[float]
    call: float | None
    found: Pairs
    peak: float


def documents(n: int) -> Iterator[list[Document]]:
    """Made-up documents by batches; a number at the end of the name says which it is."""
    for begin in range(0, n, BATCH):
        numbers = range(begin, min(begin + BATCH, n))
        yield [document(number, number * FOLDERS // n) for number in numbers]


def document(number: int, folder: int) -> Document:
    path = f"/srv/library/reports-{1990 + folder % 30}/section-{folder:03}/minutes-{number:08}.txt"
    digest = number.to_bytes(16, "little")
    source = Source(path, 2000 + number % 5000, 10**18 + number, 10**18 + number, 0, number)
    return Document(source, "utf-8", 1.0, 0, 400, digest, digest, digest)


def sketches(n: int) -> Sketches:
    """A sketch for each document, as large as one of 400 features is."""
    return Sketches(np.arange(200, dtype=np.uint32), np.zeros(n, np.int64), np.full(n, 200))


def built(case: Case, n: int, place: str) -> Built:
    rows, seconds, begin = case.rows(n), 0.0, 0
    with Index.create(place, Settings(Recipe(bits=case.bits))) as index:
        for known in documents(n):
            began = perf_counter()
            with closing(IndexFile(index.path, to_write=True)) as file, file.writing():
                put(file, known, rows[begin : begin + len(known)], sketches(len(known)))
            seconds += perf_counter() - began
            begin += len(known)
    return Built(place, n, seconds, *(size / n for size in sizes(place)))


def sizes(place: str) -> tuple[int, int]:
    """Bytes of an index, and of the tables of fingerprints in it."""
    with closing(sqlite3.connect(place)) as connection:
        try:
            found = dict(connection.execute("SELECT name, sum(pgsize) FROM dbstat GROUP BY name"))
        except sqlite3.OperationalError:  # a SQLite without that table: contents alone
            packed = "SELECT sum(length(rows) + length(documents)) FROM segments"
            found = {"segments": connection.execute(packed).fetchone()[0]}
    bare = sum(size for name, size in found.items() if name.startswith(("segments", "block_")))
    return Path(place).stat().st_size, bare


def by_index(place: str, k: int, *, compiled: bool) -> Opener:
    choose_kernels(compiled=compiled)

    def pairs(answers: Any) -> Pairs:
        return listed(
            (question, int(match.document.path[-12:-4]))
            for question, answer in enumerate(answers)
            for match in answer.matches
        )

    def opened() -> tuple[Ask, Told]:
        index = Index(place)
        asked = Settings(index.settings.recipe, k=k)
        return lambda questions: index.query_rows(questions, asked), pairs

    return opened


def by_faiss(kind: str, case: Case, n: int, k: int) -> Opener:
    faiss, rows = import_module("faiss"), case.rows(n)

    def pairs(answer: Any) -> Pairs:
        limits, _, labels = answer
        sizes = np.diff(limits.astype(np.int64))
        return np.column_stack((np.repeat(np.arange(len(sizes)), sizes), labels))

    def opened() -> tuple[Ask, Told]:
        blocks = case.bits // 16
        if kind == "IndexBinaryHash":
            index = faiss.IndexBinaryHash(case.bits, 20)
            index.nflip = k
        elif kind == "IndexBinaryMultiHash":
            index = faiss.IndexBinaryMultiHash(case.bits, blocks, 16)
            index.nflip = k // blocks
        else:
            index = faiss.IndexBinaryFlat(case.bits)
        index.add(rows)
        return lambda questions: index.range_search(questions, k + 1), pairs

    return opened


def by_simhash_index(case: Case, n: int, k: int) -> Opener:
    simhash, rows = import_module("simhash"), case.rows(n)
    logging.disable()

    def made(row: Rows) -> Any:
        return simhash.Simhash(int.from_bytes(row.tobytes(), "big"), f=case.bits)

    def pairs(answers: Any) -> Pairs:
        return listed((at, int(name)) for at, names in enumerate(answers) for name in names)

    def opened() -> tuple[Ask, Told]:
        named = [(str(at), made(row)) for at, row in enumerate(rows)]
        index = simhash.SimhashIndex(named, case.bits, k)
        return lambda questions: [index.get_near_dups(made(row)) for row in questions], pairs

    return opened


def listed(pairs: Iterable[tuple[int, int]]) -> Pairs:
    return np.array(list(pairs), np.int64).reshape(-1, 2)


def asked(method: Callable[[], Opener], questions: Rows) -> Asked:
    """Questions one by one, until it takes too long, then all in one call, unless that would."""
    opener = method()
    before, began = peak_memory(), perf_counter()
    ask, told = opener()
    opened = perf_counter() - began
    ask(questions[:1])
    single, answers = [], []
    for row in questions[:, None]:
        began = perf_counter()
        answer = ask(row)
        single.append(perf_counter() - began)
        answers.append(told(answer) + np.array([len(answers), 0]))
        if sum(single) > SINGLE_S:
            break
    found, call = np.concatenate(answers), None
    if median(single) * len(questions) < CALL_S:
        began = perf_counter()
        answer = ask(questions)
        call, found = perf_counter() - began, told(answer)
    return Asked(opened, single, call, found, peak_memory() - before)


def cold(place: str, k: int, questions: Rows) -> list[float]:
    """Seconds of the command for each question."""
    seconds = []
    for row in questions:
        command = [sys.executable, "-m", "simdup", "query", place, "--quiet"]
        began = perf_counter()
        ended = subprocess.run(
            [*command, "-k", f"{k}", "--fingerprint", row.tobytes().hex()],
            check=False,
            stdout=subprocess.DEVNULL,
        )
        seconds.append(perf_counter() - began)
        if ended.returncode > 1:
            raise SystemExit("simdup query failed")
    return seconds


def show(report: Report, case: Case, k: int, made: Built, runs: int) -> None:
    report.table(f"{made.n:,} documents, {case.name}, k = {k}", COLUMNS, 30)
    questions = case.questions(made.n, k)
    whole = fresh(asked, partial(by_index, made.place, k, compiled=True), questions)
    seconds = fresh(cold, made.place, k, questions[:runs])
    command = median(seconds), max(seconds)
    row(report, "simdup", whole, made.seconds, made.each, made.bare, *command)
    alone = fresh(asked, partial(by_index, made.place, k, compiled=False), questions)
    compare(report, "simdup, numpy alone", alone, whole, opened=None)
    for name, method in others(case, made.n, k):
        other = fresh(asked, method, questions)
        compare(report, name, other, whole, opened=other.opened)


def others(case: Case, n: int, k: int) -> Iterator[tuple[str, Callable[[], Opener]]]:
    """What else can be asked; two of them take minutes for more documents, or more bits."""
    if case.bits == 64:
        yield "faiss IndexBinaryHash", partial(by_faiss, "IndexBinaryHash", case, n, k)
    if n <= 1_000_000:
        yield "faiss IndexBinaryMultiHash", partial(by_faiss, "IndexBinaryMultiHash", case, n, k)
    yield "faiss IndexBinaryFlat", partial(by_faiss, "IndexBinaryFlat", case, n, k)
    if case.bits == 64 and n <= (100_000 if case.is_skewed else 1_000_000):
        yield "1e0ng SimhashIndex", partial(by_simhash_index, case, n, k)


def compare(report: Report, name: str, other: Asked, whole: Asked, *, opened: float | None) -> None:
    """A row for another method, which is to find the same."""
    row(report, name, other, opened, *[None] * 4)
    answered = QUESTIONS if other.call is not None else len(other.single)
    mine = whole.found[whole.found[:, 0] < answered]
    if not np.array_equal(np.unique(mine, axis=0), np.unique(other.found, axis=0)):
        raise SystemExit("they do not find the same")


def row(report: Report, name: str, found: Asked, *before: float | None) -> None:
    ms = [1000 * seconds for seconds in found.single]
    times = median(ms), float(np.percentile(ms, 99))
    report.row(name, *before, *times, found.call, found.peak, len(found.found))


def measure(report: Report, given: Namespace) -> None:
    for n in given.documents:
        for case in CASES:
            with TemporaryDirectory() as folder:
                place = f"{folder}/index"
                made = fresh(built, case, n, place)
                for k in case.reach:
                    show(report, case, k, made, given.runs)


def main() -> None:
    parser = options(__doc__)
    parser.set_defaults(runs=20)
    parser.add_argument("--documents", type=numbers, default=[100_000], metavar="N[,N...]")
    given = parser.parse_args()
    with reported(given, ("faiss-cpu", "simhash")) as report:
        measure(report, given)


if __name__ == "__main__":
    main()
