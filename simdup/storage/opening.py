"""Open untrusted files for reading on every system, and tell one file from another."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from errno import ELOOP

# Opening a FIFO must not wait for a writer, and a terminal must not become our controlling
# terminal; Windows must not change line ends. A system that lacks a flag does not need it.
_FLAGS = os.O_RDONLY
for _name in ("O_NONBLOCK", "O_NOCTTY", "O_BINARY"):
    _FLAGS |= getattr(os, _name, 0)


def open_to_read(
    path: str | os.PathLike[str], *, follow: bool = True, folder: int | None = None
) -> int:
    """Return a descriptor of a file, which may be of any kind. Raises OSError and ValueError.

    Without `follow` a symbolic link is an error. A relative path starts at `folder` (a
    descriptor) if given, else at the current folder.
    """
    if follow:
        return os.open(path, _FLAGS, dir_fd=folder)
    if not hasattr(os, "O_NOFOLLOW") and os.path.islink(path):
        raise OSError(ELOOP, os.strerror(ELOOP), path)
    return os.open(path, _FLAGS | getattr(os, "O_NOFOLLOW", 0), dir_fd=folder)


@contextmanager
def locked(folders: Iterable[str], *, is_waiting: bool) -> Iterator[None]:
    """Keep other runs of simdup that lock one of these folders out; wait for one, or raise at once.

    File systems without locks, and Windows, lock nothing. Raises OSError for a folder that cannot
    be opened, and BlockingIOError for a locked one.
    """
    try:
        import fcntl  # noqa: PLC0415  (not on Windows)
    except ImportError:
        yield
        return
    opened, how = dict[tuple[int, int], int](), 0 if is_waiting else fcntl.LOCK_NB
    with ExitStack() as held:
        for folder in folders:
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            held.callback(os.close, descriptor)
            opened[identity_of(os.fstat(descriptor))] = descriptor
        for descriptor in opened.values():
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | how)
            except BlockingIOError:
                raise
            except OSError:
                continue  # of a file system that has no locks
        yield


def identity_of(status: os.stat_result) -> tuple[int, int]:
    """Device and inode, which tell a file from all others whatever names it has."""
    return status.st_dev, status.st_ino


def identity_at(path: str) -> tuple[int, int] | None:
    """Device and inode of what a path leads to; None if it leads nowhere."""
    try:
        return identity_of(os.stat(path))
    except (OSError, ValueError):
        return None


def reason_of(error: OSError | ValueError) -> str:
    """Why a file cannot be opened, in the system's words, without number and path.

    `open` raises ValueError for a NUL or a lone surrogate in a name; Python's words vary.
    """
    if isinstance(error, OSError):
        return error.strerror or str(error)
    return "no possible name of a file"
