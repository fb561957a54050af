"""simdup.text.spelling: what is mended, what is left alone, and which texts are looked at."""

from __future__ import annotations

import numpy as np
import pytest
from difficult import difficult_texts
from hypothesis import given
from hypothesis import strategies as st

from simdup.compute.hashing import span_hashes
from simdup.fingerprint.features import all_features, merged, segments
from simdup.fingerprint.signs import first_signs
from simdup.fingerprint.tokens import placed_tokens, tokens
from simdup.match.verify import cosines
from simdup.recipe import Recipe
from simdup.text.chunking import chunks_of, windows
from simdup.text.facts import other_facts
from simdup.text.spelling import flaws, mended, suspects
from simdup.text.unicode import code_points

FRENCH = "Où l'été déjà fêté, l'élève épelle « café » : 12 €, c'est “noté” — à Évry"
POLISH = "Zażółć gęślą jaźń, wołał święty źrebak"
RUSSIAN = "Съешь же ещё этих мягких булок да выпей чаю"
ENGLISH = "The agreement replaces every earlier account of the properties"


def twice(text, codec="cp1252"):
    """A text in UTF-8 that a program read in another encoding; unknown bytes stay as they are."""
    return "".join(
        chr(byte) if codec == "cp1252" and byte in b"\x81\x8d\x8f\x90\x9d" else chunk.decode(codec)
        for byte in text.encode()
        for chunk in [bytes([byte])]
    )


def words_of(text):
    """The digests of the words and signs of a text."""
    return all_features([text], Recipe()).words.tolist()


@pytest.mark.parametrize("text", [FRENCH, POLISH, RUSSIAN, "日本語の文章です。", "a 😀 b ✓ ’"])
@pytest.mark.parametrize("codec", ["cp1252", "latin-1"])
def test_a_text_that_was_encoded_twice_is_compared_as_repaired(text, codec):
    damaged = twice(text, codec)

    assert mended(damaged).text == mended(text).text == text
    assert mended(damaged).twice > 0
    assert mended(text).twice == 0
    assert mended(twice(damaged)).text == text


def test_a_few_characters_that_were_encoded_twice_are_repaired_among_good_ones():
    text = f"{FRENCH}. {twice('l’été à la fête')}"

    assert mended(text).text.endswith("l’été à la fête")
    assert mended(text).twice == 5


def test_an_a_whose_second_half_was_taken_for_a_blank_is_repaired():
    assert mended("dÃ©jÃ  vu, jusqu'Ã  la fin").text == "déjà  vu, jusqu'à  la fin"


@pytest.mark.parametrize(
    "text",
    [
        "Das macht Spaß“, sagte er, „und ist groß“ – süß…",
        "un « café\xa0» et « thé\xa0», déjà\xa0« là\xa0»",
        "NA MANHÃ” DE SÃ–",
        "5 Å³, 6 Å² and 7 Å³ of 8 Å±",
        "café—naïve’s “fiancé”—",
        "ÂÃ",
    ],
)
def test_letters_before_quotes_dashes_and_powers_are_left_alone(text):
    assert mended(text) == (text, 0, 0)


@pytest.mark.parametrize(
    "unseen", "\u00ad\u200b\u200c\u200d\u200e\u2060\u2063\ufeff\ufe0f\u034f\u061c"
)
@pytest.mark.parametrize("word", ["cooperate", "współpraca", "сотрудничать", "συνεργασία", "協力"])
def test_invisible_characters_inside_words_change_neither_words_nor_signs(unseen, word):
    text = f"1 {word} - {word}, {word}"

    assert words_of(text.replace(word[1:3], unseen.join(word[1:3]))) == words_of(text)
    assert words_of(f"{unseen}{text}".replace("-", f"{unseen}-{unseen}")) == words_of(text)


def test_a_joiner_parts_persian_words_as_a_blank_does():
    assert words_of("می\u200cخواهم") == words_of("می خواهم") != words_of("میخواهم")
    assert words_of("क्\u200dष") == words_of("क्ष")


@pytest.mark.parametrize(
    ("pointed", "plain"),
    [
        ("بِسْمِ ٱللَّهِ ٱلرَّحْمٰنِ", "بسم الله الرحمن"),
        ("مـــحـــمـــد", "محمد"),
        ("آب\u064e ا\u064e\u0653ب", "آب آب"),
        ("شָׁלוֹם עֲלֵיכֶם".replace("ش", "ש"), "שלום עליכם"),
        ("\ufb2aלום\ufb4b", "שלוםו"),
        ("ܫܠܳܡܳܐ", "ܫܠܡܐ"),
    ],
)
def test_vowel_points_change_no_word(pointed, plain):
    assert words_of(pointed) == words_of(plain)


def test_marks_that_make_another_letter_stay():
    assert words_of("آب") != words_of("اب")
    assert words_of("ދިވެހި") != words_of("ދވހ")
    assert words_of("é") != words_of("e")


@pytest.mark.parametrize(
    ("broken", "whole"),
    [
        ("the exam-\nple", "the example"),
        ("the exam- \n   ple", "the example"),
        ("inter-\nnatio-\nnal", "international"),
        ("exam\u2010\nple exam\u00ad\nple exam¬\nple", "example example example"),
        ("GROSS-\nBRITANNIEN", "GROSSBRITANNIEN"),
        ("un-\nable to do it: able people", "unable to do it: able people"),
        (
            "there-\nfore, there is more: therefore, fore",
            "therefore, there is more: therefore, fore",
        ),
        ("пере-\nвод", "перевод"),
    ],
)
def test_a_word_that_is_broken_at_the_end_of_a_line_is_one_word(broken, whole):
    assert words_of(broken)[0][:2] == words_of(whole)[0][:2]


