"""`simdup compare`: two files side by side."""

from __future__ import annotations

from typing import Any

import click

from simdup.cli.options import color_option, settings_from, settings_options
from simdup.cli.output import writer
from simdup.cli.terminal import look
from simdup.files.compare import compare
from simdup.report import diff, text
from simdup.report import json_csv as data


@click.command("compare")
@click.argument("left", type=click.Path(readable=False), metavar="A")
@click.argument("right", type=click.Path(readable=False), metavar="B")
@settings_options
@click.option("--diff", "show_diff", is_flag=True, help="Show what is different, by sentence.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="How to report.",
)
@color_option
def compare_command(
    left: str,
    right: str,
    *,
    show_diff: bool,
    form: str,
    color: str,
    **options: Any,  # noqa: ANN401
) -> int:
    """Say how much the texts of A and B are alike.

    Exits with 0 for near-duplicates, 1 for others, 2 for trouble.

    \b
    Examples:
      simdup compare draft.txt final.txt --diff
      simdup compare a-gbk.txt b-utf8.txt --format json
    """
    if show_diff and form == "json":
        raise click.UsageError("--diff is for reading; leave out --format json")
    comparison = compare(left, right, settings_from(options))
    write, shape = writer(None, as_utf8=form == "json"), look(color)
    if form == "json":
        write(data.render_comparison(comparison))
    else:
        write(text.render_comparison(comparison, shape))
    if show_diff:
        write(diff.render(*comparison.texts, (left, right), shape))
    return 0 if comparison.kind is not None else 1
