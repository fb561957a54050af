"""Pairs in, groups out: which documents belong together, and which one represents them.

- star: pairs are taken from the most alike down. A pair joins the groups of its two documents if
  one document is alike to all others of the group that this makes. So each document joins the
  one that it is most alike to, and no chain can form.
- components: everything connected by pairs, however long the chain.

The medoid represents a group: of the documents that may, the one with the highest sum of
similarities to the others. Of equally good documents the content decides. Names decide only which
of two documents represents both, once all groups are made (`lower_of_two`).

`staying` then says which texts of a group must be kept, so that no text is lost.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simdup.arguments import check_whole
from simdup.arrays import Hashes, Indices, Mask, Similarities
from simdup.compute.hashing import mix64
from simdup.errors import BadValueError
from simdup.search.distinct import distinct_numbers
from simdup.settings import LINKAGES

#: A document with at least this similarity to another one is always in a group.
NEAR_COPY = 0.8

# Similarities are added up as whole multiples of 1 / UNIT, so that their order makes no difference.
UNIT = 1 << 30

#: The most texts of a star group that stay because none is alike to another. Where there would
#: be more, the representative stays too and the rest goes: so the time stays linear.
MOST_STAYING = 100

# Pairs that `staying` asks about at once: some 100 MB.
PAIRS_AT_ONCE = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class Precedence:
    """Which of several documents goes first; arrays by document.

    sizes: How many copies each one stands for: its similarities count as often.
    content: A number that depends on the content alone, such as a digest. Of equally good documents
        the one with the lowest number goes first.
    """

    sizes: Indices
    content: Hashes

    def take(self, some: Indices) -> Precedence:
        """Return the precedence of some of these documents."""
        return Precedence(self.sizes[some], self.content[some])

    def __len__(self) -> int:
        return len(self.sizes)


def group(  # noqa: PLR0913  (the last four have an answer)
    pairs: ArrayLike,
    n: int,
    linkage: str = "star",
    rank: ArrayLike | None = None,
    sizes: ArrayLike | None = None,
    *,
    closeness: ArrayLike | None = None,
) -> list[Indices]:
    """Groups of at least two of n documents, each as indices with the representative first.

    `pairs` has shape (m, 2 or more): columns i and j, in 0 to n - 1; further columns are
    ignored, and each pair stands once. `closeness` (m,) says how similar the documents of each
    pair are, up to 1 (default: 1). Among equally good documents the one with the lowest
    `rank` (default: its index) represents a group. `sizes` says how many documents each index
    stands for (default: 1); an index that stands for several is a group by itself.
    No index is in two groups; groups are in the order of their representatives, the other
    members by rank. Raises ValueError for an unknown linkage and for arrays of a wrong shape
    or type, IndexError for an index that is no document.

    >>> pairs = np.array([[0, 1], [1, 2], [2, 3]])
    >>> [members.tolist() for members in group(pairs, 4, closeness=[0.9, 0.95, 0.4])]
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
    close = np.ones(len(edges)) if closeness is None else _similarities(closeness, len(edges))
    _, places = np.unique(ranks, return_inverse=True)
    order = Precedence(copies, places.astype(np.uint64))
    return members_of(leaders(edges, close, linkage, order), ranks, copies)


def _similarities(closeness: ArrayLike, m: int) -> Similarities:
    """Similarities as an array of shape (m,). Raises ValueError."""
    made = shaped_array(closeness, "closeness", "(n,)")
    if len(made) != m:
        raise BadValueError(
            f"closeness must have a number for each of the {m} pairs, not {len(made)}"
        )
    if made.size and not (np.issubdtype(made.dtype, np.number) and np.isfinite(made).all()):
        raise BadValueError("closeness must be an array of finite numbers")
    return made.astype(np.float64, copy=False)


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


def leaders(pairs: Indices, closeness: Similarities, linkage: str, order: Precedence) -> Indices:
    """The representative of every document, the document itself if it is in no group; (n,).

    `pairs` (m, 2) stand once each, and `closeness` (m,) is their similarity. In stars
    every member is a pair with its representative, and a document with a pair of at least NEAR_COPY
    is in a group. The order of pairs and of documents makes no difference.
    """
    if linkage not in LINKAGES:
        raise BadValueError(f"linkage must be one of {', '.join(LINKAGES)}, not {linkage!r}")
    edges = _weakest_first(pairs, closeness, order)
    if linkage == "components":
        return _medoids(edges, components(pairs, len(order)), order, is_star=False)
    leader = _medoids(edges, _strongest_first(edges, order), order)
    joined = _none_alone(edges, leader)
    return leader if joined is leader else _medoids(edges, joined, order)


