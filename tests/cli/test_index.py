"""`simdup index` as a user sees it: what it says, how it exits, and what it leaves alone."""

from __future__ import annotations

import json
import os
import sys
from base64 import b64decode
from pathlib import Path

import pytest
from conftest import alike, by_sql

pytestmark = pytest.mark.usefixtures("settled")

any_name = pytest.mark.skipif(sys.platform == "darwin", reason="APFS takes only UTF-8 names")


@pytest.fixture
def tree(write):
    """Three texts and a binary file in two folders."""
    write("in/a.txt", alike(1))
    write("in/b.md", alike(2))
    write("in/deep/c.txt", alike(3))
    write("in/deep/binary", bytes(99))
    return "in"


@pytest.fixture
def built(run, tree):
    """An index of it."""
    assert run("index", "build", "x", tree, "-q").code == 0
    return "x"


def info_of(run, place="x"):
    return json.loads(run("index", "info", place, "--format", "json").out.decode("utf-8"))


def test_a_session_worked_by_hand(run, write, tree):
    built = run("index", "build", "x", tree)
    assert (built.code, built.out) == (0, b"")
    assert built.err == b"3 added; 3 documents in the index; skipped 1 binary\n"

    write("in/a.txt", alike(1, edits=5))
    write("in/new", alike(4))
    Path("in/b.md").unlink()
    updated = run("index", "update", "x")
    assert (updated.code, updated.out) == (0, b"")
    said = "1 added, 1 replaced, 1 removed, 1 unchanged; 3 documents in the index"
    assert updated.err.decode() == f"{said}; skipped 1 binary\n"

    removed = run("index", "remove", "x", "in/deep")
    assert (removed.code, removed.err) == (0, b"1 removed; 2 documents in the index\n")

    write("out", alike(5))
    added = run("index", "add", "x", "out", "in/new")
    assert added.err == b"1 added, 1 unchanged; 3 documents in the index\n"
    assert run("index", "update", "x").err == b"3 unchanged; 3 documents in the index\n"
    assert run("index", "update", "x", "--quiet").err == b""

    whole = run("index", "verify", "x")
    assert (whole.code, whole.out, whole.err) == (0, b"whole: 3 documents\n", b"")
    assert sorted(os.listdir()) == ["in", "out", "x"]


def test_an_update_that_finds_nothing_new_leaves_the_file_as_it_was(run, built):
    assert run("index", "build", "empty", "in/a.txt", "--include", "*.md").err == (
        b"nothing changed; 0 documents in the index; skipped 1 excluded\n"
    )
    before = Path(built).read_bytes(), os.stat(built).st_mtime_ns

    for arguments in (("update", built), ("add", built, "in")):
        assert run("index", *arguments).err.startswith(b"3 unchanged; ")

    assert (Path(built).read_bytes(), os.stat(built).st_mtime_ns) == before


def test_folders_left_out_by_default_are_named(run, write, tree):
    write("in/node_modules/d.txt", alike(4))
    folders, skipped = b"left out: node_modules (%s reads it)\n", b"; skipped 1 binary\n"

    assert run("index", "build", "x", tree).err.endswith(skipped + folders % b"--noise")
    assert run("index", "add", "x", tree).err.endswith(skipped + folders % b"--noise")
    updated = run("index", "update", "x")
    assert updated.err.endswith(skipped + folders % b"simdup index add --noise")
    assert run("index", "update", "x", "-q").err == b""

    added = run("index", "add", "x", tree, "--noise")
    assert b"\n1 added, 3 unchanged; 4 documents in the index; skipped 1 binary\n" in added.err
    assert b"left out" not in added.err + run("index", "update", "x").err


def test_a_skipped_file_below_two_places_is_reported_once(run, built):
    run("index", "add", built, "in/deep", "in/a.txt")

    said = run("index", "update", built).err
    assert said.endswith(b"3 documents in the index; skipped 1 binary\n")


