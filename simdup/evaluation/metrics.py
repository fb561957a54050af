"""Labels and distances in, accuracy out: how well a threshold tells duplicates from others.

A pair is *found* when its distance is at most k. Everything is read off a tally: for each
distance the number of duplicates and of others. Intervals come from tallies of resampled
pairs, curves from tallies summed up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simdup.theory import within_probabilities

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]
    Indices = NDArray[np.int64]

# Probabilities are rounded to this for predictions, so that pairs share them; of 256 bits
# that is an error of an eightieth of a bit at most, of 4096 of a fifth.
P_STEP = 1e-4

#: What is measured at a threshold, in the order of `measures`.
MEASURES = ("precision", "recall", "f1", "accuracy")

#: The share of intervals that hold the true value.
CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Interval:
    """A figure and its bootstrap interval of 95 %; all NaN where the figure is undefined."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Accuracy:
    """How well one threshold does."""

    precision: Interval
    """Of the pairs found, the share that are duplicates; undefined when none is found."""
    recall: Interval
    """Of the duplicates, the share that is found."""
    f1: Interval
    """The harmonic mean of both: 2 tp / (2 tp + fp + fn)."""
    accuracy: Interval
    """Of all pairs, the share that is told right."""


@dataclass(frozen=True, slots=True)
class Tally:
    """How many pairs there are at each distance, again for every resample."""

    duplicates: Numbers
    """(resamples + 1, draws, distances): row 0 holds the pairs as they are."""
    others: Numbers
    """The same for pairs that are no duplicates."""

    def found(self) -> tuple[Numbers, Numbers]:
        """True and false positives at every threshold; two arrays of the tally's shape."""
        return self.duplicates.cumsum(axis=2), self.others.cumsum(axis=2)

    def measures(self) -> Numbers:
        """Precision, recall, F1 and accuracy: (4, resamples + 1, thresholds), draws averaged."""
        right, wrong = self.found()
        every = measures(right, wrong, right[..., -1:], wrong[..., -1:])
        return np.array([_mean(each) for each in every])

    def accuracy(self, k: int) -> Accuracy:
        """How well threshold k does."""
        return accuracies(self.measures()[:, :, k : k + 1])[0]

    def auc(self) -> Interval:
        """The area under the ROC curve, with its interval."""
        return _intervals(_mean(auc(self.duplicates, self.others))[:, None])[0]


def tally(
    distances: Indices, labels: NDArray[np.bool_], weights: Iterator[Numbers], size: int
) -> Tally:
    """The pairs at each distance from 0 to size - 1, once for each array of `weights`.

    `distances` (draws, m) are those of m pairs in one or more draws, `labels` (m,) says
    which are duplicates, and each of `weights` (m,) how often each pair counts.
    """
    draws = len(distances)
    places = (2 * np.arange(draws)[:, None] + labels) * size + distances
    bins = 2 * draws * size
    rows = [np.bincount(places.ravel(), np.tile(each, draws), bins) for each in weights]
    counts = np.array(rows, np.float64).reshape(len(rows), draws, 2, size)
    return Tally(counts[:, :, 1], counts[:, :, 0])


def measures(right: Numbers, wrong: Numbers, duplicates: Numbers, others: Numbers) -> Numbers:
    """Precision, recall, F1 and accuracy of tp and fp among p and n; first axis of 4.

    A share of nothing is NaN.

    >>> measures(*np.array([[3.0], [1.0], [4.0], [12.0]])).ravel().round(3).tolist()
    [0.75, 0.75, 0.75, 0.875]
    """
    with np.errstate(invalid="ignore"):
        precision = right / (right + wrong)
        recall = right / duplicates
        f1 = 2 * right / (right + wrong + duplicates)
        accuracy = (right + others - wrong) / (duplicates + others)
    return np.array(np.broadcast_arrays(precision, recall, f1, accuracy))


def auc(duplicates: Numbers, others: Numbers) -> Numbers:
    """The probability that a duplicate is nearer than another pair, equal ones counted half.

    The area under the ROC curve. Takes tallies (..., distances), returns (...). Source:
    Hanley, McNeil, "The meaning and use of the area under a ROC curve", 1982.
    """
    nearer = others.sum(axis=-1, keepdims=True) - others.cumsum(axis=-1) + others / 2
    with np.errstate(invalid="ignore"):
        area: Numbers = (duplicates * nearer).sum(axis=-1) / (
            duplicates.sum(axis=-1) * others.sum(axis=-1)
        )
    return area


