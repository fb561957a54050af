"""Distinct texts with fingerprints in, groups of texts out.

    distinct texts -> candidate pairs -> exact similarities -> own shares -> groups

Knows nothing of files or rows: callers map texts back to them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from simdup.arrays import Distances, Indices, Shares, Similarities
from simdup.match.candidate_search import CandidateSearch
from simdup.match.distinct_texts import Texts
from simdup.match.exclusions import NO_EXCLUSIONS, Exclusions
from simdup.match.grouping import Duplicates, Grouping, Leaders
from simdup.match.groups import members_of
from simdup.match.own_share import OwnShares, least_similarity, may_be_alike
from simdup.match.recall import MEASURED_FROM, Sample
from simdup.match.rounds import Search, affordable_search, run_rounds
from simdup.match.siblings import OwnShareRule, Siblings
from simdup.match.similarities import ExactSimilarities, FeatureSource, SimilarityCache
from simdup.progress import Progress
from simdup.records import SHORT, Candidates
from simdup.search.hamming import paired_distances
from simdup.settings import Settings
from simdup.theory import similarity_at


class TextGroups(NamedTuple):
    """Groups of similar texts, and how they were found."""

    groups: tuple[Indices, ...]
    """The texts of each group, its representative first."""
    similarities: Similarities
    """How similar each text is to the first of its group, for all groups one after the other;
    NaN where nothing was verified."""
    own_shares: Shares
    """The own share of each text and the first of its group, in the same order; NaN if unknown."""
    siblings: Siblings
    shares: OwnShares | None
    """The own shares of all texts, for pairs that are asked for later; None if not asked for."""
    candidates: Candidates | None
    """None when nothing was verified."""
    excluded: int
    """Pairs on the user's list that were similar enough otherwise."""

    def leaders_of(self, n: int) -> Indices:
        """The first text of the group of each of n texts, or the text itself; (n,)."""
        leader = np.arange(n)
        for members in self.groups:
            leader[members] = members[0]
        return leader


class Compared(NamedTuple):
    """Candidate pairs that were compared; arrays by pair."""

    pairs: Indices
    """(m, 2)"""
    similarities: Similarities
    least: Similarities
    """The similarity that the lengths of the two texts ask for."""


def find_groups(  # noqa: PLR0913  (the last two have an answer)
    texts: Texts,
    settings: Settings,
    source: FeatureSource,
    progress: Progress,
    *,
    cache: SimilarityCache | None = None,
    exclusions: Exclusions = NO_EXCLUSIONS,
) -> TextGroups:
    """The groups of some texts, each of at least two items."""
    return LocalEngine(texts, settings, source, progress, cache, exclusions).groups()


