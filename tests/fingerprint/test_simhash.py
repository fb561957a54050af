"""simdup.fingerprint.simhash against a slow twin.

The twin: votes counted one feature and bit at a time, and the seed vectors.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from difficult import difficult_texts
from hypothesis import given, settings
from hypothesis import strategies as st

from simdup.compute.hashing import string_hashes, widened
from simdup.fingerprint import features as features_module
from simdup.fingerprint.features import Features, features
from simdup.fingerprint.simhash import (
    digests,
    fingerprint_chunks,
    fingerprint_texts,
    from_votes,
    votes,
)
from simdup.recipe import Recipe
from simdup.search.hamming import hamming_distances
from simdup.text import chunking as pieces
from simdup.text.jieba_words import keywords
from simdup.text.unicode import code_points

SEEDS = json.loads((Path(__file__).parents[2] / "fixtures/seed_vectors.json").read_text("utf-8"))
WIDTHS = st.integers(1, 128).map(lambda n: 8 * n)
TEXTS = st.lists(difficult_texts(), max_size=6)


def bits_of(row):
    return "".join(map(str, np.unpackbits(row)))


def oracle(made, document, bits):
    """The fingerprint of one document as a string of bits, from integers."""
    part = slice(*made.offsets[document : document + 2])
    if part.start == part.stop:
        return "0" * bits
    sums = [0] * bits
    for own, weight in zip(made.ids[part], made.weights_or_ones[part].tolist(), strict=True):
        words = [own, *(widened(np.array([own]), w)[0] for w in range(1, -(-bits // 64)))]
        stream = "".join(f"{int(word):064b}" for word in words)
        sums = [
            s + (weight if bit == "1" else -weight) for s, bit in zip(sums, stream, strict=False)
        ]
    if not any(sums):
        return "0" * bits
    return "".join("1" if s > 0 or (s == 0 and i % 2) else "0" for i, s in enumerate(sums))


@pytest.mark.slow
@given(TEXTS, WIDTHS, st.sampled_from(["shingles", "tokens"]))
def test_fingerprints_match_the_oracle(texts, bits, kind):
    recipe = Recipe(bits=bits, features=kind)
    made = features(texts, recipe)

    rows = fingerprint_texts(texts, recipe).rows
    assert rows.shape == (len(texts), bits // 8)
    assert [bits_of(row) for row in rows] == [oracle(made, i, bits) for i in range(len(texts))]


def test_a_tie_alternates():
    opposite = np.array([0x0F0F << 48, 0x0FF0 << 48], np.uint64)
    made = Features(opposite, None, np.array([0, 2]))

    row = from_votes(votes(made, 16), made.counts, digests(made), Recipe(bits=16)).rows[0]
    assert bits_of(row) == "00001111" + "01" * 4


def test_a_text_whose_votes_all_tie_has_all_zeros():
    opposite = np.array([0x0F0F << 48, 0xF0F0 << 48], np.uint64)
    made = Features(opposite, None, np.array([0, 2]))

    row = from_votes(votes(made, 16), made.counts, digests(made), Recipe(bits=16)).rows[0]
    assert bits_of(row) == "0" * 16


@pytest.mark.parametrize("hash_kind", ["mix64", "blake2b"])
def test_the_first_bits_of_a_wide_fingerprint_are_the_narrow_one(hash_kind):
    texts = ["会议改在周四下午三点，地点不变。", "a b c d e f g", "x"]

    wide = fingerprint_texts(texts, Recipe(features="words", hash=hash_kind, bits=1024)).rows
    for bits in (8, 24, 64, 72, 128, 512):
        recipe = Recipe(features="words", hash=hash_kind, bits=bits)
        assert (fingerprint_texts(texts, recipe).rows == wide[:, : bits // 8]).all()


def test_the_bits_of_wide_fingerprints_are_balanced_and_independent():
    texts = [" ".join(f"w{i * 37 + j}" for j in range(50)) for i in range(400)]

    bits = np.unpackbits(fingerprint_texts(texts, Recipe(bits=1024)).rows, axis=1)
    share = bits.mean(axis=0)
    assert 0.35 < share.min() < share.max() < 0.65
    columns = 2.0 * bits - 1
    alike = np.abs(columns.T @ columns / len(texts) - np.eye(1024))
    assert alike.max() < 0.35  # 400 coins: five standard deviations are 0.25


@settings(max_examples=20)
@given(st.integers(1, 300), st.integers(1, 40))
def test_the_size_of_a_batch_changes_nothing(piece, batch):
    texts = ["", *(f"文档 {i} says {i % 7} things 和 {i * i}" for i in range(40))]
    expected = fingerprint_texts(texts, Recipe())
    before = pieces.PIECE, pieces.BATCH
    try:
        pieces.PIECE, pieces.BATCH = 100 + piece, batch
        found = fingerprint_texts(texts, Recipe())
    finally:
        pieces.PIECE, pieces.BATCH = before

    assert (found.rows == expected.rows).all()
    assert (found.digests == expected.digests).all()
    assert (found.counts == expected.counts).all()


def test_a_long_text_is_the_sum_of_its_segments(monkeypatch):
    monkeypatch.setattr(pieces, "PIECE", 100)
    monkeypatch.setattr(features_module, "SEGMENT", 200)
    words = [f"w{i % 150}" for i in range(600)]
    recipe = Recipe(ngram=1)

    found = fingerprint_chunks(
        iter([" ".join(words[i : i + 10]) + " " for i in range(0, 600, 10)]), recipe
    )
    parts = [
        features([" ".join(words[i : i + 200][j : j + 20]) for j in range(0, 200, 20)], recipe)
        for i in (0, 200, 400)
    ]
    sums = sum(votes(_distinct(part), recipe.bits) for part in parts)
    assert (
        found.rows.tolist()
        == from_votes(sums, np.array([1]), np.zeros((1, 2)), recipe).rows.tolist()
    )


def _distinct(made):
    """All documents as one, each feature once."""
    ids = np.unique(made.ids)
    return Features(ids, None, np.array([0, len(ids)]))


def test_digests_tell_features_and_weights_apart_but_not_their_order():
    recipe = Recipe(features="tokens")
    made = digests(features(["a b", "b a", "a a b", "a", ""], recipe))

    assert made[0].tolist() == made[1].tolist()
    assert len({tuple(row) for row in made.tolist()}) == 4
    assert made[4].tolist() == [0, 0]


@pytest.mark.parametrize(
    "seed", SEEDS["string_hash"], ids=lambda seed: f"{seed['token']}-{seed['bits']}"
)
def test_seed_string_hash(seed):
    codes, offsets = code_points([seed["token"]])

    high, low = string_hashes(codes, offsets[:-1], offsets[1:] - 1)
    value = (int(high[0]) << 64 | int(low[0])) & (1 << seed["bits"]) - 1
    assert f"{value:0{seed['bits'] // 4}x}" == seed["value_hex"]


@pytest.mark.parametrize(
    "seed", SEEDS["english"], ids=lambda seed: f"{seed['text'][:12]}-{seed['bits']}"
)
def test_seed_english(seed):
    recipe = Recipe(features="tokens", hash="string", bits=seed["bits"])

    row = fingerprint_texts([seed["text"]], recipe).rows[0]
    assert row.tobytes().hex() == seed["fingerprint_hex"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "seed", SEEDS["chinese"], ids=lambda seed: f"{seed['recipe']}-{seed['text'][:6]}"
)
def test_seed_chinese(seed):
    top, weights, bits = seed["recipe"].removeprefix("top").split("-")
    recipe = Recipe(
        features="keywords", hash="string", bits=int(bits), top=int(top), weights=weights
    )

    found = keywords()(seed["text"], int(top))
    assert [[word, round(weight, 6)] for word, weight in found] == seed["keywords"]
    assert bits_of(fingerprint_texts([seed["text"]], recipe).rows[0]) == seed["fingerprint_bits"]


@pytest.mark.parametrize("seed", SEEDS["hamming"], ids=lambda seed: seed["a"])
def test_seed_hamming(seed):
    a, b = (np.packbits([list(map(int, seed[side].zfill(8)))], axis=1) for side in "ab")

    assert hamming_distances(a, b).tolist() == [[seed["distance"]]]
