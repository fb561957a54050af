"""When texts are searched again, and what is said of the candidates."""

from __future__ import annotations

from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest

from simdup.match.candidate_search import CandidateSearch
from simdup.match.candidates import ROUNDS, recall, search_distance
from simdup.match.division import Divided, Search
from simdup.match.engine import LocalEngine
from simdup.match.grouping import Leaders
from simdup.recipe import Recipe
from simdup.records import Candidates
from simdup.settings import USUAL, Settings

BITS, WIDE = 64, 512

# Texts, each of which is a part by itself, except the first two.
EVERY = np.arange(9)
PART = np.maximum(EVERY, 1)


class Step(NamedTuple):
    """What a search finds, and what comes of it."""

    k: int | None
    pairs: int
    is_complete: bool = True
    moved: int = 0
    freed: int = 0
    is_none_led: bool = False


class Scripted(LocalEngine):
    """An engine to which just these things happen, one a round: the first text leads the second."""

    def __init__(self, *steps, linkage="star", part=None):
        self.settings = Settings(Recipe(bits=BITS), linkage=linkage)
        self.steps, self.searched = iter(steps), []
        self.candidates = SimpleNamespace(wide=WIDE)
        self.part = np.zeros_like(EVERY) if part is None else part

    def every_text(self):
        return EVERY

    def next_search(self):
        self.step = next(self.steps)
        pairs = np.zeros((self.step.pairs, 2), np.int64)
        return Search(pairs, EVERY, self.step.is_complete, self.step.k)

    def _search(self, _, divided):
        assert divided.part is self.part
        return self.next_search()

    def _compared(self, candidates):
        return candidates, np.ones(len(candidates))

    def leaders(self, active, pairs, similarities):
        assert len(pairs) == len(similarities) == self.step.pairs
        self.searched.append(active.tolist())
        leader = EVERY.copy()
        leader[1] = self.step.is_none_led
        return Leaders(leader, None, None)

    def _follow(self, _, found):
        return found, EVERY[: self.step.moved], self.step.freed

    def rounds(self):
        """What the rounds say of the candidates, once all that was to happen was asked for."""
        first = self.next_search()
        divided = Divided(first, self.part, np.ones(len(first.pairs)), len(first.pairs))
        _, candidates = self._in_rounds(divided)
        assert next(self.steps, None) is None
        return candidates


def wanted():
    return search_distance(Settings().similarity, BITS)


def of(k):
    return recall(Settings().similarity, BITS, k, WIDE)


def test_a_complete_search_is_the_only_one():
    engine = Scripted(Step(20, 7))

    assert engine.rounds() == Candidates(7, 20, wanted(), of(20))
    assert engine.searched == [EVERY.tolist()]


def test_a_search_without_a_distance_says_only_how_many_pairs_it_had():
    assert Scripted(Step(None, 7)).rounds() == Candidates(pairs=7)
    assert Scripted(Step(None, 7, is_complete=False), Step(None, 2)).rounds() == Candidates(pairs=9)


def test_representatives_are_searched_until_a_search_is_complete_and_frees_no_text():
    engine = Scripted(
        Step(3, 100, is_complete=False),
        Step(9, 40, is_complete=False, moved=5),
        Step(20, 7, moved=2, freed=1),
        Step(20, 3),
    )

    pairs = 100 + 40 + 5 + 7 + 2 + 3
    assert engine.rounds() == Candidates(pairs, 20, wanted(), of(20))
    assert engine.searched == [EVERY.tolist(), *[[0, *range(2, 9)]] * 3]


def test_only_parts_in_which_a_text_is_led_are_searched_again():
    engine = Scripted(Step(None, 7, is_complete=False), Step(None, 2), part=PART)

    engine.rounds()

    assert engine.searched == [EVERY.tolist(), [0]]


def test_where_no_text_is_led_nothing_is_searched_again():
    engine = Scripted(Step(3, 7, is_complete=False, is_none_led=True))

    assert engine.rounds().pairs == 7


@pytest.mark.parametrize(("linkage", "k"), [("star", 20), ("components", 3)])
def test_chains_are_as_short_as_the_narrowest_search(linkage, k):
    steps = [Step(9, 1, is_complete=False), Step(3, 1, is_complete=False), Step(20, 1)]

    candidates = Scripted(*steps, linkage=linkage).rounds()

    assert (candidates.k, candidates.at_threshold) == (k, of(k))


def test_there_are_so_many_rounds_at_most():
    assert Scripted(*[Step(3, 1, is_complete=False)] * ROUNDS).rounds().pairs == ROUNDS


class TooMany(CandidateSearch):
    """A search among texts that all have one fingerprint, in too many pairs to be listed."""

    limits = USUAL

    def __init__(self):
        pass

    def sampled_distances(self, active, reach):  # noqa: ARG002
        return np.zeros(1000, np.int64), 1e9

    def near_pairs(self, active, k):
        return f"pairs of {len(active)} texts within {k}"

    def equal_rows(self, active):
        return f"equal rows of {len(active)} texts"


@pytest.mark.parametrize(
    ("wanted", "pairs"), [(20, "equal rows of 9 texts"), (0, "pairs of 9 texts within 0")]
)
def test_equal_fingerprints_are_paired_with_the_first_unless_nothing_else_was_wanted(wanted, pairs):
    found = TooMany().affordable(EVERY, wanted)

    assert found == Search(pairs, EVERY, is_complete=wanted == 0, k=0)