def accuracies(every: Numbers) -> list[Accuracy]:
    """The accuracy at each threshold of `Tally.measures`, with intervals."""
    return [
        Accuracy(*each) for each in zip(*(_intervals(measure) for measure in every), strict=True)
    ]


def predicted(p: Numbers, labels: NDArray[np.bool_], bits: int) -> Numbers:
    """Precision, recall, F1 and accuracy to be expected at every threshold; (4, bits + 1).

    `p` (m,) is the probability that a bit of each pair differs, `labels` (m,) says which
    pairs are duplicates. The ratios are those of expected counts.
    """
    steps, step = np.unique(np.rint(p / P_STEP), return_inverse=True)
    within = within_probabilities(steps * P_STEP, bits)
    right, wrong = (
        np.bincount(step[each], minlength=len(steps)) @ within for each in (labels, ~labels)
    )
    return measures(right, wrong, right[-1:], wrong[-1:])


def resamples(units: Indices, count: int, seed: int = 1) -> Iterator[Numbers]:
    """How often each pair counts: as it is, then in `count` bootstrap resamples; each (m,).

    `units` (m, 2) says which unit each side of a pair belongs to. Units are drawn with
    replacement, not pairs, since pairs that share a document vary together: a pair
    within a unit counts as often as the unit is drawn, another one as often as both
    together. That is a little cautious: pairs that share nothing get wider intervals.
    Source: Owen, "The pigeonhole bootstrap", 2007.
    """
    left, right = units.T
    n, is_within = int(units.max(initial=-1)) + 1, left == right
    random = np.random.default_rng(seed)
    yield np.ones(len(units))
    for _ in range(count):
        drawn = np.bincount(random.integers(0, n, n), minlength=n).astype(np.float64)
        yield np.where(is_within, drawn[left], drawn[left] * drawn[right])


def clustering(clusters: Indices, groups: Indices) -> tuple[float, float, float, float]:
    """Precision, recall and F1 of the pairs within groups, and the adjusted Rand index.

    Both arrays (n,) name the cluster (the truth) and the group (the answer) of each of n
    documents. The index is 1 for equal partitions and about 0 for unrelated ones.
    Source: Hubert, Arabie, "Comparing partitions", 1985.

    >>> clustering(np.array([0, 0, 1, 1]), np.array([0, 0, 1, 2]))[:3]
    (1.0, 0.5, 0.6666666666666666)
    """

    def pairs(labels: Indices) -> float:
        sizes = np.unique(labels, return_counts=True)[1].astype(np.float64)
        return float((sizes * (sizes - 1)).sum() / 2)

    n = len(clusters)
    both = pairs(clusters * (int(groups.max(initial=0)) + 1) + groups)
    true, found, every = pairs(clusters), pairs(groups), n * (n - 1) / 2
    numbers = np.array([[both], [found - both], [true], [every - true]])
    precision, recall, f1, _ = measures(*numbers)[:, 0].tolist()
    chance = true * found / every if every else 0.0
    most = (true + found) / 2
    index = 1.0 if most == chance else (both - chance) / (most - chance)
    return precision, recall, f1, index


def _mean(draws: Numbers) -> Numbers:
    """The mean over axis 1, leaving out what is undefined; NaN where all of it is."""
    defined = ~np.isnan(draws)
    with np.errstate(invalid="ignore"):
        mean: Numbers = np.where(defined, draws, 0).sum(axis=1) / defined.sum(axis=1)
    return mean


def _intervals(values: Numbers) -> list[Interval]:
    """For each column the value in row 0 and the interval of the resamples in the others."""
    tails = [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2]
    # Undefined values (nothing found) sort to the end and are left out.
    ordered = np.sort(values[1:], axis=0)
    defined = (~np.isnan(ordered)).sum(axis=0)
    columns = np.arange(values.shape[1])
    low, high = (
        ordered[np.maximum(np.rint(tail * (defined - 1)).astype(np.int64), 0), columns]
        if len(ordered)
        else values[0]
        for tail in tails
    )
    return [
        Interval(*each)
        for each in zip(values[0].tolist(), low.tolist(), high.tolist(), strict=True)
    ]
