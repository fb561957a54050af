"""`simdup report`: a result that was saved as JSON, shown again."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from simdup.cli import options
from simdup.cli.command import Command
from simdup.cli.ignore import ignored_digests, ignored_file, ignored_options
from simdup.cli.output import refuse_same_files, writer
from simdup.cli.page import page_options, page_writer
from simdup.cli.shown import check_shown, renderer, shown_options
from simdup.cli.terminal import progress, tell

if TYPE_CHECKING:
    from simdup.records import Document, Skipped

FORMATS = ("text", "csv", "names", "fdupes")

# Saved times are floats, which are exact to a quarter of a microsecond.
_SAME_TIME_NS = 1_000


@click.command("report", cls=Command, work="simdup.report.load")
@click.argument("saved", type=options.PATH, metavar="RESULT")
@page_options(
    "none",
    " The files in RESULT are opened for this, unless their size or time has changed.",
)
@shown_options
@options.report_format(FORMATS, "text, or only the page with --html")
@options.output
@options.color
@ignored_options
@options.quiet
def report_command(saved: str, **given: Any) -> int:
    """Show RESULT again, which `simdup scan --format json` or jsonl printed; - is stdin.

    Exits with 0 when done, 2 if RESULT is not the result of a scan.

    \b
    Examples:
      simdup report result.json
      simdup report result.json --html report.html --html-texts groups
    """
    from simdup.files.ignored import without_ignored
    from simdup.report import text
    from simdup.report.load import load

    form, target, listed = given["form"], given["target"], ignored_file(given)
    inputs = [("RESULT", saved), ("the list of ignored pairs", listed)]
    refuse_same_files([("--html", given["html"]), ("--output", target)], inputs)
    check_shown(given)
    ignored = ignored_digests(given)
    write_page = page_writer(given, "none", _unchanged, partial(_day, saved))
    write = writer(target, as_utf8=False)
    result = without_ignored(load(_bytes(saved), saved), ignored)
    try:
        if form is not None or given["html"] is None or target is not None or given["summary"]:
            write(renderer(given)(result))
    finally:  # whoever reads the output may have enough of it
        write_page(result, progress(quiet=given["quiet"]))
    if not result.complete:
        tell("simdup: this scan was interrupted: it has no groups")
    elif not (given["quiet"] or given["summary"]):
        for line in text.closing(result, siblings=given["siblings"]):
            tell(line)
    return 0


def _bytes(saved: str) -> bytes:
    """Return the content of the file, or of stdin."""
    if saved == "-":
        return options.stdin_for("-").read()
    options.check_saved(saved)
    with open(saved, "rb") as file:
        return file.read()


def _day(saved: str) -> float | None:
    """Return when the result was saved, in seconds since 1970; None for stdin."""
    return None if saved == "-" else os.stat(saved).st_mtime


def _unchanged(document: Document) -> Document | Skipped:
    """Return the document with the exact time of its file, if the file is still as scanned."""
    from simdup.records import Reason, Skipped

    source = document.source
    if document.encoding.startswith("."):
        return Skipped(source.path, Reason.UNEXTRACTED)  # a saved result has no converters
    try:
        status = os.stat(source.path)
    except (OSError, ValueError):
        return Skipped(source.path, Reason.VANISHED)
    if status.st_size != source.size or abs(status.st_mtime_ns - source.mtime_ns) > _SAME_TIME_NS:
        return Skipped(source.path, Reason.CHANGED)
    return document._replace(source=source._replace(mtime_ns=status.st_mtime_ns))
