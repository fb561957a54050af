"""A result for people to read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simdup.records import Kind
from simdup.report.columns import width
from simdup.report.look import ASIDE, HEADING, KINDS, PLAIN, REMARK
from simdup.report.names import printable
from simdup.report.wording import count, likeness, percent, size
from simdup.theory import similarity_at, standard_error

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simdup.records import Comparison, Document, Group, Member, ScanResult
    from simdup.report.look import Look


def render(result: ScanResult, look: Look = PLAIN) -> Iterator[str]:
    """The groups, a line a file: how alike, distance, encoding, size, name."""
    bits = result.settings.recipe.bits
    for group in result.groups:
        yield from _group(group, bits, look)
        yield ""


def _group(group: Group, bits: int, look: Look) -> Iterator[str]:
    first, *others = group.members
    head = look.painted(f"Group {group.id}:", HEADING)
    kind = look.painted(group.kind.value, KINDS[group.kind])
    apart = f", at most {group.diameter} of {bits} bits apart" if group.diameter else ""
    yield f"{head} {kind}, {count(len(group.members), 'file')}{apart}"
    yield _line("", "", first, look)
    for member in others:
        yield _line(likeness(member, bits), _closeness(member), member, look)


def _closeness(member: Member) -> str:
    """How a member is the same as its representative, in a word or in bits."""
    if member.distance:
        return count(member.distance, "bit")
    return "0 bits" if member.kind is Kind.NEAR else member.kind.value.removeprefix("identical ")


def _line(alike: str, closeness: str, member: Member, look: Look) -> str:
    document, remarks = member.document, _remarks(member.document)
    how, closeness = f"{alike:>7}", f"{closeness:<8}"
    what = f"{document.written_in:<12} {size(document.source.size):>8}"
    taken = width(f"  {how}  {closeness} {what}  {remarks}")
    return (
        f"  {look.painted(how, KINDS[member.kind]) if alike else how}  {closeness}"
        f" {look.painted(what, ASIDE)}  {look.fitted(printable(document.path), taken)}"
        f"{look.painted(remarks, REMARK)}"
    )


def _remarks(document: Document) -> str:
    """What a reader should know about how a file was read."""
    remarks = []
    if document.damaged:
        remarks.append(f"{count(document.damaged, 'character')} damaged")
    if document.is_short:
        remarks.append("short" if document.features else "no text to compare")
    return f"  ({', '.join(remarks)})" if remarks else ""


def render_comparison(comparison: Comparison, look: Look = PLAIN) -> Iterator[str]:
    """Both files, how far apart, and the verdict."""
    settings = comparison.settings
    bits, distance = settings.recipe.bits, comparison.distance
    for document, fingerprint in zip(
        (comparison.left, comparison.right), comparison.fingerprints, strict=True
    ):
        yield (
            f"{look.painted(printable(document.path), HEADING)}: {document.written_in}"
            f" ({percent(document.confidence)} sure), {size(document.source.size)},"
            f" {count(document.features, 'feature')}{look.painted(_remarks(document), REMARK)}"
        )
        yield f"  fingerprint  {look.painted(fingerprint.hex(), ASIDE)}"
    estimate = max(0.0, similarity_at(distance, bits))
    error = standard_error(estimate, bits)
    low = max(0.0, similarity_at(min(bits, distance + error), bits))
    high = max(0.0, similarity_at(max(0, distance - error), bits))
    colour = HEADING if comparison.kind is None else KINDS[comparison.kind]
    yield f"distance     {distance} of {bits} bits"
    yield (
        f"             stands for {percent(estimate)} alike"
        f" ({percent(low)} to {percent(high)} within one standard error)"
    )
    yield f"similarity   {look.painted(percent(comparison.similarity), colour)}, exact"
    yield f"verdict      {look.painted(_verdict(comparison), colour)}"


def _verdict(comparison: Comparison) -> str:
    settings, kind = comparison.settings, comparison.kind
    if kind is not None and kind is not Kind.NEAR:
        return kind.value
    if settings.verified:
        least = percent(settings.similarity)
        if kind is None:
            return f"not near-duplicates (similarity below {least})"
        return f"near-duplicates (similarity of at least {least})"
    bits = count(settings.distance, "bit")
    if kind is None:
        return f"not near-duplicates (not within {bits})"
    return f"near-duplicates (within {bits})"
