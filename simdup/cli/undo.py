"""`simdup undo`: puts back what `simdup clean` did."""

from __future__ import annotations

from typing import NamedTuple

import click

from simdup.cli import options
from simdup.cli.command import Command
from simdup.cli.terminal import progress, tell


class Undo(NamedTuple):
    """The options of `simdup undo`.

    apply: Put the files back. Without this nothing is changed.
    journal: Where --apply writes what it does, for one JOURNAL. [default: in your data folder]
    """

    journals: tuple[str, ...] = options.argument(
        "JOURNAL...", options.PATH, nargs=-1, required=True
    )
    apply: bool = options.flag("--apply", once=True)
    journal: str | None = options.file("--journal", once=True, needs=("--apply",))
    quiet: bool = options.quiet


@click.command("undo", cls=Command, record=Undo, work="simdup.clean.undo")
def undo_command(asked: Undo) -> int:
    """Put back what `simdup clean --apply` did, by the JOURNAL that it wrote.

    Of several journals the last one is undone first. Without --apply this only says what could
    be put back. Nothing is written over, and a file that is not as simdup left it is left alone.
    Deleted files cannot be put back.

    Exits with 0 when all is back, 2 if it cannot start, 3 if some files were refused, 4 if its
    own journal could not be written any more.

    \b
    Examples:
      simdup undo ~/.local/share/simdup/journals/2026-11-22T184502-4711.jsonl
      simdup undo journal.jsonl --apply
    """
    from simdup.clean.undo import undo
    from simdup.report.clean import undo_lines

    if asked.journal is not None and len(asked.journals) > 1:
        raise click.UsageError("--journal needs one JOURNAL")
    codes = [0]
    for each in reversed(asked.journals):
        bars = progress(quiet=asked.quiet)
        outcome = undo(each, apply=asked.apply, journal=asked.journal, progress=bars)
        for line in undo_lines(outcome, is_applied=asked.apply):
            tell(line)
        codes.append(outcome.code)
        if outcome.is_interrupted or outcome.trouble is not None:
            break
    return max(codes)
