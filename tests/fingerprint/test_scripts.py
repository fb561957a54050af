"""Shingles of scripts with few characters: kana, and the letters of Thai and its neighbours."""

from __future__ import annotations

import random

import numpy as np
import pytest

from simdup.compute.hashing import mix64
from simdup.fingerprint import tokens as tokens_module
from simdup.fingerprint.features import all_features, merged, segments
from simdup.fingerprint.tokens import placed_tokens, shingled, tokens
from simdup.match.verify import cosines
from simdup.recipe import Recipe
from simdup.text.chunking import chunks_of

# Words of two novels as Japanese writes them: Han for the stems, kana around these.
STEMS = (
    "山川道旅宿朝夜雨風雪花鳥月星海船村町家門庭橋駅森谷島国王民兵馬牛犬猫米酒茶塩火水石木金土手"
    "足目耳口心声歌文字本紙筆絵色光影夢時年春夏秋冬東西南北前後左右上下内外大小長短高低新古白黒赤青"
)
ENDINGS = (
    *("は", "が", "を", "に", "で", "と", "も", "の", "から", "まで", "より", "へ"),
    *("ました", "ています", "であった", "という", "ことが", "ものを", "ので", "けれども"),
    *("ながら", "られて", "させた", "くない", "かった", "だろう", "でしょう"),
)


def novel(seed, words=1500):
    """A text of Japanese words of its own, with the endings that all Japanese has."""
    chosen = random.Random(seed)
    own = ["".join(chosen.choices(STEMS, k=2)) for _ in range(300)]
    return "".join(chosen.choice(own) + chosen.choice(ENDINGS) for _ in range(words))


def cosine(one, other):
    return cosines(all_features([one, other], Recipe()), np.array([0]), np.array([1]))[0]


def test_unrelated_japanese_texts_share_little():
    found = [cosine(novel(seed), novel(seed + 100)) for seed in range(8)]

    assert max(found) < 0.3


def test_a_version_of_a_japanese_text_is_found():
    text = novel(1)
    edited = list(text)
    for place in range(0, len(text), 60):
        edited[place] = "新"

    assert cosine(text, "".join(edited)) > 0.9


def test_a_shingle_with_a_kana_has_three_tokens_and_others_two():
    ids = tokens(["山道の花 abc def"], Recipe()).ids
    assert len(ids) == 6  # four characters and two words

    made = shingled(tokens(["山道の花 abc def"], Recipe()), Recipe())
    assert made[[0, 3, 4, 5]].tolist() == ids[[0, 3, 4, 5]].tolist()
    step = np.uint64(tokens_module.WORD_STEP)
    assert made[[1, 2]].tolist() == mix64(ids[[1, 2]] * step + ids[[2, 3]]).tolist()


def test_nothing_reaches_beyond_its_text():
    both = shingled(tokens(["山の", "の山"], Recipe()), Recipe())
    alone = [shingled(tokens([text], Recipe()), Recipe()) for text in ("山の", "の山")]

    assert both.tolist() == np.concatenate(alone).tolist()


@pytest.mark.parametrize("text", ["ｱｲｽ は", "アイス は", "㌔", "🈁"])
def test_half_width_and_squared_kana_are_kana(text):
    assert tokens([text], Recipe()).has_few


@pytest.mark.parametrize("text", ["山道花", "abc über"])
def test_texts_without_such_scripts_have_the_features_that_they_had(text):
    found = tokens([text], Recipe())

    assert shingled(found, Recipe()) is found.ids


def test_a_long_text_has_the_same_features_in_parts(monkeypatch):
    monkeypatch.setattr("simdup.text.chunking.PIECE", 500)
    text = " ".join(novel(seed, 200) for seed in range(4))

    whole = all_features([text], Recipe())
    in_parts = merged(segments(chunks_of(text), Recipe()), Recipe())
    assert in_parts.ids.tolist() == sorted(whole.ids.tolist())


def test_the_tokens_with_places_are_those_of_shingles():
    text = novel(3, 50)

    assert (
        placed_tokens(text, Recipe())[0].tolist()
        == shingled(tokens([text], Recipe()), Recipe()).tolist()
    )
