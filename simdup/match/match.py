"""Distinct texts with fingerprints in, groups of texts out.

    distinct texts -> pairs within reach -> exact similarity decides -> groups

Knows nothing of files or rows: callers map texts back to them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from simdup.errors import TooManyPairsError
from simdup.match.candidates import affordable_distance, reach_of, sample, search_distance
from simdup.match.exclusions import NO_EXCLUSIONS
from simdup.match.groups import (
    NEAR_COPY,
    Precedence,
    closest,
    components,
    leaders,
    lower_of_two,
    members_of,
    with_near_copies,
)
from simdup.match.own_share import (
    FAMILY,
    OwnShares,
    estimated_cosines,
    least_similarity,
    may_be_alike,
)
from simdup.match.postings import BY_DISTANCE, Together, texts_together
from simdup.match.recall import MEASURED_FROM, Sample
from simdup.match.rounds import ROUNDS, Search, affordable_search, run_rounds
from simdup.match.verify import decide
from simdup.records import SHORT, Candidates
from simdup.search.distinct import distinct_numbers, distinct_rows, pair_keys
from simdup.search.hamming import paired_distances
from simdup.search.pairs import MAX_PAIRS, Reach, iter_near_pairs, iter_near_pairs_between
from simdup.theory import similarity_at

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from simdup.fingerprint.features import Features
    from simdup.fingerprint.sketch import Sketches
    from simdup.match.distinct_texts import Texts
    from simdup.match.exclusions import Exclusions
    from simdup.progress import Progress
    from simdup.settings import Settings

    Indices = NDArray[np.int64]
    Similarities = NDArray[np.float64]


class SimilarityCache(Protocol):
    """Similarities that earlier scans computed, by the digests of two texts' features."""

    def similarities(self, left: NDArray[np.uint64], right: NDArray[np.uint64]) -> Similarities:
        """Return the similarity of each pair, NaN for one that is not known."""

    def keep_similarities(
        self, left: NDArray[np.uint64], right: NDArray[np.uint64], values: Similarities
    ) -> None:
        """Remember the similarities of these pairs."""


class FeatureSource(Protocol):
    """Reads texts again for their features, which exact similarities need."""

    def expect(self, texts: Indices) -> None:
        """Announce the texts (ascending) whose features will be asked for next."""

    def features(self, texts: Indices) -> Features:
        """Return the features of these texts, whose numbers ascend."""


class Siblings(NamedTuple):
    """Pairs of texts that are similar enough, but only in what many others share too; each once."""

    pairs: Indices
    """(m, 2): texts, the lower number on the left; in ascending order."""
    similarities: Similarities
    """(m,)"""
    own_shares: Similarities
    """(m,)"""


class TextGroups(NamedTuple):
    """Groups of similar texts, and how they were found."""

    groups: tuple[Indices, ...]
    """The texts of each group, its representative first."""
    similarities: Similarities
    """How similar each text is to the first of its group, for all groups one after the other;
    NaN where nothing was verified."""
    own_shares: Similarities
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


class Leaders(NamedTuple):
    """The representative of each text; arrays by text."""

    leader: Indices
    """The representative, which is the text itself if it is in no group."""
    similarity: Similarities
    """To the representative; NaN where that is not known."""
    own_share: Similarities
    """Of the text and its representative; NaN where that is not known."""


def match(  # noqa: PLR0913  (the last two have an answer)
    texts: Texts,
    settings: Settings,
    source: FeatureSource,
    progress: Progress,
    *,
    cache: SimilarityCache | None = None,
    exclusions: Exclusions = NO_EXCLUSIONS,
) -> TextGroups:
    """The groups of some texts, each of at least two items.

    Similarities in the cache are not computed again.
    """
    return LocalEngine(texts, settings, source, progress, cache, exclusions).groups()


