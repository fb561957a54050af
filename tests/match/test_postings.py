"""simdup.match.postings against its definition in plain Python, and the groups that it leads to."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from conftest import of_each
from hypothesis import given
from hypothesis import strategies as st

import simdup
from simdup import Settings
from simdup.compute import buckets
from simdup.evaluation.labels import own_table
from simdup.match import postings, similarities
from simdup.match.postings import (
    FEW_TEXTS,
    LEAST_SHARED,
    MOST_SHARED,
    MOST_TOGETHER,
    VALUES_A_SHARED,
    depths_of,
    listed_values,
    needed_of,
    texts_together,
)
from simdup.progress import silent
from simdup.settings import Limits

pytestmark = pytest.mark.slow

both_ways = pytest.mark.usefixtures("each_way")


def together(documents, order=None, references=(), progress=silent):
    """The pairs and the crowded texts of documents that are sets of values."""
    sketches = of_each([np.array(sorted(each), np.uint32) for each in documents])
    n = len(documents)
    is_reference = np.isin(np.arange(n), list(references))
    order = np.arange(n) if order is None else np.array(order, np.int64)
    counts = np.array(list(map(len, documents)), np.int64)
    return texts_together(sketches, counts, order, is_reference, progress=progress)


def pairs_of(found):
    return {tuple(sorted(pair)) for pair in found.pairs.tolist()}


def needed(a, b):
    fewer = min(len(a), len(b)) // VALUES_A_SHARED
    return min(max(fewer, LEAST_SHARED), MOST_SHARED)


def random_documents(seed, n=120, words=4000, size=80):
    """Some documents of rare and common values; every third has part of the one before."""
    draw = np.random.default_rng(seed)
    # Squared, so that low values are common.
    made = [set((words * draw.random(size) ** 2).astype(int).tolist()) for _ in range(n)]
    for number in range(3, n, 3):
        kept = draw.choice(sorted(made[number - 1]), size // 2, replace=False)
        made[number] = set(kept.tolist()) | set(sorted(made[number])[: size // 3])
    return made


@both_ways
@pytest.mark.parametrize("seed", range(5))
def test_texts_that_share_enough_of_what_few_have_are_found(seed):
    documents = random_documents(seed)
    having = Counter(value for each in documents for value in each)

    found = pairs_of(together(documents))

    expected = {
        (i, j)
        for i, j in combinations(range(len(documents)), 2)
        if sum(having[value] <= MOST_TOGETHER for value in documents[i] & documents[j])
        >= needed(documents[i], documents[j])
    }
    assert expected
    assert expected <= found
    for i, j in found:
        assert len(documents[i] & documents[j]) >= LEAST_SHARED


@both_ways
def test_texts_that_share_one_rare_value_are_no_candidates():
    documents = [{1, 2, 3, 4}, {1, 5, 6, 7}, {2, 3, 8, 9}]

    assert pairs_of(together(documents)) == {(0, 2)}


@both_ways
def test_common_values_count_by_twos():
    # Each value is common, and only the last two texts have neighbours in common.
    n = MOST_TOGETHER + 5
    values = [10 * number for number in range(1, 9)]
    fillers = [{value, 10_000 + 100 * value + i} for value in values for i in range(n)]
    documents = [*fillers, set(values[:6]), set(values[:6]) | {values[7]}]

    last = len(documents) - 1

    assert (last - 1, last) in pairs_of(together(documents))


@both_ways
def test_a_text_whose_values_meet_in_one_hash_is_no_candidate_for_itself(monkeypatch):
    def of_one_hash(keys, **_):
        """All hashes of two values are equal: a text is in the list for each two that it has."""
        owners, counts = np.unique(keys >> np.uint64(32), return_counts=True)
        return np.repeat(owners, counts * (counts - 1) // 2)

    monkeypatch.setattr(postings, "neighbours", of_one_hash)
    values = {1, 2, 3}
    documents = [{value, 100 * value + i} for value in values for i in range(MOST_TOGETHER)]

    assert pairs_of(together([*documents, values])) == set()


@both_ways
def test_members_of_a_crowd_are_paired_with_its_first_text():
    shared = set(range(1000, 1060))
    crowd = [shared | {10 * number, 10 * number + 1} for number in range(50)]
    order = [*range(7, 50), *range(7)]

    found = together(crowd, order)

    assert pairs_of(found) == {tuple(sorted((7, other))) for other in range(50) if other != 7}
    assert found.crowded.tolist() == list(range(50))


@both_ways
def test_no_text_is_crowded_where_no_list_is_long():
    assert not len(together(random_documents(1, words=100_000)).crowded)


@both_ways
@pytest.mark.parametrize("seed", range(3))
def test_only_pairs_with_a_reference_count(seed):
    documents, references = random_documents(seed), set(range(0, 120, 2))

    found = together(documents, references=references)

    assert len(found.pairs)
    assert set(found.pairs[:, 1].tolist()) <= references
    assert not set(found.pairs[:, 0].tolist()) & references
    one_side = {pair for pair in pairs_of(together(documents)) if (pair[0] + pair[1]) % 2}
    having = Counter(value for each in documents for value in each)
    expected = {
        (i, j)
        for i, j in one_side
        if sum(having[value] <= MOST_TOGETHER for value in documents[i] & documents[j])
        >= needed(documents[i], documents[j])
    }
    assert expected
    assert expected <= pairs_of(found)


@both_ways
def test_a_crowd_of_two_sides_is_paired_across():
    shared = set(range(1000, 1060))
    crowd = [shared | {10 * number, 10 * number + 1} for number in range(40)]

    found = together(crowd, references=range(25))

    across = {(25, other) for other in range(25)} | {(other, 0) for other in range(25, 40)}
    assert set(map(tuple, found.pairs.tolist())) == across


@given(st.lists(st.sets(st.integers(0, 60), max_size=20), max_size=30), st.randoms())
def test_numbers_of_texts_do_not_matter(documents, random):
    order = list(range(len(documents)))
    random.shuffle(order)

    straight = pairs_of(together([documents[number] for number in order]))
    numbered = pairs_of(together(documents, order))

    assert {tuple(sorted((order[i], order[j]))) for i, j in straight} == numbered


@both_ways
def test_buckets_in_a_file_change_nothing(monkeypatch):
    documents = random_documents(9)
    expected = together(documents)

    monkeypatch.setattr(buckets, "KEYS_AT_ONCE", 100)
    monkeypatch.setattr(postings, "TEXTS_AT_ONCE", 10)
    monkeypatch.setattr(postings, "CHUNK", 50)
    monkeypatch.setattr(postings, "ROOM", 1500)
    found = together(documents)

    assert found.pairs.tolist() == expected.pairs.tolist()
    assert found.crowded.tolist() == expected.crowded.tolist()


@both_ways
def test_nothing_is_together_in_an_empty_collection():
    assert not len(together([]).pairs)
    assert not len(together([set(), {1}, {1}]).pairs)


def partition(result):
    return {frozenset(member.document.path for member in group.members) for group in result.groups}


def similar_pairs(groups):
    return {pair for group in groups for pair in combinations(sorted(group), 2)}


# However few the texts are, their candidates come from lists.
BY_LISTS = Settings(limits=Limits(by_distance=0))


def test_lists_find_the_groups_that_distances_find():
    with own_table() as table:
        folder = Path(table).parent
        by_distance = partition(simdup.scan([folder]))
        by_lists = partition(simdup.scan([folder], BY_LISTS))

    # A narrow margin: a distance misses one pair in ten that is just similar enough.
    assert len(by_distance & by_lists) >= 0.97 * len(by_distance)
    missed = similar_pairs(by_distance) - similar_pairs(by_lists)
    assert len(missed) <= 0.002 * len(similar_pairs(by_distance))


def test_a_collection_of_copies_is_one_group_without_all_its_pairs(write, english, monkeypatch):
    words = english.split()
    for number in range(300):
        words[number % len(words)] = f"word{number}"
        write(f"in/{number:03}", " ".join(words))
    asked = []
    decide = similarities.decide

    def counted(pairs, *arguments):
        asked.append(len(pairs))
        return decide(pairs, *arguments)

    monkeypatch.setattr(similarities, "decide", counted)

    groups = simdup.scan(["in"], BY_LISTS).groups

    assert max(len(group.members) for group in groups) > 30
    assert sum(asked) < 300 * 40


def test_references_are_found_by_lists(write, english, simplified):
    write("old/en", english)
    write("old/zh", simplified)
    write("new/en", english + " and a word more")
    write("new/zh", simplified + "多几个字")
    write("new/other", "something else that nobody has")

    groups = simdup.scan(["new"], BY_LISTS, against=["old"]).groups

    sizes = defaultdict(int)
    for group in groups:
        sizes[Path(group.members[0].document.path).name] = len(group.members)
    assert sizes == {"en": 2, "zh": 2}


def keys_of(high, low):
    return (np.uint64(high) << np.uint64(32)) | np.uint64(low)


def halves(keys):
    return np.column_stack((keys >> np.uint64(32), keys.astype(np.uint32))).tolist()


@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize("seed", range(3))
def test_kernels_and_numpy_make_equal_lists(seed, monkeypatch):
    draw = np.random.default_rng(seed)
    # Lists of one, of a few and of many; and texts of one common value, of a few and of many.
    high = np.repeat(np.arange(400), draw.choice([1, 2, MOST_TOGETHER, 40, 90], 400))
    keys = keys_of(7 * high, draw.integers(0, 1 << 32, len(high)))
    draw.shuffle(keys)
    texts = of_each([np.array(sorted(each), np.uint32) << 20 for each in random_documents(seed)])
    depths = draw.integers(0, 8, len(texts))

    def made():
        lists, others, sizes = postings.split_lists(keys.copy())
        ordered, ends = buckets.by_bucket(keys, 16)
        (listed,) = postings.listed_values(texts, depths)
        pairs = np.sort(postings.neighbours(keys.copy()))
        return [*lists, others, sizes, ordered, ends, listed, pairs]

    by_kernels = made()
    monkeypatch.setattr(postings, "loaded_kernels", lambda: None)
    monkeypatch.setattr(buckets, "loaded_kernels", lambda: None)

    assert all(map(len, by_kernels))
    for found, expected in zip(by_kernels, made(), strict=True):
        assert found.tolist() == expected.tolist()


def test_a_text_halves_its_values_each_time_that_its_features_double():
    counts = np.array([0, 95, 96, 191, 192, 96 << 31, 96 << 40])

    # A value has 32 bits.
    assert depths_of(counts).tolist() == [0, 0, 1, 1, 2, 32, 32]


def test_a_text_needs_some_of_the_values_that_it_is_listed_under(monkeypatch):
    monkeypatch.setattr(postings, "MOST_SHARED", 10)
    listed = {0: 0, 35: 35, 36: 36, 95: 95, 96: 48, 191: 95, 192: 48}

    found = needed_of(np.array(list(listed)))

    assert found.tolist() == [max(each // VALUES_A_SHARED, 2) for each in listed.values()]


@both_ways
def test_a_text_is_listed_under_values_up_to_its_limit():
    values = [0, (1 << 30) - 1, 1 << 30, (1 << 31) - 1, 1 << 31, (1 << 32) - 1]
    sketches = of_each([np.array(values, np.uint32)] * 3)

    (keys,) = listed_values(sketches, np.array([0, 1, 2]))

    expected = [[value, text] for text, most in enumerate([6, 4, 2]) for value in values[:most]]
    assert halves(keys) == expected


@both_ways
def test_a_text_of_few_values_has_pairs_of_values_further_apart(monkeypatch):
    monkeypatch.setattr(postings, "NEIGHBOURS", 3)
    monkeypatch.setattr(postings, "PAIRED", 20)
    monkeypatch.setattr(postings, "PAIRS_BELOW", np.uint64((1 << 64) - 1))
    furthest = {1: 1, 5: 3, 6: 3, 7: 2, 10: 2, 11: 1, 30: 1}
    texts = np.repeat(np.arange(len(furthest)), list(furthest))

    found = postings.neighbours(keys_of(texts, np.arange(len(texts))))

    pairs = [
        sum(values - apart for apart in range(1, most + 1)) for values, most in furthest.items()
    ]
    assert np.bincount([text for _, text in halves(found)]).tolist() == pairs


@both_ways
def test_pairs_of_values_are_listed_if_their_hash_is_below_the_limit(monkeypatch):
    keys = keys_of(0, np.arange(30))
    monkeypatch.setattr(postings, "PAIRS_BELOW", np.uint64((1 << 64) - 1))
    every = sorted(postings.neighbours(keys.copy()).tolist())

    monkeypatch.setattr(postings, "PAIRS_BELOW", np.uint64(every[10]))

    assert sorted(postings.neighbours(keys).tolist()) == every[:10]


@both_ways
def test_of_many_texts_more_pairs_of_common_values_are_listed():
    keys = keys_of(np.repeat(np.arange(300), 50), np.arange(300 * 50))

    few, one, two, eight, most = (
        len(postings.neighbours(keys.copy(), texts=times * FEW_TEXTS)) for times in (0, 1, 2, 8, 64)
    )

    assert few == one
    assert 1.2 * one < two < 1.3 * one
    assert eight == most == 300 * 49


@pytest.fixture
def one_list(monkeypatch):
    """Two common values that follow each other are one list, and others make none."""
    monkeypatch.setattr(postings, "NEIGHBOURS", 1)
    monkeypatch.setattr(postings, "PAIRS_BELOW", np.uint64((1 << 64) - 1))


def texts_with(common, n, size=20):
    """So many texts of `size` values: these, and others that no other text has."""
    own = [1000 * (1000 * common[0] + i + 1) for i in range(n)]
    return [{*common, *range(first, first + size - len(common))} for first in own]


@both_ways
@pytest.mark.usefixtures("one_list")
def test_a_pair_of_common_values_counts_for_two():
    fillers = [*texts_with([1], MOST_TOGETHER), *texts_with([2], MOST_TOGETHER)]
    documents = [*fillers, {1, 2, 3}, {1, 2, 4}]

    assert pairs_of(together(documents)) == {(len(fillers), len(fillers) + 1)}


@both_ways
def test_the_text_that_needs_less_says_what_a_pair_must_share():
    long = set(range(100, 100 + VALUES_A_SHARED * MOST_SHARED))
    documents = [{100, 101, 1}, long, long ^ set(range(102, 1000))]

    assert pairs_of(together(documents)) == {(0, 1), (0, 2)}


@both_ways
@pytest.mark.usefixtures("one_list")
@pytest.mark.parametrize(
    ("common", "first", "others", "is_found"),
    [
        ([1, 2], 20, 20, True),
        ([1, 2], 20, 40, True),
        ([1, 2], 40, 20, True),
        ([1, 2], 40, 40, False),
        ([1, 2, 3], 40, 40, True),
    ],
)
def test_members_of_a_crowd_share_two_values_for_each_long_list(common, first, others, is_found):
    crowd = [*texts_with(common, 1, first), *texts_with(common, 30, others)[1:]]

    found = pairs_of(together(crowd))

    assert found == ({(0, other) for other in range(1, 30)} if is_found else set())


@both_ways
@pytest.mark.usefixtures("one_list")
@pytest.mark.parametrize("references", [1, 2, 29, 30])
def test_references_of_a_crowd_are_paired_with_its_first_other_text(references):
    found = together(texts_with([1, 2], 30), references=range(references))

    others = range(references, 30)
    across = [(other, 0) for other in others]
    across += [(other, reference) for other in others[:1] for reference in range(1, references)]
    assert sorted(map(tuple, found.pairs.tolist())) == sorted(across)


@both_ways
@pytest.mark.usefixtures("one_list")
def test_crowds_of_one_side_each_have_no_pairs():
    crowds = [each for value in range(0, 12, 2) for each in texts_with([value, value + 1], 20)]
    references = [i for i in range(len(crowds)) if i // 20 % 2]

    found = together(crowds, references=references)

    assert not len(found.pairs)
    assert not len(found.crowded)


@both_ways
def test_partners_are_counted_for_one_text_at_a_time(monkeypatch):
    documents = random_documents(3, n=30)
    expected = together(documents)

    monkeypatch.setattr(postings, "threads", lambda: 1)
    monkeypatch.setattr(postings, "TEXTS_AT_ONCE", 1)
    monkeypatch.setattr(postings, "COUNTED_AT_ONCE", 1)

    assert len(expected.pairs)
    assert together(documents).pairs.tolist() == expected.pairs.tolist()


@both_ways
def test_places_are_those_of_the_texts_asked_for():
    texts = np.array([0, 2, 1, 1 << 16, (1 << 16) + 1, 2, 1, 1 << 20], np.uint32)

    places, offsets = postings._places_of(texts, 1, 1 << 16)  # noqa: SLF001

    assert places.tolist() == [2, 6, 1, 5, 3]
    assert offsets[[0, 1, 2, (1 << 16) - 1, 1 << 16]].tolist() == [0, 2, 4, 4, 5]


@both_ways
def test_progress_comes_to_its_total(monkeypatch):
    monkeypatch.setattr(postings, "threads", lambda: 5)
    monkeypatch.setattr(postings, "TEXTS_AT_ONCE", 4)
    monkeypatch.setattr(postings, "COUNTED_AT_ONCE", 4)
    done, totals = Counter(), {}

    def progress(items, label, total, amount):
        totals[label] = total
        for item in items:
            done[label] += amount(item)
            yield item

    documents = random_documents(1, n=22)
    together(documents, progress=progress)

    assert totals == {"list": sum(map(len, documents)), "search": 22}
    assert dict(done) == totals
