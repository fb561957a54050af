"""simdup.fingerprint.tokens worked by hand, by numpy and by the kernels."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from simdup.compute.hashing import span_hashes, string_hashes
from simdup.fingerprint import tokens
from simdup.recipe import Recipe
from simdup.text.unicode import code_points


@pytest.fixture
def tokens_of(each_way):  # noqa: ARG001
    """`tokens_of(texts)`: how many tokens each text has, and the ids of all."""

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


def test_a_mark_belongs_to_the_character_it_stands_on(tokens_of):
    assert tokens_of("x\u0302y กิน か\u20dd中\u0302b") == [
        ids("x\u0302y", "กิ", "น", "か\u20dd", "中\u0302", "b")
    ]


def test_a_chinese_character_with_a_mark_is_a_word_by_itself():
    found = tokens.tokens(["大\u0301学生", "大学生"], Recipe(features="words"))

    assert found.ids.tolist() == ids("大\u0301", "学生", "大学生")


def test_jieba_joins_no_letter_with_a_chinese_character(write):
    dictionary = write("words.txt", "t恤\n恤衫\n")

    found = tokens.tokens(["T恤衫 t恤"], Recipe(features="words", user_dict=dictionary))

    assert found.ids.tolist() == ids("t", "恤衫", "t", "恤")


@pytest.mark.parametrize("before", ["", " ", "a\n", "。"])
def test_marks_on_nothing_begin_a_word(tokens_of, before):
    first = ids("a") if before.startswith("a") else []

    assert tokens_of(f"{before}\u0302\u0316b c") == [first + ids("\u0316\u0302b", "c")]
    assert tokens_of("a", f"{before}\u0302", "b") == [ids("a"), first + ids("\u0302"), ids("b")]
    assert tokens_of(f"{before}\u0302中\u0302") == [first + ids("\u0302", "中\u0302")]


def test_texts_without_a_token_stand_between_others(tokens_of):
    assert tokens_of("", "a b", " 。", "", "中国", "\n") == [
        *([], ids("a", "b"), [], [], ids("中", "国"), [])
    ]


@pytest.mark.parametrize("bits", [8, 56, 64, 72, 120, 128])
def test_the_low_bits_of_string_hashes_vote_from_the_first_bit_on(bits):
    texts = ["one two", "三"]
    codes, offsets = code_points(["one", "two", "三"])
    high, low = string_hashes(codes, offsets[:-1], offsets[1:] - 1)
    numbers = [int(a) << 64 | int(b) for a, b in zip(high, low, strict=True)]

    found = tokens.tokens(texts, Recipe(features="tokens", hash="string", bits=bits)).hashes
    words = 1 if bits <= 64 else 2
    assert found.shape == (3, words)
    assert [int.from_bytes(row.astype(">u8").tobytes(), "big") for row in found] == [
        (number & (1 << bits) - 1) << (64 * words - bits) for number in numbers
    ]


def test_blake2b_of_each_token_votes():
    found = tokens.tokens(["one 三 one"], Recipe(features="tokens", hash="blake2b", bits=64)).hashes

    assert found.tolist() == [
        [int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "big")]
        for word in ("one", "三", "one")
    ]


@pytest.mark.parametrize("hash_kind", ["mix64", "string", "blake2b"])
def test_tokens_that_are_cut_and_joined_keep_their_hashes(hash_kind):
    recipe = Recipe(features="tokens", hash=hash_kind, bits=128)
    whole = tokens.tokens(["a b c d"], recipe)

    again = whole.slice(0, 1).followed_by(whole.slice(1, 4)).slice(1, 3)
    expected = tokens.tokens(["b c"], recipe)
    assert again.ids.tolist() == expected.ids.tolist()
    assert again.offsets.tolist() == expected.offsets.tolist() == [0, 2]
    if hash_kind == "mix64":
        assert again.hashes is expected.hashes is None
    else:
        assert again.hashes.tolist() == expected.hashes.tolist()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "one, two 三四\nfive",
        "Ｗｉｄｅ ﬁne … ㈱ 한국어 x\u0302y กิน か\u20dd",
        "cafe\u0301 and\ncafé, か\u3099 中\u0302b\r\nplain line",
    ],
)
def test_placed_tokens_are_the_tokens_in_their_places(tokens_of, text):
    found, starts, ends = tokens.placed_tokens(text, Recipe())

    (ids,) = tokens_of(text)
    made = tokens.Tokens(np.array(ids, np.uint64), np.array([0, len(ids)]), has_few=True)
    assert found.tolist() == tokens.shingled(made, Recipe()).tolist()
    assert (starts < ends).all()
    assert (ends[:-1] <= starts[1:] + 1).all()
    assert all(0 <= end <= len(text) for end in ends.tolist())


def test_a_digest_of_words_tells_their_order_and_number_and_nothing_else(tokens_of):
    texts = "a b a c", "A, b: a\nC!", "a c a b", "a b a c a", "", "test " * 10, "test " * 500

    assert tokens_of(*texts)
    found = tokens.word_digests(tokens.tokens(texts, Recipe())).tolist()

    assert found[0] == found[1]
    assert len({*map(tuple, found)}) == len(texts) - 1
    assert found[4] == [0, 0]


def test_the_digests_of_words_of_parts_add_up(tokens_of):
    words = tokens.tokens(["one two three two one"], Recipe())

    assert tokens_of("one")
    parts = [tokens.word_digests(words.slice(at, at + 2), at) for at in (0, 2, 4)]

    assert (sum(parts) == tokens.word_digests(words)).all()


@pytest.mark.usefixtures("kernels")
def test_kernels_and_numpy_give_equal_digests_of_words(monkeypatch):
    words = tokens.tokens(["b a b", "", "你好 a"], Recipe())
    compiled = tokens.word_digests(words, 7)
    monkeypatch.setattr(tokens, "loaded_kernels", lambda: None)

    assert (compiled == tokens.word_digests(words, 7)).all()
