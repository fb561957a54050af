"""simdup.match.engine through `scan`: which documents become groups, and how they are shown."""

from __future__ import annotations

import os
import random
from dataclasses import replace

import numpy as np
import pytest

import simdup
from simdup import Recipe, Settings, scan
from simdup.errors import TooManyPairsError
from simdup.fingerprint.features import all_features
from simdup.fingerprint.simhash import fingerprint_texts
from simdup.fingerprint.sketch import LEVELS
from simdup.match import candidate_search, candidates, siblings
from simdup.match import groups as rules
from simdup.match.distinct_texts import Items, distinct_texts
from simdup.match.engine import LocalEngine
from simdup.match.exclusions import Exclusions
from simdup.match.own_share import FAMILY, OwnShares, least_similarity, may_be_alike
from simdup.match.similarities import ExactSimilarities
from simdup.progress import silent
from simdup.records import SHORT
from simdup.settings import Limits

WORDS = [f"w{i}" for i in range(500)]


def text(edits=0, seed=0, length=300):
    """A text of `length` words, `edits` of them replaced."""
    words = random.Random(seed).choices(WORDS, k=length)
    for place in random.Random(seed + 1).sample(range(length), length)[:edits]:
        words[place] = f"x{place}"
    return " ".join(words)


@pytest.fixture
def tree(tmp_path):
    """A function that writes files by name and text."""

    def write(texts):
        for name, content in texts.items():
            path = tmp_path / name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return tmp_path

    return write


class InMemory:
    """The features of texts that are held in memory."""

    def __init__(self, texts, recipe):
        self.texts, self.recipe = texts, recipe

    def expect(self, texts):
        """Nothing has to be prefetched."""

    def features(self, texts):
        return all_features([self.texts[i] for i in texts], self.recipe)


class Known:
    """Similarities that are held in memory, by the digests of two texts."""

    def __init__(self):
        self.kept = {}

    def similarities(self, left, right):
        return np.array([self.kept.get(pair, np.nan) for pair in self.pairs(left, right)])

    def keep_similarities(self, left, right, values):
        self.kept |= dict(zip(self.pairs(left, right), values.tolist(), strict=True))

    @staticmethod
    def pairs(left, right):
        return [(*one, *other) for one, other in zip(left.tolist(), right.tolist(), strict=True)]


def engine_of(
    texts, settings, references=(), excluded=(), *, rank=None, cache=None, is_sketched=True
):
    """What matches different texts, of which some pairs are excluded."""
    made = fingerprint_texts(texts, settings.recipe, LEVELS if is_sketched else None)
    is_reference = np.isin(np.arange(len(texts)), references)
    rank = np.arange(len(texts)) if rank is None else np.array(rank)
    items = Items(made.rows, made.counts, made.digests, rank, is_reference, made.sketches)
    every = distinct_texts(items, settings.recipe.bits)
    source = InMemory(texts, settings.recipe)
    pairs = np.array(excluded, np.int64).reshape(-1, 2)
    exclusions = Exclusions(pairs, np.arange(len(pairs)), len(texts))
    return LocalEngine(every, settings, source, silent, cache, exclusions)


def matched(texts, settings, rank=None, **options):
    """What `match` finds among different texts without sketches."""
    return engine_of(texts, settings, rank=rank, is_sketched=False, **options).groups()


def narrow_to(reaches, monkeypatch):
    """Let the first searches go only as far as this."""
    monkeypatch.setattr(
        candidate_search, "affordable_distance", lambda *asked: next(reaches, asked[3])
    )


def groups(result, root):
    return [[m.document.path.removeprefix(f"{root}/") for m in g.members] for g in result.groups]


def test_the_similarity_shown_is_the_exact_one(tree):
    texts = {"a": text(), "b": text(40)}
    root = tree(texts)

    member = scan([root]).groups[0].members[1]
    expected = simdup.exact_similarities(list(texts.values()), [0], [1])[0]
    assert member.similarity == expected
    assert member.distance == simdup.hamming_distances(*_rows(texts))[0, 0]


