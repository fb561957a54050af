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
from math import erfc, sqrt

import numpy as np
from numpy.typing import NDArray

from simdup.arrays import Indices, Mask, Similarities, Values
from simdup.compute.compiled import in_threads, loaded_kernels
from simdup.fingerprint.sketch import LEAST, Sketches, levels
from simdup.match.distinct_texts import Texts
from simdup.match.own_share import as_kernels_take, least_similarity, may_be_alike, parts_of_texts
from simdup.records import Interval
from simdup.search.distinct import distinct_numbers, pair_keys
from simdup.search.pairs import ranges
from simdup.settings import USUAL, Limits, Settings
from simdup.theory import UNRELATED

#: The most pairs for each text of the collection that may be alike by chance, by an estimate. At a
#: low similarity this makes the sample smaller.
ALIKE_BY_CHANCE = 27

# A pair passes unless its sketches have so many standard errors less in common than is asked at
# least: 1 in 160 of the pairs that are just as similar does not.
ERRORS = 2.5

# Values that more sampled texts than this have are common: they are counted only where needed, and
# in another way.
COMMON = 16

# Common values that are counted at once.
COLUMNS = 1024

# The values of the sampled texts are found by their first bits, which are many more than these
# values: most values of other texts then find none. The others are shifted out.
BUCKETS = 1 << 19
_SHIFT = np.uint32(32 - 19)

# 95 % of a normal distribution are within so many standard deviations.
_DEVIATION = 1.96


class Sample:
    """Some texts, and the texts that may be near-duplicates of them."""

    def __init__(self, texts: Texts, sketches: Sketches, settings: Settings) -> None:
        """Compare a sample of the texts with all others by sketches."""
        self._n = len(texts)
        others = np.arange(self._n)
        sampled = others
        if texts.is_reference.any():
            sampled, others = others[~texts.is_reference], others[texts.is_reference]
        # The sample is drawn by both halves of the digests together. Each half alone decides
        # something else: which text of a crowd is paired with all others, and which of equally
        # good ones represents a group. Such texts miss less than others do.
        order = texts.digests[:, 0] ^ texts.digests[:, 1]
        limits = settings.limits
        size = size_of_sample(self._n, settings.similarity, limits)
        sampled = sampled[np.argsort(order[sampled])][:size]
        near = _alike(sketches, texts.counts, sampled, others, settings.similarity)
        near = near[np.lexsort((order[near[:, 1]], near[:, 0]))]
        least = least_similarity(settings.similarity, texts.counts[near].min(axis=1))

        def alike(some: Indices) -> Mask:
            return may_be_alike(sketches, texts.counts, near[some], least[some])

        first = _first_of_each(near[:, 0], limits.near_per_sampled, alike)
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


