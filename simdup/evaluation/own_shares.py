"""Labelled pairs in, their own shares out: the part of their common wording no other text has.

An own share depends on the other texts of a collection, as in a scan of all its files.
"""

from __future__ import annotations

import numpy as np

from simdup.arrays import Indices, Mask, Rows, Shares
from simdup.evaluation.labels import Labels
from simdup.fingerprint.features import Features
from simdup.fingerprint.simhash import digests
from simdup.fingerprint.sketch import sketches
from simdup.match.candidates import search_distance
from simdup.match.groups import components
from simdup.match.own_share import FAMILY, OwnShares
from simdup.match.verify import cosines
from simdup.search.distinct import distinct_numbers
from simdup.search.pairs import Reach, iter_near_pairs


def own_shares(labels: Labels, features: Features, rows: Rows, asked: Mask) -> Shares:
    """The own share of each pair that `asked` (m,) marks, and 0 for the other pairs; (m,).

    `features` and `rows` (texts, bytes) are given for all texts. A scan takes texts with equal
    features as one text, so their share is 1.
    """
    shares, sketched, digest = np.zeros(len(asked)), sketches(features), digests(features)
    is_one = (digest[labels.pairs[:, 0]] == digest[labels.pairs[:, 1]]).all(axis=1)
    shares[asked & is_one] = 1
    collections = [
        (distinct_numbers(labels.pairs[is_of_it]), np.flatnonzero(is_of_it & asked & ~is_one))
        for is_of_it in (labels.collection == each for each in range(labels.collections))
    ]
    near = [_near(rows[texts], texts) for texts, _ in collections]
    # All at once, since cosines of few pairs take nearly as long as cosines of many.
    is_family = cosines(features, *np.concatenate(near).T) >= FAMILY
    ends = np.cumsum(list(map(len, near)))
    for (texts, chosen), pairs, of_them in zip(
        collections, near, np.split(is_family, ends[:-1]), strict=True
    ):
        family = components(np.searchsorted(texts, pairs[of_them]), len(texts))
        among = OwnShares(sketched.take(texts), features.counts[texts], family)
        shares[chosen] = among.of(np.searchsorted(texts, labels.pairs[chosen]))
    return shares


def _near(rows: Rows, texts: Indices) -> Indices:
    """Pairs (m, 2) of these texts that may be one family, by their fingerprints (texts, bytes)."""
    bits = 8 * rows.shape[1]
    chunks = iter_near_pairs(rows, Reach(bits, search_distance(FAMILY, bits), None))
    return texts[np.concatenate([np.empty((0, 2), np.int64), *(each[:, :2] for each in chunks)])]
