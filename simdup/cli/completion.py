"""`simdup completion`: scripts that make a shell complete commands, options and their values."""

from __future__ import annotations

import os

import click
from click.shell_completion import (
    BashComplete,
    FishComplete,
    ShellComplete,
    ZshComplete,
    shell_complete,
)

from simdup.interrupt import COMPLETING

SHELLS = {"bash": BashComplete, "zsh": ZshComplete, "fish": FishComplete}


@click.command("completion")
@click.argument("shell", type=click.Choice([*SHELLS]))
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
    asking = SHELLS[shell](context.find_root().command, {}, "simdup", COMPLETING)
    # The base class's `source`: the class for bash would start a bash to ask for its version.
    script = ShellComplete.source(asking)
    click.echo(script, nl=False)
    return 0


def asked() -> str | None:
    """Return what a completion script asks for; None if no script started this run."""
    return os.environ.get(COMPLETING) or None


def answer(commands: click.Command, instruction: str) -> int:
    """Print the completions that a script asked for and return the exit code.

    Raises UsageError if the request cannot come from a script of ours.
    """
    shell, _, action = instruction.partition("_")
    try:
        if action == "complete" and shell in SHELLS:
            return shell_complete(commands, {}, "simdup", COMPLETING, instruction)
    except (LookupError, ValueError):  # without the other variables, or with broken ones
        pass
    raise click.UsageError(
        f"{COMPLETING} is set, as by a completion script; see `simdup completion --help`"
    )
