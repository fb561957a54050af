"""Files that are alike by nature are compared for identity only."""

from __future__ import annotations

import gzip
import json
import os
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdup import Filters, Index, Settings, Store, scan
from simdup.findings.noise import BY_NAME, kind_of
from simdup.records import Document, Source
from simdup.report.json_csv import render_json
from simdup.report.load import load
from simdup.text.noise import NUMBERS, REDIRECTION, is_numbers, is_redirection


def grouped(result):
    return [sorted(member.document.path for member in group.members) for group in result.groups]


@pytest.fixture
def edited(write, english):
    """`edited(name, text)`: writes two near-duplicates and a copy, in folders, by one name."""

    def writing(name, text=english):
        write(f"in/one/{name}", text)
        write(f"in/two/{name}", text)
        write(f"in/near/{name}", text.replace("grey", "white"))

    return writing


LETTER = (
    "Dear aunt, the grey cat has come back and sleeps on the stove again all day long. "
    "We were at the lake on Sunday, where grey geese swam beside our boat until it rained."
)

SAMPLES = [
    ("lock file", "poetry.lock"),
    ("lock file", "package-lock.json"),
    ("minified file", "jquery.min.js"),
    ("SVG image", "logo.svg"),
    ("translation", "de.po"),
    ("package metadata file", "six-1.16.dist-info/METADATA"),
    ("package metadata file", "six.egg-info/PKG-INFO"),
]


@pytest.mark.parametrize("name", ["logo.svg.gz", "logo.svgz", "poetry.lock.gz"])
def test_a_packed_file_is_of_the_kind_of_what_is_packed_in_it(write, english, name):
    for folder, text in (("one", english), ("two", english), ("near", english[:-40])):
        write(f"in/{folder}/{name}", gzip.compress(text.encode(), mtime=0))

    assert grouped(scan("in")) == [[f"in/one/{name}", f"in/two/{name}"]]


def test_names_are_known_behind_the_separator_of_the_system(monkeypatch):
    monkeypatch.setattr(os, "sep", "\\")
    source = Source("C:\\six-1.16.dist-info\\RECORD", 1, 0, 0, 0, 0)
    document = Document(source, "utf-8", 1, 0, 9, b"", b"", b"")
    archived = document._replace(source=source._replace(path="C:\\all.zip!/web/yarn.lock"))

    assert (kind_of(document), kind_of(archived)) == ("package metadata file", "lock file")


@pytest.mark.parametrize(("kind", "name"), SAMPLES)
def test_a_file_of_a_named_kind_is_grouped_with_its_copies_alone(edited, kind, name):
    edited(name)
    edited("letter.txt", LETTER)

    result = scan("in")

    assert [f"in/one/{name}", f"in/two/{name}"] in grouped(result)
    assert not any(f"in/near/{name}" in group for group in grouped(result))
    assert any("in/near/letter.txt" in group for group in grouped(result))
    assert result.stats.identity_only == ((kind, 3),)


def test_every_kind_has_a_sample():
    assert {kind for kind, _ in SAMPLES} == set(BY_NAME)


@pytest.mark.parametrize(
    "name", ["app.js", "lock.py", "module.c", "page.html", "METADATA", "a.txt"]
)
def test_source_code_and_prose_are_compared_in_full(edited, name):
    edited(name)

    assert grouped(scan("in")) == [[f"in/{folder}/{name}" for folder in ("near", "one", "two")]]


def test_noise_compares_them_in_full(edited):
    edited("logo.svg")

    result = scan("in", filters=Filters(noise=True))

    assert len(result.groups[0].members) == 3
    assert result.stats.identity_only == ()


def test_what_the_user_names_is_compared_in_full(edited):
    edited("logo.svg")
    files = [f"in/{folder}/logo.svg" for folder in ("one", "near")]

    assert len(scan(files).groups) == 1
    assert len(scan(files, are_files=True).groups) == 1
    assert len(scan("in/one", against="in/near").groups) == 0


def test_a_copy_under_another_name_is_never_apart(write, english):
    write("in/a.svg", english)
    write("in/b.svg.bak", english)
    write("in/c.svg", english.replace("grey", "white"))

    result = scan("in")

    assert grouped(result) == [["in/a.svg", "in/b.svg.bak"]]
    assert result.stats.identity_only == (("SVG image", 1),)


def test_copies_in_another_encoding_are_identical_text(write, english):
    write("in/a.svg", english)
    write("in/b.svg", english.encode("utf-16"))

    (group,) = scan("in").groups

    assert [member.kind.value for member in group.members] == ["identical bytes", "identical text"]


