"""simdup.report.terminal, and how reports use it: columns, shortened paths, colours."""

from __future__ import annotations

import re
import unicodedata
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdup.cli import output
from simdup.evaluation.metrics import Labelled
from simdup.index.records import Answer
from simdup.records import Kind, Match
from simdup.report import diff, text
from simdup.report import query as answers
from simdup.report.terminal import TerminalStyle, padded, shortened, width
from simdup.report.wording import printable
from tests.report.test_accuracy import row, table
from tests.report.test_text import comparison, document, pair, paths, result

COLOURED = TerminalStyle(is_coloured=True)
CODES = re.compile(r"\x1b\[\d+m")


def bare(line):
    """A line without colours."""
    return CODES.sub("", line)


# Columns


@pytest.mark.parametrize(
    ("shown", "columns"),
    [
        ("", 0),
        ("report.txt", 10),
        ("外婆的腌笃鲜.md", 15),
        ("ｆｕｌｌ", 8),
        ("ｱｲｳ", 3),
        ("한국어", 6),
        (unicodedata.normalize("NFD", "한국어"), 6),
        ("café", 4),
        (unicodedata.normalize("NFD", "café"), 4),
        ("が" + "\u3099", 2),
        ("€…·", 3),
        ("🍵", 2),
    ],
)
def test_columns_worked_by_hand(shown, columns):
    assert width(shown) == columns


@given(st.text(), st.integers(0, 80))
def test_padding_fills_the_columns_asked_for_and_cuts_nothing(shown, columns):
    whole = padded(shown, columns)

    assert whole.rstrip(" ") == shown.rstrip(" ")
    assert width(whole) == max(columns, width(shown))


@pytest.mark.parametrize(
    ("path", "columns", "shown"),
    [
        ("a/b.txt", 7, "a/b.txt"),
        ("letters/2024/b.txt", 17, "…/2024/b.txt"),
        ("letters/2024/b.txt", 10, "…/b.txt"),
        ("letters/2024/b.txt", 3, "…/b.txt"),  # the name is what tells files apart
        ("/srv/letters/2024/b.txt", 19, "/srv/…/2024/b.txt"),
        ("a-name-without-a-folder", 5, "a-name-without-a-folder"),
        ("/b.txt", 2, "/b.txt"),
        ("文档/二〇二四年/会议/纪要.txt", 20, "文档/…/会议/纪要.txt"),
    ],
)
def test_a_path_loses_whole_folders_from_the_middle(path, columns, shown):
    assert shortened(path, columns) == shown


@given(paths.map(printable), st.integers(-10, 120))
def test_a_path_fits_and_keeps_its_name(path, columns):
    shown = shortened(path, columns)

    _, slash, name = path.rpartition("/")
    assert shown.endswith(slash + name)
    assert width(shown) <= width(path)
    assert shown == path or width(path) > columns
    assert width(shown) <= max(columns, width(f"…/{name}")) or not slash


@pytest.mark.parametrize("columns", range(40, 100, 5))
def test_the_lines_of_a_group_never_lose_what_tells_its_paths_apart(columns):
    long = "/home/ann/documents/of the society/{}/letters to members/final/letter.txt"
    names = "spring 2023", "spring 2024"
    found = result(pair(*(long.format(name) for name in names)))

    lines = list(text.render(found, TerminalStyle(columns=columns)))[1:3]

    assert all(name in line for name, line in zip(names, lines, strict=True))
    assert all("…" in line for line in lines) or columns > 90


@pytest.mark.parametrize(
    ("times", "shown"),
    [
        (("2024-03-11 10:00", "2023-01-05 09:00"), ["2024-03-11", "2023-01-05"]),
        (("2024-03-11 10:00", "2024-03-11 12:30"), ["2024-03-11 10:00", "2024-03-11 12:30"]),
        (("2024-03-11 10:00", "2024-03-11 10:00"), []),
    ],
)
def test_files_have_their_dates_where_these_differ_and_their_times_within_a_day(times, shown):
    members = [
        each._replace(
            document=each.document._replace(
                source=each.document.source._replace(
                    mtime_ns=int(datetime.fromisoformat(time).timestamp()) * 10**9
                )
            )
        )
        for each, time in zip(pair().members, times, strict=True)
    ]

    lines = list(text.render(result(pair()._replace(members=tuple(members)))))[1:3]

    assert [found for line in lines for found in re.findall(r"\d{4}-[-\d: ]*\d", line)] == shown


def test_a_line_fits_the_terminal_and_its_remarks_too():
    long = "in/" + "very/" * 30 + "long.txt"
    found = result(pair(long.replace("long", "short"), long, damaged=2, features=5))

    lines = list(text.render(found, TerminalStyle(columns=100)))

    assert lines[0] == next(iter(text.render(found)))
    assert lines[2].endswith("/long.txt  (2 characters damaged, short)")
    assert 90 < width(lines[2]) <= 100
    assert "…" in lines[2]


