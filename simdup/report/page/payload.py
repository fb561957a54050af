"""A result in, what the page shows of it out: short lists of plain values, names printable."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from simdup.recipe import FeatureKind
from simdup.report.text import skips
from simdup.report.wording import printable
from simdup.theory import similarity_at
from simdup.versions import version

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from simdup.records import Group, Member, ScanResult, Skipped
    from simdup.settings import Settings

#: So many skipped files are listed by name, those that could not be read first; all are counted.
MOST_SKIPPED = 1000


class Names:
    """Numbers for names that come again and again."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, name: str) -> int:
        """The number of a name, the same every time."""
        return self._numbers.setdefault(name, len(self._numbers))

    def listed(self) -> list[str]:
        """The names in the order of their numbers."""
        return list(self._numbers)


def payload(result: ScanResult) -> dict[str, Any]:
    """All that the page shows but the texts, ready for JSON."""
    folders, codings = Names(), Names()
    bits = result.settings.recipe.bits
    groups = [_group(group, bits, folders.number, codings.number) for group in result.groups]
    stats, candidates = result.stats, result.candidates
    return {
        "version": version("simdup"),
        "complete": result.complete,
        "settings": _settings(result.settings),
        "found": stats.found,
        "read": stats.fingerprinted,
        "known": stats.from_store,
        "bytes": stats.bytes,
        "seconds": round(stats.seconds, 1),
        "narrowed": None
        if candidates is None or candidates.k >= candidates.wanted
        else [candidates.wanted, candidates.k, candidates.recall],
        "skips": skips(result.skipped),
        "skipped": _skipped(result.skipped),
        "folders": folders.listed(),
        "codings": codings.listed(),
        "groups": groups,
    }


def _settings(settings: Settings) -> dict[str, Any]:
    recipe = settings.recipe
    return {
        "features": recipe.features.value,
        "ngram": recipe.ngram if recipe.features is FeatureKind.SHINGLES else None,
        "top": recipe.top if recipe.features is FeatureKind.KEYWORDS else None,
        "hash": recipe.hash.value,
        "bits": recipe.bits,
        "verified": settings.verified,
        "similarity": settings.similarity if settings.verified else None,
        "k": settings.distance,
        "least": _least(settings),
        "linkage": settings.linkage,
        "encoding": settings.encoding,
    }


def _least(settings: Settings) -> float:
    """The similarity at the threshold, or what its bits stand for."""
    if settings.verified:
        return settings.similarity
    return max(0.0, similarity_at(settings.distance, settings.recipe.bits))


def _group(
    group: Group, bits: int, folder: Callable[[str], int], coding: Callable[[str], int]
) -> list[Any]:
    members = [_member(member, bits, folder, coding) for member in group.members]
    return [group.id, group.kind.value, group.diameter, members]


def _member(
    member: Member, bits: int, folder: Callable[[str], int], coding: Callable[[str], int]
) -> list[Any]:
    document = member.document
    where, name = os.path.split(document.path)
    alike = member.similarity
    if alike is None:
        alike = max(0.0, similarity_at(member.distance, bits))
    return [
        folder(printable(where)),
        printable(name),
        document.source.size,
        document.source.mtime_ns // 10**9,
        coding(printable(document.written_in)),
        document.features,
        int(document.is_short),
        document.damaged,
        member.kind.value,
        member.distance,
        round(alike, 6),
        int(member.similarity is not None),
    ]


def _skipped(skipped: Iterable[Skipped]) -> list[list[str]]:
    """The first of them: name, reason, detail."""
    first = sorted(skipped, key=lambda each: not each.reason.is_trouble)[:MOST_SKIPPED]
    return [[printable(each.path), each.reason.value, printable(each.detail)] for each in first]
