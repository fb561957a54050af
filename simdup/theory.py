"""Relates Hamming distances to the similarity of texts, with errors and probabilities.

Each bit of two fingerprints differs with probability arccos(s) / pi, where s is the cosine
similarity of the two texts. So a distance is binomial, and thresholds, errors and recall
follow from it. Source: Charikar, "Similarity estimation techniques from rounding algorithms",
2002, section 3.
"""

from __future__ import annotations

from math import acos, pi, sin, sqrt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simdup.arrays import Floats

#: The similarity of unrelated texts, a high estimate: short texts have less, but chapters of
#: one novel reach twice as much.
UNRELATED = 0.1


def bit_probability(similarity: float) -> float:
    """The probability that a bit differs between two texts of this cosine similarity.

    arccos(s) / pi. Source: Charikar 2002, section 3.

    >>> bit_probability(0.0)
    0.5
    """
    return acos(max(-1.0, min(1.0, similarity))) / pi


def threshold(similarity: float, bits: int) -> int:
    """The distance that fits this similarity: k = floor(bits x probability).

    >>> [threshold(0.7, bits) for bits in (16, 32, 64, 128)]
    [4, 8, 16, 32]
    """
    # With the tolerance, the similarity that `similarity_at` gives for a k gives that k again.
    return int(bits * bit_probability(similarity) + 1e-9)


def similarity_at(distance: float, bits: int) -> float:
    """The cosine similarity estimated from a distance: the inverse of `threshold`.

    >>> round(similarity_at(32, 128), 3)
    0.707
    """
    return sin(pi * (0.5 - distance / bits))  # the cosine, and 0 at half the bits, not 6e-17


def standard_error(similarity: float, bits: int) -> float:
    """The standard deviation, in bits, of the distance of two texts of this similarity.

    >>> standard_error(0.0, 64)
    4.0
    """
    p = bit_probability(similarity)
    return sqrt(bits * p * (1 - p))


def within_probabilities(p: Floats, bits: int) -> Floats:
    """The probability that two texts are within 0, 1, ... `bits` bits; (m, bits + 1).

    `p` (m,) is the probability that a bit differs (`bit_probability`): the distance is
    binomial.

    >>> import numpy as np
    >>> within_probabilities(np.array([0.5]), 8)[0, 4].round(8).item()
    0.63671875
    """
    import numpy as np  # noqa: PLC0415  slow to import, and options need only the rest

    p, d = p[:, None], np.arange(bits + 1)
    factorials = np.concatenate((np.zeros(1), np.cumsum(np.log(np.arange(1, bits + 1)))))
    with np.errstate(divide="ignore", invalid="ignore"):
        # An impossible event that happens 0 times has the probability 1: 0 x log(0) is 0.
        differing = np.where(d > 0, d * np.log(p), 0)
        equal = np.where(d < bits, (bits - d) * np.log1p(-p), 0)
    terms = np.exp(factorials[bits] - factorials - factorials[::-1] + differing + equal)
    return np.minimum(np.cumsum(terms, axis=1), 1)


def chance_distance(similarity: float, bits: int, probability: float) -> int:
    """The largest k so that texts this similar are within k bits with at most `probability`, or 0.

    >>> [chance_distance(0.1, bits, 1e-5) for bits in (16, 32, 64, 128, 256)]
    [0, 3, 13, 35, 85]
    """
    import numpy as np  # noqa: PLC0415  see above

    within = within_probabilities(np.array([bit_probability(similarity)]), bits)[0]
    return max(0, int(np.searchsorted(within, probability, side="right")) - 1)


def contained(similarity: float, count: int, other: int) -> float:
    """How much of a text stands in another one: the share of its distinct features, from 0 to 1.

    This is the number that reports show beside a file: how much of it stands in the kept file.
    The text has `count` features and the other one has `other`; every feature weighs 1, and
    `similarity` is the cosine of the two. If a count is 0, it is unknown, and the similarity is
    all that can be told.

    >>> contained(0.5, 100, 400)
    1.0
    """
    return (
        min(1.0, round(similarity * (other / count) ** 0.5, 9)) if count and other else similarity
    )
