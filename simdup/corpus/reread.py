"""Rows in, their texts out, read again.

Where a file can be read from any offset, only the rows that are asked for are read. The texts
that will be needed from other files are copied to a temporary file in one pass, so that no file
is read from its beginning again and again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from tempfile import SpooledTemporaryFile
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from simdup.arrays import Indices
from simdup.compute.compiled import in_threads, loaded_kernels
from simdup.corpus.fingerprint import text_digests
from simdup.corpus.formats.streams import changed, no_room
from simdup.corpus.records import ComparedRows
from simdup.fingerprint.features import Features, all_features, concatenated
from simdup.recipe import FeatureKind, Recipe
from simdup.text.chunking import chunks_of

# Bytes of texts that are kept in memory before they go to a file.
IN_MEMORY = 1 << 24

# Texts that are read before a thread makes features of them.
TEXTS_AT_ONCE = 512


def values(rows: ComparedRows, asked: Indices, field: str | None = None) -> Iterator[Any]:
    """Yield a field of these rows (ascending), or their texts. Raises InputError."""
    bounds = np.searchsorted(asked, rows.begins).tolist()
    for table, (begin, end) in zip(rows.tables, pairwise(bounds), strict=True):
        if begin < end:
            own = asked[begin:end]
            yield from table.values(field, rows.numbers[own], rows.offsets[own])


class RereadTexts:
    """Computes the features of texts, each read again from the first row that has it."""

    def __init__(
        self, rows: ComparedRows, first: Indices, digests: NDArray[np.uint64], recipe: Recipe
    ) -> None:
        """Take the row of each text (ascending), and the digest of each text."""
        self.rows, self.first, self.digests, self.recipe = rows, first, digests, recipe
        kinds = np.array([table.is_seekable for table in rows.tables], bool)
        self.is_seekable = kinds[rows.tables_of(first)]
        self.copied = _CopiedTexts(len(first))

    def close(self) -> None:
        """Remove the temporary file."""
        self.copied.close()

    def expect(self, texts: Indices) -> None:
        """Copy the texts that will be needed (ascending), unless they can be read one by one.

        Earlier copies stay, so that no file is unpacked again for them.
        """
        texts = texts[~(self.is_seekable | self.copied.are_there)[texts]]
        self.copied.add(texts, values(self.rows, self.first[texts]))

    def features(self, texts: Indices) -> Features:
        """Return the features of some expected texts (ascending).

        Raises InputError if one of them changed.
        """
        if self.recipe.features is not FeatureKind.SHINGLES or loaded_kernels() is None:
            return concatenated([self._features_of(each) for each in self._strings(texts)])
        # Compiled code makes features while the next texts are read.
        return concatenated(in_threads(self._features_of, self._strings(texts)))

    def _features_of(self, strings: list[str]) -> Features:
        return all_features(strings, self.recipe)

    def chunks(self, text: int) -> Iterator[str]:
        """Yield an expected text in chunks. Raises InputError if it changed."""
        for strings in self._strings(np.array([text])):
            yield from chunks_of(*strings)

    def _strings(self, texts: Indices) -> Iterator[list[str]]:
        """Yield some expected texts (ascending) in lists, at least one list.

        Raises InputError if one of them changed.
        """
        is_seekable = self.is_seekable[texts]
        direct = values(self.rows, self.first[texts[is_seekable]])
        copied = self.copied.texts(texts[~is_seekable])
        for begin in range(0, max(len(texts), 1), TEXTS_AT_ONCE):
            batch = slice(begin, begin + TEXTS_AT_ONCE)
            found = [next(direct if each else copied) for each in is_seekable[batch].tolist()]
            strings = [each if isinstance(each, str) else "" for each in found]
            differs = (text_digests(strings) != self.digests[texts[batch]]).any(axis=1)
            if differs.any():
                table = self.rows.tables_of(self.first[texts[batch][differs]])[0]
                raise changed(self.rows.tables[table].path)
            yield strings


class _CopiedTexts:
    """Copies of texts in a temporary file."""

    def __init__(self, number: int) -> None:
        """`number` is how many texts there are."""
        self.begins, self.sizes = np.zeros((2, number), np.int64)
        self.are_there = np.zeros(number, bool)
        self.file: IO[bytes] = SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115  (see `close`)

    def add(self, numbers: Indices, texts: Iterator[Any]) -> None:
        """Copy the texts with these numbers, all of them for the first time."""
        begin = int(self.sizes.sum())
        self._done(self.file.seek, begin)
        sizes = np.fromiter(map(self._written, texts), np.int64, len(numbers))
        self._done(self.file.flush)
        self.begins[numbers], self.sizes[numbers] = begin + np.cumsum(sizes) - sizes, sizes
        self.are_there[numbers] = True

    def _written(self, text: object) -> int:
        data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else b""
        return self._done(self.file.write, data)

    def _done(self, work: Callable[..., int | None], *what: int | bytes) -> int:
        """Call a method of the file. Raises SimdupError if there is no room."""
        try:
            return work(*what) or 0
        except OSError as error:
            raise no_room("texts", error) from None

    def texts(self, numbers: Indices) -> Iterator[str]:
        """Yield the texts with these numbers."""
        for number in numbers.tolist():
            self.file.seek(self.begins[number])
            yield self.file.read(self.sizes[number]).decode("utf-8", "surrogatepass")

    def close(self) -> None:
        """Remove the file."""
        self.file.close()