def _rows(texts):
    rows = simdup.fingerprint_texts(list(texts.values()))
    return rows[:1], rows[1:]


def test_pairs_below_the_similarity_asked_for_are_no_group(tree):
    texts = {"a": text(), "b": text(60)}
    root = tree(texts)
    alike = simdup.exact_similarities(list(texts.values()), [0], [1])[0]

    assert scan([root], Settings(similarity=alike)).groups
    assert not scan([root], Settings(similarity=alike + 0.001)).groups


def test_bare_simhash_goes_by_distance_alone(tree):
    texts = {"a": text(), "b": text(60)}
    root = tree(texts)
    distance = int(simdup.hamming_distances(*_rows(texts))[0, 0])

    result = scan([root], Settings(k=distance))
    assert result.groups[0].members[1].similarity is None
    assert result.candidates is None
    assert not scan([root], Settings(k=distance - 1)).groups


def test_a_bare_scan_goes_as_far_as_k_says():
    found = matched([text(), text(seed=9)], Settings(k=128))

    assert [group.tolist() for group in found.groups] == [[0, 1]]
    assert np.isnan(found.similarities).all()


@pytest.mark.parametrize("other", [SHORT, 30])
@pytest.mark.parametrize("features", [SHORT - 1, SHORT])
def test_from_so_many_features_on_a_bare_scan_goes_by_distance(features, other):
    texts = [" ".join(f"{c}{i}" for i in range(n)) for c, n in (("a", features), ("b", other))]

    found = matched(texts, Settings(Recipe(features="tokens"), k=125))

    assert len(found.groups) == (features == SHORT)


def test_short_texts_of_just_the_similarity_that_k_stands_for_are_alike():
    settings = Settings(Recipe(features="tokens"), k=0)

    found = matched(["one two", "one two one two", "one two two"], settings)
    assert [group.tolist() for group in found.groups] == [[0, 1]]


def test_a_chain_is_cut_by_stars_and_kept_by_components(tree):
    steps = [text(edits, seed=3) for edits in (0, 40, 80, 120)]
    root = tree({f"{i}": step for i, step in enumerate(steps)})
    settings = {"similarity": 0.6, "recipe": Recipe(bits=256)}

    stars = scan([root], Settings(**settings))
    chain = scan([root], Settings(**settings, linkage="components"))
    assert len(stars.groups[0].members) < 4
    assert [len(g.members) for g in chain.groups] == [4]
    assert all(m.similarity is not None for m in chain.groups[0].members)
    assert min(m.similarity for m in chain.groups[0].members) < 0.6
    rows = simdup.fingerprint_texts(steps, bits=256)
    assert chain.groups[0].diameter == simdup.hamming_distances(rows, rows).max()
    assert chain.groups[0].is_diameter_exact


def test_the_diameter_of_a_group_with_very_many_fingerprints_is_a_bound(tree, monkeypatch):
    root = tree({f"{edits}": text(edits) for edits in range(0, 30, 3)})
    (exact,) = scan([root]).groups
    monkeypatch.setattr("simdup.search.distinct.MOST_COMPARED", 5)

    (bounded,) = scan([root]).groups
    assert (exact.is_diameter_exact, bounded.is_diameter_exact) == (True, False)
    assert exact.diameter <= bounded.diameter <= 2 * exact.diameter


def test_the_oldest_file_stands_for_copies_then_one_that_is_not_named_a_copy(tree):
    names = ["long-name", "b", "a", "a (1)", "copy of a", "a副本"]
    root = tree(dict.fromkeys(names, text()))

    def scanned(**ages):
        for name in names:
            os.utime(os.path.join(root, name), (0, ages.get(name, 6000)))
        return groups(scan([root]), root)[0]

    assert scanned()[0] == "a"
    assert scanned(b=1)[0] == "b"
    # A name without a mark of a copy counts for more than a time.
    assert scanned(**dict.fromkeys(("long-name", "b", "a"), 6060))[0] == "a"
    assert scanned(a=6060, b=6060)[0] == "long-name"
    # Files of one minute are as old as each other.
    assert scanned(a=6059, b=6059)[0] == "a"


