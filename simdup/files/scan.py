"""A whole scan: files in, groups out. Each stage is a line of `scan`.

walk      the files under the paths, and why others are left out
recall    the last result, if all files are as they were; else what the store knows of each file
read      the texts of the other files, for their fingerprints
match     the fingerprints, for groups of near-duplicates
findings  what the groups mean: identical sets, chains of versions, copied folders
remember  the result, for the next scan
"""

from __future__ import annotations

import gc
import json
import os
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from simdup.arguments import AnyPath, check_jobs, check_truth, check_type, digest_pairs, path_list
from simdup.errors import InterruptedScan
from simdup.files.fingerprint import Fingerprinted, FingerprintOptions, without_degenerate
from simdup.files.group_files import match_documents, unmatched
from simdup.files.read import edition, forget_archive
from simdup.files.walk import DEFAULTS, Filters, listed, walk, walk_in_batches
from simdup.files.workers import fingerprint_all, tasks
from simdup.findings import with_findings
from simdup.fingerprint.sketch import DENSE_LEVELS, LEVELS, Collected, are_dense, laid_out
from simdup.fingerprint.sketch import EDITION as SKETCH_EDITION
from simdup.fingerprint.tokens import WORDS_EDITION
from simdup.match.candidates import needs_sieve, sieve_recipe
from simdup.progress import Progress, ProgressOfScan, silent
from simdup.recipe import Recipe
from simdup.records import Document, ScanResult, Skipped, Source
from simdup.settings import Settings
from simdup.storage.cached import Known, RecipeCache
from simdup.storage.kept_result import CODE, KeptResult, Walked
from simdup.storage.outcomes import Outcome
from simdup.storage.shown_groups import keep_groups
from simdup.text.noise import EDITION as NOISE_EDITION

if TYPE_CHECKING:
    from simdup.storage.store import Store

# The garbage collector goes through so many new objects in less than a millisecond.
FEW = 10_000


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
    keep_under: AnyPath | Iterable[AnyPath] = (),
    let_go_under: AnyPath | Iterable[AnyPath] = (),
    progress: Progress = silent,
) -> ScanResult:
    """The groups of near-duplicate documents under some paths, or under a single path.

    `against` are folders or files of reference: then only pairs of a reference and another file
    count. With `are_files` the paths are a list of files, some of which may be missing.
    `jobs` processes read and fingerprint; None takes all cores where that pays (for more than 1,
    a script needs the usual `if __name__ == "__main__"`). What `store` knows is not read again,
    and what is found out is kept there. `ignored` are pairs of texts that are not duplicates, each
    by the `text_digest` of a document: one never represents the other. With `archives` the members
    of zip and tar files are documents too, such as "a.zip!/b.txt". A file under a folder of
    `keep_under` rather leads its group than others, and one under `let_go_under` rather not.
    Raises InputError for a path that cannot be used, TooManyPairsError, ValueError for impossible
    settings, and InterruptedScan, a KeyboardInterrupt with what was known by then.
    """
    began = perf_counter()
    about = settings or Settings(), filters, path_list(against, "against")
    how = digest_pairs(ignored, "ignored"), are_files, archives
    wishes = path_list(keep_under, "keep_under"), path_list(let_go_under, "let_go_under")
    asked = _Asked(path_list(paths), *about, *how, *wishes)
    check_jobs(jobs)
    found, memory = _Found(asked.settings, is_kept=store is not None), _Memory(store, asked)
    with _interruptible(asked, found, began), _cycles_ignored():
        _walk(found, asked, progress)
        result = memory.recall(found)
        if result is None:
            _read(found, memory, jobs, progress)
            made = found.fingerprinted(is_sketched=True)
            if isinstance(progress, ProgressOfScan):
                progress.tell_known(made.documents)
            result = found.result(made)
            asks = *asked.of_matching, progress, memory.cache
            result, matching = match_documents(result, made, *asks)
            result = with_findings(replace(result, **asked.searched), asked.folders, matching)
        memory.remember(result, found)
    return asked.answered(result, began)


