"""`simdup index`: keeps a collection of documents in a file that `simdup query` searches."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import click

import simdup
from simdup.cli import options
from simdup.cli.command import Group
from simdup.cli.output import progress, tell, warn_of, writer
from simdup.errors import SimdupError
from simdup.interrupt import INTERRUPTED
from simdup.report.wording import count
from simdup.settings import PARTS, Settings

DAMAGED = 1

_WORK = "simdup.index.index"

_file = options.argument("FILE", options.PATH)
_trees = options.argument("PATH...", options.PATH, nargs=-1, required=True, is_tree=True)


class Build(NamedTuple):
    """The options of `simdup index build`.

    parts: Keep samples of all texts, by which `simdup query --parts` finds the larger text that a
        text stands in.
    """

    file: str = _file
    paths: tuple[str, ...] = _trees
    fingerprint: options.Fingerprint = options.part(options.Fingerprint)
    reading: options.Reading = options.part(options.Reading)
    filtering: options.Filtering = options.part(options.Filtering)
    parts: bool = options.flag(needs=("--features shingles",))
    jobs: int | None = options.jobs
    quiet: bool = options.quiet


class Add(NamedTuple):
    """The options of `simdup index add`."""

    file: str = _file
    paths: tuple[str, ...] = _trees
    companions: options.Companions = options.part(options.Companions)
    filtering: options.Filtering = options.part(options.Filtering)
    jobs: int | None = options.jobs
    quiet: bool = options.quiet


class Remove(NamedTuple):
    """The options of `simdup index remove`."""

    file: str = _file
    paths: tuple[str, ...] = options.argument("PATH...", options.PATH, nargs=-1, required=True)
    companions: options.Companions = options.part(options.Companions)
    quiet: bool = options.quiet


class Update(NamedTuple):
    """The options of `simdup index update`."""

    file: str = _file
    companions: options.Companions = options.part(options.Companions)
    jobs: int | None = options.jobs
    quiet: bool = options.quiet


class IndexInfo(NamedTuple):
    """The options of `simdup index info`."""

    file: str = _file
    form: str = options.report_format(["text", "json"])


class Verify(NamedTuple):
    """The options of `simdup index verify`."""

    file: str = _file


@click.group("index", cls=Group)
def index_command() -> None:
    """Keep a collection of documents in a file, to search it with `simdup query`.

    \b
    Examples:
      simdup index build library.simdup ~/books
      simdup index update library.simdup
    """


@index_command.command("build", record=Build, work=_WORK)
def build_command(asked: Build) -> int:
    """Make the index FILE of the documents under PATH...

    Exits with 0 when done, 2 if it cannot run, 3 if some files could not be read.

    \b
    Examples:
      simdup index build library.simdup ~/books
      simdup index build pages.simdup crawl/ --bits 64 --include '*.html'
      simdup index build library.simdup ~/books --parts
    """
    parts = PARTS if asked.parts else None
    settings = Settings(asked.fingerprint.recipe(), parts=parts, **asked.reading._asdict())
    filters, file = asked.filtering.filters(), asked.file
    with simdup.Index.create(file, settings) as index:
        try:
            return _change(index, asked, partial(index.add, asked.paths, filters, **_work(asked)))
        except SimdupError:
            if not index.batches:  # nothing was added: there was something wrong with PATH
                os.unlink(file)
            raise


@index_command.command("add", record=Add, work=_WORK)
def add_command(asked: Add) -> int:
    """Add the documents under PATH... to the index FILE.

    Documents that the index contains already are read again only if they have changed.

    \b
    Examples:
      simdup index add library.simdup ~/more-books
      simdup index add library.simdup notes/today.md
    """
    filters = asked.filtering.filters()
    with simdup.Index(asked.file, asked.companions.settings()) as index:
        return _change(index, asked, partial(index.add, asked.paths, filters, **_work(asked)))


@index_command.command("remove", record=Remove, work=_WORK)
def remove_command(asked: Remove) -> int:
    """Take the documents at or under PATH... out of the index FILE; the files stay.

    `simdup index update` does not add them again, `simdup index add` does.

    \b
    Examples:
      simdup index remove library.simdup ~/books/lent
      simdup index remove library.simdup notes/today.md
    """
    with simdup.Index(asked.file, asked.companions.settings()) as index:
        return _change(index, asked, partial(index.remove, asked.paths))


@index_command.command("update", record=Update, work=_WORK)
def update_command(asked: Update) -> int:
    """Look again at all that was added: add new files, replace changed ones, remove deleted ones.

    \b
    Examples:
      simdup index update library.simdup
      simdup index update library.simdup --quiet
    """
    with simdup.Index(asked.file, asked.companions.settings()) as index:
        if index.is_outdated and not asked.quiet:
            tell(f"simdup: {index.path!r}: reading everything again, with newer readers of text")
        return _change(index, asked, partial(index.update, **_work(asked)))


@index_command.command("info", record=IndexInfo, work=_WORK)
def info_command(asked: IndexInfo) -> int:
    """Show what is in the index FILE and how it was made.

    \b
    Examples:
      simdup index info library.simdup
      simdup index info library.simdup --format json
    """
    from simdup.report.query import render_info, render_info_json

    with simdup.Index(asked.file) as index:
        info = index.info()
    render = render_info_json if asked.form == "json" else render_info
    writer(None, as_utf8=asked.form == "json")(render(info))
    return 0


@index_command.command("verify", record=Verify, work=_WORK)
def verify_command(asked: Verify) -> int:
    """Check that nothing in the index FILE is damaged.

    Exits with 0 if nothing is, 1 if something is, 2 if the index cannot be read at all.

    \b
    Examples:
      simdup index verify library.simdup
      simdup index verify library.simdup || simdup index build new.simdup ~/books
    """
    with simdup.Index(asked.file) as index:
        found, documents = index.problems(), len(index)
    writer(None, as_utf8=False)(found or [f"whole: {count(documents, 'document')}"])
    return DAMAGED if found else 0


def _work(asked: Build | Add | Update) -> dict[str, Any]:
    """Return the keyword arguments for the number of processes and the progress bars."""
    return {"jobs": asked.jobs, "progress": progress(quiet=asked.quiet)}


def _change(
    index: simdup.Index, asked: Build | Add | Remove | Update, change: Callable[[], simdup.Changes]
) -> int:
    """Change the index and say what was done; after Ctrl-C, say what the index contains."""
    from simdup.report.text import left_out

    try:
        changes = change()
    except KeyboardInterrupt:
        reached = f"after batch {index.batches:,}, with {count(len(index), 'document')}"
        tell(f"simdup: interrupted; {index.path!r} is as it was {reached}")
        return INTERRUPTED
    if not asked.quiet:
        warn_of(changes.skipped)
        for place in changes.refiltered:
            tell(
                f"simdup: {place!r} had other filters before; the next update applies the new ones"
            )
        tell(_summary(changes, len(index)))
        has_filters = isinstance(asked, Build | Add)
        option = "--noise" if has_filters else "simdup index add --noise"
        tell(*left_out(changes.skipped, option))
    has_trouble = any(each.reason.is_trouble for each in changes.skipped)
    return options.TROUBLE_WITH_INPUT if has_trouble else 0


def _summary(changes: simdup.Changes, documents: int) -> str:
    """Return the line that says what was changed, and what the index contains now."""
    from simdup.report.text import skipped_in_words

    names = ("added", "replaced", "removed", "unchanged")
    done = [f"{n:,} {name}" for name in names if (n := getattr(changes, name))]
    skipped = skipped_in_words(changes.skipped)
    line = f"{', '.join(done) or 'nothing changed'}; {count(documents, 'document')} in the index"
    return f"{line}; skipped {skipped}" if skipped else line
