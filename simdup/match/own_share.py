"""Pairs of texts in, own shares out: how much of what two texts share is theirs alone.

Two versions of one text and two texts of one pattern (two contracts made from one form) may be
equally similar. The other texts tell them apart: a sentence of the form stands in every text of
the form, and a sentence of a draft only in its other drafts.

1. Texts with a cosine of at least FAMILY are one family: copies and versions count once.
2. A shingle that `o` families have, besides the ones of the two texts, weighs 1 / (1 + o / 2).
3. The weighted cosine of two texts, divided by their plain cosine, is their own share: from 0
   (all that they share stands in many other texts) to 1 (nobody else has any of it).

Frequencies and both cosines are computed from sketches, so no text is read again. Weights are
whole numbers, so that sums do not depend on their order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cached_property, lru_cache
from itertools import pairwise
from mmap import mmap

import numpy as np

from simdup.arrays import Counters, Indices, Mask, Shares, Similarities, Values
from simdup.compute.buckets import sorted_keys
from simdup.compute.compiled import (
    in_threads,
    load_kernels_if_worth,
    loaded_kernels,
    parts,
    threads,
)
from simdup.compute.hashing import COUNTER_HASH
from simdup.compute.memory import return_freed_memory
from simdup.fingerprint.sketch import KEPT, LEAST, LEVELS, Sketches, joined, levels, thinned
from simdup.search.distinct import distinct_numbers
from simdup.settings import SIMILARITY

#: Texts with this cosine are one family. At 0.8 short texts of one pattern chain into a family,
#: and their pattern is not seen.
FAMILY = 0.9

#: From this cosine on two texts are nearly the same, whatever others share with them: what differs
#: is a few words, which weigh much beside clauses that hundreds of other texts use too.
NEARLY_SAME = 0.95

#: A text of n features must be 4 / n more similar than the default (or than `-s`, if that is
#: lower), since short texts are soon alike by chance: with 20 features .55, with 80 .40. With
#: 8 / n, texts of 300 features that were reworded sentence by sentence are missed, and short ones
#: are not told apart better. These margins never ask for more than SHORT_LEAST, and a higher `-s`
#: holds as it is.
SHORT_MARGIN, SHORT_LEAST = 4, 0.85

#: From this many features on, each doubling asks for LONG_MARGIN more: the longer two texts, the
#: more everyday pairs of words they share.
LONG, LONG_MARGIN = 1 << 14, 0.05

# The largest value that a sketch keeps, by its level.
_LIMITS = np.uint32((1 << 32) - 1) >> np.arange(LEVELS + 1, dtype=np.uint32)

# Weights are whole multiples of 1 / UNIT.
UNIT = 1 << 16

# Counters of shingles, a power of two: 64 MB, of which a small collection touches little. The
# number is always the same, so that further texts do not change which shingles share a counter.
COUNTERS = 1 << 25

# More values than this are not counted, since too many would share a counter: sketches get smaller.
MOST_VALUES = COUNTERS

# Fewer values than this touch so few counters that memory in small pages is faster.
FEW_VALUES = 1 << 13

# The number of parts of VALUES_AT_ONCE values for which one more thread pays.
PARTS_WORTH = 8

# Counters that are looked at to estimate how many unrelated values share one.
SAMPLED_COUNTERS = 1 << 16

# Values of sketches that are in memory at once, while pairs are compared: some 100 MB.
VALUES_IN_MEMORY = 1 << 24

# Values of a block of a file with sketches, 1 GB. The pairs between two blocks are compared
# together, so that a part of them reads no more than is near each other.
BLOCK = 1 << 28

# Beyond this number of families a shingle weighs next to nothing anyway. In 3,000 laws of one
# pattern 255 would be too few: everyday shingles would weigh ten times as much as they should.
MOST_COUNTED = (1 << 16) - 1

# Without kernels, comparing a pair of sketches takes as long as comparing so many words.
WORDS_OF_A_PAIR = 20_000

# Values of sketches that are handled at once.
VALUES_AT_ONCE = 1 << 18

# A pair is passed over unless its sketches are within so many standard errors of what is asked.
ERRORS = 3

# Pairs of long texts that the usual sketches let pass are compared by sketches with so many values
# too: most of the pairs that are not alike enough go, before all their values are compared.
FINER = 1 << 10

#: Sketches that rule pairs out, and how many values these keep at least.
Sieve = tuple[Sketches, int]


def least_similarity(similarity: float, counts: Indices) -> Similarities:
    """The cosine from which two texts may be near-duplicates; (m,).

    `similarity` is what the user asks for, and `counts` (m,) the features of the shorter text.
    Short texts and long ones must be more alike than SIMILARITY, as SHORT_MARGIN and LONG_MARGIN
    say, up to SHORT_LEAST.

    >>> least_similarity(0.35, np.array([16, 80, 800, 1 << 16])).round(2).tolist()
    [0.6, 0.4, 0.36, 0.45]
    >>> least_similarity(0.8, np.array([16, 80, 800])).round(2).tolist()
    [0.8, 0.8, 0.8]
    """
    counts = np.maximum(counts, 1)
    more = SHORT_MARGIN / counts + LONG_MARGIN * np.maximum(np.log2(counts / LONG), 0)
    usual = np.minimum(min(similarity, SIMILARITY) + more, SHORT_LEAST)
    return np.maximum(similarity, usual)


def may_be_alike(
    sketches: Sketches, counts: Indices, pairs: Indices, least: Similarities, kept: int = LEAST
) -> Mask:
    """Which pairs (m, 2) of texts may have their `least` cosine (m,), by their sketches.

    `counts` (n,) is the number of features of each text, and `kept` how many values the sketches
    keep at least, see `sketch.levels`. Of the pairs that are just similar
    enough, one in a thousand is passed over; none if both sketches have all features.
    """
    level = levels(counts[pairs], LEVELS, kept)
    shared, size = _compared(sketches, pairs, level.max(axis=1))
    # A sketch of all features makes no error. Others keep each feature with one probability.
    error = np.where(level.any(axis=1), np.sqrt(least / np.maximum(size, 1)), 0)
    needed = (least - ERRORS * error) * size - 1e-9
    return shared >= needed


def sieves(large: Sketches, counts: Indices, usual: Sketches | None = None) -> list[Sieve]:
    """The sketches that rule out pairs of texts with `counts` (n,) features, the smallest first.

    `usual` are the smallest ones if they are known, made from the large ones.
    """
    finer = thinned(large, counts, least=FINER)
    return [(thinned(large, counts) if usual is None else usual, LEAST), (finer, FINER)]


def passing(by: list[Sieve], counts: Indices, pairs: Indices, least: Similarities) -> Indices:
    """The places of the pairs that no sieve rules out, ascending; see `may_be_alike`."""
    if not by:
        return np.arange(len(pairs))
    passed = [np.empty(0, np.int64)]
    # The last sieve has the values of all others.
    for places, loaded in in_parts(by[-1][0], pairs):
        for sketches, kept in by:
            own, asked = replace(loaded, sizes=sketches.sizes), (pairs[places], least[places])
            places = places[may_be_alike(own, counts, *asked, kept)]  # noqa: PLW2901
        passed.append(places)
    return np.sort(np.concatenate(passed))


def estimated_cosines(sketches: Sketches, counts: Indices, pairs: Indices) -> Similarities:
    """The cosine of the sketches of each pair (m, 2); (m,)."""
    shared, size = _compared(sketches, pairs, levels(counts[pairs]).max(axis=1))
    return np.divide(shared, size, out=np.zeros(len(pairs)), where=size > 0)


def cosines_of_whole(sketches: Sketches, pairs: Indices) -> Similarities:
    """The cosine of each pair (m, 2) of texts whose sketches keep all their features; (m,).

    It is exact unless different features agree in 32 bits: of two texts with 500 features each,
    that is one pair in 17,000, and then they seem to share one feature more.
    """
    shared, size = _compared(sketches, pairs, np.zeros(len(pairs), np.int64))
    return np.minimum(np.divide(shared, size, out=np.zeros(len(pairs)), where=size > 0), 1)


def has_enough(own_shares: Shares, similarities: Similarities, own_share: float) -> Mask:
    """Which pairs share enough that others lack, or are nearly the same and of no form; (m,).

    `own_share` is the least one asked for. An unknown own share, NaN, is enough.

    >>> own_shares, similarities = np.array([0.7, 0.1, 0.1, 0]), np.array([0.5, 0.5, 0.96, 0.96])
    >>> has_enough(own_shares, similarities, 0.58).tolist()
    [True, False, True, False]
    """
    return ~(own_shares < own_share) | ((similarities >= NEARLY_SAME) & (own_shares > 0))


def least_kept(counts: Indices, texts: Indices | int = 1) -> int:
    """How many values each text of a collection keeps at least, so that its counters suffice.

    Of each number of features in `counts` (n,) there are so many `texts`.

    >>> least_kept(np.array([5000]), 100), least_kept(np.array([5000]), 20_000)
    (16384, 1024)
    """
    least = KEPT
    while least > LEAST and (texts * (counts >> levels(counts, LEVELS, least))).sum() > MOST_VALUES:
        least //= 2
    return least


class OwnShares:
    """How much of what two texts of a collection share is theirs alone."""

    def __init__(
        self,
        sketches: Sketches,
        counts: Indices,
        family: Indices,
        frequencies: CountedValues | None = None,
        least: int = LEAST,
    ) -> None:
        """Take texts with `counts` features (n,), which are in the families `family` (n,).

        If these are only some texts of a collection, `frequencies` must count all its texts.
        Without it the values of all sketches are counted when the first pair is asked for.
        The sketches keep `least` values or more, see `sketch.levels`.
        """
        self._sketches, self._counts, self.family, self._least = sketches, counts, family, least
        self._levels = levels(counts, LEVELS, least)
        self._given_frequencies = frequencies
        self.form = np.full(len(family), -1)
        """The form of each text; -1 for none."""

    @classmethod
    def of_all(cls, large: Sketches, counts: Indices, family: Indices) -> OwnShares:
        """Take all texts of a collection, with their large sketches."""
        least = least_kept(counts)
        return cls(thinned(large, counts, LEVELS, least), counts, family, least=least)

    def taking(self, texts: Indices) -> OwnShares:
        """The own shares, in the same collection, of some texts with numbers of their own."""
        sketches, counts = self._sketches.take(texts), self._counts[texts]
        own = OwnShares(sketches, counts, self.family[texts], self._frequencies, self._least)
        own.form = self.form[texts]
        return own

    @cached_property
    def _frequencies(self) -> CountedValues:
        if self._given_frequencies is not None:
            return self._given_frequencies
        counted = Frequencies(self._sketches, self.family)
        return_freed_memory()
        return counted

    def of(self, pairs: Indices) -> Similarities:
        """The own share of each pair of texts, from 0 to 1; (m,).

        It is 1 where the sketches share nothing, since then nobody else has what the texts share,
        and 0 for two texts of one form.
        """
        found = np.empty(len(pairs))
        for part, sketches in in_parts(self._sketches, pairs):
            found[part] = self._of(sketches, pairs[part])
        found[self.are_of_one_form(pairs)] = 0
        return found

    def are_of_one_form(self, pairs: Indices) -> Mask:
        """Which pairs of texts (m, 2) are of one form, and no versions of one text; (m,)."""
        form, other_form = self.form[pairs].T
        return (form >= 0) & (form == other_form) & (self.family[pairs] @ [1, -1] != 0)

    def _of(self, sketches: Sketches, pairs: Indices) -> Similarities:
        """The results of `of`, by sketches in memory."""
        if not len(pairs):  # and counting takes 64 MB
            return np.empty(0)
        made = self._weighed(sketches, pairs, self._levels[pairs].max(axis=1))
        count, of_one, of_two = made[:, :3].T
        is_one = self.family[pairs[:, 0]] == self.family[pairs[:, 1]]
        shared, plain = np.where(is_one, of_one, of_two), _lengths(made[:, 3:5])
        # Here too, values that both texts have get the weight for their two families.
        weighted = _lengths(made[:, 5:] + (shared - of_one)[:, None])
        share = np.divide(
            shared * plain, count * weighted, out=np.ones(len(pairs)), where=count > 0
        )
        return np.minimum(share, 1)

    def of_parts(self, pairs: Indices) -> Similarities:
        """The own share of the values that each left text shares with a larger right one; (m,).

        It is the average weight of these values, divided by the average weight of all values of
        the larger text: of a small text inside a large one the cosine says next to nothing.
        """
        made = self._weighed(self._sketches, pairs, self._levels[pairs].max(axis=1))
        count, of_one, shared, *_ = made.T
        kept, weighted = made[:, 4], made[:, 6] + shared - of_one
        share = np.divide(shared * kept, count * weighted, out=np.ones(len(pairs)), where=count > 0)
        return np.minimum(share, 1)

    def _weighed(self, sketches: Sketches, pairs: Indices, level: Indices) -> Similarities:
        """Counts and weights of the values that each pair shares and that its texts keep; (m, 7).

        How many values the texts share, and their weights for one family and for two; how many
        values each text would keep at the pair's `level` (m,); their weights for one family.
        """
        if kernels := loaded_kernels():
            counters, tables = self._frequencies.counters, self._frequencies.tables()
            kernel = kernels.shared_weights
            found = _compiled(kernel, sketches, pairs, level, 7, counters, tables)
            return found.astype(np.float64)
        return _merged(sketches, pairs, level, self._frequencies.weights)


class CountedValues:
    """The weights of values, from counters that `count` filled family by family."""

    def __init__(self, counters: Counters, most: int | None = None) -> None:
        """`most` is the largest number of counters that can be above 0; None if unknown."""
        self.counters = counters
        # Where values share counters, half of all counters are this high from unrelated values.
        sampled = counters[:: len(counters) // SAMPLED_COUNTERS or 1]
        is_mostly_zero = most is not None and most < len(sampled) // 2
        self._background = 0 if is_mostly_zero else int(np.median(sampled))

    def weights(self, values: Values, families: int = 1) -> Indices:
        """The weight of each value for a pair of texts, whose own `families` do not count; (m,)."""
        return self.tables()[families - 1, self.families(values)]

    def families(self, values: Values) -> Counters:
        """The number of families that have each value; too high if values share a counter; (m,)."""
        return self.counters[_counter_of(values, self.counters)]

    def tables(self) -> Indices:
        """The weight at each count, from 0 to MOST_COUNTED, for one family and for two; (2, c)."""
        return _tables_above(self._background)


@lru_cache(maxsize=2)  # making them takes as long as reading a file, and most have no background
def _tables_above(background: int) -> Indices:
    """The tables of counters that unrelated values have raised to `background`."""
    counts = np.arange(MOST_COUNTED + 1) - background - np.array([[1], [2]])
    return 2 * UNIT // (2 + np.maximum(counts, 0))


class Frequencies(CountedValues):
    """Counts, by hash, of the families that have each value of some sketches."""

    def __init__(self, sketches: Sketches, family: Indices) -> None:
        """Count the values of all sketches; `family` (n,) is the number of each one's family."""
        values = int(sketches.sizes.sum())
        counters = new_counters(values)
        count_families(counters, sketches, family)
        super().__init__(counters, values)


