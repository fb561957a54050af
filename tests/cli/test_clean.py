"""`simdup clean`: plans on the screen and in files, what is refused, and plans carried out."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from shutil import which

import pytest
from reports import data_in
from terminals import drained, terminal

from simdup.clean.plan import read_plan
from simdup.report.wording import percent, size


@pytest.fixture
def tree(write, english):
    """Five files of one text: two copies, one in UTF-16, one edited, and a web page."""
    english = " ".join(english.split())
    write("docs/a.txt", english)
    write("docs/b (1).txt", english)
    write("docs/wide.txt", english.encode("utf-16"))
    write("docs/edited.txt", english.replace("grey", "brown"))
    write("docs/page.html", f"<html><body><p>{english}</p></body></html>")
    for place, name in enumerate(("a.txt", "b (1).txt", "wide.txt", "edited.txt", "page.html")):
        os.utime(f"docs/{name}", (1_000_000 + place, 1_000_000 + place))


@pytest.fixture
def found(run, tree):  # noqa: ARG001 (it is scanned)
    run("scan", "docs", "--format", "json", "-o", "found.json", "-q")
    return "found.json"


def listing(folder="."):
    """All files under a folder, with what a change of them would change."""
    return {
        str(path): (path.lstat().st_ino, path.lstat().st_mtime_ns, path.lstat().st_ctime_ns)
        for path in Path(folder).rglob("*")
    }


def last(ended, lines=1):
    return ended.err.decode().splitlines()[-lines:]


# The dry run


def test_a_file_that_other_facts_keep_is_shown_with_them_and_counted(run, write, english):
    for number in (17, 18, 19):
        write(f"bills/{chr(number + 80)}.txt", f"Invoice {number}. {english}")
        write(f"bills/{chr(number + 80)}2.txt", f"Invoice {number}. {english} Paid.")
    run("scan", "bills", "--format", "json", "-o", "found.json", "-q")

    ended = run("clean", "found.json", "--near", "0.8", "--prefer", "longest", "-v")

    assert b"  trash    a.txt\n" in ended.out
    for number, name in ((18, "b"), (19, "c")):
        for end in ("", "2"):
            why = f"near, but with other facts (--review asks): other numbers: {number} / 17"
            line = f"  leave    {name}{end}.txt\n             {why}\n"
            assert line in ended.out.decode()
    assert "left: 4 files: near, but with other facts (--review asks)" in ended.err.decode()


def test_a_dry_run_shows_what_stays_what_goes_and_why(run, found):
    ended = run("clean", found, "--prefer", "format=text", "-v")

    top = Path("docs").resolve()
    assert ended.out.decode() == (
        f"below {top}:\n"
        "\n"
        "Group 1\n"
        "  keep     a.txt\n"
        "  trash    b (1).txt\n"
        "             829 B, identical bytes; kept: its name has no mark of a copy\n"
        "  leave    wide.txt\n"
        "             identical text, other bytes: needs --text\n"
        "  leave    page.html\n"
        "             same words, another layout or format: needs --formats-too\n"
        "  leave    edited.txt\n"
        "             near: needs --near FLOOR such as 0.95, or --review\n"
        "\n"
    )
    assert ended.err.decode().splitlines() == [
        "1 file of 829 B would be moved to the trash (1 exact copy); 1 file is kept for them",
        "left: 1 file: identical text, other bytes: needs --text",
        "left: 1 file: same words, another layout or format: needs --formats-too",
        "left: 1 file: near: needs --near FLOOR such as 0.95, or --review",
        "nothing was changed; all of it is done by",
        "  simdup clean found.json --prefer format=text -v --apply",
    ]
    assert ended.code == 0


def test_without_apply_nothing_changes_but_the_named_outputs(run, found):
    everything = "--text", "--formats-too", "--near", "0.8"
    before = listing()

    run("clean", found, *everything, "-o", "plan.jsonl", "--script", "run.sh")
    run("clean", "plan.jsonl", *everything)
    run("clean", "plan.jsonl", "--check")

    after = listing()
    assert {*after} - {*before} == {"plan.jsonl", "run.sh"}
    assert {path: seen for path, seen in after.items() if path in before} == before


def test_check_exits_with_1_only_if_there_is_anything_to_do(run, found):
    assert run("clean", found, "--check").code == 1
    assert run("clean", found, "--check", "--protect", "docs").code == 0
    assert run("clean", found).code == 0


def test_a_plan_that_is_written_shows_the_same_as_the_result(run, simdup, found):
    consents = "--text", "--near", "0.8"
    of_result = run("clean", found, *consents, "-o", "plan.jsonl")
    of_plan = run("clean", "plan.jsonl", *consents)

    assert of_plan.out == of_result.out
    assert of_plan.err.splitlines()[:-1] == of_result.err.splitlines()[:-1]
    with open("plan.jsonl", "rb") as file:
        from_stdin = simdup("clean", "-", *consents, stdin=file)
    assert from_stdin.stdout == of_result.out


def test_a_folder_that_goes_whole_is_one_line(run, write, english, simplified, traditional):
    for folder in ("old", "docs"):
        for name, text in (("1", english), ("2", simplified), ("3", traditional)):
            write(f"{folder}/{name}.txt", text)
    write("docs/4.txt", english[::-1])
    run("scan", ".", "--format", "json", "-o", "found.json", "-q")

    shown = run("clean", "found.json").out.decode().splitlines()

    assert shown[2] == "Folder: all of old is in docs too"
    assert shown[3].startswith("  trash    3 files, ")
    assert len(shown) == 5


def test_a_name_cannot_act_on_the_terminal(run, write, english):
    write("docs/a\x1b[31m.txt", english)
    write("docs/b\x1b[31m.txt", english)
    run("scan", "docs", "--format", "json", "-o", "found.json", "-q")

    ended = run("clean", "found.json", "-v", "--script", "run.sh")

    assert b"\x1b" not in ended.out + ended.err
    assert b"\x1b" not in Path("run.sh").read_bytes()


def test_rules_are_asked_in_the_order_in_which_they_are_typed(run, found, write, english):
    write("other/z.txt", " ".join(english.split()))
    run("scan", "docs", "other", "--format", "json", "-o", "found.json", "-q")
    orders = {
        ("--prefer", "oldest", "--prefer-under", "other"): "a.txt",
        ("--prefer-under", "other", "--prefer", "oldest"): "z.txt",
        ("--prefer", "under=other", "--prefer", "oldest"): "z.txt",
        ("--prefer", "format=text", "--prefer-under", "other", "--prefer", "oldest"): "z.txt",
    }

    for order, kept in orders.items():
        run("clean", found, *order, "-o", "plan.jsonl", "-q")
        plan = read_plan("plan.jsonl")
        assert {os.path.basename(each.keep.path) for each in plan.actions} == {kept}, order
        assert plan.header.rules[::2] == order[::2] or "under=other" in order


def test_a_tree_and_a_configuration_can_let_nothing_go(run, found, own):
    Path("docs/.simdup.toml").write_text("[clean]\napply = true\npermanently = true\n", "utf-8")
    Path(".simdup.toml").write_text("[clean]\napply = true\n", "utf-8")
    assert run("clean", found).code == 0
    for line in ("apply = true", "near = 0.8", "text = true", "formats-too = true", "link = true"):
        own(f"[clean]\n{line}\n")
        ended = run("clean", found)
        assert ended.code == 2
        assert b"belongs on the command line" in ended.err
    own('[clean]\nprefer = ["newest"]\nprotect-name = ["*"]\n')
    assert b"left: 4 files: protected by its name" in run("clean", found).err


def test_the_rules_of_a_configuration_are_no_hindrance_to_a_plan(run, found, folder, own, trash):
    own(f'[clean]\nprefer = ["newest"]\nprefer-under = ["{folder}"]\n')
    assert run("clean", found, "-o", "plan.jsonl", "-q").code == 0

    ended = run("clean", "plan.jsonl", "--apply", "--journal", "journal")
    assert ended.code == 0, ended.err
    assert any(trash.iterdir())
    again = run("clean", "--resume", "journal", "--apply")
    assert (again.code, last(again)) == (0, ["0 planned = 0 done + 0 refused + 0 left"])


# What is refused


def test_rows_of_a_corpus_are_no_files(run, write):
    write("rows.jsonl", '{"text": "one two three"}\n' * 2)
    run("corpus", "scan", "rows.jsonl", "--format", "jsonl", "-o", "rows.out")

    assert b"rows of a corpus; `simdup corpus scan --keep`" in run("clean", "rows.out").err


# Acting


@pytest.fixture
def trash(monkeypatch, tmp_path):
    """The home folder's trash, on the file system of the tests."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path / "data" / "Trash"


