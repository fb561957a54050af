"""simdup.recipe: what is refused, and what a key tells apart."""

from __future__ import annotations

import pytest

from simdup.recipe import FeatureKind, Recipe


def test_names_become_choices():
    assert Recipe(features="words").features is FeatureKind.WORDS


def test_one_length_of_shingles_may_stand_alone():
    assert Recipe(ngram=3) == Recipe(ngram=(3,))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bits": 12}, "bits must be a multiple of 8 from 8 to 4096, not 12"),
        ({"bits": 0}, "bits must be a multiple of 8 from 8 to 4096, not 0"),
        ({"bits": 64.0}, "bits must be a whole number, not 64.0"),
        ({"ngram": "2"}, "ngram must be a whole number, not '2'"),
        ({"bits": 4104}, "bits must be a multiple of 8 from 8 to 4096, not 4104"),
        (
            {"features": "stems"},
            "features must be one of 'shingles', 'words', 'keywords', 'tokens', not 'stems'",
        ),
        ({"fold_variants": 1}, "fold_variants must be true or false, not 1"),
        ({"ngram": ()}, "ngram must be from 1 to 16, not nothing"),
        ({"ngram": (0, 2)}, "ngram must be from 1 to 16, not 0,2"),
        ({"ngram": 17}, "ngram must be from 1 to 16, not 17"),
        ({"top": 0}, "top must be at least 1, not 0"),
        ({"hash": "string"}, "shingles take only hash 'mix64', not 'string'"),
        (
            {"features": "tokens", "hash": "string", "bits": 256},
            "hash 'string' has at most 128 bits, not 256; 'mix64' has them all",
        ),
        ({"features": "words", "weights": "int"}, "weights 'int' go with features 'keywords' only"),
        (
            {"user_dict": "words.txt"},
            "a dictionary or stop words change nothing for features 'shingles';"
            " use 'words' or 'keywords'",
        ),
        (
            {"features": "tokens", "stop_words": ""},
            "a dictionary or stop words change nothing for features 'tokens';"
            " use 'words' or 'keywords'",
        ),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(options, message):
    with pytest.raises(ValueError, match=r".") as caught:
        Recipe(**options)

    assert str(caught.value) == message


def test_keys_differ_whenever_a_bit_may(tmp_path):
    stop, other = tmp_path / "stop", tmp_path / "other"
    stop.write_text("的\n", "utf-8")
    other.write_text("了\n", "utf-8")
    recipes = [
        Recipe(),
        Recipe(bits=64),
        Recipe(ngram=3),
        Recipe(ngram=(2, 3)),
        Recipe(fold_variants=False),
        Recipe(features="words"),
        Recipe(features="words", fold_variants=False),
        Recipe(features="words", hash="blake2b"),
        Recipe(features="words", stop_words=str(stop)),
        Recipe(features="words", stop_words=str(other)),
        Recipe(features="words", user_dict=str(stop)),
        Recipe(features="keywords"),
        Recipe(features="keywords", top=10),
        Recipe(features="keywords", weights="int"),
        Recipe(features="tokens"),
        Recipe(features="tokens", hash="string", bits=128),
    ]

    assert len({recipe.key() for recipe in recipes}) == len(recipes)


def test_options_that_change_no_bit_change_no_key():
    assert Recipe(top=10).key() == Recipe().key()
    for kind in ("tokens", "keywords"):
        assert Recipe(features=kind, fold_variants=False) == Recipe(features=kind)
    assert Recipe(features="tokens", ngram=3).key() == Recipe(features="tokens").key()


def test_a_dictionary_counts_by_what_it_holds_and_not_by_name(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).write_text("石墨烯 3\n", "utf-8")

    keys = [Recipe(features="words", user_dict=str(tmp_path / name)).key() for name in "ab"]
    assert keys[0] == keys[1]
