"""Tables in, fingerprints of their rows out: arrays, over several processes where it pays."""

from __future__ import annotations

from collections import Counter, deque
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from simdup.compute.compiled import cores, load_kernels_if_worth
from simdup.compute.processes import check_that_workers_start, results
from simdup.corpus.flaws import Fault, Faulty, Flaw
from simdup.corpus.records import ComparedRows, TextFingerprints
from simdup.errors import SimdupError
from simdup.fingerprint.simhash import are_degenerate, fingerprint_texts

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator

    from numpy.typing import NDArray

    from simdup.corpus.formats.table import Chunk, Table
    from simdup.progress import Progress
    from simdup.recipe import Recipe

    Indices = NDArray[np.int64]
    Digests = NDArray[np.uint64]

# Less than this is done sooner than a worker has started.
BYTES_WORTH_WORKERS = 1 << 24

# For so many rows of each fault a report can say where they are.
MOST_FAULTY = 1000


class FingerprintedChunk(NamedTuple):
    """What was made of a chunk: arrays by row, and the rows that have no fingerprint.

    See `TextFingerprints` for the first four arrays and `ComparedRows` for the others.
    """

    rows: NDArray[np.uint8]
    counts: Indices
    digests: Digests
    text_digests: Digests
    numbers: Indices
    offsets: Indices
    lengths: Indices
    flaws: list[Flaw]


def fingerprint_chunk(chunk: Chunk, recipe: Recipe, bits: int) -> FingerprintedChunk:
    """The fingerprints of a chunk; rows that have none are flaws.

    Only the first `bits` bits are compared, so these must not all be equal.
    """
    parsed = chunk.parsed()
    made = fingerprint_texts(parsed.texts, recipe)
    numbers, offsets = np.array(parsed.numbers, np.int64), np.array(parsed.offsets, np.int64)
    is_empty = made.counts == 0
    is_flat = are_degenerate(made.rows, bits) & ~is_empty
    empty = (Flaw(row, 1, Fault.EMPTY, "no letter or digit") for row in numbers[is_empty].tolist())
    flat = (Flaw(row, 1, Fault.DEGENERATE) for row in numbers[is_flat].tolist())
    good = np.flatnonzero(~(is_empty | is_flat))
    texts = [parsed.texts[index] for index in good.tolist()]
    return FingerprintedChunk(
        made.rows[good],
        made.counts[good],
        made.digests[good],
        text_digests(texts),
        numbers[good],
        offsets[good],
        np.array(list(map(len, texts)), np.int64),
        sorted((*parsed.flaws, *empty, *flat), key=lambda flaw: flaw.row),
    )


def text_digests(texts: Iterable[str]) -> Digests:
    """128 bits for each text, whatever its line ends and byte-order mark: (n, 2)."""
    digests = b"".join(map(_digest, texts))
    return np.frombuffer(digests, np.uint64).reshape(-1, 2)


def _digest(text: str) -> bytes:
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    encoded = text.removeprefix("\ufeff").encode("utf-8", "surrogatepass")
    return blake2b(encoded, digest_size=16).digest()


class FingerprintedRows(NamedTuple):
    """What was made of all rows of some tables; see `CorpusResult` for the last three."""

    rows: ComparedRows
    prints: TextFingerprints
    faults: dict[Fault, int]
    faulty: tuple[Faulty, ...]
    refused: tuple[Indices, ...]


def fingerprint_tables(
    tables: tuple[Table, ...], recipe: Recipe, bits: int, jobs: int | None, progress: Progress
) -> FingerprintedRows:
    """Fingerprint all rows by `jobs` processes; None: by as many as pay.

    Raises InputError for a file that changes meanwhile, SimdupError when a worker dies.
    """
    size = sum(table.size for table in tables)
    # The limit is meant for 128 bits; more bits take longer.
    load_kernels_if_worth(characters=size * max(1, recipe.bits // 128), progress=progress)
    if jobs is None:
        jobs = cores() if size > BYTES_WORTH_WORKERS else 1
    collector = _Collector(tables, recipe)
    with closing(_fingerprinted(tables, recipe, bits, jobs)) as parts:
        for index, made in progress(parts, "rows", None, _rows_in):
            collector.add(index, made)
    return collector.joined()


def _rows_in(part: tuple[int, FingerprintedChunk]) -> int:
    _, made = part
    return len(made.numbers) + sum(flaw.rows for flaw in made.flaws)


def _fingerprinted(
    tables: tuple[Table, ...], recipe: Recipe, bits: int, jobs: int
) -> Generator[tuple[int, FingerprintedChunk]]:
    """Yield what was made of each chunk, in order, with the index of its table."""
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


class _Collector:
    """Joins what was made of chunks."""

    def __init__(self, tables: tuple[Table, ...], recipe: Recipe) -> None:
        self.tables = tables
        rows, none = np.empty((0, recipe.bits // 8), np.uint8), np.empty(0, np.int64)
        digests = np.empty((0, 2), np.uint64)
        self.columns: list[list[NDArray[Any]]] = [[rows], [none], [digests], [digests]]
        self.columns += [[none], [none], [none]]
        self.counts = [0] * len(tables)
        self.faults: Counter[Fault] = Counter()
        self.listed: Counter[Fault] = Counter()
        self.faulty: list[Faulty] = []
        self.refused: list[list[Indices]] = [[none] for _ in tables]

    def add(self, index: int, made: FingerprintedChunk) -> None:
        """Add what was made of a chunk of the table with this index."""
        columns: tuple[NDArray[Any], ...] = made[:-1]
        for parts, column in zip(self.columns, columns, strict=True):
            parts.append(column)
        self.counts[index] += len(made.numbers)
        self._add_flaws(index, made.flaws)

    def _add_flaws(self, index: int, flaws: list[Flaw]) -> None:
        """Count rows that are not compared; remember which of them cannot be written again."""
        refused = [each for each in flaws if each.fault.is_refused]
        numbers = [np.arange(each.row, each.row + each.rows) for each in refused]
        if numbers:
            self.refused[index].append(np.concatenate(numbers))
        for flaw in flaws:
            self.faults[flaw.fault] += flaw.rows
            if self.listed[flaw.fault] < MOST_FAULTY:
                self.listed[flaw.fault] += 1
                self.faulty.append(Faulty(self.tables[index].path, flaw))

    def joined(self) -> FingerprintedRows:
        """Return all of it, once: the parts of a column are freed before the next is joined."""
        columns = [np.concatenate(self.columns.pop(0)) for _ in range(len(self.columns))]
        return FingerprintedRows(
            ComparedRows(self.tables, np.cumsum([0, *self.counts]), *columns[4:]),
            TextFingerprints(*columns[:4]),
            dict(self.faults.most_common()),
            tuple(self.faulty),
            tuple(map(np.concatenate, self.refused)),
        )
