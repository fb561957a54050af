"""simdup.report.accuracy and plot: how evaluations made by hand are rendered."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from dataclasses import replace
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdup.evaluation.metrics import (
    MEASURES,
    Accuracy,
    Evaluated,
    Evaluation,
    GroupScores,
    Labelled,
    Recommended,
)
from simdup.recipe import Recipe
from simdup.records import Interval
from simdup.report import accuracy, plot
from simdup.settings import Settings

pytestmark = pytest.mark.slow

NAN = math.nan
UNDEFINED = Interval(NAN, NAN, NAN)
KINDS = (
    Labelled("edited a little", duplicate=True, pairs=4),
    Labelled("unrelated", duplicate=False, pairs=1200),
)
COPIES = GroupScores(1.0, 0.25, 0.4, 0.125)

names = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


def interval(value):
    """A figure with an interval of a tenth to either side."""
    return Interval(value, max(value - 0.1, 0.0), min(value + 0.1, 1.0))


def measured(*shares):
    """Precision, recall, F1 and accuracy."""
    return Accuracy(*map(interval, shares))


def row(bits=8, k=2, recipe=None, similarity=0.5, **fields):
    """An evaluation at one size: recall rises with k, and F1 is highest at bits // 2."""
    best = bits // 2
    curve = [
        measured(0.75, d / bits, 0.9 - abs(d - best) / (2 * bits), 0.625) for d in range(bits + 1)
    ]
    made = Evaluated(
        settings=Settings(
            replace(recipe or Recipe(), bits=bits), similarity, k, verified=False, own_share=0.75
        ),
        curve=(replace(curve[0], precision=UNDEFINED), *curve[1:]),
        predicted=np.linspace([0.5, 0.25, 0.125, NAN], [1.0, 0.5, 0.25, NAN], bits + 1).T,
        auc=interval(0.875),
        cosine=measured(0.5, 0.5, 0.5, 0.75),
        verified=measured(1.0, 0.5, 2 / 3, 0.8),
        near=measured(1.0, 0.25, 0.4, 0.75),
        tally=np.ones((2, bits + 1)),
        found=np.array([3.0, 1.5]),
        found_cosine=np.array([4.0, 300.0]),
        found_verified=np.array([4.0, 0.0]),
        without=0,
        groups=None,
        recommended=None,
    )
    return replace(made, **fields)


def evaluation(*rows, **fields):
    rows = rows or (row(),)
    made = Evaluation("pairs.csv", 12, 0, KINDS, 1, rows, 1.25)
    return replace(made, **fields)


def squeezed(lines):
    """Lines with single spaces instead of columns."""
    return [" ".join(line.split()) for line in lines]


def table(*rows, curve=False, **fields):
    return list(accuracy.render(evaluation(*rows, **fields), curve=curve))


def object_of(*rows, curve=False, **fields):
    """The parsed JSON; fails for NaN and Infinity, which only Python would accept."""
    (text,) = accuracy.render_json(evaluation(*rows, **fields), curve=curve)
    return json.loads(text, parse_constant=pytest.fail)


def cells_of(*rows, curve=False, **fields):
    """The lines of the CSV."""
    lines = accuracy.render_csv(evaluation(*rows, **fields), curve=curve)
    return list(csv.DictReader(io.StringIO("".join(f"{line}\n" for line in lines))))


# The table


