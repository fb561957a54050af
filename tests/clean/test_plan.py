"""simdup.clean.plan: plans are written and read back, and whatever is no plan is refused whole."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

import simdup
from simdup.clean.plan import (
    Act,
    Action,
    FileId,
    Header,
    Left,
    Plan,
    action_line,
    parsed_plan,
    plan_lines,
)
from simdup.clean.refusals import Consent, Refusal, Why
from simdup.clean.terms import needed
from simdup.errors import InputError
from simdup.fields import printable
from simdup.records import Kind

HEADER = Header(
    "2026-11-22T23:30:00+00:00", "found.json", "0" * 32, ("--prefer newest",), ("/docs",)
)


def seen(name, letters=b"bt"):
    """A file with digests of its own for each two letters."""
    return FileId(f"/docs/{name}", 1, 2, 3, 4, -5, letters[:1] * 16, letters[1:] * 16)


def action(line, name, keep="kept", kind=Kind.IDENTICAL_BYTES, contained=None):
    file = seen(name, b"bt" if kind is Kind.IDENTICAL_BYTES else b"cd")
    return Action(line, 7, seen(keep), Act.TRASH, file, contained, "newest")


PLAN = Plan(
    (action(2, "a\udcff"), action(4, "b", kind=Kind.NEAR, contained=0.9375)),
    (Left(3, 7, seen("c"), Why(Refusal.PROTECTED)),),
    HEADER,
)


def written(plan=PLAN):
    return [line.encode() + b"\n" for line in plan_lines(plan)]


def test_a_plan_that_is_written_and_read_is_the_same():
    assert parsed_plan(written(), "p") == PLAN


def test_a_plan_that_does_not_say_newest_is_asked_for_consent():
    lines = [line.replace(b', "newest": false', b"") for line in written()]

    plans = [parsed_plan(each, "p") for each in (written(), lines)]
    asked = [[*needed(each)] for plan in plans for each in plan.actions]
    assert asked == [[], [Consent.NEAR], [], [Consent.NEWEST, Consent.NEAR]]


def test_a_file_that_is_kept_for_itself_is_refused():
    itself = Plan((action(2, "a", keep="a"),), (), HEADER)

    with pytest.raises(InputError, match="'p', line 2: keeps the file that line 2 takes away"):
        parsed_plan(written(itself), "p")


@pytest.mark.parametrize("cut", [1, 2, 3])
def test_any_line_but_the_first_may_be_deleted(cut):
    lines = written()
    del lines[cut]

    read = parsed_plan(lines, "p")

    assert len(read.actions) + len(read.left) == 2


def test_blank_lines_count_only_as_lines():
    lines = written()
    lines.insert(1, b"\n")

    assert [each.line for each in parsed_plan(lines, "p").actions] == [3, 5]


def test_an_action_has_the_line_of_the_plan_file():
    assert action_line(PLAN.actions[0]).encode() + b"\n" == written()[1]


def changed(line, **fields):
    """The lines of the plan with other fields in one of them."""
    lines = written()
    value = json.loads(lines[line])
    for name, each in fields.items():
        outer, _, inner = name.partition("__")
        if inner:
            value[outer][inner] = each
        else:
            value[outer] = each
    lines[line] = json.dumps(value).encode()
    return lines


@pytest.mark.parametrize(
    ("line", "fields", "words"),
    [
        (0, {"simdup": "result"}, "simdup must be 'plan'"),
        (0, {"version": 2}, "version is 2, and only 1 is known"),
        (0, {"run": "rm"}, "run is unknown"),
        (0, {"roots": [{"path": "docs"}]}, "roots[0].path must be absolute"),
        (1, {"run": "rm"}, "run is unknown"),
        (1, {"act": "shred"}, "act is unknown: 'shred'"),
        (1, {"kind": "same pattern"}, "kind is none that may be acted on"),
        (1, {"file__mode": 7}, "file.mode is unknown"),
        (1, {"file__id": [1, 2, 3, 4]}, "file.id must be device"),
        (1, {"file__id": [1, 2, 3, 4, 5.5]}, "file.id"),
        (1, {"file__id": [1, -2, 3, 4, 5]}, "file.id is out of range"),
        (1, {"file__id": [1, 2, 3, 4, 1 << 100]}, "file.id is out of range"),
        (1, {"file__bytes": "6162"}, "file.bytes must be 32 hexadecimal digits"),
        (1, {"file__bytes": "", "keep__bytes": ""}, "file.bytes must be 32 hexadecimal digits"),
        (1, {"keep": None}, "keep"),
        (1, {"keep__text": None}, "keep.bytes and text must be 32 hexadecimal digits"),
        (3, {"file__path": "docs/a"}, "file.path must be absolute, without '.' and '..'"),
        (3, {"file__path": "/docs/../a"}, "file.path must be absolute, without '.' and '..'"),
        (3, {"file__path": "/docs/\0"}, "file.path must be absolute, without '.' and '..'"),
        (3, {"file__path": "/docs/a/"}, "file.path must be absolute, without '.' and '..'"),
        (3, {"contained": 7}, "contained must be from 0 to 1"),
        (2, {"act": "trash"}, "act is unknown"),
    ],
)
def test_a_line_with_anything_unknown_makes_the_whole_plan_refused(line, fields, words):
    with pytest.raises(InputError) as refused:
        parsed_plan(changed(line, **fields), "p")

    assert str(refused.value).startswith(f"'p', line {line + 1}: no plan: {words}")


def test_how_texts_are_read_and_how_files_are_the_same_is_not_up_to_a_plan():
    lines = changed(0, settings={"encoding": "zlib", "convert": ["doc=sh {}"], "ngram": [1]})
    lines[3] = changed(3, kind="identical bytes")[3]

    assert parsed_plan(lines, "p") == PLAN


def test_words_for_people_are_written_and_read_printable():
    odd = "all of caf\udce9\ud800\x1b[31m stands in \u202eone\n"
    header = replace(HEADER, made=odd, rules=(odd,))
    made = Plan(
        (replace(action(2, "a"), why=odd),),
        (Left(3, 7, seen("c"), Why(Refusal.UNKNOWN, odd)),),
        header,
    )

    read = parsed_plan(written(made), "p")

    words = read.actions[0].why, str(read.left[0].why), read.header.made, *read.header.rules
    assert {*words} == {printable(odd)}
    assert parsed_plan(written(read), "p") == read
    forged = changed(1, why="\x1b[2J")
    assert parsed_plan(forged, "p").actions[0].why == "\\x1b[2J"


@pytest.mark.parametrize("data", [b"", b"[]\n", b"{\n", b"\xff\n", b"[" * 100_000])
def test_what_is_no_plan_is_refused(data):
    with pytest.raises(InputError, match="'p', line 1: no plan: "):
        parsed_plan([data] if data else [], "p")


def test_a_file_that_goes_twice_is_refused():
    twice = Plan((action(2, "a"), action(3, "a")), (), HEADER)

    with pytest.raises(InputError, match="'p', line 3: the file of line 2 again"):
        parsed_plan(written(twice), "p")


def test_a_file_that_is_kept_for_one_and_goes_for_another_is_refused():
    circle = Plan((action(2, "a", keep="b"), action(3, "b", keep="c")), (), HEADER)

    with pytest.raises(InputError, match="'p', line 2: keeps the file that line 3 takes away"):
        parsed_plan(written(circle), "p")


def test_the_plan_in_the_manual_is_one():
    page = Path(simdup.__file__).with_name("manual") / "clean.md"
    (example,) = re.findall(
        r"^```json\n(.*?)^```$", page.read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    lines = example.encode().splitlines(keepends=True)

    plan = parsed_plan(lines, "clean.md")

    assert [json.loads(line) for line in plan_lines(plan)] == [json.loads(line) for line in lines]
    assert (len(plan.actions), len(plan.left)) == (1, 1)


def test_a_plan_of_before_says_that_a_folder_is_removed_whole_in_words():
    files = {side: replace(seen("x"), path=f"/{side}/deep/a.txt") for side in ("old", "new")}
    made = replace(action(2, "a"), file=files["old"], keep=files["new"])
    lines = written(Plan((replace(made, depth=2, why="all of /old is in /new too"),), (), HEADER))
    before = [line.replace(b', "depth": 2', b"") for line in lines]

    for each in (lines, before):
        (read,) = parsed_plan(each, "p").actions
        assert (read.depth, read.folders) == (2, ("/old", "/new"))
    (other,) = parsed_plan([lines[0], lines[1].replace(b"/old/deep", b"/old/else")], "p").actions
    assert other.folders is None


def test_a_plan_of_before_says_by_a_word_that_a_copy_was_reviewed():
    lines = [line.replace(b'"why": "newest"', b'"why": "reviewed"') for line in written()]

    reviewed = [each.is_reviewed for each in parsed_plan(lines, "p").actions]

    assert reviewed == [True, False]
