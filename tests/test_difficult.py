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


def is_mark(c):
    return unicodedata.category(c)[0] == "M"


@pytest.mark.parametrize(
    ("matches", "least"),
    [
        (is_difficult, 1 / 3),
        (lambda c: not is_difficult(c), 1 / 4),
        (is_mark, 0.1),
        (lambda c: len(unicodedata.normalize("NFKC", c)) > 1, 0.04),
        (lambda c: c.casefold() != c, 0.08),
        (lambda c: "\u1100" <= c <= "\u11ff", 0.03),
        (lambda c: "\ud800" <= c <= "\udfff", 0.03),
        (lambda c: c > "\uffff", 0.03),
    ],
)
def test_every_kind_of_character_is_drawn(drawn, matches, least):
    every = "".join(drawn)

    assert sum(map(matches, every)) / len(every) > least


def test_many_texts_begin_with_a_mark_or_have_characters_that_compose(drawn):
    composed = [
        unicodedata.normalize("NFC", text) != "".join(unicodedata.normalize("NFC", c) for c in text)
        for text in drawn
    ]

    assert len(drawn) > 900
    assert sum(map(len, drawn)) / len(drawn) > 5
    assert sum(is_mark(text[0]) for text in drawn) / len(drawn) > 0.05
    assert sum(composed) / len(drawn) > 0.1
