"""The groups of the last scan that used a store: the texts of each, by the number of the group.

So a user can name a group by its number. Each entry carries a checksum; a damaged entry counts as
unknown.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

from simdup.records import Group

if TYPE_CHECKING:  # it loads sqlite3, which a scan without a store does without
    from simdup.storage.store import Store

#: The most texts of one entry of the ignore list, of which each two are a pair. A group with
#: more distinct texts is not kept.
MOST_TEXTS = 500

#: The groups that are shown first are kept, up to this many texts in all: some three megabytes.
MOST_IN_ALL = 20_000

# Where the table has an entry on the scan itself: when it ended, and a digest of its result. Groups
# are numbered from 1.
_SCAN = 0


class KeptGroup(NamedTuple):
    """A group of the last scan.

    texts: The absolute path of a file, and the digest of its text in hexadecimal: one for each
        text.
    scanned: When the scan ended, in seconds from 1970.
    """

    texts: tuple[tuple[str, str], ...]
    scanned: float


def keep_groups(store: Store, groups: Iterable[Group], result: str | None = None) -> None:
    """Keep these groups in place of those of the scan before.

    `result` is a digest of the result. If the scan before found the same,
    its groups stay, and only the time is new. None: the digest is unknown.
    """
    now = time.time()
    with store.writing():  # first, so that no other scan writes in between
        _, before = _entry(store, _SCAN) or (None, None)
        are_kept = result is not None and result == before
        if not are_kept:
            store.execute("DELETE FROM groups")
        entries = [(_SCAN, json.dumps([now, result])), *(() if are_kept else _entries(groups, now))]
        rows = [(number, text, crc32(text.encode())) for number, text in entries]
        store.execute_many("INSERT OR REPLACE INTO groups VALUES (?, ?, ?)", rows)


def _entries(groups: Iterable[Group], now: float) -> Iterator[tuple[int, str]]:
    """Yield the number of each group that is kept, and its entry."""
    left = MOST_IN_ALL
    for group in groups:
        paths: dict[bytes, str] = {}
        for member in group.members:
            paths.setdefault(member.document.text_digest, member.document.path)
        left -= len(paths)
        if left < 0:
            return
        if len(paths) <= MOST_TEXTS:
            texts = [(os.path.abspath(path), digest.hex()) for digest, path in paths.items()]
            yield group.id, json.dumps([now, texts])


def kept_group(store: Store, number: int) -> KeptGroup | None:
    """The group that the last scan showed with this number, if it was kept.

    Where the entry is missing or damaged, the next scan writes all entries anew.
    """
    found = None if number == _SCAN else _entry(store, number)
    if found is None:
        with store.writing():
            store.execute("DELETE FROM groups WHERE number = ?", _SCAN)
        return None
    scanned, texts = found
    scanned, _ = _entry(store, _SCAN) or (scanned, None)
    return KeptGroup(tuple((path, digest) for path, digest in texts), scanned)


def _entry(store: Store, number: int) -> list[Any] | None:
    """The entry with this number; None if it is missing or damaged."""
    found = store.execute(
        "SELECT entry, checksum FROM groups WHERE number = ? AND typeof(entry) = 'text'", number
    )
    for entry, checksum in found:
        if crc32(entry.encode("utf-8", "surrogateescape")) == checksum:
            parts: list[Any] = json.loads(entry)
            return parts
    return None
