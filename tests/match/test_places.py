"""simdup.match.places: what the texts of a family have at the places where they differ."""

# ruff: noqa: SLF001  (one step is compared with plain counting)

from __future__ import annotations

import random
from difflib import SequenceMatcher
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdup.fingerprint.tokens import tokens_and_numbers
from simdup.match import places
from simdup.match.places import are_forms, readings

BASE = [f"w{number}" for number in range(60)]


def tokenised(families):
    """The tokens of texts, given as lists of words by family; which are numbers; the families."""
    texts = [" ".join(words) for family in families for words in family]
    sizes = [len(family) for family in families]
    return *tokens_and_numbers(texts), np.repeat(np.arange(len(sizes)), sizes)


def read(*families):
    """For each place of each family, in order: the words that each text has there."""
    tokens, _, family = tokenised(families)
    texts = [words for of_family in families for words in of_family]
    found = readings(tokens, family)
    of_place = [{} for _ in found.family]
    begins = found.begin - tokens.offsets[found.text]
    columns = (column.tolist() for column in (found.text, found.place, begins, found.size))
    for text, place, begin, size in zip(*columns, strict=True):
        of_place[place][text] = " ".join(texts[text][begin : begin + size])
    listed = [[] for _ in families]
    for place, number in zip(of_place, found.family.tolist(), strict=True):
        listed[number].append([place[text] for text in sorted(place)])
    return listed


def judged(*families, has_own=True):
    """Whether each family is a form."""
    return are_forms(*tokenised(families), np.full(len(families), has_own)).tolist()


def filled(*values, base=BASE):
    """The base with values (place: words) in place of its words."""
    words = list(base)
    for place, value in values:
        words[place] = value
    return [token for word in words for token in word.split()]


# Worked by hand


def test_readings_are_the_words_between_those_that_all_texts_share():
    pay = "we will pay you {} euros on the {} of the month as agreed".format
    texts = [pay("90", "first").split(), pay("12 400", "third").split(), pay("", "last").split()]

    assert read(texts) == [[["90", "12 400", ""], ["first", "third", "last"]]]


def test_every_family_has_places_of_its_own():
    one = [filled((9, "x")), filled((9, "y"))]
    other = [BASE[:40], [*BASE[:40], "end"], ["begin", *BASE[:40]]]

    expected = [[["x", "y"]], [["", "", "begin"], ["", "end", ""]]]
    assert read(one, other) == expected
    assert read(other, one) == expected[::-1]


def test_a_moved_passage_is_a_reading_at_both_its_places():
    moved = [*BASE[:10], *BASE[14:30], *BASE[10:14], *BASE[30:]]

    passage = " ".join(BASE[10:14])
    assert read([BASE, moved]) == [[[passage, ""], ["", passage]]]


def test_texts_that_share_nothing_have_one_place():
    assert read([["a", "b"], ["c"], []]) == [[["a b", "c", ""]]]
    assert read([[], [], []]) == [[]]


@pytest.mark.parametrize(
    ("lengths", "expected"),
    [
        # Two runs cross: the shorter one was moved.
        ([("b", 2), ("a", 3)], "a"),
        ([("b", 3), ("a", 2)], "b"),
        # A long run crosses all others, which are found one after the other.
        ([("b", 1), ("c", 2), ("d", 3), ("e", 4), ("a", 9)], "a"),
        ([("e", 9), ("a", 1), ("b", 2), ("c", 3), ("d", 4)], "e"),
        ([("a", 1), ("c", 5), ("b", 2), ("d", 1)], "acd"),
    ],
)
def test_of_runs_that_cross_the_shorter_ones_are_left_out(lengths, expected):
    # Runs of these lengths, whose letters say in which order the other text has them.
    others = [10 * ord(name) + place for name, length in lengths for place in range(length)]
    owner = [name for name, length in lengths for _ in range(length)]
    here = np.arange(len(others))

    kept = places._not_crossing(here, np.array(others), np.zeros_like(here), 1)
    assert "".join(dict.fromkeys(np.array(owner)[kept].tolist())) == expected
    # Runs of other stretches are no neighbours.
    assert places._not_crossing(here, np.array(others), here, 1).all()


# An oracle


