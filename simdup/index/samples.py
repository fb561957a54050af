"""Samples of shingles as an inverted list: which texts have most of a question, or stand in it.

An index that is built for parts keeps one shingle in four of every text, those whose hash is at
most HIGHEST. They lie in runs, ordered by hash and cut into pieces by its first bits, so that a
question reads only the pieces of its own hashes.
Source: Irber et al., "Lightweight compositional analysis of metagenomes with FracMinHash and
minimum metagenome covers", 2022, for one limit for all texts.

A batch writes a run. RUNS_AT_ONCE neighbours of about one size are merged, up to the size of a
segment, so that there are few runs and each hash is written two or three times (O'Neil et al.,
"The log-structured merge-tree", 1996). A text that is taken out stays in its run, marked as gone,
until the run is written again, at the latest when half of its texts are gone.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from simdup.arrays import Indices, Mask, Values
from simdup.compute.buckets import sorted_keys
from simdup.errors import InputError
from simdup.fingerprint.sketch import DENSE_LEVELS, Sketches
from simdup.index.connection import MOST_PARTS, IndexFile, checksum_of
from simdup.index.metadata import has_samples
from simdup.index.segments import SIZE, entries_in
from simdup.search.distinct import distinct_numbers

Postings = tuple[Values, Indices]
#: Every dense sketch holds all hashes of its text up to this one.
HIGHEST = ((1 << 32) - 1) >> DENSE_LEVELS

# A piece of a run holds the hashes with the same first bits, and stores only their other bits.
LOW_BITS = 16
PIECES = (HIGHEST >> LOW_BITS) + 1

#: This many neighbouring runs of about one size are merged into one.
RUNS_AT_ONCE = 8

# Pieces that are read and written together: a few megabytes of a full run.
PIECES_AT_ONCE = 256

# The last bits of a hash, and the index of its text in the run.
ENTRY = np.dtype([("value", "<u2"), ("text", "<u2")])

# Stands in for the number of hashes of a text that has been taken out.
_GONE = (1 << 32) - 1


class Run(NamedTuple):
    """Some texts whose samples lie together.

    numbers: (n,): the numbers of their documents, ascending.
    counts: (n,): how many hashes of each are in the run; _GONE if it has been taken out.
    live: How many of them have not been taken out.
    """

    id: int
    numbers: Indices
    counts: Indices
    live: int

    @property
    def are_live(self) -> Mask:
        """(n,): which of them have not been taken out."""
        return self.counts != _GONE


class Shared(NamedTuple):
    """How much of a question some texts have; arrays by text.

    numbers: The numbers of their documents.
    shared: How many hashes of the question are among theirs.
    kept: How many of their hashes the index keeps.
    """

    numbers: Indices
    shared: Indices
    kept: Indices


class Held(NamedTuple):
    """The texts that have some hashes.

    counts: (n,): how many texts have each hash.
    pairs: (m, 2): a text and a hash that it has, as indices of the texts and hashes asked for.
    """

    counts: Indices
    pairs: Indices


# Writing, within `IndexFile.writing`


def add_run(file: IndexFile, numbers: Indices, dense: Sketches) -> None:
    """Write the samples of new documents, whose numbers are the highest and ascend."""
    for begin in range(0, len(numbers), SIZE):
        own = slice(begin, begin + SIZE)
        taken = dense.take(np.arange(len(numbers))[own])
        values, owners = taken.joined(), np.repeat(np.arange(len(taken)), taken.sizes)
        is_kept = values <= HIGHEST
        values, owners = values[is_kept], owners[is_kept]
        counts = np.bincount(owners, minlength=len(taken))
        _write(file, numbers[own], counts, [(values, owners)])
        _merge_neighbours(file)


def take_out_samples(file: IndexFile, numbers: Indices) -> None:
    """Mark documents as gone; drop runs with none left, and rewrite runs with few left."""
    sql = "SELECT id FROM runs WHERE low <= ? AND high >= ?"
    for (own,) in file.execute(sql, int(numbers.max()), int(numbers.min())):
        run = run_of(file, own)
        goes = np.isin(run.numbers, numbers)
        live = run.live - int(goes.sum())
        if 2 * live < len(run.numbers):
            _rewrite(file, [run])
        else:
            change = "UPDATE runs SET live = ?, counts = ?, checksum = ? WHERE id = ?"
            listed, kept = _packed(run.numbers, np.where(goes, _GONE, run.counts))
            file.execute(change, live, kept, checksum_of(0, listed, kept), own)


def _merge_neighbours(file: IndexFile) -> None:
    """Merge the newest runs, as long as enough of them are of one size or smaller.

    Two runs are of one size if their logarithms to the base of RUNS_AT_ONCE begin alike.
    """
    while True:
        rows = file.select("SELECT id, size FROM runs ORDER BY low DESC", kinds=[(int, int)])
        newest, sizes = np.array(rows, np.int64).reshape(-1, 2).T
        size = np.maximum.accumulate(np.frexp(sizes)[1] // np.log2(RUNS_AT_ONCE))
        fit = np.cumsum(sizes) <= SIZE
        counts = (int(((size <= each) & fit).sum()) for each in np.unique(size))
        count = next((each for each in counts if each >= RUNS_AT_ONCE), 0)
        if not count:
            return
        _rewrite(file, [run_of(file, own) for own in newest[:count][::-1].tolist()])


def _rewrite(file: IndexFile, runs: Sequence[Run]) -> None:
    """Merge some runs into one, without the documents that are gone."""
    numbers = np.concatenate([run.numbers for run in runs])
    counts = np.concatenate([run.counts for run in runs])
    sql, edges = "SELECT id FROM documents WHERE id BETWEEN ? AND ?", numbers[[0, -1]].tolist()
    there = np.array(file.select(sql, *edges, kinds=[(int,)]), np.int64)
    is_live = np.isin(numbers, there)
    new_index = np.cumsum(is_live) - 1
    begins = np.cumsum([0, *(len(run.numbers) for run in runs)]).tolist()

    def batches() -> Iterator[Postings]:
        for first in range(0, PIECES, PIECES_AT_ONCE):
            asked = np.arange(first, first + PIECES_AT_ONCE)
            read = [_at(file, run, asked) for run in runs]
            values = np.concatenate([each for each, _ in read])
            owners = np.concatenate(
                [begin + each for begin, (_, each) in zip(begins, read, strict=False)]
            )
            is_kept = is_live[owners]
            yield values[is_kept], new_index[owners[is_kept]]

    if is_live.any():
        _write(file, numbers[is_live], counts[is_live], batches())
    for run in runs:
        file.execute("DELETE FROM runs WHERE id = ?", run.id)
        file.execute("DELETE FROM samples WHERE id BETWEEN ? AND ?", *_edges(run))


def _write(file: IndexFile, numbers: Indices, counts: Indices, batches: Iterable[Postings]) -> None:
    """Write a run; later batches of its hashes have later pieces."""
    own = file.new_part("runs")
    for batch in batches:
        file.execute_many("INSERT INTO samples VALUES (?, ?, ?)", _pieces(own, *batch))
    listed, kept = _packed(numbers, counts)
    low, high, size = int(numbers[0]), int(numbers[-1]), len(numbers)
    values = own, low, high, size, size, listed, kept, checksum_of(0, listed, kept)
    file.execute("INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?)", *values)


def _packed(numbers: Indices, counts: Indices) -> tuple[bytes, bytes]:
    """The numbers of a run's documents and their counts of hashes, as the table `runs` has them."""
    return numbers.astype("<i8").tobytes(), counts.astype("<u4").tobytes()


