"""The same function over a process pool: files in tasks, results in their order.

Workers are spawned, not forked, so that no thread or lock of the parent is copied.
A small scan starts none: a worker needs longer to start than some megabytes to read.
"""

from __future__ import annotations

import os
import signal
import threading
from collections import deque
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import chain
from multiprocessing import get_context, parent_process
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from simdup.errors import SimdupError
from simdup.fast import cores, load, ready
from simdup.fingerprint import Fingerprinted, fingerprint_sources
from simdup.records import Reason, Skipped

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from simdup.recipe import Recipe
    from simdup.records import Converter, Source

# A task is that many bytes or files: enough to outweigh sending it, few enough that
# workers end together and that its texts fit in memory several times.
TASK_BYTES = 1 << 22
TASK_FILES = 512

# Less than this is done sooner than a worker has started.
BYTES_WORTH_WORKERS = 1 << 24


class How(NamedTuple):
    """What `fingerprint_sources` needs besides the sources."""

    recipe: Recipe
    encoding: str | None = None
    formats: tuple[str, ...] = ()
    converters: tuple[Converter, ...] = ()


def tasks(sources: Iterable[Source]) -> Iterator[list[Source]]:
    """Consecutive sources, packed by bytes and number."""
    task: list[Source] = []
    size = 0
    for source in sources:
        if task and (size + source.size > TASK_BYTES or len(task) == TASK_FILES):
            yield task
            task, size = [], 0
        task.append(source)
        size += source.size
    if task:
        yield task


def fingerprint_all(
    waiting: deque[list[Source]], how: How, jobs: int | None = None
) -> Iterator[tuple[list[Source], Fingerprinted]]:
    """Each task with its `fingerprint_sources`, in order; it leaves the queue when it is done.

    `jobs` processes work on it; None: as many as there are cores, or none besides
    this one where they are not worth starting. Files of a task whose worker died are
    skipped as unreadable.
    """
    if jobs is None:
        size = sum(source.size for task in waiting for source in task)
        jobs = cores() if size > BYTES_WORTH_WORKERS else 1
    if jobs == 1:
        while waiting:
            task = waiting.popleft()
            yield task, fingerprint_sources(task, *how)
        return
    yield from _pooled(waiting, how, jobs)


def _pooled(
    waiting: deque[list[Source]], how: How, jobs: int
) -> Iterator[tuple[list[Source], Fingerprinted]]:
    """Results in order; a file whose worker dies is given up, the others are done again."""
    has_worked = False
    while waiting:
        try:
            for result in _results(waiting, how, jobs):
                has_worked = True
                yield waiting.popleft(), result
        except BrokenProcessPool:
            if not has_worked:
                _check_that_workers_start()
            # Every task under way has failed. Alone, the first one shows whether it was to blame.
            task = waiting.popleft()
            yield task, _joined(list(_salvaged(task, how)))


def _check_that_workers_start() -> None:
    """Raise SimdupError if not even an empty task is done."""
    try:
        with ProcessPoolExecutor(1, get_context("spawn")) as pool:
            pool.submit(int).result()
    except BrokenProcessPool:
        raise SimdupError(
            "worker processes cannot start; in a script put the call under"
            ' `if __name__ == "__main__":`, or use jobs=1'
        ) from None


def _salvaged(task: list[Source], how: How) -> Iterator[Fingerprinted]:
    """A task done again in halves, until the file that kills its worker is alone."""
    try:
        yield from _results([task], how, 1)
    except BrokenProcessPool:
        if len(task) == 1:
            yield _given_up(task, how.recipe)
        else:
            half = len(task) // 2
            yield from _salvaged(task[:half], how)
            yield from _salvaged(task[half:], how)


def _results(tasks: Iterable[list[Source]], how: How, jobs: int) -> Iterator[Fingerprinted]:
    # Workers load the kernels if this process has: compiled by now, they lie in a cache.
    pool = ProcessPoolExecutor(jobs, get_context("spawn"), _begin, (ready() is not None,))
    try:
        with _interrupts_held_back():
            sent = deque(pool.submit(fingerprint_sources, task, *how) for task in tasks)
        while sent:
            yield sent.popleft().result()
    except BaseException:
        # Nobody wants the rest. The pool itself would wait for what is under way.
        for worker in list((getattr(pool, "_processes", None) or {}).values()):
            worker.terminate()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _begin(is_compiled: bool) -> None:  # noqa: FBT001  (an initializer takes no keywords)
    """What a worker does first."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if is_compiled:
        load()


def _end_with_parent() -> None:
    """End this worker when its parent is gone: nobody else would, were that killed."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Ctrl-C waits until the end of the block; workers started in it never see one.

    A child inherits which signals its parent's thread blocks, so that only the parent
    answers. The parent itself may get the signal in another thread (those of numpy's
    linear algebra do not block it), and then Python would still interrupt this one.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    is_main = threading.current_thread() is threading.main_thread()
    waiting: list[int] = []
    handler = signal.getsignal(signal.SIGINT)
    if is_main and handler is not None:
        signal.signal(signal.SIGINT, lambda number, _: waiting.append(number))
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if is_main and handler is not None:
            signal.signal(signal.SIGINT, handler)
    if waiting:
        signal.raise_signal(signal.SIGINT)


def _given_up(task: list[Source], recipe: Recipe) -> Fingerprinted:
    skipped = tuple(Skipped(s.path, Reason.UNREADABLE, "the process reading it died") for s in task)
    return Fingerprinted(skipped, np.empty((0, recipe.bits // 8), np.uint8))


def _joined(parts: list[Fingerprinted]) -> Fingerprinted:
    found = tuple(chain.from_iterable(part.found for part in parts))
    return Fingerprinted(found, np.concatenate([part.rows for part in parts]))