def test_against_counts_only_pairs_between_the_two(tree):
    root = tree(
        {
            "new/a": text(), "new/a-copy": text(), "new/b": text(seed=5), "new/c": text(seed=7),
            "old/b": text(10, seed=5), "old/d": text(seed=8), "old/d-copy": text(seed=8),
        }
    )  # fmt: skip

    result = scan([root / "new"], against=[root / "old"])
    assert [set(group) for group in groups(result, root)] == [{"new/b", "old/b"}]


@pytest.mark.parametrize("linkage", ["star", "components"])
def test_against_all_that_is_connected_with_components_is_one_group(tree, linkage):
    root = tree({"old/a": text(), "old/b": text(30), "new/c": text(10)})

    (group,) = groups(scan([root / "new"], Settings(linkage=linkage), against=[root / "old"]), root)
    assert set(group) == {"old/a", "new/c"} | ({"old/b"} if linkage == "components" else set())


# A hundred texts have more candidates.
SCARCE = Limits(candidates=300, candidates_per_text=1)


def test_chance_candidates_beyond_the_budget_are_left_out_and_reported(tree):
    root = tree({f"{i}": text(seed=i, length=60) for i in range(200)})

    found = scan([root], Settings(Recipe(bits=16), limits=SCARCE)).candidates
    assert found.k < found.wanted
    assert 0 <= found.at_threshold < 0.8


@pytest.mark.slow
@pytest.mark.parametrize("linkage", ["star", "components"])
def test_look_alikes_beyond_the_budget_are_all_found(tree, linkage):
    look_alikes = {f"{i}": text() + f" y{i} z{i} {'a b c ' * (i % 7)}" for i in range(120)}
    root = tree(look_alikes | {f"n{i}": text(seed=i) for i in range(50, 60)})

    result = scan([root], Settings(linkage=linkage, limits=SCARCE))
    assert [len(group.members) for group in result.groups] == [120]
    assert min(member.similarity for member in result.groups[0].members) >= 0.5
    assert result.candidates.pairs < 120 * 119 / 2
    # Chains through others than representatives are only as long as the narrowest search.
    assert (result.candidates.k == result.candidates.wanted) == (linkage == "star")


def test_every_file_that_is_like_a_reference_is_found_however_many_look_alikes(tree):
    root = tree(
        {f"old/{i}": text() + f" y{i}" for i in range(100)}
        | {f"new/{i}": text(i) for i in range(8)}
    )

    result = scan([root / "new"], Settings(limits=SCARCE), against=[root / "old"])
    found = {path for group in groups(result, root) for path in group if path.startswith("new")}
    assert len(found) == 8


def test_wide_fingerprints_change_nothing_but_the_number_of_candidates(tree):
    root = tree(
        {f"{seed}-{edits}": text(edits, seed, 80) for seed in range(20) for edits in (0, 5, 30)}
    )
    tokens = Settings(Recipe(features="tokens"))
    plain = scan([root], tokens)

    sieved = scan([root], replace(tokens, limits=Limits(sieve_from=10)))
    assert groups(sieved, root) == groups(plain, root)
    assert sieved.rows.tolist() == plain.rows.tolist()
    assert [g.diameter for g in sieved.groups] == [g.diameter for g in plain.groups]
    assert sieved.candidates.pairs <= plain.candidates.pairs
    # What the wide fingerprints lose is in what is stated.
    stated = [round(result.candidates.at_threshold, 3) for result in (plain, sieved)]
    assert stated == [0.913, 0.907]


def test_more_pairs_than_fit_stop_the_run_with_advice():
    texts = [text(i) for i in range(6)]
    assert len(matched(texts, Settings(k=128, limits=Limits(near_pairs=15))).groups) == 1

    with pytest.raises(TooManyPairsError) as caught:
        matched(texts, Settings(k=128, limits=Limits(near_pairs=14)))
    assert str(caught.value) == (
        "more than 14 pairs within 128 bits; lower -k, raise --similarity, or take more --bits"
    )


