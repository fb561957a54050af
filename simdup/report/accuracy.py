"""An evaluation as a table and a web page for people, and as JSON and CSV for programs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from itertools import groupby
from math import isnan
from typing import Any

from simdup.evaluation.metrics import MEASURES, Accuracy, Evaluated, Evaluation, Recommended
from simdup.match.tiers import NEAR_SCORE
from simdup.recipe import Recipe
from simdup.records import Interval
from simdup.report.json_csv import Report, as_json, csv_table
from simdup.report.page.frame import page_lines
from simdup.report.terminal import padded, width
from simdup.report.wording import count, path_fields, percent, printable

COLUMNS = (
    *("recipe", "features", "hash", "bits", "setting", "k", "similarity", "own_share"),
    *(f"{measure}{end}" for measure in (*MEASURES, "auc") for end in ("", "_low", "_high")),
    *("adjusted_rand_index", "score"),
)

#: The settings whose groups are scored, named in the order of `Evaluated.groups`.
SCANS = ("bare", "verified")

# The numbers of pairs found of each kind, as fields of `Evaluated` and of JSON.
_FOUND = ("found", "found_cosine", "found_verified")

# The width in columns of a figure with its interval, and of the heading of a row.
_FIGURE, _HEAD = 20, 18


def render(evaluation: Evaluation, *, curve: bool = False) -> Iterator[str]:
    """For each recipe a table of its figures by size, then the share found of each kind."""
    yield from _title(evaluation)
    for rows in by_recipe(evaluation):
        yield from _recipe(evaluation, rows, curve=curve)


def by_recipe(evaluation: Evaluation) -> list[list[Evaluated]]:
    """The rows of an evaluation, in one list for each recipe."""
    recipes = groupby(evaluation.rows, key=lambda row: recipe_name(row.settings.recipe))
    return [list(rows) for _, rows in recipes]


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
    """The tables of one recipe at all its sizes."""
    yield ""
    yield recipe_name(rows[0].settings.recipe)
    if rows[0].without:
        yield f"{count(rows[0].without, 'text')} without a feature: no pair with one is ever found"
    yield _line(" bits", "", ("precision", "recall", "F1", "accuracy", "AUC"))
    for row in rows:
        yield from _size(row)
        for k, accuracy in enumerate(row.curve if curve else ()):
            yield _line("", f"    k = {k}", _figures(accuracy))
    yield ""
    yield from _kinds(evaluation, rows)


def _size(row: Evaluated) -> Iterator[str]:
    """The lines of one size: default k, theory, best k, cosine, own share, near, groups."""
    best, settings = row.best_k, row.settings
    yield _line(
        settings.recipe.bits, f"k = {row.k}", [*_figures(row.curve[row.k]), _figure(row.auc)]
    )
    yield _line("", "  by theory", map(_short, row.predicted[:, row.k].tolist()))
    yield _line("", f"best k = {best}", _figures(row.curve[best]))
    yield _line("", f"cosine, {settings.similarity:.4g}", _figures(row.cosine))
    yield _line("", f"own share, {settings.own_share:.4g}", _figures(row.verified))
    yield _line("", f"near, {NEAR_SCORE:.4g}", _figures(row.near))
    for label, scores in zip(SCANS, row.groups or (), strict=False):
        figures = map(_short, (scores.precision, scores.recall, scores.f1))
        index = f"Rand index {_short(scores.adjusted_rand_index)}"
        yield _line("", f"groups, {label}", [*figures, index])
    if row.recommended is not None:
        yield from _recommendation(row, row.recommended)


def _recommendation(row: Evaluated, asked: Recommended) -> Iterator[str]:
    """The farthest thresholds that keep the precision asked for."""
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


def _kinds(evaluation: Evaluation, rows: list[Evaluated]) -> Iterator[str]:
    """For each kind of pair the percentage found at each size, and if verified at the last size."""
    labels = [printable(kind.kind) for kind in evaluation.kinds]
    widest = max(map(width, ["only reported found, %", *labels]))
    heads = "".join(f"{row.settings.recipe.bits:>6}" for row in rows)
    for label, title in ((True, "duplicates"), (False, "others"), (None, "only reported")):
        chosen = [i for i, kind in enumerate(evaluation.kinds) if kind.duplicate is label]
        if chosen:
            yield f"{padded(title + ' found, %', widest)}    pairs{heads}  cosine  own share"
        for index in chosen:
            pairs = evaluation.kinds[index].pairs
            shares = "".join(f"{_percent(row.found[index] / pairs):>6}" for row in rows)
            cosine = _percent(rows[-1].found_cosine[index] / pairs)
            verified = _percent(rows[-1].found_verified[index] / pairs)
            name = padded(labels[index], widest)
            yield f"{name} {pairs:>8,}{shares}{cosine:>8}{verified:>11}"


def _percent(share: float) -> str:
    """A share in per cent without its sign; 100.0 only where the share is exactly 1."""
    return "100.0" if share == 1 else percent(share).removesuffix(" %")


def recipe_name(recipe: Recipe) -> str:
    """The name of a recipe, without its size."""
    detail = {
        "shingles": f" of {' and '.join(map(str, recipe.ngram))} tokens",
        "keywords": f", top {recipe.top}, weights {recipe.weights.value}",
    }.get(recipe.features.value, "")
    could_fold = replace(recipe, fold_variants=True).fold_variants
    apart = ", variants apart" if could_fold and not recipe.fold_variants else ""
    return f"{recipe.features.value}{detail}, hash {recipe.hash.value}{apart}"


def _line(bits: object, head: str, figures: Iterable[str]) -> str:
    columns = "".join(f"{figure:<{_FIGURE}}" for figure in figures)
    return f"{bits:>5}  {head:<{_HEAD - 1}} {columns}".rstrip()


def _figures(accuracy: Accuracy) -> list[str]:
    return [_figure(getattr(accuracy, measure)) for measure in MEASURES]


def _figure(interval: Interval) -> str:
    if isnan(interval.value):
        return "-"
    return f"{_short(interval.value)} ({_short(interval.low)}-{_short(interval.high)})"


def _short(share: float) -> str:
    """A share with three digits, "-" if undefined; 1.000 only where it is exactly 1."""
    if isnan(share):
        return "-"
    return "1.000" if share == 1 else f"{min(share, 0.9994):.3f}".replace("0.", ".", 1)


def render_json(evaluation: Evaluation, *, curve: bool = False) -> Iterator[str]:
    """An evaluation as one JSON object; undefined figures are null."""
    kinds = [
        asdict(kind)
        | _recipe_fields(row.settings.recipe)
        | {name: getattr(row, name)[place].item() for name in _FOUND}
        for row in evaluation.rows
        for place, kind in enumerate(evaluation.kinds)
    ]
    table = evaluation.table
    fields: dict[str, Any] = {"table": None} if table is None else path_fields(table, "table")
    fields |= {name: getattr(evaluation, name) for name in ("texts", "repeated", "draws")}
    fields["seconds"] = round(evaluation.seconds, 3)
    rows = (_without_nan(_size_fields(row, curve=curve)) for row in evaluation.rows)
    return as_json(Report("evaluation", fields, {"rows": rows, "kinds": kinds}))


def render_page(
    evaluation: Evaluation, language: str | None, day: float | None = None
) -> Iterator[str]:
    """Yield the lines of the page; `language` is one of LANGUAGES, None follows the browser.

    `day` is when the evaluation was, in seconds since 1970; None if that is unknown.
    """
    data = {name: getattr(evaluation, name) for name in ("texts", "repeated", "draws")} | {
        "page": "accuracy",
        "day": day,
        "table": None if evaluation.table is None else printable(evaluation.table),
        "kinds": [[printable(each.kind), each.duplicate, each.pairs] for each in evaluation.kinds],
        "rows": list(map(_page_row, evaluation.rows)),
    }
    yield from page_lines(data, {}, language)


def _page_row(row: Evaluated) -> dict[str, Any]:
    """The JSON fields of a recipe at one size, and what else accuracy.js draws."""
    fields: dict[str, Any] = _without_nan(_size_fields(row, curve=True))
    return fields | {
        "name": recipe_name(row.settings.recipe),
        "tally": [(counts / max(counts.sum(), 1)).tolist() for counts in row.tally],
        "found": [getattr(row, name).tolist() for name in _FOUND],
    }


def render_csv(evaluation: Evaluation, *, curve: bool = False) -> Iterator[str]:
    """An evaluation as CSV: a line for each recipe, size and setting; with `curve` for each k."""
    settings = (
        {"recipe": recipe_name(row.settings.recipe)} | _recipe_fields(row.settings.recipe) | setting
        for row in evaluation.rows
        for setting in _csv_settings(row, curve=curve)
    )
    return csv_table(COLUMNS, settings)


def _csv_settings(row: Evaluated, *, curve: bool) -> Iterator[dict[str, Any]]:
    """The CSV lines of one recipe at one size, by column."""
    fields = _size_fields(row, curve=curve)
    yield {"setting": "default", **_flat(fields["default"])}
    yield {"setting": "predicted", "k": row.k, **fields["predicted"]}
    for setting in ("best", "cosine", "verified", "near"):
        yield {"setting": setting, **_flat(fields[setting])}
    for label, scores in fields.get("groups", {}).items():
        yield {"setting": f"groups {label}", **scores}
    asked = row.recommended
    if asked is not None and asked.k is not None:
        yield {"setting": "recommended", "k": asked.k, **_flat(asdict(row.curve[asked.k]))}
    if asked is not None and asked.similarity is not None:
        yield {"setting": "recommended", "similarity": asked.similarity}
    for each in fields.get("curve", ()):
        yield {"setting": "curve", **_flat(each)}


def _size_fields(row: Evaluated, *, curve: bool) -> dict[str, Any]:
    """The JSON fields of one recipe at one size."""
    recipe, similarity = row.settings.recipe, row.settings.similarity
    fields = _recipe_fields(recipe) | {
        "recipe": json.loads(recipe.key()),
        "without_features": row.without,
        "default": {"k": row.k} | asdict(row.curve[row.k]) | {"auc": asdict(row.auc)},
        "best": {"k": row.best_k} | asdict(row.curve[row.best_k]),
        "predicted": _predicted(row, row.k),
        "cosine": {"similarity": similarity} | asdict(row.cosine),
        "verified": {"similarity": similarity, "own_share": row.settings.own_share}
        | asdict(row.verified),
        "near": {"score": NEAR_SCORE} | asdict(row.near),
    }
    if row.groups is not None:
        fields["groups"] = dict(zip(SCANS, map(asdict, row.groups), strict=True))
    if row.recommended is not None:
        fields["recommended"] = asdict(row.recommended)
    if curve:
        fields["curve"] = [
            {"k": k} | asdict(accuracy) | {"predicted": _predicted(row, k)}
            for k, accuracy in enumerate(row.curve)
        ]
    return fields


def _recipe_fields(recipe: Recipe) -> dict[str, Any]:
    return {"features": recipe.features.value, "hash": recipe.hash.value, "bits": recipe.bits}


def _predicted(row: Evaluated, k: int) -> dict[str, float]:
    return dict(zip(MEASURES, row.predicted[:, k].tolist(), strict=True))


def _flat(fields: dict[str, Any]) -> dict[str, Any]:
    """JSON fields as CSV columns; an interval becomes three columns, other objects are dropped."""
    flat = {}
    for key, value in fields.items():
        if not isinstance(value, dict):
            flat[key] = value
        elif "low" in value:
            flat |= {key: value["value"], f"{key}_low": value["low"], f"{key}_high": value["high"]}
    return flat


def _without_nan(value: Any) -> Any:  # noqa: ANN401
    """Fields with None in place of NaN, at any depth."""
    return json.loads(json.dumps(value), parse_constant=lambda _: None)
