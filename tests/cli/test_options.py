"""simdup.cli.options: defaults and values that several commands share."""

from __future__ import annotations

import click
import pytest

from simdup.cli import commands, load_command, options
from simdup.cli.evaluate import Evaluate
from simdup.cli.scan import Scan
from simdup.files.walk import Filters
from simdup.recipe import Recipe
from simdup.settings import FORMATS, Settings

# With the settings of the program: a command keeps the help option of whoever asks it first.
CONTEXT = click.Context(commands, **commands.context_settings)


def asked(record, command, *arguments):
    """The record that a command makes of its arguments."""
    return options.filled(
        record, load_command(command).make_context(command, [*arguments], CONTEXT).params
    )


def test_without_options_a_scan_has_the_default_settings_and_filters():
    scan = asked(Scan, "scan", ".")

    assert scan.matching.settings(scan.reading) == Settings()
    assert scan.filtering.filters() == Filters()


def test_an_own_share_may_be_0():
    assert [options.share_or_0(text) for text in ("0", "0.0", "0%", ".25", "25", "100%")] == [
        *(0, 0, 0),
        *(0.25, 0.25, 1),
    ]
    for wrong in ("-1", "", "nan", "1.5", "101%", "0x"):
        with pytest.raises(ValueError, match=r"share|at most 1"):
            options.share_or_0(wrong)


def test_a_word_where_a_number_belongs_is_called_no_number_and_not_no_range():
    with pytest.raises(click.BadParameter, match=r"'x' is not a valid integer\.$"):
        load_command("scan").make_context("scan", [".", "--jobs", "x"], CONTEXT)


def test_evaluate_has_the_default_recipe():
    evaluate = asked(Evaluate, "evaluate")

    assert (evaluate.features, evaluate.hash) == (("shingles",), ("mix64",))
    assert Recipe(features="shingles", hash="mix64", **evaluate.details.of("shingles")) == Recipe()


@pytest.mark.parametrize(
    ("text", "formats"),
    [
        ("all", FORMATS),
        ("text", ()),
        ("docx,html,docx", ("docx", "html")),
        ("text,pdf", ("pdf",)),
        ("pdf,all", FORMATS),
    ],
)
def test_formats_are_names_or_text_or_all(text, formats):
    assert asked(Scan, "scan", ".", "--formats", text).reading.formats == formats
