"""simdup.match.exclusions: pairs of texts that do not count."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from simdup.match.exclusions import Apart, nothing_apart


def apart(*pairs, n=8, said=None):
    return Apart(
        np.array(pairs, np.int64).reshape(-1, 2),
        np.arange(len(pairs)) if said is None else np.array(said),
        n,
    )


def test_a_pair_counts_unless_it_is_apart_whichever_text_comes_first():
    pairs = np.array([[0, 1], [1, 0], [1, 2], [5, 3], [0, 7]])

    assert apart([1, 0], [3, 5]).allows(pairs).tolist() == [False, False, True, False, True]
    assert nothing_apart().allows(pairs).all()
    assert apart([1, 0]).allows(np.empty((0, 2), np.int64)).tolist() == []


def test_what_was_met_is_counted_once_for_all_that_it_stands_for():
    pairs = apart([0, 1], [0, 2], [3, 4], [5, 6], said=[0, 0, 1, 2])

    assert pairs.met == 0
    pairs.allows(np.array([[1, 0], [2, 0], [0, 1]]))
    assert pairs.met == 1
    pairs.allows(np.array([[3, 4], [4, 5]]))
    assert pairs.met == 2


def led(leader, *pairs, rank=None):
    n = len(leader)
    rank = np.arange(n) if rank is None else np.array(rank)
    return apart(*pairs, n=n).led(np.array(leader), rank).tolist()


def test_a_representative_that_is_apart_from_a_member_makes_room_for_another():
    assert led([0, 0, 0, 3], [0, 1]) == [2, 2, 2, 3]
    assert led([0, 0, 0, 0], [0, 1], rank=[0, 1, 3, 2]) == [3, 3, 3, 3]


def test_members_may_be_apart_from_each_other_and_texts_of_other_groups_from_anything():
    assert led([0, 0, 0, 3, 3], [1, 2]) == [0, 0, 0, 3, 3]
    assert led([0, 0, 0, 3, 3], [0, 4], [1, 3]) == [0, 0, 0, 3, 3]


def test_where_every_text_is_apart_from_one_the_group_loses_it():
    # 0-1 and 2-3: whoever represents them, one is left.
    assert led([0, 0, 0, 0], [0, 1], [2, 3]) == [0, 1, 0, 0]
    assert led([0, 0], [0, 1]) == [0, 1]


def test_what_is_left_out_of_a_group_is_met():
    pairs = apart([0, 1], [2, 3], n=4)

    pairs.led(np.zeros(4, np.int64), np.arange(4))

    assert pairs.met == 1


@given(st.data())
def test_no_text_is_led_by_one_that_it_is_apart_from(data):
    n = data.draw(st.integers(2, 12))
    texts = st.integers(0, n - 1)
    pairs = data.draw(st.lists(st.tuples(texts, texts).filter(lambda p: p[0] != p[1]), max_size=20))
    first = np.array(data.draw(st.lists(texts, min_size=n, max_size=n)))
    groups = {group: np.flatnonzero(first == group) for group in np.unique(first)}
    leader = np.array([groups[each][0] for each in first])

    found = np.array(led(leader.tolist(), *pairs))

    assert (found[found] == found).all()
    assert all(found[i] != j and found[j] != i for i, j in pairs)
    # Nobody goes to another group, and a group without such a pair stays.
    assert all(first[found[text]] == first[text] for text in range(n))
    for members in groups.values():
        if not any(i in members and j in members for i, j in pairs):
            assert (found[members] == leader[members]).all()