def _pieces(own: int, values: Values, owners: Indices) -> Iterator[tuple[int, bytes, int]]:
    """Yield a row of the table `samples` for each piece of a run: number, entries, checksum."""
    keys = (values.astype(np.uint64) << np.uint64(32)) | owners.astype(np.uint64)
    keys = sorted_keys(keys)
    values = (keys >> np.uint64(32)).astype(np.uint32)
    entries = np.empty(len(keys), ENTRY)
    entries["value"], entries["text"] = values, keys  # their low bits
    packed, piece = entries.tobytes(), (values >> LOW_BITS).astype(np.int64)
    begins = np.flatnonzero(np.diff(piece, prepend=-1))
    ids = (own * PIECES + piece[begins]).tolist()
    bounds = pairwise((ENTRY.itemsize * np.append(begins, len(keys))).tolist())
    for piece_id, (begin, end) in zip(ids, bounds, strict=True):
        data = packed[begin:end]
        yield piece_id, data, checksum_of(piece_id, data)


# Reading


def run_of(file: IndexFile, own: int) -> Run:
    """Read a run without its hashes. Raises InputError if it is damaged."""
    sql = "SELECT low, high, size, live, documents, counts, checksum FROM runs WHERE id = ?"
    kinds = [(int, int, int, int, bytes, bytes, int)]
    low, high, size, live, listed, kept, checksum = file.row(sql, own, kinds=kinds)
    is_sound = 0 < own < MOST_PARTS and 0 < live <= size <= SIZE
    is_sound = is_sound and (len(listed), len(kept)) == (8 * size, 4 * size)
    if is_sound and checksum_of(0, listed, kept) == checksum:
        numbers = np.frombuffer(listed, np.dtype("<i8")).astype(np.int64)
        ascend = bool((np.diff(numbers) > 0).all())
        if ascend and numbers[0] >= 0 and (low, high) == (numbers[0], numbers[-1]):
            counts = np.frombuffer(kept, np.dtype("<u4")).astype(np.int64)
            return Run(own, numbers, counts, live)
    raise file.broken(f"run {own}")


def runs(file: IndexFile) -> list[Run]:
    """Read all runs without their hashes: 12 bytes a text."""
    found = file.select("SELECT id FROM runs ORDER BY low", kinds=[(int,)])
    return [run_of(file, own) for (own,) in found]


