"""Which texts of a group are near, by names and by what is around them: scans of made-up files."""

from __future__ import annotations

import random
from itertools import cycle
from string import ascii_lowercase

import pytest

import simdup
from simdup.match.tiers import NEAR, RELATED

KINDS = ("recipes", "letters", "reports", "minutes")

#: A word for the name of each family.
NOUNS = tuple(f"{one}{two}" for one in ("oak", "ivy", "elm", "fir", "yew") for two in "stuvwxyz")

#: The names of the two files of a family.
VERSIONS = (
    ("{} draft.txt", "{} final.txt"),
    ("{} v1.txt", "{} v2.txt"),
    ("{}.txt", "{} corrected.txt"),
    ("{} 2023-03-01.txt", "{} 2024-05-02.txt"),
)


def words(seed, number):
    """Words of a text that no other text has, deterministically."""
    drawn = random.Random(seed)
    return ["".join(drawn.choices(ascii_lowercase, k=9)) for _ in range(number)]


def changed(text, share, seed):
    """The text with one paragraph rewritten, which has this share of its words."""
    number = round(len(text) * share)
    begin = random.Random(seed).randrange(len(text) - number)
    return text[:begin] + words(f"{seed}new", number) + text[begin + number :]


def document(kind, seed):
    """A document that has the same frame as the others of its kind."""
    frame, own = words(kind, 40), words(seed, 280)
    return frame[:20] + own + frame[20:]


def tiers(found):
    """The tier of each file that is in a group: near if it is in a near pair."""
    by_path = {}
    for group in found.groups:
        for member in group.members:
            by_path[member.document.path] = member.tier
    return by_path


@pytest.fixture
def pair(write):
    """Write two texts, of which the second has this share changed."""

    def written(one, other, share, length=400):
        text = words(one, length)
        write(one, " ".join(text))
        write(other, " ".join(changed(text, share, other)))

    return written


def only_group(path="in"):
    (group,) = simdup.scan([path]).groups
    return group


@pytest.mark.parametrize(("one", "other", "expected"), [
    ("in/x/index.md", "in/y/index.txt", "name"),
    ("in/essay (1).txt", "in/old/essay copy.txt", "name"),
    ("in/log 2023-01-05.txt", "in/log 2023-02-11.txt", "name"),
    ("in/log 2023-01.txt", "in/log 2023-02.txt", ""),
    ("in/log January.txt", "in/log February.txt", ""),
    ("in/2023/Q1/log.txt", "in/2023/Q2/log.txt", ""),
    ("in/x/ivy.txt", "in/y/oak.txt", ""),
])  # fmt: skip
def test_the_same_rare_name_makes_texts_near_from_a_lower_score_on(pair, one, other, expected):
    pair(one, other, 0.3)

    group = only_group()
    assert group.score == pytest.approx(0.7, abs=0.02)
    assert group.near_because == expected
    assert group.tier == (NEAR if expected else RELATED)


def test_a_name_that_many_files_have_says_nothing(pair):
    for number in range(6):
        pair(f"in/{number}/a/index.md", f"in/{number}/b/index.md", 0.3)

    ten_files = [f"in/{number}" for number in range(5)]
    assert {group.tier for group in simdup.scan(ten_files).groups} == {NEAR}
    assert {group.tier for group in simdup.scan(["in"]).groups} == {RELATED}


def test_dates_and_numbers_that_many_files_have_are_a_series(pair, write):
    pair("in/log 2023-01-09.txt", "in/log 2023-02-09.txt", 0.3)
    assert only_group().tier == NEAR

    for number in range(9):
        write(f"in/log 2024-{number + 1:02}-09.txt", " ".join(words(f"log{number}", 100)))
    assert only_group().tier == RELATED


def crowd(pair, number, share, path="in"):
    for place in range(number):
        pair(f"{path}/{place}a{place}.txt", f"{path}/{place}b{place}.txt", share)


@pytest.mark.parametrize(("related", "near", "expected"), [
    (4, 0, "score"),
    (5, 0, ""),
    (16, 0, ""),
    (16, 6, ""),
    (16, 8, "around"),
])  # fmt: skip
def test_few_near_groups_around_ask_for_nearly_all_of_both_texts(pair, related, near, expected):
    pair("in/ivy.txt", "in/oak.txt", 0.1)
    crowd(pair, related, 0.22, "in/notes")
    crowd(pair, near, 0.02, "in/terms")

    assert evidence("in/ivy.txt") == expected


def test_groups_count_as_near_if_they_are_so_by_a_name_or_short(pair):
    pair("in/ivy.txt", "in/oak.txt", 0.1)
    crowd(pair, 16, 0.22, "in/notes")
    for number in range(4):
        pair(f"in/a/x{number}y.txt", f"in/b/x{number}y.txt", 0.3)
        pair(f"in/short/{number}a{number}.txt", f"in/short/{number}b{number}.txt", 0.1, length=45)

    assert evidence("in/ivy.txt") == "around"


