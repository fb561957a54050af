"""Compound files in, their streams out: the form of old Office files and of Outlook's mails.

A compound file is a small disk: a table chains its sectors, small streams share the sectors of one
stream in units of 64 bytes, and a tree of entries names the streams. Source: [MS-CFB].
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from simdup.extract.cleanup import NotReadable
from simdup.extract.text_formats import Kinds, tables
from simdup.extract.zip_xml import check_members

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

_HEADER, _SMALL, _IN_HEADER = 512, 64, 109
_ENTRY = np.dtype(
    [
        *[("name", "V64"), ("length", "<u2"), ("type", "u1"), ("color", "u1")],
        *[("left", "<u4"), ("right", "<u4"), ("child", "<u4"), ("about", "V36")],
        *[("start", "<u4"), ("size", "<u4"), ("high", "<u4")],
    ]
)
_STREAM = 2

_KINDS = Kinds(tables("compound"))


class Compound:
    """The streams of a compound file, by their paths in small letters, such as "objectpool/_1"."""

    def __init__(self, data: bytes) -> None:
        """Raises NotReadable for damage and too many streams."""
        size = 1 << data[30] if len(data) >= _HEADER and data[30] in {9, 12} else 0
        if not size or len(data) <= size:
            raise NotReadable("damaged: it is cut short")
        header = np.frombuffer(data[:_HEADER], "<u4")
        whole = np.frombuffer(data + bytes(-len(data) % size), np.uint8)
        self._sectors, self._cutoff = whole.reshape(-1, size)[1:], int(header[14])
        self._table = self._sectors_of_table(header).view("<u4").ravel().tolist()
        tree = self._chained(int(header[12])).view(_ENTRY).ravel()
        check_members(len(tree))
        self._streams = _streams(tree)
        small = self._chained(int(tree["start"][0])) if len(tree) else np.empty(0, np.uint8)
        self._small = small[: small.size // _SMALL * _SMALL].reshape(-1, _SMALL)
        self._small_table = self._chained(int(header[15])).view("<u4").tolist()

    def _sectors_of_table(self, header: NDArray[np.uint32]) -> NDArray[np.uint8]:
        """The sectors with the table: the header lists the first, a chain of lists the others."""
        lists, following, total = [header[19:]], int(header[17]), len(self._sectors)
        while following < total and len(lists) * _IN_HEADER <= total:
            *_, following = (found := self._sectors[following].view("<u4")).tolist()
            lists.append(found[:-1])
        numbers = np.concatenate(lists)
        return self._sectors[numbers[numbers < total][: total // _IN_HEADER + 1]]

    def _chained(self, start: int) -> NDArray[np.uint8]:
        return _chained(self._sectors, self._table, start, self._sectors.size)

    def __iter__(self) -> Iterator[str]:
        """The paths of the streams."""
        return iter(self._streams)

    def read(self, name: str) -> bytes:
        """The bytes of a stream, as many of them as are there; none if there is no such stream."""
        start, size = self._streams.get(name, (0, 0))
        is_small = size < self._cutoff
        rows = self._small if is_small else self._sectors
        table = self._small_table if is_small else self._table
        return _chained(rows, table, start, size)[:size].tobytes()

    def unread(self, *read: str) -> Iterator[tuple[str, bytes]]:
        """The kind and bytes of each stream but those that were read.

        The streams of one kind are one thing, and so are those of a storage, as of an attachment.
        """
        names = (name for name in self._streams if not name.startswith(read))
        for (kind, _), group in groupby(sorted(names, key=_kind_and_storage), _kind_and_storage):
            content = (name.encode("utf-8", "replace") + self.read(name) for name in sorted(group))
            yield kind, b"".join(content)


def _kind_and_storage(name: str) -> tuple[str, str]:
    """The kind of content in a stream of this name, and the storage that it is in, if any."""
    return _KINDS.of(name), name.rpartition("/")[0].partition("/")[0]


def _streams(tree: NDArray[np.void]) -> dict[str, tuple[int, int]]:
    """Where each stream starts and its size, by its path; the root is the first entry."""
    found, seen = dict[str, tuple[int, int]](), set[int]()
    waiting = [(int(child), "") for child in tree["child"][:1]]
    while waiting:
        number, folder = waiting.pop()
        if number >= len(tree) or number in seen:
            continue
        seen.add(number)
        name, length, kind, _, left, right, child, _, start, size, _ = tree[number].item()
        path = folder + name[: max(length - 2, 0)].decode("utf-16-le", "replace").lower()
        waiting += [(left, folder), (right, folder), (child, f"{path}/")]
        if kind == _STREAM:
            found[path] = start, size
    return found


def _chained(
    rows: NDArray[np.uint8], table: Sequence[int], start: int, most: int
) -> NDArray[np.uint8]:
    """The rows from `start` on, each named by the table's entry for the row before it."""
    numbers, last = list[int](), min(len(table), len(rows))
    while start < last and len(numbers) * rows.shape[1] < most:
        numbers.append(start)
        start = table[start]
    return rows[numbers].ravel()


def roots(data: bytes) -> Sequence[str]:
    """The names of the streams that no storage holds; none if the file is damaged."""
    try:
        return [name for name in Compound(data) if "/" not in name]
    except NotReadable:
        return ()
