"""`simdup corpus`: groups printed, rows that stay written, what is wrong in one line."""

from __future__ import annotations

import csv
import gzip
import json
import math
import os
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest
from reports import data_in, scripts, texts

COUNTED = (
    "one two three four five six seven eight nine ten eleven red orange yellow green blue indigo"
    " violet black white grey brown"
)
TEXTS = {
    "a": f"{COUNTED} twelve",
    "b": f"{COUNTED} dozen",
    "c": "nothing of that kind is written on this line of the file",
    "d": f"{COUNTED} twelve",
    "e": "",
}
ROWS = "".join(json.dumps({"url": name, "text": text}) + "\n" for name, text in TEXTS.items())
BROKEN = '{"url": "f", "text"\n{"url": "g"}\n'


def lines(ended):
    return [json.loads(line) for line in ended.out.splitlines()]


@pytest.fixture
def rows(write):
    return write("rows.jsonl", ROWS)


# Records, standard input, and the list of what goes


def test_fields_of_records_are_compared_each_for_itself(run, write):
    rows = [
        {"n": 1, "of": {"title": TEXTS["c"]}, "body": TEXTS["a"]},
        {"n": 2, "of": {"title": TEXTS["c"]}, "body": TEXTS["b"]},
        {"n": 3, "of": {"title": TEXTS["a"]}, "body": TEXTS["c"]},
    ]
    write("rows.jsonl", "".join(json.dumps(row) + "\n" for row in rows))

    ended = run(
        "corpus", "scan", "rows.jsonl", "--text-field", "of.title^2,body", "--id-field", "n"
    )
    header, group = lines(ended)
    assert header["settings"]["recipe"]["fields"] == [["of.title", 2], ["body", 1]]
    assert [each["id"] for each in group["members"]] == [1, 2]


@pytest.mark.slow
@pytest.mark.parametrize(("packed", "form"), [(gzip.compress, None), (bytes, "tsv")])
def test_rows_are_read_from_standard_input(simdup, packed, form):
    rows = ROWS
    if form:
        rows = "url\ttext\n" + "".join(f"{n}\t{text}\n" for n, text in TEXTS.items())
    options = ("--input-format", form) if form else ()

    ended = simdup(
        "corpus", "scan", "-", "--id-field", "url", *options, input=packed(rows.encode())
    )
    assert ended.returncode == 0, ended.err
    _, group, missing = [json.loads(line) for line in ended.stdout.splitlines()]
    assert [(each["id"], each["path"]) for each in group["members"]] == [
        ("a", "-"), ("d", "-"), ("b", "-"),
    ]  # fmt: skip
    assert (missing["path"], missing["row"]) == ("-", 6 if form else 5)


@pytest.mark.parametrize(("keep", "is_verified"), [("first", True), ("longest", False)])
def test_rows_that_go_are_listed_with_the_row_that_stays_for_each(run, rows, keep, is_verified):
    gone = {"b": ("a", "near", 21 / 22), "d": ("a", "identical text", 1)}
    ended = run(
        *("corpus", "scan", rows, "--keep", keep, "-o", "out.jsonl", "--dropped", "gone.jsonl"),
        *("--id-field", "url"),
        *(() if is_verified else ("-k", "90")),
    )

    assert ended.code == 0
    listed = [json.loads(line) for line in Path("gone.jsonl").read_text().splitlines()]
    assert [each["row"] for each in listed] == [2, 4]
    assert {each["id"]: (each["like"]["id"], each["kind"]) for each in listed} == {
        name: about[:2] for name, about in gone.items()
    }
    expected = [gone[each["id"]][2] if is_verified else None for each in listed]
    assert [each["similarity"] for each in listed] == pytest.approx(expected)
    assert listed[0]["like"] == {"id": "a", "path": rows, "row": 1}


# Reports


