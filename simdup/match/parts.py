"""Distinct texts and their groups in, pairs of a part and its larger text out.

A text is a part of a larger one if enough of its distinct shingles stand there, and together.

    dense sketches -> rare values of each text -> pairs that share enough of them
    -> own share -> exact shares -> the place in the larger text

1. Of the `s` sampled values of a part, the larger text lacks at most (1 - share) * s, but for the
   error of sampling. A text of which more values than that are in no other text is a part of none.
2. Of the other values, each text is looked up by its rarest ones, which few texts hold. A larger
   text that holds enough of these is a candidate.
3. Sketches estimate the share of each candidate. A text that too many others hold as well, such
   as a licence, is no part: its own share decides, and how many texts hold it.
4. The features of the texts that are left give exact shares. `_Hits` finds where the shared
   shingles stand; a text whose shingles are scattered all over a long text is no part of it.

Sources: Irber et al., "Lightweight compositional analysis of metagenomes with FracMinHash and
minimum metagenome covers", 2022, for containment by sampled values; Chaudhuri, Ganti, Kaushik,
"A primitive operator for similarity joins in data cleaning", 2006, for looking up rare ones only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simdup.arrays import Hashes, Indices, Keys, Mask, Shares, Values
from simdup.compute.hashing import gram_hashes
from simdup.fingerprint.features import Features
from simdup.fingerprint.sketch import DENSE_LEVELS, LEAST, Sketches, levels
from simdup.fingerprint.tokens import placed_tokens
from simdup.match.distinct_texts import Texts
from simdup.match.engine import TextGroups
from simdup.match.exclusions import NO_EXCLUSIONS, Exclusions
from simdup.match.own_share import Frequencies, OwnShares, parts_of_texts, shared_and_kept
from simdup.match.postings import key_of
from simdup.match.similarities import FeatureSource
from simdup.match.tiers import NEAR_SCORE
from simdup.match.verify import decide, products
from simdup.progress import Progress
from simdup.recipe import Recipe
from simdup.search.distinct import distinct_numbers
from simdup.settings import Settings
from simdup.text.chunking import pieces

#: A text with fewer features is a part of nothing: a line or two stand somewhere by chance. An
#: English text of 200 characters has about 35, a Chinese one more than a hundred.
LEAST_FEATURES = 20

#: A text is looked up by some of its lowest values: of this many, or up to twice as many.
LOOKED_UP = 24

#: Of two near texts, the shorter is a part of the other, and no version, if this is so much longer.
MUCH_LONGER = 1.5

#: A value that more texts than this hold is not looked up: it is boilerplate, or would give more
#: pairs than anybody reads.
MOST_HOLDERS = 256

#: A text that at most this many others hold is no notice or licence, even if its words are everyday
#: ones: without this, a fifth of passages of 200 characters are not found in a Bible.
MOST_OTHERS = 3

#: A text is looked up by this many values more than the larger text may lack.
SPARE = 8

# A share that is estimated may be so many standard errors too low.
ERRORS = 3

#: Of the features that the larger text must have, at least this share must stand in one place.
IN_PLACE = 0.5

#: The cost of every token of a place. A shared shingle that is rare in the larger text counts 1,
#: and one that occurs twice as often a quarter. So a place goes on beyond an answer between two
#: quoted paragraphs, and ends where only everyday words are shared.
PER_TOKEN = 0.05

# This many low bits of a value are usually enough to tell that no text is looked up by it.
_MASK_BITS = 24

# Every dense sketch holds all values of its text up to this one.
_HIGHEST = np.uint32(((1 << 32) - 1) >> DENSE_LEVELS)

# The most features of a text whose usual sketch is the same as its dense one.
_MOST_FEATURES = (2 * LEAST << DENSE_LEVELS) - 1

# Pairs of a looked-up value and a text that holds it, which are in memory together.
PAIRS_AT_ONCE = 1 << 22

# Texts whose lowest values are read together.
TEXTS_AT_ONCE = 1 << 14


class TextParts(NamedTuple):
    """Pairs of a part and its larger text; arrays by pair, ordered by larger text and place.

    pairs: (m, 2): the part, and the larger text in which it stands.
    shares: (m,): the share of the distinct shingles of the part that the larger text has.
    places: (m, 2): where the part begins and ends in the larger text, in characters.
    """

    pairs: Indices
    shares: Shares
    places: Indices


class Place(NamedTuple):
    """Where a part stands in a larger text, in characters.

    features: How many distinct shingles of the part stand there.
    """

    start: int
    end: int
    features: int


def find_parts(  # noqa: PLR0913, PLR0917  (one argument a question)
    texts: Texts,
    dense: Sketches,
    matched: TextGroups,
    settings: Settings,
    source: FeatureSource,
    progress: Progress,
    exclusions: Exclusions = NO_EXCLUSIONS,
) -> TextParts:
    """The pairs of a text and a larger one that has at least the share `settings.parts` of it.

    `dense` has the dense sketches of all texts. Pairs that are no duplicates, because the user or
    other texts say so, are not listed, nor are versions: near texts of one group, neither of which
    is MUCH_LONGER. A text that changed meanwhile is a part of nothing.
    """
    share = settings.parts or 1.0
    search = _Search(texts, dense, matched, share)
    pairs = np.concatenate([np.empty((0, 2), np.int64), *search.candidates(progress)])
    pairs = pairs[exclusions.allows(pairs) & matched.allow(pairs)]
    pairs = pairs[search.are_own(pairs, settings.own_share, progress)]
    found = verified_parts(pairs, texts.counts, share, settings.recipe, source, progress)
    one, other = matched.leaders_of(len(texts))[found.pairs].T
    part, whole = texts.counts[found.pairs].T
    are_versions = (one == other) & (found.shares >= NEAR_SCORE) & (whole < MUCH_LONGER * part)
    return TextParts._make(column[~are_versions] for column in found)


def verified_parts(  # noqa: PLR0913, PLR0917  (one argument a question)
    pairs: Indices,
    counts: Indices,
    share: float,
    recipe: Recipe,
    source: FeatureSource,
    progress: Progress,
) -> TextParts:
    """The candidate pairs (m, 2) of a part and a larger text that the texts themselves confirm.

    `counts` (n,) is the number of features of each text. At least `share` of the features of a
    part must stand in the larger text, and together.
    """
    source.expect(distinct_numbers(pairs))
    shares, sizes = _exact_shares(pairs, counts, source, progress)
    is_part = shares >= share
    pairs, shares, sizes = pairs[is_part], shares[is_part], sizes[is_part]
    order = np.lexsort((pairs[:, 0], pairs[:, 1]))
    pairs, shares, sizes = pairs[order], shares[order], sizes[order]
    places = _places(pairs, recipe, source, progress)
    stands = places[:, 2] >= IN_PLACE * share * sizes
    pairs, shares, places = pairs[stands], shares[stands], places[stands]
    order = np.lexsort((places[:, 0], pairs[:, 1]))
    return TextParts(pairs[order], shares[order], places[order, :2])


def least_shared(share: float, sizes: NDArray[Any], errors: float | Indices = ERRORS) -> Shares:
    """The least number of a part's `sizes` sampled values that the larger text must have; (m,).

    The sampling may have been off by `errors` standard errors.
    """
    return share * sizes - errors * np.sqrt(share * (1 - share) * sizes) - 1e-9


def shares_of(features: Features, i: Indices, j: Indices) -> Shares:
    """The shares of the distinct features of documents i that documents j have; (m,)."""
    counts = features.counts[i]
    shared = products(features._replace(weights=None), i, j)
    return np.divide(shared, counts, out=np.zeros(len(i)), where=counts > 0)


class _Search:
    """Finds candidate pairs, and tells which of them share only what too many others have."""

    def __init__(self, texts: Texts, dense: Sketches, matched: TextGroups, share: float) -> None:
        self.texts, self.dense, self.share = texts, dense, share
        n = len(texts)
        self.family = np.arange(n) if matched.shares is None else matched.shares.family
        self.frequencies = Frequencies(dense, self.family)
        self.is_two_sided = bool(texts.is_reference.any())
        # For these counts of features, `levels` gives the levels of dense sketches.
        self.counts = np.minimum(texts.counts, _MOST_FEATURES)
        self.shares = OwnShares(dense, self.counts, self.family, self.frequencies)
        self.place = np.argsort(np.lexsort((texts.content, texts.counts)))
        """The place of each text in the order of sizes. Of two, the earlier may be the part."""
        self.lacking = np.zeros(n, np.int64)
        """How many of the values that a text is looked up by may be missing in a larger text."""

    def candidates(self, progress: Progress) -> Iterator[Indices]:
        """Yield pairs of a text and a larger one of which it may be a part; (m, 2) each."""
        texts, values = self._looked_up()
        asked = distinct_numbers(values.astype(np.uint64)).astype(np.uint32)
        holders, sizes = self._holders(asked, progress)
        place = np.searchsorted(asked, values)
        is_rare = sizes[place] <= MOST_HOLDERS
        texts, place = texts[is_rare], place[is_rare]
        looked_up = np.bincount(texts, minlength=len(self.texts))
        needed = np.maximum(looked_up - self.lacking, 1)
        begins = np.cumsum(sizes) - sizes
        for part in _chunks(texts, sizes[place]):
            counts = sizes[place[part]]
            left = np.repeat(texts[part], counts)
            right = _listed(holders, begins[place[part]], counts)
            pairs = self._counted(left, right, needed)
            yield pairs[self._may_be_parts(pairs)]

    def are_own(self, pairs: Indices, own_share: float, progress: Progress) -> Mask:
        """Whether what each left text shares with the right one is more than a notice; (m,).

        Either it is rare enough compared with all of the larger text, or at most MOST_OTHERS
        others hold it too.
        """
        are_own = self.shares.of_parts(pairs) >= own_share
        texts = distinct_numbers(pairs[~are_own, 0])
        if len(texts):
            held = self._holding(texts, progress)[np.searchsorted(texts, pairs[~are_own, 0])]
            are_own[~are_own] = held - 1 <= MOST_OTHERS
        return are_own

    def _holding(self, texts: Indices, progress: Progress) -> Indices:
        """How many other families, of larger or smaller texts, hold enough of each text; (m,)."""
        found = [(np.array([], np.int64), np.array([], np.uint32))]
        for part in np.split(
            np.arange(len(texts)), range(TEXTS_AT_ONCE, len(texts), TEXTS_AT_ONCE)
        ):
            taken = self.dense.take(texts[part])
            sizes = np.minimum(taken.sizes, 2 * LOOKED_UP)
            values = replace(taken, sizes=sizes).joined()
            is_kept = values <= _HIGHEST
            found.append((np.repeat(part, sizes)[is_kept], values[is_kept]))
        owner, values = map(np.concatenate, zip(*found, strict=True))
        asked, place = np.unique(values, return_inverse=True)
        holders, held = self._holders(asked, progress)
        begins, counts = np.cumsum(held) - held, np.zeros(len(texts), np.int64)
        needed = self.share * np.bincount(owner, minlength=len(texts)) - 1e-9
        for chunk in _chunks(owner, held[place]):
            left = np.repeat(owner[chunk], held[place[chunk]])
            right = _listed(holders, begins[place[chunk]], held[place[chunk]])
            keys, shared = np.unique((left << 32) | right, return_counts=True)
            left, family = keys >> 32, self.family[keys & 0xFFFFFFFF]
            is_holding = (shared >= needed[left]) & (family != self.family[texts[left]])
            pairs = distinct_numbers((left[is_holding] << 32) | family[is_holding])
            counts += np.bincount(pairs >> 32, minlength=len(texts))
        return counts

    def _looked_up(self) -> tuple[Indices, Values]:
        """The texts that may be parts, ascending, and the values that each is looked up by."""
        found = [(np.array([], np.int64), np.array([], np.uint32))]
        is_long = np.flatnonzero(self.texts.counts >= LEAST_FEATURES)
        for part in parts_of_texts(self.dense.sizes, is_long):
            taken = self.dense.take(part)
            values, owner = taken.joined(), np.repeat(np.arange(len(part)), taken.sizes)
            kept = np.bincount(owner[values <= _HIGHEST], minlength=len(part))
            depths = np.searchsorted(2 * LOOKED_UP << np.arange(32), kept, side="right")
            is_low = values <= (_HIGHEST >> depths.astype(np.uint32))[owner]
            values, owner = values[is_low], owner[is_low]
            families = self.frequencies.families(values)
            is_alone = families <= 1
            sizes, alone = (
                np.bincount(each, minlength=len(part)) for each in (owner, owner[is_alone])
            )
            error = ERRORS * np.sqrt(sizes * self.share * (1 - self.share))
            lacking = np.floor((1 - self.share) * sizes + error).astype(np.int64) - alone
            self.lacking[part] = lacking
            is_asked = ~is_alone & (lacking >= 0)[owner]
            values, owner, families = values[is_asked], owner[is_asked], families[is_asked]
            order = np.lexsort((families, owner))
            values, owner = values[order], owner[order]
            rank = np.arange(len(owner)) - np.searchsorted(owner, owner)
            is_rare = rank < (lacking + SPARE)[owner]
            found.append((part[owner[is_rare]], values[is_rare]))
        texts, looked_up = zip(*found, strict=True)
        return np.concatenate(texts), np.concatenate(looked_up)

    def _holders(self, asked: Values, progress: Progress) -> tuple[Keys, Indices]:
        """The texts that hold each of these values (ascending), value by value, and how many do.

        Of a value with more than MOST_HOLDERS texts some may be left out.
        """
        # Most values are not asked for, and their low bits are enough to tell.
        mask = np.uint32((1 << _MASK_BITS) - 1)
        is_asked = np.zeros(1 << _MASK_BITS, bool)
        is_asked[asked & mask] = True
        counts = np.zeros(len(asked), np.int64)
        found = [np.array([], np.uint64)]
        parts = parts_of_texts(self.dense.sizes, np.arange(len(self.texts)))
        for part in progress(parts, "parts", len(self.texts), len):
            taken = self.dense.take(part)
            values, holders = taken.joined(), np.repeat(part, taken.sizes)
            may_be = np.flatnonzero(is_asked[values & mask])
            values, holders = values[may_be], holders[may_be]
            # A value below all asked ones gets place -1, that of the highest, which it is not.
            place = np.searchsorted(asked, values, side="right") - 1
            is_held = (asked[place] == values) & (counts[place] <= MOST_HOLDERS)
            place, holders = place[is_held], holders[is_held]
            counts += np.bincount(place, minlength=len(asked))
            found.append(key_of(place, holders))
        return np.sort(np.concatenate(found)).astype(np.uint32), counts

    def _counted(self, left: Indices, right: Indices, needed: Indices) -> Indices:
        """The pairs, each once, that may be parts and share as many values as the left text needs.

        `left` and `right` have a pair once for each value that its texts share; `needed` (n,)
        is by text.
        """
        is_wanted = self.place[right] > self.place[left]
        is_wanted &= self.family[left] != self.family[right]
        if self.is_two_sided:
            is_reference = self.texts.is_reference
            is_wanted &= is_reference[left] != is_reference[right]
        keys = (left[is_wanted] << 32) | right[is_wanted]
        keys, shared = np.unique(keys, return_counts=True)
        pairs = np.column_stack((keys >> 32, keys & 0xFFFFFFFF))
        return pairs[shared >= needed[pairs[:, 0]]]

    def _may_be_parts(self, pairs: Indices) -> Mask:
        """Whether the sketches of each pair share enough for the left text to be a part; (m,)."""
        share, level = self.share, levels(self.counts[pairs[:, 1]])
        shared, kept = shared_and_kept(self.dense, pairs, level)
        sizes = kept[:, 0]
        # A sketch of all features makes no error.
        return shared >= least_shared(share, sizes, np.where(level > 0, ERRORS, 0))


def _chunks(texts: Indices, counts: Indices) -> list[Indices]:
    """Chunks of lookups with about PAIRS_AT_ONCE holders each; no text is split between two.

    `texts` (m,) ascend, and `counts` (m,) says how many holders each lookup has.
    """
    before = np.cumsum(counts) - counts
    first = np.searchsorted(texts, texts)
    cuts = np.flatnonzero(np.diff(before[first] // PAIRS_AT_ONCE)) + 1
    return np.split(np.arange(len(texts)), cuts)


def _listed(holders: Keys, begins: Indices, counts: Indices) -> Indices:
    """Some runs of `holders`, one after the other, by where each begins and how long it is."""
    at = np.repeat(begins - (np.cumsum(counts) - counts), counts)
    return holders[at + np.arange(len(at))].astype(np.int64)


def _exact_shares(
    pairs: Indices, counts: Indices, source: FeatureSource, progress: Progress
) -> tuple[Shares, Indices]:
    """The exact share of each part, and how many distinct features it has; (m,) each."""
    shares, sizes = np.zeros(len(pairs)), np.zeros(len(pairs), np.int64)

    def measured(features: Features, i: Indices, j: Indices) -> Shares:
        return np.column_stack((shares_of(features, i, j), features.counts[i]))

    decided = decide(pairs, counts, source.features, measure=measured)
    for part, values in progress(decided, "verify parts", len(pairs), lambda done: len(done[0])):
        shares[part], sizes[part] = values.T
    return shares, sizes


def _places(pairs: Indices, recipe: Recipe, source: FeatureSource, progress: Progress) -> Indices:
    """Where each part stands: start, end, and how many of its features are there; (m, 3).

    The pairs ascend by whole, then by part.
    """
    found = np.zeros((len(pairs), 3), np.int64)
    begins = np.flatnonzero(np.diff(pairs[:, 1], prepend=-1))
    wholes = np.split(np.arange(len(pairs)), begins[1:]) if len(pairs) else []
    for of_whole in progress(wholes, "place", len(pairs), len):
        features = source.features(pairs[of_whole, 0])
        hits = _Hits(source.chunks(int(pairs[of_whole[0], 1])), features.ids, recipe)
        for place, pair in enumerate(of_whole.tolist()):
            found[pair] = hits.place_of(features.ids[slice(*features.offsets[place : place + 2])])
    return found


class _Hits:
    """Where some shingles occur in a text; arrays by occurrence, by shingle and then place.

    The shingles have the recipe's shortest length. See PER_TOKEN.
    """

    def __init__(self, chunks: Iterable[str], wanted: Hashes, recipe: Recipe) -> None:
        wanted, n = distinct_numbers(wanted), recipe.ngram[0]
        no = np.array([], np.int64)
        found = [(np.array([], np.uint64), no, no, no)]
        tokens = characters = 0
        for piece in pieces(chunks, recipe):
            ids, starts, ends = placed_tokens(piece, recipe)
            first = np.arange(len(ids) - n + 1)
            grams = gram_hashes(ids, first, n)
            at = np.searchsorted(wanted, grams)
            first = first[np.append(wanted, ~grams[:1])[at] == grams]
            place = characters + starts[first], characters + ends[first + n - 1]
            found.append((grams[first], tokens + first, *place))
            tokens, characters = tokens + len(ids), characters + len(piece)
        columns = [np.concatenate(column) for column in zip(*found, strict=True)]
        order = np.argsort(columns[0], kind="stable")
        self.ids, self.tokens, self.starts, self.ends = (column[order] for column in columns)

    def place_of(self, part: Hashes) -> Place:
        """Where the text with these shingles stands; an empty place if none of them occurs."""
        begins, ends = (np.searchsorted(self.ids, part, side) for side in ("left", "right"))
        occurs = begins < ends
        begins, often = begins[occurs], (ends - begins)[occurs]
        if not len(often):
            return Place(0, 0, 0)
        at = np.repeat(begins - (np.cumsum(often) - often), often) + np.arange(often.sum())
        shingle = np.repeat(np.arange(len(often)), often)
        weight = np.repeat(_weights(often), often)
        order = np.argsort(self.tokens[at])
        at, shingle, weight = at[order], shingle[order], weight[order]
        wide = _heaviest_run(self.tokens[at], weight)
        at, shingle = at[wide], shingle[wide]
        here = _shortest_run(self.tokens[at], shingle)
        at, features = at[here], len(distinct_numbers(shingle[here]))
        return Place(int(self.starts[at].min()), int(self.ends[at].max()), features)


def _weights(often: Indices) -> Shares:
    """The weight of each occurrence of shingles that occur so `often`; at most 1.

    Shingles that occur no more often than the rarest quarter weigh 1, so that a part that is
    repeated as a whole loses nothing.
    """
    return np.minimum(np.quantile(often, 0.25) / often, 1) ** 2


def _heaviest_run(tokens: Indices, weight: Shares) -> slice:
    """The run of occurrences with the most weight, less what its tokens cost."""
    so_far, paid = np.cumsum(weight), PER_TOKEN * tokens
    before = so_far - weight - paid
    last = int(np.argmax(so_far - paid - np.minimum.accumulate(before)))
    return slice(int(np.argmin(before[: last + 1])), last + 1)


def _shortest_run(tokens: Indices, shingle: Indices) -> slice:
    """The run that is left once ends that only repeat shingles of the rest are cut off.

    The end is cut first or the beginning first, whichever leaves the greater `_gain`.
    """
    end_first = _cut(tokens, shingle)
    mirrored = _cut(-tokens[::-1], shingle[::-1])
    begin_first = slice(len(tokens) - mirrored.stop, len(tokens) - mirrored.start)
    return max(end_first, begin_first, key=lambda run: _gain(tokens[run], shingle[run]))


def _cut(tokens: Indices, shingle: Indices) -> slice:
    """The run that is left if the end is cut off, and then the beginning."""
    kept = np.zeros(len(tokens))
    kept[np.unique(shingle, return_index=True)[1]] = 1
    stop = 1 + int(np.argmax(np.cumsum(kept) - PER_TOKEN * tokens))
    lost = np.zeros(stop)
    lost[stop - 1 - np.unique(shingle[stop - 1 :: -1], return_index=True)[1]] = 1
    return slice(int(np.argmax(PER_TOKEN * tokens[:stop] - np.cumsum(lost) + lost)), stop)


def _gain(tokens: Indices, shingle: Indices) -> float:
    """How many shingles a run has, less what its tokens cost."""
    return len(np.unique(shingle)) - PER_TOKEN * float(tokens[-1] - tokens[0])