def test_the_table_worked_by_hand():
    sizes = (row(8), row(16, 5, found=np.array([4.0, 0.0]), found_verified=np.array([2.0, 0.0])))

    assert squeezed(table(*sizes)) == [
        "pairs.csv: 12 texts; 4 pairs of duplicates, 1,200 of others",
        "in brackets: intervals of 95 %, from resampling the texts",
        "",
        "shingles of 2 tokens, hash mix64",
        "bits precision recall F1 accuracy AUC",
        "8 k = 2 .750 (.650-.850) .250 (.150-.350) .775 (.675-.875) .625 (.525-.725) "
        ".875 (.775-.975)",
        "by theory .625 .312 .156 -",
        "best k = 4 .750 (.650-.850) .500 (.400-.600) .900 (.800-1.000) .625 (.525-.725)",
        "cosine, 0.5 .500 (.400-.600) .500 (.400-.600) .500 (.400-.600) .750 (.650-.850)",
        "own share, 0.75 1.000 (.900-1.000) .500 (.400-.600) .667 (.567-.767) .800 (.700-.900)",
        "near, 0.8 1.000 (.900-1.000) .250 (.150-.350) .400 (.300-.500) .750 (.650-.850)",
        "16 k = 5 .750 (.650-.850) .312 (.212-.412) .806 (.706-.906) .625 (.525-.725) "
        ".875 (.775-.975)",
        "by theory .656 .328 .164 -",
        "best k = 8 .750 (.650-.850) .500 (.400-.600) .900 (.800-1.000) .625 (.525-.725)",
        "cosine, 0.5 .500 (.400-.600) .500 (.400-.600) .500 (.400-.600) .750 (.650-.850)",
        "own share, 0.75 1.000 (.900-1.000) .500 (.400-.600) .667 (.567-.767) .800 (.700-.900)",
        "near, 0.8 1.000 (.900-1.000) .250 (.150-.350) .400 (.300-.500) .750 (.650-.850)",
        "",
        "duplicates found, % pairs 8 16 cosine own share",
        "edited a little 4 75.0 100.0 100.0 50.0",
        "others found, % pairs 8 16 cosine own share",
        "unrelated 1,200 0.1 0.0 25.0 0.0",
    ]


@pytest.mark.parametrize(
    ("share", "shown"),
    [
        *((0.0, ".000"), (0.0004, ".000"), (0.0006, ".001"), (0.5, ".500"), (0.9984, ".998")),
        *((0.9994, ".999"), (0.9996, ".999"), (0.99996, ".999"), (math.nextafter(1, 0), ".999")),
        (1.0, "1.000"),
    ],
)
def test_only_a_share_of_exactly_1_is_shown_as_1(share, shown):
    verified = measured(share, 0.5, 0.5, 0.5)

    (line,) = [line for line in squeezed(table(row(verified=verified))) if "own share, " in line]

    assert line.removeprefix("own share, 0.75 ").split()[0] == shown


def test_an_undefined_figure_is_shown_as_a_dash():
    lines = squeezed(
        table(row(k=0, groups=(replace(COPIES, precision=NAN), COPIES), auc=UNDEFINED))
    )

    assert "8 k = 0 - .000 (.000-.100) .650 (.550-.750) .625 (.525-.725) -" in lines
    assert "by theory .500 .250 .125 -" in lines
    assert "groups, bare - .250 .400 Rand index .125" in lines


# Columns of the table


@given(names, names, names)
def test_no_name_puts_a_control_character_or_a_second_line_into_the_table(first, second, third):
    kinds = (Labelled(first, duplicate=True, pairs=1), Labelled(second, duplicate=False, pairs=1))

    lines = table(kinds=kinds, table=third)

    assert all(line.isprintable() for line in lines)
    assert len(lines) == len(table())


def figures_begin(line):
    """The columns where the figures of a line begin: shares, dashes and intervals."""
    figures = line.partition("Rand index")[0].rstrip()
    return [match.start() for match in re.finditer(r"(?<= )(1?\.\d{3}|-)(?= |$)", figures)]


@pytest.mark.parametrize("similarity", [0.5, 0.55, 0.555, 0.123456])
@pytest.mark.parametrize("bits", [8, 128, 4096])
def test_all_figures_of_a_column_begin_below_its_name(bits, similarity):
    every = row(
        bits,
        bits,
        similarity=similarity,
        groups=(COPIES, COPIES),
        recommended=Recommended(0.999, bits, 0.5),
    )

    lines = table(every, curve=True)

    (head,) = [line for line in lines if line.endswith("AUC")]
    columns = [head.index(name) for name in ("precision", "recall", "F1", "accuracy", "AUC")]
    begin = lines.index(head) + 1
    block = lines[begin : lines.index("", begin)]
    found = [figures_begin(line) for line in block if "--similarity" not in line]
    assert len(found) == 9 + bits + 1
    assert all(len(each) >= 3 for each in found)
    assert all(each == columns[: len(each)] for each in found)


