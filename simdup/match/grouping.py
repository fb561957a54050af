"""Near-duplicate pairs in, the representative of each text out, round by round.

`groups` has the rules. This module carries the representatives from one round to the next.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from simdup.arrays import Floats, Indices, Mask, Shares, Similarities
from simdup.match import groups
from simdup.match.distinct_texts import Texts
from simdup.match.exclusions import Exclusions
from simdup.match.tiers import NEAR_SCORE, pair_scores
from simdup.search.distinct import distinct_numbers, pair_keys
from simdup.settings import Settings


class Duplicates(NamedTuple):
    """Pairs of near-duplicate texts.

    pairs: (m, 2)
    """

    pairs: Indices
    similarities: Similarities
    own_shares: Shares

    def take(self, some: Mask | Indices) -> Duplicates:
        """Return some of these pairs."""
        return Duplicates(self.pairs[some], self.similarities[some], self.own_shares[some])


class Leaders(NamedTuple):
    """The representative of each text; arrays by text.

    leader: The representative, which is the text itself if it is in no group.
    similarity: To the representative; NaN where that is not known.
    own_share: Of the text and its representative; NaN where that is not known.
    """

    leader: Indices
    similarity: Similarities
    own_share: Shares

    def values_of(
        self,
        texts: Indices,
        leader: Indices,
        known: Similarities,
        measure: Callable[[Indices], Similarities] | None,
    ) -> Similarities:
        """One value for each of these texts and its `leader` (n,); (m,).

        It is taken from `known` (n,) if the leader is the same, else measured; 1 for a text that
        represents itself. NaN if nothing can be measured.
        """
        if measure is None:
            return np.full(len(texts), np.nan)
        values = np.where(leader == self.leader, known, np.nan)
        values[leader == np.arange(len(leader))] = 1
        unknown = texts[np.isnan(values[texts])]
        values[unknown] = measure(np.column_stack((unknown, leader[unknown])))
        return values[texts]


class Grouping:
    """Groups texts by near-duplicate pairs, without the pairs that the user excluded."""

    def __init__(self, texts: Texts, settings: Settings, exclusions: Exclusions) -> None:
        self._texts, self._linkage, self.exclusions = texts, settings.linkage, exclusions
        # Features that weigh differently do not tell how much of a text is in another.
        self._counts = texts.counts * settings.recipe.has_equal_weights
        self._every = np.arange(len(texts))
        # Copies within one of two sides are no match: there each text counts for one.
        is_two_sided = bool(texts.is_reference.any())
        #: Whether references represent the groups, and each other text goes to the closest.
        self._is_by_reference = is_two_sided and self._linkage == "star"
        self._is_star = self._linkage == "star" and not is_two_sided
        sizes = np.ones_like(texts.sizes) if is_two_sided else texts.sizes
        self.order = groups.Precedence(sizes, texts.content)
        self._excluded: list[Indices] = []
        # The pairs of each round that are near copies, or near by their score.
        self._close: list[Duplicates] = []

    def allowed(self, pairs: Indices) -> Mask:
        """Note the excluded ones of these similar pairs, and return which of them may count."""
        is_allowed = self.exclusions.allows(pairs)
        self._excluded.append(pairs[~is_allowed])
        return is_allowed

    def leaders(self, active: Indices, found: Duplicates) -> Leaders:
        """Group the active texts by the near-duplicates found among them."""
        is_close = (found.similarities >= groups.NEAR_COPY) | (self._scores(found) >= NEAR_SCORE)
        self._close.append(found.take(is_close))
        return self._led(active, found)

    def _led(self, active: Indices, found: Duplicates) -> Leaders:
        """The representatives of the active texts, with what the pairs say of both."""
        pairs, similarities, shares = found
        leader = self.represented(active, pairs, similarities)
        similarity, own_share = np.full((2, len(leader)), np.nan)
        for member, other in (pairs.T, pairs.T[::-1]):
            is_led = leader[member] == other
            similarity[member[is_led]] = similarities[is_led]
            own_share[member[is_led]] = shares[is_led]
        return Leaders(leader, similarity, own_share)

    def _scores(self, found: Duplicates) -> Floats:
        """The score of each pair (m,), by which it is near or only related; see `tiers`."""
        return pair_scores(found.similarities, found.own_shares, self._counts[found.pairs])

    def represented(self, active: Indices, pairs: Indices, closeness: Similarities) -> Indices:
        """The representative of each text by the pairs among the active ones; (n,)."""
        leader, order = self._every.copy(), self.order.take(active)
        position = np.empty(len(leader), np.int64)
        position[active] = np.arange(len(active))
        local = position[pairs]
        if self._is_by_reference:
            found = groups.closest(local, closeness, order.content)
        else:
            found = groups.leaders(local, closeness, self._linkage, order)
        leader[active] = active[found]
        return leader

    def spokes(self, before: Leaders, found: Leaders) -> Indices:
        """Each text whose representative follows another one now, and that one; (m, 2)."""
        new = found.leader[before.leader]
        moved = np.flatnonzero((before.leader != self._every) & (new != before.leader))
        return np.column_stack((moved, new[moved]))

    def follow(self, before: Leaders, found: Leaders, moved: Indices, to: Duplicates) -> Leaders:
        """Give texts the representatives found for them, or found for their representatives.

        The texts that `moved` represent themselves, unless `to` pairs them with the new one.
        """
        was_active = before.leader == self._every
        now = Leaders(
            *(np.where(was_active, new, old) for new, old in zip(found, before, strict=True))
        )
        followers = to.pairs[:, 0]
        now.leader[moved] = moved
        now.leader[followers] = to.pairs[:, 1]
        now.similarity[moved] = now.own_share[moved] = np.nan
        now.similarity[followers], now.own_share[followers] = to.similarities, to.own_shares
        return now

    def none_alone(self, found: Leaders) -> Leaders:
        """Group each text that the rounds left alone with a near copy that they moved elsewhere."""
        if not self._is_star or len(self._close) == 1:  # one round leaves none alone
            return found
        led = np.flatnonzero(found.leader != self._every)
        spokes = np.column_stack((led, found.leader[led]))
        copies = [each.take(each.similarities >= groups.NEAR_COPY) for each in self._close]
        pairs = np.concatenate([spokes, *(each.pairs for each in copies)])
        closeness = np.concatenate([found.similarity[led], *(each.similarities for each in copies)])
        once = self._once(pairs)
        leader = groups.with_near_copies(pairs[once], closeness[once], found.leader, self.order)
        is_known = leader == found.leader
        known = (np.where(is_known, each, np.nan) for each in (found.similarity, found.own_share))
        return Leaders(leader, *known)

    def _once(self, pairs: Indices) -> Indices:
        """The places of the pairs, each once, whichever of its texts a round named first."""
        return np.unique(pair_keys(pairs, len(self._every)), return_index=True)[1]

    def divided(self, found: Leaders) -> Leaders:
        """Take near texts out of the groups in which no text is near the representative.

        Texts of such a group that are near each other make a group of their own, so that related
        texts hide no versions. A representative that all others left goes with the closest text
        that leads one of the new groups.
        """
        if not self._is_star:
            return found
        is_led = found.leader != self._every
        spokes = np.column_stack((self._every, found.leader))
        scores = self._scores(Duplicates(spokes, found.similarity, found.own_share))
        has_near = np.zeros(len(scores), bool)
        has_near[found.leader[is_led & ~(scores < NEAR_SCORE)]] = True
        is_related = is_led & ~has_near[found.leader]
        close = Duplicates(*map(np.concatenate, zip(*self._close, strict=True)))
        one, other = close.pairs.T
        is_inside = is_related[one] & is_related[other] & (found.leader[one] == found.leader[other])
        inside = close.take(is_inside)
        near = inside.take(self._scores(inside) >= NEAR_SCORE)
        near = near.take(self._once(near.pairs))
        new = self._led(distinct_numbers(near.pairs), near)
        leaves = np.bincount(new.leader)[new.leader] > 1
        made = Leaders(*(np.where(leaves, *each) for each in zip(new, found, strict=True)))
        return self._with_left(found, made, leaves & (made.leader == self._every))

    def _with_left(self, before: Leaders, made: Leaders, is_first: Mask) -> Leaders:
        """Give a representative that all others left the closest of those that are first now."""
        alone = np.bincount(made.leader, minlength=len(made.leader)) == 1
        first = np.flatnonzero(is_first & alone[before.leader])
        first = first[np.lexsort((self.order.content[first], before.similarity[first]))]
        left = before.leader[first]
        made.leader[left] = first
        made.similarity[left] = before.similarity[first]
        made.own_share[left] = before.own_share[first]
        return made

    def lower_of_two(self, found: Leaders) -> Leaders:
        """Let the lower rank lead each group of two; see `groups.lower_of_two`."""
        if self._is_by_reference:
            return found
        leader = groups.lower_of_two(found.leader, self._texts.rank, self.order.sizes)
        # The similarity and the own share of the other text are those of the pair.
        known = np.where(leader == found.leader, self._every, leader)
        return Leaders(leader, found.similarity[known], found.own_share[known])

    def without_excluded(self, found: Leaders) -> tuple[Indices, int]:
        """Representatives that are excluded from no member, and the number of entries met."""
        leader, split = self.exclusions.reassign_representatives(found.leader, self.order.content)
        return leader, self.exclusions.met(np.concatenate([*self._excluded, split]))
