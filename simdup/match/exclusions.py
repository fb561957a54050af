"""Pairs of texts that are no duplicates, whoever said so: they count for nothing, and are counted.

One of the two never represents the other. Both may be in the group of a third text, if each
is like that one: nobody said that it is not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simdup.search.distinct import distinct_numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Indices = NDArray[np.int64]


class Apart:
    """Pairs among n texts, each of which stands for something that was said."""

    def __init__(self, pairs: Indices, said: Indices, n: int) -> None:
        """`pairs` are two texts each, (m, 2); `said` (m,) numbers what each pair stands for."""
        self._n = n
        keys = self._keys(pairs)
        order = np.argsort(keys)
        self._pairs, self._ordered, self._said = pairs[order], keys[order], said[order]
        self._is_met = np.zeros(len(keys), bool)

    def _keys(self, pairs: Indices) -> Indices:
        """A number for each pair, whichever of its texts comes first."""
        return pairs.min(axis=1) * self._n + pairs.max(axis=1)

    def allows(self, pairs: Indices) -> NDArray[np.bool_]:
        """Which of some pairs that were found alike may count; (m,). The others are met."""
        if not len(self._ordered):
            return np.ones(len(pairs), bool)
        keys = self._keys(pairs)
        at = np.minimum(np.searchsorted(self._ordered, keys), len(self._ordered) - 1)
        is_apart = self._ordered[at] == keys
        self._is_met[at[is_apart]] = True
        return ~is_apart

    @property
    def met(self) -> int:
        """How many things that were said made a difference."""
        return len(np.unique(self._said[self._is_met]))

    def led(self, leader: Indices, rank: Indices) -> Indices:
        """The representative of every text, where none stands for a text that it is not like; (n,).

        Components may hold a pair together by other texts. Then the one that is in the
        fewest such pairs represents them, of several the one with the lowest rank; whatever
        is still apart from it is in no group.
        """
        leader = leader.copy()
        left, right = self._pairs.T
        is_held = leader[left] == leader[right]
        is_clash = is_held & ((leader[left] == left) | (leader[left] == right))
        for group in distinct_numbers(leader[left[is_clash]]).tolist():
            members = np.flatnonzero(leader == group)
            within = np.flatnonzero(is_held & (leader[left] == group))
            number = np.bincount(self._pairs[within].ravel(), minlength=self._n)[members]
            first = members[np.lexsort((rank[members], number))[0]]
            own = within[(self._pairs[within] == first).any(axis=1)]
            leader[members] = first
            others = np.setdiff1d(self._pairs[own], first)
            leader[others] = others
            self._is_met[own] = True
        return leader


def nothing_apart() -> Apart:
    """No pair."""
    return Apart(np.empty((0, 2), np.int64), np.empty(0, np.int64), 0)