@pytest.mark.parametrize(
    "name",
    [
        "a name as long as any heading",
        "a name that is longer than any heading could ever be",
        "short",
        "a name with three controls \0\0\0",
    ],
)
def test_all_counts_of_a_column_end_below_its_name(name):
    kinds = [Labelled(name, label, 1000) for label in (True, False, None)]
    every = {
        "found": np.array([1000, 1.0, 0.0]),
        "found_cosine": np.array([1.0, 1000, 10.0]),
        "found_verified": np.array([0, 10.0, 1000]),
    }

    lines = table(row(8, **every), row(4096, **every), kinds=tuple(kinds))

    block = lines[lines.index("", 4) + 1 :]
    # A heading has a space in it.
    lines = [line.replace("own share", "own-share") for line in block]
    ends = [[match.end() for match in re.finditer(r"\S+", line)][-5:] for line in lines]
    assert len(ends) == 6
    assert all(each == ends[0] for each in ends)


def test_only_a_kind_found_completely_is_shown_as_100_per_cent():
    kinds = (Labelled("kind", duplicate=True, pairs=10_000),)
    every = np.array([10_000.0])
    found = {"found": every - 1, "found_cosine": every, "found_verified": every - 9999}

    assert squeezed(table(row(**found), kinds=kinds))[-1] == "kind 10,000 99.9 100.0 0.0"


# JSON


def test_json_worked_by_hand():
    whole = object_of(row(8), repeated=2, draws=3)
    (found,) = whole["rows"]

    assert (whole["schema_version"], whole["tool"], whole["table"]) == (2, "simdup", "pairs.csv")
    assert (whole["texts"], whole["repeated"], whole["draws"]) == (12, 2, 3)
    assert whole["seconds"] == 1.25
    assert found["recipe"]["bits"] == 8
    del found["recipe"]
    assert found == {
        "features": "shingles",
        "hash": "mix64",
        "bits": 8,
        "without_features": 0,
        "default": {
            "k": 2,
            "precision": {"value": 0.75, "low": 0.65, "high": 0.85},
            "recall": {"value": 0.25, "low": 0.15, "high": 0.35},
            "f1": {"value": 0.775, "low": 0.675, "high": 0.875},
            "accuracy": {"value": 0.625, "low": 0.525, "high": 0.725},
            "auc": {"value": 0.875, "low": 0.775, "high": 0.975},
        },
        "best": {"k": 4} | fields(measured(0.75, 0.5, 0.9, 0.625)),
        "predicted": {"precision": 0.625, "recall": 0.3125, "f1": 0.15625, "accuracy": None},
        "cosine": {"similarity": 0.5} | fields(measured(0.5, 0.5, 0.5, 0.75)),
        "verified": {"similarity": 0.5, "own_share": 0.75} | fields(measured(1.0, 0.5, 2 / 3, 0.8)),
        "near": {"score": 0.8} | fields(measured(1.0, 0.25, 0.4, 0.75)),
    }


def fields(measures):
    """The JSON of what is measured."""
    return {
        name: {end: getattr(getattr(measures, name), end) for end in ("value", "low", "high")}
        for name in MEASURES
    }


def test_json_has_null_for_an_undefined_figure():
    nothing = GroupScores(NAN, 0.0, 0.0, 0.0)
    undefined = row(
        k=0, groups=(nothing, nothing), auc=UNDEFINED, recommended=Recommended(0.9, None, None)
    )

    (found,) = object_of(undefined, curve=True)["rows"]

    null = {"value": None, "low": None, "high": None}
    assert found["default"]["precision"] == found["default"]["auc"] == null
    assert found["curve"][0]["precision"] == null
    assert found["predicted"]["accuracy"] is None
    assert found["groups"]["bare"]["precision"] is None
    assert found["recommended"] == {"precision": 0.9, "k": None, "similarity": None}


@given(names, names)
def test_any_name_survives_json(kind, path):
    kinds = (Labelled(kind, duplicate=True, pairs=4), KINDS[1])

    found = object_of(kinds=kinds, table=path)

    assert (found["kinds"][0]["kind"], found["table"]) == (kind, path)


@pytest.mark.parametrize(("table", "shown"), [("\udcff.csv", "\\xff.csv"), (None, None)])
def test_a_table_of_no_name_or_one_that_is_not_utf_8_gives_valid_json(table, shown):
    (text,) = accuracy.render_json(evaluation(table=table))

    assert json.loads(text.encode("utf-8"))["table"] == shown


# CSV