def count_families(counters: Counters, sketches: Sketches, family: Indices) -> None:
    """Count the families that have each value; `family` (n,) is below n for each sketch."""
    is_alone = np.bincount(family, minlength=len(family))[family] == 1
    _count_each(counters, sketches, parts_of_texts(sketches.sizes, np.flatnonzero(is_alone)))
    together = np.flatnonzero(~is_alone)
    parts = parts_of_texts(sketches.sizes, together[np.argsort(family[together])])
    for values in values_of_families((sketches.take(part), family[part]) for part in parts):
        count(counters, Sketches(values, np.zeros(1, np.int64), np.array([len(values)])))


def new_counters(values: int = COUNTERS) -> Counters:
    """Empty counters, which are to count `values` values.

    numpy asks for large pages, and filling these with zeros takes 6 ms. Few values touch few
    counters, and then small pages take less than 1 ms.
    """
    if values < FEW_VALUES:
        return np.frombuffer(mmap(-1, 2 * COUNTERS), np.uint16)
    return np.zeros(COUNTERS, np.uint16)


def shares_in_others(sketches: Sketches, counts: Indices, pair: tuple[int, int]) -> Similarities:
    """How much of what two texts share each of the other texts has, at their large sketches.

    `counts` (n,) has the features of all texts. The result is empty if the two share nothing.
    """
    shared = np.intersect1d(sketches[pair[0]], sketches[pair[1]])
    others = np.delete(np.arange(len(sketches)), pair)[: len(shared) * len(sketches)]
    found = [np.empty(0)]
    for part in parts_of_texts(sketches.sizes, others):
        taken, limits = sketches.take(part), _LIMITS[levels(counts[part], LEVELS, KEPT)]
        owners = np.repeat(np.arange(len(part)), taken.sizes)
        held = np.bincount(owners[np.isin(taken.joined(), shared)], minlength=len(part))
        found.append(held / np.maximum(np.searchsorted(shared, limits, side="right"), 1))
    return np.concatenate(found)


