"""simdup.match.division: parts that candidate pairs connect, and pieces of parts too large."""

from __future__ import annotations

import numpy as np
import pytest

from simdup.match import division
from simdup.match.division import pairs_inside, parts_of, salts_of

DIGESTS = np.random.default_rng(1).integers(0, 1 << 64, (60, 2), np.uint64)


def chain(first, last):
    """Pairs of each text with the next one."""
    return np.column_stack((np.arange(first, last), np.arange(first + 1, last + 1)))


def test_a_part_is_what_pairs_connect():
    pairs = np.concatenate((chain(0, 9), chain(20, 22)))

    found = parts_of(pairs, DIGESTS, pytest.fail)

    expected = np.arange(60)
    expected[:10], expected[20:23] = 0, 20
    assert found.tolist() == expected.tolist()


def test_a_part_that_is_too_large_is_cut_where_its_texts_are_least_alike(monkeypatch):
    monkeypatch.setattr(division, "MOST_TEXTS", 20)
    pairs = np.concatenate((chain(0, 29), chain(40, 50)))
    alike = np.where(pairs[:, 0] == 14, 0.55, 0.7)

    found = parts_of(pairs, DIGESTS, lambda asked: alike[asked[:, 0] - 10 * (asked[:, 0] > 29)])

    assert sorted({*found.tolist()} & {*range(30)}) == [0, 15]
    assert set(found[40:51].tolist()) == {40}


def test_a_part_of_copies_that_is_too_large_is_cut_by_digests(monkeypatch):
    monkeypatch.setattr(division, "MOST_TEXTS", 20)

    found = parts_of(chain(0, 59), DIGESTS, lambda asked: np.ones(len(asked)))

    for quarter in range(4):
        (texts,) = np.nonzero(DIGESTS[:, 1] >> np.uint64(62) == quarter)
        assert set(found[texts].tolist()) == {texts[0]}


def test_salts_are_those_of_the_part_whatever_else_is_there():
    part = np.repeat([0, 30], 30)
    order = np.random.default_rng(2).permutation(30)

    salts = salts_of(part, DIGESTS)

    assert len(set(salts.tolist())) == 2
    assert salts_of(part[:30], DIGESTS[30:][order]).tolist() == salts[30:].tolist()


def test_pairs_inside_are_all_pairs_of_a_part():
    texts, part = np.array([5, 2, 9, 7, 1]), np.array([0, 0, 0, 4, 4])

    assert pairs_inside(texts, part).tolist() == [[5, 2], [5, 9], [2, 9], [7, 1]]
    assert pairs_inside(texts[:0], part[:0]).shape == (0, 2)