def test_kinds_of_pairs_with_chinese_names_stand_in_columns():
    kinds = (Labelled("改写过的两三个句子以及标题", duplicate=True, pairs=4),) * 2
    kinds += (Labelled("edited", duplicate=False, pairs=4),)

    found = [1, 2, 3]
    lines = table(row(found=found, found_cosine=found, found_verified=found), kinds=kinds)

    block = lines[lines.index("", 4) + 1 :]
    assert len(block) == 5
    assert len({width(line) for line in block}) == 1


# Colours


def test_colours_worked_by_hand():
    lines = list(text.render(result(pair("a", "b", distance=2)), COLOURED))

    assert lines == [
        "\x1b[1mGroup 1:\x1b[0m \x1b[33m100 % in the kept file\x1b[0m, 2 files",
        "                 \x1b[2mgb18030        1.2 kB\x1b[0m  a",
        "  \x1b[33m  100 %\x1b[0m        \x1b[2mgb18030        1.2 kB\x1b[0m  b",
        "",
    ]


def test_answers_are_coloured_and_fit_too():
    long = "in/" + "very/" * 30 + "long.txt"
    matches = [Match(document(path), Kind.NEAR, 2, 0.9, is_exact=True) for path in ("b", long)]
    found = [Answer("a", tuple(matches))]

    lines = list(answers.render(found, look=TerminalStyle(is_coloured=True, columns=70)))

    assert lines[:2] == [
        "\x1b[1ma:\x1b[0m 2 documents",
        "  \x1b[33m 90.0 %\x1b[0m        \x1b[2mgb18030        1.2 kB\x1b[0m  b",
    ]
    assert 60 < width(bare(lines[2])) <= 70
    assert list(answers.render(found))[2].endswith(long)


def test_differences_are_red_and_green_and_names_are_neither():
    left, right = "One stays. -- two goes.", "One stays. ++ three comes."

    lines = list(diff.render(left, right, ("a", "b"), COLOURED))

    assert lines == [
        *("\x1b[1m--- a\x1b[0m", "\x1b[1m+++ b\x1b[0m", "\x1b[36m@@ -1 +1 @@\x1b[0m"),
        *(" 1 One stays.", "\x1b[31m-1 -- two goes.\x1b[0m", "\x1b[32m+1 ++ three comes.\x1b[0m"),
    ]
    assert [bare(line) for line in lines] == list(diff.render(left, right, ("a", "b")))


@given(paths, paths, st.none() | st.integers(20, 200))
def test_no_path_brings_its_own_colour_codes(first, second, columns):
    lines = [
        *text.render(result(pair(first, second)), TerminalStyle(is_coloured=True, columns=columns)),
        *text.render_comparison(comparison(), COLOURED._replace(is_verbose=True)),
        *diff.render(f"a. {first}", f"a. {second}", (first, second), COLOURED),
    ]

    assert all(bare(line).isprintable() for line in lines)


# When colours are used


def test_colours_depend_on_color_no_color_and_the_terminal(monkeypatch):
    def is_coloured(color, target=None, **environment):
        for name in ("NO_COLOR", "TERM"):
            monkeypatch.delenv(name, raising=False)
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        return output.look(color, target).is_coloured

    monkeypatch.setattr(output.sys, "stdout", type("Screen", (), {"isatty": lambda _: True})())
    monkeypatch.setenv("COLUMNS", "77")
    columns = output.look("never").columns, output.look("always", "report.txt").columns
    assert columns == (77, None)
    assert is_coloured("auto")
    assert is_coloured("auto", NO_COLOR="")
    assert not is_coloured("auto", NO_COLOR="1")
    assert not is_coloured("auto", TERM="dumb")
    assert not is_coloured("auto", "report.txt")
    assert not is_coloured("never")
    assert is_coloured("always", "report.txt", NO_COLOR="1", TERM="dumb")
    monkeypatch.setattr(output.sys, "stdout", type("Pipe", (), {"isatty": lambda _: False})())
    assert not is_coloured("auto")
    assert is_coloured("always")
    assert output.look("always").columns is None


def test_color_always_colours_texts_only(run, write, english):
    write("a", english)
    write("b", english.replace("grey", "white"))

    plain, coloured = run("scan", "."), run("scan", ".", "--color", "always")
    written = run("scan", ".", "--color", "always", "--format", "csv")

    assert b"\x1b" not in plain.out + written.out + coloured.err
    assert b"\x1b[33m99 % in the kept file\x1b[0m" in coloured.out
    assert bare(coloured.out.decode()) == plain.out.decode()
    assert run("scan", ".", "--color", "never").out == plain.out
    for options in ((), ("--color", "always")):
        run("scan", ".", *options, "--output", "report.txt")
        assert Path("report.txt").read_bytes() == run("scan", ".", *options).out
    asked = ("compare", "a", "b", "--diff", "--color", "always")
    assert b"\x1b[31m-" in run(*asked).out
    assert b"\x1b" not in run("compare", "a", "b", "--format", "json", "--color", "always").out
