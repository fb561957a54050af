"""Features in, sketches out: a sample of each text's features, chosen alike for all texts.

A sketch keeps the features whose hash is below a limit. The limit depends only on how many
features a text has, so two texts keep the same ones of the features they share, and the share of
equal hashes estimates how alike they are. Source: Irber et al., "Lightweight compositional
analysis of metagenomes with FracMinHash and minimum metagenome covers", 2022, who use one limit
for all texts.

What is made and stored is large: a text with fewer than 2 * KEPT features keeps all of them. From
there on each doubling halves the limit, down to one feature in 2**LEVELS. Own shares need as much,
and two sketches with all features give the exact similarity of their texts. Candidates are compared
by the usual sketches, which do the same from 2 * LEAST features on. The search for parts of texts
uses dense sketches, which halve the limit no more than DENSE_LEVELS times: a short part shares too
little with a sketch of one feature in 16. A larger sketch begins with the values of a smaller one,
and `thinned` finds these.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from simdup.arrays import Hashes, Indices, Keys, Mask, Values
from simdup.compute.buckets import sorted_keys
from simdup.fingerprint.features import Features
from simdup.settings import USUAL, Limits

#: A text with at least this many features keeps about this many or more. With 64 the rule of own
#: share loses .010 of F1 on reworded chapters, with 256 it wins .003.
LEAST = 128

#: A text with at least this many features keeps about this many or more in what is stored. Of
#: 3,500 texts of one kind with 500 to 20,000 features each, half of them from a shared pool, 99 in
#: 100 own shares are then within .02 of the exact ones; with 4,096 it may be 78, with LEAST 46.
KEPT = 1 << 14

#: A long text keeps one feature in 16.
LEVELS = 4

#: A dense sketch of a long text keeps one feature in 4: about eight of an English text of 200
#: characters, or forty of a Chinese one.
DENSE_LEVELS = 2

# Texts whose sketches are thinned at once, so that few pages of a file are in memory.
SEARCHED_AT_ONCE = 1 << 13

_HALF = np.uint64(32)
# The type of a value in stored sketches.
_STORED = np.dtype("<u4")
_LARGEST = np.uint32((1 << 32) - 1)
_NO_VALUES = np.empty(0, np.uint32)

#: Raised when sketches change, so that a scan with an older store reads every file again.
EDITION = 2


def levels(counts: Indices, most: int = LEVELS, least: int = LEAST) -> Indices:
    """How often the limit of a text with `counts` features is halved; at most `most`; (n,).

    It is halved so that about `least` values are left, or up to twice as many.

    >>> levels(np.array([0, 255, 256, 511, 512, 10**6])).tolist()
    [0, 0, 1, 1, 2, 4]
    """
    return np.searchsorted(2 * least << np.arange(most), counts, side="right")


@dataclass(frozen=True, slots=True, eq=False)
class Sketches:
    """The sketches of some texts, which may lie anywhere in one array.

    values: The high halves of the hashes of features, ascending within each text.
    begins: (n,): text i has values[begins[i] : begins[i] + sizes[i]].
    sizes: (n,)
    mapped: The temporary file that holds `values`, if one does.
    """

    values: Values
    begins: Indices
    sizes: Indices
    mapped: mmap.mmap | None = None

    def __len__(self) -> int:
        return len(self.begins)

    def __getitem__(self, text: int) -> Values:
        """The values of one text."""
        return self.values[self.begins[text] : self.begins[text] + self.sizes[text]]

    def __iter__(self) -> Iterator[Values]:
        return (self[text] for text in range(len(self)))

    def take(self, texts: Indices) -> Sketches:
        """The sketches of these texts, in this order; nothing is copied."""
        return Sketches(self.values, self.begins[texts], self.sizes[texts], self.mapped)

    def joined(self) -> Values:
        """The values of all texts, one text after the other; (sizes.sum(),).

        Nothing is copied where `values` holds exactly these, in memory and in their order.
        """
        ends = np.cumsum(self.sizes)
        is_whole = self.mapped is None and len(self.values) == self.sizes.sum()
        if is_whole and np.array_equal(self.begins, ends - self.sizes):
            return self.values
        places = np.repeat(self.begins - (ends - self.sizes), self.sizes)
        places += np.arange(len(places))
        values = self.values[places]
        self.release()
        return values

    def release(self) -> None:
        """Drop the pages of the temporary file from memory; they can be read again."""
        if self.mapped is not None and hasattr(mmap, "MADV_DONTNEED"):
            self.mapped.madvise(mmap.MADV_DONTNEED)

    def each(self) -> Iterator[bytes]:
        """Yield the values of each sketch as bytes, lowest byte first."""
        data = self.joined().astype(_STORED).tobytes()
        ends = (4 * np.cumsum(self.sizes)).tolist()
        return (data[begin:end] for begin, end in pairwise([0, *ends]))


def sketches(
    features: Features, counts: Indices | None = None, most_levels: int = LEVELS
) -> Sketches:
    """The large sketches of documents, from their features; dense ones too with DENSE_LEVELS.

    `counts` (documents,) says how many features each document has, if it has more than these.
    """
    sizes = features.counts
    limits = _stored_limits(sizes if counts is None else counts, most_levels)
    kept = features.ids <= np.repeat(limits, sizes)
    # One sort for all documents: the number of a document stands above its hashes.
    bounds = np.arange(len(sizes) + 1, dtype=np.uint64) << _HALF
    keys = np.repeat(bounds[:-1], sizes) | (features.ids >> _HALF)
    keys = sorted_keys(keys[kept])
    is_new = keys[1:] != keys[:-1]
    if not is_new.all():
        keys = keys[np.append(True, is_new)]
    begins = np.searchsorted(keys, bounds)
    return Sketches(keys.astype(np.uint32), begins[:-1], np.diff(begins))


def read_back(sketches: Iterable[bytes]) -> Sketches:
    """The sketches from the bytes that `Sketches.each` yielded. Raises ValueError for others."""
    parts = list(sketches)
    sizes, odd = np.divmod(np.array(list(map(len, parts)), np.int64), _STORED.itemsize)
    if odd.any():
        raise ValueError("a sketch is cut within a value")
    return laid_out(np.frombuffer(b"".join(parts), _STORED).astype(np.uint32, copy=False), sizes)


def laid_out(values: Values, sizes: Indices) -> Sketches:
    """The sketches of these sizes, whose values stand one after the other."""
    return Sketches(values, np.cumsum(sizes) - sizes, sizes)


def joined(parts: Sequence[Sketches]) -> Sketches:
    """The sketches of several collections as one, in order."""
    sizes = np.concatenate([np.empty(0, np.int64), *(part.sizes for part in parts)])
    return laid_out(np.concatenate([_NO_VALUES, *(part.joined() for part in parts)]), sizes)


def thinned(
    large: Sketches, counts: Indices, most_levels: int = LEVELS, least: int = LEAST
) -> Sketches:
    """The usual sketches of texts with `counts` (n,) features, or others, from larger ones.

    Nothing is copied. See `levels` for the last arguments.
    """
    return up_to(large, (_limits(counts, most_levels, least) >> _HALF).astype(np.uint32))


def up_to(large: Sketches, limits: Keys) -> Sketches:
    """The values of each sketch up to its limit (n,); nothing is copied."""
    # The number of values up to the limit lies from `low` to `high`, which meet.
    low, high = large.sizes * (limits == _LARGEST), large.sizes.copy()
    every = np.flatnonzero(low < high)
    for begin in range(0, len(every), SEARCHED_AT_ONCE):
        open_ = every[begin : begin + SEARCHED_AT_ONCE]
        while len(open_):
            middle = (low[open_] + high[open_]) // 2
            is_kept = large.values[large.begins[open_] + middle] <= limits[open_]
            low[open_[is_kept]], high[open_[~is_kept]] = middle[is_kept] + 1, middle[~is_kept]
            open_ = open_[low[open_] < high[open_]]
        large.release()
    return Sketches(large.values, large.begins, low, large.mapped)


def are_dense(large: Sketches, counts: Indices) -> Mask:
    """Whether these stored sketches of texts with `counts` features (n,) are dense ones; (n,).

    The dense sketch of a long text has hundreds of values that another one lacks; shorter texts
    have the same sketch either way.
    """
    usual, dense = (_stored_limits(counts, most) >> _HALF for most in (LEVELS, DENSE_LEVELS))
    last = np.zeros(len(counts), np.uint64)
    has_any = large.sizes > 0
    last[has_any] = large.values[(large.begins + large.sizes - 1)[has_any]]
    return (usual == dense) | (last > usual)


def sampled(ids: Hashes, count: int, most_levels: int = LEVELS) -> Hashes:
    """The ids that the sketch of a text with `count` features keeps, each once, ascending."""
    ids = np.sort(ids[ids <= _stored_limits(np.array([count]), most_levels)])
    return ids[np.diff(ids, prepend=ids[:1] + np.uint64(1)) != 0]


def _limits(counts: Indices, most_levels: int, least: int) -> Hashes:
    """The largest hash that the sketch of each text keeps, by its number of features; (n,)."""
    return np.uint64((1 << 64) - 1) >> levels(counts, most_levels, least).astype(np.uint64)


def _stored_limits(counts: Indices, most_levels: int) -> Hashes:
    """The largest hash that is stored of each text: of its large sketch or its dense one; (n,)."""
    large = _limits(counts, LEVELS, KEPT)
    return np.maximum(large, _limits(counts, most_levels, LEAST))


class Collected:
    """Columns, each a fact about all texts, and the sketches of the texts.

    The sketches of a large collection lie in a temporary file.
    """

    def __init__(self, *columns: NDArray[Any], is_sketched: bool, limits: Limits = USUAL) -> None:
        """Begin each column with an array that has no text yet."""
        # With sketches, two more columns: where each begins among all values, and its size.
        none = np.empty(0, np.int64)
        self._is_sketched, self._added = is_sketched, 0
        self._parts = [[each] for each in (*columns, *([none, none] if is_sketched else []))]
        self._values, self._count = list[Values](), 0
        self._most = limits.sketch_bytes
        self._file: IO[bytes] | None = None
        self._mapped: mmap.mmap | None = None

    def add(self, sketches: Sketches | None, *columns: NDArray[Any]) -> None:
        """Add some texts: an array for each column, and sketches if these are collected."""
        if self._is_sketched and sketches is not None:
            columns = (*columns, self._begins(sketches), sketches.sizes)
        for parts, column in zip(self._parts, columns, strict=True):
            parts.append(column)
        self._added += 1

    def _begins(self, batch: Sketches) -> Indices:
        """Put sketches aside, and return where each of them begins among all values; (n,)."""
        self._values.append(batch.joined())
        ends = self._count + np.cumsum(batch.sizes)
        self._count += len(self._values[-1])
        if self._file is None and self._count * 4 > self._most:
            from tempfile import TemporaryFile  # noqa: PLC0415  slow to import

            self._file = TemporaryFile()  # noqa: SIM115  (`sketches` closes it)
        if self._file is not None:
            self._file.writelines(part.tobytes() for part in self._values)
            self._values.clear()
        return ends - batch.sizes

    def columns(self) -> list[NDArray[Any]]:
        """Return each column, without the sketches."""
        return self._joined()[:-2] if self._is_sketched else self._joined()

    def _joined(self) -> list[NDArray[Any]]:
        """Every column as one array.

        The parts of one column are freed before the next column is joined, since the columns of a
        corpus may take half of the memory.
        """
        for parts in self._parts:
            if len(parts) > 1:  # Ctrl-C may have come between two columns, here or in `add`
                parts[:] = [np.concatenate(parts[: self._added + 1])]
        return [each for (each,) in self._parts]

    def sketches(self, texts: Indices | slice = slice(None)) -> Sketches | None:
        """Return the sketches of these texts (default: all); None if they are not collected.

        No text can be added any more.
        """
        if not self._is_sketched:
            return None
        *_, begins, sizes = self._joined()
        if self._file is None:
            return Sketches(
                np.concatenate([_NO_VALUES, *self._values]), begins[texts], sizes[texts]
            )
        if self._mapped is None:
            with self._file as file:
                file.flush()
                self._mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        values = np.frombuffer(self._mapped, np.uint32)
        return Sketches(values, begins[texts], sizes[texts], self._mapped)
