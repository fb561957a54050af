"""What an index answered, for people and for programs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from simdup.index.records import Answer
from simdup.records import Kind
from simdup.report.columns import width
from simdup.report.json_csv import (
    csv_line,
    document_fields,
    dumps,
    settings_fields,
    skipped_fields,
    tool,
)
from simdup.report.look import ASIDE, HEADING, KINDS, PLAIN
from simdup.report.names import as_json, printable
from simdup.report.wording import count, percent, size

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simdup.index.records import Match, Searched
    from simdup.records import Skipped
    from simdup.report.look import Look

COLUMNS = ("question", "kind", "similarity", "exact", "distance", "size", "encoding", "path")

# Of a question that is a text, as much as fits beside what is said of it.
LONGEST_QUESTION = 60


def render(found: Sequence[Answer], *_: object, look: Look = PLAIN) -> Iterator[str]:
    """A line for each question, then one for each document that is like it."""
    for answer in found:
        asked = printable(answer.question)
        short = asked if len(asked) <= LONGEST_QUESTION else asked[: LONGEST_QUESTION - 1] + "…"
        number = count(len(answer.matches), "document") if answer.matches else "nothing"
        yield f"{look.painted(f'{short}:', HEADING)} {number}"
        for match in answer.matches:
            yield _line(match, look)


def _line(match: Match, look: Look) -> str:
    document = match.document
    alike = ("" if match.is_exact else "~") + percent(match.similarity)
    is_near = match.kind is Kind.NEAR
    close = count(match.distance, "bit") if is_near else match.kind.value.split()[-1]
    how, what = f"{alike:>7}", f"{document.written_in:<12} {size(document.source.size):>8}"
    taken = width(f"  {how}  {close:<8} {what}  ")
    return (
        f"  {look.painted(how, KINDS[match.kind])}  {close:<8} {look.painted(what, ASIDE)}"
        f"  {look.fitted(printable(document.path), taken)}"
    )


def render_json(
    found: Sequence[Answer], searched: Searched, skipped: Sequence[Skipped]
) -> Iterator[str]:
    """One JSON object, indented, always valid UTF-8."""
    yield dumps(
        _header(searched)
        | {
            "answers": [_answer(each) for each in found],
            "skipped": [skipped_fields(each) for each in skipped],
        },
        indent=1,
    )


def render_jsonl(
    found: Sequence[Answer], searched: Searched, skipped: Sequence[Skipped]
) -> Iterator[str]:
    """A JSON object a line: the header, then every answer, then everything skipped."""
    yield dumps({"type": "query"} | _header(searched))
    for answer in found:
        yield dumps({"type": "answer"} | _answer(answer))
    for each in skipped:
        yield dumps({"type": "skipped"} | skipped_fields(each))


def render_csv(found: Sequence[Answer], *_: object) -> Iterator[str]:
    """A header and a line a document, names escaped."""
    yield csv_line(COLUMNS)
    for answer in found:
        for match in answer.matches:
            document = match.document
            yield csv_line(
                (
                    printable(answer.question),
                    match.kind.value,
                    f"{match.similarity:.6f}",
                    int(match.is_exact),
                    match.distance,
                    document.source.size,
                    document.written_in,
                    printable(document.path),
                )
            )


def render_null(outcomes: Sequence[Answer | Skipped]) -> Iterator[bytes]:
    """The very bytes of names, each ended by NUL; each answer by one more, also that there is none.

    So that the n-th answer is that to the n-th question.
    """
    for each in outcomes:
        for match in each.matches if isinstance(each, Answer) else ():
            yield os.fsencode(match.document.path) + b"\0"
        yield b"\0"


def _header(searched: Searched) -> dict[str, Any]:
    return tool() | {
        "settings": settings_fields(searched.settings),
        "search": {
            "documents": searched.documents,
            "top": searched.top,
            "k": searched.k,
            "wanted": searched.wanted,
            "recall": searched.recall,
        },
    }


def _answer(answer: Answer) -> dict[str, Any]:
    named = {
        key.replace("path", "question"): value for key, value in as_json(answer.question).items()
    }
    return named | {"matches": [_match(each) for each in answer.matches]}


def _match(match: Match) -> dict[str, Any]:
    return document_fields(match.document) | {
        "kind": match.kind.value,
        "distance": match.distance,
        "similarity": match.similarity,
        "exact": match.is_exact,
    }
