"""simdup.search.distinct: equal rows are one, and the diameter of some rows."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from patience import grows_evenly

from simdup.search import distinct
from simdup.search.distinct import diameter, distinct_rows


@st.composite
def fingerprints(draw):
    """A (n, width) uint8 array of 1 to 30 rows, many of them equal."""
    n, width = draw(st.integers(1, 30)), draw(st.integers(1, 9))
    row = st.binary(min_size=width, max_size=width)
    kinds = draw(st.lists(row, min_size=1, max_size=12))
    rows = draw(st.lists(st.sampled_from(kinds), min_size=n, max_size=n))
    return np.frombuffer(b"".join(rows), np.uint8).reshape(n, width)


def farthest(rows):
    """The largest distance of two rows, by Python's integers."""
    values = [int.from_bytes(row.tobytes(), "big") for row in rows]
    return max((a ^ b).bit_count() for a in values for b in values)


@given(fingerprints())
def test_distinct_rows_are_the_set_of_rows_with_the_places_of_each(rows):
    found = distinct_rows(rows)

    assert {row.tobytes() for row in found.rows} == {row.tobytes() for row in rows}
    assert len(found.rows) == len({row.tobytes() for row in rows})
    for row, (begin, end) in zip(found.rows, pairwise(found.offsets.tolist()), strict=True):
        assert (rows[found.members[begin:end]] == row).all()
        assert (np.diff(found.members[begin:end]) > 0).all()


@given(fingerprints(), st.integers(1, 5))
def test_the_diameter_is_the_largest_distance(rows, block):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(distinct, "BLOCK", block)
        assert diameter(rows) == (farthest(rows), True)


@given(fingerprints(), st.integers(1, 5), st.integers(1, 12))
def test_the_diameter_of_many_distinct_rows_is_a_bound(rows, most, centres):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(distinct, "MOST_COMPARED", most)
        patch.setattr(distinct, "CENTRES", centres)
        found, is_exact = diameter(rows)

    assert is_exact == (len(np.unique(rows, axis=0)) <= most)
    assert farthest(rows) <= found <= min(2 * farthest(rows), 8 * rows.shape[1])


def test_copies_of_few_rows_have_an_exact_diameter():
    rows = np.repeat(np.uint8([[0, 0], [0, 1], [255, 0]]), 100_000, axis=0)

    assert diameter(rows) == (9, True)


def test_the_time_of_a_diameter_grows_with_the_rows_and_not_with_their_square():
    rows = np.random.default_rng(1).integers(0, 256, (320_000, 8), np.uint8)

    assert not diameter(rows[:40_000])[1]
    assert grows_evenly(lambda n: diameter(rows[:n]), len(rows))
