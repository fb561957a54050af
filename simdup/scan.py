"""A whole scan: files in, groups out.

walk -> fingerprint -> match
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from simdup.candidates import SIEVE_BITS, SIEVE_FROM
from simdup.fast import load_if_worth
from simdup.local import fingerprint_all, tasks
from simdup.match import match
from simdup.progress import silent
from simdup.recipe import HashKind
from simdup.records import ScanResult, Settings, Skipped, Source, Stats
from simdup.walk import DEFAULTS, listed, walk

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator

    from simdup.hamming import Rows
    from simdup.progress import Progress
    from simdup.records import Document
    from simdup.walk import Filters

    AnyPath = str | os.PathLike[str]


def scan(  # noqa: PLR0913  (one argument a question; all but the first have an answer)
    paths: Iterable[AnyPath],
    settings: Settings | None = None,
    filters: Filters = DEFAULTS,
    *,
    against: Iterable[AnyPath] = (),
    are_files: bool = False,
    jobs: int | None = 1,
    progress: Progress = silent,
) -> ScanResult:
    """The groups of near-duplicate documents under some paths.

    `against` are folders or files of reference: then only pairs between one of them
    and one of the others count. With `are_files` the paths are a list of files, of
    which some may be missing. `jobs` processes read and fingerprint; None takes all
    cores where that pays (a script that is not a module needs the usual
    `if __name__ == "__main__"` for more than 1). Raises InputError for a path that
    cannot be used, TooManyPairsError, ValueError for settings that cannot be.
    """
    began = perf_counter()
    settings = settings or Settings()
    find = listed if are_files else walk
    waiting: deque[list[Source]] = deque()
    skipped: list[Skipped] = []
    found = progress(find(paths, filters, references=against), "walk", None)
    waiting.extend(tasks(_sources(found, skipped)))
    count = sum(map(len, waiting))
    documents, rows, unusable = _fingerprinted(waiting, settings, jobs, progress)
    matches = match(documents, rows, settings, progress)
    size = sum(document.source.size for document in documents)
    return ScanResult(
        settings,
        tuple(documents),
        rows[:, : settings.recipe.bits // 8],
        matches.groups,
        (*skipped, *unusable, *matches.changed),
        matches.candidates,
        Stats(count, len(documents), size, perf_counter() - began),
    )


def _sources(found: Iterable[Source | Skipped], skipped: list[Skipped]) -> Iterator[Source]:
    """What is to be read of what was found; the rest is added to `skipped`."""
    for each in found:
        if isinstance(each, Source):
            yield each
        else:
            skipped.append(each)


def _fingerprinted(
    waiting: deque[list[Source]], settings: Settings, jobs: int | None, progress: Progress
) -> tuple[list[Document], Rows, list[Skipped]]:
    """The documents among the sources in tasks, their rows, and what was skipped.

    In a large collection that is to be verified the rows are wider than asked for:
    `match` sorts out chance candidates by what is behind the fingerprints.
    """
    recipe = settings.recipe
    is_prefix = recipe.hash is not HashKind.STRING
    if sum(map(len, waiting)) > SIEVE_FROM and settings.verified and is_prefix:
        recipe = replace(recipe, bits=max(recipe.bits, SIEVE_BITS))
    size = sum(source.size for task in waiting for source in task)
    load_if_worth(characters=size, progress=progress)
    documents: list[Document] = []
    rows = [np.empty((0, recipe.bits // 8), np.uint8)]
    skipped: list[Skipped] = []
    parts = fingerprint_all(waiting, recipe, settings.encoding, jobs)
    for part in progress(parts, "read", len(waiting)):
        documents.extend(part.documents)
        rows.append(part.rows)
        skipped.extend(part.skipped)
    return documents, np.concatenate(rows), skipped
