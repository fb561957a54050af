"""A result as one HTML page: its data, its texts, and the page itself around them.

The page holds template, style and scripts from the files beside this module, and a policy that
allows no others.
"""

from __future__ import annotations

import json
import os
import zlib
from base64 import b64encode
from collections.abc import Callable, Iterable
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from simdup.files.read import digest
from simdup.files.sets import entries
from simdup.records import Document, Kind, Skipped
from simdup.report.folders import newer_name
from simdup.report.page import LANGUAGES, LARGEST_PAGE
from simdup.report.page.deciding import plan_fields
from simdup.report.space import repeated
from simdup.report.text import chain_parts, family_figures, skips
from simdup.report.wording import printable, sharing
from simdup.theory import similarity_at
from simdup.versions import version

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simdup.records import FolderPair, Group, Member, Part, ScanResult
    from simdup.settings import Settings

#: Reads the text of a document for the page, or says why it cannot be read.
ReadText = Callable[[Document], "str | Skipped"]

#: Bytes reserved for template, style and scripts, which take somewhat less.
FRAME = 500_000

#: The scripts, in the order in which they run: what each needs at once stands before it.
SCRIPTS = (
    *("words", "elements", "diff", "texts", "data", "histogram", "summary", "facets"),
    *("comparison", "rules", "files", "decisions", "deciding", "export"),
    *("members", "groups", "folders", "filters", "address", "page"),
)

#: Characters of a text that the page has; a longer one is cut, and the page says so.
LONGEST_TEXT = 200_000

#: Characters of a group; its further texts are left out. Bounds the memory that making a page
#: and opening a group take.
LONGEST_GROUP = 8_000_000

# Bytes of markup around each block.
AROUND = 70

# With fewer bytes left, no further group is tried.
TOO_LITTLE = 1_000

#: So many parts of larger files are listed; all are counted.
MOST_PARTS = 1000

#: So many skipped files are listed by name, unreadable ones first, and so many doubtful ones; all
#: are counted.
MOST_SKIPPED = 1000


def render(
    result: ScanResult,
    language: str | None,
    read: ReadText | None = None,
    groups: Iterable[Group] | None = None,
    day: float | None = None,
) -> Iterator[str]:
    """The lines of the page, in one of LANGUAGES, or for None in the one of the reader's browser.

    `read` reads the texts for the page; None makes a page without texts. `groups` may be the
    groups and patterns of the result wrapped in a progress bar, which advances while texts are
    read. `day` is when the scan was, in seconds since 1970; None if that is unknown.
    """
    data = _data(result)
    data["plan"] = plan_fields(
        result, digest(_json(data).encode("utf-8", "backslashreplace")).hex()
    )
    blocks, left_out = dict[int, str](), 0
    if read is not None:
        room = LARGEST_PAGE - FRAME - len(_json(data).encode("utf-8", "backslashreplace"))
        blocks, left_out = text_blocks(
            result.groups + result.patterns if groups is None else groups, read, room
        )
    data |= {
        "language": language,
        "day": day,
        "texts": read is not None,
        "leftOut": left_out,
        "longestText": LONGEST_TEXT,
        "largestPage": LARGEST_PAGE,
    }
    # Line by line and not joined: the texts may have many megabytes.
    before, after = _frame(language or LANGUAGES[0]).split("<!-- texts -->\n")
    yield before.rstrip("\n")
    for number, block in blocks.items():
        yield f'<script type="text/plain" id="texts-{number}">{block}</script>'
    yield f'<script type="application/json" id="data">{_json(data)}</script>'
    yield after.rstrip("\n")


def _frame(language: str) -> str:
    """The page without its data."""
    from string import Template  # noqa: PLC0415  slow to import

    style = _part("page.css")
    script = "'use strict';\n" + "\n".join(_part(f"{name}.js") for name in SCRIPTS)
    policy = (
        f"default-src 'none'; script-src {_source(script)}; style-src {_source(style)};"
        " base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'"
    )
    return Template(_part("page.html")).substitute(
        language=language, policy=policy, style=style, script=script
    )


def _part(name: str) -> str:
    from importlib.resources import files  # noqa: PLC0415  slow to import

    return files("simdup.report.page").joinpath(name).read_text("utf-8")


def _source(text: str) -> str:
    """The name by which a policy allows exactly this script or style: its digest."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _json(value: Any) -> str:  # noqa: ANN401
    """JSON in which every `<` is escaped, so that no name can end the script around it."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")


def _data(result: ScanResult) -> dict[str, Any]:
    """The data of the page, ready for JSON; all names are printable.

    Names of folders and encodings repeat, so they are listed once and members have indices.
    """
    folders, encodings = dict[str, int](), dict[str, int]()
    bits = result.settings.recipe.bits
    groups, patterns = (
        [_group(group, bits, folders, encodings) for group in each]
        for each in (result.groups, result.patterns)
    )
    stats, candidates = result.stats, result.candidates
    recall = candidates and candidates.recall
    return {
        "version": version("simdup"),
        "complete": result.complete,
        "places": _places(result),
        "repeated": _repeated(result),
        "settings": _settings(result.settings),
        "found": stats.found,
        "read": stats.fingerprinted,
        "known": stats.from_store,
        "bytes": stats.bytes,
        "seconds": round(stats.seconds, 1),
        "narrowed": candidates and candidates.narrowed,
        "recall": recall and [recall.value, recall.low, recall.high],
        "skips": skips(result.skipped),
        "skipped": _skipped(result.skipped),
        "parts": [_part_of_file(part) for part in result.parts[:MOST_PARTS]],
        "allParts": len(result.parts),
        "folderPairs": [_folder_pair(pair) for pair in result.folders],
        "folders": list(folders),
        "codings": list(encodings),
        "groups": groups,
        "patterns": patterns,
        "siblings": stats.siblings,
        "identityOnly": stats.identity_only,
        "doubtful": [[printable(each.path), each.doubt] for each in result.doubtful[:MOST_SKIPPED]],
        "doubts": len(result.doubtful),
    }


