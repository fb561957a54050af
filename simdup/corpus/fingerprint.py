"""Tables in, fingerprints of their rows out: arrays, over several processes where it pays."""

from __future__ import annotations

from collections import Counter, deque
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np

from simdup.compute.compiled import cores, load_kernels_if_worth
from simdup.compute.processes import check_that_workers_start, results
from simdup.corpus.records import Fault, Faulty, Flaw, Prints, Rows
from simdup.errors import SimdupError
from simdup.fingerprint.simhash import are_degenerate, fingerprint_texts

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator

    from numpy.typing import NDArray

    from simdup.corpus.formats.base import Chunk, ReadableTable
    from simdup.progress import Progress
    from simdup.recipe import Recipe

    Indices = NDArray[np.int64]
    Digests = NDArray[np.uint64]

# Less than this is done sooner than a worker has started.
BYTES_WORTH_WORKERS = 1 << 24

# Rows of each fault of which a report may say where they are.
MOST_FAULTY = 1000


@dataclass(frozen=True, slots=True, eq=False)
class Made:
    """What was made of a chunk."""

    prints: Prints
    numbers: Indices
    offsets: Indices
    lengths: Indices
    flaws: list[Flaw]

    @property
    def rows_in(self) -> int:
        """How many rows the chunk had."""
        return len(self.numbers) + sum(flaw.rows for flaw in self.flaws)


def fingerprint_chunk(chunk: Chunk, recipe: Recipe, bits: int) -> Made:
    """The fingerprints of a chunk; rows that have none are flaws.

    Of a fingerprint the first `bits` are compared, so these must not all be equal.
    """
    parsed = chunk.parsed()
    made = fingerprint_texts(parsed.texts, recipe)
    numbers, offsets = np.array(parsed.numbers, np.int64), np.array(parsed.offsets, np.int64)
    is_empty = made.counts == 0
    is_flat = are_degenerate(made.rows, bits) & ~is_empty
    empty = (Flaw(row, 1, Fault.EMPTY, "no letter or digit") for row in numbers[is_empty].tolist())
    flat = (Flaw(row, 1, Fault.DEGENERATE) for row in numbers[is_flat].tolist())
    flaws = sorted((*parsed.flaws, *empty, *flat), key=_row)
    good = np.flatnonzero(~(is_empty | is_flat))
    texts = [parsed.texts[index] for index in good.tolist()]
    prints = Prints(made.rows[good], made.counts[good], made.digests[good], text_digests(texts))
    lengths = np.array(list(map(len, texts)), np.int64)
    return Made(prints, numbers[good], offsets[good], lengths, flaws)


def _row(flaw: Flaw) -> int:
    return flaw.row


def text_digests(texts: Iterable[str]) -> Digests:
    """What stands for each text, its line ends and byte-order mark aside: (n, 2)."""
    digests = b"".join(map(_digest, texts))
    return np.frombuffer(digests, np.uint64).reshape(-1, 2)


def _digest(text: str) -> bytes:
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    encoded = text.removeprefix("\ufeff").encode("utf-8", "surrogatepass")
    return blake2b(encoded, digest_size=16).digest()


@dataclass(frozen=True, slots=True, eq=False)
class Collected:
    """What was made of all rows of some tables."""

    rows: Rows
    faults: dict[Fault, int]
    faulty: tuple[Faulty, ...]
    refused: tuple[Indices, ...]
    """As in `corpora.CorpusResult`, all three."""


