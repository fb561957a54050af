"""`--help` of every command: it has examples, and these are what the command takes."""

from __future__ import annotations

import inspect
import re
import shlex

import click
import pytest

from simdup import recipe, settings
from simdup.cli import SUMMARIES, commands, load_command
from simdup.corpus.formats.open import FORMS
from simdup.evaluation import evaluate
from simdup.settings import KEEPS

# With the settings of the program: a command keeps the help option of whoever asks it first.
CONTEXT = click.Context(commands, **commands.context_settings)


def subcommand(group, name):
    """The command of a group, imported where the group has but its name and summary."""
    return load_command(name) if group is commands else group.commands[name]


def every(command, *names):
    """Yield each command with the names that lead to it, the commands inside groups too."""
    yield names, command
    if isinstance(command, click.Group):
        for name in command.list_commands(CONTEXT):
            yield from every(subcommand(command, name), *names, name)


EVERY = dict(every(commands, "simdup"))


def examples(command):
    """The command lines under `Examples:` in the help of a command."""
    block = re.search(r"^Examples:\n((?:  .*\n?)+)", inspect.cleandoc(command.help), re.MULTILINE)
    return [line.strip() for line in block[1].splitlines()] if block else []


@pytest.mark.parametrize("name", SUMMARIES)
def test_the_summary_of_a_command_is_the_first_sentence_of_its_help(name):
    assert SUMMARIES[name] == load_command(name).get_short_help_str(300)


def test_there_are_commands_and_commands_of_commands():
    assert {("simdup",), ("simdup", "scan"), ("simdup", "cache", "clear")} <= {*EVERY}


@pytest.mark.parametrize("names", EVERY, ids=" ".join)
def test_every_command_has_two_examples(run, names):
    help_text = run(*names[1:], "--help").out.decode()

    found = examples(EVERY[names])
    assert len(found) >= 2
    assert all(f"    {example}\n" in help_text for example in found)
    assert all(f"{example} ".startswith(f"{' '.join(names)} ") for example in found)


@pytest.mark.parametrize("names", EVERY, ids=" ".join)
def test_every_command_has_a_short_option_for_its_help(run, names):
    assert run(*names[1:], "-h") == run(*names[1:], "--help")


@pytest.mark.parametrize(
    "example", dict.fromkeys(each for command in EVERY.values() for each in examples(command))
)
def test_every_example_is_what_its_command_takes(example):
    for part in example.split(" || "):
        command, (name, *rest) = commands, shlex.split(part)
        while isinstance(command, click.Group):
            name, *rest = rest
            command = subcommand(command, name)

        command.make_context(name, rest, CONTEXT)  # raises UsageError for what it does not take


def test_choices_and_defaults_that_are_written_down_to_load_fast_are_those_of_the_rooms():
    assert settings.KEEPS == KEEPS
    assert set(settings.ROW_FORMATS) == set(FORMS.values())
    assert recipe.SIZES == evaluate.SIZES
