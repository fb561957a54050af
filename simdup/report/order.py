"""Which groups of a result a report shows, and in which order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from simdup.records import Group, ScanResult
from simdup.report.space import repeated


class View(NamedTuple):
    """How much of a result a text report shows."""

    sort: str = "similarity"
    """One of `report.SORTS`."""
    limit: int | None = None
    """The most groups; None shows all of them."""
    is_brief: bool = False
    """Whether a group with many files shows only some of them, as on a terminal."""
    is_folded: bool = False
    """Whether to leave out the groups that pairs of folders represent."""
    lines: int | None = None
    """The lines that the groups and the summary may fill together; None sets no limit."""


#: Every group, with every file.
WHOLE = View()


def ranked(groups: Iterable[Group], sort: str) -> list[Group]:
    """The groups, the most useful first.

    By `similarity` these are the most similar ones, in the order of the result; by `size` the
    ones in which the most bytes repeat; by `count` the ones with the most files. By `name` they
    follow the path of the first file.
    """
    found = list(groups)
    if sort == "size":
        found.sort(key=lambda group: -repeated([group]).total.bytes)
    elif sort == "count":
        found.sort(key=lambda group: -len(group.members))
    elif sort == "name":
        found.sort(key=lambda group: group.members[0].document.path)
    return found


def selected(result: ScanResult, sort: str, limit: int | None) -> ScanResult:
    """The result with only its first `limit` groups and families, in the order of `ranked`."""
    groups, patterns = (
        tuple(ranked(each, sort)[:limit]) for each in (result.groups, result.patterns)
    )
    return replace(result, groups=groups, patterns=patterns)
