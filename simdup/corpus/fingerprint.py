"""Tables in, fingerprints of their rows out, as arrays; by several processes where that pays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterable, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from hashlib import blake2b
from itertools import starmap
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simdup.arrays import Digests, Indices
from simdup.compute.compiled import jobs_worth, load_kernels_if_worth
from simdup.compute.worker_pool import check_that_workers_start, results
from simdup.corpus.flaws import Fault, Faulty, Flaw
from simdup.corpus.formats.table import Chunk, Table
from simdup.corpus.records import ComparedRows, TextFingerprints
from simdup.errors import SimdupError
from simdup.fingerprint.simhash import are_degenerate, fingerprint_texts
from simdup.fingerprint.sketch import DENSE_LEVELS, LEVELS, Collected
from simdup.match.candidates import needs_sieve, sieve_recipe
from simdup.progress import Progress
from simdup.recipe import Recipe
from simdup.settings import Settings


def recipe_of(settings: Settings) -> Recipe:
    """The recipe by which a scan with these settings fingerprints rows."""
    return sieve_recipe(settings.recipe) if needs_sieve(settings) else settings.recipe


def levels_of(settings: Settings) -> int | None:
    """How dense the sketches of such a scan are, see `fingerprint.sketch`; None: it has none."""
    levels = LEVELS if settings.parts is None else DENSE_LEVELS
    return levels if settings.verified else None


def fingerprint_list(
    texts: Sequence[str], settings: Settings
) -> tuple[TextFingerprints, Indices, Indices, Indices]:
    """The fingerprints of some texts, for a scan with these settings.

    Also returns which texts have a fingerprint, which lack a letter or digit, and which are
    degenerate: all bits of their fingerprint are equal.
    """
    made = fingerprint_texts(texts, recipe_of(settings), levels_of(settings), has_words=False)
    is_empty = made.counts == 0
    is_flat = are_degenerate(made.rows, settings.recipe.bits) & ~is_empty
    good = np.flatnonzero(~(is_empty | is_flat))
    of_texts = text_digests(texts[index] for index in good.tolist())
    sketches = None if made.sketches is None else made.sketches.take(good)
    prints = TextFingerprints._make([*(each[good] for each in made[:3]), of_texts, sketches])
    return prints, good, np.flatnonzero(is_empty), np.flatnonzero(is_flat)


class FingerprintedChunk(NamedTuple):
    """The fingerprints of a chunk: arrays by row, and the rows that have none.

    See `ComparedRows` for `numbers`, `offsets` and `lengths`.

    table: The index of the table that the chunk is from.
    """

    table: int
    prints: TextFingerprints
    numbers: Indices
    offsets: Indices
    lengths: Indices
    flaws: list[Flaw]


def fingerprint_chunk(table: int, chunk: Chunk, settings: Settings) -> FingerprintedChunk:
    """The fingerprints of a chunk of the table with this index; rows that have none are flaws."""
    parsed = chunk.parsed()
    prints, good, empty, flat = fingerprint_list(parsed.texts, settings)
    numbers, offsets = np.array(parsed.numbers, np.int64), np.array(parsed.offsets, np.int64)
    lengths = np.array(list(map(len, parsed.texts)), np.int64)
    without = (Flaw(row, 1, Fault.EMPTY, "no letter or digit") for row in numbers[empty].tolist())
    degenerate = (Flaw(row, 1, Fault.DEGENERATE) for row in numbers[flat].tolist())
    return FingerprintedChunk(
        table,
        prints,
        numbers[good],
        offsets[good],
        lengths[good],
        sorted((*parsed.flaws, *without, *degenerate), key=lambda flaw: flaw.row),
    )


def text_digests(texts: Iterable[str]) -> Digests:
    """128 bits for each text, (n, 2); line endings and byte-order marks make no difference."""
    digests = b"".join(map(_digest, texts))
    return np.frombuffer(digests, np.uint64).reshape(-1, 2)


def _digest(text: str) -> bytes:
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    encoded = text.removeprefix("\ufeff").encode("utf-8", "surrogatepass")
    return blake2b(encoded, digest_size=16).digest()


def fingerprint_tables(
    tables: tuple[Table, ...], settings: Settings, jobs: int | None, progress: Progress
) -> tuple[ComparedRows, TextFingerprints, Flaws]:
    """Fingerprint all rows by `jobs` processes; None: by as many as pay.

    Returns the rows that have a fingerprint, these fingerprints, and the flaws of other rows.

    Raises InputError for a file that changes meanwhile, SimdupError when a worker dies.
    """
    size = sum(table.size for table in tables)
    if jobs is None:
        jobs = jobs_worth(size)
    none = np.empty(0, np.int64)
    collected = new_prints(settings, none, none, none)
    flaws = Flaws(tables, settings.limits.faulty_rows)
    owners, sizes = list[int](), list[int]()
    with closing(_fingerprinted(tables, settings, jobs, size, progress)) as chunks:
        for made in progress(chunks, "rows", None, _rows_in):
            where = made.numbers, made.offsets, made.lengths
            collected.add(made.prints.sketches, *made.prints[:4], *where)
            flaws.add(made.table, made.flaws)
            owners.append(made.table)
            sizes.append(len(made.numbers))
    *prints, numbers, offsets, lengths = collected.columns()
    in_table = np.bincount(np.array(owners, np.int64), sizes, len(tables)).astype(np.int64)
    begins = np.append(0, np.cumsum(in_table))
    rows = ComparedRows(tables, begins, numbers, offsets, lengths)
    return rows, TextFingerprints._make([*prints, collected.sketches()]), flaws


def new_prints(settings: Settings, *more: NDArray[Any]) -> Collected:
    """Begin to collect fingerprints: the columns of `TextFingerprints`, and perhaps more."""
    rows = np.empty((0, recipe_of(settings).bits // 8), np.uint8)
    columns = rows, np.empty(0, np.int64), np.empty((0, 2), np.uint64), np.empty((0, 2), np.uint64)
    is_sketched = levels_of(settings) is not None
    return Collected(*columns, *more, is_sketched=is_sketched, limits=settings.limits)


def _rows_in(made: FingerprintedChunk) -> int:
    return len(made.numbers) + sum(flaw.rows for flaw in made.flaws)


def _fingerprinted(
    tables: tuple[Table, ...], settings: Settings, jobs: int, characters: int, progress: Progress
) -> Generator[FingerprintedChunk]:
    """Yield the fingerprints of each chunk, in order; they have so many characters in all."""
    every = ((index, chunk) for index, table in enumerate(tables) for chunk in table.chunks())
    tasks = ((*each, settings) for each in every)
    if jobs == 1:
        load_kernels_if_worth(characters=characters, progress=progress)
        yield from starmap(fingerprint_chunk, tasks)
        return
    try:
        takes_part = jobs_worth(characters) > 1  # else this process waits for the others alone
        made = results(fingerprint_chunk, tasks, jobs, characters, progress, takes_part)
        with closing(made) as chunks:
            yield from chunks
    except BrokenProcessPool:
        check_that_workers_start()
        raise SimdupError(
            "a process that read rows died, for want of memory perhaps; try fewer --jobs"
        ) from None


class Flaws:
    """Counts the rows that are not compared, and lists the first `most` of each fault."""

    def __init__(self, tables: tuple[Table, ...], most: int) -> None:
        self.tables, self.most = tables, most
        self.faults: Counter[Fault] = Counter()
        self.shown: Counter[Fault] = Counter()
        self.faulty: list[Faulty] = []
        self.refused: list[list[Indices]] = [[np.empty(0, np.int64)] for _ in tables]

    def add(self, index: int, flaws: Sequence[Flaw]) -> None:
        """Add flaws of the table with this index; note which rows cannot be written again."""
        refused = (each for each in flaws if each.fault.is_refused)
        numbers = [np.arange(each.row, each.row + each.rows) for each in refused]
        if numbers:
            self.refused[index].append(np.concatenate(numbers))
        for flaw in flaws:
            self.faults[flaw.fault] += flaw.rows
            if self.shown[flaw.fault] < self.most:
                self.shown[flaw.fault] += 1
                self.faulty.append(Faulty(self.tables[index].path, flaw))

    def listed(self) -> tuple[dict[Fault, int], tuple[Faulty, ...], tuple[Indices, ...]]:
        """Return the number of rows by fault, the first flaws, and the refused rows by table."""
        faults = dict(self.faults.most_common())
        return faults, tuple(self.faulty), tuple(map(np.concatenate, self.refused))
