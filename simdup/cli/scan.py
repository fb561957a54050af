"""`simdup scan`: the groups of near-duplicate documents in folders or in an index."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import click

import simdup
from simdup.cli import options
from simdup.cli.cache import open_store, store_files
from simdup.cli.command import TYPED, Command
from simdup.cli.ignore import Ignored
from simdup.cli.output import Lines, clear_bars, progress, tell, warn_of
from simdup.cli.shown import Page, Shown, page_lines, texts_option
from simdup.errors import InputError, InterruptedScan
from simdup.interrupt import INTERRUPTED
from simdup.progress import Progress
from simdup.report.wording import as_typed, count
from simdup.settings import Settings

# The formats that can say that a result is incomplete, and those that list names.
FORMATS_OF_PARTS, _NAMES = ("json", "jsonl"), ("names", "fdupes")

# Where the next step of a scan writes its result.
FOUND = "found.json"

# What does not go with --index: an index has its own files.
_BESIDE_INDEX = (
    *("PATH...", "--files-from", "--against", "--cache", "--encoding", "--formats", "--archives"),
    *("--parts", *options.typed(options.Filtering), *options.typed(options.Priorities)),
)


class Scan(NamedTuple):
    """The options of `simdup scan`.

    of_index: Group the documents of this index instead of PATH...; files are read only to verify.
    against: Compare files under PATH... only with files under REF, not with each other.
    archives: Also read the members of zip and tar files, packed or not, and what is attached to
        mails, as documents of their own; no command acts on them.
    files_from: Read the files that are listed in FILE, one a line; - is stdin.
    null: Names in the list of --files-from end in NUL; unless --format is given, so do the names
        that are printed.
    cache: The store, which lets the next scan skip unchanged files. [default: SIMDUP_CACHE, or a
        file in your cache folder]
    no_cache: Use no store: read everything, remember nothing.
    """

    paths: tuple[str, ...] = options.argument("[PATH]...", options.PATH, nargs=-1, is_tree=True)
    matching: options.Matching = options.part(options.Matching)
    reading: options.Reading = options.part(options.Reading)
    linkage: str = options.linkage
    parts: float | None = options.parts
    of_index: str | None = options.file(
        "--index", once=True, excludes=_BESIDE_INDEX, replaces=options.OF_AN_INDEX
    )
    against: tuple[str, ...] = options.file(metavar="REF", multiple=True, once=True)
    filtering: options.Filtering = options.part(options.Filtering)
    archives: bool = options.flag()
    files_from: str | None = options.file(once=True, excludes=("PATH...",))
    null: bool = options.flag("-0", "--null", once=True, replaces=("--format",))
    form: str = options.report_format(("text", *FORMATS_OF_PARTS, "csv", *_NAMES))
    shown: Shown = options.part(Shown)
    target: str | None = options.output
    page: Page = options.part(Page)
    html_texts: str | None = texts_option("groups; with --index none")
    color: str = options.color
    jobs: int | None = options.jobs
    cache: str | None = options.file(excludes=("--no-cache",), writes=True)
    no_cache: bool = options.flag()
    ignored: Ignored = options.part(Ignored)
    priorities: options.Priorities = options.part(options.Priorities)
    fail_on_found: bool = options.fail_on_found
    quiet: bool = options.quiet


@click.command("scan", cls=Command, record=Scan, work="simdup.files.scan")
def scan_command(asked: Scan) -> int:
    """Group the documents under PATH... that hold the same text.

    Exits with 0 when done, 1 with --fail-on-found if there is a near group, 2 if it cannot run, 3
    if some files could not be read.

    \b
    Examples:
      simdup scan ~/docs
      simdup scan new/ --against archive/ --similarity 0.8 --format json
    """
    from simdup.report.order import by_tier

    options.refuse_overwriting(*_other_files(asked))
    settings, show = _settings(asked), progress(quiet=asked.quiet)
    render = _renderer(asked)
    is_json = asked.form in FORMATS_OF_PARTS
    write = asked.page.writer(asked.target, as_utf8=is_json, quiet=asked.quiet)
    find_groups, store = _work(asked, settings)
    try:
        result = find_groups(progress=show)
    except InterruptedScan as interrupted:
        clear_bars()
        if asked.form in FORMATS_OF_PARTS:
            write(render(interrupted.result))
        tell(f"simdup: {_interruption(store)}")
        return INTERRUPTED
    finally:
        if store is not None:
            store.close()
    texts = asked.html_texts or ("groups" if asked.of_index is None else "none")
    if texts == "none" and asked.of_index is None:
        texts = "differences"
    write(render(result), page_lines(result, asked.page.lang, texts, show, time.time()))
    if not asked.quiet:
        warn_of(result.skipped)
        if not asked.shown.summary:
            tell(*asked.shown.closing(result), *_next(asked, result))
    return options.exit_code(by_tier(result)[0], fail_on_found=asked.fail_on_found)


def _next(asked: Scan, result: simdup.ScanResult) -> list[str]:
    """Return the line with the command to try next; none if there is nothing to clean or compare.

    Without exact copies it compares the two files at the prompt, in the report of text.
    """
    from simdup.report import order

    near, _ = order.by_tier(result)
    is_json = asked.form == "json" and asked.target is not None
    can_be_typed_again = asked.files_from != "-" and not asked.null
    if not near.groups or not can_be_typed_again or not (asked.form == "text" or is_json):
        return []
    is_kept = order.protected_in(result.base)
    has_copies = any(order.removable(group, is_kept).files for group in near.groups)
    if not has_copies or asked.of_index is not None:
        groups = order.ranked(near.groups, asked.shown.sort)
        paths = next(filter(None, map(_two_that_differ, groups)), None)
        if paths is None:
            return []
        return [f"next: {as_typed(['simdup', 'compare', *paths, '--diff'])}"]
    clean = as_typed(["simdup", "clean", asked.target if is_json and asked.target else FOUND])
    if is_json:
        return [f"next: {clean}"]
    if asked.target is not None or options.is_given("form"):
        return []
    typed = click.get_current_context().meta[TYPED]
    return [
        f"next: {as_typed(['simdup', 'scan', *typed, '--format', 'json', '-o', FOUND])} && {clean}"
    ]


def _two_that_differ(group: simdup.Group) -> tuple[str, str] | None:
    """Return the paths of the first file of a group and of the next one with other bytes."""
    first, *others = (member.document for member in group.members)
    same = simdup.Kind.IDENTICAL_BYTES
    path = next((other.path for other in others if other.kind_with(first) is not same), None)
    return None if path is None else (first.path, path)


def _settings(asked: Scan) -> Settings:
    """Return the settings; an index has its own features, unless the user typed others."""
    matching = asked.matching
    if asked.of_index is not None and not options.is_given("features"):
        with simdup.Index(asked.of_index) as index:
            features = str(index.info().about["recipe"].get("features"))
        matching = matching._replace(fingerprint=matching.fingerprint._replace(features=features))
    return matching.settings(asked.reading, linkage=asked.linkage, parts=asked.parts)


def _work(
    asked: Scan, settings: Settings
) -> tuple[Callable[..., simdup.ScanResult], simdup.Store | None]:
    """Return the function that scans, given `progress`, and the store that it uses."""
    filters, ignored = asked.filtering.filters(), asked.ignored.digests(quiet=asked.quiet)
    if asked.of_index is not None:
        return partial(_scan_index, asked.of_index, settings, ignored), None
    paths, store = _paths(asked), _store(asked)
    find_groups = partial(
        simdup.scan,
        paths,
        settings,
        filters,
        against=asked.against,
        are_files=asked.files_from is not None,
        jobs=asked.jobs,
        store=store,
        ignored=ignored,
        archives=asked.archives,
        **asked.priorities._asdict(),
    )
    return find_groups, store


def _other_files(asked: Scan) -> list[tuple[str, str | None]]:
    """Return the files besides those named that a scan uses, with their names for the user.

    Files inside folders and in a list are not among them: the last report may well be there.
    """
    from simdup.storage.sqlite import files_of

    if asked.of_index is not None:
        return [asked.ignored.named(), *(("--index", path) for path in files_of(asked.of_index))]
    stores = [] if asked.no_cache else store_files(asked.cache)
    return [asked.ignored.named(), *(("the store", path) for path in stores if path != asked.cache)]


def _store(asked: Scan) -> simdup.Store | None:
    """Open the store, unless the user wants none or has no home folder to keep it in."""
    from simdup.storage.home import NoHomeError

    try:
        return None if asked.no_cache else open_store(asked.cache, quiet=asked.quiet)
    except NoHomeError as error:
        if not asked.quiet:
            lost = "going on without the store and the list of ignored pairs"
            tell(f"simdup: {error} (--cache, --ignored); {lost}")
        return None


def _interruption(store: simdup.Store | None) -> str:
    """Return what to say after Ctrl-C."""
    if store is None or not store.kept:
        return "interrupted"
    kept = count(store.kept, "more file")
    return f"interrupted; {kept} remembered, the next scan goes on from there"


def _paths(asked: Scan) -> tuple[str, ...]:
    """Return the paths to read: PATH..., or the lines of `--files-from`."""
    files_from = asked.files_from
    if files_from is None:
        return asked.paths or (os.curdir,)
    if files_from == "-":
        lines = options.stdin_for("--files-from -").read()
    else:
        with open(files_from, "rb") as file:
            lines = file.read()
    names = lines.split(b"\0" if asked.null else b"\n")
    return tuple(os.fsdecode(name) for name in names if name)


def _renderer(asked: Scan) -> Callable[[simdup.ScanResult], Lines]:
    """Return the function that renders the result; -0 without --format makes it list names."""
    form = asked.form
    if asked.null and not options.is_given("form"):
        form = "names"
    is_null = asked.null and form in _NAMES
    if asked.null and not is_null and asked.files_from is None:
        raise click.UsageError("-0 needs --format names, --format fdupes or --files-from")
    return asked.shown.renderer(form, asked.target, asked.color, null=is_null)


def _scan_index(
    file: str, settings: Settings, ignored: Iterable[tuple[bytes, bytes]], progress: Progress
) -> simdup.ScanResult:
    """Group the documents of an index. Raises InputError if options ask for another recipe."""
    with simdup.Index(file, settings) as index:
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
