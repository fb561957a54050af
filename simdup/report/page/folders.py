"""Pairs of folders in, and how much of each stands in the other, by kind and by subfolder."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Sequence
from enum import IntEnum
from typing import Any

from simdup.findings.keeper import Copy, files_beside, folders_above
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


def folder_pairs(result: ScanResult, names: Names) -> list[list[Any]]:
    """Each pair of folders as the page reads it in folders.js."""
    copies = [dict[str, Copy]() for _ in result.folders]
    for copy in files_beside(result.folders, result.groups):
        document = result.groups[copy.group].members[copy.file].document
        copies[copy.pair][document.path] = copy
    inside = _inside(result.documents, {f for pair in result.folders for f in pair[:2]})
    return [
        _pair(pair, copies[number], inside, names) for number, pair in enumerate(result.folders)
    ]


def _pair(
    pair: FolderPair,
    copies: dict[str, Copy],
    inside: dict[str, list[Document]],
    names: Names,
) -> list[Any]:
    rows = defaultdict[str | None, list[int]](lambda: [0] * len(Sort))
    remaining = list[list[Any]]()
    for document in inside[pair.path]:
        name, copy = document.path[len(pair.path) + 1 :], copies.get(document.path)
        sort = _SORTS.get(copy.kind, Sort.WORDS) if copy else Sort.ONLY
        rows[printable(os.path.dirname(name))][sort] += 1
        if sort is not Sort.IDENTICAL:
            remaining.append([printable(name), int(sort), copy and copy.group])
    if not rows:
        near = pair.copies - pair.identical
        rows[None] = [pair.identical, 0, near, pair.files - pair.copies]
    # A saved result has only the files of groups; the others are not in the other folder.
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
    same = [copy[1:4] for copy in copies.values() if copy.kind is Kind.IDENTICAL_BYTES]
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


def _inside(documents: Iterable[Document], folders: set[Any]) -> dict[str, list[Document]]:
    """The documents in each of these folders, at any depth."""
    inside = defaultdict[str, list[Document]](list)
    for document in documents if folders else ():
        for folder in folders_above(document.path):
            if folder in folders:
                inside[folder].append(document)
    return inside
