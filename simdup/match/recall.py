"""The share of near-duplicates that a run finds, measured on a sample of its texts.

Candidates are a guess at which texts may be near-duplicates. A sample of texts is compared with
all others, whether candidates or not, by the rule that decides candidates. The recall of the run
is the share of the near-duplicates found in this way that it proposed or grouped too.

A sample is chosen by digests, so it depends neither on names nor on the order of files, and a
tree that changes little has nearly the same sample. Its pairs are verified in one pass with the
candidates. An interval takes texts as independent, not pairs: the pairs missed of one text are
often missed for one reason. Source: Wilson, "Probable inference, the law of succession, and
statistical inference", 1927.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simdup.arrays import Bytes, Hashes, Indices, Mask, Similarities, Values
from simdup.compute.compiled import in_threads, loaded_kernels, parts
from simdup.fingerprint.sketch import Sketches, levels
from simdup.match.candidates import sieve_distance
from simdup.match.distinct_texts import Texts
from simdup.match.own_share import as_kernels_take, least_similarity, may_be_alike
from simdup.records import Interval
from simdup.search.distinct import distinct_numbers, pair_keys
from simdup.search.pairs import iter_pairs_between
from simdup.settings import USUAL, Limits, Settings
from simdup.theory import UNRELATED, bit_probability, within_probabilities

#: The most pairs for each text of the collection that may be near by chance, by an estimate
#: that is too high. At a low similarity this makes the sample smaller.
NEAR_BY_CHANCE = 27

# Wide fingerprints of near-duplicates are within so many standard errors of the similarity asked
# for, except for 1 in 160 of the pairs that are just as similar. Three would cost twice the time.
ERRORS = 2.5

# First only one value in QUARTER of two sketches is compared. A pair passes unless it has
# QUARTER_ERRORS standard errors less in common than asked.
QUARTER, QUARTER_ERRORS = 4, 3

# The bits of a value that are compared then, and the pairs whose values are looked up at once.
PLACES, PAIRS_AT_ONCE = 16, 1 << 16

# 95 % of a normal distribution are within so many standard deviations.
_DEVIATION = 1.96


class Sample:
    """Some texts, and the texts that may be near-duplicates of them."""

    def __init__(self, texts: Texts, sketches: Sketches, settings: Settings) -> None:
        """Compare a sample of the texts with all others by fingerprints and sketches."""
        self._n = len(texts)
        others = np.arange(self._n)
        sampled = others
        if texts.is_reference.any():
            sampled, others = others[~texts.is_reference], others[texts.is_reference]
        # The sample is drawn by both halves of the digests together. Each half alone decides
        # something else: which text of a crowd is paired with all others, and which of equally
        # good ones represents a group. Such texts miss less than others do.
        order = texts.digests[:, 0] ^ texts.digests[:, 1]
        wide = 8 * texts.wide.shape[1]
        k, limits = sieve_distance(settings.similarity, wide, ERRORS), settings.limits
        size = size_of_sample(self._n, wide, k, limits)
        sampled = sampled[np.argsort(order[sampled])][:size]
        near = _near(texts, sampled, others, k)
        least = least_similarity(settings.similarity, texts.counts[near].min(axis=1))
        for may_be in (_share_enough, may_be_alike):
            kept = may_be(sketches, texts.counts, near, least)
            near, least = near[kept], least[kept]
        first = _first_of_each(near[:, 0], order[near[:, 1]], limits.near_per_sampled)
        self.pairs, self._least = near[first], least[first]
        """(m, 2): a sampled text, and a text that may be alike to it."""
        self.is_verified = False
        self._keys = pair_keys(self.pairs, self._n)
        self.similarities = np.full(len(self.pairs), np.nan)
        self._is_sampled = np.zeros(self._n, bool)
        self._is_sampled[sampled] = True
        self._is_proposed = np.zeros(len(self.pairs), bool)

    def _touching(self, pairs: Indices) -> Indices:
        """Which of these pairs have a sampled text."""
        return np.flatnonzero(self._is_sampled[pairs[:, 0]] | self._is_sampled[pairs[:, 1]])

    def note_proposed(self, pairs: Indices) -> None:
        """Note which pairs of the sample are among these candidates of the run."""
        proposed = pair_keys(pairs[self._touching(pairs)], self._n)
        self._is_proposed |= np.isin(self._keys, proposed)

    def missing(self, pairs: Indices) -> Indices:
        """The pairs of the sample that are not among these, each once; (m, 2)."""
        known = pair_keys(pairs[self._touching(pairs)], self._n)
        keys = distinct_numbers(self._keys[~np.isin(self._keys, known)])
        return np.column_stack(np.divmod(keys, self._n))

    def note_similarities(self, pairs: Indices, similarities: Similarities) -> None:
        """Note the similarities of the sample's pairs, all of which are among these `pairs`."""
        touching = self._touching(pairs)
        keys = pair_keys(pairs[touching], self._n)
        order = np.argsort(keys)
        places = touching[order[np.searchsorted(keys[order], self._keys)]]
        self.similarities, self.is_verified = similarities[places], True

    def similar_enough(self) -> Mask:
        """Which pairs of the sample have the similarity that their lengths ask for; (m,)."""
        return self.similarities >= self._least

    def recall(self, are_duplicates: Mask, leader: Indices) -> tuple[Interval | None, int]:
        """The recall of the run, and the number of sampled texts that it is measured on.

        `are_duplicates` (m,) says which pairs of the sample are near-duplicates, and `leader`
        (n,) which text represents each one. A pair in one group is found, even if it was no
        candidate. None if no sampled text has a near-duplicate.
        """
        text, other = self.pairs.T
        is_found = self._is_proposed | (leader[text] == leader[other])
        every = np.bincount(text[are_duplicates], minlength=self._n)
        found = np.bincount(text[are_duplicates & is_found], minlength=self._n)
        shares = found[every > 0] / every[every > 0]
        if not len(shares):
            return None, 0
        # Sorted, so that rounding does not depend on the order of texts.
        return wilson(float(np.sort(shares).mean()), len(shares)), len(shares)


