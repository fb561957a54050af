"""simdup.text.unicode against `unicodedata`, one string at a time."""

from __future__ import annotations

import sys
import unicodedata
from itertools import pairwise

import numpy as np
import pytest
from difficult import difficult_texts
from hypothesis import given
from hypothesis import strategies as st

from simdup.text import unicode
from simdup.text.unicode import code_points, fold, tables

pytestmark = pytest.mark.slow

EVERY = [chr(code) for code in range(sys.maxunicode + 1)]


def exactly(text):
    return unicodedata.normalize("NFKC", text).casefold()


def folded(texts):
    codes, offsets = fold(texts)
    joined = "".join(map(chr, codes))
    return [joined[a : b - 1] for a, b in pairwise(offsets)]


def test_every_code_point_folds_as_unicodedata_says():
    for plane in range(17):
        texts = EVERY[plane << 16 : (plane + 1) << 16]

        assert folded(texts) == [exactly(text) for text in texts]


@given(st.lists(difficult_texts(), max_size=5))
def test_texts_of_difficult_characters_fold_as_unicodedata_says(texts):
    assert folded(texts) == [exactly(text) for text in texts]


def test_a_batch_folds_as_its_texts_alone():
    texts = ["plain", "", "e\u0301 composes", "ﬁve … ½", "が and ｶﾞ", "\U0001f600\U0001d400"]

    assert folded(texts) == [folded([text])[0] for text in texts]


def test_a_very_long_run_of_marks_is_folded_in_parts(monkeypatch):
    monkeypatch.setattr(unicode, "LONGEST_MARK_RUN", 4)
    text = "a" + "\u0301\u0316" * 5 + "b"

    parts = [text[:1], text[1:5], text[5:9], text[9:11], text[11:]]
    assert folded([text]) == ["".join(map(exactly, parts))]


def test_code_points_have_a_newline_after_every_text():
    codes, offsets = code_points(["ab", "", "c"])

    assert "".join(map(chr, codes)) == "ab\n\nc\n"
    assert offsets.tolist() == [0, 3, 4, 6]


@pytest.mark.parametrize(
    ("characters", "kind"),
    [
        ("aé9ßдאㅎ", unicode.WORD),
        ("中国一鿕", unicode.HAN),
        ("あア㐀𠮷〇กကក々한", unicode.SINGLE),
        ("\u0301\u0e31\ufe0f", unicode.MARK),
        (" \n_-'。，😀\u200b\ufeff€", unicode.SEPARATOR),
    ],
)
def test_each_character_has_its_kind(characters, kind):
    codes, _ = code_points([characters])

    assert set(tables(codes).kind[codes[:-1]]) == {kind}


@pytest.mark.parametrize("code", [0, 0x530, 0x2E80, 1 << 16])
def test_small_tables_agree_with_the_largest(code):
    small, large = (tables(np.array([each], np.uint32)) for each in (code, 0x10FFFF))

    n = len(small.kind)
    assert n < len(large.kind)
    for name in ("kind", "length", "joins", "breaks", "space"):
        assert (getattr(small, name) == getattr(large, name)[:n]).all(), name
    for place in range(18):
        is_there = small.length > place
        here, there = (each.start[:n][is_there] + place for each in (small, large))
        assert (small.folded[here] == large.folded[there]).all()
        assert (small.folded_kind[here] == large.folded_kind[there]).all()


def test_white_space_is_what_str_split_takes_for_it():
    codes, _ = code_points(EVERY[:0x3001])

    spaces = tables(codes).space[:0x3001]
    assert spaces.tolist() == [c.isspace() for c in EVERY[:0x3001]]


@given(difficult_texts())
def test_a_text_cut_before_a_break_folds_as_a_whole(text):
    codes, _ = code_points([text])
    places = np.flatnonzero(tables(codes).breaks[codes[:-1]]).tolist()

    for place in places:
        assert "".join(folded([text[:place], text[place:]])) == exactly(text)
