"""Near and related texts."""

from __future__ import annotations

import numpy as np
import pytest

from simdup import scan
from simdup.findings.keeper import closest_first
from simdup.match.tiers import (
    CONTAINED,
    FEW_NEAR_SCORE,
    GAP_SCORE,
    MANY_NEAR,
    NAME_SCORE,
    NEAR,
    NEAR_SCORE,
    RELATED,
    SHORT,
    SHORT_SCORE,
    Pair,
    are_near,
    near_because,
    pair_scores,
    scores,
)
from simdup.recipe import FeatureKind, Recipe
from simdup.records import Document, Kind, Member, Source


def member(similarity, own_share=1.0, features=400, kind=Kind.NEAR):
    name = f"{similarity} {own_share}"
    source, digest = Source(name, 1, 0, 0, 0, 0), name.encode()
    document = Document(source, "utf-8", 1.0, 0, features, digest, digest, digest)
    return Member(document, b"", kind, 0, similarity, own_share)


def score(similarity, own_share, counts):
    first, other = (member(similarity, own_share, number) for number in counts)
    return scores([first, other], Recipe())[1]


def test_a_part_scores_as_high_as_a_copy():
    assert score(0.5, 1.0, (400, 100)) == score(1.0, 1.0, (400, 400)) == 1


def test_wording_that_others_share_lowers_the_score():
    assert score(0.8, 0.5, (400, 400)) == pytest.approx(0.4)


@pytest.mark.parametrize(("pair", "evidence"), [
    (Pair(NEAR_SCORE, 0.9, 400), "score"),
    (Pair(NEAR_SCORE - 0.01, 0.9, 400), ""),
    (Pair(None, 0, 400), "distance"),
    (Pair(0.1, 0.1, 400, is_same=True), "words"),
    (Pair(0.5, 0.5, 400, is_history=True), "history"),
    (Pair(0.3, CONTAINED, 400), "contained"),
    (Pair(0.3, CONTAINED - 0.01, 400), ""),
    (Pair(NAME_SCORE, 0.7, 400, is_named=True), "name"),
    (Pair(NAME_SCORE - 0.01, 0.7, 400, is_named=True), ""),
    (Pair(NEAR_SCORE, 0.9, SHORT - 1), ""),
    (Pair(SHORT_SCORE, 0.9, SHORT - 1), "score"),
    (Pair(NAME_SCORE, 0.9, SHORT - 1, is_named=True), "name"),
    (Pair(NEAR_SCORE, 0.9, 400, around=MANY_NEAR), "around"),
    (Pair(NEAR_SCORE, 0.9, SHORT - 1, around=MANY_NEAR), ""),
    (Pair(FEW_NEAR_SCORE - 0.01, 0.9, 400, around=MANY_NEAR - 0.01), ""),
    (Pair(FEW_NEAR_SCORE, 0.9, 400, around=MANY_NEAR - 0.01), "score"),
    (Pair(GAP_SCORE, 0.9, 400, has_gap=True), "gap"),
    (Pair(GAP_SCORE - 0.01, 0.9, 400, has_gap=True), ""),
    (Pair(NEAR_SCORE, 0.9, 400, around=0, has_gap=True), "gap"),
    (Pair(SHORT_SCORE - 0.01, 0.9, SHORT - 1, has_gap=True), ""),
    (Pair(SHORT_SCORE, 0.9, SHORT - 1, around=0, has_gap=True), "gap"),
])  # fmt: skip
def test_the_first_evidence_that_holds_makes_a_pair_near(pair, evidence):
    assert near_because(pair) == evidence


@pytest.mark.parametrize(("similarity", "own_share", "counts", "expected"), [
    (NEAR_SCORE, 1.0, (400, 400), True),
    (NEAR_SCORE - 0.01, 1.0, (400, 400), False),
    (0.9, 0.8, (400, 400), False),
    (0.5, 0.1, (100, 400), True),
    (0.9, 1.0, (400, SHORT - 1), True),
    (0.9, 1.0, (SHORT - 1, SHORT - 1), False),
    (0.9, 1.0, (0, 0), True),
])  # fmt: skip
def test_pairs_in_arrays_are_near_by_what_texts_alone_tell(similarity, own_share, counts, expected):
    alike, own, counts = np.array([similarity]), np.array([own_share]), np.array([counts])

    assert are_near(pair_scores(alike, own, counts), alike, counts).tolist() == [expected]


