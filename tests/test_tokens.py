"""simdup.tokens worked by hand, by numpy and by the kernels."""

from __future__ import annotations

import pytest

from simdup import fast, tokens
from simdup.hashing import span_hashes
from simdup.recipe import Recipe
from simdup.unicode import code_points


@pytest.fixture(params=["numpy", "compiled"])
def tokens_of(request, monkeypatch):
    """`tokens_of(texts)`: how many tokens each text has, and the ids of all."""
    kernels = fast.load() if request.param == "compiled" else None
    if request.param == "compiled" and kernels is None:
        pytest.skip("needs the extra 'fast'")
    monkeypatch.setattr(tokens, "ready", lambda: kernels)

    def of(*texts):
        found = tokens.tokens(texts, Recipe())
        return [
            found.ids[begin:end].tolist()
            for begin, end in zip(found.offsets[:-1], found.offsets[1:], strict=True)
        ]

    return of


def ids(*words):
    codes, offsets = code_points(words)
    return span_hashes(codes, offsets[:-1], offsets[1:] - 1).tolist()


def test_a_mark_belongs_to_what_it_stands_on(tokens_of):
    assert tokens_of("x\u0302y กิน か\u20dd中\u0302b") == [
        ids("x\u0302y", "กิ", "น", "か\u20dd", "中\u0302", "b")
    ]


@pytest.mark.parametrize("before", ["", " ", "a\n", "。"])
def test_marks_on_nothing_begin_a_word(tokens_of, before):
    first = ids("a") if before.startswith("a") else []

    assert tokens_of(f"{before}\u0302\u0316b c") == [first + ids("\u0316\u0302b", "c")]
    assert tokens_of("a", f"{before}\u0302", "b") == [ids("a"), first + ids("\u0302"), ids("b")]
    assert tokens_of(f"{before}\u0302中\u0302") == [first + ids("\u0302", "中\u0302")]


def test_texts_without_a_token_stand_between_others(tokens_of):
    assert tokens_of("", "a b", " 。", "", "中国", "\n") == [
        [],
        ids("a", "b"),
        [],
        [],
        ids("中", "国"),
        [],
    ]
