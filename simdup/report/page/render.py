"""The result of a scan as one HTML page: its data, its texts, and the page itself around them.

The page can write plans, so its data say exactly which file each member is. The page decides
nothing by itself: it exports a plan for `simdup clean`, which checks every line.
"""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Iterable, Iterator
from datetime import datetime, timezone
from typing import Any

from simdup.clean.candidates import AGAINST, check_result, placed, roots_of
from simdup.clean.plan import Header, header_fields
from simdup.clean.rules import Placed
from simdup.errors import InputError
from simdup.files.read import digest
from simdup.findings.keeper import WORDS
from simdup.match.tiers import NEAR_SCORE, RELATED, in_words, scores
from simdup.records import FolderPair, Group, Kind, ScanResult
from simdup.report.json_csv import settings_fields
from simdup.report.order import Repeated, by_tier, protected_in, repeated
from simdup.report.page import groups as pages
from simdup.report.page.frame import page_json
from simdup.report.page.groups import MOST_SKIPPED, Names
from simdup.report.text import chain_parts, family_figures, in_first, newer_name
from simdup.report.wording import printable, sharing
from simdup.settings import Settings


def render(
    result: ScanResult,
    language: str | None,
    texts: Iterable[tuple[int, Iterable[pages.Read]]] | None = None,
    day: float | None = None,
) -> Iterator[str]:
    """The lines of the page; `language` is one of LANGUAGES, None follows the reader's browser.

    `texts` has the id of each group and pattern, and functions that read the texts of its members;
    None makes a page without texts. `day` is when the scan was, in seconds since 1970; None if that
    is unknown.
    """
    data = _data(result)
    whole = page_json(data).encode("utf-8", "backslashreplace")
    data["plan"] = _plan(result, digest(whole).hex())
    return pages.group_page(data, language, day, texts)


def _data(result: ScanResult) -> dict[str, Any]:
    """The data of the page, ready for JSON; all names are printable."""
    names = Names(_root(result))
    groups, patterns = (
        [_group(group, result.settings, names) for group in each]
        for each in (result.groups, result.patterns)
    )
    stats = result.stats
    return {
        "page": "files",
        "complete": result.complete,
        "places": _places(result),
        # Files and bytes that repeat another file's bytes, text, words, or nearly its text.
        "repeated": [[each.files, each.bytes] for each in _repeated(result)],
        "settings": settings_fields(result.settings),
        "nearFrom": NEAR_SCORE if result.settings.verified else None,
        "found": stats.found,
        "read": stats.fingerprinted,
        "known": stats.from_store,
        "bytes": stats.bytes,
        "seconds": round(stats.seconds, 1),
        **pages.found_fields(names, result.candidates, result.parts, result.skipped),
        "folderPairs": [_folder_pair(pair, names) for pair in result.folders],
        "groups": groups,
        "patterns": patterns,
        "siblings": stats.siblings,
        "identityOnly": stats.identity_only,
        "doubtful": [
            [names.path(each.path), each.doubt] for each in result.doubtful[:MOST_SKIPPED]
        ],
        "doubts": len(result.doubtful),
    }


def _repeated(result: ScanResult) -> Repeated:
    """The files of near groups that repeat another one, as reports count them."""
    return repeated(by_tier(result)[0].groups, protected_in(result.base))


