"""Pairs of texts that someone said are no duplicates: a file to read, a line a pair.

A pair is known by the digests of its texts, so that it stays one when the files move or
get another encoding. Names are for people, and say where the files were.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from simdup.errors import InputError
from simdup.records import Kind
from simdup.search.distinct import diameter
from simdup.storage.home import usual_place

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from simdup.records import Group, ScanResult

_DIGEST = re.compile(r"[0-9a-f]{32}")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")


@dataclass(frozen=True, slots=True)
class IgnoredPair:
    """Two texts, and what is known of how they became a pair."""

    texts: tuple[str, str]
    """Digests, hexadecimal."""
    names: tuple[str, str]
    """Of the files that had them then."""
    added: str
    """The day, as 2026-11-21."""

    @property
    def digests(self) -> tuple[bytes, bytes]:
        """The `text_digest` of each document."""
        left, right = map(bytes.fromhex, self.texts)
        return left, right

    def is_of(self, one: bytes, other: bytes) -> bool:
        """Whether it is of these two texts, whichever comes first."""
        return {*self.digests} == {one, other}


def default_place() -> Path:
    """Where this user's pairs are: SIMDUP_IGNORED, or in the system's place for data.

    Raises NoHomeError.
    """
    folders = {"mac": "Application Support", "xdg": "XDG_DATA_HOME", "unix": ".local/share"}
    return usual_place("SIMDUP_IGNORED", "ignored.jsonl", **folders)


def is_place_named() -> bool:
    """Whether the user has named the default place of the list, by SIMDUP_IGNORED."""
    return bool(os.environ.get("SIMDUP_IGNORED"))


def is_no_list(path: Path) -> bool:
    """Whether something that is no regular file stands there: reading it might not end."""
    return os.path.exists(path) and not os.path.isfile(path)


def lines_in(path: Path) -> list[tuple[str, IgnoredPair]]:
    """Every pair in a file with the line that says it; a file that cannot be read is an OSError.

    Raises InputError for a line that is none, by its number, and for a folder, device or FIFO.
    """
    if is_no_list(path):
        raise InputError(f"{str(path)!r}: not a regular file")
    found = []
    for number, line in enumerate(path.read_bytes().split(b"\n"), 1):
        if line.strip():
            try:
                text = line.decode("utf-8").removesuffix("\r")
                found.append((text, _pair(json.loads(text))))
            except (ValueError, RecursionError) as wrong:
                what = str(wrong) if type(wrong) is ValueError else "no JSON"
                raise InputError(
                    f"{str(path)!r}, line {number}: no pair of texts ({what})"
                ) from None
    return found


def pairs_in(path: Path) -> list[IgnoredPair]:
    """Every pair in a file, in its order. Raises InputError and OSError as `lines_in`."""
    return [pair for _, pair in lines_in(path)]


def line_of(pair: IgnoredPair) -> str:
    """The line that says a pair: JSON."""
    fields = {"texts": pair.texts, "names": pair.names, "added": pair.added}
    return json.dumps(fields, ensure_ascii=False)


def _pair(value: Any) -> IgnoredPair:  # noqa: ANN401
    """The pair that a line of JSON is. Raises ValueError, with what is wrong."""
    if not isinstance(value, dict):
        raise ValueError("no object")  # noqa: TRY004  (a value of the file, not of a caller)
    texts, names = (_two(value.get(key), key) for key in ("texts", "names"))
    if not all(_DIGEST.fullmatch(text) for text in texts):
        raise ValueError("texts: no digest of 32 hexadecimal digits")
    if texts[0] == texts[1]:
        raise ValueError("texts: twice the same")
    added = value.get("added")
    if not isinstance(added, str) or not _DATE.fullmatch(added):
        raise ValueError("added: no date such as 2026-11-21")
    return IgnoredPair(texts, names, added)


def _two(value: object, key: str) -> tuple[str, str]:
    if not isinstance(value, list) or [type(each) for each in value] != [str, str]:
        raise ValueError(f"{key}: not two texts")
    return value[0], value[1]


def without_ignored(result: ScanResult, ignored: Iterable[tuple[bytes, bytes]]) -> ScanResult:
    """A result without the members that are a pair with their representative, and counted.

    For results that were made without knowing of the pairs: groups are not made anew.
    """
    pairs = {frozenset(pair) for pair in ignored}
    met: set[frozenset[bytes]] = set()
    groups = tuple(_parted(group, pairs, met) for group in result.groups)
    kept = tuple(group for group in groups if len(group.members) > 1)
    stats = replace(result.stats, ignored=result.stats.ignored + len(met))
    return replace(result, groups=kept, stats=stats)


def _parted(group: Group, pairs: set[frozenset[bytes]], met: set[frozenset[bytes]]) -> Group:
    """The group without them; `met` gets the pairs."""
    first, *others = group.members
    own = [frozenset((first.document.text_digest, each.document.text_digest)) for each in others]
    if not pairs.intersection(own):
        return group
    met |= pairs.intersection(own)
    kept = (first, *(each for each, pair in zip(others, own, strict=True) if pair not in pairs))
    weakest = max((each.kind for each in kept), key=[*Kind].index)
    rows = np.array([list(each.fingerprint) for each in kept], np.uint8)
    most, is_exact = diameter(rows)
    return replace(group, members=kept, kind=weakest, diameter=most, is_diameter_exact=is_exact)
