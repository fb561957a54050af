"""Families of texts in, forms out: texts that were filled in from one pattern, and are no versions.

Forms that differ in a few words are as similar as versions of one text. How they differ tells them
apart.

1. Versions have a history: a change of one version is in the next one too. So of the features that
   not all texts of a family have, few are in one text alone, and the sets of texts that have them
   are nested or apart. In a form each text has features of its own, or values recur in any
   combination. This follows from sketches.
2. Copies with a note or a frame each look the same by their features. So the texts of families
   without a history are read, some of each, and `places` says whether they are a form.
3. Two texts of one form may still be versions: a contract and its corrected copy. They share what
   was filled in, which few other texts of the form have.
"""

from __future__ import annotations

from itertools import chain

import numpy as np

from simdup.arrays import Indices, Mask, Shares, Similarities, Words
from simdup.compute.buckets import sorted_keys
from simdup.fingerprint.sketch import KEPT, Sketches, laid_out
from simdup.fingerprint.tokens import tokens_and_numbers
from simdup.match.distinct_texts import Texts
from simdup.match.groups import components
from simdup.match.own_share import FAMILY, cosines_of_whole, parts_of_texts
from simdup.match.places import are_forms
from simdup.match.similarities import FeatureSource
from simdup.settings import Settings
from simdup.text.chunking import BATCH, PIECE, batched

#: Texts that pairs of these similarities connect may be of one form. The first is the one of
#: families; at the last, two texts of a form that is alone are near, since others share little.
LEVELS = (FAMILY, 0.75)

#: Two texts have no history. With three, nearly all differences must be in one text alone.
LEAST_TEXTS = 3

#: The texts of a family that are compared and read, at most. Among more of them recurring values
#: are in several texts.
COMPARED = 8

#: Of the sets of texts that have a feature, the share of pairs that cross from which families of
#: LEAST_CROSSED texts and more may be forms. Of 600 histories of files in git, 95 of 100 are below
#: .12 with five texts and .17 with eight; most forms with values that recur are above.
CROSSING, LEAST_CROSSED = 0.1, 4

#: Texts with more features are no forms: their sketches do not keep all features.
MOST_FEATURES = 2 * KEPT - 1

#: Two texts of one form are versions if the features that were filled in have this cosine. What
#: fewer texts of the form have than LEAST_COMMON, or than the share COMMON of them, was filled in.
#: All that differs within the form has to agree as much, beyond chance.
SAME_READINGS, LEAST_COMMON, COMMON = 0.6, 6, 0.03

# The texts of a form in which features are counted, at most.
COUNTED = 1 << 10

# Bits for the place of a text in its family.
_RANK = 3

# Features that are handled at once.
FEATURES_AT_ONCE = 1 << 22


def may_have_forms(settings: Settings) -> bool:
    """Whether forms are looked for, for which texts have to be read again."""
    return settings.verified and settings.own_share > 0


def least_alone(texts: Indices) -> Shares:
    """The share of features in one text alone from which families of so many texts may be forms.

    Of 550 histories of files in git, 95 of 100 are below .59 with three texts, .36 with four, .28
    with five and .14 with eight.

    >>> least_alone(np.array([3, 4, 5, 8])).round(2).tolist()
    [0.6, 0.45, 0.36, 0.22]
    """
    return 1.8 / texts


def forms_of(
    texts: Texts,
    large: Sketches,
    family: Indices,
    similar: tuple[Indices, Similarities],
    source: FeatureSource,
) -> tuple[Indices, Indices]:
    """The number of each text's form, -1 for none, and the family of each text; (n,) each.

    `family` (n,) has the families without forms; a text of a form is only with its versions.
    `large` has the large sketches, and `similar` pairs of texts (m, 2) with their similarities.
    `source` reads the texts of families that look like forms.
    """
    form, (pairs, similarities) = np.full(len(texts), -1), similar
    for least in LEVELS:
        known = np.stack((np.arange(len(texts)), np.where(form < 0, family, form)), axis=1)
        together = components(np.concatenate((known, pairs[similarities >= least])), len(texts))
        # A form is looked at again if further texts are like some of it.
        is_open = np.bincount(together, form < 0, len(texts))[together] > 0
        alone = np.where(is_open, together, np.arange(len(texts)))
        suspects, are_own = _without_history(large, alone, texts, form)
        chosen = np.isin(together, _formed(suspects, are_own, together, source))
        form[chosen] = together[chosen]
    if (form < 0).all():
        return form, family
    versions = _versions(large, form, pairs, texts)
    return form, np.where(form >= 0, versions, family)


