"""simdup.fingerprint.sketch: which features a sketch keeps, and how facts about many texts
are collected, also when Ctrl-C comes meanwhile."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import of_each
from hypothesis import given
from hypothesis import strategies as st

from simdup import Recipe
from simdup.fingerprint import features as features_module
from simdup.fingerprint import sketch
from simdup.fingerprint.features import Features, all_features
from simdup.fingerprint.simhash import fingerprint_texts
from simdup.fingerprint.sketch import (
    DENSE_LEVELS,
    KEPT,
    LEAST,
    LEVELS,
    Collected,
    Sketches,
    are_dense,
    joined,
    read_back,
    sketches,
    thinned,
)
from simdup.settings import Limits


def hashes(n, seed=0):
    return np.random.default_rng(seed).integers(0, 1 << 64, n, np.uint64)


def one(ids):
    return Features(ids, None, np.array([0, len(ids)]))


def expected(ids, least=KEPT):
    """What a sketch keeps, in plain words: hashes below a limit that goes by their number."""
    halvings = 0
    while halvings < LEVELS and len(ids) >= 2 * least << halvings:
        halvings += 1
    return sorted({int(each) >> 32 for each in ids if int(each) < 1 << (64 - halvings)})


@given(st.lists(st.sampled_from([0, 1, 7, 5000, 2 * KEPT - 1, 2 * KEPT, 4 * KEPT]), max_size=3))
def test_a_sketch_keeps_the_low_hashes_of_each_document(sizes):
    documents = [hashes(size, seed) for seed, size in enumerate(sizes)]
    offsets = np.cumsum([0, *sizes])
    made = sketches(Features(np.concatenate([hashes(0), *documents]), None, offsets))

    assert [made[text].tolist() for text in range(len(made))] == list(map(expected, documents))


def test_a_text_with_few_features_keeps_all_and_others_at_least_about_so_many():
    sizes = np.array([2 * KEPT - 1, *range(2 * KEPT, 40 * KEPT, 99_991)])
    kept = np.array([sketches(one(hashes(size, size))).sizes[0] for size in sizes.tolist()])

    assert kept[0] == sizes[0]
    # Four standard errors less than KEPT.
    assert kept.min() > KEPT - 4 * KEPT**0.5


def test_what_the_longer_of_two_texts_keeps_of_both_the_shorter_one_keeps_too():
    shared = hashes(3000)
    short, long = sketches(one(shared)), sketches(one(np.concatenate((shared, hashes(9000, 1)))))

    in_both = np.intersect1d(shared >> np.uint64(32), long[0])
    assert set(in_both.tolist()) <= set(short[0].tolist())
    assert len(in_both) > 100


def test_values_that_differ_only_in_their_low_half_are_one():
    made = sketches(one(np.array([5 << 32, (5 << 32) + 1, 6 << 32], np.uint64)))

    assert made[0].tolist() == [5, 6]


@pytest.mark.parametrize(("most", "halvings"), [(LEVELS, 3), (DENSE_LEVELS, 2)])
def test_a_long_text_has_the_sketch_of_all_its_segments(monkeypatch, most, halvings):
    monkeypatch.setattr(features_module, "SEGMENT", 50_000)
    text = " ".join(f"w{number}" for number in range(150_000))

    made = fingerprint_texts([text], Recipe(), most)

    ids = all_features([text], Recipe()).ids
    limit = np.uint64((1 << 64) - 1) >> np.uint64(halvings)
    assert made.sketches[0].tolist() == np.unique(ids[ids <= limit] >> np.uint64(32)).tolist()


def test_sketches_of_several_collections_are_joined_taken_and_read_back():
    first, second = of_each([np.uint32([1, 2]), np.uint32([])]), of_each([np.uint32([3, 9, 11])])

    both = joined([first, second])
    assert [both[text].tolist() for text in range(len(both))] == [[1, 2], [], [3, 9, 11]]
    taken = both.take(np.array([2, 0]))
    assert taken.joined().tolist() == [3, 9, 11, 1, 2]
    assert taken.sizes.tolist() == [3, 2]
    back = read_back(both.each())
    assert [back[text].tolist() for text in range(3)] == [[1, 2], [], [3, 9, 11]]
    assert joined([]).joined().tolist() == []


def test_a_sketch_that_is_cut_within_a_value_is_not_read_back():
    # Together they have as many bytes as two values.
    with pytest.raises(ValueError, match="cut within a value"):
        read_back([bytes(3), bytes(5)])


def test_sketches_that_leave_out_values_are_joined_without_them():
    values = np.uint32([1, 2, 3, 4])

    for begins, sizes, expected in (
        ([0, 2], [2, 2], [1, 2, 3, 4]),
        ([2, 0], [2, 2], [3, 4, 1, 2]),
        ([0, 2], [2, 1], [1, 2, 3]),
        ([0, 0], [2, 2], [1, 2, 1, 2]),
    ):
        assert Sketches(values, np.array(begins), np.array(sizes)).joined().tolist() == expected


@pytest.mark.parametrize("limit", [0, 20, 1 << 24])
def test_sketches_are_collected_in_memory_or_in_a_file(limit):
    collected = Collected(is_sketched=True, limits=Limits(sketch_bytes=limit))
    for number in range(1, 6):
        collected.add(of_each([np.arange(number, dtype=np.uint32), np.uint32([7])]))

    made, again = collected.sketches(), collected.sketches()

    assert (made.mapped is None) == (limit > 1000)
    for text in range(10):
        wanted = list(range(text // 2 + 1)) if text % 2 == 0 else [7]
        assert made[text].tolist() == again[text].tolist() == wanted
    assert made.take(np.array([9, 0])).joined().tolist() == [7, 0]


# Dense sketches

SIZES = [0, 1, 255, 600, 2 * LEAST << DENSE_LEVELS, 5000, 200_000]


def test_the_usual_sketch_is_where_a_larger_one_begins():
    documents = [hashes(size, size) for size in SIZES]
    offsets = np.cumsum([0, *SIZES])
    every = Features(np.concatenate(documents), None, offsets)
    dense, large = sketches(every, most_levels=DENSE_LEVELS), sketches(every)

    for each in (dense, large):
        found = thinned(each, np.array(SIZES))
        assert [values.tolist() for values in found] == [expected(ids, LEAST) for ids in documents]
    assert (dense.sizes >= large.sizes).all()
    assert dense.sizes[-1] == pytest.approx(SIZES[-1] / 4, rel=0.03)


def test_a_sketch_tells_whether_it_is_dense():
    for size in SIZES[1:]:
        dense, usual = (
            sketches(one(hashes(size)), most_levels=most) for most in (DENSE_LEVELS, LEVELS)
        )

        assert are_dense(dense, np.array([size])).tolist() == [True]
        is_same = len(dense.values) == len(usual.values)
        assert are_dense(usual, np.array([size])).tolist() == [is_same]


@pytest.fixture
def three():
    """Three texts in two parts: their numbers, rows and sketches."""
    made = Collected(np.empty(0, np.int64), np.empty((0, 1), np.uint8), is_sketched=True)
    made.add(of_each([np.array([7], np.uint32)]), np.array([0]), np.array([[1]], np.uint8))
    values = [np.array([8, 9], np.uint32), np.array([], np.uint32)]
    made.add(of_each(values), np.array([1, 2]), np.array([[2], [3]], np.uint8))
    return made


def test_columns_and_sketches_come_back_in_any_order(three):
    numbers, rows = three.columns()

    assert (numbers.tolist(), rows.tolist()) == ([0, 1, 2], [[1], [2], [3]])
    sketches = three.sketches(np.array([2, 1, 0]))
    assert [each.tolist() for each in sketches] == [[], [8, 9], [7]]


def test_a_part_that_ctrl_c_cut_short_is_left_out(three):
    with pytest.raises(ValueError, match="zip"):
        three.add(None, np.array([3]))

    assert [each.tolist() for each in three.columns()] == [[0, 1, 2], [[1], [2], [3]]]


def test_columns_can_be_asked_for_again_after_ctrl_c(three, monkeypatch):
    real, joined = np.concatenate, []

    def interrupted(parts):
        if joined:
            raise KeyboardInterrupt
        joined.append(1)
        return real(parts)

    with monkeypatch.context() as patched:
        patched.setattr(sketch.np, "concatenate", interrupted)
        with pytest.raises(KeyboardInterrupt):
            three.columns()

    assert [each.tolist() for each in three.columns()] == [[0, 1, 2], [[1], [2], [3]]]
