"""simdup.hamming against arithmetic done one pair of Python integers at a time."""

from __future__ import annotations

from math import cos, pi

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdup.hamming import (
    bit_probability,
    diameter,
    hamming_distances,
    paired_distances,
    similarity_at,
    standard_error,
    threshold,
)


@st.composite
def fingerprints(draw, max_rows=12):
    """A (n, width) uint8 array: 0 to 12 rows, 8 to 136 bits wide."""
    n, width = draw(st.integers(0, max_rows)), draw(st.integers(1, 17))
    data = draw(st.binary(min_size=n * width, max_size=n * width))
    return np.frombuffer(data, np.uint8).reshape(n, width)


def oracle(a, b):
    """Differing bits of two rows: slow, and obviously right."""
    return (int.from_bytes(a.tobytes(), "big") ^ int.from_bytes(b.tobytes(), "big")).bit_count()


def test_worked_by_hand():
    a, b = np.packbits([[0, 0, 0, 0, 1, 1, 1, 1], [1, 0, 0, 0, 1, 1, 1, 0]], axis=1)

    assert hamming_distances(a[None], b[None]).tolist() == [[2]]


@given(fingerprints())
def test_distances_match_the_oracle(rows):
    expected = [[oracle(a, b) for b in rows] for a in rows]

    assert hamming_distances(rows, rows).tolist() == expected
    assert paired_distances(rows, rows[::-1]).tolist() == [
        oracle(a, b) for a, b in zip(rows, rows[::-1], strict=True)
    ]


@given(fingerprints().filter(len), st.integers(1, 5))
def test_the_diameter_is_the_largest_distance(rows, block):
    assert diameter(rows, block) == max(oracle(a, b) for a in rows for b in rows)


def test_different_widths_are_refused_by_name():
    with pytest.raises(ValueError, match="cannot compare fingerprints of 64 and 128 bits"):
        hamming_distances(np.zeros((1, 8), np.uint8), np.zeros((1, 16), np.uint8))


@given(st.sampled_from([8, 16, 64, 128, 1024]), st.data())
def test_the_threshold_of_what_a_distance_stands_for_is_that_distance(bits, data):
    k = data.draw(st.integers(0, bits))

    assert threshold(similarity_at(k, bits), bits) == k


def test_a_bit_differs_in_proportion_to_the_angle():
    assert bit_probability(1.0) == 0
    assert bit_probability(-1.0) == 1
    assert bit_probability(cos(pi / 4)) == pytest.approx(0.25)


def test_the_standard_error_is_that_of_a_binomial():
    assert standard_error(cos(pi / 4), 256) == pytest.approx((256 * 0.25 * 0.75) ** 0.5)
