"""An evaluation for people, and for programs: a table, JSON and CSV."""

from __future__ import annotations

import json
from itertools import groupby
from math import isnan
from typing import TYPE_CHECKING, Any

from simdup.evaluation.metrics import MEASURES
from simdup.report.columns import padded, width
from simdup.report.json_csv import csv_line, dumps, tool
from simdup.report.names import as_json, printable
from simdup.report.wording import count

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from simdup.evaluation.metrics import Accuracy, Interval
    from simdup.evaluation.results import Evaluated, Evaluation, GroupScores, Recommended
    from simdup.recipe import Recipe

COLUMNS = (
    *("recipe", "features", "hash", "bits", "setting", "k", "similarity"),
    *(f"{measure}{end}" for measure in (*MEASURES, "auc") for end in ("", "_low", "_high")),
    "adjusted_rand_index",
)

# Width of a figure with its interval, and of what stands before it.
_FIGURE, _HEAD = 20, 18


def render(evaluation: Evaluation, *, curve: bool = False) -> Iterator[str]:
    """For each recipe the figures by size, then what was found by kind of pair."""
    yield from _title(evaluation)
    for _, rows in groupby(evaluation.rows, key=lambda row: name(row.settings.recipe)):
        yield from _recipe(evaluation, list(rows), curve=curve)


def _title(evaluation: Evaluation) -> Iterator[str]:
    totals = dict.fromkeys((True, False, None), 0)
    for kind in evaluation.kinds:
        totals[kind.duplicate] += kind.pairs
    only = f", {totals[None]:,} only reported" if totals[None] else ""
    table = "simdup's own texts" if evaluation.table is None else printable(evaluation.table)
    yield (
        f"{table}: {count(evaluation.texts, 'text')};"
        f" {count(totals[True], 'pair')} of duplicates, {totals[False]:,} of others{only}"
    )
    if evaluation.repeated:
        yield f"{count(evaluation.repeated, 'line')} repeated an earlier pair and did not count"
    if evaluation.draws > 1:
        yield f"means over {evaluation.draws} independent fingerprints of every text"
    yield "in brackets: intervals of 95 %, from resampling the texts"


def _recipe(evaluation: Evaluation, rows: list[Evaluated], *, curve: bool) -> Iterator[str]:
    """One recipe at all its sizes."""
    yield ""
    yield name(rows[0].settings.recipe)
    if rows[0].without:
        yield f"{count(rows[0].without, 'text')} without a feature: no pair with one is ever found"
    columns = ("precision", "recall", "F1", "accuracy", "AUC")
    yield " bits  " + " " * _HEAD + "".join(f"{column:<{_FIGURE}}" for column in columns).rstrip()
    for row in rows:
        yield from _size(row)
        if curve:
            yield from _curve(row)
    yield ""
    yield from _kinds(evaluation, rows)


def _size(row: Evaluated) -> Iterator[str]:
    """One size: the default threshold, what theory says of it, the best one, and verified."""
    best, auc = row.best_k, _figure(row.auc)
    yield _line(row.settings.recipe.bits, f"k = {row.k}", [*_figures(row.curve[row.k]), auc])
    yield _line("", "  by theory", _plain(row.predicted[:, row.k].tolist()))
    yield _line("", f"best k = {best}", _figures(row.curve[best]))
    similarity = f"{row.settings.similarity:.4g}"
    yield _line("", f"verified, {similarity}", _figures(row.verified))
    for label, scores in zip(("bare", "verified"), row.groups or (), strict=False):
        figures = _plain([scores.precision, scores.recall, scores.f1])
        yield _line("", f"groups, {label}", [*figures, f"Rand index {_short(scores.rand)}"])
    if row.recommended is not None:
        yield from _recommendation(row, row.recommended)


def _recommendation(row: Evaluated, asked: Recommended) -> Iterator[str]:
    """The farthest thresholds that keep a precision."""
    goal = f"precision {asked.precision:.3g}"
    if asked.k is None:
        yield _line("", f"{goal}:", ["no k has it"])
    else:
        yield _line("", f"use k = {asked.k}", _figures(row.curve[asked.k]))
    if asked.similarity is None:
        yield _line("", "", [f"no similarity has {goal} when verified"])
    else:
        kept = f"verified: --similarity {asked.similarity:g} keeps {goal} on these labels"
        yield _line("", "", [kept])


