"""Pairs of folders: by hand, against a slow oracle, and how long they take."""

from __future__ import annotations

import json
import os
from collections import Counter, defaultdict
from itertools import permutations
from pathlib import PurePosixPath
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdup import (
    Document,
    FolderPair,
    Group,
    Index,
    Kind,
    Member,
    Reason,
    Settings,
    Skipped,
    Source,
    scan,
)
from simdup.files.ignored import without_ignored
from simdup.findings.folders import LEAST_COPIES, LEAST_SHARE, folder_pairs
from simdup.report.json_csv import render_json, render_jsonl
from simdup.report.load import load
from simdup.report.text import folder_line


def document(path, text=b"t" * 16, mtime=0):
    source = Source(path, 10, mtime, mtime, 0, 0)
    return Document(source, "utf-8", 1.0, 0, 40, text, text, text)


def grouped(*lists):
    """Groups of these documents, numbered from 1."""
    return [
        Group(number, Kind.NEAR, 0, tuple(Member(each, b"", Kind.NEAR, 0, 1.0) for each in files))
        for number, files in enumerate(lists, 1)
    ]


def copies(names, *folders, **fields):
    """One group for each name: the file of this name in each of the folders."""
    return [[document(f"{folder}/{name}", **fields) for folder in folders] for name in names]


def pairs(lists, others=(), roots=("in",), skipped=()):
    """What `folder_pairs` says of groups of documents, and of others that are in no group."""
    documents = [each for files in lists for each in files] + list(others)
    return folder_pairs(grouped(*lists), documents, skipped, roots)


def named(found):
    return [(pair.path, pair.other) for pair in found]


def test_a_tree_whose_files_have_copies_inside_it_is_one_pair_with_its_copy():
    inside = ("a", "a/sub", "b", "b/a", "b/a/sub")
    folders = [f"in/{tree}/{each}" for tree in ("old", "new") for each in inside]

    found = pairs(copies(["1.txt", "2.txt", "3.txt", "4.txt", "5.txt"], *folders))

    assert named(found) == [("in/old", "in/new")]
    assert (found[0].copies, found[0].groups) == (25, (1, 2, 3, 4, 5))


NAMES = ["a", "b", "sub/c", "sub/d", "sub/deep/e"]


def test_a_folder_and_its_copy_are_one_pair_and_nothing_inside_them_is():
    (found,) = pairs(copies(NAMES, "in/new", "in/old"), [document("in/new/f")])

    assert (found.path, found.other) == ("in/old", "in/new")
    assert (found.copies, found.files, found.other_files, found.identical) == (5, 5, 6, 5)
    assert found.groups == (1, 2, 3, 4, 5)


def test_fewer_than_four_fifths_are_no_pair():
    four = copies("abcd", "in/new", "in/old")
    others = [document(f"in/{folder}/{n}") for folder in ("old", "new") for n in range(2)]

    assert not pairs(four, others)
    assert pairs(four, others[1:])


def test_the_same_names_without_a_group_or_a_group_without_the_same_names_are_no_pair():
    apart = [[document(f"in/old/{n}"), document(f"in/new/{n}x")] for n in range(5)]

    assert not pairs(apart)
    assert not pairs([], [document(f"in/{folder}/{n}") for folder in "xy" for n in range(5)])


def test_copies_that_differ_say_which_folder_is_newer():
    same = copies(NAMES[:4], "in/new", "in/old")
    edited = [[document("in/new/e", b"1" * 16, 7), document("in/old/e", b"2" * 16, 5)]]

    (found,) = pairs(same + edited, [document("in/old/more", mtime=9), document("in/new/more2")])

    assert (found.copies, found.identical) == (5, 4)
    assert found.newer == "in/new"


def test_the_time_of_a_copy_that_is_identical_says_nothing():
    lists = [[document(f"in/x/{n}", mtime=1), document(f"in/y/{n}", mtime=2)] for n in range(4)]

    assert [each.newer for each in pairs(lists)] == [None]


def test_three_copies_of_a_folder_are_two_lines():
    found = pairs(copies(NAMES, "in/a", "in/b", "in/c"))

    assert named(found) == [("in/b", "in/a"), ("in/c", "in/a")]
    assert {pair.groups for pair in found} == {(1, 2, 3, 4, 5)}


def test_a_folder_that_is_copied_into_itself_is_a_pair():
    assert named(pairs(copies(NAMES, "in", "in/backup"))) == [("in/backup", "in")]


