"""Every pair of fingerprints within k bits: exact, streamed, whatever the rows look like.

Equal rows are one row to the search. Then the cheaper of two methods finds the pairs:

- all against all, in tiles: for any k;
- multi-index hashing: rows are cut into m blocks. Two rows within k bits differ by at most
  k // m bits in one of them, so each block is looked up in a table with all ways to flip that
  few bits. With k + 1 blocks nothing is flipped: one block is equal (the pigeonhole search).
  Source: Norouzi, Punjani, Fleet, "Fast search in Hamming space with multi-index
  hashing", 2012, sections 3 and 4; Manku, Jain, Das Sarma 2007, section 3.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np

from simdup.arguments import check_whole
from simdup.arrays import Distances, Indices, Keys, Mask, Pairs, Rows
from simdup.compute import compiled
from simdup.errors import BadValueError, TooManyPairsError
from simdup.progress import Progress, silent
from simdup.search.distinct import DistinctRows, distinct_rows, joint_rows
from simdup.search.hamming import check_rows, paired_distances, word_distances, words
from simdup.settings import USUAL

Part = tuple[int, int, int]  # rows on the right, and the first on the left

# Pairs looked at together, which bounds the memory of a search to some 100 MB.
CHUNK = 1 << 20

# Rows on the two sides of a tile of all against all: 256 kB of scratch, which stays in the cache.
TILE = (8, 4096)

# Rows on the right that a thread compares at once: with their distances they fit in the cache.
COLUMNS = 4096

# Nanoseconds of one step, measured with numpy 2.4 on one core. Only their ratios matter, and
# only to the choice of the method.
NS_COMPARE = 1.2  # two rows in a tile, a word
NS_COMPILED = 0.06  # the same by `kernels.near_pairs` on two cores
NS_LOOK_UP = 12.0  # one row and one mask in a table
NS_CANDIDATE = 40.0  # two rows that share a block
NS_SLOT = 4.0  # one entry of a table

# If a smaller share of the rows is distinct, searching each distinct row once leaves fewer pairs
# to sieve.
MOSTLY_DISTINCT = 0.9

# A table of 2**22 counts still fits the caches that matter; a longer block gains little.
MAX_BLOCK_BITS = 22


class Reach(NamedTuple):
    """How near two fingerprints must be to be a pair.

    k: At most this many of the first `bits` bits differ.
    sieve: At most this many of all bits differ; None where all bits are compared anyway.
    """

    bits: int
    k: int
    sieve: int | None = None

    def compared(self, rows: Rows) -> Rows:
        """Return the first `bits` bits of the rows."""
        return np.ascontiguousarray(rows[:, : self.bits // 8])

    def passes(self, rows: Rows, i: Indices, j: Indices) -> Mask:
        """Whether rows i[p] and j[p] pass the sieve; shape (m,)."""
        if self.sieve is None:
            return np.ones(len(i), bool)
        return paired_distances(rows, i, j) <= self.sieve


def iter_pairs(rows: Rows, k: int, *, progress: Progress = silent) -> Iterator[Pairs]:
    """Every pair of rows at most k bits apart, in chunks of about CHUNK.

    Yields arrays (m, 3) of i, j and distance with i < j; each pair comes once, in no
    particular order. Memory does not grow with the number of pairs. Raises
    ValueError for k below 0.
    """
    k = _within_reach(k, rows)
    distinct = distinct_rows(rows)
    return _original_pairs(distinct, k, method(distinct.rows, k), progress)


def iter_pairs_between(
    left: Rows, right: Rows, k: int, *, progress: Progress = silent
) -> Iterator[Pairs]:
    """Every pair of a left and a right row at most k bits apart; see `iter_pairs`.

    Yields arrays (m, 3) of the index in `left`, the index in `right`, and distance.
    """
    check_rows(right, "right")
    k = _within_reach(k, left, "left")
    bits, sides = 8 * left.shape[1], (len(left), len(right))
    # Looking up all rows may still be cheaper than comparing each with each.
    if plan(sum(sides), bits, k, sides, is_compiled=is_compiled_for(*sides, bits)):
        first, joint = joint_rows(left, right)
        both = distinct_rows(joint.rows)
        if blocks := method(both.rows, k, sides):
            for pairs in _original_pairs(both, k, blocks, progress):
                across = pairs[(pairs[:, 0] < first) & (pairs[:, 1] >= first)]
                for each in expanded(joint, across):
                    yield each - np.array([0, len(left), 0])
            return
    yield from all_pairs(left, right, k, progress)


def iter_near_pairs(rows: Rows, reach: Reach, progress: Progress = silent) -> Iterator[Pairs]:
    """Yield the pairs of rows within reach, as `iter_pairs` does.

    Most pairs within k bits are near by chance: among a million unrelated texts, billions.
    Where compiled code compares all with all, it drops these at once.

    >>> rows = np.uint8([[0b1111_0000, 0], [0b1111_0001, 0], [0b1111_0000, 255]])
    >>> np.concatenate(list(iter_near_pairs(rows, Reach(8, 1, sieve=4)))).tolist()
    [[0, 1, 1]]
    """
    distinct = None if reach.sieve is None else distinct_rows(rows)
    if distinct is None or not _is_fused(reach.compared(distinct.rows), reach.k):
        for pairs in iter_pairs(reach.compared(rows), reach.k, progress=progress):
            yield pairs[reach.passes(rows, pairs[:, 0], pairs[:, 1])]
        return
    yield from expanded(distinct, _repeated(distinct))
    for pairs in compiled_pairs(distinct.rows, distinct.rows, reach, progress, is_half=True):
        yield from expanded(distinct, pairs)


def iter_near_pairs_between(
    left: Rows, right: Rows, reach: Reach, progress: Progress = silent
) -> Iterator[Pairs]:
    """Yield the pairs of a left and a right row within reach, as `iter_pairs_between` does."""
    sides = len(left), len(right)
    if _loaded_for(*sides, reach.bits) and not plan(
        sum(sides), reach.bits, reach.k, sides, is_compiled=True
    ):
        yield from compiled_pairs(left, right, reach, progress, is_half=False)
        return
    both = np.concatenate((left, right))
    compared = reach.compared(left), reach.compared(right)
    for pairs in iter_pairs_between(*compared, reach.k, progress=progress):
        yield pairs[reach.passes(both, pairs[:, 0], pairs[:, 1] + len(left))]


def _is_fused(rows: Rows, k: int) -> bool:
    """Whether compiled code should compare all distinct rows and sieve as it goes."""
    if not _loaded_for(len(rows), len(rows), 8 * rows.shape[1]):
        return False
    is_distinct = len(distinct_rows(rows).rows) >= MOSTLY_DISTINCT * len(rows)
    return is_distinct and not method(rows, k)


def _loaded_for(n: int, m: int, bits: int) -> bool:
    """Whether kernels are loaded, after loading them if comparing n with m rows is worth it."""
    return is_compiled_for(n, m, bits) and compiled.load_kernels() is not None


def _within_reach(k: int, rows: Rows, name: str = "rows") -> int:
    """The distance k, checked; at most the number of bits."""
    check_whole(k, "k")
    check_rows(rows, name)
    if k < 0:
        raise BadValueError(f"k must be at least 0, not {k}")
    return min(k, 8 * rows.shape[1])


def pairs_within(rows: Rows, k: int, max_pairs: int = USUAL.near_pairs) -> Pairs:
    """Every pair of rows at most k bits apart; (m, 3) of i < j and distance, sorted.

    Raises TooManyPairsError, naming the count, when there are more than `max_pairs`,
    and ValueError for k below 0.
    """
    k = _within_reach(k, rows)
    distinct, found, count = distinct_rows(rows), [np.empty((0, 3), np.int64)], 0
    for pairs in _distinct_pairs(distinct, k, method(distinct.rows, k)):
        count += int(_pair_counts(distinct, pairs).sum())
        if count <= max_pairs:
            found.extend(expanded(distinct, pairs))
    if count > max_pairs:
        found.clear()
        raise TooManyPairsError(
            f"{count} pairs are within {k} bits, more than {max_pairs};"
            " lower k, raise max_pairs, or stream them with iter_pairs"
        )
    every = np.concatenate(found)
    return every[np.lexsort((every[:, 1], every[:, 0]))]


def _original_pairs(
    distinct: DistinctRows, k: int, blocks: int, progress: Progress
) -> Iterator[Pairs]:
    """Yield the pairs of original rows within k, in chunks."""
    for pairs in _distinct_pairs(distinct, k, blocks, progress):
        yield from expanded(distinct, pairs)


def _distinct_pairs(
    distinct: DistinctRows, k: int, blocks: int, progress: Progress = silent
) -> Iterator[Pairs]:
    """Yield the pairs of distinct rows within k, and each repeated row as a pair with itself."""
    yield _repeated(distinct)
    if blocks:
        yield from multi_index(distinct.rows, k, blocks, progress)
    else:
        yield from all_pairs(distinct.rows, distinct.rows, k, progress, is_half=True)


def _repeated(distinct: DistinctRows) -> Pairs:
    """Each row that occurs several times as a pair with itself, at distance 0."""
    repeated = np.flatnonzero(distinct.sizes > 1)
    return np.column_stack((repeated, repeated, np.zeros_like(repeated)))


def _pair_counts(distinct: DistinctRows, pairs: Pairs) -> Indices:
    """The number of pairs of original rows behind each pair of distinct rows."""
    left, right = distinct.sizes[pairs[:, 0]], distinct.sizes[pairs[:, 1]]
    return np.where(pairs[:, 0] == pairs[:, 1], left * (left - 1) // 2, left * right)


def expanded(distinct: DistinctRows, pairs: Pairs) -> Iterator[Pairs]:
    """Yield the pairs of original rows behind pairs of distinct rows, in chunks."""
    widths = distinct.sizes[pairs[:, 1]]
    counts = distinct.sizes[pairs[:, 0]] * widths
    ends = np.cumsum(counts)
    begins = distinct.offsets[pairs[:, :2]]
    for low in range(0, int(ends[-1]) if len(ends) else 0, CHUNK):
        serial = np.arange(low, min(low + CHUNK, ends[-1]))
        at = np.searchsorted(ends, serial, side="right")
        row, column = np.divmod(serial - (ends - counts)[at], widths[at])
        left = distinct.members[begins[at, 0] + row]
        right = distinct.members[begins[at, 1] + column]
        # A row paired with itself gives each pair twice and each member with itself.
        kept = (pairs[at, 0] != pairs[at, 1]) | (left < right)
        i, j = np.minimum(left, right), np.maximum(left, right)
        yield np.column_stack((i, j, pairs[at, 2]))[kept]


def plan(
    n: int, bits: int, k: int, sides: tuple[int, int] | None = None, *, is_compiled: bool = False
) -> int:
    """The number of blocks that makes multi-index hashing cheapest, or 0 for all against all.

    It depends on sizes alone. Comparing all takes n**2 / 2 comparisons, or the product of the two
    `sides`; every block takes a table, n look-ups for each mask, and its share of random pairs.
    """
    best, cost = 0, _all_pairs_cost(n, bits, sides, is_compiled=is_compiled)
    most = int(cost / (NS_LOOK_UP * max(n, 1)))  # each block takes a look-up for every row
    for blocks in range(1, min(bits, k + 1, most) + 1):
        (radius, rest), width = divmod(k, blocks), min(bits // blocks, MAX_BLOCK_BITS)
        sharing = n * n / 2 ** (width + 1)
        near = _block_cost(n, width, radius, sharing) * (rest + 1)
        total = near + _block_cost(n, width, radius - 1, sharing) * (blocks - rest - 1)
        if total < cost:
            best, cost = blocks, total
    return best


def method(rows: Rows, k: int, sides: tuple[int, int] | None = None) -> int:
    """The result of `plan` for these rows, but 0 if too many of them share their blocks."""
    n, bits = len(rows), 8 * rows.shape[1]
    is_compiled = is_compiled_for(*(sides or (n, n)), bits)
    blocks, cost = plan(n, bits, k, sides, is_compiled=is_compiled), 0.0
    for begin, width, radius in _layout(bits, k, blocks) if blocks else []:
        sizes = np.bincount(keys_of(rows, begin, width))
        cost += _block_cost(n, width, radius, float((sizes * (sizes - 1) // 2).sum()))
    return blocks if cost < _all_pairs_cost(n, bits, sides, is_compiled=is_compiled) else 0


def is_compiled_for(n: int, m: int, bits: int) -> bool:
    """Whether compiled kernels would compare n rows with m rows."""
    return compiled.loaded_kernels() is not None or compiled.kernels_pay(
        words=n * m * -(-bits // 64)
    )


def _all_pairs_cost(
    n: int, bits: int, sides: tuple[int, int] | None, *, is_compiled: bool
) -> float:
    """Nanoseconds to compare all rows with all, or one side with the other."""
    pairs = sides[0] * sides[1] if sides else n * (n - 1) / 2
    return pairs * -(-bits // 64) * (NS_COMPILED if is_compiled else NS_COMPARE)


def _block_cost(n: int, width: int, radius: int, sharing: float) -> float:
    """Nanoseconds to search one block in which `sharing` pairs of rows are equal."""
    if radius < 0:
        return 0.0
    masks = sum(comb(width, flips) for flips in range(radius + 1))
    return 2**width * NS_SLOT + masks * (n * NS_LOOK_UP + sharing * NS_CANDIDATE)


def _layout(bits: int, k: int, blocks: int) -> list[tuple[int, int, int]]:
    """The begin, width and radius of every block to search.

    >>> _layout(64, 3, 4)
    [(0, 16, 0), (16, 16, 0), (32, 16, 0), (48, 16, 0)]
    """
    radius, rest = divmod(k, blocks)
    layout, begin = [], 0
    for block in range(blocks):
        width = bits // blocks + (block < bits % blocks)
        # If the first rest + 1 blocks each differ by more than `radius` and the others by
        # more than radius - 1, then the rows differ by more than k.
        reach = radius if block <= rest else radius - 1
        # The beginning of a block differs in no more bits than the whole block.
        searched = min(width, MAX_BLOCK_BITS)
        if reach >= 0:
            layout.append((begin, searched, min(reach, searched)))
        begin += width
    return layout


def all_pairs(
    left: Rows, right: Rows, k: int, progress: Progress = silent, *, is_half: bool = False
) -> Iterator[Pairs]:
    """Yield the pairs of a left and a right row within k by comparing all: arrays (m, 3).

    With `is_half` both sides are one collection, and only pairs with i < j are compared.
    """
    compiled.load_kernels_if_worth(words=len(left) * len(right) * -(-left.shape[1] // 8))
    if compiled.loaded_kernels() is not None:
        reach = Reach(8 * left.shape[1], k)
        yield from compiled_pairs(left, right, reach, progress, is_half=is_half)
        return
    for top, begin, near in _tiles(left, right, k, progress, is_half=is_half):
        i, j = np.nonzero(near <= k)
        pairs = np.column_stack((i + top, j + begin, near[i, j])).astype(np.int64)
        yield pairs[pairs[:, 0] < pairs[:, 1]] if is_half else pairs


def compiled_pairs(
    left: Rows, right: Rows, reach: Reach, progress: Progress = silent, *, is_half: bool
) -> Iterator[Pairs]:
    """Yield the pairs within reach by `kernels.near_pairs`; threads share the right rows.

    A part of the right rows with more pairs than fit a buffer is continued where it stopped.
    """
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415  slow to import

    n, m, workers = len(left), len(right), compiled.threads()
    parts = deque((begin, min(begin + COLUMNS, m), 0) for begin in range(0, m, COLUMNS))
    size = max(CHUNK // workers, COLUMNS), 3
    buffers = [np.empty(size, np.int64) for _ in range(workers)]
    near = _kernel(left, right, reach, is_half=is_half)
    total = _compared(0, m, n, is_half=is_half)
    amount = partial(_newly_compared, n=n, is_half=is_half)
    with ThreadPoolExecutor(workers) as pool:
        for taken in progress(_taken(parts, workers), "search", total, amount):
            results = list(pool.map(near, taken, buffers))
            for part, (stopped, count), found in zip(taken, results, buffers, strict=False):
                yield found[:count].copy()
                if stopped < n:
                    parts.appendleft((*part[:2], stopped))


def _kernel(
    left: Rows, right: Rows, reach: Reach, *, is_half: bool
) -> Callable[[Part, Pairs], tuple[int, int]]:
    """A function that fills an array with the pairs of a part, as many as fit.

    It returns the left row before which it stopped, and the number of pairs.
    """
    kernels, k = compiled.loaded_kernels(), min(reach.k, reach.bits)
    # Always copied: for read-only arrays numba would compile the kernel again.
    a, b = (np.array(words(reach.compared(rows)).T, order="C") for rows in (left, right))
    kernel = kernels.near_pairs
    if reach.sieve is not None:
        kernel = partial(kernels.sieved_pairs, words(left), words(right), reach.sieve)

    def near(part: Part, found: Pairs) -> tuple[int, int]:
        low, high, begin = part
        stopped, count = kernel(a, b, (low, high), begin, is_half, k, found)
        return int(stopped), int(count)

    return near


def _taken(parts: deque[Part], most: int) -> Iterator[list[Part]]:
    """Yield `most` parts at a time until none is left; parts may be added meanwhile."""
    while parts:
        yield [parts.popleft() for _ in range(min(most, len(parts)))]


def _newly_compared(taken: list[Part], n: int, *, is_half: bool) -> int:
    """The number of pairs compared in these parts; continued parts were counted before."""
    fresh = ((low, high) for low, high, begin in taken if not begin)
    return sum(_compared(*part, n, is_half=is_half) for part in fresh)


def _compared(begin: int, end: int, n: int, *, is_half: bool) -> int:
    """The number of pairs of rows `begin` to `end` with n others, or with the rows before each."""
    return (begin + end - 1) * (end - begin) // 2 if is_half else (end - begin) * n


def _tiles(
    left: Rows, right: Rows, k: int, progress: Progress, *, is_half: bool
) -> Iterator[tuple[int, int, Distances]]:
    """Yield where each tile begins and its distances, for tiles with a distance within k.

    With `is_half` tiles below the diagonal are left out.
    """
    a, b = (np.ascontiguousarray(words(rows).T) for rows in (left, right))
    (tall, wide), n = TILE, len(left)

    def compared(top: int) -> int:  # counted from the last row: each is compared with later ones
        return _compared(max(0, n - top - tall), n - top, len(right), is_half=is_half)

    total = _compared(0, n, len(right), is_half=is_half)
    for top in progress(range(0, n, tall), "search", total, compared):
        for begin in range(top if is_half else 0, len(right), wide):
            near = word_distances(a[:, top : top + tall], b[:, begin : begin + wide])
            if near.min() <= k:
                yield top, begin, near


def multi_index(rows: Rows, k: int, blocks: int, progress: Progress = silent) -> Iterator[Pairs]:
    """Yield every pair within k of distinct rows by multi-index hashing: arrays (m, 3), i < j."""
    columns = words(rows)
    keys: list[Keys] = []
    radii: list[int] = []
    layout, n = _layout(8 * rows.shape[1], k, blocks), len(rows)
    # Progress counts pairs: each block is worth as many as its share of the cost.
    costs = {begin: _block_cost(n, width, radius, 0) for begin, width, radius in layout}
    share = n * (n - 1) / 2 / sum(costs.values())
    shown = progress(layout, "search", n * (n - 1) / 2, lambda each: costs[each[0]] * share)
    for begin, width, radius in shown:
        keys.append(keys_of(rows, begin, width))
        for i, j in sharing(keys[-1], width, radius):
            distance = np.bitwise_count(columns[i] ^ columns[j]).sum(axis=1, dtype=np.int64)
            near = np.flatnonzero(distance <= k)
            i, j, distance = i[near], j[near], distance[near]  # noqa: PLW2901
            new = np.ones(len(i), bool)
            # Leave out pairs that an earlier block has given.
            for key, reach in zip(keys[:-1], radii, strict=True):
                new &= np.bitwise_count(key[i] ^ key[j]) > reach
            pairs = np.column_stack((np.minimum(i, j), np.maximum(i, j), distance))
            yield pairs[new]
        radii.append(radius)


def keys_of(rows: Rows, begin: int, width: int) -> Keys:
    """The `width` bits from bit `begin` of each row as a number; `width` is at most 25."""
    last = begin + width
    key = np.zeros(len(rows), np.uint64)
    for byte in range(begin // 8, -(-last // 8)):
        key = key << np.uint64(8) | rows[:, byte]
    key >>= np.uint64(-last % 8)
    return (key & np.uint64((1 << width) - 1)).astype(np.uint32)


def sharing(keys: Keys, width: int, radius: int) -> Iterator[tuple[Indices, Indices]]:
    """Yield the pairs of rows whose keys differ in at most `radius` bits, each once, in chunks."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    starts = np.zeros((1 << width) + 1, np.int64)
    np.cumsum(np.bincount(ordered, minlength=1 << width), out=starts[1:])
    for flips in range(radius + 1):
        for bits in combinations(range(width), flips):
            mask = np.uint32(sum(1 << bit for bit in bits))
            other = ordered ^ mask
            # The lower key looks up the higher one; of equal keys, each looks up later ones.
            begins = starts[other] if flips else np.arange(1, len(keys) + 1)
            counts = starts[other.astype(np.int64) + 1] - begins
            if flips:
                counts[other < ordered] = 0
            for left, right in ranges(begins, counts):
                yield order[left], order[right]


def ranges(begins: Indices, counts: Indices) -> Iterator[tuple[Indices, Indices]]:
    """Yield each index i with begins[i], begins[i] + 1, ..., counts[i] numbers, in chunks."""
    busy = np.flatnonzero(counts)
    begins, counts = begins[busy], counts[busy]
    ends = np.cumsum(counts)
    for low in range(0, int(ends[-1]) if len(ends) else 0, CHUNK):
        high = min(low + CHUNK, int(ends[-1]))
        first, last = np.searchsorted(ends, (low, high - 1), side="right")
        part = slice(first, last + 1)
        before = ends[part] - counts[part]
        taken = np.minimum(ends[part], high) - np.maximum(before, low)
        serial = np.arange(low, high) + np.repeat(begins[part] - before, taken)
        yield np.repeat(busy[part], taken), serial