def _settings(settings: Settings) -> dict[str, Any]:
    recipe, verified = settings.recipe, settings.verified
    return {
        "features": recipe.features.value,
        "ngram": recipe.ngram,
        "top": recipe.top,
        "bits": recipe.bits,
        "verified": verified,
        "similarity": settings.similarity if verified else None,
        "ownShare": settings.own_share if verified else None,
        "parts": settings.parts,
        "k": settings.distance,
        "least": settings.similarity if verified else _estimate(settings.distance, recipe.bits),
        "linkage": settings.linkage,
        "encoding": settings.encoding,
    }


def _estimate(distance: int, bits: int) -> float:
    return max(0.0, similarity_at(distance, bits))


def _group(
    group: Group, bits: int, folders: dict[str, int], encodings: dict[str, int]
) -> list[Any]:
    """A group as the page reads it in data.js: its members, sets, chain, and for siblings figures.

    For each identical set, or single file, it says how many members have each content.
    """
    members = [_member(member, bits, folders, encodings) for member in group.members]
    sets = [[len(piece) for piece in entry] for entry in entries(group.members)]
    chain = chain_parts(group.versions) if group.versions else None
    fields: list[Any] = [group.id, group.kind.value, group.diameter, members, sets, chain]
    if group.kind is Kind.SAME_PATTERN:
        least, most, *middle = family_figures(group)
        fields.append([least, most, *sharing(*middle)])
    return fields


def _member(
    member: Member, bits: int, folders: dict[str, int], encodings: dict[str, int]
) -> list[Any]:
    """A member as the page reads it in data.js; new folders and encodings are added."""
    document, alike = member.document, member.similarity
    folder, name = os.path.split(document.path)
    return [
        folders.setdefault(printable(folder), len(folders)),
        printable(name),
        document.source.size,
        document.source.mtime_ns // 10**9,
        encodings.setdefault(printable(document.written_in), len(encodings)),
        document.features,
        int(document.is_short),
        document.damaged,
        document.doubt,
        member.kind.value,
        member.distance,
        round(_estimate(member.distance, bits) if alike is None else alike, 6),
        int(alike is not None),
        None if member.own_share is None else round(member.own_share, 6),
        b64encode(member.fingerprint).decode(),
    ]


def _part_of_file(part: Part) -> list[Any]:
    """A part of a larger file as the page reads it in groups.js."""
    return [printable(part.path), printable(part.whole), part.share, part.start, part.end]


def _folder_pair(pair: FolderPair) -> list[Any]:
    """A pair of folders as the page reads it in folders.js."""
    names = printable(pair.path), printable(pair.other)
    figures = pair.copies, pair.files, pair.identical, pair.unread
    return [*names, list(pair.groups), *figures, newer_name(pair)]


def _places(result: ScanResult) -> list[str]:
    """What was searched, as it was named; the home folder and what is in it with a tilde.

    Nothing if the files were named one by one.
    """
    home, places = os.path.expanduser("~"), list[str]()
    for root in result.roots or ():
        path = os.path.normpath(root)
        if path == os.curdir:
            path = result.base or path
        inside = path == home or path.startswith(os.path.join(home, ""))
        places.append(printable("~" + path[len(home) :] if inside and home != os.sep else path))
    return places


def _repeated(result: ScanResult) -> list[list[int]]:
    """The files and bytes that repeat another file's bytes, its text, or nearly its text."""
    found = repeated(result.groups)
    return [[each.files, each.bytes] for each in (found.identical, found.text, found.near)]


def _skipped(skipped: tuple[Skipped, ...]) -> list[list[str]]:
    """Path, reason and detail of the first MOST_SKIPPED files, unreadable ones first."""
    first = sorted(skipped, key=lambda each: not each.reason.is_trouble)[:MOST_SKIPPED]
    return [[printable(each.path), each.reason.value, printable(each.detail)] for each in first]


def text_blocks(groups: Iterable[Group], read: ReadText, room: int) -> tuple[dict[int, str], int]:
    """The texts of groups, as base64 of zlib of JSON by group id, in at most `room` bytes.

    Also returns the number of groups that were left out for want of room.
    """
    blocks: dict[int, str] = {}
    left_out = 0
    for group in groups:
        block = _block(group, read) if room >= TOO_LITTLE else ""
        if block and len(block) <= room:
            blocks[group.id] = block
            room -= len(block) + AROUND
        else:
            left_out += 1
    return blocks, left_out


def _block(group: Group, read: ReadText) -> str:
    """The distinct texts, whether each was cut, and for each member the index of its text.

    A member without a text has instead the reason why it could not be read, or null if there
    was no room for it.
    """
    indices: dict[str, int] = {}
    cut: list[int] = []
    found: list[int | str | None] = []
    room = LONGEST_GROUP
    for member in group.members:
        text = read(member.document) if room > 0 else None
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
