"""`simdup clean` makes a plan of a result or carries out a plan; `simdup undo` takes that back."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from simdup.cli import options
from simdup.cli.command import Command
from simdup.cli.ignore import Ignored

if TYPE_CHECKING:  # these load numpy
    from simdup.clean.rules import Rule

#: The least share of a file in the kept one from which near files may be removed in bulk.
LEAST_FLOOR = 0.8

# The module with the work. It imports this one for its records, and loads numpy.
_WORK = "simdup.cli.cleaning"

#: The consents to more than identical bytes, which most acts do not go with.
WIDER = ("--text", "--formats-too", "--near")


class _Named(click.Path):
    """A path that is not empty."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path. Raises BadParameter for an empty one."""
        return super().convert(value, param, ctx) or self.fail("'' names nothing", param, ctx)


def _rule(text: str) -> Rule:
    from simdup.clean.rules import rule_of

    return rule_of(text)


class Clean(NamedTuple):
    """The options of `simdup clean`.

    prefer: Keep the file that comes first by this rule: newest, oldest, longest, largest,
        shortest-path, shallowest, deepest, first, representative, original-name, format,
        format=docx,..., encoding=utf-8,..., name=GLOB or under=DIR. Several rules are asked in the
        order given; the first difference decides.
    prefer_under: As --prefer under=DIR: your rules are asked before --keep-under.
    protect: Act on nothing under this path.
    only_under: Act on nothing outside this folder.
    protect_name: Act on no file whose name matches.
    work_trees_too: Act also on files in work trees of git and others, in folders of installed
        packages, and of saved web pages.
    text: Also remove plain-text files with the kept file's text in other bytes.
    formats_too: Also remove documents with the same words as the kept file, and compressed files
        with the same text.
    near: Also remove near files of which at least this share is in the kept file: 0.95, 95 or 95%;
        from a result at least {LEAST_FLOOR}. Parts of a text more than twice as long are left.
    newest_too: With --near, also remove the newest of a chain of versions for an older one.
    to: Move the files into this folder, instead of to the trash.
    link: Replace them by hard links to the kept file.
    reflink: Let them share the blocks of the kept file.
    permanently: Delete them for good; only with identical bytes.
    most: Ask for --yes-many if more files of one group would be removed.
    most_files: Ask for --yes-many if more files would be removed.
    yes_many: Confirm that exactly this number of files is to be removed, however many that is.
    target: Write the plan to this file.
    script: Write a shell script that carries out the plan, one file a command.
    apply: Act. Without this nothing is changed.
    skip_unconsented: Leave the files of a PLAN that need an option not given, such as --text.
    journal: Where --apply writes what it does. [default: in your data folder]
    review: Ask at the terminal about each file that is not an identical copy, and write a plan;
        with --output, or with a PLAN into that one.
    resume: Go on with the run that wrote this journal, by the plan in it.
    everything: Show each file. Without this a terminal shows a plan that does not fit the screen by
        kind and folder.
    check: Exit with 1 if there is anything to do.
    verbose: Also show groups of which nothing goes, and why.
    """

    source: str | None = options.argument(
        "RESULT|PLAN", options.PATH, required=False, instead=("--resume",)
    )
    prefer: tuple[Rule, ...] = options.option(
        type=options.ParsedValue("rule", _rule), multiple=True
    )
    prefer_under: tuple[str, ...] = options.file(metavar="DIR", multiple=True)
    priorities: options.Priorities = options.part(options.Priorities)
    protect: tuple[str, ...] = options.file(metavar="PATH", multiple=True)
    only_under: tuple[str, ...] = options.file(metavar="DIR", multiple=True)
    protect_name: tuple[str, ...] = options.option(metavar="GLOB", multiple=True)
    work_trees_too: bool = options.flag(once=True)
    text: bool = options.flag(once=True)
    formats_too: bool = options.flag(once=True)
    near: float | None = options.option(type=options.SHARE, metavar="FLOOR", once=True)
    newest_too: bool = options.flag(once=True, needs=("--near",))
    encoding: str | None = options.encoding
    to: str | None = options.option(
        type=_Named(readable=False),
        metavar="DIR",
        once=True,
        excludes=("--link", "--reflink", "--permanently"),
    )
    link: bool = options.flag(once=True, excludes=("--reflink", "--permanently", *WIDER))
    reflink: bool = options.flag(once=True, excludes=("--permanently", *WIDER))
    permanently: bool = options.flag(once=True, excludes=WIDER)
    most: int = options.number(default=20)
    most_files: int = options.number(default=1000)
    yes_many: int | None = options.number(once=True)
    target: str | None = options.file("-o", "--output", once=True, writes=True)
    script: str | None = options.file(once=True, writes=True)
    apply: bool = options.flag(once=True)
    skip_unconsented: bool = options.flag(once=True, needs=("--apply",))
    journal: str | None = options.option(
        type=_Named(readable=False), metavar="FILE", once=True, writes=True, needs=("--apply",)
    )
    review: bool = options.flag(
        once=True,
        excludes=("--apply", "--check", "--script", "--link", "--reflink", "--permanently"),
    )
    resume: str | None = options.file(
        metavar="JOURNAL",
        once=True,
        needs=("--apply",),
        excludes=(
            *("RESULT|PLAN", "--prefer", "--prefer-under", *options.typed(options.Priorities)),
            *("--protect", "--only-under"),
            *("--protect-name", "--output", "--script", "--journal", "--review", "--check"),
        ),
    )
    everything: bool = options.flag("--all")
    check: bool = options.flag(once=True, excludes=("--apply",))
    verbose: bool = options.flag("-v", "--verbose")
    color: str = options.color
    ignored: Ignored = options.part(Ignored)
    quiet: bool = options.quiet