@pytest.mark.skipif(which("bash") is None, reason="there is no bash")
def test_printed_commands_can_be_pasted_whatever_a_file_is_called(run, found, trash):  # noqa: ARG001
    plan, journal, gone = map(os.fsdecode, (b"my\xff plan", b"it's\x1b \\\xffa", b"old\xff"))
    os.mkdir(gone)

    dry = run("clean", found, "-o", plan, "--to", gone, "--script", "script")
    acted = run("clean", plan, "--apply", "--to", gone, "--journal", journal)

    (clean,) = last(dry)
    undo = last(acted, 1)[0].removeprefix("undo with: ")
    words = subprocess.check_output(["bash", "-c", f"printf '%s\\0' {clean} {undo}"]).split(b"\0")
    folder, written = (os.fsencode(os.path.abspath(each)) for each in (gone, journal))
    assert words[:-1] == [
        *(b"simdup", b"clean", os.fsencode(plan), b"--to", folder, b"--apply"),
        *(b"simdup", b"undo", written),
    ]
    assert folder in Path("script").read_bytes()


def test_a_dry_run_of_a_plan_says_what_is_gone_and_apply_refuses_it(run, found, trash):  # noqa: ARG001
    run("clean", found, "-o", "plan.jsonl", "-q")
    run("clean", "plan.jsonl", "--apply")

    dry = run("clean", "plan.jsonl", "--check")
    again = run("clean", "plan.jsonl", "--apply")

    assert dry.code == 0
    assert b"left: 1 file: gone already" in dry.err
    assert again.code == 3
    assert last(again) == ["1 planned = 0 done + 1 refused + 0 left"]