def test_folders_above_the_roots_are_in_no_pair():
    lists = copies(NAMES, "x/one/docs", "y/one/docs")

    assert named(pairs(lists, roots=["x/one/docs", "y/one/docs/"])) == [
        ("y/one/docs", "x/one/docs")
    ]
    assert named(pairs(lists, roots=["."])) == []
    assert named(pairs(lists, roots=["x", "y"])) == [("y", "x")]


def test_folders_of_the_root_and_of_the_working_folder_are_found():
    assert named(pairs(copies(NAMES, "/a", "/b"), roots=["/"])) == [("/b", "/a")]
    assert named(pairs(copies(NAMES, "./a", "./b"), roots=["."])) == [("./b", "./a")]


def test_a_group_with_a_file_elsewhere_is_not_behind_a_pair():
    lists = copies(NAMES, "in/new", "in/old")
    lists[1].append(document("in/elsewhere"))
    lists[2].append(document("in/new/again"))

    (found,) = pairs(lists, [document("in/new/f")])

    assert found.groups == (1, 4, 5)


def test_a_pair_inside_another_pair_is_named_only_if_it_says_something_new():
    inner = copies(NAMES, "in/new/x", "in/new/y", "in/old/x", "in/old/y")
    outer = copies([f"own/{n}" for n in range(20)], "in/new", "in/old")
    single = copies([f"lib/{n}" for n in range(5)], "in/new/x", "in/new/y")

    assert named(pairs(inner + outer)) == [("in/old", "in/new")]
    assert ("in/new/y", "in/new/x") in named(pairs(inner + outer + single))


def test_what_was_not_compared_is_counted_but_empty_files_are_not():
    skipped = [
        Skipped("in/old/sub/picture.png", Reason.BINARY, "PNG"),
        Skipped("in/old/.git", Reason.HIDDEN),
        Skipped("in/old/__init__.py", Reason.EMPTY, "0 bytes"),
        Skipped("in/new/picture.png", Reason.BINARY, "PNG"),
    ]

    (found,) = pairs(copies(NAMES, "in/new", "in/old"), skipped=skipped)

    assert (found.path, found.not_compared) == ("in/old", 2)


def test_documents_without_text_count_as_files():
    scans = [[document(f"in/{folder}/{n}.pdf") for folder in ("a", "b")] for n in range(3)]
    skipped = [
        Skipped(each.path, Reason.UNEXTRACTED, "", each) for files in scans for each in files
    ]

    (found,) = folder_pairs(grouped(*scans), [], skipped, ["in"])

    assert (found.copies, found.files, found.not_compared) == (3, 3, 0)


FOLDERS = ["in", "in/a", "in/b", "in/a/x", "in/b/x", "in/a/x/x", "in/c", "in/c/a"]


@st.composite
def trees(draw):
    """Files in some folders, each in one of a few groups or in none."""
    spots = [f"{folder}/{name}" for folder in FOLDERS for name in "pqrs"]
    chosen = draw(st.lists(st.sampled_from(spots), unique=True, min_size=6))
    groups = draw(st.lists(st.integers(0, 3), min_size=len(chosen), max_size=len(chosen)))
    texts = draw(st.lists(st.booleans(), min_size=len(chosen), max_size=len(chosen)))
    files = [document(p, bytes([t]) * 16) for p, t in zip(sorted(chosen), texts, strict=True)]
    lists = defaultdict(list)
    for file, number in zip(files, groups, strict=True):
        lists[number].append(file)
    alone = lists.pop(0, [])
    alone += [each for files in lists.values() if len(files) < 2 for each in files]
    return [files for files in lists.values() if len(files) > 1], alone


def slowly(lists, alone):
    """For each ordered pair of folders: copies, identical ones, and files of the first."""
    group = {each.path: number for number, files in enumerate(lists) for each in files}
    files = {each.path: each for each in [*alone, *(each for some in lists for each in some)]}
    counted = {}
    for one, other in permutations(FOLDERS, 2):
        own = [path for path in files if PurePosixPath(one) in PurePosixPath(path).parents]
        there = [(path, other + path[len(one) :]) for path in own]
        same = [
            (path, to)
            for path, to in there
            if path in group and to in group and group[path] == group[to]
        ]
        equal = [1 for path, to in same if files[path].text_digest == files[to].text_digest]
        counted[one, other] = len(same), len(equal), len(own)
    return counted