def size_of_sample(n: int, similarity: float, limits: Limits = USUAL) -> int:
    """How many of n texts to sample, so that few pairs are alike enough by chance."""
    asked, chance = (share * 1.5 * LEAST for share in (similarity, UNRELATED))
    deviations = (asked - ERRORS * sqrt(max(asked, 0)) - chance) / sqrt(chance)
    few = int(ALIKE_BY_CHANCE / max(erfc(deviations / sqrt(2)) / 2, 1e-9))
    return min(limits.sampled, n // limits.sampled_one_in, few)


def _alike(
    sketches: Sketches, counts: Indices, sampled: Indices, others: Indices, similarity: float
) -> Indices:
    """The pairs of a sampled and another text that may share enough for this cosine.

    (m, 2), ascending by the sampled text.
    """
    kept = 0.5 ** levels(counts).astype(np.float32)
    # A whole sketch may have fewer values than features, where two of these are one value.
    root = np.sqrt(np.where(kept == 1, sketches.sizes, counts), dtype=np.float32)
    rare, common = _values_of(sketches.take(sampled))

    def alike_among(part: Indices) -> Indices:
        # Texts of one length ask for equally many values.
        _, first, alike = np.unique(counts[part], return_index=True, return_inverse=True)
        lengths = part[first]
        of_pair = np.minimum.outer(kept[lengths], kept[sampled])
        asked = least_similarity(similarity, np.minimum.outer(counts[lengths], counts[sampled]))
        asked[of_pair < 1] = similarity  # there a finer comparison decides
        asked *= of_pair * np.outer(root[lengths], root[sampled])
        error = ERRORS * np.sqrt(asked) * (of_pair < 1)
        # A little less, since these numbers are rounded; the next comparison is exact.
        least = np.ceil(0.9999 * asked - error).astype(np.int64)
        shared = rare.shared_with(sketches.take(part))
        are_near = shared >= (least - common.sizes).clip(0).astype(np.uint32)[alike]
        if np.count_nonzero(are_near) > len(part):  # to compare so many sketches takes longer
            shared += common.shared_with(sketches.take(part))
            are_near &= shared >= np.where(of_pair < 1, 0, least).astype(np.uint32)[alike]
        other, text = np.nonzero(are_near)
        return np.column_stack((sampled[text], part[other]))

    # Tiny texts count as larger ones, so that not too many are compared at once.
    parts = parts_of_texts(sketches.sizes.clip(LEAST), others)
    every = np.concatenate([np.empty((0, 2), np.int64), *in_threads(alike_among, parts)])
    every = every[every[:, 0] != every[:, 1]]
    return every[np.lexsort((every[:, 1], every[:, 0]))]


def _values_of(sampled: Sketches) -> tuple[_SampledValues, _SampledValues]:
    """The values that few of the sampled texts have, and the ones that more than COMMON have."""
    values, owners = sampled.joined(), np.repeat(np.arange(len(sampled)), sampled.sizes)
    _, number, texts = np.unique(values, return_inverse=True, return_counts=True)
    is_common = texts[number] > COMMON
    rare, common = (
        kind(values[own], owners[own], len(sampled))
        for kind, own in ((_SampledValues, ~is_common), (_CommonValues, is_common))
    )
    return rare, common


class _SampledValues:
    """Values of sampled texts, and which of these have them."""

    def __init__(self, values: Values, owners: Indices, sampled: int) -> None:
        """Take each value with the number of its text, below `sampled`."""
        order = np.argsort(values, kind="stable")
        self._values, self._owners = values[order], owners[order]
        self.sizes = np.bincount(owners, minlength=sampled)
        sizes = np.bincount(self._values >> _SHIFT, minlength=BUCKETS)
        self._begins = np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes)))

    def shared_with(self, others: Sketches) -> Values:
        """How many of the values each sketch has of each sampled one; (n, sampled)."""
        shared = np.zeros((len(others), len(self.sizes)), np.uint32)
        if kernels := loaded_kernels():
            table = _SHIFT, self._begins, self._values, self._owners
            kernels.shared_with_sampled(*as_kernels_take(others), *table, shared)
            others.release()
            return shared
        self._count(others.joined(), np.repeat(np.arange(len(others)), others.sizes), shared)
        return shared

    def _count(self, values: Values, texts: Indices, shared: Values) -> None:
        """Add to `shared` (n, sampled) the values that each text has of each sampled one."""
        bucket = values >> _SHIFT
        begins, ends = self._begins[bucket], self._begins[bucket + 1]
        for asked, place in ranges(begins, ends - begins):
            are_shared = self._values[place] == values[asked]
            np.add.at(shared, (texts[asked[are_shared]], self._owners[place[are_shared]]), 1)


class _CommonValues(_SampledValues):
    """Values that many sampled texts have.

    Without kernels a product of matrices counts them sooner.
    """

    def _count(self, values: Values, texts: Indices, shared: Values) -> None:
        every = np.unique(self._values)
        for some in np.split(every, range(COLUMNS, len(every), COLUMNS)):
            others = _matrix(values, texts, some, len(shared))
            sampled = _matrix(self._values, self._owners, some, shared.shape[1])
            shared += (others @ sampled.T).astype(np.uint32)


def _matrix(values: Values, texts: Indices, some: Values, n: int) -> NDArray[np.float32]:
    """1 where one of n texts has one of `some` values, which ascend, else 0; (n, len(some))."""
    is_there = np.isin(values, some)
    made = np.zeros((n, len(some)), np.float32)
    made[texts[is_there], np.searchsorted(some, values[is_there])] = 1
    return made


def _first_of_each(texts: Indices, most: int, holds: Callable[[Indices], Mask]) -> Indices:
    """The first `most` places of each text that hold; texts ascend.

    `holds` is asked for the first few places of each text, and then for four times as many of
    the texts that have too few, since boilerplate makes millions of places for some texts.
    """
    place = np.arange(len(texts)) - np.searchsorted(texts, texts)
    found, begin, end = np.zeros(len(texts), bool), 0, 2 * most
    while len(asked := np.flatnonzero((begin <= place) & (place < end))):
        found[asked] = holds(asked)
        enough = np.flatnonzero(np.bincount(texts[found]) >= most)
        place[np.isin(texts, enough)] = 0  # never asked for again
        begin, end = end, 4 * end
    kept = np.flatnonzero(found)
    return kept[np.arange(len(kept)) - np.searchsorted(texts[kept], texts[kept]) < most]


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
