"""Where results go: stdout, or a file that is replaced only when all is written."""

from __future__ import annotations

import os
import sys
import tempfile
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Write = Callable[[Iterable[str] | Iterable[bytes]], None]


@contextmanager
def output(path: str | None, *, as_utf8: bool) -> Iterator[Write]:
    """A function that writes lines (str) or bytes to a file, or to stdout for None.

    The file can be written before anything else begins, or OSError is raised then; it
    takes its name when the block ends without an error, else the old one stays. Lines
    to stdout are in its encoding unless `as_utf8`.
    """
    if path is None:
        encoding = "utf-8" if as_utf8 else sys.stdout.encoding or "utf-8"
        yield lambda parts: _write(sys.stdout.buffer.fileno(), parts, encoding)
    elif os.path.exists(path) and not os.path.isfile(path):
        # A device or a pipe has no old content to keep, and is not to be replaced.
        with open(path, "wb") as file:
            yield lambda parts: _write(file.fileno(), parts, "utf-8")
    else:
        yield from _replacing(os.path.realpath(path))


def _replacing(path: str) -> Iterator[Write]:
    folder, name = os.path.split(path)
    try:
        descriptor, temporary = tempfile.mkstemp(
            prefix=f".{name[:40]}.", suffix=".part", dir=folder
        )
    except OSError as error:
        raise OSError(error.errno, f"cannot write here: {error.strerror}", path) from None
    try:
        with os.fdopen(descriptor, "wb"):
            yield lambda parts: _write(descriptor, parts, "utf-8")
            os.fchmod(descriptor, _mode(path))
            os.fsync(descriptor)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _mode(path: str) -> int:
    """The mode of the file that is replaced, or of a new one."""
    try:
        return os.stat(path).st_mode & 0o777
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


def _write(descriptor: int, parts: Iterable[str] | Iterable[bytes], encoding: str) -> None:
    """Write lines, each ended by a newline, or bytes as they are."""
    with os.fdopen(os.dup(descriptor), "wb") as file:
        for part in parts:
            if isinstance(part, bytes):
                file.write(part)
            else:
                file.write((part + "\n").encode(encoding, "backslashreplace"))
