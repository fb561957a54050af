"""simdup.match.verify against cosines of Python dictionaries."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdup.fingerprint.features import Features, all_features
from simdup.match import verify as module
from simdup.match.verify import decide, exact_similarities
from simdup.recipe import Recipe

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("each_way")]

WORDS = st.lists(st.sampled_from("abcdefgh中国日"), max_size=12).map(" ".join)


def weights(text, recipe):
    made = all_features([text], recipe)
    return dict(zip(made.ids.tolist(), made.weights_or_ones.tolist(), strict=True))


def cosine(a, b):
    dot = sum(weight * b.get(feature, 0) for feature, weight in a.items())
    length = sqrt(sum(w * w for w in a.values()) * sum(w * w for w in b.values()))
    return dot / length if length else 0.0


def test_worked_by_hand():
    found = exact_similarities(["a b c d", "a b c e", "x y"], [0, 0, 1], [1, 2, 1], Recipe())

    assert found.tolist() == pytest.approx([2 / 3, 0, 1])


def test_pairs_may_begin_with_any_text_come_in_any_order_and_twice():
    texts = ["x y", "a b c d", "a b c e", "a b"]

    found = exact_similarities(texts, [1, 2, 1, 3, 1, 2], [2, 1, 3, 1, 0, 1], Recipe())
    assert found.tolist() == pytest.approx([2 / 3, 2 / 3, 1 / sqrt(3), 1 / sqrt(3), 0, 2 / 3])
    assert exact_similarities(texts, [1, 1], [1, 3], Recipe()).tolist() == pytest.approx(
        [1, 1 / sqrt(3)]
    )


def test_texts_without_a_feature_have_similarity_0_to_all():
    assert exact_similarities(["", " "], [0, 0], [0, 1], Recipe()).tolist() == [0, 0]
    assert exact_similarities(["", "a"], [0, 1], [1, 0], Recipe()).tolist() == [0, 0]


@pytest.mark.parametrize("kind", ["shingles", "words", "tokens"])
@given(texts=st.lists(WORDS, min_size=1, max_size=6))
def test_similarities_match_the_oracle(kind, texts):
    recipe = Recipe(features=kind)
    i, j = np.triu_indices(len(texts))

    made = [weights(text, recipe) for text in texts]
    expected = [cosine(made[a], made[b]) for a, b in zip(i, j, strict=True)]
    assert exact_similarities(texts, i, j, recipe).tolist() == pytest.approx(expected)


def test_documents_that_follow_each_other_may_be_compared_with_one(monkeypatch):
    monkeypatch.setattr(module, "PRODUCTS_AT_ONCE", 8)
    recipe = Recipe(features="words")
    texts = ["a a b c c c d", "a b b c", "a c c e", "b d d d e", "a b c d e f g h", "c c"]
    made = [weights(text, recipe) for text in texts]

    found = exact_similarities(texts, [2] * 6, range(6), recipe)
    assert found.tolist() == pytest.approx([cosine(made[2], each) for each in made])


def test_no_similarity_is_above_1():
    ids = np.arange(3, dtype=np.uint64)
    rng = np.random.default_rng(0)
    for weights_of_one in rng.uniform(0.01, 1, (200, 3)):
        both = np.concatenate((weights_of_one, weights_of_one * 3))
        features = Features(np.append(ids, ids), both, np.array([0, 3, 6]))
        assert module.cosines(features, np.array([0]), np.array([1]))[0] <= 1


@given(st.lists(WORDS, min_size=1, max_size=6))
def test_a_text_has_similarity_1_to_itself(texts):
    i = np.arange(len(texts))

    found = exact_similarities(texts, i, i, Recipe(features="words"))
    assert found.tolist() == [1.0 if text else 0.0 for text in texts]


def test_no_pairs_have_no_similarities():
    assert exact_similarities(["a"], [], [], Recipe()).shape == (0,)


@given(st.lists(WORDS, min_size=2, max_size=9), st.integers(2, 60), st.integers(1, 30), st.data())
def test_blocks_of_any_size_decide_the_same(texts, at_once, products, data):
    recipe = Recipe()
    i, j = np.triu_indices(len(texts), 1)
    chosen = data.draw(st.lists(st.sampled_from(range(len(i))), unique=True))
    i, j = i[chosen], j[chosen]
    counts = all_features(texts, recipe).counts
    loads = []

    def load(documents):
        loads.append(documents.tolist())
        return all_features([texts[d] for d in documents], recipe)

    before = module.PRODUCTS_AT_ONCE
    try:
        module.PRODUCTS_AT_ONCE = products
        found = np.full(len(i), np.nan)
        for part, similarities in decide(np.column_stack((i, j)), counts, load, at_once):
            found[part] = similarities
    finally:
        module.PRODUCTS_AT_ONCE = before

    assert found.tolist() == exact_similarities(texts, i, j, recipe).tolist()
    assert all(sum(counts[each].tolist()) <= 2 * at_once + 12 for each in loads)


def test_candidates_that_fit_are_loaded_once():
    texts = [f"a b c {i}" for i in range(6)]
    counts = all_features(texts, Recipe()).counts
    i, j = np.array([0, 2, 4, 0]), np.array([1, 3, 5, 5])
    loads = []

    def load(documents):
        loads.extend(documents.tolist())
        return all_features([texts[d] for d in documents], Recipe())

    for _ in decide(np.column_stack((i, j)), counts, load, at_once=30):
        pass
    assert sorted(loads) == list(range(6))


def loads(pairs, n, at_once):
    """The documents loaded to verify pairs of n documents with ten features each."""
    i, j = np.array(pairs).T
    loaded = []

    def load(documents):
        loaded.append(documents.tolist())
        ids = np.arange(10 * len(documents), dtype=np.uint64)
        return Features(ids, None, np.arange(0, len(ids) + 1, 10))

    list(decide(np.column_stack((i, j)), np.full(n, 10), load, at_once))
    return loaded


def test_connected_documents_that_fit_are_in_one_block():
    chains = [(0, 1), (1, 2), (3, 4), (4, 5), (6, 7), (7, 8)]

    assert loads(chains, 9, at_once=80) == [[0, 1, 2, 3, 4, 5], [6, 7, 8]]
    assert loads(chains, 9, at_once=60) == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
    assert loads([(0, 2), (1, 3), (2, 4), (3, 5)], 6, at_once=60) == [[0, 2, 4], [1, 3, 5]]


def test_connected_documents_that_just_fit_are_in_one_block():
    assert loads([(0, 1), (2, 3), (3, 4)], 5, at_once=60) == [[0, 1, 2, 3, 4]]


def test_documents_in_no_pair_are_not_loaded():
    assert loads([(0, 2), (4, 5)], 7, at_once=40) == [[0, 2], [4, 5]]


def test_connected_documents_that_do_not_fit_are_split():
    assert loads([(0, 1), (1, 2)], 3, at_once=40) == [[0, 1], [2]]
    assert loads([(0, 1), (2, 3), (3, 4)], 5, at_once=40) == [[0, 1], [2, 3], [4]]


def test_only_the_candidates_of_another_block_are_loaded():
    # Two large sets that hang together by a single pair.
    loaded = loads([(0, 1), (0, 2), (3, 4), (3, 5), (2, 3)], 6, at_once=60)

    assert sorted(map(len, loaded)) == [1, 3, 3]