@st.composite
def families(draw):
    """Families of texts that are edited from one text of 30 words, which occur once each."""
    drawn = []
    for _ in range(draw(st.integers(1, 3))):
        texts = []
        for text in range(draw(st.integers(2, 5))):
            edits = st.dictionaries(
                st.integers(3, 26), st.sampled_from(("", "x{}", "x{0} y{0}", None))
            )
            edited = draw(edits)
            words = []
            for place, word in enumerate(BASE[:30]):
                value = edited.get(place, word)
                # None: the word is kept, and another one follows.
                words += [word, f"n{text}"] if value is None else value.format(text).split()
            texts.append(words)
        drawn.append(texts)
    return drawn


@given(families())
def test_readings_are_those_of_plain_counting_where_the_words_of_a_text_are_distinct(drawn):
    for texts, found in zip(drawn, read(*drawn), strict=True):
        shared = [word for word in BASE[:30] if all(word in words for words in texts)]
        ends = [[-1, *map(words.index, shared), len(words)] for words in texts]
        at_place = zip(*map(pairwise, ends), strict=True)
        expected = [
            [" ".join(words[left + 1 : right]) for words, (left, right) in pairs]
            for pairs in (zip(texts, each, strict=True) for each in at_place)
        ]
        assert found == [place for place in expected if any(place)]


@pytest.mark.parametrize("kinds", [2, 12, 60])
@pytest.mark.parametrize("seed", range(20))
def test_what_lies_between_readings_is_equal_and_about_what_a_slow_alignment_finds(seed, kinds):
    draw = random.Random(seed)
    base = [f"w{draw.randrange(kinds)}" for _ in range(200)]
    texts = []
    for _ in range(4):
        words = list(base)
        for _ in range(draw.randrange(1, 8)):
            place = draw.randrange(190)
            words[place : place + draw.randrange(4)] = [
                f"n{draw.randrange(10**9)}"
            ] * draw.randrange(4)
        texts.append(words)
    tokens, _, family = tokenised([texts])
    found = readings(tokens, family)

    between = [list(words) for words in texts]
    begins = found.begin - tokens.offsets[found.text]
    columns = (column.tolist() for column in (found.text, begins, found.size))
    for text, begin, size in zip(*columns, strict=True):
        between[text][begin : begin + size] = [None] * size
    between = [[word for word in words if word is not None] for words in between]
    assert all(words == between[0] for words in between)
    in_all = set(range(len(texts[0])))
    for words in texts[1:]:
        matcher = SequenceMatcher(None, texts[0], words, autojunk=False)
        blocks = matcher.get_matching_blocks()
        in_all &= {block.a + offset for block in blocks for offset in range(block.size)}
    # Nothing occurs once among two words, so only the ends are aligned.
    assert kinds == 2 or len(between[0]) > 0.9 * len(in_all)


# What is a form


def own(number, *at):
    """Values that no other text has."""
    return [(place, f"own{number}x{place}") for place in at]


@pytest.mark.parametrize(
    ("texts", "is_form"),
    [
        pytest.param([filled(*own(i, 9, 30, 50)) for i in range(n)], True, id=f"{n} forms")
        for n in (3, 4, 5, 8)
    ]
    + [
        pytest.param([filled(*own(i, 9, 30)) for i in range(2)], False, id="two texts"),
        pytest.param([filled(*own(i, 9)) for i in range(4)], True, id="one place"),
        pytest.param([filled(*own(i, 9)) for i in range(3)], False, id="one place of three texts"),
        pytest.param([filled((9, f"{i}")) for i in range(5)], False, id="one number"),
        pytest.param([filled((9, f"name{i // 2}")) for i in range(5)], False, id="one name recurs"),
        pytest.param([filled(*own(i, 0, 30)) for i in range(5)], False, id="one place inside"),
        pytest.param([[f"h{i}", f"i{i}", *BASE, f"f{i}"] for i in range(5)], False, id="frames"),
        pytest.param([filled((10 * i + 5, f"note{i} of{i}")) for i in range(5)], False, id="notes"),
        pytest.param(
            [filled(*own(i, 9, 30), (40, f"much{i} " * 13)) for i in range(5)],
            False,
            id="most of what differs is long",
        ),
        pytest.param(
            [filled(*own(i, 9, 30, 50), (40, f"much{i} " * 13)) for i in range(5)],
            True,
            id="three places and a free text",
        ),
        pytest.param(
            [
                filled(*own(i, 9, 30, 50), *((at, f"m{i} " * 13) for at in (5, 20, 40, 57)))
                for i in range(5)
            ],
            False,
            id="three places and four free texts",
        ),
        pytest.param(
            [filled(*own(i, 9, 30), (40, f"much{i}")) for i in range(5)], True, id="short"
        ),
        # Four of five texts fill in each place.
        pytest.param(
            [filled(*own(i, *({9, 30, 50} - {(9, 30, 50, 0, 0)[i]}))) for i in range(5)],
            True,
            id="some places are not filled in",
        ),
        # One date of each version, at three places; and with an amount that is no date.
        pytest.param(
            [filled(*((place, f"{2020 + i}") for place in (9, 30, 50))) for i in range(5)],
            False,
            id="stamped",
        ),
        pytest.param(
            [filled((9, f"{2020 + i}"), (30, f"{2020 + i}"), (50, f"{7 * i}")) for i in range(5)],
            True,
            id="stamped and filled in",
        ),
        pytest.param(
            [filled((9, f"name{i}"), (30, f"name{i}")) for i in range(5)], True, id="a name twice"
        ),
        pytest.param([BASE] * 5, False, id="equal texts"),
        pytest.param([BASE, BASE[:30], []], False, id="an empty text"),
        pytest.param([["a"] * n for n in (5, 50, 500)], False, id="one word"),
    ],
)
def test_a_form_has_places_inside_that_most_texts_fill_in(texts, is_form):
    assert judged(texts) == [is_form]
    assert judged(texts[::-1]) == [is_form]
    assert judged([BASE], texts, [BASE] * 3) == [False, is_form, False]