def test_pairs_in_arrays_get_the_same_scores():
    rng = np.random.default_rng(1)
    similarities, shares = rng.uniform(0.5, 1, (2, 500))
    counts = rng.integers(1, 500, (500, 2))
    rows = zip(similarities.tolist(), shares.tolist(), map(tuple, counts.tolist()), strict=True)

    found = pair_scores(similarities, shares, counts)
    assert found == pytest.approx([score(*row) for row in rows])


def test_a_score_takes_no_containment_from_features_that_weigh_differently():
    members = member(1.0), member(0.5, features=100)

    words = Recipe(features=FeatureKind.WORDS)
    assert (scores(members, Recipe()), scores(members, words)) == ([1, 1], [1, 0.5])
    assert pair_scores(*np.array([[0.5], [np.nan]]), np.zeros((1, 2), np.int64)) == [0.5]


def test_the_score_orders_the_files_of_a_group():
    first, long, part = member(1.0), member(0.75), member(0.5, features=100)

    assert closest_first([first, long, part], Recipe()) == (first, part, long)


def changed(words, places):
    return " ".join(f"new{at}" if at in places else word for at, word in enumerate(words))


def three_texts(write, centre, near, further):
    """A text, another one that is near it, and one that is only related to both, with names."""
    words = [f"word{number}" for number in range(400)]
    write(centre, " ".join(words))
    write(near, changed(words, range(0, 400, 20)))
    write(further, changed(words, range(7, 400, 8)))


def in_groups(path):
    return {
        frozenset(each.document.path for each in group.members) for group in scan([path]).groups
    }


def around(write, path, *parts):
    """A text with these parts, each with words of its own behind it, and a text for each part."""
    words = [f"word{number}" for number in range(200 * len(parts))]
    write(f"{path}/whole", " ".join(words))
    for place, name in enumerate(parts):
        own = [f"{name}{number}" for number in range(100)]
        write(f"{path}/{name}", " ".join(words[200 * place : 200 * (place + 1)] + own))
        yield [*words[200 * place : 200 * (place + 1)], *own]


def test_related_texts_hide_no_version_of_one_of_them(write):
    first, *_ = around(write, "in", "a", "b", "c", "d")
    assert in_groups("in") == {frozenset({"in/whole", "in/a", "in/b", "in/c", "in/d"})}

    write("in/a2", changed(first, range(0, 300, 30)))

    assert in_groups("in") == {
        frozenset({"in/a", "in/a2"}),
        frozenset({"in/whole", "in/b", "in/c", "in/d"}),
    }


def test_a_text_that_all_others_left_stays_with_the_closest(write):
    first, second = around(write, "in", "a", "b")
    write("in/a2", changed(first, range(0, 300, 30)))
    write("in/b2", changed(second, range(0, 300, 40)))

    groups = in_groups("in")
    assert sorted(map(len, groups)) == [2, 3]
    assert {len(each & {"in/a", "in/a2"}) for each in groups} == {0, 2}


def test_a_file_that_is_only_related_does_not_lead_a_near_group_whatever_its_name(write):
    three_texts(write, "one/a", "one/b copy", "one/c copy")
    three_texts(write, "two/a copy", "two/b copy", "two/c")

    groups = [scan([folder]).groups[0] for folder in ("one", "two")]

    assert [each.members[0].document.source.path for each in groups] == [
        "one/a",
        "two/a copy",
    ]
    assert len({each.score for each in groups}) == 1
    assert [each.tier for each in groups] == [NEAR, NEAR]


def test_a_related_group_with_a_chain_of_versions_stands_among_the_near_ones(write):
    words = [f"word{number}" for number in range(800)]
    write("one", " ".join(words[:400]))
    write("two", changed(words[:400], range(0, 400, 8)))
    write("report draft.txt", " ".join(words[400:]))
    write("report final.txt", changed(words[400:], range(0, 400, 7)))

    groups = scan(["."]).groups

    assert [each.tier for each in groups] == [NEAR, RELATED]
    assert groups[0].score < groups[1].score
    assert [each.id for each in groups] == [1, 2]
