"""simdup.match.own_share against its definition in plain Python, and what it does to groups."""

from __future__ import annotations

import random
from math import log2, sqrt

import numpy as np
import pytest
from conftest import of_each
from hypothesis import given, settings
from hypothesis import strategies as st

from simdup import Recipe, Settings, Store, scan
from simdup.corpus.scan import group_texts
from simdup.fingerprint.features import all_features
from simdup.fingerprint.sketch import Collected, levels
from simdup.match import own_share
from simdup.match.own_share import (
    MOST_COUNTED,
    SHORT_LEAST,
    UNIT,
    CountedValues,
    Frequencies,
    OwnShares,
    count,
    estimated_cosines,
    least_similarity,
    may_be_alike,
    new_counters,
    parts_of_texts,
    shared_and_kept,
    shares_in_others,
)
from simdup.match.verify import cosines
from simdup.settings import OWN_SHARE, Limits
from tests.match.test_match import engine_of

each_way = pytest.mark.usefixtures("each_way")


def pairs_of(n):
    return np.column_stack(np.triu_indices(n, 1))


def sketched(documents):
    return of_each([np.array(sorted(each), np.uint32) for each in documents])


def counts_of(documents):
    return np.array(list(map(len, documents)), np.int64)


def weights_by_hand(documents, family):
    """A function: the weights of values for so many families that do not count, added up."""
    having = {}
    for document, number in zip(documents, family, strict=True):
        for value in document:
            having.setdefault(value, set()).add(number)

    def weights(values, less):
        others = (max(len(having[value]) - less, 0) for value in values)
        return sum(2 * UNIT // (2 + min(other, MOST_COUNTED - less)) for other in others)

    return weights


def own_shares_by_hand(documents, family):
    """The definition, pair by pair, for texts that keep all of their features."""
    weights, shares = weights_by_hand(documents, family), []
    for i, j in pairs_of(len(documents)).tolist():
        a, b = documents[i], documents[j]
        common = weights(a & b, 1 if family[i] == family[j] else 2)
        plain = len(a & b) / sqrt(len(a) * len(b)) if a and b else 0
        lengths = (common + weights(a - b, 1)) * (common + weights(b - a, 1))
        shares.append(min(common / sqrt(lengths) / plain, 1) if plain else 1)
    return shares


texts_of_numbers = st.lists(st.sets(st.integers(0, 40), max_size=15), min_size=2, max_size=9)


@given(texts_of_numbers, st.data())
def test_own_shares_are_those_of_the_definition(documents, data):
    number = st.integers(0, len(documents) - 1)
    family = np.array([data.draw(number) for _ in documents])

    shares = OwnShares(sketched(documents), counts_of(documents), family)

    assert shares.of(pairs_of(len(documents))) == pytest.approx(
        own_shares_by_hand(documents, family.tolist())
    )


@given(texts_of_numbers, st.data())
def test_own_shares_of_parts_are_those_of_the_definition(documents, data):
    number = st.integers(0, len(documents) - 1)
    family = [data.draw(number) for _ in documents]
    pairs = np.concatenate((pairs_of(len(documents)), pairs_of(len(documents))[:, ::-1]))
    weights, expected = weights_by_hand(documents, family), []
    for part, whole in pairs.tolist():
        shared = documents[part] & documents[whole]
        common = weights(shared, 2)
        every = common + weights(documents[whole] - shared, 1)
        share = common * len(documents[whole]) / (len(shared) * every) if shared else 1
        expected.append(min(share, 1))

    shares = OwnShares(sketched(documents), counts_of(documents), np.array(family))

    assert shares.of_parts(pairs) == pytest.approx(expected)


@given(texts_of_numbers)
def test_estimates_are_exact_for_texts_that_keep_all_their_features(documents):
    sketches, counts, pairs = sketched(documents), counts_of(documents), pairs_of(len(documents))
    cosines = [
        len(documents[i] & documents[j]) / sqrt(max(counts[i] * counts[j], 1))
        for i, j in pairs.tolist()
    ]

    assert estimated_cosines(sketches, counts, pairs) == pytest.approx(cosines)
    least = np.full(len(pairs), 0.5)
    has_features = (counts[pairs] > 0).all(axis=1)
    found = may_be_alike(sketches, counts, pairs, least)
    assert found[has_features].tolist() == (np.array(cosines) > 0.499999)[has_features].tolist()


@each_way
def test_no_pairs_have_no_cosines_and_no_own_shares():
    documents, none = [{1, 2}, {2, 3}], np.empty((0, 2), np.int64)
    sketches, counts = sketched(documents), counts_of(documents)
    shares = OwnShares(sketches, counts, np.arange(2))

    assert not len(estimated_cosines(sketches, counts, none))
    assert not len(shares.of(none))
    assert not len(shares.of_parts(none))


@pytest.mark.usefixtures("kernels")
def test_kernels_and_numpy_count_the_same(monkeypatch):
    draw = random.Random(5)
    pool = [draw.randrange(1 << 32) for _ in range(4000)]
    texts = [draw.sample(pool, draw.choice((60, 300, 900, 3000))) for _ in range(40)]
    # The first value is one that only the sketches of short texts keep.
    texts.append([0xFFFFFFFF, min(texts, key=len)[0]])
    counts, pairs, family = counts_of(texts), pairs_of(41), np.arange(41) // 3
    limits = (0xFFFFFFFF >> levels(counts)).tolist()
    kept = [{value for value in text if value <= limits[i]} for i, text in enumerate(texts)]
    sketches = sketched(kept)

    def measured():
        shares = OwnShares(sketches, counts, family)
        found = estimated_cosines(sketches, counts, pairs), shares.of(pairs), shares.of_parts(pairs)
        return [each.tolist() for each in found]

    by_kernels = measured()
    monkeypatch.setattr(own_share, "loaded_kernels", lambda: None)

    assert by_kernels == measured()
    cosines = []
    for i, j in pairs.tolist():
        limit = min(limits[i], limits[j])
        square = np.prod([sum(value <= limit for value in kept[at]) for at in (i, j)])
        cosines.append(len(kept[i] & kept[j]) / sqrt(max(square, 1)))
    assert by_kernels[0] == pytest.approx(cosines)


@pytest.mark.usefixtures("kernels")
def test_sketches_in_a_file_are_compared_part_by_part(monkeypatch):
    draw = random.Random(6)
    texts = [draw.sample(range(2000), draw.randrange(1, 200)) for _ in range(30)]
    counts, family, pairs = counts_of(texts), np.arange(30), draw.sample(pairs_of(30).tolist(), 400)
    in_memory, pairs = sketched(texts), np.array(pairs)
    collected = Collected(is_sketched=True, limits=Limits(sketch_bytes=0))
    collected.add(in_memory)
    in_a_file = collected.sketches()
    expected = estimated_cosines(in_memory, counts, pairs).tolist()
    expected_shares = OwnShares(in_memory, counts, family).of(pairs).tolist()
    monkeypatch.setattr(own_share, "VALUES_IN_MEMORY", 1000)
    joined, held = own_share.joined, []
    monkeypatch.setattr(
        own_share, "joined", lambda parts: held.append(joined(parts).sizes.sum()) or joined(parts)
    )

    assert in_a_file.mapped is not None
    assert estimated_cosines(in_a_file, counts, pairs).tolist() == expected
    assert OwnShares(in_a_file, counts, family).of(pairs).tolist() == expected_shares
    assert max(held) < 1000 + 2 * 200


@pytest.mark.parametrize(("size", "level"), [(300, 1), (200, 0)])
def test_a_large_text_and_a_part_of_it_are_compared_by_what_both_sketches_would_keep(size, level):
    whole = np.unique(np.random.default_rng(7).integers(0, 1 << 32, 4000, np.uint32))
    for seed in range(8, 18):
        part = np.sort(np.random.default_rng(seed).choice(whole, size, replace=False))
        counts = counts_of([whole, part])
        limits = np.uint32(0xFFFFFFFF) >> levels(counts).astype(np.uint32)
        sketches = of_each([whole[whole <= limits[0]], part[part <= limits[1]]])

        cosine = sqrt(size / len(whole))

        assert levels(counts).tolist() == [4, level]
        assert may_be_alike(sketches, counts, np.array([[0, 1]]), np.array([cosine])).all()


def test_a_text_without_features_must_be_as_alike_as_the_shortest():
    assert least_similarity(0.35, np.array([0, 1])).tolist() == [SHORT_LEAST, SHORT_LEAST]


def test_own_shares_count_only_what_both_sketches_would_keep():
    whole = np.unique(np.random.default_rng(7).integers(0, 1 << 32, 4000, np.uint32))
    part = np.sort(np.random.default_rng(8).choice(whole, 300, replace=False))
    limits = np.uint32(0xFFFFFFFF) >> levels(counts_of([whole, part])).astype(np.uint32)
    # A third text has what the sketch of the large one knows of the part.
    third = part[part <= limits[0]]
    sketches = of_each([whole[whole <= limits[0]], part[part <= limits[1]], third])
    shares = OwnShares(sketches, counts_of([whole, part, third]), np.arange(3))

    shared, every = len(third), int((whole <= limits[0]).sum())
    common = shared * (2 * UNIT // 3)
    weighted = sqrt(common * (common + (every - shared) * UNIT))
    expected = common * sqrt(shared * every) / (shared * weighted)

    assert shares.of(np.array([[0, 1]])) == pytest.approx([expected])


def test_texts_of_a_larger_collection_have_the_own_shares_that_they_have_there():
    documents = [{1, 2, 3, 4}, {1, 2, 3, 5}, {1, 6, 7, 8}, {2, 9, 10, 11}]
    counts, family, pair = counts_of(documents), np.arange(4), np.array([[0, 1]])
    every = OwnShares(sketched(documents), counts, family)
    frequencies = Frequencies(sketched(documents), family)

    two = OwnShares(sketched(documents[:2]), counts[:2], family[:2], frequencies)

    assert two.of(pair) == every.of(pair) < 1


def test_long_texts_whose_sketches_have_nothing_may_be_alike():
    counts, pair = np.array([1000, 1000]), np.array([[0, 1]])

    assert may_be_alike(sketched([set(), set()]), counts, pair, np.array([0.4])).all()


def test_few_similar_pairs_are_passed_over_because_of_their_samples():
    """Pairs of 4,000 features with a cosine of just .4: a sketch has some 250 of these."""
    draw, passed = np.random.default_rng(4), []
    for _ in range(400):
        ids = np.unique(draw.integers(0, 1 << 32, 6500, np.uint32))[:6400]
        draw.shuffle(ids)
        left, right = ids[:4000], np.concatenate((ids[:1600], ids[4000:]))
        limit = np.uint32((1 << 32) - 1) >> 4
        sketches = of_each([np.sort(each[each <= limit]) for each in (left, right)])
        counts, pair = np.array([4000, 4000]), np.array([[0, 1]])
        passed.append(may_be_alike(sketches, counts, pair, np.array([0.4]))[0])
        assert not may_be_alike(sketches, counts, pair, np.array([0.7]))[0]
    assert sum(passed) >= 396


def test_a_family_counts_once_however_its_texts_are_split_into_parts(monkeypatch):
    draw = random.Random(8)
    documents = [set(draw.sample(range(300), 100)) for _ in range(60)]
    family = np.array([draw.randrange(12) for _ in documents])
    whole = Frequencies(sketched(documents), family).weights(np.arange(300, dtype=np.uint32))

    monkeypatch.setattr(own_share, "VALUES_AT_ONCE", 150)

    parts = Frequencies(sketched(documents), family).weights(np.arange(300, dtype=np.uint32))
    assert parts.tolist() == whole.tolist()
    having = [
        len({f for d, f in zip(documents, family, strict=True) if v in d}) for v in range(300)
    ]
    assert whole.tolist() == [2 * UNIT // (1 + max(n, 1)) for n in having]


@each_way
def test_counters_stop_at_the_largest_number_they_hold():
    many = MOST_COUNTED + 9

    made = Frequencies(sketched([{1}] * many), np.arange(many))

    assert made.weights(np.uint32([1]), 2).tolist() == [2 * UNIT // (2 + MOST_COUNTED - 2)]


@each_way
def test_only_the_counters_that_are_asked_for_count():
    sketches, counters = sketched([{number * 7919 for number in range(50)}]), new_counters()
    count(counters, sketches)
    (places,) = np.nonzero(counters)
    first, end = places[10], places[40]

    for begin, stop in ((0, first), (end, None), (first, end), (first, end + 1)):
        own = new_counters().copy()
        count(own, sketches, begin, stop)
        expected = np.zeros_like(own)
        expected[begin:stop] = counters[begin:stop]
        assert (own == expected).all()


@each_way
def test_what_texts_share_and_keep_has_a_row_for_each_pair():
    shared, kept = shared_and_kept(sketched([{1, 2, 3}, {2, 3}]), pairs_of(2), np.array([0]))

    assert (shared.tolist(), kept.tolist()) == ([2], [[3, 2]])


def test_parts_of_texts_have_about_as_many_values_as_are_taken_at_once(monkeypatch):
    monkeypatch.setattr(own_share, "VALUES_AT_ONCE", 30)
    sizes = np.array([10, 10, 10, 10, 45, 5, 0, 10])

    found = parts_of_texts(sizes, np.array([7, 0, 1, 2, 3, 4, 6, 5]))

    assert [part.tolist() for part in found] == [[7, 0, 1], [2, 3, 4], [6, 5]]


@pytest.mark.usefixtures("kernels")
def test_threads_that_count_apart_count_the_same(monkeypatch):
    # 0 is counted by the first of all counters.
    documents = [{0, 2 + number % 5, 10 + number} for number in range(600)]
    sketches = sketched(documents)
    expected = Frequencies(sketches, np.arange(600)).counters
    monkeypatch.setattr(own_share, "VALUES_AT_ONCE", 9)
    monkeypatch.setattr(own_share, "threads", lambda: 2)

    assert (Frequencies(sketches, np.arange(600)).counters == expected).all()
    assert expected.max() == 600


def test_few_values_weigh_the_same_in_small_pages_of_memory(monkeypatch):
    sketches, family = sketched([{0, 1, 7 + number} for number in range(50)]), np.arange(50)
    monkeypatch.setattr(own_share, "COUNTERS", 1 << 17)
    few = Frequencies(sketches, family)
    monkeypatch.setattr(own_share, "FEW_VALUES", 0)
    many = Frequencies(sketches, family)

    assert few.counters.base is not None
    assert many.counters.base is None
    assert (few.counters == many.counters).all()
    assert (few.tables() == many.tables()).all()


def test_only_many_values_have_strangers_in_every_counter(monkeypatch):
    monkeypatch.setattr(own_share, "COUNTERS", 1 << 13)
    documents = [set(range(number, 1 << 15, 7)) for number in range(7)]

    made = Frequencies(sketched(documents), np.arange(7))

    assert (made.tables()[0, 1:4] == 2 * UNIT // 2).all()


@pytest.mark.parametrize("background", [0, 2])
def test_how_many_counters_may_be_filled_changes_no_weight(background):
    counters = np.full(1 << 13, background, np.uint8)
    counters[:9] = range(9)
    filled = int((counters > 0).sum())
    values = np.arange(0, 1 << 32, 1 << 19, dtype=np.uint32)

    weights = CountedValues(counters).weights(values)

    assert weights.tolist() == CountedValues(counters, filled).weights(values).tolist()
    assert len(set(weights.tolist())) == 8 - background


def test_few_counters_still_tell_a_pattern_from_versions(monkeypatch):
    draw = random.Random(3)
    form = set(draw.sample(range(1 << 30), 100))
    documents = [form | set(draw.sample(range(1 << 30), 100)) for _ in range(40)]
    first = set(draw.sample(range(1 << 30), 200))
    documents += [first, set(sorted(first)[:100]) | set(draw.sample(range(1 << 30), 100))]
    documents += [set(draw.sample(range(1 << 30), 200)) for _ in range(200)]
    sketches, counts = sketched(documents), counts_of(documents)
    monkeypatch.setattr(own_share, "COUNTERS", 1 << 13)

    shares = OwnShares(sketches, counts, np.arange(len(documents)))

    siblings, versions = shares.of(np.array([[0, 1], [40, 41]]))
    assert siblings < 0.4
    assert versions > 0.8


def test_short_and_long_texts_must_be_more_alike():
    counts = np.array([1, 8, 40, 1000, 1 << 14, 1 << 16])
    more = [4 / n + 0.05 * max(log2(n / (1 << 14)), 0) for n in counts.tolist()]
    expected = [min(0.35 + each, 0.85) for each in more]

    assert least_similarity(0.35, counts) == pytest.approx(expected)
    assert least_similarity(0.9, counts[2:]) == pytest.approx([0.9] * 4)
    assert least_similarity(0.2, np.array([1000])) == pytest.approx([0.204])


# What it does to groups


VOCABULARY = [f"w{number}" for number in range(3000)]


def sentence(seed, words=14):
    return " ".join(random.Random(seed).choices(VOCABULARY, k=words))


def form(number, own=12, shared=12):
    """One of many texts that are made from one form."""
    return ". ".join([*(f"{sentence(s)}" for s in range(shared)), *_own(number, own)])


def _own(number, count):
    return [sentence(1000 + 100 * number + at) for at in range(count)]


def version(number, changed=4, shared=12, own=12):
    """A text of the form in which some of its own sentences are replaced."""
    kept = _own(number, own)
    kept[:changed] = [sentence(90_000 + 100 * number + at) for at in range(changed)]
    return ". ".join([*(f"{sentence(s)}" for s in range(shared)), *kept])


@pytest.fixture
def forms(tmp_path):
    """Eight texts of one form, two of which have a version."""
    folder = tmp_path / "forms"
    folder.mkdir()
    for number in range(8):
        (folder / f"{number}.txt").write_text(form(number), encoding="utf-8")
    for number in (2, 5):
        (folder / f"{number}-v2.txt").write_text(version(number), encoding="utf-8")
    return folder


def names(result):
    return {frozenset(m.document.path.rsplit("/", 1)[1] for m in g.members) for g in result.groups}


VERSIONS = {frozenset({"2.txt", "2-v2.txt"}), frozenset({"5.txt", "5-v2.txt"})}


@pytest.mark.slow
@pytest.mark.usefixtures("matched_again")
@pytest.mark.parametrize("jobs", [1, 2])
def test_groups_do_not_depend_on_order_processes_or_the_store(forms, tmp_path, jobs):
    files = sorted(forms.iterdir())
    expected = scan(forms)
    with_store = Store(tmp_path / "store.sqlite3", pytest.fail)
    first = scan(files[::-1], are_files=True, jobs=jobs, store=with_store)
    again = scan(files, are_files=True, jobs=jobs, store=with_store)
    with_store.close()

    for result in (first, again):
        assert names(result) == names(expected) == VERSIONS
        likenesses = [sorted(m.similarity for m in g.members) for g in result.groups]
        assert likenesses == [sorted(m.similarity for m in g.members) for g in expected.groups]


@pytest.mark.slow
@settings(max_examples=10)
@given(st.integers(0, 10**6), st.integers(1, 30))
def test_texts_that_share_nothing_with_the_others_change_no_group(tmp_path_factory, seed, number):
    folder = tmp_path_factory.mktemp("forms")
    for each in range(5):
        (folder / f"{each}.txt").write_text(form(each), encoding="utf-8")
    (folder / "2-v2.txt").write_text(version(2, changed=1 + seed % 11), encoding="utf-8")
    before = names(scan(folder))
    draw = random.Random(seed)
    for each in range(number):
        words = " ".join(f"x{draw.randrange(10**9)}" for _ in range(200))
        (folder / f"other-{each}.txt").write_text(words, encoding="utf-8")

    assert names(scan(folder)) == before


@pytest.mark.slow
def test_hundreds_of_copies_of_a_member_never_separate_two_others(forms):
    (forms / "2-v3.txt").write_text(version(2, changed=5), encoding="utf-8")
    before = names(scan(forms))
    copied = version(2)
    for number in range(500):
        (forms / f"copy-{number}.txt").write_text(copied + f" c{number}", encoding="utf-8")

    after = names(scan(forms))

    assert frozenset({"2.txt", "2-v2.txt", "2-v3.txt"}) in before
    assert any(group >= {"2.txt", "2-v2.txt", "2-v3.txt"} for group in after)
    assert frozenset({"5.txt", "5-v2.txt"}) in after


def test_families_of_references_count_once(forms, tmp_path):
    """The references have many near-copies of a version; that makes it no form."""
    old = tmp_path / "old"
    old.mkdir()
    for number in range(40):
        (old / f"copy-{number}.txt").write_text(version(2) + f" c{number}", encoding="utf-8")

    result = scan(forms, against=[old])

    assert any("2.txt" in group for group in names(result))


@pytest.mark.parametrize("linkage", ["star", "components"])
def test_pairs_that_are_set_aside_are_told_once_with_both_numbers(linkage):
    texts = [*(form(number) for number in range(8)), version(2)]
    chosen = Settings(linkage=linkage)

    found = engine_of(texts, chosen).groups()

    assert [group.tolist() for group in found.groups] == [[2, 8]]
    assert found.own_shares.tolist() == [1, pytest.approx(found.own_shares[1])]
    siblings = found.siblings
    # All pairs but the two versions, whose own share is high.
    expected = [pair for pair in pairs_of(9).tolist() if pair != [2, 8]]
    assert siblings.pairs.tolist() == expected
    assert (siblings.own_shares < OWN_SHARE).all()
    assert found.own_shares[1] > OWN_SHARE
    features = all_features(texts, chosen.recipe)
    assert siblings.similarities == pytest.approx(cosines(features, *siblings.pairs.T))


def distinct_words(prefix, count):
    return [f"{prefix}{number}" for number in range(count)]


def edited(words, count, seed):
    """A text in which so many words are replaced."""
    draw, words = random.Random(seed), list(words)
    for place in draw.sample(range(len(words)), count):
        words[place] = f"{seed}x{place}"
    return " ".join(words)


def groups_of(texts, chosen):
    made = group_texts(texts, chosen)
    return [set(members.tolist()) for members in np.split(made.members, made.offsets[1:-1])]


@pytest.mark.parametrize("similarity", [0.35, 0.92, 0.95])
def test_texts_that_are_copies_count_once_whatever_similarity_is_asked_for(similarity):
    words = distinct_words("w", 200)
    texts = [" ".join(words), edited(words, 4, "b")]
    texts += [edited(words, 9, f"c{number}") for number in range(100)]

    assert any({0, 1} <= group for group in groups_of(texts, Settings(similarity=similarity)))


def test_features_that_weigh_more_than_others_are_not_sorted_out_by_sketches():
    # Ten words in eleven differ, but weigh a hundredth.
    texts = [" ".join(["the"] * 100 + distinct_words(name, 10)) for name in "ab"]

    assert groups_of(texts, Settings(Recipe(features="tokens"))) == [{0, 1}]


def test_look_alikes_that_narrow_the_search_change_no_group_of_others():
    narrow = Settings(limits=Limits(candidates=2000, candidates_per_text=0))
    words, crowd = distinct_words("w", 200), distinct_words("z", 200)
    texts = [" ".join(words), edited(words, 25, "b")]
    texts += [edited(words, 5, f"c{number}") for number in range(40)]
    (before,) = groups_of(texts, narrow)
    texts += [edited(crowd, 1, f"d{number}") for number in range(150)]

    after = groups_of(texts, narrow)

    assert before == set(range(42))
    assert before in after


# What two texts share, in others


@pytest.mark.parametrize("at_once", [1, 7, 1 << 18])
def test_shares_in_others_are_those_of_the_definition(monkeypatch, at_once):
    monkeypatch.setattr(own_share, "VALUES_AT_ONCE", at_once)
    draw = random.Random(1)
    documents = [{*draw.sample(range(40), draw.randrange(1, 30))} for _ in range(12)]
    sketches, counts = sketched(documents), counts_of(documents)

    for i, j in pairs_of(12).tolist():
        shared = documents[i] & documents[j]
        others = [each for place, each in enumerate(documents) if place not in {i, j}]
        expected = [len(shared & each) / len(shared) for each in others] if shared else []
        assert shares_in_others(sketches, counts, (i, j)).tolist() == expected


def test_a_long_text_is_asked_only_for_values_that_its_sketch_keeps():
    high, low = (1 << 32) - 1, 1
    documents = [{low, 2, high - 1, high}, {low, 2, high - 1, high}, {low, 5}]
    counts = np.array([4, 4, 1 << 20])

    # A sketch of a million features has no high values, so of the two low ones it has half.
    assert shares_in_others(sketched(documents), counts, (0, 1)).tolist() == [0.5]