@pytest.mark.parametrize(
    "given",
    [("--near", "0.8", "--text"), ("--formats-too", "--to", "a folder"), ("--permanently",)],
)
def test_the_command_that_a_dry_run_names_does_all_that_it_showed(run, found, trash, given):  # noqa: ARG001
    ended = run("clean", found, *given, "-o", "plan.jsonl")
    planned = len(read_plan("plan.jsonl").actions)
    _, *command = shlex.split(last(ended)[0])

    done = run(*command, "--yes-many", str(planned))

    assert done.code == 0, done.err
    assert f"{planned} planned = {planned} done + 0 refused + 0 left" in done.err.decode()


def test_a_plan_without_the_consents_does_nothing_and_names_the_command_that_does_all(
    run, found, trash
):
    everything = "--near", "0.8", "--text", "--formats-too"
    run("clean", found, "--prefer", "format=text", *everything, "-o", "plan.jsonl", "-q")
    before = listing()

    dry = run("clean", "plan.jsonl", "--check", "--near", "0.9")
    ended = run("clean", "plan.jsonl", "--apply", "--near", "0.9")

    command = "simdup clean plan.jsonl --near 0.9 --text --formats-too --apply"
    assert shlex.split(last(dry)[0]) == shlex.split(command)
    (line,) = last(ended)
    assert line.startswith(
        "simdup: nothing was done: the plan needs --text for 1 file and --formats-too for 1 file; `"
    )
    (named,) = re.findall("`(simdup clean .*)` does all of it, --skip-unconsented", line)
    assert sorted(named.split()) == sorted(command.split())
    assert (dry.code, ended.code) == (1, 2)
    assert listing() == before
    assert not trash.exists()

    rest = run("clean", "plan.jsonl", "--apply", "--near", "0.9", "--skip-unconsented")
    assert rest.code == 0
    assert b"not planned: 1 file: identical text, other bytes: needs --text" in rest.err
    assert last(rest, 2)[0] == "2 planned = 2 done + 0 refused + 0 left"
    assert run(*last(rest)[0].split()[3:], "--apply").code == 0
    assert b"4 planned = 4 done" in run(*named.split()[1:]).err


