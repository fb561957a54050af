"""The answers of an index as one HTML page: a list for each question, texts side by side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from simdup.index.records import Answer, Searched
from simdup.records import Candidates, Kind, Skipped
from simdup.report.json_csv import settings_fields
from simdup.report.page.groups import (
    Names,
    PageTexts,
    Read,
    found_fields,
    group_page,
    member_fields,
    sets_of,
)
from simdup.report.query import as_part, short_question
from simdup.report.wording import printable


def render_answers(  # noqa: PLR0913  (the questions, the answers, and their form)
    index: str,
    answers: Sequence[Answer],
    searched: Searched,
    skipped: Sequence[Skipped],
    *,
    language: str | None,
    texts: Iterable[Iterable[Read]] | None = None,
    day: float | None = None,
) -> Iterator[str]:
    """The lines of the page; `language` is one of LANGUAGES, None follows the reader's browser.

    `index` is the name of the index. `texts` has for each answer functions that read the question
    and the documents found; None makes a page without texts. `day` is in seconds since 1970.
    """
    names, bits = Names(), searched.settings.recipe.bits
    groups = [_group(number, answer, bits, names) for number, answer in enumerate(answers, 1)]
    asked = [(short_question(each.question), each.parts) for each in answers]
    parts = [as_part(question, part) for question, found in asked for part in found]
    search = Candidates(0, searched.k, searched.wanted, searched.recall)
    unused = {"own_share": None, "linkage": None}
    most = {"nearest" if searched.k is None else "most": searched.top}
    data = {
        "page": "answers",
        "places": [printable(index)],
        "figures": [
            ["questions", len(answers), None],
            ["answered", sum(bool(answer.matches) for answer in answers), None],
            ["answers", sum(len(answer.matches) for answer in answers), None],
            ["searched", searched.documents, None],
            ["skipped", len(skipped), None],
        ],
        "settings": settings_fields(searched.settings) | unused | most,
        "read": searched.documents,
        **found_fields(names, search, parts, skipped),
        "unread": sum(answer.unread for answer in answers),
        "groups": groups,
    }
    return group_page(
        data, language, day, None if texts is None else PageTexts(enumerate(texts, 1))
    )


def _group(number: int, answer: Answer, bits: int, names: Names) -> list[Any]:
    """A question and its answers, as data.js reads a group and its members."""
    matches = [member_fields(match, bits, names) for match in answer.matches]
    kind = answer.matches[0].kind.value if answer.matches else ""
    members, sets = [_question(answer, names), *matches], [[1], *sets_of(answer.matches)]
    shares = [1, *(round(match.share, 6) for match in answer.matches)]
    return [number, kind, members, sets, *[None] * 7, shares]


def _question(answer: Answer, names: Names) -> list[Any]:
    """The question of an answer, in the form in which data.js reads a member."""
    name, document = [names.folder(""), short_question(answer.question)], answer.document
    itself = [Kind.IDENTICAL_BYTES.value, 0, 1, 1, None, None]
    if document is None:
        return [*name, None, None, None, 0, 0, 0, None, *itself]
    flaws = [int(document.is_short), document.damaged, document.doubt]
    coding = names.coding(document.written_in)
    return [*name, document.source.size, None, coding, document.features, *flaws, *itself]