def test_texts_with_equal_features_that_differ_are_no_copies(write, english):
    write("in/a.svg", english)
    write("in/b.svg", english.replace(" ", "  "))

    assert scan("in").groups == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 2 3\n4 5 6\n", True),
        ("-1.5e-05,2E10,nan,inf\n" * 9, True),
        ("x,y\n" + "12345,67890\n" * 20, True),
        ("x,y\n12345,67890\n", False),
        ("12 eggs, 250 g flour", False),
        ("三百二十五 325 325 325 325 325 325", False),
        ("", False),
        ("...", False),
        ("12345 67890 abcdefgh " * 900, False),
        ("abcdefghij" * 3 + "12345,67890\n" * 140, False),
        ("1234567890" * 7 + "abcdefghij" * 3 + "1234567890" * 143, True),
        ("1,2,nan," + "1234567," * 11, True),
        ("1," * 64 + "nan,1e-05," * 200, True),
    ],
)
def test_numbers_are_numbers_alone_or_below_a_short_heading(text, expected):
    assert is_numbers(text) is expected


@given(
    st.lists(st.sampled_from(["17", "5e-7", "2E8", "nan", "INF", "e", "x", ", ", "_", "\n"])),
    st.sampled_from([0, 700, 4000, 70_000]),
)
@pytest.mark.parametrize("sign", ["", "é", "٣"])
def test_letters_and_digits_are_counted_alike_in_bytes_and_in_characters(sign, parts, digits):
    text = "".join(("7" * digits, *parts, ".", sign))
    numeric = re.sub(r"(?<=\d)e(?=[-+]?\d)|\b(nan|inf)\b", "", text, flags=re.IGNORECASE)
    letters, digits = sum(map(str.isalpha, numeric)), sum(map(str.isdecimal, text))

    assert is_numbers(text) == (letters * 50 <= digits > 0)


def test_tables_of_numbers_are_told_by_their_content(write):
    table = "\n".join(f"{n},{n * 7919 % 1000},{n * n}" for n in range(200))
    write("in/a.csv", table)
    write("in/b.csv", table)
    write("in/c.csv", table.replace("49,", "50,"))

    result = scan("in")

    assert grouped(result) == [["in/a.csv", "in/b.csv"]]
    assert result.stats.identity_only == (("numeric file", 3),)


REDIRECTED = '<html><head><meta http-equiv="refresh" content="0; url={}.html"></head><body>Moved.'


def test_redirections_are_short_and_lead_elsewhere():
    page = REDIRECTED.format("new").encode()

    assert is_redirection(page)
    assert is_redirection(b".. meta::\n  :http-equiv=refresh: 3; url=../cli/\n\nThis has moved")
    assert not is_redirection(page + b"word " * 500)
    assert not is_redirection(b'<meta http-equiv="content-type" content="text/html">url=')


def test_a_store_remembers_what_content_shows(write, tmp_path):
    for folder in "abc":
        write(f"in/{folder}/old.html", REDIRECTED.format(folder) + " This page is elsewhere now.")
        write(f"in/{folder}/numbers.csv", "\n".join(map(str, range(100))) + folder * 1)
    messages = []
    found = []
    for _ in range(2):
        store = Store(tmp_path / "store", messages.append)
        found.append(scan("in", store=store))
        store.close()

    assert found[0].stats.identity_only == ((NUMBERS, 3), (REDIRECTION, 3))
    assert found[1].stats.identity_only == found[0].stats.identity_only
    assert not messages


def test_an_index_groups_as_a_scan_does(edited):
    edited("logo.svg")
    edited("letter.txt", LETTER)

    with Index.create("x.simdup", Settings()) as index:
        index.add(os.path.abspath("in"))
        found = index.scan()

    assert grouped(found) == grouped(scan(os.path.abspath("in")))
    assert found.stats.identity_only == (("SVG image", 3),)


def test_the_summary_names_the_kinds_and_a_saved_result_keeps_them(edited, run):
    edited("logo.svg")
    edited("yarn.lock")
    edited("de.po")

    ended = run("scan", "in", "--format", "json")

    assert (
        "compared for identity only: 3 SVG images, 3 lock files, 3 translations"
        " (--noise compares them in full)\n" in ended.err.decode()
    )
    kinds = json.loads(ended.out)["stats"]["identity_only"]
    assert kinds == {"SVG image": 3, "lock file": 3, "translation": 3}
    assert load(ended.out, "it").stats.identity_only == tuple(kinds.items())


def test_folders_of_copies_count_what_is_compared_for_identity_only(edited):
    for number in range(4):
        edited(f"{number}.svg", f"{number} and more numbers. " * 9 + "a grey seal in the sea")

    result = scan("in")

    (pair,) = result.folders
    assert (pair.path, pair.other, pair.copies, pair.identical) == ("in/two", "in/one", 4, 4)
    assert json.loads("".join(render_json(result)))["folders"][0]["copies"] == 4