def test_groups_are_json_lines_by_default(run, rows):
    ended = run("corpus", "scan", rows, "--id-field", "url")

    header, group, missing = lines(ended)
    assert ended.code == 0
    assert (header["type"], header["tool"], header["files"]) == (
        "corpus",
        "simdup",
        [{"path": rows}],
    )
    assert header["settings"]["bits"] == 256
    assert header["candidates"]["pairs"] == 1
    stats = {name: value for name, value in header["stats"].items() if name != "seconds"}
    assert stats == {
        "rows": 5,
        "compared": 4,
        "kept": 3,
        "dropped": 2,
        "refused": 0,
        "siblings": 0,
        "not_compared": {"nothing to compare": 1},
    }
    members = group.pop("members")
    assert group == {"type": "group", "id": 1, "kind": "near", "representative": "a"}
    assert members[0] == {
        "id": "a",
        "path": rows,
        "row": 1,
        "kind": "identical text",
        "similarity": 1.0,
        "own_share": 1.0,
        "distance": 0,
        "representative": True,
    }
    assert [(each["id"], each["row"], each["kind"]) for each in members[1:]] == [
        ("d", 4, "identical text"),
        ("b", 2, "near"),
    ]
    assert members[2]["similarity"] == pytest.approx(21 / 22)
    assert missing == {
        "type": "not compared",
        "path": rows,
        "row": 5,
        "rows": 1,
        "reason": "nothing to compare",
        "detail": "no letter or digit",
        "refused": False,
    }


def test_rows_are_named_by_the_values_of_their_id_field(run, write):
    ids = [7, None, {"\ud800": [float("nan"), 1.5]}, "\x1b[31m"]
    text = TEXTS["a"]
    write("rows.jsonl", "".join(json.dumps({"id": each, "text": text}) + "\n" for each in ids))

    ended = run("corpus", "scan", "rows.jsonl", "--id-field", "id")
    _, group = lines(ended)
    ended.out.decode("utf-8")
    assert [each["id"] for each in group["members"]] == [
        *(7, None, {"\\ud800": ["NaN", 1.5]}, "\x1b[31m")
    ]
    shown = run("corpus", "scan", "rows.jsonl", "--id-field", "id", "--format", "text").out
    assert b"\x1b" not in shown
    assert b"\\x1b[31m  (rows.jsonl:4)" in shown


@pytest.mark.parametrize(
    ("called", "shown"),
    [(True, "true"), (None, "null"), ({"a": [1.5]}, '{"a": [1.5]}'), ("a b", "a b"), (7, "7")],
)
def test_ids_in_tables_and_texts_are_as_in_json(run, write, called, shown):
    write("rows.jsonl", (json.dumps({"id": called, "text": TEXTS["a"]}) + "\n") * 2)
    options = ("corpus", "scan", "rows.jsonl", "--id-field", "id", "--format")

    table = list(csv.DictReader(run(*options, "csv").out.decode().splitlines()))
    assert [row["id"] for row in table] == [shown, shown]
    assert f" {shown}  (rows.jsonl:1)" in run(*options, "text").out.decode()


def test_rows_that_lack_an_id_are_named_by_file_and_line_and_counted(run, write):
    text = TEXTS["a"]
    found = [{"text": text}, {"text": text, "id": None}, {"text": text, "id": "x"}]
    write("rows.jsonl", "".join(json.dumps(each) + "\n" for each in found))

    ended = run("corpus", "scan", "rows.jsonl", "--id-field", "id")
    _, group = lines(ended)
    assert [each["id"] for each in group["members"]] == ["rows.jsonl:1", None, "x"]
    assert ended.err.decode().splitlines()[0] == (
        "simdup: 1 row of groups without a field 'id'; reports name such a row by its file and"
        " number"
    )
    assert run("corpus", "scan", "rows.jsonl", "--id-field", "id", "-q").err == b""


def test_exit_codes_and_distances_without_ids(run, rows, write):
    write("alone.jsonl", ROWS.splitlines()[2])

    bare = run("corpus", "scan", rows, "-k", "64", "--fail-on-found")
    assert (bare.code, run("corpus", "scan", "alone.jsonl", "--fail-on-found").code) == (1, 0)
    members = lines(bare)[1]["members"]
    assert {each["similarity"] for each in members} == {None}
    assert [each["id"] for each in members] == [f"rows.jsonl:{row}" for row in (1, 4, 2)]
    assert b"~100 %" in run("corpus", "scan", rows, "--format", "text", "-k", "64").out


