"""The fields that all pages of groups share, such as members and settings, and their texts.

Texts become compressed blocks, within the room that a page has.
"""

from __future__ import annotations

import os
import zlib
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

from simdup.findings.identical import AnyFound, Found, entries, identity_of
from simdup.records import Candidates, Part, Skipped
from simdup.report.page import LARGEST_PAGE
from simdup.report.page.frame import FRAME, page_bytes, page_json, page_lines
from simdup.report.text import estimate, missing_extras, skips
from simdup.report.wording import printable
from simdup.text.facts import Facts, OtherFacts

#: The most parts of larger files that a page lists; all are counted.
MOST_PARTS = 1000

#: A page lists at most this many skipped files by name, unreadable ones first, and as many doubtful
#: ones; all are counted.
MOST_SKIPPED = 1000

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


def group_page(
    data: dict[str, Any],
    language: str | None,
    day: float | None,
    groups: Iterable[tuple[int, Iterable[Read]]] | None,
    *,
    spare: int = 0,
) -> Iterator[str]:
    """Yield the lines of a page of groups, with as many of their texts as there is room for.

    `groups` has the id of each group and functions that read the texts of its members; None makes
    a page without texts. The data may grow by `spare` bytes while texts are read.
    """
    blocks, left_out = dict[int, str](), 0
    if groups is not None:
        blocks, left_out = text_blocks(groups, LARGEST_PAGE - FRAME - spare - page_bytes(data))
    data |= {
        "day": day,
        "texts": groups is not None,
        "leftOut": left_out,
        "longestText": LONGEST_TEXT,
        "largestPage": LARGEST_PAGE,
    }
    yield from page_lines(data, blocks, language)


class Names:
    """Names of folders and encodings: each is listed once, and members refer to its index.

    root: The beginning that every path loses: the one folder that was searched, with its slash.
    """

    def __init__(self, root: str = "") -> None:
        self.root = root
        self.folders, self.codings = dict[str, int](), dict[str, int]()

    def path(self, path: str) -> str:
        """Return a path as the page shows it: from the root on, and printable."""
        return printable(path.removeprefix(self.root))

    def folder(self, name: str) -> int:
        """Return the index of a folder."""
        return self.folders.setdefault(printable(name), len(self.folders))

    def coding(self, name: str) -> int:
        """Return the index of an encoding."""
        return self.codings.setdefault(printable(name), len(self.codings))


def member_fields(member: Found, bits: int, names: Names, kind: str | None = None) -> list[Any]:
    """A member of a group or a document of an answer, as the page reads it in data.js.

    `kind` replaces its kind, unless it is None.
    """
    document = member.document
    folder, name = os.path.split(document.path.removeprefix(names.root))
    return [
        names.folder(folder),
        printable(name),
        document.source.size,
        document.source.mtime_ns // 10**9,
        names.coding(document.written_in),
        document.features,
        int(document.is_short),
        document.damaged,
        document.doubt,
        kind or member.kind.value,
        member.distance,
        round(estimate(member.similarity, member.distance, bits), 6),
        int(member.is_exact),
        None if member.own_share is None else round(member.own_share, 6),
        member.fingerprint and b64encode(member.fingerprint).decode(),
    ]


def sets_of(found: Sequence[AnyFound]) -> list[list[int]]:
    """For each set of a list, or single document, how many documents have each content.

    A number is negative where the text differs from that of the content before.
    """
    return [_sizes(entry) for entry in entries(found)]


def _sizes(entry: Sequence[Sequence[Found]]) -> list[int]:
    texts = [identity_of(piece[0]).text for piece in entry]
    before = zip([texts[0], *texts], texts, entry, strict=False)
    return [len(piece) * (1 if one == two else -1) for one, two, piece in before]


def found_fields(
    names: Names,
    candidates: Candidates | None,
    parts: Sequence[Part],
    skipped: Sequence[Skipped] = (),
) -> dict[str, Any]:
    """How many near-duplicates the search finds, the parts of larger texts, and skipped files.

    Of skipped files the first are listed, beginning with the unreadable ones. The names must have
    the folders and encodings of all members already.
    """
    recall = candidates and candidates.recall
    listed = sorted(skipped, key=lambda each: not each.reason.is_trouble)[:MOST_SKIPPED]
    return {
        "skips": skips(skipped),
        "missing": missing_extras(skipped),
        "skipped": [
            [names.path(each.path), each.reason.value, printable(each.detail)] for each in listed
        ],
        "narrowed": candidates and candidates.narrowed,
        "recall": recall and [recall.value, recall.low, recall.high],
        "parts": [
            [names.path(each.path), names.path(each.whole), each.share, each.start, each.end]
            for each in parts[:MOST_PARTS]
        ],
        "allParts": len(parts),
        "folders": list(names.folders),
        "codings": list(names.codings),
    }


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
    # A lone surrogate becomes \udcff, which is how JSON writes it.
    facts = _facts(list(indices), cut, found[0] if found else None)
    data = page_json({"texts": list(indices), "cut": cut, "found": found, "facts": facts})
    return b64encode(zlib.compress(data.encode("utf-8", "backslashreplace"), 6)).decode()


def _facts(
    texts: Sequence[str], cut: Sequence[int], first: int | str | None
) -> list[tuple[str, str, int] | None]:
    """For each whole text what `OtherFacts.shown` says of it and the text of the first member."""
    if not isinstance(first, int) or cut[first]:
        return []
    facts = Facts([texts[first]])
    pairs = zip(texts, cut, strict=True)
    return [
        None if is_cut else OtherFacts.of(facts, Facts([text])).shown() for text, is_cut in pairs
    ]
