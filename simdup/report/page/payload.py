"""What the page shows of a result, but the texts: short lists of plain values for JSON."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from simdup.report.text import skips
from simdup.report.wording import printable
from simdup.theory import similarity_at
from simdup.versions import version

if TYPE_CHECKING:
    from simdup.records import Member, ScanResult, Skipped
    from simdup.settings import Settings

#: So many skipped files are listed by name, unreadable ones first; all are counted.
MOST_SKIPPED = 1000


class Names:
    """Names that occur often, each replaced by its index in a list."""

    def __init__(self) -> None:
        self._indices: dict[str, int] = {}

    def index(self, name: str) -> int:
        """The index of a name, which is added if it is new."""
        return self._indices.setdefault(printable(name), len(self._indices))

    def listed(self) -> list[str]:
        """All names in the order of their indices."""
        return list(self._indices)


def payload(result: ScanResult) -> dict[str, Any]:
    """The data of the page, ready for JSON; all names are printable."""
    folders, encodings = Names(), Names()
    bits = result.settings.recipe.bits
    groups = list[list[Any]]()
    for group in result.groups:
        members = [_member(member, bits, folders, encodings) for member in group.members]
        groups.append([group.id, group.kind.value, group.diameter, members])
    stats, candidates = result.stats, result.candidates
    narrowed = None
    if candidates is not None and candidates.k < candidates.wanted:
        narrowed = [candidates.wanted, candidates.k, candidates.recall]
    return {
        "version": version("simdup"),
        "complete": result.complete,
        "settings": _settings(result.settings),
        "found": stats.found,
        "read": stats.fingerprinted,
        "known": stats.from_store,
        "bytes": stats.bytes,
        "seconds": round(stats.seconds, 1),
        "narrowed": narrowed,
        "skips": skips(result.skipped),
        "skipped": _skipped(result.skipped),
        "folders": folders.listed(),
        "codings": encodings.listed(),
        "groups": groups,
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
        "k": settings.distance,
        "least": settings.similarity if verified else _estimate(settings.distance, recipe.bits),
        "linkage": settings.linkage,
        "encoding": settings.encoding,
    }


def _estimate(distance: int, bits: int) -> float:
    return max(0.0, similarity_at(distance, bits))


def _member(member: Member, bits: int, folders: Names, encodings: Names) -> list[Any]:
    document, alike = member.document, member.similarity
    folder, name = os.path.split(document.path)
    return [
        folders.index(folder),
        printable(name),
        document.source.size,
        document.source.mtime_ns // 10**9,
        encodings.index(document.written_in),
        document.features,
        int(document.is_short),
        document.damaged,
        member.kind.value,
        member.distance,
        round(_estimate(member.distance, bits) if alike is None else alike, 6),
        int(alike is not None),
    ]


def _skipped(skipped: tuple[Skipped, ...]) -> list[list[str]]:
    """Path, reason and detail of the first MOST_SKIPPED files, unreadable ones first."""
    first = sorted(skipped, key=lambda each: not each.reason.is_trouble)[:MOST_SKIPPED]
    return [[printable(each.path), each.reason.value, printable(each.detail)] for each in first]
