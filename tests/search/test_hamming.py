"""simdup.search.hamming against arithmetic done one pair of Python integers at a time."""

from __future__ import annotations

from fractions import Fraction
from math import comb, cos, pi

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdup.search.hamming import hamming_distances, paired_distances
from simdup.theory import (
    bit_probability,
    chance_distance,
    similarity_at,
    standard_error,
    threshold,
    within_probabilities,
)


@st.composite
def fingerprints(draw, max_rows=12):
    """A (n, width) uint8 array: 0 to 12 rows, 8 to 136 bits wide."""
    n, width = draw(st.integers(0, max_rows)), draw(st.integers(1, 17))
    data = draw(st.binary(min_size=n * width, max_size=n * width))
    return np.frombuffer(data, np.uint8).reshape(n, width)


def oracle(a, b):
    """The number of differing bits of two rows, computed slowly."""
    return (int.from_bytes(a.tobytes(), "big") ^ int.from_bytes(b.tobytes(), "big")).bit_count()


@given(fingerprints())
def test_distances_match_the_oracle(rows):
    expected = [[oracle(a, b) for b in rows] for a in rows]

    every = np.arange(len(rows))

    assert hamming_distances(rows, rows).tolist() == expected
    assert paired_distances(rows, every, every[::-1]).tolist() == [
        oracle(a, b) for a, b in zip(rows, rows[::-1], strict=True)
    ]


def test_different_widths_are_refused_by_name():
    with pytest.raises(ValueError, match="cannot compare fingerprints of 64 and 128 bits"):
        hamming_distances(np.zeros((1, 8), np.uint8), np.zeros((1, 16), np.uint8))


@given(st.sampled_from([8, 16, 64, 128, 1024]), st.data())
def test_the_threshold_of_the_similarity_of_a_distance_is_that_distance(bits, data):
    k = data.draw(st.integers(0, bits))

    assert threshold(similarity_at(k, bits), bits) == k


@pytest.mark.parametrize("bits", [8, 64, 128, 1024])
def test_a_distance_of_half_the_bits_is_a_similarity_of_0(bits):
    assert [similarity_at(each * bits / 2, bits) for each in range(3)] == [1, 0, -1]


def test_a_bit_differs_in_proportion_to_the_angle():
    assert bit_probability(1.0) == 0
    assert bit_probability(-1.0) == 1
    assert bit_probability(cos(pi / 4)) == pytest.approx(0.25)


def test_the_standard_error_is_that_of_a_binomial():
    assert standard_error(cos(pi / 4), 256) == pytest.approx((256 * 0.25 * 0.75) ** 0.5)


def within(p, bits):
    """The probabilities of 0, 1, ... `bits` bits at most, in fractions, which are exact."""
    p, total = Fraction(p), Fraction(0)
    for d in range(bits + 1):
        total += comb(bits, d) * p**d * (1 - p) ** (bits - d)
        yield total


@pytest.mark.slow
@given(st.lists(st.floats(0, 1, width=32), max_size=4), st.sampled_from([1, 8, 64, 130]))
def test_probabilities_match_the_binomial_in_fractions(p, bits):
    found = within_probabilities(np.array(p, np.float64), bits)

    assert found.shape == (len(p), bits + 1)
    for row, each in zip(found, p, strict=True):
        # Relative, but for what is no number any more: below 1e-300.
        expected = [float(total) for total in within(each, bits)]
        assert row == pytest.approx(expected, rel=1e-9, abs=1e-300)


@given(st.floats(0, 1), st.sampled_from([8, 256, 4096]))
def test_probabilities_never_fall_with_the_distance_and_end_at_1(p, bits):
    found = within_probabilities(np.array([p]), bits)[0]

    assert (np.diff(found) >= 0).all()
    assert found.max() <= 1
    assert found[-1] == pytest.approx(1)


@pytest.mark.slow
@given(
    st.floats(-1, 1, width=32),
    st.sampled_from([8, 32, 128]),
    st.sampled_from([1e-9, 1e-5, 0.01, 0.4, 1.0]),
)
def test_the_chance_distance_is_the_largest_within_the_probability(similarity, bits, probability):
    k = chance_distance(similarity, bits, probability)

    exact = list(within(bit_probability(similarity), bits))
    # Where rounding decides, either side will do.
    assert k == 0 or exact[k] <= probability * (1 + 1e-9)
    assert k == bits or exact[k + 1] > probability * (1 - 1e-9)


@pytest.mark.parametrize("k", [0, 5, 31, 64])
def test_a_distance_with_exactly_the_allowed_probability_is_allowed(k):
    within_k = within_probabilities(np.array([bit_probability(0.1)]), 64)[0, k].item()

    assert chance_distance(0.1, 64, within_k) == k


def test_a_chance_distance_is_never_below_0_nor_above_all_bits():
    assert chance_distance(0.99, 64, 1e-5) == 0
    assert chance_distance(0.1, 64, 0.0) == 0
    assert chance_distance(0.1, 64, 1.0) == 64
