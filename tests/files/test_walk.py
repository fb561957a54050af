"""simdup.files.walk over small trees made for each test; no test needs or refuses root."""

from __future__ import annotations

import errno
import os
import shutil
import socket
import sys
from itertools import chain
from pathlib import Path
from time import process_time

import pytest
from patience import patient

from simdup.errors import InputError
from simdup.files.walk import NOISE_FOLDERS, Filters, listed, walk, walk_in_batches
from simdup.records import Reason, Skipped, Source

pytestmark = pytest.mark.usefixtures("folder")

any_name = pytest.mark.skipif(sys.platform == "darwin", reason="APFS takes only UTF-8 names")


def make(*paths, text="text"):
    for path in paths:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(text, "utf-8")


def taken(found):
    return [each.path for each in found if isinstance(each, Source)]


def skipped(found):
    return [(each.path, each.reason, each.detail) for each in found if isinstance(each, Skipped)]


def fail_at(monkeypatch, function, place, code):
    """Make os.stat or os.listdir fail at one path, since root has every permission."""
    real = getattr(os, function)

    def failing(path, **options):
        if path == place:
            raise OSError(code, os.strerror(code), path)
        return real(path, **options)

    monkeypatch.setattr(os, function, failing)


def test_worked_by_hand():
    make("in/b.txt", "in/a/c.txt", "in/.git/config", "in/.profile")

    assert list(map(repr, walk(["in"]))) == [
        repr(Skipped("in/.git", Reason.NOISE)),
        repr(Skipped("in/.profile", Reason.HIDDEN)),
        repr(source("in/b.txt")),
        repr(source("in/a/c.txt")),
    ]


def source(path):
    status = Path(path).stat()
    times = status.st_mtime_ns, status.st_ctime_ns
    identity = status.st_dev, status.st_ino
    return Source(path, status.st_size, *times, *identity, links=status.st_nlink)


class Named(str):
    """Text of a class of its own, as some packages have for paths."""

    __slots__ = ()

    def __str__(self):
        return "another name"


@pytest.mark.parametrize("find", [walk, listed])
def test_paths_are_plain_text_whatever_text_was_given(find):
    make("a")
    (found,) = find([Named("a")])

    assert (type(found.path), found.path) == (str, "a")


# Order


def test_files_come_before_folders_and_both_by_the_bytes_of_their_names():
    make("in/b/1", "in/B/2", "in/a", "in/Z", "in/é", "in/z")

    assert taken(walk(["in"])) == ["in/Z", "in/a", "in/z", "in/é", "in/B/2", "in/b/1"]


@any_name
def test_order_is_that_of_bytes_and_not_of_code_points():
    make("in/\U00020000", "in/\udcf5")  # f0 a0 80 80, and f5, whose code point is lower

    assert taken(walk(["in"])) == ["in/\U00020000", "in/\udcf5"]


def test_batches_are_small_and_hold_all_in_order(monkeypatch):
    make("in/1", "in/.2", "in/3", "in/4", "in/a/5", "in/a/6", "in/b/c/7")
    expected = list(walk(["in", "in/1"]))
    monkeypatch.setattr("simdup.files.walk.ENTRIES_AT_ONCE", 2)
    batches = [*walk_in_batches(["in", "in/1"])]

    assert max(map(len, batches)) == 2
    assert {len({os.path.dirname(each.path) for each in batch}) for batch in batches if batch} == {
        1
    }
    assert [*chain.from_iterable(batches)] == expected


# Roots


def test_roots_keep_their_order_and_their_spelling(tmp_path):
    make("b/x", "a/y")

    assert taken(walk(["./b", tmp_path / "a", "a/../b/x"])) == ["./b/x", str(tmp_path / "a/y")]


@pytest.mark.parametrize("path", [".profile", ".cache/node_modules/x"])
def test_a_named_file_is_taken_though_hidden_or_noise(path):
    make(path)

    assert taken(walk([path])) == [path]


def test_a_named_folder_is_entered_though_hidden_noise_or_excluded():
    make(".git/x")

    assert taken(walk([".git"], Filters(exclude=(".git", ".*")))) == [".git/x"]


def test_a_dot_is_a_root_like_any_other():
    make("x")

    assert taken(walk(["."], Filters(exclude=(".*", "..")))) == ["./x"]


def test_named_links_are_followed():
    make("in/x", "y")
    Path("folder").symlink_to("in")
    Path("file").symlink_to("y")

    assert taken(walk(["folder", "file"])) == ["folder/x", "file"]