def similarities_of(  # noqa: PLR0913, PLR0917  (as `match`)
    texts: Texts,
    pairs: Indices,
    settings: Settings,
    source: FeatureSource,
    progress: Progress,
    cache: SimilarityCache | None = None,
) -> Similarities:
    """The exact similarities of any pairs (m, 2) of texts, however low; (m,)."""
    engine = LocalEngine(texts, settings, source, progress, cache, NO_EXCLUSIONS)
    return engine.similarities(pairs)


@dataclass(eq=False)
class LocalEngine:
    """Texts in the arrays of this process, and how to compare them; see `rounds.Engine`."""

    texts: Texts
    settings: Settings
    source: FeatureSource
    progress: Progress
    cache: SimilarityCache | None
    exclusions: Exclusions

    def __post_init__(self) -> None:
        """Prepare what all rounds need."""
        self.bits, self.wide = self.settings.recipe.bits, 8 * self.texts.wide.shape[1]
        self.excluded: list[Indices] = []
        # Columns: two texts, their similarity, their own share.
        self.siblings = [np.empty((0, 4))]
        self.shares: OwnShares | None = None
        # Pairs and similarities of near copies, of each round.
        self.near_copies: list[tuple[Indices, Similarities]] = []
        # The distance of the last search; of a search by lists, the distance that was wanted.
        self.reached: int
        # Texts for which a further search may find pairs, if they represent themselves.
        self.unsettled: Indices
        # Copies within one of two sides are no match: there each text counts for one.
        self.is_two_sided = bool(self.texts.is_reference.any())
        self.sample: Sample | None = None
        sizes = np.ones_like(self.texts.sizes) if self.is_two_sided else self.texts.sizes
        self.order = Precedence(sizes, self.texts.content)

    def groups(self) -> TextGroups:
        """The groups, and how candidates were found."""
        if self.settings.verified:
            self.sample = self._sampled()
            found, candidates = run_rounds(self, self.wide)
            found = self._none_alone(found)
        else:
            found, candidates = self._by_distance(), None
        found = self._lower_of_two(found)
        content = self.order.content
        leader, split = self.exclusions.reassign_representatives(found.leader, content)
        self.excluded.append(split)
        candidates = candidates and self._with_recall(candidates, leader)
        groups = members_of(leader, self.texts.rank, self.order.sizes)
        members = np.concatenate([leader[:0], *groups])
        return TextGroups(
            tuple(groups),
            self._similar_to_first(leader, found, members),
            self._own_to_first(leader, found, members),
            self._distinct_siblings(leader),
            self.shares,
            candidates,
            self.exclusions.met(np.concatenate(self.excluded)),
        )

    def _by_distance(self) -> Leaders:
        """The representatives by distance; pairs with a short text need exact similarity as well.

        The distance of a short text says too little by itself.
        """
        every = self.every_text()
        pairs = self.near_pairs(every, self.settings.distance)
        short = (self.texts.counts[pairs] < SHORT).any(axis=1)
        least = similarity_at(self.settings.distance, self.bits)
        holds = np.ones(len(pairs), bool)
        holds[short] = self.similarities(pairs[short]) >= least
        holds[holds] = self._exclude(pairs[holds])
        pairs = pairs[holds]
        distances = paired_distances(self.texts.rows, pairs[:, 0], pairs[:, 1])
        closeness = np.cos(np.pi / self.bits * distances)
        leader = self._represented(every, pairs, closeness)
        unknown = np.full(len(leader), np.nan)
        return Leaders(leader, unknown, unknown)

    def every_text(self) -> Indices:
        """All texts."""
        return np.arange(len(self.texts))

    def _sampled(self) -> Sample | None:
        """A sample of the texts, to measure recall with; None where that would cost too much.

        Without sketches all pairs that are near by chance would have to be read.
        """
        sketches = self._usable_sketches()
        if sketches is None or len(self.texts) < MEASURED_FROM:
            return None
        return Sample(self.texts, sketches, self.settings.similarity)

    def _with_recall(self, candidates: Candidates, leader: Indices) -> Candidates:
        """Add to `candidates` the recall that was measured on the sample, if there is a sample."""
        if self.sample is None:
            return candidates
        pairs = self.sample.pairs
        are_duplicates = self.sample.similar_enough() & self.exclusions.allows(pairs)
        are_duplicates &= self._own_shares(pairs) >= self.settings.own_share
        recall, sampled = self.sample.recall(are_duplicates, leader)
        return replace(candidates, recall=recall, sampled=sampled)

    def search(self, active: Indices, wanted: int) -> Search[Indices]:
        """Candidate pairs of these texts: by what they share, or by distance if that is cheaper."""
        found = self._searched(active, wanted)
        self.reached = wanted if found.k is None else found.k
        if self.sample is not None:
            self.sample.note_proposed(found.pairs)
        return found

    def _searched(self, active: Indices, wanted: int) -> Search[Indices]:
        """The candidate pairs that `search` returns."""
        sketches = self._usable_sketches()
        if sketches is None or len(active) <= BY_DISTANCE:
            self.unsettled = active
            return affordable_search(self, active, wanted)
        found = self._together(sketches, active, self.texts.is_reference[active])
        self.unsettled = found.crowded
        return Search(None, found.pairs, not len(found.crowded))

    def _together(
        self, sketches: Sketches, active: Indices, is_reference: NDArray[np.bool_]
    ) -> Together:
        """The pairs of these texts that share enough; see `texts_together`."""
        order, counts = self.texts.content_order(active), self.texts.counts[active]
        taken = sketches.take(active)
        found = texts_together(taken, counts, order, is_reference, self.progress)
        return Together(active[found.pairs], active[found.crowded])

    def _usable_sketches(self) -> Sketches | None:
        """The sketches, if own shares decide and all features weigh the same; else None."""
        has_equal_weights = self.settings.recipe.has_equal_weights
        return self.texts.sketches if self.settings.own_share and has_equal_weights else None

    def sampled_distances(self, active: Indices, reach: int) -> tuple[NDArray[np.uint16], float]:
        """Distances of sampled pairs that may be candidates, and how many pairs each stands for."""
        active = active[self.texts.content_order(active)]
        references, others = self._sides(active) if self.is_two_sided else (active, active)
        left, right, pairs = sample(len(others), len(references) if self.is_two_sided else None)
        i, j = others[left], references[right]
        passes = reach_of(self.settings, reach, self.wide).passes(self.texts.wide, i, j)
        distances = paired_distances(self.texts.rows, i[passes], j[passes])
        return distances, pairs / max(len(left), 1)

    def near_pairs(self, active: Indices, k: int) -> Indices:
        """Pairs of these texts within k bits that may count: (m, 2)."""
        found, count = [np.empty((0, 2), np.int64)], 0
        for chunk in self._near_pairs(active, k):
            found.append(chunk)
            count += len(chunk)
            if count > MAX_PAIRS:
                advice = "lower -k, raise --similarity, or take more --bits"
                raise TooManyPairsError(f"more than {MAX_PAIRS} pairs within {k} bits; {advice}")
        return np.concatenate(found)

    def _near_pairs(self, active: Indices, k: int) -> Iterator[Indices]:
        """Yield pairs of these texts within k bits, in chunks."""
        reach, wide = reach_of(self.settings, k, self.wide), self.texts.wide
        if self.is_two_sided:
            references, others = self._sides(active)
            sides = wide[others], wide[references]
            for pairs in iter_near_pairs_between(*sides, reach, self.progress):
                yield np.column_stack((others[pairs[:, 0]], references[pairs[:, 1]]))
        else:
            for pairs in iter_near_pairs(wide[active], reach, self.progress):
                yield active[pairs[:, :2]]

    def _sides(self, active: Indices) -> tuple[Indices, Indices]:
        """The references among these texts, and the others."""
        is_reference = self.texts.is_reference[active]
        return active[is_reference], active[~is_reference]

    def equal_rows(self, active: Indices) -> Indices:
        """Pair each of these texts with the first one that has the same fingerprint: (m, 2)."""
        if self.is_two_sided:
            return self.near_pairs(active, 0)
        return self._spokes(active)

    def _spokes(self, active: Indices) -> Indices:
        """Pair each text with the first one of the same fingerprint, of either side: (m, 2)."""
        active = active[self.texts.content_order(active)]
        distinct = distinct_rows(self.texts.rows[active])
        first = np.repeat(distinct.members[distinct.offsets[:-1]], distinct.sizes)
        spokes = active[np.column_stack((first, distinct.members))]
        return spokes[spokes[:, 0] != spokes[:, 1]]

    def leaders(self, active: Indices, candidates: Indices) -> Leaders:
        """Group these texts by the candidate pairs that are similar enough."""
        pairs, similarities, shares = self._similar(candidates)
        is_near = similarities >= NEAR_COPY
        self.near_copies.append((pairs[is_near], similarities[is_near]))
        leader = self._represented(active, pairs, similarities)
        similarity, own_share = np.full((2, len(leader)), np.nan)
        for member, other in (pairs.T, pairs.T[::-1]):
            is_led = leader[member] == other
            similarity[member[is_led]] = similarities[is_led]
            own_share[member[is_led]] = shares[is_led]
        return Leaders(leader, similarity, own_share)

    def _represented(self, active: Indices, pairs: Indices, closeness: Similarities) -> Indices:
        """The representative of each text by the pairs among the active ones; (n,)."""
        leader, order = self.every_text(), self.order.take(active)
        position = np.empty(len(self.texts), np.int64)
        position[active] = np.arange(len(active))
        local = position[pairs]
        if self.is_two_sided and self.settings.linkage == "star":
            # References stand for groups, and each file goes to the closest.
            found = closest(local, closeness, order.content)
        else:
            found = leaders(local, closeness, self.settings.linkage, order)
        leader[active] = active[found]
        return leader

    def is_none_led(self, leaders: Leaders) -> bool:
        """Whether every text represents itself."""
        return bool((leaders.leader == self.every_text()).all())

    def follow(self, before: Leaders, found: Leaders) -> tuple[Leaders, int, int]:
        """Let texts follow their representatives; see `rounds.Engine`."""
        was_active = before.leader == self.every_text()
        leader = np.where(was_active, found.leader, before.leader)
        similarity = np.where(was_active, found.similarity, before.similarity)
        own_share = np.where(was_active, found.own_share, before.own_share)
        moved = np.flatnonzero(leader[leader] != leader)
        spokes = np.column_stack((moved, leader[leader[moved]]))
        if self.settings.linkage == "star":
            followers, similarities, shares = self._similar(spokes)
        else:
            followers, similarities = spokes, np.full(len(spokes), np.nan)
            shares = similarities
        leader[moved] = moved
        self.unsettled = np.union1d(self.unsettled, moved)
        leader[followers[:, 0]] = followers[:, 1]
        similarity[moved] = own_share[moved] = np.nan
        similarity[followers[:, 0]], own_share[followers[:, 0]] = similarities, shares
        return Leaders(leader, similarity, own_share), len(moved), len(moved) - len(followers)

    def _none_alone(self, found: Leaders) -> Leaders:
        """Group each text that the rounds left alone with a near copy that they moved elsewhere."""
        is_star = self.settings.linkage == "star" and not self.is_two_sided
        if not is_star or len(self.near_copies) == 1:  # one round leaves none alone
            return found
        led = np.flatnonzero(found.leader != self.every_text())
        spokes = np.column_stack((led, found.leader[led]))
        pairs = np.sort(np.concatenate([spokes, *(each for each, _ in self.near_copies)]), axis=1)
        closeness = np.concatenate([found.similarity[led], *(each for _, each in self.near_copies)])
        _, once = np.unique(pairs, axis=0, return_index=True)
        leader = with_near_copies(pairs[once], closeness[once], found.leader, self.order)
        is_known = leader == found.leader
        known = (np.where(is_known, each, np.nan) for each in (found.similarity, found.own_share))
        return Leaders(leader, *known)

    def _lower_of_two(self, found: Leaders) -> Leaders:
        """Let the older text lead each group of two; see `groups.lower_of_two`."""
        if self.is_two_sided and self.settings.linkage == "star":  # references lead
            return found
        leader = lower_of_two(found.leader, self.texts.rank, self.order.sizes)
        # The similarity and the own share of the other text are those of the pair.
        known = np.where(leader == found.leader, np.arange(len(leader)), leader)
        return Leaders(leader, found.similarity[known], found.own_share[known])

    def representatives(self, leaders: Leaders) -> Indices:
        """The texts that represent themselves, and for which a further search may find pairs."""
        return np.intersect1d(self.unsettled, leaders.leader)

    def _similar(self, pairs: Indices) -> tuple[Indices, Similarities, Similarities]:
        """The pairs that may be in one group, their exact similarities, and their own shares."""
        least = least_similarity(self.settings.similarity, self.texts.counts[pairs].min(axis=1))
        if (usable := self._usable_sketches()) is not None:
            may_be = may_be_alike(usable, self.texts.counts, pairs, least)
            pairs, least = pairs[may_be], least[may_be]
        similarities, sketches = self._verified(pairs), self.texts.sketches
        if self.shares is None and self.settings.own_share and sketches is not None:
            family = components(pairs[similarities >= FAMILY], len(self.texts))
            if self._may_lack_families():
                family = self._sketched_families(sketches, family)
            self.shares = OwnShares(sketches, self.texts.counts, family)
        is_similar = similarities >= least
        pairs, similarities = pairs[is_similar], similarities[is_similar]
        shares = self._own_shares(pairs)
        stays = self._are_alone(pairs, similarities, shares)
        stays[stays] = self._exclude(pairs[stays])
        return pairs[stays], similarities[stays], shares[stays]

    def _verified(self, pairs: Indices) -> Similarities:
        """The exact similarity of each pair; (m,).

        The first call also computes the pairs of the sample, so that texts are read once.
        """
        if self.sample is None or self.sample.is_verified:
            return self.similarities(pairs)
        every = np.concatenate((pairs, self.sample.missing(pairs)))
        similarities = self.similarities(every)
        self.sample.note_similarities(every, similarities)
        return similarities[: len(pairs)]

    def _may_lack_families(self) -> bool:
        """Whether the first search may have left out pairs of one family.

        It has no pairs within one of two sides, none further apart than the distance it was
        narrowed to, and none less similar than asked for.
        """
        is_near = self.reached < search_distance(FAMILY, self.bits)
        return self.is_two_sided or is_near or self.settings.similarity > FAMILY

    def _sketched_families(self, sketches: Sketches, family: Indices) -> Indices:
        """The family of each text, from the known families and from sketches; (n,).

        A search that would give too many pairs is narrowed, as in `rounds`. Then one text of each
        family is searched again.
        """
        n, wanted, counts = len(self.texts), search_distance(FAMILY, self.bits), self.texts.counts
        if n > BY_DISTANCE and self._usable_sketches() is not None:
            pairs = self._together(sketches, self.every_text(), np.zeros(n, bool)).pairs
            pairs = pairs[estimated_cosines(sketches, counts, pairs) >= FAMILY]
            of_family = np.column_stack((self.every_text(), family))
            return components(np.concatenate((of_family, pairs)), n)
        active = order = self.texts.content_order(self.every_text())
        for _ in range(ROUNDS):
            left, right, every = sample(len(active))
            distances = paired_distances(self.texts.rows, active[left], active[right])
            weight = every / max(len(left), 1)
            k = affordable_distance(distances, weight, len(active), wanted)
            known = [np.column_stack((self.every_text(), family))]
            known += [
                pairs[estimated_cosines(sketches, counts, pairs) >= FAMILY]
                for pairs in self._near_family(active, k)
            ]
            family = components(np.concatenate(known), n)
            _, first = np.unique(family[order], return_index=True)
            if k == wanted or len(first) == len(active):
                break
            active = order[np.sort(first)]
        return family

    def _near_family(self, active: Indices, k: int) -> Iterator[Indices]:
        """Yield pairs (m, 2) of these texts, of whichever side, within k bits."""
        if not k:
            yield self._spokes(active)
            return
        for pairs in iter_near_pairs(self.texts.wide[active], Reach(self.bits, k), self.progress):
            yield active[pairs[:, :2]]

    def _are_alone(
        self, pairs: Indices, similarities: Similarities, shares: Similarities
    ) -> NDArray[np.bool_]:
        """Note which of these similar pairs are siblings, and return which of them are not."""
        are_siblings = shares < self.settings.own_share
        noted = np.column_stack((np.sort(pairs, axis=1), similarities, shares))
        self.siblings.append(noted[are_siblings].astype(np.float64))
        return ~are_siblings

    def _distinct_siblings(self, leader: Indices) -> Siblings:
        """The pairs of siblings, each once even if several rounds met it.

        Pairs that a third text brought into one group are left out, and so are excluded pairs.
        """
        met = np.concatenate(self.siblings)
        pairs = met[:, :2].astype(np.int64)
        _, once = np.unique(pair_keys(pairs, len(leader)), return_index=True)
        pairs, met = pairs[once], met[once]
        is_apart = (leader[pairs[:, 0]] != leader[pairs[:, 1]]) & self.exclusions.allows(pairs)
        return Siblings(pairs[is_apart], *met[is_apart, 2:].T)

    def _own_shares(self, pairs: Indices) -> Similarities:
        """The own share of each of these pairs; NaN where it is not asked for; (m,)."""
        if self.shares is None:
            return np.full(len(pairs), np.nan)
        return self.shares.of(pairs)

    def _exclude(self, pairs: Indices) -> NDArray[np.bool_]:
        """Note the excluded ones of these similar pairs, and return which of them may count."""
        is_allowed = self.exclusions.allows(pairs)
        self.excluded.append(pairs[~is_allowed])
        return is_allowed

    def similarities(self, pairs: Indices) -> Similarities:
        """The exact similarity of each pair of texts, which are read again; (m,)."""
        digests = self.texts.digests
        if self.cache is None:
            similarities = np.full(len(pairs), np.nan)
        else:
            similarities = self.cache.similarities(digests[pairs[:, 0]], digests[pairs[:, 1]])
        unknown = np.flatnonzero(np.isnan(similarities))
        i, j = pairs[unknown].T
        self.source.expect(distinct_numbers(pairs[unknown]))
        parts = decide(pairs[unknown], self.texts.counts, self.source.features)
        decided = self.progress(parts, "verify", len(unknown), lambda done: len(done[0]))
        for part, values in decided:
            similarities[unknown[part]] = values
            if self.cache is not None:
                self.cache.keep_similarities(digests[i[part]], digests[j[part]], values)
        return similarities

    def _similar_to_first(self, leader: Indices, found: Leaders, texts: Indices) -> Similarities:
        """How similar these texts are to their representatives, computed where not known; (m,)."""
        if not self.settings.verified:
            return np.full(len(texts), np.nan)
        known = np.where(leader == found.leader, found.similarity, np.nan)
        return _to_first(leader, texts, known, self.similarities)

    def _own_to_first(self, leader: Indices, found: Leaders, texts: Indices) -> Similarities:
        """The own shares of these texts and their representatives; NaN if not asked for; (m,)."""
        if self.shares is None:
            return np.full(len(texts), np.nan)
        known = np.where(leader == found.leader, found.own_share, np.nan)
        return _to_first(leader, texts, known, self.shares.of)


def _to_first(
    leader: Indices,
    texts: Indices,
    known: Similarities,
    measure: Callable[[Indices], Similarities],
) -> Similarities:
    """One value for each of these texts and its representative; (m,).

    It is taken from `known` (n,), or measured where that is NaN; 1 for a text that represents
    itself.
    """
    known[leader == np.arange(len(leader))] = 1
    unknown = texts[np.isnan(known[texts])]
    known[unknown] = measure(np.column_stack((unknown, leader[unknown])))
    return known[texts]
