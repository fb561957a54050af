"""`simdup compare` as a user sees it: what it says of two files, and how it exits."""

from __future__ import annotations

import json
import re

import pytest
from conftest import filled_form

from simdup.report.wording import percent
from simdup.settings import OWN_SHARE

SHORT = "one two three four five six seven eight"


@pytest.fixture
def compared(run):
    """`compared(*arguments)`: the JSON of a comparison."""

    def comparing(*arguments):
        ended = run("compare", *arguments, "--format", "json")
        assert ended.err == b""
        found = json.loads(ended.out)
        assert ended.code == (0 if found["near_duplicates"] else 1)
        return found

    return comparing


def verdict(ended):
    return ended.out.decode().splitlines()[0]


def numbered(count, beyond=""):
    """Words with numbers up to 31, of which those after the first `count` are others."""
    return " ".join(f"w{place}{beyond if place >= count else ''}" for place in range(31))


def test_worked_by_hand(run, write):
    write("a", numbered(31))
    write("b", numbered(21, "x"))

    ended = run("compare", "a", "b")

    # Of 30 shingles the first 20 are in both: 2 / 3.
    assert (ended.code, ended.err) == (0, b"")
    assert ended.out.decode().splitlines() == [
        "verdict      related texts: alike, but perhaps just two of a series",
        "contained    66.6 % of a is in b",
        "             66.6 % of b is in a",
        "other numbers: w21 / w21x, 9 more",
        "a: utf-8 (100 % sure), 113 B, 30 features",
        "b: utf-8 (100 % sure), 123 B, 30 features",
        "compared alone; --among FOLDER takes other files into account",
    ]


def test_verbose_adds_the_distance_to_a_text_and_nothing_to_json(run, write, english):
    write("a", english)
    write("b", english.replace("grey", "white"))
    plain, verbose = run("compare", "a", "b"), run("compare", "a", "b", "-v")

    assert b"distance" not in plain.out
    assert b"\ndistance     " in verbose.out
    asked = ("compare", "a", "b", "--format", "json")
    assert run(*asked, "--verbose") == run(*asked)


def test_copies_are_copies_whatever_other_files_share_their_wording(run, write, english):
    write("a", english)
    write("b", english)

    assert b"own share" not in run("compare", "a", "b").out


def test_k_decides_by_distance(run, write, english):
    write("a", english)
    write("b", english.replace("grey", "white"))

    within, beyond = run("compare", "a", "b", "-k", "20"), run("compare", "a", "b", "-k", "0")

    assert (within.code, beyond.code) == (0, 1)
    assert verdict(within) == "verdict      near (within 20 bits)"
    assert verdict(beyond) == "verdict      neither near nor related (not within 0 bits)"


@pytest.mark.parametrize(("names", "changed"), [
    (("a", "b"), 3),
    (("a", "b"), 60),
    (("plan draft.txt", "plan final.txt"), 60),
])  # fmt: skip
def test_two_files_get_the_score_and_the_tier_that_a_scan_gives_them(
    run, compared, write, names, changed
):
    words = [f"word{number}" for number in range(200)]
    write(f"in/{names[0]}", " ".join(words))
    write(f"in/{names[1]}", " ".join([f"new{at}" for at in range(changed)] + words[changed:]))

    found = compared(*(f"in/{name}" for name in names))

    (group,) = json.loads(run("scan", "in", "--format", "json").out)["groups"]
    assert (found["score"], found["tier"]) == (group["score"], group["tier"])
    is_near = changed == 3 or "draft" in names[0]
    assert found["tier"] == ("near" if is_near else "related")


def test_the_similarity_threshold_decides_the_exit_code(run, write):
    write("a", numbered(31))
    write("b", numbered(21, "x"))

    assert run("compare", "a", "b", "--similarity", "0.66").code == 0
    assert run("compare", "a", "b", "--similarity", "0.67").code == 1


# Differences


def test_diff_folds_long_runs(run, write, english):
    write("a", english)
    write("b", english + "".join(f"Sentence {number} is new.\n" for number in range(1, 51)))

    lines = run("compare", "a", "b", "--diff").out.decode().splitlines()

    added = [line for line in lines if line.startswith("+") and not line.startswith("+++")]
    assert added[0] == "+ 2 Sentence 1 is new."
    assert added[-2:] == ["+13 Sentence 12 is new.", "+... 38 more lines"]
    assert len(added) == 13


# Among other files


@pytest.fixture
def forms(write):
    """Ten forms of one template, and a later version of one of them."""
    for number in range(10):
        write(f"forms/{number}", filled_form(number))
    write("forms/version of 3", filled_form(3, edits=20))