@pytest.mark.parametrize(
    ("called", "shown"),
    [
        (date(2024, 2, 29), "2024-02-29"),
        (
            {"of": [date(2024, 2, 29), None], "by": b"\xff\x00"},
            {"of": ["2024-02-29", None], "by": "ff00"},
        ),
        ([Decimal("1.50")], ["1.50"]),
        (math.nan, "NaN"),
        ([-math.inf, 0.5], ["-Infinity", 0.5]),
    ],
)
def test_ids_that_json_cannot_express_are_text(run, pa, called, shown):
    pa.parquet.write_table(pa.table({"id": [called] * 2, "text": [TEXTS["a"]] * 2}), "rows.parquet")

    ended = run("corpus", "scan", "rows.parquet", "--id-field", "id")
    _, group = (json.loads(line, parse_constant=pytest.fail) for line in ended.out.splitlines())
    assert [each["id"] for each in group["members"]] == [shown, shown]


def test_groups_as_text(run, rows):
    ended = run("corpus", "scan", rows, "--id-field", "url", "--format", "text")

    first, *others = ended.out.decode().splitlines()
    assert first.startswith("Group 1: near, 3 rows, at most ")
    assert others[0].split()[:5] == ["a", "(rows.jsonl:1)", "one", "two", "three"]
    assert others[1].split()[:6] == ["100", "%", "text", "d", "(rows.jsonl:4)", "one"]
    assert others[2].split()[:2] == ["95.4", "%"]


def test_groups_as_csv(run, rows):
    table = list(
        csv.DictReader(run("corpus", "scan", rows, "--format", "csv").out.decode().splitlines())
    )

    assert [row["row"] for row in table] == ["1", "4", "2"]
    assert [row["representative"] for row in table] == ["1", "0", "0"]
    assert set(table[0]) == {
        *("group", "kind", "representative", "similarity", "own_share", "distance"),
        *("id", "path", "row"),
    }
    assert [row["own_share"] for row in table] == ["1.000000"] * 3


def test_pairs_that_were_set_aside_as_siblings_are_counted(run, write):
    """Twelve forms share more than half of their words, and one of them has a version."""
    form = " ".join(f"form{place}" for place in range(100))
    texts = [f"{form} " + " ".join(f"n{n}x{place}" for place in range(60)) for n in range(12)]
    texts.append(texts[0].replace("n0x30", "another"))
    rows = write("forms.jsonl", "".join(json.dumps({"text": text}) + "\n" for text in texts))

    ended = run("corpus", "scan", rows)
    header, group = lines(ended)
    own_shares = [each["own_share"] for each in group["members"]]
    assert [each["row"] for each in group["members"]] == [1, 13]
    assert own_shares[0] == 1
    assert 0.9 < own_shares[1] < 1
    # All pairs of 13 texts but one.
    assert header["stats"]["siblings"] == 77
    said = b"set aside 77 pairs of one pattern\n"
    assert said in ended.err
    assert b"sibling" not in run("corpus", "scan", rows, "-k", "40").err


def test_the_name_of_a_file_may_be_any_bytes(run, write):
    name = b"\xff\n.jsonl"
    write(name, ROWS + "{\n")

    ended = run("corpus", "scan", name)
    header, *_, flaw = lines(ended)
    assert header["files"][0]["path_base64"] == flaw["path_base64"] == "/wouanNvbmw="
    assert b"simdup: \\xff\\n.jsonl:6: broken row" in ended.err
    assert b"\\xff\\n.jsonl" in run("corpus", "scan", name, "--format", "csv").out


# What is said besides