def fingerprint_paths(
    paths: Iterable[AnyPath], settings: Settings, *, jobs: int | None, progress: Progress
) -> Fingerprinted:
    """The documents and fingerprints that a scan of these paths makes; without a store.

    Raises InputError for a path that cannot be used.
    """
    asked, found = _Asked(path_list(paths), settings), _Found(settings, is_kept=False)
    memory = _Memory(None, asked)
    _walk(found, asked, progress)
    memory.recall(found)
    _read(found, memory, jobs, progress)
    return found.fingerprinted(is_sketched=True)


def _working_folder() -> str | None:
    try:
        return os.getcwd()
    except FileNotFoundError:
        return None


@dataclass(frozen=True, slots=True)
class _Asked:
    """The checked arguments of `scan`.

    base: The absolute folder to which relative paths refer; None if it has been deleted.
    """

    roots: Sequence[str]
    settings: Settings
    filters: Filters = DEFAULTS
    references: Sequence[str] = ()
    ignored: Sequence[tuple[bytes, bytes]] = ()
    are_files: bool = False
    archives: bool = False
    keep_under: Sequence[str] = ()
    let_go_under: Sequence[str] = ()
    base: str | None = field(default_factory=_working_folder)

    def __post_init__(self) -> None:
        """Raise TypeError for values of a wrong type."""
        check_type(self.settings, "settings", Settings)
        check_type(self.filters, "filters", Filters)
        check_truth(self.archives, "archives")

    @property
    def folders(self) -> list[str]:
        """The paths that were searched: a list of files says nothing of the folders around them."""
        return [] if self.are_files else [*self.roots, *self.references]

    @property
    def of_matching(self) -> tuple[Sequence[tuple[bytes, bytes]], set[str] | None]:
        """Arguments of `match_documents`: whatever the user names is compared in full."""
        named = None if self.filters.noise or self.are_files else {*self.folders}
        return self.ignored, named

    @property
    def searched(self) -> dict[str, Any]:
        """Fields of the result: where the files were found, and which folders go first."""
        roots = None if self.are_files else tuple(self.roots)
        wishes = {name: tuple(getattr(self, name)) for name in ("keep_under", "let_go_under")}
        return {"base": self.base, "roots": roots, "references": tuple(self.references)} | wishes

    @property
    def question(self) -> tuple[object, ...]:
        """Everything that decides the result, besides the files and their recipe."""
        noise = self.filters.noise
        # Links in these paths may lead elsewhere by the next scan.
        real = tuple(map(os.path.realpath, (*self.keep_under, *self.let_go_under)))
        return CODE, self.settings, noise, self.archives, self.ignored, self.searched, real

    def answered(self, result: ScanResult, began: float) -> ScanResult:
        """Add to a result where the files were found, and how long that took."""
        stats = result.stats._replace(seconds=perf_counter() - began)
        return replace(result, stats=stats, **self.searched)


