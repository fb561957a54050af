"""Pairs of texts that the user marked as not duplicates: excluded from grouping, and counted.

Neither text of such a pair represents the other. Both may be in the group of a third text
if each is like that one.
"""

from __future__ import annotations

import numpy as np

from simdup.arrays import Hashes, Indices, Mask
from simdup.search.distinct import distinct_numbers, pair_keys


class Exclusions:
    """Excluded pairs among n texts, each of which comes from an entry of the user's list."""

    def __init__(self, pairs: Indices, entries: Indices, n: int) -> None:
        """`pairs` (m, 2) are texts; `entries` (m,) numbers the entry that each pair comes from."""
        self._n = n
        keys = pair_keys(pairs, self._n)
        order = np.argsort(keys)
        self._pairs, self._ordered, self._entries = pairs[order], keys[order], entries[order]

    def _places(self, pairs: Indices) -> Indices:
        """Where each pair stands among the excluded ones; -1 for a pair that is allowed."""
        if not len(self._ordered):
            return np.full(len(pairs), -1)
        keys = pair_keys(pairs, self._n)
        at = np.searchsorted(self._ordered, keys) % len(self._ordered)
        return np.where(self._ordered[at] == keys, at, -1)

    def allows(self, pairs: Indices) -> Mask:
        """Whether each of these pairs may count; (m,)."""
        return self._places(pairs) < 0

    def met(self, pairs: Indices) -> int:
        """Count the user's entries that exclude at least one of these pairs."""
        places = self._places(pairs)
        return len(set(self._entries[places[places >= 0]].tolist()))

    def reassign_representatives(
        self, leader: Indices, rank: Indices | Hashes
    ) -> tuple[Indices, Indices]:
        """New representatives (n,), none of them excluded from a member; and the pairs split up.

        Components may hold an excluded pair together by way of other texts. If one of the two
        represents the group, the member in the fewest such pairs takes its place, of several
        the one with the lowest rank. Texts excluded from that one leave the group.
        """
        leader, split = leader.copy(), [np.empty((0, 2), np.int64)]
        held = self._pairs[np.equal(*leader[self._pairs].T)]
        group_of = leader[held[:, 0]]
        number = np.bincount(held.ravel(), minlength=self._n)
        is_clash = (held == group_of[:, None]).any(axis=1)
        for group in distinct_numbers(group_of[is_clash]).tolist():
            members = np.flatnonzero(leader == group)
            first = members[np.lexsort((rank[members], number[members]))[0]]
            split.append(held[(held == first).any(axis=1)])
            leader[members] = first
            others = np.setdiff1d(split[-1], first)
            leader[others] = others
        return leader, np.concatenate(split)


NO_EXCLUSIONS = Exclusions(np.empty((0, 2), np.int64), np.empty(0, np.int64), 0)
