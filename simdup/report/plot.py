"""A picture of an evaluation: accuracy by size, distances by size, precision and recall by k.

Drawn with matplotlib, the extra `plot`. What differs in colour differs in lightness and
in shape or line as well, so that a grey print says the same.
"""

from __future__ import annotations

import io
import os
from importlib.util import find_spec
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from simdup.errors import ExtraMissingError, InputError
from simdup.report.accuracy import name

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axes import Axes

    from simdup.evaluation.results import Evaluated, Evaluation

FORMATS = {".png": "png", ".svg": "svg"}

# From Okabe and Ito's palette for the colour-blind, dark to light: one a recipe.
COLOURS = ("#000000", "#0072B2", "#D55E00", "#56B4E9", "#E69F00")
MARKS = ("o", "s", "^", "D", "v")
DUPLICATES, OTHERS, PRECISION = "#0072B2", "#E69F00", "#A33B00"

# Distances are drawn in at most so many columns.
COLUMNS = 64


def renderer(path: str) -> Callable[[Evaluation], list[bytes]]:
    """The function that draws an evaluation in the format that the path's suffix names.

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

    recipes = [
        list(rows)
        for _, rows in groupby(evaluation.rows, key=lambda row: name(row.settings.recipe))
    ]
    wide = max(map(len, recipes))
    file = io.BytesIO()
    with rc_context({"svg.hashsalt": "simdup", "font.size": 10}):
        figure = Figure(
            figsize=(max(11, 2.6 * wide), 4.6 + 4.9 * len(recipes)), layout="constrained"
        )
        heights = [4.6, *[4.9] * len(recipes)]
        parts = np.array(figure.subfigures(len(heights), 1, height_ratios=heights))
        _sizes(parts[0].subplots(1, 2, sharey=True), recipes)
        for part, rows in zip(parts[1:], recipes, strict=True):
            part.suptitle(name(rows[0].settings.recipe), fontweight="bold")
            axes = part.subplots(2, len(rows), squeeze=False)
            for place, row in enumerate(rows):
                _distances(axes[0, place], row)
                _thresholds(axes[1, place], row)
            axes[0, 0].set_ylabel("share of each class")
            axes[1, 0].set_ylabel("precision, recall")
            axes[0, 0].legend(fontsize=8)
            axes[1, 0].legend(fontsize=8)
        stable = {"Date": None} if form == "svg" else {"Software": None}
        figure.savefig(file, format=form, dpi=100, metadata=stable)
    return file.getvalue()


def _sizes(axes: Sequence[Axes], recipes: Sequence[Sequence[Evaluated]]) -> None:
    """F1 by size, at the default and at the best threshold, one line a recipe."""
    titles = (
        "F1 at the default threshold, and by theory",
        "F1 at the best threshold, and verified",
    )
    for axis, title in zip(axes, titles, strict=True):
        axis.set_title(title)
        axis.set_xscale("log", base=2)
        axis.set_xlabel("bits of a fingerprint")
        axis.set_ylim(0, 1.02)
        axis.grid(alpha=0.3)
    default, best = axes
    default.set_ylabel("F1, with intervals of 95 %")
    count = len(recipes)
    for place, rows in enumerate(recipes):
        sizes = np.array([row.settings.recipe.bits for row in rows], np.float64)
        # A little aside, so that intervals do not hide each other.
        sizes *= 2 ** (0.08 * (place - (count - 1) / 2))
        style: dict[str, Any] = {"color": COLOURS[place % 5], "marker": MARKS[place % 5], "ms": 5}
        label = name(rows[0].settings.recipe)
        _line(default, sizes, [row.curve[row.k].f1 for row in rows], label=label, **style)
        theory = [row.predicted[2, row.k] for row in rows]
        once = "" if place else "by theory"
        default.plot(sizes, theory, ls=":", color=style["color"], lw=1.2, label=once)
        _line(best, sizes, [row.curve[row.best_k].f1 for row in rows], label=label, **style)
        verified = [row.verified.f1 for row in rows]
        once = "" if place else "verified (white marks)"
        _line(best, sizes, verified, label=once, **style, mfc="white", ls="--")
    for axis in axes:
        ticks = sorted({row.settings.recipe.bits for rows in recipes for row in rows})
        axis.set_xticks(ticks, [str(tick) for tick in ticks])
        axis.minorticks_off()
        axis.legend(fontsize=8, loc="lower right")


def _line(axis: Axes, sizes: Any, intervals: Sequence[Any], **style: Any) -> None:  # noqa: ANN401
    """Figures with their intervals."""
    values = np.array([[each.value, each.low, each.high] for each in intervals]).T
    # A bootstrap interval need not hold the value itself.
    below, above = np.maximum(values[0] - values[1], 0), np.maximum(values[2] - values[0], 0)
    axis.errorbar(sizes, values[0], yerr=np.array([below, above]), capsize=3, lw=1.4, **style)


def _distances(axis: Axes, row: Evaluated) -> None:
    """What share of duplicates, and of others, is at each distance."""
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
    axis.set_title(f"{bits} bits, k = {row.k}")
    axis.set_xlim(-0.5, bits * 0.75)
    axis.locator_params(axis="x", integer=True)
    axis.set_xlabel("distance in bits")


def _thresholds(axis: Axes, row: Evaluated) -> None:
    """Precision and recall at every threshold, and what theory expects."""
    bits = row.settings.recipe.bits
    k = np.arange(bits + 1)
    for place, (measure, colour, style) in enumerate(
        (("precision", PRECISION, "-"), ("recall", DUPLICATES, "-."))
    ):
        intervals = [getattr(accuracy, measure) for accuracy in row.curve]
        axis.plot(k, [each.value for each in intervals], style, color=colour, label=measure)
        low, high = ([getattr(each, end) for each in intervals] for end in ("low", "high"))
        axis.fill_between(k, low, high, color=colour, alpha=0.25, lw=0)
        label = "by theory" if place == 0 else None
        axis.plot(k, row.predicted[place], ":", color="black", lw=0.8, label=label)
    axis.axvline(row.k + 0.5, color="black", lw=1, ls="--")
    axis.set_xlim(0, bits * 0.75)
    axis.set_ylim(0, 1.02)
    axis.grid(alpha=0.3)
    axis.locator_params(axis="x", integer=True)
    axis.set_xlabel("threshold k in bits")