def _curve(row: Evaluated) -> Iterator[str]:
    for k, accuracy in enumerate(row.curve):
        yield _line("", f"    k = {k}", _figures(accuracy))


def _kinds(evaluation: Evaluation, rows: list[Evaluated]) -> Iterator[str]:
    """How many pairs of each kind are found, in per cent, by size."""
    labels = [printable(kind.kind) for kind in evaluation.kinds]
    widest = max(map(width, ["only reported found, %", *labels]))
    heads = [f"{row.settings.recipe.bits:>6}" for row in rows]
    for label, title in ((True, "duplicates"), (False, "others"), (None, "only reported")):
        chosen = [i for i, kind in enumerate(evaluation.kinds) if kind.duplicate is label]
        if not chosen:
            continue
        yield f"{padded(title + ' found, %', widest)}    pairs{''.join(heads)}  verified"
        for index in chosen:
            kind = evaluation.kinds[index]
            shares = [f"{_percent(row.found[index], kind.pairs):>6}" for row in rows]
            last = _percent(rows[-1].found_verified[index], kind.pairs)
            yield f"{padded(labels[index], widest)} {kind.pairs:>8,}{''.join(shares)}{last:>10}"


def _percent(part: float, whole: int) -> str:
    """A share in per cent, cut; 100.0 is said only of what is whole."""
    return f"{min(1000 if part == whole else 999, int(1000 * part / whole + 1e-9)) / 10:.1f}"


def name(recipe: Recipe) -> str:
    """A recipe in words, without its size."""
    detail = {
        "shingles": f" of {' and '.join(map(str, recipe.ngram))} tokens",
        "keywords": f", top {recipe.top}, weights {recipe.weights.value}",
    }.get(recipe.features.value, "")
    return f"{recipe.features.value}{detail}, hash {recipe.hash.value}"


def _line(bits: object, head: str, figures: Iterable[str]) -> str:
    columns = "".join(f"{figure:<{_FIGURE}}" for figure in figures)
    return f"{bits:>5}  {head:<{_HEAD - 1}} {columns}".rstrip()


def _figures(accuracy: Accuracy) -> list[str]:
    return [_figure(getattr(accuracy, measure)) for measure in MEASURES]


def _figure(interval: Interval) -> str:
    if isnan(interval.value):
        return "-"
    return f"{_short(interval.value)} ({_short(interval.low)}-{_short(interval.high)})"


def _plain(figures: list[float]) -> list[str]:
    return ["-" if isnan(figure) else _short(figure) for figure in figures]


def _short(share: float) -> str:
    """Three digits; 1.000 is said only of what is whole."""
    return "1.000" if share == 1 else f"{min(share, 0.9994):.3f}".replace("0.", ".", 1)


def render_json(evaluation: Evaluation, *, curve: bool = False) -> Iterator[str]:
    """One JSON object; figures that are undefined are null."""
    totals = [
        {"kind": kind.kind, "duplicate": kind.duplicate, "pairs": kind.pairs}
        for kind in evaluation.kinds
    ]
    found = [
        total | _recipe_fields(row.settings.recipe) | {"found": bare, "found_verified": verified}
        for row in evaluation.rows
        for total, bare, verified in zip(
            totals, row.found.tolist(), row.found_verified.tolist(), strict=True
        )
    ]
    whole = tool() | {
        **_table(evaluation.table),
        "texts": evaluation.texts,
        "repeated": evaluation.repeated,
        "draws": evaluation.draws,
        "seconds": round(evaluation.seconds, 3),
        "rows": [_row(row, curve=curve) for row in evaluation.rows],
        "kinds": found,
    }
    yield dumps(whole, indent=1)


def _table(table: str | None) -> dict[str, str | None]:
    """`table`, and `table_base64` where that is not its very name; null for simdup's own."""
    if table is None:
        return {"table": None}
    return {key.replace("path", "table"): name for key, name in as_json(table).items()}


def _recipe_fields(recipe: Recipe) -> dict[str, Any]:
    return {"features": recipe.features.value, "hash": recipe.hash.value, "bits": recipe.bits}


