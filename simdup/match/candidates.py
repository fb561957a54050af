"""How far to search for candidate pairs: as far as the similarity asks, and as is affordable.

Two texts of similarity s differ in f * arccos(s) / pi bits on average, so a search one or two
standard errors further out finds most of them. But pairs that are near by chance grow with
the square of the collection, and two texts must be compared for each. Where there would be too
many, the search is narrowed, and `recall` says what that costs.
"""

from __future__ import annotations

from dataclasses import replace
from math import ceil, floor

import numpy as np

from simdup import theory
from simdup.arrays import Distances, Indices
from simdup.recipe import HashKind, Recipe
from simdup.search.pairs import Reach
from simdup.settings import USUAL, Limits, Settings

#: The bits that sieve chance candidates. (At 256 bits and similarity 0.35, 1 of 45 pairs of a
#: similarity of .03 is within reach, and 1 of 530 also passes the sieve.)
SIEVE_BITS = 512

# Returned instead of a sample if all pairs fit the budget.
_NO_SAMPLE = np.empty(0, np.int64), np.empty(0, np.int64)

#: The most rounds of a search. Each leaves a fraction of the representatives; two or three rounds
#: are usual, and more than this would mean that they do not become fewer.
ROUNDS = 10

# The share of unrelated pairs that the second standard error may let in. At the default
# similarity that leaves 128 bits with one standard error, and 256 bits with one and a half.
# Sketches drop nearly all of these pairs, and no text is read for them.
CHANCE_CANDIDATES = 0.1

# Pairs sampled to estimate how many candidates there will be. If as many pairs are near as fill
# the budget of a million documents (0.0001 of all), the sample has 100 of them.
SAMPLE = 1 << 20


def search_distance(similarity: float, bits: int) -> int:
    """The distance within which candidates for this similarity are searched, if affordable.

    Two standard errors more than `threshold`: 49 of 50 pairs that are just as similar as asked
    are within that (`recall`), and nearly all that are more similar. Less where that brings
    too many pairs by chance (CHANCE_CANDIDATES), but at least one standard error more, which
    finds four of five.
    """
    error = theory.standard_error(similarity, bits)
    k = theory.threshold(similarity, bits)
    few = theory.chance_distance(theory.UNRELATED, bits, CHANCE_CANDIDATES)
    return min(bits, max(k + floor(error), min(k + floor(2 * error), few)))


def sieve_distance(similarity: float, bits: int) -> int:
    """The distance that wide fingerprints of a similar pair hardly ever exceed.

    It is two standard errors more than `threshold`: 49 of 50 pairs that are just as similar as
    asked pass, and nearly all that are more similar. Three would let in one unrelated pair in 120.
    """
    margin = ceil(2 * theory.standard_error(similarity, bits))
    return min(bits, theory.threshold(similarity, bits) + margin)


def reach_of(settings: Settings, k: int, wide: int) -> Reach:
    """How near fingerprints of `wide` bits must be to be candidates within k bits."""
    is_sieved = settings.verified and wide > settings.recipe.bits
    most = sieve_distance(settings.similarity, wide) if is_sieved else None
    return Reach(settings.recipe.bits, k, most)


def needs_sieve(settings: Settings) -> bool:
    """Whether fingerprints sieve the candidates of texts that are compared, since no sketch can."""
    return settings.verified and not settings.recipe.has_equal_weights


def sieve_recipe(recipe: Recipe) -> Recipe:
    """The recipe with the bits that a store keeps: enough for a sieve, if sketches are none.

    Smaller fingerprints are the first bits of its fingerprints, so the store keeps only these.
    The hash 'string' has no such property, and its recipe stays as it is.
    """
    if recipe.hash is HashKind.STRING:
        return recipe
    bits = Recipe().bits if recipe.has_equal_weights else SIEVE_BITS
    return replace(recipe, bits=max(recipe.bits, bits))


def affordable_distance(
    distances: Distances | Indices, weight: float, n: int, k: int, limits: Limits = USUAL
) -> int:
    """The largest distance up to k within which n texts have no more pairs than the limits allow.

    `distances` are measured on sampled pairs, each of which stands for `weight` pairs. The result
    is 0 even if the pairs with equal fingerprints alone are too many.
    """
    budget = max(limits.candidates, limits.candidates_per_text * n)
    within = np.cumsum(np.bincount(distances, minlength=k + 1)[: k + 1]) * weight
    return max(0, int(np.searchsorted(within, budget, side="right")) - 1)


def sample(n: int, m: int | None = None, limits: Limits = USUAL) -> tuple[Indices, Indices, int]:
    """SAMPLE random pairs of n things, or of one of n and one of m, and the number of all pairs.

    The same n and m give the same pairs. The arrays are empty if so few pairs are always looked at.
    """
    pairs = n * (n - 1) // 2 if m is None else n * m
    if pairs <= limits.candidates:
        return *_NO_SAMPLE, pairs
    random = np.random.default_rng(n)
    left = random.integers(0, n, SAMPLE)
    if m is None:
        return left, (left + random.integers(1, n, SAMPLE)) % n, pairs
    return left, random.integers(0, m, SAMPLE), pairs


def recall(similarity: float, bits: int, k: int, wide: int | None = None) -> float:
    """The probability that two texts of this similarity become candidates.

    They must be within k of `bits` bits and, where fingerprints have `wide` bits to sort out
    chance candidates, within `sieve_distance` of those. The wide bits begin with the `bits`,
    so only the further ones differ independently.

    >>> round(recall(0.0, 8, 4), 8)
    0.63671875
    """
    p, k = np.array([theory.bit_probability(similarity)]), min(k, bits)
    within = theory.within_probabilities(p, bits)[0, : k + 1]
    if wide is None or wide <= bits:
        return float(within[-1])
    left = sieve_distance(similarity, wide) - np.arange(k + 1)
    further = theory.within_probabilities(p, wide - bits)[0, np.clip(left, 0, wide - bits)]
    return float(np.diff(within, prepend=0) @ np.where(left >= 0, further, 0))