def test_a_run_that_goes_on_wants_all_consents_before_it_starts(run, found, trash):  # noqa: ARG001
    run("clean", found, "--prefer", "format=text", "--text", "-o", "plan.jsonl", "-q")
    run("clean", "plan.jsonl", "--text", "--apply", "--journal", "whole")
    lines = Path("whole").read_text("utf-8").splitlines(keepends=True)
    planned = [each for each in lines if '"begin"' in each[:60] or '"planned"' in each[:60]]
    Path("journal").write_text("".join(planned), "utf-8")
    run("undo", "whole", "--apply")
    before = listing()

    ended = run("clean", "--apply", "--resume", "journal")

    assert ended.code == 2
    assert b"the plan needs --text for 1 file" in ended.err
    assert listing() == before


def test_a_dry_run_of_too_many_files_names_the_group_and_the_command_that_shows_it(
    run, write, english
):
    for name in "abcd":
        write(f"docs/{name}", english)
    run("scan", "docs", "--format", "json", "-o", "found.json", "-q")

    dry = run("clean", "--most", "2", "--to", "a place", "--", "found.json")

    said, line = last(dry, 2)
    assert said.startswith("3 files of group 1 would be removed, more than --most 2; kept: /")
    assert said.endswith("/docs/a. Look at them first:")
    assert line == "  simdup clean --all --most 2 --to 'a place' -- found.json"
    assert run(*shlex.split(line)[1:]).out == dry.out


def test_a_result_and_a_plan_of_files_that_changed_have_one_count_and_one_code(
    run, found, trash, write
):
    write("docs/c.txt", Path("docs/a.txt").read_bytes())
    run("scan", "docs", "--format", "json", "-o", found, "-q")
    rules = "--prefer", "oldest"
    run("clean", found, *rules, "-o", "plan.jsonl", "-q")
    going = [each.file.path for each in read_plan("plan.jsonl").actions]
    for path in going:
        Path(path).write_text("other", "utf-8")

    ended = [run("clean", *source, "--apply") for source in ((found, *rules), ("plan.jsonl",))]

    for each in ended:
        assert each.code == 3
        assert last(each, 3) == [
            *(f"refused: {path}: changed since the scan" for path in going),
            "2 planned = 0 done + 2 refused + 0 left",
        ]
        assert b"left: " not in each.err
    dry = run("clean", found, *rules)
    assert b"left: 2 files: changed since the scan" in dry.err
    assert dry.code == 0
    assert not [*(trash / "files").iterdir()]


@pytest.mark.parametrize("act", [(), ("--link",), ("--to", "elsewhere")])
def test_a_saved_result_is_of_use_after_an_undo(run, found, trash, act):  # noqa: ARG001
    run("clean", found, "--apply", "--journal", "j", *act)
    run("undo", "j", "--apply")

    dry = run("clean", found, "--check", *act)
    again = run("clean", found, "--apply", *act)

    assert dry.code == 1
    assert again.code == 0, again.err
    assert b"1 planned = 1 done + 0 refused + 0 left" in again.err


def test_a_plan_that_links_needs_the_word_again(run, found):
    ended = run("clean", found, "--link", "-o", "plan.jsonl")
    assert last(ended) == ["  simdup clean plan.jsonl --link --apply"]

    without = run("clean", "plan.jsonl", "--apply")

    assert b"the plan needs --link for 1 file" in without.err
    assert not os.path.samefile("docs/a.txt", "docs/b (1).txt")
    assert run("clean", "plan.jsonl", "--link", "--apply", "--journal", "j").code == 0
    assert os.path.samefile("docs/a.txt", "docs/b (1).txt")


def test_words_of_a_plan_hide_no_file_that_goes(run, found):
    """A line that says that a whole folder goes, of a file that is not in that folder."""
    run("clean", found, "-o", "plan.jsonl", "-q")
    header, line, *rest = Path("plan.jsonl").read_text("utf-8").splitlines()
    value = json.loads(line) | {"why": "all of /old is in /new too"}
    Path("plan.jsonl").write_text("\n".join([header, json.dumps(value), *rest]), "utf-8")

    shown = run("clean", "plan.jsonl").out.decode()

    assert "Folder: " not in shown
    assert os.path.basename(value["file"]["path"]) in shown