@pytest.mark.parametrize(("share", "lower", "further", "expected"), [
    (0.3, 14, 0, ""),
    (0.3, 15, 0, "gap"),
    (0.3, 20, 1, "gap"),
    (0.3, 20, 2, ""),
    (0.45, 20, 0, ""),
])  # fmt: skip
def test_a_lower_score_is_enough_if_scores_leave_a_gap_below(pair, share, lower, further, expected):
    pair("in/ivy.txt", "in/oak.txt", share)
    crowd(pair, lower, 0.55, "in/notes")
    crowd(pair, further, share + 0.1, "in/terms")

    assert evidence("in/ivy.txt") == expected


@pytest.mark.parametrize("share", [0.28, 0.55])
def test_groups_that_are_about_as_near_or_far_less_leave_a_gap(pair, share):
    pair("in/ivy.txt", "in/oak.txt", 0.3)
    crowd(pair, 16, share, "in/notes")

    assert evidence("in/ivy.txt") == "gap"


def test_groups_that_are_near_by_their_names_fill_no_gap(pair):
    pair("in/ivy.txt", "in/oak.txt", 0.25)
    for number in range(16):
        pair(f"in/a/x{number}y.txt", f"in/b/x{number}y.txt", 0.36)

    assert evidence("in/ivy.txt") == "gap"


def evidence(path):
    """Why the group of this file is near."""
    groups = simdup.scan(["in"]).groups
    (group,) = (g for g in groups if path in {m.document.path for m in g.members})
    return group.near_because


def test_only_groups_of_the_folder_count_if_they_are_enough(pair):
    pair("in/terms/ivy.txt", "in/terms/oak.txt", 0.1)
    crowd(pair, 15, 0.02, "in/terms")
    crowd(pair, 60, 0.3, "in/terms-of-law")

    found = tiers(simdup.scan(["in"]))
    assert found["in/terms/oak.txt"] == NEAR


def test_a_group_is_led_by_one_of_a_near_pair(write):
    text = words("in/a", 400)
    write("in/a copy", " ".join(text))
    write("in/b copy", " ".join(changed(text, 0.05, "b")))
    write("in/oak", " ".join(changed(changed(text, 0.25, "c"), 0.25, "d")))

    group = only_group()
    assert [(m.document.path, m.tier) for m in group.members] == [
        ("in/a copy", NEAR),
        ("in/b copy", NEAR),
        ("in/oak", RELATED),
    ]


def test_copies_that_are_only_related_to_the_central_text_lead_their_group(write):
    text = words("in/a", 400)
    write("in/elm", " ".join(text))
    for name in ("ivy", "oak"):
        write(f"in/{name}", " ".join(changed(changed(text, 0.2, "b"), 0.2, "e")))

    found = {m.document.path: (m.tier, m.near_because) for m in only_group().members}
    assert found == {
        "in/ivy": (NEAR, ""),
        "in/oak": (NEAR, "words"),
        "in/elm": (RELATED, ""),
    }


def home(write, further):
    """A home of 400 documents: 40 families of versions, and this many further related pairs.

    Of each version a fifth was rewritten. Return the paths of each family.
    """
    families = []
    for number, kind in zip(range(40), cycle(KINDS)):
        text = document(kind, f"{kind}{number}")
        names = (
            VERSIONS[number // 4 % 4] if number < 30 else ("{} to ada.txt", f"sent {number}.txt")
        )
        old, new = (f"home/{kind}/{name.format(NOUNS[number])}" for name in names)
        write(old, " ".join(text))
        write(new, " ".join(changed(text, 0.2, new)))
        families.append((old, new))
    for number, kind in zip(range(further), cycle(KINDS)):
        text = document(kind, f"r{kind}{number}")
        for side, share in (("x", 0), ("y", 0.45)):
            name = f"{number}{side}"
            write(f"home/{kind}/{name} note.txt", " ".join(changed(text, share, name)))
    for number, kind in zip(range(320 - 2 * further), cycle(KINDS)):
        write(f"home/{kind}/{number} single.txt", " ".join(document(kind, f"s{kind}{number}")))
    return families


@pytest.mark.parametrize("further", [0, 40, 160])
def test_versions_in_a_home_are_near(write, further):
    families = home(write, further)

    result = simdup.scan(["home"])

    found = tiers(result)
    near = [paths for paths in families if all(found.get(path) == NEAR for path in paths)]
    assert len(near) >= 38
    assert sum(group.tier == RELATED for group in result.groups) >= further
