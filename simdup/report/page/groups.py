"""The fields that all pages of groups share, such as members and settings, and their texts."""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from simdup.findings.identical import Found, entries, identity_of
from simdup.records import Kind, Part, Skipped
from simdup.report import json_csv
from simdup.report.page import LARGEST_PAGE
from simdup.report.page.frame import FRAME, Page, page_bytes, page_lines
from simdup.report.page.texts import LONGEST_TEXT, Read, text_blocks
from simdup.report.wording import printable
from simdup.settings import Settings
from simdup.theory import similarity_at
from simdup.versions import version

#: The most parts of larger files that a page lists; all are counted.
MOST_PARTS = 1000

#: A page lists at most this many skipped files by name, unreadable ones first, and as many doubtful
#: ones; all are counted.
MOST_SKIPPED = 1000

#: Values of fields for a result that does not have these things.
NOTHING: dict[str, Any] = {
    "version": version("simdup"),
    "complete": True,
    "places": [],
    "repeated": [[0, 0], [0, 0], [0, 0], [0, 0]],
    "figures": None,
    "narrowed": None,
    "recall": None,
    "skips": {},
    "skipped": [],
    "parts": [],
    "allParts": 0,
    "unread": 0,
    "folderPairs": [],
    "folders": [],
    "codings": [],
    "groups": [],
    "moreGroups": 0,
    "patterns": [],
    "siblings": 0,
    "identityOnly": [],
    "doubtful": [],
    "doubts": 0,
    "plan": None,
}


def group_page(  # noqa: PLR0913  (the data, its form, and its texts)
    page: Page,
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
        "language": language,
        "day": day,
        "texts": groups is not None,
        "leftOut": left_out,
        "longestText": LONGEST_TEXT,
        "largestPage": LARGEST_PAGE,
    }
    yield from page_lines(page, data, blocks)


class Names:
    """Names of folders and encodings: each is listed once, and members refer to its index."""

    def __init__(self) -> None:
        self.folders, self.codings = dict[str, int](), dict[str, int]()

    def folder(self, name: str) -> int:
        """Return the index of a folder."""
        return self.folders.setdefault(printable(name), len(self.folders))

    def coding(self, name: str) -> int:
        """Return the index of an encoding."""
        return self.codings.setdefault(printable(name), len(self.codings))

    def fields(self) -> dict[str, list[str]]:
        """Return the names as the page reads them."""
        return {"folders": list(self.folders), "codings": list(self.codings)}


def member_fields(
    member: Found, alike: float, names: Names, *, is_exact: bool, fingerprint: bytes | None
) -> list[Any]:
    """A member of a group or a document of an answer, as the page reads it in data.js."""
    document = member.document
    folder, name = os.path.split(document.path)
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
        member.kind.value,
        member.distance,
        round(alike, 6),
        int(is_exact),
        None if member.own_share is None else round(member.own_share, 6),
        fingerprint and b64encode(fingerprint).decode(),
    ]


def sets_of(found: Sequence[Found]) -> list[list[int]]:
    """For each set of a list, or single document, how many documents have each content.

    A number is negative where the text differs from that of the content before.
    """
    return [
        [
            len(piece) * (-1 if _is_other_text(piece[0], before[0]) else 1)
            for before, piece in zip([entry[0], *entry], entry, strict=False)
        ]
        for entry in entries(found)
    ]


def _is_other_text(one: Found, other: Found) -> bool:
    return identity_of(one).kind_with(identity_of(other)) is Kind.SAME_WORDS


def estimate(distance: int, bits: int) -> float:
    """The similarity estimated from a distance, never below 0."""
    return max(0.0, similarity_at(distance, bits))


def settings_fields(settings: Settings) -> dict[str, Any]:
    """The settings of the comparison, as the page reads them in summary.js."""
    recipe, fields = settings.recipe, json_csv.settings_fields(settings)
    names = "bits", "verified", "similarity", "parts", "k", "linkage", "encoding"
    return {name: fields[name] for name in names} | {
        "features": recipe.features.value,
        "ngram": recipe.ngram,
        "top": recipe.top,
        "ownShare": fields["own_share"],
        "least": fields["similarity"] or estimate(settings.distance, recipe.bits),
    }


def skipped_fields(skipped: Iterable[Skipped]) -> list[list[str]]:
    """Path, reason and detail of the first MOST_SKIPPED files, unreadable ones first."""
    first = sorted(skipped, key=lambda each: not each.reason.is_trouble)[:MOST_SKIPPED]
    return [[printable(each.path), each.reason.value, printable(each.detail)] for each in first]


def part_fields(part: Part) -> list[Any]:
    """A part of a larger text as the page reads it in groups.js."""
    return [printable(part.path), printable(part.whole), part.share, part.start, part.end]