@pytest.mark.parametrize("features", ["shingles", "tokens"])
def test_a_text_that_changed_since_it_was_read_is_left_out_and_listed(tree, features):
    root = tree({"a": text(), "b": text(20), "c": text(25)})

    def late(items, phase, total, amount=None):  # noqa: ARG001
        if phase == "search":
            (root / "c").write_text("something else now", "utf-8")
        return items

    result = scan([root], Settings(Recipe(features=features)), progress=late)
    assert [sorted(group) for group in groups(result, root)] == [["a", "b"]]
    assert [(s.path, s.reason.value) for s in result.skipped] == [
        (f"{root}/c", "changed while read")
    ]
    assert result.has_trouble


def test_against_shows_the_closest_reference_and_not_a_hub(tree):
    near = [text(40 + edits) for edits in (0, 12, 16, 20)]
    root = tree(
        {"old/hub": text()}
        | {f"old/copy{i}": each for i, each in enumerate(near)}
        | {f"new/{i}": each for i, each in enumerate(near)}
    )

    for settings in (Settings(), Settings(k=60)):
        found = {
            frozenset(group)
            for group in groups(scan([root / "new"], settings, against=[root / "old"]), root)
        }
        assert found == {frozenset({f"old/copy{i}", f"new/{i}"}) for i in range(4)}


@pytest.mark.parametrize(("path", "reference"), [("all/new", "all"), ("all", "all/new")])
def test_of_two_folders_one_in_the_other_the_inner_has_its_files(tree, path, reference):
    root = tree({"all/a": text()})
    (root / "all/new").mkdir()
    (root / "all/new/b").write_text(text(5))

    result = scan([root / path], against=[root / reference])
    assert [set(group) for group in groups(result, root)] == [{"all/a", "all/new/b"}]


def test_a_folder_against_itself_is_refused(tree):
    root = tree({"a": text()})

    with pytest.raises(simdup.InputError, match="is to be compared with itself"):
        scan([root], against=[root / "."])


def test_more_equal_fingerprints_than_the_budget_are_found_by_their_first(tree):
    limits = Limits(candidates=10, candidates_per_text=1)
    long = text(length=4000)
    root = tree({f"{i}": f"{long} y{i}" for i in range(60)})

    result = scan([root], Settings(Recipe(bits=16), limits=limits))
    assert [len(group.members) for group in result.groups] == [60]
    assert result.candidates.pairs < 60 * 59 / 2


def test_of_equal_fingerprints_one_represents_the_others_whatever_their_ranks(monkeypatch):
    monkeypatch.setattr(candidate_search, "affordable_distance", lambda *_: 0)
    common = " ".join(f"w{i}" for i in range(4000))
    texts = [f"{common} y{i}" for i in range(8)]
    settings = Settings(Recipe(bits=16))

    found = [matched(texts, settings, rank) for rank in (range(8), [5, 7, 6, 0, 2, 1, 4, 3])]
    assert [len(group) for each in found for group in each.groups] == [8, 8]
    assert len({group[0] for each in found for group in each.groups}) == 1
    assert [each.candidates.pairs for each in found] == [7, 7]


def left_behind_by_a_hub(left, monkeypatch):
    """A text, versions of it that are not like its hub, the hub, and four others around that.

    By their digests the first text and the hub represent texts that are as good as they are.
    """

    def words(begin, end):
        return [f"p{i}" for i in range(begin, end)]

    first, hub = words(0, 100), words(40, 140)
    lacking = {"x": words(60, 70), "y": words(90, 100)}
    left_behind = [
        [*(word for word in first if word not in lacking[name]), *(f"{name}{i}" for i in range(10))]
        for name in left
    ]
    others = [[*words(100, 138), *words(40, 60), *(f"{c}{i}" for i in range(42))] for c in "efgh"]
    # The first search is narrow. In the second the hub takes the first, whom others followed.
    reaches = iter([50])
    narrow_to(reaches, monkeypatch)
    return [" ".join(each) for each in (first, *left_behind, hub, *others)]