def looked_up(file: IndexFile, every: Sequence[Run], values: Values) -> Shared:
    """How many of some hashes (ascending, each once) each text has, for texts that have any.

    Reads all runs (`every`), and in each only the pieces of these hashes. Within `reading`.
    """
    found = [(np.empty(0, np.int64),) * 3]
    for run in every:
        shared = np.zeros(len(run.numbers), np.int64)
        for _, owners in _hits(file, run, values):
            shared += np.bincount(owners, minlength=len(shared))
        has_any = np.flatnonzero((shared > 0) & run.are_live)
        found.append((run.numbers[has_any], shared[has_any], run.counts[has_any]))
    numbers, counts, kept = map(np.concatenate, zip(*found, strict=True))
    return Shared(numbers, counts, np.maximum(kept, counts))  # a damaged run may tell fewer


def holders(
    file: IndexFile, every: Sequence[Run], values: Values, texts: Indices, left_out: Indices
) -> Held:
    """How many texts have each of some hashes (ascending), and which hashes the `texts` have.

    Texts that are `left_out` are not counted. Within `reading`, as `looked_up`.
    """
    counts, found = np.zeros(len(values), np.int64), [np.empty((0, 2), np.int64)]
    order, ended = np.argsort(texts), np.append(texts, -1)
    for run in every:
        is_counted = np.isin(run.numbers, left_out, invert=True) & run.are_live
        at = np.searchsorted(texts, run.numbers, sorter=order)
        asked = np.append(order, len(texts))[at]
        is_asked = ended[asked] == run.numbers
        for which, owners in _hits(file, run, values):
            counts += np.bincount(which[is_counted[owners]], minlength=len(counts))
            here = is_asked[owners]
            found.append(np.column_stack((asked[owners[here]], which[here])))
    return Held(counts, np.concatenate(found))


def _hits(file: IndexFile, run: Run, values: Values) -> Iterator[tuple[Indices, Indices]]:
    """Yield where some hashes (ascending) are in a run: which hash, and which text."""
    pieces = distinct_numbers((values >> LOW_BITS).astype(np.uint64)).astype(np.int64)
    for begin in range(0, len(pieces), PIECES_AT_ONCE):
        theirs, owners = _at(file, run, pieces[begin : begin + PIECES_AT_ONCE])
        which = np.minimum(np.searchsorted(values, theirs), len(values) - 1)
        is_hit = values[which] == theirs
        yield which[is_hit], owners[is_hit]


def _at(file: IndexFile, run: Run, pieces: Indices) -> Postings:
    """The hashes in some pieces of a run, and the index of the text of each.

    Raises InputError for damaged pieces.
    """
    sql = (
        "SELECT samples.id, entries, checksum FROM json_each(?) AS asked"
        " JOIN samples ON samples.id = asked.value ORDER BY samples.id"
    )
    asked = json.dumps((run.id * PIECES + pieces).tolist())
    stored, what = file.select(sql, asked, kinds=[(int, bytes, int)]), f"a piece of run {run.id}"
    entries, sizes = entries_in(file, stored, ENTRY, what)
    found = [piece_id - run.id * PIECES for piece_id, _, _ in stored]
    high = np.repeat(np.array(found, np.uint32), sizes)
    owners = entries["text"].astype(np.int64)
    if len(owners) and owners.max() >= len(run.numbers):
        raise file.broken(what)
    return (high << np.uint32(LOW_BITS)) | entries["value"], owners


def problems(file: IndexFile, known: Indices) -> Iterator[str]:
    """Yield a line for each fault of the samples of these documents, if any."""
    if not has_samples(file.about):
        return
    listed, pieces = [np.empty(0, np.int64)], 0
    for (own,) in file.execute("SELECT id FROM runs ORDER BY low"):
        try:
            run = run_of(file, own)
            counts = np.zeros(len(run.numbers), np.int64)
            for first in range(0, PIECES, PIECES_AT_ONCE):
                _, owners = _at(file, run, np.arange(first, first + PIECES_AT_ONCE))
                counts += np.bincount(owners, minlength=len(counts))
        except InputError as error:
            yield str(error)
            continue
        sql = "SELECT count(*) FROM samples WHERE id BETWEEN ? AND ?"
        pieces += file.execute(sql, *_edges(run))[0][0]
        is_known, are_live = np.isin(run.numbers, known), run.are_live
        listed.append(run.numbers[is_known])
        is_wrong = bool((counts != run.counts)[are_live].any() or is_known[~are_live].any())
        if is_wrong or is_known.sum() != run.live:
            yield f"the samples of run {own} are not those of its documents"
    if not np.array_equal(np.sort(np.concatenate(listed)), known):
        yield "the documents that have samples are not those of the index"
    if file.execute("SELECT count(*) FROM samples") != [(pieces,)]:
        yield "there are samples of no run"


def _edges(run: Run) -> tuple[int, int]:
    """The first and the last piece that a run may have."""
    return run.id * PIECES, run.id * PIECES + PIECES - 1
