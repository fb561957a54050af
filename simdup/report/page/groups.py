"""The fields that all pages of groups share, such as members and settings, and their texts.

Texts become compressed blocks, within the room that a page has.
"""

from __future__ import annotations

import os
import zlib
from base64 import b64encode
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

from simdup.findings.identical import AnyFound, Found, entries, identity_of
from simdup.recipe import Recipe
from simdup.records import Candidates, Part, Skipped
from simdup.report.page import LARGEST_PAGE
from simdup.report.page.differences import Differences, KeptText
from simdup.report.page.forms import MOST_TEXTS, form_of
from simdup.report.page.frame import FRAME, page_bytes, page_json, page_lines
from simdup.report.text import estimate, missing_extras, skips
from simdup.report.wording import printable

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

#: The most bytes of a page that say what differs in groups and forms.
NOTES = LARGEST_PAGE // 10

# Bytes of markup around each block.
AROUND = 70

# With fewer bytes left, no further group is tried.
TOO_LITTLE = 1_000


class PageTexts(NamedTuple):
    """The texts of groups, from which a page says what differs.

    groups: The id of each group, and functions that read the texts of its members.
    are_kept: Whether the page holds the texts too, so that they can be compared there.
    recipe: Says of which tokens the texts of forms are made.
    forms: The ids of forms.
    """

    groups: Iterable[tuple[int, Iterable[Read]]]
    are_kept: bool = True
    recipe: Recipe = Recipe()
    forms: Collection[int] = ()


def group_page(
    data: dict[str, Any],
    language: str | None,
    day: float | None,
    texts: PageTexts | None,
    *,
    spare: int = 0,
) -> Iterator[str]:
    """Yield the lines of a page of groups, with as many of their texts as there is room for.

    Without `texts` the page does not say what differs. The data may grow by `spare` bytes while
    texts are read.
    """
    are_kept = texts is not None and texts.are_kept
    blocks, left_out, notes = dict[int, str](), 0, _Notes(texts)
    if texts is not None:
        room = LARGEST_PAGE - FRAME - spare - page_bytes(data)
        blocks, left_out = text_blocks(texts.groups, room, notes.note, are_kept=are_kept)
    data |= {
        "day": day,
        "texts": are_kept,
        "leftOut": left_out,
        "longestText": LONGEST_TEXT,
        "largestPage": LARGEST_PAGE,
        "differences": notes.differences,
        "forms": notes.forms,
    }
    yield from page_lines(data, blocks, language)


class _Notes:
    """What differs in each group, found while its texts are read; at most NOTES bytes."""

    def __init__(self, texts: PageTexts | None) -> None:
        self.differences, self.forms = dict[int, Any](), dict[int, Any]()
        self._texts, self._room = texts or PageTexts(()), NOTES

    def note(self, group: int, texts: GroupTexts) -> int:
        """Note what differs in a group; return the bytes that this takes."""
        is_form = group in self._texts.forms
        fields = texts.form(self._texts.recipe) if is_form else texts.differences()
        if isinstance(fields, dict) and not self._texts.are_kept:
            fields["pattern"] = []
        size = page_bytes(fields) if fields else 0
        if fields and size <= self._room:
            self._room -= size
            (self.forms if is_form else self.differences)[group] = fields
            return size
        return 0


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
    groups: Iterable[tuple[int, Iterable[Read]]],
    room: int,
    note: Callable[[int, GroupTexts], int],
    *,
    are_kept: bool = True,
) -> tuple[dict[int, str], int]:
    """The texts of groups, as base64 of zlib of JSON by group id, in at most `room` bytes.

    A group is given as its id and, for each member, a function that reads its text. `note` takes
    each group that was read, and returns how much room it needs. Unless texts `are_kept`, there
    are no blocks. Also returns the number of groups that were left out for want of room.
    """
    blocks: dict[int, str] = {}
    left_out = 0
    for number, members in groups:
        if room < TOO_LITTLE:
            left_out += are_kept
            continue
        texts = GroupTexts(members)
        room -= note(number, texts)
        block = texts.block() if are_kept else ""
        if block and len(block) <= room:
            blocks[number] = block
            room -= len(block) + AROUND
        else:
            left_out += are_kept
    return blocks, left_out


class GroupTexts:
    """The distinct texts of a group, and for each member the index of its text.

    A member without a text has instead the reason why it could not be read, or None if there was
    no room for it.
    """

    def __init__(self, members: Iterable[Read]) -> None:
        indices = dict[str, int]()
        self._cut, self._index, room = list[int](), list[int | str | None](), LONGEST_GROUP
        for read in members:
            text = read() if room > 0 else None
            if not isinstance(text, str):
                self._index.append(None if text is None else text.reason.value)
                continue
            beginning = text[:LONGEST_TEXT]
            index = indices.setdefault(beginning, len(indices))
            if index == len(self._cut):
                self._cut.append(0)
                room -= len(beginning)
            self._cut[index] |= len(text) > LONGEST_TEXT
            self._index.append(index)
        self._texts = list(indices)

    def block(self) -> str:
        """The texts as the page reads them in texts.js."""
        # A lone surrogate becomes \udcff, which is how JSON writes it.
        data = page_json({"texts": self._texts, "cut": self._cut, "found": self._index})
        return b64encode(zlib.compress(data.encode("utf-8", "backslashreplace"), 6)).decode()

    def differences(self) -> list[Differences | None] | None:
        """For each member what differs from the first one; None if nothing is known to differ."""
        first = self._whole(0)
        if first is None or len(self._texts) < 2:
            return None
        kept = KeptText(self._texts[first])
        by_text: list[Differences | None] = [
            None if cut or index == first else kept.differences(text)
            for index, (text, cut) in enumerate(zip(self._texts, self._cut, strict=True))
        ]
        members = [by_text[index] if isinstance(index, int) else None for index in self._index]
        return [None if member is None or member.is_nothing else member for member in members]

    def form(self, recipe: Recipe) -> dict[str, Any] | None:
        """The places of the form that these texts have; None if a text is missing or cut."""
        texts = [self._whole(place) for place in range(min(len(self._index), MOST_TEXTS))]
        known = [index for index in texts if index is not None]
        whole = len(known) == len(texts) > 1
        return form_of([self._texts[index] for index in known], recipe) if whole else None

    def _whole(self, place: int) -> int | None:
        """The index of the text of a member, if all of it is here."""
        index = self._index[place] if self._index else None
        return index if isinstance(index, int) and not self._cut[index] else None
