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

_HEADER, _SMALL, _IN_HEADER, _NOWHERE = 512, 64, 109, 0xFFFFFFFE
_ENTRY = np.dtype(
    [
        *[("name", "V64"), ("length", "<u2"), ("type", "u1"), ("color", "u1")],
        *[("left", "<u4"), ("right", "<u4"), ("child", "<u4"), ("about", "V36")],
        *[("start", "<u4"), ("size", "<u4"), ("high", "<u4")],
    ]
)
_STREAM = 2
# The most characters in the paths of all entries: real files have up to some 100,000.
_MOST_CHARACTERS = 1 << 21

_KINDS = Kinds(tables("compound"))


class Compound:
    """The streams of a compound file, by their paths in small letters, such as "objectpool/_1"."""

    def __init__(self, data: bytes) -> None:
        """Raises NotReadable for damage, too many streams and too long paths."""
        size = 1 << data[30] if len(data) >= _HEADER and data[30] in {9, 12} else 0
        if not size or len(data) <= size:
            raise NotReadable("damaged: it is cut short")
        header = np.frombuffer(data[:_HEADER], "<u4")
        self._lacking = -len(data) % size
        whole = np.frombuffer(data + bytes(self._lacking), np.uint8)
        self._sectors, self._cutoff = whole.reshape(-1, size)[1:], int(header[14])
        self._table = self._sectors_of_table(header).view("<u4").ravel().tolist()
        tree = self._units(int(header[12]), _ENTRY.itemsize).view(_ENTRY).ravel()
        check_members(len(tree))
        self._streams = _streams(tree)
        self._small = self._units(int(tree["start"][0]) if len(tree) else _NOWHERE, _SMALL)
        self._small_table = self._units(int(header[15]), 4).view("<u4").ravel().tolist()

    def _sectors_of_table(self, header: NDArray[np.uint32]) -> NDArray[np.uint8]:
        """The sectors with the table: the header lists the first, a chain of lists the others."""
        lists, following, total = [header[19:]], int(header[17]), len(self._sectors)
        while following < total and len(lists) * _IN_HEADER <= total:
            *_, following = (found := self._sectors[following].view("<u4")).tolist()
            lists.append(found[:-1])
        numbers = np.concatenate(lists)
        return self._sectors[numbers[numbers < total][: total // _IN_HEADER + 1]]

    def _units(self, start: int, size: int) -> NDArray[np.uint8]:
        """The whole units of this many bytes in the sectors from `start` on."""
        found = self._chained(start, self._sectors.size)
        return found[: found.size // size * size].reshape(-1, size)

    def _chained(self, start: int, most: int) -> NDArray[np.uint8]:
        """The bytes of the sectors from `start` on; the last sector of the file may be cut."""
        numbers = _numbers(self._table, start, len(self._sectors), most / self._sectors.shape[1])
        found = self._sectors[numbers].ravel()
        is_cut = numbers[-1:] == [len(self._sectors) - 1]
        return found[: found.size - self._lacking * is_cut]

    def __iter__(self) -> Iterator[str]:
        """The paths of the streams."""
        return iter(self._streams)

    def read(self, name: str) -> bytes:
        """The bytes of a stream; none if there is no such stream. Raises NotReadable if cut."""
        found = self._rest(name)
        if len(found) < self._streams.get(name, (0, 0))[1]:
            raise NotReadable("damaged: it is cut short")
        return found

    def _rest(self, name: str) -> bytes:
        """The bytes of a stream, as many of them as are there."""
        start, size = self._streams.get(name, (0, 0))
        if size >= self._cutoff:
            return self._chained(start, size)[:size].tobytes()
        numbers = _numbers(self._small_table, start, len(self._small), size / _SMALL)
        return self._small[numbers].tobytes()[:size]

    def unread(self, *read: str) -> Iterator[tuple[str, bytes]]:
        """The kind and bytes of each stream but those that were read.

        The streams of one kind are one thing, and so are those of a storage, as of an attachment.
        """
        names = (name for name in self._streams if not name.startswith(read))
        for (kind, _), group in groupby(sorted(names, key=_kind_and_storage), _kind_and_storage):
            content = (name.encode("utf-8", "replace") + self._rest(name) for name in sorted(group))
            yield kind, b"".join(content)


def _kind_and_storage(name: str) -> tuple[str, str]:
    """The kind of content in a stream of this name, and the storage that it is in, if any."""
    return _KINDS.of(name), name.rpartition("/")[0].partition("/")[0]


def _streams(tree: NDArray[np.void]) -> dict[str, tuple[int, int]]:
    """Where each stream starts and its size, by its path; the root is the first entry.

    Raises NotReadable if the paths are too long, as of thousands of nested storages.
    """
    found, seen, characters = dict[str, tuple[int, int]](), set[int](), 0
    waiting = [(int(child), "") for child in tree["child"][:1]]
    while waiting:
        number, folder = waiting.pop()
        if number >= len(tree) or number in seen:
            continue
        seen.add(number)
        name, length, kind, _, left, right, child, _, start, size, _ = tree[number].item()
        path = folder + name[: max(length - 2, 0)].decode("utf-16-le", "replace").lower()
        characters += len(path)
        if characters > _MOST_CHARACTERS:
            raise NotReadable("damaged: nested too deep")
        waiting += [(left, folder), (right, folder), (child, f"{path}/")]
        if kind == _STREAM:
            found[path] = start, size
    return found


def _numbers(table: Sequence[int], start: int, rows: int, most: float) -> list[int]:
    """The numbers of up to `most` rows from `start` on: the table names the one after each."""
    numbers, last = list[int](), min(len(table), rows)
    while start < last and len(numbers) < most:
        numbers.append(start)
        start = table[start]
    return numbers


def roots(data: bytes) -> Sequence[str]:
    """The names of the streams that no storage holds; none if the file is damaged."""
    try:
        return [name for name in Compound(data) if "/" not in name]
    except NotReadable:
        return ()
