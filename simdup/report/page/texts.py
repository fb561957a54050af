"""The texts of groups in, compressed blocks of a page out, within the room that it has."""

from __future__ import annotations

import json
import zlib
from base64 import b64encode
from collections.abc import Callable, Iterable
from typing import TypeAlias

from simdup.records import Skipped

#: Reads a text for the page, or says why there is none; None means that there is no room.
Read: TypeAlias = Callable[[], "str | Skipped | None"]

#: The most characters of a text in the page; a longer one is cut, and the page says so.
LONGEST_TEXT = 200_000

#: Once the texts of a group have this many characters, its further texts are left out. Bounds the
#: memory that making a page and opening a group take.
LONGEST_GROUP = 8_000_000

# Bytes of markup around each block.
AROUND = 70

# With fewer bytes left, no further group is tried.
TOO_LITTLE = 1_000


def text_blocks(
    groups: Iterable[tuple[int, Iterable[Read]]], room: int
) -> tuple[dict[int, str], int]:
    """The texts of groups, as base64 of zlib of JSON by group id, in at most `room` bytes.

    A group is given as its id and, for each member, a function that reads its text. Also returns
    the number of groups that were left out for want of room.
    """
    blocks: dict[int, str] = {}
    left_out = 0
    for number, members in groups:
        block = _block(members) if room >= TOO_LITTLE else ""
        if block and len(block) <= room:
            blocks[number] = block
            room -= len(block) + AROUND
        else:
            left_out += 1
    return blocks, left_out


def _block(members: Iterable[Read]) -> str:
    """The distinct texts, whether each was cut, and for each member the index of its text.

    A member without a text has instead the reason why it could not be read, or null if there
    was no room for it.
    """
    indices: dict[str, int] = {}
    cut: list[int] = []
    found: list[int | str | None] = []
    room = LONGEST_GROUP
    for read in members:
        text = read() if room > 0 else None
        if isinstance(text, str):
            beginning = text[:LONGEST_TEXT]
            index = indices.setdefault(beginning, len(indices))
            if index == len(cut):
                cut.append(0)
                room -= len(beginning)
            cut[index] |= len(text) > LONGEST_TEXT
            found.append(index)
        else:
            found.append(None if text is None else text.reason.value)
    return _packed({"texts": list(indices), "cut": cut, "found": found})


def _packed(value: object) -> str:
    # A lone surrogate becomes \udcff, which is how JSON writes it.
    data = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return b64encode(zlib.compress(data.encode("utf-8", "backslashreplace"), 6)).decode()
