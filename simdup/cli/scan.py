"""`simdup scan`: the groups of near-duplicate documents in some folders."""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simdup.cli.cache import store_at, store_files
from simdup.cli.ignore import ignored_from, ignored_options, list_read
from simdup.cli.options import (
    color_option,
    dictionaries_of,
    filter_options,
    filters_from,
    linkage_option,
    output_option,
    settings_from,
    settings_options,
)
from simdup.cli.output import refuse_same_files, writer
from simdup.cli.page import page_options, page_writer
from simdup.cli.scan_index import features_of, refuse_beside_index, scan_index
from simdup.cli.terminal import INTERRUPTED, look, progress, tell, warn_of
from simdup.errors import InterruptedScan
from simdup.files.scan import scan
from simdup.report import json_csv as data
from simdup.report import text
from simdup.report.text import summary
from simdup.report.wording import count
from simdup.storage.home import NoHomeError
from simdup.storage.sqlite import files_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from simdup.records import Document, ScanResult
    from simdup.report.terminal import TerminalStyle
    from simdup.storage.store import Store

FOUND, TROUBLE_WITH_INPUT = 1, 3

# Those that can say of a result that it is not whole.
FORMATS_OF_PARTS = frozenset({"json", "jsonl"})

FORMATS: dict[str, Callable[[ScanResult], Iterable[str]]] = {
    "text": text.render,
    "json": data.render_json,
    "jsonl": data.render_jsonl,
    "csv": data.render_csv,
    "fdupes": text.render_names,
}


@click.command("scan")
@click.argument("paths", nargs=-1, type=click.Path(readable=False), metavar="PATH...")
@settings_options
@linkage_option
@click.option(
    "--index",
    "index_file",
    type=click.Path(readable=False),
    metavar="FILE",
    help="Group all documents of an index instead of PATH...; files are read only to verify.",
)
@click.option(
    "--against",
    multiple=True,
    type=click.Path(readable=False),
    metavar="REF",
    help="Only pairs of a PATH and a REF.",
)
@filter_options
@click.option(
    "--files-from",
    type=click.Path(readable=False, allow_dash=True),
    metavar="FILE",
    help="Read the files named there; - is stdin.",
)
@click.option(
    "-0",
    "--null",
    is_flag=True,
    help="Names in --files-from end in NUL; so do printed ones, unless --format is given.",
)
@click.option(
    "--format", "form", type=click.Choice(list(FORMATS)), help="How to report.  [default: text]"
)
@output_option
@page_options("groups; with --index none")
@color_option
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    help="Processes.  [default: cores, if worth it]",
)
@click.option(
    "--cache",
    type=click.Path(readable=False),
    metavar="FILE",
    help="Remember there what was read.  [default: SIMDUP_CACHE, or in your folder of caches]",
)
@click.option("--no-cache", is_flag=True, help="Remember nothing, and read everything again.")
@ignored_options
@click.option("--fail-on-found", is_flag=True, help="Exit with 1 when there is a group.")
@click.option("-q", "--quiet", is_flag=True, help="No progress, warnings and summary.")
def scan_command(paths: tuple[str, ...], **options: Any) -> int:  # noqa: ANN401
    """Group the documents under PATH... that hold the same text.

    Exits with 0 when done, 1 with --fail-on-found when there is a group, 2 when it
    cannot run, 3 when some files could not be read.

    \b
    Examples:
      simdup scan ~/docs
      simdup scan new/ --against archive/ --similarity 0.8 --format json
    """
    _refuse_same_files(paths, options)
    file = options["index_file"]
    if file is not None:
        options["features"] = features_of(file, options)
    settings = settings_from(options, options.pop("linkage"))
    filters = filters_from(options)
    form, null, quiet = options["form"], options["null"], options["quiet"]
    if file is None:
        paths, are_files = _paths(paths, options["files_from"], null=null)
    else:
        refuse_beside_index(paths)
        are_files = False
    shape = look(options["color"], options["target"])
    render = _renderer(form, shape, null=null, is_list_null=are_files)
    ignored = ignored_from(options)
    show = progress(quiet=quiet)
    write = writer(options["target"], as_utf8=form in FORMATS_OF_PARTS)
    texts = "groups" if file is None else "none"
    write_page = page_writer(options, texts, _as_it_is)
    is_wanted = file is None and not options["no_cache"]
    store = _store(options["cache"], is_wanted=is_wanted, quiet=quiet)
    try:
        result = (
            scan(
                paths,
                settings,
                filters,
                against=options["against"],
                are_files=are_files,
                jobs=options["jobs"],
                store=store,
                ignored=ignored,
                progress=show,
            )
            if file is None
            else scan_index(file, settings, show, ignored)
        )
    except InterruptedScan as interrupted:
        if form in FORMATS_OF_PARTS:
            write(render(interrupted.result))
        tell(f"simdup: {_interruption(store)}")
        return INTERRUPTED
    finally:
        if store is not None:
            store.close()
    try:
        write(render(result))
    finally:  # whoever reads the output may have enough of it
        write_page(result, show)
    if not quiet:
        warn_of(result.skipped)
        for line in summary(result):
            tell(line)
    if result.has_trouble:
        return TROUBLE_WITH_INPUT
    return FOUND if options["fail_on_found"] and result.groups else 0


