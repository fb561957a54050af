"""Sizes, shares and counts as people read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simdup.records import Reason
from simdup.theory import similarity_at

if TYPE_CHECKING:
    from simdup.records import Candidates, Member, ScanResult, Skipped
    from simdup.settings import Settings


def size(number: int) -> str:
    """Bytes in at most four digits and a unit.

    >>> size(0), size(999), size(1_234), size(5_678_901)
    ('0 B', '999 B', '1.2 kB', '5.7 MB')
    """
    amount, unit = float(number), "B"
    for larger in ("kB", "MB", "GB", "TB"):
        if amount < 999.5:
            break
        amount, unit = amount / 1000, larger
    return f"{amount:.0f} {unit}" if unit == "B" or amount >= 99.5 else f"{amount:.1f} {unit}"


def percent(share: float) -> str:
    """A share in per cent, cut and not rounded: 100 % is said only of what is whole.

    >>> percent(0.9999), percent(1.0), percent(0.5), percent(0.57)
    ('99.9 %', '100 %', '50.0 %', '57.0 %')
    """
    # 0.57 x 1000 is a little less than 570; the addend mends that and is far below a digit.
    return "100 %" if share == 1 else f"{min(999, int(share * 1000 + 1e-9)) / 10:.1f} %"


def count(number: int, noun: str) -> str:
    """A number and what is counted.

    >>> count(1, "file"), count(2000, "file"), count(2, "copy")
    ('1 file', '2,000 files', '2 copies')
    """
    plural = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
    return f"{number:,} {noun if number == 1 else plural}"


def likeness(member: Member, bits: int) -> str:
    """The exact similarity, or with a tilde what the distance stands for."""
    if member.similarity is not None:
        return percent(member.similarity)
    return "~" + percent(max(0.0, similarity_at(member.distance, bits)))


def skips(skipped: tuple[Skipped, ...]) -> dict[str, int]:
    """How many were skipped for each reason, most first."""
    counts: dict[str, int] = {}
    for each in skipped:
        counts[each.reason.value] = counts.get(each.reason.value, 0) + 1
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _outcome(result: ScanResult) -> str:
    """What was found, in a few words."""
    if result.groups:
        files = sum(len(group.members) for group in result.groups)
        return f"{count(len(result.groups), 'group')} of {count(files, 'file')}"
    if any(document.source.is_reference for document in result.documents):
        return "no file holds the same text as a reference"
    return "no two files hold the same text"


def summary(result: ScanResult) -> list[str]:
    """What was found, read and skipped, and what else there is to know: a line each."""
    stats = result.stats
    skipped = ", ".join(f"{n:,} {reason}" for reason, n in skips(result.skipped).items())
    read = (
        f"read {stats.fingerprinted:,} of {count(stats.found, 'file')} ({size(stats.bytes)})"
        f" in {stats.seconds:.1f} s"
    )
    outcome = f"{_outcome(result)}; {read}" if stats.found else "no file to compare was found"
    lines = [f"{outcome}; skipped {skipped or 'nothing'}"]
    left_out = sum(each.reason is Reason.MISSING_EXTRA for each in result.skipped)
    if left_out:
        lines.append(
            f"{count(left_out, 'PDF file')} left out: pip install 'simdup[docs]' reads them"
        )
    if stats.from_store:
        lines.append(f"{count(stats.from_store, 'file')} known from before, not read again")
    if stats.ignored:
        pairs = "pair is" if stats.ignored == 1 else "pairs are"
        lines.append(f"{stats.ignored:,} {pairs} left out, as `simdup ignore list` says")
    return [*lines, *narrowed(result.candidates, result.settings)]


def narrowed(candidates: Candidates | None, settings: Settings) -> list[str]:
    """That the search for candidates was not as wide as asked, if so."""
    if candidates is None or candidates.k >= candidates.wanted:
        return []
    least = percent(settings.similarity)
    return [
        f"candidates were narrowed from {candidates.wanted} to {candidates.k} bits, since there"
        f" would have been too many: a pair just {least} alike is found with probability"
        f" {candidates.recall:.0%}; more --bits avoid this"
    ]
