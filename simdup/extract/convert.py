"""Documents in, text out by a program that the user names, for formats without a reader here.

The program is started without a shell. It gets the file's path in place of `{}`, or the file's
bytes on standard input if the command has no `{}`. Its output is the text.

The program, and whatever it started, ends with this process, even if this one is killed: a
small process between the two, the keeper, waits for that. Windows has no such groups of
processes; there only the program itself is ended, and not if this process is killed.
"""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from math import ceil
from shutil import which
from stat import S_ISREG
from typing import IO

from simdup.errors import SHORTAGES
from simdup.extract.cleanup import LONGEST_TEXT, NotReadable, ReaderFailed, unless_empty
from simdup.extract.sandbox import PATIENCE, SECONDS, called_after
from simdup.records import Reason
from simdup.settings import Converter
from simdup.text.encodings import NotText, decode, detect

# Stands in a command for the file's path.
PLACE = "{}"

# Stands between the names in a word that is a command itself, or an option with its value.
_NAMES = re.compile(r"[\s='\";|&()<>]+")

# A program may print this many bytes: no character has more than 4.
MOST_BYTES = 4 * LONGEST_TEXT

# The keeper starts the program, ends with the program's exit code, and kills the whole group of
# processes when the lifeline's other end is closed. It forks, which is safe in a process
# without threads (ours may have some). It resets the signals that Python changes at its start,
# so that the program finds the usual ones.
_KEEPER = """
import _thread, os, resource, signal, sys
lifeline, seconds = int(sys.argv[1]), int(sys.argv[2])
def keep():
    os.read(lifeline, 1)
    os.killpg(0, signal.SIGKILL)
try:
    program = os.fork()
    if program == 0:
        for each in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(each, signal.SIG_DFL)
        most = resource.getrlimit(resource.RLIMIT_CPU)[1]
        if most == resource.RLIM_INFINITY or most > seconds:
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, most))
        os.set_inheritable(lifeline, False)
        os.execvp(sys.argv[3], sys.argv[3:])
    os.closerange(0, 3)
    _thread.start_new_thread(keep, ())
    code = os.waitstatus_to_exitcode(os.waitpid(program, 0)[1])
except Exception as error:
    os.write(lifeline, str(getattr(error, "strerror", None) or error).encode())
    code = 127
os._exit(code if code >= 0 else 128 - code)
"""


class NotConverted(NotReadable):
    """The program failed or printed no text; it may succeed another time."""

    kind = Reason.UNCONVERTED


def converter_for(
    path: str, converters: Sequence[Converter], *, is_file: bool = True
) -> Converter | None:
    """The first converter whose ending the name has; None if there is none.

    Data packed in a file (not `is_file`) only suits a converter that
    reads its standard input.
    """
    name = os.path.basename(path).lower()
    for each in converters:
        if name.endswith(f".{each.ending}") and (is_file or PLACE not in " ".join(each.command)):
            return each
    return None


def converted(converter: Converter, data: bytes, path: str, seconds: float = SECONDS) -> str:
    """The text that the converter's program prints for a file. Raises NotReadable."""
    # Absolute, so that a name with a dash at its beginning is not an option.
    words = [word.replace(PLACE, os.path.abspath(path)) for word in converter.command]
    program = words[0]
    try:
        with tempfile.TemporaryFile() as file, tempfile.TemporaryFile() as complaints:
            if PLACE not in " ".join(converter.command):
                file.write(data)
                file.seek(0)
            code, output = _run(words, file, complaints, seconds)
            complaints.seek(0)
            said = _last_line(complaints.read(1 << 16), code)
    except OSError as error:
        if error.errno in SHORTAGES:
            raise
        raise ReaderFailed(f"cannot run {program!r}: {error.strerror or error}") from None
    if code != 0:
        raise NotConverted(f"{program} failed: {said}")
    encoding = detect(output)
    if isinstance(encoding, NotText):
        raise NotConverted(f"{program} gave no text ({encoding.detail})")
    try:
        return unless_empty(decode(output, encoding), f"{program} gave no text")
    except NotReadable as trouble:
        raise NotConverted(trouble.reason) from None


def edition(converter: Converter) -> str:
    """A string that changes whenever the command does, or a file that one of its words names.

    These are programs, and scripts such as `conv` in "sh conv {}" or "sh -c 'conv {}'".
    """
    names = {name for word in converter.command for name in (word, *_NAMES.split(word))}
    return f"{converter}{''.join(map(_state, sorted(names)))}"


def _state(name: str) -> str:
    """The size and times of the program or file of this name; "" if it names none."""
    with suppress(OSError, ValueError):
        path = which(name) or name
        status = os.stat(path)
        if S_ISREG(status.st_mode):
            return f" ({path}, {status.st_size} bytes, {status.st_mtime_ns}, {status.st_ctime_ns})"
    return ""


def _run(
    command: list[str], source: IO[bytes], complaints: IO[bytes], seconds: float
) -> tuple[int, bytes]:
    """The exit code and the output of a program. Raises OSError if it cannot be started.

    Raises NotConverted if it prints too much, ReaderFailed if it takes too long.
    """
    with (
        _started(command, source, complaints, seconds) as process,
        called_after(PATIENCE * seconds, partial(_kill, process)) as is_late,
    ):
        output = process.stdout.read(MOST_BYTES + 1) if process.stdout else b""
        if len(output) > MOST_BYTES:
            raise NotConverted(f"{command[0]} printed more than {MOST_BYTES:,} bytes")
        code = process.wait()
    if is_late.is_set():
        raise ReaderFailed(f"{command[0]} took longer than {PATIENCE * seconds:g} seconds")
    if hasattr(signal, "SIGXCPU") and code == 128 + signal.SIGXCPU:
        raise ReaderFailed(f"{command[0]} took more than {seconds:g} seconds of processor time")
    return code, output


@contextmanager
def _started(
    command: list[str], source: IO[bytes], complaints: IO[bytes], seconds: float
) -> Iterator[subprocess.Popen[bytes]]:
    """Start a program with this limit of processor time in seconds; it ends with the block.

    Raises OSError, perhaps only at the end of the block, if it cannot be started.
    """
    ours, theirs = socket.socketpair()
    with ours:
        with theirs:
            keeper = _keeper(theirs.fileno(), seconds)
            process = subprocess.Popen(  # noqa: S603  (the user named it)
                [*keeper, *command],
                stdin=source,
                stdout=subprocess.PIPE,
                stderr=complaints,
                pass_fds=[theirs.fileno()] if keeper else [],
                start_new_session=True,
            )
        try:
            yield process
        finally:
            _kill(process)
            process.communicate()
        if trouble := ours.recv(1 << 10):
            raise OSError(trouble.decode())


def _keeper(lifeline: int, seconds: float) -> list[str]:
    """The keeper's command, to which the program's is added; empty where processes cannot fork."""
    if not hasattr(os, "fork"):
        return []
    # Isolated: a module in the current folder is not imported. UTF-8: names stay as they are.
    mode = ("-I", "-S", "-X", f"utf8={sys.flags.utf8_mode}")
    return [sys.executable, *mode, "-c", _KEEPER, str(lifeline), str(ceil(seconds))]


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a program and whatever it started."""
    with suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()


def _last_line(complaints: bytes, code: int) -> str:
    """The last line that a program printed as an error; its exit code if it printed none."""
    lines = complaints.decode("utf-8", "replace").strip().split("\n")
    return lines[-1].strip()[:200] or f"exit code {code}"
