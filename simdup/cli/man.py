"""The man page, made of the help of all commands.

    python -m simdup.cli.man > simdup/manual/simdup.1

writes it anew. A wheel installs it as share/man/man1/simdup.1.
"""

from __future__ import annotations

import re
from inspect import cleandoc
from typing import TYPE_CHECKING

import click

from simdup.cli import commands

if TYPE_CHECKING:
    from collections.abc import Iterator


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
        *_options(commands, context),
    ]
    for name, command, its_context in _every(commands, context):
        lines += [f'.SH "simdup {_escaped(name)}"', ".B " + _usage(name, command, its_context)]
        lines += [*_prose(command.help or ""), *_options(command, its_context)]
    lines += [
        ".SH FILES",
        "The store, the list of ignored pairs and the configuration file are in the system's",
        "folders for caches, data and configuration; see",
        '.BR "simdup help scan" , " simdup help ignore" " and simdup help configuration" .',
    ]
    return "\n".join(lines) + "\n"


def _every(
    group: click.Group, context: click.Context, before: str = ""
) -> Iterator[tuple[str, click.Command, click.Context]]:
    """Yield all commands below a group with their full names and contexts, but not the groups."""
    for name in group.list_commands(context):
        _, command, _ = group.resolve_command(context, [name])  # this imports it
        if command is None:
            continue
        inner = click.Context(command, parent=context, info_name=name, **command.context_settings)
        if isinstance(command, click.Group):
            yield from _every(command, inner, f"{before}{name} ")
        else:
            yield f"{before}{name}", command, inner


def _usage(name: str, command: click.Command, context: click.Context) -> str:
    return _escaped(f"simdup {name} {' '.join(command.collect_usage_pieces(context))}")


def _options(command: click.Command, context: click.Context) -> list[str]:
    """Return the options as a list of tagged paragraphs."""
    lines = []
    for parameter in command.get_params(context):
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