def test_a_reference_is_left_alone_if_its_near_copy_is_closer_to_another(monkeypatch):
    reaches = iter([60])
    narrow_to(reaches, monkeypatch)

    found = matched([text(), text(5), text(12)], Settings(), references=[1, 2])

    assert [group.tolist() for group in found.groups] == [[1, 0]]


def test_with_components_texts_follow_their_representative_however_unlike(monkeypatch):
    texts = left_behind_by_a_hub("xy", monkeypatch)
    search, searched = candidate_search.CandidateSearch.search, []

    def noted(found, active, wanted):
        searched.append(len(active))
        return search(found, active, wanted)

    monkeypatch.setattr(candidate_search.CandidateSearch, "search", noted)

    found = matched(texts, Settings(Recipe(ngram=1), similarity=0.55, linkage="components"))

    assert [len(group) for group in found.groups] == [8]
    assert len(searched) == 2  # all that is wanted was searched, and no text is free again


@pytest.mark.parametrize("left", ["xy", "x"])
def test_members_that_their_representative_left_behind_are_in_a_group(monkeypatch, left):
    texts = left_behind_by_a_hub(left, monkeypatch)

    found = matched(texts, Settings(Recipe(ngram=1, bits=256), similarity=0.55))
    # Two are searched again and find each other. One would be alone, so the first goes with it.
    if left == "xy":
        assert [group.tolist() for group in found.groups] == [[1, 2], [3, 0, 4, 5, 6, 7]]
    else:
        assert [group.tolist() for group in found.groups] == [[0, 1], [2, 3, 4, 5, 6]]
        assert found.similarities.round(2).tolist() == [1, 0.9, 1, 0.58, 0.58, 0.58, 0.58]


@pytest.mark.parametrize("is_verified", [True, False])
def test_an_excluded_pair_is_counted_only_if_it_would_have_been_a_group(is_verified):
    texts = [text(), text(60)]
    alike = simdup.exact_similarities(texts, [0], [1])[0]
    distance = int(simdup.hamming_distances(*_rows(dict(enumerate(texts))))[0, 0])
    if is_verified:
        near, far = Settings(similarity=alike), Settings(similarity=alike + 0.001)
    else:
        near, far = Settings(k=distance), Settings(k=distance - 1)

    assert len(matched(texts, near).groups) == 1
    assert [matched(texts, each, excluded=[(1, 0)]).excluded for each in (near, far)] == [1, 0]
    assert not matched(texts, near, excluded=[(1, 0)]).groups
    if is_verified:  # so it was looked at
        assert matched(texts, far).candidates.pairs == 1


def test_what_is_left_of_a_star_without_an_excluded_pair_is_a_star():
    texts = [text(), text(10), f"{text()} {text(seed=9, length=60)}"]
    # The first is like both others, which are not alike, and closer to the excluded one.
    distances = simdup.hamming_distances(*[simdup.fingerprint_texts(texts)] * 2)
    k = int(distances[0].max())

    found = matched(texts, Settings(k=k), excluded=[(0, 1)])

    assert distances[0, 1] < k < distances[1, 2]
    assert [group.tolist() for group in found.groups] == [[0, 2]]


def test_an_excluded_pair_of_short_texts_is_counted_only_if_they_are_similar():
    texts = ["one two three four", "one two five six"]

    distance = int(simdup.hamming_distances(*_rows(dict(enumerate(texts))))[0, 0])

    assert matched(texts, Settings(k=128), excluded=[(0, 1)]).excluded == 1
    assert matched(texts, Settings(k=max(distance, 80)), excluded=[(0, 1)]).excluded == 0


def test_an_excluded_pair_that_others_hold_together_is_counted_if_it_is_split():
    # Each is like the next one only.
    texts = [" ".join(WORDS[begin : begin + 200]) for begin in (0, 70, 140, 210)]
    chain = Settings(similarity=0.5, linkage="components")

    whole = matched(texts, chain, excluded=[(0, 2)])
    split = matched(texts, chain, excluded=[(0, 2), (1, 3)])

    assert [[len(group) for group in found.groups] for found in (whole, split)] == [[4], [3]]
    assert (whole.excluded, split.excluded) == (0, 1)