def test_every_row_is_accounted_for_and_each_flaw_has_its_place(run, write):
    write("rows.jsonl", ROWS + BROKEN)

    ended = run("corpus", "scan", "rows.jsonl")
    assert ended.code == 3
    assert run("corpus", "scan", "rows.jsonl", "-q", "-o", "out").err == b""
    said = ended.err.decode().splitlines()
    assert said[:3] == [
        "simdup: rows.jsonl:7: no text field (there are: url; --text-field names another); refused",
        "simdup: rows.jsonl:6: broken row (Expecting ':' delimiter at column 20); refused",
        "simdup: rows.jsonl:5: nothing to compare (no letter or digit); kept, not compared",
    ]
    assert said[3].startswith("1 group of 3 rows in ")
    assert said[4] == (
        "7 rows in = 5 read (1 nothing to compare) + 2 refused (1 broken row, 1 no text field)"
    )


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("a.jsonl", "a.jsonl:1 and 1,233 more rows: no text field (there are: id, text"),
        ("a.csv", "'a.csv': no column 'body'; there are: id, text"),
        ("a.parquet", "'a.parquet': no column 'body'; there are: id, text"),
    ],
)
def test_rows_without_the_text_field_are_one_refusal(run, write, name, said, request):
    if name == "a.parquet":
        pa = request.getfixturevalue("pa")
        pa.parquet.write_table(pa.table({"id": [1], "text": ["a"]}), name)
    else:
        write(name, "id,text\n1,a\n" if name == "a.csv" else '{"id": 1, "text": "a"}\n' * 1234)

    ended = run("corpus", "scan", name, "--text-field", "body")
    first, *others = ended.err.decode().splitlines()
    assert first.startswith(f"simdup: {said}; --text-field names another")
    assert not any(line.startswith("simdup: ") for line in others)


def test_ten_places_are_shown_and_the_others_counted(run, write):
    write("rows.jsonl", "{\n" * 1234 + '{"text": ""}\n' * 11)

    said = run("corpus", "scan", "rows.jsonl").err.decode().splitlines()
    assert [line.partition(": broken")[0] for line in said[:10]] == [
        f"simdup: rows.jsonl:{n}" for n in range(1, 11)
    ]
    assert said[10] == "simdup: and 1,224 more refused"
    assert said[11].startswith("simdup: rows.jsonl:1235: nothing to compare")
    assert said[21] == "simdup: and 1 more kept, not compared"
    assert said[23].startswith("1,245 rows in = 11 read (11 nothing to compare) + 1,234")


# Rows that stay


@pytest.mark.parametrize(("keep", "kept"), [("first", 2), ("longest", 1), ("representative", 1)])
def test_the_summary_counts_the_rows_that_were_dropped(run, write, keep, kept):
    # Both ends of the middle one are like it, and not like each other.
    words = [f"w{place}" for place in range(120)]
    texts = [" ".join(each) for each in (words[:95], words, words[25:])]
    write("a.jsonl", "".join(json.dumps({"text": text}) + "\n" for text in texts))

    ended = run(
        "corpus", "scan", "a.jsonl", "--similarity", "0.85", "--keep", keep, "-o", "b.jsonl"
    )
    assert ended.code == 0
    assert f"3 rows in = {kept} kept + {3 - kept} dropped + 0 refused" in ended.err.decode()
    assert len(Path("b.jsonl").read_text("utf-8").splitlines()) == kept


def test_rows_are_dropped_from_80_percent_on_and_the_least_similar_ones_are_shown(run, write):
    words = [f"w{place}" for place in range(120)]
    texts = [*(" ".join(words[:end]) for end in (120, 119, 112, 105, 100)), " ".join(words[:50])]
    write("a.jsonl", "".join(json.dumps({"text": text}) + "\n" for text in texts))

    ended = run("corpus", "scan", "a.jsonl", "--keep", "longest", "-o", "b.jsonl")

    first, *shown = ended.err.decode().splitlines()[:4]
    assert first.startswith("rows at least 80.0 % like a kept row were dropped; the least ")
    assert first.endswith(" one is 91.2 % like it")
    places = ["a.jsonl:3 (like a.jsonl:1)", "a.jsonl:4 (like a.jsonl:1)"]
    assert [each.split("  ")[2] for each in shown] == [*places, "a.jsonl:5 (like a.jsonl:1)"]
    assert all("  w0 w1 w2 w3 w4 " in each and each.endswith("…") for each in shown)
    assert "6 rows in = 2 kept + 4 dropped" in ended.err.decode()


