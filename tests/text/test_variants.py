"""Variants of Chinese characters, and the script that writes their classes."""

from __future__ import annotations

import bz2
import subprocess
import sys
import unicodedata
import zipfile
from pathlib import Path

import pytest

from simdup.recipe import VARIANTS
from simdup.text import unicode as module
from simdup.text.unicode import representatives

DATA = Path(module.__file__).with_name("variants.txt")
SCRIPT = Path(__file__).parents[2] / "fixtures" / "variants.py"

# Lines as Unihan has them, made up or not: three forms of one character; a link that runs through
# 覆; a chain of meanings; two shapes; a meaning that one dictionary alone knows; and two
# characters that simplified Chinese tells apart.
EXCERPT = """\
# Unicode version: 99.1.0
U+53D1\tkTraditionalVariant\tU+767C U+9AEE
U+767C\tkSimplifiedVariant\tU+53D1
U+9AEE\tkSimplifiedVariant\tU+53D1
U+4ED6\tkSemanticVariant\tU+4F57<kMatthews,kLau U+5B83<kMatthews,kLau
U+4F57\tkSemanticVariant\tU+4ED6<kMatthews,kLau U+5B83<kMatthews,kLau
U+5CEF\tkSemanticVariant\tU+5CF0<kHKGlyph
U+7FA3\tkSemanticVariant\tU+7FA4<kLau:Z,kMatthews
U+9031\tkSemanticVariant\tU+5468<kLau
U+4E03\tkSemanticVariant\tU+67D2<kLau,kMatthews
U+8AAC\tkZVariant\tU+8AAA
U+8AAA\tkSimplifiedVariant\tU+8BF4
U+53EA\tkSpoofingVariant\tU+53EB
"""


def fold(text):
    return text.translate(representatives())


@pytest.mark.parametrize(
    "forms", ["后後", "干乾幹", "发發髮", "里裡裏", "复復複", "为為爲", "说說説", "群羣", "着著"]
)
def test_forms_of_one_character_are_folded_to_the_simplified_one(forms):
    assert fold(forms) == forms[0] * len(forms)


@pytest.mark.parametrize("apart", ["他它她", "柜饋", "托拓", "七柒", "于扵干", "日曰", "未末"])
def test_unlike_characters_stay_apart(apart):
    assert len(set(fold(apart))) == len(apart)


def test_no_class_is_a_chain_of_many():
    lines = [line for line in DATA.read_text("utf-8").splitlines() if line[0] != "#"]

    assert len(lines) > 6000
    # Measured: 台颱檯臺 with a rare form of 颱. All semantic variants together have classes of 11.
    assert max(map(len, lines)) <= 5
    assert sum(map(len, lines)) == len(set("".join(lines)))


def test_folding_twice_is_folding_once_and_normalisation_changes_nothing_any_more():
    folded = "".join(map(chr, set(representatives().values())))

    assert fold(folded) == folded
    assert unicodedata.normalize("NFKC", folded).casefold().translate(representatives()) == folded


def test_nothing_before_cjk_folds_into_it():
    before = module._tables(module._CJK).folded  # noqa: SLF001

    assert {*before.tolist()}.isdisjoint(representatives())


def test_characters_that_python_does_not_know_stay_as_they_are(monkeypatch):
    monkeypatch.setattr(
        module.unicodedata, "category", lambda each: "Cn" if each in "發干" else "Lo"
    )
    representatives.cache_clear()
    try:
        assert fold("发發髮 干乾幹") == "发發发 干乾幹"
    finally:
        representatives.cache_clear()


def test_the_recipe_names_the_data():
    assert (
        DATA.read_text("utf-8")
        .splitlines()[1]
        .endswith(f"Unihan_Variants.txt of Unicode {VARIANTS.removeprefix('Unihan ')}.")
    )
    assert "UNICODE LICENSE V3" in DATA.with_name("variants.LICENSE").read_text("utf-8")


@pytest.mark.parametrize("packed", ["txt", "bz2", "zip"])
def test_the_script_makes_classes_of_what_unihan_says(tmp_path, packed):
    source, target = tmp_path / f"Unihan_Variants.{packed}", tmp_path / "variants.txt"
    if packed == "zip":
        with zipfile.ZipFile(source, "w") as archive:
            archive.writestr("Unihan_Variants.txt", EXCERPT)
    else:
        data = EXCERPT.encode()
        source.write_bytes(bz2.compress(data) if packed == "bz2" else data)

    subprocess.run([sys.executable, SCRIPT, source, target], check=True)
    head, classes = target.read_text("utf-8").split("LICENSE\n")
    assert "of Unicode 99.1.0." in head
    assert classes.split() == ["发發髮", "峰峯", "群羣", "说說説"]
