"""Texts of some families in, whether each family was filled in from one form out.

The texts of a family are alike, so most of their tokens stand in all of them. What lies between two
such tokens is a *place*, and what one text has there is its *reading*. In a form the texts have
readings of their own at the same short places inside the text. Copies with a frame or a note have
readings of their own too, but at the ends of the text, or each at another place.

    tokens -> shingles that two texts share -> tokens that all texts share -> places -> readings

Two texts are aligned by what occurs once in each, as in patience diff (Bram Cohen). All families
are handled at once: the tokens of all texts are one array.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from simdup.arrays import Hashes, Indices, Mask
from simdup.compute.hashing import WORD_STEP, gram_hashes, mix64, span_hashes
from simdup.fingerprint.tokens import Tokens

#: A place is filled in if at least the share FILLED of the texts has a reading there, and if at
#: least the share DIFFERENT of all readings, and LEAST_DIFFERENT, are different ones.
FILLED, DIFFERENT, LEAST_DIFFERENT = 0.8, 0.4, 3

#: Edits leave most texts as they were, so no reading of a form is in a larger share of the texts.
USUAL = 0.5

#: Half of what differs was filled in: half of the words, or of MOST_PLACES and more places, since a
#: form may have a free text.
MOST_PLACES = 3

#: The median reading of a short place has at most this many tokens.
SHORT_READING = 12

#: A form has at least this many short places inside the text. Places where each text repeats one
#: number count as one: the date of a version may be written at several places. One place is enough
#: if it has most of what differs, and LONE_TEXTS or more all have another reading there without a
#: number: the name in a certificate.
LEAST_PLACES, LONE_TEXTS = 2, 4

# With how many of the places that follow a place is looked at.
MOST_CROSSING = 16

# Tokens of the shingles that align texts. Two tokens are often a name, which may have been filled
# in at another place.
GRAM = 3


class Readings(NamedTuple):
    """What texts have at places where the texts of a family may differ; arrays by reading.

    text: The text.
    place: The number of the place, among the places of all families.
    begin: The first token of the reading.
    size: How many tokens the reading has.
    family: (places,): the family of each place.
    is_inner: (places,): whether the place is neither at the beginning nor at the end of the text.
    """

    text: Indices
    place: Indices
    begin: Indices
    size: Indices
    family: Indices
    is_inner: Mask


def are_forms(tokens: Tokens, are_numbers: Mask, family: Indices, has_own: Mask) -> Mask:
    """Whether the texts of each family were filled in from one form; (families,).

    `are_numbers` (tokens,) says which tokens are numbers. `family` (texts,) is the number of each
    text's family, from 0 on, and ascends. `has_own` (families,) says in which families readings of
    one text alone count; in others they may be those of a long history. At least half of what
    differs in a form must have been filled in.
    """
    texts = np.bincount(family)
    read = readings(tokens, family)
    place, size, n = read.place, read.size, texts[read.family]
    ids = span_hashes(tokens.ids, read.begin, read.begin + size)
    order = np.lexsort((ids, place))
    is_new = np.ones(len(order), bool)
    is_new[1:] = (np.diff(place[order]) != 0) | (np.diff(ids[order]) != 0)

    def at_each_place(which: Mask | Indices) -> Indices:
        return np.bincount(place[which], minlength=len(n))

    different = at_each_place(order[is_new])
    is_filled = at_each_place(size > 0) >= FILLED * n
    is_short = at_each_place(size <= SHORT_READING) > n // 2
    is_own = different >= np.maximum(DIFFERENT * n, LEAST_DIFFERENT)
    begins, usual = np.flatnonzero(is_new), np.zeros(len(n), np.int64)
    np.maximum.at(usual, place[order][begins], np.diff(begins, append=len(order)))
    is_own &= usual <= USUAL * n
    is_own &= has_own[read.family]
    is_filled &= is_own | _are_crossing(read, ids, different, is_filled & is_short & ~is_own)
    words = np.bincount(place, size, len(n)) * (different > 1)
    filled = np.bincount(read.family, words * (is_filled & is_short), len(texts))
    every = np.bincount(read.family, words, len(texts))
    numbers = np.insert(np.cumsum(are_numbers), 0, 0)
    of_reading = numbers[read.begin + size] - numbers[read.begin]
    is_number = at_each_place(of_reading < size) == 0
    chosen = is_filled & is_short & read.is_inner & ~(is_number & _are_repeated(read, ids))
    is_lone = chosen & (different == n) & (n >= LONE_TEXTS) & (at_each_place(of_reading > 0) == 0)
    is_lone &= 2 * words > every[read.family]
    of_family = np.bincount(read.family, chosen + is_lone * (LEAST_PLACES - 1), len(texts))
    places = np.bincount(read.family, different > 1, len(texts))
    is_most = (2 * filled >= every) | ((of_family >= MOST_PLACES) & (2 * of_family >= places))
    return (of_family >= LEAST_PLACES) & is_most


def _are_crossing(read: Readings, ids: Hashes, different: Indices, some: Mask) -> Mask:
    """Which of these places (places,) have readings that recur as they do in no history.

    At two places with d and e `different` readings, texts with a history have at most d + e - 1
    combinations of both: the test of four gametes (Hudson and Kaplan, "Statistical properties of
    the number of recombination events in the history of a sample of DNA sequences", 1985).
    """
    order = np.argsort(read.place, kind="stable")
    ids, n = ids[order], np.bincount(read.place)
    first, places, are_crossing = np.cumsum(n) - n, np.flatnonzero(some), np.zeros(len(n), bool)
    for step in range(1, MOST_CROSSING + 1):
        one, other = places[:-step], places[step:]
        is_pair = read.family[one] == read.family[other]
        one, other = one[is_pair], other[is_pair]
        of_pair = np.repeat(np.arange(len(one)), n[one])
        text = np.arange(len(of_pair)) - np.searchsorted(of_pair, of_pair)
        keys = mix64(ids[first[one][of_pair] + text] + of_pair.astype(np.uint64))
        keys = mix64(keys + ids[first[other][of_pair] + text])
        combinations = np.bincount(of_pair[np.unique(keys, return_index=True)[1]])
        is_crossing = combinations >= different[one] + different[other]
        are_crossing[np.concatenate((one[is_crossing], other[is_crossing]))] = True
    return are_crossing


def _are_repeated(read: Readings, ids: Hashes) -> Mask:
    """Whether each text has at each place what it has at an earlier one of its family; (places,).

    `ids` (readings,) is equal for equal readings.
    """
    order = np.argsort(read.place, kind="stable")
    begins = np.flatnonzero(np.diff(read.place[order], prepend=-1))
    of_text = mix64(ids + read.text.astype(np.uint64) * np.uint64(WORD_STEP))
    of_place = np.add.reduceat(of_text[order], begins) if len(begins) else of_text
    are_repeated = np.ones(len(read.family), bool)
    are_repeated[np.unique(of_place, return_index=True)[1]] = False
    return are_repeated


def readings(tokens: Tokens, family: Indices) -> Readings:
    """The readings of all texts at the places where any text of their family has one.

    The arguments are the ones of `are_forms`. Tokens that all texts of a family share lie between
    its places.
    """
    pairs = _Pairs.of(tokens, family)
    token = _extended(pairs, _anchored(pairs, pairs.whole_texts(), np.full(len(pairs.text), -1)))
    token = _extended(pairs, _anchored(pairs, pairs.gaps(token), token, 1))
    shared = np.bincount(pairs.other[token >= 0], minlength=len(tokens.ids))
    in_all = (shared[pairs.other] == np.bincount(family)[family][pairs.text]) & (token >= 0)
    token, counts = token[in_all], np.bincount(pairs.text[in_all], minlength=len(family))
    ends = np.cumsum(counts)
    begin = np.insert(token + 1, ends - counts, tokens.offsets[:-1])
    end = np.insert(token, ends, tokens.offsets[1:])
    return _at_places(begin, end - begin, counts + 1, family)


def _at_places(begin: Indices, size: Indices, counts: Indices, family: Indices) -> Readings:
    """The readings at places where any text has a token.

    `counts` (texts,) is the number of readings of each text, equal within a family.
    """
    of_family = counts[np.flatnonzero(np.diff(family, prepend=-1))]
    ends = np.cumsum(of_family)
    owner = np.repeat(np.arange(len(ends)), of_family)
    is_inner = np.ones(len(owner), bool)
    is_inner[ends - of_family] = is_inner[ends - 1] = False
    number = np.arange(len(begin)) - np.repeat(np.cumsum(counts) - counts, counts)
    place = np.repeat((ends - of_family)[family], counts) + number
    is_read = np.bincount(place, size, len(owner)) > 0
    kept, numbers = is_read[place], np.cumsum(is_read) - 1
    text = np.repeat(np.arange(len(family)), counts)[kept]
    by_reading = text, numbers[place[kept]], begin[kept], size[kept]
    return Readings(*by_reading, owner[is_read], is_inner[is_read])


class _Pairs(NamedTuple):
    """Each text with each token of the first text of its family, text by text; arrays by pair.

    Aligning the texts finds the token of the text that stands at the place of the first text's
    token: an array (pairs,), with -1 for none.

    tokens: The tokens of all texts.
    text: The text.
    other: The token of the first text.
    """

    tokens: Tokens
    text: Indices
    other: Indices

    @classmethod
    def of(cls, tokens: Tokens, family: Indices) -> _Pairs:
        """The pairs of the texts, whose families (texts,) ascend."""
        first = np.searchsorted(family, family)
        sizes = np.diff(tokens.offsets)[first]
        text = np.repeat(np.arange(len(family)), sizes)
        begins = np.cumsum(sizes) - sizes
        return cls(tokens, text, np.arange(len(text)) + (tokens.offsets[first] - begins)[text])

    @property
    def text_of_token(self) -> Indices:
        """The text of each token; (tokens,)."""
        sizes = np.diff(self.tokens.offsets)
        return np.repeat(np.arange(len(sizes)), sizes)

    def whole_texts(self) -> tuple[Indices, Indices]:
        """The number of the stretch that each pair and each token is in: of its text."""
        return self.text, self.text_of_token

    def gaps(self, token: Indices) -> tuple[Indices, Indices]:
        """The number of the stretch between aligned tokens that each pair and each token is in.

        -1 for what is aligned, and for the beginning and the end of a text.
        """
        place, is_known = np.arange(len(token)), token >= 0
        if not is_known.any():
            return token, np.full(len(self.tokens.ids), -1)
        before = np.maximum.accumulate(np.where(is_known, place, -1))
        is_last = np.ones(len(token), bool)
        known = place[is_known]
        is_last[known[:-1][np.diff(self.text[known]) == 0]] = False
        known_before = np.full(len(self.tokens.ids), -1)
        known_before[token[is_known]] = known
        of_token = np.maximum.accumulate(known_before)
        is_outside = (self.text[before] != self.text) | is_last[before] | (before < 0)
        of_pair = np.where(is_known | is_outside, -1, before)
        is_outside = (self.text[of_token] != self.text_of_token) | is_last[of_token]
        is_outside |= (of_token < 0) | (known_before >= 0)
        return of_pair, np.where(is_outside, -1, of_token)


def _anchored(
    pairs: _Pairs, stretches: tuple[Indices, Indices], token: Indices, size: int = GRAM
) -> Indices:
    """The aligned tokens (pairs,), with shingles of this size that occur once in a stretch."""
    ids, ends = pairs.tokens.ids, pairs.tokens.offsets[1:][pairs.text_of_token]
    is_whole = np.arange(len(ids)) + size <= ends
    grams = np.zeros(len(ids), np.uint64)
    grams[is_whole] = gram_hashes(ids, np.flatnonzero(is_whole), size)
    of_pair, of_token = stretches
    here = np.flatnonzero((of_pair >= 0) & is_whole[pairs.other])
    there = np.flatnonzero((of_token >= 0) & is_whole)
    here, keys = _once(here, grams[pairs.other[here]], of_pair)
    there, others = _once(there, grams[there], of_token)
    _, left, right = np.intersect1d(keys, others, assume_unique=True, return_indices=True)
    order = np.argsort(here[left])
    here, there = here[left][order], there[right][order]
    kept = _not_crossing(here, there, of_pair[here], size)
    here, there, token = here[kept], there[kept], token.copy()
    for offset in range(size):
        token[here + offset] = there + offset
    return token


def _once(places: Indices, grams: Hashes, stretch: Indices) -> tuple[Indices, Hashes]:
    """The places whose gram (places,) occurs once in its stretch, and a key of both."""
    keys = mix64(grams + stretch[places].astype(np.uint64) * np.uint64(WORD_STEP))
    keys, first, counts = np.unique(keys, return_index=True, return_counts=True)
    return places[first[counts == 1]], keys[counts == 1]


def _not_crossing(places: Indices, others: Indices, stretch: Indices, size: int) -> Mask:
    """Which shingles have others in their order within a stretch, and overlap none; (m,).

    They begin at `places` (m,), which ascend. Of two runs that cross, the shorter one was moved.
    """
    is_new = np.ones(len(places), bool)
    is_new[1:] = (np.diff(places) != 1) | (np.diff(others) != 1) | (np.diff(stretch) != 0)
    begins = np.flatnonzero(is_new)
    sizes = np.diff(begins, append=len(places))
    low, stretch = np.stack((places, others))[:, begins], stretch[begins]
    high = low + sizes + size - 1
    is_kept, runs = np.ones(len(begins), bool), np.arange(len(begins))
    while len(runs):
        one, other = runs[:-1], runs[1:]
        is_crossing = (high[:, one] > low[:, other]).any(axis=0) & (stretch[one] == stretch[other])
        is_kept[np.where(sizes[one] < sizes[other], one, other)[is_crossing]] = False
        # Where no neighbours cross, no runs do.
        runs = runs[is_kept[runs] & np.isin(stretch[runs], stretch[one[is_crossing]])]
    return np.repeat(is_kept, sizes)


def _extended(pairs: _Pairs, token: Indices) -> Indices:
    """The aligned tokens, and the equal ones beside these without a gap; (pairs,)."""
    token = _followed(pairs, token, 1)
    reverse = pairs._replace(text=pairs.text[::-1], other=pairs.other[::-1])
    return _followed(reverse, token[::-1], -1)[::-1]


def _followed(pairs: _Pairs, token: Indices, step: int) -> Indices:
    """The aligned tokens, and the equal ones that follow; with a `step` of -1 all is reversed."""
    (ids, offsets, *_), text = pairs.tokens, pairs.text
    place, is_known = np.arange(len(token)), token >= 0
    begins = np.flatnonzero(np.diff(text, prepend=-1))
    row = np.repeat(begins, np.diff(begins, append=len(text)))
    last = np.maximum.accumulate(np.where(is_known, place, -1))
    is_from_end = last < row  # nothing before is aligned: begin where the text begins
    end = offsets[:-1][text] if step > 0 else offsets[1:][text] - 1
    guess = np.where(is_from_end, end + step * (place - row), token[last] + step * (place - last))
    following = np.minimum.accumulate(np.where(is_known, place, len(token))[::-1])[::-1]
    is_inside = (offsets[:-1][text] <= guess) & (guess < offsets[1:][text])
    is_inside &= step * guess < step * np.append(token, step * len(ids))[following]
    is_equal = is_inside & (ids[np.where(is_inside, guess, 0)] == ids[pairs.other])
    wrong = np.cumsum(~(is_equal | is_known))
    before = np.where(is_from_end, np.where(row > 0, wrong[row - 1], 0), wrong[last])
    return np.where(is_known, token, np.where(wrong == before, guess, -1))
