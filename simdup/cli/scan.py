"""`simdup scan`: the groups of near-duplicate documents in folders or in an index."""

from __future__ import annotations

import os
from dataclasses import fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from simdup.cli import options
from simdup.cli.cache import open_store, store_files
from simdup.cli.command import Command
from simdup.cli.ignore import ignored_digests, ignored_file, ignored_options
from simdup.cli.output import refuse_same_files, writer
from simdup.cli.page import page_options, page_writer
from simdup.cli.shown import check_shown, renderer, shown_options
from simdup.cli.terminal import clear_bars, progress, tell, warn_of
from simdup.errors import InputError, InterruptedScan
from simdup.interrupt import INTERRUPTED
from simdup.report.wording import count

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from simdup.cli.output import Lines, Write
    from simdup.progress import Progress
    from simdup.records import ScanResult
    from simdup.settings import Settings
    from simdup.storage.store import Store

# The formats that can say that a result is incomplete.
FORMATS_OF_PARTS = frozenset({"json", "jsonl"})

FORMATS = ("text", "json", "jsonl", "csv", "names", "fdupes")


class _Task(NamedTuple):
    """A scan whose options were checked, ready to run."""

    find_groups: Callable[..., ScanResult]
    """Does the work, given `progress`."""
    store: Store | None
    render: Callable[[ScanResult], Lines]
    write: Write
    write_page: Callable[[ScanResult, Progress], None]


@click.command("scan", cls=Command, work="simdup.files.scan")
@click.argument("paths", nargs=-1, type=options.PATH, metavar="[PATH]...")
@options.file_matching
@options.linkage
@options.parts
@options.file(
    "--index",
    "Group the documents of this index instead of PATH...; files are read only to verify.",
)
@options.file(
    "--against",
    "Compare files under PATH... only with files under REF, not with each other.",
    metavar="REF",
    multiple=True,
)
@options.filters
@options.flag(
    "--archives",
    "Also read the members of zip and tar files, packed or not, as documents of their own; no"
    " command acts on them.",
)
@options.file("--files-from", "Read the files that are listed in FILE, one a line; - is stdin.")
@options.flag(
    "-0",
    "--null",
    "Names in the list of --files-from end in NUL; unless --format is given, so do the names"
    " that are printed.",
)
@options.report_format(FORMATS, "text")
@shown_options
@options.output
@page_options("groups; with --index none")
@options.color
@options.jobs
@options.file(
    "--cache",
    "The store, which lets the next scan skip unchanged files."
    "  [default: SIMDUP_CACHE, or a file in your cache folder]",
)
@options.flag("--no-cache", "Use no store: read everything, remember nothing.")
@ignored_options
@options.fail_on_found
@options.quiet
def scan_command(paths: tuple[str, ...], **given: Any) -> int:
    """Group the documents under PATH... that hold the same text.

    Exits with 0 when done, 1 with --fail-on-found if there is a group, 2 if it cannot run, 3
    if some files could not be read.

    \b
    Examples:
      simdup scan ~/docs
      simdup scan new/ --against archive/ --similarity 0.8 --format json
    """
    from simdup.report.text import closing

    task, show = _task(paths, given), progress(quiet=given["quiet"])
    try:
        result = task.find_groups(progress=show)
    except InterruptedScan as interrupted:
        clear_bars()
        if given["form"] in FORMATS_OF_PARTS:
            task.write(task.render(interrupted.result))
        tell(f"simdup: {_interruption(task.store)}")
        return INTERRUPTED
    finally:
        if task.store is not None:
            task.store.close()
    try:
        task.write(task.render(result))
    finally:  # whoever reads the output may have enough of it
        task.write_page(result, show)
    if not given["quiet"]:
        warn_of(result.skipped)
        for line in () if given["summary"] else closing(result, siblings=given["siblings"]):
            tell(line)
    return options.exit_code(result, given)


def _task(paths: tuple[str, ...], given: dict[str, Any]) -> _Task:
    """Check all options before any work. Raises UsageError and InputError."""
    from simdup.files.scan import scan

    _refuse_same_files(paths, given)
    check_shown(given)
    index = given["index"]
    if index is not None:
        _refuse_beside_index(paths)
        given["features"] = _features_of(index, given)
    settings, filters = options.settings_from(given), options.filters_from(given)
    if index is None:
        paths = _paths(paths, given)
    render, ignored = _renderer(given), ignored_digests(given)
    write = writer(given["target"], as_utf8=given["form"] in FORMATS_OF_PARTS)
    write_page = page_writer(given, "groups" if index is None else "none", lambda each: each)
    if index is not None:
        find_groups = partial(_scan_index, index, settings, ignored)
        return _Task(find_groups, None, render, write, write_page)
    store = _store(given)
    find_groups = partial(
        scan,
        paths,
        settings,
        filters,
        against=given["against"],
        are_files=given["files_from"] is not None,
        jobs=given["jobs"],
        store=store,
        ignored=ignored,
        archives=given["archives"],
    )
    return _Task(find_groups, store, render, write, write_page)


