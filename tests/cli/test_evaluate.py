"""`simdup evaluate` as a user sees it: figures by recipe and size, and how it exits."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import sys
from pathlib import Path

import pytest
from reports import data_in

from simdup.evaluation.metrics import MEASURES

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("few_resamples")]

ROW = {"features", "hash", "bits", "recipe", "without_features"}
FIGURES = ("default", "best", "predicted", "cosine", "verified", "near")


@pytest.fixture
def labels(write, english, simplified, traditional):
    """A small table of pairs of several kinds."""
    write("a", english)
    write("a2", english.replace("grey", "white").replace("widow", "baker"))
    write("a3", english[:500] + "The rest was lost in the flood, together with both ledgers.")
    write("b", simplified)
    write("b2", simplified.replace("四十多只钟", "五十几座钟"))
    write("c", traditional)
    lines = [
        "left,right,duplicate,kind",
        "a,a2,1,edited",
        "b,b2,1,改写",
        "a,b,0,unrelated",
        "b,c,0,unrelated",
        "a2,c,0,unrelated",
        "a,a3,,cut",
    ]
    return write("pairs.csv", "\n".join(lines) + "\n")


@pytest.fixture
def clusters(labels, write):  # noqa: ARG001 (its texts)
    """A small table of files and their clusters."""
    return write("clusters.csv", "path,cluster\na,1\na2,1\na3,1\nb,2\nb2,2\nc,3\n")


@pytest.fixture
def evaluated(run, labels):
    """`evaluated(*arguments)`: the JSON of an evaluation of the small table."""

    def evaluating(*arguments):
        table = () if "--all-pairs" in arguments else ("--pairs", labels)
        ended = run("evaluate", *table, *arguments, "--format", "json")
        assert ended.code == 0, ended.err.decode()
        return json.loads(ended.out)

    return evaluating


@pytest.fixture
def no_work(monkeypatch):
    """Fails the test if anything is evaluated."""

    def evaluating(*_, **__):
        pytest.fail("evaluated before the refusal")

    monkeypatch.setattr("simdup.evaluate", evaluating)


def table_of(out):
    return list(csv.DictReader(io.StringIO(out.decode())))


def squeezed(out):
    """Lines without what aligns them."""
    return [" ".join(line.split()) for line in out.decode().splitlines()]


# The table


def test_the_report_counts_texts_and_pairs(run, labels, write):
    write("signs", "...!?")
    with open(labels, "a", encoding="utf-8") as file:
        file.write("a2,a,1,edited\nsigns,a,0,signs\n")

    lines = run("evaluate", "--pairs", labels, "--bits", "64", "--draws", "2").out.decode()

    assert lines.splitlines()[:6] == [
        "pairs.csv: 7 texts; 2 pairs of duplicates, 4 of others, 1 only reported",
        "1 line repeated an earlier pair and did not count",
        "means over 2 independent fingerprints of every text",
        "in brackets: intervals of 95 %, from resampling the texts",
        "",
        "shingles of 2 tokens, hash mix64",
    ]
    assert lines.splitlines()[6] == ("1 text without a feature: no pair with one is ever found")
    assert "\n改写 " in lines
    assert "\nonly reported found, %" in lines


def test_the_report_shows_the_thresholds_that_were_given(run, labels):
    bare = run("evaluate", "--pairs", labels, "--bits", "64,128", "-k", "7").out.decode()
    alike = run("evaluate", "--pairs", labels, "--bits", "64", "-s", "0.9").out.decode()

    assert re.findall(r"^ +(\d+)  k = (\d+) ", bare, re.MULTILINE) == [("64", "7"), ("128", "7")]
    assert re.search(r"^ +64  k = 9 ", alike, re.MULTILINE)
    assert re.search(r"^ +cosine, 0\.9 ", alike, re.MULTILINE)


def test_the_own_share_is_the_one_that_was_given(run, labels, evaluated):
    out = run("evaluate", "--pairs", labels, "--bits", "64", "--own-share", "75%").out.decode()
    (row,) = evaluated("--bits", "64", "--own-share", "0")["rows"]

    assert re.search(r"^ +own share, 0\.75 +[\d.]+ ", out, re.MULTILINE)
    assert row["verified"]["own_share"] == 0


def test_all_pairs_measure_the_groups_too(run, clusters):
    out = run("evaluate", "--all-pairs", clusters, "--bits", "128").out.decode()

    assert out.startswith("clusters.csv: 6 texts; 4 pairs of duplicates, 11 of others\n")
    assert re.search(r"^ +groups, bare .* Rand index [\d.]+$", out, re.MULTILINE)
    assert re.search(r"^ +groups, verified.* Rand index 1\.000$", out, re.MULTILINE)
    assert re.search(r"^same cluster +4 ", out, re.MULTILINE)
    assert re.search(r"^different clusters +11 ", out, re.MULTILINE)


def test_recommendations_are_shown(run, labels):
    asked = run("evaluate", "--pairs", labels, "--bits", "128", "--recommend")
    exact = run("evaluate", "--pairs", labels, "--bits", "128", "--recommend", "--precision", "0.9")

    for ended, precision in ((asked, "0.99"), (exact, "0.9")):
        out = ended.out.decode()
        assert re.search(r"^ +use k = \d+ +1\.000 ", out, re.MULTILINE)
        assert re.search(
            rf"^ +verified: --similarity 0\.\d\d? keeps precision {re.escape(precision)}"
            " on these labels$",
            out,
            re.MULTILINE,
        )


def test_a_precision_that_no_threshold_reaches_is_reported(run, write, english, simplified):
    write("a", english)
    write("b", english)
    write("c", simplified)
    write("d", simplified)
    write("pairs.csv", "left,right,duplicate\na,b,1\nc,d,0\n")

    ended = run("evaluate", "--pairs", "pairs.csv", "--bits", "64", "--recommend")

    lines = squeezed(ended.out)
    assert "precision 0.99: no k has it" in lines
    assert "no similarity has precision 0.99 when verified" in lines


# JSON and CSV


def test_json_has_each_kind_at_each_size(evaluated):
    found = evaluated("--bits", "16,128")

    kinds = [("edited", True, 1), ("改写", True, 1), ("unrelated", False, 3), ("cut", None, 1)]
    assert [(k["kind"], k["duplicate"], k["pairs"], k["bits"]) for k in found["kinds"]] == [
        (*kind, bits) for bits in (16, 128) for kind in kinds
    ]
    for kind in found["kinds"]:
        assert kind.keys() == {
            *("kind", "duplicate", "pairs", "features", "hash", "bits"),
            *("found", "found_cosine", "found_verified"),
        }
        assert 0 <= kind["found"] <= kind["pairs"]
    assert [kind["found"] for kind in found["kinds"][4:7]] == [1, 1, 0]
    assert [kind["found_verified"] for kind in found["kinds"][4:]] == [1, 1, 0, 1]


def test_json_has_more_when_more_is_asked_for(evaluated, clusters):
    (row,) = evaluated("--bits", "64", "--curve", "--recommend", "--all-pairs", clusters)["rows"]

    assert row.keys() == {*ROW, *FIGURES, "groups", "recommended", "curve"}
    assert row["groups"].keys() == {"bare", "verified"}
    for scores in row["groups"].values():
        assert scores.keys() == {"precision", "recall", "f1", "adjusted_rand_index"}
    assert row["groups"]["verified"]["adjusted_rand_index"] == 1
    assert row["recommended"].keys() == {"precision", "k", "similarity"}
    assert row["recommended"]["precision"] == 0.99
    assert [each["k"] for each in row["curve"]] == list(range(65))
    k = row["default"]["k"]
    for measure in MEASURES:
        assert row["curve"][k][measure] == row["default"][measure]
        assert row["curve"][k]["predicted"][measure] == row["predicted"][measure]


# Recipes


BY_STRING = ("--hash", "mix64,string", "--bits")


@pytest.mark.parametrize(
    ("options", "said", "left"),
    [
        (
            ("--features", "shingles,words", *BY_STRING, "64,256"),
            [
                "left out: shingles with hash 'string': they take only 'mix64'",
                "left out: words with hash 'string' beyond 128 bits",
            ],
            ["shingles mix64 64", "shingles mix64 256", "words mix64 64", "words mix64 256",
             "words string 64"],
        ),
        (
            ("--features", "tokens", *BY_STRING, "64", "--draws", "2"),
            ["left out: tokens with hash 'string': it has one draw only"],
            ["tokens mix64 64"],
        ),
        (
            ("--bits", "16,64,24", "-k", "24"),
            ["left out: sizes below k = 24"],
            ["shingles mix64 64", "shingles mix64 24"],
        ),
        (("--bits", "16,64", "-k", "16"), [], ["shingles mix64 16", "shingles mix64 64"]),
    ],
)  # fmt: skip
def test_an_impossible_combination_is_left_out_with_a_message(run, labels, options, said, left):
    asked = ("evaluate", "--pairs", labels, *options, "--format", "csv")

    ended, quiet = run(*asked), run(*asked, "--quiet")

    rows = [f"{row['features']} {row['hash']} {row['bits']}" for row in table_of(ended.out)]
    assert list(dict.fromkeys(rows)) == left
    *lines, last = ended.err.decode().splitlines()
    assert lines == said
    assert re.fullmatch(r"evaluated in \d+\.\d s", last)
    assert (quiet.code, quiet.out, quiet.err) == (0, ended.out, b"")


def test_each_recipe_has_its_name(run, labels):
    asked = ("--features", "shingles,keywords,tokens,shingles", "--ngram", "3,1", "--top", "9")
    options = ("--bits", "64", "--weights", "int10", *asked)

    out = run("evaluate", "--pairs", labels, *options).out.decode()

    assert re.findall(r"^.*, hash mix64$", out, re.MULTILINE) == [
        "shingles of 1 and 3 tokens, hash mix64",
        "keywords, top 9, weights int10, hash mix64",
        "tokens, hash mix64",
    ]


def test_details_reach_only_the_features_they_belong_to(evaluated, write):
    write("words", "钟表铺\n")
    write("stop", "的\n")

    found = evaluated(
        *("--features", "shingles,words,keywords", "--bits", "64", "--ngram", "4", "--top", "7"),
        *("--user-dict", "words", "--stop-words", "stop"),
    )

    shingles, words, keywords = (row["recipe"] for row in found["rows"])
    assert shingles["ngram"] == [4]
    assert "user_dict" not in shingles
    assert words["user_dict"] is not None is not words["stop_words"]
    assert (keywords["top"], keywords["user_dict"]) == (7, words["user_dict"])


# Where results go


def test_no_extra_is_needed_but_for_a_picture(run, labels, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)  # importing it fails
    monkeypatch.setitem(sys.modules, "rjieba", None)

    assert run("evaluate", "--pairs", labels, "--bits", "64").code == 0


# Pictures


@pytest.mark.usefixtures("matplotlib")
@pytest.mark.parametrize(
    ("suffix", "begin"), [("PNG", b"\x89PNG\r\n\x1a\n"), ("svg", b"<?xml version=")]
)
def test_a_picture_may_be_a_png_or_an_svg_and_is_the_same_each_time(run, labels, suffix, begin):
    for name in ("first", "second"):
        ended = run("evaluate", "--pairs", labels, "--bits", "64", "--plot", f"{name}.{suffix}")
        assert ended.out.startswith(b"pairs.csv: ")

    picture = Path(f"first.{suffix}").read_bytes()
    assert picture.startswith(begin)
    assert picture == Path(f"second.{suffix}").read_bytes()


@pytest.mark.usefixtures("no_work")
def test_a_picture_without_matplotlib_is_refused_before_any_work(run, monkeypatch, folder):
    monkeypatch.setattr("simdup.report.plot.find_spec", lambda _: None)

    ended = run("evaluate", "--plot", "picture.png")

    assert (ended.code, ended.out) == (2, b"")
    assert ended.err == (b"simdup: --plot needs an optional package: pip install 'simdup[plot]'\n")
    assert os.listdir(folder) == []


# Exits


# The page


def test_a_page_has_the_figures_of_the_table_beside_it(run, labels):
    ended = run(
        "evaluate", "--pairs", labels, "--bits", "16,64", "--html", "p.html", "--lang", "zh"
    )

    assert ended.code == 0
    assert b"own share" in ended.out
    data = data_in()
    assert [each["bits"] for each in data["rows"]] == [16, 64]
    assert [kind for kind, *_ in data["kinds"]] == ["edited", "改写", "unrelated", "cut"]
    assert (data["table"], data["texts"], data["language"]) == (labels, 6, "zh")