def test_a_script_does_what_the_plan_says_and_can_be_cut(run, found, trash):
    Path("docs/c.txt").write_bytes(Path("docs/a.txt").read_bytes())
    run("scan", "docs", "--format", "json", "-o", found, "-q")
    run("clean", found, "--script", "run.sh", "--prefer", "format=text", "-q")
    script = Path("run.sh").read_text("utf-8")
    commands = [line for line in script.splitlines() if line.startswith("act '")]
    assert len(commands) == 2
    cut = script.replace(commands[0], "")
    Path("run.sh").write_text(cut, "utf-8")
    Path("simdup").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m simdup "$@"\n', "utf-8")
    Path("simdup").chmod(0o700)

    done = subprocess.run(
        ["sh", "run.sh"], env=os.environ | {"SIMDUP": "./simdup"}, capture_output=True, check=False
    )

    assert done.returncode == 0, done.stderr
    assert len([*(trash / "files").iterdir()]) == 1
    assert " rm " not in script
    assert Path("run.sh").read_text("utf-8") == cut  # it is not written to while it runs


def test_many_files_want_their_number(run, write, english, trash):
    for place in range(30):
        write(f"docs/{place}.txt", english)
    run("scan", "docs", "--format", "json", "-o", "found.json", "-q")

    for arguments, words in (
        (
            (),
            b"29 files of group 1 would be removed, more than --most 20; kept: ",
        ),
        (("--most-files", "10"), b"29 files would be removed, more than --most-files 10"),
        (("--yes-many", "28"), b"--yes-many 28: the plan is about 29 files"),
    ):
        ended = run("clean", "found.json", "--apply", *arguments)
        assert ended.code == 2
        assert words in ended.err
    assert not trash.exists()
    assert run("clean", "found.json", "--apply", "--yes-many", "29").code == 0
    assert len([*(trash / "files").iterdir()]) == 29


def test_deleting_for_good_asks_for_the_number(found, trash):
    for typed, code in ((b"no\n", 2), (b"1\n", 0)):
        parent, child = terminal()
        arguments = [sys.executable, "-m", "simdup", "clean", found, "--permanently", "--apply"]
        process = subprocess.Popen(arguments, stdin=child, stdout=child, stderr=child)
        os.close(child)
        os.write(parent, typed)
        shown = drained(parent)
        assert process.wait() == code, shown
        assert b"1 file will be deleted for good. Type 1 to go on:" in shown
        assert b"undo with" not in shown

    assert not trash.exists()
    assert not Path("docs/b (1).txt").exists()


# Review


def shown_at_terminal(*arguments):
    """What a program prints at a terminal of 24 lines, and its exit code."""
    screen, end = terminal(columns=100)
    environment = os.environ | {"TERM": "dumb"}
    command = [sys.executable, "-m", "simdup", *arguments]
    with subprocess.Popen(command, stdout=end, stderr=end, env=environment) as process:
        os.close(end)
        return drained(screen).decode(), process.wait()


class Terminal:
    """A review at a pseudo-terminal."""

    def __init__(self, *arguments):
        self._parent, child = terminal(columns=200)
        environment = os.environ | {"TERM": "dumb", "PAGER": "cat"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "simdup", "clean", *arguments, "--review"],
            stdin=child,
            stdout=child,
            stderr=child,
            env=environment,
            start_new_session=True,
        )
        os.close(child)
        self.shown = ""

    def until(self, words):
        """All that is printed up to these words. The end of the program is a failure."""
        begin = len(self.shown)
        while words not in self.shown[begin:]:
            part = os.read(self._parent, 4096)
            assert part, self.shown
            self.shown += part.decode()
        return self.shown[begin:]

    def answer(self, *letters):
        """Answer the next questions."""
        for letter in letters:
            self.until("q,?] ")
            self.type(letter)

    def type(self, letter):
        """Type a letter, and Enter."""
        os.write(self._parent, f"{letter}\n".encode())

    def ended(self):
        """What is printed until the end of the program, and its exit code."""
        begin = len(self.shown)
        self.shown += drained(self._parent).decode()
        return self.shown[begin:], self.process.wait()


