"""An evaluation as one HTML page: accuracy by size as a picture in which k can be moved."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import isnan
from typing import Any

from simdup.evaluation.metrics import MEASURES, Accuracy
from simdup.evaluation.results import Evaluated, Evaluation
from simdup.records import Interval
from simdup.report.accuracy import by_recipe, recipe_name
from simdup.report.page.frame import ACCURACY, page_lines
from simdup.report.wording import printable
from simdup.theory import similarity_at
from simdup.versions import version

# Shares are rounded to this many digits; the page shows three of them.
DIGITS = 5


def render_accuracy(
    evaluation: Evaluation, language: str | None, day: float | None = None
) -> Iterator[str]:
    """The lines of the page; `language` is one of LANGUAGES, None follows the reader's browser.

    `day` is when the evaluation was, in seconds since 1970; None if that is unknown.
    """
    recipes = by_recipe(evaluation)
    data = {
        "page": "accuracy",
        "version": version("simdup"),
        "language": language,
        "day": day,
        "table": None if evaluation.table is None else printable(evaluation.table),
        "texts": evaluation.texts,
        "repeated": evaluation.repeated,
        "draws": evaluation.draws,
        "kinds": [[printable(each.kind), each.duplicate, each.pairs] for each in evaluation.kinds],
        "recipes": [
            {
                "name": recipe_name(rows[0].settings.recipe),
                "without": rows[0].without,
                "sizes": list(map(_size, rows)),
            }
            for rows in recipes
        ],
    }
    return page_lines(ACCURACY, data, {})


def _size(row: Evaluated) -> dict[str, Any]:
    """The figures of a recipe at one size, as accuracy.js reads them; curves are arrays by k."""
    asked, bits = row.recommended, row.settings.recipe.bits
    return {
        "bits": bits,
        "k": row.k,
        "best": row.best_k,
        "recommended": asked and asked.k,
        "similarity": row.settings.similarity,
        "ownShare": row.settings.own_share,
        "alike": _shares(max(0.0, similarity_at(k, bits)) for k in range(bits + 1)),
        "curve": {
            measure: _by_end(getattr(accuracy, measure) for accuracy in row.curve)
            for measure in MEASURES
        },
        "predicted": dict(zip(MEASURES, map(_shares, row.predicted.tolist()), strict=True)),
        "cosine": _accuracy(row.cosine),
        "verified": _accuracy(row.verified),
        "tally": [_shares((counts / max(counts.sum(), 1)).tolist()) for counts in row.tally],
        "found": [
            [round(number, 2) for number in each.tolist()]
            for each in (row.found, row.found_cosine, row.found_verified)
        ],
    }


def _by_end(intervals: Iterable[Interval]) -> list[list[float | None]]:
    """Three lists: the values of the intervals, their lower ends and their upper ends."""
    every = list(intervals)
    return [_shares(getattr(each, end) for each in every) for end in ("value", "low", "high")]


def _accuracy(accuracy: Accuracy) -> dict[str, list[float | None]]:
    """Value, lower and upper end of each measure."""
    intervals = ((measure, getattr(accuracy, measure)) for measure in MEASURES)
    return {measure: _shares((each.value, each.low, each.high)) for measure, each in intervals}


def _shares(values: Iterable[float]) -> list[float | None]:
    """The shares, rounded to DIGITS digits; None for an undefined share."""
    return [None if isnan(value) else round(value, DIGITS) for value in values]
