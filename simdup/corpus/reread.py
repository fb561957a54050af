"""Rows in, their texts out, read again.

Where a file can be read from any offset, only the rows that are asked for are. Of others the
texts that will be needed are put aside at once, in a temporary file, so that the file is not
read from its beginning again and again.
"""

from __future__ import annotations

from itertools import pairwise
from tempfile import SpooledTemporaryFile
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from simdup.corpus.fingerprint import text_digests
from simdup.corpus.formats.streams import changed
from simdup.errors import SimdupError
from simdup.fingerprint.features import all_features

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from simdup.corpus.records import Rows
    from simdup.fingerprint.features import Features
    from simdup.recipe import Recipe

    Indices = NDArray[np.int64]

# Bytes of texts that are put aside in memory, before it is a file.
IN_MEMORY = 1 << 24


def values(rows: Rows, asked: Indices, field: str | None = None) -> Iterator[Any]:
    """What a field has for some rows, which rise; None: the texts. Raises InputError."""
    bounds = np.searchsorted(asked, rows.begins).tolist()
    for table, (begin, end) in zip(rows.tables, pairwise(bounds), strict=True):
        if begin < end:
            part = asked[begin:end]
            yield from table.values(field or table.field, rows.numbers[part], rows.offsets[part])


class RowsAgain:
    """Features of rows, made of their texts a second time."""

    def __init__(self, rows: Rows, digests: NDArray[np.uint64], recipe: Recipe) -> None:
        self.rows, self.digests, self.recipe = rows, digests, recipe
        kinds = np.array([table.is_seekable for table in rows.tables], bool)
        self.is_seekable = np.repeat(kinds, np.diff(rows.begins))
        self.aside = _Aside(np.empty(0, np.int64), iter(()))

    def close(self) -> None:
        """Remove what was put aside."""
        self.aside.close()

    def expect(self, asked: Indices) -> None:
        """Put aside the texts of those rows that cannot be had one by one."""
        self.aside.close()
        rows = asked[~self.is_seekable[asked]]
        self.aside = _Aside(rows, values(self.rows, rows))

    def features(self, asked: Indices) -> Features:
        """The features of some of the rows expected. Raises InputError if a text changed."""
        is_seekable = self.is_seekable[asked]
        direct = values(self.rows, asked[is_seekable])
        aside = self.aside.texts(asked[~is_seekable])
        texts = [next(direct if each else aside) for each in is_seekable.tolist()]
        strings = [each if isinstance(each, str) else "" for each in texts]
        differs = (text_digests(strings) != self.digests[asked]).any(axis=1)
        if differs.any():
            first = asked[differs][:1]
            raise changed(self.rows.tables[int(self.rows.tables_of(first)[0])].path)
        return all_features(strings, self.recipe)


class _Aside:
    """Texts of some rows in a temporary file."""

    def __init__(self, rows: Indices, texts: Iterator[Any]) -> None:
        self.rows = rows
        self.file: IO[bytes] = SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115  (see `close`)
        sizes = np.fromiter(map(self._written, texts), np.int64, len(self.rows))
        self.ends = np.cumsum(sizes)

    def _written(self, text: object) -> int:
        data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else b""
        try:
            return self.file.write(data)
        except OSError as error:
            where = "in the folder of temporary files (TMPDIR names another)"
            raise SimdupError(f"texts cannot be put aside {where}: {error.strerror}") from None

    def texts(self, rows: Indices) -> Iterator[str]:
        """Yield the texts of these rows, whose numbers ascend."""
        places = np.searchsorted(self.rows, rows)
        for end, begin in zip(self.ends[places].tolist(), self._begins(places), strict=True):
            self.file.seek(begin)
            yield self.file.read(end - begin).decode("utf-8", "surrogatepass")

    def _begins(self, places: Indices) -> list[int]:
        begins: list[int] = np.append(0, self.ends)[places].tolist()
        return begins

    def close(self) -> None:
        """Remove the file."""
        self.file.close()
