"""simdup.compute.hashing against the same formulas in Python's integers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simdup.compute.hashing import BASE, gram_hashes, mix64, span_hashes, string_hashes
from simdup.text.unicode import code_points

MASK = (1 << 64) - 1


def mixed(x):
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ x >> 27) * 0x94D049BB133111EB & MASK
    return x ^ x >> 31


def polynomial(text):
    return mixed(sum((ord(c) + 1) * BASE**i for i, c in enumerate(text)) & MASK)


def string_hash(text, bits):
    x = ord(text[0]) << 7 if text else 0
    for c in text:
        x = (x * 1000003 ^ ord(c)) & (1 << bits) - 1
    return x ^ len(text)


@given(st.integers(0, MASK))
def test_mix64_is_the_finalizer_of_splitmix64(x):
    assert int(mix64(np.array([x], np.uint64))[0]) == mixed(x)


@given(st.lists(st.text(max_size=6), min_size=1, max_size=6))
def test_a_span_has_the_hash_of_its_text_wherever_it_stands(texts):
    codes, offsets = code_points(texts)

    hashes = span_hashes(codes, offsets[:-1], offsets[1:] - 1)
    assert hashes.tolist() == [polynomial(text) for text in texts]


def test_grams_depend_on_the_order_of_their_tokens():
    tokens = np.array([1, 2, 1], np.uint64)

    first, second = gram_hashes(tokens, np.array([0, 1]), 2)
    assert first != second


@pytest.mark.slow
def test_a_million_different_grams_have_different_hashes():
    tokens = mix64(np.arange(1_000_001, dtype=np.uint64))

    assert len(np.unique(gram_hashes(tokens, np.arange(1_000_000), 2))) == 1_000_000


@pytest.mark.slow
@settings(max_examples=30)
@given(st.lists(st.text(max_size=20), min_size=1, max_size=5))
def test_string_hashes_are_those_of_the_assignment(texts):
    codes, offsets = code_points(texts)

    high, low = string_hashes(codes, offsets[:-1], offsets[1:] - 1)
    whole = [int(a) << 64 | int(b) for a, b in zip(high, low, strict=True)]
    assert whole == [string_hash(text, 128) for text in texts]
    for bits in (16, 32, 64):
        assert [x & (1 << bits) - 1 for x in whole] == [string_hash(text, bits) for text in texts]