def size_of_sample(n: int, wide: int, k: int, limits: Limits = USUAL) -> int:
    """How many of n texts to sample, if fingerprints of `wide` bits are near within k bits."""
    unrelated = np.array([bit_probability(UNRELATED)])
    chance = within_probabilities(unrelated, wide)[0, k]
    few = int(NEAR_BY_CHANCE / max(chance, 1e-9))
    return min(limits.sampled, n // limits.sampled_one_in, few)


def _near(texts: Texts, sampled: Indices, others: Indices, k: int) -> Indices:
    """The pairs of a sampled and another text whose wide fingerprints are within k bits.

    (m, 2), ascending by the sampled text.
    """
    found = [np.empty((0, 2), np.int64)]
    for pairs in iter_pairs_between(texts.wide[sampled], texts.wide[others], k):
        near = np.column_stack((sampled[pairs[:, 0]], others[pairs[:, 1]]))
        found.append(near[near[:, 0] != near[:, 1]])
    every = np.concatenate(found)
    return every[np.argsort(every[:, 0], kind="stable")]


def _share_enough(sketches: Sketches, counts: Indices, pairs: Indices, least: Similarities) -> Mask:
    """Which pairs (m, 2), ascending by their first text, share enough of their sketches; (m,).

    This drops nearly all pairs that are near by chance. It looks at the first quarter of the
    sketches and at PLACES bits of each value, which takes no longer without compiled kernels.
    """
    quarters = replace(sketches, sizes=-(-sketches.sizes // QUARTER))
    texts, number = np.unique(pairs[:, 0], return_inverse=True)
    own = quarters.take(texts)
    has: NDArray[Any] = np.zeros((len(texts), 1 << PLACES), bool)
    has[np.repeat(np.arange(len(texts)), own.sizes), _last_bits(own)] = True
    shared = np.zeros(len(pairs), np.int64)
    # By the other text: sketches that lie in a file are read in their order.
    order = np.argsort(pairs[:, 1], kind="stable")
    count: Callable[[Sketches, Indices, NDArray[Any]], Indices] = _counted
    if loaded_kernels():  # packed into bits, `has` fits in the cache
        count, has = _counted_compiled, np.packbits(has, axis=1, bitorder="little")
    for low in range(0, len(pairs), PAIRS_AT_ONCE):
        part = order[low : low + PAIRS_AT_ONCE]
        shared[part] = count(quarters.take(pairs[part, 1]), number[part], has)
    kept = 2.0 ** levels(counts)[pairs].max(axis=1) * QUARTER
    expected = least * np.sqrt(counts[pairs[:, 0]] * counts[pairs[:, 1]]) / kept
    return shared >= expected - QUARTER_ERRORS * np.sqrt(expected)


def _counted(others: Sketches, number: Indices, has: Mask) -> Indices:
    """How many values of each sketch have last bits that are set in row `number` of `has`; (m,)."""
    hits = has[np.repeat(number, others.sizes), _last_bits(others)]
    before, ends = np.concatenate(([0], np.cumsum(hits))), np.cumsum(others.sizes)
    counts: Indices = before[ends] - before[ends - others.sizes]
    return counts


def _counted_compiled(others: Sketches, number: Indices, has: Bytes) -> Indices:
    """The counts that `_counted` returns, by compiled code in one thread for each core."""
    (values, begins, sizes), found = as_kernels_take(others), np.empty(len(number), np.int64)

    def fill(part: slice) -> None:
        loaded_kernels().values_among(
            values, begins[part], sizes[part], number[part], has, found[part]
        )

    in_threads(fill, parts(len(number)))
    others.release()
    return found


def _last_bits(sketches: Sketches) -> Values:
    """The last PLACES bits of each value."""
    return sketches.joined() & np.uint32((1 << PLACES) - 1)


def _first_of_each(texts: Indices, order: Hashes, most: int) -> Indices:
    """The first `most` pairs of each text by `order`; their places, ascending by text."""
    places = np.lexsort((order, texts))
    begins = np.searchsorted(texts[places], texts[places])
    return places[np.arange(len(places)) - begins < most]


def wilson(share: float, n: int) -> Interval:
    """The share that n independent trials have had on average, with Wilson's 95 % interval.

    >>> found = wilson(0.9, 10)
    >>> round(found.low, 3), round(found.high, 3)
    (0.596, 0.982)
    """
    square = _DEVIATION**2
    middle = (share + square / (2 * n)) / (1 + square / n)
    reach = _DEVIATION / (1 + square / n) * sqrt(share * (1 - share) / n + square / (4 * n * n))
    # Rounding must not put the share itself outside.
    low, high = max(0.0, middle - reach), min(1.0, middle + reach)
    return Interval(share, min(share, low), max(share, high))
