"""`simdup report`: a result that was saved as JSON, shown again."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from simdup.cli.ignore import ignored_from, ignored_options, list_read
from simdup.cli.options import color_option, output_option
from simdup.cli.output import refuse_same_files, writer
from simdup.cli.page import page_options, page_writer
from simdup.cli.terminal import look, progress, tell
from simdup.errors import InputError
from simdup.files.ignored import without_ignored
from simdup.records import Document, Reason, Skipped
from simdup.report import json_csv as data
from simdup.report import text
from simdup.report.load import load
from simdup.report.text import summary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from simdup.records import ScanResult

FORMATS: dict[str, Callable[[ScanResult], Iterable[str]]] = {
    "text": text.render,
    "csv": data.render_csv,
    "fdupes": text.render_names,
}

# A report has times as floats, which tell them to a quarter of a microsecond.
_SAME_TIME = 1_000


@click.command("report")
@click.argument("saved", type=click.Path(readable=False), metavar="RESULT")
@page_options(
    "none",
    " The files that RESULT names are then opened, if size and time are still those in it.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(list(FORMATS)),
    help="How to report.  [default: text, or nothing but the page with --html]",
)
@output_option
@color_option
@ignored_options
@click.option("-q", "--quiet", is_flag=True, help="No progress and no summary.")
def report_command(saved: str, **options: Any) -> int:  # noqa: ANN401
    """Show RESULT again, which `simdup scan --format json` or jsonl printed; - is stdin.

    Exits with 0 when done, 2 when RESULT is no such result.

    \b
    Examples:
      simdup report result.json
      simdup report result.json --html report.html --html-texts groups
    """
    inputs = [("RESULT", saved), ("the list of ignored pairs", list_read(options))]
    refuse_same_files([("--html", options["html"]), ("--output", options["target"])], inputs)
    form, target, quiet = options["form"], options["target"], options["quiet"]
    is_page_only = options["html"] is not None and form is None and target is None
    ignored = ignored_from(options)
    write_page = page_writer(options, "none", _unchanged)
    write = writer(target, as_utf8=False)
    result = without_ignored(load(_bytes(saved), saved), ignored)
    try:
        if not is_page_only and form in {None, "text"}:
            write(text.render(result, look(options["color"], target)))
        elif not is_page_only:
            write(FORMATS[form](result))
    finally:  # whoever reads the output may have enough of it
        write_page(result, progress(quiet=quiet))
    if not result.complete:
        tell("simdup: this scan was interrupted: it has no groups")
    if not quiet:
        for line in summary(result):
            tell(line)
    return 0


def _bytes(saved: str) -> bytes:
    """What is in the file, or on stdin."""
    if saved == "-":
        if not sys.stdin.readable():
            raise click.UsageError("- reads stdin, which is closed")
        return sys.stdin.buffer.read()
    if os.path.exists(saved) and not os.path.isfile(saved):
        raise InputError(f"{saved!r}: not a regular file")
    with open(saved, "rb") as file:
        return file.read()


def _unchanged(document: Document) -> Document | Skipped:
    """The document with the very time of its file, if that is still the one that was scanned."""
    source = document.source
    if document.encoding.startswith("."):
        return Skipped(source.path, Reason.UNEXTRACTED)  # a report names no converters
    try:
        status = os.stat(source.path)
    except (OSError, ValueError):
        return Skipped(source.path, Reason.VANISHED)
    if status.st_size != source.size or abs(status.st_mtime_ns - source.mtime_ns) > _SAME_TIME:
        return Skipped(source.path, Reason.CHANGED)
    return replace(document, source=replace(source, mtime_ns=status.st_mtime_ns))