def _count_each(counters: Counters, sketches: Sketches, parts: list[Indices]) -> None:
    """Count the values of sketches, whose texts come in `parts`, once for each text.

    With kernels, each thread has a range of the counters: it goes through all values, and counts
    only those of its range.
    """
    most = 1 if loaded_kernels() is None else threads()
    shares = min(most, len(parts) // PARTS_WORTH + 1)
    bounds = np.linspace(0, len(counters), shares + 1).astype(np.int64).tolist()

    def counted(own: tuple[int, int]) -> None:
        for part in parts:
            count(counters, sketches.take(part), *own)

    in_threads(counted, pairwise(bounds))


def count(counters: Counters, sketches: Sketches, first: int = 0, end: int | None = None) -> None:
    """Count the values of some sketches, each as often as it occurs.

    Only the counters from `first` to before `end` are used; None for all from `first` on.
    """
    end = len(counters) if end is None else end
    if kernels := loaded_kernels():
        kernels.count_values(*as_kernels_take(sketches), counters, first, end)
        sketches.release()
        return
    values = sketches.joined()
    places = np.sort(_counter_of(values, counters))
    places = places[slice(*np.searchsorted(places, [first, end]))]
    begins = np.flatnonzero(np.diff(places, prepend=places[:1] + np.uint32(1)))
    at, counts = places[begins], np.diff(begins, append=len(places))
    counters[at] = np.minimum(counters[at] + counts, MOST_COUNTED)


def _counter_of(values: Values, counters: Counters) -> Values:
    """The counter of each value by multiplicative hashing (Knuth): long texts have small values."""
    return (values * np.uint32(COUNTER_HASH)) >> np.uint32(33 - len(counters).bit_length())


def values_of_families(parts: Iterable[tuple[Sketches, Indices]]) -> Iterator[Values]:
    """Yield the values of families, each value once for each family that has it.

    Texts come family by family, in parts: some sketches, and the family of each. A family may be
    spread over several parts.
    """
    open_keys = np.empty(0, np.uint64)
    for sketches, family in parts:
        owner = np.repeat(family.astype(np.uint64), sketches.sizes)
        keys = (owner << np.uint64(32)) | sketches.joined()
        keys = distinct_numbers(np.concatenate((open_keys, keys)))
        is_open = keys >> np.uint64(32) == np.uint64(family[-1])
        open_keys = keys[is_open]
        yield keys[~is_open].astype(np.uint32)
    yield open_keys.astype(np.uint32)


def parts_of_texts(sizes: Indices, texts: Indices, at_once: int | None = None) -> list[Indices]:
    """The texts, or pairs, in parts with about so many values each; None: VALUES_AT_ONCE."""
    before = np.cumsum(sizes[texts]) - sizes[texts]
    cuts = np.flatnonzero(np.diff(before // (at_once or VALUES_AT_ONCE))) + 1
    return np.split(texts, cuts) if len(texts) else []


def _compared(
    sketches: Sketches, pairs: Indices, level: Indices
) -> tuple[Similarities, Similarities]:
    """How many values the texts of each pair share, and the product of their lengths; (m,) each.

    Only values that both sketches would keep at the pair's `level` (m,) count for a length.
    """
    shared, size = np.empty((2, len(pairs)))
    for part, loaded in in_parts(sketches, pairs):
        shared[part], kept = shared_and_kept(loaded, pairs[part], level[part])
        size[part] = _lengths(kept)
    return shared, size


def shared_and_kept(
    sketches: Sketches, pairs: Indices, level: Indices
) -> tuple[Similarities, Similarities]:
    """How many values the texts of each pair share (m,), and how many each of them keeps (m, 2).

    Only values that both sketches would keep at the pair's `level` (m,) count as kept.
    """
    load_kernels_if_worth(words=WORDS_OF_A_PAIR * len(pairs))
    if kernels := loaded_kernels():
        found = _compiled(kernels.shared_values, sketches, pairs, level, 3).astype(np.float64)
    else:
        found = _merged(sketches, pairs, level)
    return found[:, 0], found[:, 1:]


def _lengths(squares: Similarities) -> Similarities:
    """The product of the lengths of two vectors, from the squares of both (m, 2)."""
    return np.sqrt(squares[:, 0] * squares[:, 1])


def _compiled(
    kernel: Callable[..., None],
    sketches: Sketches,
    pairs: Indices,
    level: Indices,
    columns: int,
    *more: object,
) -> Indices:
    """The result for each pair of a kernel that takes sketches and pairs; (m, columns)."""
    order, found = np.argsort(pairs[:, 0], kind="stable"), np.empty((len(pairs), columns), np.int64)
    limited = np.column_stack((pairs, _LIMITS[level].astype(np.int64)))[order]
    made, sketched = np.empty_like(found), as_kernels_take(sketches)

    def fill(part: slice) -> None:
        kernel(*sketched, limited[part], *more, made[part])

    in_threads(fill, parts(len(pairs)))
    found[order] = made
    return found


def in_parts(sketches: Sketches, pairs: Indices) -> Iterator[tuple[Indices, Sketches]]:
    """Yield parts of the pairs, and the sketches, of which those of a part are in memory.

    If the sketches lie in a file, reading one page of it also loads its neighbours, so that some
    thousand pairs would load the whole file. Parts of it are read in order instead.
    """
    if sketches.mapped is None:
        yield np.arange(len(pairs)), sketches
        return
    order = np.lexsort((pairs[:, 0], *(sketches.begins[pairs] // BLOCK).T))
    begins = np.zeros_like(sketches.begins)
    for places in parts_of_texts(sketches.sizes[pairs].sum(axis=1), order, VALUES_IN_MEMORY):
        texts = distinct_numbers(pairs[places])
        asked = joined([sketches.take(part) for part in parts_of_texts(sketches.sizes, texts)])
        begins[texts] = asked.begins
        yield places, Sketches(asked.values, begins, sketches.sizes)


def as_kernels_take(sketches: Sketches) -> tuple[Values, Indices, Indices]:
    """The arrays of sketches, with types for which kernels are compiled."""
    values = sketches.values.view()
    values.flags.writeable = False  # as those of a file are
    return values, sketches.begins, sketches.sizes


def _merged(
    sketches: Sketches,
    pairs: Indices,
    level: Indices,
    weights: Callable[[Values, int], Indices] | None = None,
) -> Similarities:
    """The counts of `shared_and_kept`, or with weights the columns of `_weighed`; (m, 3 or 7)."""
    found = [np.empty((0, 7 if weights else 3))]

    def summed(owners: Indices, values: Values, families: int) -> Indices | Similarities:
        weight = weights(values, families) if weights and families else None
        return np.bincount(owners, weight, 2 * len(part)).reshape(2, -1)

    for part in parts_of_texts(sketches.sizes[pairs].sum(axis=1), np.arange(len(pairs))):
        both = sketches.take(pairs[part].T.ravel())
        # The left texts of all pairs, then the right ones.
        values, owners = both.joined(), np.repeat(np.arange(2 * len(part)), both.sizes)
        keys = ((owners % len(part)).astype(np.uint64) << np.uint64(32)) | values
        keys = sorted_keys(keys)
        shared = keys[1:][keys[1:] == keys[:-1]]
        of_shared = (shared >> np.uint64(32)).astype(np.int64), shared.astype(np.uint32)
        are_kept = values <= np.tile(_LIMITS[level[part]], 2)[owners]
        of_kept = owners[are_kept], values[are_kept]
        families = (0, 1, 2) if weights else (0,)
        sums = [summed(*of_shared, each)[:1] for each in families]
        sums += [summed(*of_kept, each) for each in families[:2]]
        found.append(np.concatenate(sums).T)
    return np.concatenate(found)
