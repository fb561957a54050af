"""The records that `evaluate` returns."""

from __future__ import annotations

from dataclasses import dataclass, field

from simdup.arrays import Floats
from simdup.evaluation.metrics import Accuracy
from simdup.records import Interval
from simdup.settings import Settings


@dataclass(frozen=True, slots=True)
class GroupScores:
    """How well the groups of a scan match labelled clusters."""

    precision: float
    """Precision of the pairs within groups; NaN if there are none."""
    recall: float
    f1: float
    adjusted_rand_index: float
    """1 for exactly the clusters, about 0 for random groups."""


@dataclass(frozen=True, slots=True)
class Recommended:
    """The farthest thresholds that keep the precision asked for; None if no threshold does."""

    precision: float
    k: int | None
    similarity: float | None
    """The threshold of verified scans, in steps of 0.01."""


@dataclass(frozen=True, slots=True, eq=False)
class Evaluated:
    """How accurate one recipe is at one size."""

    settings: Settings
    """Recipe and thresholds; `distance` is the default k."""
    curve: tuple[Accuracy, ...] = field(repr=False)
    """(bits + 1,): the accuracy at each k."""
    predicted: Floats = field(repr=False)
    """(4, bits + 1): precision, recall, F1 and accuracy that theory predicts at each k."""
    auc: Interval
    cosine: Accuracy
    """The accuracy of exact similarities alone, computed for candidates."""
    verified: Accuracy
    """The accuracy of a scan's answer: exact similarities, and own shares within the collection."""
    tally: Floats = field(repr=False)
    """(2, bits + 1): pairs at each distance, others in row 0, duplicates in row 1; a mean over
    draws."""
    found: Floats
    """(kinds,): pairs of each kind within the default k; a mean over draws."""
    found_cosine: Floats
    """(kinds,): pairs of each kind that exact similarities alone find; a mean over draws."""
    found_verified: Floats
    """(kinds,): pairs of each kind that verified scans find; a mean over draws."""
    without: int
    """The number of texts without a feature, which are never found."""
    groups: tuple[GroupScores, GroupScores] | None
    """The scores of a bare and of a verified scan; None unless clusters were labelled."""
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
    """How accurate recipes are on labelled pairs."""

    table: str | None
    """The path of the table of labels; None: simdup's own."""
    texts: int
    repeated: int
    """The number of lines that repeat an earlier pair; they do not count."""
    kinds: tuple[Labelled, ...]
    draws: int
    rows: tuple[Evaluated, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class Labelled:
    """A kind of pairs in a table of labels, and how many of it there are."""

    kind: str
    duplicate: bool | None
    """None: the pairs are only reported, and judged neither way."""
    pairs: int
