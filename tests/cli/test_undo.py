"""`simdup undo`, and `simdup clean --resume`."""

from __future__ import annotations

import os
from datetime import datetime
from io import StringIO
from pathlib import Path

import pytest
from plans import tree

from simdup.clean.journal import default_folder

TEXT = "The harbour master kept two ledgers, one for the company and one for himself.\n"


@pytest.fixture
def cleaned(run, tmp_path_factory, monkeypatch):
    """A folder of which two copies went, the tree before, and the journal."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("home")))
    Path("docs").mkdir()
    for name in ("a.txt", "b.txt", "c.txt"):
        Path("docs", name).write_text(TEXT)
    before = tree("docs")
    assert run("scan", "docs", "--format", "json", "-o", "found.json").code == 0
    done = run("clean", "found.json", "--apply")
    assert done.code == 0
    (journal,) = default_folder().glob("*.jsonl")
    return before, str(journal), done.err.decode()


def lines(ended):
    return ended.err.decode().splitlines()


def test_the_last_line_of_a_run_undoes_it(run, cleaned):
    before, journal, said = cleaned
    balance, last = said.splitlines()[-2:]

    assert balance == "2 planned = 2 done + 0 refused + 0 left"
    assert last == f"undo with: simdup undo {journal}"
    assert os.listdir("docs") == ["a.txt"]
    shown = run("undo", journal)
    assert shown.code == 0
    assert lines(shown) == [
        "2 files = 2 can be put back + 0 refused + 0 at their places already",
        "nothing was changed; --apply puts them back",
    ]
    assert os.listdir("docs") == ["a.txt"]
    done = run("undo", journal, "--apply")
    assert lines(done) == ["2 files put back: all of them"]
    assert tree("docs") == before
    again = run("undo", journal, "--apply")
    assert (again.code, lines(again)) == (
        0,
        ["2 files = 0 put back + 0 refused + 2 at their places already"],
    )


def test_without_a_journal_the_last_runs_are_listed_and_the_last_one_is_offered(run, cleaned):
    before, journal, _ = cleaned
    docs = os.path.abspath("docs")

    run_line, offer, command = lines(run("undo"))

    when = f"{datetime.fromtimestamp(os.stat(journal).st_mtime).astimezone():%Y-%m-%d %H:%M}"
    assert run_line == f"{when}  2 files to the trash, in {docs}"
    assert offer == "the last one is undone by"
    assert command == f"  simdup undo {journal} --apply"
    assert run(*command.split()[1:]).code == 0
    assert tree("docs") == before
    assert lines(run("undo")) == [f"{run_line} (undone)", "nothing to undo"]
    refused = run("undo", "--apply")
    assert (refused.code, "JOURNAL" in refused.err.decode()) == (2, True)


def test_a_run_is_undone_when_all_its_files_are_back_and_one_that_did_nothing_is_not_listed(
    run, cleaned
):
    _, journal, _ = cleaned
    Path("docs/b.txt").write_text("mine")
    assert run("undo", journal, "--apply").code == 3

    first, offer, command = lines(run("undo"))
    assert first.endswith(" (1 undone)")
    assert (offer, command) == ("the last one is undone by", f"  simdup undo {journal} --apply")
    Path("docs/b.txt").unlink()
    assert run("undo", journal, "--apply").code == 0
    assert lines(run("undo"))[0].endswith(" (undone)")
    assert lines(run("undo"))[1:] == ["nothing to undo"]


@pytest.mark.parametrize(("answer", "is_undone"), [("yes\n", True), ("\n", False)])
def test_at_a_terminal_the_last_run_is_undone_after_a_yes(
    run, cleaned, monkeypatch, answer, is_undone
):
    monkeypatch.setattr("simdup.cli.cleaning.is_terminal", lambda: True)
    monkeypatch.setattr("sys.stdin", StringIO(answer))

    assert run("undo").code == 0
    assert (tree("docs") == cleaned[0]) == is_undone


def test_a_name_that_has_been_taken_is_named_and_the_exit_code_is_3(run, cleaned):
    _, journal, _ = cleaned
    Path("docs/b.txt").write_text("mine")

    done = run("undo", journal, "--apply")

    assert done.code == 3
    assert lines(done) == [
        f"refused: {os.path.realpath('docs/b.txt')}: its name has been taken",
        "2 files = 1 put back + 1 refused + 0 at their places already",
    ]
    assert Path("docs/b.txt").read_text() == "mine"


def test_a_journal_that_is_torn_or_damaged_is_refused(run, cleaned):
    _, journal, _ = cleaned
    Path("torn").write_text(Path(journal).read_text()[:30])
    Path("damaged").write_text(Path(journal).read_text().replace('"user": ', '"user": 1'))

    assert lines(run("undo", "damaged")) == ["simdup: 'damaged', line 1: no journal: it is damaged"]
    assert lines(run("undo", "torn")) == ["simdup: 'torn', line 1: no journal: it is damaged"]


def test_several_journals_are_undone_the_last_one_first(run, cleaned):
    before, journal, _ = cleaned
    run("scan", "docs", "--format", "json", "-o", "found.json")
    Path("docs/d.txt").write_text(TEXT)
    run("scan", "docs", "--format", "json", "-o", "found.json")
    assert run("clean", "found.json", "--apply", "--journal", "second").code == 0

    done = run("undo", journal, "second", "--apply")

    assert lines(done) == ["1 file put back: all of them", "2 files put back: all of them"]
    os.unlink("docs/d.txt")
    assert tree("docs", times=False) == {
        path: (mode, what, 0) for path, (mode, what, _) in before.items()
    }


def test_resume_goes_on_where_the_journal_ends(run, cleaned):
    _, journal, _ = cleaned
    whole = Path(journal).read_bytes().splitlines(keepends=True)
    run("undo", journal, "--apply", "--journal", "back")
    Path(journal).write_bytes(b"".join(whole[:3]) + b'{"crc": "torn')

    done = run("clean", "--resume", journal, "--apply")

    assert (done.code, lines(done)[0]) == (0, "2 planned = 2 done + 0 refused + 0 left")
    assert b"torn" not in Path(journal).read_bytes()


@pytest.mark.parametrize("seconds", [-(10**9), -1, 0, 9_223_372_036, 9_223_372_037, 15_032_385_535])
def test_a_file_with_any_time_of_the_file_system_is_removed_by_a_plan_and_comes_back(
    run, tmp_path_factory, monkeypatch, seconds
):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("home")))
    Path("docs").mkdir()
    for name, time in (("a.txt", 10**9), ("b.txt", seconds), ("c.txt", seconds)):
        Path("docs", name).write_text(TEXT)
        os.utime(Path("docs", name), (0, time))
    if os.stat("docs/b.txt").st_mtime != seconds:
        pytest.skip("this file system keeps no such time")
    before = tree("docs")
    assert run("scan", "docs", "--format", "json", "-o", "found.json").code == 0

    assert run("clean", "found.json", "-o", "plan.jsonl").code == 0
    done = run("clean", "plan.jsonl", "--apply")
    assert (done.code, lines(done)[-2]) == (0, "2 planned = 2 done + 0 refused + 0 left")
    (journal,) = default_folder().glob("*.jsonl")
    assert run("undo", str(journal), "--apply").code == 0
    assert tree("docs") == before
