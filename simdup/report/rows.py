"""Groups of rows, for people and for programs: text, JSON Lines and CSV."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from simdup.hamming import similarity_at
from simdup.records import Kind
from simdup.report.data import candidates_fields, csv_line, dumps, settings_fields, tool
from simdup.report.names import as_json, printable
from simdup.report.words import count, narrowed, percent

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simdup.corpora import CorpusResult, Fault, Faulty, RowGroup

COLUMNS = ("group", "kind", "representative", "similarity", "distance", "id", "path", "row")

# Rows of each kind of which a person is told where they are, before the rest is counted.
MOST_WARNINGS = 10


def render(result: CorpusResult, ids: Sequence[Any] | None) -> Iterator[str]:
    """The groups, a line a row: how alike, distance, id or place.

    `ids` are those of the members of the groups, one after the other; None: their places.
    """
    bits = result.settings.recipe.bits
    for group, places, names in _groups(result, ids):
        farthest = max(group.distances)
        apart = f", at most {farthest} of {bits} bits from the first" if farthest else ""
        yield f"Group {group.id}: {group.kind.value}, {count(len(group.rows), 'row')}{apart}"
        for position, (name, (path, row)) in enumerate(zip(names, places, strict=True)):
            alike, closeness = _closeness(group, position, bits) if position else ("", "")
            place = "" if ids is None else f"  ({printable(path)}:{row})"
            yield f"  {alike:>7}  {closeness:<8} {printable(str(name))}{place}"
        yield ""


def _closeness(group: RowGroup, position: int, bits: int) -> tuple[str, str]:
    """How alike a row is to the first, and in a word or in bits how far."""
    similarity, distance = group.similarities[position], group.distances[position]
    estimate = "~" + percent(max(0.0, similarity_at(distance, bits)))
    alike = estimate if similarity is None else percent(similarity)
    if group.kinds[position] is Kind.IDENTICAL_TEXT:
        return alike, "text"
    return alike, count(distance, "bit") if distance else "0 bits"


def render_jsonl(result: CorpusResult, ids: Sequence[Any] | None) -> Iterator[str]:
    """A JSON object a line: the header, then every group, then rows that were not compared."""
    yield dumps({"type": "corpus"} | _header(result))
    for group, places, names in _groups(result, ids):
        members = [
            {
                "id": _value(name),
                **as_json(path),
                "row": row,
                "kind": group.kinds[position].value,
                "similarity": group.similarities[position],
                "distance": group.distances[position],
                "representative": position == 0,
            }
            for position, (name, (path, row)) in enumerate(zip(names, places, strict=True))
        ]
        about = {"id": group.id, "kind": group.kind.value, "representative": _value(names[0])}
        yield dumps({"type": "group"} | about | {"members": members})
    for each in result.faulty:
        yield dumps({"type": "not compared"} | _fault(each))


def render_csv(result: CorpusResult, ids: Sequence[Any] | None) -> Iterator[str]:
    """A header and a line a row, as RFC 4180 but for the line ends; names escaped."""
    yield csv_line(COLUMNS)
    for group, places, names in _groups(result, ids):
        for position, (name, (path, row)) in enumerate(zip(names, places, strict=True)):
            similarity = group.similarities[position]
            yield csv_line(
                (
                    group.id,
                    group.kind.value,
                    int(position == 0),
                    "" if similarity is None else f"{similarity:.6f}",
                    group.distances[position],
                    printable(str(name)),
                    printable(path),
                    row,
                )
            )


def _groups(
    result: CorpusResult, ids: Sequence[Any] | None
) -> Iterator[tuple[RowGroup, list[tuple[str, int]], Sequence[Any]]]:
    """Each group with the places of its members, and their ids."""
    begin = 0
    for group in result.groups:
        end = begin + len(group.rows)
        rows = np.array(group.rows)
        tables = result.rows.tables_of(rows).tolist()
        paths = [result.rows.tables[index].path for index in tables]
        places = list(zip(paths, result.rows.numbers[rows].tolist(), strict=True))
        names = [f"{path}:{row}" for path, row in places] if ids is None else ids[begin:end]
        yield group, places, names
        begin = end


def _value(value: Any) -> Any:  # noqa: ANN401
    """An id as JSON has it; what it has no kind for, as Parquet has dates, in words."""
    if isinstance(value, (str, int, float, bool, type(None), list, dict)):
        return printable(value) if isinstance(value, str) and _is_stray(value) else value
    return printable(str(value))


def _is_stray(text: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in text)


def _header(result: CorpusResult) -> dict[str, Any]:
    return tool() | {
        "files": [as_json(table.path) for table in result.rows.tables],
        "settings": settings_fields(result.settings),
        "stats": {
            "rows": result.rows_in,
            "compared": len(result.rows),
            "kept": result.kept,
            "dropped": result.dropped,
            "refused": result.refused_rows,
            "not_compared": {fault.value: number for fault, number in result.faults.items()},
            "seconds": round(result.seconds, 3),
        },
        "candidates": candidates_fields(result.candidates),
    }


def _fault(each: Faulty) -> dict[str, Any]:
    flaw = each.flaw
    return as_json(each.path) | {
        "row": flaw.row,
        "rows": flaw.rows,
        "reason": flaw.fault.value,
        "detail": printable(flaw.detail),
        "refused": flaw.fault.is_refused,
    }


def warnings(result: CorpusResult) -> list[str]:
    """A line for each row that is refused, then for those that have nothing to compare.

    Of very many, the number.
    """
    lines = []
    for is_refused, verdict in ((True, "refused"), (False, "kept, not compared")):
        shown = [each for each in result.faulty if each.flaw.fault.is_refused is is_refused]
        for each in shown[:MOST_WARNINGS]:
            flaw = each.flaw
            detail = f" ({printable(flaw.detail)})" if flaw.detail else ""
            last = f"-{flaw.row + flaw.rows - 1}" if flaw.rows > 1 else ""
            place = f"{printable(each.path)}:{flaw.row}{last}"
            lines.append(f"{place}: {flaw.fault.value}{detail}; {verdict}")
        every = sum(n for fault, n in result.faults.items() if fault.is_refused is is_refused)
        told = sum(each.flaw.rows for each in shown[:MOST_WARNINGS])
        if every > told:
            lines.append(f"and {every - told:,} more {verdict}")
    return lines


def summary(result: CorpusResult) -> list[str]:
    """What came in, and what became of it: a line each."""
    groups = count(len(result.groups), "group")
    refused = ", ".join(f"{n:,} {fault.value}" for fault, n in _of(result, is_refused=True))
    whole = ", ".join(f"{n:,} {fault.value}" for fault, n in _of(result, is_refused=False))
    return [
        f"{groups} of {count(len(result.groups.members), 'row')} in {result.seconds:.1f} s",
        f"{count(result.rows_in, 'row')} in = {result.kept:,} kept"
        + (f" ({whole})" if whole else "")
        + f" + {result.dropped:,} dropped + {result.refused_rows:,} refused"
        + (f" ({refused})" if refused else ""),
        *narrowed(result.candidates, result.settings),
    ]


def _of(result: CorpusResult, *, is_refused: bool) -> list[tuple[Fault, int]]:
    return [each for each in result.faults.items() if each[0].is_refused is is_refused]
