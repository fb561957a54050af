"""Near and related texts."""

from __future__ import annotations

import numpy as np
import pytest

from simdup import scan
from simdup.findings.keeper import closest_first
from simdup.match.tiers import (
    NEAR,
    NEAR_SCORE,
    RELATED,
    best_score,
    member_tiers,
    pair_scores,
    score,
    scores,
    tier,
)
from simdup.recipe import FeatureKind, Recipe
from simdup.records import Document, Group, Kind, Member, Source, Version


def member(similarity, own_share=1.0, features=400, kind=Kind.NEAR):
    name = f"{similarity} {own_share}"
    source, digest = Source(name, 1, 0, 0, 0, 0), name.encode()
    document = Document(source, "utf-8", 1.0, 0, features, digest, digest, digest)
    return Member(document, b"", kind, 0, similarity, own_share)


def group(*others, kind=Kind.NEAR):
    members = member(1.0), *others
    return Group(1, kind, 0, members, score=best_score(members, Recipe()))


def test_a_part_scores_as_high_as_a_copy():
    assert score(0.5, 1.0, (400, 100)) == score(1.0, 1.0, (400, 400)) == 1


def test_wording_that_others_share_lowers_the_score():
    assert score(0.8, 0.5, (400, 400)) == pytest.approx(0.4)


@pytest.mark.parametrize(("similarity", "own_share", "expected"), [
    (NEAR_SCORE, 1.0, NEAR),
    (NEAR_SCORE - 0.01, 1.0, RELATED),
    (0.9, 0.8, RELATED),
    (0.9, None, NEAR),
    (None, None, NEAR),
])  # fmt: skip
def test_the_score_decides_the_tier(similarity, own_share, expected):
    assert tier(group(member(similarity, own_share))) == expected


def test_a_text_that_is_nearly_the_same_is_near_whatever_others_share():
    assert tier(group(member(0.95, 0.01))) == NEAR


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


def test_one_near_member_makes_the_group_near():
    assert tier(group(member(0.9), member(0.4))) == NEAR


def test_a_member_of_a_near_group_may_be_only_related_unless_names_tell_a_version():
    mixed, chain = group(member(0.9), member(0.4)), (Version("draft", None), Version("final", 0.5))

    for made, expected in (
        (mixed, [NEAR, NEAR, RELATED]),
        (mixed._replace(versions=chain), [NEAR, NEAR, NEAR]),
        (group(member(0.5), member(0.4)), [RELATED, RELATED, RELATED]),
    ):
        assert member_tiers(made, scores(made.members, Recipe())) == expected


def test_copies_make_a_group_near_though_they_are_only_related_to_its_first_file():
    assert tier(group(member(0.5), member(0.4))) == RELATED
    assert tier(group(member(0.5), member(0.5))) == NEAR


def test_names_that_tell_a_chain_of_versions_make_a_group_near():
    related = group(member(0.5))
    chain = Version("draft", None), Version("final", 0.5)
    assert tier(related) == RELATED
    assert tier(related._replace(versions=chain)) == NEAR


def test_siblings_have_no_tier():
    assert tier(group(member(0.1), kind=Kind.SAME_PATTERN)) is None


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


def test_names_do_not_move_a_group_from_one_tier_to_the_other(write):
    three_texts(write, "one/a", "one/b copy", "one/c copy")
    three_texts(write, "two/a copy", "two/b copy", "two/c")

    groups = [scan([folder]).groups[0] for folder in ("one", "two")]

    assert [each.members[0].document.source.path for each in groups] == ["one/a", "two/c"]
    assert len({each.score for each in groups}) == 1
    assert list(map(tier, groups)) == [NEAR, NEAR]


def test_a_related_group_with_a_chain_of_versions_stands_among_the_near_ones(write):
    words = [f"word{number}" for number in range(800)]
    write("one", " ".join(words[:400]))
    write("two", changed(words[:400], range(0, 400, 8)))
    write("report draft.txt", " ".join(words[400:]))
    write("report final.txt", changed(words[400:], range(0, 400, 7)))

    groups = scan(["."]).groups

    assert [tier(each) for each in groups] == [NEAR, RELATED]
    assert groups[0].score < groups[1].score
    assert [each.id for each in groups] == [1, 2]