def _refuse_same_files(paths: tuple[str, ...], given: dict[str, Any]) -> None:
    """Raise UsageError if an output would replace something that the user named as an input.

    Files inside folders and in a list are not checked: the last report may well be among them.
    """
    index = given["index"]
    inputs = [
        *(("PATH", path) for path in paths),
        *(("REF", path) for path in given["against"]),
        ("--files-from", given["files_from"]),
        *(("--index", path) for path in _index_files(index)),
        ("the list of ignored pairs", ignored_file(given)),
        *options.dictionary_files(given),
    ]
    refuse_same_files([("--cache", given["cache"])], inputs)
    if index is None and not given["no_cache"]:
        inputs += [("the store", path) for path in store_files(given["cache"])]
    refuse_same_files([("--html", given["html"]), ("--output", given["target"])], inputs)


def _index_files(index: str | None) -> list[str]:
    """Return the paths of the files of an index; none without an index."""
    if index is None:
        return []
    from simdup.storage.sqlite import files_of

    return files_of(index)


def _store(given: dict[str, Any]) -> Store | None:
    """Open the store, unless the user wants none or has no home folder to keep it in."""
    from simdup.storage.home import NoHomeError

    named, quiet = given["cache"], given["quiet"]
    if named is not None and given["no_cache"]:
        raise click.UsageError("--cache and --no-cache exclude each other")
    try:
        return None if given["no_cache"] else open_store(named, quiet=quiet)
    except NoHomeError as error:
        if not quiet:
            lost = "going on without the store and the list of ignored pairs"
            tell(f"simdup: {error} (--cache, --ignored); {lost}")
        return None


def _interruption(store: Store | None) -> str:
    """Return what to say after Ctrl-C."""
    if store is None or not store.kept:
        return "interrupted"
    kept = count(store.kept, "more file")
    return f"interrupted; {kept} remembered, the next scan goes on from there"


def _paths(paths: tuple[str, ...], given: dict[str, Any]) -> tuple[str, ...]:
    """Return the paths to read: PATH..., or the lines of `--files-from`."""
    files_from = given["files_from"]
    if files_from is None:
        return paths or (os.curdir,)
    if paths:
        raise click.UsageError("give either PATH... or --files-from FILE")
    if files_from == "-":
        lines = options.stdin_for("--files-from -").read()
    else:
        with open(files_from, "rb") as file:
            lines = file.read()
    names = lines.split(b"\0" if given["null"] else b"\n")
    return tuple(os.fsdecode(name) for name in names if name)


def _renderer(given: dict[str, Any]) -> Callable[[ScanResult], Lines]:
    """Return the function that renders the result; -0 without --format makes it list names."""
    form = given["form"]
    is_null = given["null"] and form in {None, "names", "fdupes"}
    if given["null"] and not is_null and given["files_from"] is None:
        formats = "--format names, --format fdupes"
        raise click.UsageError(f"-0 goes with {formats} or --files-from, not {form}")
    return renderer(given, null=is_null)


def _refuse_beside_index(paths: tuple[str, ...]) -> None:
    """Raise UsageError for paths, and for options on reading files: an index has its own."""
    from simdup.files.walk import Filters

    filters = (each.name for each in fields(Filters))
    names = ("files_from", "against", "cache", "encoding", "formats", "archives", "parts", *filters)
    wrong = [options.spelled(name) for name in names if options.is_given(name)]
    if paths or wrong:
        what = wrong[0] if wrong else "PATH..."
        raise click.UsageError(f"--index groups what is in the index; leave out {what}")


def _features_of(file: str, given: dict[str, Any]) -> str:
    """Return the features that the user gave, or else the features of the index."""
    if options.is_given("features"):
        return str(given["features"])
    from simdup.index.index import Index

    with Index(file) as index:
        return str(index.info().about["recipe"].get("features"))


def _scan_index(
    file: str, settings: Settings, ignored: Iterable[tuple[bytes, bytes]], progress: Progress
) -> ScanResult:
    """Group the documents of an index. Raises InputError if options ask for another recipe."""
    from simdup.index.index import Index

    with Index(file, settings) as index:
        own = index.settings.recipe
        for name in ("features", "ngram", "top", "weights", "hash"):
            there, here = getattr(own, name), getattr(settings.recipe, name)
            if options.is_given(name) and there != here:
                raise InputError(f"{file!r}: made with {name} {_plain(there)}, not {_plain(here)}")
        if options.is_given("no_fold_variants") and own.fold_variants:
            raise InputError(f"{file!r}: made with folded variants, not --no-fold-variants")
        bits = settings.recipe.bits if options.is_given("bits") else own.bits
        return index.scan(replace(settings, recipe=index.at(bits).recipe), progress, ignored)


def _plain(value: Any) -> Any:
    """Return a value in a recipe as the user would type it."""
    return ",".join(map(str, value)) if isinstance(value, tuple) else getattr(value, "value", value)
