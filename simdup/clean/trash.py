"""The trash of the desktop: which folder it is, and names in it; on macOS and Windows the bin.

Source: the Trash specification 1.0 of freedesktop.org,
https://specifications.freedesktop.org/trash-spec. A file stays on its file system: there is one
trash in the home folder, and one at the top of every other mount. The package Send2Trash puts files
into a bin and does not tell where, so `simdup undo` cannot take them out: the user must.
"""

from __future__ import annotations

import os
import stat
import sys
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from datetime import datetime
from errno import EEXIST, ENOENT
from functools import cache
from urllib.parse import quote_from_bytes

from simdup.clean.checks import Held
from simdup.clean.outcome import RefusedError
from simdup.clean.refusals import Refusal
from simdup.clean.system import Place, make_folder, mount_of, open_folder, write_all
from simdup.errors import ExtraMissingError
from simdup.storage.home import NoHomeError, home

_INFO = ".trashinfo"

# The longest name of a file on most file systems, in bytes.
_LONGEST = 255


@dataclass(slots=True)
class Trash:
    """One trash folder, with the descriptors of its two folders; `Trashes` closes it.

    top: The folder that paths in the trash are relative to; None: they are absolute.
    made: Its folders if they were missing at the top of a mount, the highest first.
    above_ns: The mtime of the folder above it, before `made` were made.
    _taken: For each name that was asked for, the last number put into it.
    """

    path: str
    top: str | None
    files: int
    info: int
    made: tuple[str, ...] = ()
    above_ns: int = 0
    _taken: dict[str, int] = field(default_factory=dict)

    def place(self, name: str) -> Place:
        """Return the place of this name in the trash; this object closes it."""
        return Place(self.files, name, os.path.join(self.path, "files", name))

    def info_place(self, name: str) -> Place:
        """Return the place of the note with a file's path and date; this object closes it."""
        name += _INFO
        return Place(self.info, name, os.path.join(self.path, "info", name))

    def free_name(self, name: str, leap: int = 0) -> str:
        """Return a name like this one that is not in the trash, and was not returned before.

        It leaves out the next `leap` numbers.
        """
        stem, ending = os.path.splitext(name)
        number = self._taken.get(name, 0) + leap
        while True:
            number += 1
            each = _shortened(stem, ending if number == 1 else f".{number}{ending}")
            if not (self.place(each).exists() or self.info_place(each).exists()):
                self._taken[name] = number
                return each

    def note(self, name: str, path: str) -> None:
        """Write the note of a file before it is moved in. Raises FileExistsError and OSError."""
        place = self.info_place(name)
        descriptor = place.create()
        try:
            write_all(descriptor, self.text_for(path))
            os.fsync(descriptor)
        except OSError:
            place.unlink()
            raise
        finally:
            os.close(descriptor)

    def text_for(self, path: str) -> bytes:
        """Return the note for the file with this path, dated now."""
        shown = path if self.top is None else os.path.relpath(path, self.top)
        when = datetime.now().astimezone().strftime("%Y-%m-%dT%H:%M:%S")
        quoted = quote_from_bytes(os.fsencode(shown), safe="/")
        return f"[Trash Info]\nPath={quoted}\nDeletionDate={when}\n".encode()

    def forget(self, name: str) -> None:
        """Remove the note of a file that is not in the trash, if there is one. Raises OSError."""
        with suppress(FileNotFoundError):
            self.info_place(name).unlink()

    def notes(self, name: str, path: str) -> bool:
        """Whether there is a note with this name, about the file that had this path.

        A note that was cut off when a run was killed counts too.
        """
        try:
            descriptor = self.info_place(name).open()
        except OSError:
            return False
        with open(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return False
            noted = file.read(1 << 16)
        wanted = self.text_for(path).rpartition(b"=")[0]
        return noted.startswith(wanted) or wanted.startswith(noted)


class Trashes:
    """The trash folders that a run uses, each opened once; `close` them."""

    def __init__(self) -> None:
        """Open nothing yet."""
        self._of_mount: dict[tuple[int, int], Trash] = {}
        self._of_path: dict[str, Trash] = {}
        self._folder = cache(self._opened)  # once, even if the other one cannot be opened
        self._open = ExitStack()
        self.close = self._open.close

    def trash_for(self, path: str) -> Trash:
        """Return the trash of the mount that a file is in, made if missing.

        Raises RefusedError and OSError.
        """
        mount = mount_of(os.path.dirname(path))
        if mount not in self._of_mount:
            self._of_mount[mount] = self._found(path, mount)
        return self._of_mount[mount]

    def trash_at(self, path: str, top: str | None) -> Trash:
        """Return the trash at this path, where a folder must be. Raises OSError."""
        if path not in self._of_path:
            files, info = map(self._folder, folders_of(path)[1:])
            self._of_path[path] = Trash(path, top, files, info)
        return self._of_path[path]

    def _opened(self, path: str) -> int:
        """Return the descriptor of a folder of a trash, made if missing. Raises OSError."""
        make_folder(path, 0o700)
        descriptor = open_folder(path)
        self._open.callback(os.close, descriptor)
        return descriptor

    def _found(self, path: str, mount: tuple[int, int]) -> Trash:
        """Return the trash for a file in this mount, made if missing. Raises RefusedError."""
        problems: list[str] = []
        with suppress(NoHomeError):
            try:
                own = home_trash()
                if _mount_above(own) == mount:
                    os.makedirs(own, mode=0o700, exist_ok=True)
                    return self.trash_at(os.path.realpath(own), None)
            except OSError as error:
                problems.append(_trouble(error))
        top = top_folder(path, mount)
        for name in (os.path.join(".Trash", str(os.getuid())), f".Trash-{os.getuid()}"):
            try:
                return self._opened_at_top(top, name, mount)
            except OSError as error:
                problems.append(_trouble(error))
        raise RefusedError(Refusal.NO_TRASH, "; ".join(problems))

    def _opened_at_top(self, top: str, name: str, mount: tuple[int, int]) -> Trash:
        """Return a trash at the top of a mount, made if missing. Raises OSError.

        A folder that all users share must be sticky, so that they cannot take each other's files.
        """
        if shared := os.path.dirname(name):
            status = os.lstat(os.path.join(top, shared))
            if not stat.S_ISDIR(status.st_mode) or not status.st_mode & stat.S_ISVTX:
                raise OSError(ENOENT, "no folder, or not sticky", os.path.join(top, shared))
        path = os.path.join(top, name)
        above_ns, made = os.lstat(os.path.dirname(path)).st_mtime_ns, tuple[str, ...]()
        with suppress(FileExistsError):
            os.mkdir(path, 0o700)
            made = folders_of(path)
        if os.lstat(path).st_uid != os.getuid() or mount_of(path) != mount:
            raise OSError(EEXIST, "of another user or device", path)
        trash = self.trash_at(path, top)
        trash.made, trash.above_ns = made, above_ns
        return trash


def is_trash(path: str, top: str | None) -> bool:
    """Whether a path is this user's trash: at home, or in `top`, the top of a file system."""
    if top is not None:
        uid = os.getuid()
        return path in {os.path.join(top, ".Trash", str(uid)), os.path.join(top, f".Trash-{uid}")}
    with suppress(NoHomeError):
        return path == os.path.realpath(home_trash())
    return False


def home_trash() -> str:
    """Return the path of the trash in the home folder. Raises NoHomeError."""
    data = os.environ.get("XDG_DATA_HOME")
    return os.path.join(data or os.path.join(home(), ".local", "share"), "Trash")


def top_folder(path: str, mount: tuple[int, int]) -> str:
    """Return the highest folder above a file that is in this mount. Raises OSError."""
    here = os.path.dirname(path)
    while here != "/" and mount_of(os.path.dirname(here)) == mount:
        here = os.path.dirname(here)
    return here


def folders_of(path: str) -> tuple[str, ...]:
    """Return the folders of which a trash consists, the highest first."""
    return path, os.path.join(path, "files"), os.path.join(path, "info")


def _mount_above(path: str) -> tuple[int, int]:
    """Return the mount of a folder, or of the folder in which it would be made."""
    while True:
        try:
            return mount_of(path)
        except FileNotFoundError:
            path = os.path.dirname(path)


def _shortened(stem: str, tail: str) -> str:
    """Join a stem and a tail to a name, cut so that the ending of notes still fits."""
    most = _LONGEST - len(_INFO)
    kept = os.fsencode(tail)[-most:]
    return os.fsdecode(os.fsencode(stem)[: most - len(kept)] + kept)


def _trouble(error: OSError) -> str:
    return f"{error.filename}: {error.strerror}"


# The type of drive that has a bin; on others, such as network shares, Windows deletes at once.
_FIXED = 3


def is_bin_used() -> bool:
    """Whether this system has a bin of its own in place of the trash of freedesktop.org."""
    return sys.platform in {"win32", "darwin"}


def check_installed() -> None:
    """Raise ExtraMissingError where the bin is used and Send2Trash is not installed."""
    if is_bin_used():
        try:
            import send2trash  # noqa: F401, PLC0415
        except ImportError:
            raise ExtraMissingError("the bin of this system", "trash") from None


def throw_away(file: Held, kept: Held) -> None:
    """Put a file into the bin. Raises RefusedError and OSError."""
    from send2trash import send2trash  # noqa: PLC0415

    path = file.file.path
    if sys.platform == "win32" and not _has_bin(path):
        raise RefusedError(Refusal.NO_TRASH, "its drive has none")
    file.check_unchanged()
    kept.check_unchanged()
    if sys.platform == "win32":  # Windows moves no file that is open
        os.close(file.descriptor)
        file.descriptor = os.open(os.devnull, os.O_RDONLY)
    send2trash(path)
    if os.path.lexists(path):
        raise RefusedError(Refusal.FAILED, "it is still there")


def _has_bin(path: str) -> bool:
    """Whether Windows puts files of this drive into a bin, and does not delete them."""
    import ctypes  # noqa: PLC0415

    drive = os.path.splitdrive(os.path.abspath(path))[0] + "\\"
    kernel = getattr(ctypes, "windll").kernel32  # noqa: B009  (only there on Windows)
    return bool(kernel.GetDriveTypeW(drive) == _FIXED)