def _versions(large: Sketches, form: Indices, pairs: Indices, texts: Texts) -> Indices:
    """The families of texts of forms, each alone or with its versions; (n,).

    Versions are among these `pairs`, and have a history. What differs within the form agrees in
    them, beyond the chance that values recur: Cohen, "A coefficient of agreement for nominal
    scales", 1960.
    """
    pairs = pairs[(form[pairs[:, 0]] >= 0) & (form[pairs[:, 0]] == form[pairs[:, 1]])]
    own = cosines_of_whole(_readings(large, form, texts, LEAST_COMMON, COMMON), pairs)
    every = cosines_of_whole(_readings(large, form, texts, len(texts), 1), pairs)
    of_pair = form[pairs[:, 0]]
    chance = (np.bincount(of_pair, every) / np.bincount(of_pair).clip(1))[of_pair]
    are_versions = (own >= SAME_READINGS) & (every - chance >= SAME_READINGS * (1 - chance))
    family = components(pairs[are_versions], len(form))
    are_alone = np.isin(family, family[_without_history(large, family, texts, form)[0]])
    return np.where(are_alone, np.arange(len(form)), family)


def _compared(family: Indices, texts: Texts, form: Indices, most: int) -> Indices:
    """Up to `most` distinct texts of each family (n,) of LEAST_TEXTS or more, family by family.

    Texts of no form are taken first.
    """

    def ranked(members: Indices) -> tuple[Indices, Indices]:
        own = family[members]
        rank = np.arange(len(own)) - np.searchsorted(own, own)
        return rank, np.bincount(own, minlength=len(family))[own]

    content, every = texts.digests[:, 0], np.argsort(family, kind="stable")
    members = every[ranked(every)[1] >= LEAST_TEXTS]
    members = members[np.lexsort((content[members], form[members] >= 0, family[members]))]
    # With references, a text of both sides is two texts.
    is_same = (np.diff(content[members]) == 0) & (np.diff(family[members]) == 0)
    members = np.delete(members, np.flatnonzero(is_same))
    rank, sizes = ranked(members)
    return members[(rank < most) & (sizes >= LEAST_TEXTS)]


