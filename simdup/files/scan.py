"""A whole scan: files in, groups out.

walk -> fingerprints, recalled from the store or made -> match

If the store knows all files as they are, it has the result of the last scan too.
"""

from __future__ import annotations

import gc
import json
import os
from collections import deque
from contextlib import contextmanager
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from simdup.arguments import check_jobs, check_truth, check_type, digest_pairs, path_list
from simdup.compute.compiled import load_kernels_if_worth
from simdup.errors import InterruptedScan
from simdup.files.fingerprint import Fingerprinted, without_degenerate
from simdup.files.group_files import Matches, match_documents
from simdup.files.read import edition, forget_archive
from simdup.files.walk import DEFAULTS, Filters, listed, walk, walk_in_batches
from simdup.files.workers import FingerprintOptions, fingerprint_all, tasks
from simdup.fingerprint.sketch import (
    DENSE_LEVELS,
    LEVELS,
    Sketches,
    SketchPile,
    is_dense,
    read_back,
)
from simdup.fingerprint.sketch import EDITION as SKETCH_EDITION
from simdup.match.candidates import SIEVE_FROM, sieve_recipe
from simdup.match.results import CODE
from simdup.progress import silent
from simdup.records import Document, ScanResult, Skipped, Source, Stats, doubtful
from simdup.settings import Settings
from simdup.storage.cached import Recalled, RecipeCache
from simdup.storage.kept_result import LastResult, Walked
from simdup.storage.shown_groups import keep_groups
from simdup.text.noise import EDITION as NOISE_EDITION

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from simdup.progress import Progress
    from simdup.recipe import Recipe
    from simdup.storage.store import Store

    AnyPath = str | os.PathLike[str]
    Indices = NDArray[np.int64]

# Sketches of the store that are read at once.
SKETCHES_AT_ONCE = 1 << 12


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
    archives: bool = False,
    progress: Progress = silent,
) -> ScanResult:
    """The groups of near-duplicate documents under some paths, or under a single path.

    `against` are folders or files of reference: then only pairs of a reference and another file
    count. With `are_files` the paths are a list of files, some of which may be missing.
    `jobs` processes read and fingerprint; None takes all cores where that pays (for more than 1,
    a script needs the usual `if __name__ == "__main__"`). What `store` knows is not read again,
    and what is found out is kept there. `ignored` are pairs of texts that are not duplicates, each
    by the `text_digest` of a document: one never represents the other. With `archives` the members
    of zip and tar files are documents too, such as "a.zip!/b.txt". Raises InputError for a
    path that cannot be used, TooManyPairsError, ValueError for impossible settings, and
    InterruptedScan, a KeyboardInterrupt with what was known by then.
    """
    began = perf_counter()
    settings = settings or Settings()
    _check(settings, filters, jobs, archives)
    roots, references = path_list(paths), path_list(against, "against")
    ignored = digest_pairs(ignored, "ignored")
    searched: dict[str, Any] = {
        "base": _working_folder(),
        "roots": None if are_files else tuple(roots),
        "references": tuple(references),
    }
    # A list of files says nothing of the folders that they are in.
    folders = [] if are_files else [*roots, *references]
    batches = _found(roots, filters, references, are_files=are_files, archives=archives)
    batches = progress(batches, "walk", None, len)
    cache = None if store is None else _cache(store, settings)
    made, skipped = _Fingerprinting(settings, cache), list[Skipped]()
    try:
        with _cycles_ignored():
            sources = _sources(batches, skipped)
            last = result = None
            if cache is not None and not are_files and CODE:
                asked = CODE, settings, filters.noise, archives, ignored, searched
                last = LastResult(cache, asked, Walked([*sources], skipped))
                result, sources = last.unchanged(settings, folders), iter(last.walked.sources)
            if result is None:
                made.run(sources, jobs, progress, is_list=are_files)
                # What the user names is compared in full, whatever it is.
                named = None if filters.noise or are_files else {*folders}
                every = made.fingerprinted()
                matches = match_documents(every, settings, progress, cache, ignored, named=named)
                if cache is not None:
                    cache.finish(folders)
                result = _with_folder_pairs(_result(made, skipped, matches, 0), folders)
                if last is not None:
                    last.keep(result, every.found)
        if store is not None:
            keep_groups(store, result.groups, None if last is None else last.digest)
        stats = result.stats._replace(seconds=perf_counter() - began)
        return replace(result, stats=stats, **searched)
    except KeyboardInterrupt:
        part = _result(made, skipped, None, perf_counter() - began)
        raise InterruptedScan(replace(part, **searched)) from None
    finally:
        forget_archive()


