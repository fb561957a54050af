"""simdup.match.candidates: how far to search for candidates, and what a narrower search loses."""

from __future__ import annotations

from itertools import product
from math import comb

import numpy as np
import pytest

from simdup.match import candidates
from simdup.match.candidates import (
    affordable_distance,
    reach_of,
    recall,
    sample,
    search_distance,
    sieve_distance,
    sieve_recipe,
)
from simdup.recipe import Recipe
from simdup.search.hamming import paired_distances
from simdup.search.pairs import Reach, pairs_within
from simdup.settings import USUAL, Limits, Settings
from simdup.theory import bit_probability, threshold


@pytest.mark.parametrize("similarity", [0.3, 0.5, 0.7, 0.95])
@pytest.mark.parametrize("bits", [16, 64, 128, 256])
def test_a_pair_at_the_threshold_is_more_likely_a_candidate_than_not(similarity, bits):
    k = search_distance(similarity, bits)

    assert threshold(similarity, bits) <= k <= bits
    assert recall(similarity, bits, k) > 0.6


def test_recall_is_the_share_of_all_coin_rows():
    p = bit_probability(0.5)

    rows = [sum(row) for row in product((0, 1), repeat=10)]
    expected = sum(p**d * (1 - p) ** (10 - d) for d in rows if d <= 3)
    assert recall(0.5, 10, 3) == pytest.approx(expected)
    assert recall(0.5, 1024, 1024) == pytest.approx(1)


def test_search_and_sieve_distances_worked_by_hand():
    # At similarity 0.5 a bit differs with probability 1/3: of 512 bits 170.7 differ on average,
    # with a standard error of 10.7.
    assert sieve_distance(0.5, 512) == 170 + 22
    assert search_distance(0.5, 512) == 170 + 21
    # At similarity 0 half of 16 bits differ, with a standard error of 2.
    assert sieve_distance(0.0, 16) == 8 + 4
    assert (
        search_distance(0.0, 16) == 8 + 2
    )  # the second error would bring too many pairs by chance
    assert sieve_distance(-1.0, 16) == search_distance(-1.0, 16) == 16


@pytest.mark.parametrize(("bits", "similarity"), [(8, 0.3), (16, 0.7), (32, 0.45)])
def test_recall_with_a_sieve_is_the_share_of_all_pairs_of_distances(bits, similarity):
    """All pairs of a distance in the first bits and one in the further bits."""
    wide, p = 48, bit_probability(similarity)
    most = sieve_distance(similarity, wide)

    # In 32 bits, two texts may differ more than the sieve lets pass.
    for k in (search_distance(similarity, bits), bits):
        expected = sum(
            comb(bits, d) * comb(wide - bits, e) * p ** (d + e) * (1 - p) ** (wide - d - e)
            for d in range(k + 1)
            for e in range(wide - bits + 1)
            if d + e <= most
        )
        assert recall(similarity, bits, k, wide) == pytest.approx(expected, rel=1e-9)
        assert recall(similarity, bits, k, wide) < recall(similarity, bits, k)


@pytest.mark.parametrize("bits", [64, 128, 256])
def test_recall_with_a_sieve_is_what_simulated_fingerprints_have(bits):
    wide, similarity, n = candidates.SIEVE_BITS, 0.45, 200_000
    k, most = search_distance(similarity, bits), sieve_distance(similarity, wide)

    random, p = np.random.default_rng(3), bit_probability(similarity)
    first, further = random.binomial(bits, p, n), random.binomial(wide - bits, p, n)
    found = ((first <= k) & (first + further <= most)).mean()
    # Five standard errors of that share.
    assert recall(similarity, bits, k, wide) == pytest.approx(found, abs=5 * (0.25 / n) ** 0.5)


def test_at_256_bits_the_sieve_loses_less_than_a_hundredth_of_similar_pairs():
    k = search_distance(0.35, 256)

    assert round(recall(0.35, 256, k), 3) == 0.913
    assert round(recall(0.35, 256, k, 512), 3) == 0.907


def test_a_sieve_of_no_further_bits_costs_nothing():
    for k in (180, 512):  # within all 512 bits is every pair
        assert recall(0.45, 512, k, 512) == recall(0.45, 512, k)