def test_options_hold_for_named_files():
    make("a/x.txt", "a/x.log", "a/x.md", "big.txt")
    make("big.txt", text="t" * 100)
    filters = Filters(include=("*.txt", "*.log"), exclude=("./a/*.log",), max_size=99)

    assert skipped(walk(["a/x.txt", "a/x.log", "a/x.md", "big.txt"], filters)) == [
        ("a/x.log", Reason.EXCLUDED, ""),
        ("a/x.md", Reason.EXCLUDED, ""),
        ("big.txt", Reason.TOO_LARGE, ""),
    ]


def test_a_missing_root_is_an_error_before_anything_is_yielded():
    make("x")

    with pytest.raises(InputError, match=r"^'no': No such file or directory$"):
        walk(["x", "no"])
    with pytest.raises(InputError, match=r"^'no': No such file or directory$"):
        walk(["x"], references=["no"])


@pytest.mark.parametrize("path", ["", "a\nb\x1b", "a\0b", "\ud800", "x" * 300, "dangling"])
def test_an_impossible_root_is_one_clear_line(path):
    Path("dangling").symlink_to("nowhere")

    with pytest.raises(InputError) as caught:
        walk([path])
    assert str(caught.value).startswith(repr(path) + ": ")
    assert str(caught.value).isprintable()


def test_a_root_that_vanishes_after_the_check_is_a_skip():
    make("x")
    found = walk(["x"])
    Path("x").unlink()

    assert skipped(found) == [("x", Reason.VANISHED, "No such file or directory")]


def test_no_roots_and_an_empty_folder_give_nothing():
    assert list(walk([])) == []
    assert list(walk(["."])) == []


# One (device, inode) is one document


def test_the_same_root_again_is_one_skip():
    make("in/1", "in/2")

    assert skipped(walk(["in", "./in"])) == [("./in", Reason.SAME_FILE, "in")]


@pytest.mark.parametrize("find", [walk, listed])
def test_a_file_named_twice_in_the_same_words_is_taken_once(find):
    make("a")
    name = "a"

    found = list(find([name, name]))

    assert (taken(found), skipped(found)) == (["a"], [("a", Reason.SAME_FILE, "a")])


def test_a_file_left_out_by_a_filter_does_not_hide_its_other_name():
    make("in/a.log")
    os.link("in/a.log", "in/b.txt")

    assert taken(walk(["in"], Filters(exclude=("*.log",)))) == ["in/b.txt"]
    assert taken(walk(["in"], Filters(include=("*.txt",)))) == ["in/b.txt"]


@pytest.mark.parametrize("filters", [Filters(max_depth=2), Filters(exclude=("a/b/*",))])
def test_nested_roots_lose_nothing_to_filters_that_count_from_the_root(filters):
    make("in/a/x", "in/a/b/y")
    alone = taken(walk(["in/a"], filters))

    assert alone == ["in/a/x", "in/a/b/y"]
    assert sorted(taken(walk(["in", "in/a"], filters))) == sorted(alone)


def test_references_come_first_and_are_marked():
    make("new/a", "old/b")

    assert [(each.path, each.is_reference) for each in walk(["new"], references=["old"])] == [
        ("old/b", True),
        ("new/a", False),
    ]


def test_a_file_under_both_is_a_reference_only():
    make("in/old/a", "in/b")
    found = list(walk(["in"], references=["in/old"]))

    assert [(each.path, each.is_reference) for each in found if isinstance(each, Source)] == [
        ("in/old/a", True),
        ("in/b", False),
    ]
    assert skipped(found) == [("in/old", Reason.SAME_FILE, "in/old")]


# Symbolic links


def test_a_link_to_nothing_or_to_itself_is_no_trouble():
    Path("nothing").symlink_to("nowhere")
    Path("self").symlink_to("self")

    assert skipped(walk(["."], Filters(follow_symlinks=True))) == [
        ("./nothing", Reason.SYMLINK, "dangling"),
        ("./self", Reason.SYMLINK, "dangling"),
    ]


# What is no file, and what fails


def test_a_fifo_and_a_socket_are_skipped_with_their_kind():
    os.mkfifo("fifo")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")

    assert skipped(walk([".", "fifo"])) == [
        ("./fifo", Reason.SPECIAL, "FIFO"),
        ("./socket", Reason.SPECIAL, "socket"),
        ("fifo", Reason.SPECIAL, "FIFO"),
    ]


def test_a_device_is_skipped_with_its_kind():
    assert skipped(walk([os.devnull])) == [(os.devnull, Reason.SPECIAL, "character device")]


