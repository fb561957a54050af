"""Configuration files: which are read, what they may set, and what is wrong in them."""

from __future__ import annotations

import json
import os
import re
import sys
from functools import partial
from pathlib import Path

import pytest

from simdup.cli.configuration import NAME, user_file
from simdup.settings import OWN_SHARE

pytestmark = [
    pytest.mark.skipif(sys.version_info < (3, 11), reason="3.11 is the first to read TOML"),
    pytest.mark.usefixtures("texts"),
]


@pytest.fixture
def texts(write, english):
    """Two texts that are near-duplicates, and a copy that differs in its name alone."""
    write("docs/a.txt", english)
    write("docs/b.txt", english.replace("the", "a"))
    write("docs/c.lock", english)


@pytest.fixture
def scanned(report):
    """`scanned(*arguments)`: the JSON of a scan of docs."""
    return partial(report, "docs")


def paths(found):
    return {member["path"] for group in found["groups"] for member in group["members"]}


@pytest.mark.parametrize("place", [NAME, f"docs/{NAME}"])
def test_a_file_in_the_scanned_tree_or_above_it_sets_defaults(scanned, write, place, folder):
    (folder / ".git").mkdir()
    before = scanned("--no-config")
    write(place, 'max-depth = 9\n[scan]\nexclude = ["*.lock"]\n')

    found = scanned()

    assert paths(before) == {"docs/a.txt", "docs/b.txt", "docs/c.lock"}
    assert paths(found) == {"docs/a.txt", "docs/b.txt"}
    assert found["stats"]["skipped"]["excluded"] == 1


@pytest.mark.parametrize(("text", "share"), [("0.9", 0.9), ("'90%'", 0.9), ("0", 0), ("0.0", 0)])
def test_the_users_own_file_sets_the_own_share(scanned, own, text, share):
    own(f"own-share = {text}\n")

    assert scanned()["settings"]["own_share"] == share
    assert scanned("--no-config")["settings"]["own_share"] == OWN_SHARE
    assert scanned("-k", "3")["settings"]["own_share"] is None
    assert scanned("--no-verify")["settings"]["own_share"] is None


@pytest.mark.parametrize(
    "line",
    [
        *("similarity = 0.1", "own-share = 0", "k = 60", "no-verify = true", "bits = 64"),
        *("linkage = 'components'", "features = 'tokens'", "hash = 'string'", "ngram = '1'"),
        *("no-fold-variants = true", "top = 3", "weights = 'rounded'", "encoding = 'hz'"),
        *("formats = 'html'", "parts = '50%'", "stop-words = 'docs/a.txt'"),
        *("user-dict = 'docs/a.txt'", "convert = ['txt=touch ran']", "cache = 'made'"),
        *("follow-symlinks = true", "format = 'csv'", "siblings = true"),
    ],
)
def test_a_tree_decides_neither_what_is_alike_nor_what_runs_or_is_written(run, write, line):
    write(f"docs/{NAME}", line)

    ended = run("scan", "docs")

    assert ended.code == 2
    assert "a file in the scanned tree may not set this" in ended.err.decode()
    assert os.listdir() == ["docs"]


def test_a_scan_names_the_file_in_the_tree_that_it_used(run, write):
    write(f"docs/{NAME}", "hidden = true\n")

    ended = run("scan", "docs")

    assert f"{NAME} (--no-config leaves it out)" in ended.err.decode()
    assert NAME not in run("scan", "docs", "--no-config").err.decode()
    assert run("scan", "docs", "--quiet").err == b""


@pytest.mark.parametrize("is_repository", [True, False])
def test_a_file_above_the_repository_or_the_scanned_folder_is_not_read(
    scanned, write, folder, is_repository
):
    write(NAME, "exclude = '*'\n")
    if is_repository:
        (folder / "docs" / ".git").mkdir()

    assert scanned()["groups"]


