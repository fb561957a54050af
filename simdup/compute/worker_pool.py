"""Tasks in, the results of a function out, in the order of the tasks, by several processes.

The first worker is spawned, so that no thread or lock of the parent is copied. It imports what
tasks need, and on Linux the other workers are forked from it, in no time and with shared memory.
Few tasks are under way at a time, so that their data fits in memory. The parent starts no thread:
`concurrent.futures` does, and waits for ever where no thread can start. An import that fails in a
worker (numpy's for lack of memory, say) is reported like the error of a task.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager, suppress
from ctypes import CDLL
from dataclasses import dataclass
from importlib import import_module
from multiprocessing import get_context, resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from multiprocessing.reduction import ForkingPickler
from operator import attrgetter
from queue import SimpleQueue
from traceback import format_exc
from typing import Any, NoReturn, TypeVar

from simdup.compute.memory import check_that_numpy_loads
from simdup.errors import SimdupError, import_root
from simdup.progress import Progress, silent

Result = TypeVar("Result")

# Tasks under way or done for each worker, so that no worker waits for the result of a slow one.
AHEAD = 4

# Tasks that a worker has: one that it does, and the next one in case the parent is busy then.
TASKS = 2

# The number of an error that belongs to no task: the next task could not be received.
NO_TASK = -1

# The number by which a worker says that it can do tasks now.
READY = -2

# Elsewhere each worker is spawned: libraries of macOS do not survive a fork.
_FORKS = sys.platform == "linux"
# Asks Linux to send a process a signal when its parent ends (`man 2 prctl`).
_PR_SET_PDEATHSIG = 1


def results(  # noqa: PLR0913, PLR0917  (the last three have an answer)
    function: Callable[..., Result],
    tasks: Iterable[tuple[Any, ...]],
    jobs: int,
    characters: int = 0,
    progress: Progress = silent,
    takes_part: bool = False,  # noqa: FBT001, FBT002  (the last of many)
) -> Generator[Result]:
    """Yield the function's result for each task (its arguments), in order, by `jobs` processes.

    If this process takes part, it is one of them: it does tasks itself as long as the others are
    not ready or have enough. The tasks read so many `characters` in all. If that pays, the kernels
    are loaded here, while the first worker starts, and then in the workers. Raises the errors of
    the function, and BrokenProcessPool if a worker died. The workers end when the generator is
    closed.
    """
    crew = _Crew(function, jobs, characters, progress, takes_part=takes_part)
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


@dataclass
class _Worker:
    """The parent's end of the connection to a worker, and how many tasks the worker has."""

    connection: Connection
    tasks: int


