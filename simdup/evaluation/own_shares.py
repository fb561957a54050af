"""Labelled pairs in, out comes how much of what each pair shares is theirs alone.

That depends on which other texts lie beside a pair: a scan would meet all texts of its collection.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simdup.fingerprint.simhash import digests
from simdup.fingerprint.sketch import sketches
from simdup.match.candidates import search_distance
from simdup.match.groups import components
from simdup.match.own_share import FAMILY, OwnShares
from simdup.match.verify import cosines
from simdup.search.distinct import distinct_numbers
from simdup.search.pairs import Reach, iter_near_pairs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simdup.evaluation.labels import Labels
    from simdup.fingerprint.features import Features
    from simdup.search.hamming import Rows

    Indices = NDArray[np.int64]
    Shares = NDArray[np.float64]


def own_shares(labels: Labels, features: Features, rows: Rows, asked: NDArray[np.bool_]) -> Shares:
    """The own share of each pair that is `asked` about, and 0 for the others; (m,).

    `features` and `rows` (texts, bytes) are of all texts. Texts with equal features are one text
    for a scan, so their share is 1.
    """
    shares, sketched, digest = np.zeros(len(asked)), sketches(features), digests(features)
    is_one = (digest[labels.pairs[:, 0]] == digest[labels.pairs[:, 1]]).all(axis=1)
    shares[asked & is_one] = 1
    for collection in distinct_numbers(labels.collection[asked & ~is_one]):
        is_of_it = labels.collection == collection
        texts = distinct_numbers(labels.pairs[is_of_it])
        chosen = np.flatnonzero(is_of_it & asked & ~is_one)
        family, local = families(features, rows, texts), sketched.take(texts)
        of_collection = OwnShares(local, features.counts[texts], family)
        shares[chosen] = of_collection.of(np.searchsorted(texts, labels.pairs[chosen]))
    return shares


def families(features: Features, rows: Rows, texts: Indices) -> Indices:
    """The family of each of these texts, as `match.own_share` defines it; (texts,)."""
    bits, alike = 8 * rows.shape[1], [np.empty((0, 2), np.int64)]
    for near in iter_near_pairs(rows[texts], Reach(bits, search_distance(FAMILY, bits), None)):
        pairs = near[:, :2]
        alike.append(pairs[cosines(features, *texts[pairs].T) >= FAMILY])
    return components(np.concatenate(alike), len(texts))
