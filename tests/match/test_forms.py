"""simdup.match.forms: which texts were filled in from one form, and which of these are versions."""

# ruff: noqa: SLF001  (the statistic is compared with plain counting)

from __future__ import annotations

import random
from itertools import chain, combinations
from types import SimpleNamespace

import numpy as np
import pytest
from conftest import of_each

from simdup import Recipe, Settings, group_texts
from simdup.corpus.scan import TextsInMemory
from simdup.fingerprint.features import all_features
from simdup.fingerprint.simhash import fingerprint_texts
from simdup.fingerprint.sketch import LEVELS
from simdup.match import forms, own_share
from simdup.match.distinct_texts import Items, distinct_texts
from simdup.match.forms import COMPARED, forms_of, least_alone
from simdup.match.groups import components
from simdup.match.own_share import FAMILY
from simdup.match.verify import cosines
from simdup.text.chunking import chunks_of

HAN = [chr(code) for code in range(0x4E00, 0x5A00)]


def words(n, seed, kinds=5000):
    """Words, few of which recur."""
    draw = random.Random(seed)
    return [f"w{draw.randrange(kinds)}" for _ in range(n)]


def characters(n, seed):
    """Chinese characters, few of which recur."""
    return random.Random(seed).choices(HAN, k=n)


def filled(texts, places=6, *, of=words, length=200, seed=0, values=None):
    """Forms that differ in some places, by values of their own or by some of these."""
    base, draw, made = of(length, seed), random.Random(seed), []
    for text in range(texts):
        own = list(base)
        for place in range(places):
            value = draw.choice(values) if values else f"x{text}y{place}"
            own[(2 * place + 1) * length // (2 * places)] = value
        made.append(own)
    return made


def versions(texts, edits=4, *, first=None, seed=0):
    """Versions of one text, each made from the one before."""
    draw, own, made = random.Random(seed), list(first or words(200, seed)), []
    for text in range(texts):
        made.append(list(own))
        for edit in range(edits):
            own[draw.randrange(len(own))] = f"e{text}y{edit}"
    return made


def grouped(texts, settings=None):
    """The groups of texts, each as the sorted places of its texts."""
    joined = [text if isinstance(text, str) else " ".join(text) for text in texts]
    return sorted(sorted(group.rows) for group in group_texts(joined, settings or Settings()))


class Source(TextsInMemory):
    """Texts in memory, which notes the ones that are read and loses some."""

    def __init__(self, texts, first, lost=()):
        super().__init__(texts, first, Recipe())
        self.expected, self.read, self.lost = [], [], lost

    def expect(self, texts):
        assert (np.diff(texts) > 0).all()
        self.expected = texts.tolist()

    def chunks(self, text):
        assert text in self.expected
        self.read.append(text)
        return iter(()) if text in self.lost else chunks_of(self.texts[self.first[text]])


def found(texts, references=(), lost=()):
    """The forms among texts, and their source."""
    texts = [" ".join(text) for text in texts]
    made, every = fingerprint_texts(texts, Recipe(), LEVELS), np.arange(len(texts))
    are_references = np.isin(every, references)
    items = Items(made.rows, made.counts, made.digests, every, are_references, made.sketches)
    distinct = distinct_texts(items, 256)
    pairs = np.array([*combinations(range(len(distinct)), 2)], np.int64).reshape(-1, 2)
    features = all_features([texts[item] for item in distinct.first], Recipe())
    similar = pairs, cosines(features, *pairs.T)
    family = components(pairs[similar[1] >= FAMILY], len(distinct))
    source = Source(texts, distinct.first, lost)
    return forms_of(distinct, distinct.large, family, similar, source), source


def alone_of(sketches, family):
    """The share of features in one text alone, of each family."""
    return forms._alone(forms._holders(sketches, family), np.bincount(family))


# Worked by hand


def test_features_in_one_text_alone_are_a_share_of_the_ones_that_not_all_have():
    # Of the first family 1 and 2 are in all; 3 is passed on, 4, 5 and 6 are not.
    documents = [{1, 2}, {1, 2, 3, 4}, {1, 2, 3, 5, 6}, {1, 7}, {1, 8}, {1}]
    sketches = of_each([np.array(sorted(document), np.uint32) for document in documents])

    alone = alone_of(sketches, np.array([0, 0, 0, 1, 1, 1]))
    assert alone.tolist() == pytest.approx([(0 + 1 / 2 + 2 / 3) / 3, (1 + 1 + 0) / 3])


def test_four_forms_are_of_one_form_and_each_is_a_family():
    texts = [*filled(4), *versions(3, seed=1)]

    (form, family), source = found(texts)
    assert form.tolist() == [0, 0, 0, 0, -1, -1, -1]
    assert family.tolist() == [0, 1, 2, 3, 4, 4, 4]
    assert sorted(source.read) == source.expected == [0, 1, 2, 3]


def test_a_pair_is_apart_within_one_form_unless_it_is_a_pair_of_versions():
    texts = of_each(np.arange(6, dtype=np.uint32)[:, None])
    made = own_share.OwnShares(texts, np.ones(6, np.int64), np.array([0, 0, 2, 3, 4, 5]))
    made.form = np.array([0, 0, 0, 3, 3, -1])
    pairs = np.array([(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (4, 5), (5, 5)])

    assert made.are_of_one_form(pairs).tolist() == [False, True, True, False, True, False, False]


# An oracle


@pytest.mark.parametrize("seed", range(20))
def test_the_share_of_features_in_one_text_alone_is_the_one_of_sets(seed):
    draw = random.Random(seed)
    families = [
        [
            {*draw.sample(range(12 * COMPARED), draw.randrange(1, 60)), *range(seed % 3)}
            for _ in range(draw.randrange(2, COMPARED + 1))
        ]
        for _ in range(30)
    ]
    expected = []
    for family in families:
        shares, in_all = [], set.intersection(*family)
        for place, text in enumerate(family):
            others = set().union(*family[:place], *family[place + 1 :])
            shares.append(len(text - others) / len(text - in_all) if text - in_all else 0)
        expected.append(sum(shares) / len(family))
    texts = [np.array(sorted(text), np.uint32) for text in chain.from_iterable(families)]
    number = np.repeat(np.arange(30), [len(family) for family in families])

    assert alone_of(of_each(texts), number).tolist() == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(20))
def test_sets_of_texts_cross_as_sets_do(seed):
    draw = random.Random(seed)
    expected, texts, sizes = [], [], []
    for _ in range(30):
        n, places = draw.randrange(3, COMPARED + 1), draw.randrange(1, 6)
        family = [{10 * place + draw.randrange(2) for place in range(places)} for _ in range(n)]
        having = {
            frozenset(place for place, text in enumerate(family) if feature in text)
            for feature in set.union(*family)
        } - {frozenset(range(n))}
        crossing = sum(
            bool(one & other and one - other and other - one and len(one | other) < n)
            for one in having
            for other in having
        )
        is_crossed = n >= forms.LEAST_CROSSED and crossing >= forms.CROSSING * len(having) ** 2
        expected.append(is_crossed and bool(having))
        texts += [np.array(sorted(text), np.uint32) for text in family]
        sizes.append(n)
    number = np.repeat(np.arange(30), sizes)
    holders = forms._holders(of_each(texts), number)

    assert forms._are_crossed(holders, np.array(sizes)).tolist() == expected
    assert len({*expected}) == 2


@pytest.mark.parametrize("at_once", [1, 1000])
def test_families_are_compared_in_any_portions(monkeypatch, at_once):
    texts = [*filled(4), *versions(4, seed=1), *filled(9, seed=2), *filled(2, seed=3)]
    expected = found(texts)[0]
    monkeypatch.setattr(forms, "FEATURES_AT_ONCE", at_once)
    monkeypatch.setattr(forms, "PIECE", at_once)

    assert [column.tolist() for column in found(texts)[0]] == [each.tolist() for each in expected]
    assert len({*expected[0].tolist()} - {-1}) == 2


# Families of any size and kind


@pytest.mark.parametrize("of", [words, characters])
@pytest.mark.parametrize("texts", [3, 4, 8, 9, pytest.param(400, marks=pytest.mark.slow)])
def test_forms_are_no_group(texts, of):
    assert grouped(filled(texts, of=of)) == []
    assert grouped(filled(texts, of=of), Settings(own_share=0)) == [[*range(texts)]]


@pytest.mark.parametrize("texts", [2, 3, 4, 8, 9])
def test_versions_are_a_group(texts):
    assert grouped(versions(texts)) == [[*range(texts)]]


def test_two_texts_alone_have_no_history():
    assert grouped(filled(2)) == [[0, 1]]


@pytest.mark.parametrize("of", [words, characters])
@pytest.mark.parametrize("places", [2, 4, 10, 16, 30, 60])
def test_it_does_not_matter_how_much_is_filled_in(places, of):
    assert grouped(filled(12, places, of=of)) == []


def test_of_three_texts_more_must_be_alone_than_of_eight():
    assert (np.diff(least_alone(np.arange(3, 9))) < 0).all()
    # A fifth of what is filled in recurs in another text.
    own = filled(3, 10)
    own[1][190], own[1][170] = own[0][190], own[0][170]

    assert grouped(own) == []
    for place in (150, 130, 110, 90, 70, 50):
        own[1][place] = own[0][place]
    assert grouped(own) == [[0, 1, 2]]


def test_forms_with_a_name_and_grades_are_no_group():
    texts = filled(12, 12, values=("good", "fair", "poor"))
    for number, text in enumerate(texts):
        for place in (20, 60, 100, 140):
            text[place] = f"name{number}of{place}"

    assert grouped(texts) == []


@pytest.mark.parametrize("values", [("yes", "no"), ("good", "fair", "poor"), [*"abcde"]])
@pytest.mark.parametrize("texts", [8, 15, 40])
def test_checklists_whose_values_recur_are_no_group(texts, values):
    assert grouped(filled(texts, 24, values=values)) == []


@pytest.mark.parametrize("of", [words, characters])
def test_certificates_in_which_only_the_name_differs_are_no_group(of):
    texts = filled(12, 1, of=of)
    for number, text in enumerate(texts):
        text[100] = "".join(characters(3, number)) if of is characters else f"x{number}y zone"

    assert grouped(texts) == []
    assert grouped(texts[:3]) == [[0, 1, 2]]


def test_a_form_with_long_values_is_of_the_form_of_the_others():
    texts = filled(10, 8)
    for place in range(8):
        texts[9][(2 * place + 1) * 200 // 16] = " ".join(words(4, place))

    assert found(texts[:9])[0][0].tolist() == [0] * 9
    assert len({*found(texts)[0][0].tolist()}) == 1
    assert grouped(texts) == []


def test_a_text_that_is_merely_like_a_form_is_not_of_it():
    texts, article = filled(10, 8), words(200, 0)
    article[60:100] = words(40, 77)

    form, _ = found([*texts, article])[0]
    assert form[:10].tolist() == [form[0]] * 10
    assert form[10] == -1


@pytest.mark.parametrize("texts", [8, 12, 20])
@pytest.mark.parametrize("edits", [4, 9, 14])
def test_a_long_history_is_no_form_however_much_each_version_changes(texts, edits):
    assert (found(versions(texts, edits))[0][0] == -1).all()


def test_forms_with_a_free_text_are_no_group():
    texts = filled(8, 6)
    for number, text in enumerate(texts):
        text[110] = " ".join(words(20, 300 + number))

    assert grouped(texts) == []


def test_a_corrected_copy_of_a_form_is_a_version_of_it():
    texts = filled(20)
    corrected = list(texts[3])
    corrected[100] = "corrected"
    again = list(corrected)
    again[40] = "twice"

    assert grouped([*texts, corrected]) == [[3, 20]]
    assert grouped([*texts, corrected, again]) == [[3, 20, 21]]


def test_versions_of_one_form_are_a_group_among_many():
    texts = filled(30)
    chain_of_one = versions(5, 2, first=texts[7], seed=4)

    assert grouped([*texts, *chain_of_one[1:]]) == [[7, 30, 31, 32, 33]]


def test_copies_with_a_note_or_a_frame_are_a_group():
    base = words(200, 5)
    ended = [[*base, *words(12, 100 + i)] for i in range(6)]
    noted = [[*base[: 30 * i + 10], *words(6, 100 + i), *base[30 * i + 10 :]] for i in range(6)]
    framed = [[*words(12, 100 + i), *base, *words(12, 200 + i)] for i in range(6)]

    for texts in (ended, noted, framed):
        assert found(texts)[1].read  # their features look like the ones of forms
        assert grouped(texts) == [[*range(6)]]


def test_versions_with_their_date_at_three_places_are_a_group():
    texts = versions(6)
    stamped = [list(text) for text in [texts[0]] * 6]
    for number, (text, copy) in enumerate(zip(texts, stamped, strict=True)):
        for place in (10, 100, 190):
            text[place] = copy[place] = f"2025{number:02}"

    assert grouped(texts) == grouped(stamped) == [[*range(6)]]


def test_texts_of_which_sketches_do_not_keep_all_features_are_no_forms(monkeypatch):
    texts = filled(4)
    assert found(texts)[0][0].max() == 0
    monkeypatch.setattr(forms, "MOST_FEATURES", 198)

    (form, _), source = found(texts)
    assert form.max() == -1
    assert source.read == []


def test_of_many_texts_a_few_are_read():
    source = found(filled(40))[1]
    assert len(source.read) == len({*source.read}) == COMPARED


@pytest.mark.parametrize("lost", [{0}, {2}, {0, 1, 2, 3}])
def test_a_text_that_changed_meanwhile_is_of_no_form(lost):
    assert found(filled(4), lost=lost)[0][0].tolist() == [-1] * 4


@pytest.mark.parametrize("texts", [[], [[]], [[], ["a"]], [["a"] * 9, ["a"] * 99, ["a"]]])
def test_texts_of_no_or_one_word_are_of_no_form(texts):
    (form, family), source = found(texts)
    assert form.tolist() == [-1] * len(family)
    assert source.read == []


def test_a_text_on_both_sides_counts_once():
    texts = filled(4)

    form, family = found([*texts, *texts], references=range(4, 8))[0]
    assert form.tolist() == [0] * 8
    assert family.tolist() == [0, 1, 2, 3] * 2
    # Two texts on both sides have no history, as without the references.
    assert found([*texts[:2], *texts[:2]], references=range(2, 4))[0][0].max() == -1


@pytest.mark.usefixtures("each_way")
def test_forms_depend_neither_on_order_nor_on_unrelated_texts():
    texts = [*filled(9), *versions(5, seed=1), *versions(3, 2, first=filled(9)[2], seed=2)]
    texts = [*texts, *filled(20, of=characters), *(words(200, 50 + i) for i in range(30))]
    expected = grouped(texts[:17])
    assert expected == [[2, 14, 15, 16], [9, 10, 11, 12, 13]]

    for seed in range(4):
        order = random.Random(seed).sample(range(len(texts)), len(texts))
        shuffled = grouped([texts[place] for place in order])
        assert sorted(sorted(order[place] for place in group) for group in shuffled) == expected


def readings_of(documents, form):
    """The features of each document that few of its form have."""
    sketches = of_each([np.array(sorted(document), np.uint32) for document in documents])
    every = np.arange(len(documents), dtype=np.uint64)
    texts = SimpleNamespace(counts=sketches.sizes, digests=np.column_stack((every, every)))
    read = forms._readings(
        sketches, np.array(form, np.int64), texts, forms.LEAST_COMMON, forms.COMMON
    )
    return [{*read[text].tolist()} for text in range(len(documents))]


def test_texts_of_no_form_have_no_readings():
    assert readings_of([{1, 2}, {1}, {1, 3}], [-1, -1, -1]) == [set()] * 3
    assert readings_of([], []) == []


def test_what_few_texts_of_a_form_have_was_filled_in():
    # 1 is in all eleven, 2 in six and 3 in five; the text of no form has them too.
    documents = [{1}, *[{1, 3}] * 4, {1, 2, 3}, *[{1, 2}] * 5, {1, 2, 3}]

    assert readings_of(documents, [*[0] * 11, -1]) == [set(), *[{3}] * 5, *[set()] * 6]
    # Of three texts, 3 is filled in if two have it.
    assert readings_of(documents[:3], [0, 0, 0]) == [set(), {3}, {3}]


@pytest.mark.parametrize("at_once", [1, 50, 1 << 20])
@pytest.mark.parametrize("seed", range(5))
def test_readings_are_those_of_plain_counting(monkeypatch, seed, at_once):
    monkeypatch.setattr(own_share, "VALUES_AT_ONCE", at_once)
    monkeypatch.setattr(forms, "FEATURES_AT_ONCE", at_once)
    monkeypatch.setattr(forms, "LEAST_COMMON", 3)
    monkeypatch.setattr(forms, "COMMON", 0.3)
    draw = random.Random(seed)
    form = [draw.choice([-1, 0, 1, 2]) for _ in range(40)]
    form = [form.index(number) if number >= 0 else -1 for number in form]
    documents = [{*draw.sample(range(30), draw.randrange(1, 20)), (1 << 32) - 1} for _ in form]
    expected = []
    for document, own in zip(documents, form, strict=True):
        held = list(
            chain.from_iterable(
                other for other, number in zip(documents, form, strict=True) if number == own
            )
        )
        few = max(3, 0.3 * form.count(own))
        expected.append({value for value in document if own >= 0 and held.count(value) < few})

    assert readings_of(documents, form) == expected


def test_features_of_a_large_form_are_counted_in_some_of_its_texts(monkeypatch):
    documents = [{1, 2 + text} for text in range(40)]
    expected = [{2 + text} for text in range(40)]
    assert readings_of(documents, [0] * 40) == expected
    monkeypatch.setattr(forms, "COUNTED", 10)

    assert readings_of(documents, [0] * 40) == expected
