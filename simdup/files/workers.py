"""Fingerprint files in several processes: files in tasks, results in their order.

A small scan starts no worker, since that would take longer than reading some megabytes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from operator import attrgetter

from simdup.compute.compiled import jobs_worth
from simdup.files.fingerprint import Fingerprinted, FingerprintOptions, fingerprint_sources
from simdup.records import Document, Reason, Skipped, Source
from simdup.settings import USUAL, Limits
from simdup.text.chunking import batched

# Takes the place of a source that is not sent.
_NOWHERE = Source("", 0, 0, 0, 0, 0)


def tasks(sources: Iterable[Source], limits: Limits = USUAL) -> Iterator[list[Source]]:
    """The sources in tasks, in their order; each has a limited size and number of files."""
    return batched(sources, attrgetter("size"), limits.task_bytes, limits.task_files)


def fingerprint_all(
    waiting: deque[list[Source]], options: FingerprintOptions, jobs: int | None = None
) -> Iterator[tuple[list[Source], Fingerprinted]]:
    """Yield each task with its result, in order; a finished task leaves the queue.

    A task whose worker died comes in parts.

    `jobs` processes work on them; None: as many as there are cores, or this process alone where
    others are not worth starting. A file whose worker died is skipped as unreadable.
    """
    if jobs is None:
        jobs = jobs_worth(sum(source.size for task in waiting for source in task))
    if jobs == 1:
        while waiting:
            task = waiting.popleft()
            yield task, fingerprint_sources(task, options)
        return
    yield from _pooled(waiting, options, jobs)


def _pooled(
    waiting: deque[list[Source]], options: FingerprintOptions, jobs: int
) -> Iterator[tuple[list[Source], Fingerprinted]]:
    """Yield results in order; a file that kills its worker is given up, others are read again."""
    from concurrent.futures.process import BrokenProcessPool  # noqa: PLC0415  slow to import

    from simdup.compute.worker_pool import check_that_workers_start  # noqa: PLC0415  slow to import

    has_worked = False
    while waiting:
        try:
            for result in _results(waiting, options, jobs):
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
            yield task, fingerprint_sources([], options)._replace(found=(died,))
        else:
            half = len(task) // 2
            yield from _salvaged(task[:half], options)
            yield from _salvaged(task[half:], options)


def _results(
    tasks: Iterable[list[Source]], options: FingerprintOptions, jobs: int
) -> Iterator[Fingerprinted]:
    """Yield the result of each task, in order."""
    from simdup.compute.worker_pool import results  # noqa: PLC0415  slow to import

    # A copy, since tasks leave the caller's queue as they are finished.
    waiting = deque(tasks)
    sent = ((task, options) for task in tuple(waiting))
    for made in results(_sent, sent, jobs):
        yield _with_sources(made, waiting.popleft())


def _sent(task: list[Source], options: FingerprintOptions) -> Fingerprinted:
    """The result of a task on its way from a worker, without the sources, which the parent has."""
    return _with_sources(fingerprint_sources(task, options), [_NOWHERE] * len(task))


def _with_sources(made: Fingerprinted, sources: list[Source]) -> Fingerprinted:
    found = (
        each._replace(source=source) if isinstance(each, Document) else each
        for each, source in zip(made.found, sources, strict=True)
    )
    return made._replace(found=tuple(found))
