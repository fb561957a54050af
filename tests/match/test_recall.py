"""simdup.match.recall: what a run says of its recall, against what it finds and misses."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from conftest import of_each

from simdup import Settings
from simdup.fingerprint.features import all_features
from simdup.fingerprint.simhash import fingerprint_texts
from simdup.fingerprint.sketch import sketches
from simdup.match import candidates, postings, recall
from simdup.match.distinct_texts import Items, distinct_texts
from simdup.match.engine import LocalEngine
from simdup.match.exclusions import Exclusions
from simdup.match.own_share import least_similarity
from simdup.match.recall import size_of_sample, wilson
from simdup.progress import silent
from simdup.settings import USUAL, Limits
from simdup.text.chunking import chunks_of

pytestmark = pytest.mark.slow

WORDS = 3000

# Few texts are measured too, and all of them.
SMALL = Limits(measured_from=50, sampled=10_000, sampled_one_in=1)

# Not all candidates of some hundred texts are affordable.
NARROW = {"candidates": 100, "candidates_per_text": 0}

# Candidates are texts that share rare values.
BY_LISTS = {"by_distance": 50}


def edited(words, share, draw):
    """The words, each replaced with this probability."""
    return np.where(draw.random(len(words)) < share, draw.integers(0, WORDS, len(words)), words)


def corpus(seed, n=USUAL.measured_from):
    """Texts of which a third have versions that are edited more or less, and a crowd of copies."""
    draw = np.random.default_rng(seed)
    made = []
    while len(made) < n - n // 10:
        words = draw.integers(0, WORDS, draw.integers(60, 160))
        made.append(words)
        if draw.random() < 0.35:
            shares = draw.uniform(0.1, 0.45, draw.integers(1, 4))
            made += [edited(words, share, draw) for share in shares]
    form = draw.integers(0, WORDS, 100)
    made += [edited(form, 0.12, draw) for _ in range(n // 10)]
    return [" ".join(f"w{word}" for word in words) for words in made[:n]]


class Source:
    """Features that are held in memory, and which texts they were asked for."""

    def __init__(self, texts, recipe):
        self.texts, self.recipe, self.asked, self.passes = texts, recipe, [], 0

    def expect(self, _):
        """Count the passes."""
        self.passes += 1

    def features(self, texts):
        self.asked += texts.tolist()
        return all_features([self.texts[text] for text in texts], self.recipe)

    def chunks(self, text):
        return chunks_of(self.texts[text])


class Engine(LocalEngine):
    """An engine that keeps all candidates and the last representatives."""

    def _note_proposed(self, pairs):
        super()._note_proposed(pairs)
        self.proposed = [*getattr(self, "proposed", []), pairs]


def engine(texts, settings=None, references=(), excluded=(), *, is_sketched=True, **limits):
    """An engine for these texts; the last are references."""
    settings = replace(settings or Settings(), limits=replace(SMALL, **limits))
    wide = candidates.sieve_recipe(settings.recipe)
    made, features = fingerprint_texts(texts, wide), all_features(texts, wide)
    n = len(texts)
    is_reference = np.isin(np.arange(n), references)
    kept = sketches(features) if is_sketched else None
    items = Items(made.rows, made.counts, made.digests, np.arange(n), is_reference, kept)
    pairs = np.array(excluded, np.int64).reshape(-1, 2)
    exclusions = Exclusions(pairs, np.arange(len(pairs)), n)
    every = distinct_texts(items, settings.recipe.bits)
    assert len(every) == n
    return Engine(every, settings, Source(texts, wide), silent, None, exclusions)


def similar_pairs(features):
    """The pairs of documents that share a feature, and their cosines."""
    n = len(features.counts)
    order = np.argsort(features.ids, kind="stable")
    ids, owner = features.ids[order], np.repeat(np.arange(n), features.counts)[order]
    keys, step = [], 1
    while (is_same := ids[step:] == ids[:-step]).any():
        keys.append(owner[:-step][is_same] * n + owner[step:][is_same])
        step += 1
    found, shared = np.unique(np.concatenate(keys), return_counts=True)
    pairs = np.column_stack(np.divmod(found, n))
    return pairs, shared / np.sqrt(features.counts[pairs].prod(axis=1))


def exact_recall(run, found):
    """The average share of its near-duplicates that each text was proposed or grouped with.

    All pairs of texts are looked at.
    """
    texts, settings, n = run.texts, run.settings, len(run.texts)
    pairs, similarities = similar_pairs(all_features(run.exact.source.texts, settings.recipe))
    if run.candidates.is_two_sided:
        is_across = texts.is_reference[pairs].sum(axis=1) == 1
        pairs, similarities = pairs[is_across], similarities[is_across]
    is_near = similarities >= least_similarity(settings.similarity, texts.counts[pairs].min(axis=1))
    pairs = pairs[is_near]
    pairs = pairs[found.shares.of(pairs) >= settings.own_share]
    pairs = pairs[run.grouping.exclusions.allows(pairs)]
    leader = np.arange(n)
    for members in found.groups:
        leader[members] = members[0]
    proposed = {tuple(sorted(pair)) for pair in np.concatenate(run.proposed).tolist()}
    is_found = np.array([(a, b) in proposed or leader[a] == leader[b] for a, b in pairs.tolist()])
    every = np.bincount(pairs.ravel(), minlength=n)
    hits = np.bincount(pairs[is_found].ravel(), minlength=n)
    if run.candidates.is_two_sided:
        every, hits = (each[~texts.is_reference] for each in (every, hits))
    return float((hits[every > 0] / every[every > 0]).mean()), int((every > 0).sum())


@pytest.fixture
def few_listed(monkeypatch):
    """Lists have too few of the values of a text."""
    monkeypatch.setattr(postings, "LISTED", 4)


def check_seeds(**limits):
    """Check that in 9 of 10 runs the interval holds the recall of all texts, which varies."""
    right, exact = 0, []
    for seed in range(10):
        run = engine(corpus(seed), sampled=150, sampled_one_in=5, **limits)
        found = run.groups()
        stated = found.candidates
        exact.append(exact_recall(run, found)[0])
        assert 20 < stated.sampled <= 150
        right += stated.recall.low <= exact[-1] <= stated.recall.high
    assert right >= 9
    assert 0.1 < min(exact) < max(exact) < 0.99


@pytest.mark.usefixtures("few_listed")
def test_recall_of_candidates_from_lists_is_within_its_interval():
    check_seeds(**BY_LISTS)


@pytest.mark.long
def test_recall_of_candidates_by_distance_is_within_its_interval():
    check_seeds(candidates=1000, candidates_per_text=0)


OPTIONS = {
    "plain": {},
    "references": {"references": range(0, 300, 2)},
    "excluded": {"excluded": [(i, i + 1) for i in range(299)]},
    "chains": {"settings": Settings(linkage="components")},
    "alike": {"settings": Settings(similarity=0.6)},
    "forms too": {"settings": Settings(own_share=0.1)},
}


@pytest.mark.usefixtures("few_listed")
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_a_sample_of_all_texts_has_the_exact_recall(monkeypatch, options):
    monkeypatch.setattr(recall, "ALIKE_BY_CHANCE", 10_000)
    monkeypatch.setattr(recall, "ERRORS", 9)
    run = engine(corpus(1, 300), near_per_sampled=1000, **BY_LISTS, **options)

    found = run.groups()

    exact, texts = exact_recall(run, found)
    assert 0 < exact < 1
    assert found.candidates.recall.value == pytest.approx(exact)
    assert found.candidates.sampled == texts


@pytest.mark.parametrize("most", [1, 3])
def test_of_many_near_texts_a_few_are_looked_at(most):
    run = engine(corpus(2, 300), near_per_sampled=most, **NARROW)

    run.groups()

    counts = np.bincount(run.exact.sample.pairs[:, 0])
    assert counts.max() == most
    assert len(counts[counts > 0]) > 100


@pytest.mark.usefixtures("few_listed")
def test_the_sample_depends_neither_on_order_nor_on_names():
    texts = corpus(3, 300)

    one, other = (
        engine(each, sampled=60, **BY_LISTS).groups().candidates for each in (texts, texts[::-1])
    )

    assert one.recall is not None
    assert (one.recall, one.sampled) == (other.recall, other.sampled)


@pytest.mark.parametrize("half", [0, 1])
def test_the_sample_does_not_prefer_texts_that_stand_for_others(half):
    # By their digests texts are chosen that are paired with a crowd, or that represent a group.
    run = engine(corpus(3, 300), sampled=60)
    place = np.argsort(np.argsort(run.texts.digests[:, half]))

    run.groups()

    sampled = np.unique(run.exact.sample.pairs[:, 0])
    assert len(sampled) > 25
    assert 110 < place[sampled].mean() < 190


@pytest.mark.usefixtures("few_listed")
def test_measuring_changes_no_group_and_reads_texts_in_one_pass():
    texts = corpus(4, 300)
    measured, plain = engine(texts, **BY_LISTS), engine(texts, measured_from=301, **BY_LISTS)

    found = measured.groups()

    expected = plain.groups()

    assert [each.tolist() for each in found.groups] == [each.tolist() for each in expected.groups]
    assert found.siblings.pairs.tolist() == expected.siblings.pairs.tolist()
    assert found.candidates.pairs == expected.candidates.pairs
    assert measured.exact.source.passes == plain.exact.source.passes
    assert len(measured.exact.source.asked) >= len(plain.exact.source.asked)


@pytest.mark.parametrize("most", [59, 60])
def test_up_to_so_many_texts_fingerprints_are_compared_and_lists_beyond(most):
    found = engine(corpus(5, 60), by_distance=most).groups().candidates

    assert (found.k is None) == (most < 60)


def test_pairs_with_just_the_own_share_asked_for_are_near_duplicates():
    # Nobody else has anything of what two versions share.
    words = [[f"{number}w{i}" for i in range(50)] for number in range(25)]
    texts = [" ".join(each) for own in words for each in (own, own[5:] + own[:5])]

    found = engine(texts, Settings(own_share=1)).groups()

    assert [group.tolist() for group in found.groups] == [[i, i + 1] for i in range(0, 50, 2)]
    assert (found.candidates.recall.value, found.candidates.sampled) == (1, 50)


@pytest.mark.usefixtures("few_listed")
def test_few_texts_are_not_measured():
    found = engine(corpus(5, 299), measured_from=300, **BY_LISTS).groups().candidates

    assert (found.recall, found.sampled, found.k, found.at_threshold) == (None, 0, None, None)
    assert found.pairs > 100


def test_without_sketches_distances_decide_and_recall_is_not_measured():
    settings = Settings(own_share=0, linkage="components")
    run = engine(corpus(5, 300), settings, is_sketched=False, **NARROW, **BY_LISTS)

    found = run.groups().candidates

    assert (found.recall, found.sampled) == (None, 0)
    assert 0 < found.at_threshold < 0.8
    assert found.narrowed == (found.wanted, found.k, found.at_threshold)


def test_nothing_is_said_of_recall_where_no_text_has_a_near_duplicate():
    draw = np.random.default_rng(6)
    texts = [" ".join(f"w{word}" for word in draw.integers(0, WORDS, 80)) for _ in range(200)]
    run = engine(texts, candidates=3, candidates_per_text=0)

    found = run.groups().candidates

    assert (found.recall, found.sampled) == (None, 0)
    assert found.k < found.wanted
    assert len(run.proposed) == 1  # a further search would find nothing more


def test_pairs_that_only_look_alike_by_their_sketches_are_no_near_duplicates():
    # Each two have a third of their words in common, which is a little less than asked for.
    shared = [[f"{n // 2}w{i}" for i in range(200)] for n in range(50)]
    texts = [" ".join(shared[n] + [f"{n}x{i}" for i in range(400)]) for n in range(50)]
    run = engine(texts)

    found = run.groups().candidates

    assert len(run.exact.sample.pairs) > 40
    assert (found.recall, found.sampled) == (None, 0)


@pytest.mark.usefixtures("few_listed")
@pytest.mark.parametrize("crowd", [0, 40])
def test_texts_are_searched_again_if_a_crowd_was_only_paired_with_its_first(crowd):
    draw = np.random.default_rng(8)
    form = draw.integers(0, WORDS, 100)
    made = [np.append(form, number) for number in range(crowd)]
    made += [draw.integers(0, WORDS, 100) for _ in range(80 - crowd)]
    texts = [" ".join(f"w{word}" for word in words) for words in made]
    run = engine(texts, **BY_LISTS)

    run.groups()

    assert (len(run.proposed) > 1) == (crowd > 0)


def test_texts_whose_sketches_keep_every_feature_are_not_read_again():
    run = engine(corpus(7, 300), **BY_LISTS)

    run.groups()

    assert len(run.exact.sample.pairs)
    assert not run.exact.source.asked


def test_a_low_similarity_makes_the_sample_smaller():
    sizes = [size_of_sample(100_000, similarity) for similarity in (0.9, 0.35, 0.2, 0.05)]

    assert sizes[:2] == [USUAL.sampled] * 2
    assert USUAL.sampled > sizes[2] > sizes[3] > 20
    assert size_of_sample(1000, 0.9) == 1000 // USUAL.sampled_one_in


def test_an_interval_is_the_one_that_wilson_gives():
    found = wilson(0.9, 100)

    assert found.low == pytest.approx(0.8256, abs=1e-4)
    assert found.high == pytest.approx(0.9448, abs=1e-4)


@pytest.mark.parametrize("n", [1, 2, 7, 49, 250])
def test_an_interval_holds_its_share_and_ends_at_0_and_1(n):
    for share in (0, 1 / 3, 0.999, 1):
        found = wilson(share, n)
        assert 0 <= found.low <= share <= found.high <= 1
    assert wilson(1, n).high == 1
    assert wilson(0, n).low == 0
    assert wilson(1, n).low > wilson(1, n - 1).low if n > 1 else True


@pytest.mark.usefixtures("kernels")
def test_kernels_and_numpy_count_the_same_rare_values_and_common_ones(monkeypatch):
    draw = np.random.default_rng(3)
    texts = [draw.choice(1 << 10, size, replace=False) for size in draw.integers(1, 255, 90)]
    made = of_each([np.sort(values).astype(np.uint32) * 0x400001 for values in texts])
    first = [{*values.tolist()} for values in texts]
    owners = Counter(value for values in first for value in values)
    common = {value for value, texts in owners.items() if texts > recall.COMMON}

    both = recall._values_of(made)  # noqa: SLF001
    by_kernels = [each.shared_with(made).tolist() for each in both]
    monkeypatch.setattr(recall, "loaded_kernels", lambda: None)

    assert 0 < len(common) < len(owners)
    assert [each.shared_with(made).tolist() for each in both] == by_kernels
    shared = [[{*values.tolist()} & other for other in first] for values in texts]
    assert by_kernels == [
        [[len(found - common) for found in row] for row in shared],
        [[len(found & common) for found in row] for row in shared],
    ]


# Texts of more than a million features keep so many values, spread over all that there are.
MANY = np.arange(70_000, dtype=np.uint32) * 61_000


@pytest.mark.parametrize("with_kernels", [True, False])
@pytest.mark.usefixtures("kernels")
def test_more_values_are_counted_than_16_bits_hold(monkeypatch, with_kernels):
    if not with_kernels:
        monkeypatch.setattr(recall, "loaded_kernels", lambda: None)
    one, many = of_each([MANY]), of_each([MANY] * (recall.COMMON + 1))

    rare, _ = recall._values_of(one)  # noqa: SLF001
    _, common = recall._values_of(many)  # noqa: SLF001

    assert rare.shared_with(one).tolist() == [[len(MANY)]]
    assert set(common.shared_with(one)[0].tolist()) == {len(MANY)}


def test_a_few_sampled_texts_are_not_compared_with_texts_that_share_nothing():
    texts = of_each(list(np.arange(4000, dtype=np.uint32).reshape(40, 100)))
    counts, sampled = np.full(40, 100), np.arange(5)

    assert not len(recall._alike(texts, counts, sampled, np.arange(40), 0.35))  # noqa: SLF001


def test_equal_texts_of_any_length_are_alike_enough_for_similarity_1():
    lengths = np.tile(np.arange(1, 201), 2)
    values = np.linspace(0, 2**32 - 1, 200, dtype=np.uint32)  # since a bucket with all takes long
    texts = of_each([values[:n] for n in lengths.tolist()])

    found = recall._alike(texts, lengths, np.arange(200), np.arange(200, 400), 1)  # noqa: SLF001

    assert {(a, a + 200) for a in range(200)} <= {*map(tuple, found.tolist())}


def test_tiny_texts_are_compared_with_the_sample_a_few_at_a_time(monkeypatch):
    texts, sizes = of_each(list(np.arange(9000, dtype=np.uint32)[:, None])), []
    shared_with = recall._SampledValues.shared_with  # noqa: SLF001
    monkeypatch.setattr(
        recall._SampledValues,  # noqa: SLF001
        "shared_with",
        lambda self, others: sizes.append(len(others)) or shared_with(self, others),
    )

    recall._alike(texts, texts.sizes, np.arange(50), np.arange(9000), 0.35)  # noqa: SLF001

    assert sorted(sizes) == [808, 2048, 2048, 2048, 2048]


@pytest.mark.parametrize("seed", range(5))
def test_the_first_places_that_hold_are_found_whether_few_hold_or_many(seed):
    draw = np.random.default_rng(seed)
    texts = np.sort(draw.integers(0, 4, 900))
    holds = draw.random(len(texts)) < draw.choice([0.01, 0.2, 0.9], 4)[texts]
    asked = []

    def of_some(some):
        asked.extend(some.tolist())
        return holds[some]

    found = recall._first_of_each(texts, 3, of_some)  # noqa: SLF001
    expected = [np.flatnonzero(holds & (texts == text))[:3] for text in range(4)]
    assert found.tolist() == np.concatenate(expected).tolist()
    assert len(asked) == len(set(asked))


def test_pairs_that_share_boilerplate_alone_are_ruled_out_by_their_lengths_at_once():
    """Of 220 features they share 78: enough for a similarity of .35, but not in short texts."""
    own = np.arange(78, 78 + 60 * 142, dtype=np.uint32).reshape(60, 142)
    texts = of_each([np.append(np.arange(78, dtype=np.uint32), each) for each in own])

    for similarity, pairs in ((0.35, 0), (0.3, 50 * 59)):
        found = recall._alike(texts, texts.sizes, np.arange(50), np.arange(60), similarity)  # noqa: SLF001
        assert len(found) == pairs


def test_two_features_that_are_one_value_make_no_pair_too_different():
    """Of 255 features each, 254 values are left, and of these 93 are shared."""
    texts = of_each([np.arange(254, dtype=np.uint32), np.arange(161, 415, dtype=np.uint32)])
    every, counts = np.arange(2), np.full(2, 255)
    least = least_similarity(0.35, counts[:1])

    found = recall._alike(texts, counts, every, every, 0.35)  # noqa: SLF001
    assert recall.may_be_alike(texts, counts, np.array([[0, 1]]), least).all()
    assert found.tolist() == [[0, 1], [1, 0]]