def test_texts_are_compared_only_if_their_sketches_may_be_alike(tree, monkeypatch):
    root = tree({"one": text(), "two": text(5)})

    found = scan([root])
    monkeypatch.setattr(
        "simdup.match.own_share.may_be_alike", lambda *asked: np.zeros(len(asked[2]), bool)
    )

    assert [len(group.members) for group in found.groups] == [2]
    assert not scan([root]).groups


def test_most_long_texts_that_are_too_little_alike_are_not_compared_in_full():
    rng = np.random.default_rng(3)
    words = [f"w{number}" for number in range(4000)]
    texts = [" ".join(words[:1000] + words[at : at + 2400]) for at in (1000, 1200)]  # 9 in 10
    texts += [
        " ".join(words[:1000] + [f"{rng.integers(1 << 40)}" for _ in range(2400)])  # 3 in 10
        for _ in range(30)
    ]
    search, pairs = engine_of(texts, Settings()).candidates, np.column_stack(np.triu_indices(32, 1))

    least = search.least(pairs)
    assert may_be_alike(search.sketches, search.texts.counts, pairs, least).sum() > 200
    found = search.may_be_alike(pairs).tolist()
    assert [0, 1] in found
    assert len(found) < 40


def test_similarities_that_a_cache_knows_are_not_computed_again(monkeypatch):
    texts, cache = [text(), text(20), text(40)], Known()

    computed = matched(texts, Settings(), cache=cache)
    monkeypatch.setattr(InMemory, "features", None)
    known = matched(texts, Settings(), cache=cache)

    assert len(computed.similarities) == 3
    assert known.similarities.tolist() == computed.similarities.tolist()


def test_a_text_is_led_by_the_first_of_its_group_or_by_itself():
    found = matched([text(), text(20), text(seed=9)], Settings())

    ((first, other),) = found.groups
    assert found.leaders_of(3)[[first, other, 2]].tolist() == [first, first, 2]


def test_families_are_searched_again_as_long_as_a_round_finds_more(monkeypatch):
    common = " ".join(f"w{i}" for i in range(4000))
    texts = [f"{common} y0", f"{common} y1", text(), text(4)]
    engine = engine_of(texts, Settings(Recipe(bits=16), limits=Limits(candidates=1)))
    weights = []

    def affordable(_, weight, n, wanted, *_limits):
        """Among four texts, only equal fingerprints are affordable."""
        weights.append(weight)
        return wanted * (n < 4)

    monkeypatch.setattr(candidate_search, "affordable_distance", affordable)

    families = engine.own._searched_families(engine.texts.sketches, np.arange(4))  # noqa: SLF001

    assert [len(np.unique(engine.texts.rows[pair], axis=0)) for pair in ([0, 1], [2, 3])] == [1, 2]
    assert families.tolist() == [0, 0, 2, 2]
    # Sampled pairs stand for those of 4 texts, then of 3.
    assert weights == [6 / candidates.SAMPLE, 3 / candidates.SAMPLE]


@pytest.mark.parametrize(
    ("similarity", "references", "reached", "is_lacking"),
    [
        (0.35, (), 0, False),
        (FAMILY, (), 0, False),
        (FAMILY + 0.01, (), 0, False),
        (0.35, (), None, False),
        (0.35, (), -1, True),
        (0.35, (1,), 0, True),
    ],
)
def test_families_are_searched_again_only_if_the_first_search_may_lack_some(
    monkeypatch, similarity, references, reached, is_lacking
):
    engine, searched = engine_of([text(), text(4)], Settings(similarity=similarity), references), []
    if reached is not None:
        reached += candidates.search_distance(FAMILY, engine.settings.recipe.bits)

    def noted(_, sketches, family):
        searched.append(sketches)
        return family

    monkeypatch.setattr(siblings.OwnShareRule, "_searched_families", noted)

    engine.own.prepare_families(np.array([[0, 1]]), np.ones(1), reached)

    assert searched == [engine.texts.sketches] * is_lacking