def going(plan="plan.jsonl"):
    return {os.path.basename(each.file.path) for each in read_plan(plan).actions}


RULES = "--prefer", "format=text", "--prefer", "oldest"


def test_a_review_asks_about_what_is_no_identical_copy_and_writes_a_plan(run, found, trash):
    before = listing("docs")
    terminal = Terminal(found, "-o", "plan.jsonl", *RULES)
    shown = terminal.until("q,?] ")
    assert "  keep  " in shown
    assert "identical text" in shown
    terminal.type("k")  # wide.txt
    terminal.answer("k")  # page.html
    shown = terminal.until("q,?] ")
    assert re.search(r"^-.*\bgrey\b", shown, re.MULTILINE)
    assert re.search(r"^\+.*\bbrown\b", shown, re.MULTILINE)
    assert "% of it is in the kept file" in shown
    terminal.type("d")  # edited.txt
    shown, code = terminal.ended()

    assert code == 0
    assert listing("docs") == before
    assert going() == {"b (1).txt", "edited.txt"}
    assert not Path("plan.jsonl.part").exists()
    assert run(*shown.splitlines()[-1].split()[1:]).code == 0
    assert len([*(trash / "files").iterdir()]) == 2


def test_one_pair_has_one_number_everywhere(run, write):
    """How much of a file is in the kept one: 294 of its 297 pairs of words."""
    words = [f"word{place}" for place in range(400)]
    write("docs/report draft.txt", " ".join([*words[:40], "new", "words", *words[44:300]]))
    write("docs/report final.txt", " ".join(words))
    found = run("scan", "docs", "--format", "json", "-o", "found.json", "--html", "page.html")
    run("index", "build", "docs.simdup", "docs")
    draft, final = "docs/report draft.txt", "docs/report final.txt"

    shown = run("scan", "docs").out.decode()
    (group,) = json.loads(Path("found.json").read_text("utf-8"))["groups"]
    number = percent(group["members"][1]["contained"])

    assert (found.code, number) == (0, "98.9 %")
    assert f"  {number} " in shown.splitlines()[-2]
    compared = run("compare", draft, final).out.decode()
    assert f"{number} of report draft.txt is in report final" in compared
    assert f"  {number} " in run("query", "docs.simdup", draft).out.decode()
    in_kept = f"{number} of it is in the kept file"
    assert in_kept in run("clean", "found.json", "--near", "0.98").out.decode()
    assert b"would" not in run("clean", "found.json", "--near", "0.99").out
    review = Terminal("found.json", "-o", "plan.jsonl")
    assert in_kept in review.until("q,?] ")
    review.type("q")
    review.ended()
    data = data_in("page.html")
    *_, shares, _ = data["groups"][0]
    assert percent(shares[1]) == number


def test_a_scan_counts_as_removable_what_clean_removes_and_as_to_look_at_what_it_leaves(
    run, write, english
):
    for name in ("docs/a.txt", "docs/b.txt", "docs/code/.git/HEAD", "docs/code/c.txt"):
        write(name, english)
    write("docs/code/d.txt", english)
    write("docs/wide.txt", english.encode("utf-16"))
    write("docs/wrapped.txt", english.replace("\n", "\n\n"))
    write("docs/edited.txt", english.replace("grey", "brown"))

    scanned = last(run("scan", "docs", "--format", "json", "-o", "found.json"), 4)
    cleaned = run("clean", "found.json").err.decode().splitlines()

    assert scanned == [
        f"can be removed: 2 exact copies, {size(2 * len(english))}",
        "kept: 1 exact copy in work trees, packages or saved pages",
        "needs a look: 1 file with the same text in other bytes, 1 file with the same words,"
        " 1 near file",
        "next: simdup clean found.json",
    ]
    assert cleaned[0].startswith("2 files of ")
    assert "(2 exact copies)" in cleaned[0]
    assert sorted(line.split(": ")[2].split(",")[0] for line in cleaned[1:-2]) == [
        "identical text", "in a work tree", "near", "same words",
    ]  # fmt: skip