@pytest.mark.parametrize("filters", [Filters(), Filters(follow_symlinks=True)])
def test_no_document_is_opened(monkeypatch, filters):
    make("in/x", "in/a/y")

    def refuse(*_args, **_options):
        pytest.fail("opened")

    monkeypatch.setattr("builtins.open", refuse)
    monkeypatch.setattr(os, "open", refuse)

    assert taken(walk(["in"], filters)) == ["in/x", "in/a/y"]


@pytest.mark.parametrize("function", ["stat", "listdir"])
@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (errno.EACCES, Reason.UNREADABLE),
        (errno.EIO, Reason.UNREADABLE),
        (errno.ENOENT, Reason.VANISHED),
    ],
)
def test_a_folder_that_fails_is_skipped_and_the_walk_goes_on(monkeypatch, function, code, reason):
    make("in/a/1", "in/b/2", "in/c/3")
    fail_at(monkeypatch, function, "in/b", code)
    found = list(walk(["in"]))

    assert taken(found) == ["in/a/1", "in/c/3"]
    assert skipped(found) == [("in/b", reason, os.strerror(code))]


def test_an_entry_left_out_by_name_is_not_touched(monkeypatch):
    make("in/.gvfs/x", "in/dead.nfs/y")
    for place in ("in/.gvfs", "in/dead.nfs"):
        fail_at(monkeypatch, "stat", place, errno.EIO)

    assert skipped(walk(["in"], Filters(exclude=("*.nfs",)))) == [
        ("in/.gvfs", Reason.HIDDEN, ""),
        ("in/dead.nfs", Reason.EXCLUDED, ""),
    ]


@pytest.mark.slow
def test_a_tree_deeper_than_the_recursion_limit_is_walked():
    depth = sys.getrecursionlimit() + 100
    folders = ["a" + "/a" * level for level in range(depth)]
    for folder in folders:
        Path(folder).mkdir()
    Path(folders[-1], "x").touch()
    found = taken(walk(["a"]))
    Path(folders[-1], "x").unlink()
    for folder in reversed(folders):  # shutil.rmtree, and so pytest, would recurse
        Path(folder).rmdir()

    assert found == [folders[-1] + "/x"]


def test_a_path_too_long_for_the_system_is_skipped(tmp_path):
    make("in/z")
    for _ in range(30):
        Path("a" * 200).mkdir()
        os.chdir("a" * 200)
    os.chdir(tmp_path)
    shutil.move("a" * 200, "in")
    found = list(walk(["in"]))

    assert taken(found) == ["in/z"]
    assert [(reason, detail) for _, reason, detail in skipped(found)] == [
        (Reason.UNREADABLE, "File name too long")
    ]


# Filters


def test_hidden_names_can_be_taken():
    make(".a", ".b/.c", ".git/d")
    found = list(walk(["."], Filters(hidden=True)))

    assert taken(found) == ["./.a", "./.b/.c"]
    assert skipped(found) == [("./.git", Reason.NOISE, "")]


@pytest.mark.parametrize("name", [*sorted(NOISE_FOLDERS), ".Trash-1000"])
def test_noise_is_one_skip_a_folder_and_can_be_entered(name):
    make(f"in/{name}/a", f"in/{name}/b")

    assert skipped(walk(["in"], Filters(hidden=True))) == [(f"in/{name}", Reason.NOISE, "")]
    assert len(taken(walk(["in"], Filters(hidden=True, noise=True)))) == 2


@pytest.mark.parametrize(
    ("glob", "expected"),
    [
        ("*.txt", ["a.txt", "b/a.txt", "b/c/a.txt"]),
        ("*.TXT", []),
        ("a.???", ["a.log", "a.txt", "b/a.txt", "b/c/a.txt"]),
        ("[!a]*", ["b/x"]),
        ("b/*", ["b/a.txt", "b/x"]),
        ("/b/*", ["b/a.txt", "b/x"]),
        ("./b//x", ["b/x"]),
        ("/a.txt", ["a.txt"]),
        ("b/**", ["b/a.txt", "b/x", "b/c/a.txt"]),
        ("**/a.txt", ["a.txt", "b/a.txt", "b/c/a.txt"]),
        ("b/**/a.txt", ["b/a.txt", "b/c/a.txt"]),
        ("**/c/**", ["b/c/a.txt"]),
        ("*/c/*", ["b/c/a.txt"]),
        ("*/a.txt", ["b/a.txt"]),
        ("**", ["a.log", "a.txt", "b/a.txt", "b/x", "b/c/a.txt"]),
        ("b", []),
        ("[", []),
        ("", []),
    ],
)
def test_only_files_that_match_a_glob_are_included(glob, expected):
    make("in/a.txt", "in/a.log", "in/b/a.txt", "in/b/x", "in/b/c/a.txt")

    assert taken(walk(["in"], Filters(include=(glob,)))) == ["in/" + path for path in expected]