def test_the_command_line_wins_over_the_tree_and_the_tree_over_the_users_own(scanned, write, own):
    own("exclude = ['a*']\nbits = 64\nhidden = true\n")
    write(f"docs/{NAME}", "exclude = ['b*']\n")

    assert paths(scanned()) == {"docs/a.txt", "docs/c.lock"}
    assert scanned()["settings"]["bits"] == 64
    assert paths(scanned("--exclude", "c*")) == {"docs/a.txt", "docs/b.txt"}


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("similarity = 0.7\n[scan]\ncache = 'my.store'", "-k 9 --no-cache"),
        ("similarity = 0.99", "--no-verify"),
        ("no-verify = true", "-s 0.35"),
        ("parts = 0.8", "-k 9"),
        ("own-share = 0.9", "--no-verify"),
        ("lang = 'zh'\nhtml-texts = 'none'", ""),
        ("[scan]\nformat = 'csv'", "--summary"),
        ("[scan]\nformat = 'json'", "-0"),
        ("[scan]\nsummary = true", "--format csv"),
        ("limit = 1", "--all"),
        ("ngram = 3\nweights = 'int'", "--features words"),
    ],
)
def test_an_option_of_a_file_gives_way_to_those_on_the_command_line(run, own, text, typed):
    without = run("scan", "docs", "-q", *typed.split())
    own(text)

    ended = run("scan", "docs", "-q", *typed.split())

    shown, alone = (re.sub(rb"in \d+\.\d s", b"", each.out) for each in (ended, without))
    assert (ended.code, shown, ended.err) == (0, alone, b"")


def test_options_of_one_file_that_exclude_each_other_are_refused(run, own):
    own("similarity = 0.7\nk = 9\n")

    assert b"--similarity and -k exclude each other" in run("scan", "docs").err


def test_a_key_of_another_command_is_no_fault(scanned, run, own):
    own('top = 10\ndraws = 3\n[corpus.scan]\ntext-field = "body"\n[index]\njobs = 1\n')

    assert scanned()["groups"]
    assert run("index", "build", "i", "docs").code == run("index", "info", "i").code == 0


def test_help_and_two_files_need_no_configuration_of_a_tree(run, write, own):
    write(f"docs/{NAME}", "= broken\n")

    assert run("compare", "docs/a.txt", "docs/b.txt").code == 0
    assert run("scan", "docs", "--help").code == 0
    own("[compare]\namong = 'docs'\n")
    said = run("compare", "docs/a.txt", "docs/b.txt").err
    assert b"'among': belongs on the command line" in said


def test_paths_are_relative_to_the_file_that_names_them(run, own):
    place = own('[scan]\ncache = "scans.store"\n')

    assert run("scan", "docs").code == 0

    assert (place.parent / "scans.store").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("similarty = 0.9\n", "line 1: 'similarty': there is no such option; did you mean"),
        ("\n[scan]\nhidden = true\nnothing = 1\n", "line 4: 'nothing': there is no such option"),
        ("[scna]\nbits = 64\n", "line 1: 'scna': there is no such command"),
        ('\nsimilarity = "much"\n', "line 2: 'similarity': "),
        ("similarity = 200\n", "line 1: 'similarity': "),
        ("max-size = [5, 6]\n", "line 1: 'max-size': '5,6' is not a size"),
        ("hidden = 'perhaps'\n", "line 1: 'hidden': "),
        ("max-size = true\n", "line 1: 'max-size': takes a string or a number"),
        ("max-size = 2020-01-01\n", "line 1: 'max-size': takes a string or a number"),
        ("hidden = 1\n", "line 1: 'hidden': takes true or false"),
        ('include = [["a"]]\n', "line 1: 'include': takes a string or a number"),
        ('ignored = "a\\u0000b"\n', "line 1: 'ignored': "),
        (f"k = 0x{'f' * 5000}\n", "line 1: 'k': "),
        (f"k = {'[' * 5000}\n", "no TOML ("),
        ('paths = ["/etc"]\n', "line 1: 'paths': there is no such option"),
        ("exclude = [\n[" + " " * 20_000 + "\n]]\nbits = 'x'\n", "'exclude': "),
        ("x" * 70_000, "too large for a configuration file"),
        ('output = "made"\n', "line 1: 'output': belongs on the command line"),
        ("own-share = 2.5\n", "line 1: 'own-share': "),
        ("similarity = \n", "no TOML ("),
        ("[scan]\n[scan]\n", "no TOML ("),
        (b"\xff", "cannot be read"),
    ],
)
@pytest.mark.parametrize("is_own", [False, True])
def test_what_is_wrong_in_a_file_is_one_line_with_its_place(run, own, text, message, is_own):
    place = own("") if is_own else Path("docs", NAME)
    place.write_bytes(text if isinstance(text, bytes) else text.encode())

    ended = run("scan", "docs")

    assert ended.code == 2
    assert ended.out == b""
    (line,) = ended.err.decode().splitlines()
    assert place.name in line
    assert message in line