@dataclass(frozen=True, slots=True, eq=False)
class Edges:
    """Pairs of documents, the most alike last; arrays by pair.

    weight: The similarity, in units of 1 / UNIT.
    """

    left: Indices
    right: Indices
    weight: Indices

    def take(self, some: Mask) -> Edges:
        """Return some of these pairs."""
        return Edges(self.left[some], self.right[some], self.weight[some])

    def both_ways(self) -> tuple[tuple[Indices, Indices], tuple[Indices, Indices]]:
        """Return the documents of each pair in both orders: left and right, right and left."""
        return (self.left, self.right), (self.right, self.left)

    def sums(self, order: Precedence) -> Indices:
        """Return the similarities of each document in these pairs, added up; (n,)."""
        found = np.zeros(len(order), np.int64)
        for one, other in self.both_ways():
            np.add.at(found, one, self.weight * order.sizes[other])
        return found

    def counts(self, n: int) -> Indices:
        """Return the number of these pairs that each document is in; (n,)."""
        return np.bincount(self.left, minlength=n) + np.bincount(self.right, minlength=n)

    def strongest(self, counting: list[Mask], n: int) -> Indices:
        """The place of the most alike pair of each document, -1 for none; (n,).

        `counting` says which pairs count for their left document, and which for their right.
        """
        place = np.full(n, -1)
        for one, counts in zip((self.left, self.right), counting, strict=True):
            np.maximum.at(place, one[counts], np.flatnonzero(counts))
        return place

    def __len__(self) -> int:
        return len(self.left)


def _weakest_first(pairs: Indices, closeness: Similarities, order: Precedence) -> Edges:
    """The least similar pairs first; among equally similar pairs the content decides."""
    mixed = mix64(order.content)
    i, j = pairs[:, 0], pairs[:, 1]
    by_closeness = np.argsort(closeness)
    same = np.zeros(len(pairs), bool)
    same[1:] = np.diff(closeness[by_closeness]) == 0
    same[:-1] |= same[1:]
    tied = by_closeness[same]
    by_closeness[same] = tied[np.lexsort((mixed[i[tied]] + mixed[j[tied]], closeness[tied]))]
    weight = np.rint(closeness[by_closeness] * UNIT).astype(np.int64)
    return Edges(i[by_closeness], j[by_closeness], weight)


def _strongest_first(edges: Edges, order: Precedence) -> Indices:
    """A number for each document, the same for the documents of one group; (n,).

    In each round every group picks its closest partner: of the groups that it can be joined with,
    the one with the most alike pair. Two groups that pick each other become one, with all groups
    that picked one of the two, as far as one document is alike to all. Two groups that cannot be
    joined now can only be joined together with a third group, whose document is alike to both. So
    the pairs between the two are passed over from then on.
    """
    n = len(order)
    label, inside, sums = np.arange(n), np.zeros(n, np.int64), np.zeros(n, np.int64)
    while len(edges):
        size = np.bincount(label, minlength=n)
        # Who is alike to all others of its group, and to all of the group at the other end?
        is_centre = inside == size[label] - 1
        both = np.concatenate((edges.left, edges.right))
        others = np.concatenate((edges.right, edges.left))
        covers = np.split(_covers(both, label[others], size, is_centre), 2)
        kept = _between_open(label[edges.left], label[edges.right], covers[0] | covers[1])
        edges, covers = edges.take(kept), [each[kept] for each in covers]
        label = _joined(edges, covers, label, sums, order)
        is_inside = label[edges.left] == label[edges.right]
        within = edges.take(is_inside)
        inside += within.counts(n)
        sums += within.sums(order)
        edges = edges.take(~is_inside)
    return label


def _covers(one: Indices, group: Indices, size: Indices, is_centre: Mask) -> Mask:
    """Which pairs have a centre on one side that is alike to all of the group on the other; (m,).

    `one` (m,) are documents, and `group` (m,) the groups at the other end.
    """
    covers = is_centre[one]
    several = np.flatnonzero(covers & (size[group] > 1))
    keys = one[several] * len(size) + group[several]
    _, place, counts = np.unique(keys, return_inverse=True, return_counts=True)
    covers[several] = counts[place] == size[group[several]]
    return covers


def _between_open(a: Indices, b: Indices, opens: Mask) -> Mask:
    """Which pairs are between two groups that can still be joined by one of their pairs; (m,).

    `a` and `b` (m,) are the groups of each pair, and `opens` (m,) says which pairs can join them.
    """
    kept = opens.copy()
    shut = np.flatnonzero(~opens)
    keys = np.minimum(a, b) * (max(a.max(), b.max()) + 1) + np.maximum(a, b)
    open_keys = np.append(distinct_numbers(keys[opens]), -1)
    kept[shut] = open_keys[np.searchsorted(open_keys[:-1], keys[shut])] == keys[shut]
    return kept


