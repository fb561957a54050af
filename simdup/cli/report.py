"""`simdup report`: a result that was saved as JSON, shown again."""

from __future__ import annotations

import os
from typing import NamedTuple

import click

from simdup.cli import options
from simdup.cli.command import Command
from simdup.cli.ignore import Ignored
from simdup.cli.output import progress, tell
from simdup.cli.shown import Page, Shown, page_lines, texts_option


class Report(NamedTuple):
    """The options of `simdup report`.

    form: The format of the report; with --html a report is only written if this is given.
    """

    saved: str = options.argument("RESULT", options.PATH)
    page: Page = options.part(Page)
    html_texts: str | None = texts_option(
        "none", " The files in RESULT are opened for this, unless their size or time has changed."
    )
    shown: Shown = options.part(Shown)
    form: str = options.report_format(("text", "csv", "names", "fdupes"), "")
    target: str | None = options.output
    color: str = options.color
    ignored: Ignored = options.part(Ignored)
    quiet: bool = options.quiet


@click.command("report", cls=Command, record=Report, work="simdup.report.load")
def report_command(asked: Report) -> int:
    """Show RESULT again, which `simdup scan --format json` or jsonl printed; - is stdin.

    Exits with 0 when done, 2 if RESULT is not the result of a scan.

    \b
    Examples:
      simdup report result.json
      simdup report result.json --html report.html --html-texts groups
    """
    from simdup.files.ignored import without_ignored
    from simdup.report.load import load

    saved, shown = asked.saved, asked.shown
    options.refuse_overwriting(asked.ignored.named())
    ignored = asked.ignored.digests(quiet=asked.quiet)
    write = asked.page.writer(asked.target, as_utf8=False)
    result = without_ignored(load(options.saved(saved), saved), ignored)
    day = None if saved == "-" else os.stat(saved).st_mtime
    is_page_alone = asked.page.html is not None and asked.target is None and not shown.summary
    is_report = not is_page_alone or options.is_set("form")
    lines = shown.renderer(asked.form, asked.target, asked.color)(result) if is_report else ()
    how = asked.page.lang, asked.html_texts or "none", progress(quiet=asked.quiet)
    write(lines, page_lines(result, *how, day))
    if not result.complete:
        tell("simdup: this scan was interrupted: it has no groups")
    elif not (asked.quiet or shown.summary):
        tell(*shown.closing(result))
    return 0
