"""Pairs of folders in, and how much of each stands in the other, by kind and by subfolder."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum
from typing import Any, NamedTuple

from simdup.records import Document, FolderPair, Kind, ScanResult
from simdup.report.page.groups import Names
from simdup.report.text import newer_name
from simdup.report.wording import printable

#: The most files that remain in a folder and are named, and the most subfolders.
MOST_NAMED, MOST_FOLDERS = 100, 200


class Sort(IntEnum):
    """How a file of a folder is in the other one, at the same place there."""

    IDENTICAL, WORDS, NEAR, ONLY = range(4)


_SORTS = {Kind.IDENTICAL_BYTES: Sort.IDENTICAL, Kind.NEAR: Sort.NEAR}


class _Copy(NamedTuple):
    """A file at the same place in the other folder: the places of both in their group."""

    sort: Sort
    group: int
    file: int
    other: int


def folder_pairs(result: ScanResult, names: Names) -> list[list[Any]]:
    """Each pair of folders as the page reads it in folders.js."""
    copies = _copies(result)
    inside = _inside(result.documents, {f for pair in result.folders for f in pair[:2]})
    return [
        _pair(pair, copies[number], inside, names) for number, pair in enumerate(result.folders)
    ]


def _pair(
    pair: FolderPair,
    copies: dict[str, _Copy],
    inside: dict[str, list[Document]],
    names: Names,
) -> list[Any]:
    rows = defaultdict[str | None, list[int]](lambda: [0] * len(Sort))
    remaining = list[list[Any]]()
    for document in inside[pair.path]:
        name, copy = document.path[len(pair.path) + 1 :], copies.get(document.path)
        sort = copy.sort if copy else Sort.ONLY
        rows[printable(os.path.dirname(name))][sort] += 1
        if sort is not Sort.IDENTICAL:
            remaining.append([printable(name), int(sort), copy and copy.group])
    if not rows:
        near = pair.copies - pair.identical
        rows[None] = [pair.identical, 0, near, pair.files - pair.copies]
    # A saved result has only the files of groups; the others are nowhere else.
    unlisted = pair.files - sum(map(sum, rows.values()))
    if unlisted > 0:
        rows[None][Sort.ONLY] += unlisted
    folders = [
        [
            names.path(os.path.join(folder, "")).rstrip(os.sep),
            files,
            *_extent(inside[folder], files),
        ]
        for folder, files in ((pair.path, pair.files), (pair.other, pair.other_files))
    ]
    same = [copy[1:] for copy in copies.values() if copy.sort is Sort.IDENTICAL]
    remaining.sort(key=lambda file: file[1])
    return [
        *(folders, [[name, *row] for name, row in rows.items()][:MOST_FOLDERS]),
        *(same, remaining[:MOST_NAMED], pair.files - sum(row[0] for row in rows.values())),
        *(pair.not_compared, newer_name(pair), list(pair.groups)),
    ]


def _extent(documents: Sequence[Document], files: int) -> list[int | None]:
    """The bytes of a folder's files, and when the last one changed; None if not all are known."""
    if len(documents) < files:
        return [None, None]
    sources = [document.source for document in documents]
    return [
        sum(source.size for source in sources),
        max(source.mtime_ns for source in sources) // 10**9,
    ]


def _copies(result: ScanResult) -> list[dict[str, _Copy]]:
    """For each pair the files of its first folder that are in the other one, by path."""
    numbers = defaultdict[str, list[int]](list)
    for number, pair in enumerate(result.folders):
        numbers[pair.path].append(number)
    copies: list[dict[str, _Copy]] = [{} for _ in result.folders]
    for at, group in enumerate(result.groups if numbers else ()):
        place = {member.document.path: spot for spot, member in enumerate(group.members)}
        for spot, member in enumerate(group.members):
            path = member.document.path
            for folder in _above(path):
                for number in numbers.get(folder, ()):
                    beside = os.path.join(result.folders[number].other, path[len(folder) + 1 :])
                    if (other := place.get(beside)) is not None:
                        kind = member.document.kind_with(group.members[other].document)
                        sort = _SORTS.get(kind, Sort.WORDS)
                        copies[number][path] = _Copy(sort, at, spot, other)
    return copies


def _inside(documents: Iterable[Document], folders: set[Any]) -> dict[str, list[Document]]:
    """The documents in each of these folders, at any depth."""
    inside = defaultdict[str, list[Document]](list)
    for document in documents if folders else ():
        for folder in _above(document.path):
            if folder in folders:
                inside[folder].append(document)
    return inside


def _above(path: str) -> Iterator[str]:
    """Yield the folders that a path lies in, the innermost first."""
    while os.sep in path:
        path = path[: path.rindex(os.sep)]
        yield path