def _with_folder_pairs(result: ScanResult, roots: Sequence[str]) -> ScanResult:
    """The result with the folders under these roots that have most of their files elsewhere."""
    if not roots or not result.groups:
        return result
    from simdup.findings.folders import folder_pairs  # noqa: PLC0415  slow to import

    pairs = folder_pairs(result.groups, result.documents, result.skipped, roots)
    return replace(result, folders=pairs)


def _check(settings: Settings, filters: Filters, jobs: int | None, archives: bool) -> None:  # noqa: FBT001
    check_type(settings, "settings", Settings)
    check_type(filters, "filters", Filters)
    check_jobs(jobs)
    check_truth(archives, "archives")


def _found(
    roots: Sequence[str],
    filters: Filters,
    references: Sequence[str],
    *,
    are_files: bool,
    archives: bool,
) -> Iterable[list[Source | Skipped]]:
    """What there is, some files at a time; one by one where each takes long or may come late."""
    if not (are_files or archives):
        return walk_in_batches(roots, filters, references=references)
    found = (listed if are_files else walk)(roots, filters, references=references)
    if archives:
        from simdup.files.archives import with_members  # noqa: PLC0415  imports zipfile and tarfile

        found = with_members(found)
    return ([each] for each in found)


def _working_folder() -> str | None:
    """The absolute folder to which relative paths refer; None if it has been deleted."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        return None


def fingerprint_paths(
    paths: Iterable[AnyPath], settings: Settings, *, jobs: int | None, progress: Progress
) -> Fingerprinted:
    """What a scan of these paths makes of the files before it groups them; without a store.

    Raises InputError for a path that cannot be used.
    """
    made = _Fingerprinting(settings, None)
    batches = progress(walk_in_batches(path_list(paths)), "walk", None, len)
    sources = _sources(batches, [])
    made.run(sources, jobs, progress, is_list=False)
    return made.fingerprinted()


@contextmanager
def _cycles_ignored() -> Iterator[None]:
    """Collect no garbage meanwhile: it would go through all records again and again.

    Records are made by the hundred thousand, and none refers to itself. At the end they join the
    oldest objects, as `gc.freeze` does it: without being gone through.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            was_frozen = gc.get_freeze_count() > 0
            gc.freeze()
            if not was_frozen:
                gc.unfreeze()
            gc.enable()