def test_a_tree_may_keep_its_own_list_of_ignored_pairs_but_name_none_elsewhere(run, write):
    assert (
        run("ignore", "add", "docs/a.txt", "docs/b.txt", "--ignored", "docs/.simdup-ignored").code
        == 0
    )
    write(f"docs/{NAME}", 'ignored = ".simdup-ignored"\n')
    assert "1 pair is left out" in run("scan", "docs").err.decode()

    write(f"docs/{NAME}", 'ignored = "../elsewhere"\n')

    assert "is outside the folder of this file" in run("scan", "docs").err.decode()


@pytest.mark.parametrize("other", [None, "hidden = true\n"])
def test_a_file_that_holds_for_some_of_the_paths_only_is_refused(run, write, english, other):
    write("more/a.txt", english)
    write(f"docs/{NAME}", "noise = true\n")
    if other is not None:
        write(f"more/{NAME}", other)

    ended = run("scan", "docs", "more")

    assert ended.code == 2
    assert "holds for some of the paths only" in ended.err.decode()
    assert run("scan", "docs", "more", "--no-config").code == 0


def test_a_link_is_no_configuration_of_a_tree(scanned, write, folder):
    write("elsewhere.toml", "exclude = '*'\n")
    (folder / "docs" / NAME).symlink_to(folder / "elsewhere.toml")

    assert scanned()["groups"]


def test_defaults_of_scans_leave_an_index_as_it_is(run, own):
    assert run("index", "build", "i", "docs").code == 0
    own("bits = 512\ntop = 1\nsimilarity = 0.99\n")

    nearest = run("query", "i", "docs/a.txt", "--top", "3", "--format", "csv")

    assert nearest.code == 0
    assert len(nearest.out.splitlines()) == 4
    assert run("scan", "--index", "i").code == 0


def test_a_byte_order_mark_and_lists_of_names_are_understood(run, write, own):
    own('\ufeff[evaluate]\nbits = [16, 32]\nfeatures = ["shingles", "tokens"]\n')
    write("clusters.csv", "path,cluster\ndocs/a.txt,1\ndocs/c.lock,1\ndocs/b.txt,2\n")

    ended = run("evaluate", "--all-pairs", "clusters.csv", "--format", "json", "-q")

    rows = json.loads(ended.out)["rows"]
    assert {(row["features"], row["bits"]) for row in rows} == {
        *(("shingles", 16), ("shingles", 32), ("tokens", 16), ("tokens", 32))
    }


@pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
def test_the_users_own_file_is_where_the_system_keeps_configuration(monkeypatch, platform):
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setenv("XDG_CONFIG_HOME", "/configuration")
    monkeypatch.setenv("APPDATA", "/configuration")

    place = Path(user_file())

    assert place.parts[-2:] == ("simdup", "config.toml")
    assert ("Application Support" in place.parts) == (platform == "darwin")