def test_many_texts_that_share_something_are_a_family_only_if_they_are_copies():
    settings = Settings(limits=Limits(by_distance=3))
    engine = engine_of([text(), text(4), text(60), text(seed=9)], settings)

    families = engine.own._searched_families(engine.texts.sketches, np.arange(4))  # noqa: SLF001

    assert families.tolist() == [0, 0, 2, 3]


def test_siblings_that_several_rounds_met_are_told_once_in_order():
    engine = engine_of([text(seed=seed) for seed in range(4)], Settings())
    first = [[2, 3, 0.5, 0.1], [0, 3, 0.6, 0.2], [0, 1, 0.7, 0.3], [1, 2, 0.9, 0.5]]
    engine.own._noted += [np.array(first), np.array([[0, 2, 0.8, 0.4], *first[1:]])]  # noqa: SLF001

    found = engine.groups().siblings

    assert found.pairs.tolist() == [[0, 1], [0, 2], [0, 3], [1, 2], [2, 3]]
    assert found.similarities.tolist() == [0.7, 0.8, 0.6, 0.9, 0.5]
    assert found.own_shares.tolist() == [0.3, 0.4, 0.2, 0.5, 0.1]


def test_neither_members_of_one_group_nor_excluded_pairs_are_siblings():
    texts = [text(), text(4), text(seed=8), text(seed=9)]
    engine = engine_of(texts, Settings(), excluded=[(2, 3)])
    every = [[0, 1], [0, 2], [2, 3]]
    engine.own._noted.append(np.array([[*pair, 0.5, 0.1] for pair in every]))  # noqa: SLF001

    found = engine.groups()

    assert [group.tolist() for group in found.groups] == [[0, 1]]
    assert found.siblings.pairs.tolist() == [[0, 2]]


def test_what_the_rounds_found_is_not_measured_again(monkeypatch):
    measured, announced = [], []

    def noted(measure):
        def measuring(this, pairs):
            measured.extend(pairs.tolist())
            return measure(this, pairs)

        return measuring

    monkeypatch.setattr(ExactSimilarities, "of", noted(ExactSimilarities.of))
    monkeypatch.setattr(OwnShares, "of", noted(OwnShares.of))
    monkeypatch.setattr(InMemory, "expect", lambda _, texts: announced.extend(texts.tolist()))

    found = engine_of([text(), text(4)], Settings()).groups()

    assert [group.tolist() for group in found.groups] == [[0, 1]]
    assert measured == [[0, 1], [0, 1]]  # their similarity and their own share
    assert announced == []  # their sketches have all their features


def test_sketches_give_no_own_shares_where_these_are_not_asked_for():
    engine = engine_of([text(), text(4)], Settings(own_share=0))

    assert np.isnan(engine.groups().own_shares).all()
    assert engine.own.shares is None


class Asked:
    """A sample of one pair, which counts how often its similarity is noted."""

    def __init__(self):
        self.is_verified, self.noted = False, []

    @staticmethod
    def missing(pairs):  # noqa: ARG004
        return np.array([[0, 2]])

    def note_similarities(self, pairs, similarities):
        self.is_verified = True
        self.noted.append((pairs.tolist(), similarities.tolist()))


def test_the_pairs_of_a_sample_are_compared_once():
    texts = [text(), text(20), text(40)]
    engine = engine_of(texts, Settings(), is_sketched=False)
    engine.exact.sample = Asked()

    first, second = (engine.exact.of_candidates(np.array([[0, 1]])) for _ in range(2))

    pairs = [[0, 1], [0, 2]]
    alike = simdup.exact_similarities(texts, *zip(*pairs, strict=True)).tolist()
    assert engine.exact.sample.noted == [(pairs, alike)]
    assert first.tolist() == second.tolist() == alike[:1] != alike[1:]


