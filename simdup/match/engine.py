"""Distinct texts with fingerprints in, groups of texts out.

    distinct texts -> candidate pairs -> exact similarities -> own shares -> groups

Knows nothing of files or rows: callers map texts back to them.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from simdup.arrays import Indices, Mask, Shares, Similarities
from simdup.compute.compiled import load_kernels_if_worth
from simdup.match.candidate_search import CandidateSearch
from simdup.match.candidates import ROUNDS, recall, search_distance
from simdup.match.distinct_texts import Texts
from simdup.match.division import Divided, Search, parts_of
from simdup.match.exclusions import NO_EXCLUSIONS, Exclusions
from simdup.match.grouping import Duplicates, Grouping, Leaders
from simdup.match.groups import members_of
from simdup.match.own_share import FAMILY, OwnShares, estimated_cosines, has_enough
from simdup.match.postings import WORDS_OF_A_VALUE
from simdup.match.recall import Sample
from simdup.match.siblings import OwnShareRule, Siblings
from simdup.match.similarities import ExactSimilarities, FeatureSource, SimilarityCache
from simdup.progress import Progress
from simdup.records import SHORT, Candidates
from simdup.search.distinct import pair_keys
from simdup.search.hamming import paired_distances
from simdup.settings import Settings
from simdup.theory import similarity_at


class TextGroups(NamedTuple):
    """Groups of similar texts, and how they were found.

    groups: The texts of each group, its representative first.
    similarities: How similar each text is to the first of its group, for all groups one after the
        other; NaN where nothing was verified.
    own_shares: The own share of each text and the first of its group, in the same order; NaN if
        unknown.
    shares: The own shares of all texts, for pairs that are asked for later; None if not asked for.
    candidates: None when nothing was verified.
    excluded: Pairs on the user's list that were similar enough otherwise.
    """

    groups: tuple[Indices, ...]
    similarities: Similarities
    own_shares: Shares
    siblings: Siblings
    shares: OwnShares | None
    candidates: Candidates | None
    excluded: int

    def allow(self, pairs: Indices) -> Mask:
        """Which pairs (m, 2) of texts are neither siblings nor of one form; (m,)."""
        if self.shares is None:
            return np.ones(len(pairs), bool)
        n = len(self.shares.family)
        are_siblings = np.isin(pair_keys(pairs, n), pair_keys(self.siblings.pairs, n))
        return ~(are_siblings | self.shares.are_of_one_form(pairs))

    def leaders_of(self, n: int) -> Indices:
        """The first text of the group of each of n texts, or the text itself; (n,)."""
        leader = np.arange(n)
        for members in self.groups:
            leader[members] = members[0]
        return leader


class LocalEngine:
    """Matches texts, all of a collection or some of its parts."""

    def __init__(  # noqa: PLR0913, PLR0917  (the last two have an answer)
        self,
        texts: Texts,
        settings: Settings,
        source: FeatureSource,
        progress: Progress,
        cache: SimilarityCache | None = None,
        exclusions: Exclusions = NO_EXCLUSIONS,
    ) -> None:
        self.texts, self.settings = texts, settings
        self.candidates = CandidateSearch(texts, settings, progress)
        self.exact = ExactSimilarities(texts, settings, source, progress, cache)
        self.own = OwnShareRule(self.candidates, source)
        self.grouping = Grouping(texts, settings, exclusions)

    def groups(self, divided: Divided | None = None) -> TextGroups:
        """The groups, and how candidates were found.

        If these texts are only some parts of a collection, `divided` is what a search among all
        its texts found in them, and `own.shares` must know all its values.
        """
        candidates: Candidates | None = None
        if self.settings.verified:
            if divided is None:
                if (sketches := self.candidates.sketches) is not None:
                    load_kernels_if_worth(words=WORDS_OF_A_VALUE * int(sketches.sizes.sum()))
                self.exact.sample = self._sampled()
            found, candidates = self._in_rounds(divided or self._divided())
            found = self.grouping.divided(self.grouping.none_alone(found))
        else:
            found = self._by_distance(divided)
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

    def _divided(self) -> Divided:
        """Search all texts for candidate pairs, and find the families and parts of all texts."""
        found = self.candidates.search(self.every_text(), self._wanted)
        self._note_proposed(found.pairs)
        pairs = self.candidates.may_be_alike(found.pairs, FAMILY)
        part, sketches = np.zeros(len(self.texts), np.int64), self.candidates.sketches
        if found.k is None and sketches is not None:
            cosines = partial(estimated_cosines, sketches, self.texts.counts)
            part = parts_of(pairs, self.texts.digests, cosines)
            pairs = pairs[part[pairs[:, 0]] == part[pairs[:, 1]]]
        similarities = self.exact.of_candidates(pairs)
        self.own.prepare_families(pairs, similarities, found.k)
        return Divided(found._replace(pairs=pairs), part, similarities, len(found.pairs))

    def _in_rounds(self, divided: Divided) -> tuple[Leaders, Candidates]:
        """The representative of each text, and how the candidates were found.

        The pairs of the first search are grouped, and then only the representatives are searched
        again: they are fewer, so the search can go further out. So all of a collection of
        look-alikes is found without ever listing all its pairs.
        """
        search, moved, freed = divided.search, np.empty(0, np.int64), 0
        now = found = self.leaders(self.every_text(), search.pairs, divided.similarities)
        distances, decided = [search.k], divided.proposed
        while not (search.is_complete and not freed) and len(distances) < ROUNDS:
            active = np.intersect1d(np.union1d(search.unsettled, moved), now.leader)
            active = active[self._has_led(divided.part, found)[active]]
            if not len(active):
                break
            search = self._search(active, divided)
            found = self.leaders(active, *self._compared(search.pairs))
            now, moved, freed = self._follow(now, found)
            distances.append(search.k)
            decided += len(search.pairs) + len(moved)
        return now, self._described(distances, decided)

    def _has_led(self, part: Indices, found: Leaders) -> Mask:
        """Whether each text is in a part in which the last round let a text lead another; (n,)."""
        has_led = np.zeros(len(part), bool)
        has_led[part[found.leader != self.every_text()]] = True
        return has_led[part]

    def _search(self, active: Indices, divided: Divided) -> Search:
        """The candidate pairs of a further round: inside parts, or by distance among all texts."""
        if divided.search.k is None:
            found = self.candidates.inside(active, divided.part)
        else:
            found = self.candidates.search(active, self._wanted)
        self._note_proposed(found.pairs)
        return found

    def _note_proposed(self, pairs: Indices) -> None:
        """Note candidate pairs for the recall of the run."""
        if self.exact.sample is not None:
            self.exact.sample.note_proposed(pairs)

    def _described(self, distances: list[int | None], decided: int) -> Candidates:
        """How candidates were found: the distance of each round, and the pairs decided."""
        searched = [k for k in distances if k is not None]
        if not searched:
            return Candidates(pairs=decided)
        # Texts that represent no group are not searched again: a chain through these reaches only
        # as far as the narrowest search.
        k = min(searched) if self.settings.linkage == "components" else searched[-1]
        similarity, bits = self.settings.similarity, self.settings.recipe.bits
        chance = recall(similarity, bits, k, self.candidates.wide)
        return Candidates(decided, k, self._wanted, chance)

    def _sampled(self) -> Sample | None:
        """A sample of the texts, to measure recall with; None where that would cost too much.

        Without sketches all pairs that are near by chance would have to be read.
        """
        sketches = self.candidates.sketches
        if sketches is None or len(self.texts) < self.settings.limits.measured_from:
            return None
        return Sample(self.texts, sketches, self.settings)

    def _with_recall(self, candidates: Candidates, leader: Indices) -> Candidates:
        """Add to `candidates` the recall that was measured on the sample, if there is a sample."""
        if (sample := self.exact.sample) is None:
            return candidates
        are_duplicates = sample.similar_enough() & self.grouping.exclusions.allows(sample.pairs)
        shares = self.own.shares_of(sample.pairs)
        are_duplicates &= has_enough(shares, sample.similarities, self.settings.own_share)
        recall, sampled = sample.recall(are_duplicates, leader)
        return replace(candidates, recall=recall, sampled=sampled)

    def _near_pairs(self, divided: Divided | None) -> Indices:
        """The pairs within the distance that decides, and confirmed where a text is short."""
        if divided is not None:
            pairs = divided.search.pairs
        else:
            pairs = self.candidates.near_pairs(self.every_text(), self.settings.distance)
        return pairs[self._are_confirmed(pairs)]

    def _by_distance(self, divided: Divided | None) -> Leaders:
        """The representatives by distance."""
        every, bits = self.every_text(), self.settings.recipe.bits
        pairs = self._near_pairs(divided)
        pairs = pairs[self.grouping.allowed(pairs)]
        distances = paired_distances(self.texts.rows, pairs[:, 0], pairs[:, 1])
        leader = self.grouping.represented(every, pairs, np.cos(np.pi / bits * distances))
        unknown = np.full(len(leader), np.nan)
        return Leaders(leader, unknown, unknown)

    def _are_confirmed(self, pairs: Indices) -> Mask:
        """Whether both texts are long, or their exact similarity agrees with their distance; (m,).

        The distance of a short text says too little by itself.
        """
        short = (self.texts.counts[pairs] < SHORT).any(axis=1)
        holds = np.ones(len(pairs), bool)
        least = similarity_at(self.settings.distance, self.settings.recipe.bits)
        holds[short] = self.exact.of(pairs[short]) >= least
        return holds

    def are_near(self, pairs: Indices) -> Mask:
        """Which pairs of texts are near-duplicates, by the rule of the groups; (m,)."""
        if not self.settings.verified:
            i, j = pairs.T
            are_near = paired_distances(self.texts.rows, i, j) <= self.settings.distance
            are_near[are_near] = self._are_confirmed(pairs[are_near])
            return are_near
        similarities = self.exact.of(pairs)
        are_own = has_enough(self.own.shares_of(pairs), similarities, self.settings.own_share)
        return are_own & (similarities >= self.candidates.least(pairs))

    def every_text(self) -> Indices:
        """All texts."""
        return np.arange(len(self.texts))

    @property
    def _wanted(self) -> int:
        """The distance to which candidates are searched, if that is affordable."""
        return search_distance(self.settings.similarity, self.settings.recipe.bits)

    def _compared(self, candidates: Indices) -> tuple[Indices, Similarities]:
        """The candidate pairs that sketches do not rule out, and their exact similarities."""
        pairs = self.candidates.may_be_alike(candidates)
        return pairs, self.exact.of(pairs)

    def leaders(self, active: Indices, pairs: Indices, similarities: Similarities) -> Leaders:
        """Group these texts by the pairs that are near-duplicates."""
        return self.grouping.leaders(active, self._duplicates(pairs, similarities))

    def _duplicates(self, pairs: Indices, similarities: Similarities) -> Duplicates:
        """The pairs that are similar enough, have enough of their own, and are not excluded."""
        are_similar = similarities >= self.candidates.least(pairs)
        pairs, similarities = pairs[are_similar], similarities[are_similar]
        shares = self.own.shares_of(pairs)
        holds = self.own.set_aside(pairs, similarities, shares)
        holds[holds] = self.grouping.allowed(pairs[holds])
        return Duplicates(pairs[holds], similarities[holds], shares[holds])

    def _follow(self, before: Leaders, found: Leaders) -> tuple[Leaders, Indices, int]:
        """Move texts to the new representatives that their own representatives have found.

        Texts that are not similar enough to the new representative are free again. Returns
        who represents each text now, which texts moved, and how many of these are free.
        """
        spokes = self.grouping.spokes(before, found)
        if self.settings.linkage == "star":
            followers = self._duplicates(*self._compared(spokes))
        else:
            unknown = np.full(len(spokes), np.nan)
            followers = Duplicates(spokes, unknown, unknown)
        moved = spokes[:, 0]
        now = self.grouping.follow(before, found, moved, followers)
        return now, moved, len(moved) - len(followers.pairs)
