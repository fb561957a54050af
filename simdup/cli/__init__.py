"""The command line, the only code that prints or exits; most commands have a module of their own.

Results go to stdout; progress, warnings and the summary to stderr. Read `options` first, where
records of options are declared, then `relations`, which says which options go together, and
`command`, which makes click commands of both. `configuration` reads defaults from files.
`cleaning` does the work of `clean` and `undo`.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from io import UnsupportedOperation
from itertools import takewhile
from typing import NoReturn

import click

from simdup.cli.completion import answer, asked
from simdup.cli.output import tell
from simdup.compute.memory import check_that_numpy_loads
from simdup.errors import SimdupError, import_root
from simdup.interrupt import INTERRUPTED
from simdup.report.wording import as_typed, printable

#: Exit codes: something the user named cannot be done, and simdup itself is at fault.
#: Source of the second: EX_SOFTWARE of sysexits.h.
TROUBLE, FAULT = 2, 70

_NO_MEMORY = "out of memory"
_FULL = ", perhaps for temporary files: TMPDIR names another folder"

# The first sentence of each command's help, so that listing the commands imports none of them.
SUMMARIES = {
    "cache": "Show or clear the store, which lets scans skip files that they read before.",
    "clean": "Plan which duplicates go, and with --apply let them go: to the trash, unless told"
    " otherwise.",
    "compare": "Say how much the texts of A and B are alike.",
    "completion": "Print the script that makes SHELL complete simdup's commands and options.",
    "corpus": "Compare documents that are rows of JSON Lines, CSV, TSV or Parquet files.",
    "evaluate": "Measure how well fingerprints tell duplicates from other texts, by size.",
    "help": "Print a page of the manual; without TOPIC list the pages.",
    "ignore": "Mark files as not duplicates; scans then leave their pairs out and count them.",
    "index": "Keep a collection of documents in a file, to search it with `simdup query`.",
    "query": "Find the documents in INDEX that are like FILE...; - is stdin.",
    "report": "Show RESULT again, which `simdup scan --format json` or jsonl printed; - is stdin.",
    "scan": "Group the documents under PATH... that hold the same text.",
    "undo": "Put back what `simdup clean --apply` did, by the JOURNAL that it wrote.",
}


# The commands that are not in a module of their own name.
_ELSEWHERE = {"undo": "clean"}


def load_command(name: str) -> click.Command:
    """Import the command of this name."""
    module = import_module(f"simdup.cli.{_ELSEWHERE.get(name, name)}")
    command: click.Command = getattr(module, f"{name}_command")
    return command


class CommandsLoadedByName(click.Group):
    """A group of commands that are only names and summaries, until one of them is to be run.

    Importing all of them takes several times as long as click itself.
    """

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Import the command that the first argument names."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, load_command(name) if name and command else None, rest


@click.group(
    cls=CommandsLoadedByName,
    commands={name: click.Command(name, help=text) for name, text in SUMMARIES.items()},
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    invoke_without_command=True,  # for --version
    no_args_is_help=True,
)
@click.option("--version", is_flag=True, help="Show the version and exit.")
@click.option("--verbose", is_flag=True, help="With --version: also kernels and packages.")
@click.option("--debug", is_flag=True, help="Show where in simdup an error came up.")
@click.pass_context
def commands(context: click.Context, *, version: bool, verbose: bool, debug: bool) -> None:  # noqa: ARG001  (`main` reads it)
    """Find files that hold the same text: same bytes, another encoding or format, or edited.

    \b
    Examples:
      simdup scan ~/docs
      simdup compare draft.txt final.txt --diff
    """
    if version:
        from simdup import versions

        click.echo(f"simdup, version {versions.version('simdup')}")
        if verbose:
            from simdup.compute.compiled import is_installed

            click.echo("\n".join(versions.environment(is_compiled=is_installed())))
        context.exit()
    if verbose or context.invoked_subcommand is None:
        wrong = "--verbose needs --version" if verbose else "Missing command."
        raise click.UsageError(wrong, context)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the program and exit; whatever is wrong is one line on stderr.

    Commands are imported in here, and numpy when they run. An import may fail for want of memory;
    outside of this function Python would then exit with 1, which means "found".
    """
    _open_what_is_closed()
    words = sys.argv[1:] if arguments is None else list(arguments)
    try:
        check_that_numpy_loads()
        code = _run(words.copy())  # click takes the words out of its list
    except BrokenPipeError:
        code = 0  # whoever read the output has enough
    except KeyboardInterrupt:
        code = INTERRUPTED if asked() else _complain("interrupted", INTERRUPTED)
    except click.exceptions.NoArgsIsHelpError as nothing:
        tell(nothing.format_message())
        code = TROUBLE
    except click.ClickException as wrong:
        code = _complain(wrong.format_message() + _hint(wrong), wrong.exit_code)
    except Exception as error:  # noqa: BLE001  (the last one to catch it)
        code = _failed(error, is_debugging=_is_debugging(words))
    _flush_or_drop_output()
    sys.exit(code)