@pytest.mark.parametrize(
    ("arguments", "kept"),
    [
        (["--include", "*.txt"], 2),
        (["--exclude", "deep"], 2),
        (["--max-depth", "1"], 2),
        (["--min-size", "1MB"], 0),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_filters_hold_for_every_update(run, write, tree, arguments, kept):
    run("index", "build", "x", tree, *arguments)
    assert info_of(run)["documents"] == kept

    write("in/deep/new.md", alike(6))
    run("index", "update", "x")

    assert info_of(run)["documents"] == kept


def test_files_that_cannot_be_read_are_warned_of_and_exit_with_3(run, tree, refused):
    refused(os.path.abspath("in/a.txt"))

    ended = run("index", "build", "x", tree)

    assert ended.code == 3
    first, second = ended.err.decode().splitlines()
    assert first == f"simdup: {os.path.abspath('in/a.txt')}: unreadable (Permission denied)"
    assert second == "2 added; 2 documents in the index; skipped 1 binary, 1 unreadable"
    assert run("index", "build", "y", tree, "-q").err == b""


@pytest.mark.slow
def test_processes_make_the_same_index(run, tree):
    run("index", "build", "one", tree, "--jobs", "1")
    run("index", "build", "two", tree, "--jobs", "2")

    tables = ("documents", "folders", "segments", "places")
    for table in tables:
        assert by_sql("one", f"SELECT * FROM {table}") == by_sql("two", f"SELECT * FROM {table}")


# What is in it


def test_info_is_a_line_for_each_thing(run, tree):
    run("index", "build", "x", tree, "--bits", "64", "--encoding", "utf-8", "--formats", "html,pdf")
    run("index", "remove", "x", "in/deep")

    ended = run("index", "info", "x")

    assert (ended.code, ended.err) == (0, b"")
    lines = [line.split(None, 1) for line in ended.out.decode().splitlines()]
    shown = {name: value for name, value in lines if name not in {"left", "made"}}
    assert list(shown) == ["index", "size", "documents", "place", "recipe", "formats", "encoding"]
    assert shown["documents"] == "2, changed by 3 batches"
    assert shown["place"] == os.path.abspath("in")
    assert "bits 64" in shown["recipe"]
    assert (shown["formats"], shown["encoding"]) == ("html, pdf", "utf-8")
    assert ["left", f"out   {os.path.abspath('in/deep')}"] in lines


def test_info_shows_filters_as_options(run, tree):
    options = ["--include", "*.t x", "--include", "*.md", "--hidden", "--max-depth", "3"]
    run("index", "build", "x", tree, *options)

    (place,) = (line for line in run("index", "info", "x").out.splitlines() if b"place " in line)

    assert place.endswith(b"/in --include '*.t x' --include '*.md' --hidden --max-depth 3")


def test_new_filters_for_an_old_place_are_reported(run, built):
    ended = run("index", "add", built, "in", "--hidden")

    assert (ended.code, ended.out) == (0, b"")
    assert b"/in' had other filters before; the next update applies the new ones\n" in ended.err


def test_an_update_says_when_it_reads_all_again(run, built, monkeypatch):
    said = b"simdup: 'x': reading everything again, with newer readers of text\n"
    assert said not in run("index", "update", built).err

    monkeypatch.setattr("simdup.extract.readers.EDITION", 99)
    ended = run("index", "update", built)

    assert (ended.code, ended.out) == (0, b"")
    assert ended.err.startswith(said)
    assert b" replaced" in ended.err
    assert said not in run("index", "update", built).err


def test_info_as_json_has_every_field(run, built):
    run("index", "remove", built, "in/deep")

    found = info_of(run)

    assert {*found} > {"path", "bytes", "documents", "batches", "places", "left_out", "made"}
    assert (found["path"], found["documents"], found["batches"]) == ("x", 2, 3)
    assert found["bytes"] == os.path.getsize("x")
    ((place),) = found["places"]
    assert (place["path"], place["filters"]["include"]) == (os.path.abspath("in"), [])
    assert found["left_out"] == [{"path": os.path.abspath("in/deep")}]
    assert found["made"]["bits"] == 256


@any_name
def test_names_of_any_bytes_come_back_and_act_on_no_terminal(run, write):
    name = b"\xff\x1b[31m\n"
    write(name + b"/a", alike(1))
    assert run("index", "build", name + b".x", name).code == 0

    found = info_of(run, name + b".x")
    assert b64decode(found["places"][0]["path_base64"]) == os.path.abspath(name)
    for arguments in (
        ("info", name + b".x"),
        ("remove", name + b".x", name + b"gone"),
        ("add", name + b".x", name + b"gone"),
        ("add", name, name),
        ("build", name + b".x", name),
    ):
        ended = run("index", *arguments)
        said = (ended.out + ended.err).decode("utf-8")
        assert all(line.isprintable() for line in said.split("\n"))
    assert run("index", "remove", name + b".x", name).err.startswith(b"1 removed; ")


# Whether it is whole


def test_verify_prints_a_line_for_each_damage_and_exits_with_1(run, built):
    by_sql(built, "UPDATE segments SET checksum = 0")
    by_sql(built, "DELETE FROM folders WHERE id = 2")

    ended = run("index", "verify", built)

    assert (ended.code, ended.err) == (1, b"")
    lines = ended.out.decode().splitlines()
    assert "segment 1 is damaged" in lines
    assert len(lines) == 3


@pytest.mark.parametrize("command", ["add", "update", "remove"])
def test_a_damaged_index_is_not_changed(run, built, write, command):
    by_sql(built, "UPDATE segments SET checksum = 0")
    write("in/a.txt", alike(9))
    before = by_sql(built, "SELECT * FROM documents")

    ended = run("index", command, built, *(["in"] if command != "update" else []))

    assert (ended.code, ended.out) == (2, b"")
    assert ended.err == b"simdup: 'x': segment 1 is damaged; build the index anew\n"
    assert by_sql(built, "SELECT * FROM documents") == before


# What an index only names


def test_an_index_with_a_converter_must_be_given_it_again_and_runs_no_other(run, write):
    write("in/a.doc", alike(1))
    made = run("index", "build", "x", "in", "--convert", "doc=cat {}")
    assert (made.code, info_of(run)["made"]["convert"]) == (0, ["doc=cat '{}'"])

    for wrong in ([], ["--convert", "doc=cat"], ["--convert", "rtf=cat {}"]):
        ended = run("index", "update", "x", *wrong)
        assert ended.code == 2
        assert ended.err == b"""simdup: 'x': made with --convert "doc=cat '{}'"; give the same\n"""
    assert run("index", "update", "x", "--convert", "doc=cat {}").err.startswith(b"1 unchanged; ")