@pytest.mark.usefixtures("forms")
def test_forms_are_near_duplicates_only_if_no_others_are_seen(run):
    alone = run("compare", "forms/1", "forms/2")
    among = run("compare", "forms/1", "forms/2", "--among", "forms")

    assert (alone.code, among.code, among.err) == (0, 1, b"")
    assert b"\ncompared alone; --among FOLDER " in alone.out
    lines = among.out.decode().splitlines()
    assert lines[0] == (
        "verdict      neither near nor related"
        f" (same pattern: own share below {percent(OWN_SHARE)})"
    )
    assert re.fullmatch(
        r"own share    4\d\.\d % among 11 files:"
        r" 69\.8 % alike; nearly all of the common wording is also in 9 other files",
        lines[3],
    )


@pytest.mark.parametrize("copies", [0, 1, 3])
def test_files_that_have_the_common_wording_are_counted_even_if_they_are_one_family(
    run, compared, write, copies
):
    common = " ".join(f"c{place}" for place in range(81))
    write("a", common + " " + " ".join(f"a{place}" for place in range(9)))
    write("b", common + " " + " ".join(f"b{place}" for place in range(9)))
    write("in/unrelated", " ".join(f"u{place}" for place in range(90)))
    for copy in range(copies):
        write(f"in/copy {copy}", f"{common} {copy}")

    words = run("compare", "a", "b", "--among", "in").out.decode().splitlines()[3]

    expected = {
        0: "the common wording is in no other file",
        1: "nearly all of the common wording is also in 1 other file",
        3: "nearly all of the common wording is also in 3 other files",
    }[copies]
    assert words.partition("; ")[2] == expected
    assert compared("a", "b", "--among", "in")["in_others"] == {
        "nearly_all": copies,
        "half": copies,
        "most": float(copies > 0),
    }


def test_a_file_with_some_of_the_common_wording_is_said_to_have_so_much(compared, write):
    words = [f"c{place}" for place in range(101)]
    write("a", " ".join([*words, "one"]))
    write("b", " ".join([*words, "two"]))
    write("in/half", " ".join(words[:61]))
    write("in/less", " ".join(words[:21]))

    found = compared("a", "b", "--among", "in")["in_others"]

    # The two share 100 pairs of words, of which the others have 60 and 20.
    assert found == {"nearly_all": 0, "half": 1, "most": 0.6}
    assert compared("a", "b")["in_others"] is None


def test_what_two_files_have_alone_is_named(run, compared, write):
    words = " ".join(f"word{chr(97 + place)}" for place in range(26)) * 4
    write("a", f"Due 412.50 on 3 May 2025. {words}")
    write("b", f"Due 397.10 on 3 May 2025. {words} Page 2.")
    write("c", f"Due 412.50 on 3 May 2025. {words}!")

    for options in ([], ["--diff"]):
        lines = run("compare", "a", "b", *options).out.decode().splitlines()
        assert lines[3] == "other numbers: 412.50 / 397.10, 1 more"
        assert b"other numbers" not in run("compare", "a", "c", *options).out
    assert compared("a", "b")["other_facts"] == [["412.50"], ["397.10", "2"]]
    assert compared("a", "c")["other_facts"] == [[], []]


@pytest.mark.usefixtures("forms")
def test_versions_of_a_form_are_near_duplicates_among_the_files_of_all_folders(
    run, compared, write
):
    write("more/form", filled_form(77))
    files = "forms/3", "forms/version of 3", "--among", "forms", "--among", "more"

    found = compared(*files)

    assert (found["among"], found["near_duplicates"], found["kind"]) == (12, True, "near")
    assert 0.8 < found["own_share"] < 0.95
    assert compared(*files[:2])["own_share"] is None
    assert run("compare", *files, "--own-share", "80%").code == 0
    assert run("compare", *files, "--own-share", "95%").code == 1


# Exits


def test_an_unreadable_file_exits_with_2(run, write, english, refused):
    write("a", english)
    write("b", english)
    refused("b")

    ended = run("compare", "a", "b")

    assert (ended.code, ended.out) == (2, b"")
    assert ended.err == b"simdup: 'b': unreadable (Permission denied)\n"


def test_a_forced_encoding_reads_both_files(compared, write):
    write("a", "Ärger über Öl und noch mehr Worte dahinter".encode("latin-1"))
    write("b", "Ärger über Öl und noch mehr Worte dahinter".encode("latin-1") + b"!")

    found = compared("a", "b", "--encoding", "latin-1")

    assert [each["encoding"] for each in found["files"]] == ["windows-1252", "windows-1252"]
    assert found["similarity"] == 1
