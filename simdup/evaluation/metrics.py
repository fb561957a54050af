"""Figures of accuracy and their formulas: how well a threshold tells duplicates from other pairs.

A pair is *found* when its distance is at most k. All figures are computed from a tally, which
holds the number of duplicates and of others at each distance. Cumulated tallies give the
figures of every threshold, and tallies of resampled pairs their intervals.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from simdup.arrays import Floats, Indices, Mask
from simdup.records import Interval
from simdup.settings import Settings
from simdup.theory import within_probabilities

# Predictions round probabilities to this, so that many pairs have the same one. The expected
# distance is then wrong by at most an eightieth of a bit in 256 bits, a fifth in 4096.
P_STEP = 1e-4

#: The figures of a threshold, in the order in which `measures` returns them.
MEASURES = ("precision", "recall", "f1", "accuracy")

#: The probability that an interval holds the true value.
CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Accuracy:
    """How well one threshold tells duplicates from other pairs.

    precision: The share of duplicates among the pairs found; undefined when none is found.
    recall: The share of the duplicates found.
    f1: The harmonic mean of precision and recall: 2 tp / (2 tp + fp + fn).
    accuracy: The share of all pairs judged correctly.
    """

    precision: Interval
    recall: Interval
    f1: Interval
    accuracy: Interval


@dataclass(frozen=True, slots=True)
class GroupScores:
    """How well the groups of a scan match labelled clusters.

    precision: Precision of the pairs within groups; NaN if there are none.
    adjusted_rand_index: 1 for exactly the clusters, about 0 for random groups.
    """

    precision: float
    recall: float
    f1: float
    adjusted_rand_index: float


@dataclass(frozen=True, slots=True)
class Recommended:
    """The farthest thresholds that keep the precision asked for; None if no threshold does.

    similarity: The threshold of verified scans, in steps of 0.01.
    """

    precision: float
    k: int | None
    similarity: float | None


@dataclass(frozen=True, slots=True, eq=False)
class Evaluated:
    """How accurate one recipe is at one size.

    settings: Recipe and thresholds; `distance` is the default k.
    curve: (bits + 1,): the accuracy at each k.
    predicted: (4, bits + 1): precision, recall, F1 and accuracy that theory predicts at each k.
    cosine: The accuracy of exact similarities alone, computed for candidates.
    verified: The accuracy of a scan's answer: exact similarities, and own shares within the
        collection.
    near: The accuracy of the answer without texts that are only related.
    tally: (2, bits + 1): pairs at each distance, others in row 0, duplicates in row 1; a mean over
        draws.
    found: (kinds,): pairs of each kind within the default k; a mean over draws.
    found_cosine: (kinds,): pairs of each kind that exact similarities alone find; a mean over
        draws.
    found_verified: (kinds,): pairs of each kind that verified scans find; a mean over draws.
    without: The number of texts without a feature, which are never found.
    groups: The scores of a bare and of a verified scan; None unless clusters were labelled.
    """

    settings: Settings
    curve: tuple[Accuracy, ...] = field(repr=False)
    predicted: Floats = field(repr=False)
    auc: Interval
    cosine: Accuracy
    verified: Accuracy
    near: Accuracy
    tally: Floats = field(repr=False)
    found: Floats
    found_cosine: Floats
    found_verified: Floats
    without: int
    groups: tuple[GroupScores, GroupScores] | None
    recommended: Recommended | None

    @property
    def k(self) -> int:
        """The default threshold, in bits."""
        return self.settings.distance

    @property
    def best_k(self) -> int:
        """The threshold with the highest F1, in bits; the lowest of several."""
        return max(range(len(self.curve)), key=lambda k: (self.curve[k].f1.value, -k))


@dataclass(frozen=True, slots=True)
class Evaluation:
    """How accurate recipes are on labelled pairs.

    table: The path of the table of labels; None: simdup's own.
    repeated: The number of lines that repeat an earlier pair; they do not count.
    """

    table: str | None
    texts: int
    repeated: int
    kinds: tuple[Labelled, ...]
    draws: int
    rows: tuple[Evaluated, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class Labelled:
    """A kind of pairs in a table of labels, and the number of its pairs.

    duplicate: None: the pairs are only reported, and judged neither way.
    """

    kind: str
    duplicate: bool | None
    pairs: int


@dataclass(frozen=True, slots=True)
class Tally:
    """The number of pairs at each distance, in the labelled pairs and in every resample.

    Both arrays are (resamples + 1, draws, distances), and row 0 counts every pair once.
    """

    duplicates: Floats
    others: Floats

    def curve(self) -> tuple[Accuracy, ...]:
        """The accuracy at every threshold, averaged over draws."""
        # True and false positives at every threshold.
        right, wrong = self.duplicates.cumsum(axis=2), self.others.cumsum(axis=2)
        every = measures(right, wrong, right[..., -1:], wrong[..., -1:])
        columns = zip(*(_intervals(_mean(each)) for each in every), strict=True)
        return tuple(Accuracy(*each) for each in columns)

    def auc(self) -> Interval:
        """The area under the ROC curve, averaged over draws."""
        return _intervals(_mean(roc_area(self.duplicates, self.others))[:, None])[0]


def tally(distances: Indices, labels: Mask, weights: Iterator[Floats], size: int) -> Tally:
    """Count the pairs at each distance from 0 to size - 1, once for each array of `weights`.

    `distances` (draws, m) has the distances of m pairs in each draw, `labels` (m,) says which
    pairs are duplicates, and each of `weights` (m,) how often each pair counts.
    """
    draws = len(distances)
    places = (2 * np.arange(draws)[:, None] + labels) * size + distances
    bins = 2 * draws * size
    rows = [np.bincount(places.ravel(), np.tile(each, draws), bins) for each in weights]
    counts = np.array(rows, np.float64).reshape(len(rows), draws, 2, size)
    return Tally(counts[:, :, 1], counts[:, :, 0])


def measures(right: Floats, wrong: Floats, duplicates: Floats, others: Floats) -> Floats:
    """Precision, recall, F1 and accuracy, stacked along a first axis of 4; NaN if undefined.

    `right` and `wrong` are the true and false positives among all `duplicates` and `others`.

    >>> measures(*np.array([[3.0], [1.0], [4.0], [12.0]])).ravel().round(3).tolist()
    [0.75, 0.75, 0.75, 0.875]
    """
    with np.errstate(invalid="ignore"):
        precision = right / (right + wrong)
        recall = right / duplicates
        f1 = 2 * right / (right + wrong + duplicates)
        accuracy = (right + others - wrong) / (duplicates + others)
    return np.array(np.broadcast_arrays(precision, recall, f1, accuracy))


def roc_area(duplicates: Floats, others: Floats) -> Floats:
    """The probability that a duplicate is nearer than another pair; ties count half.

    This is the area under the ROC curve. Takes tallies (..., distances), returns (...).
    Source: Hanley, McNeil, "The meaning and use of the area under a ROC curve", 1982.
    """
    nearer = others.sum(axis=-1, keepdims=True) - others.cumsum(axis=-1) + others / 2
    pairs = duplicates.sum(axis=-1) * others.sum(axis=-1)
    with np.errstate(invalid="ignore"):
        area: Floats = (duplicates * nearer).sum(axis=-1) / pairs
    return area


def predicted(p: Floats, labels: Mask, bits: int) -> Floats:
    """Precision, recall, F1 and accuracy that theory predicts at each threshold; (4, bits + 1).

    `p` (m,) is the probability that a bit of each pair differs, `labels` (m,) says which pairs
    are duplicates. Figures are computed from the expected numbers of pairs found.
    """
    steps, step = np.unique(np.rint(p / P_STEP), return_inverse=True)
    within = within_probabilities(steps * P_STEP, bits)
    right, wrong = (
        np.bincount(step[each], minlength=len(steps)) @ within for each in (labels, ~labels)
    )
    return measures(right, wrong, right[-1:], wrong[-1:])


def resamples(units: Indices, count: int, seed: int = 1) -> Iterator[Floats]:
    """Yield weights (m,) of the pairs: first all 1, then once for each of `count` resamples.

    `units` (m, 2) says which unit each side of a pair belongs to. A bootstrap resample draws
    units with replacement, not pairs, since pairs that share a document vary together. The weight
    of a pair is how often its unit is drawn, or the product for its two units. Intervals of pairs
    that share nothing become a little too wide. Source: Owen, "The pigeonhole bootstrap", 2007.
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

    `clusters` (n,) has the true cluster of each of n documents, `groups` (n,) the group found.
    The index is 1 for equal partitions and about 0 for unrelated ones.
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


def _mean(draws: Floats) -> Floats:
    """The mean over axis 1 without NaN values; NaN if all are NaN."""
    defined = ~np.isnan(draws)
    with np.errstate(invalid="ignore"):
        mean: Floats = np.where(defined, draws, 0).sum(axis=1) / defined.sum(axis=1)
    return mean


def _intervals(values: Floats) -> list[Interval]:
    """For each column the value in row 0, and the interval of the resamples in the other rows."""
    tails = [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2]
    # NaN, where nothing was found, sorts to the end and is left out.
    ordered = np.sort(values[1:] if len(values) > 1 else values, axis=0)
    last = (~np.isnan(ordered)).sum(axis=0) - 1
    places = np.maximum(np.rint(np.outer(tails, last)).astype(np.int64), 0)
    ends = np.take_along_axis(ordered, places, axis=0)
    return [Interval(*each) for each in np.vstack((values[:1], ends)).T.tolist()]
