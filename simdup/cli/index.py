"""`simdup index`: a collection in a file, to be asked by `simdup query`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from simdup.cli.options import (
    filter_options,
    filters_from,
    given_from,
    given_options,
    recipe_options,
    settings_from,
)
from simdup.cli.output import writer
from simdup.cli.terminal import INTERRUPTED, progress, tell, warn_of
from simdup.errors import SimdupError
from simdup.index.index import Index
from simdup.report.query import render_info, render_info_json
from simdup.report.text import skips
from simdup.report.wording import count

if TYPE_CHECKING:
    from collections.abc import Callable

    from simdup.index.records import Changes

DAMAGED, TROUBLE_WITH_INPUT = 1, 3

_file = click.argument("file", type=click.Path(readable=False), metavar="FILE")
_paths = click.argument(
    "paths", nargs=-1, required=True, type=click.Path(readable=False), metavar="PATH..."
)
_jobs = click.option(
    "-j",
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    help="Processes.  [default: cores, if worth it]",
)
_quiet = click.option("-q", "--quiet", is_flag=True, help="No progress, warnings and summary.")


@click.group("index")
def index_command() -> None:
    """Keep a collection in a file, to ask it with `simdup query`.

    \b
    Examples:
      simdup index build library.simdup ~/books
      simdup index update library.simdup
    """


@index_command.command("build")
@_file
@_paths
@recipe_options
@filter_options
@_jobs
@_quiet
def build_command(file: str, paths: tuple[str, ...], **options: Any) -> int:  # noqa: ANN401
    """Make the index FILE of the documents under PATH...

    Exits with 0 when done, 2 when it cannot run, 3 when some files could not be read.

    \b
    Examples:
      simdup index build library.simdup ~/books
      simdup index build pages.simdup crawl/ --bits 64 --include '*.html'
    """
    filters = filters_from(options)
    settings = settings_from(options | {"similarity": None, "k": None, "no_verify": False})
    jobs, quiet = options["jobs"], options["quiet"]
    with Index.create(file, settings) as index:
        try:
            return _change(
                index,
                lambda: index.add(paths, filters, jobs=jobs, progress=progress(quiet=quiet)),
                quiet=quiet,
            )
        except SimdupError:
            if not index.batches:  # nothing was done: there was something wrong with PATH
                os.unlink(file)
            raise


@index_command.command("add")
@_file
@_paths
@given_options
@filter_options
@_jobs
@_quiet
def add_command(file: str, paths: tuple[str, ...], **options: Any) -> int:  # noqa: ANN401
    """Add the documents under PATH... to the index FILE.

    Documents that are in it are read again only if they have changed.

    \b
    Examples:
      simdup index add library.simdup ~/more-books
      simdup index add library.simdup notes/today.md
    """
    filters, quiet = filters_from(options), options["quiet"]
    show = progress(quiet=quiet)
    with Index(file, given_from(options)) as index:
        return _change(
            index,
            lambda: index.add(paths, filters, jobs=options["jobs"], progress=show),
            quiet=quiet,
        )


@index_command.command("remove")
@_file
@_paths
@given_options
@_quiet
def remove_command(file: str, paths: tuple[str, ...], **options: Any) -> int:  # noqa: ANN401
    """Take the documents at or under PATH... out of the index FILE; the files stay.

    `simdup index update` does not add them again, `simdup index add` does.

    \b
    Examples:
      simdup index remove library.simdup ~/books/lent
      simdup index remove library.simdup notes/today.md
    """
    with Index(file, given_from(options)) as index:
        return _change(index, lambda: index.remove(paths), quiet=options["quiet"])


@index_command.command("update")
@_file
@given_options
@_jobs
@_quiet
def update_command(file: str, **options: Any) -> int:  # noqa: ANN401
    """Look again at all that was added: add what is new, replace what changed, drop what is gone.

    \b
    Examples:
      simdup index update library.simdup
      simdup index update library.simdup --quiet
    """
    quiet = options["quiet"]
    with Index(file, given_from(options)) as index:
        if index.is_outdated and not quiet:
            tell(f"simdup: {index.path!r} was read by other readers than those of today: all anew")
        return _change(
            index,
            lambda: index.update(jobs=options["jobs"], progress=progress(quiet=quiet)),
            quiet=quiet,
        )


@index_command.command("info")
@_file
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="How to report.",
)
def info_command(file: str, form: str) -> int:
    """Show what is in the index FILE and how it was made.

    \b
    Examples:
      simdup index info library.simdup
      simdup index info library.simdup --format json
    """
    with Index(file) as index:
        info = index.info()
    write = writer(None, as_utf8=form == "json")
    write((render_info_json if form == "json" else render_info)(info))
    return 0


@index_command.command("verify")
@_file
def verify_command(file: str) -> int:
    """Check that the index FILE is whole.

    Exits with 0 if it is, 1 if something in it is damaged, 2 if it cannot be read at all.

    \b
    Examples:
      simdup index verify library.simdup
      simdup index verify library.simdup || simdup index build new.simdup ~/books
    """
    with Index(file) as index:
        found, documents = index.problems(), len(index)
    writer(None, as_utf8=False)(found or [f"whole: {count(documents, 'document')}"])
    return DAMAGED if found else 0


def _change(index: Index, change: Callable[[], Changes], *, quiet: bool) -> int:
    """Change the index and say what was done; after Ctrl-C, how far."""
    try:
        changes = change()
    except KeyboardInterrupt:
        reached = f"after batch {index.batches:,}, with {count(len(index), 'document')}"
        tell(f"simdup: interrupted; {index.path!r} is as it was {reached}")
        return INTERRUPTED
    if not quiet:
        warn_of(changes.skipped)
        for place in changes.refiltered:
            tell(f"simdup: {place!r} had other filters; an update drops what these leave out")
        tell(_summary(changes, len(index)))
    has_trouble = any(each.reason.is_trouble for each in changes.skipped)
    return TROUBLE_WITH_INPUT if has_trouble else 0


def _summary(changes: Changes, documents: int) -> str:
    done = {
        "added": changes.added,
        "replaced": changes.replaced,
        "removed": changes.removed,
        "unchanged": changes.unchanged,
    }
    said = ", ".join(f"{number:,} {what}" for what, number in done.items() if number)
    left = ", ".join(f"{n:,} {reason}" for reason, n in skips(changes.skipped).items())
    whole = f"{count(documents, 'document')} in the index"
    return f"{said or 'nothing changed'}; {whole}" + (f"; skipped {left}" if left else "")