@pytest.mark.parametrize(
    "text",
    [
        "a well-\nknown man, well and known",
        "a well-\nknown man, the well-known one",
        "Jean-\nPierre",
        "brothers-in-\nlaw",
        "pages 10-\n12, B-\n12, -\nlist, word -\nword",
        "a-\n\nb",
    ],
)
def test_other_hyphens_at_the_end_of_a_line_stay(text):
    assert mended(text).text == text


@pytest.mark.parametrize(
    ("mixed", "plain"),
    [
        (ENGLISH.translate(str.maketrans("aeo", "аео")), ENGLISH),
        (ENGLISH.translate(str.maketrans("oc", "οс")), ENGLISH),
        (f"{ENGLISH} а с", f"{ENGLISH} а с"),
        (f"{ENGLISH} а с".replace("account", "aссоunt"), f"{ENGLISH} a c"),
        (RUSSIAN.translate(str.maketrans("аеоу", "aeoy")), RUSSIAN),
        ("Хοрόс: Ελλάδα, Eλλάδα", "Χορός: Ελλάδα, Ελλάδα".replace("Χορός", "Хοрόс")),
    ],
)
def test_words_of_look_alike_letters_are_compared_by_their_look(mixed, plain):
    assert words_of(mixed) == words_of(plain)


@pytest.mark.parametrize(
    "text",
    ["TNFα, NFκB, sinα, 10μm, Δx, ρgh, ιI, ΔH", "email’ом, SMSкой, COVIDный", "π-мезон и USB-порт"],
)
def test_names_and_formulas_of_two_scripts_are_left_alone(text):
    assert mended(text) == (text, 0, 0)


def test_one_or_two_mistyped_letters_of_a_cyrillic_text_are_no_look_alikes():
    assert mended(f"Cегодня {RUSSIAN}, Eще раз") == (f"Сегодня {RUSSIAN}, Еще раз", 0, 0)
    assert mended(f"Cегодня {RUSSIAN}, Eще pаз").look_alikes == 3
    assert mended(f"{ENGLISH} of Jаne").look_alikes == 1


def test_korean_is_near_with_and_without_blanks():
    one = "어린이 방에서는 물을 마실 수 있지만 음식은 먹을 수 없습니다. 궁금하면 물어 보십시오."
    other = one.replace(" 수 ", "수").replace("물어 보", "물어보")
    both = all_features(
        [one, other, "마을 도서관은 매주 토요일 아침 아홉 시에 문을 엽니다."], Recipe()
    )

    assert words_of(one) == words_of(other)
    assert cosines(both, *map(np.array, ([0], [2])))[0] < 0.1


PARTS = (
    *"Ã©™é\xa0»-\n \u00ad¬\u200b\u064bاаoΑιw1\u0653ðŸ˜€Å³\u05c1",
    *("â€", "word", "слово", "\ufb2a", "- \n"),
)
MENDABLE = st.lists(st.sampled_from(PARTS), max_size=30).map("".join)


@given(st.lists(difficult_texts() | MENDABLE, max_size=4))
def test_a_text_that_is_not_suspected_is_never_changed(texts):
    suspected = suspects(texts)

    assert suspected == sorted(set(suspected))
    for number in {*range(len(texts))} - {*suspected}:
        assert mended(texts[number]) == (texts[number], 0, 0)


@given(MENDABLE)
def test_flaws_are_those_of_the_mended_text(text):
    assert flaws(text, text.encode())[1:] == mended(text)[1:]


@given(st.lists(MENDABLE, max_size=8), st.integers(1, 30))
def test_a_text_is_mended_alike_however_it_is_cut(parts, longest):
    text = "".join(parts)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("simdup.text.chunking.LONGEST_WORD", longest)
        assert [*windows(parts)] == [*windows([text])] == [*windows(iter(text))]
        assert "".join(windows(parts)) == text


def test_a_long_text_has_the_features_of_its_mended_parts(monkeypatch):
    monkeypatch.setattr("simdup.text.chunking.PIECE", 500)
    text = "".join(f"word{n} exam-\nple со\u00adоperate cafÃ© {n}.\n" for n in range(200))

    whole = all_features([mended(text).text], Recipe())
    in_parts = merged(segments(chunks_of(text), Recipe()), Recipe())
    assert in_parts.ids.tolist() == sorted(whole.ids.tolist())
    assert in_parts.words.tolist() == whole.words.tolist()


def test_the_places_of_tokens_lie_in_the_text_as_it_is():
    text = "a\u200bb cd\u200bef " * 50
    ids, starts, ends = placed_tokens(text, Recipe())

    codes, offsets = code_points(["ab", "cdef"])
    assert ids.tolist() == span_hashes(codes, offsets[:-1], offsets[1:] - 1).tolist() * 50
    assert 0 <= starts.min() < ends.max() <= len(text)
    assert abs(starts[50] - 250) <= 2


def test_a_text_of_invisible_characters_has_no_token():
    ids, starts, ends = placed_tokens("\u00ad\u200b", Recipe())

    assert len(ids) == len(starts) == len(ends) == 0


def test_recipes_of_other_programs_take_texts_as_they_are():
    found = all_features(["a\u200bb"], Recipe(features="tokens"))

    assert found.ids.tolist() == tokens(["a\u200bb"], Recipe(features="tokens")).ids.tolist()


def test_facts_and_signs_are_those_of_the_mended_text():
    assert other_facts("12\u200b,50 € B-14", f"{twice('12,50 €')} B-14").in_words() == ""
    assert first_signs("a\u00ad-b − 5", "a-b \u200b+ 5") == ("-", "+")