def test_clean_names_only_the_consent_that_is_missing(run, write, english):
    write("docs/a.txt", english)
    write("docs/b.html", f"<p>{english.replace('grey', 'brown')}</p>")
    run("scan", "docs", "--format", "json", "-o", "found.json", "-q")

    def left(*options):
        return run("clean", "found.json", *options).err.decode().splitlines()[1]

    assert left().endswith("near, a document or packed: needs --near FLOOR and --formats-too")
    assert left("--near", "0.9").endswith("near, a document or packed: needs --formats-too")
    assert left("--formats-too").endswith("near: needs --near FLOOR such as 0.95, or --review")


def test_a_part_is_left_whatever_share_of_it_the_kept_file_has(run, write):
    words = [f"word{place}" for place in range(900)]
    write("docs/book.txt", " ".join(words))
    write("docs/chapter.txt", " ".join(words[300:600]))
    run("scan", "docs", "--format", "json", "-o", "found.json", "-q")

    ended = run("clean", "found.json", "--near", "0.9")

    why = "a part: the kept text is more than twice as long; needs --review"
    assert f"left: 1 file: {why}" in ended.err.decode()


def test_a_terminal_shows_a_long_plan_by_kind_and_folder(run, write):
    for place in range(40):
        text = " ".join(f"word{place}x{number}" for number in range(60))
        write(f"docs/{place}.txt", text)
        write(f"old/{place % 3}/{place}.txt", text)
        write(f"old/{place % 3}/alone.txt", f"only here {place}")
    run("scan", "docs", "old", "--format", "json", "-o", "found.json", "-q")

    brief, code = shown_at_terminal("clean", "found.json")
    whole, _ = shown_at_terminal("clean", "found.json", "--all")

    assert code == 0
    lines = brief.splitlines()
    assert lines[2].startswith("40 exact copies, ")
    assert re.fullmatch(r" +14 in old/0, such as \d+\.txt; kept: docs/\d+\.txt", lines[3])
    assert len(lines) < 24 < len(whole.splitlines())
    assert run("clean", "found.json").out.decode().count("  trash  ") == 40


def test_the_script_and_the_page_are_named_after_they_are_written(run, found):
    assert last(run("clean", found, "--script", "run.sh"), 2) == [
        "nothing was changed; the script does it:",
        "  sh run.sh",
    ]
    assert "page: p.html" in run("scan", "docs", "--html", "p.html").err.decode().splitlines()


def test_a_review_in_which_nothing_was_answered_names_no_answers(found):
    terminal = Terminal(found, "-o", "plan.jsonl", *RULES)
    terminal.until("q,?] ")
    terminal.type("q")
    shown, code = terminal.ended()

    assert code == 0
    assert shown.rstrip().endswith("no plan written")
    assert not Path("plan.jsonl.part").exists()


def test_a_review_names_the_folder_that_files_are_moved_to(run, found):
    terminal = Terminal(found, "-o", "plan.jsonl", "--to", "moved", *RULES)
    terminal.until("q,?] ")
    terminal.type("w")
    shown, _ = terminal.ended()

    _, *command = shown.splitlines()[-1].split()
    assert command == ["clean", "plan.jsonl", "--to", os.path.abspath("moved"), "--apply"]
    assert run(*command).code == 0
    assert os.listdir("moved") == ["b (1).txt"]


def test_a_review_that_is_stopped_goes_on_where_it_was(found):
    terminal = Terminal(found, "-o", "plan.jsonl", *RULES)
    terminal.answer("d", "q")
    shown, code = terminal.ended()
    assert code == 0
    assert "the answers are in plan.jsonl.part" in shown
    assert not Path("plan.jsonl").exists()

    terminal = Terminal(found, "-o", "plan.jsonl", *RULES)
    assert "going on with plan.jsonl.part" in terminal.until("q,?] ")
    assert "2 files open" in terminal.shown
    terminal.type("w")
    terminal.ended()
    assert going() == {"b (1).txt", "wide.txt"}

    terminal = Terminal("plan.jsonl")
    terminal.answer("d", "d")
    terminal.ended()
    assert going() == {"b (1).txt", "wide.txt", "edited.txt", "page.html"}


