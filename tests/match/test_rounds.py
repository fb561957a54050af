"""simdup.match.rounds: when texts are searched again, and what is said of the candidates."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from simdup.match.candidates import recall, search_distance
from simdup.match.rounds import ROUNDS, Search, affordable_search, run_rounds
from simdup.recipe import Recipe
from simdup.records import Candidates
from simdup.settings import Settings

BITS, WIDE = 64, 512


class Step(NamedTuple):
    """What a search finds, and what comes of it."""

    k: int | None
    pairs: int
    is_complete: bool = True
    moved: int = 0
    freed: int = 0
    is_none_led: bool = False


class Scripted:
    """An engine to which just these things happen, one a round; leaders are the round's number."""

    def __init__(self, *steps, linkage="star"):
        self.settings = Settings(Recipe(bits=BITS), linkage=linkage)
        self.steps, self.searched, self.reached = iter(steps), [], []

    def every_text(self):
        return "every text"

    def search(self, active, wanted):
        assert wanted == search_distance(self.settings.similarity, BITS)
        self.searched.append(active)
        self.step = next(self.steps)
        return Search(self.step.k, range(self.step.pairs), self.step.is_complete)

    def compare(self, candidates):
        return f"{len(candidates)} similarities"

    def prepare_families(self, compared, reached):
        assert compared == f"{self.step.pairs} similarities"
        self.reached.append(reached)

    def leaders(self, active, compared):
        assert (active, compared) == (self.searched[-1], f"{self.step.pairs} similarities")
        return len(self.searched)

    def is_none_led(self, leaders):
        assert leaders == len(self.searched)
        return self.step.is_none_led

    def follow(self, before, found):
        assert before == found - 1
        return found, self.step.moved, self.step.freed

    def representatives(self, leaders):
        return f"representatives of {leaders}"


def said(engine):
    """What `run_rounds` returns, once it has asked for all that was to happen."""
    found = run_rounds(engine, WIDE)
    assert next(engine.steps, None) is None
    return found


def wanted():
    return search_distance(Settings().similarity, BITS)


def of(k):
    return recall(Settings().similarity, BITS, k, WIDE)


def test_a_complete_search_is_the_only_one():
    engine = Scripted(Step(20, 7))

    assert said(engine) == (1, Candidates(7, 20, wanted(), of(20)))
    assert engine.searched == ["every text"]


def test_a_search_without_a_distance_says_only_how_many_pairs_it_had():
    assert said(Scripted(Step(None, 7))) == (1, Candidates(pairs=7))
    assert said(Scripted(Step(3, 7, is_complete=False), Step(None, 2))) == (2, Candidates(pairs=9))


def test_representatives_are_searched_until_a_search_is_complete_and_frees_no_text():
    engine = Scripted(
        Step(3, 100, is_complete=False),
        Step(9, 40, is_complete=False, moved=5),
        Step(20, 7, moved=2, freed=1),
        Step(20, 3),
    )

    leaders, candidates = said(engine)

    assert leaders == 4
    assert candidates == Candidates(100 + 40 + 5 + 7 + 2 + 3, 20, wanted(), of(20))
    assert engine.searched == ["every text", *(f"representatives of {n}" for n in (1, 2, 3))]
    assert engine.reached == [3]  # families are those of the first search


def test_where_no_text_is_led_nothing_is_searched_again():
    assert said(Scripted(Step(3, 7, is_complete=False, is_none_led=True)))[0] == 1


@pytest.mark.parametrize(("linkage", "k"), [("star", 20), ("components", 3)])
def test_chains_are_as_short_as_the_narrowest_search(linkage, k):
    steps = [Step(9, 1, is_complete=False), Step(3, 1, is_complete=False), Step(20, 1)]

    _, candidates = said(Scripted(*steps, linkage=linkage))

    assert (candidates.k, candidates.at_threshold) == (k, of(k))


def test_there_are_so_many_rounds_at_most():
    engine = Scripted(*[Step(3, 1, is_complete=False)] * ROUNDS)

    assert said(engine)[0] == ROUNDS


class TooMany:
    """An engine whose texts all have one fingerprint, in too many pairs to be listed."""

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
    found = affordable_search(TooMany(), range(9), wanted)

    assert found == Search(0, pairs, is_complete=wanted == 0)
