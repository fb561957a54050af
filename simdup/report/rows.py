"""Groups of rows of a corpus, for people and for programs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from itertools import chain, islice
from typing import Any, NamedTuple

import numpy as np

from simdup.corpus.flaws import Fault, Faulty
from simdup.corpus.records import Balance, CorpusResult, RowGroup
from simdup.corpus.reread import values
from simdup.corpus.rewrite import Dropped
from simdup.corpus.scan import identities
from simdup.records import Kind, Part
from simdup.report import json_csv as data
from simdup.report.text import closeness, likeness, part_lines, searched
from simdup.report.wording import count, path_fields, percent, printable, set_aside

COLUMNS = (
    *("group", "kind", "representative", "similarity", "own_share", "distance"),
    *("id", "path", "row"),
)
#: Further columns of a scan that looked for parts.
PART_COLUMNS = ("of", "of_row", "start", "end")

# The most rows that are named for each kind of warning; the others are counted.
MOST_WARNINGS = 10

#: Dropped rows that a summary shows, and the most characters of a text that text output shows.
SHOWN_LOSSES, BEGINNING = 3, 60

# Members whose places are looked up at once.
PLACES = 1 << 12

# Halves of surrogate pairs, which UTF-8 has no place for.
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class NamedGroup(NamedTuple):
    """A group, with the place and the name of each member.

    places: The file, and the number of the row in it.
    names: Ids, or the places as text.
    beginnings: The beginning of each text; only text has them.
    """

    group: RowGroup
    places: Sequence[tuple[str, int]]
    names: Sequence[Any]
    beginnings: Sequence[str] = ()


def render(result: CorpusResult, ids: Sequence[Any] | None) -> Iterator[str]:
    """The groups as text, a line for each row: similarity, distance, id or place, beginning.

    `ids` has the id of every member, group after group; None names rows by place. Texts are read
    again. Raises InputError if a file has changed.
    """
    for named in _named(result, ids, _beginnings(result)):
        yield from _text_lines(named, result.settings.recipe.bits)
    yield from part_lines(named_parts(result))


def render_jsonl(result: CorpusResult, ids: Sequence[Any] | None) -> Iterator[str]:
    """The groups as JSON Lines, followed by the rows that were not compared."""
    groups = map(_group_fields, _named(result, ids))
    whole = report(result.balance, groups, result.faulty)
    if result.settings.parts is not None:
        parts = (_part_fields(*each) for each in _parts(result))
        whole = whole._replace(lists={"groups": groups, "parts": parts} | {**whole.lists})
    return data.as_jsonl(whole)


def render_csv(result: CorpusResult, ids: Sequence[Any] | None) -> Iterator[str]:
    """The groups as CSV, a line for each row; names are printable."""
    columns = COLUMNS + PART_COLUMNS * (result.settings.parts is not None)
    of_parts = [None] * (len(columns) - len(COLUMNS))
    yield data.csv_line(columns)
    for cells in chain.from_iterable(map(_member_cells, _named(result, ids))):
        yield data.csv_line((*cells, *of_parts))
    for row, of_row, part in _parts(result):
        named = data.part_cells(part) | {"row": row, "of_row": of_row}
        yield data.csv_line(map(named.get, columns))


def _parts(result: CorpusResult) -> Iterator[tuple[int, int, Part]]:
    """Yield each part with its file, and the numbers of its row and of the larger one."""
    if result.parts is None:
        return
    pairs, shares, places = result.parts
    rows = zip(*map(result.rows.places, pairs.T), strict=True)
    for (part, whole), share, place in zip(rows, shares.tolist(), places.tolist(), strict=True):
        yield part[1], whole[1], Part(part[0], whole[0], share, *place)


def named_parts(result: CorpusResult) -> list[Part]:
    """The parts, with rows named by file and number, as in text."""
    return [
        part._replace(path=f"{part.path}:{row}", whole=f"{part.whole}:{of_row}")
        for row, of_row, part in _parts(result)
    ]


def _part_fields(row: int, of_row: int, part: Part) -> dict[str, Any]:
    of = path_fields(part.whole) | {"row": of_row}
    figures = {"share": part.share, "start": part.start, "end": part.end}
    return path_fields(part.path) | {"row": row, "of": of} | figures


def _beginnings(result: CorpusResult) -> list[str]:
    """The beginning of the text of each member, group after group."""
    members = result.groups.members
    order, found = np.argsort(members), np.empty(len(members), object)
    found[order] = list(map(beginning, values(result.rows, members[order])))
    return found.tolist()


def _named(
    result: CorpusResult, ids: Sequence[Any] | None, beginnings: Sequence[str] = ()
) -> Iterator[NamedGroup]:
    begin, members = 0, result.groups.members
    blocks = np.array_split(members, len(members) // PLACES + 1)
    every_place = chain.from_iterable(map(result.rows.places, blocks))
    for group in result.groups:
        end = begin + len(group.rows)
        places = list(islice(every_place, len(group.rows)))
        names = [f"{path}:{row}" for path, row in places] if ids is None else ids[begin:end]
        yield NamedGroup(group, places, names, beginnings[begin:end])
        begin = end


def group_lines(named: NamedGroup, form: str) -> Iterator[str]:
    """The lines of a group in a report: "jsonl" or "csv"."""
    if form == "csv":
        return map(data.csv_line, _member_cells(named))
    return iter([data.json_line("group", _group_fields(named))])


def _text_lines(named: NamedGroup, bits: int) -> Iterator[str]:
    """A group as text."""
    group = named.group
    farthest = max(group.distances)
    spread = f", at most {farthest} of {bits} bits from the first" if farthest else ""
    yield f"Group {group.id}: {group.kind.value}, {count(len(group.rows), 'row')}{spread}"
    for each, kind, text in zip(_member_fields(named), group.kinds, named.beginnings, strict=True):
        alike = close = ""
        if not each["representative"]:
            alike = likeness(each["similarity"], each["distance"], bits)
            close = closeness(kind, each["distance"], is_verbose=True)
        name, place = id_as_text(each["id"]), f"{printable(each['path'])}:{each['row']}"
        said = name if name == place else f"{name}  ({place})"
        yield f"  {alike:>7}  {close:<8} {said}  {text}"
    yield ""


def _group_fields(named: NamedGroup) -> dict[str, Any]:
    """A group as fields of JSON."""
    members = list(_member_fields(named))
    about = {"id": named.group.id, "kind": named.group.kind.value}
    return about | {"representative": members[0]["id"], "members": members}


def _member_fields(named: NamedGroup) -> Iterator[dict[str, Any]]:
    _, _, _, kinds, similarities, distances, shares = named.group
    members = zip(named.names, named.places, kinds, similarities, distances, shares, strict=True)
    for position, member in enumerate(members):
        name, (path, row), kind, similarity, distance, own_share = member
        yield {
            "id": id_as_json(name),
            **path_fields(path),
            "row": row,
            "kind": kind.value,
            "similarity": similarity,
            "own_share": own_share,
            "distance": distance,
            "representative": position == 0,
        }


def _member_cells(named: NamedGroup) -> Iterator[tuple[object, ...]]:
    """The cells of CSV for each member of a group, in the order of COLUMNS."""
    group, kind = named.group, named.group.kind.value
    figures = zip(group.similarities, group.own_shares, group.distances, strict=True)
    members = zip(named.names, named.places, figures, strict=True)
    for position, (name, (path, row), alike) in enumerate(members):
        yield group.id, kind, int(position == 0), *alike, id_as_text(name), printable(path), row


def render_dropped(result: CorpusResult, gone: Dropped, field: str | None) -> Iterator[str]:
    """Dropped rows as JSON Lines, each with the row that stays for it.

    `field` has the ids of rows; None names rows by place.
    """
    rows = np.concatenate((gone.rows, gone.like))
    places = result.rows.places(rows)
    by_place = [f"{path}:{row}" for path, row in places]
    names = by_place if field is None else identities(result, field, rows)
    named = [
        {"id": id_as_json(name), **path_fields(path), "row": row}
        for name, (path, row) in zip(names, places, strict=True)
    ]
    half = len(gone.rows)
    alike = [None] * half if gone.similarities is None else gone.similarities.tolist()
    for one, like, same, similarity in zip(
        named[:half], named[half:], gone.are_identical.tolist(), alike, strict=True
    ):
        kind = Kind.IDENTICAL_TEXT if same else Kind.NEAR
        yield data.to_json(one | {"kind": kind.value, "similarity": similarity, "like": like})


def losses(result: CorpusResult, gone: Dropped) -> list[str]:
    """How similar the dropped rows are to rows that stay, and the least similar ones.

    Each of these comes with the beginning of its text, which is read again.
    """
    settings, alike = result.settings, gone.similarities
    if alike is None:
        return [f"rows within {settings.distance} bits of a kept row were dropped"]
    threshold, least = percent(settings.similarity), percent(float(alike.min()))
    worst = np.sort(np.argsort(alike, kind="stable")[:SHOWN_LOSSES])
    dropped, stays = gone.rows[worst], gone.like[worst]
    texts = values(result.rows, dropped)
    places = result.rows.places(dropped), result.rows.places(stays)
    shown = zip(alike[worst].tolist(), *places, texts, strict=True)
    return [
        f"rows at least {threshold} like a kept row were dropped; the least similar one is"
        f" {least} like it",
        *(
            f"  {percent(similarity)}  {printable(path)}:{row} (like {printable(other)}:{at})"
            f"  {beginning(text)}"
            for similarity, (path, row), (other, at), text in shown
        ),
    ]


def beginning(text: object) -> str:
    """The first words of a text, on one line."""
    words = " ".join(str(text)[: 2 * BEGINNING].split())
    return printable(words[:BEGINNING] + "…" * (len(words) > BEGINNING))


def id_as_json(value: Any) -> Any:  # noqa: ANN401
    """The id of a row as a JSON value; types that JSON lacks, such as dates, become strings.

    >>> from datetime import date
    >>> id_as_json({"of": (date(2024, 2, 29), bytes(2), float("nan"))})
    {'of': ['2024-02-29', '0000', 'NaN']}
    """
    if isinstance(value, (int, type(None))):
        return value
    if isinstance(value, str):
        return _LONE_SURROGATE.sub(lambda found: printable(found[0]), value)
    # Through JSON and not by recursion, since an id may be nested deeper than Python recurses.
    text = json.dumps(
        value,
        ensure_ascii=False,
        default=lambda each: each.hex() if isinstance(each, bytes) else str(each),
    )
    escaped = _LONE_SURROGATE.sub(lambda found: "\\" + printable(found[0]), text)
    return json.loads(escaped, parse_constant=str)


def id_as_text(name: Any) -> str:  # noqa: ANN401
    """The id of a row in text and CSV: a string as it is, anything else as JSON."""
    value = id_as_json(name)
    return printable(value if isinstance(value, str) else data.to_json(value))


def report(
    balance: Balance, groups: Iterable[dict[str, Any]], faulty: Iterable[Faulty]
) -> data.Report:
    """The report of a scan: its files and settings, its groups, and the rows not compared."""
    fields = {
        "files": [path_fields(path) for path in balance.paths],
        "settings": data.settings_fields(balance.settings),
        "stats": {
            "rows": balance.rows_in,
            **{name: getattr(balance, name) for name in ("compared", "kept", "dropped")},
            "refused": balance.refused_rows,
            "siblings": balance.siblings,
            "not_compared": {fault.value: number for fault, number in balance.faults.items()},
            "seconds": round(balance.seconds, 3),
        },
        "candidates": balance.candidates and asdict(balance.candidates),
    }
    return data.Report(
        "corpus", fields, {"groups": groups, "not compared": map(_fault_fields, faulty)}
    )


def _fault_fields(each: Faulty) -> dict[str, Any]:
    flaw = each.flaw
    return path_fields(each.path) | {
        "row": flaw.row,
        "rows": flaw.rows,
        "reason": flaw.fault.value,
        "detail": printable(flaw.detail),
        "refused": flaw.fault.is_refused,
    }


def warnings(balance: Balance) -> list[str]:
    """A line for all rows without the text field, and one for each other row not compared.

    Refused rows come first. Beyond MOST_WARNINGS refused or kept rows, one line has the number of
    the others.
    """
    lines = [_no_field(each, balance) for each in _faulty(balance, [Fault.NO_FIELD])[:1]]
    others = set(Fault) - {Fault.NO_FIELD}
    for is_refused, verdict in ((True, "refused"), (False, "kept, not compared")):
        faults = [fault for fault in others if fault.is_refused is is_refused]
        shown = _faulty(balance, faults)[:MOST_WARNINGS]
        lines += [_warning(each, verdict) for each in shown]
        every = sum(balance.faults.get(fault, 0) for fault in faults)
        more = every - sum(each.flaw.rows for each in shown)
        if more > 0:
            lines.append(f"and {more:,} more {verdict}")
    return lines


def _faulty(balance: Balance, faults: Sequence[Fault]) -> list[Faulty]:
    return [each for each in balance.faulty if each.flaw.fault in faults]


def _no_field(first: Faulty, balance: Balance) -> str:
    path, flaw, more = printable(first.path), first.flaw, balance.faults[Fault.NO_FIELD] - 1
    rows = f"{path}:{flaw.row}" + (f" and {count(more, 'more row')}" if more else "")
    fields = f"{printable(flaw.detail)}; --text-field names another"
    return f"{rows}: {flaw.fault.value} ({fields}); refused"


def _warning(each: Faulty, verdict: str) -> str:
    flaw = each.flaw
    detail = f" ({printable(flaw.detail)})" if flaw.detail else ""
    last = f"-{flaw.row + flaw.rows - 1}" if flaw.rows > 1 else ""
    return f"{printable(each.path)}:{flaw.row}{last}: {flaw.fault.value}{detail}; {verdict}"


def summary(balance: Balance, *, is_kept: bool) -> list[str]:
    """How many rows came in, and how many were kept, dropped and refused: a line each.

    `is_kept` says that rows were written; otherwise none was dropped.
    """
    refused, kept = (_faults(balance, is_refused=each) for each in (True, False))
    dropped = f" + {balance.dropped:,} dropped" * is_kept
    left = balance.kept if is_kept else balance.rows_in - balance.refused_rows
    return [
        f"{count(balance.groups, 'group')} of {count(balance.members, 'row')}"
        f" in {balance.seconds:.1f} s",
        f"{count(balance.rows_in, 'row')} in = {left:,} {'kept' if is_kept else 'read'}{kept}"
        f"{dropped} + {balance.refused_rows:,} refused{refused}",
        *([] if is_kept else [_nothing_written(balance)]),
        *([set_aside(balance.siblings)] if balance.siblings else []),
        *searched(balance.candidates, balance.settings),
    ]


def _nothing_written(balance: Balance) -> str:
    """That no row was dropped, and how many --keep would drop."""
    if balance.droppable is None:
        return "no row was dropped: that needs --keep"
    number, least = balance.droppable
    alike = f"at least {percent(least)} like a kept row"
    return f"no row was dropped: --keep first would drop about {count(number, 'row')} ({alike})"


def _faults(balance: Balance, *, is_refused: bool) -> str:
    """How many rows have each fault, in brackets."""
    counts = [
        f"{number:,} {fault.value}"
        for fault, number in balance.faults.items()
        if fault.is_refused is is_refused
    ]
    return f" ({', '.join(counts)})" if counts else ""
