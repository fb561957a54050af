"""How far to look for candidates: as far as the similarity asks, as far as it pays.

Two texts of similarity s differ in f * arccos(s) / pi bits on average, so a search a
standard error further than that finds most of them. Pairs that are near by chance
grow with the square of the collection, though, and each one costs a look at two
texts. Where they would be too many, the search is narrowed, and what that costs is
said.
"""

from __future__ import annotations

from math import comb, floor
from typing import TYPE_CHECKING

import numpy as np

from simdup.hamming import bit_probability, paired_distances, standard_error, threshold

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simdup.hamming import Rows

#: Candidates that are decided without asking whether it pays: about ten seconds of work.
BUDGET = 1_000_000

#: Candidates a document, where that is more than BUDGET: the work stays linear.
BUDGET_PER_DOCUMENT = 64

# Pairs sampled to estimate how many candidates there will be. A share of pairs that
# would fill the budget of a million documents (0.0001) is seen 100 times.
SAMPLE = 1 << 20


def wanted(similarity: float, bits: int) -> int:
    """The distance within which candidates for this similarity are looked for.

    One standard error more than `threshold`: five of six pairs that are just as similar
    as asked, and nearly all that are more so.
    """
    margin = floor(standard_error(similarity, bits))
    return min(bits, threshold(similarity, bits) + margin)


def affordable(rows: Rows, k: int) -> int:
    """The largest distance up to k within which there are not too many pairs of rows.

    Estimated from a sample of pairs, the same for the same number of rows.
    """
    n = len(rows)
    pairs = n * (n - 1) // 2
    budget = max(BUDGET, BUDGET_PER_DOCUMENT * n)
    if pairs <= budget:
        return k
    within = np.cumsum(np.bincount(_sampled_distances(rows), minlength=k + 1)[: k + 1])
    return max(0, int(np.searchsorted(within * (pairs / SAMPLE), budget, side="right")) - 1)


def _sampled_distances(rows: Rows) -> NDArray[np.uint16]:
    """Distances of SAMPLE random pairs of different rows."""
    random = np.random.default_rng(len(rows))
    left = random.integers(0, len(rows), SAMPLE)
    right = (left + random.integers(1, len(rows), SAMPLE)) % len(rows)
    return paired_distances(rows[left], rows[right])


def recall(similarity: float, bits: int, k: int) -> float:
    """The probability that two texts of this similarity are within k bits.

    The distance is binomial: `bits` trials with `bit_probability`. Sums exactly
    rounded terms, so it is good to about 1e-12.

    >>> recall(0.0, 8, 4)
    0.63671875
    """
    p = bit_probability(similarity)
    terms = (comb(bits, d) * p**d * (1 - p) ** (bits - d) for d in range(min(k, bits) + 1))
    return min(1.0, sum(terms))
