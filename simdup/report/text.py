"""The results of scans and comparisons as text for people."""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING

from simdup.records import Kind, Reason
from simdup.report.terminal import ASIDE, HEADING, KINDS, PLAIN, REMARK, width
from simdup.report.wording import count, percent, printable, size
from simdup.theory import similarity_at, standard_error

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from simdup.records import Candidates, Comparison, Document, Group, ScanResult, Skipped
    from simdup.report.terminal import TerminalStyle
    from simdup.settings import Settings


def render(result: ScanResult, look: TerminalStyle = PLAIN) -> Iterator[str]:
    """The groups, a line for each file: similarity, distance, encoding, size, name."""
    for group in result.groups:
        yield from _group(group, result.settings.recipe.bits, look)
        yield ""


def _group(group: Group, bits: int, look: TerminalStyle) -> Iterator[str]:
    head = look.painted(f"Group {group.id}:", HEADING)
    kind = look.painted(group.kind.value, KINDS[group.kind])
    spread = f", at most {group.diameter} of {bits} bits apart" if group.diameter else ""
    yield f"{head} {kind}, {count(len(group.members), 'file')}{spread}"
    for place, member in enumerate(group.members):
        alike = likeness(member.similarity, member.distance, bits) if place else ""
        yield document_line(member.document, member.kind, alike, member.distance, look)


def document_line(
    document: Document, kind: Kind, alike: str, distance: int, look: TerminalStyle
) -> str:
    """The line of a document; `alike` is its similarity, or "" for a representative."""
    remarks = _remarks(document)
    how, close = f"{alike:>7}", f"{closeness(kind, distance) if alike else '':<8}"
    what = f"{document.written_in:<12} {size(document.source.size):>8}"
    taken = width(f"  {how}  {close} {what}  {remarks}")
    return (
        f"  {look.painted(how, KINDS[kind]) if alike else how}  {close}"
        f" {look.painted(what, ASIDE)}  {look.fitted(printable(document.path), taken)}"
        f"{look.painted(remarks, REMARK)}"
    )


def likeness(similarity: float | None, distance: int, bits: int) -> str:
    """The exact similarity, or "~" and the similarity that the distance stands for."""
    if similarity is not None:
        return percent(similarity)
    return "~" + percent(max(0.0, similarity_at(distance, bits)))


def closeness(kind: Kind, distance: int) -> str:
    """The word "bytes" or "text" for what is identical, or else the distance in bits."""
    if distance or kind is Kind.NEAR:
        return count(distance, "bit")
    return kind.value.removeprefix("identical ")


def _remarks(document: Document) -> str:
    """What the reader should know about how a file was read, in brackets."""
    remarks = []
    if document.damaged:
        remarks.append(f"{count(document.damaged, 'character')} damaged")
    if document.is_short:
        remarks.append("short" if document.features else "no text to compare")
    return f"  ({', '.join(remarks)})" if remarks else ""


def render_names(result: ScanResult) -> Iterator[str]:
    """File names alone, as fdupes prints them: an empty line after each group."""
    for group in result.groups:
        yield from (printable(member.document.path) for member in group.members)
        yield ""


def render_null(result: ScanResult) -> Iterator[bytes]:
    """The exact bytes of the names, each ended by NUL, and one more NUL after each group."""
    return null_names((m.document.path for m in group.members) for group in result.groups)


def null_names(lists: Iterable[Iterable[str]]) -> Iterator[bytes]:
    """The exact bytes of the paths, each ended by NUL, and one more NUL after each list."""
    return (b"".join(os.fsencode(path) + b"\0" for path in paths) + b"\0" for paths in lists)


def skips(skipped: Iterable[Skipped]) -> dict[str, int]:
    """The number of files skipped for each reason, most frequent first."""
    counts = Counter(each.reason.value for each in skipped)
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def summary(result: ScanResult) -> list[str]:
    """What was found, read and skipped, and what else the user should know: a line each."""
    stats = result.stats
    skipped = ", ".join(f"{n:,} {reason}" for reason, n in skips(result.skipped).items())
    read = (
        f"read {stats.fingerprinted:,} of {count(stats.found, 'file')} ({size(stats.bytes)})"
        f" in {stats.seconds:.1f} s"
    )
    outcome = f"{_outcome(result)}; {read}" if stats.found else "no file to compare was found"
    lines = [f"{outcome}; skipped {skipped or 'nothing'}"]
    if unread := sum(each.reason is Reason.MISSING_EXTRA for each in result.skipped):
        lines.append(f"{count(unread, 'PDF file')} left out: pip install 'simdup[docs]' reads them")
    if stats.from_store:
        lines.append(f"{count(stats.from_store, 'file')} known from before, not read again")
    if stats.ignored:
        verb = "is" if stats.ignored == 1 else "are"
        lines.append(
            f"{count(stats.ignored, 'pair')} {verb} left out, as `simdup ignore list` says"
        )
    return [*lines, *narrowed(result.candidates, result.settings)]


def _outcome(result: ScanResult) -> str:
    """How many groups were found, or that none was."""
    if result.groups:
        files = sum(len(group.members) for group in result.groups)
        return f"{count(len(result.groups), 'group')} of {count(files, 'file')}"
    if any(document.source.is_reference for document in result.documents):
        return "no file holds the same text as a reference"
    return "no two files hold the same text"


def narrowed(candidates: Candidates | None, settings: Settings) -> list[str]:
    """A warning if the search for candidates was narrower than the similarity asks for."""
    if candidates is None or candidates.k >= candidates.wanted:
        return []
    least = percent(settings.similarity)
    return [
        f"candidates were narrowed from {candidates.wanted} to {candidates.k} bits, since there"
        f" would have been too many: a pair just {least} alike is found with probability"
        f" {candidates.recall:.0%}; more --bits avoid this"
    ]


def render_comparison(comparison: Comparison, look: TerminalStyle = PLAIN) -> Iterator[str]:
    """Both files, how far apart they are, and the verdict."""
    bits, distance = comparison.settings.recipe.bits, comparison.distance
    files = zip((comparison.left, comparison.right), comparison.fingerprints, strict=True)
    for document, fingerprint in files:
        yield (
            f"{look.painted(printable(document.path), HEADING)}: {document.written_in}"
            f" ({percent(document.confidence)} sure), {size(document.source.size)},"
            f" {count(document.features, 'feature')}{look.painted(_remarks(document), REMARK)}"
        )
        yield f"  fingerprint  {look.painted(fingerprint.hex(), ASIDE)}"
    error = standard_error(max(0.0, similarity_at(distance, bits)), bits)
    estimate, low, high = (
        percent(max(0.0, similarity_at(min(bits, max(0, each)), bits)))
        for each in (distance, distance + error, distance - error)
    )
    colour = HEADING if comparison.kind is None else KINDS[comparison.kind]
    yield f"distance     {distance} of {bits} bits"
    yield (f"             stands for {estimate} alike ({low} to {high} within one standard error)")
    yield f"similarity   {look.painted(percent(comparison.similarity), colour)}, exact"
    yield f"verdict      {look.painted(_verdict(comparison), colour)}"


def _verdict(comparison: Comparison) -> str:
    settings, kind = comparison.settings, comparison.kind
    if kind not in {None, Kind.NEAR}:
        return kind.value
    least, bits = percent(settings.similarity), count(settings.distance, "bit")
    if kind is None:
        why = f"similarity below {least}" if settings.verified else f"not within {bits}"
        return f"not near-duplicates ({why})"
    why = f"similarity of at least {least}" if settings.verified else f"within {bits}"
    return f"near-duplicates ({why})"
