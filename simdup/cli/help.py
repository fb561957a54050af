"""`simdup help`: the pages of the manual that ships with simdup; and the man page.

    python -m simdup.cli.help > simdup/manual/simdup.1

writes the man page anew, from the help of all commands. A wheel installs it as
share/man/man1/simdup.1.
"""

from __future__ import annotations

import re
import shutil
import sys
import textwrap
from importlib.resources import files
from inspect import cleandoc

import click

from simdup.cli import commands
from simdup.cli.relations import contexts_below
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
    raise_again()  # a pager answers Ctrl-C, and this program waits for its end
    click.echo_via_pager("\n".join(wrapped(manual_page(topic), _width())))


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


def man_page() -> str:
    """Return the man page as roff."""
    context = click.Context(commands, info_name="simdup", **commands.context_settings)
    lines = [
        '.TH SIMDUP 1 "" "simdup" "User Commands"',
        ".SH NAME",
        "simdup \\- find files that hold the same text",
        ".SH SYNOPSIS",
        ".B simdup",
        "COMMAND [OPTIONS] [ARGUMENTS]",
        ".SH DESCRIPTION",
        *_prose(commands.help or ""),
        ".PP",
        "A scan never changes a file.",
        "The manual is printed by",
        '.BR "simdup help" .',
        *_options(context),
    ]
    for each in contexts_below(context):
        usage = f"{each.command_path} {' '.join(each.command.collect_usage_pieces(each))}"
        lines += [f'.SH "{_escaped(each.command_path)}"', f".B {_escaped(usage)}"]
        lines += [*_prose(each.command.help or ""), *_options(each)]
    lines += [
        ".SH FILES",
        "The store, the list of ignored pairs and the configuration file are in the system's",
        "folders for caches, data and configuration; see",
        '.BR "simdup help scan" , " simdup help ignore" " and simdup help configuration" .',
    ]
    return "\n".join(lines) + "\n"


def _options(context: click.Context) -> list[str]:
    """Return the options as a list of tagged paragraphs."""
    lines = []
    for parameter in context.command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None:
            option, text = record
            lines += [".TP", ".B " + _escaped(option), _escaped(" ".join(text.split()))]
    return lines


def _prose(text: str) -> list[str]:
    """Return a command's help as paragraphs; lines after a \\b stay as they are."""
    lines = []
    for paragraph in re.split(r"\n\s*\n", cleandoc(text)):
        if paragraph.startswith("\b"):
            kept = paragraph.splitlines()[1:]
            lines += [".PP", ".nf", *map(_escaped, kept), ".fi"]
        else:
            lines += [".PP", _escaped(" ".join(paragraph.split()))]
    return lines


def _escaped(text: str) -> str:
    """Return text that roff prints as it is."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + escaped if escaped.startswith((".", "'")) else escaped


if __name__ == "__main__":
    click.echo(man_page(), nl=False)
