"""`simdup undo`: puts back what `simdup clean` did."""

from __future__ import annotations

from typing import Any

import click

from simdup.cli import options
from simdup.cli.command import Command
from simdup.cli.terminal import progress, tell


@click.command("undo", cls=Command, work="simdup.clean.undo")
@click.argument("journals", nargs=-1, required=True, type=options.PATH, metavar="JOURNAL...")
@options.flag("--apply", "Put the files back. Without this nothing is changed.")
@options.file("--journal", "Where --apply writes what it does.  [default: in your data folder]")
@options.quiet
def undo_command(journals: tuple[str, ...], **given: Any) -> int:
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

    if given["journal"] is not None and (len(journals) > 1 or not given["apply"]):
        raise click.UsageError("--journal goes with --apply and one JOURNAL")
    codes = [0]
    for each in reversed(journals):
        bars = progress(quiet=given["quiet"])
        outcome = undo(each, apply=given["apply"], journal=given["journal"], progress=bars)
        for line in undo_lines(outcome, is_applied=given["apply"]):
            tell(line)
        codes.append(outcome.code)
        if outcome.is_interrupted or outcome.trouble is not None:
            break
    return max(codes)
