"""JSON, JSON Lines and CSV as all reports write them, and the reports of scans in these formats."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import chain
from math import isnan
from types import SimpleNamespace
from typing import Any, NamedTuple

from simdup import records
from simdup.findings.identical import Found
from simdup.match.tiers import scores
from simdup.report.text import containments, skips
from simdup.report.wording import path_fields, printable
from simdup.settings import Settings
from simdup.text.facts import other_facts
from simdup.theory import similarity_at, standard_error
from simdup.versions import version

#: Increased when a field changes its meaning or goes away, and when a result can be used for more
#: than before; new fields alone do not increase it. From 2 on a result of a scan says exactly which
#: files it saw, so that another program can tell whether they are still the same.
SCHEMA_VERSION = 2

COLUMNS = (
    *("group", "kind", "representative", "similarity", "own_share", "distance", "size"),
    *("encoding", "path", "set", "set_kind", "byte_digest", "words_digest", "unread"),
    *("score", "tier"),
)
#: Further columns of a scan that looked for parts. In the line of a part, the first columns say
#: that it is one, which share of it stands in the larger file, and its own path.
PART_COLUMNS = ("of", "start", "end")


# A file for `csv`, which returns what the file's `write` returns: the line.
_RETURNING = SimpleNamespace(write=str)

#: The facts about a document that have the same names in JSON.
FACTS = ("packing", "confidence", "damaged", "doubt", "features")

#: The lists of paths that the user gave, besides the roots.
PATHS = ("references", "keep_under", "let_go_under")

#: The exact figures of a comparison.
COMPARED = (*("similarity", "contained", "own_share", "among", "score", "tier", "near_because"),)

#: The numbers of files in a pair of folders.
FOLDER_COUNTS = ("files", "other_files", "copies", "identical", "not_compared")


class Report(NamedTuple):
    """A result as programs read it: fields of the whole, then lists of objects.

    lists: The name of each list, in the plural, and its objects.
    """

    type: str
    fields: Mapping[str, Any]
    lists: Mapping[str, Iterable[Mapping[str, Any]]]


def as_json(report: Report) -> Iterator[str]:
    """One JSON object with all the lists, indented, always valid UTF-8."""
    lists = {name: list(objects) for name, objects in report.lists.items()}
    yield to_json(_tool() | {**report.fields} | lists, indent=1)


def as_jsonl(report: Report) -> Iterator[str]:
    """One JSON object a line: the fields of the whole, then every object of the lists."""
    yield to_json({"type": report.type} | _tool() | {**report.fields})
    for name, objects in report.lists.items():
        for each in objects:
            yield json_line(name.removesuffix("s"), each)


def json_line(kind: str, fields: Mapping[str, Any]) -> str:
    """One object of JSON Lines, which begins with its type."""
    return to_json({"type": kind, **fields})


def csv_line(values: Iterable[object]) -> str:
    """Values as a line of CSV, as in RFC 4180 but without the line end.

    Floats have six digits; None and NaN are empty.
    """
    cells = [_digits(each) if isinstance(each, float) else each for each in values]
    line: str = csv.writer(_RETURNING, lineterminator="").writerow(cells)
    return line


def csv_table(columns: Sequence[str], rows: Iterable[Mapping[str, object]]) -> Iterator[str]:
    """A table as CSV: its columns, then a line for each row, in which a missing cell is empty."""
    yield csv_line(columns)
    yield from (csv_line(map(row.get, columns)) for row in rows)


def _digits(value: float) -> str:
    return "" if isnan(value) else f"{value:.6f}"


def to_json(value: Any, indent: int | None = None) -> str:  # noqa: ANN401
    """A value as JSON. Raises ValueError for NaN and infinity, which JSON does not have."""
    return json.dumps(value, ensure_ascii=False, indent=indent, allow_nan=False)


def _tool() -> dict[str, Any]:
    """The fields that every JSON report begins with."""
    return {"schema_version": SCHEMA_VERSION, "tool": "simdup", "version": version("simdup")}


def render_json(result: records.ScanResult, *, siblings: bool = False) -> Iterator[str]:
    """A scan as one JSON object; with the families of `siblings`, or without."""
    return as_json(_report(result, siblings=siblings))


def render_jsonl(result: records.ScanResult, *, siblings: bool = False) -> Iterator[str]:
    """A scan as JSON Lines; with the families of `siblings`, or without."""
    return as_jsonl(_report(result, siblings=siblings))


def render_csv(result: records.ScanResult, *, siblings: bool = False) -> Iterator[str]:
    """A scan as CSV, a line for each file; names are printable.

    With `siblings`, the files of families follow the files of groups. Parts come last.
    """
    columns = COLUMNS + PART_COLUMNS * (result.settings.parts is not None)
    groups = result.groups + (result.patterns if siblings else ())
    members = (
        found_cells(member)
        | {"group": group.id, "kind": group.kind.value, "representative": int(position == 0)}
        | {"similarity": member.similarity, "own_share": member.own_share, **standing}
        for group in groups
        for position, (member, standing) in enumerate(
            zip(group.members, _standings(group, result.settings), strict=True)
        )
    )
    return csv_table(columns, chain(members, map(part_cells, result.parts)))


def _standings(group: records.Group, settings: Settings) -> Iterator[dict[str, Any]]:
    """The score and the tier of each member of a group, and why it is near."""
    pairs = zip(group.members, scores(group.members, settings.recipe), strict=True)
    for member, score in pairs:
        because = member.near_because or None
        yield {"score": score, "tier": member.tier, "near_because": because}


def found_cells(found: Found) -> dict[str, object]:
    """The cells of CSV for a document in a group or in an answer; its path is printable."""
    document = found.document
    return set_fields(found) | {
        "distance": found.distance,
        "size": document.source.size,
        "encoding": document.written_in,
        "path": printable(document.path),
        "byte_digest": document.bytes_digest.hex(),
        "words_digest": document.words_digest.hex(),
        "unread": ", ".join(f"{each.number} {each.kind}" for each in document.unread),
    }


def part_cells(part: records.Part) -> dict[str, object]:
    """The cells of CSV for a part of a larger text; names are printable."""
    place = {"of": printable(part.whole), "start": part.start, "end": part.end}
    return {"kind": "part", "similarity": part.share, "path": printable(part.path), **place}


def render_comparison(comparison: records.Comparison) -> Iterator[str]:
    """A comparison as one JSON object."""
    bits = comparison.settings.recipe.bits
    estimate = similarity_at(comparison.distance, bits)
    files = zip((comparison.left, comparison.right), comparison.fingerprints, strict=True)
    facts = other_facts(*comparison.texts)
    fields = {
        "settings": settings_fields(comparison.settings),
        "files": [document_fields(each) | {"fingerprint": row.hex()} for each, row in files],
        "distance": comparison.distance,
        "estimate": estimate,
        "standard_error_bits": standard_error(estimate, bits),
        **{name: getattr(comparison, name) for name in COMPARED},
        "kind": None if comparison.kind is None else comparison.kind.value,
        "near_duplicates": comparison.kind is not None,
        "in_others": comparison.in_others and comparison.in_others._asdict(),
        "other_facts": None if facts.are_too_many else [facts.left, facts.right],
    }
    return as_json(Report("comparison", fields, {}))


def _report(result: records.ScanResult, *, siblings: bool) -> Report:
    base = {"base": None} if result.base is None else path_fields(result.base, "base")
    fields = {
        "complete": result.complete,
        **base,
        "roots": None if result.roots is None else [*map(path_fields, result.roots)],
        **{name: [*map(path_fields, getattr(result, name))] for name in PATHS},
        "settings": settings_fields(result.settings),
        "stats": result.stats._asdict()
        | {"identity_only": dict(result.stats.identity_only)}
        | {"skipped": skips(result.skipped), "seconds": round(result.stats.seconds, 3)},
        "candidates": result.candidates and asdict(result.candidates),
    }
    settings = result.settings
    lists: dict[str, Iterable[Mapping[str, Any]]] = {}
    lists["groups"] = (_group(group, settings) for group in result.groups)
    if siblings:
        lists["patterns"] = (_group(pattern, settings) for pattern in result.patterns)
    if settings.parts is not None:
        lists["parts"] = map(part_fields, result.parts)
    lists["folders"] = map(_folder, result.folders)
    lists["doubtful"] = (path_fields(each.path) | {"doubt": each.doubt} for each in result.doubtful)
    return Report("scan", fields, lists | {"skipped": map(skipped_fields, result.skipped)})


def _folder(pair: records.FolderPair) -> dict[str, Any]:
    """A pair of folders; `newer` names the field of the newer folder."""
    return {
        **path_fields(pair.path),
        **path_fields(pair.other, "other"),
        **{name: getattr(pair, name) for name in FOLDER_COUNTS},
        "newer": {pair.path: "path", pair.other: "other", None: None}[pair.newer],
        "groups": list(pair.groups),
    }


def part_fields(part: records.Part) -> dict[str, Any]:
    """A part of a larger text as fields of JSON."""
    figures = {"share": part.share, "start": part.start, "end": part.end}
    return path_fields(part.path) | path_fields(part.whole, "of") | figures


def _group(group: records.Group, settings: Settings) -> dict[str, Any]:
    standings = enumerate(_standings(group, settings))
    return {
        "id": group.id,
        "kind": group.kind.value,
        "tier": group.tier,
        "near_because": group.near_because or None,
        "score": group.score,
        "diameter": group.diameter,
        "diameter_exact": group.is_diameter_exact,
        "members": [_member(group, place, settings) | standing for place, standing in standings],
        "versions": [path_fields(each.path) | {"changed": each.changed} for each in group.versions],
        "why": group.why,
        "not_duplicates": [
            path_fields(one) | path_fields(other, "other") for one, other in group.not_duplicates
        ],
    }


def _member(group: records.Group, place: int, settings: Settings) -> dict[str, Any]:
    member, (contained, contains) = group.members[place], containments(group, place, settings)
    return document_fields(member.document) | {
        "fingerprint": member.fingerprint.hex(),
        "kind": member.kind.value,
        "distance": member.distance,
        "similarity": member.similarity,
        "own_share": member.own_share,
        "estimate": similarity_at(member.distance, settings.recipe.bits),
        "contained": contained,
        "contains": contains,
        **set_fields(member),
        "representative": not place,
        "reference": member.document.source.is_reference,
        "other_unread": member.document.other_unread(group.members[0].document),
        "other_signs": member.document.other_signs(group.members[0].document),
    }


def set_fields(found: Found) -> dict[str, Any]:
    """The set of a document, and what is the same in all of it; null if it is in none."""
    kind = found.set_kind
    return {"set": found.set_id, "set_kind": kind and kind.value.split()[-1]}


def settings_fields(settings: Settings) -> dict[str, Any]:
    """The settings that decide the answer."""
    return {
        "recipe": json.loads(settings.recipe.key()),
        "bits": settings.recipe.bits,
        "similarity": settings.similarity if settings.verified else None,
        "own_share": settings.own_share if settings.verified else None,
        "parts": settings.parts,
        "k": settings.distance,
        **{name: getattr(settings, name) for name in ("verified", "linkage", "encoding")},
        "formats": list(settings.formats),
        "convert": [str(converter) for converter in settings.converters],
    }


def document_fields(document: records.Document) -> dict[str, Any]:
    """All fields of a document except its fingerprint; unknown ones are null."""
    source, archive = document.source, document.source.archive
    return path_fields(document.path) | {
        "size": source.size,
        "mtime": source.mtime_ns / 1e9,
        "mtime_ns": source.mtime_ns,
        "ctime_ns": source.ctime_ns or None,
        "device": source.device if source.links else None,
        "inode": source.inode or None,
        "links": source.links or None,
        **(path_fields(archive.path, "archive") if archive else {"archive": None}),
        "format": document.format,
        "encoding": document.encoding if document.format == "text" else None,
        **{name: getattr(document, name) for name in FACTS},
        "short": document.is_short,
        "byte_digest": document.bytes_digest.hex() or None,
        "text_digest": document.text_digest.hex() or None,
        "words_digest": document.words_digest.hex() or None,
        "unread": [each._asdict() for each in document.unread],
    }


def skipped_fields(skipped: records.Skipped) -> dict[str, Any]:
    """Which file was skipped, and why."""
    return path_fields(skipped.path) | {
        "reason": skipped.reason.value,
        "detail": printable(skipped.detail),
    }
