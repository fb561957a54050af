"""simdup.match.groups: stars and components, against a slow twin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdup.match import groups
from simdup.match.groups import closest, components, group, staying


@st.composite
def graphs(draw):
    n = draw(st.integers(0, 12))
    ends = st.integers(0, max(n - 1, 0))
    pairs = draw(st.sets(st.tuples(ends, ends).filter(lambda p: p[0] < p[1]))) if n else set()
    return n, np.array(sorted(pairs), np.int64).reshape(-1, 2)


def connected(n, pairs):
    """Sets of connected indices, by walking."""
    near = {i: {i} for i in range(n)}
    for i, j in pairs.tolist():
        union = near[i] | near[j]
        for member in union:
            near[member] = union
    return {frozenset(each) for each in near.values()}


def star_by_hand(n, pairs, rank, sizes):
    near = {i: set() for i in range(n)}
    for i, j in pairs.tolist():
        near[i].add(j)
        near[j].add(i)
    degree = {i: sizes[i] - 1 + sum(sizes[j] for j in near[i]) for i in range(n)}
    free, groups = set(range(n)), []
    for i in sorted(range(n), key=lambda i: (-degree[i], rank[i])):
        if i in free:
            members = near[i] & free
            free -= members | {i}
            if sizes[i] + sum(sizes[j] for j in members) > 1:
                groups.append([i, *sorted(members, key=lambda j: rank[j])])
    return sorted(groups)


def test_a_chain_worked_by_hand():
    chain = np.array([[0, 1], [1, 2], [2, 3], [3, 4]])

    assert [g.tolist() for g in group(chain, 5)] == [[1, 0, 2], [3, 4]]
    assert [g.tolist() for g in group(chain, 5, "components")] == [[1, 0, 2, 3, 4]]


def test_no_representative_takes_a_member_of_another():
    pairs = np.array([[0, 1], [0, 2], [2, 3]])

    assert [g.tolist() for g in group(pairs, 4)] == [[0, 1, 2]]


@pytest.mark.parametrize("linkage", ["star", "components"])
def test_further_columns_of_pairs_are_ignored(linkage):
    pairs = np.array([[0, 1, 2, 4], [2, 3, 1, 0]])

    assert [g.tolist() for g in group(pairs, 5, linkage)] == [[0, 1], [2, 3]]


def test_the_document_with_the_most_neighbours_represents_the_group():
    pairs = np.array([[0, 3], [1, 3], [2, 3]])

    assert [g.tolist() for g in group(pairs, 4)] == [[3, 0, 1, 2]]


def test_rank_decides_between_equals():
    pairs = np.array([[0, 1]])

    assert group(pairs, 2, rank=np.array([5, 2]))[0].tolist() == [1, 0]


def test_an_index_that_stands_for_several_documents_is_a_group():
    assert [g.tolist() for g in group(np.empty((0, 2), np.int64), 2, sizes=np.array([3, 1]))] == [
        [0]
    ]


@given(graphs(), st.randoms())
def test_stars_match_the_slow_twin(graph, random):
    n, pairs = graph
    rank = np.array(random.sample(range(n), n), np.int64)
    sizes = np.array([random.choice([1, 1, 2]) for _ in range(n)], np.int64)

    found = group(pairs, n, "star", rank, sizes)
    assert [g.tolist() for g in found] == star_by_hand(n, pairs, rank, sizes)


@given(graphs())
def test_components_are_what_is_connected(graph):
    n, pairs = graph

    found = {frozenset(g.tolist()) for g in group(pairs, n, "components")}
    assert found == {each for each in connected(n, pairs) if len(each) > 1}
    assert components(pairs, n).tolist() == [
        min(next(each for each in connected(n, pairs) if i in each)) for i in range(n)
    ]


@given(graphs(), st.sampled_from(["star", "components"]), st.randoms())
def test_the_order_of_pairs_does_not_matter(graph, linkage, random):
    n, pairs = graph
    shuffled = pairs[random.sample(range(len(pairs)), len(pairs))]

    expected = [g.tolist() for g in group(pairs, n, linkage)]
    assert [g.tolist() for g in group(shuffled, n, linkage)] == expected


def test_each_document_goes_to_its_closest_neighbour_or_stays_alone():
    pairs = np.array([[0, 4], [0, 5], [1, 5], [1, 4], [2, 4], [2, 5]])

    found = closest(
        pairs, np.array([0.5, 0.9, 0.7, 0.7, 0.7, 0.7]), 6, np.array([0, 1, 2, 3, 5, 4])
    )
    assert found.tolist() == [5, 5, 5, 3, 4, 5]


def test_a_long_chain_is_one_component():
    chain = np.column_stack((np.arange(99_999), np.arange(1, 100_000)))

    assert components(chain[::-1], 100_000).max() == 0


def test_an_unknown_linkage_is_refused_by_name():
    with pytest.raises(ValueError, match="linkage must be one of star, components, not 'single'"):
        group(np.empty((0, 2), np.int64), 1, "single")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"pairs": [0, 1]}, "pairs must be an array of shape (m, 2 or more), not (2,)"),
        ({"pairs": [[0], [1]]}, "pairs must be an array of shape (m, 2 or more), not (2, 1)"),
        (
            {"pairs": [[0, 1], [2]]},
            "pairs must be an array of shape (m, 2 or more), not rows of different lengths",
        ),
        ({"pairs": None}, "pairs must be an array of shape (m, 2 or more), not ()"),
        ({"pairs": [[0, 0.5]]}, "pairs must be an array of whole numbers, not of float64"),
        ({"pairs": [["a", "b"]]}, "pairs must be an array of whole numbers, not of <U1"),
        ({"rank": [[1, 2, 3]]}, "rank must be an array of shape (n,), not (1, 3)"),
        ({"rank": [1, 2]}, "rank must have a number for each of the 3, not 2"),
        ({"sizes": [1, 2, 3, 4]}, "sizes must have a number for each of the 3, not 4"),
        ({"sizes": [1, 2, 0.5]}, "sizes must be an array of whole numbers, not of float64"),
    ],
)
def test_arrays_of_a_wrong_shape_or_type_are_refused_by_name(changed, message):
    with pytest.raises(ValueError) as caught:  # noqa: PT011  (the whole message is compared)
        group(**{"pairs": [[0, 1]], "n": 3} | changed)

    assert str(caught.value) == message


@pytest.mark.parametrize("wrong", [-1, 3])
def test_a_pair_of_an_index_that_is_no_document_is_refused(wrong):
    with pytest.raises(IndexError) as caught:
        group([[0, 1], [1, wrong]], 3)

    assert str(caught.value) == f"pairs has {wrong}, which is none of the 3 documents"


def test_pairs_may_be_lists_and_have_further_columns():
    assert [g.tolist() for g in group([[0, 1, 7], [1, 2, 9]], 3)] == [[1, 0, 2]]
    assert group(np.empty((0, 3)), 2) == []


@st.composite
def alike_texts(draw):
    """Groups in order, which texts are alike, and the centre of some of the groups."""
    sizes = draw(st.lists(st.integers(1, 9), max_size=4))
    group = np.repeat(np.arange(len(sizes)), sizes)
    n = len(group)
    alike = np.array(draw(st.lists(st.booleans(), min_size=n * n, max_size=n * n)), bool)
    alike = alike.reshape(n, n)
    alike |= alike.T
    centre = np.zeros(n, bool)
    for each in draw(st.sets(st.integers(0, n - 1))) if n else ():
        centre[each] = not centre[group == group[each]].any()
        if centre[each]:
            alike[each, group == group[each]] = alike[group == group[each], each] = True
    return group, alike, centre


def staying_by_hand(group, alike, centre, most):
    stays = []
    for number in np.unique(group):
        members, chosen = np.flatnonzero(group == number), []
        for text in members.tolist():
            if not alike[text, chosen].any():
                chosen.append(text)
        if len(chosen) > most and centre[members].any():
            chosen = sorted({*chosen[:most], *members[centre[members]].tolist()})
        stays += chosen
    return stays


@given(alike_texts(), st.integers(1, 4), st.integers(1, 40))
def test_each_text_stays_unless_it_is_alike_to_one_before_it_that_stays(given_, most, at_once):
    group, alike, centre = given_

    def asked(pairs):
        assert not centre[pairs].any()
        return alike[pairs[:, 0], pairs[:, 1]]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(groups, "MOST_STAYING", most)
        patch.setattr(groups, "PAIRS_AT_ONCE", at_once)
        stays = np.flatnonzero(staying(group, centre, asked)).tolist()
    assert stays == staying_by_hand(group, alike, centre, most)
    for text in set(range(len(group))) - set(stays):
        assert (alike[text, stays] & (group[stays] == group[text])).any()


@pytest.mark.parametrize("is_alike", [False, True], ids=["unlike", "alike"])
def test_a_large_star_is_compared_in_linear_time(is_alike):
    n, asked = 100_000, []
    centre = np.zeros(n, bool)
    centre[-1] = True

    def alike(pairs):
        asked.append(len(pairs))
        return np.full(len(pairs), is_alike)

    stays = staying(np.zeros(n, np.int64), centre, alike)
    assert np.flatnonzero(stays).tolist() == ([0] if is_alike else [*range(100), n - 1])
    assert sum(asked) < 2 * groups.MOST_STAYING * n
