"""Groups in, their texts out: compressed, a block a group, as many as a page has room for."""

from __future__ import annotations

import json
import zlib
from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from simdup.records import Document, Skipped

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simdup.records import Group

#: The text of a document, read again, or why there is none.
Read = Callable[[Document], "str | Skipped"]

#: Characters of a text that the page has; of a longer one it has the beginning, and says so.
LONGEST_TEXT = 200_000

#: Characters of a group; its further texts are left out. Bounds the memory that making a page
#: and opening a group take.
LONGEST_GROUP = 8_000_000

# What stands around a block, in bytes.
AROUND = 70

# Bytes below which no further group is tried.
TOO_LITTLE = 1_000


@dataclass(frozen=True, slots=True)
class Contents:
    """The texts in a page."""

    blocks: dict[int, str]
    """By the id of the group: the base64 of zlib of JSON."""
    left_out: int
    """Groups without their texts, since there was no room."""


def contents(groups: Iterable[Group], read: Read, room: int) -> Contents:
    """The texts of the groups, in their order, as long as the blocks fit into `room` bytes."""
    blocks: dict[int, str] = {}
    left_out = 0
    for group in groups:
        block = _block(group, read) if room >= TOO_LITTLE else ""
        if block and len(block) <= room:
            blocks[group.id] = block
            room -= len(block) + AROUND
        else:
            left_out += 1
    return Contents(blocks, left_out)


def _block(group: Group, read: Read) -> str:
    """Distinct texts, which of them were cut, and for each member the place of its text.

    Or why it has none: the reason why it could not be read, null for want of room.
    """
    places: dict[str, int] = {}
    cut: list[int] = []
    found: list[int | str | None] = []
    room = LONGEST_GROUP
    for member in group.members:
        text = read(member.document) if room > 0 else None
        if isinstance(text, Skipped):
            found.append(text.reason.value)
        elif text is None:
            found.append(None)
        else:
            beginning = text[:LONGEST_TEXT]
            place = places.setdefault(beginning, len(places))
            if place == len(cut):
                cut.append(int(len(text) > LONGEST_TEXT))
                room -= len(beginning)
            cut[place] |= len(text) > LONGEST_TEXT
            found.append(place)
    return _packed({"texts": list(places), "cut": cut, "found": found})


def _packed(value: object) -> str:
    # A lone surrogate becomes \udcff, which is what JSON writes for it.
    data = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return b64encode(zlib.compress(data.encode("utf-8", "backslashreplace"), 6)).decode()