def test_csv_worked_by_hand():
    lines = list(accuracy.render_csv(evaluation(row(8))))

    begin = '"shingles of 2 tokens, hash mix64",shingles,mix64,8'
    assert lines == [
        "recipe,features,hash,bits,setting,k,similarity,own_share,"
        "precision,precision_low,precision_high,"
        "recall,recall_low,recall_high,f1,f1_low,f1_high,accuracy,accuracy_low,accuracy_high,"
        "auc,auc_low,auc_high,adjusted_rand_index,score",
        f"{begin},default,2,,,0.750000,0.650000,0.850000,0.250000,0.150000,0.350000,"
        "0.775000,0.675000,0.875000,0.625000,0.525000,0.725000,0.875000,0.775000,0.975000,,",
        f"{begin},predicted,2,,,0.625000,,,0.312500,,,0.156250,,,,,,,,,,",
        f"{begin},best,4,,,0.750000,0.650000,0.850000,0.500000,0.400000,0.600000,"
        "0.900000,0.800000,1.000000,0.625000,0.525000,0.725000,,,,,",
        f"{begin},cosine,,0.500000,,0.500000,0.400000,0.600000,0.500000,0.400000,0.600000,"
        "0.500000,0.400000,0.600000,0.750000,0.650000,0.850000,,,,,",
        f"{begin},verified,,0.500000,0.750000,1.000000,0.900000,1.000000,0.500000,0.400000,0.600000,"
        "0.666667,0.566667,0.766667,0.800000,0.700000,0.900000,,,,,",
        f"{begin},near,,,,1.000000,0.900000,1.000000,0.250000,0.150000,0.350000,"
        "0.400000,0.300000,0.500000,0.750000,0.650000,0.850000,,,,,0.800000",
    ]


def test_csv_of_groups_and_recommendations_worked_by_hand():
    asked = Recommended(0.95, 6, 0.07)
    bare = GroupScores(NAN, 0.0, 0.0, 0.0)

    lines = list(accuracy.render_csv(evaluation(row(8, groups=(bare, COPIES), recommended=asked))))

    begin = '"shingles of 2 tokens, hash mix64",shingles,mix64,8'
    assert lines[7:] == [
        f"{begin},groups bare,,,,,,,0.000000,,,0.000000,,,,,,,,,0.000000,",
        f"{begin},groups verified,,,,1.000000,,,0.250000,,,0.400000,,,,,,,,,0.125000,",
        f"{begin},recommended,6,,,0.750000,0.650000,0.850000,0.750000,0.650000,0.850000,"
        "0.775000,0.675000,0.875000,0.625000,0.525000,0.725000,,,,,",
        f"{begin},recommended,,0.070000,,,,,,,,,,,,,,,,,,",
    ]


@pytest.mark.parametrize(
    ("asked", "shown"),
    [
        (Recommended(0.95, None, None), []),
        (Recommended(0.95, 0, None), [("0", "")]),
        (Recommended(0.95, None, 0.5), [("", "0.500000")]),
    ],
)
def test_csv_has_a_line_for_each_threshold_that_can_be_recommended(asked, shown):
    found = cells_of(row(8, recommended=asked))

    recommended = [each for each in found if each["setting"] == "recommended"]
    assert [(each["k"], each["similarity"]) for each in recommended] == shown


# Pictures


@pytest.mark.usefixtures("matplotlib")
def test_undefined_figures_can_be_drawn():
    nothing = Accuracy(UNDEFINED, UNDEFINED, UNDEFINED, UNDEFINED)
    empty = row(
        curve=(nothing,) * 9,
        verified=nothing,
        near=nothing,
        predicted=np.full((4, 9), NAN),
        tally=np.zeros((2, 9)),
    )

    assert plot.render(evaluation(empty), "svg").startswith(b"<?xml")


@pytest.mark.usefixtures("matplotlib")
def test_a_picture_holds_any_number_of_recipes_and_sizes():
    recipes = [Recipe(ngram=n) for n in range(1, 5)]

    few = plot.render(evaluation(row(8)), "svg")
    many = plot.render(
        evaluation(*(row(bits, recipe=each) for each in recipes for bits in (8, 16))), "svg"
    )

    def height(picture):
        return float(ET.fromstring(picture).attrib["height"].removesuffix("pt"))

    assert height(many) > 2 * height(few)