@pytest.mark.parametrize("glob", ["b", "b/", "/b", "./b/", "b/**", "?", "**/b"])
def test_an_excluded_folder_is_not_entered(glob):
    make("in/aa", "in/b/x")

    assert skipped(walk(["in"], Filters(exclude=(glob,)))) == [("in/b", Reason.EXCLUDED, "")]


def test_exclusion_wins_over_inclusion_and_any_glob_will_do():
    make("in/a.txt", "in/b.txt", "in/c.md", "in/d.log")
    filters = Filters(include=("*.txt", "*.md"), exclude=("x", "b*"))

    assert taken(walk(["in"], filters)) == ["in/a.txt", "in/c.md"]


@any_name
def test_globs_match_names_that_are_not_text():
    make("in/\udcff\n.log", "in/x")

    assert taken(walk(["in"], Filters(exclude=("*.log",)))) == ["in/x"]


@pytest.mark.parametrize(
    ("depth", "files", "folders"),
    [
        (0, ["x"], ["in"]),
        (1, ["x", "in/1"], ["in/a"]),
        (2, ["x", "in/1", "in/a/2"], ["in/a/b"]),
        (3, ["x", "in/1", "in/a/2", "in/a/b/3"], []),
    ],
)
def test_depth_counts_as_in_find(depth, files, folders):
    make("x", "in/1", "in/a/2", "in/a/b/3")
    found = list(walk(["x", "in"], Filters(max_depth=depth)))

    assert taken(found) == files
    assert skipped(found) == [(folder, Reason.TOO_DEEP, "") for folder in folders]


def test_sizes_are_limits_that_may_be_reached():
    for size in range(5):
        make(f"in/{size}", text="x" * size)
    found = list(walk(["in"], Filters(min_size=1, max_size=3)))

    assert taken(found) == ["in/1", "in/2", "in/3"]
    assert skipped(found) == [("in/0", Reason.TOO_SMALL, ""), ("in/4", Reason.TOO_LARGE, "")]


def test_a_folder_on_another_device_is_not_entered(monkeypatch):
    make("in/a/x", "in/b/y")
    real = os.stat

    def mounted(path, **options):
        status = real(path, **options)
        return type(status)((*status[:2], 4711, *status[3:])) if path == "in/a" else status

    monkeypatch.setattr(os, "stat", mounted)
    found = list(walk(["in"], Filters(one_file_system=True)))

    assert taken(found) == ["in/b/y"]
    assert skipped(found) == [("in/a", Reason.OTHER_DEVICE, "")]


# Lists


def test_a_list_keeps_its_order_and_takes_each_file_once():
    make("b", ".a")

    assert list(listed(["b", ".a", "./b"])) == [
        source("b"),
        source(".a"),
        Skipped("./b", Reason.SAME_FILE, "b"),
    ]


def test_a_wrong_line_of_a_list_is_a_skip():
    make("x")
    Path("folder").mkdir()
    os.mkfifo("fifo")
    Path("dangling").symlink_to("nowhere")

    assert skipped(listed(["no", "x/y", "a\0b", "folder", "fifo", "dangling"])) == [
        ("no", Reason.VANISHED, "No such file or directory"),
        ("x/y", Reason.UNREADABLE, "Not a directory"),
        ("a\0b", Reason.UNREADABLE, "no possible name of a file"),
        ("folder", Reason.SPECIAL, "folder"),
        ("fifo", Reason.SPECIAL, "FIFO"),
        ("dangling", Reason.SYMLINK, "dangling"),
    ]


def test_a_list_obeys_filters_and_references():
    make("old/a", "b.log", "c")
    found = list(listed(["old/a", "b.log", "c"], Filters(exclude=("*.log",)), references=["old"]))

    assert taken(found) == ["old/a", "c"]
    assert skipped(found) == [("old/a", Reason.SAME_FILE, "old/a"), ("b.log", Reason.EXCLUDED, "")]


def test_a_list_is_read_only_as_far_as_needed():
    make("x")

    def names():
        yield "x"
        pytest.fail("read ahead")

    assert next(listed(names())).path == "x"


# .gitignore


