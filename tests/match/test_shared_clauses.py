"""Own shares in collections with much common wording: laws of one kind, contracts of one pool."""

from __future__ import annotations

import numpy as np
import pytest

from simdup.compute.compiled import load_kernels
from simdup.corpus.scan import group_texts
from simdup.fingerprint.features import Features
from simdup.fingerprint.sketch import sketches
from simdup.match.own_share import OwnShares


def laws(rng, texts, shortest=500, longest=20_000, clause=25):
    """The features of texts, half of them in clauses of a shared pool; every fifth is a version.

    Also returns the pairs of a version with its original.
    """
    pool = rng.integers(0, 1 << 63, (2 * texts, clause), np.uint64) << np.uint64(1)
    made, pairs = list[np.ndarray](), list[tuple[int, int]]()
    for number in range(texts):
        if number % 5 == 4:
            original = int(rng.integers(number))
            clauses = made[original].reshape(-1, clause).copy()
            changed = rng.random(len(clauses)) < rng.uniform(0.1, 0.5)
            pairs.append((original, number))
        else:
            size = int(np.exp(rng.uniform(np.log(shortest), np.log(longest)))) // clause
            chosen = rng.choice(len(pool), size, replace=False)
            clauses, changed = pool[chosen], rng.random(size) < 0.5
        own = rng.integers(0, 1 << 63, (int(changed.sum()), clause), np.uint64) << np.uint64(1)
        clauses[changed] = own | np.uint64(1)
        made.append(clauses.ravel())
    offsets = np.cumsum([0, *map(len, made)])
    return Features(np.concatenate(made), None, offsets), np.array(pairs)


def exact_own_shares(features, pairs):
    """The own shares by all features, where each text is a family by itself."""
    _, place, often = np.unique(features.ids, return_inverse=True, return_counts=True)
    weights = [1 / (1 + np.maximum(often - less, 0) / 2) for less in (1, 2)]
    shares = []
    for pair in pairs.tolist():
        one, other = (place[slice(*features.offsets[text : text + 2])] for text in pair)
        both = np.intersect1d(one, other, assume_unique=True)
        common, shared = weights[1][both].sum(), weights[0][both].sum()
        wholes = [weights[0][each].sum() + common - shared for each in (one, other)]
        plain = len(both) / np.sqrt(len(one) * len(other))
        shares.append(common / np.sqrt(wholes[0] * wholes[1]) / plain if len(both) else 1)
    return np.minimum(shares, 1)


def close_shares(texts):
    """The share of pairs, of versions and of any two texts, with own shares within .02."""
    rng = np.random.default_rng(1)
    features, versions = laws(rng, texts)
    others = rng.integers(0, texts, (len(versions), 2))
    pairs = np.concatenate((versions, others[others[:, 0] != others[:, 1]]))

    found = OwnShares.of_all(sketches(features), features.counts, np.arange(texts)).of(pairs)
    return (np.abs(found - exact_own_shares(features, pairs)) <= 0.02).mean()


def test_own_shares_of_laws_are_within_two_hundredths_of_the_exact_ones():
    assert close_shares(400) >= 0.95


@pytest.mark.long
@pytest.mark.slow
def test_own_shares_of_thousands_of_laws_are_so_too():
    load_kernels()
    assert close_shares(3500) >= 0.95


def contracts(rng, number, clauses=40, words=28):
    """Contracts of 20 clauses of one pool each; the last ones are others with three words changed.

    Returns the texts, and for each changed one the place of the other.
    """
    letters = np.array(list("etaoinshrdlu"))
    vocabulary = ["".join(rng.choice(letters, 6)) for _ in range(900)]
    pool = [" ".join(rng.choice(vocabulary, words)) for _ in range(clauses)]
    texts = [" ".join(pool[k] for k in rng.permutation(clauses)[:20]) for _ in range(number)]
    planted = {}
    for place in range(number // 20):
        tokens = texts[place].split()
        for at in rng.choice(len(tokens), 3, replace=False):
            tokens[at] = f"changed{rng.integers(1 << 30)}"
        planted[len(texts)] = place
        texts.append(" ".join(tokens))
    return texts, planted


def apart(texts, planted):
    """The planted pairs that are not in one near-duplicate group."""
    group_of = {}
    for number, group in enumerate(group_texts(texts)):
        group_of |= dict.fromkeys(group.rows, number)
    return [pair for pair in planted.items() if len({group_of.get(each) for each in pair}) > 1]


@pytest.mark.parametrize("seed", range(20))
def test_no_contract_that_is_nearly_the_same_is_lost_among_those_of_one_pool(seed):
    assert not apart(*contracts(np.random.default_rng(seed), 400))


@pytest.mark.long
@pytest.mark.slow
def test_none_is_lost_among_ten_thousand():
    assert not apart(*contracts(np.random.default_rng(0), 10_400))


@pytest.mark.parametrize("seed", range(5))
def test_filled_in_forms_are_still_set_aside(seed):
    rng = np.random.default_rng(seed)
    form = " ".join(f"word{number}" for number in range(60))
    texts = [
        f"{form} " + " ".join(f"n{rng.integers(1 << 40)}" for _ in range(12)) for _ in range(60)
    ]

    grouped = sum(len(group.rows) for group in group_texts(texts))
    assert grouped <= 0.05 * len(texts)
