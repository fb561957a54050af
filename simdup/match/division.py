"""Candidate pairs in, parts out: matching is divided into parts that are matched alone.

Some steps need all texts: the first search, and the counters that say how many families have
each value. All other steps need only the texts that candidate pairs connect: exact
similarities, own shares, further rounds, groups, and which rows stay. So these steps are done
part by part, where a part is everything that candidate pairs connect, once sketches have ruled
most pairs out. One process may have all parts, or each part may go to another machine: the groups
are the same, since nothing in a part depends on its neighbours.

The cases that are hard to divide:

- A list that everybody is in. Its first text is paired with all others, but sketches drop the
  pairs of texts that have nothing else in common, before parts are made.
- A chain, or many versions of one text: they are one part, whatever the linkage. A part of more
  than MOST_TEXTS texts is too large for one task. It is cut where its texts are least alike: the
  pairs below .5 go, then the pairs below .6, and so on. If a piece is still too large at .9, it is
  cut by the digests of its texts. Texts in different pieces are not compared any more, so a chain
  of ten million pairs becomes a few groups, also with components.
- Crowded texts, which a long list paired with its first text only. Further rounds search for
  them again, but only inside their part, where few texts are left.
- Excluded pairs take part in the search, so they change no part. The grouping leaves them out.
- Two sides: only pairs across the sides are candidates, and a part has texts of both.
- Bare fingerprints: the pairs within the distance are the candidates, and texts of a part are
  read only where one of a pair is short.
- Distances that propose pairs (few texts, or no usable sketches): a narrow search leaves out
  pairs of any two texts, and further rounds look for them. All texts are one part.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from simdup.arrays import Digests, Hashes, Indices, Similarities
from simdup.compute.hashing import mix64
from simdup.match.groups import components
from simdup.search.pairs import ranges

#: The most texts of a part: with texts of 1 kB, their sketches and fingerprints, some 2 GB.
MOST_TEXTS = 1 << 20

#: How alike the texts of a pair must be to stay in a part that is too large, step by step.
STEPS = (0.5, 0.6, 0.7, 0.8, 0.9)


class Search(NamedTuple):
    """The candidate pairs of some texts.

    pairs: (m, 2)
    unsettled: Texts for which a further search may find more pairs, ascending.
    is_complete: Whether all candidates are there, so that nothing has to be searched again.
    k: The distance within which pairs are candidates; None if no distance decides.
    """

    pairs: Indices
    unsettled: Indices
    is_complete: bool
    k: int | None = None


class Divided(NamedTuple):
    """What a first search among all texts found.

    search: Its pairs are the ones that sketches do not rule out, and none is between two parts.
    part: (n,): the number of the part of each text, below n.
    similarities: (m,): exact similarities of the pairs.
    proposed: The number of all candidate pairs.
    """

    search: Search
    part: Indices
    similarities: Similarities
    proposed: int


def parts_of(
    pairs: Indices, digests: Digests, closeness: Callable[[Indices], Similarities]
) -> Indices:
    """The number of each text's part, the lowest text of which has this number; (n,).

    `digests` (n, 2) are the digests of the texts. `closeness` returns how alike the texts of
    pairs are, and is asked only if a part is too large.
    """
    n = len(digests)
    part = components(pairs, n)
    for least in STEPS:
        is_large = np.bincount(part, minlength=n)[part] > MOST_TEXTS
        if not is_large.any():
            return part
        inside = pairs[is_large[pairs[:, 0]] & (part[pairs[:, 0]] == part[pairs[:, 1]])]
        kept = inside[closeness(inside) >= least]
        part[is_large] = components(kept, n)[is_large]
    size = np.bincount(part, minlength=n)[part]
    keys = np.column_stack((part.astype(np.uint64), piece_of(digests[:, 1], size)))
    _, first, number = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    return first[number]


def piece_of(digest: Hashes, size: Indices) -> Hashes:
    """The piece of each text in a part of so many texts, by the first bits of its digest; (n,).

    >>> piece_of(np.array([0, 1 << 63], np.uint64), np.array([9, 4 * MOST_TEXTS])).tolist()
    [0, 2]
    """
    pieces = np.ceil(np.log2(np.maximum(size / MOST_TEXTS, 1))).astype(np.uint64)
    return (digest >> np.uint64(1)) >> (np.uint64(63) - pieces)


def salts_of(part: Indices, digests: Digests) -> Hashes:
    """A number for each text by which values of different parts differ, whatever parts there are.

    It is the same for the texts of a part, and its low half is zero; (n,).
    """
    lowest = np.full(len(part), np.iinfo(np.uint64).max)
    np.minimum.at(lowest, part, digests[:, 1])
    return mix64(lowest[part]) & ~np.uint64((1 << 32) - 1)


def pairs_inside(texts: Indices, part: Indices) -> Indices:
    """All pairs of these texts that are in one part; (m, 2).

    `part` (k,), which ascends, is the part of each of these texts.

    >>> pairs_inside(np.array([7, 8, 9]), np.array([0, 0, 1])).tolist()
    [[7, 8]]
    """
    after = np.arange(1, len(texts) + 1)
    counts = np.searchsorted(part, part, side="right") - after
    pairs = [np.column_stack(each) for each in ranges(after, counts)]
    return texts[np.concatenate([np.empty((0, 2), np.int64), *pairs])]
