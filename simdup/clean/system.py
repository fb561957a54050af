"""Files by folder and name, reached without symbolic links, and renames that overwrite nothing.

Python's `os` has no renameat2 (Linux) and no renameatx_np (macOS). They are called by ctypes where
the system has them; elsewhere a slower way gives the same answers.
"""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import cache

from simdup.storage.opening import identity_of, open_to_read

_Rename = Callable[[int, bytes, int, bytes, int], int]

_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
NO_LINK = getattr(os, "O_NOFOLLOW", 0)

#: Whether folders can be opened, so that a file is named within one that nobody can swap.
HAS_FOLDERS = os.open in os.supports_dir_fd

# Errors by which a kernel or file system says that it lacks a system call or one of its flags.
_LACKING = frozenset({errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP})


#: Flags of renameat2, or of renameatx_np of macOS.
NEW, SWAP = (0x04, 0x02) if sys.platform == "darwin" else (0x01, 0x02)


@dataclass(frozen=True, slots=True)
class Place:
    """A name in an open folder, which leads to the same file even if the folder is renamed.

    folder: Its descriptor; None where the system has none for folders: `name` is the whole path
        then.
    path: The absolute path, for messages and journals.
    """

    folder: int | None
    name: str
    path: str

    @classmethod
    def of(cls, path: str) -> Place:
        """Return the place with an absolute path; `close` it. Raises OSError and ValueError."""
        if not HAS_FOLDERS:
            return cls(None, path, path)
        folder, name = os.path.split(path)
        parts_of(path)
        return cls(open_folder(folder), name, path)

    def beside(self, name: str) -> Place:
        """Return the place with another name in the same folder; it is closed with this one."""
        path = os.path.join(os.path.dirname(self.path), name)
        return Place(self.folder, path if self.folder is None else name, path)

    def status(self) -> os.stat_result:
        """Return the status of what has the name, a symbolic link too. Raises OSError."""
        return os.stat(self.name, dir_fd=self.folder, follow_symlinks=False)

    def exists(self) -> bool:
        """Whether anything has the name. Raises OSError."""
        try:
            self.status()
        except FileNotFoundError:
            return False
        return True

    def open(self) -> int:
        """Return a descriptor to read what has the name. Raises OSError for a symbolic link."""
        return open_to_read(self.name, follow=False, folder=self.folder)

    def create(self, mode: int = 0o600) -> int:
        """Return a descriptor to write and read a new file. Raises FileExistsError."""
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        return os.open(self.name, flags | NO_LINK, mode, dir_fd=self.folder)

    def identity(self) -> tuple[int, int]:
        """Return the device and inode of what has the name. Raises OSError."""
        return identity_of(self.status())

    def link_to(self, new: Place) -> None:
        """Give the file a second name, which must be free. Raises FileExistsError."""
        folders = {"src_dir_fd": self.folder, "dst_dir_fd": new.folder}
        os.link(self.name, new.name, **folders, follow_symlinks=False)

    def unlink(self) -> None:
        """Unlink the name. Raises OSError."""
        os.unlink(self.name, dir_fd=self.folder)

    def close(self) -> None:
        """Close the folder."""
        if self.folder is not None:
            os.close(self.folder)


def mount_of(folder: str) -> tuple[int, int]:
    """Return the device of a folder and, on Linux, the number of its mount. Raises OSError.

    Files are renamed within one mount only, though a bind mount has the device of its source.
    """
    descriptor = os.open(folder, _FOLDER | getattr(os, "O_PATH", 0))
    try:
        device, mount = os.fstat(descriptor).st_dev, 0
        with suppress(OSError), open(f"/proc/self/fdinfo/{descriptor}") as lines:
            mount = next(int(each[7:]) for each in lines if each.startswith("mnt_id:"))
    finally:
        os.close(descriptor)
    return device, mount


def parts_of(path: str) -> list[str]:
    """Return the names in an absolute path. Raises ValueError for any other path.

    >>> parts_of("/home/ann/a.txt")
    ['home', 'ann', 'a.txt']
    """
    first, *parts = path.split("/")
    if first or "\0" in path or not any(parts) or any(each in {"", ".", ".."} for each in parts):
        raise ValueError(f"{path!r} is no absolute path without '.', '..', '//' and NUL")
    return parts


def open_folder(path: str) -> int:
    """Return a descriptor of a folder whose absolute path has no symbolic link.

    Each part of the path is opened in the one before. Raises OSError; ENOTDIR or ELOOP if a part
    is a link or no folder.
    """
    parts = [] if path == "/" else parts_of(path)
    here = os.open("/", _FOLDER)
    for place, part in enumerate(parts, 1):
        above = here
        try:
            # Folders on the way need not be readable.
            passed = getattr(os, "O_PATH", 0) if place < len(parts) else 0
            here = os.open(part, _FOLDER | NO_LINK | passed, dir_fd=above)
        except OSError as error:
            error.filename = path
            raise
        finally:
            os.close(above)
    return here


def make_folder(path: str, mode: int = 0o777) -> None:
    """Make a folder, and sync its parent, which is opened through no symbolic link.

    Do nothing if the name is taken already.
    """
    with suppress(FileExistsError), closing(Place.of(path)) as place:
        os.mkdir(place.name, mode, dir_fd=place.folder)
        sync_folder(place.folder)


def rename_new(source: Place, target: Place) -> None:
    """Rename a file; the new name must be free. Raises FileExistsError and OSError.

    Only simdup may know the old name: where the system has no such rename, the file has both names
    for a moment, and a file that another program gives the old one in this moment is lost.
    """
    if not rename_at_once(source, target):
        source.link_to(target)
        source.unlink()


def rename_at_once(source: Place, target: Place, flags: int = NEW) -> bool:
    """Rename a file by one call that overwrites nothing, or swap two names; False where it cannot.

    The system or the file system may have no such call. Raises FileExistsError and OSError.
    """
    rename = renamer()
    if rename is None or source.folder is None or target.folder is None:
        return False
    names = os.fsencode(source.name), os.fsencode(target.name)
    if rename(source.folder, names[0], target.folder, names[1], flags) == 0:
        return True
    number = ctypes.get_errno()
    if number in _LACKING:
        return False
    raise OSError(number, os.strerror(number), source.path, None, target.path)


@cache
def renamer() -> _Rename | None:
    """The C library's function that renames with flags, if there is one."""
    if sys.platform == "win32":
        return None
    name = "renameatx_np" if sys.platform == "darwin" else "renameat2"
    function = getattr(ctypes.CDLL(None, use_errno=True), name, None)
    if function is not None:
        folder, path = ctypes.c_int, ctypes.c_char_p
        function.argtypes = folder, path, folder, path, ctypes.c_uint
    return function


def write_all(descriptor: int, data: bytes) -> None:
    """Write all the bytes, in as many calls as that takes. Raises OSError."""
    while data:
        data = data[os.write(descriptor, data) :]


def sync_folder(folder: int | None) -> None:
    """Make the names in a folder survive a power cut. Raises OSError.

    Some file systems cannot sync a folder; on these, names survive without it, or never.
    """
    if folder is None:
        return
    try:
        os.fsync(folder)
    except OSError as error:
        if error.errno not in {errno.EINVAL, errno.ENOTSUP, errno.EBADF, errno.EROFS}:
            raise
