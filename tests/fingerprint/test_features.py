"""simdup.fingerprint.features against tokens and counts made one at a time."""

from __future__ import annotations

import unicodedata
from collections import Counter
from math import sqrt

import numpy as np
import pytest
from difficult import difficult_texts
from hypothesis import given
from hypothesis import strategies as st

from simdup.compute.hashing import gram_hashes, span_hashes
from simdup.fingerprint import features as module
from simdup.fingerprint import tokens
from simdup.fingerprint.features import UNIT, all_features, features, merged, segments
from simdup.fingerprint.tokens import Tokens, shingled
from simdup.recipe import Recipe
from simdup.text import chunking as pieces
from simdup.text.jieba_words import cutter, idf
from simdup.text.spelling import mended
from simdup.text.unicode import HAN, MARK, SINGLE, WORD, code_points, representatives, tables

TEXT = difficult_texts()
MIXED = (
    "SimHash 指纹：把一篇文档变成 64 个比特。Two texts, one fingerprint; 两篇文章相似，则指纹相近。"
    * 3
)


def kind_of(character):
    codes, _ = code_points([character])
    return int(tables(codes).kind[codes[0]])


def tokens_of(text, *, variants=True):
    """The tokens by the rule, a character at a time."""
    tokens, under = [], None
    folded = unicodedata.normalize("NFKC", mended(text).text).casefold()
    for c in folded.translate(representatives()) if variants else folded:
        kind = kind_of(c)
        if kind == MARK and under is not None:
            tokens[-1] += c
        elif kind in {SINGLE, HAN}:
            tokens.append(c)
            under = kind
        elif kind in {WORD, MARK}:
            if under == WORD:
                tokens[-1] += c
            else:
                tokens.append(c)
            under = WORD
        else:
            under = None
    return tokens


def ids(tokens):
    codes, offsets = code_points(tokens)
    return span_hashes(codes, offsets[:-1], offsets[1:] - 1)


def shingles(text, n, *, variants=True):
    tokens = tokens_of(text, variants=variants)
    if not tokens:
        return set()
    size, every = min(n, len(tokens)), np.array([0, len(tokens)])
    made = shingled(Tokens(ids(tokens), every, has_few=True), Recipe(ngram=n))
    return set(gram_hashes(made, np.arange(len(tokens) - size + 1), size).tolist())


def by_id(made, document=0):
    part = slice(*made.offsets[document : document + 2])
    return dict(zip(made.ids[part].tolist(), made.weights_or_ones[part].tolist(), strict=True))


def test_tokens_worked_by_hand():
    text = "Café №2024，中国 ｶﾞ-x\u0302y กิน ½"

    assert tokens_of(text) == [
        "café", "no2024", "中", "国", "ガ", "x\u0302y", "กิ", "น", "1", "2",
    ]  # fmt: skip


@given(st.lists(TEXT, max_size=5), st.integers(1, 4), st.booleans())
def test_shingles_are_the_distinct_runs_of_tokens(texts, n, variants):
    made = features(texts, Recipe(ngram=n, fold_variants=variants))

    expected = [shingles(text, n, variants=variants) for text in texts]
    assert [set(by_id(made, i)) for i in range(len(texts))] == expected
    assert made.counts.sum() == len(made.ids)


def test_several_lengths_vote_together():
    text = "one two three four"

    made = by_id(features([text], Recipe(ngram=(1, 3))))
    assert set(made) == shingles(text, 1) | shingles(text, 3)


def test_punctuation_width_case_and_layout_change_no_feature():
    plain = "第12条 the Quick brown fox, 各位同学：请 8:30 到"
    other = "第１２条\r\n　ＴＨＥ quick\tBROWN fox。各位同学 请（8 30）到！！"

    made = features([plain, other], Recipe())
    assert by_id(made, 0) == by_id(made, 1)


@given(st.lists(TEXT, max_size=4))
def test_tokens_are_what_str_split_gives_and_weigh_their_count(texts):
    made = features(texts, Recipe(features="tokens"))

    for i, text in enumerate(texts):
        counts = Counter(text.split())
        assert by_id(made, i) == dict(zip(ids(list(counts)).tolist(), counts.values(), strict=True))


