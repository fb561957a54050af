"""Tasks in, the results of a function out, in the order of the tasks, by several processes.

Workers are spawned, not forked, so that no thread or lock of the parent is copied. Few tasks
are under way at a time, so that their data fits in memory. The parent starts no thread:
`concurrent.futures` does, and waits for ever where no thread can start. A worker imports only
this module before its first task, so that a failing import (numpy's for lack of memory, say)
is reported like the error of a task.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from importlib import import_module
from multiprocessing import get_context, resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.reduction import ForkingPickler
from operator import attrgetter
from queue import SimpleQueue
from traceback import format_exc
from typing import Any, NoReturn, TypeVar

from simdup.compute.memory import check_that_numpy_loads
from simdup.errors import SimdupError, import_root

Result = TypeVar("Result")

# Tasks under way or done for each worker, so that no worker waits for the result of a slow one.
AHEAD = 4

# Tasks that a worker has: one that it does, and the next one in case the parent is busy then.
TASKS = 2

# The number of an error that belongs to no task: the next task could not be received.
NO_TASK = -1


def results(
    function: Callable[..., Result], tasks: Iterable[tuple[Any, ...]], jobs: int
) -> Generator[Result]:
    """Yield the function's result for each task (its arguments), in order, by `jobs` processes.

    Raises the errors of the function, and BrokenProcessPool if a worker died. The workers end
    when the generator is closed.
    """
    crew = _Crew(function, jobs)
    sent = wanted = 0
    try:
        for task in tasks:
            crew.send(sent, task)
            sent += 1
            while wanted in crew.done or sent - wanted > AHEAD * jobs:
                yield crew.result(wanted)
                wanted += 1
        for number in range(wanted, sent):
            yield crew.result(number)
    finally:
        crew.end()


def check_that_workers_start() -> None:
    """Raise SimdupError if a worker cannot do even an empty task."""
    try:
        list(results(int, [()], 1))
    except BrokenProcessPool:
        raise SimdupError(
            "worker processes cannot start; in a script put the call under"
            ' `if __name__ == "__main__":`, or use jobs=1'
        ) from None


class _Worker:
    """A worker process, and how many tasks it has."""

    def __init__(self) -> None:
        from simdup.compute.compiled import loaded_kernels  # noqa: PLC0415  not in a worker

        context = get_context("spawn")
        self.connection, theirs = context.Pipe()
        # Workers load the kernels if this process has: they are compiled and in the cache.
        arguments = (theirs, loaded_kernels() is not None)
        self.process = context.Process(target=_work, args=arguments, daemon=True)
        self.tasks = 0
        try:
            with theirs, _interrupts_held_back():
                self.process.start()
        except BaseException:  # Ctrl-C while it started: nobody else would end the process
            if self.process.pid is not None:
                self.end()
            raise

    def end(self) -> None:
        """End the process, even if it is busy."""
        self.connection.close()
        self.process.kill()  # a worker that ignores SIGTERM, as its parent may, ends all the same
        self.process.join()


class _Crew:
    """Workers, each started when the others are busy; `done` holds their results by number."""

    def __init__(self, function: Callable[..., Any], jobs: int) -> None:
        self.done: dict[int, tuple[Any, Exception | None, str]] = {}
        self._function, self._jobs = function, jobs
        self._workers: list[_Worker] = []

    def send(self, number: int, task: tuple[Any, ...]) -> None:
        """Send a task to the worker with the fewest tasks, as soon as one has room."""
        worker = min(self._workers, key=attrgetter("tasks"), default=None)
        if (worker is None or worker.tasks) and len(self._workers) < self._jobs:
            worker = _Worker()
            self._workers.append(worker)
        while worker is None or worker.tasks == TASKS:
            self._receive()
            worker = min(self._workers, key=attrgetter("tasks"))
        try:
            worker.connection.send((number, self._function, task))
        except OSError:
            raise BrokenProcessPool("a worker process died") from None
        worker.tasks += 1

    def result(self, number: int) -> Any:  # noqa: ANN401
        """The function's result for a task. Raises the function's error."""
        while number not in self.done:
            self._receive()
        result, error, traceback = self.done.pop(number)
        if error is not None:
            raise error from _InWorkerError(traceback)
        return result

    def end(self) -> None:
        """End all workers, even if they are busy."""
        for worker in self._workers:
            worker.end()

    def _receive(self) -> None:
        """Wait until a worker has done a task, and keep the result."""
        found = wait([worker.connection for worker in self._workers])
        for worker in self._workers:
            if worker.connection in found:
                try:
                    number, *outcome = worker.connection.recv()
                except (EOFError, OSError):
                    raise BrokenProcessPool("a worker process died") from None
                self.done[number] = tuple(outcome)
                worker.tasks -= 1
                if number == NO_TASK:
                    self.result(NO_TASK)


class _InWorkerError(Exception):
    """Carries the traceback of an error in a worker, as text."""

    def __str__(self) -> str:
        return f"in a worker process:\n{self.args[0]}"


def _work(connection: Connection, is_compiled: bool) -> None:  # noqa: FBT001  (a process takes no keywords)
    """Be a worker: do tasks until the parent closes the connection."""
    tasks = SimpleQueue[Any]()
    try:
        check_that_numpy_loads()
        import_module("numpy")  # before a thread takes memory too
    except (MemoryError, ImportError) as error:
        tasks.put((NO_TASK, _raising, (import_root(error),)))
    try:
        threading.Thread(target=_listen, args=(connection, tasks), daemon=True).start()
    except RuntimeError as error:
        _send_error(connection, NO_TASK, error)
        return
    while True:
        number, function, task = tasks.get()
        try:
            if is_compiled:
                import_module("simdup.compute.compiled").load_kernels()
            connection.send((number, function(*task), None, ""))
        except Exception as error:  # noqa: BLE001  (it is raised where the result is wanted)
            _send_error(connection, number, error)


def _send_error(connection: Connection, number: int, error: Exception) -> None:
    """Send the parent an error; end this process if the parent is gone or memory is out."""
    try:
        connection.send((number, None, _sendable(error), format_exc()))
    except (OSError, MemoryError):
        os._exit(1)


def _sendable(error: Exception) -> Exception:
    """Return the error, or one that says the same if the parent could not be sent it."""
    try:
        ForkingPickler.loads(ForkingPickler.dumps(error))
    except Exception:  # noqa: BLE001  (whatever its own methods raise)
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


def _listen(connection: Connection, tasks: SimpleQueue[Any]) -> None:
    """Receive tasks in a thread, so that the parent can send one while this worker is busy.

    End this process when the parent is gone: if it was killed, nobody else would.
    """
    try:
        while True:
            tasks.put(connection.recv())
    except (EOFError, ConnectionError):
        os._exit(1)
    except Exception as error:  # noqa: BLE001  (a module that a task needs is missing, say)
        tasks.put((NO_TASK, _raising, (error,)))
        _drain(connection)


def _drain(connection: Connection) -> NoReturn:
    """Discard whatever else arrives, and end this process when the parent is gone.

    The parent would wait for ever to send a large task that nobody receives, and never see the
    error. A message received in part has no length any more, so single bytes are read.
    """
    is_open = True
    while is_open:
        try:
            is_nt = os.name == "nt"
            is_open = bool(connection.recv_bytes() if is_nt else os.read(connection.fileno(), 4096))
        except MemoryError:
            continue  # the other thread will free some once it has sent the error
        except (EOFError, OSError):
            break
    os._exit(1)


def _raising(error: Exception) -> NoReturn:
    raise error


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Delay Ctrl-C until the end of the block; workers started in the block never see it.

    A child inherits the signals that its parent's thread blocks, so only the parent reacts to
    Ctrl-C. The signal may reach the parent in another thread (numpy's linear algebra has some
    that do not block it), and Python would still interrupt this one; so its handler waits too.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    # Python starts this helper with the first process, and then lets signals through again.
    resource_tracker.ensure_running()
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
