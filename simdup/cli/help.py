"""`simdup help`: the pages of the manual that ships with simdup."""

from __future__ import annotations

import re
import shutil
import sys
import textwrap
from importlib.resources import files

import click

from simdup.interrupt import raise_again

#: The pages of the manual, in the order in which `simdup help` lists them.
TOPICS = (
    *("scan", "accuracy", "index", "corpora", "spark", "report", "ignore", "clean"),
    *("formats", "configuration", "json", "library", "reliability", "how-it-works", "assignment"),
)

# Longer lines are hard to read.
_WIDEST = 88

# Lines that begin so are printed unchanged, and so are the lines between two fences.
_FENCE, _TABLE = "```", "|"

# Replaces a space where a line must not break.
_SPACE = "\0"


@click.command("help")
@click.argument("topic", required=False, type=click.Choice(TOPICS), metavar="[TOPIC]")
def help_command(topic: str | None) -> None:
    """Print a page of the manual; without TOPIC list the pages.

    On a terminal the page is shown by the program that PAGER names.

    \b
    Examples:
      simdup help
      simdup help accuracy
    """
    if topic is None:
        click.echo("\n".join(_contents()))
        return
    page = "\n".join(wrapped(manual_page(topic), _width())) + "\n"
    if sys.stdout.isatty():
        raise_again()  # the pager answers Ctrl-C, and this program waits for its end
        click.echo_via_pager(page)
    else:
        click.echo(page, nl=False)


def manual_page(topic: str) -> str:
    """Return the Markdown of one page of the manual."""
    return (files("simdup") / "manual" / f"{topic}.md").read_text("utf-8")


def wrapped(page: str, width: int) -> list[str]:
    """Return a page as lines of at most `width` characters, for a terminal.

    Links are reduced to their text, and lists are numbered. The line of links to the headings is
    left out. Tables and code keep their lines, however long these are.
    """
    lines: list[str] = []
    is_code, number = False, 0
    for line in page.splitlines():
        is_fence = line.startswith(_FENCE)
        is_code ^= is_fence
        plain = line if is_code else re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", line)
        number = 0 if line.startswith("#") else number
        if is_code or is_fence or line.startswith(_TABLE):
            lines.append(plain)
        elif line.startswith("1. "):
            number += 1
            lines += _paragraph(f"{number}. {plain[3:]}", width)
        elif not line.startswith("On this page:"):
            lines += _paragraph(plain, width)
    return lines


def _paragraph(line: str, width: int) -> list[str]:
    """Return one long line as several; all but the first line of a list item are indented.

    Code between backticks is not broken, so that it can be copied.
    """
    bullet = re.match(r"(?:- |\d+\. | *)", line)
    indent = " " * len(bullet[0]) if bullet else ""
    whole = re.sub(r"`[^`]*`", lambda code: code[0].replace(" ", _SPACE), line)
    lines = textwrap.wrap(
        whole, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
    return [each.replace(_SPACE, " ") for each in lines] or [""]


def _contents() -> list[str]:
    """Return a line for each page with its name and title."""
    titles = {topic: manual_page(topic).partition("\n")[0].removeprefix("# ") for topic in TOPICS}
    widest = max(map(len, TOPICS))
    return [
        "Pages of the manual; `simdup help TOPIC` prints one.",
        "",
        *(f"  {topic:{widest}}  {title}" for topic, title in titles.items()),
        "",
        "`simdup COMMAND --help` explains the options of a command.",
    ]


def _width() -> int:
    return min(shutil.get_terminal_size().columns, _WIDEST) if sys.stdout.isatty() else _WIDEST
