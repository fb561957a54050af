"""`simdup completion`: scripts that make a shell complete commands, options and their values."""

from __future__ import annotations

import os

import click
from click.shell_completion import ShellComplete, get_completion_class, shell_complete

from simdup.errors import InputError
from simdup.interrupt import COMPLETING

SHELLS = ("bash", "zsh", "fish")


@click.command("completion")
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion_command(context: click.Context, shell: str) -> int:
    """Print the script that makes SHELL complete simdup's commands and options.

    \b
    To have it in every new shell:
      bash (4.4 or newer)  echo 'eval "$(simdup completion bash)"' >> ~/.bashrc
      zsh (after compinit) echo 'eval "$(simdup completion zsh)"' >> ~/.zshrc
      fish                 simdup completion fish > ~/.config/fish/completions/simdup.fish

    \b
    Examples:
      simdup completion bash
      simdup completion fish
    """
    kind = get_completion_class(shell) or ShellComplete
    # The base class's `source`: the class for bash would start a bash to ask for its version.
    asking = kind(context.find_root().command, {}, "simdup", COMPLETING)
    click.echo(ShellComplete.source(asking), nl=False)
    return 0


def asked() -> str | None:
    """Return what a completion script asks for; None if no script started this run."""
    return os.environ.get(COMPLETING) or None


def answer(commands: click.Command, instruction: str) -> int:
    """Print the completions that a script asked for and return the exit code.

    Raises InputError if the request cannot come from a script of ours.
    """
    shell, _, action = instruction.partition("_")
    try:
        if action == "complete" and shell in SHELLS:
            return shell_complete(commands, {}, "simdup", COMPLETING, instruction)
    except (LookupError, ValueError):  # without the other variables, or with broken ones
        pass
    raise InputError(
        f"{COMPLETING} is set, as by a completion script; see `simdup completion --help`"
    )
