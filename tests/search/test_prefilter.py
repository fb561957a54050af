"""simdup.search.prefilter: the pairs of a plain search that are near in wider fingerprints too."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdup.compute import compiled as fast
from simdup.search import prefilter as sieved
from simdup.search.hamming import paired_distances
from simdup.search.pairs import pairs_within
from simdup.search.prefilter import iter_sieved_between, iter_sieved_pairs


def rows_of(seed, n=80, copies=0, width=16):
    """Random rows of few bits, so that many are near; some repeated."""
    rows = np.random.default_rng(seed).integers(0, 4, (n, width), np.uint8)
    return np.concatenate((rows, rows[:copies]))


def found_in(wide, bits, k, most):
    chunks = iter_sieved_pairs(wide, bits, k, most)
    pairs = np.concatenate([np.empty((0, 3), np.int64), *chunks])
    return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))].tolist()


def oracle(wide, bits, k, most):
    pairs = pairs_within(np.ascontiguousarray(wide[:, : bits // 8]), k)
    return pairs[paired_distances(wide, pairs[:, 0], pairs[:, 1]) <= most].tolist()


@pytest.fixture
def by_numpy(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    monkeypatch.delitem(sys.modules, "simdup.compute.kernels", raising=False)
    monkeypatch.setattr(fast, "find_spec", lambda _: None)


@pytest.fixture
def compiled():
    pytest.importorskip("numba", reason="needs the extra 'fast'")
    fast.load_kernels()


CASES = [(8, 3, 9), (64, 12, 25), (64, 64, 128), (128, 30, 30), (16, 0, 40), (64, 5, 0)]


@pytest.mark.parametrize(("bits", "k", "most"), CASES)
@pytest.mark.parametrize("copies", [0, 5, 80])
def test_numpy_finds_the_pairs_that_pass_both(by_numpy, bits, k, most, copies):  # noqa: ARG001
    wide = rows_of(bits + k, copies=copies)

    assert found_in(wide, bits, k, most) == oracle(wide, bits, k, most)


@pytest.mark.parametrize(("bits", "k", "most"), CASES)
@pytest.mark.parametrize("copies", [0, 5, 80])
def test_kernels_find_the_pairs_that_pass_both(compiled, bits, k, most, copies):  # noqa: ARG001
    wide = rows_of(bits + k, copies=copies)

    assert found_in(wide, bits, k, most) == oracle(wide, bits, k, most)


@pytest.mark.parametrize(("bits", "k", "most"), CASES)
def test_the_fused_search_finds_them_whatever_is_cheaper(compiled, monkeypatch, bits, k, most):  # noqa: ARG001
    wide = rows_of(bits + k, copies=7)
    monkeypatch.setattr(sieved, "_is_fused", lambda *_: True)

    assert found_in(wide, bits, k, most) == oracle(wide, bits, k, most)


@given(st.integers(0, 60), st.sampled_from([8, 72, 128]), st.integers(0, 130), st.integers(0, 140))
def test_any_rows(n, bits, k, most):
    wide = rows_of(n, n, n // 3, 17)

    assert found_in(wide, bits, k, most) == oracle(wide, bits, k, most)


def test_few_distinct_fingerprints_are_searched_once_each():
    wide = rows_of(1, 200)
    narrow = np.zeros((200, 1), np.uint8)

    assert not sieved._is_fused(narrow, 0)  # noqa: SLF001
    assert found_in(np.concatenate((narrow, wide), axis=1), 8, 0, 20) == oracle(
        np.concatenate((narrow, wide), axis=1), 8, 0, 20
    )


def between(wide, left, bits, k, most):
    chunks = iter_sieved_between(wide[:left], wide[left:], bits, k, most)
    pairs = np.concatenate([np.empty((0, 3), np.int64), *chunks])
    pairs += np.array([0, left, 0])
    return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))].tolist()


def oracle_between(wide, left, bits, k, most):
    return [pair for pair in oracle(wide, bits, k, most) if pair[0] < left <= pair[1]]


@pytest.mark.parametrize(("bits", "k", "most"), CASES)
def test_numpy_finds_those_between_two_sides(by_numpy, bits, k, most):  # noqa: ARG001
    wide = rows_of(bits + k, copies=9)

    assert between(wide, 50, bits, k, most) == oracle_between(wide, 50, bits, k, most)


@pytest.mark.parametrize(("bits", "k", "most"), CASES)
def test_kernels_find_those_between_two_sides(compiled, monkeypatch, bits, k, most):  # noqa: ARG001
    wide = rows_of(bits + k, copies=9)

    for left, blocks in ((0, 0), (1, 0), (50, 0), (50, 1), (len(wide), 0)):
        monkeypatch.setattr(sieved, "plan", lambda *_, chosen=blocks, **__: chosen)
        assert between(wide, left, bits, k, most) == oracle_between(wide, left, bits, k, most)
