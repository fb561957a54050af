"""Documents in, their texts out, by a process that may hang, crash or take too much memory.

Parsers in C or C++ read files from anywhere. The process is started when first needed and
serves until a file crashes it or takes too long: that file is `NotReadable`, and the next one
gets a new process. `multiprocessing` is not used, since it would run the user's script again,
and fail if that has no `if __name__ == "__main__":`.

The process ends with its parent, however that ends: one of its threads notices the end of
standard input, and where C code lets no thread run, Linux ends the process.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from queue import Queue
from typing import Any, NoReturn

from simdup.extract.cleanup import Extracted, Mangled, NotReadable, ReaderFailed, unread_of
from simdup.records import Unread

# Seconds of processor time for one file, so that the result does not depend on other work of the
# machine. The slowest of 250 real files, 3,500 pages, takes 4 s.
SECONDS = 60
# A reader that waits uses no processor time, so the clock limits it too, to this many times as
# long: a busy machine loses a file only if it gives the reader less than a tenth of a processor.
PATIENCE = 10
# Address space, of which only a part is memory; the largest real file took 430 MB.
MEMORY_BYTES = 2 << 30

# The program of the process; it imports no reader before the first question.
_PROGRAM = (
    "import sys; sys.path[:] = sys.argv[2:]; from simdup.extract.sandbox import serve;"
    " from simdup.extract.readers import READERS; serve(READERS, is_tied=sys.argv[1] == 'tied')"
)
# What an answer has: a text, a `Mangled` text, or why there is none.
_TEXT, _MANGLED, _REASON, _FAILURE = "text", "mangled", "reason", "failure"
_REFUSALS = {_REASON: NotReadable, _FAILURE: ReaderFailed}

# Linux's prctl: the signal that a process gets when the thread that started it ends.
_PR_SET_PDEATHSIG = 1


class Guard:
    """Reads documents by a process of its own; close it when done."""

    def __init__(self, seconds: float = SECONDS) -> None:
        """`seconds` is the processor time that one file may take."""
        self._seconds = seconds
        self._process: subprocess.Popen[bytes] | None = None

    def text(self, found: str, data: bytes) -> str:
        """The text of a document of this format. Raises NotReadable."""
        self._process = self._process or _started()
        with called_after(PATIENCE * self._seconds, self._process.kill) as is_late:
            try:
                kind, answer, unread = _asked(self._process, found, self._seconds, data)
            except (ValueError, OSError):
                raise self._cause(self._process, is_late=is_late.is_set()) from None
        if kind in _REFUSALS:
            raise _REFUSALS[kind](answer)
        made = Mangled(answer) if kind == _MANGLED else Extracted(answer)
        made.unread = tuple(Unread(*each) for each in unread)
        return made

    def _cause(self, process: subprocess.Popen[bytes], *, is_late: bool) -> NotReadable:
        """Close the process that died, and say why it did.

        Processor time depends on the file and not on other work, so that reason is a lasting one.
        """
        self.close()
        if is_late:
            return ReaderFailed(f"takes longer than {PATIENCE * self._seconds:g} seconds to read")
        if hasattr(signal, "SIGPROF") and process.returncode == -signal.SIGPROF:
            seconds = f"{self._seconds:g} seconds of processor time"
            return NotReadable(f"takes more than {seconds} to read")
        return ReaderFailed("its reader crashed or ran out of memory")

    def close(self) -> None:
        """End the process, even if it is busy."""
        if self._process is not None:
            self._process.kill()
            with suppress(OSError):  # the unread rest
                self._process.communicate()
            self._process = None


@contextmanager
def called_after(seconds: float, kill: Callable[[], None]) -> Iterator[threading.Event]:
    """Call a function if the block takes these seconds; the event tells whether that happened."""
    is_late = threading.Event()

    def end() -> None:
        is_late.set()
        kill()

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield is_late
    finally:
        timer.cancel()


def _started() -> subprocess.Popen[bytes]:
    # Linux would end the process with the thread that starts it, and only the first thread lasts.
    is_tied = threading.get_native_id() == os.getpid()
    return subprocess.Popen(  # noqa: S603  (ourselves)
        [sys.executable, "-c", _PROGRAM, "tied" if is_tied else "free", *sys.path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )


def _asked(
    process: subprocess.Popen[bytes], found: str, seconds: float, data: bytes
) -> tuple[str, str, list[Any]]:
    """The answer of the process: its kind, the text or reason, and what the text leaves out.

    A question is a line of JSON and the data, and an answer is a line of JSON. Raises ValueError or
    OSError when the process is gone.
    """
    if process.stdin is None or process.stdout is None:
        raise ValueError("no pipes")
    head = json.dumps([found, seconds, len(data)])
    process.stdin.write(f"{head}\n".encode())
    process.stdin.write(data)
    process.stdin.flush()
    kind, answer, unread = json.loads(process.stdout.readline().decode("utf-8", "surrogatepass"))
    return kind, answer, unread


def serve(readers: Mapping[str, Callable[[bytes], str]], *, is_tied: bool) -> NoReturn:
    """Answer the questions on standard input, until the parent closes its end.

    `is_tied`: the thread that started this process lasts as long as the parent.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent reacts to Ctrl-C
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # nothing else may write among the answers
    if is_tied and sys.platform == "linux":
        _end_with_parent()
    _limit_memory()
    questions = Queue[tuple[str, float, bytes]]()
    threading.Thread(target=_listen, args=(questions,), daemon=True).start()
    try:
        while True:
            found, seconds, data = questions.get()
            _end_after(seconds)
            answer = json.dumps(_answer(readers[found], data), ensure_ascii=False)
            _end_after(0)
            answers.write(f"{answer}\n".encode("utf-8", "surrogatepass"))
            answers.flush()
    finally:
        os._exit(1)  # the parent is gone, or there is no memory for the answer


