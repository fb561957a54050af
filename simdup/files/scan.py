"""A whole scan: files in, groups out.

walk -> collect -> match
"""

from __future__ import annotations

import gc
import json
from contextlib import contextmanager
from time import perf_counter
from typing import TYPE_CHECKING

from simdup.arguments import check_jobs, check_type, digest_pairs, path_list
from simdup.errors import InterruptedScan
from simdup.files.collect import Collection
from simdup.files.group_files import Matches, match_documents
from simdup.files.read import edition
from simdup.files.walk import DEFAULTS, Filters, listed, walk
from simdup.match.candidates import sieve_recipe
from simdup.progress import silent
from simdup.records import ScanResult, Skipped, Source, Stats
from simdup.settings import Settings
from simdup.storage.cached import shelf_in

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator

    from simdup.progress import Progress
    from simdup.storage.cached import Shelf
    from simdup.storage.store import Store

    AnyPath = str | os.PathLike[str]


def scan(  # noqa: PLR0913  (one argument a question; all but the first have an answer)
    paths: AnyPath | Iterable[AnyPath],
    settings: Settings | None = None,
    filters: Filters = DEFAULTS,
    *,
    against: AnyPath | Iterable[AnyPath] = (),
    are_files: bool = False,
    jobs: int | None = 1,
    store: Store | None = None,
    ignored: Iterable[tuple[bytes, bytes]] = (),
    progress: Progress = silent,
) -> ScanResult:
    """The groups of near-duplicate documents under some paths, or a single one.

    `against` are folders or files of reference: then only pairs between one of them
    and one of the others count. With `are_files` the paths are a list of files, of
    which some may be missing. `jobs` processes read and fingerprint; None takes all
    cores where that pays (a script that is not a module needs the usual
    `if __name__ == "__main__"` for more than 1). What `store` knows is not read again, and
    what is found out is kept there. `ignored` are pairs of texts that are no duplicates, each
    by the `text_digest` of a document: one never represents the other. Raises InputError
    for a path that cannot be used, TooManyPairsError, ValueError for settings that cannot
    be, and InterruptedScan, a KeyboardInterrupt that has what was known by then.
    """
    began = perf_counter()
    settings = settings or Settings()
    check_type(settings, "settings", Settings)
    check_type(filters, "filters", Filters)
    check_jobs(jobs)
    roots, references = path_list(paths), path_list(against, "against")
    ignored = digest_pairs(ignored, "ignored")
    find = listed if are_files else walk
    found = progress(find(roots, filters, references=references), "walk", None)
    shelf = None if store is None else _shelf(store, settings)
    collection = Collection(settings, shelf)
    skipped: list[Skipped] = []
    matches: Matches | None = None
    try:
        with _cycles_ignored():
            sources = _sources(found, skipped)
            collection.collect(sources, jobs, progress, is_list=are_files)
            made = collection.fingerprinted()
            matches = match_documents(
                made.documents,
                made.rows,
                settings,
                progress,
                shelf,
                ignored=ignored,
                without_text=[each.file for each in made.skipped if each.file is not None],
            )
        if shelf is not None:
            shelf.finish([] if are_files else [*roots, *references])
    except KeyboardInterrupt:
        seconds = perf_counter() - began
        raise InterruptedScan(_result(collection, skipped, None, seconds)) from None
    return _result(collection, skipped, matches, perf_counter() - began)


@contextmanager
def _cycles_ignored() -> Iterator[None]:
    """No garbage collection meanwhile: it would go through all records again and again.

    They are made by the hundred thousand, and none refers to itself.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _shelf(store: Store, settings: Settings) -> Shelf:
    """What the store keeps for these settings: all that decides what is made of a file."""
    recipe = sieve_recipe(settings.recipe)
    read = edition(settings.encoding, settings.formats, settings.converters)
    key = {"recipe": json.loads(recipe.key())} | read
    return shelf_in(store, json.dumps(key), recipe.bits // 8)


def _sources(found: Iterable[Source | Skipped], skipped: list[Skipped]) -> Iterator[Source]:
    """What is to be read of what was found; the rest is added to `skipped`."""
    for each in found:
        if isinstance(each, Source):
            yield each
        else:
            skipped.append(each)


def _result(
    collection: Collection, skipped: list[Skipped], matches: Matches | None, seconds: float
) -> ScanResult:
    """What a run has found; without matches it was interrupted."""
    settings, made = collection.settings, collection.fingerprinted()
    size = sum(document.source.size for document in made.documents)
    counts = len(collection.found), len(made.documents)
    return ScanResult(
        settings,
        made.documents,
        made.rows[:, : settings.recipe.bits // 8],
        matches.groups if matches else (),
        (*skipped, *made.skipped, *(matches.changed if matches else ())),
        matches.candidates if matches else None,
        Stats(*counts, size, seconds, collection.from_store, matches.ignored if matches else 0),
        complete=matches is not None,
    )