@pytest.mark.slow
def test_words_weigh_the_root_of_their_count_by_their_idf():
    known = dict(zip(*idf(), strict=True))
    median = sorted(known.values())[len(known) // 2]
    text = "会议室今天下午开会，会议室在二楼。OK OK ok"

    words = Counter(cutter("jieba")("会议室今天下午开会"))
    words.update(cutter("jieba")("会议室在二楼"))
    words.update(["ok"] * 3)
    expected = {
        word: round(sqrt(count) * known.get(word, median) * UNIT) for word, count in words.items()
    }
    made = by_id(features([text], Recipe(features="words")))
    assert made == dict(zip(ids(list(expected)).tolist(), expected.values(), strict=True))


def test_han_beside_latin_and_long_han_runs_lose_no_character(monkeypatch):
    monkeypatch.setattr(tokens, "LONGEST_HAN_RUN", 3)

    made = features(["中国人民abc银行"], Recipe(features="words"))
    expected = [*cutter("jieba")("中国人"), *cutter("jieba")("民"), "abc", *cutter("jieba")("银行")]
    assert set(by_id(made)) == set(ids(expected).tolist())


SCRIPTS = ("圖書館後面的麵館發現頭髮乾了", "图书馆后面的面馆发现头发干了")


@pytest.mark.parametrize("kind", ["shingles", "words"])
def test_a_text_has_the_same_features_in_traditional_and_simplified_characters(kind):
    folded = features(SCRIPTS, Recipe(features=kind))
    apart = features(SCRIPTS, Recipe(features=kind, fold_variants=False))

    assert by_id(folded, 0) == by_id(folded, 1)
    assert by_id(apart, 0) != by_id(apart, 1)
    # jieba's IDF table knows the simplified words, and text in these keeps its weights.
    assert by_id(folded, 1) == by_id(apart, 1)


def test_variants_are_folded_where_marks_compose(monkeypatch):
    # `unicodedata` folds a line with such a mark.
    monkeypatch.setattr(tokens, "loaded_kernels", lambda: None)
    marked = [f"{text} x\u0302\u0316 \uff76\uff9e" for text in SCRIPTS]

    made = features(marked, Recipe())
    assert by_id(made, 0) == by_id(made, 1) == dict.fromkeys(shingles(marked[1], 2), 1)


@pytest.mark.parametrize("kind", ["tokens", "keywords"])
def test_the_assignments_recipes_fold_no_variants(kind):
    traditional, simplified = (by_id(features([text], Recipe(features=kind))) for text in SCRIPTS)

    assert not set(traditional) & set(simplified)


def test_stop_words_and_a_user_dictionary_hold_in_both_scripts(tmp_path):
    (tmp_path / "dict").write_text("\ufeff雲原生架構 100 n\n", "utf-8")
    (tmp_path / "stop").write_text("\ufeff後來\r\nTHE\r\n", "utf-8")
    recipe = Recipe(
        features="words", user_dict=str(tmp_path / "dict"), stop_words=str(tmp_path / "stop")
    )

    for text in ("后来云原生架构", "the 後來雲原生架構"):
        assert set(by_id(features([text], recipe))) == set(ids(["云原生架构"]).tolist())


@pytest.mark.slow
def test_keywords_are_those_of_jieba_with_their_weight():
    made = features(["苹果苹果苹果香蕉"], Recipe(features="keywords", top=1))

    assert made.ids.tolist() == ids(["苹果"]).tolist()
    assert made.weights_or_ones[0] / UNIT == pytest.approx(5.650655, abs=1 / UNIT)


def test_ids_that_differ_only_in_the_bits_replaced_by_the_document_are_distinct():
    near = np.array([5, 4, 5, 4, 4, 5], np.uint64)  # differ in the lowest bit only
    documents = np.array([0, 0, 0, 1, 1, 1])

    first, counts = module._distinct(near, documents)  # noqa: SLF001
    assert near[first].tolist() == [4, 5, 4, 5]
    assert documents[first].tolist() == [0, 0, 1, 1]
    assert counts.tolist() == [1, 2, 2, 1]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["shingles", "words", "tokens", "keywords"])
def test_no_text_and_empty_texts_have_no_features(kind):
    recipe = Recipe(features=kind)

    assert features([], recipe).offsets.tolist() == [0]
    assert features(["", " \n\t"], recipe).counts.tolist() == [0, 0]


@pytest.fixture
def small_segments(monkeypatch):
    monkeypatch.setattr(pieces, "PIECE", 64)
    monkeypatch.setattr(module, "SEGMENT", 50)
    monkeypatch.setattr(pieces, "LONGEST_WORD", 80)


@pytest.mark.usefixtures("small_segments")
@pytest.mark.parametrize("kind", ["shingles", "words", "tokens"])
@pytest.mark.parametrize("text", [MIXED * 5, "x" * 500, "中" * 300, "a b" * 200, "\u0301" * 200])
def test_where_chunks_are_cut_makes_no_difference(kind, text):
    recipe = Recipe(features=kind)

    found = [
        [by_id(each) for each in segments(_cut(text, size), recipe)] for size in (1, 7, 20, 64)
    ]
    assert found[0] == found[1] == found[2] == found[3]


def _cut(text, size):
    return (text[i : i + size] for i in range(0, len(text), size))


@pytest.mark.usefixtures("small_segments")
def test_segments_are_of_equal_numbers_of_tokens():
    made = list(segments(_cut("b a " * 60, 64), Recipe(features="tokens")))

    assert [int(each.weights_or_ones.sum()) for each in made] == [50, 50, 20]


@pytest.mark.usefixtures("small_segments")
def test_segments_of_one_text_merge_to_the_sum_of_their_weights():
    recipe = Recipe(features="tokens")
    parts = list(segments(_cut("b a " * 60, 64), recipe))

    whole = merged(parts, recipe)
    assert by_id(whole) == {int(x): 60 for x in ids(["a", "b"])}


def test_long_and_short_texts_go_together(monkeypatch):
    long = " ".join(f"w{i % 97}" for i in range(3000))
    expected = [by_id(features([text], Recipe())) for text in (long, "a b", "")]
    monkeypatch.setattr(pieces, "PIECE", 500)

    made = all_features([long, "a b", ""], Recipe())
    assert [by_id(made, i) for i in range(3)] == expected


@pytest.mark.usefixtures("small_segments")
@pytest.mark.parametrize("kind", ["shingles", "words", "tokens", "keywords"])
def test_the_digest_of_the_words_is_the_same_for_any_recipe_and_in_segments(kind):
    recipe, text = Recipe(features=kind), "b a c 你好，" * 60
    plain = all_features([text[:60]], Recipe(fold_variants=recipe.fold_variants)).words

    whole, parts = features([text[:60]], recipe).words, list(segments(_cut(text[:60], 16), recipe))

    assert (whole == plain).all()
    assert (merged(parts, recipe).words == plain).all()