def test_the_shorter_of_two_texts_says_how_alike_they_must_be():
    short = [f"s{number}" for number in range(20)]
    longer = [*short, *(f"l{number}" for number in range(60))]
    texts, chosen = [" ".join(short), " ".join(longer)], Settings(Recipe(ngram=1))

    alike = simdup.exact_similarities(texts, [0], [1], ngram=1)
    least = least_similarity(chosen.similarity, np.array([20, 80]))

    assert least[1] < alike < least[0]
    engine = engine_of(texts, chosen)
    assert engine.leaders(engine.every_text(), np.array([[0, 1]]), alike).leader.tolist() == [0, 1]


def test_an_excluded_pair_leads_no_text_to_a_group():
    parts = {name: " ".join(f"{name}{number}" for number in range(60)) for name in "abcdf"}
    # The first is like both others, which share nothing.
    texts = [" ".join(parts[name] for name in names) for names in ("acf", "abf", "cd")]
    chosen = Settings(Recipe(ngram=1), similarity=0.4)

    free, excluded = (matched(texts, chosen, excluded=pairs) for pairs in ((), [(0, 1)]))

    assert [group.tolist() for group in free.groups] == [[0, 1, 2]]
    assert [group.tolist() for group in excluded.groups] == [[0, 2]]


def test_a_text_that_goes_with_a_near_copy_has_its_similarity_to_that(monkeypatch):
    texts = [text(), text(10), text(30)]

    def found():
        """The groups after a first search that is too narrow."""
        reaches = iter([60])
        narrow_to(reaches, monkeypatch)
        return matched(texts, Settings())

    before = found()
    monkeypatch.setattr(rules, "with_near_copies", lambda *_: np.array([0, 1, 0]))
    after = found()

    to_second, to_first = simdup.exact_similarities(texts, [1, 0], [2, 2])
    assert [group.tolist() for group in before.groups] == [[1, 0, 2]]
    assert before.similarities[2] == to_second
    assert [group.tolist() for group in after.groups] == [[0, 2]]
    assert after.similarities.tolist() == [1, to_first]


def test_equal_fingerprints_of_two_sides_are_paired_across():
    common = " ".join(f"w{i}" for i in range(4000))
    settings = Settings(Recipe(bits=16))
    made = fingerprint_texts([f"{common} y{i}" for i in range(7)], settings.recipe)
    is_reference = np.isin(np.arange(7), [0, 1, 6])
    rows = np.repeat(made.rows[:1], 7, axis=0)
    rows[6, 0] ^= 1
    items = Items(rows, made.counts, made.digests, np.arange(7), is_reference)
    texts = distinct_texts(items, 16)
    engine = LocalEngine(texts, settings, None, silent)

    pairs = engine.candidates.equal_rows(engine.every_text())

    across = {(other, reference) for other in range(2, 6) for reference in range(2)}
    assert set(map(tuple, pairs.tolist())) == across


@pytest.mark.parametrize("is_two_sided", [False, True])
def test_a_sampled_pair_counts_only_if_it_passes_the_sieve(is_two_sided):
    settings = Settings(Recipe(bits=64), limits=Limits(candidates=1))
    wide = replace(settings.recipe, bits=candidates.SIEVE_BITS)
    made = fingerprint_texts([text(seed=seed) for seed in range(40)], wide)
    sides = (np.arange(40) < 20) & is_two_sided
    items = Items(made.rows, made.counts, made.digests, np.arange(40), sides)

    def sampled(settings):
        texts = distinct_texts(items, 64)
        engine = LocalEngine(texts, settings, None, silent)
        return engine.candidates.sampled_distances(engine.every_text(), 30)

    distances, weight = sampled(replace(settings, verified=False))
    assert len(distances) == candidates.SAMPLE
    assert weight == (20 * 20 if is_two_sided else 40 * 39 // 2) / candidates.SAMPLE
    # The texts are unrelated, so their wide fingerprints are far apart.
    assert len(sampled(settings)[0]) == 0
