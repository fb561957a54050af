"""Documents read in a process of its own, which may hang, crash or take too much memory.

Parsers in C or C++ are fed files that nobody vouches for. The process is started when first
needed and serves until a file kills it or takes too long: then that file is `NotReadable`,
and the next one gets a new process. It is no `multiprocessing`, which would run the main
script again, and fail in one without `if __name__ == "__main__":`.
"""

from __future__ import annotations

import os
import signal
import struct
import subprocess
import sys
from contextlib import suppress
from threading import Timer
from typing import IO, TYPE_CHECKING

from simdup.extract.formats import Format
from simdup.extract.plain import NotReadable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

# The slowest of 250 real files, 3,500 pages, takes 4 s.
SECONDS = 60
# Of address space, not all of which is memory; the largest real file took 430 MB of it.
MEMORY_BYTES = 2 << 30

# How it is started; it imports no reader before the first question.
_PROGRAM = (
    "import sys; sys.path[:] = sys.argv[1:]; from simdup.extract.documents import serve; serve()"
)
_QUESTION = struct.Struct(">8sQ")  # the name of a format, and how many bytes follow
_ANSWER = struct.Struct(">?Q")  # whether it is a text, and how many bytes follow


class ReaderFailed(NotReadable):
    """The process that read a document hung or died; another time it may not."""


class Guard:
    """Has documents read in a process of its own; close it when done."""

    def __init__(self, seconds: float = SECONDS) -> None:
        """`seconds` is what one file may take."""
        self._seconds = seconds
        self._process: subprocess.Popen[bytes] | None = None

    def text(self, found: Format, data: bytes) -> str:
        """The text of a document of this format. Raises NotReadable."""
        self._process = self._process or _started()
        timer = Timer(self._seconds, self._process.kill)
        timer.daemon = True
        timer.start()
        try:
            is_text, answer = _asked(self._process, found, data)
        except (EOFError, OSError):
            is_late = not timer.is_alive()
            self.close()
            late = f"takes longer than {self._seconds:g} s to read"
            crashed = "its reader crashed or ran out of memory"
            raise ReaderFailed(late if is_late else crashed) from None
        finally:
            timer.cancel()
        if not is_text:
            raise NotReadable(answer)
        return answer

    def close(self) -> None:
        """End the process, whatever it does."""
        if self._process is not None:
            self._process.kill()
            with suppress(OSError):  # what it has not read
                self._process.communicate()
            self._process = None


def _started() -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603  (ourselves)
        [sys.executable, "-c", _PROGRAM, *sys.path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )


def _asked(process: subprocess.Popen[bytes], found: Format, data: bytes) -> tuple[bool, str]:
    """The answer of the process. Raises EOFError or OSError when it is gone."""
    if process.stdin is None or process.stdout is None:
        raise EOFError
    process.stdin.write(_QUESTION.pack(found.value.encode(), len(data)))
    process.stdin.write(data)
    process.stdin.flush()
    is_text, size = _ANSWER.unpack(_exactly(process.stdout, _ANSWER.size))
    return is_text, _exactly(process.stdout, size).decode("utf-8", "surrogatepass")


def _exactly(source: IO[bytes], size: int) -> bytes:
    """So many bytes. Raises EOFError if there are fewer."""
    data = source.read(size)
    if len(data) < size:
        raise EOFError
    return data


def serve(readers: Mapping[Format, Callable[[bytes], str]]) -> None:
    """Read what comes on standard input, until nobody is at its other end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who asked answers Ctrl-C
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # nothing else may write among the answers
    _limit_memory()
    with suppress(EOFError, OSError):
        while True:
            name, size = _QUESTION.unpack(_exactly(sys.stdin.buffer, _QUESTION.size))
            data = _exactly(sys.stdin.buffer, size)
            _die_after(2 * SECONDS)
            is_text, answer = _answer(readers[Format(name.rstrip(b"\0").decode())], data)
            _die_after(0)
            content = answer.encode("utf-8", "surrogatepass")
            answers.write(_ANSWER.pack(is_text, len(content)) + content)
            answers.flush()


def _answer(reader: Callable[[bytes], str], data: bytes) -> tuple[bool, str]:
    """The text and True, or why there is none and False."""
    try:
        return True, reader(data)
    except NotReadable as trouble:
        return False, trouble.reason
    except MemoryError:
        return False, "takes too much memory to read"
    except Exception as error:  # noqa: BLE001  (one file must not end the scan)
        return False, f"damaged: {type(error).__name__}"


def _limit_memory() -> None:
    """Let this process have no more than it may, where that can be said; and write no file."""
    try:
        import resource  # noqa: PLC0415  not on Windows
    except ImportError:
        return
    for kind, most in (
        (resource.RLIMIT_AS, MEMORY_BYTES),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
    ):
        with suppress(ValueError, OSError):  # less was allowed already; macOS refuses the first
            resource.setrlimit(kind, (most, most))


def _die_after(seconds: int) -> None:
    """Let a signal end this process then, should who asked be gone; 0: no more."""
    if hasattr(signal, "alarm"):
        signal.alarm(seconds)
