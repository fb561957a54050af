"""Bars and warnings at a terminal, and the style of text reports."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from simdup.progress import silent
from simdup.report.wording import printable

if TYPE_CHECKING:
    from simdup.progress import Progress
    from simdup.records import Skipped
    from simdup.report.terminal import TerminalStyle

# The most warnings about single files; further files are only counted.
MOST_WARNINGS = 10

#: Values of --color.
COLOR = ("auto", "always", "never")


def look(color: str, target: str | None = None, *, verbose: bool = False) -> TerminalStyle:
    """Return the style of a text report that goes to stdout, or to the file `target`.

    `color` is one of COLOR. Only on a terminal are lines fitted to its width, which the
    variable COLUMNS overrules. `verbose` asks for the distances of fingerprints.
    """
    from simdup.report.terminal import TerminalStyle

    is_terminal = target is None and sys.stdout.isatty()
    # The console of Windows may show the codes instead of obeying them. https://no-color.org
    takes_colours = is_terminal and os.name != "nt" and os.environ.get("TERM") != "dumb"
    is_wanted = takes_colours and not os.environ.get("NO_COLOR")
    columns = None
    if is_terminal:
        from shutil import get_terminal_size

        columns = get_terminal_size().columns
    return TerminalStyle(color == "always" or (color == "auto" and is_wanted), columns, verbose)


def progress(*, quiet: bool) -> Progress:
    """Return the function that draws bars; none if `quiet` or if stderr is not a terminal."""
    if quiet or not sys.stderr.isatty():
        return silent
    from simdup.cli.bars import bar

    return bar


def warn_of(skipped: tuple[Skipped, ...]) -> None:
    """Print a line for each file that could not be read; after the first ten only their number."""
    trouble = [each for each in skipped if each.reason.is_trouble]
    for each in trouble[:MOST_WARNINGS]:
        detail = f" ({printable(each.detail)})" if each.detail else ""
        tell(f"simdup: {printable(each.path)}: {each.reason.value}{detail}")
    if len(trouble) > MOST_WARNINGS:
        tell(f"simdup: and {len(trouble) - MOST_WARNINGS:,} more that could not be read")


def tell(line: str) -> None:
    """Print a line on stderr, unless that is closed; first clear any bar that was left there."""
    with suppress(OSError):
        clear_bars()
        click.echo(line, err=True)


def clear_bars() -> None:
    """Take the bars off the screen that Ctrl-C or an error left there."""
    if "simdup.cli.bars" in sys.modules:
        from simdup.cli.bars import close_bars

        close_bars()
