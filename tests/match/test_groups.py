"""simdup.match.groups: stars and components, against a slow twin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simdup.match import groups
from simdup.match.groups import (
    NEAR_COPY,
    Precedence,
    closest,
    components,
    group,
    leaders,
    lower_of_two,
    staying,
    unlike,
    with_near_copies,
)


def in_order(n):
    """Precedence by index."""
    return Precedence(np.ones(n, np.int64), np.arange(n, dtype=np.uint64))


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


@st.composite
def similar(draw):
    """Pairs of n documents, none as similar as another, and which document goes first."""
    n, pairs = draw(graphs())
    most = draw(st.sampled_from([0.7, 1.0]))  # with and without near copies
    close = draw(st.permutations(range(len(pairs))))
    sizes = draw(st.lists(st.sampled_from([1, 1, 2]), min_size=n, max_size=n))
    content = draw(st.permutations(range(n)))
    order = Precedence(np.array(sizes, np.int64), np.array(content, np.uint64))
    return pairs, most * (np.array(close, np.float64) + 1) / max(len(pairs), 1), order


class ByHand:
    """Stars, with a loop for everything."""

    def __init__(self, pairs, closeness, order):
        found = zip(pairs.tolist(), closeness.tolist(), strict=True)
        self.close = {frozenset(pair): value for pair, value in found}
        self.every, self.order = range(len(order)), order

    def closeness(self, i, j):
        return self.close.get(frozenset((i, j)), 0)

    def centres(self, group):
        return [i for i in group if all(i == j or self.closeness(i, j) for j in group)]

    def total(self, i, others, among):
        pairs = ((frozenset((i, j)), int(self.order.sizes[j])) for j in others)
        return sum(
            round(self.close[key] * groups.UNIT) * size for key, size in pairs if key in among
        )

    def medoid(self, group):
        copies = {i: int(self.order.sizes[i] - 1) * groups.UNIT for i in group}
        return min(
            self.centres(group),
            key=lambda i: (-self.total(i, group, self.close) - copies[i], self.order.content[i]),
        )

    def strongest_first(self):
        found, live = [frozenset([i]) for i in self.every], set(self.close)
        while True:
            can_be = {(g, h) for g in found for h in found if g != h and self.centres(g | h)}
            # Pairs that were passed over are so for good.
            live &= {frozenset((i, j)) for g, h in can_be for i in g for j in h}
            if not live:
                return found
            found = self.after_a_round(found, live)

    def after_a_round(self, found, live):
        def strongest(g, h):
            between = (key for key in live if len(key & g) == len(key & h) == 1)
            return max((self.close[key] for key in between), default=0)

        others = {g: [h for h in found if h != g and strongest(g, h)] for g in found}
        best = {g: max(others[g], key=lambda h, g=g: strongest(g, h)) for g in found if others[g]}
        among = live | {key for g in found for key in self.close if key <= g}
        now = set(found)
        for g, h in {frozenset(pair) for pair in best.items() if best[pair[1]] == pair[0]}:
            around = [k for k in found if k in {g, h} or best.get(k) in {g, h}]
            together = frozenset().union(*around)
            middle = min(
                self.centres(g | h),
                key=lambda i: (-self.total(i, together, among), self.order.content[i]),
            )
            joined = [k for k in around if middle in self.centres(k | {middle})]
            now -= set(joined)
            now.add(frozenset().union(*joined))
        return list(now)

    def with_near_copies(self, leader):
        alone = [i for i in self.every if leader.count(leader[i]) == 1]
        nearest = {i: max(self.every, key=lambda j, i=i: self.closeness(i, j)) for i in alone}
        nearest = {i: j for i, j in nearest.items() if self.closeness(i, j) >= NEAR_COPY}
        made, copies = [nearest.get(i, leader[i]) for i in self.every], set(nearest.values())
        for i in copies:
            made[i] = i
        # In the second turn, representatives whom all others have left.
        for is_first in (False, True):
            for i in set(self.every) - copies - set(nearest):
                own = [j for j in copies if leader[j] == leader[i] and self.closeness(i, j)]
                best = max(own, key=lambda j, i=i: self.closeness(i, j), default=i)
                if is_first and leader[i] == i and made.count(i) == 1:
                    made[i] = best
                closer = self.closeness(i, best) > self.closeness(i, leader[i])
                if not is_first and leader[i] != i and closer:
                    made[i] = best
        return made

    def leaders(self):
        groups = self.strongest_first()
        leader = [next(self.medoid(g) for g in groups if i in g) for i in self.every]
        made = self.with_near_copies(leader)
        return [self.medoid([j for j in self.every if made[j] == made[i]]) for i in self.every]


def test_a_chain_worked_by_hand():
    chain = np.array([[0, 1], [1, 2], [2, 3], [3, 4]])
    close = [0.6, 0.7, 0.5, 0.4]

    # The pair in the middle first, then the others as they fit; 4 is alike to 3 alone.
    assert [g.tolist() for g in group(chain, 5, closeness=close)] == [[1, 0, 2], [3, 4]]
    assert [g.tolist() for g in group(chain, 5, "components", closeness=close)] == [[1, 0, 2, 3, 4]]


def test_the_most_similar_are_together_whatever_a_hub_has_most_of():
    # 0 is alike to much, and to 1; 1 and 2 are editions of one law.
    pairs = np.array([[0, 1], [0, 3], [0, 4], [0, 5], [1, 2]])

    found = group(pairs, 6, closeness=[0.457, 0.5, 0.5, 0.5, 0.984])
    assert [g.tolist() for g in found] == [[0, 3, 4, 5], [1, 2]]


def test_a_near_copy_of_a_member_takes_it_along():
    # 2 and 3 are the most alike; 0 and 5 are alike to one of them only.
    pairs = np.array([[0, 2], [2, 3], [3, 5]])

    found = group(pairs, 6, closeness=[0.85, 0.9, 0.84])
    assert [g.tolist() for g in found] == [[0, 2], [3, 5]]
    # Further apart they are no near copies, and 5 is alone.
    assert [g.tolist() for g in group(pairs, 6, closeness=[0.75, 0.9, 0.74])] == [[2, 0, 3]]


def test_the_medoid_represents_the_group():
    pairs = np.array([[0, 1], [0, 2], [1, 2]])

    assert group(pairs, 3, closeness=[0.5, 0.6, 0.9])[0].tolist() == [2, 0, 1]
    # Four copies of 0 are as alike as can be.
    many = np.array([4, 1, 1])
    assert group(pairs, 3, sizes=many, closeness=[0.5, 0.6, 0.9])[0].tolist() == [0, 1, 2]


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


@pytest.mark.slow
@settings(max_examples=300)
@given(similar())
def test_stars_match_the_slow_twin(graph):
    assert leaders(*graph[:2], "star", graph[2]).tolist() == ByHand(*graph).leaders()


def test_stars_of_dense_graphs_match_the_slow_twin():
    random = np.random.default_rng(1)
    for n in [*range(4, 12)] * 10:
        i, j = np.triu_indices(n, 1)
        pairs = np.column_stack((i, j))[random.random(len(i)) < random.uniform(0.2, 0.9)]
        closeness = (random.permutation(len(pairs)) + 1) / (len(pairs) + 1)
        order = in_order(n)

        found = leaders(pairs, closeness, "star", order).tolist()
        assert found == ByHand(pairs, closeness, order).leaders()


def test_which_side_of_a_pair_comes_first_decides_nothing():
    n = 40
    i, j = np.triu_indices(n, 1)
    pairs, closeness = np.column_stack((i, j)), np.ones(len(i))
    order = in_order(n)
    turned = np.where(i % 3 == 0, pairs.T[::-1], pairs.T).T

    weakest_first = groups._weakest_first  # noqa: SLF001
    found, again = (weakest_first(each, closeness, order) for each in (pairs, turned))
    assert (found.left + found.right).tolist() == (again.left + again.right).tolist()


def test_of_what_is_connected_the_one_with_the_most_in_common_represents_all():
    pairs, closeness = [[0, 1], [0, 2], [0, 3], [1, 2]], [0.4, 0.4, 0.4, 0.9]

    (members,) = group(pairs, 4, "components", closeness=closeness)
    assert members.tolist() == [1, 0, 2, 3]


@given(similar())
def test_every_member_is_a_pair_with_its_representative_and_no_near_copy_is_alone(graph):
    pairs, closeness, order = graph
    near = {tuple(sorted(pair)) for pair in pairs.tolist()}

    leader = leaders(pairs, closeness, "star", order)
    assert all(leader[i] == i or tuple(sorted((i, leader[i]))) in near for i in range(len(order)))
    sizes = np.bincount(leader, minlength=len(order))[leader]
    assert (sizes[pairs[closeness >= NEAR_COPY]] > 1).all()


@given(similar(), st.sampled_from(["star", "components"]), st.randoms())
def test_the_lower_rank_leads_a_group_of_two_and_changes_no_other(graph, linkage, random):
    pairs, closeness, order = graph
    rank = np.array(random.sample(range(len(order)), len(order)), np.int64)
    before = leaders(pairs, closeness, linkage, order)

    after = lower_of_two(before, rank, order.sizes)
    for members in (np.flatnonzero(before == leader) for leader in np.unique(before)):
        is_tie = len(members) == 2 and len({*order.sizes[members]}) == 1
        first = members[np.argmin(rank[members])] if is_tie else before[members[0]]
        assert after[members].tolist() == [first] * len(members)


@given(similar(), st.sampled_from(["star", "components"]), st.randoms())
def test_the_numbers_of_documents_make_no_difference(graph, linkage, random):
    pairs, closeness, order = graph
    closeness = np.maximum(np.round(closeness, 1), 0.1)
    at = np.array(random.sample(range(len(order)), len(order)), np.int64)
    # Document i is now at[i].
    back = np.argsort(at)

    moved = leaders(at[pairs].reshape(-1, 2)[:, ::-1], closeness, linkage, order.take(back))
    assert moved[at].tolist() == at[leaders(pairs, closeness, linkage, order)].tolist()


def test_those_whom_their_copies_left_join_them():
    # 0 was alone, as the rounds of a narrow search may leave it, and 1 a member of 2's group.
    pairs, close = np.array([[0, 1], [1, 2], [2, 3], [1, 3]]), np.array([0.9, 0.5, 0.6, 0.7])
    order = in_order(4)

    found = with_near_copies(pairs, close, np.array([0, 2, 2, 2]), order)
    # 3 is more alike to 1, so 2 would be left.
    assert found.tolist() == [1, 1, 1, 1]


def test_two_that_are_alone_and_no_near_copies_stay_alone():
    ones = np.ones(2, np.int64)
    pairs, order = np.array([[0, 1]]), Precedence(ones, ones.astype(np.uint64))

    assert with_near_copies(pairs, np.array([0.7]), np.arange(2), order).tolist() == [0, 1]
    assert len({*with_near_copies(pairs, np.array([0.8]), np.arange(2), order).tolist()}) == 1


def test_those_whose_copy_is_in_a_group_make_one_with_it():
    near = {(0, 1): 0.99, (0, 3): 0.99, (1, 2): NEAR_COPY, (1, 3): 0.5, (4, 5): 0.6, (1, 5): 0.9}
    pairs, closeness = np.array([*near]), np.array([*near.values()])
    leader = np.array([0, 0, 2, 0, 4, 4])

    made = with_near_copies(pairs, closeness, leader, in_order(6))
    assert made.tolist() == [0, 1, 1, 0, 4, 4]


def test_two_with_one_copy_in_a_group_are_one_group_with_it():
    pairs, closeness = np.array([[0, 1], [1, 2], [1, 3]]), np.array([0.5, 0.99, 0.99])

    made = with_near_copies(pairs, closeness, np.array([0, 0, 2, 3]), in_order(4))
    assert made.tolist() == [1, 1, 1, 1]


def test_two_copies_in_one_group_make_two_groups():
    near = {(0, 1): 0.9, (0, 3): 0.89, (1, 3): 0.95, (1, 2): 0.99, (3, 4): 0.98}
    pairs, closeness = np.array([*near]), np.array([*near.values()])

    made = with_near_copies(pairs, closeness, np.array([0, 0, 2, 0, 4]), in_order(5))
    assert made.tolist() == [1, 1, 1, 3, 3]


@given(similar(), st.randoms())
def test_whoever_was_left_alone_is_with_a_near_copy_then(graph, random):
    pairs, closeness, order = graph
    leader = leaders(pairs, closeness, "star", order)
    everyone = np.arange(len(order))
    freed = [random.random() < 0.5 and leader[leader[i]] == leader[i] != i for i in everyone]

    found = with_near_copies(pairs, closeness, np.where(freed, everyone, leader), order)
    near = {frozenset(pair) for pair in pairs.tolist()}
    assert all(found[i] == i or frozenset((i, found[i])) in near for i in everyone.tolist())
    assert (found[found] == found).all()
    sizes = np.bincount(found, minlength=len(order))[found]
    assert (sizes[pairs[closeness >= NEAR_COPY]] > 1).all()


@pytest.mark.slow
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
        pairs, np.array([0.5, 0.9, 0.7, 0.7, 0.7, 0.7]), np.array([0, 1, 2, 3, 5, 4], np.uint64)
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
        ({"closeness": [1, 2]}, "closeness must have a number for each of the 1 pairs, not 2"),
        ({"closeness": ["a"]}, "closeness must be an array of finite numbers"),
        ({"closeness": [np.nan]}, "closeness must be an array of finite numbers"),
        (
            {"pairs": [[0, 1], [1, 2]], "closeness": [1, np.inf]},
            "closeness must be an array of finite numbers",
        ),
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
    with pytest.raises(IndexError, match=f"pairs has {wrong}, which is none"):
        group([[wrong, 1], [9, 1]], 3)


def test_a_number_of_documents_is_a_whole_number():
    with pytest.raises(TypeError, match=r"^n must be a whole number, not float 2.5$"):
        group([[0, 1]], 2.5)


def test_a_document_and_itself_are_no_group():
    assert group([[1, 1]], 2) == []


def test_pairs_may_be_lists_and_have_further_columns():
    assert [g.tolist() for g in group([[0, 1, 7], [1, 2, 9]], 3)] == [[1, 0, 2]]
    assert group(np.empty((0, 3)), 2) == []
    assert group(np.empty((0, 3)), 2, closeness=np.array([], object)) == []


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
        stands_for = staying(group, centre, asked)
    stays = np.flatnonzero(stands_for == np.arange(len(group))).tolist()
    assert stays == staying_by_hand(group, alike, centre, most)
    for text, other in enumerate(stands_for.tolist()):
        assert other == text or (other in stays and group[other] == group[text])
        assert other == text or centre[[text, other]].any() or alike[text, other]
    for text in set(range(len(group))) - set(stays):
        inside = [other for other in stays if group[other] == group[text]]
        near = [other for other in inside if alike[text, other]]
        assert near
        if len(inside) < most:
            assert stands_for[text] == near[0]


def test_the_first_of_several_stands_for_a_text():
    def alike(pairs):
        return (pairs[:, 1] == 3) & (pairs[:, 0] > 0)

    assert staying(np.zeros(4, int), np.zeros(4, bool), alike).tolist() == [0, 1, 2, 1]


def test_no_text_that_goes_stands_for_another():
    near = {(3, 4), (4, 6), (5, 6)}

    def alike(pairs):
        return np.array([tuple(pair) in near for pair in pairs.tolist()], bool)

    assert staying(np.zeros(7, int), np.zeros(7, bool), alike).tolist() == [0, 1, 2, 3, 3, 5, 5]


def test_of_alike_texts_the_earlier_ones_stay_in_whatever_order_pairs_come():
    pairs = np.array([[i, j] for j in range(30) for i in range(j) if (i * j) % 7 == 3])
    expected = list[int]()
    for text in range(30):
        if not any((text * other) % 7 == 3 for other in expected):
            expected.append(text)

    chosen, covered = unlike(np.arange(30), pairs)
    assert chosen.tolist() == expected
    assert sorted(covered.tolist()) == sorted(set(range(30)) - set(expected))


@pytest.mark.parametrize("is_alike", [False, True], ids=["unlike", "alike"])
def test_a_large_star_is_compared_in_linear_time(is_alike):
    n, asked = 100_000, []
    centre = np.zeros(n, bool)
    centre[-1] = True

    def alike(pairs):
        asked.append(len(pairs))
        return np.full(len(pairs), is_alike)

    stands_for = staying(np.zeros(n, np.int64), centre, alike)
    assert np.unique(stands_for).tolist() == ([0] if is_alike else [*range(100), n - 1])
    assert sum(asked) < 2 * groups.MOST_STAYING * n