def kept(lines, root="in"):
    """The paths below the root that its .gitignore does not leave out."""
    Path(root, ".gitignore").write_bytes(os.fsencode("\n".join(lines)))
    return [path.removeprefix(root + "/") for path in taken(walk([root], Filters(gitignore=True)))]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["*.log"], ["a.txt", "b/a.txt"]),
        (["b/"], ["a.log", "a.txt"]),
        (["/a.txt"], ["a.log", "b/a.log", "b/a.txt"]),
        (["a.*", "!a.txt"], ["a.txt", "b/a.txt"]),
        (["b/*", "!b/a.txt"], ["a.log", "a.txt", "b/a.txt"]),
        (["b", "!b/a.txt"], ["a.log", "a.txt"]),
        (["/*", "!/b"], ["b/a.log", "b/a.txt"]),
        (["# *", "", "\ufeff"], ["a.log", "a.txt", "b/a.log", "b/a.txt"]),
        (["\ufeff*.log\r", "b/\r"], ["a.txt"]),
        (["!", "[z-a]", "\\", "b"], ["a.log", "a.txt"]),
        (["*", "!*/", "!*.txt"], ["a.txt", "b/a.txt"]),
        (["b/**", "!b/**/", "!b/a.txt"], ["a.log", "a.txt", "b/a.txt"]),
    ],
)
def test_files_that_a_gitignore_names_are_left_out(lines, expected):
    make("in/a.txt", "in/a.log", "in/b/a.txt", "in/b/a.log")

    assert kept(lines) == expected


def test_a_hostile_glob_or_line_does_not_hang_the_walk():
    make("in/" + "a/" * 36 + "x", "in/" + "a" * 250)
    lines = [
        "**/a/" * 14 + "zz",
        "*a" * 12 + "b",
        "**/" * 30 + "zz",
        "*[a]" * 40 + "?b",
        "[[:" * 20_000,
    ]
    began = process_time()

    assert len(kept(lines)) == 2
    assert len(taken(walk(["in"], Filters(exclude=tuple(lines))))) == 2
    assert process_time() - began < patient(2)


def test_an_ignored_folder_is_one_skip():
    make("in/b/1", "in/b/2")
    kept(["b"])

    assert skipped(walk(["in"], Filters(gitignore=True, hidden=True))) == [
        ("in/b", Reason.IGNORED, "")
    ]


def test_the_nearest_gitignore_wins_and_holds_only_below_it():
    make("in/x.log", "in/b/x.log", "in/b/c/x.log", "in/d/x.log", "in/d/y")
    make("in/b/.gitignore", text="!*.log\n")
    make("in/b/c/.gitignore", text="/x.log\n")

    assert kept(["*.log"]) == ["b/x.log", "d/y"]


@any_name
def test_a_gitignore_may_hold_any_bytes():
    make("in/\udcff", "in/a\u2028b", "in/b")

    assert kept(["\udcff", "a\u2028b"]) == ["b"]


def test_a_gitignore_is_not_asked_about_a_nested_root():
    make("in/b/x", "in/y")
    kept(["b/x"])

    assert taken(walk(["in", "in/b"], Filters(gitignore=True))) == ["in/y", "in/b/x"]


@pytest.mark.parametrize("kind", [os.mkfifo, os.mkdir])
def test_a_gitignore_that_is_no_regular_file_is_passed_over(kind):
    make("in/x")
    kind("in/.gitignore")

    assert taken(walk(["in"], Filters(gitignore=True))) == ["in/x"]


def test_a_gitignore_that_cannot_be_read_is_reported():
    make("in/x", "rules", "huge/y")
    Path("in/.gitignore").symlink_to("../rules")
    with Path("huge/.gitignore").open("wb") as file:
        file.truncate(1 << 40)  # sparse
    found = list(walk(["in", "huge"], Filters(gitignore=True)))

    assert taken(found) == ["in/x", "huge/y"]
    assert [each[:2] for each in skipped(found) if each[1].is_trouble] == [
        ("in/.gitignore", Reason.UNREADABLE),
        ("huge/.gitignore", Reason.UNREADABLE),
    ]


def test_many_roots_and_many_references_take_no_time_together(folder):
    for side in "ab":
        for number in range(300):
            (folder / side / str(number)).mkdir(parents=True)
    sides = [[f"{side}/{number}" for number in range(300)] for side in "ab"]
    calls = []

    def counting(path, *parts, real=os.path.join):
        calls.append(path)
        return real(path, *parts)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os.path, "join", counting)
        assert list(walk(sides[0], references=sides[1])) == []

    assert len(calls) < 15_000  # and not 90,000
