"""simdup.evaluation.evaluate: accuracy on labelled pairs, against plain counting."""

from __future__ import annotations

import csv
import math
import os
import re
from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pytest

import simdup
from simdup.evaluation.evaluate import SIZES, evaluate, farthest
from simdup.evaluation.metrics import MEASURES, GroupScores, Labelled, clustering
from simdup.files.scan import scan
from simdup.match.candidates import search_distance
from simdup.match.own_share import least_similarity
from simdup.match.verify import cosines
from simdup.recipe import Recipe
from simdup.settings import SIMILARITY, Settings
from simdup.theory import bit_probability

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("few_resamples")]

SHINGLES = Recipe(bits=128)
STRING = Recipe(features="tokens", hash="string", bits=128)

ASKED = [0.5, 0.7, 0.9, 1.0]


def made(first, count=120):
    """A text of made-up words, one for each number; texts share words where numbers are equal."""
    return " ".join(f"w{number}" for number in range(first, first + count))


class Table:
    """Texts and labelled pairs of them, as files and as lists."""

    def __init__(self, write):
        self.write, self.texts, self.pairs = write, {}, []

    def text(self, name, text):
        self.texts[name] = text
        self.write(name, text)

    def pair(self, left, right, label, kind="", collection=""):
        self.pairs.append((left, right, label, kind, collection))

    def saved(self):
        """Write the table and all texts, and return the name of the table."""
        rows = [("left", "right", "duplicate", "kind", "collection"), *self.pairs]
        with open("pairs.csv", "w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(rows)
        return "pairs.csv"

    def judged(self):
        """The judged pairs as two lists of indices, and whether each is a duplicate."""
        number = {name: index for index, name in enumerate(self.texts)}
        pairs = [pair for pair in self.pairs if pair[2] != ""]
        left, right = ([number[pair[side]] for pair in pairs] for side in (0, 1))
        return left, right, [pair[2] == "1" for pair in pairs]

    def distances(self, recipe, *, shift=0, bits=None):
        """The distances of the judged pairs, counted bit by bit."""
        prints = np.unpackbits(rows(list(self.texts.values()), recipe), axis=1)
        part = np.packbits(prints[:, shift : shift + (bits or recipe.bits)], axis=1)
        left, right, _ = self.judged()
        every = simdup.hamming_distances(part, part).astype(int)
        return [int(every[i, j]) for i, j in zip(left, right, strict=True)]

    def counts(self):
        """The number of features of the shorter text of each judged pair."""
        left, right, _ = self.judged()
        every = [len(set(pairwise(tokens_of(text)))) for text in self.texts.values()]
        return [min(every[i], every[j]) for i, j in zip(left, right, strict=True)]

    def similarities(self, recipe):
        left, right, _ = self.judged()
        texts = list(self.texts.values())
        found = simdup.exact_similarities(texts, left, right, recipe.features.value, **rest(recipe))
        return found.tolist()


@pytest.fixture
def table(write):
    """An empty table of labels."""
    return Table(write)


@pytest.fixture
def mixed(table, english, simplified, traditional):
    """Labels that no threshold gets right: some edits are far, some others are near."""
    texts = {
        "harbour": english,
        "harbour-edited": english.replace("grey", "white").replace("widow", "baker"),
        "harbour-cut": english[: len(english) // 2],
        "clocks": simplified,
        "clocks-edited": simplified.replace("四十多只钟", "五十几座钟").replace("，", ", "),
        "clocks-cut": simplified[: len(simplified) // 3],
        "school": traditional,
        "made-0": made(0),
        "made-10": made(10),
        "made-30": made(30),
        "made-60": made(60),
        "made-100": made(100),
        "made-300": made(300),
    }
    for name, text in texts.items():
        table.text(name, text)
    table.pair("harbour", "harbour-edited", "1", "edited")
    table.pair("clocks", "clocks-edited", "1", "edited")
    table.pair("made-0", "made-10", "1", "moved")
    table.pair("made-30", "made-0", "0", "moved")
    table.pair("made-0", "made-60", "1", "moved")
    table.pair("made-60", "made-100", "1", "moved")
    table.pair("harbour", "harbour-cut", "0", "cut")
    table.pair("clocks-cut", "clocks", "0", "cut")
    table.pair("harbour", "school", "0", "unrelated")
    table.pair("clocks", "school", "0", "unrelated")
    table.pair("made-0", "made-300", "0", "unrelated")
    table.pair("made-10", "clocks", "0", "unrelated")
    return table


def tokens_of(text):
    """Words, and Chinese characters one by one."""
    return re.findall(r"[\u4e00-\u9fff]|[^\W\u4e00-\u9fff]+", text.casefold())


def rest(recipe):
    """The recipe as options of the library, without features and bits."""
    return {"hash": recipe.hash.value, "ngram": recipe.ngram}


def rows(texts, recipe):
    return simdup.fingerprint_texts(texts, recipe.bits, recipe.features.value, **rest(recipe))


def share(part, whole):
    return part / whole if whole else math.nan


def counted(is_found, is_duplicate):
    """Precision, recall, F1 and accuracy, counted pair by pair."""
    right = wrong = missed = passed = 0
    for found, duplicate in zip(is_found, is_duplicate, strict=True):
        right += found and duplicate
        wrong += found and not duplicate
        missed += duplicate and not found
        passed += not found and not duplicate
    return [
        share(right, right + wrong),
        share(right, right + missed),
        share(2 * right, 2 * right + wrong + missed),
        share(right + passed, len(is_duplicate)),
    ]


def curve_of(distances, is_duplicate, bits):
    return [counted([d <= k for d in distances], is_duplicate) for k in range(bits + 1)]


def values(accuracy):
    return [getattr(accuracy, measure).value for measure in MEASURES]


def every_figure(row):
    """All figures of the curve, of cosines and verified, with their intervals: (bits + 3, 4, 3)."""
    every = (*row.curve, row.cosine, row.verified)
    figures = [[getattr(each, m) for m in MEASURES] for each in every]
    return np.array([[[i.value, i.low, i.high] for i in intervals] for intervals in figures])


def same(row, other):
    """Whether two rows have equal figures."""
    return (
        row.settings == other.settings
        and np.array_equal(every_figure(row), every_figure(other), equal_nan=True)
        and np.array_equal(row.predicted, other.predicted, equal_nan=True)
        and np.array_equal(row.tally, other.tally)
        and np.array_equal(row.found, other.found)
        and np.array_equal(row.found_cosine, other.found_cosine)
        and np.array_equal(row.found_verified, other.found_verified)
        and row.auc == other.auc
        and row.without == other.without
        and row.recommended == other.recommended
    )


def equal(expected):
    return pytest.approx(np.array(expected), nan_ok=True)


# Worked by hand


def test_worked_by_hand(table, english, simplified, traditional):
    for name, text in (("a", english), ("b", simplified), ("c", traditional), ("d", made(0))):
        table.text(name, text)
        table.text(f"{name}-copy", text)
    table.pair("a", "a-copy", "1", "copies")
    table.pair("b", "c", "1", "strangers")
    table.pair("c", "c-copy", "0", "copies")
    table.pair("a", "d", "0", "strangers")
    table.pair("b", "d", "0", "strangers")

    found = evaluate(table.saved(), sizes=(64,))

    (row,) = found.rows
    assert (found.table, found.texts, found.repeated, found.draws) == ("pairs.csv", 6, 0, 1)
    # At 0 bits the two pairs of copies are found, one of them a duplicate.
    assert values(row.curve[0]) == equal([1 / 2, 1 / 2, 1 / 2, 3 / 5])
    # At 64 bits all five pairs are, of which two are duplicates.
    assert values(row.curve[64]) == equal([2 / 5, 1, 4 / 7, 2 / 5])
    assert row.tally[:, 0].tolist() == [1, 1]
    assert row.tally.sum(axis=1).tolist() == [3, 2]
    assert values(row.verified) == values(row.curve[0])
    assert found.kinds == (
        Labelled("copies", duplicate=True, pairs=1),
        Labelled("copies", duplicate=False, pairs=1),
        Labelled("strangers", duplicate=True, pairs=1),
        Labelled("strangers", duplicate=False, pairs=2),
    )
    assert row.found.tolist() == row.found_verified.tolist() == [1, 1, 0, 0]


# Against plain counting


RECIPES = [
    SHINGLES,
    Recipe(ngram=(1, 3)),
    Recipe(features="tokens"),
    Recipe(features="tokens", hash="blake2b"),
    STRING,
    Recipe(features="words"),
]


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda r: f"{r.features.value}-{r.hash.value}")
def test_figures_match_plain_counting_of_distances(mixed, recipe):
    is_duplicate = mixed.judged()[2]

    found = evaluate(mixed.saved(), [recipe], (16, 64, 128))

    assert [row.settings.recipe.bits for row in found.rows] == [16, 64, 128]
    for row in found.rows:
        bits = row.settings.recipe.bits
        distances = mixed.distances(replace(recipe, bits=bits))
        expected = curve_of(distances, is_duplicate, bits)
        assert [values(each) for each in row.curve] == equal(expected)


@pytest.mark.parametrize("similarity", [0.1, 0.3, 0.5, 0.7, 0.9, 1.0])
def test_a_cosine_is_enough_from_what_a_scan_asks_on_for_candidates(mixed, similarity):
    similarities, is_duplicate = mixed.similarities(SHINGLES), mixed.judged()[2]
    asked = least_similarity(similarity, np.array(mixed.counts())).tolist()

    for row in evaluate(mixed.saved(), sizes=(16, 128), similarity=similarity, own_share=0).rows:
        bits = row.settings.recipe.bits
        reach = search_distance(similarity, bits)
        is_found = [
            alike >= least and distance <= reach
            for alike, least, distance in zip(
                similarities, asked, mixed.distances(replace(SHINGLES, bits=bits)), strict=True
            )
        ]
        for figures in (row.cosine, row.verified):
            assert values(figures) == equal(counted(is_found, is_duplicate))
        assert row.found_cosine.sum() == row.found_verified.sum() == sum(is_found)


@pytest.mark.parametrize("alike", [0.5, 0.9, 1.0])
def test_a_pair_exactly_at_the_similarity_is_verified(table, alike):
    table.text("a", made(0, 100))
    table.text("b", made(round(100 * (1 - alike)), 100))
    table.text("c", made(500, 100))
    table.pair("a", "b", "1")
    table.pair("a", "c", "0")

    (row,) = evaluate(table.saved(), [Recipe(ngram=1)], (256,), similarity=alike).rows

    assert row.found_verified.tolist() == [1, 0]


# Own shares within collections


FORM = made(0, 100)


def form(number):
    """A form of 100 words, and 60 words that are filled in."""
    return f"{FORM} {made(1000 * number, 60)}"


@pytest.fixture
def forms(table):
    """A table with eight forms, and a version of the first one."""
    for number in range(1, 9):
        table.text(f"form-{number}", form(number))
    table.text("version", f"{form(1)} {made(9000, 40)}".replace("w1003 ", ""))
    table.pair("form-1", "version", "1", "version")
    for left, right in combinations([f"form-{number}" for number in range(1, 9)], 2):
        table.pair(left, right, "0", "sibling")
    return table


def test_siblings_are_not_found_though_their_cosine_is_high_enough(forms):
    (row,) = evaluate(forms.saved(), sizes=(256,)).rows

    assert row.found_cosine.tolist() == [1, 28]
    assert row.found_verified.tolist() == [1, 0]
    assert values(row.cosine) == equal(counted([True] * 29, [True] + [False] * 28))
    assert values(row.verified) == [1, 1, 1, 1]
    assert (row.verified.f1.low, row.verified.f1.high) == (1, 1)


def test_an_own_share_of_0_asks_for_nothing(forms):
    (row,) = evaluate(forms.saved(), sizes=(256,), own_share=0).rows

    assert row.found_verified.tolist() == row.found_cosine.tolist() == [1, 28]


def test_two_forms_alone_in_their_collection_are_not_told_apart(forms):
    forms.pairs = [
        (*pair[:4], f"{pair[0]} and {pair[1]}" if pair[3] == "sibling" else "")
        for pair in forms.pairs
    ]

    (row,) = evaluate(forms.saved(), sizes=(256,)).rows

    assert row.found_verified.tolist() == [1, 28]


def test_forms_in_which_few_words_are_filled_in_are_apart_and_versions_of_one_are_not(table):
    texts = []
    for number in range(1, 7):
        words = FORM.split()
        for place in range(10, len(words), 20):
            words[place] = f"own{number}x{place}"
        texts.append(" ".join(words))
    for name, text in enumerate([*texts, texts[0].replace("own1x30", "corrected")], 1):
        table.text(f"form-{name}", text)
    table.pair("form-1", "form-7", "1", "version")
    for left, right in combinations([f"form-{number}" for number in range(1, 7)], 2):
        table.pair(left, right, "0", "form")

    (row,) = evaluate(table.saved(), sizes=(256,)).rows
    assert row.found_verified.tolist() == [1, 0]
    assert row.found_cosine.tolist() == [1, 15]


def test_texts_that_only_unjudged_pairs_name_are_in_the_collection_too(forms, english):
    forms.text("other", english)
    forms.pairs = forms.pairs[:2]  # of the version, and of forms 1 and 2
    before = evaluate(forms.saved(), sizes=(256,)).rows[0]
    for number in range(3, 9):
        forms.pair(f"form-{number}", "other", "")

    after = evaluate(forms.saved(), sizes=(256,)).rows[0]

    assert before.found_verified[:2].tolist() == [1, 1]
    assert after.found_verified[:2].tolist() == [1, 0]


def test_copies_of_a_form_count_once(forms):
    forms.pairs = forms.pairs[:2]  # of the version, and of forms 1 and 2
    for number in range(20):
        forms.text(f"copy-{number}", f"{form(1)} {made(20_000 + number, 1)}")
        forms.pair("form-1", f"copy-{number}", "", "copy")

    (row,) = evaluate(forms.saved(), sizes=(256,)).rows

    # Beside the two families that share the form, nobody has it.
    assert row.found_verified.tolist() == [1, 1, 20]


def test_equal_texts_are_found_however_many_others_share_what_they_have(table, english):
    words = made(0, 60)
    table.text("a", words)
    table.text("a-copy", f"{words}!")
    for number in range(12):
        table.text(f"b-{number}", f"{words} {made(1000 * (number + 1), 60)}")
        table.pair("a", f"b-{number}", "", "longer")
    table.text("c", english)
    table.pair("a", "a-copy", "1", "copy")
    table.pair("a", "c", "0", "other")

    (row,) = evaluate(table.saved(), sizes=(256,)).rows

    assert row.found_verified.tolist() == [0, 1, 0]


@pytest.mark.parametrize("sizes", [(16,), (256,), (64, 512)])
def test_verified_pairs_are_the_ones_that_a_scan_reports(forms, sizes):
    for left, right in combinations(forms.texts, 2):
        if right == "version" and left != "form-1":
            forms.pair(left, right, "", "other")

    row = evaluate(forms.saved(), sizes=sizes).rows[-1]

    settings = Settings(Recipe(bits=sizes[-1]), linkage="components")
    groups = [
        {member.document.path for member in group.members}
        for group in scan(list(forms.texts), settings, are_files=True).groups
    ]
    assert groups == [{"form-1", "version"}]
    assert row.found_verified.tolist() == [1, 0, 0]


def test_predictions_match_a_binomial_distance(mixed):
    similarities, is_duplicate = mixed.similarities(SHINGLES), mixed.judged()[2]

    (row,) = evaluate(mixed.saved(), sizes=(16,)).rows

    for k in range(17):
        right = wrong = 0.0
        for alike, duplicate in zip(similarities, is_duplicate, strict=True):
            p = bit_probability(alike)
            chance = sum(math.comb(16, d) * p**d * (1 - p) ** (16 - d) for d in range(k + 1))
            right, wrong = right + chance * duplicate, wrong + chance * (not duplicate)
        duplicates = sum(is_duplicate)
        others = len(is_duplicate) - duplicates
        expected = [
            right / (right + wrong),
            right / duplicates,
            2 * right / (right + wrong + duplicates),
            (right + others - wrong) / (duplicates + others),
        ]
        # Probabilities are rounded to 0.0001.
        assert row.predicted[:, k].tolist() == pytest.approx(expected, abs=0.002)


def test_a_pair_found_is_counted_with_its_kind(mixed):
    found = evaluate(mixed.saved(), sizes=(64,), k=20)

    (row,) = found.rows
    expected = {(kind.kind, kind.duplicate): 0 for kind in found.kinds}
    distances = mixed.distances(replace(SHINGLES, bits=64))
    for (_, _, label, kind, _), distance in zip(mixed.pairs, distances, strict=True):
        expected[kind, label == "1"] += distance <= 20
    assert row.found.tolist() == list(expected.values())
    assert 0 < sum(expected.values()) < len(distances)


@pytest.mark.parametrize("similarity", [0.3, 0.5, 0.8, 0.95])
def test_the_default_k_equals_the_k_of_a_bare_scan(mixed, similarity):
    found = evaluate(mixed.saved(), sizes=SIZES, similarity=similarity)

    for row in found.rows:
        settings = Settings(row.settings.recipe, similarity, verified=False)
        assert row.settings == settings
        assert row.k == settings.distance


def test_best_k_has_the_highest_f1_and_is_the_lowest_such(mixed):
    for row in evaluate(mixed.saved(), sizes=(16, 64, 128)).rows:
        f1 = [each.f1.value for each in row.curve]
        assert row.best_k == f1.index(max(f1))


# Recipes and sizes


def test_each_recipe_has_a_row_for_each_size(mixed):
    recipes = [SHINGLES, Recipe(features="tokens", bits=4096)]

    found = evaluate(mixed.saved(), recipes, (size for size in (64, 16, 64)))

    assert [row.settings.recipe for row in found.rows] == [
        replace(recipe, bits=bits) for recipe in recipes for bits in (64, 16)
    ]


@pytest.mark.parametrize("recipe", [SHINGLES, STRING], ids=["prefixes", "suffixes"])
def test_a_size_has_the_same_figures_whatever_other_sizes_there_are(mixed, recipe):
    together = evaluate(mixed.saved(), [recipe], (24, 64, 128)).rows

    for row in together:
        (alone,) = evaluate(mixed.saved(), [recipe], (row.settings.recipe.bits,)).rows
        assert same(row, alone)


def test_a_text_of_any_length_has_the_fingerprint_of_a_scan(mixed, monkeypatch):
    monkeypatch.setattr("simdup.text.chunking.PIECE", 300)
    monkeypatch.setattr("simdup.fingerprint.features.SEGMENT", 40)
    bits, is_duplicate = 128, mixed.judged()[2]

    (row,) = evaluate(mixed.saved(), sizes=(bits,)).rows

    expected = curve_of(mixed.distances(SHINGLES), is_duplicate, bits)
    assert [values(each) for each in row.curve] == equal(expected)


def test_progress_advances_with_every_row(mixed):
    seen = []

    def progress(items, label, total):
        for item in items:
            seen.append((label, total, item.settings.recipe.bits))
            yield item

    evaluate(mixed.saved(), [SHINGLES, STRING], (64, 256), progress=progress)

    assert seen == [("evaluate", 3, 64), ("evaluate", 3, 256), ("evaluate", 3, 64)]


# Draws


def test_draws_are_slices_of_a_wide_fingerprint_and_figures_are_their_means(mixed):
    is_duplicate = mixed.judged()[2]
    draws = [
        mixed.distances(replace(SHINGLES, bits=256), shift=64 * number, bits=64)
        for number in range(4)
    ]
    curves = np.array([curve_of(each, is_duplicate, 64) for each in draws])

    found = evaluate(mixed.saved(), sizes=(64,), draws=4)

    (row,) = found.rows
    assert found.draws == 4
    assert len({tuple(each) for each in draws}) == 4
    # A draw that finds nothing has no precision, and is left out of the mean.
    sums, counts = np.nansum(curves, axis=0), (~np.isnan(curves)).sum(axis=0)
    expected = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
    assert [values(each) for each in row.curve] == equal(expected)
    assert row.tally.sum() == pytest.approx(len(is_duplicate))
    assert row.found.sum() == pytest.approx(
        np.mean([sum(distance <= row.k for distance in each) for each in draws])
    )


def test_figures_of_verified_scans_are_means_over_draws(mixed):
    similarities, is_duplicate = mixed.similarities(SHINGLES), mixed.judged()[2]
    asked = least_similarity(0.5, np.array(mixed.counts())).tolist()
    reach = search_distance(0.5, 16)
    draws = [
        mixed.distances(replace(SHINGLES, bits=64), shift=16 * number, bits=16)
        for number in range(4)
    ]

    (row,) = evaluate(mixed.saved(), sizes=(16,), draws=4, similarity=0.5, own_share=0).rows

    expected = [
        counted(
            [s >= a and d <= reach for s, a, d in zip(similarities, asked, each, strict=True)],
            is_duplicate,
        )
        for each in draws
    ]
    assert values(row.cosine) == pytest.approx(np.mean(expected, axis=0).tolist())
    assert values(row.verified) == values(row.cosine)


def test_the_first_draw_is_the_fingerprint_itself(mixed):
    at_16, at_64 = evaluate(mixed.saved(), sizes=(16, 64), draws=2).rows

    # Draws of the widest size are taken apart, whatever size is looked at.
    for row in (at_16, at_64):
        bits = row.settings.recipe.bits
        expected = np.zeros((2, bits + 1))
        for number in range(2):
            distances = mixed.distances(replace(SHINGLES, bits=128), shift=64 * number, bits=bits)
            for distance, duplicate in zip(distances, mixed.judged()[2], strict=True):
                expected[int(duplicate), distance] += 0.5
        assert (row.tally == expected).all()


# Texts without a feature, pairs without a label, kinds with several


def test_a_text_without_a_feature_is_counted_and_its_pairs_are_not_found(table, english):
    table.text("a", english)
    table.text("b", english)
    table.text("signs", "...!?")
    table.text("more-signs", "—— …")
    table.pair("a", "b", "1", "copies")
    table.pair("signs", "more-signs", "1", "signs")
    table.pair("a", "signs", "0", "signs")

    (row,) = evaluate(table.saved(), sizes=(64,)).rows

    assert row.without == 2
    assert row.tally[:, 1:64].sum() == 0
    assert row.tally[:, 64].tolist() == [1, 1]
    assert [row.curve[k].recall.value for k in (0, 63, 64)] == [0.5, 0.5, 1]
    assert [row.curve[k].precision.value for k in (0, 63)] == [1, 1]
    assert values(row.verified) == values(row.curve[63])
    assert row.found.tolist() == [1, 0, 0]


def test_a_pair_without_a_label_is_only_reported(mixed):
    before = evaluate(mixed.saved(), sizes=(64,))
    mixed.pair("made-30", "made-10", "", "moved")
    mixed.pair("school", "made-300", "", "a guess")

    after = evaluate(mixed.saved(), sizes=(64,))

    old, new = before.rows[0], after.rows[0]
    assert np.array_equal(every_figure(old), every_figure(new), equal_nan=True)
    assert (old.tally == new.tally).all()
    unjudged = [index for index, kind in enumerate(after.kinds) if kind.duplicate is None]
    assert [after.kinds[index] for index in unjudged] == [
        Labelled("moved", None, 1),
        Labelled("a guess", None, 1),
    ]
    assert new.found_verified[unjudged].tolist() == [1, 0]  # words 30 to 129 of 10 to 149
    assert np.delete(new.found, unjudged).tolist() == old.found.tolist()


# Clusters


@pytest.fixture
def clusters(mixed, write):
    """A table of files and their clusters, and the cluster of each file."""
    of = {name: name.partition("-")[0] for name in mixed.texts}
    of["made-300"] = "another"
    lines = [f"{name},{cluster}\n" for name, cluster in of.items()]
    return write("clusters.csv", "path,cluster\n" + "".join(lines)), of


@pytest.mark.parametrize("options", [{}, {"similarity": 0.3}, {"k": 20}])
def test_groups_are_scored_as_a_scan_finds_them(clusters, options):
    table, of = clusters
    cluster = np.unique(list(of.values()), return_inverse=True)[1]

    (row,) = evaluate(clusters=table, sizes=(64,), **options).rows

    recipe = replace(SHINGLES, bits=64)
    verified = {"similarity": SIMILARITY} | {k: v for k, v in options.items() if k != "k"}
    for scores, settings in zip(
        row.groups,
        (Settings(recipe, **options, verified=False), Settings(recipe, **verified)),
        strict=True,
    ):
        groups = np.arange(len(of))
        for group in scan(list(of), settings, are_files=True).groups:
            members = [list(of).index(member.document.path) for member in group.members]
            groups[members] = members[0]
        assert scores == GroupScores(*clustering(cluster, groups))
        assert scores.recall > 0


def test_clusters_are_labels_of_all_pairs(clusters, mixed):
    table, of = clusters
    mixed.pairs.clear()
    for left, right in combinations(of, 2):
        is_one = of[left] == of[right]
        kind = "same cluster" if is_one else "different clusters"
        mixed.pair(left, right, str(int(is_one)), kind)

    by_cluster = evaluate(clusters=table, sizes=(64,))
    by_pair = evaluate(mixed.saved(), sizes=(64,))

    assert by_cluster.texts == by_pair.texts == len(of)
    assert set(by_cluster.kinds) == set(by_pair.kinds)
    ours, theirs = by_cluster.rows[0], by_pair.rows[0]
    assert np.array_equal(every_figure(ours), every_figure(theirs), equal_nan=True)
    assert ours.auc == theirs.auc
    assert theirs.groups is None


def test_texts_that_a_scan_skips_are_groups_of_their_own(write, english):
    write("a", english)
    write("b", english)
    write("c", "...!?")
    write("d", "!!")
    table = write("clusters.csv", "path,cluster\na,1\nb,1\nc,2\nd,2\n")

    (row,) = evaluate(clusters=table, sizes=(64,)).rows

    for scores in row.groups:
        assert (scores.precision, scores.recall) == (1, 0.5)


def test_all_names_of_a_file_are_in_the_group_that_a_scan_finds(write, english, simplified):
    write("a", english)
    write("b", english.replace("grey", "white"))
    write("c", simplified)
    os.link("b", "d")
    os.link("a", "e")
    os.link("c", "f")
    lines = "path,cluster\na,1\nb,1\nc,2\nd,1\ne,1\nf,3\n"

    (row,) = evaluate(clusters=write("clusters.csv", lines), sizes=(64,)).rows

    # a, b, d and e are cluster 1; c and f are one file, but labelled as two clusters.
    for scores in row.groups:
        assert (scores.precision, scores.recall) == (6 / 7, 1)
        assert scores.f1 == pytest.approx(12 / 13)


# Recommended thresholds


@pytest.mark.parametrize("precision", ASKED)
@pytest.mark.parametrize("bits", [16, 64])
def test_the_recommended_k_is_the_last_that_keeps_the_precision(mixed, precision, bits):
    (row,) = evaluate(mixed.saved(), sizes=(bits,), precision=precision).rows

    kept = [each.precision.value for each in row.curve]
    k = row.recommended.k
    assert row.recommended.precision == precision
    assert not any(each < precision for each in kept[: k + 1])
    assert kept[k + 1] < precision


@pytest.mark.parametrize("precision", ASKED)
def test_the_recommended_similarity_is_the_last_that_keeps_the_precision(mixed, precision):
    similarities, is_duplicate = mixed.similarities(SHINGLES), mixed.judged()[2]
    counts = np.array(mixed.counts())

    (row,) = evaluate(mixed.saved(), sizes=(64,), precision=precision, own_share=0).rows

    def kept(percent):
        asked = least_similarity(percent / 100, counts).tolist()
        is_found = [s >= a for s, a in zip(similarities, asked, strict=True)]
        return counted(is_found, is_duplicate)[0]

    least = round(100 * row.recommended.similarity)
    assert row.recommended.similarity == least / 100
    assert not any(kept(percent) < precision for percent in range(least, 101))
    assert least == 1 or kept(least - 1) < precision


def test_the_recommended_similarity_is_the_one_of_scans_that_ask_for_own_shares(forms):
    def recommended(share):
        (row,) = evaluate(forms.saved(), sizes=(256,), precision=1.0, own_share=share).rows
        return row.recommended.similarity

    # Without own shares it must be above the similarity of the forms.
    assert recommended(0) > 0.6
    assert recommended(0.6) == 0.01


def test_a_pair_exactly_at_the_recommended_similarity_counts(table):
    table.text("a", made(0, 100))
    table.text("b", made(5, 100))
    table.text("c", made(10, 100))
    table.pair("a", "b", "1")
    table.pair("a", "c", "0")

    (row,) = evaluate(table.saved(), [Recipe(ngram=1)], (64,), precision=1.0).rows

    assert row.recommended.similarity == 0.91  # 0.9 would let the other pair in


def test_nothing_is_recommended_unless_asked(mixed):
    assert evaluate(Path(mixed.saved()), sizes=(64,)).rows[0].recommended is None


NAN = math.nan


@pytest.mark.parametrize(
    ("precision", "last"),
    [
        *(([1.0], 0), ([0.5], None), ([NAN], None), ([NAN, NAN], None), ([NAN, 0.5, 1.0], None)),
        *(([NAN, 1.0, 0.5], 1), ([1.0, NAN, 1.0], 2), ([1.0, NAN, 0.5], 1), ([0.9, 0.9, 0.9], 2)),
        *(([1.0, 0.89, 1.0], 0), ([0.8, 1.0, 1.0], None), ([], None)),
    ],
)
def test_farthest(precision, last):
    assert farthest(np.array(precision), 0.9) == last


# On the texts that simdup brings along


@pytest.fixture(scope="module")
def own():
    return evaluate()


def test_own_labels_are_many_and_of_many_kinds(own):
    assert own.table is None
    assert own.texts > 500
    assert sum(kind.pairs for kind in own.kinds if kind.duplicate) > 500
    assert sum(kind.pairs for kind in own.kinds if kind.duplicate is False) > 2000
    assert len(own.kinds) > 15
    assert [row.settings.recipe.bits for row in own.rows] == [16, 32, 64, 128, 256]
    assert all(row.without == 0 for row in own.rows)


def test_the_best_f1_rises_with_the_size(own):
    best = [row.curve[row.best_k].f1.value for row in own.rows]

    assert best == sorted(best)
    assert best[0] > 0.7
    assert best[-1] > 0.8


def test_theory_predicts_the_measured_figures(own):
    for row in own.rows:
        measured = row.curve[row.k]
        for index, each in enumerate((measured.precision, measured.recall)):
            assert each.low - 0.01 <= row.predicted[index, row.k] <= each.high + 0.01


def test_duplicates_are_nearer_than_others_at_any_size(own):
    assert all(row.auc.value >= 0.9 for row in own.rows)
    assert own.rows[-1].auc.value > own.rows[0].auc.value


def test_copies_with_equal_tokens_are_always_found(own):
    whole = {"re-encoded", "layout changed", "punctuation changed", "width and case changed"}

    for index, kind in enumerate(own.kinds):
        if kind.kind in whole:
            assert all(row.found[index] == kind.pairs for row in own.rows)
            whole.remove(kind.kind)
    assert not whole


def test_unrelated_texts_are_hardly_ever_found(own):
    for index, kind in enumerate(own.kinds):
        if kind.kind in {"unrelated", "translation"}:
            assert kind.pairs >= 20
            assert all(row.found[index] <= kind.pairs / 1000 for row in own.rows)


# What cannot be


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sizes": (12,)}, "bits must be a multiple of 8 from 8 to 4096, not 12"),
        ({"sizes": (64, 0)}, "bits must be a multiple of 8 from 8 to 4096, not 0"),
        ({"sizes": ()}, "there is no recipe with any of these sizes"),
        ({"recipes": [STRING], "sizes": (136, 256)}, "there is no recipe with any of these sizes"),
        ({"draws": 0}, "draws must be at least 1, not 0"),
        ({"draws": 65, "sizes": (16, 64)}, "65 draws of 64 bits: together 4096 bits at most"),
        (
            {"draws": 2, "recipes": [SHINGLES, STRING], "sizes": (64,)},
            "hash 'string' gives a text one fingerprint, so draws must be 1",
        ),
        ({"precision": 0}, "precision must be above 0 and at most 1, not 0"),
        ({"precision": 1.5}, "precision must be above 0 and at most 1, not 1.5"),
        ({"precision": NAN}, "precision must be above 0 and at most 1, not nan"),
        ({"similarity": 0}, "similarity must be above 0 and at most 1, not 0"),
        ({"own_share": 1.5}, "own_share must be from 0 to 1, not 1.5"),
        ({"sizes": (16, 64), "k": 17}, "k must be from 0 to the 16 bits, not 17"),
        ({"k": 257}, "k is 257, but the usual sizes have 256 bits at most; give sizes"),
        ({"k": -1}, "k must be from 0 to the 16 bits, not -1"),
    ],
)
def test_impossible_arguments_are_refused_before_the_table_is_read(folder, options, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        evaluate(folder / "gone.csv", **options)


def test_as_many_draws_as_fit_are_taken(mixed):
    assert evaluate(mixed.saved(), sizes=(64,), draws=64).draws == 64


def test_with_k_the_default_sizes_have_at_least_k_bits(mixed):
    found = evaluate(mixed.saved(), k=20)

    assert [row.settings.recipe.bits for row in found.rows] == [32, 64, 128, 256]


def test_a_labelled_file_that_is_replaced_before_the_scan_is_a_group_of_its_own(
    write, english, simplified, monkeypatch
):
    for name in "abc":
        write(name, f"{english} {name}")

    def scan_after(*asked, **named):
        write("new", f"{english} c")
        os.replace("new", "c")
        return scan(*asked, **named)

    monkeypatch.setattr("simdup.evaluation.evaluate.scan", scan_after)
    write("d", simplified)
    table = write("clusters.csv", "path,cluster\na,1\nb,1\nc,1\nd,2\n")

    (row,) = evaluate(clusters=table, sizes=(64,)).rows

    for scores in row.groups:
        assert (scores.precision, scores.recall) == (1, 1 / 3)


def test_the_features_of_all_texts_are_compared_as_often_for_many_collections_as_for_one(
    write, monkeypatch
):
    calls = []

    def counted(*asked):
        calls.append(asked)
        return cosines(*asked)

    monkeypatch.setattr("simdup.evaluation.evaluate.cosines", counted)
    often = []
    for collections in (1, 6):
        table = Table(write)
        for number in range(6):
            for name, first in (("a", 0), ("b", 3), ("c", 900)):
                table.text(f"{name}{number}", made(5000 * number + first))
            table.pair(f"a{number}", f"b{number}", "1", collection=str(number % collections))
            table.pair(f"a{number}", f"c{number}", "0", collection=str(number % collections))
        evaluate(table.saved(), sizes=(64,))
        often.append(len(calls))
        calls.clear()

    assert often[0] == often[1] > 0