def collected(
    tables: tuple[ReadableTable, ...],
    recipe: Recipe,
    bits: int,
    jobs: int | None,
    progress: Progress,
) -> tuple[Collected, Prints]:
    """What is known of all rows, and their fingerprints.

    Made by `jobs` processes; None: as many as pay. Raises InputError for a file that changes
    meanwhile, SimdupError when a worker dies.
    """
    size = sum(table.size for table in tables)
    # Each bit costs its time, and the limit is meant for few.
    load_kernels_if_worth(characters=size * max(1, recipe.bits // 128), progress=progress)
    if jobs is None:
        jobs = cores() if size > BYTES_WORTH_WORKERS else 1
    collecting = _Collecting(tables, recipe)
    with closing(_made(tables, recipe, bits, jobs)) as parts:
        for index, made in progress(parts, "rows", None, _rows_in):
            collecting.take(index, made)
    return collecting.collected()


def _rows_in(part: tuple[int, Made]) -> int:
    return part[1].rows_in


def _made(
    tables: tuple[ReadableTable, ...], recipe: Recipe, bits: int, jobs: int
) -> Generator[tuple[int, Made]]:
    """The index of a table and what was made of a chunk of it, in order."""
    owners = deque[int]()

    def tasks() -> Iterator[tuple[Chunk, Recipe, int]]:
        for index, table in enumerate(tables):
            for chunk in table.chunks():
                owners.append(index)
                yield chunk, recipe, bits

    if jobs == 1:
        yield from ((owners.popleft(), fingerprint_chunk(*task)) for task in tasks())
        return
    try:
        with closing(results(fingerprint_chunk, tasks(), jobs)) as parts:
            yield from ((owners.popleft(), made) for made in parts)
    except BrokenProcessPool:
        check_that_workers_start()
        raise SimdupError(
            "a process that read rows died, for want of memory perhaps; try fewer --jobs"
        ) from None


class _Collecting:
    """What was made so far."""

    def __init__(self, tables: tuple[ReadableTable, ...], recipe: Recipe) -> None:
        self.tables = tables
        none, pairs = np.empty(0, np.int64), np.empty((0, 2), np.uint64)
        self.columns: dict[str, list[NDArray[Any]]] = {
            "rows": [np.empty((0, recipe.bits // 8), np.uint8)],
            "counts": [none],
            "digests": [pairs],
            "text_digests": [pairs],
            "numbers": [none],
            "offsets": [none],
            "lengths": [none],
        }
        self.counts = [0] * len(tables)
        self.faults: Counter[Fault] = Counter()
        self.told: Counter[Fault] = Counter()
        self.faulty: list[Faulty] = []
        self.refused: list[list[Indices]] = [[none] for _ in tables]

    def take(self, index: int, made: Made) -> None:
        """Add what was made of a chunk of a table."""
        prints = made.prints
        for name, column in (
            *(("rows", prints.rows), ("counts", prints.counts), ("digests", prints.digests)),
            *(("text_digests", prints.text_digests), ("numbers", made.numbers)),
            *(("offsets", made.offsets), ("lengths", made.lengths)),
        ):
            self.columns[name].append(column)
        self.counts[index] += len(made.numbers)
        self._note(index, made.flaws)

    def _note(self, index: int, flaws: list[Flaw]) -> None:
        """Count what is not compared, and remember what cannot be written again."""
        path = self.tables[index].path
        refused = np.array([flaw[:2] for flaw in flaws if flaw.fault.is_refused], np.int64)
        if len(refused):
            self.refused[index].append(_numbered(*refused.T))
        for flaw in flaws:
            self.faults[flaw.fault] += flaw.rows
            if self.told[flaw.fault] < MOST_FAULTY:
                self.told[flaw.fault] += 1
                self.faulty.append(Faulty(path, flaw))

    def collected(self) -> tuple[Collected, Prints]:
        """All of it, in arrays. Of use once: what came in parts is let go."""
        numbers, offsets, lengths = map(self._whole, ("numbers", "offsets", "lengths"))
        rows = Rows(self.tables, np.cumsum([0, *self.counts]), numbers, offsets, lengths)
        names = ("rows", "counts", "digests", "text_digests")
        made = Collected(
            rows,
            dict(self.faults.most_common()),
            tuple(self.faulty),
            tuple(map(np.concatenate, self.refused)),
        )
        return made, Prints(*map(self._whole, names))

    def _whole(self, name: str) -> NDArray[Any]:
        # Its parts are let go before those of the next column are joined.
        return np.concatenate(self.columns.pop(name))


def _numbered(first: Indices, rows: Indices) -> Indices:
    """The numbers of so many rows from each first one on."""
    before = np.cumsum(rows) - rows
    return np.repeat(first - before, rows) + np.arange(rows.sum())