@pytest.mark.slow
@given(trees())
def test_counts_are_those_of_the_slow_oracle_and_every_pair_is_named_or_inside_one(tree):
    lists, alone = tree
    found, oracle = pairs(lists, alone), slowly(lists, alone)

    for pair in found:
        counted = pair.copies, pair.identical, pair.files
        assert counted == oracle[pair.path, pair.other]
        assert pair.files <= pair.other_files
    assert len({pair.path for pair in found}) == len(found)
    related = {folder for pair in found for folder in (pair.path, pair.other)}
    for (one, other), (number, _, of) in oracle.items():
        if number >= LEAST_COPIES and number >= LEAST_SHARE * of:
            assert any(
                PurePosixPath(each) in [PurePosixPath(one), *PurePosixPath(one).parents]
                for each in related
            ), (one, other)


def behind(lists, found):
    """The numbers of the groups that some pairs stand for, by the definition."""
    towards = {pair.path: pair.other for pair in found}

    def end(folder):
        return end(towards[folder]) if folder in towards else folder

    folders = {folder for pair in found for folder in (pair.path, pair.other)}
    links = [
        (end(one), end(other))
        for one, other in permutations(folders, 2)
        if one.startswith(other + "/")
    ]
    joined = {each: {each} for each in map(end, folders)}
    for _ in links:
        for one, other in links:
            joined[one] |= joined[other]
            joined[other] |= joined[one]
    numbers = set()
    for number, files in enumerate(lists, 1):
        above = {f.path: [o for o in folders if f.path.startswith(o + "/")] for f in files}
        spots = {path: [(end(o), path[len(o) :]) for o in some] for path, some in above.items()}
        count = Counter(spot for some in spots.values() for spot in some)
        ends = {spot[0] for spot in count}
        are_copied = all(any(count[spot] > 1 for spot in some) for some in spots.values())
        if are_copied and all(ends <= joined[each] for each in ends):
            numbers.add(number)
    return numbers


COPIED = ["in/a", "in/a/x", "in/b", "in/b/x", "in/c", "in/c/a"]


@st.composite
def mirrors(draw):
    """Groups of files with one name or two, each in some of a few folders: most folders pair up."""
    lists = []
    for name in "pqrstu":
        folders = draw(st.sampled_from([COPIED[:2], COPIED[::2], COPIED[:4], COPIED[2:], COPIED]))
        files = [document(f"{folder}/{name}") for folder in folders]
        if draw(st.integers(0, 3)) or not lists:
            lists.append(files)
        else:
            lists[-1] += draw(st.sampled_from([files, files[:1]]))
    return lists


@given(mirrors())
def test_pairs_stand_for_the_groups_that_the_definition_says(lists):
    found = pairs(lists)

    assert {number for pair in found for number in pair.groups} == behind(lists, found)


@pytest.mark.slow
@pytest.mark.parametrize("folders", [2, 500])
def test_the_time_grows_with_the_files_and_not_with_their_pairs(folders):
    """50,000 files in 25,000 pairs; and 500 folders that all have the same 100 files."""
    number = 50_000 // folders
    names = [f"part{n % 10}/deep/file{n}" for n in range(number)]
    lists = copies(names, *(f"in/some/{each:03}" for each in range(folders)))
    groups = grouped(*lists)
    documents = [each for files in lists for each in files]

    began = process_time()
    found = folder_pairs(groups, documents, (), ["in"])
    taken = process_time() - began

    assert [pair.copies for pair in found] == [number] * (folders - 1)
    assert {pair.other for pair in found} == {"in/some/000"}
    assert taken < 3  # .5 s; all pairs of 500 files each would take minutes


def test_one_name_in_one_group_in_500_folders_is_no_pair_and_costs_no_time():
    files = [document(f"in/{n}/__init__.py") for n in range(500)]
    others = [document(f"in/{n}/{name}.py") for n in range(500) for name in "abc"]

    assert pairs([files], others) == ()


def test_a_tree_deeper_than_the_stack_is_no_trouble():
    deep = "/d" * 3000

    assert named(pairs(copies(["a", "b", "c"], "in/x" + deep, "in/y" + deep))) == [("in/y", "in/x")]


@pytest.fixture
def checkouts(write, english):
    """Two copies of a folder; one file was edited in the newer one, and has a later date."""
    for number in range(5):
        text = f"{number} is the number of this text. " + english.replace("grey", f"grey{number}")
        write(f"in/old/part/{number}.txt", text)
        write(f"in/new/part/{number}.txt", text)
    write("in/new/part/4.txt", english.replace("grey", "white") + "A line was added later.")
    return "in"


