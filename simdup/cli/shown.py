"""The options that say what a report shows of a result, and the report that they ask for."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from simdup.cli import options
from simdup.cli.terminal import look
from simdup.report import MOST_GROUPS, SORTS

if TYPE_CHECKING:
    from collections.abc import Callable

    from simdup.cli.output import Lines
    from simdup.records import ScanResult
    from simdup.report.order import View

#: Which groups a report shows, in which order, and how much of each; for `renderer`.
shown_options = options.together(
    options.choice(
        "--sort",
        SORTS,
        "Which groups are the most useful: the most similar ones, the ones in which most bytes"
        " repeat, the ones with most files, or by name. A report in text ends with the most"
        " useful ones, next to the prompt; other formats begin with them.",
    ),
    options.number(
        "--limit",
        "Show only the N most useful groups.  [default: all; on a terminal as many as fit, at most"
        f" {MOST_GROUPS}]",
    ),
    options.option(
        "--all",
        "everything",
        "Show every file of every group, also on a terminal and in folders that are copies.",
        is_flag=True,
    ),
    options.flag("--summary", "Show only the summary."),
    options.siblings,
    options.verbose,
)


def check_shown(given: dict[str, Any]) -> None:
    """Raise UsageError for --limit beside --all, and for --summary beside another format."""
    if options.is_given("limit") and options.is_given("everything"):
        raise click.UsageError("give either --limit or --all")
    if given["summary"] and given["form"] not in {None, "text"}:
        raise click.UsageError(f"--summary is text; leave out --format {given['form']}")


def renderer(given: dict[str, Any], *, null: bool = False) -> Callable[[ScanResult], Lines]:
    """Return the function that renders a result in the format that was given, by default text.

    With `null`, names end in NUL instead.
    """
    from simdup.report import text

    form, siblings = given["form"], given["siblings"]
    if given["summary"]:
        return partial(text.closing, siblings=True)  # --siblings would change nothing
    if form in {None, "text"} and not null:
        shape = look(given["color"], given["target"], verbose=given["verbose"])
        return partial(text.render, look=shape, view=_view(given), siblings=siblings)
    from simdup.report import json_csv as data
    from simdup.report.order import selected

    renderers: dict[str | None, Callable[..., Lines]] = {
        "json": partial(data.render_json, siblings=siblings),
        "jsonl": partial(data.render_jsonl, siblings=siblings),
        "csv": partial(data.render_csv, siblings=siblings),
        "names": text.render_null if null else text.render_names,
        "fdupes": text.render_fdupes_null if null else text.render_fdupes,
    }
    render = renderers[form or "names"]
    # A program gets all groups, whatever a configuration file says, unless it asks for fewer.
    limit = given["limit"] if options.is_given("limit") else None
    return lambda result: render(selected(result, given["sort"], limit))


def _view(given: dict[str, Any]) -> View:
    """Return how much a text report shows: all of it, unless it goes to a terminal."""
    from simdup.report.order import View

    sort, limit, everything = given["sort"], given["limit"], given["everything"]
    if everything:
        return View(sort)
    if given["target"] is not None or not sys.stdout.isatty():
        return View(sort, limit, is_folded=True)
    if limit is not None:
        return View(sort, limit, is_brief=True, is_folded=True)
    from shutil import get_terminal_size

    lines = get_terminal_size().lines
    return View(sort, MOST_GROUPS, is_brief=True, is_folded=True, lines=lines)
