"""The rounds in which texts are compared and grouped, for the local engine and for Spark alike.

    candidate pairs -> exact similarities -> families, once -> groups by own share

A search that would give too many pairs is narrowed. Its pairs are grouped, and then only the
representatives are searched again: they are fewer, so the search can go further out. So all
of a collection of look-alikes is found without ever listing all its pairs.
"""

from __future__ import annotations

from collections.abc import Sized
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from simdup.arrays import Distances, Indices
from simdup.match.candidates import affordable_distance, recall, search_distance
from simdup.records import Candidates
from simdup.settings import Settings

# Each round leaves a fraction of the representatives; two or three rounds are usual, and more
# than this would mean that they do not become fewer.
ROUNDS = 10

#: Some texts or some pairs: an array, or a frame of Spark with its number of rows.
Some = TypeVar("Some", bound=Sized)
Compared = TypeVar("Compared")
Leaders = TypeVar("Leaders")


@dataclass(frozen=True, slots=True)
class Search(Generic[Some]):
    """The candidate pairs of some texts."""

    k: int | None
    """The distance within which pairs are candidates; None if no distance decides."""
    pairs: Some
    is_complete: bool
    """Whether all candidates are there, so that nothing has to be searched again."""


class Engine(Protocol[Some, Compared, Leaders]):
    """The steps of a round, for texts in arrays of one process or in frames of Spark.

    `Leaders` tells who represents each text, and `Compared` are pairs with exact similarities.
    """

    settings: Settings

    def every_text(self) -> Some:
        """Return all texts."""

    def search(self, active: Some, wanted: int) -> Search[Some]:
        """Return candidate pairs of these texts, as far out as `wanted` bits if affordable."""

    def sampled_distances(self, active: Some, reach: int) -> tuple[Distances | Indices, float]:
        """Return distances of sampled pairs of these texts, and the pairs each one stands for.

        Distances above `reach` may be missing.
        """

    def near_pairs(self, active: Some, k: int) -> Some:
        """Return all pairs of these texts within k bits."""

    def equal_rows(self, active: Some) -> Some:
        """Pair each of these texts with the first one that has the same fingerprint."""

    def compare(self, candidates: Some) -> Compared:
        """Return the candidate pairs that sketches do not rule out, with exact similarities."""

    def prepare_families(self, compared: Compared, reached: int) -> None:
        """Find the families of all texts from the first search, which reached so many bits."""

    def leaders(self, active: Some, compared: Compared) -> Leaders:
        """Group these texts by the pairs that are similar enough and have enough of their own."""

    def is_none_led(self, leaders: Leaders) -> bool:
        """Whether every text represents itself."""

    def follow(self, before: Leaders, found: Leaders) -> tuple[Leaders, int, int]:
        """Move texts to the new representatives that their own representatives have found.

        Texts that are not similar enough to the new representative are free again. Returns
        who represents each text now, how many texts moved, and how many of these are free.
        """

    def representatives(self, leaders: Leaders) -> Some:
        """Return the texts that represent themselves."""


def run_rounds(engine: Engine[Some, Compared, Leaders], wide: int) -> tuple[Leaders, Candidates]:
    """The representative of each text, and how the candidates were found.

    `wide` is the number of bits of the fingerprints that sort out chance candidates.
    """
    settings = engine.settings
    wanted = search_distance(settings.similarity, settings.recipe.bits)
    searched = engine.search(engine.every_text(), wanted)
    compared = engine.compare(searched.pairs)
    engine.prepare_families(compared, wanted if searched.k is None else searched.k)
    now = found = engine.leaders(engine.every_text(), compared)
    distances, decided, freed = [searched.k], len(searched.pairs), 0
    while not (_is_last(engine, searched, found, freed) or len(distances) == ROUNDS):
        active = engine.representatives(now)
        searched = engine.search(active, wanted)
        found = engine.leaders(active, engine.compare(searched.pairs))
        now, moved, freed = engine.follow(now, found)
        distances.append(searched.k)
        decided += len(searched.pairs) + moved
    return now, _candidates(settings, distances, decided, wanted, wide)


def _is_last(
    engine: Engine[Some, Compared, Leaders], searched: Search[Some], found: Leaders, freed: int
) -> bool:
    """Whether a further round would find nothing, after one that freed so many texts."""
    return (searched.is_complete and not freed) or engine.is_none_led(found)


def _candidates(
    settings: Settings, distances: list[int | None], decided: int, wanted: int, wide: int
) -> Candidates:
    """How candidates were found: the distance of each round, and the number of pairs decided."""
    searched = [k for k in distances if k is not None]
    if len(searched) < len(distances):
        return Candidates(pairs=decided)
    # Texts that represent no group are not searched again: a chain through these reaches only
    # as far as the narrowest search.
    k = min(searched) if settings.linkage == "components" else searched[-1]
    chance = recall(settings.similarity, settings.recipe.bits, k, wide)
    return Candidates(decided, k, wanted, chance)


def affordable_search(
    engine: Engine[Some, Compared, Leaders], active: Some, wanted: int
) -> Search[Some]:
    """The pairs of these texts within `wanted` bits, or within fewer if they would be too many."""
    distances, weight = engine.sampled_distances(active, wanted)
    k = affordable_distance(distances, weight, len(active), wanted)
    # Even texts with the same fingerprint may have too many pairs among themselves.
    pairs = engine.near_pairs(active, k) if k or not wanted else engine.equal_rows(active)
    return Search(k, pairs, k == wanted)