def test_a_scan_names_the_pair_and_a_saved_report_keeps_it(checkouts):
    result = scan(checkouts)

    leaders = [each.members[0].document.path for each in result.groups]
    assert [folder_line(each, leaders) for each in result.folders] == [
        "in/old has 5 of 5 files in in/new: 4 identical, 1 similar; newer: new"
    ]
    for render in (render_json, render_jsonl):
        again = load("\n".join(render(result)).encode(), "a report")
        assert again.folders == result.folders
    (fields,) = json.loads("\n".join(render_json(result)))["folders"]
    assert fields["newer"] == "other"
    assert fields["groups"] == [group.id for group in result.groups]


def test_a_list_of_files_says_nothing_of_their_folders(checkouts):
    files = [each.path for each in scan(checkouts).documents]

    assert scan(files, are_files=True).folders == ()


def test_an_index_names_the_pairs_of_a_scan(checkouts):
    root = os.path.abspath(checkouts)
    with Index.create("x.simdup", Settings()) as index:
        index.add(root)
        found = index.scan().folders

    assert len(found) == 1
    assert found == scan(root).folders


def test_a_group_that_is_ignored_since_is_no_longer_behind_a_pair(write):
    for number in range(4):
        text = " ".join(f"w{number}x{each}" for each in range(60))
        write(f"in/a/{number}.txt", text)
        write(f"in/b/{number}.txt", text + " and more" * (number == 3))
    result = scan("in")
    texts = {each.text_digest for each in result.documents if each.path.endswith("3.txt")}

    later = without_ignored(result, [tuple(texts)])

    assert [len(pair.groups) for pair in result.folders] == [4]
    assert [set(pair.groups) for pair in later.folders] == [{each.id for each in later.groups}]
    assert len(later.groups) == 3


@pytest.mark.usefixtures("checkouts")
def test_references_are_one_side_of_a_pair():
    (pair,) = scan("in/new", against="in/old").folders

    assert {pair.path, pair.other} == {"in/new", "in/old"}


def test_the_line_of_a_pair_says_which_folder_is_a_copy_or_what_it_has():
    full = FolderPair("docs", "Backup 2023-11", 83, 83, 83, 83, 0, None)
    rest = full._replace(path="usb", other="docs", not_compared=9)
    near = full._replace(identical=0, copies=70, newer="docs")

    assert [folder_line(each, ["docs/a"]) for each in (full, rest, near)] == [
        "Backup 2023-11 is a full copy of docs: 83 of 83 files",
        "usb is a copy of docs: 83 of 83 files; 9 not compared",
        "Backup 2023-11 has 70 of 83 files in docs: 70 similar; newer: docs",
    ]


def test_pairs_without_an_identical_file_come_last():
    lists = copies("abcdef", "in/old", "in/new")
    similar = [
        [document(f"in/{side}/{name}", text=side.encode().ljust(16)) for side in ("far", "near")]
        for name in "abcdefgh"
    ]

    first, last = pairs([*similar, *lists])
    assert (first.copies, first.identical, last.copies, last.identical) == (6, 6, 8, 0)


def test_the_line_of_two_equal_folders_says_what_clean_does(tmp_path):
    for folder, time in (("A", 1_700_000_000), ("B", 1_600_000_000)):
        for number in range(5):
            path = tmp_path / folder / f"{number}.txt"
            path.parent.mkdir(exist_ok=True)
            path.write_text(" ".join(f"w{number}{n}" for n in range(200)), "utf-8")
            os.utime(path, (time, time))
    found = scan(tmp_path)
    leaders = [each.members[0].document.path for each in found.groups]

    assert {os.path.dirname(each) for each in leaders} == {str(tmp_path / "B")}
    (pair,) = found.folders
    assert folder_line(pair, leaders).startswith(f"{tmp_path}/A is a full copy of {tmp_path}/B: ")


def test_names_of_folders_cannot_control_the_terminal():
    found = pairs(copies(NAMES, "in/\nold\udcff", "in/\x1b[31m"))

    assert [folder_line(each, ["in/\x1b[31m/a"]) for each in found] == [
        "in/\\nold\\xff is a full copy of in/\\x1b[31m: 5 of 5 files"
    ]
