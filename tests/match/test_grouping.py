"""simdup.match.grouping: groups by pairs of several rounds, which name their texts in any order."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from simdup import Settings
from simdup.match.distinct_texts import Items, distinct_texts
from simdup.match.exclusions import NO_EXCLUSIONS
from simdup.match.grouping import Duplicates, Grouping, Leaders
from simdup.match.groups import NEAR_COPY
from simdup.match.tiers import NEAR_SCORE, pair_scores

# Texts of 100 features: pairs that are near by their score, and pairs that are only related.
NEAR, RELATED = 0.9, 0.4


def grouping(n):
    """A grouping of n different texts."""
    every = np.arange(n)
    digests = np.column_stack((every, every)).astype(np.uint64)
    rows = every[:, None].astype(np.uint8)
    items = Items(rows, np.full(n, 100), digests, every, every < 0)
    return Grouping(distinct_texts(items, 8), Settings(), NO_EXCLUSIONS)


def pairs_of(*listed):
    """Pairs, given as texts and similarity, which are theirs alone."""
    pairs = np.array([pair[:2] for pair in listed]).reshape(-1, 2)
    return Duplicates(pairs, np.array([pair[2] for pair in listed]), np.ones(len(listed)))


def grouped_after(rounds, step, leader):
    """The representatives after a step, where rounds found pairs and gave these representatives."""
    made, every = grouping(len(leader)), np.arange(len(leader))
    for pairs in rounds:
        made.leaders(every, pairs_of(*pairs))
    similarity = np.where(np.array(leader) == every, np.nan, RELATED)
    found = Leaders(np.array(leader), similarity, np.where(similarity > 0, 1, np.nan))
    return getattr(made, step)(found).leader.tolist()


def test_the_pairs_are_near_or_related():
    both = pair_scores(np.array([NEAR, RELATED]), np.ones(2), np.full((2, 2), 100))
    assert NEAR_COPY <= NEAR
    assert (both >= NEAR_SCORE).tolist() == [True, False]


# Text 0 is related to all others, of which each two neighbours are near.
CHAIN = (1, 2), (2, 3), (3, 4)


@pytest.mark.parametrize("swapped", [*product([False, True], repeat=3)])
@pytest.mark.parametrize("again", [CHAIN, CHAIN[:1], CHAIN[2:]])
def test_a_pair_that_two_rounds_found_counts_once(again, swapped):
    once = [(*pair, NEAR) for pair in CHAIN]
    alone = grouped_after([once], "divided", [0] * 5)
    assert alone == [3, 1, 1, 3, 3]

    several = [
        (*(pair[::-1] if is_swapped else pair), NEAR)
        for pair, is_swapped in zip(again, swapped, strict=False)
    ]
    assert grouped_after([once, several], "divided", [0] * 5) == alone
    assert grouped_after([several, once], "divided", [0] * 5) == alone