def _joined(
    edges: Edges, covers: list[Mask], label: Indices, sums: Indices, order: Precedence
) -> Indices:
    """The group of each document after one round; (n,).

    `covers` has the results of `_covers` for the left and for the right document of each pair.
    """
    a, b = label[edges.left], label[edges.right]
    core, around = _cores(a, b, len(label))
    is_near = (around[a] >= 0) & (around[a] == around[b])
    is_core = (core[a] >= 0) & (core[a] == core[b])
    ways = [(*way, covering) for way, covering in zip(edges.both_ways(), covers, strict=True)]
    # Of each two cores, the best document that is alike to all of both joins them.
    candidates = np.concatenate([one[is_core & covering] for one, _, covering in ways])
    sums = sums + edges.take(is_near).sums(order)
    candidates = candidates[np.lexsort((order.content[candidates], -sums[candidates]))]
    _, first = np.unique(core[label[candidates]], return_index=True)
    is_centre = np.zeros(len(label), bool)
    is_centre[candidates[first]] = True
    into = np.arange(len(label))
    for one, other, covering in ways:
        joins = is_near & covering & is_centre[one]
        into[label[other[joins]]] = label[one[joins]]
    return into[label]


def _cores(a: Indices, b: Indices, n: int) -> tuple[Indices, Indices]:
    """The pair by which each group is a core, and the pair it gathers around; -1 for none; (n,).

    `a` and `b` (m,) are the groups of each pair, the most alike pair last. Two groups that pick
    each other are cores. A group that picks a core gathers around that one's pair.

    >>> core, around = _cores(np.array([1, 0]), np.array([2, 1]), 4)
    >>> core.tolist(), around.tolist()
    ([1, 1, -1, -1], [1, 1, 1, -1])
    """
    place, picked = np.arange(len(a)), np.full(n, -1)
    picked[a] = place
    np.maximum.at(picked, b, place)
    mutual = np.flatnonzero((picked[a] == place) & (picked[b] == place))
    core = np.full(n, -1)
    core[a[mutual]] = core[b[mutual]] = mutual
    followers = np.flatnonzero((picked >= 0) & (core < 0))
    partner = a[picked[followers]] + b[picked[followers]] - followers
    around = core.copy()
    around[followers] = core[partner]
    return core, around


def _medoids(edges: Edges, label: Indices, order: Precedence, *, is_star: bool = True) -> Indices:
    """The best representative of each document's group; (n,).

    `label` (n,) is the index of one document of each group. In stars only a document that has a
    pair with all others of its group may represent it.
    """
    n = len(label)
    size = np.bincount(label)[label]
    within = edges.take(label[edges.left] == label[edges.right])
    sums = within.sums(order) + order.sizes * UNIT
    is_other = within.counts(n) < size - 1 if is_star else np.zeros(n, bool)
    return _first_of(label, np.lexsort((order.content, -sums, is_other)))


def with_near_copies(
    pairs: Indices, closeness: Similarities, leader: Indices, order: Precedence
) -> Indices:
    """The representatives of stars, once no document with a pair of NEAR_COPY is alone; (n,).

    `pairs`, `closeness` and `order` are as in `leaders`. Each document is its own `leader` (n,)
    or has a pair with it.
    """
    is_alone = np.bincount(leader, minlength=len(leader))[leader] == 1
    free = is_alone[pairs].all(axis=1) & (closeness >= NEAR_COPY)
    together = leaders(pairs[free], closeness[free], "star", order)
    leader = np.where(is_alone, together, leader)
    return _none_alone(_weakest_first(pairs, closeness, order), leader)


def _none_alone(edges: Edges, leader: Indices) -> Indices:
    """The representatives, once no document with a pair of at least NEAR_COPY is alone; (n,).

    A document whose closest copy is a member of a group, with a representative that it is not
    alike to, makes a group with that copy. Members that are more alike to the copy than to
    their representative follow. Returns `leader` itself where there is nothing to do.
    """
    n, both_ends = len(leader), edges.left + edges.right
    is_alone = np.bincount(leader, minlength=n)[leader] == 1
    is_near = edges.weight >= round(NEAR_COPY * UNIT)
    nearest = edges.strongest([is_near & is_alone[one] for one, _ in edges.both_ways()], n)
    alone = np.flatnonzero(nearest >= 0)
    if not len(alone):
        return leader
    copies = both_ends[nearest[alone]] - alone
    is_copy = np.zeros(n, bool)
    is_copy[copies] = True
    # For each other member of a copy's group: its strongest pairs with such a copy, and with its
    # representative.
    are_together = leader[edges.left] == leader[edges.right]
    to_copy = edges.strongest(
        [are_together & is_copy[other] & ~is_copy[one] for one, other in edges.both_ways()], n
    )
    to_own = edges.strongest([leader[one] == other for one, other in edges.both_ways()], n)
    made = leader.copy()
    made[copies], made[alone] = copies, copies
    is_first = leader == np.arange(n)
    moves = np.flatnonzero(~is_first & (to_copy > to_own))
    made[moves] = both_ends[to_copy[moves]] - moves
    # A representative that all others left goes with its closest.
    is_left = is_first & (to_copy >= 0) & (np.bincount(made, minlength=n) == 1)
    left = np.flatnonzero(is_left)
    made[left] = both_ends[to_copy[left]] - left
    return made


