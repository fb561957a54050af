"""Fingerprint files in several processes: files in tasks, results in their order.

A small scan starts no worker, since that would take longer than reading some megabytes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import replace
from operator import attrgetter
from typing import Any, NamedTuple

from simdup.arrays import Rows
from simdup.compute.compiled import jobs_worth, load_kernels_if_worth
from simdup.files.fingerprint import Fingerprinted, FingerprintOptions, fingerprint_sources
from simdup.fingerprint.sketch import Sketches
from simdup.progress import Progress, silent
from simdup.records import Document, Reason, Skipped, Source
from simdup.settings import USUAL, Limits
from simdup.text.chunking import batched


def tasks(sources: Iterable[Source], limits: Limits = USUAL) -> Iterator[list[Source]]:
    """The sources in tasks, in their order; each has a limited size and number of files."""
    return batched(sources, attrgetter("size"), limits.task_bytes, limits.task_files)


def fingerprint_all(
    waiting: deque[list[Source]],
    options: FingerprintOptions,
    jobs: int | None = None,
    progress: Progress = silent,
) -> Iterator[tuple[list[Source], Fingerprinted]]:
    """Yield each task with its result, in order; a finished task leaves the queue.

    A task whose worker died comes in parts.

    `jobs` processes work on them; None: as many as there are cores, or this process alone where
    others are not worth starting. A file whose worker died is skipped as unreadable. The compiled
    kernels are loaded if that pays.
    """
    size = sum(source.size for task in waiting for source in task)
    if jobs is None:
        jobs = jobs_worth(size)
    if jobs > 1:
        yield from _pooled(waiting, options, jobs, size, progress)
        return
    load_kernels_if_worth(characters=size, progress=progress)
    while waiting:
        task = waiting.popleft()
        yield task, fingerprint_sources(task, options)


def _pooled(
    waiting: deque[list[Source]],
    options: FingerprintOptions,
    jobs: int,
    size: int = 0,
    progress: Progress = silent,
) -> Iterator[tuple[list[Source], Fingerprinted]]:
    """Yield results in order; a file that kills its worker is given up, others are read again."""
    from concurrent.futures.process import BrokenProcessPool  # noqa: PLC0415  slow to import

    from simdup.compute.worker_pool import check_that_workers_start  # noqa: PLC0415  slow to import

    has_worked = False
    while waiting:
        try:
            for result in _results(waiting, options, min(jobs, len(waiting)), size, progress):
                has_worked = True
                yield waiting.popleft(), result
        except BrokenProcessPool:
            if not has_worked:
                check_that_workers_start()
            # Every task under way has failed. Alone, the first one shows whether it was to blame.
            yield from _salvaged(waiting.popleft(), options)


def _salvaged(
    task: list[Source], options: FingerprintOptions
) -> Iterator[tuple[list[Source], Fingerprinted]]:
    """Yield the results of a task in halves, until the file that kills its worker is alone."""
    from concurrent.futures.process import BrokenProcessPool  # noqa: PLC0415  slow to import

    try:
        yield from zip([task], _results([task], options, 1), strict=True)
    except BrokenProcessPool:
        if len(task) == 1:
            died = Skipped(task[0].path, Reason.UNREADABLE, "the process reading it died")
            yield task, replace(fingerprint_sources([], options), found=(died,))
        else:
            half = len(task) // 2
            yield from _salvaged(task[:half], options)
            yield from _salvaged(task[half:], options)


def _results(
    tasks: Iterable[list[Source]],
    options: FingerprintOptions,
    jobs: int,
    size: int = 0,
    progress: Progress = silent,
) -> Iterator[Fingerprinted]:
    """Yield the result of each task, in order."""
    from simdup.compute.worker_pool import results  # noqa: PLC0415  slow to import

    # A copy, since tasks leave the caller's queue as they are finished.
    waiting = deque(tasks)
    sent = ((task, options) for task in tuple(waiting))
    for made in results(_sent, sent, jobs, size, progress):
        yield _received(made, waiting.popleft())


class _Sent(NamedTuple):
    """A `Fingerprinted` on its way from a worker, without the sources, which the parent has.

    columns: The other fields of the documents, each for all of them; none if there is no document.
        Columns are packed and unpacked in a quarter of the time that documents take.
    skipped: The files that have no fingerprint, by their positions in the task.
    """

    columns: tuple[tuple[Any, ...], ...]
    skipped: dict[int, Skipped]
    rows: Rows
    sketches: Sketches | None


def _sent(task: list[Source], options: FingerprintOptions) -> _Sent:
    made = fingerprint_sources(task, options)
    skipped = {n: each for n, each in enumerate(made.found) if isinstance(each, Skipped)}
    columns = tuple(zip(*made.documents, strict=True))[1:]
    return _Sent(columns, skipped, made.rows, made.sketches)


def _received(sent: _Sent, task: list[Source]) -> Fingerprinted:
    sources = (source for position, source in enumerate(task) if position not in sent.skipped)
    made = map(Document, sources, *sent.columns)
    found = (sent.skipped.get(position) or next(made) for position in range(len(task)))
    return Fingerprinted(tuple(found), sent.rows, sent.sketches)