def _run(arguments: list[str]) -> int:
    """Run a command and return its exit code; click's own `main` answers a closed pipe with 1."""
    if instruction := asked():
        return answer(commands, instruction)
    try:
        with commands.make_context("simdup", arguments) as context:
            return int(commands.invoke(context) or 0)
    except click.exceptions.Exit as done:  # --help and --version
        return done.exit_code


def _open_what_is_closed() -> None:
    """Open the null device for each standard stream that the caller closed.

    A file opened later would else take its number. Input is opened for writing and output for
    reading, so that using them is an error instead of silence.
    """
    for name, mode in (("stdin", "w"), ("stdout", "r"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115


def _flush_or_drop_output() -> None:
    """Flush stdout and stderr; drop what nobody reads any more, since Python would complain."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _is_debugging(arguments: list[str]) -> bool:
    """Whether the user asked for tracebacks, with the option of the group or the variable."""
    of_the_group = takewhile(lambda word: word.startswith("-"), arguments)
    return "--debug" in of_the_group or os.environ.get("SIMDUP_DEBUG", "") not in {"", "0"}


def _failed(error: Exception, *, is_debugging: bool) -> int:
    """Report an error in one line, after its traceback if that is wanted; return the exit code."""
    line = _trouble(error)
    if is_debugging and line != _NO_MEMORY:  # showing where takes memory, too
        from traceback import format_exception

        tell("".join(format_exception(type(error), error, error.__traceback__)).rstrip("\n"))
    if line:
        return _complain(line, TROUBLE)
    what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    ask = "" if is_debugging else "; please report this with the output of `simdup --debug ...`"
    return _complain(f"a fault of simdup: {what}{ask}", FAULT)


def _trouble(error: Exception) -> str | None:
    """Say in a line what is wrong outside simdup; None for a fault of simdup itself."""
    match error:
        case SimdupError():
            return str(error)
        case RuntimeError(args=["can't start new thread"]) | BlockingIOError(filename=None):  # fork
            return "cannot start a process or thread: too many run, or memory is out"
        case OSError(errno=int()) | UnsupportedOperation():  # the system said so
            where = f"{error.filename!r}: " if error.filename else ""
            is_full = not where and error.errno in {errno.ENOSPC, errno.EFBIG}
            return f"{where}{error.strerror or error}" + is_full * _FULL
        case MemoryError() | SystemError():  # Python's words where a MemoryError got lost
            return _NO_MEMORY
        case ImportError() if not (error.name or "").startswith("simdup"):
            return f"cannot be loaded: {import_root(error)}"
    return None


def _hint(wrong: click.ClickException) -> str:
    context = getattr(wrong, "ctx", None)
    if context is None:
        return ""
    name = getattr(wrong, "command_name", None)  # older versions of click do not tell it
    if name and "scan" in context.command.commands and os.path.exists(name):
        return f" (did you mean `{context.command_path} scan {as_typed([name])}`?)"
    return f" (see `{context.command_path} --help`)"


def _complain(message: str, code: int) -> int:
    tell(f"simdup: {printable(' '.join(map(str.strip, message.splitlines())))}")
    return code
