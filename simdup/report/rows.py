"""Groups of rows, for people and for programs: text, JSON Lines and CSV."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from simdup.records import Kind
from simdup.report.json_csv import candidates_fields, csv_line, dumps, settings_fields, tool
from simdup.report.names import as_json, printable
from simdup.report.wording import count, narrowed, percent
from simdup.theory import similarity_at

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simdup.corpus.flaws import Fault, Faulty
    from simdup.corpus.records import Balance, CorpusResult, RowGroup

COLUMNS = ("group", "kind", "representative", "similarity", "distance", "id", "path", "row")

# Rows of each kind of which a person is told where they are, before the rest is counted.
MOST_WARNINGS = 10

# Halves of surrogate pairs, which UTF-8 has no place for.
_STRAY = re.compile("[\ud800-\udfff]")


class NamedGroup(NamedTuple):
    """A group with what its rows are called, by member."""

    group: RowGroup
    places: Sequence[tuple[str, int]]
    """The file and the number of the row in it."""
    names: Sequence[Any]
    """Ids, or the places in words."""


def render(result: CorpusResult, ids: Sequence[Any] | None) -> Iterator[str]:
    """The groups, a line a row: how alike, distance, id or place.

    `ids` are those of the members of the groups, one after the other; None: their places.
    """
    for named in _named(result, ids):
        yield from text_lines(named, result.settings.recipe.bits)


def render_jsonl(result: CorpusResult, ids: Sequence[Any] | None) -> Iterator[str]:
    """A JSON object a line: the header, then every group, then rows that were not compared."""
    yield json_header(result.balance)
    yield from map(json_line, _named(result, ids))
    yield from map(json_fault, result.faulty)


def render_csv(result: CorpusResult, ids: Sequence[Any] | None) -> Iterator[str]:
    """A header and a line a row, as RFC 4180 but for the line ends; names escaped."""
    yield csv_line(COLUMNS)
    for named in _named(result, ids):
        yield from csv_lines(named)


def text_lines(named: NamedGroup, bits: int) -> Iterator[str]:
    """A group for people."""
    group = named.group
    farthest = max(group.distances)
    apart = f", at most {farthest} of {bits} bits from the first" if farthest else ""
    yield f"Group {group.id}: {group.kind.value}, {count(len(group.rows), 'row')}{apart}"
    for position, (name, (path, row)) in enumerate(zip(named.names, named.places, strict=True)):
        alike, closeness = _closeness(group, position, bits) if position else ("", "")
        is_place = name == f"{path}:{row}"
        place = "" if is_place else f"  ({printable(path)}:{row})"
        yield f"  {alike:>7}  {closeness:<8} {_in_a_word(name)}{place}"
    yield ""


def _closeness(group: RowGroup, position: int, bits: int) -> tuple[str, str]:
    """How alike a row is to the first, and in a word or in bits how far."""
    similarity, distance = group.similarities[position], group.distances[position]
    estimate = "~" + percent(max(0.0, similarity_at(distance, bits)))
    alike = estimate if similarity is None else percent(similarity)
    if group.kinds[position] is Kind.IDENTICAL_TEXT:
        return alike, "text"
    return alike, count(distance, "bit") if distance else "0 bits"


def json_line(named: NamedGroup) -> str:
    """A group as an object of JSON."""
    group = named.group
    members = [
        {
            "id": as_value(name),
            **as_json(path),
            "row": row,
            "kind": group.kinds[position].value,
            "similarity": group.similarities[position],
            "distance": group.distances[position],
            "representative": position == 0,
        }
        for position, (name, (path, row)) in enumerate(zip(named.names, named.places, strict=True))
    ]
    about = {"id": group.id, "kind": group.kind.value, "representative": as_value(named.names[0])}
    return dumps({"type": "group"} | about | {"members": members})


def csv_lines(named: NamedGroup) -> Iterator[str]:
    """A group as records of CSV, the columns being COLUMNS."""
    group = named.group
    for position, (name, (path, row)) in enumerate(zip(named.names, named.places, strict=True)):
        similarity = group.similarities[position]
        yield csv_line(
            (
                group.id,
                group.kind.value,
                int(position == 0),
                "" if similarity is None else f"{similarity:.6f}",
                group.distances[position],
                _in_a_word(name),
                printable(path),
                row,
            )
        )


def _named(result: CorpusResult, ids: Sequence[Any] | None) -> Iterator[NamedGroup]:
    """Each group with the places of its members, and their ids."""
    begin = 0
    for group in result.groups:
        end = begin + len(group.rows)
        places = result.rows.places(np.array(group.rows))
        names = [f"{path}:{row}" for path, row in places] if ids is None else ids[begin:end]
        yield NamedGroup(group, places, names)
        begin = end


def as_value(value: Any) -> Any:  # noqa: ANN401
    """An id as JSON has it; what it has no kind for, as Parquet has dates, in words.

    >>> from datetime import date
    >>> as_value({"of": (date(2024, 2, 29), bytes(2), float("nan"))})
    {'of': ['2024-02-29', '0000', 'NaN']}
    """
    if isinstance(value, (int, type(None))):
        return value
    if isinstance(value, str):
        return _STRAY.sub(_shown, value)
    # By way of JSON, for an id may be nested deeper than functions are.
    text = json.dumps(value, ensure_ascii=False, default=_in_words)
    return json.loads(_STRAY.sub(_escaped, text), parse_constant=str)


def _in_a_word(name: Any) -> str:  # noqa: ANN401
    """An id outside JSON: a string as it is, others as JSON has them."""
    value = as_value(name)
    return printable(value if isinstance(value, str) else dumps(value))


def _in_words(value: object) -> str:
    return value.hex() if isinstance(value, bytes) else str(value)


def _shown(stray: re.Match[str]) -> str:
    return printable(stray[0])


def _escaped(stray: re.Match[str]) -> str:
    return "\\" + printable(stray[0])


def json_header(balance: Balance) -> str:
    """What was compared and how, as an object of JSON."""
    fields = {
        "files": [as_json(path) for path in balance.paths],
        "settings": settings_fields(balance.settings),
        "stats": {
            "rows": balance.rows_in,
            "compared": balance.compared,
            "kept": balance.kept,
            "dropped": balance.dropped,
            "refused": balance.refused_rows,
            "not_compared": {fault.value: number for fault, number in balance.faults.items()},
            "seconds": round(balance.seconds, 3),
        },
        "candidates": candidates_fields(balance.candidates),
    }
    return dumps({"type": "corpus"} | tool() | fields)


def json_fault(each: Faulty) -> str:
    """A row that was not compared, as an object of JSON."""
    flaw = each.flaw
    about = {
        "row": flaw.row,
        "rows": flaw.rows,
        "reason": flaw.fault.value,
        "detail": printable(flaw.detail),
        "refused": flaw.fault.is_refused,
    }
    return dumps({"type": "not compared"} | as_json(each.path) | about)


def warnings(balance: Balance) -> list[str]:
    """A line for each row that is refused, then for those that have nothing to compare.

    Of very many, the number.
    """
    lines = []
    for is_refused, verdict in ((True, "refused"), (False, "kept, not compared")):
        shown = [each for each in balance.faulty if each.flaw.fault.is_refused is is_refused]
        for each in shown[:MOST_WARNINGS]:
            flaw = each.flaw
            detail = f" ({printable(flaw.detail)})" if flaw.detail else ""
            last = f"-{flaw.row + flaw.rows - 1}" if flaw.rows > 1 else ""
            place = f"{printable(each.path)}:{flaw.row}{last}"
            lines.append(f"{place}: {flaw.fault.value}{detail}; {verdict}")
        every = sum(n for fault, n in balance.faults.items() if fault.is_refused is is_refused)
        told = sum(each.flaw.rows for each in shown[:MOST_WARNINGS])
        if every > told:
            lines.append(f"and {every - told:,} more {verdict}")
    return lines


def summary(balance: Balance) -> list[str]:
    """What came in, and what became of it: a line each."""
    groups = count(balance.groups, "group")
    refused = ", ".join(f"{n:,} {fault.value}" for fault, n in _of(balance, is_refused=True))
    whole = ", ".join(f"{n:,} {fault.value}" for fault, n in _of(balance, is_refused=False))
    return [
        f"{groups} of {count(balance.members, 'row')} in {balance.seconds:.1f} s",
        f"{count(balance.rows_in, 'row')} in = {balance.kept:,} kept"
        + (f" ({whole})" if whole else "")
        + f" + {balance.dropped:,} dropped + {balance.refused_rows:,} refused"
        + (f" ({refused})" if refused else ""),
        *narrowed(balance.candidates, balance.settings),
    ]


def _of(balance: Balance, *, is_refused: bool) -> list[tuple[Fault, int]]:
    return [each for each in balance.faults.items() if each[0].is_refused is is_refused]