def _cache(store: Store, settings: Settings) -> RecipeCache:
    """What the store keeps under these settings; its key has all that decides a fingerprint."""
    recipe = sieve_recipe(settings.recipe)
    read = edition(settings.encoding, settings.formats, settings.converters)
    key = {"recipe": json.loads(recipe.key()), "sketches": SKETCH_EDITION}
    key |= {"noise": NOISE_EDITION} | read
    return RecipeCache(store, json.dumps(key), recipe.bits // 8)


def _sources(batches: Iterable[list[Source | Skipped]], skipped: list[Skipped]) -> Iterator[Source]:
    """Yield the files that are to be read; add the others to `skipped`."""
    for found in batches:
        skipped += [each for each in found if isinstance(each, Skipped)]
        yield from [each for each in found if isinstance(each, Source)]


class _Fingerprinting:
    """What was made of each source so far: all of it, unless the scan is interrupted."""

    def __init__(self, settings: Settings, cache: RecipeCache | None) -> None:
        self.settings, self.cache = settings, cache
        self.found: list[Document | Skipped | None] = []
        self.rows = np.empty((0, settings.recipe.bits // 8), np.uint8)
        self.is_sketched = settings.verified or cache is not None
        self.sketches = SketchPile()
        # Where the sketch of each file begins in the pile, and its length: (files, 2).
        self.sketched = np.empty((0, 2), np.int64)
        self.from_store = 0

    def run(
        self, sources: Iterable[Source], jobs: int | None, progress: Progress, *, is_list: bool
    ) -> None:
        """Recall what the store knows of the sources, and read the others with `jobs` processes.

        `is_list` says that sources come in any order, not folder by folder.
        """
        unknown = self._recall(sources, is_list=is_list)
        load_kernels_if_worth(characters=sum(source.size for source in unknown), progress=progress)
        waiting, count = deque(tasks(unknown)), len(unknown)
        del unknown  # so that each file's record is freed when its task is done
        places = np.array([i for i, each in enumerate(self.found) if each is None], np.int64)
        settings = self.settings
        options = FingerprintOptions(
            *(self._recipe(), settings.encoding, settings.formats, settings.converters),
            self.is_sketched,
            LEVELS if settings.parts is None else DENSE_LEVELS,
        )
        parts = fingerprint_all(waiting, options, jobs)
        for task, part in progress(parts, "read", count, lambda done: len(done[0])):
            if self.cache is not None and part.sketches is not None:
                self.cache.keep(task, part.found, part.rows, part.sketches.each())
            own, places = np.split(places, [len(task)])
            # Rows first: Ctrl-C may come at any moment, and every document found needs its row.
            documents = own[_are_documents(part.found)]
            self.rows[documents] = part.rows
            if part.sketches is not None:
                self._place_sketches(documents, part.sketches)
            for place, outcome in zip(own.tolist(), part.found, strict=True):
                self.found[place] = outcome

    def _recall(self, sources: Iterable[Source], *, is_list: bool) -> list[Source]:
        """Note what the store knows, and return the sources of which it knows nothing."""
        unknown, rows, sketches = list[Source](), list[bytes](), list[bytes]()
        try:
            if self.cache is None:
                unknown.extend(sources)
                self.found = [None] * len(unknown)
            else:
                known = self.cache.recall(sources, is_list=is_list)
                if self.settings.parts is not None:
                    known = map(_unless_thin, known)
                for source, outcome, row, sketch in known:
                    if row is not None:
                        sketches.append(sketch)
                        rows.append(row)
                    if outcome is None:
                        unknown.append(source)
                    self.found.append(outcome)
        finally:
            self._place_known(rows, sketches)
        return unknown

    def _place_known(self, known: list[bytes], sketches: list[bytes]) -> None:
        """Make room for what is kept of all sources, and put what is known into its places."""
        width, are_documents = self._recipe().bits // 8, _are_documents(self.found)
        self.from_store = sum(each is not None for each in self.found)
        self.rows = np.zeros((len(self.found), width), np.uint8)
        number = int(are_documents.sum())
        joined = b"".join(known[:number])
        self.rows[are_documents] = np.frombuffer(joined, np.uint8).reshape(-1, width)
        self.sketched = np.zeros((len(self.found), 2), np.int64)
        if self.cache is not None:
            places = np.flatnonzero(are_documents)
            for begin in range(0, number, SKETCHES_AT_ONCE):
                part = slice(begin, min(begin + SKETCHES_AT_ONCE, number))
                self._place_sketches(places[part], read_back(sketches[part]))

    def _place_sketches(self, places: Indices, sketches: Sketches) -> None:
        self.sketched[places] = np.column_stack((self.sketches.add(sketches), sketches.sizes))

    def _recipe(self) -> Recipe:
        """The recipe, with the bits of a sieve where it pays and wherever rows are kept."""
        recipe = self.settings.recipe
        return sieve_recipe(recipe) if self._is_sieved() or self.cache is not None else recipe

    def _is_sieved(self) -> bool:
        return self.settings.verified and len(self.found) > SIEVE_FROM

    def fingerprinted(self, *, is_sketched: bool = True) -> Fingerprinted:
        """Return all that was made, in the order of the sources; sketches if asked and needed."""
        found = tuple(each for each in self.found if each is not None)
        are_documents = _are_documents(self.found)
        rows = self.rows if are_documents.all() else self.rows[are_documents]
        if not self._is_sieved():
            rows = np.ascontiguousarray(rows[:, : self.settings.recipe.bits // 8])
        sketches = None
        settings = self.settings
        is_needed = settings.parts is not None or settings.own_share > 0
        if is_sketched and settings.verified and is_needed:
            sketches = self.sketches.pooled(*self.sketched[are_documents].T)
        return without_degenerate(Fingerprinted(found, rows, sketches), self.settings.recipe.bits)


def _unless_thin(known: Recalled) -> Recalled:
    """What is known of a source; nothing if parts need a denser sketch of it."""
    source, outcome, _, sketch = known
    is_usable = not isinstance(outcome, Document) or is_dense(sketch, outcome.features)
    return known if is_usable else (source, None, None, b"")


def _are_documents(found: Iterable[Document | Skipped | None]) -> NDArray[np.bool_]:
    return np.array([isinstance(each, Document) for each in found], bool)


def _result(
    made: _Fingerprinting, skipped: list[Skipped], matches: Matches | None, seconds: float
) -> ScanResult:
    """The result of a run; it was interrupted if there are no matches."""
    # Ctrl-C may have left the pile of sketches half made.
    settings, done = made.settings, made.fingerprinted(is_sketched=False)
    size = sum(document.source.size for document in done.documents)
    counts = len(made.found), len(done.documents)
    return ScanResult(
        settings,
        done.documents,
        done.rows[:, : settings.recipe.bits // 8],
        matches.groups if matches else (),
        (*skipped, *done.skipped, *(matches.changed if matches else ())),
        matches.candidates if matches else None,
        Stats(
            *(*counts, size, seconds, made.from_store),
            *((matches.ignored, matches.siblings, matches.identity_only) if matches else ()),
        ),
        complete=matches is not None,
        patterns=matches.patterns if matches else (),
        parts=matches.parts if matches else (),
        doubtful=doubtful(done.documents),
    )