def reach(rows, k, limits=USUAL):
    """The affordable distance for all pairs of rows, as `match` computes it."""
    left, right, pairs = sample(len(rows), None, limits)
    distances = paired_distances(rows, left, right)
    return affordable_distance(distances, pairs / max(len(left), 1), len(rows), k, limits)


def test_a_small_collection_is_never_narrowed():
    rows = np.zeros((1400, 8), np.uint8)

    assert reach(rows, 30) == 30
    assert reach(rows[:0], 30) == 30


def test_the_affordable_distance_worked_by_hand():
    limits = Limits(candidates=10, candidates_per_text=2)
    distances = np.uint16([0, 1, 1, 3, 7, 9])

    # Each distance stands for 3 pairs: 3 within 0, 9 within 1 and 2, 12 within 3, 15 within 7.
    assert affordable_distance(distances, 3, 4, 5, limits) == 2
    assert affordable_distance(distances, 3, 6, 5, limits) == 5  # two a document are 12
    assert affordable_distance(distances, 3, 7, 9, limits) == 6
    assert affordable_distance(distances, 3, 7, 4, limits) == 4
    assert affordable_distance(distances, 20, 4, 5, limits) == 0


def test_a_collection_with_too_many_near_pairs_is_narrowed_to_what_is_affordable():
    rows = np.random.default_rng(1).integers(0, 256, (2000, 8), np.uint8)

    k = reach(rows, 26, Limits(candidates=1000, candidates_per_text=4))
    assert 0 < k < 26
    assert len(pairs_within(rows, k)) < 1.2 * 8000
    assert len(pairs_within(rows, k + 1)) > 0.8 * 8000


def test_samples_are_pairs_of_different_things_and_always_the_same():
    left, right, pairs = sample(3000)

    assert len(left) == candidates.SAMPLE
    assert pairs == 3000 * 2999 // 2
    assert (left != right).all()
    assert (left == sample(3000)[0]).all()
    assert np.unique(left).tolist() == np.unique(right).tolist() == list(range(3000))
    assert ((right - left) % 3000).min() == 1
    assert [len(part) for n in (0, 1, 2) for part in sample(n)[:2]] == [0] * 6


def test_samples_between_two_sides_stay_on_their_sides():
    left, right, pairs = sample(2000, 700)

    assert np.unique(left).tolist() == list(range(2000))
    assert np.unique(right).tolist() == list(range(700))
    assert pairs == 1_400_000
    assert [len(part) for n, m in ((0, 9), (9, 0)) for part in sample(n, m)[:2]] == [0] * 4


def test_pairs_are_sampled_where_there_are_more_than_the_limit():
    for most, size in ((45, 0), (44, candidates.SAMPLE)):
        limits = Limits(candidates=most)
        found = *sample(10, None, limits)[:2], *sample(9, 5, limits)[:2]

        assert [len(part) for part in found] == [size] * 4


def test_a_store_keeps_wide_fingerprints_where_no_sketch_sieves_but_not_with_the_string_hash():
    assert sieve_recipe(Recipe(bits=64)).bits == Recipe().bits
    assert sieve_recipe(Recipe(bits=64, features="tokens")).bits == candidates.SIEVE_BITS
    assert sieve_recipe(Recipe(bits=1024)).bits == 1024
    assert sieve_recipe(Recipe(bits=64, hash="string", features="tokens")).bits == 64


@pytest.mark.parametrize("similarity", [0.45, 0.9])
def test_few_similar_pairs_fail_the_sieve_and_hardly_any_unrelated_pair_passes(similarity):
    k = sieve_distance(similarity, candidates.SIEVE_BITS)

    assert recall(similarity, candidates.SIEVE_BITS, k) > 0.975
    assert recall(0.1, candidates.SIEVE_BITS, k) < 0.001


def test_pairs_are_sieved_where_texts_decide_and_fingerprints_have_further_bits():
    verified, by_distance = Settings(), Settings(verified=False)
    bits, most = verified.recipe.bits, sieve_distance(verified.similarity, 512)

    assert reach_of(verified, 20, 512) == Reach(bits, 20, most)
    assert reach_of(verified, 20, bits) == reach_of(by_distance, 20, 512) == Reach(bits, 20)
