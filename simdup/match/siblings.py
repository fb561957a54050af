"""Similar pairs in, siblings set aside: pairs that share only what many other texts have too.

Own shares count families of texts, so the families of all texts are found first.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from simdup.arrays import Indices, Mask, Shares, Similarities
from simdup.fingerprint.sketch import Sketches
from simdup.match.candidate_search import CandidateSearch
from simdup.match.candidates import ROUNDS, affordable_distance, sample, search_distance
from simdup.match.exclusions import Exclusions
from simdup.match.groups import components
from simdup.match.own_share import FAMILY, OwnShares, estimated_cosines
from simdup.search.distinct import pair_keys
from simdup.search.hamming import paired_distances
from simdup.search.pairs import Reach


class Siblings(NamedTuple):
    """Pairs of texts that are similar enough, but only in what many others share too; each once."""

    pairs: Indices
    """(m, 2): texts, the lower number on the left; in ascending order."""
    similarities: Similarities
    own_shares: Shares


class OwnShareRule:
    """Says how much of what two texts share is theirs alone, and notes the siblings."""

    def __init__(self, search: CandidateSearch) -> None:
        self._search, self._texts, self._settings = search, search.texts, search.settings
        self.shares: OwnShares | None = None
        """The own shares of all texts; None if they are not asked for or not prepared."""
        # Columns: two texts, their similarity, their own share.
        self._noted = [np.empty((0, 4))]

    def prepare_families(
        self, pairs: Indices, similarities: Similarities, reached: int | None
    ) -> None:
        """Find the families of all texts, from the pairs of a first search within `reached` bits.

        That search may have left out pairs of one family: it has no pairs within one of two sides,
        and none further apart than the distance it was narrowed to, if distances decide.
        """
        sketches = self._texts.sketches
        if not self._settings.own_share or sketches is None:
            return
        family = components(pairs[similarities >= FAMILY], len(self._texts))
        is_narrow = reached is not None and reached < search_distance(FAMILY, self._search.bits)
        if is_narrow or self._search.is_two_sided:
            family = self._searched_families(sketches, family)
        self.shares = OwnShares(sketches, self._texts.counts, family)

    def _searched_families(self, sketches: Sketches, family: Indices) -> Indices:
        """The family of each text, from the known families and from sketches; (n,).

        A search that would give too many pairs is narrowed, as in `rounds`. Then one text of each
        family is searched again.
        """
        every = np.arange(len(self._texts))
        together = self._search.together(every, np.zeros(len(every), bool))
        if together is not None:
            return self._joined(sketches, family, [together.pairs])
        wanted = search_distance(FAMILY, self._search.bits)
        active = order = self._texts.content_order(every)
        for _ in range(ROUNDS):
            k = self._affordable(active, wanted)
            family = self._joined(sketches, family, self._near(active, k))
            _, first = np.unique(family[order], return_index=True)
            if k == wanted or len(first) == len(active):
                break
            active = order[np.sort(first)]
        return family

    def _affordable(self, active: Indices, wanted: int) -> int:
        """The largest distance up to `wanted` within which these texts have few enough pairs."""
        left, right, every = sample(len(active))
        distances = paired_distances(self._texts.rows, active[left], active[right])
        return affordable_distance(distances, every / max(len(left), 1), len(active), wanted)

    def _near(self, active: Indices, k: int) -> Iterable[Indices]:
        """The pairs (m, 2) of these texts, of whichever side, within k bits, in chunks."""
        if k:
            return self._search.near_on_one_side(active, Reach(self._search.bits, k))
        return [self._search.spokes(active)]

    def _joined(self, sketches: Sketches, family: Indices, found: Iterable[Indices]) -> Indices:
        """The families, joined by the found pairs whose sketches are alike enough; (n,)."""
        known = [np.column_stack((np.arange(len(family)), family))]
        for pairs in found:
            cosines = estimated_cosines(sketches, self._texts.counts, pairs)
            known.append(pairs[cosines >= FAMILY])
        return components(np.concatenate(known), len(family))

    def shares_of(self, pairs: Indices) -> Shares:
        """The own share of each of these pairs; NaN where it is not asked for; (m,)."""
        return np.full(len(pairs), np.nan) if self.shares is None else self.shares.of(pairs)

    def set_aside(self, pairs: Indices, similarities: Similarities, shares: Shares) -> Mask:
        """Note which of these similar pairs are siblings, and return which are not; (m,)."""
        are_siblings = shares < self._settings.own_share
        noted = np.column_stack((np.sort(pairs, axis=1), similarities, shares))
        self._noted.append(noted[are_siblings].astype(np.float64))
        return ~are_siblings

    def siblings(self, leader: Indices, exclusions: Exclusions) -> Siblings:
        """The pairs of siblings, each once even if several rounds met it.

        Pairs that a third text brought into one group are left out, and so are excluded pairs.
        """
        met = np.concatenate(self._noted)
        pairs = met[:, :2].astype(np.int64)
        _, once = np.unique(pair_keys(pairs, len(leader)), return_index=True)
        pairs, met = pairs[once], met[once]
        is_apart = (leader[pairs[:, 0]] != leader[pairs[:, 1]]) & exclusions.allows(pairs)
        return Siblings(pairs[is_apart], *met[is_apart, 2:].T)