def _listen(questions: Queue[tuple[str, float, bytes]]) -> NoReturn:
    """Receive questions; end this process, even if it is busy, when no more can come."""
    try:
        while True:
            name, seconds, size = json.loads(sys.stdin.buffer.readline())
            questions.put((name, seconds, sys.stdin.buffer.read(size)))
    finally:
        os._exit(1)


def _end_with_parent() -> None:
    """Have Linux end this process with the thread that started it, even in the midst of C code.

    If that thread has ended already, standard input has ended too.
    """
    import ctypes  # noqa: PLC0415  takes a while, and no other system needs it

    with suppress(OSError, AttributeError):  # a C library that lacks it
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _answer(reader: Callable[[bytes], str], data: bytes) -> tuple[str, str, tuple[Unread, ...]]:
    """The answer about a document; see `_asked`."""
    try:
        text = reader(data)
    except NotReadable as trouble:
        return _REASON, trouble.reason, ()
    except MemoryError:
        return _FAILURE, "takes too much memory to read", ()
    except (OSError, ImportError) as error:  # of the reader: documents are in memory
        return _FAILURE, f"its reader failed: {error}", ()
    except Exception as error:  # noqa: BLE001  (one file must not end the scan)
        return _REASON, f"damaged: {type(error).__name__}", ()
    return _MANGLED if isinstance(text, Mangled) else _TEXT, text, unread_of(text)


def _limit_memory() -> None:
    """Limit this process to MEMORY_BYTES where the system can, and let it write no file."""
    try:
        import resource  # noqa: PLC0415  not on Windows
    except ImportError:
        return
    limits = {resource.RLIMIT_AS: MEMORY_BYTES, resource.RLIMIT_CORE: 0, resource.RLIMIT_FSIZE: 0}
    for kind, most in limits.items():
        with suppress(ValueError, OSError):  # less was allowed already; macOS refuses the first
            resource.setrlimit(kind, (most, most))


def _end_after(seconds: float) -> None:
    """End this process by a signal after these seconds of processor time; 0 cancels that."""
    if hasattr(signal, "setitimer"):  # elsewhere only the clock is watched
        signal.setitimer(signal.ITIMER_PROF, seconds)
