"""The command line: the only prints, the only exits. One module a command.

Results go to stdout; progress, warnings and the summary to stderr.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING

import click

from simdup.cli.completion import answer, asked
from simdup.cli.terminal import INTERRUPTED, tell
from simdup.compute.memory import check_that_numpy_loads
from simdup.errors import SimdupError, import_root
from simdup.report.wording import printable

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

TROUBLE = 2

COMMANDS = (
    *("cache", "compare", "completion", "corpus", "evaluate", "ignore", "index", "query"),
    *("report", "scan"),
)


class Commands(click.Group):
    """Commands by name, each imported when it is asked for: together they take a while."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Their names."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """The command of a name, if there is one."""
        if cmd_name not in COMMANDS:
            return None
        room = import_module(f"simdup.cli.{cmd_name}")
        command: click.Command = getattr(room, f"{cmd_name}_command")
        return command


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    invoke_without_command=True,  # for --version
    no_args_is_help=True,
)
@click.option("--version", is_flag=True, help="Show the version and exit.")
@click.option("--verbose", is_flag=True, help="With --version: also kernels and packages.")
@click.pass_context
def commands(context: click.Context, *, version: bool, verbose: bool) -> None:
    """Find files that hold the same text: same bytes, another encoding or format, or edited.

    \b
    Examples:
      simdup scan ~/docs
      simdup compare draft.txt final.txt --diff
    """
    if version:
        from simdup.cli.version import version_lines  # noqa: PLC0415  imports numpy: see `main`

        click.echo("\n".join(version_lines(is_verbose=verbose)))
        context.exit()
    if verbose:
        raise click.UsageError("--verbose goes with --version", context)
    if context.invoked_subcommand is None:
        raise click.UsageError("Missing command.", context)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the program and exit; whatever is wrong is one line on stderr.

    Commands are imported here and not before, and numpy with them: that may fail for want of
    memory, and Python would exit with 1, which means "found".
    """
    _open_what_is_closed()
    try:
        check_that_numpy_loads()
        code = _run(sys.argv[1:] if arguments is None else list(arguments))
    except BrokenPipeError:
        code = 0  # whoever read the output has enough
    except KeyboardInterrupt:
        code = _complain("interrupted", INTERRUPTED)
    except click.exceptions.NoArgsIsHelpError as nothing:
        tell(nothing.format_message())
        code = TROUBLE
    except click.ClickException as wrong:
        code = _complain(wrong.format_message() + _hint(wrong), wrong.exit_code)
    except Exception as error:
        line = _trouble(error)
        if line is None:
            raise
        code = _complain(line, TROUBLE)
    _let_go()
    sys.exit(code)


def _run(arguments: list[str]) -> int:
    """The exit code of a command. Not click's own `main`, which answers a closed pipe with 1."""
    if instruction := asked():
        return answer(commands, instruction)
    try:
        with commands.make_context("simdup", arguments) as context:
            return int(commands.invoke(context) or 0)
    except click.exceptions.Exit as done:  # --help and --version
        return done.exit_code


def _open_what_is_closed() -> None:
    """Give streams that the caller closed the null device, before a file takes their number.

    Input and results the wrong way round, so that using them is an error and not silence.
    """
    for name, mode in (("stdin", "w"), ("stdout", "r"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115


def _let_go() -> None:
    """Drop what is buffered for a stream that nobody reads any more: Python would complain."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _trouble(error: Exception) -> str | None:
    """What is wrong, in a line; None for a fault of our own."""
    match error:
        case SimdupError() | ValueError():
            return str(error)
        case OSError():
            where = f"{error.filename!r}: " if error.filename else ""
            return f"{where}{error.strerror or error}"
        case MemoryError():
            return "out of memory"
        case ImportError():
            return f"cannot be loaded: {import_root(error)}"
        case RuntimeError() if "start new thread" in str(error):  # Python's words for it
            return "cannot start a thread: too many processes run, or memory is out"
    return None


def _hint(wrong: click.ClickException) -> str:
    context = getattr(wrong, "ctx", None)
    return f" (see `{context.command_path} --help`)" if context else ""


def _complain(message: str, code: int) -> int:
    tell(f"simdup: {printable(' '.join(message.split()))}")
    return code