class LocalEngine:
    """Texts in the arrays of this process, and how to compare them; see `rounds.Engine`."""

    def __init__(  # noqa: PLR0913, PLR0917  (as `find_groups`)
        self,
        texts: Texts,
        settings: Settings,
        source: FeatureSource,
        progress: Progress,
        cache: SimilarityCache | None,
        exclusions: Exclusions,
    ) -> None:
        self.texts, self.settings = texts, settings
        self.candidates = CandidateSearch(texts, settings, progress)
        self.exact = ExactSimilarities(texts, source, progress, cache)
        self.own = OwnShareRule(self.candidates)
        self.grouping = Grouping(texts, settings.linkage, exclusions)
        # Texts for which a further search may find pairs, if they represent themselves.
        self.unsettled = self.every_text()

    def groups(self) -> TextGroups:
        """The groups, and how candidates were found."""
        candidates: Candidates | None = None
        if self.settings.verified:
            self.exact.sample = self._sampled()
            found, candidates = run_rounds(self, self.candidates.wide)
            found = self.grouping.none_alone(found)
        else:
            found = self._by_distance()
        found = self.grouping.lower_of_two(found)
        leader, excluded = self.grouping.without_excluded(found)
        candidates = candidates and self._with_recall(candidates, leader)
        groups = members_of(leader, self.texts.rank, self.grouping.order.sizes)
        members = np.concatenate([leader[:0], *groups])
        measure = self.exact.of if self.settings.verified else None
        own = None if self.own.shares is None else self.own.shares.of
        return TextGroups(
            tuple(groups),
            found.values_of(members, leader, found.similarity, measure),
            found.values_of(members, leader, found.own_share, own),
            self.own.siblings(leader, self.grouping.exclusions),
            self.own.shares,
            candidates,
            excluded,
        )

    def _sampled(self) -> Sample | None:
        """A sample of the texts, to measure recall with; None where that would cost too much.

        Without sketches all pairs that are near by chance would have to be read.
        """
        sketches = self.candidates.sketches
        if sketches is None or len(self.texts) < MEASURED_FROM:
            return None
        return Sample(self.texts, sketches, self.settings.similarity)

    def _with_recall(self, candidates: Candidates, leader: Indices) -> Candidates:
        """Add to `candidates` the recall that was measured on the sample, if there is a sample."""
        if (sample := self.exact.sample) is None:
            return candidates
        are_duplicates = sample.similar_enough() & self.grouping.exclusions.allows(sample.pairs)
        are_duplicates &= self.own.shares_of(sample.pairs) >= self.settings.own_share
        recall, sampled = sample.recall(are_duplicates, leader)
        return replace(candidates, recall=recall, sampled=sampled)

    def _by_distance(self) -> Leaders:
        """The representatives by distance; pairs with a short text need exact similarity as well.

        The distance of a short text says too little by itself.
        """
        every, bits = self.every_text(), self.settings.recipe.bits
        pairs = self.near_pairs(every, self.settings.distance)
        short = (self.texts.counts[pairs] < SHORT).any(axis=1)
        holds = np.ones(len(pairs), bool)
        holds[short] = self.exact.of(pairs[short]) >= similarity_at(self.settings.distance, bits)
        holds[holds] = self.grouping.allowed(pairs[holds])
        pairs = pairs[holds]
        distances = paired_distances(self.texts.rows, pairs[:, 0], pairs[:, 1])
        leader = self.grouping.represented(every, pairs, np.cos(np.pi / bits * distances))
        unknown = np.full(len(leader), np.nan)
        return Leaders(leader, unknown, unknown)

    def every_text(self) -> Indices:
        """All texts."""
        return np.arange(len(self.texts))

    def search(self, active: Indices, wanted: int) -> Search[Indices]:
        """Candidate pairs of these texts: by what they share, or by distance if that is cheaper."""
        together = self.candidates.together(active, self.texts.is_reference[active])
        if together is None:
            self.unsettled, found = active, affordable_search(self, active, wanted)
        else:
            self.unsettled = together.crowded
            found = Search(None, together.pairs, not len(together.crowded))
        if self.exact.sample is not None:
            self.exact.sample.note_proposed(found.pairs)
        return found

    def sampled_distances(self, active: Indices, reach: int) -> tuple[Distances, float]:
        """Distances of sampled pairs that may be candidates, and how many pairs each stands for."""
        return self.candidates.sampled_distances(active, reach)

    def near_pairs(self, active: Indices, k: int) -> Indices:
        """Pairs of these texts within k bits that may count: (m, 2)."""
        return self.candidates.near_pairs(active, k)

    def equal_rows(self, active: Indices) -> Indices:
        """Pair each of these texts with the first one that has the same fingerprint: (m, 2)."""
        return self.candidates.equal_rows(active)

    def compare(self, candidates: Indices) -> Compared:
        """The candidate pairs that sketches do not rule out, with their exact similarities."""
        counts, sketches = self.texts.counts, self.candidates.sketches
        least = least_similarity(self.settings.similarity, counts[candidates].min(axis=1))
        if sketches is not None:
            may_be = may_be_alike(sketches, counts, candidates, least)
            candidates, least = candidates[may_be], least[may_be]
        return Compared(candidates, self.exact.of_candidates(candidates), least)

    def prepare_families(self, compared: Compared, reached: int) -> None:
        """Find the families of all texts, which own shares need."""
        self.own.prepare_families(compared.pairs, compared.similarities, reached)

    def leaders(self, active: Indices, compared: Compared) -> Leaders:
        """Group these texts by the pairs that are near-duplicates."""
        return self.grouping.leaders(active, self._duplicates(compared))

    def _duplicates(self, compared: Compared) -> Duplicates:
        """The pairs that are similar enough, have enough of their own, and are not excluded."""
        are_similar = compared.similarities >= compared.least
        pairs, similarities = compared.pairs[are_similar], compared.similarities[are_similar]
        shares = self.own.shares_of(pairs)
        holds = self.own.set_aside(pairs, similarities, shares)
        holds[holds] = self.grouping.allowed(pairs[holds])
        return Duplicates(pairs[holds], similarities[holds], shares[holds])

    def is_none_led(self, leaders: Leaders) -> bool:
        """Whether every text represents itself."""
        return bool((leaders.leader == self.every_text()).all())

    def follow(self, before: Leaders, found: Leaders) -> tuple[Leaders, int, int]:
        """Let texts follow their representatives; see `rounds.Engine`."""
        spokes = self.grouping.spokes(before, found)
        if self.settings.linkage == "star":
            followers = self._duplicates(self.compare(spokes))
        else:
            unknown = np.full(len(spokes), np.nan)
            followers = Duplicates(spokes, unknown, unknown)
        moved = spokes[:, 0]
        self.unsettled = np.union1d(self.unsettled, moved)
        now = self.grouping.follow(before, found, moved, followers)
        return now, len(moved), len(moved) - len(followers.pairs)

    def representatives(self, leaders: Leaders) -> Indices:
        """The texts that represent themselves, and for which a further search may find pairs."""
        return np.intersect1d(self.unsettled, leaders.leader)
