"""The man page, made of the help of all commands.

    python -m simdup.cli.man > simdup/manual/simdup.1

writes it anew. A wheel installs it as share/man/man1/simdup.1.
"""

from __future__ import annotations

import re
from inspect import cleandoc

import click

from simdup.cli import commands
from simdup.cli.relations import contexts_below


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
