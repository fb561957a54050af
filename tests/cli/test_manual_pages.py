"""`simdup help` and the headings of `--help`."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys

import click
import pytest
from terminals import drained, terminal

from simdup import interrupt
from simdup.cli import commands
from simdup.cli.help import TOPICS, manual_page, wrapped


def test_without_a_topic_the_pages_are_listed(run):
    ended = run("help")

    assert ended.code == 0
    for topic in TOPICS:
        assert re.search(rf"^  {topic} +\S", ended.out.decode(), re.MULTILINE)


@pytest.mark.parametrize("topic", TOPICS)
def test_a_topic_is_printed_with_lines_that_fit(run, topic):
    ended = run("help", topic)

    assert ended.code == 0
    lines = ended.out.decode().splitlines()
    assert lines == wrapped(manual_page(topic), 88)
    assert lines[0].startswith("# ")


@pytest.mark.parametrize("topic", [*TOPICS[:9], "json", "library"])
def test_a_page_begins_with_how_the_program_is_called(topic):
    before, code, _ = manual_page(topic).partition("```")

    assert code
    assert len(wrapped(before, 88)) < 25
    assert not re.search(r"^(\||- |\d+\. )", before, re.MULTILINE)


def test_the_words_of_a_page_are_all_there():
    page = "# A page\n\nSee [the list](list.md) and ![a picture](a.png).\n\n- one " + "word " * 40

    lines = wrapped(page, 40)

    assert max(map(len, lines)) <= 40
    assert " ".join(lines).split() == [
        *"# A page See the list and a picture . - one".replace(" .", ".").split(),
        *["word"] * 40,
    ]
    assert all(line.startswith(("- ", "  ")) for line in lines[4:])


def test_tables_and_code_keep_their_lines():
    table = ["| a | b |", "|---|---|", "| " + "x" * 99 + " | |"]
    code = ["```sh", "simdup   scan " + "y" * 99, "```"]

    assert wrapped("\n".join([*table, *code]), 40) == [*table, *code]


@pytest.mark.skipif(sys.platform == "win32", reason="terminals of POSIX systems")
def test_a_terminal_shows_a_page_in_the_pager(tmp_path):
    pager = tmp_path / "pager"
    pager.write_text("#!/bin/sh\necho paged\nexec cat\n")
    pager.chmod(0o755)
    screen, other = terminal()

    done = subprocess.Popen(
        [sys.executable, "-m", "simdup", "help", "ignore"],
        env=os.environ | {"PAGER": str(pager), "TERM": "xterm"},
        stdin=other,
        stdout=other,
        stderr=other,
    )
    os.close(other)
    shown = drained(screen)

    assert done.wait() == 0
    assert shown.startswith(b"paged")
    assert "Files that are not duplicates" in shown.decode()


def test_ctrl_c_is_for_the_pager_while_it_shows_a_page(monkeypatch):
    answers = []
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setattr(
        click, "echo_via_pager", lambda _: answers.append(signal.getsignal(signal.SIGINT))
    )
    before = signal.signal(signal.SIGINT, interrupt.end)

    try:
        commands.main(["help", "ignore"], standalone_mode=False)
    finally:
        signal.signal(signal.SIGINT, before)

    assert answers == [signal.default_int_handler]


def test_the_help_of_a_scan_begins_with_what_most_people_need(run):
    lines = run("scan", "--help").out.decode().splitlines()

    headings = [line for line in lines if re.fullmatch(r"[A-Z].*:", line)]
    assert headings == [
        *("What counts as a duplicate:", "Which files:", "Which file is kept:", "Output:"),
        *("What the report shows:", "Advanced:"),
        "Fingerprints, for experiments:",
    ]
    before = lines[: lines.index("What the report shows:")]
    assert len([line for line in before if re.match(r"  -", line)]) <= 16
    assert any(re.match(r"  --bits", line) for line in lines[lines.index(headings[-1]) :])


def test_lists_are_numbered_and_code_is_not_broken():
    words, code = "word " * 6, "`simdup scan ~/docs -k 3`, `a b`"
    page = f"On this page: [a](#a)\n## A\n1. one\n1. two\n\n{words}{code}"

    assert wrapped(page, 40) == ["## A", "1. one", "2. two", "", words.strip(), code]


def test_links_in_tables_are_reduced_to_their_text():
    assert wrapped("| see [json](json.md) |", 40) == ["| see json |"]
