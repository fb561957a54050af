"""simdup.search.pairs against all against all, one pair of Python integers at a time."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, product
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdup.compute import compiled as fast
from simdup.errors import TooManyPairsError
from simdup.search import pairs as search
from simdup.search.distinct import distinct_rows
from simdup.search.hamming import paired_distances
from simdup.search.pairs import (
    Reach,
    iter_near_pairs,
    iter_near_pairs_between,
    iter_pairs,
    iter_pairs_between,
    multi_index,
    pairs_within,
    plan,
)

pytestmark = pytest.mark.slow


@st.composite
def fingerprints(draw, max_rows=25):
    """A (n, width) uint8 array: random, equal, one hot block, or a bit from one another."""
    n, width = draw(st.integers(0, max_rows)), draw(st.integers(1, 17))
    data = draw(st.binary(min_size=n * width, max_size=n * width))
    rows = np.frombuffer(data, np.uint8).reshape(n, width).copy()
    shape = draw(st.sampled_from(["random", "hot block", "few bits", "neighbours", "equal"]))
    if shape == "hot block":
        rows[:, : width // 2 + 1] = 0xA5
    elif shape == "few bits":
        rows &= 0x11
    elif shape in {"neighbours", "equal"}:
        rows[:] = rows[:1]
    if shape == "neighbours":
        places = draw(st.lists(st.integers(0, 8 * width - 1), min_size=n, max_size=n))
        rows[np.arange(n), np.array(places, np.int64) // 8] ^= 1 << np.array(places, np.uint8) % 8
    return rows


def oracle(rows, k):
    numbers = [int.from_bytes(row.tobytes(), "big") for row in rows]
    pairs = (
        (i, j, (numbers[i] ^ numbers[j]).bit_count()) for i, j in combinations(range(len(rows)), 2)
    )
    return [[i, j, d] for i, j, d in pairs if d <= k]


def all_pairs(rows, k, progress=search.silent):
    return search.all_pairs(rows, rows, k, progress, is_half=True)


def collected(chunks):
    pairs = np.concatenate([np.empty((0, 3), np.int64), *chunks])
    return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))].tolist()


@given(fingerprints(), st.integers(0, 140))
def test_pairs_match_the_oracle(rows, k):
    assert pairs_within(rows, k).tolist() == oracle(rows, k)


@given(fingerprints(), st.integers(0, 140), st.integers(1, 9))
def test_pairs_match_the_oracle_whatever_the_chunk(rows, k, chunk):
    before = search.CHUNK, search.TILE
    try:
        search.CHUNK = chunk
        search.TILE = chunk, chunk + 1
        found = collected(iter_pairs(rows, k))
    finally:
        search.CHUNK, search.TILE = before

    assert found == oracle(rows, k)


@given(fingerprints(), st.integers(0, 40), st.integers(1, 20))
def test_multi_index_hashing_agrees_with_all_against_all(rows, k, blocks):
    rows = distinct_rows(rows).rows
    width = 8 * rows.shape[1]
    blocks = min(max(blocks, -(-width // 16), k // 2), width)

    assert collected(multi_index(rows, k, blocks)) == collected(all_pairs(rows, k))


def test_a_hundred_thousand_equal_rows_are_one_row_to_the_search():
    rows = np.repeat(np.array([[1, 2], [1, 3]], np.uint8), (100_000, 1), axis=0)

    distinct = distinct_rows(rows)
    assert len(distinct.rows) == 2
    assert sorted(distinct.sizes.tolist()) == [1, 100_000]
    first = next(chunk for chunk in iter_pairs(rows, 0) if len(chunk))
    assert len(first) <= search.CHUNK
    assert (first[:, 0] < first[:, 1]).all()


def test_too_many_pairs_are_counted_and_refused():
    rows = np.uint8([[0], [1], [3]]).repeat([5, 3, 2], axis=0)
    within = 10 + 3 + 1 + 5 * 3 + 3 * 2  # of equal rows, and of rows that differ in one bit

    with pytest.raises(TooManyPairsError) as caught:
        pairs_within(rows, 1, max_pairs=within - 1)
    assert str(caught.value) == (
        "35 pairs are within 1 bits, more than 34;"
        " lower k, raise max_pairs, or stream them with iter_pairs"
    )
    assert len(pairs_within(rows, 1, max_pairs=within)) == within
    assert len(pairs_within(rows[:1], 1, max_pairs=0)) == 0


def test_too_many_pairs_are_counted_but_not_kept(monkeypatch):
    expanding = []
    monkeypatch.setattr(search, "expanded", lambda _, pairs: expanding.append(pairs) or [])

    with pytest.raises(TooManyPairsError, match="499500 pairs"):
        pairs_within(np.zeros((1000, 8), np.uint8), 3, max_pairs=499_499)
    assert not expanding


def test_rows_of_another_type_are_refused_by_their_side():
    rows, wrong = np.zeros((2, 8), np.uint8), np.zeros((2, 8))

    for name, sides in {"left": (wrong, rows), "right": (rows, wrong)}.items():
        with pytest.raises(TypeError, match=f"^{name} must be an array "):
            next(iter_pairs_between(*sides, 3))


@pytest.mark.parametrize("call", [pairs_within, iter_pairs])
def test_a_negative_k_is_refused(call):
    with pytest.raises(ValueError, match="k must be at least 0, not -1"):
        call(np.zeros((2, 8), np.uint8), -1)
    with pytest.raises(TypeError, match="k must be a whole number, not float 1"):
        call(np.zeros((2, 8), np.uint8), 1.0)


@pytest.mark.parametrize("bits", [8, 32, 64, 96, 512])
def test_opposite_fingerprints_differ_in_every_bit(bits):
    rows = np.array([[0x00], [0xFF]], np.uint8).repeat(bits // 8, axis=1)

    assert pairs_within(rows, bits).tolist() == [[0, 1, bits]]
    assert pairs_within(rows, bits - 1).shape == (0, 3)


def cost_of_blocks(n, bits, k, blocks):
    """The cost of random rows, one block after the other."""
    width, cost = min(bits // blocks, search.MAX_BLOCK_BITS), 0.0
    for block in range(blocks):
        radius = k // blocks - (block > k % blocks)
        masks = sum(comb(width, flips) for flips in range(radius + 1))
        pairs = n * n / 2 / 2**width
        if masks:
            cost += 2**width * search.NS_SLOT
            cost += masks * (n * search.NS_LOOK_UP + pairs * search.NS_CANDIDATE)
    return cost


def test_a_word_that_is_begun_is_compared_and_a_block_that_is_left_out_costs_nothing():
    cost = search._all_pairs_cost  # noqa: SLF001
    costs = [cost(10, bits, None, is_compiled=False) for bits in (64, 65, 128, 129)]

    assert costs == [pytest.approx(45 * words * search.NS_COMPARE) for words in (1, 2, 2, 3)]
    assert search._block_cost(100, 16, -1, 7.0) == 0  # noqa: SLF001


@pytest.mark.parametrize("bits", [8, 64, 65, 256])
def test_the_number_of_blocks_is_the_cheapest(bits):
    for n, k in product((3, 200, 30_000, 10**6, 10**9), (0, 1, 3, 4, 7, 10, 22)):
        for sides, ns in ((None, search.NS_COMPARE), ((n // 4, n // 3), search.NS_COMPILED)):
            pairs = sides[0] * sides[1] if sides else n * (n - 1) / 2
            costs = [pairs * -(-bits // 64) * ns]
            costs += [cost_of_blocks(n, bits, k, m) for m in range(1, min(bits, k + 1) + 1)]

            chosen = plan(n, bits, k, sides, is_compiled=True) if sides else plan(n, bits, k)

            assert costs[chosen] == pytest.approx(min(costs))


@pytest.mark.parametrize("sides", [None, (20, 60)])
@pytest.mark.parametrize("is_compiled", [False, True])
def test_rows_are_looked_up_where_their_own_blocks_make_that_cheaper(
    monkeypatch, sides, is_compiled
):
    rows = np.repeat(np.arange(80, dtype=np.uint8)[:, None], 8, axis=1)
    rows[:, 2:6] //= 7  # more rows share these blocks than those of random rows
    cost = 0.0
    for block in rows.view(np.uint16).T:
        shared = sum(n * (n - 1) // 2 for n in Counter(block.tolist()).values())
        cost += 2**16 * search.NS_SLOT + 80 * search.NS_LOOK_UP + shared * search.NS_CANDIDATE
    sizes = []
    monkeypatch.setattr(search, "plan", lambda *_, **__: 4)
    monkeypatch.setattr(
        search, "is_compiled_for", lambda *given: sizes.append(given) or is_compiled
    )
    used, other = ("NS_COMPILED", "NS_COMPARE")[:: 1 if is_compiled else -1]
    monkeypatch.setattr(search, other, np.nan)
    for factor, blocks in ((1 + 1e-9, 4), (1 - 1e-9, 0)):
        monkeypatch.setattr(search, used, factor * cost / (20 * 60 if sides else 80 * 79 / 2))

        assert search.method(rows, 3, sides) == blocks
    assert sizes == [(*(sides or (80, 80)), 64)] * 2


@pytest.mark.parametrize(("bits", "k", "blocks"), [(64, 3, 4), (64, 7, 5), (72, 9, 7), (8, 2, 5)])
def test_blocks_cover_every_bit_once_and_no_search_goes_further_than_it_must(bits, k, blocks):
    layout = search._layout(bits, k, blocks)  # noqa: SLF001
    left_out = blocks - len(layout)  # blocks that need not agree at all

    begins, widths, radii = zip(*layout, strict=True)
    assert begins == tuple(np.cumsum((0, *widths[:-1])).tolist())
    assert bits - sum(widths) in range(
        (bits // blocks) * left_out, (bits // blocks + 1) * left_out + 1
    )
    assert max(widths) - min(widths) <= 1
    assert sorted(widths, reverse=True) == list(widths)
    # Rows that are just out of reach in every block differ in k + 1 bits: one more than k.
    assert sum(radius + 1 for radius in radii) == k + 1
    assert min(radii) >= 0


@pytest.mark.parametrize("chunk", [1, 2, 3, 4, 100])
def test_ranges_of_numbers_are_listed_whatever_the_chunk(monkeypatch, chunk):
    monkeypatch.setattr(search, "CHUNK", chunk)
    begins, counts = np.array([7, 0, 3, 9, 3, 2]), np.array([1, 4, 0, 1, 1, 6])

    parts = list(search.ranges(begins, counts))

    assert [len(i) for i, _ in parts] == [min(chunk, 13 - low) for low in range(0, 13, chunk)]
    assert np.concatenate(parts, axis=1).T.tolist() == [
        [i, begins[i] + j] for i in range(6) for j in range(counts[i])
    ]
    assert not list(search.ranges(begins[:0], counts[:0]))


def test_the_key_of_a_row_is_some_of_its_bits():
    rows = np.random.default_rng(1).integers(0, 256, (20, 9), np.uint8)
    numbers = [int.from_bytes(row.tobytes(), "big") for row in rows]

    for begin, width in product((0, 1, 7, 8, 9, 30, 47), (1, 7, 8, 9, 16, 25)):
        expected = [number >> (72 - begin - width) & ((1 << width) - 1) for number in numbers]
        assert search.keys_of(rows, begin, width).tolist() == expected


@pytest.mark.parametrize(("blocks", "unused"), [(0, "multi_index"), (4, "all_pairs")])
def test_pairs_are_found_by_the_method_that_was_chosen(monkeypatch, blocks, unused):
    monkeypatch.setattr(search, "method", lambda *_: blocks)
    monkeypatch.setattr(search, unused, None)
    rows = few_bit_rows(1, width=8)

    assert collected(iter_pairs(rows, 3)) == oracle(rows, 3)


@pytest.mark.parametrize("pays", [False, True])
def test_kernels_are_reckoned_with_once_the_words_to_compare_pay_for_them(monkeypatch, pays):
    monkeypatch.setattr(
        search.compiled, "kernels_pay", lambda *, words: pays and words == 3 * 5 * 2
    )

    monkeypatch.setattr(search.compiled, "loaded_kernels", lambda: None)
    assert search.is_compiled_for(3, 5, 65) == search.is_compiled_for(3, 5, 128) == pays
    monkeypatch.setattr(search.compiled, "loaded_kernels", lambda: fast)
    assert search.is_compiled_for(3, 5, 65)


def test_every_comparison_counts_towards_what_pays_for_kernels(monkeypatch):
    counted = []
    monkeypatch.setattr(
        search.compiled, "load_kernels_if_worth", lambda *, words: counted.append(words)
    )

    list(all_pairs(np.zeros((5, 9), np.uint8), 1))
    list(all_pairs(np.zeros((5, 16), np.uint8), 1))

    assert counted == [5 * 5 * 2] * 2


@pytest.mark.parametrize(("n", "distinct"), [(20, 18), (20, 17)])
@pytest.mark.parametrize("is_compiled", [False, True])
@pytest.mark.parametrize("blocks", [0, 4])
def test_compiled_code_sieves_where_it_compares_all_of_mostly_distinct_rows(
    monkeypatch, n, distinct, is_compiled, blocks
):
    rows = np.uint8([[min(i, distinct - 1), 0, 0] for i in range(n)])
    sizes = []
    monkeypatch.setattr(
        search, "is_compiled_for", lambda *given: sizes.append(given) or is_compiled
    )
    monkeypatch.setattr(search.compiled, "load_kernels", lambda: fast)
    monkeypatch.setattr(search, "method", lambda *_: blocks)

    assert search._is_fused(rows, 3) == (is_compiled and distinct == 18 and not blocks)  # noqa: SLF001
    assert sizes == [(n, n, 24)]
    monkeypatch.setattr(search.compiled, "load_kernels", lambda: None)
    assert not search._is_fused(rows, 3)  # noqa: SLF001


@pytest.mark.parametrize("blocks", [0, 4])
@pytest.mark.parametrize("is_loaded", [False, True])
def test_compiled_code_sieves_where_it_compares_all_of_two_sides(monkeypatch, blocks, is_loaded):
    wide, asked = few_bit_rows(1), []
    monkeypatch.setattr(search, "_loaded_for", lambda *sizes: sizes == (30, 50, 64) and is_loaded)
    monkeypatch.setattr(search, "compiled_pairs", lambda *_, **__: ["compiled"])
    monkeypatch.setattr(search, "iter_pairs_between", lambda *_, **__: [])
    monkeypatch.setattr(
        search, "plan", lambda *sizes, **kind: asked.append((sizes, kind)) or blocks
    )

    found = list(iter_near_pairs_between(wide[:30], wide[30:], Reach(64, 3, 20)))

    assert found == (["compiled"] if is_loaded and not blocks else [])
    assert asked == [((80, 64, 3, (30, 50)), {"is_compiled": True})] * is_loaded


@pytest.mark.parametrize(("bits", "k"), [(128, 0), (128, 3), (256, 8), (1024, 20)])
def test_wide_rows_and_small_k_use_the_beginnings_of_blocks(bits, k):
    random = np.random.default_rng(k)
    rows = distinct_rows(random.integers(0, 256, (3000, bits // 8), np.uint8)).rows
    rows = distinct_rows(
        np.concatenate((rows, rows ^ (np.arange(bits // 8) < k).astype(np.uint8)))
    ).rows

    assert plan(100_000, bits, k) > 0
    assert collected(multi_index(rows, k, max(plan(100_000, bits, k), 1))) == collected(
        all_pairs(rows, k)
    )


def test_rows_that_share_most_blocks_are_compared_all_with_all():
    rows = np.zeros((20_000, 8), np.uint8)
    rows[:, :2] = np.random.default_rng(1).integers(0, 256, (20_000, 2), np.uint8)
    rows = distinct_rows(rows).rows

    assert plan(len(rows), 64, 3) > 0
    assert search.method(rows, 3) == 0


@given(fingerprints(), st.integers(0, 140), st.integers(0, 25), st.booleans())
def test_pairs_between_two_sides_match_the_oracle(rows, k, cut, is_indexed):
    left, right = rows[:cut], rows[cut:]
    k = k % 5 if is_indexed else k
    expected = [[i, j - len(left), d] for i, j, d in oracle(rows, k) if i < len(left) <= j]
    before = search.NS_COMPARE, search.NS_COMPILED
    try:
        if is_indexed:
            search.NS_COMPARE = search.NS_COMPILED = 1e9
        found = collected(iter_pairs_between(left, right, k))
    finally:
        search.NS_COMPARE, search.NS_COMPILED = before

    assert found == expected


def test_equal_and_near_rows_on_one_side_are_no_pairs_between_two_sides(monkeypatch, progress):
    monkeypatch.setattr(search, "NS_COMPARE", 1e9)
    monkeypatch.setattr(search, "NS_COMPILED", 1e9)
    left = np.uint8([[1] * 16, [1] * 15 + [2], [1] * 16])
    right = np.full((10_000, 16), 1, np.uint8)
    right[-1, 0] = 0

    pairs = np.concatenate(list(iter_pairs_between(left, right, 3, progress=progress)))

    assert len(np.unique(pairs, axis=0)) == len(pairs) == 30_000
    common, last = pairs[pairs[:, 1] < 9999], pairs[pairs[:, 1] == 9999]
    assert {(i, d) for i, _, d in common.tolist()} == {(0, 0), (1, 2), (2, 0)}
    assert {(i, d) for i, _, d in last.tolist()} == {(0, 1), (1, 3), (2, 1)}
    # Three rows are different; they were looked up in blocks, where the two sides are one.
    assert [total for _, total, _ in progress.phases] == [3]


@pytest.mark.parametrize("shape", ["a hot block", "a chain"])
def test_every_pair_among_thousands_of_skewed_rows_is_found(shape):
    random = np.random.default_rng(4)
    if shape == "a hot block":  # that all rows share, and pairs in the other blocks
        rows = random.integers(0, 256, (12_000, 8), np.uint8)
        rows[:, :2] = 7
        rows[6000:, 2:] = rows[:6000, 2:] ^ np.array([1, 0, 2, 0, 0, 4], np.uint8)
    else:  # every row is one bit from the one before
        flips = 1 << random.integers(0, 64, 12_000, np.uint64)
        rows = np.bitwise_xor.accumulate(flips)[:, None].view(np.uint8)
    rows = distinct_rows(rows).rows

    found = collected(multi_index(rows, 3, plan(1_000_000, 64, 3)))

    assert len(found) >= len(rows) // 2 - 1
    assert found == collected(all_pairs(rows, 3)) == collected(iter_pairs(rows, 3))


@pytest.fixture
def progress():
    """Progress that notes the label, the total and the count of every phase."""

    def counting(items, label, total, amount=None):
        phase = [label, total, 0]
        counting.phases.append(phase)
        for item in items:
            yield item
            phase[2] += 1 if amount is None else amount(item)

    counting.phases = []
    return counting


@pytest.mark.parametrize("tile", [(128, 2048), (7, 50), (1, 1)])
@pytest.mark.usefixtures("each_way")
def test_progress_counts_every_pair_that_is_compared(progress, monkeypatch, tile):
    monkeypatch.setattr(search, "TILE", tile)
    if fast.loaded_kernels():
        monkeypatch.setattr(search, "_tiles", None)  # numpy compares nothing
    monkeypatch.setattr(search, "COLUMNS", tile[1])
    monkeypatch.setattr(search, "CHUNK", 64)  # parts of many pairs are gone on with
    rows = np.random.default_rng(1).integers(0, 4, (150, 8), np.uint8)

    near = collected(all_pairs(rows, 9, progress))
    across = collected(iter_pairs_between(rows[:60], rows[60:], 60, progress=progress))

    assert len(near) > 64
    assert len(across) == 60 * 90
    totals = [150 * 149 // 2, 60 * 90]
    assert progress.phases == [["search", total, total] for total in totals]


def test_of_one_collection_no_tile_below_the_diagonal_is_compared(monkeypatch):
    monkeypatch.setattr(search, "TILE", (4, 8))
    rows = np.zeros((20, 8), np.uint8)

    for is_half in (True, False):
        tiles = search._tiles(rows, rows, 0, search.silent, is_half=is_half)  # noqa: SLF001

        tops = range(0, 20, 4)
        expected = [(top, i) for top in tops for i in range(top if is_half else 0, 20, 8)]
        assert [(top, begin) for top, begin, _ in tiles] == expected
        assert not list(search._tiles(rows, ~rows, 63, search.silent, is_half=is_half))  # noqa: SLF001


@pytest.mark.parametrize(("k", "blocks"), [(3, 4), (4, 4), (7, 2), (0, 1)])
def test_progress_of_multi_index_hashing_ends_at_all_pairs(progress, k, blocks):
    rows = np.random.default_rng(1).integers(0, 256, (200, 8), np.uint8)

    list(multi_index(rows, k, blocks, progress))

    ((label, total, counted),) = progress.phases
    assert (label, total) == ("search", 200 * 199 / 2)
    assert counted == pytest.approx(total)


# The sieve: wider fingerprints that drop pairs which are near by chance.


def few_bit_rows(seed, n=80, copies=0, width=16):
    """Random rows with few bits set, so that many are near; some are repeated."""
    rows = np.random.default_rng(seed).integers(0, 4, (n, width), np.uint8)
    return np.concatenate((rows, rows[:copies]))


def sieved(wide, bits, k, most):
    return collected(iter_near_pairs(wide, Reach(bits, k, most)))


def sieved_oracle(wide, bits, k, most):
    pairs = pairs_within(np.ascontiguousarray(wide[:, : bits // 8]), k)
    return pairs[paired_distances(wide, pairs[:, 0], pairs[:, 1]) <= most].tolist()


CASES = [(8, 3, 9), (64, 12, 25), (64, 64, 128), (128, 30, 30), (16, 0, 40), (64, 5, 0)]


@pytest.mark.parametrize(("bits", "k", "most"), CASES)
@pytest.mark.parametrize("copies", [0, 5, 80])
@pytest.mark.usefixtures("each_way")
def test_the_pairs_that_pass_both_are_found(bits, k, most, copies):
    wide = few_bit_rows(bits + k, copies=copies)

    assert sieved(wide, bits, k, most) == sieved_oracle(wide, bits, k, most)


@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize(("bits", "k", "most"), CASES)
def test_a_fused_search_finds_the_pairs_that_pass_both(monkeypatch, bits, k, most):
    wide = few_bit_rows(bits + k, copies=7)
    expected = sieved_oracle(wide, bits, k, most)
    monkeypatch.setattr(search, "_is_fused", lambda *_: True)
    monkeypatch.setattr(search, "iter_pairs", None)  # no pairs that are near by chance

    assert sieved(wide, bits, k, most) == expected


@given(st.integers(0, 60), st.sampled_from([8, 72, 128]), st.integers(0, 130), st.integers(0, 140))
def test_any_rows_are_sieved_like_those_of_the_oracle(n, bits, k, most):
    wide = few_bit_rows(n, n, n // 3, 17)

    assert sieved(wide, bits, k, most) == sieved_oracle(wide, bits, k, most)


def sieved_between(wide, left, bits, k, most):
    chunks = iter_near_pairs_between(wide[:left], wide[left:], Reach(bits, k, most))
    return collected(pairs + np.array([0, left, 0]) for pairs in chunks)


def oracle_between(wide, left, bits, k, most):
    return [pair for pair in sieved_oracle(wide, bits, k, most) if pair[0] < left <= pair[1]]


@pytest.mark.parametrize(("bits", "k", "most"), CASES)
@pytest.mark.usefixtures("each_way")
def test_the_pairs_between_two_sides_are_found(monkeypatch, bits, k, most):
    wide = few_bit_rows(bits + k, copies=9)

    for left, blocks in ((0, 0), (1, 0), (50, 0), (50, 1), (len(wide), 0)):
        monkeypatch.setattr(search, "plan", lambda *_, chosen=blocks, **__: chosen)
        assert sieved_between(wide, left, bits, k, most) == oracle_between(
            wide, left, bits, k, most
        )


@pytest.mark.parametrize("most", [None, 20])
def test_a_sieve_is_asked_only_where_there_is_one(most):
    wide = few_bit_rows(3)
    i, j = np.triu_indices(len(wide), 1)
    distances = paired_distances(wide, i, j)

    passes = Reach(8, 8, most).passes(wide, i, j)

    assert (distances > 20).any()
    assert passes.tolist() == [most is None or distance <= most for distance in distances]
    found = collected(iter_near_pairs(wide, Reach(8, 8, most)))
    assert len(found) == passes.sum()
    between = iter_near_pairs_between(wide[:9], wide[9:], Reach(8, 8, most))
    assert len(collected(between)) == (passes & (i < 9) & (j >= 9)).sum()
