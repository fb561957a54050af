"""Pairs in, groups out: which documents belong together, and which one represents them.

- star: the document with the most neighbours becomes a representative and takes its free
  neighbours, then the next one. Every member is a pair with its representative, so no chain
  can form.
  Source: Aslam, Pelekhov, Rus, "The star clustering algorithm", 2004, section 3.
- components: everything connected by pairs, however long the chain.

`staying` then says which texts of a group must be kept, so that no text is lost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from simdup.arguments import check_whole
from simdup.errors import BadValueError
from simdup.settings import LINKAGES

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    Indices = NDArray[np.int64]

#: The most texts of a star group that stay because none is alike to another. Where there would
#: be more, the representative stays too and the rest goes: so the time stays linear.
MOST_STAYING = 100

# Pairs that `staying` asks about at once: some 100 MB.
PAIRS_AT_ONCE = 1 << 20


def group(
    pairs: ArrayLike,
    n: int,
    linkage: str = "star",
    rank: ArrayLike | None = None,
    sizes: ArrayLike | None = None,
) -> list[Indices]:
    """Groups of at least two of n documents, each as indices with the representative first.

    `pairs` has shape (m, 2 or more): columns i and j, in 0 to n - 1; further columns are
    ignored, and each pair stands once. Among documents with equally many neighbours the one
    with the lowest `rank` (default: its index) comes first. `sizes` says how many documents
    each index stands for (default: 1); an index that stands for several is a group by itself.
    No index is in two groups; groups are in the order of their representatives, the other
    members by rank. Raises ValueError for an unknown linkage and for arrays of a wrong shape
    or type, IndexError for an index that is no document.

    >>> [members.tolist() for members in group(np.array([[0, 1], [1, 2], [2, 3]]), 4)]
    [[1, 0, 2]]
    """
    check_whole(n, "n")
    edges = _whole_numbers(pairs, "pairs", "(m, 2 or more)")[:, :2]
    if edges.size and not 0 <= edges.min() <= edges.max() < n:
        wrong = edges[(edges < 0) | (edges >= n)][0]
        raise IndexError(f"pairs has {wrong}, which is none of the {n} documents")
    ranks = np.arange(n) if rank is None else _whole_numbers(rank, "rank", "(n,)")
    copies = np.ones(n, np.int64) if sizes is None else _whole_numbers(sizes, "sizes", "(n,)")
    for name, each in (("rank", ranks), ("sizes", copies)):
        if len(each) != n:
            raise BadValueError(f"{name} must have a number for each of the {n}, not {len(each)}")
    return members_of(leaders(edges, n, linkage, ranks, copies), ranks, copies)


def _whole_numbers(values: ArrayLike, name: str, shape: str) -> Indices:
    """Whole numbers as an array of this shape. Raises ValueError."""
    made = shaped_array(values, name, shape)
    if made.size and not np.issubdtype(made.dtype, np.integer):
        raise BadValueError(f"{name} must be an array of whole numbers, not of {made.dtype}")
    return made.astype(np.int64, copy=False)


def shaped_array(values: ArrayLike, name: str, shape: str) -> NDArray[Any]:
    """Values as an array of the shape "(n,)" or "(m, 2 or more)". Raises ValueError."""
    needed = f"{name} must be an array of shape {shape}, not"
    try:
        made = np.asarray(values)
    except ValueError:
        raise BadValueError(f"{needed} rows of different lengths") from None
    if made.ndim != (1 if shape == "(n,)" else 2) or (made.ndim == 2 and made.shape[1] < 2):
        raise BadValueError(f"{needed} {made.shape}")
    return made


def leaders(pairs: Indices, n: int, linkage: str, rank: Indices, sizes: Indices) -> Indices:
    """The representative of every index, the index itself if it is in no group; (n,).

    Takes what `group` takes.
    """
    if linkage not in LINKAGES:
        raise BadValueError(f"linkage must be one of {', '.join(LINKAGES)}, not {linkage!r}")
    neighbours, offsets = _adjacency(pairs, n)
    degree = sizes.copy()
    np.add.at(degree, np.repeat(np.arange(n), np.diff(offsets)), sizes[neighbours])
    order = np.lexsort((rank, -degree))
    if linkage == "star":
        return _star(neighbours, offsets, order)
    return _first_of(components(pairs, n), order)


def closest(pairs: Indices, closeness: NDArray[np.float64], n: int, rank: Indices) -> Indices:
    """For every index on the left of a pair the closest one on its right, else itself; (n,).

    Of several that are equally close, the one with the lowest rank.
    """
    order = np.lexsort((rank[pairs[:, 1]], -closeness, pairs[:, 0]))
    left, first = np.unique(pairs[order, 0], return_index=True)
    leader = np.arange(n)
    leader[left] = pairs[order[first], 1]
    return leader


def _adjacency(pairs: Indices, n: int) -> tuple[Indices, Indices]:
    """The neighbours of all indices, end to end, and where the ones of each index begin."""
    source, target = np.concatenate((pairs[:, :2], pairs[:, 1::-1])).T
    order = np.argsort(source, kind="stable")
    return target[order], np.searchsorted(source[order], np.arange(n + 1))


def _star(neighbours: Indices, offsets: Indices, order: Indices) -> Indices:
    """The representative of every index by star clustering, taking indices in this order."""
    leader = np.full(len(order), -1, np.int64)
    has_pairs = np.diff(offsets) > 0
    leader[~has_pairs] = np.flatnonzero(~has_pairs)
    for index in order[has_pairs[order]].tolist():
        if leader[index] < 0:
            near = neighbours[offsets[index] : offsets[index + 1]]
            leader[near[leader[near] < 0]] = index
            leader[index] = index
    return leader


def components(pairs: Indices, n: int) -> Indices:
    """For every index the lowest index that is connected with it; shape (n,).

    Hooking and pointer jumping on whole arrays take some log(n) rounds.
    """
    lowest = np.arange(n)
    i, j = pairs[:, 0], pairs[:, 1]
    while True:
        a, b = lowest[i], lowest[j]
        differs = a != b
        if not differs.any():
            return lowest
        i, j = i[differs], j[differs]
        high, low = np.maximum(a, b)[differs], np.minimum(a, b)[differs]
        np.minimum.at(lowest, high, low)
        while (jumped := lowest[lowest]).tobytes() != lowest.tobytes():
            lowest = jumped


def _first_of(labels: Indices, order: Indices) -> Indices:
    """For every index the first one in `order` with the same label."""
    _, first, inverse = np.unique(labels[order], return_index=True, return_inverse=True)
    leader = np.empty(len(order), np.int64)
    leader[order] = order[first][inverse]
    return leader


def members_of(leader: Indices, rank: Indices, sizes: Indices) -> list[Indices]:
    """The members of each representative, itself first; groups of one document are left out."""
    total = np.bincount(leader, sizes, len(leader))
    index = np.flatnonzero(total[leader] > 1)
    order = index[np.lexsort((rank[index], leader[index] != index, leader[index]))]
    begins = np.flatnonzero(np.diff(leader[order], prepend=-1))
    return np.split(order, begins[1:]) if len(order) else []


def staying(
    group: Indices,
    is_centre: NDArray[np.bool_],
    alike: Callable[[Indices], NDArray[np.bool_]],
) -> NDArray[np.bool_]:
    """Which texts of some groups must stay, so that every other one is alike to one that stays.

    `group` (n,) is the group of each text, ascending; within a group the preferred texts come
    first. A text goes if it is alike to an earlier one that stays. `is_centre` marks texts
    that are alike to all of their group, as in stars (see MOST_STAYING); `alike` says which of
    some other pairs (m, 2) are alike.

    >>> staying(np.zeros(3, int), np.zeros(3, bool), lambda pairs: pairs[:, 1] == 1).tolist()
    [True, False, True]
    """
    stays, is_open = np.zeros(len(group), bool), np.ones(len(group), bool)
    centred = group[is_centre]
    size = 1
    while is_open.any():
        texts = np.flatnonzero(is_open)
        size = min(size, max(1, PAIRS_AT_ONCE // len(texts)))
        first, pairs = _with_later(texts, group, size)
        are_alike: NDArray[np.bool_] = is_centre[pairs[:, 0]] | is_centre[pairs[:, 1]]
        are_alike[~are_alike] = alike(pairs[~are_alike])
        chosen, covered = unlike(first, pairs[are_alike])
        stays[chosen] = True
        is_open[first] = is_open[covered] = False
        counts = np.bincount(group[stays], minlength=int(group[-1]) + 1)
        is_open &= ~np.isin(group, centred[counts[centred] > MOST_STAYING])
        size *= 2
    return limited(group, stays, is_centre)


def _with_later(texts: Indices, group: Indices, size: int) -> tuple[Indices, Indices]:
    """The first `size` of these texts in each group, and the pairs of each with all later ones."""
    begins = np.searchsorted(group[texts], group[texts], side="left")
    ends = np.searchsorted(group[texts], group[texts], side="right")
    places = np.arange(len(texts))
    first = np.flatnonzero(places - begins < size)
    later = ends[first] - first - 1
    offsets = np.cumsum(later) - later
    right = np.arange(later.sum()) + np.repeat(first + 1 - offsets, later)
    return texts[first], np.column_stack((np.repeat(texts[first], later), texts[right]))


def unlike(texts: Indices, pairs: Indices) -> tuple[Indices, Indices]:
    """The texts that stay, and all texts that are alike to one of these.

    `pairs` (m, 2) are alike texts, the earlier one on the left. In this order a text stays
    unless it is alike to an earlier one that stays.
    """
    order = np.argsort(pairs[:, 0], kind="stable")
    left, right = pairs[order].T
    begins, ends = (np.searchsorted(left, texts, side=side) for side in ("left", "right"))
    covered = set[int]()
    chosen = []
    for text, begin, end in zip(texts.tolist(), begins.tolist(), ends.tolist(), strict=True):
        if text not in covered:
            chosen.append(text)
            covered.update(right[begin:end].tolist())
    return np.array(chosen, np.int64), np.fromiter(covered, np.int64, len(covered))


def limited(
    group: Indices, stays: NDArray[np.bool_], is_centre: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Which texts stay if a group with a centre keeps MOST_STAYING at most, and then the centre."""
    texts = np.flatnonzero(stays)
    places = np.arange(len(texts)) - np.searchsorted(group[texts], group[texts])
    beyond = texts[places >= MOST_STAYING]
    over = np.intersect1d(group[beyond], group[is_centre])
    made = stays.copy()
    made[beyond[np.isin(group[beyond], over)]] = False
    made[is_centre & np.isin(group, over)] = True
    return made