def _in_parts(members: Indices, family: Indices, counts: Indices) -> list[Indices]:
    """The members, family by family, in parts that divide no family; `counts` has features."""
    ends = np.cumsum(counts[members])
    before = (ends - counts[members])[np.searchsorted(family[members], family[members])]
    parts = np.split(members, np.flatnonzero(np.diff(before // FEATURES_AT_ONCE)) + 1)
    return parts if len(members) else []


def _without_history(
    large: Sketches, family: Indices, texts: Texts, form: Indices
) -> tuple[Indices, Mask]:
    """Some texts, family by family, of the families whose features tell of no history; (m,).

    `family` (n,) is the family of each text, and `form` (n,) its form as far as it is known. Also
    returns whether each text is of a family whose texts have features of their own.
    """
    suspects, are_own = [np.empty(0, np.int64)], [np.empty(0, bool)]
    for part in _in_parts(_compared(family, texts, form, COMPARED), family, texts.counts):
        _, number, n = np.unique(family[part], return_inverse=True, return_counts=True)
        is_short = np.ones(len(n), bool)
        is_short[number[texts.counts[part] > MOST_FEATURES]] = False
        holders = _holders(large.take(part), number)
        has_own = _alone(holders, n) >= least_alone(n)
        is_suspect = (is_short & (has_own | _are_crossed(holders, n)))[number]
        suspects.append(part[is_suspect])
        are_own.append(has_own[number][is_suspect])
    return np.concatenate(suspects), np.concatenate(are_own)


def _holders(sketches: Sketches, family: Indices) -> Indices:
    """How many features each set of the texts of a family has, but for the set of all of them.

    `family` (texts,) ascends from 0 on. Returns (families, 2 ** COMPARED); a set is the number that
    has a bit for each of its texts, by their places in the family.
    """
    rank = np.arange(len(family)) - np.searchsorted(family, family)
    # The family, above the feature, above the place of the text in its family.
    keys = np.repeat((family << 32 + _RANK | rank).astype(np.uint64), sketches.sizes)
    keys = sorted_keys(keys | sketches.joined().astype(np.uint64) << np.uint64(_RANK))
    feature, bit = keys >> np.uint64(_RANK), 1 << (keys % np.uint64(COMPARED)).astype(np.int64)
    begins = np.flatnonzero(np.append(True, feature[1:] != feature[:-1])[: len(keys)])
    having = np.bitwise_or.reduceat(bit, begins) if len(keys) else bit
    of_family, sets = (feature[begins] >> np.uint64(32)).astype(np.int64), 1 << COMPARED
    n = np.bincount(family)
    holders = np.bincount(of_family * sets + having, minlength=len(n) * sets).reshape(-1, sets)
    holders[np.arange(len(n)), (1 << n) - 1] = 0
    return holders


def _alone(holders: Indices, n: Indices) -> Shares:
    """Of the features that a text has and not all do, the share that it has alone; (families,).

    That is the mean of the `n` (families,) texts of a family, whose features have these `holders`.
    """
    texts = np.arange(COMPARED)
    having = (np.arange(holders.shape[1])[:, None] >> texts) & 1
    alone, dividing = holders[:, 1 << texts], holders @ having
    shares = np.divide(alone, dividing, out=np.zeros(alone.shape), where=dividing > 0)
    return shares.sum(axis=1) / n


def _are_crossed(holders: Indices, n: Indices) -> Mask:
    """Whether sets of texts that have features cross as they do in no history; (families,).

    Two sets cross if some texts are in both, in the one, in the other and in none: the test of four
    gametes, as in `places`.
    """
    are_crossed, sets = np.zeros(len(n), bool), np.arange(holders.shape[1])
    one, other = sets[:, None], sets
    for size in range(LEAST_CROSSED, COMPARED + 1):
        is_crossing = (one & other) * (one & ~other) * (~one & other) > 0
        is_crossing &= one | other < (1 << size) - 1
        has = (holders[n == size] > 0).astype(np.float32)
        crossing = ((has @ is_crossing.astype(np.float32)) * has).sum(axis=1)
        are_crossed[n == size] = crossing >= CROSSING * has.sum(axis=1).clip(1) ** 2
    return are_crossed


def _formed(suspects: Indices, are_own: Mask, family: Indices, source: FeatureSource) -> Indices:
    """The families that are forms by their texts; the suspects come family by family.

    The first chunk of each text is read. Few texts of MOST_FEATURES have another.
    """
    if not len(suspects):
        return suspects
    source.expect(np.sort(suspects))
    families, first = np.unique(family[suspects], return_index=True)
    read = (
        [next(iter(source.chunks(text)), "") for text in texts.tolist()]
        for texts in np.split(suspects, first[1:])
    )
    chosen, begin = list[Mask](), 0
    for batch in batched(read, lambda texts: sum(map(len, texts)), PIECE, BATCH):
        number = np.repeat(np.arange(len(batch)), list(map(len, batch)))
        has_own = are_own[first[begin : begin + len(batch)]]
        begin += len(batch)
        found = tokens_and_numbers([*chain.from_iterable(batch)])
        chosen.append(are_forms(*found, number, has_own))
    return families[np.concatenate(chosen)]


def _readings(large: Sketches, form: Indices, texts: Texts, least: int, share: float) -> Sketches:
    """The features of the texts of forms that few texts of their form have, as sketches; (n,).

    Few are fewer than `least`, or than the `share` of the texts, and never all of them.
    """
    common, values = _common(large, form, texts, least, share), [np.empty(0, np.uint32)]
    sizes = np.zeros_like(form)
    for part in parts_of_texts(large.sizes, np.flatnonzero(form >= 0)):
        keys, owner = _keys(large, form, part), np.repeat(part, large.sizes[part])
        is_rare = common[np.searchsorted(common, keys)] != keys
        values.append(keys[is_rare].astype(np.uint32))
        sizes += np.bincount(owner[is_rare], minlength=len(form))
    return laid_out(np.concatenate(values), sizes)


def _keys(large: Sketches, form: Indices, texts: Indices) -> Words:
    """The features of texts, below the form of each."""
    taken = large.take(texts)
    return np.repeat(form[texts].astype(np.uint64) << np.uint64(32), taken.sizes) | taken.joined()


def _common(large: Sketches, form: Indices, texts: Texts, least: int, share: float) -> Words:
    """The keys of features that many texts of a form have, ascending, and the highest number.

    They are counted in COUNTED texts of each form. See `_readings` for the other arguments.
    """
    counted = _compared(np.where(form < 0, np.arange(len(form)), form), texts, form, COUNTED)
    n, common = np.bincount(form[counted]), list[Words]()
    many = np.minimum(np.maximum(share * n, least), n)
    for part in _in_parts(counted, form, texts.counts):
        keys = sorted_keys(_keys(large, form, part))
        first = np.flatnonzero(np.diff(keys, prepend=~keys[:1]))
        keys, holders = keys[first], np.diff(first, append=len(keys))
        common.append(keys[holders >= many[keys >> np.uint64(32)]])
    return np.concatenate((*common, np.array([~np.uint64(0)])))
