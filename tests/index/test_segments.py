"""simdup.index.segments against the distance of Python integers, one row at a time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdup.index.segments import QUERIES_WORTH_A_SEARCH, cut, nearest, segment, within

pytestmark = pytest.mark.slow

WIDTHS = [1, 2, 3, 4, 7, 8, 9, 12, 16, 17, 24, 31, 32, 33, 48, 64]
SHAPES = ["random", "hot block", "few bits", "equal", "neighbours", "two values"]


def shaped(random, n, width, shape):
    """Rows that lie as those of real collections do, or worse: (n, width)."""
    rows = random.integers(0, 256, (n, width), np.uint8)
    if shape == "hot block":
        rows[:, : width // 2 + 1] = 0xA5
    elif shape == "few bits":
        rows &= 0x11
    elif shape in {"equal", "neighbours"}:
        rows[:] = rows[:1]
    elif shape == "two values":
        rows[:] = random.choice(np.array([[0], [255]], np.uint8), n)
    if shape == "neighbours":
        bits = random.integers(0, 8 * width, n)
        rows[np.arange(n), bits // 8] ^= (1 << bits % 8).astype(np.uint8)
    return rows


@st.composite
def collections(draw, most_questions=4):
    """Segments of up to ten rows whose documents are numbered at random, and questions."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    width, shape = draw(st.sampled_from(WIDTHS)), draw(st.sampled_from(SHAPES))
    sizes = draw(st.lists(st.integers(1, 10), max_size=5))
    numbers = random.permutation(1000)[: sum(sizes)] + 2**40
    rows = shaped(random, sum(sizes), width, shape)
    questions = shaped(random, draw(st.integers(0, most_questions)), width, shape)
    if len(rows) and len(questions):  # some are in it
        questions[::2] = rows[random.integers(0, len(rows), len(questions[::2]))]
    ends = np.cumsum(sizes).tolist()
    made = [
        segment(batch, rows[end - size : end], numbers[end - size : end])
        for batch, (end, size) in enumerate(zip(ends, sizes, strict=True))
    ]
    return made, questions


def oracle(segments, questions):
    """Every question with every document: its index, the distance, the number."""
    known = [
        (int.from_bytes(row.tobytes(), "big"), number)
        for each in segments
        for row, number in zip(each.rows, each.documents.tolist(), strict=True)
    ]
    asked = [int.from_bytes(row.tobytes(), "big") for row in questions]
    return [
        [
            [index, number, distance]
            for distance, number in sorted(((a ^ b).bit_count(), number) for b, number in known)
        ]
        for index, a in enumerate(asked)
    ]


def all_within(segments, questions, k):
    return [each for near in oracle(segments, questions) for each in near if each[2] <= k]


def the_first(segments, questions, count):
    found = []
    for near in oracle(segments, questions):
        equal = sum(distance == 0 for _, _, distance in near)
        found += near[: max(count, equal)]
    return found


@given(collections(), st.integers(0, 520))
def test_within_gives_all_near_documents_by_distance_and_number(collection, k):
    segments, questions = collection

    assert within(segments, questions, k).tolist() == all_within(segments, questions, k)


@given(collections(), st.integers(1, 60))
def test_nearest_are_the_first_by_distance_and_number_and_all_equals(collection, count):
    segments, questions = collection

    assert nearest(segments, questions, count).tolist() == the_first(segments, questions, count)


@given(collections(most_questions=3 * QUERIES_WORTH_A_SEARCH), st.integers(0, 300))
def test_many_queries_at_once_get_the_answers_of_each_alone(collection, k):
    segments, questions = collection

    assert within(segments, questions, k).tolist() == all_within(segments, questions, k)


def test_among_equally_near_documents_the_lowest_numbers_come_first():
    rows = np.full((9, 8), 1, np.uint8)
    rows[3] = 255
    numbers = np.array([90, 30, 70, 1, 20, 60, 50, 10, 40])
    segments = [segment(1, rows[:5], numbers[:5]), segment(2, rows[5:], numbers[5:])]

    found = nearest(segments, np.zeros((1, 8), np.uint8), 4)

    assert found.tolist() == [[0, 10, 8], [0, 20, 8], [0, 30, 8], [0, 40, 8]]
    # Equals of the question stay, since any of them may be the very text.
    assert len(nearest(segments, rows[:1], 4)) == 8
    assert nearest(segments, rows[:1], 100).tolist()[-1] == [0, 1, 56]


@pytest.mark.parametrize("bits", [8, 64, 128, 192, 256, 512])
def test_texts_as_unlike_as_can_be_are_all_bits_apart(bits):
    """512 ones do not fit into a byte."""
    rows = np.full((3, bits // 8), 255, np.uint8)
    segments = [segment(1, rows, np.arange(3))]

    assert within(segments, ~rows[:1], bits)[:, 2].tolist() == [bits] * 3
    assert within(segments, ~rows[:1], bits - 1).size == 0


def test_an_empty_index_has_nothing_near():
    questions = np.zeros((2, 8), np.uint8)

    for found in (within([], questions, 64), nearest([], questions, 3)):
        assert (found.shape, found.dtype) == ((0, 3), np.int64)
    for found in (within([], questions[:0], 64), nearest([], questions[:0], 3)):
        assert found.shape == (0, 3)


@given(collections(), st.sampled_from(WIDTHS))
def test_fingerprints_are_cut_to_their_first_bits(collection, width):
    segments, _ = collection
    width = min([width, *(each.rows.shape[1] for each in segments)])

    shorter = cut(segments, 8 * width)

    assert [each.batch for each in shorter] == [each.batch for each in segments]
    for short, whole in zip(shorter, segments, strict=True):
        assert (short.rows == whole.rows[:, :width]).all()
        assert (short.documents == whole.documents).all()
        assert (short.columns == segment(0, short.rows, short.documents).columns).all()
