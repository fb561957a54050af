"""simdup.match.exclusions: pairs of texts that the user marked as not duplicates."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from simdup.match.exclusions import NO_EXCLUSIONS, Exclusions


def exclusions(*pairs, n=8, entries=None):
    return Exclusions(
        np.array(pairs, np.int64).reshape(-1, 2),
        np.arange(len(pairs)) if entries is None else np.array(entries),
        n,
    )


def test_a_pair_may_count_unless_it_is_excluded_whichever_text_comes_first():
    pairs = np.array([[0, 1], [1, 0], [1, 2], [5, 3], [0, 7]])

    assert exclusions([1, 0], [3, 5]).allows(pairs).tolist() == [False, False, True, False, True]
    assert NO_EXCLUSIONS.allows(pairs).all()
    assert exclusions([1, 0]).allows(np.empty((0, 2), np.int64)).tolist() == []


def test_an_entry_counts_once_however_many_pairs_it_excludes():
    excluded = exclusions([0, 1], [0, 2], [3, 4], [5, 6], entries=[0, 0, 1, 2])
    pairs = np.array([[1, 0], [2, 0], [0, 1], [3, 4], [4, 5]])

    assert [excluded.met(pairs[:n]) for n in range(6)] == [0, 1, 1, 1, 2, 2]
    assert NO_EXCLUSIONS.met(pairs) == 0


def reassigned(leader, *pairs, rank=None):
    n = len(leader)
    rank = np.arange(n) if rank is None else np.array(rank)
    excluded = exclusions(*pairs, n=n)
    return excluded.reassign_representatives(np.array(leader), rank)[0].tolist()


def test_a_representative_that_excludes_a_member_makes_room_for_another():
    assert reassigned([0, 0, 0, 3], [0, 1]) == [2, 2, 2, 3]
    assert reassigned([0, 0, 0, 0], [0, 1], rank=[0, 1, 3, 2]) == [3, 3, 3, 3]


def test_members_may_exclude_each_other_and_texts_of_other_groups():
    assert reassigned([0, 0, 0, 3, 3], [1, 2]) == [0, 0, 0, 3, 3]
    assert reassigned([0, 0, 0, 3, 3], [0, 4], [1, 3]) == [0, 0, 0, 3, 3]


def test_a_representative_that_excludes_nobody_stays_whatever_its_rank():
    assert reassigned([0, 0, 0, 0, 4], [1, 2], rank=[4, 3, 2, 1, 0]) == [0, 0, 0, 0, 4]
    assert reassigned([0, 0, 0, 0, 4], [0, 4], rank=[4, 3, 2, 1, 0]) == [0, 0, 0, 0, 4]


def test_where_every_text_excludes_another_one_the_group_loses_a_text():
    # 0-1 and 2-3: whoever represents them, one is left.
    assert reassigned([0, 0, 0, 0], [0, 1], [2, 3]) == [0, 1, 0, 0]
    assert reassigned([0, 0], [0, 1]) == [0, 1]


def test_the_pairs_that_are_split_up_are_returned():
    excluded = exclusions([0, 1], [2, 3], n=4)

    _, split = excluded.reassign_representatives(np.zeros(4, np.int64), np.arange(4))
    _, nothing = excluded.reassign_representatives(np.arange(4), np.arange(4))

    assert split.tolist() == [[0, 1]]
    assert nothing.shape == (0, 2)


@given(st.data())
def test_no_text_is_represented_by_one_that_it_excludes(data):
    n = data.draw(st.integers(2, 12))
    texts = st.integers(0, n - 1)
    pairs = data.draw(st.lists(st.tuples(texts, texts).filter(lambda p: p[0] != p[1]), max_size=20))
    first = np.array(data.draw(st.lists(texts, min_size=n, max_size=n)))
    groups = {group: np.flatnonzero(first == group) for group in np.unique(first)}
    leader = np.array([groups[each][0] for each in first])

    found = np.array(reassigned(leader.tolist(), *pairs))

    assert (found[found] == found).all()
    assert all(found[i] != j and found[j] != i for i, j in pairs)
    # Nobody goes to another group, and a group without such a pair stays.
    assert all(first[found[text]] == first[text] for text in range(n))
    for members in groups.values():
        if not any(i in members and j in members for i, j in pairs):
            assert (found[members] == leader[members]).all()
