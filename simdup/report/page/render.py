"""The result of a scan as one HTML page: its data, its texts, and the page itself around them.

The page can write plans, so its data say exactly which file each member is. The page decides
nothing by itself: it exports a plan for `simdup clean`, which checks every line.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any

from simdup.files.read import digest
from simdup.match.tiers import RELATED, in_words
from simdup.records import Group, Kind, ScanResult
from simdup.report.json_csv import settings_fields
from simdup.report.page import groups as pages
from simdup.report.page.decisions import plan_fields
from simdup.report.page.folders import folder_pairs
from simdup.report.page.frame import page_json
from simdup.report.page.groups import MOST_SKIPPED, Names
from simdup.report.text import chain_parts, family_figures, in_first
from simdup.report.wording import printable, sharing
from simdup.settings import Settings


def render(
    result: ScanResult,
    language: str | None,
    texts: Iterable[tuple[int, Iterable[pages.Read]]] | None = None,
    day: float | None = None,
    *,
    has_texts: bool = True,
) -> Iterator[str]:
    """The lines of the page; `language` is one of LANGUAGES, None follows the reader's browser.

    `texts` has the id of each group and pattern, and functions that read the texts of its members;
    None makes a page without texts. With `has_texts` False they are read only to say what differs.
    `day` is when the scan was, in seconds since 1970; None if that is unknown.
    """
    data = _data(result)
    whole = page_json(data).encode("utf-8", "backslashreplace")
    data["plan"] = plan_fields(result, digest(whole).hex())
    forms = {pattern.id for pattern in result.patterns}
    recipe = result.settings.recipe
    read = None if texts is None else pages.PageTexts(texts, has_texts, recipe, forms)
    return pages.group_page(data, language, day, read)


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
        "settings": settings_fields(result.settings),
        "found": stats.found,
        "read": stats.fingerprinted,
        "known": stats.from_store,
        "bytes": stats.bytes,
        "seconds": round(stats.seconds, 1),
        **pages.found_fields(names, result.candidates, result.parts, result.skipped),
        "folderPairs": folder_pairs(result, names),
        "groups": groups,
        "patterns": patterns,
        "siblings": stats.siblings,
        "identityOnly": stats.identity_only,
        "doubtful": [
            [names.path(each.path), each.doubt] for each in result.doubtful[:MOST_SKIPPED]
        ],
        "doubts": len(result.doubtful),
    }


def _group(group: Group, settings: Settings, names: Names) -> list[Any]:
    """A group as data.js reads it: its members, sets and chain, and for siblings their figures.

    The last fields have how much of each member is in the first one, or null, and why the group is
    near.
    For the sets see `sets_of`.
    """
    members = [
        pages.member_fields(
            each, settings.recipe.bits, names, RELATED if each.tier == RELATED else None
        )
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
        nth: kinds
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
    rounded = [round(in_first(group, nth, settings), 6) for nth in range(len(group.members))]
    about = family, None, remarks or None, group.why, different, held or None, rounded
    return [group.id, kind, members, sets, chain, *about, in_words(group.near_because)]


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
