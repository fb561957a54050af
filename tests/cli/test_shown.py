"""simdup.cli.shown: which groups a report shows, on a terminal and elsewhere."""

from __future__ import annotations

import json
import os
import subprocess
from types import SimpleNamespace

import pytest
from terminals import drained
from terminals import terminal as opened

pytestmark = pytest.mark.usefixtures("pairs")

PAIRS = 30

# Variables that overrule the size of a terminal.
SIZES = {"LINES", "COLUMNS"}


@pytest.fixture
def pairs(write):
    """PAIRS pairs of identical files; the files of a pair are as long as its number is high."""
    for number in range(PAIRS):
        content = " ".join(f"w{number}x{place}" for place in range(20 + number))
        for side in "ab":
            write(f"in/{number:02}{side}", content)


@pytest.fixture
def terminal(monkeypatch):
    """Standard output is a terminal of 45 lines of 100 characters."""
    stdout = SimpleNamespace(isatty=lambda: True)
    monkeypatch.setattr("simdup.cli.shown.sys", SimpleNamespace(stdout=stdout))
    monkeypatch.setenv("LINES", "45")
    monkeypatch.setenv("COLUMNS", "100")


def headings(ended):
    return [line for line in ended.out.decode().splitlines() if line.startswith("Group ")]


@pytest.mark.usefixtures("terminal")
def test_a_terminal_shows_what_fits_and_says_how_to_see_the_others(run):
    ended = run("scan", "in")

    shown = headings(ended)
    left = PAIRS - len(shown)
    assert 10 <= len(shown) <= 20
    assert ended.out.decode().splitlines()[-2].startswith(f"{left} more groups: --all, ")
    assert len(ended.out.splitlines() + ended.err.splitlines()) + 2 <= 45
    assert shown[-1].startswith("Group 1: ")


@pytest.mark.usefixtures("terminal")
@pytest.mark.parametrize("option", [["--all"], ["--limit", "30"]])
def test_a_terminal_shows_what_is_asked_for(run, option):
    assert len(headings(run("scan", "in", *option))) == PAIRS
    assert len(headings(run("scan", "in", "--limit", "7"))) == 7


@pytest.mark.usefixtures("terminal")
def test_a_report_that_goes_to_a_file_is_whole(run, folder):
    run("scan", "in", "-o", "report.txt")

    assert (folder / "report.txt").read_text().count("Group ") == PAIRS


def test_a_pipe_gets_every_group_unless_a_limit_is_given(run):
    assert len(headings(run("scan", "in"))) == PAIRS
    limited = run("scan", "in", "--limit", "3")
    assert [line.split(":")[0] for line in headings(limited)] == ["Group 3", "Group 2", "Group 1"]
    assert b"27 more groups: --all" in limited.out
    assert run("scan", "in", "--all").out == run("scan", "in").out


def groups_in(form, out):
    """The number of groups in a report for programs."""
    if form == "json":
        return len(json.loads(out)["groups"])
    return out.count(b"\n\n") if form == "fdupes" else (out.count(b"\n") - 1) // 2


@pytest.mark.parametrize("form", ["json", "csv", "fdupes"])
def test_only_a_limit_on_the_command_line_cuts_what_programs_read(run, own, form):
    arguments = "scan", "in", "--format", form

    assert groups_in(form, run(*arguments).out) == PAIRS
    assert groups_in(form, run(*arguments, "--limit", "4").out) == 4
    own("limit = 4\n")
    assert len(headings(run("scan", "in"))) == 4
    assert len(headings(run("scan", "in", "--all"))) == PAIRS
    assert groups_in(form, run(*arguments).out) == PAIRS


def test_of_equally_similar_groups_the_largest_is_the_first(report):
    paths = [group["members"][0]["path"] for group in report("in")["groups"]]

    assert (paths[0], paths[-1]) == (f"in/{PAIRS - 1}a", "in/00a")


def test_a_summary_is_the_whole_report_if_it_is_asked_for(run, folder):
    whole, short = run("scan", "in"), run("scan", "in", "--summary")
    run("scan", "in", "--summary", "--quiet", "--output", "summary.txt")

    assert short.err == b""
    first, last = short.out.decode().splitlines()
    assert first.startswith(f"{PAIRS} groups of {2 * PAIRS} files; ")
    assert last == whole.err.decode().splitlines()[-2]
    assert last.startswith(f"can be removed: {PAIRS} exact copies, ")
    assert (folder / "summary.txt").read_text().splitlines()[1] == last


def test_a_saved_result_is_shown_in_the_same_ways(run):
    run("scan", "in", "--format", "json", "-o", "r.json")

    for options in (["--limit", "3", "--sort", "size"], ["--sort", "name"], ["--verbose"]):
        assert run("report", "r.json", *options).out == run("scan", "in", *options).out
    summary = run("report", "r.json", "--summary")
    assert summary.out.startswith(b"30 groups of 60 files; ")
    assert summary.err == b""


def test_distances_are_shown_if_they_are_asked_for(run, write, english):
    write("in/a", english)
    write("in/b", english.replace("grey", "white"))

    plain, verbose = run("scan", "in").out, run("scan", "in", "-v").out

    assert b"bit" not in plain
    assert b" of 256 bits apart\n" in verbose
    assert b" bits " in verbose.splitlines()[2]


def test_a_real_terminal_is_not_scrolled(simdup, monkeypatch):
    screen, end = opened(30, 100)
    for name in SIZES:
        monkeypatch.delenv(name, raising=False)

    ended = simdup("scan", "in", capture_output=False, stdout=end, stderr=subprocess.PIPE)

    os.close(end)
    shown = drained(screen).decode()
    assert ended.returncode == 0
    assert 20 < shown.count("\n") + ended.stderr.count(b"\n") + 2 <= 30
    assert " more groups: --all, " in shown