@click.command("clean", cls=Command, record=Clean, work=_WORK)
def clean_command(asked: Clean) -> int:
    """Plan which duplicates go, and with --apply let them go: to the trash, unless told otherwise.

    RESULT is what `simdup scan --format json` wrote, PLAN what --output wrote; - is stdin.
    Without --apply this only shows what would happen. `simdup undo` takes back what was done.

    Exits with 0 when all is done, 1 with --check if there is something to do, 2 if it cannot
    start, 3 if some files were refused, 4 if the journal could not be written any more.

    \b
    Examples:
      simdup clean found.json -o plan.jsonl
      simdup clean plan.jsonl --apply
    """
    return int(import_module(_WORK).cleaned(asked))


class Undo(NamedTuple):
    """The options of `simdup undo`.

    apply: Put the files back. Without this nothing is changed.
    journal: Where --apply writes what it does, for one JOURNAL. [default: in your data folder]
    """

    journals: tuple[str, ...] = options.argument("[JOURNAL]...", options.PATH, nargs=-1)
    apply: bool = options.flag(once=True, needs=("JOURNAL...",))
    journal: str | None = options.file(once=True, needs=("--apply",))
    quiet: bool = options.quiet


@click.command("undo", cls=Command, record=Undo, work=_WORK)
def undo_command(asked: Undo) -> int:
    """Put back what `simdup clean --apply` did, by the JOURNAL that it wrote.

    Without a JOURNAL this lists the last runs, and offers to undo the last one. Of several
    journals the last one is undone first. Without --apply this only says what could be put
    back. Nothing is written over, and a file that is not as simdup left it is left alone.
    Deleted files cannot be put back.

    Exits with 0 when all is back, 2 if it cannot start, 3 if some files were refused, 4 if its
    own journal could not be written any more.

    \b
    Examples:
      simdup undo
      simdup undo ~/.local/share/simdup/journals/2026-11-22T184502-4711.jsonl
      simdup undo journal.jsonl --apply
    """
    return int(import_module(_WORK).undone(asked))
