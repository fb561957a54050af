"""What measuring recipes on labelled pairs gives: records, as `evaluate` makes them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from simdup.evaluation.metrics import Accuracy, Interval
    from simdup.settings import Settings


@dataclass(frozen=True, slots=True)
class GroupScores:
    """How well the groups of a scan match labelled clusters."""

    precision: float
    """Of the pairs within groups; NaN if there are none."""
    recall: float
    f1: float
    rand: float
    """The adjusted Rand index: 1 for the very clusters, about 0 for groups at random."""


@dataclass(frozen=True, slots=True)
class Recommended:
    """The farthest thresholds that keep a precision that was asked for; None where none does."""

    precision: float
    k: int | None
    similarity: float | None
    """For scans that verify, in steps of 0.01."""


@dataclass(frozen=True, slots=True, eq=False)
class Evaluated:
    """How accurate one recipe is at one size."""

    settings: Settings
    """With the recipe; `distance` is the default threshold."""
    curve: tuple[Accuracy, ...] = field(repr=False)
    """(bits + 1,): what each k gives."""
    predicted: NDArray[np.float64] = field(repr=False)
    """(4, bits + 1): precision, recall, F1 and accuracy that theory expects at each k."""
    auc: Interval
    verified: Accuracy
    """What exact similarities among the candidates give."""
    tally: NDArray[np.float64] = field(repr=False)
    """(2, bits + 1): pairs at each distance, others first, then duplicates; a mean over draws."""
    found: NDArray[np.float64]
    """(kinds,): pairs of each kind within the default threshold; a mean over draws."""
    found_verified: NDArray[np.float64]
    """(kinds,): the same for verified."""
    without: int
    """Texts without a feature, which nothing can find."""
    groups: tuple[GroupScores, GroupScores] | None
    """Of a bare and of a verified scan; None unless clusters were labelled."""
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
    """Where the labels stand; None: simdup's own."""
    texts: int
    repeated: int
    """Lines of the table that repeated a pair; these count once."""
    kinds: tuple[Labelled, ...]
    draws: int
    rows: tuple[Evaluated, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class Labelled:
    """A kind of pairs in a table of labels."""

    kind: str
    duplicate: bool | None
    """None: only reported."""
    pairs: int