def lower_of_two(leader: Indices, rank: Indices, sizes: Indices) -> Indices:
    """The representatives once the lower `rank` (n,) leads each group of two documents; (n,).

    That changes no group and no similarity. A document with more copies than the other stays first.

    >>> lower_of_two(np.array([1, 1, 2]), np.arange(3), np.ones(3, int)).tolist()
    [0, 0, 2]
    """
    others = np.flatnonzero(leader != np.arange(len(leader)))
    first = leader[others]
    are_two = (np.bincount(leader)[first] == 2) & (sizes[others] == sizes[first])
    lower = others[are_two & (rank[others] < rank[first])]
    made = leader.copy()
    made[leader[lower]] = made[lower] = lower
    return made


def closest(pairs: Indices, closeness: Similarities, content: Hashes) -> Indices:
    """For every index on the left of a pair the closest one on its right, else itself; (n,).

    Of several that are equally close, the one with the lowest `content` (n,).
    """
    order = np.lexsort((content[pairs[:, 1]], -closeness, pairs[:, 0]))
    left, first = np.unique(pairs[order, 0], return_index=True)
    leader = np.arange(len(content))
    leader[left] = pairs[order[first], 1]
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


def staying(group: Indices, is_centre: Mask, alike: Callable[[Indices], Mask]) -> Indices:
    """For each text of some groups the text that stays for it: itself, or one that it is alike to.

    `group` (n,) is the group of each text, ascending; within a group the preferred texts come
    first. A text goes if it is alike to an earlier one that stays, and that one stays for it.
    `is_centre` marks texts that are alike to all of their group, as in stars (see MOST_STAYING);
    `alike` says which of some other pairs (m, 2) are alike.

    >>> staying(np.zeros(3, int), np.zeros(3, bool), lambda pairs: pairs[:, 1] == 1).tolist()
    [0, 0, 2]
    """
    stays, is_open = np.zeros(len(group), bool), np.ones(len(group), bool)
    stands_for = np.arange(len(group))
    centred = group[is_centre]
    size = 1
    while is_open.any():
        texts = np.flatnonzero(is_open)
        size = min(size, max(1, PAIRS_AT_ONCE // len(texts)))
        first, pairs = _with_later(texts, group, size)
        are_alike: Mask = is_centre[pairs[:, 0]] | is_centre[pairs[:, 1]]
        are_alike[~are_alike] = alike(pairs[~are_alike])
        chosen, covered = unlike(first, pairs[are_alike])
        stays[chosen] = True
        is_open[first] = is_open[covered] = False
        # Pairs ascend by the text that stays: of several for one text, the first is written last.
        covering = pairs[are_alike & stays[pairs[:, 0]]][::-1]
        stands_for[covering[:, 1]] = covering[:, 0]
        counts = np.bincount(group[stays])
        is_open &= ~np.isin(group, centred[counts[centred] > MOST_STAYING])
        size *= 2
    return _after_limit(group, is_centre, stands_for, limited(group, stays, is_centre))


def _after_limit(group: Indices, is_centre: Mask, stands_for: Indices, stays: Mask) -> Indices:
    """The text that stands for each text after the limit: the centre, if its own one had to go."""
    stands_for[stays] = np.flatnonzero(stays)
    lost = np.flatnonzero(~stays[stands_for])
    centres = np.flatnonzero(is_centre)
    stands_for[lost] = centres[np.searchsorted(group[centres], group[lost])]
    return stands_for


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


def limited(group: Indices, stays: Mask, is_centre: Mask) -> Mask:
    """Which texts stay if a group with a centre keeps at most MOST_STAYING texts; (n,).

    A group with more of them also keeps its centre.
    """
    texts = np.flatnonzero(stays)
    places = np.arange(len(texts)) - np.searchsorted(group[texts], group[texts])
    beyond = texts[places >= MOST_STAYING]
    over = np.intersect1d(group[beyond], group[is_centre])
    made = stays.copy()
    made[beyond[np.isin(group[beyond], over)]] = False
    made[is_centre & np.isin(group, over)] = True
    return made
