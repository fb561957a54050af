"""The rows that stay, written in the format of the input."""

from __future__ import annotations

import os
import zlib
from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from simdup.corpus.formats.open import form_of
from simdup.corpus.formats.streams import PACKINGS, changed
from simdup.corpus.stay import dropped
from simdup.errors import ExtraMissingError, InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from simdup.corpus.records import CorpusResult, Table

    Indices = NDArray[np.int64]

# A row group of Parquet ends with so many rows or bytes.
GROUP_ROWS, GROUP_BYTES = 1 << 17, 1 << 25


# Ends of names that promise what would not be in the file.
_NOT_WRITTEN = {".7z", ".br", ".bz2", ".lz", ".lz4", ".lzma", ".rar", ".tgz", ".xz", ".z", ".zip"}


def check_target(tables: Sequence[Table], target: str) -> None:
    """Raise InputError unless the rows of all tables can go into one file of that name.

    ExtraMissingError where packing it needs the extra `corpus`.
    """
    first, form = tables[0], form_of(target)
    if os.path.splitext(target.lower())[1] in _NOT_WRITTEN:
        raise InputError(f"{target!r}: rows are packed as {' or '.join(PACKINGS)}, or not at all")
    for table in tables[1:]:
        if table.form != first.form or table.columns != first.columns:
            what = "format" if table.form != first.form else "columns"
            raise InputError(f"{table.path!r} has another {what} than {first.path!r}: not one file")
    if form[0] not in {None, first.form} or (first.form == "parquet" and form[1]):
        raise InputError(f"{target!r}: the rows are {first.form}, and are written as such")
    if form[1] == ".zst" and find_spec("zstandard") is None:
        raise ExtraMissingError(f"{target!r}: .zst", "corpus")


def rewritten(result: CorpusResult, keep: str, target: str = "") -> Iterator[bytes]:
    """The content of a file with the rows that stay, a part at a time.

    `keep` is one of `corpora.KEEPS`: which rows of a group are preferred. Each row that goes
    is alike to one that stays (`corpus.stay.dropped`). JSON lines and records of CSV are the
    very bytes of the input; Parquet keeps its schema. It is packed as the end of `target`
    says. Raises InputError when a file is not what it was.
    """
    yield from without(result, dropped(result, keep), target)


def without(result: CorpusResult, goes: Indices, target: str = "") -> Iterator[bytes]:
    """The content of a file with all rows but some, these in order; as `rewritten`."""
    tables = result.rows.tables
    if not tables:
        return
    parts = _parts(result, goes)
    if tables[0].form == "parquet":
        yield from _parquet(tables[0], parts)
        return
    content = _chained(tables[0].head(), parts)
    yield from _PACKED[form_of(target)[1]](content)


def _parts(result: CorpusResult, left_out: Indices) -> Iterator[Any]:
    """What stays of each table, one after the other; as many rows as were to, or InputError."""
    rows, written = result.rows, 0
    bounds = np.searchsorted(left_out, rows.begins)
    for index, table in enumerate(rows.tables):
        goes = rows.numbers[left_out[bounds[index] : bounds[index + 1]]]
        for part, count in table.kept(np.union1d(goes, result.refused[index])):
            written += count
            yield part
    if written != replace(result.balance, dropped=len(left_out)).kept:
        raise changed(rows.tables[0].path)


def _chained(head: bytes, parts: Iterable[bytes]) -> Iterator[bytes]:
    if head:
        yield head
    yield from parts


def _gzipped(content: Iterable[bytes]) -> Iterator[bytes]:
    packer = zlib.compressobj(wbits=31)  # with the head and the end of gzip
    for part in content:
        yield packer.compress(part)
    yield packer.flush()


def _zstd(content: Iterable[bytes]) -> Iterator[bytes]:
    from zstandard import ZstdCompressor  # noqa: PLC0415  (an extra)

    packer = ZstdCompressor().compressobj()
    for part in content:
        yield packer.compress(part)
    yield packer.flush()


_PACKED: dict[str, Callable[[Iterator[bytes]], Iterator[bytes]]] = {
    "": iter,
    ".gz": _gzipped,
    ".zst": _zstd,
}


class _Sink:
    """A file for pyarrow to write to, whose bytes are taken away as they come."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.position = 0
        self.closed = False

    def write(self, data: bytes) -> int:
        """Add bytes."""
        self.parts.append(bytes(data))
        self.position += len(data)
        return len(data)

    def tell(self) -> int:
        """How many there have been."""
        return self.position

    def taken(self) -> bytes:
        """Return the bytes written since the last call."""
        parts, self.parts = self.parts, []
        return b"".join(parts)

    def flush(self) -> None:
        """Nothing: they are here."""

    close = flush

    def writable(self) -> bool:
        """Return True: bytes are collected here."""
        return True

    def readable(self) -> bool:
        """Return False: nothing can be read back."""
        return False

    seekable = readable


def _parquet(first: Any, parts: Iterable[Any]) -> Iterator[bytes]:  # noqa: ANN401
    """The file, in row groups of a handy size, each column packed as it was."""
    import pyarrow as pa  # noqa: PLC0415
    from pyarrow.parquet import ParquetWriter  # noqa: PLC0415

    sink, schema = _Sink(), first.columns
    with ParquetWriter(sink, schema, compression=first.packings() or "snappy") as writer:
        for batches in _row_groups(parts):
            writer.write_table(pa.Table.from_batches(batches, schema), row_group_size=GROUP_ROWS)
            yield sink.taken()
    yield sink.taken()


def _row_groups(parts: Iterable[Any]) -> Iterator[list[Any]]:
    batches, rows, size = list[Any](), 0, 0
    for batch in parts:
        batches.append(batch)
        rows, size = rows + len(batch), size + batch.nbytes
        if rows >= GROUP_ROWS or size >= GROUP_BYTES:
            yield batches
            batches, rows, size = [], 0, 0
    if batches:
        yield batches
