"""Sketches in, candidate pairs out: pairs of texts that share rare shingles.

An inverted index lists, for each value of a sketch, the texts that have it (its postings).

1. Two texts of a short list share that value.
2. A value with a long list is common, and says little by itself. Its texts are listed anew by
   pairs of common values that are neighbours in their sketches; then the texts of lists that are
   still long are listed by two of these pairs, and so on, RELISTED times.
3. The texts of a long list by two values are copies, or have a form in common. Each of them shares
   these values with the first text of the list.

Two texts that share enough values in this way are candidates. The work grows with the number
of values, and not with the square of the number of texts. Sources: Bayardo, Ma, Srikant,
"Scaling up all pairs similarity search", 2007, for inverted lists; Broder, Glassman, Manasse,
Zweig, "Syntactic clustering of the web", 1997, for passing over what too many share.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simdup.arrays import Bytes, Hashes, Indices, Keys, Mask, Words
from simdup.compute.buckets import in_buckets, sorted_keys
from simdup.compute.compiled import each_in_threads, loaded_kernels, threads
from simdup.compute.hashing import mix64
from simdup.compute.memory import return_freed_memory
from simdup.fingerprint.sketch import Sketches, up_to
from simdup.match.own_share import as_kernels_take, parts_of_texts
from simdup.progress import Progress, silent
from simdup.search.distinct import distinct_numbers
from simdup.search.pairs import CHUNK

#: A text with at least this many features is listed under about this many values, or up
#: to twice as many.
LISTED = 48

#: The most texts of a short list.
MOST_TOGETHER = 16

# Candidates must share one in VALUES_A_SHARED of the values that the text with fewer of them is
# listed under; the number is at least LEAST_SHARED and at most MOST_SHARED.
VALUES_A_SHARED, LEAST_SHARED, MOST_SHARED = 12, 2, 3

# Neighbours up to this many places apart make a pair of common values, if a text has so few
# that it then has no more than PAIRED pairs.
NEIGHBOURS, PAIRED = 8, 64

# Texts whose entries are sorted at once, on average.
TEXTS_AT_ONCE = 1 << 14

# The most texts whose partners a thread counts at once. It goes through all lists for them.
COUNTED_AT_ONCE = 1 << 20

# Pairs for which a thread has room; any text has fewer partners.
ROOM = 1 << 18

# Each value of a sketch is listed, counted and compared with a sample. Kernels save as much of that
# time as where so many words are compared.
WORDS_OF_A_VALUE = 350

#: How often the texts of long lists are listed anew. Of 10,400 contracts, each with half of 40
#: clauses, one time loses 22 of 520 pairs that differ in three words.
RELISTED = 3

# Pairs of common values are listed only if their hash is below this: one in two. Among more texts
# than FEW_TEXTS more values are common, and fewer lists are short. So more pairs are listed, twice
# as many for eight times the texts. Of the copies with a similarity of .45 to .5 among a million
# rows of 1 kB, .984 are candidates, and among four million .986; with one pair in two, .912 were
# among five million.
PAIRS_BELOW, FEW_TEXTS = np.uint64(1 << 63), 1 << 20

_ONE, _HALF, _LOW = np.uint64(1), np.uint64(32), np.uint64((1 << 32) - 1)
_NO_KEYS = np.empty(0, np.uint64)


class Together(NamedTuple):
    """Pairs of texts that share enough, and the texts whose pairs are not all among them.

    pairs: (m, 2), each pair once; if there are references, the reference is on the right.
    crowded: Texts that were paired with the first text of a long list only, ascending.
    """

    pairs: Indices
    crowded: Indices


class Lists(NamedTuple):
    """Lists of texts, one after the other.

    texts: Ascending within each list.
    """

    texts: Keys
    sizes: NDArray[np.integer]


class Postings(NamedTuple):
    """Short lists of texts, one after the other, and where some of these texts stand in them.

    texts: (entries,): ascending within each list.
    ends: (entries,): the last eight bits of where the list of each entry ends.
    doubles: From this entry on, two texts of a list share two values.
    places: The entries of text first + i are places[offsets[i] : offsets[i + 1]].
    """

    texts: Keys
    ends: Bytes
    doubles: int
    places: Indices
    offsets: Indices
    first: int


def texts_together(  # noqa: PLR0913  (the last two have an answer)
    sketches: Sketches,
    counts: Indices,
    order: Indices,
    is_reference: Mask,
    *,
    progress: Progress = silent,
    salts: Hashes | None = None,
) -> Together:
    """The pairs of texts that share enough values that few others have.

    `counts` (n,) is the number of features of each text. `order` (n,) says which text of a list
    is its first. If `is_reference` (n,) is true for any text, only pairs of a reference and
    another text count. Texts with different `salts` (n,) share nothing; see `division.salts_of`.
    """
    n, references = len(order), int(is_reference.sum())
    order = order[np.argsort(~is_reference[order], kind="stable")]
    sketches, counts = sketches.take(order), counts[order]
    depths, needed = depths_of(counts), needed_of(counts)
    salts = np.zeros(n, np.uint64) if salts is None else salts[order]
    by_value, short, long = _lists(sketches, depths, salts, progress)
    return_freed_memory()
    stars = _stars(long, needed, references)
    del long
    pairs = np.concatenate([stars, *_sharing(short, by_value, needed, references, progress)])
    crowded = np.sort(order[np.flatnonzero(np.bincount(stars.ravel(), minlength=n))])
    del short
    return_freed_memory()
    return Together(order[_each_once(pairs)[:, ::-1]], crowded)


def depths_of(counts: Indices) -> Indices:
    """How often each text halves the range of its values, to keep LISTED or up to twice as many.

    `counts` (n,) is the number of features of each text.
    """
    return np.searchsorted(2 * LISTED << np.arange(32), counts, side="right")


def needed_of(counts: Indices) -> Indices:
    """The number of values that each text must share with another to be its candidate; (n,).

    A text with fewer values must share fewer. Of the two texts of a pair, the lower number counts.
    """
    listed = counts >> depths_of(counts)
    return np.clip(listed // VALUES_A_SHARED, LEAST_SHARED, MOST_SHARED)


def pairs_below(texts: int) -> np.uint64:
    """The number below which the hash of two common values of so many texts must be.

    >>> [float(pairs_below(texts)) / 2**64 for texts in (1000, FEW_TEXTS, 8 * FEW_TEXTS)]
    [0.5, 0.5, 1.0]
    """
    more = int(256 * max(1, texts / FEW_TEXTS) ** (1 / 3))
    return np.uint64(min(int(PAIRS_BELOW) * more >> 8, (1 << 64) - 1))


def _lists(
    sketches: Sketches, depths: Indices, salts: Hashes, progress: Progress
) -> tuple[int, Lists, list[Lists]]:
    """The number of entries in lists by one value, the short lists, and the long lists by two.

    Short lists by one value come first, then short lists by two common values or more.
    """
    # These grow in place, where joining arrays would take twice the memory. `in_buckets` takes all
    # keys before it yields any, so all lists by one value come first.
    texts, lengths = bytearray(), bytearray()
    by_value, long = list[int](), list[Lists]()
    # A power of two, by which division is fast; threads have a bucket each.
    buckets = 4 << (len(depths) // TEXTS_AT_ONCE).bit_length()

    def split(keys: Iterable[Words], *, are_values: bool = False) -> Iterator[Words]:
        """Note the lists of these keys, and yield the keys of long lists, each under its text."""
        for short, others, sizes in each_in_threads(split_lists, in_buckets(keys, buckets)):
            texts.extend(short.texts.tobytes())
            lengths.extend(short.sizes.astype(np.uint8).tobytes())
            if are_values:
                by_value.append(len(short.texts))
            else:
                long.append(Lists(others.astype(np.uint32), sizes))
            yield (others << _HALF) | (others >> _HALF)

    listed = progress(listed_values(sketches, depths), "list", int(sketches.sizes.sum()), len)
    salted = (keys ^ salts[keys & _LOW] for keys in listed) if salts.any() else listed
    common, paired = split(salted, are_values=True), partial(neighbours, texts=len(depths))
    for _ in range(RELISTED):
        common = split(each_in_threads(paired, in_buckets(common, buckets)))
    deque(common, maxlen=0)
    short = Lists(np.frombuffer(texts, np.uint32), np.frombuffer(lengths, np.uint8))
    return sum(by_value), short, long


def listed_values(sketches: Sketches, depths: Indices) -> Iterator[Words]:
    """Yield a key for each text and each value that it is listed under.

    A text is listed under the values of its sketch up to a limit that follows from its number
    of features, so two texts choose the same ones of what they share. A key has the value in its
    high half, and the text in its low half.
    """
    limits = np.uint32(_LOW) >> depths.astype(np.uint32)
    # In the order of the file that has the sketches, which is read once then.
    for part in parts_of_texts(sketches.sizes, np.argsort(sketches.begins, kind="stable")):
        yield _listed(sketches.take(part), part, limits[part])


def _listed(sketches: Sketches, texts: Indices, limits: Keys) -> Words:
    """The keys of some texts, each with its sketch and the largest value it is listed under."""
    if kernels := loaded_kernels():
        keys = np.empty(int(sketches.sizes.sum()), np.uint64)
        count = kernels.listed_keys(*as_kernels_take(sketches), texts, limits, keys)
        sketches.release()
        return keys[:count]
    sketches = up_to(sketches, limits)
    owners = np.repeat(texts.astype(np.uint64), sketches.sizes)
    return (sketches.joined().astype(np.uint64) << _HALF) | owners


def split_lists(keys: Words) -> tuple[Lists, Words, Indices]:
    """The short lists of these keys, the keys of the long lists, and the sizes of the latter."""
    keys = sorted_keys(keys)
    if kernels := loaded_kernels():
        texts, short, others, long = kernels.split_lists(keys, MOST_TOGETHER)
        return Lists(texts, short), others, long
    keys = keys[_are_repeated(keys >> _HALF)]
    sizes = _run_lengths(keys >> _HALF)
    is_short, is_long = sizes <= MOST_TOGETHER, sizes > MOST_TOGETHER
    texts = keys[np.repeat(is_short, sizes)].astype(np.uint32)
    return Lists(texts, sizes[is_short]), keys[np.repeat(is_long, sizes)], sizes[is_long]


def _are_repeated(ascending: Words) -> Mask:
    """Which numbers occur more than once: few do, and the others are out of the way soon; (n,)."""
    found, are_one = np.zeros(len(ascending), bool), ascending[1:] == ascending[:-1]
    found[1:] = are_one
    found[:-1] |= are_one
    return found


def _run_lengths(ascending: Words) -> Indices:
    """How often each number occurs, in ascending order of the numbers."""
    begins = np.flatnonzero(np.diff(ascending, prepend=ascending[:1] + np.uint64(1)))
    return np.diff(begins, append=len(ascending))


def neighbours(keys: Words, texts: int = 0) -> Words:
    """Each text under pairs of its values, as keys: the hash of two values, then the text.

    `keys` have a text in the high half, and one of its common values in the low half. They are
    from a collection of so many `texts`, see `pairs_below`.
    """
    keys = sorted_keys(keys)
    if kernels := loaded_kernels():
        return kernels.pairs_of_neighbours(keys, NEIGHBOURS, PAIRED, pairs_below(texts))
    hashes, owners = hashes_of_neighbours(keys >> _HALF, keys & _LOW, texts)
    return (hashes & ~_LOW) | owners


def hashes_of_neighbours(own: Words, values: Words, texts: int) -> tuple[Words, Words]:
    """The hashes of pairs of values that are neighbours in one text, and that text, for each pair.

    `own` (n,) is the text of each value, of a collection of so many `texts`. It ascends, and so do
    the values of each text, which may have 64 bits.
    """
    hashes, owners, below = [_NO_KEYS], [_NO_KEYS], pairs_below(texts)
    for apart in range(1, NEIGHBOURS + 1):
        sizes = _run_lengths(own)
        if apart > 1:  # only texts with few values
            is_few = np.repeat(sizes * apart <= PAIRED, sizes)
            own, values = own[is_few], values[is_few]
        are_one = own[:-apart] == own[apart:]
        left, right = values[:-apart][are_one], values[apart:][are_one]
        mixed = mix64((left << _HALF) ^ (left >> _HALF) ^ right)
        hashes.append(mixed[mixed < below])
        owners.append(own[:-apart][are_one][mixed < below])
    return np.concatenate(hashes), np.concatenate(owners)


def _stars(lists: list[Lists], needed: Indices, references: int) -> Indices:
    """Pairs of the first text of each list with the others, if they share enough; (m, 2)."""

    def enough(keys: Words) -> Indices:
        keys = sorted_keys(keys)
        lengths = _run_lengths(keys)
        pairs = _pairs(keys[np.cumsum(lengths) - lengths])
        return pairs[2 * lengths >= needed[pairs].min(axis=1)]

    buckets = 1 << (sum(len(each.texts) for each in lists) // CHUNK).bit_length()
    keys = in_buckets((_spokes(each, references) for each in lists), buckets)
    return np.concatenate([np.empty((0, 2), np.int64), *each_in_threads(enough, keys)])


def _spokes(lists: Lists, references: int) -> Words:
    """The first text of each list with each of the others, as keys, the lower number first.

    If there are `references`, the first reference is paired with the other texts, and the first
    other text with the references.
    """
    ends = np.cumsum(lists.sizes, dtype=np.int64)
    begins = ends - lists.sizes
    texts, first = lists.texts, np.repeat(lists.texts[begins], lists.sizes)
    if references:
        is_reference = texts < references
        others = begins + np.add.reduceat(is_reference, begins, dtype=np.int64)
        first_other = np.repeat(texts[np.minimum(others, ends - 1)], lists.sizes)
        first = np.where(is_reference, first_other, first)
        # A list of one side only has no pairs.
        across = (first < references) != is_reference
        texts, first = texts[across], first[across]
    return key_of(np.minimum(first, texts), np.maximum(first, texts))[first != texts]


def _sharing(
    lists: Lists, by_value: int, needed: Indices, references: int, progress: Progress
) -> Iterator[Indices]:
    """Yield the pairs of texts that are together in enough of these lists; arrays (m, 2).

    The first `by_value` entries are in lists by one value; a list by two counts twice.
    """
    n, (texts, sizes) = len(needed), lists
    paired = _plain if loaded_kernels() is None else _compiled
    ends = np.repeat(np.cumsum(sizes, dtype=np.uint8), sizes)
    some = int(np.clip(n // (4 * threads()), TEXTS_AT_ONCE, COUNTED_AT_ONCE))

    def together(first: int) -> Indices:
        index = Postings(texts, ends, by_value, *_places_of(texts, first, some), first)
        return paired(index, needed, references)

    firsts = progress(range(0, n, some), "search", n, lambda first: min(some, n - first))
    yield from each_in_threads(together, iter(firsts))


def _places_of(texts: Keys, first: int, count: int) -> tuple[Indices, Indices]:
    """Where each of up to `count` texts from `first` on stands among the entries, text by text.

    Returns the places, ascending for each text, and the offsets of the texts among them.
    """
    if kernels := loaded_kernels():
        return kernels.places_of(texts, first, count)
    numbers = texts - np.uint32(first)  # lower numbers wrap around to large ones
    places = np.flatnonzero(numbers < count)
    # Numbers of 16 bits are sorted in a third of the time.
    numbers = numbers[places].astype(np.uint16 if count <= 1 << 16 else np.uint32)
    offsets = np.append(0, np.cumsum(np.bincount(numbers, minlength=count)))
    return places[np.argsort(numbers, kind="stable")], offsets


def _compiled(index: Postings, needed: Indices, references: int) -> Indices:
    """The pairs that `_plain` returns, by `kernels.together`."""
    found, shared = np.empty((ROOM, 2), np.int64), np.zeros(len(needed), np.uint16)
    pairs, begin, end = [], index.first, index.first + len(index.offsets) - 1
    while begin < end:
        begin, count = loaded_kernels().together(
            tuple(index), needed, references, begin, shared, found
        )
        pairs.append(found[:count].copy())
    return np.concatenate([found[:0], *pairs])


def _plain(index: Postings, needed: Indices, references: int) -> Indices:
    """Pairs of a text of the index and a later text that share enough; (m, 2)."""
    found = [np.empty((0, 2), np.int64)]
    after = (index.ends[index.places] - index.places - 1) & 255
    before = np.append(0, np.cumsum(after))[index.offsets]
    cuts = np.flatnonzero(np.diff(before[:-1] // CHUNK, prepend=-1))
    for begin, end in zip(cuts, np.append(cuts, len(before) - 1)[1:], strict=True):
        own = slice(*index.offsets[[begin, end]])
        places, left_over, keys = index.places[own], after[own], [_NO_KEYS]
        for apart in range(1, MOST_TOGETHER):
            places, left_over = places[left_over >= apart], left_over[left_over >= apart]
            left, right = index.texts[places], index.texts[places + apart]
            made = (key_of(left, right) << _ONE) | (places >= index.doubles)
            keys.append(made[(left < references) & (right >= references)] if references else made)
        found.append(_sharing_enough(np.concatenate(keys), needed))
    return np.concatenate(found)


def _sharing_enough(keys: Words, needed: Indices) -> Indices:
    """The pairs that share at least the lower number `needed` (n,) of their two texts; (m, 2).

    A key is twice the `key_of` two texts that share a value, or one more if they share two. A pair
    may occur several times; then all of these count.
    """
    keys = sorted_keys(keys)
    # Others share one value, which is fewer than LEAST_SHARED.
    keys = keys[_are_repeated(keys >> _ONE) | (keys & _ONE > 0)]
    lengths = _run_lengths(keys >> _ONE)
    begins = np.cumsum(lengths) - lengths
    pairs = _pairs(keys[begins] >> _ONE)
    shared = lengths + np.add.reduceat(keys & _ONE, begins, dtype=np.int64)
    return pairs[shared >= needed[pairs].min(axis=1)]


def key_of(high: NDArray[np.integer], low: NDArray[np.integer]) -> Words:
    """Two numbers below 2**32 as one."""
    return (high.astype(np.uint64) << _HALF) | low.astype(np.uint64)


def _pairs(keys: Words) -> Indices:
    """The two numbers of each key; (m, 2)."""
    return np.column_stack((keys >> _HALF, keys & _LOW)).astype(np.int64)


def _each_once(pairs: Indices) -> Indices:
    """Each pair of two texts once, in ascending order.

    A text may be twice in one list: two pairs of its values may have one hash.
    """
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    return _pairs(distinct_numbers(key_of(pairs[:, 0], pairs[:, 1])))
