"""Says which files may not be touched, whatever the rules prefer."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cache

from simdup.clean.plan import FileId
from simdup.clean.refusals import Refusal
from simdup.errors import InputError
from simdup.files.read import SkipError, digest_of
from simdup.files.walk import NOISE_FOLDERS, TRASH_OF_A_USER
from simdup.records import Source
from simdup.storage.opening import identity_at, identity_of

Identity = tuple[int, int]

# What lies in the first folder of a work tree, and the folders of installed packages.
_OF_WORK_TREES = (
    *(".git", ".hg", ".svn", ".jj", ".bzr", ".sl", ".pijul", "_darcs", ".fslckout", "_FOSSIL_"),
    os.path.join("CVS", "Entries"),
)
# What lies in the first folder of a repository without a work tree: of git, and of Subversion.
_OF_REPOSITORIES = ("HEAD", "objects", "refs"), ("format", "db", "hooks")
_OF_PACKAGES = frozenset(("node_modules", "site-packages", "dist-packages", "bower_components"))

# Browsers save the pictures and styles of NAME.html in a folder beside it, whose name ends so.
_OF_PAGES = re.compile(
    r"(.+)(?:[_.]files|_file|[-_]dateien|_fichiers|_fitxers|_archivos|_arquivos|_ficheiros"
    r"|_bestanden|-filer|_tiedostot|_pliki|_soubory|_dosyalar|_elemei|_datoteke|_fajlovi)",
    re.IGNORECASE,
)
_PAGES = (".html", ".htm", ".xhtml", ".HTML", ".HTM")

_NOISE = frozenset(name.casefold() for name in NOISE_FOLDERS)


@dataclass(frozen=True, slots=True)
class Protection:
    """Folders and names that the user protects; see `reason`.

    protected: Files and folders in which nothing is acted on.
    only_under: If there are any, nothing is acted on outside these folders.
    names: Globs of the names of files that are not acted on.
    work_trees_too: Act on files of work trees, of installed packages and of saved pages too.
    """

    protected: tuple[str, ...] = ()
    only_under: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    work_trees_too: bool = False

    def reason(self) -> Callable[[str], Refusal | None]:
        """A function that says why the file at an absolute path is kept; None if it need not be.

        Folders are known by device and inode, so that neither another spelling nor a bind mount
        leads around a protection. Raises InputError for one that does not exist.
        """
        protected, only = _identities(self.protected), _identities(self.only_under)
        above, whole = cache(_above), _Wholes()

        def why(path: str) -> Refusal | None:
            folder, name = os.path.split(path)
            if any(fnmatchcase(name, glob) for glob in self.names):
                return Refusal.PROTECTED_NAME
            if protected and not protected.isdisjoint({*above(folder), identity_at(path)}):
                return Refusal.PROTECTED
            if not self.work_trees_too and (reason := whole.reason(folder)):
                return reason
            return Refusal.NOT_UNDER if only and only.isdisjoint(above(folder)) else None

        return why


class _Wholes:
    """Says of which larger whole the files of a folder are a part, and remembers it."""

    def __init__(self) -> None:
        self._known: dict[str, Refusal | None] = {}

    def reason(self, folder: str) -> Refusal | None:
        """Why files in a folder are kept; None if they are no part of a larger whole."""
        if folder not in self._known:
            above, name = os.path.split(folder)
            if self._is_first(folder):
                self._known[folder] = Refusal.WORK_TREE
            elif name in _OF_PACKAGES:
                self._known[folder] = Refusal.PACKAGE
            elif (page := _OF_PAGES.fullmatch(name)) and any(
                os.path.lexists(os.path.join(above, page[1] + ending)) for ending in _PAGES
            ):
                self._known[folder] = Refusal.SAVED_PAGE
            else:
                self._known[folder] = self.reason(above) if name else None
        return self._known[folder]

    @staticmethod
    def _is_first(folder: str) -> bool:
        """Whether this is the first folder of a work tree or of a repository."""
        of_repository = (all(_have(folder, names)) for names in _OF_REPOSITORIES)
        return any(_have(folder, _OF_WORK_TREES)) or any(of_repository)


def _have(folder: str, names: Iterable[str]) -> Iterator[bool]:
    """Whether a folder has each of these names."""
    return (os.path.lexists(os.path.join(folder, name)) for name in names)


def is_noise(path: str) -> bool:
    """Whether a file lies in a folder of a trash, of snapshots, of version control or of a cache.

    Such a file is never the copy that is kept, since other programs may delete it.
    """
    parts = os.path.dirname(path).split(os.sep)
    return any(
        part.casefold() in _NOISE
        or part.startswith(TRASH_OF_A_USER)
        or (part, below) == ("Trash", "files")
        for part, below in zip(parts, [*parts[1:], ""], strict=True)
    )


def _identities(paths: Iterable[str]) -> set[Identity]:
    """Device and inode of each path. Raises InputError for one that does not exist."""
    found = set()
    for path in paths:
        if (identity := identity_at(path)) is None:
            raise InputError(f"{path!r}: no such file or folder to protect or to stay in")
        found.add(identity)
    return found


def _above(folder: str) -> frozenset[Identity | None]:
    """Device and inode of a folder and of all folders above it; None if unreachable."""
    folders = [folder]
    while (above := os.path.dirname(folders[-1])) != folders[-1]:
        folders.append(above)
    return frozenset(map(identity_at, folders))


def changed_since(file: FileId) -> Refusal | None:
    """Why a file is not the one that a scan saw; None if it is.

    Size and mtime must be the noted ones. Inode and ctime change when a file is put back, or gets
    another mode: if they differ, the bytes are read and must have the noted digest.
    """
    try:
        status = os.lstat(file.path)
    except (OSError, ValueError):
        return Refusal.GONE
    if not stat.S_ISREG(status.st_mode):
        return Refusal.NOT_A_FILE
    now = *identity_of(status), status.st_size, status.st_mtime_ns, status.st_ctime_ns
    return None if now == file.state or _has_bytes(file) else Refusal.CHANGED


def _has_bytes(file: FileId) -> bool:
    """Whether the file at this path has the size, the mtime and the bytes that the scan saw."""
    seen = Source(file.path, file.size, file.mtime_ns, *(0, 0, 0))
    try:
        return digest_of(seen) == file.byte_digest
    except (SkipError, OSError):
        return False


def as_it_is(file: FileId) -> FileId:
    """The file with the device, inode and ctime of the file that lies there now, if any does.

    Whoever acts on it compares size, mtime and bytes with the noted ones.
    """
    try:
        status = os.lstat(file.path)
    except (OSError, ValueError):
        return file
    device, inode = identity_of(status)
    return replace(file, device=device, inode=inode, ctime_ns=status.st_ctime_ns)
