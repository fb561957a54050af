"""A result for programs: JSON, JSON Lines and CSV."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any

from simdup.report.names import as_json, printable
from simdup.report.wording import skips
from simdup.theory import similarity_at, standard_error
from simdup.versions import version

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from simdup.records import (
        Candidates,
        Comparison,
        Document,
        Group,
        Member,
        ScanResult,
        Skipped,
    )
    from simdup.settings import Settings

#: Raised when a field changes its meaning or goes away; new fields do not raise it.
SCHEMA_VERSION = 1

COLUMNS = (
    "group",
    "kind",
    "representative",
    "similarity",
    "distance",
    "size",
    "encoding",
    "path",
)


def render_json(result: ScanResult) -> Iterator[str]:
    """One JSON object, indented, always valid UTF-8."""
    groups = [_group(group, result.settings) for group in result.groups]
    skipped = [skipped_fields(each) for each in result.skipped]
    yield dumps(_header(result) | {"groups": groups, "skipped": skipped}, indent=1)


def render_jsonl(result: ScanResult) -> Iterator[str]:
    """A JSON object a line: the header, then every group, then everything skipped."""
    yield dumps({"type": "scan"} | _header(result))
    for group in result.groups:
        yield dumps({"type": "group"} | _group(group, result.settings))
    for skipped in result.skipped:
        yield dumps({"type": "skipped"} | skipped_fields(skipped))


def render_csv(result: ScanResult) -> Iterator[str]:
    """A header and a line a file, as RFC 4180 but for the line ends; names escaped."""
    yield csv_line(COLUMNS)
    for group in result.groups:
        for position, member in enumerate(group.members):
            document = member.document
            yield csv_line(
                (
                    group.id,
                    group.kind.value,
                    int(position == 0),
                    "" if member.similarity is None else f"{member.similarity:.6f}",
                    member.distance,
                    document.source.size,
                    document.written_in,
                    printable(document.path),
                )
            )


def render_comparison(comparison: Comparison) -> Iterator[str]:
    """One JSON object about two files."""
    bits = comparison.settings.recipe.bits
    estimate = similarity_at(comparison.distance, bits)
    files = zip((comparison.left, comparison.right), comparison.fingerprints, strict=True)
    yield dumps(
        tool()
        | {
            "settings": settings_fields(comparison.settings),
            "files": [document_fields(each) | {"fingerprint": row.hex()} for each, row in files],
            "distance": comparison.distance,
            "estimate": estimate,
            "standard_error_bits": standard_error(estimate, bits),
            "similarity": comparison.similarity,
            "kind": None if comparison.kind is None else comparison.kind.value,
            "near_duplicates": comparison.kind is not None,
        },
        indent=1,
    )


def tool() -> dict[str, Any]:
    """What every JSON object begins with."""
    return {"schema_version": SCHEMA_VERSION, "tool": "simdup", "version": version("simdup")}


def _header(result: ScanResult) -> dict[str, Any]:
    stats = result.stats
    return tool() | {
        "complete": result.complete,
        "settings": settings_fields(result.settings),
        "stats": {
            "found": stats.found,
            "fingerprinted": stats.fingerprinted,
            "from_store": stats.from_store,
            "skipped": skips(result.skipped),
            "bytes": stats.bytes,
            "seconds": round(stats.seconds, 3),
            "ignored": stats.ignored,
        },
        "candidates": candidates_fields(result.candidates),
    }


def candidates_fields(candidates: Candidates | None) -> dict[str, Any] | None:
    """How candidates were found."""
    if candidates is None:
        return None
    return {
        "k": candidates.k,
        "wanted": candidates.wanted,
        "recall": candidates.recall,
        "pairs": candidates.pairs,
    }


def settings_fields(settings: Settings) -> dict[str, Any]:
    """What decides the answer."""
    return {
        "recipe": json.loads(settings.recipe.key()),
        "bits": settings.recipe.bits,
        "similarity": settings.similarity if settings.verified else None,
        "k": settings.distance,
        "verified": settings.verified,
        "linkage": settings.linkage,
        "encoding": settings.encoding,
        "formats": list(settings.formats),
        "convert": [str(converter) for converter in settings.converters],
    }


def _group(group: Group, settings: Settings) -> dict[str, Any]:
    members = [
        _member(member, settings) | {"representative": position == 0}
        for position, member in enumerate(group.members)
    ]
    return {
        "id": group.id,
        "kind": group.kind.value,
        "diameter": group.diameter,
        "diameter_exact": group.is_diameter_exact,
        "members": members,
    }


def _member(member: Member, settings: Settings) -> dict[str, Any]:
    return document_fields(member.document) | {
        "fingerprint": member.fingerprint.hex(),
        "kind": member.kind.value,
        "distance": member.distance,
        "similarity": member.similarity,
        "estimate": similarity_at(member.distance, settings.recipe.bits),
    }


def document_fields(document: Document) -> dict[str, Any]:
    """What is known of a document besides its fingerprint."""
    return as_json(document.path) | {
        "size": document.source.size,
        "mtime": document.source.mtime_ns / 1e9,
        "format": document.format,
        "encoding": document.encoding if document.format == "text" else None,
        "confidence": document.confidence,
        "damaged": document.damaged,
        "features": document.features,
        "short": document.is_short,
        "text_digest": document.text_digest.hex(),
    }


def skipped_fields(skipped: Skipped) -> dict[str, Any]:
    """What was passed over, and why."""
    return as_json(skipped.path) | {
        "reason": skipped.reason.value,
        "detail": printable(skipped.detail),
    }


def dumps(value: Any, indent: int | None = None) -> str:  # noqa: ANN401
    """A value as JSON, which has no number that is none. Raises ValueError for one."""
    return json.dumps(value, ensure_ascii=False, indent=indent, allow_nan=False)


def csv_line(values: Iterable[object]) -> str:
    """Values as a line of CSV, without its end."""
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(values)
    return line.getvalue()
