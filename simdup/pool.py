"""A function over a process pool: tasks in, results in their order.

Workers are spawned, not forked, so that no thread or lock of the parent is copied. Few
tasks are under way at a time, so that those which carry data fit in memory.
"""

from __future__ import annotations

import os
import signal
import threading
from collections import deque
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context, parent_process
from typing import TYPE_CHECKING, Any, TypeVar

from simdup.errors import SimdupError
from simdup.fast import load, ready

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator
    from concurrent.futures import Future

Result = TypeVar("Result")

# Tasks that a worker has before it, so that none waits while the parent is busy.
AHEAD = 4


def results(
    function: Callable[..., Result], tasks: Iterable[tuple[Any, ...]], jobs: int
) -> Generator[Result]:
    """What the function returns for each task, its arguments; in order, by `jobs` processes.

    Raises what it raises, and BrokenProcessPool where a worker died. Workers are ended
    when the generator is closed.
    """
    # Workers load the kernels if this process has: compiled by now, they lie in a cache.
    pool = ProcessPoolExecutor(jobs, get_context("spawn"), _begin, (ready() is not None,))
    sent: deque[Future[Result]] = deque()
    try:
        for task in tasks:
            with _interrupts_held_back():
                sent.append(pool.submit(function, *task))
            if len(sent) > AHEAD * jobs:
                yield sent.popleft().result()
        while sent:
            yield sent.popleft().result()
    except BaseException:
        # Nobody wants the rest. The pool itself would wait for what is under way.
        for worker in list((getattr(pool, "_processes", None) or {}).values()):
            worker.terminate()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def check_that_workers_start() -> None:
    """Raise SimdupError if not even an empty task is done."""
    try:
        with ProcessPoolExecutor(1, get_context("spawn")) as pool:
            pool.submit(int).result()
    except BrokenProcessPool:
        raise SimdupError(
            "worker processes cannot start; in a script put the call under"
            ' `if __name__ == "__main__":`, or use jobs=1'
        ) from None


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
