"""simdup.candidates: how far is looked, and what is said when that is not far enough."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from simdup import candidates
from simdup.candidates import affordable, recall, wanted
from simdup.hamming import bit_probability, threshold
from simdup.search import pairs_within


@pytest.mark.parametrize("similarity", [0.3, 0.5, 0.7, 0.95])
@pytest.mark.parametrize("bits", [16, 64, 128, 256])
def test_a_pair_at_the_threshold_is_more_likely_a_candidate_than_not(similarity, bits):
    k = wanted(similarity, bits)

    assert threshold(similarity, bits) <= k <= bits
    assert recall(similarity, bits, k) > 0.6


def test_recall_is_the_share_of_all_coin_rows():
    p = bit_probability(0.5)

    rows = [sum(row) for row in product((0, 1), repeat=10)]
    expected = sum(p**d * (1 - p) ** (10 - d) for d in rows if d <= 3)
    assert recall(0.5, 10, 3) == pytest.approx(expected)
    assert recall(0.5, 1024, 1024) == pytest.approx(1)


def test_a_small_collection_is_never_narrowed():
    rows = np.zeros((1400, 8), np.uint8)

    assert affordable(rows, 30) == 30


def test_a_collection_with_too_many_near_pairs_is_narrowed_to_what_is_affordable(monkeypatch):
    monkeypatch.setattr(candidates, "BUDGET", 1000)
    monkeypatch.setattr(candidates, "BUDGET_PER_DOCUMENT", 4)
    rows = np.random.default_rng(1).integers(0, 256, (2000, 8), np.uint8)

    k = affordable(rows, 26)
    assert 0 < k < 26
    assert len(pairs_within(rows, k)) < 1.2 * 8000
    assert len(pairs_within(rows, k + 1)) > 0.8 * 8000


def test_the_same_rows_are_narrowed_alike(monkeypatch):
    monkeypatch.setattr(candidates, "BUDGET", 1000)
    rows = np.random.default_rng(2).integers(0, 4, (3000, 8), np.uint8)

    assert affordable(rows, 20) == affordable(rows, 20)