def _refuse_same_files(paths: tuple[str, ...], options: dict[str, Any]) -> None:
    """Raise UsageError if an output would replace something that the user named as an input.

    Files inside folders and in a list are not checked: the last report may well be among them.
    """
    inputs = [
        *(("PATH", path) for path in paths),
        *(("REF", path) for path in options["against"]),
        ("--files-from", options["files_from"]),
        *(("--index", path) for path in _files_of(options["index_file"])),
        ("the list of ignored pairs", list_read(options)),
        *dictionaries_of(options),
    ]
    refuse_same_files([("--cache", options["cache"])], inputs)
    if options["index_file"] is None and not options["no_cache"]:
        inputs += [("the store", path) for path in store_files(options["cache"])]
    refuse_same_files([("--html", options["html"]), ("--output", options["target"])], inputs)


def _files_of(index: str | None) -> list[str]:
    return [] if index is None else [str(each) for each in files_of(Path(index))]


def _as_it_is(document: Document) -> Document:
    """The document: reading it finds out whether the file has changed since."""
    return document


def _store(named: str | None, *, is_wanted: bool, quiet: bool) -> Store | None:
    if named is not None and not is_wanted:
        raise click.UsageError("--cache and --no-cache exclude each other")
    try:
        return store_at(named, quiet=quiet) if is_wanted else None
    except NoHomeError as error:
        if not quiet:
            lost = "going on without the store and the list of ignored pairs"
            tell(f"simdup: {error} (--cache, --ignored); {lost}")
        return None


def _interruption(store: Store | None) -> str:
    """What to say after Ctrl-C."""
    if store is None or not store.kept:
        return "interrupted"
    kept = count(store.kept, "more file")
    return f"interrupted; {kept} remembered, the next scan goes on from there"


def _paths(
    paths: tuple[str, ...], files_from: str | None, *, null: bool
) -> tuple[tuple[str, ...], bool]:
    """What to read, and whether that is a list of files."""
    if bool(paths) == (files_from is not None):
        raise click.UsageError("give either PATH... or --files-from FILE")
    if files_from is None:
        return paths, False
    if files_from == "-":
        if not sys.stdin.readable():
            raise click.UsageError("--files-from - reads stdin, which is closed")
        data = sys.stdin.buffer.read()
    else:
        with open(files_from, "rb") as file:
            data = file.read()
    names = data.split(b"\0" if null else b"\n")
    return tuple(os.fsdecode(name) for name in names if name), True


def _renderer(
    form: str | None, shape: TerminalStyle, *, null: bool, is_list_null: bool
) -> Callable[[ScanResult], Iterable[str] | Iterable[bytes]]:
    """The function that renders the result; with -0 alone that is fdupes's list."""
    if null and form in {None, "fdupes"}:
        return text.render_null
    if null and not is_list_null:
        raise click.UsageError(f"-0 goes with --format fdupes or --files-from, not {form}")
    if form in {None, "text"}:
        return partial(text.render, look=shape)
    return FORMATS[form]
