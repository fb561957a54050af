"""The rounds in which texts are compared and grouped, for the local engine and for Spark alike.

A search that would give too many pairs is narrowed. Its pairs are grouped, and then only the
representatives are searched again: they are fewer, so the search can go further out. So all
of a collection of look-alikes is found without ever listing all its pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from simdup.match.candidates import affordable_distance, recall, search_distance
from simdup.records import Candidates

if TYPE_CHECKING:
    from collections.abc import Sized

    from simdup.match.candidates import Distances
    from simdup.settings import Settings

# Each round leaves a fraction of the representatives; two or three rounds are usual, and more
# than this would mean that they do not become fewer.
ROUNDS = 10

Active = TypeVar("Active", bound="Sized")
Pairs = TypeVar("Pairs", bound="Sized")
Leaders = TypeVar("Leaders")


class Engine(Protocol[Active, Pairs, Leaders]):
    """The steps of a round, for texts in arrays of one process or in frames of Spark.

    `Active` are the texts that a round compares, and `Leaders` tells who represents each text.
    """

    settings: Settings

    def every_text(self) -> Active:
        """Return all texts."""

    def search(self, active: Active, wanted: int) -> Search[Pairs]:
        """Return candidate pairs of these texts, as far out as `wanted` bits if affordable."""

    def sampled_distances(self, active: Active, reach: int) -> tuple[Distances, float]:
        """Return distances of sampled pairs of these texts, and the pairs each one stands for.

        Distances above `reach` may be missing.
        """

    def near_pairs(self, active: Active, k: int) -> Pairs:
        """Return all pairs of these texts within k bits."""

    def equal_rows(self, active: Active) -> Pairs:
        """Pair each of these texts with the first one that has the same fingerprint."""

    def leaders(self, active: Active, candidates: Pairs) -> Leaders:
        """Group these texts by the candidate pairs that are similar enough."""

    def is_none_led(self, leaders: Leaders) -> bool:
        """Whether every text represents itself."""

    def follow(self, before: Leaders, found: Leaders) -> tuple[Leaders, int, int]:
        """Move texts to the new representatives that their own representatives have found.

        Texts that are not similar enough to the new representative are free again. Returns
        who represents each text now, how many texts moved, and how many of these are free.
        """

    def representatives(self, leaders: Leaders) -> Active:
        """Return the texts that represent themselves."""


@dataclass(frozen=True, slots=True)
class Search(Generic[Pairs]):
    """The candidate pairs of some texts."""

    k: int | None
    """The distance within which pairs are candidates; None if no distance decides."""
    pairs: Pairs
    is_complete: bool
    """Whether all candidates are there, so that nothing has to be searched again."""


@dataclass(frozen=True, slots=True)
class Round(Generic[Leaders]):
    """The outcome of one round of searching and comparing."""

    k: int | None
    """The distance within which pairs were candidates; None if no distance decided."""
    decided: int
    """Pairs whose exact similarity was asked for."""
    leaders: Leaders
    is_last: bool


def run_rounds(engine: Engine[Active, Pairs, Leaders], wide: int) -> tuple[Leaders, Candidates]:
    """The representative of each text, and how the candidates were found.

    `wide` is the number of bits of the fingerprints that sort out chance candidates.
    """
    settings = engine.settings
    wanted = search_distance(settings.similarity, settings.recipe.bits)
    done = _round(engine, engine.every_text(), None, wanted)
    distances, decided = [done.k], done.decided
    while not done.is_last and len(distances) < ROUNDS:
        done = _round(engine, engine.representatives(done.leaders), done.leaders, wanted)
        distances.append(done.k)
        decided += done.decided
    searched = [k for k in distances if k is not None]
    if len(searched) < len(distances):
        return done.leaders, Candidates(pairs=decided)
    # Texts that represent no group are not searched again: a chain through these reaches only
    # as far as the narrowest search.
    k = min(searched) if settings.linkage == "components" else searched[-1]
    chance = recall(settings.similarity, settings.recipe.bits, k, wide)
    return done.leaders, Candidates(decided, k, wanted, chance)


def _round(
    engine: Engine[Active, Pairs, Leaders], active: Active, before: Leaders | None, wanted: int
) -> Round[Leaders]:
    """Search the active texts as far out as is affordable, and group what is found."""
    searched = engine.search(active, wanted)
    found = engine.leaders(active, searched.pairs)
    now, moved, freed = (found, 0, 0) if before is None else engine.follow(before, found)
    is_last = (searched.is_complete and not freed) or engine.is_none_led(found)
    return Round(searched.k, len(searched.pairs) + moved, now, is_last)


def affordable_search(
    engine: Engine[Active, Pairs, Leaders], active: Active, wanted: int
) -> Search[Pairs]:
    """The pairs of these texts within `wanted` bits, or within fewer if they would be too many."""
    distances, weight = engine.sampled_distances(active, wanted)
    k = affordable_distance(distances, weight, len(active), wanted)
    # Even texts with the same fingerprint may have too many pairs among themselves.
    pairs = engine.near_pairs(active, k) if k or not wanted else engine.equal_rows(active)
    return Search(k, pairs, k == wanted)
