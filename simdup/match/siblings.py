"""Similar pairs in, siblings set aside: pairs that share only what many other texts have too.

Own shares count families of texts, so the families of all texts are found first. The texts of a
form are no family, and no pair of them is kept, unless the two are versions; see `forms`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from simdup.arrays import Indices, Mask, Shares, Similarities
from simdup.fingerprint.sketch import Sketches
from simdup.match.candidate_search import CandidateSearch
from simdup.match.candidates import ROUNDS, search_distance
from simdup.match.exclusions import Exclusions
from simdup.match.forms import forms_of, may_have_forms
from simdup.match.groups import components
from simdup.match.own_share import FAMILY, OwnShares, estimated_cosines, has_enough
from simdup.match.similarities import FeatureSource
from simdup.search.distinct import pair_keys


class Siblings(NamedTuple):
    """Pairs of texts that are similar enough, but only in what many others share too; each once.

    pairs: (m, 2): texts, the lower number on the left; in ascending order.
    """

    pairs: Indices
    similarities: Similarities
    own_shares: Shares


class OwnShareRule:
    """Says how much of what two texts share is theirs alone, and notes the siblings."""

    def __init__(self, search: CandidateSearch, source: FeatureSource) -> None:
        self._search, self._texts, self._settings = search, search.texts, search.settings
        self._source = source
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
        sketches, large = self._texts.sketches, self._texts.large
        if not may_have_forms(self._settings) or sketches is None or large is None:
            return
        family = components(pairs[similarities >= FAMILY], len(self._texts))
        is_narrow = reached is not None and reached < search_distance(FAMILY, self._search.bits)
        if is_narrow or self._search.is_two_sided:
            family = self._searched_families(sketches, family)
        similar = pairs, similarities
        form, family = forms_of(self._texts, large, family, similar, self._source)
        self.shares = OwnShares.of_all(large, self._texts.counts, family)
        self.shares.form = form

    def _searched_families(self, sketches: Sketches, family: Indices) -> Indices:
        """The family of each text, from the known families and from sketches; (n,).

        The search is by one side, whatever sides there are. One that would give too many pairs is
        narrowed, and then one text of each family is searched again.
        """
        texts = replace(self._texts, is_reference=np.zeros(len(self._texts), bool))
        search = CandidateSearch(
            texts, replace(self._settings, similarity=FAMILY), self._search.progress
        )
        wanted = search_distance(FAMILY, self._search.bits)
        active = order = texts.content_order(np.arange(len(texts)))
        for _ in range(ROUNDS):
            found = search.search(active, wanted)
            family = self._joined(sketches, family, found.pairs)
            _, first = np.unique(family[order], return_index=True)
            if found.k in {None, wanted} or len(first) == len(active):
                break
            active = order[np.sort(first)]
        return family

    def _joined(self, sketches: Sketches, family: Indices, found: Indices) -> Indices:
        """The families, joined by the found pairs whose sketches are alike enough; (n,)."""
        cosines = estimated_cosines(sketches, self._texts.counts, found)
        known = np.column_stack((np.arange(len(family)), family))
        return components(np.concatenate((known, found[cosines >= FAMILY])), len(family))

    def shares_of(self, pairs: Indices) -> Shares:
        """The own share of each of these pairs; NaN where it is not asked for; (m,)."""
        return np.full(len(pairs), np.nan) if self.shares is None else self.shares.of(pairs)

    def set_aside(self, pairs: Indices, similarities: Similarities, shares: Shares) -> Mask:
        """Note which of these similar pairs are siblings, and return which are not; (m,)."""
        are_siblings = ~has_enough(shares, similarities, self._settings.own_share)
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