def test_a_review_that_is_killed_loses_no_answer(found):
    terminal = Terminal(found, "-o", "plan.jsonl", *RULES)
    terminal.answer("d", "d")
    terminal.until("q,?] ")
    terminal.process.kill()
    terminal.ended()

    assert going("plan.jsonl.part") == {"b (1).txt", "wide.txt", "page.html"}
    terminal = Terminal(found, "-o", "plan.jsonl", *RULES)
    assert "1 file open" in terminal.until("q,?] ")
    terminal.process.kill()
    terminal.ended()


def test_answers_are_explained_taken_back_reversed_and_viewed(found):
    terminal = Terminal(found, "-o", "plan.jsonl", *RULES)
    terminal.answer("x")
    assert "d!  drop this file and all others" in terminal.until("q,?] ")
    terminal.type("b")
    assert "there is no file before" in terminal.until("q,?] ")
    terminal.type("d")
    terminal.answer("b")
    terminal.answer("r")  # wide.txt is kept now
    shown = terminal.until("q,?] ")
    assert "/docs/wide.txt" in shown.partition("  this  ")[0]
    terminal.type("v")
    terminal.answer("d!")
    terminal.ended()

    plan = read_plan("plan.jsonl")
    assert {os.path.basename(each.keep.path) for each in plan.actions} == {"wide.txt"}
    assert going() == {"a.txt", "b (1).txt", "edited.txt", "page.html"}


def test_a_pair_that_is_ignored_in_a_review_is_on_the_list(run, found):
    terminal = Terminal(found, "-o", "plan.jsonl", *RULES)
    terminal.answer("i", "k")
    assert "cannot be ignored" in terminal.shown
    terminal.answer("i")
    shown, code = terminal.ended()
    assert code == 0
    assert "ignored: " in shown

    assert b"edited.txt" in run("ignore", "list").out
    assert b"near: wants" not in run("clean", found, *RULES).err


def test_a_review_of_another_result_is_not_gone_on_with(run, found, write, english):
    terminal = Terminal(found, "-o", "plan.jsonl", *RULES)
    terminal.answer("d", "q")
    terminal.ended()
    write("docs/more.txt", english)
    run("scan", "docs", "--format", "json", "-o", found, "-q")

    shown, code = Terminal(found, "-o", "plan.jsonl").ended()

    assert code == 2
    assert "'plan.jsonl.part': a review of another result" in shown


def test_files_of_a_work_tree_are_removed_only_by_an_option_of_their_own(run):
    for name in ("notes/letter.txt", "project/letter.txt", "project/sub/letter.txt"):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text("The harbour master kept two ledgers.\n")
    os.mkdir("project/.git")
    assert run("scan", ".", "--format", "json", "-o", "found.json").code == 0

    shown = run("clean", "found.json", "-o", "plan.jsonl", "--prefer-under", "notes")
    assert "1 file: in a work tree: needs --work-trees-too" in shown.err.decode()
    assert "project" not in Path("plan.jsonl").read_text().split('"file"')[1].split('"kind"')[0]
    forced = run(
        "clean", "found.json", "-o", "all.jsonl", "--prefer-under", "notes", "--work-trees-too"
    )
    assert forced.code == 0
    # A plan cannot give the consent.
    refused = run("clean", "all.jsonl", "--apply", "--to", "../moved")
    assert "2 files: in a work tree: needs --work-trees-too" in refused.err.decode()
    assert Path("project/letter.txt").exists()
    assert run("clean", "all.jsonl", "--apply", "--to", "../moved", "--work-trees-too").code == 0
    assert os.listdir("notes") == ["letter.txt"]
    assert not Path("project/letter.txt").exists()


def test_the_folder_to_keep_is_the_one_that_its_link_leads_to_now(run):
    for name in ("a/letter.txt", "b/letter.txt"):
        Path(name).parent.mkdir()
        Path(name).write_text("The harbour master kept two ledgers.\n")
    kept = []
    for folder in ("b", "a"):
        Path("best").unlink(missing_ok=True)
        os.symlink(folder, "best")
        found = json.loads(run("scan", "a", "b", "--keep-under", "best", "--format", "json").out)
        (group,) = found["groups"]
        kept += [each["path"] for each in group["members"] if each["representative"]]

    assert kept == [os.path.join("b", "letter.txt"), os.path.join("a", "letter.txt")]
