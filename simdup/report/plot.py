"""A picture of an evaluation: F1 by size, distances by size, precision and recall by k.

Drawn with matplotlib, the extra `plot`. Whatever differs in colour also differs in lightness,
and in shape or line, so that a grey print is as clear.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from simdup.arrays import Floats
from simdup.errors import ExtraMissingError, InputError
from simdup.evaluation.metrics import Evaluated, Evaluation
from simdup.records import Interval
from simdup.report.accuracy import by_recipe, recipe_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMATS = {".png": "png", ".svg": "svg"}

# From Okabe and Ito's palette for the colour-blind, dark to light: one for each recipe.
COLOURS = ("#000000", "#0072B2", "#D55E00", "#56B4E9", "#E69F00")
MARKS = ("o", "s", "^", "D", "v")
DUPLICATES, OTHERS, PRECISION = "#0072B2", "#E69F00", "#A33B00"

# The most columns in which distances are drawn.
COLUMNS = 64


def renderer(path: str) -> Callable[[Evaluation], list[bytes]]:
    """A function that draws an evaluation in the format that the path's suffix names.

    Raises InputError for another suffix, ExtraMissingError without matplotlib.
    """
    suffix = os.path.splitext(path)[1].lower()
    if suffix not in FORMATS:
        raise InputError(f"{path!r}: a picture's name ends in {' or '.join(FORMATS)}")
    if find_spec("matplotlib") is None:
        raise ExtraMissingError("--plot", "plot")
    return lambda evaluation: [render(evaluation, FORMATS[suffix])]


def render(evaluation: Evaluation, form: str) -> bytes:
    """The picture, as the bytes of a PNG or SVG file."""
    from matplotlib import rc_context  # noqa: PLC0415  (an extra)
    from matplotlib.figure import Figure  # noqa: PLC0415

    recipes = by_recipe(evaluation)
    widest = max(map(len, recipes))
    heights = [4.6] + [4.9] * len(recipes)
    file = io.BytesIO()
    with rc_context({"svg.hashsalt": "simdup", "font.size": 10}):
        figure = Figure(figsize=(max(11, 2.6 * widest), sum(heights)), layout="constrained")
        parts = np.array(figure.subfigures(len(heights), 1, height_ratios=heights))
        _draw_f1(parts[0].subplots(1, 3, sharey=True), recipes)
        for part, rows in zip(parts[1:], recipes, strict=True):
            part.suptitle(recipe_name(rows[0].settings.recipe), fontweight="bold")
            above, below = part.subplots(2, len(rows), squeeze=False)
            for row, upper, lower in zip(rows, above, below, strict=True):
                _draw_distances(upper, row)
                _draw_thresholds(lower, row)
            for axis, label in ((above[0], "share of each class"), (below[0], "precision, recall")):
                axis.set_ylabel(label)
                axis.legend(fontsize=8)
        # Without the date and the version, equal evaluations give equal files.
        metadata = {"Date": None} if form == "svg" else {"Software": None}
        figure.savefig(file, format=form, dpi=100, metadata=metadata)
    return file.getvalue()


def _draw_f1(axes: Sequence[Axes], recipes: Sequence[Sequence[Evaluated]]) -> None:
    """F1 by size: bare at the default threshold, bare at the best threshold, and verified."""
    titles = "the default k, and theory", "the best k", "verified"
    axes[0].set_ylabel("F1, with intervals of 95 %")
    for axis, title in zip(axes, titles, strict=True):
        axis.set_xscale("log", base=2)
        axis.set(title=f"F1: {title}", xlabel="bits of a fingerprint", ylim=(0, 1.02))
        axis.grid(alpha=0.3)
    for place, rows in enumerate(recipes):
        # A little aside, so that intervals do not hide each other.
        aside = 2 ** (0.08 * (place - (len(recipes) - 1) / 2))
        _draw_f1_of_recipe(axes, rows, place, aside)
    ticks = sorted({row.settings.recipe.bits for rows in recipes for row in rows})
    for axis in axes:
        axis.set_xticks(ticks, [str(tick) for tick in ticks])
        axis.minorticks_off()
        axis.legend(fontsize=8, loc="lower right")


def _draw_f1_of_recipe(
    axes: Sequence[Axes], rows: Sequence[Evaluated], place: int, aside: float
) -> None:
    sizes = aside * np.array([row.settings.recipe.bits for row in rows], np.float64)
    style: dict[str, Any] = {"color": COLOURS[place % 5], "marker": MARKS[place % 5], "ms": 5}
    label = recipe_name(rows[0].settings.recipe)
    figures = [
        (each.curve[each.k].f1, each.curve[each.best_k].f1, each.verified.f1) for each in rows
    ]
    for axis, intervals in zip(axes, zip(*figures, strict=True), strict=True):
        _draw_intervals(axis, sizes, intervals, style, label=label)
    default, _, verified = axes
    # Theory and cosines look alike for all recipes: one entry in the legend each.
    theory, cosine = ("", "") if place else ("by theory", "without own share (white marks)")
    predictions = [row.predicted[2, row.k] for row in rows]
    default.plot(sizes, predictions, ls=":", color=style["color"], lw=1.2, label=theory)
    style |= {"mfc": "white", "ls": "--"}
    _draw_intervals(verified, sizes, [row.cosine.f1 for row in rows], style, label=cosine)


def _draw_intervals(
    axis: Axes, sizes: Floats, intervals: Sequence[Interval], style: dict[str, Any], *, label: str
) -> None:
    values = np.array([[each.value, each.low, each.high] for each in intervals]).T
    # A bootstrap interval need not hold the value itself.
    errors = np.maximum([values[0] - values[1], values[2] - values[0]], 0)
    axis.errorbar(sizes, values[0], yerr=errors, capsize=3, lw=1.4, label=label, **style)


def _draw_distances(axis: Axes, row: Evaluated) -> None:
    """The share of duplicates, and of other pairs, at each distance."""
    bits = row.settings.recipe.bits
    step = -(-(bits + 1) // COLUMNS)
    edges = np.arange(0, bits + 1 + step, step) - 0.5
    middle = np.arange(bits + 1)
    others, duplicates = row.tally
    for counts, colour, label, hatch in (
        (others, OTHERS, "others", ""),
        (duplicates, DUPLICATES, "duplicates", "////"),
    ):
        share = counts / max(counts.sum(), 1)
        heights, _ = np.histogram(middle, edges, weights=share)
        axis.stairs(heights, edges, fill=True, color=colour, alpha=0.45, hatch=hatch, label=label)
        axis.stairs(heights, edges, color=colour, lw=1)
    axis.axvline(row.k + 0.5, color="black", lw=1, ls="--", label="default k")
    title = f"{bits} bits, k = {row.k}"
    axis.set(title=title, xlim=(-0.5, bits * 0.75), xlabel="distance in bits")
    axis.locator_params(axis="x", integer=True)


def _draw_thresholds(axis: Axes, row: Evaluated) -> None:
    """Precision and recall at every threshold, and as theory predicts them."""
    k = np.arange(row.settings.recipe.bits + 1)
    curves = (("precision", PRECISION, "-"), ("recall", DUPLICATES, "-."))
    for place, (measure, colour, style) in enumerate(curves):
        intervals = [getattr(accuracy, measure) for accuracy in row.curve]
        axis.plot(k, [each.value for each in intervals], style, color=colour, label=measure)
        low, high = [each.low for each in intervals], [each.high for each in intervals]
        axis.fill_between(k, low, high, color=colour, alpha=0.25, lw=0)
        theory = None if place else "by theory"
        axis.plot(k, row.predicted[place], ":", color="black", lw=0.8, label=theory)
    axis.axvline(row.k + 0.5, color="black", lw=1, ls="--")
    axis.set(xlim=(0, k[-1] * 0.75), ylim=(0, 1.02), xlabel="threshold k in bits")
    axis.grid(alpha=0.3)
    axis.locator_params(axis="x", integer=True)