class _Crew:
    """Workers, started when the others are busy; `done` holds their results by number.

    If this process takes part, a worker gets no task before it is ready.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        jobs: int,
        characters: int,
        progress: Progress,
        *,
        takes_part: bool = False,
    ) -> None:
        self.done: dict[int, tuple[Any, Exception | None, str]] = {}
        self._function, self._jobs, self._takes_part = function, jobs - takes_part, takes_part
        self._unready = TASKS if takes_part else 0
        self._characters, self._progress = characters, progress
        self._workers: list[_Worker] = []
        self._spawned: list[BaseProcess] = []

    def send(self, number: int, task: tuple[Any, ...]) -> None:
        """Send a task to the worker with the fewest tasks, as soon as one has room, or do it."""
        worker = min(self._workers, key=attrgetter("tasks"), default=None)
        if (worker is None or worker.tasks) and len(self._workers) < self._jobs:
            worker = self._started()
        while worker is None or worker.tasks == TASKS:
            if not self._receive(0 if self._takes_part else None):
                self.done[number] = self._function(*task), None, ""
                return
            worker = min(self._workers, key=attrgetter("tasks"))
        try:
            worker.connection.send((number, self._function, task))
        except OSError:
            raise BrokenProcessPool("a worker process died") from None
        worker.tasks += 1

    def _started(self) -> _Worker:
        """Start one more worker, and all others that can be forked from it; return it."""
        from simdup.compute import compiled  # noqa: PLC0415  not in a worker

        context, modules = get_context("spawn"), [self._function.__module__]
        if compiled.loaded_kernels() or compiled.kernels_pay(characters=self._characters):
            modules.append("numba")
        count = self._jobs - len(self._workers) if _FORKS else 1
        ours, theirs = zip(*(context.Pipe() for _ in range(count)), strict=True)
        process = context.Process(target=_work, args=(theirs, modules), daemon=True)
        self._spawned.append(process)
        with ExitStack() as opened, _interrupts_held_back():
            for each in theirs:
                opened.enter_context(each)
            process.start()
        self._workers += (_Worker(each, self._unready) for each in ours)
        compiled.load_kernels_if_worth(characters=self._characters, progress=self._progress)
        self._characters = 0  # counted
        # Workers load the kernels if this process has: they are compiled and in the cache.
        with suppress(OSError):  # it died, which its first task will show
            ours[0].send(compiled.loaded_kernels() is not None)
        return self._workers[-count]

    def result(self, number: int) -> Any:  # noqa: ANN401
        """The function's result for a task. Raises the function's error."""
        while number not in self.done:
            self._receive()
        result, error, traceback = self.done.pop(number)
        if error is not None:
            raise error from _InWorkerError(traceback)
        return result

    def end(self) -> None:
        """End all workers, even if they are busy; forked ones end with the worker they are from."""
        for worker in self._workers:
            worker.connection.close()
        for process in self._spawned:
            if process.pid is not None:
                process.kill()  # one that ignores SIGTERM, as its parent may, ends all the same
                process.join()

    def _receive(self, timeout: float | None = None) -> bool:
        """Wait until a worker has done a task, and keep the result; whether one came in time."""
        found = wait([worker.connection for worker in self._workers], timeout)
        for worker in self._workers:
            if worker.connection in found:
                try:
                    number, *outcome = worker.connection.recv()
                except (EOFError, OSError):
                    raise BrokenProcessPool("a worker process died") from None
                if number == READY:
                    worker.tasks -= self._unready
                    continue
                self.done[number] = tuple(outcome)
                worker.tasks -= 1
                if number == NO_TASK:
                    self.result(NO_TASK)
        return bool(found)


class _InWorkerError(Exception):
    """Carries the traceback of an error in a worker, as text."""

    def __str__(self) -> str:
        return f"in a worker process:\n{self.args[0]}"


def _work(connections: Sequence[Connection], modules: Iterable[str]) -> None:
    """Be a worker for the first connection, and fork one for each of the others.

    All of them need these modules. The parent says whether they load the kernels.
    """
    tasks = SimpleQueue[Any]()
    try:
        check_that_numpy_loads()
        for name in modules:  # before a thread takes memory too
            import_module(name)
        if connections[0].recv():
            import_module("simdup.compute.compiled").load_kernels()
    except (EOFError, ConnectionError):
        return  # the parent is gone
    except Exception as error:  # noqa: BLE001  (it is raised where a result is wanted)
        tasks.put((NO_TASK, _raising, (import_root(error),)))
    own = _forked(connections)
    try:
        threading.Thread(target=_listen, args=(own, tasks), daemon=True).start()
    except RuntimeError as error:
        _send_error(own, NO_TASK, error)
        return
    tasks.put((READY, bool, ()))
    while True:
        number, function, task = tasks.get()
        try:
            own.send((number, function(*task), None, ""))
        except Exception as error:  # noqa: BLE001  (it is raised where the result is wanted)
            _send_error(own, number, error)


def _forked(connections: Sequence[Connection]) -> Connection:
    """Fork a worker for each connection but the first; the connection of this process."""
    first, spawned = connections[0], os.getpid()
    for own in connections[1:]:
        try:
            process = os.fork()
        except OSError as error:
            _send_error(own, NO_TASK, error)
        else:
            if process == 0:
                _end_with(spawned)
                for other in connections:
                    if other is not own:
                        other.close()
                return own
        own.close()
    return first


def _end_with(parent: int) -> None:
    """Let the system end this process when its parent ends."""
    CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


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