@dataclass
class _Found:
    """Everything that a scan has found out so far, also when Ctrl-C ends it.

    is_kept: Whether a store keeps what is found.
    skipped: The files that the walk left out.
    outcomes: The outcome of each source; None until it is known.
    """

    settings: Settings
    is_kept: bool
    sources: list[Source] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    outcomes: list[Outcome | None] = field(default_factory=list)
    from_store: int = 0

    @property
    def is_sieved(self) -> bool:
        """Whether there are enough files for a sieve of more bits to pay."""
        return needs_sieve(self.settings) and len(self.sources) > self.settings.limits.sieve_from

    @property
    def recipe(self) -> Recipe:
        """The recipe, with the bits of a sieve where it pays and wherever rows are kept."""
        recipe = self.settings.recipe
        return sieve_recipe(recipe) if self.is_sieved or self.is_kept else recipe

    @property
    def levels(self) -> int | None:
        """How dense the sketches are, see `fingerprint.sketch`; None: there are none."""
        if not (self.settings.verified or self.is_kept):
            return None
        return LEVELS if self.settings.parts is None else DENSE_LEVELS

    @cached_property
    def _prints(self) -> Collected:
        """The position of each document among the sources, its fingerprint and its sketch."""
        rows = np.empty((0, self.recipe.bits // 8), np.uint8)
        is_sketched, limits = self.levels is not None, self.settings.limits
        return Collected(np.empty(0, np.int64), rows, is_sketched=is_sketched, limits=limits)

    def add(self, positions: Sequence[int], made: Fingerprinted) -> None:
        """Add the outcomes of the sources at these positions."""
        made = without_degenerate(made, self.settings.recipe.bits)
        pairs = list(zip(positions, made.found, strict=True))
        documents = [position for position, each in pairs if isinstance(each, Document)]
        # Rows first: Ctrl-C may come at any moment, and every document found needs its row.
        self._prints.add(made.sketches, np.array(documents, np.int64), made.rows)
        for position, outcome in pairs:
            self.outcomes[position] = outcome

    def fingerprinted(self, *, is_sketched: bool = False) -> Fingerprinted:
        """Return all that was made, in the order of the sources; sketches if asked and needed."""
        settings, outcomes = self.settings, self.outcomes
        positions, rows = self._prints.columns()
        order = np.argsort(positions)
        has_outcome = [outcomes[position] is not None for position in positions[order].tolist()]
        order = order[np.array(has_outcome, bool)]
        width = rows.shape[1] if self.is_sieved else settings.recipe.bits // 8
        has_sketches = is_sketched and settings.verified
        sketches = self._prints.sketches(order) if has_sketches else None
        known = tuple(each for each in outcomes if each is not None)
        return Fingerprinted(known, np.ascontiguousarray(rows[order, :width]), sketches)

    def result(self, made: Fingerprinted) -> ScanResult:
        """Return the result without groups."""
        return unmatched(self.settings, made, self.skipped, len(self.outcomes), self.from_store)


class _Memory:
    """The store of a scan, which recalls and remembers; it does nothing without a store."""

    def __init__(self, store: Store | None, asked: _Asked) -> None:
        self.store, self.asked = store, asked
        self.cache = None if store is None else _cache(store, asked.settings)
        self.last: KeptResult | None = None

    def recall(self, found: _Found) -> ScanResult | None:
        """Return the last result if no file changed; else note the known outcome of each file.

        Without a store nothing is known.
        """
        found.outcomes = [None] * len(found.sources)
        if self.cache is None:
            return None
        if CODE and not self.asked.are_files:
            walked = Walked(found.sources, found.skipped)
            self.last = KeptResult(self.cache, self.asked.question, walked)
            result = self.last.unchanged(self.asked.settings, self.asked.folders)
            if result is not None:
                return result
        for known in self.cache.recall(found.sources, is_list=self.asked.are_files):
            positions, made = _recalled(known, needs_dense=self.asked.settings.parts is not None)
            found.from_store += len(positions)
            found.add(positions, made)
        return None

    def keep(self, sources: Sequence[Source], made: Fingerprinted) -> None:
        """Keep the outcomes of some sources."""
        if self.cache is not None and made.sketches is not None:
            prints = made.rows, made.sketches.sizes, made.sketches.joined()
            self.cache.keep(sources, made.found, *prints)

    def remember(self, result: ScanResult, found: _Found) -> None:
        """Keep the result, unless it is the last one, and its groups by their numbers."""
        if self.store is None or self.cache is None:
            return
        if self.last is None or self.last.digest is None:
            self.cache.finish(self.asked.folders)
        if self.last is not None and self.last.digest is None:
            self.last.keep(result, [each for each in found.outcomes if each is not None])
        keep_groups(self.store, result.groups, None if self.last is None else self.last.digest)


def _cache(store: Store, settings: Settings) -> RecipeCache:
    """The entries of the store under these settings; the key has all that decides a fingerprint."""
    recipe = sieve_recipe(settings.recipe)
    read = edition(settings)
    key = {"recipe": json.loads(recipe.key()), "sketches": SKETCH_EDITION}
    key |= {"noise": NOISE_EDITION, "words": WORDS_EDITION} | read
    return RecipeCache(store, json.dumps(key), recipe.bits // 8, settings.limits)


def _recalled(known: Known, *, needs_dense: bool) -> tuple[list[int], Fingerprinted]:
    """The positions of files of which the store knows something, and what it knows.

    If sketches must be dense, documents with the usual ones are left out.
    """
    sketches = laid_out(known.values, known.sizes)
    made = Fingerprinted(tuple(known.outcomes), known.rows, sketches)
    if not needs_dense:
        return known.positions, made
    counts = np.array([document.features for document in made.documents], np.int64)
    are_usable = are_dense(sketches, counts)
    of_documents = iter(are_usable.tolist())
    each_known = zip(known.positions, made.found, strict=True)
    positions = [at for at, each in each_known if isinstance(each, Skipped) or next(of_documents)]
    return positions, made.keeping(are_usable)


@contextmanager
def _interruptible(asked: _Asked, found: _Found, began: float) -> Iterator[None]:
    """Turn Ctrl-C into InterruptedScan, with everything that was found until then."""
    try:
        yield
    except KeyboardInterrupt:
        # Without sketches, since Ctrl-C may have left their pile half made.
        part = replace(found.result(found.fingerprinted()), complete=False)
        raise InterruptedScan(asked.answered(part, began)) from None
    finally:
        forget_archive()


@contextmanager
def _cycles_ignored() -> Iterator[None]:
    """Collect no garbage meanwhile: it would go through all records again and again.

    Records are made by the hundred thousand, and none refers to itself. At the end they join the
    oldest objects, as `gc.freeze` does it: without being gone through. A few are gone through in
    less time than it takes Python to count what was frozen before.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            if gc.get_count()[0] > FEW:
                was_frozen = gc.get_freeze_count() > 0
                gc.freeze()
                if not was_frozen:
                    gc.unfreeze()
            gc.enable()


def _walk(found: _Found, asked: _Asked, progress: Progress) -> None:
    """Find the files under the paths."""
    for batch in progress(_batches(asked), "walk", None, len):
        found.skipped += [each for each in batch if isinstance(each, Skipped)]
        found.sources += [each for each in batch if isinstance(each, Source)]


def _batches(asked: _Asked) -> Iterable[list[Source | Skipped]]:
    """The files, some at a time; one by one where each takes long or may come late."""
    where = asked.roots, asked.filters
    if not (asked.are_files or asked.archives):
        return walk_in_batches(*where, references=asked.references)
    found = (listed if asked.are_files else walk)(*where, references=asked.references)
    if asked.archives:
        from simdup.files.archives import with_members  # noqa: PLC0415  imports zipfile and tarfile

        found = with_members(found, asked.settings.limits.document_bytes)
    return ([each] for each in found)


def _read(found: _Found, memory: _Memory, jobs: int | None, progress: Progress) -> None:
    """Read and fingerprint the sources of which nothing is known yet, with `jobs` processes."""
    positions = [position for position, outcome in enumerate(found.outcomes) if outcome is None]
    unknown = [found.sources[position] for position in positions]
    waiting, settings = iter(positions), replace(found.settings, recipe=found.recipe)
    options = FingerprintOptions(settings, found.levels)
    batches = fingerprint_all(deque(tasks(unknown, settings.limits)), options, jobs, progress)
    for task, made in progress(batches, "read", len(positions), lambda done: len(done[0])):
        memory.keep(task, made)
        found.add(list(islice(waiting, len(task))), made)
