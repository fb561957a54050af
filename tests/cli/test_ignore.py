"""`simdup ignore` as a user sees it, and what it makes of scans."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from patience import LONG
from reports import grouped


@pytest.fixture
def place():
    """Where the list of this test is."""
    return Path(os.environ["SIMDUP_IGNORED"])


@pytest.fixture
def tree(write, english):
    """Two texts that are alike, a copy of one in another place and encoding, and a third."""
    white, red = english.replace("grey", "white"), english.replace("grey seal", "red fox")
    write("in/a.txt", english)
    write("in/b.txt", white)
    write("in/deep/a-copy.txt", english.encode("utf-16"))
    write("other/c.txt", red)
    return "in"


def done(ended):
    """What a command said on stdout; it went well."""
    assert ended.code == 0, ended.err.decode()
    return ended.out.decode()


def refused(ended):
    """The one line of a command that could not."""
    assert (ended.code, ended.out) == (2, b"")
    assert ended.err.startswith(b"simdup: ")
    assert ended.err.count(b"\n") == 1
    return ended.err.decode().removeprefix("simdup: ").removesuffix("\n")


def test_a_pair_that_was_added_is_left_out_and_counted(run, tree, report, place):
    assert grouped(report(tree)) == [["in/a.txt", "in/deep/a-copy.txt", "in/b.txt"]]

    said = done(run("ignore", "add", "in/a.txt", "in/b.txt"))

    assert said == (
        f"ignored: {os.path.abspath('in/a.txt')} and {os.path.abspath('in/b.txt')};"
        f" 1 pair in {place}\n"
    )
    found = report(tree)
    assert grouped(found) == [["in/a.txt", "in/deep/a-copy.txt"]]
    assert found["stats"]["ignored"] == 1
    assert "1 pair is left out, as `simdup ignore list` says\n" in run("scan", tree).err.decode()
    assert len(grouped(report(tree, "--no-ignored"))[0]) == 3


@pytest.mark.usefixtures("tree")
def test_a_pair_stays_ignored_when_files_move_or_are_re_encoded_until_one_is_edited(
    run, report, write, english
):
    done(run("ignore", "add", "in/a.txt", "in/b.txt"))
    Path("in/deep/a-copy.txt").unlink()
    Path("moved").mkdir()
    Path("in/b.txt").rename("moved/renamed")
    write("in/a.txt", "\ufeff" + english.replace("\n", "\r\n"))

    assert grouped(report("in", "moved")) == []
    write("in/a.txt", english.replace("March", "May"))
    assert grouped(report("in", "moved")) == [["in/a.txt", "moved/renamed"]]


def test_fail_on_found_does_not_count_ignored_pairs(run, tree):
    Path("in/deep/a-copy.txt").unlink()
    assert run("scan", tree, "--fail-on-found").code == 1
    done(run("ignore", "add", "in/a.txt", "in/b.txt"))

    ended = run("scan", tree, "--fail-on-found")

    assert (ended.code, ended.out) == (0, b"")
    assert ended.err.startswith(b"no two files hold the same text; ")


def test_a_saved_result_is_shown_without_what_was_ignored_since(run, tree):
    run("scan", tree, "--format", "json", "--output", "result.json")
    done(run("ignore", "add", "in/a.txt", "in/b.txt"))

    ended = run("report", "result.json")

    assert ended.out.startswith(b"Group 1: identical text, 2 files")
    assert b"b.txt" not in ended.out
    assert b"1 pair is left out, as `simdup ignore list` says\n" in ended.err
    assert b"b.txt" in run("report", "result.json", "--no-ignored").out
    assert b"\x1b[36midentical text" in run("report", "result.json", "--color", "always").out


def test_a_scan_of_an_index_leaves_ignored_pairs_out(run, tree, report):
    done(run("ignore", "add", "in/a.txt", "in/b.txt"))
    done(run("index", "build", "index", tree))

    found = report("--index", "index")

    assert [list(map(os.path.basename, group)) for group in grouped(found)] == [
        ["a.txt", "a-copy.txt"]
    ]
    assert found["stats"]["ignored"] == 1


# Many files, globs, and groups of the last scan


@pytest.fixture
def forms(write, english):
    """Four versions of one text in folders, and a copy of one of them."""
    names = ["2021.txt", "2022.txt", "deep/2023.txt", "deep/er/2024.txt"]
    for number, name in enumerate(names):
        write(f"forms/{name}", english.replace("grey", f"v{number}"))
    write("forms/copy.txt", english.replace("grey", "v0"))
    return [f"forms/{name}" for name in names]


def test_no_two_of_many_files_are_duplicates(run, forms, report):
    assert len(grouped(report("forms"))[0]) == 5

    said = done(run("ignore", "add", *forms))

    assert "forms/2021.txt, " in said
    assert "forms/2022.txt and 2 more files; 1 entry in " in said
    assert [{*group} for group in grouped(report("forms"))] == [
        {"forms/copy.txt", "forms/2021.txt"}
    ]
    assert done(run("ignore", "list")).endswith("forms/2022.txt  and 2 more files\n")
    assert "ignored before" in run("ignore", "add", forms[3], forms[1]).err.decode()


@pytest.mark.usefixtures("forms")
def test_a_glob_is_every_file_that_matches_now(run, report, place):
    done(run("ignore", "add", "forms/**/*.txt"))

    assert len(json.loads(place.read_text())["texts"]) == 4
    assert [len(group) for group in grouped(report("forms"))] == [2]


def test_a_file_whose_name_looks_like_a_glob_is_that_file(run, write, english, report):
    write("in/[ab].txt", english)
    write("in/a.txt", english.replace("grey", "white"))
    write("in/c.txt", english.replace("grey", "black"))

    done(run("ignore", "add", "in/[ab].txt", "in/c.txt"))

    assert "in/a.txt" in str(grouped(report("in")))


def test_a_number_is_the_group_that_the_last_scan_showed(run, forms, report, write, simplified):
    write("other/a.md", simplified)
    write("other/b.md", simplified.replace("钟表", "座钟"))
    groups = grouped(report("forms", "other"))
    number = next(n for n, group in enumerate(groups, 1) if "forms/2021.txt" in group)

    ended = run("ignore", "add", str(number))

    assert re.match(
        rf"group {number} of the scan of \d{{4}}-\d\d-\d\d \d\d:\d\d\n", ended.err.decode()
    )
    assert done(ended).endswith(f"1 entry in {os.environ['SIMDUP_IGNORED']}\n")
    assert sorted(map(len, grouped(report("forms", "other")))) == [2, 2]
    assert forms[0] in str(grouped(report("forms", "other")))


@pytest.mark.usefixtures("forms")
def test_a_later_scan_takes_the_place_of_the_last_one_unless_it_remembers_nothing(
    run, tree, report
):
    report(tree)
    report("forms", "--no-cache")

    said = done(run("ignore", "add", "1"))

    assert "/in/a.txt and " in said
    report("forms")
    assert "/forms/" in done(run("ignore", "add", "1"))
    done(run("cache", "clear"))
    assert "kept no group with this number" in refused(run("ignore", "add", "1"))


def test_a_store_of_an_option_has_groups_of_its_own(run, tree, report):
    report(tree, "--cache", "store")

    assert "kept no group" in refused(run("ignore", "add", "1"))
    assert "/in/a.txt and " in done(run("ignore", "add", "1", "--cache", "store"))
    assert Path("store").stat().st_mode & 0o777 == 0o600


def test_a_group_of_one_text_cannot_be_ignored(run, write, english, report):
    write("in/a", english)
    write("in/b", english)
    report("in")

    assert "group 1: all its files hold the very same text" in refused(run("ignore", "add", "1"))


@pytest.mark.usefixtures("tree")
def test_a_file_whose_name_is_a_number_needs_a_folder(run, write, english):
    write("7", english.replace("grey", "black"))

    assert "group 7: " in refused(run("ignore", "add", "7", "in/a.txt"))
    assert "/7 and " in done(run("ignore", "add", "./7", "in/a.txt"))


def test_an_entry_of_many_is_removed_by_its_number_or_all_its_files(run, forms, report):
    done(run("ignore", "add", *forms))

    said = refused(run("ignore", "remove", forms[0], forms[1]))
    assert said.endswith("are ignored together with others: give the number 1")
    done(run("ignore", "remove", *reversed(forms)))
    assert len(grouped(report("forms"))[0]) == 5
    done(run("ignore", "add", *forms))
    done(run("ignore", "remove", "1"))
    assert len(grouped(report("forms"))[0]) == 5


# The list


@pytest.mark.usefixtures("tree")
def test_a_list_is_shown_in_columns_and_not_made_by_looking(run, write, simplified, place):
    assert run("ignore", "list").err.decode() == f"0 pairs in {place}\n"
    assert not place.exists()
    write("钟表.txt", simplified)
    done(run("ignore", "add", "in/a.txt", "in/b.txt"))
    done(run("ignore", "add", "钟表.txt", "in/b.txt"))

    ended = run("ignore", "list")

    root = os.getcwd()
    day = json.loads(place.read_text().splitlines()[0])["added"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", day)
    assert ended.out.decode() == (
        f"   1  {day}  {root}/in/a.txt  {root}/in/b.txt\n"
        f"   2  {day}  {root}/钟表.txt  {root}/in/b.txt\n"
    )
    assert ended.err.decode() == f"2 pairs in {place}\n"


@pytest.mark.parametrize("pair", [["1"], ["in/a.txt", "in/b.txt"], ["in/b.txt", "in/a.txt"]])
def test_a_pair_is_removed_by_its_files_or_its_number(run, tree, report, pair):
    done(run("ignore", "add", "in/a.txt", "in/b.txt"))
    done(run("ignore", "add", "in/a.txt", "other/c.txt"))

    said = done(run("ignore", "remove", *pair))

    assert said.startswith("no longer ignored: ")
    assert said.endswith(f"/in/a.txt and {os.getcwd()}/in/b.txt; 1 pair left\n")
    assert done(run("ignore", "list")).count("other/c.txt") == 1
    assert len(grouped(report(tree))[0]) == 3


@pytest.mark.usefixtures("tree")
def test_a_pair_in_the_list_is_not_added_twice(run, place):
    done(run("ignore", "add", "in/a.txt", "in/b.txt"))
    before = place.read_bytes()

    ended = run("ignore", "add", "in/b.txt", "in/deep/a-copy.txt")

    assert (ended.code, ended.out) == (0, b"")
    assert ended.err.endswith(b" were ignored before\n")
    assert place.read_bytes() == before


def test_a_list_names_files_below_its_folder_relative_to_it(run, tree, report):
    done(run("ignore", "add", "in/a.txt", "in/b.txt", "--ignored", ".simdup-ignored"))

    (line,) = Path(".simdup-ignored").read_text("utf-8").splitlines()

    assert json.loads(line)["names"] == ["in/a.txt", "in/b.txt"]
    assert grouped(report(tree, "--ignored", ".simdup-ignored")) == [
        ["in/a.txt", "in/deep/a-copy.txt"]
    ]
    assert len(grouped(report(tree))[0]) == 3
    assert done(run("ignore", "list", "--ignored", ".simdup-ignored")).count("in/b.txt") == 1


def test_encoding_reaches_the_reading_of_files(run, write, simplified, report):
    write("a", simplified.encode("gbk"))
    write("b", simplified.replace("钟表", "座钟").encode("gbk"))
    done(run("ignore", "add", "a", "b", "--encoding", "latin-1"))

    assert grouped(report("a", "b", "--encoding", "latin-1")) == []
    assert grouped(report("a", "b")) == [["a", "b"]]


# Wrong use


@pytest.mark.parametrize(
    "arguments",
    [
        ["ignore", "add", "in/a.txt", "other/c.txt"],
        ["ignore", "list"],
        ["ignore", "remove", "1"],
        ["scan", "in"],
    ],
    ids=lambda arguments: " ".join(arguments[:2]),
)
def test_a_damaged_line_is_named_and_nothing_is_lost(run, tree, place, arguments):
    done(run("ignore", "add", "in/a.txt", "in/b.txt"))
    place.write_bytes(place.read_bytes() + b"<<<<<<< HEAD\n")
    before = place.read_bytes()

    assert refused(run(*arguments)) == f"'{place}', line 2: no entry of the list (no JSON)"

    assert place.read_bytes() == before
    assert os.listdir(place.parent) == [place.name]
    done(run("scan", tree, "--no-ignored"))


def device(place):
    place.symlink_to(os.devnull)


no_file = pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo, device])


@no_file
@pytest.mark.usefixtures("tree")
def test_something_other_than_a_file_is_refused_as_a_list_and_not_touched(run, place, make):
    make(place)
    before = place.stat()

    for command in (["scan", "in"], ["ignore", "list"], ["ignore", "add", "in/a.txt", "in/b.txt"]):
        for option in ([], ["--ignored", place]):  # by SIMDUP_IGNORED, and by the option
            assert refused(run(*command, *option)) == f"'{place}': not a regular file"

    after = place.stat()
    assert (after.st_ino, after.st_mode) == (before.st_ino, before.st_mode)


@no_file
def test_a_scan_goes_on_without_a_list_if_the_default_place_has_no_file(
    run, tree, folder, monkeypatch, make
):
    monkeypatch.delenv("SIMDUP_IGNORED")
    monkeypatch.setenv("XDG_DATA_HOME", str(folder / "data"))
    usual = folder / "data/simdup/ignored.jsonl"
    usual.parent.mkdir(parents=True)
    make(usual)

    ended = run("scan", tree, "--fail-on-found")

    assert ended.code == 1
    warned = f"simdup: '{usual}': not a regular file; going on without the list\n"
    assert ended.err.decode().startswith(warned)
    assert ended.err.count(b"simdup: ") == 1
    assert b"simdup: " not in run("scan", tree, "--quiet").err
    assert refused(run("ignore", "list")) == f"'{usual}': not a regular file"


@pytest.mark.parametrize("mask", [0, 0o022])
@pytest.mark.usefixtures("tree")
def test_a_new_list_is_readable_by_its_user_only_and_an_old_one_keeps_its_mode(run, place, mask):
    before = os.umask(mask)
    try:
        done(run("ignore", "add", "in/a.txt", "in/b.txt"))
        assert place.stat().st_mode & 0o777 == 0o600

        place.chmod(0o644)
        done(run("ignore", "remove", "1"))
        assert place.stat().st_mode & 0o777 == 0o644
    finally:
        os.umask(before)


@pytest.mark.usefixtures("tree")
def test_a_full_disk_leaves_the_old_list(run, place, monkeypatch):
    done(run("ignore", "add", "in/a.txt", "in/b.txt"))
    before = place.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    ended = run("ignore", "add", "in/a.txt", "other/c.txt")

    assert ended.code == 2
    assert place.read_bytes() == before
    assert os.listdir(place.parent) == [place.name]


@pytest.mark.usefixtures("tree")
def test_lines_of_others_stay_as_they_are(run, place):
    done(run("ignore", "add", "in/a.txt", "in/b.txt"))
    own = place.read_text("utf-8").replace("{", '{"why": "forms",  ')
    place.write_text(own, "utf-8")

    done(run("ignore", "add", "in/a.txt", "other/c.txt"))
    done(run("ignore", "remove", "2"))

    assert place.read_text("utf-8") == own


@pytest.mark.slow
def test_adding_at_the_same_time_loses_no_pair(folder, write, place, english):
    names = [f"f{number}" for number in range(6)]
    for number, name in enumerate(names):
        write(name, english.replace("grey", f"v{number}"))

    adding = [
        subprocess.Popen(
            [sys.executable, "-m", "simdup", "ignore", "add", "f0", name],
            cwd=folder,
            stdout=subprocess.DEVNULL,
        )
        for name in names[1:]
    ]

    assert [each.wait(LONG) for each in adding] == [0] * 5
    assert len(place.read_bytes().splitlines()) == 5