def _row(row: Evaluated, *, curve: bool) -> dict[str, Any]:
    recipe, best = row.settings.recipe, row.best_k
    fields = _recipe_fields(recipe) | {
        "recipe": json.loads(recipe.key()),
        "without_features": row.without,
        "default": {"k": row.k} | _accuracy(row.curve[row.k]) | {"auc": _interval(row.auc)},
        "best": {"k": best} | _accuracy(row.curve[best]),
        "predicted": _predicted(row, row.k),
        "verified": {"similarity": row.settings.similarity} | _accuracy(row.verified),
    }
    if row.groups is not None:
        labels = ("bare", "verified")
        fields["groups"] = {
            label: _scores(each) for label, each in zip(labels, row.groups, strict=True)
        }
    if row.recommended is not None:
        asked = row.recommended
        fields["recommended"] = {
            "precision": asked.precision,
            "k": asked.k,
            "similarity": asked.similarity,
        }
    if curve:
        fields["curve"] = [
            {"k": k} | _accuracy(accuracy) | {"predicted": _predicted(row, k)}
            for k, accuracy in enumerate(row.curve)
        ]
    return fields


def _accuracy(accuracy: Accuracy) -> dict[str, Any]:
    return {measure: _interval(getattr(accuracy, measure)) for measure in MEASURES}


def _interval(interval: Interval) -> dict[str, float | None]:
    ends = {"value": interval.value, "low": interval.low, "high": interval.high}
    return {end: _number(figure) for end, figure in ends.items()}


def _predicted(row: Evaluated, k: int) -> dict[str, float | None]:
    figures = zip(MEASURES, row.predicted[:, k].tolist(), strict=True)
    return {measure: _number(figure) for measure, figure in figures}


def _scores(scores: GroupScores) -> dict[str, float | None]:
    return {
        "precision": _number(scores.precision),
        "recall": scores.recall,
        "f1": scores.f1,
        "adjusted_rand_index": scores.rand,
    }


def _number(figure: float) -> float | None:
    return None if isnan(figure) else figure


def render_csv(evaluation: Evaluation, *, curve: bool = False) -> Iterator[str]:
    """A header, then a line for each recipe, size and setting; with `curve` for each k too."""
    yield csv_line(COLUMNS)
    for row in evaluation.rows:
        recipe = row.settings.recipe
        begin = {"recipe": name(recipe)} | _recipe_fields(recipe)
        for setting in _settings(row, curve=curve):
            cells = begin | setting
            yield csv_line(_cell(cells.get(column)) for column in COLUMNS)


def _settings(row: Evaluated, *, curve: bool) -> Iterator[dict[str, Any]]:
    """The lines of one recipe and size, by column."""
    best, similarity = row.best_k, row.settings.similarity
    yield {"setting": "default", "k": row.k, **_flat(row.curve[row.k]), **_ends("auc", row.auc)}
    yield {"setting": "predicted", "k": row.k, **_predicted(row, row.k)}
    yield {"setting": "best", "k": best, **_flat(row.curve[best])}
    yield {"setting": "verified", "similarity": similarity, **_flat(row.verified)}
    for label, scores in zip(("bare", "verified"), row.groups or (), strict=False):
        yield {"setting": f"groups {label}", **_scores(scores)}
    asked = row.recommended
    if asked is not None and asked.k is not None:
        yield {"setting": "recommended", "k": asked.k, **_flat(row.curve[asked.k])}
    if asked is not None and asked.similarity is not None:
        yield {"setting": "recommended", "similarity": asked.similarity}
    for k, accuracy in enumerate(row.curve if curve else ()):
        yield {"setting": "curve", "k": k, **_flat(accuracy)}


def _flat(accuracy: Accuracy) -> dict[str, float]:
    """Every measure and the ends of its interval."""
    flat: dict[str, float] = {}
    for measure in MEASURES:
        flat |= _ends(measure, getattr(accuracy, measure))
    return flat


def _ends(measure: str, interval: Interval) -> dict[str, float]:
    """A figure and the ends of its interval."""
    return {
        measure: interval.value,
        f"{measure}_low": interval.low,
        f"{measure}_high": interval.high,
    }


def _cell(value: object) -> object:
    """A figure with six digits; nothing for what is undefined."""
    if not isinstance(value, float):
        return "" if value is None else value
    return "" if isnan(value) else f"{value:.6f}"
