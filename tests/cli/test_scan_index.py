"""`simdup scan --index`: the groups of an index are those of a scan of the same tree."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest


def words(seed, *, edits=0):
    return " ".join(f"{'e' if place < edits else 'w'}{seed}x{place}" for place in range(60))


@pytest.fixture
def tree(write, english, simplified):
    """Copies, look-alikes, short texts, in several encodings; one is binary."""
    for number in range(24):
        write(f"in/{number % 3}/{number}", words(number // 4, edits=number % 4 * 5))
    for codec in ("gbk", "utf-8", "utf-16"):
        write(f"in/{codec}", simplified.encode(codec))
    for number in range(4):
        write(f"in/short{number}", f"only a few words here {number // 2}")
    write("in/e", english)
    write("in/copy", english)
    write("in/binary", bytes(99))
    return os.path.abspath("in")


@pytest.fixture
def built(run, tree):
    assert run("index", "build", "x", tree, "-q").code == 0
    return "x"


OPTIONS = [
    (),
    ("--linkage", "components"),
    ("--similarity", "0.8"),
    ("-k", "60"),
    ("-k", "60", "--linkage", "components"),
    ("--no-verify",),
    ("--bits", "64"),
    ("--bits", "64", "-k", "3"),
]


@pytest.mark.parametrize("form", ["text", "csv", "fdupes", "-0"])
@pytest.mark.parametrize("options", OPTIONS, ids=" ".join)
def test_the_report_is_that_of_a_scan(run, built, tree, options, form):
    shape = ["-0"] if form == "-0" else ["--format", form]

    scanned = run("scan", tree, *options, *shape, "-q")
    grouped = run("scan", "--index", built, *options, *shape, "-q")

    assert (scanned.code, grouped.code) == (0, 0)
    assert grouped.out == scanned.out != b""
    assert grouped.err == b""


@pytest.mark.parametrize("options", OPTIONS, ids=" ".join)
def test_the_json_is_that_of_a_scan_but_for_what_was_not_looked_at(run, built, tree, options):
    scanned, grouped = (
        json.loads(run("scan", *where, *options, "--format", "json").out)
        for where in ([tree], ["--index", built])
    )

    assert len(grouped["groups"]) > 3
    for part in ("settings", "groups", "candidates", "complete"):
        assert grouped.get(part) == scanned.get(part)
    assert grouped["stats"]["fingerprinted"] == grouped["stats"]["found"] == 33
    assert grouped["skipped"] == []


def test_no_file_is_opened_unless_it_is_verified(run, built, refused):
    for path in Path("in").rglob("*"):
        if not path.name.startswith("short"):
            refused(os.path.abspath(path))

    bare = run("scan", "--index", built, "-k", "60")
    verified = run("scan", "--index", built)

    assert bare.code == 0
    assert b"Permission denied" not in bare.err
    assert verified.code == 3
    assert b"Permission denied" in verified.err


def test_what_changed_since_is_left_out_and_told(run, built, write):
    write("in/copy", words(99))

    ended = run("scan", "--index", built, "--format", "json")

    report = json.loads(ended.out)
    assert ended.code == 3
    assert [(each["path"], each["reason"]) for each in report["skipped"]] == [
        (os.path.abspath("in/copy"), "changed while read")
    ]
    assert os.path.abspath("in/e") not in str(report["groups"])


def test_fail_on_found_holds(run, built, tree):
    assert run("scan", "--index", built, "--fail-on-found").code == 1
    run("index", "remove", built, tree)
    assert run("scan", "--index", built, "--fail-on-found").code == 0


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["in"], "--index groups what is in the index; leave out PATH..."),
        (["--files-from", "list"], "leave out --files-from"),
        (["--against", "in"], "leave out --against"),
        (["--include", "*"], "leave out --include"),
        (["--hidden"], "leave out --hidden"),
        (["--max-size", "9"], "leave out --max-size"),
        (["--cache", "c"], "leave out --cache"),
        (["--encoding", "gbk"], "leave out --encoding"),
        (["--formats", "text"], "leave out --formats"),
        (["--features", "words"], "'x': made with features shingles, not words"),
        (["--ngram", "3"], "'x': made with ngram 2, not 3"),
        (["--bits", "512"], "'x': made with 256 bits; 512 are more than it has"),
        (["--convert", "doc=cat"], "'x': made with no --convert; give the same"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_an_index_cannot_do_is_refused_by_name(run, built, arguments, line):
    ended = run("scan", "--index", built, *arguments)

    assert (ended.code, ended.out) == (2, b"")
    assert line in ended.err.decode()
    assert ended.err.count(b"\n") == 1


@pytest.mark.parametrize("place", ["gone", "in", "in/e"])
def test_what_is_no_index_is_one_line(run, built, place):
    ended = run("scan", "--index", place)

    assert (ended.code, ended.out) == (2, b"")
    assert ended.err.startswith(f"simdup: '{place}': ".encode())
    assert ended.err.count(b"\n") == 1
    assert not os.path.exists("gone")
    assert built


def test_an_index_of_words_is_grouped_with_its_dictionary(run, write, english):
    write("stop", "the\n")
    for name in "ab":
        write(f"in/{name}", english)
    words_of = ("--features", "words", "--stop-words", "stop")
    run("index", "build", "x", "in", *words_of)

    assert run("scan", "--index", "x").code == 2
    for options in (words_of, words_of[2:]):
        ended = run("scan", "--index", "x", *options)

        assert (ended.code, ended.out.count(b"\n")) == (0, 4)
