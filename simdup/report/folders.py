"""Pairs of folders as lines of text, and as objects of JSON."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from simdup.records import FolderPair
from simdup.report.terminal import HEADING, PLAIN, TerminalStyle
from simdup.report.wording import count, path_fields, printable


def folder_lines(pairs: Iterable[FolderPair], look: TerminalStyle = PLAIN) -> list[str]:
    """A line for each pair of folders: how many files are copies, and which folder is newer."""
    return [
        f"{look.painted(f'{printable(pair.path)} ~ {printable(pair.other)}:', HEADING)}"
        f" {_copies(pair)}"
        for pair in pairs
    ]


def _copies(pair: FolderPair) -> str:
    """How many files of the folder are in the other one, and what else matters."""
    said = f"{pair.copies:,} of {count(pair.files, 'file')}, {pair.identical:,} identical"
    if pair.unread:
        said += f", {pair.unread:,} not compared"
    newer = newer_name(pair)
    return f"{said}; newer: {newer}" if newer else said


def newer_name(pair: FolderPair) -> str:
    """The name of the newer folder, its whole path if both have the same name; "" for none."""
    newer = pair.newer or ""
    names = {os.path.basename(each) for each in (pair.path, pair.other)}
    is_enough = len(names) == 2 and all(name.strip(os.curdir) for name in names)
    return printable(os.path.basename(newer) if is_enough else newer)


def folder_fields(pair: FolderPair) -> dict[str, Any]:
    """A pair of folders as an object of JSON; `newer` names the field of the newer folder."""
    newer = {pair.path: "path", pair.other: "other", None: None}[pair.newer]
    return {
        **path_fields(pair.path),
        **path_fields(pair.other, "other"),
        "files": pair.files,
        "other_files": pair.other_files,
        "copies": pair.copies,
        "identical": pair.identical,
        "not_compared": pair.unread,
        "newer": newer,
        "groups": list(pair.groups),
    }