def test_without_keep_nothing_is_dropped_and_a_line_says_how_many_rows_would_be(run, write):
    words = [f"w{place}" for place in range(120)]
    texts = [
        words,
        words,
        words[:119],
        words[:112],
        words[:50],
        [f"v{place}" for place in range(9)],
    ]
    write("a.jsonl", "".join(json.dumps({"text": " ".join(each)}) + "\n" for each in texts))

    scanned = run("corpus", "scan", "a.jsonl").err.decode()
    kept = run("corpus", "scan", "a.jsonl", "--keep", "first", "-o", "b.jsonl").err.decode()

    assert "6 rows in = 6 read + 0 refused" in scanned
    assert "no row was dropped: --keep first would drop about 3 rows (at least 80.0 %" in scanned
    assert "+ 3 dropped +" in kept


def test_several_files_are_one_corpus(run, rows, write):
    write("more.jsonl.gz", gzip.compress(ROWS.encode()))

    run("corpus", "scan", rows, "more.jsonl.gz", "--keep", "first", "-o", "clean.jsonl.gz")
    kept = gzip.decompress(Path("clean.jsonl.gz").read_bytes()).decode().splitlines()
    assert [json.loads(line)["url"] for line in kept] == ["a", "c", "e", "e"]


def test_the_old_file_stays_when_something_goes_wrong(run, rows, write, monkeypatch):
    write("clean.jsonl", "old")

    def failing(*_):
        yield b"new"
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("simdup.corpus.rewrite.without", failing)
    ended = run("corpus", "scan", rows, "--keep", "first", "-o", "clean.jsonl")
    assert ended.code == 2
    assert ended.err.endswith(b"No space left on device\n")
    assert Path("clean.jsonl").read_text("utf-8") == "old"
    assert sorted(os.listdir()) == ["clean.jsonl", "rows.jsonl"]


# The page


@pytest.mark.parametrize("packed", [bytes, gzip.compress])
def test_a_page_has_groups_of_rows_with_their_ids_and_texts(run, write, packed):
    name = "rows.jsonl" if packed is bytes else "rows.jsonl.gz"
    write(name, packed((ROWS + BROKEN).encode()))

    ended = run("corpus", "scan", name, "--id-field", "url", "--html", "p.html", "--lang", "zh")

    assert ended.code == 3
    assert len(lines(ended)) == 5
    data = data_in()
    ((number, kind, members, sets, _, _, more),) = data["groups"]
    assert (number, kind, sets, more) == (1, "near", [[1, 1], [1]], 0)
    assert [(each[1], each[-1]) for each in members] == [("1", "a"), ("4", "d"), ("2", "b")]
    assert [each[2] for each in members] == [len(TEXTS[each]) for each in "adb"]
    assert data["folders"] == data["places"] == [name]
    assert data["skips"] == {"broken row": 1, "no text field": 1, "nothing to compare": 1}
    assert f"{name}:6" in [place for place, *_ in data["skipped"]]
    assert data["beginnings"] == {"1": TEXTS["a"][:100]}
    assert (data["language"], data["moreGroups"], data["leftOut"]) == ("zh", 0, 0)
    assert texts() == {"texts": [TEXTS["a"], TEXTS["b"]], "cut": [0, 0], "found": [0, 0, 1]}


def test_a_page_separates_the_fields_of_records(run, write):
    rows = [{"title": f"title {n}", "body": f"{COUNTED} {n}"} for n in ("one", "two")]
    write("rows.jsonl", "".join(json.dumps(row) + "\n" for row in rows))

    run("corpus", "scan", "rows.jsonl", "--text-field", "title,body", "--html", "p.html")

    assert texts()["texts"] == [f"title {n}\n\n{COUNTED} {n}" for n in ("one", "two")]


@pytest.mark.usefixtures("rows")
def test_a_page_of_rows_without_texts(run):
    run("corpus", "scan", "rows.jsonl", "--html", "p.html", "--html-texts", "none")

    data = data_in()
    assert sorted(scripts()) == ["data", "script", "style"]
    assert (data["texts"], data["beginnings"]) == (False, {})
    assert [len(each) for each in data["groups"][0][2]] == [15, 15, 15]
