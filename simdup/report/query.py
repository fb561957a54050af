"""The answers and the content of an index, for people and for programs."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from simdup.findings.identical import entries
from simdup.index.records import Answer, FoundPart, IndexInfo, Searched
from simdup.records import Kind, Match, Part, Skipped
from simdup.report import json_csv as data
from simdup.report.terminal import HEADING, PLAIN, TerminalStyle
from simdup.report.text import beside, entry_lines, null_names, other_content
from simdup.report.wording import count, path_fields, percent, printable, size

COLUMNS = (
    *("question", "kind", "similarity", "exact", "distance", "size", "encoding", "path"),
    *("set", "set_kind", "byte_digest", "words_digest", "unread"),
)

# The most characters shown of a text that was asked for; the number of answers follows it.
LONGEST_QUESTION = 60


def render(found: Sequence[Answer], look: TerminalStyle = PLAIN) -> Iterator[str]:
    """A line for each question, each followed by a line for every document that is like it."""
    for answer in found:
        short = short_question(answer.question)
        yield f"{look.painted(f'{short}:', HEADING)} {_found(answer)}"
        shape = beside(look, [each.document for each in answer.matches])._replace(alike=None)
        for entry in entries(answer.matches):
            first, files = entry[0][0], sum(map(len, entry))
            has_its_bytes = len(entry) == 1 and first.kind is Kind.IDENTICAL_BYTES
            share = ("" if first.is_exact else "~") + percent(first.share)
            yield from entry_lines(
                entry,
                share,
                shape,
                heading=None if files == 1 or has_its_bytes else f"{share} {_of_what(first)}",
                same=share if has_its_bytes else "same",
                noun="document",
                remark=other_content(first.document, answer.document or first.document),
            )
        yield from _part_lines(answer.parts)


def _part_lines(parts: Sequence[FoundPart]) -> Iterator[str]:
    """A line for each document of an index in which a question stands, or which stands in it."""
    for part in parts:
        share = percent(part.share) if part.is_exact else f"~{percent(part.share)}"
        name = printable(part.document.path)
        said = f"it is in {name}" if part.is_whole else f"{name} is in it"
        place = f"characters {part.start:,} to {part.end:,}" if part.is_exact else "unknown place"
        yield f"  {share:>7} of {said}, {place}"


def _of_what(match: Match) -> str:
    """Words for the number beside a document that was found."""
    return "alike" if match.contained is None else "of it in each"


def _found(answer: Answer) -> str:
    """How much was found for a question."""
    alike = [count(len(answer.matches), "document")] if answer.matches else []
    parts = [count(len(answer.parts), "part")] if answer.parts else []
    return ", ".join(alike + parts) or "nothing"


def short_question(question: str) -> str:
    """A question made printable, and cut to at most LONGEST_QUESTION characters."""
    asked = printable(question)
    return asked if len(asked) <= LONGEST_QUESTION else asked[: LONGEST_QUESTION - 1] + "…"


def render_csv(found: Sequence[Answer], *, has_parts: bool = False) -> Iterator[str]:
    """All answers as CSV, a line for each document found; names are printable.

    If parts were asked for, the parts of a question follow the documents that are like it.
    """
    cells = chain.from_iterable(map(_cells, found))
    return data.csv_table(COLUMNS + data.PART_COLUMNS * has_parts, cells)


def _cells(answer: Answer) -> Iterator[dict[str, object]]:
    """The cells of CSV for each document found and each part."""
    asked = {"question": printable(answer.question)}
    for match in answer.matches:
        figures = {"similarity": match.similarity, "exact": int(match.is_exact)}
        yield asked | data.found_cells(match) | {"kind": match.kind.value} | figures
    for part in answer.parts:
        cells = data.part_cells(as_part(answer.question, part))
        yield asked | cells | {"exact": int(part.is_exact)}


def as_part(question: str, found: FoundPart) -> Part:
    """A part with the names of both texts; its place is None if it is unknown."""
    names = question, found.document.path
    path, whole = names if found.is_whole else names[::-1]
    return Part(path, whole, found.share, found.start, found.end)


def render_null(outcomes: Sequence[Answer | Skipped]) -> Iterator[bytes]:
    """The names of the documents found, each ended by NUL, and one more NUL after each answer.

    Documents that are like a question come first, then documents in which it stands or which stand
    in it. A question without an answer has the one NUL too, so the n-th list belongs to the n-th
    question.
    """
    found: Iterable[list[Match | FoundPart]] = (
        [*each.matches, *each.parts] if isinstance(each, Answer) else [] for each in outcomes
    )
    return null_names(dict.fromkeys(each.document.path for each in one) for one in found)


def report(found: Sequence[Answer], searched: Searched, skipped: Sequence[Skipped]) -> data.Report:
    """All answers for programs."""
    has_parts = searched.settings.parts is not None
    answers = (_answer(each, has_parts=has_parts) for each in found)
    search = {
        name: getattr(searched, name) for name in ("documents", "top", "k", "wanted", "recall")
    }
    return data.Report(
        "query",
        {"settings": data.settings_fields(searched.settings), "search": search},
        {"answers": answers, "skipped": map(data.skipped_fields, skipped)},
    )


def _answer(answer: Answer, *, has_parts: bool) -> dict[str, Any]:
    matches = [
        data.document_fields(match.document)
        | {
            "kind": match.kind.value,
            "distance": match.distance,
            "similarity": match.similarity,
            "contained": match.contained,
            "exact": match.is_exact,
            **data.set_fields(match),
            "other_unread": match.document.other_unread(answer.document or match.document),
            "other_signs": match.document.other_signs(answer.document or match.document),
        }
        for match in answer.matches
    ]
    found = path_fields(answer.question, "question") | {"matches": matches}
    parts = [
        data.part_fields(as_part(answer.question, part)) | {"exact": part.is_exact}
        for part in answer.parts
    ]
    return found | {"parts": parts, "unread": answer.unread} if has_parts else found


def render_info(info: IndexInfo) -> Iterator[str]:
    """Lines on the content of an index and how it was made, one for each fact."""
    each = info.bytes / info.documents if info.documents else 0
    yield f"index      {printable(info.path)}"
    yield f"size       {size(info.bytes)}, {each:,.0f} bytes a document"
    batches = "1 batch" if info.batches == 1 else f"{info.batches:,} batches"
    yield f"documents  {info.documents:,}, changed by {batches}"
    for place, filters in zip(info.places, info.filters, strict=True):
        yield f"place      {printable(place)}{printable(_options(filters))}"
    for place in info.left_out:
        yield f"left out   {printable(place)}"
    recipe = ", ".join(f"{name} {value}" for name, value in info.about["key"].items())
    yield f"recipe     {printable(recipe)}"
    if info.about.get("parts"):
        yield "parts      samples kept, for simdup query --parts"
    yield f"formats    {printable(', '.join(info.about['formats']) or 'text')}"
    if info.about["encoding"]:
        yield f"encoding   {printable(info.about['encoding'])}"
    for converter in info.about["convert"]:
        yield f"convert    {printable(converter)}"
    yield f"made by    simdup {printable(info.about['simdup'])}"


def _options(filters: dict[str, Any]) -> str:
    """Filters written as options of the command line."""
    written = ""
    for name, value in filters.items():
        option = f" --{name.replace('_', '-')}"
        for each in value if isinstance(value, tuple) else (value,):
            if each:
                written += option if each is True else f"{option} {shlex.quote(str(each))}"
    return written


def render_info_json(info: IndexInfo) -> Iterator[str]:
    """One JSON object on the content of an index and how it was made."""
    places = zip(info.places, info.filters, strict=True)
    fields = path_fields(info.path) | {
        **{name: getattr(info, name) for name in ("bytes", "documents", "batches")},
        "places": [path_fields(place) | {"filters": filters} for place, filters in places],
        "left_out": [path_fields(place) for place in info.left_out],
        "made": info.about,
    }
    return data.as_json(data.Report("index", fields, {}))
