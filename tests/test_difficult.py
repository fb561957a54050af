"""The texts that the oracle tests draw are as difficult as they are meant to be."""

from __future__ import annotations

import unicodedata

import pytest
from difficult import difficult_texts, is_difficult
from hypothesis import Phase, given, settings

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def drawn():
    """The texts of a thousand examples that are not empty; the same in every run."""
    every = []

    @settings(max_examples=1000, derandomize=True, database=None, phases=[Phase.generate])
    @given(difficult_texts())
    def draw(text):
        every.append(text)

    draw()
    return [text for text in every if text]


def share(matches, every):
    return sum(map(matches, every)) / len(every)


def is_mark(c):
    return unicodedata.category(c)[0] == "M"


def composes(text):
    return unicodedata.normalize("NFC", text) != "".join(
        unicodedata.normalize("NFC", c) for c in text
    )


def test_the_texts_are_many_and_of_several_characters(drawn):
    assert len(drawn) > 900
    assert sum(map(len, drawn)) / len(drawn) > 5


def test_between_a_third_and_three_quarters_of_the_characters_are_difficult(drawn):
    assert 1 / 3 < share(is_difficult, "".join(drawn)) < 3 / 4


@pytest.mark.parametrize(
    ("matches", "least"),
    [
        (is_mark, 0.1),
        (lambda c: len(unicodedata.normalize("NFKC", c)) > 1, 0.04),
        (lambda c: c.casefold() != c, 0.08),
        (lambda c: "\u1100" <= c <= "\u11ff", 0.03),
        (lambda c: "\ud800" <= c <= "\udfff", 0.03),
        (lambda c: c > "\uffff", 0.03),
    ],
    ids=["marks", "several when folded", "case", "jamo", "surrogates", "astral"],
)
def test_every_kind_of_difficult_character_is_drawn(drawn, matches, least):
    assert share(matches, "".join(drawn)) > least


def test_one_text_in_twenty_or_more_begins_with_a_mark(drawn):
    assert share(lambda text: is_mark(text[0]), drawn) > 0.05


def test_one_text_in_ten_or_more_has_characters_that_compose_or_change_places(drawn):
    assert share(composes, drawn) > 0.1