def _group(group: Group, settings: Settings, names: Names) -> list[Any]:
    """A group as data.js reads it: its members, sets and chain, and for siblings their figures.

    The last fields have the score of each member with the first one, or null, and how much of it
    is in the first one; and why the group is near.
    For the sets see `sets_of`.
    """
    recipe = settings.recipe
    found = scores(group.members, recipe)
    members = [
        pages.member_fields(each, recipe.bits, names, RELATED if each.tier == RELATED else None)
        for each in group.members
    ]
    sets = pages.sets_of(group.members)
    versions = [each._replace(path=each.path.removeprefix(names.root)) for each in group.versions]
    chain, family = chain_parts(versions) if versions else None, None
    kind = RELATED if group.tier == RELATED else group.kind.value
    if group.kind is Kind.SAME_PATTERN:
        least, most, *middle = family_figures(group)
        family = [least, most, *sharing(*middle)]
    first = group.members[0].document
    remarks = {
        nth: ", ".join(kinds)
        for nth, each in enumerate(group.members)
        if (kinds := each.document.other_content(first))
    }
    place = {each.document.path: nth for nth, each in enumerate(group.members)}
    different = [sorted((place[one], place[other])) for one, other in group.not_duplicates]
    held = {
        nth: ", ".join(f"{each.kind} ({each.number})" for each in member.document.unread)
        for nth, member in enumerate(group.members)
        if member.document.unread
    }
    figures = [
        (score and round(score, 6), round(in_first(group, nth, settings), 6))
        for nth, score in enumerate(found)
    ]
    about = family, None, remarks or None, group.why, different, held or None, figures
    return [group.id, kind, members, sets, chain, *about, in_words(group.near_because)]


def _folder_pair(pair: FolderPair, names: Names) -> list[Any]:
    """A pair of folders as the page reads it in folders.js."""
    figures = pair.copies, pair.files, pair.identical, pair.not_compared
    both = (names.path(os.path.join(each, "")).rstrip(os.sep) for each in (pair.path, pair.other))
    return [*both, list(pair.groups), *figures, newer_name(pair)]


def _root(result: ScanResult) -> str:
    """The folder that was searched, with its slash, if it is only one; else an empty string."""
    roots = *(result.roots or ()), *result.references
    return os.path.join(roots[0], "") if len(roots) == 1 else ""


def _places(result: ScanResult) -> list[str]:
    """The paths that were searched, as they were named, with a tilde for the home folder.

    The list is empty if the files were named one by one.
    """
    home, places = os.path.expanduser("~"), list[str]()
    for root in result.roots or ():
        path = os.path.normpath(root)
        if path == os.curdir:
            path = result.base or path
        inside = path == home or path.startswith(os.path.join(home, ""))
        places.append(printable("~" + path[len(home) :] if inside and home != os.sep else path))
    return places


def _plan(result: ScanResult, digest: str) -> dict[str, Any] | None:
    """The header of a plan, and the files of each group as files.js reads them.

    None if the result does not say which files it saw. `digest` names the page, in 32 hexadecimal
    digits.
    """
    try:
        check_result(result, "")
    except InputError:
        return None
    roots, folders = roots_of(result), dict[str, int]()
    now = datetime.now(timezone.utc).isoformat(timespec="seconds")
    header = Header(now, "", digest, (), roots, result.stats.found)
    files = [[_file(each, folders) for each in group] for group in placed(result, roots)]
    about = {"header": header_fields(header), "folders": list(folders), "sep": os.sep}
    return about | {"files": files, "reasons": WORDS[:-1]}


def _file(file: Placed, folders: dict[str, int]) -> list[Any]:
    """A file as files.js reads it; numbers that a script would round are in a string.

    The last four fields say why the file can be neither kept nor dropped, why it cannot be
    dropped, where the path as shown differs from the real one, the bytes of the real one, and the
    key of the file without its last part, the path.
    """
    document, source = file.document, file.document.source
    shown, (folder, name) = printable(source.path), os.path.split(source.path)
    numbers = source.device, source.inode, source.size, source.mtime_ns, source.ctime_ns
    return [
        folders.setdefault(printable(folder), len(folders)),
        printable(name),
        ", ".join(map(str, numbers)),
        document.bytes_digest.hex(),
        document.text_digest.hex(),
        document.words_digest.hex(),
        int(document.is_whole_text),
        int(document.packing is not None),
        " ".join(sorted(f"{each.digest} {each.kind}" for each in document.unread)),
        source.links,
        document.format,
        file.root,
        int(document.is_certain),
        file.unfit,
        AGAINST * source.is_reference,
        None if shown == source.path else b64encode(os.fsencode(source.path)).decode(),
        file.reasons[:-1],
    ]
