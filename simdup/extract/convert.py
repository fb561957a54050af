"""Bytes in, text out by a program that the user names: for what no reader here reads.

The program is started without a shell, and gets the file's path in place of `{}`, or its
bytes on standard input where the command has no `{}`. What it prints is the text.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager, suppress
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, NoReturn

from simdup.decode import NotText, decode, detect
from simdup.extract.guarded import SECONDS, ReaderFailed
from simdup.extract.plain import LONGEST_TEXT, NotReadable, unless_empty

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import FrameType

    from simdup.settings import Converter

# In a command, the place of the file's path.
PLACE = "{}"

# Of what a program prints, at least this many bytes are one character.
MOST_BYTES = 4 * LONGEST_TEXT


def converter_for(path: str, converters: Sequence[Converter]) -> Converter | None:
    """The first converter whose ending the name has; None if there is none."""
    name = os.path.basename(path).lower()
    return next((each for each in converters if name.endswith(f".{each.ending}")), None)


def converted(converter: Converter, data: bytes, path: str, seconds: float = SECONDS) -> str:
    """What the converter's program prints for a file. Raises NotReadable."""
    program = converter.command[0]
    with TemporaryFile() as file, TemporaryFile() as complaints:
        if PLACE not in " ".join(converter.command):
            file.write(data)
            file.seek(0)
        try:
            code, output = _run(_words(converter, path), file.fileno(), complaints, seconds)
        except OSError as error:
            raise ReaderFailed(f"cannot run {program!r}: {error.strerror}") from None
        if code != 0:
            complaints.seek(0)
            raise NotReadable(f"{program} failed: {_last_line(complaints.read(1 << 16), code)}")
    encoding = detect(output)
    if isinstance(encoding, NotText):
        raise NotReadable(f"{program} gave no text ({encoding.detail})")
    return unless_empty(decode(output, encoding), f"{program} gave no text")


def edition(converter: Converter) -> str:
    """Differs whenever the command does, or the program that it runs."""
    program = shutil.which(converter.command[0])
    with suppress(OSError, TypeError):
        status = os.stat(program)  # type: ignore[arg-type]  # None: TypeError
        return f"{converter} ({program}, {status.st_size} bytes, {status.st_mtime_ns})"
    return str(converter)


def _words(converter: Converter, path: str) -> list[str]:
    # Absolute, so that a name that begins with a dash is no option.
    return [word.replace(PLACE, os.path.abspath(path)) for word in converter.command]


def _run(command: list[str], source: int, complaints: object, seconds: float) -> tuple[int, bytes]:
    """The exit code of a program and what it printed; 0 for one that printed too much.

    Raises ReaderFailed if it takes too long.
    """
    process = subprocess.Popen(  # noqa: S603  (the user named it)
        command,
        stdin=source,
        stdout=subprocess.PIPE,
        stderr=complaints,  # type: ignore[call-overload]
        start_new_session=True,
    )
    late = threading.Event()

    def end() -> None:
        late.set()
        _kill(process)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        with _cleaned_up_when_terminated():
            output = process.stdout.read(MOST_BYTES + 1) if process.stdout else b""
            if len(output) > MOST_BYTES:
                raise NotReadable(f"{command[0]} printed more than {MOST_BYTES:,} bytes")
            code = process.wait()
    finally:
        timer.cancel()
        _kill(process)
        process.communicate()
    if late.is_set():
        raise ReaderFailed(f"{command[0]} took longer than {seconds:g} s")
    return code, output


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End a program and whatever it started."""
    with suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()


@contextmanager
def _cleaned_up_when_terminated() -> Iterator[None]:
    """What is under way in the block is cleaned up when this process is told to end."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def leave(number: int, _: FrameType | None) -> NoReturn:
        sys.exit(128 + number)

    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _last_line(complaints: bytes, code: int) -> str:
    """What a program said last; its exit code if it said nothing."""
    lines = complaints.decode("utf-8", "replace").split("\n")
    said = [line.strip() for line in lines if line.strip()]
    return said[-1][:200] if said else f"exit code {code}"
