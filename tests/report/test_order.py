"""simdup.report.order and space: which groups a report shows, and what repeats in them."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdup.records import Document, FolderPair, Group, Kind, Member, Source, Version
from simdup.report import text
from simdup.report.order import Pile, Repeated, View, ranked, repeated, selected
from simdup.report.terminal import TerminalStyle
from tests.report.test_text import member, result

FIRST = Kind.IDENTICAL_BYTES


def group(number, *members):
    """A group of members made by `of`, the first of which represents it."""
    return Group(number, Kind.NEAR, 0, members)


def of(path, words, content=None, size=100, *, is_reference=False):
    """A document that holds these words, in bytes of its own unless `content` says otherwise."""
    source = Source(path, size, 0, 0, 1, 2, is_reference)
    digests = os.fsencode(content or path), os.fsencode(words)
    document = Document(source, "utf-8", 1.0, 0, 100, *digests, b"")
    return Member(document, b"\0\0", Kind.NEAR, 0, 0.9)


def files(groups):
    return [[each.document.path for each in group.members] for group in groups]


# What repeats


def test_each_file_that_repeats_something_counts_once():
    found = repeated(
        [
            group(
                1,
                of("a", "one", "x"),
                of("b", "one", "x", 101),
                of("c", "one", size=102),
                of("d", "two", "y", 103),
                of("e", "two", "y", 104),
                of("f", "two", size=105),
            )
        ]
    )

    assert found == Repeated(Pile(2, 101 + 104), Pile(2, 102 + 105), near=Pile(1, 103))
    assert found.total == Pile(5, 515)


def test_a_result_without_digests_repeats_what_its_kinds_say():
    kinds = FIRST, FIRST, Kind.IDENTICAL_TEXT, Kind.SAME_WORDS, Kind.NEAR, Kind.NEAR
    members = [
        member(f"in/{number}", kind, bytes_digest=b"", text_digest=b"")
        for number, kind in enumerate(kinds)
    ]

    found = repeated([Group(1, Kind.NEAR, 0, tuple(members))])

    assert found == Repeated(Pile(1, 1234), Pile(1, 1234), Pile(1, 1234), Pile(2, 2468))


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.booleans()), min_size=1))
def test_what_repeats_is_what_remains_when_one_of_each_stays(made):
    """By counting: of n files, those with new bytes, new words and the first one are left."""
    members = [
        of(f"{number}", f"{words}", f"{words} {content}", is_reference=is_reference)
        for number, (words, content, is_reference) in enumerate(made)
    ]

    found = repeated([group(1, *members)])

    staying = {(words, content) for words, content, is_reference in made if is_reference}
    removable = [(words, content) for words, content, is_reference in made if not is_reference]
    contents = {(words, content) for words, content, _ in made}
    words = {words for words, _ in contents}
    known_words = {words for words, _ in staying}
    assert found.total.files == len(removable) - (not staying)
    assert found.identical.files == len(removable) - len(contents - staying)
    assert found.near.files == len(words - known_words) - (not staying)


# Order


GROUPS = (
    group(1, of("m/a", "one", "x"), of("m/b", "one", "x")),
    group(2, of("z/a", "two", size=5000), of("z/b", "too", size=9000)),
    group(3, of("b/a", "three", size=1), *(of(f"b/{n}", f"{n}", size=1) for n in range(3))),
)


@pytest.mark.parametrize(
    ("sort", "order"),
    [("similarity", [1, 2, 3]), ("size", [2, 1, 3]), ("count", [3, 1, 2]), ("name", [3, 1, 2])],
)
def test_the_most_useful_groups_come_first_for_programs_and_last_for_people(sort, order):
    found = result(*GROUPS)

    assert [each.id for each in ranked(GROUPS, sort)] == order
    assert [each.id for each in selected(found, sort, None).groups] == order
    assert [each.id for each in selected(found, sort, 2).groups] == order[:2]
    headings = [line for line in text.render(found, view=View(sort)) if line.startswith("Group")]
    shown = [int(line.split()[1].rstrip(":")) for line in headings]
    assert shown == (order if sort == "name" else order[::-1])
    (last, *_) = [
        line for line in text.render(found, view=View(sort, 1)) if line.startswith("Group")
    ]
    assert last.startswith(f"Group {order[0]}:")


def test_families_have_the_same_order_and_limit():
    found = replace(result(), patterns=tuple(each._replace(id=each.id + 9) for each in GROUPS))

    assert [each.id for each in selected(found, "size", 2).patterns] == [11, 10]


# On a terminal


def many(number, members=2):
    return [
        group(i, *(of(f"in/{i}/{place}", f"{i} {place}") for place in range(members)))
        for i in range(1, number + 1)
    ]


def brief(groups, lines=None, limit=20, columns=100):
    view = View(limit=limit, is_brief=True, lines=lines)
    return list(text.render(result(*groups), TerminalStyle(columns=columns), view))


def taken(lines, columns):
    """How many rows of a terminal the lines take."""
    return sum(max(1, -(-len(line) // columns)) for line in lines)


def numbers(lines):
    return [int(line.split()[1].rstrip(":")) for line in lines if line.startswith("Group")]


def test_a_terminal_shows_the_best_twenty_groups_and_how_many_there_are_more():
    lines = brief(many(578))

    assert numbers(lines) == [*range(20, 0, -1)]
    assert lines[-2:] == ["558 more groups: --all, --html page.html, or --format json", ""]
    assert len(lines) == 20 * 3 + 3


@pytest.mark.parametrize("height", range(20, 80))
@pytest.mark.parametrize("columns", [30, 80, 200])
def test_groups_and_summary_fit_the_window(height, columns):
    groups = many(50)
    lines = brief(groups, height, columns=columns)

    rows = taken([*lines, *text.closing(result(*groups))], columns)
    whole = rows + 2  # the command and the next prompt
    another = taken(text.render(result(*groups[-1:])), columns)
    assert whole <= height or len(numbers(lines)) == 3
    assert whole + another > height or len(numbers(lines)) == 20


def test_a_large_group_shows_its_first_files_on_a_terminal():
    (whole,) = many(1, 12)

    lines = brief([whole])

    assert [line.split()[-1] for line in lines[1:5]] == [f"in/1/{place}" for place in range(4)]
    assert lines[5:] == ["  and 8 more files", ""]
    assert len(brief(many(1, 5))) == 1 + 5 + 1


# Folders


def folders(*groups, number=1):
    """Pairs of folders; the first stands for the groups with these numbers."""
    fields = {"files": 9, "other_files": 9, "copies": 9, "identical": 8, "not_compared": 0}
    return tuple(
        FolderPair(f"old{i}", f"new{i}", newer=None, groups=() if i else groups, **fields)
        for i in range(number)
    )


def test_a_line_of_folders_stands_for_their_groups_unless_all_are_asked_for():
    found = replace(result(*GROUPS), folders=folders(1, 3))

    folded = list(text.render(found, view=View(is_folded=True)))

    assert numbers(folded) == [2]
    assert folded[-4:] == [
        "old0 has 9 of 9 files in new0: 8 identical, 1 similar",
        "",
        "2 groups of files in these folders not listed: --all, --html page.html, or --format json",
        "",
    ]
    assert numbers(text.render(found)) == [3, 2, 1]


def test_on_a_terminal_no_pair_inside_another_pair_is_named():
    (outer,) = folders(1)
    inner = outer._replace(path="old0/a", other="new0/b", groups=())
    found = replace(result(*GROUPS), folders=(outer, inner))

    lines = list(text.render(found, view=View(is_brief=True, is_folded=True)))

    assert lines[-5:-3] == [
        "and 1 more pair of folders",
        "old0 has 9 of 9 files in new0: 8 identical, 1 similar",
    ]


def test_a_limit_counts_the_groups_outside_of_folders():
    found = replace(result(*many(30)), folders=folders(1, 2))

    lines = list(text.render(found, view=View(limit=5, is_folded=True)))

    assert numbers(lines) == [7, 6, 5, 4, 3]
    assert lines[-2].startswith("25 more groups, 2 of them of files in these folders: ")


@pytest.mark.parametrize("number", range(1, 9))
def test_folders_take_their_part_of_the_window(number):
    found = replace(result(*many(50)), folders=folders(number=number))
    view = View(limit=20, is_brief=True, is_folded=True, lines=40)

    lines = list(text.render(found, TerminalStyle(columns=200), view))

    assert 36 <= len(lines) + len(text.closing(found)) + 2 <= 40
    shown = [line for line in lines if line.startswith("old")]
    assert [line.split()[0] for line in shown] == [
        f"old{i}" for i in range(number if number <= 6 else 5)
    ][::-1]
    assert (f"and {number - 5} more pairs of folders" in lines) == (number > 6)


# Versions


def versions(*names, changed=None):
    """A group of versions, from the oldest to the newest, of which a fifth changes each time."""
    members = [of(name, name) for name in names]
    changed = [None, *(changed or [0.2] * (len(names) - 1))]
    steps = tuple(Version(*each) for each in zip(names, changed, strict=True))
    return group(1, *members)._replace(versions=steps)


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        (
            ["contract v1.docx", "contract v2.docx", "contract v4.docx", "contract final.docx"],
            "contract v1 > v2 > v4 > final.docx",
        ),
        (["in/kiln-v1.md", "in/kiln-v2.md"], "in/kiln-v1 > v2.md"),
        (["in/v10.md", "in/v11.md", "in/v12.md"], "in/v10 > v11 > v12.md"),
        (["a/2024-03-01 plan.txt", "a/2024-03-09 plan.txt"], "a/2024-03-01 > 2024-03-09 plan.txt"),
        (["合同第2版.docx", "合同第3版.docx"], "合同第2版 > 第3版.docx"),
        (["in/plan.txt", "in/plan-final.txt"], "in/plan > plan-final.txt"),
        (["a/plan.txt", "b/plan.txt"], "a/plan.txt > b/plan.txt"),
        (["plan v1.txt", "plan v2.pdf"], "plan v1.txt > v2.pdf"),
        (["a\nv1.txt", "a\nv2.txt"], "a\\nv1 > nv2.txt"),
    ],
)
def test_a_chain_says_once_what_its_names_have_in_common(names, shown):
    lines = list(text.render(result(versions(*names))))

    figures = {2: "20", 3: "20 and 20", 4: "20, 20 and 20"}[len(names)]
    assert lines[0] == f"Group 1: versions, 90 % in the kept file, {len(names)} files"
    assert lines[1] == f"  {shown}, newest last; {figures} % changed"
    assert len(lines) == 2 + len(names) + 1


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ([0.124, 0.3, 0.07], "12, 30 and 7 % changed"),
        ([0.004, 0.0, 1e-9], "<1, 0 and <1 % changed"),
        ([0.5, 0.006, None], "50 and 1 % changed"),
        ([0.005, 0.25, None], "<1 and 25 % changed"),
    ],
)
def test_a_chain_says_what_changed(changed, said):
    made = versions("v1.txt", "v2.txt", "v3.txt", "v4.txt", changed=changed)

    assert text.chain(made.versions).endswith(f"newest last; {said}")


def test_a_chain_without_similarities_is_only_an_order():
    made = versions("v1.txt", "v2.txt", changed=[None])

    assert text.chain(made.versions) == "v1 > v2.txt, newest last"


def test_a_terminal_shows_the_chain_alone():
    made = versions(*(f"in/plan v{number}.txt" for number in range(9)))
    assert len(brief([made])) == 3

    copied = made._replace(members=(*made.members, of("in/copy.txt", "in/plan v1.txt")))
    assert brief([copied])[2] == "  and 1 copy of them"
    assert len(list(text.render(result(copied)))) == 2 + 10 + 1


def test_long_chains_count_as_the_rows_that_they_take():
    folder = "very/" * 30
    names = [f"{folder}plan v{number}.txt" for number in range(20)]
    groups = [versions(*names)._replace(id=number) for number in range(1, 21)]

    lines = brief(groups, 40, columns=60)

    rows = taken([*lines, *text.closing(result(*groups))], 60)
    assert 3 < len(numbers(lines)) < 20
    assert 30 < rows + 2 <= 40


def test_versions_are_counted_at_the_end():
    one = text.what_to_do(result(versions("v1.txt", "v2.txt")))
    two = text.what_to_do(result(*[versions("v1.txt", "v2.txt")] * 2))

    assert one == ["needs a look: 1 near file; 1 group looks like versions"]
    assert two == ["needs a look: 2 near files; 2 groups look like versions"]


# What a scan says at its end


def test_the_end_says_what_can_go_and_what_needs_a_look():
    found = result(
        group(1, of("a", "one", "x"), of("b", "one", "x", 11_000_000), of("c", "one", size=5000)),
        group(2, of("d", "two"), of("e", "too", size=2000)),
    )

    assert text.what_to_do(found) == [
        "can be removed: 1 exact copy, 11.0 MB",
        "needs a look: 1 file with the same text in other bytes, 1 near file",
    ]
    assert text.closing(found)[-2:] == text.what_to_do(found)
    assert text.what_to_do(result()) == []


@pytest.mark.parametrize(
    ("alike", "words"),
    [
        ([0.818], "82 % in the kept file"),
        ([0.9999], "99 % in the kept file"),
        ([1.0], "100 % in the kept file"),
        ([0.82, 0.97, 0.9], "82 to 97 % in the kept file"),
        ([0.816, 0.82], "82 % in the kept file"),
    ],
)
def test_a_heading_has_the_scores(alike, words):
    members = [member(f"in/{n}", similarity=each) for n, each in enumerate(alike)]
    made = Group(1, Kind.NEAR, 3, (member("in/first", FIRST), *members))

    assert next(text.render(result(made))) == f"Group 1: {words}, {len(alike) + 1} files"
