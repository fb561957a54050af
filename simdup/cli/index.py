"""`simdup index`: keeps a collection of documents in a file that `simdup query` searches."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from simdup.cli import options
from simdup.cli.command import Group
from simdup.cli.output import writer
from simdup.cli.terminal import progress, tell, warn_of
from simdup.errors import SimdupError
from simdup.interrupt import INTERRUPTED
from simdup.report.wording import count
from simdup.settings import PARTS

if TYPE_CHECKING:
    from collections.abc import Callable

    from simdup.index.index import Index
    from simdup.index.records import Changes
    from simdup.settings import Settings

DAMAGED = 1

_WORK = "simdup.index.index"

_file = click.argument("file", type=options.PATH, metavar="FILE")
_paths = click.argument("paths", nargs=-1, required=True, type=options.PATH, metavar="PATH...")


@click.group("index", cls=Group)
def index_command() -> None:
    """Keep a collection of documents in a file, to search it with `simdup query`.

    \b
    Examples:
      simdup index build library.simdup ~/books
      simdup index update library.simdup
    """


@index_command.command("build", work=_WORK)
@_file
@_paths
@options.recipe
@options.filters
@options.flag(
    "--parts",
    "Keep samples of all texts, by which `simdup query --parts` finds the larger text that a text"
    " stands in.",
)
@options.jobs
@options.quiet
def build_command(file: str, paths: tuple[str, ...], **given: Any) -> int:
    """Make the index FILE of the documents under PATH...

    Exits with 0 when done, 2 if it cannot run, 3 if some files could not be read.

    \b
    Examples:
      simdup index build library.simdup ~/books
      simdup index build pages.simdup crawl/ --bits 64 --include '*.html'
      simdup index build library.simdup ~/books --parts
    """
    from simdup.index.index import Index

    given["parts"] = PARTS if given["parts"] else None
    filters, settings = options.filters_from(given), options.settings_from(given)
    with Index.create(file, settings) as index:
        try:
            return _change(index, given, partial(index.add, paths, filters, **_work(given)))
        except SimdupError:
            if not index.batches:  # nothing was added: there was something wrong with PATH
                os.unlink(file)
            raise


@index_command.command("add", work=_WORK)
@_file
@_paths
@options.companions
@options.filters
@options.jobs
@options.quiet
def add_command(file: str, paths: tuple[str, ...], **given: Any) -> int:
    """Add the documents under PATH... to the index FILE.

    Documents that the index contains already are read again only if they have changed.

    \b
    Examples:
      simdup index add library.simdup ~/more-books
      simdup index add library.simdup notes/today.md
    """
    filters = options.filters_from(given)
    with _opened(file, options.companions_from(given)) as index:
        return _change(index, given, partial(index.add, paths, filters, **_work(given)))


@index_command.command("remove", work=_WORK)
@_file
@_paths
@options.companions
@options.quiet
def remove_command(file: str, paths: tuple[str, ...], **given: Any) -> int:
    """Take the documents at or under PATH... out of the index FILE; the files stay.

    `simdup index update` does not add them again, `simdup index add` does.

    \b
    Examples:
      simdup index remove library.simdup ~/books/lent
      simdup index remove library.simdup notes/today.md
    """
    with _opened(file, options.companions_from(given)) as index:
        return _change(index, given, partial(index.remove, paths))


@index_command.command("update", work=_WORK)
@_file
@options.companions
@options.jobs
@options.quiet
def update_command(file: str, **given: Any) -> int:
    """Look again at all that was added: add new files, replace changed ones, remove deleted ones.

    \b
    Examples:
      simdup index update library.simdup
      simdup index update library.simdup --quiet
    """
    with _opened(file, options.companions_from(given)) as index:
        if index.is_outdated and not given["quiet"]:
            tell(f"simdup: {index.path!r}: reading everything again, with newer readers of text")
        return _change(index, given, partial(index.update, **_work(given)))


@index_command.command("info", work=_WORK)
@_file
@options.report_format(["text", "json"], "text")
def info_command(file: str, form: str | None) -> int:
    """Show what is in the index FILE and how it was made.

    \b
    Examples:
      simdup index info library.simdup
      simdup index info library.simdup --format json
    """
    from simdup.report.query import render_info, render_info_json

    with _opened(file) as index:
        info = index.info()
    render = render_info_json if form == "json" else render_info
    writer(None, as_utf8=form == "json")(render(info))
    return 0


@index_command.command("verify", work=_WORK)
@_file
def verify_command(file: str) -> int:
    """Check that nothing in the index FILE is damaged.

    Exits with 0 if nothing is, 1 if something is, 2 if the index cannot be read at all.

    \b
    Examples:
      simdup index verify library.simdup
      simdup index verify library.simdup || simdup index build new.simdup ~/books
    """
    with _opened(file) as index:
        found, documents = index.problems(), len(index)
    writer(None, as_utf8=False)(found or [f"whole: {count(documents, 'document')}"])
    return DAMAGED if found else 0


def _opened(file: str, settings: Settings | None = None) -> Index:
    from simdup.index.index import Index

    return Index(file, settings)


def _work(given: dict[str, Any]) -> dict[str, Any]:
    """Return the keyword arguments for the number of processes and the progress bars."""
    return {"jobs": given["jobs"], "progress": progress(quiet=given["quiet"])}


def _change(index: Index, given: dict[str, Any], change: Callable[[], Changes]) -> int:
    """Change the index and say what was done; after Ctrl-C, say what the index contains."""
    from simdup.report.text import left_out

    try:
        changes = change()
    except KeyboardInterrupt:
        reached = f"after batch {index.batches:,}, with {count(len(index), 'document')}"
        tell(f"simdup: interrupted; {index.path!r} is as it was {reached}")
        return INTERRUPTED
    if not given["quiet"]:
        warn_of(changes.skipped)
        for place in changes.refiltered:
            tell(
                f"simdup: {place!r} had other filters before; the next update applies the new ones"
            )
        tell(_summary(changes, len(index)))
        option = "--noise" if "noise" in given else "simdup index add --noise"
        for line in left_out(changes.skipped, option):
            tell(line)
    has_trouble = any(each.reason.is_trouble for each in changes.skipped)
    return options.TROUBLE_WITH_INPUT if has_trouble else 0


def _summary(changes: Changes, documents: int) -> str:
    """Return the line that says what was changed, and what the index contains now."""
    from simdup.report.text import skipped_in_words

    names = ("added", "replaced", "removed", "unchanged")
    done = [f"{n:,} {name}" for name in names if (n := getattr(changes, name))]
    skipped = skipped_in_words(changes.skipped)
    line = f"{', '.join(done) or 'nothing changed'}; {count(documents, 'document')} in the index"
    return f"{line}; skipped {skipped}" if skipped else line