def test_readings_of_one_text_alone_count_only_where_features_tell_the_same():
    filled_in = [filled(*own(i, 9, 30, 50)) for i in range(5)]
    assert judged(filled_in) == [True]
    assert judged(filled_in, has_own=False) == [False]
    crossed = graded(["ccccccc", "abababa", "babcabc", "cabbaca", "bcabcab", "acbacba"])
    assert judged(crossed, has_own=False) == [True]


def graded(grades):
    """Texts with these grades ("aab": three places)."""
    at = range(5, 60, 8)
    return [filled(*((at[i], f"grade{g}") for i, g in enumerate(text))) for text in grades]


@pytest.mark.parametrize(
    ("grades", "is_form"),
    [
        # A change that is passed on, then another one: three combinations of two grades each.
        (["aa", "aa", "ab", "ab", "bb", "bb"], False),
        # All four combinations: no history explains them.
        (["aa", "aa", "ab", "ab", "bb", "ba"], True),
        # One of two is changed back: the other change came between.
        (["aaa", "baa", "bba", "bbb", "bbb", "bbb"], False),
        (["ccccccc", "abababa", "babcabc", "cabbaca", "bcabcab", "acbacba"], True),
    ],
)
def test_values_that_recur_are_filled_in_if_they_follow_no_history(grades, is_form):
    assert judged(graded(grades)) == [is_form]


def test_places_are_compared_with_those_that_follow_them(monkeypatch):
    grades = ["aacc", "aacc", "abcc", "abcc", "bbcc", "bacc"]
    assert judged(graded(grades)) == [True]

    far = [
        text[0] + "c" * (text != grades[0]) + "d" * (text == grades[0]) + text[1:]
        for text in grades
    ]
    assert judged(graded(far)) == [True]
    monkeypatch.setattr(places, "MOST_CROSSING", 1)
    assert judged(graded(far)) == [False]


def test_many_places_with_recurring_values_are_looked_at():
    draw = random.Random(1)
    base = [f"w{number}" for number in range(1600)]
    texts = [
        filled(*((i, draw.choice("abc")) for i in range(8, 1600, 8)), base=base) for _ in range(8)
    ]

    assert judged(texts) == [True]


@pytest.mark.usefixtures("each_way")
def test_families_are_judged_alike_in_any_company_and_order():
    draw = random.Random(2)
    each = [
        [filled(*own(i, *draw.sample(range(3, 57), 3))) for i in range(4)]
        if number % 2
        else [filled(*own(i, *range(number + 3, 57, 20))) for i in range(4)]
        for number in range(12)
    ]
    alone = [judged(texts)[0] for texts in each]

    assert set(alone) == {False, True}
    assert judged(*each) == alone
    assert judged(*(draw.sample(texts, 4) for texts in each)) == alone


def test_thousands_of_runs_that_cross_a_passage_are_found_one_after_the_other():
    # The passage is longer than the run beside it, and so than the next one.
    runs = [" ".join(f"r{run}x{word}" for word in range(3)) for run in range(2000)]
    passage = " ".join(f"p{word}" for word in range(500))
    first, other = " a ".join(runs), " b ".join(runs)

    found = read([f"{first} {passage}".split(), f"{passage} {other}".split()])
    assert found == [[[first, ""], ["", other]]]
