"""Roots and filters into `Source` or `Skipped`, in a fixed order; no document is opened.

Files of a folder come before its subfolders, both in the order of their names' bytes. Everything
found is either a Source or a Skipped; a folder that is not entered is one Skipped for all it holds.

Entries of a folder are checked in this order, and the first reason counts: NOISE, HIDDEN,
EXCLUDED by `exclude` (by name alone, without touching the disk), SYMLINK, UNREADABLE or VANISHED,
IGNORED; then for a folder: OTHER_DEVICE, TOO_DEEP, SAME_FILE; for a file: SPECIAL, EXCLUDED by
`include`, TOO_SMALL, TOO_LARGE, SAME_FILE. So a file left out by a filter never hides a later
link to it.

A path that the user names (a root, or a line of a list) is taken even if it is hidden, noise or
a symbolic link, and no .gitignore is asked about it. Options still hold: sizes, depth, and for a
named file the globs, matched against the path as given. Relative paths begin below a named
folder, so no glob matches the folder itself.
"""

# Paths are text and stay as they were given; pathlib would drop "./".

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple, TypeAlias

from simdup.arguments import AnyPath, check_truth, check_whole, tuple_of
from simdup.errors import SHORTAGES, InputError
from simdup.files.globs import Rules, is_ignored, matches_any, read_rules
from simdup.records import Reason, Skipped, Source
from simdup.storage.opening import reason_of

Found: TypeAlias = Source | Skipped

# Folders of programs, where nobody keeps documents: what lies there is a copy, deleted or made by
# a machine, and would be reported as a duplicate of the real thing. No name that a person may
# choose ("build", "venv", "Trash") belongs here, since documents in it would be missed.
NOISE_FOLDERS = frozenset(
    {
        *(".git", ".hg", ".svn", ".bzr", "_darcs"),  # version control
        *(".Trash", ".Trashes", "$RECYCLE.BIN", "#recycle", "lost+found"),  # deleted
        *(".snapshot", ".snapshots", "#snapshot", "@eaDir"),  # kept by file servers
        *("System Volume Information", ".Spotlight-V100", ".fseventsd"),  # kept by systems
        *("node_modules", ".venv", ".tox", ".nox"),  # installed packages
        *("__pycache__", ".cache", ".mypy_cache", ".pytest_cache", ".ruff_cache"),  # caches
    }
)

# The trash of a drive is .Trash-1000 for user 1000: https://specifications.freedesktop.org/trash-spec
TRASH_OF_A_USER = ".Trash-"

# Makes a record in half the time of a call of its class.
_new = tuple.__new__

# Entries of a folder that are looked at before they are passed on.
ENTRIES_AT_ONCE = 1 << 10

_SPECIAL = {
    stat.S_IFIFO: "FIFO",
    stat.S_IFSOCK: "socket",
    stat.S_IFBLK: "block device",
    stat.S_IFCHR: "character device",
}

# Errors of a link that leads to no file. They are no trouble, since no file was missed.
_DANGLING = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})


@dataclass(frozen=True, slots=True)
class Filters:
    """Which files under the roots are taken; the defaults suit an ordinary folder of documents.

    Globs are those of `fnmatch`, case-sensitive; `*` matches a leading dot too. A glob without a
    slash is matched against the name, at any depth; a glob with a slash against the whole path
    below its root, where `**` stands for any number of folders, or none. Trailing slashes do not
    count.

    include: Globs. If there are any, a file must match one of them.
    exclude: Globs of files to leave out and folders not to enter. Wins over `include`.
    hidden: Whether names that begin with a dot are taken.
    noise: Whether what is usually noise is read and compared like the rest: NOISE_FOLDERS, whose
        names need `hidden` too if they begin with a dot, and the files in `findings.noise`, which
        are otherwise compared for identity only.
    gitignore: Whether .gitignore files in the roots and below are obeyed, in a work tree or not.
        Files above a root and git's own settings are not read.
    max_depth: As `find -maxdepth`: 0 takes only files named as roots, 1 also the files in a root.
    min_size: Bytes.
    max_size: Bytes; None for no limit.
    one_file_system: As `find -xdev`: enter no folder on another device than its root. Devices of
        files do not count: on an overlay file system they differ from their folder's.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    hidden: bool = False
    noise: bool = False
    gitignore: bool = False
    max_depth: int | None = None
    min_size: int = 0
    max_size: int | None = None
    follow_symlinks: bool = False
    one_file_system: bool = False

    def __post_init__(self) -> None:
        """Raise TypeError for a value of a wrong type, by its name."""
        for name in ("include", "exclude"):
            object.__setattr__(self, name, tuple_of(getattr(self, name), name, str))
        for name in ("hidden", "noise", "gitignore", "follow_symlinks", "one_file_system"):
            check_truth(getattr(self, name), name)
        check_whole(self.min_size, "min_size")
        for name in ("max_depth", "max_size"):
            if getattr(self, name) is not None:
                check_whole(getattr(self, name), name)


DEFAULTS = Filters()


def walk(
    roots: Iterable[AnyPath], filters: Filters = DEFAULTS, *, references: Iterable[AnyPath] = ()
) -> Iterator[Found]:
    """Yield every file under the roots, or why it is skipped; those under `references` are marked.

    A file or folder that is reached twice is taken the first time; later it is Skipped, with the
    first path as detail, which also ends loops of links. References come first, unless a root
    lies inside one of them, because the inner folder keeps its files. Raises InputError for a
    root that cannot be used, before the walk begins.
    """
    return chain.from_iterable(walk_in_batches(roots, filters, references=references))


def walk_in_batches(
    roots: Iterable[AnyPath], filters: Filters = DEFAULTS, *, references: Iterable[AnyPath] = ()
) -> Iterator[list[Found]]:
    """Yield what `walk` yields in lists, each with at most ENTRIES_AT_ONCE entries of one folder.

    A list may be empty. Raises what `walk` raises, and as early.
    """
    run = _Walk(filters)
    marked, plain = [_usable(root) for root in references], [_usable(root) for root in roots]
    as_plain = chain.from_iterable(map(run.under, plain))
    as_marked = map(_marked, chain.from_iterable(map(run.under, marked)))
    if _any_is_inside(plain, marked):
        return chain(as_plain, as_marked)
    return chain(as_marked, as_plain)


def listed(
    paths: Iterable[AnyPath], filters: Filters = DEFAULTS, *, references: Iterable[AnyPath] = ()
) -> Iterator[Found]:
    """Yield each file of a list, which may be endless, or why it is skipped, in the list's order.

    A path that is missing or a folder is a Skipped and no error: lists are made by programs, and
    may be out of date.
    """
    run = _Walk(filters)
    marked = [_usable(root) for root in references]
    as_marked = map(_marked, chain.from_iterable(map(run.under, marked)))
    of_list = (run.listed(_text(path)) for path in paths)
    return chain(chain.from_iterable(as_marked), of_list)


def source_at(path: AnyPath) -> Source:
    """Return the file at a path. Raises InputError for a path that is missing or a folder."""
    (found,) = listed([path])
    if isinstance(found, Skipped):
        raise InputError(str(found))
    return found


def _text(path: AnyPath) -> str:
    """A path as plain text, also if it is of a class of its own that is text."""
    return str.__str__(os.fsdecode(path))


def _usable(root: AnyPath) -> str:
    """The root as text. Raises InputError if it is not there."""
    path = _text(root)
    try:
        os.stat(path)
    except (OSError, ValueError) as error:
        # repr, because a name may hold a newline or ESC and the message is one line.
        raise InputError(f"{path!r}: {reason_of(error)}") from error
    return path


def _marked(found: list[Found]) -> list[Found]:
    return [
        each._replace(is_reference=True) if isinstance(each, Source) else each for each in found
    ]


def _any_is_inside(roots: list[str], references: list[str]) -> bool:
    """Whether a root lies inside a reference. Raises InputError where a root is a reference."""
    outer = {os.path.realpath(reference) for reference in references}
    is_inside = False
    for root in roots if outer else ():
        inner = os.path.realpath(root)
        if inner in outer:
            raise InputError(f"{root!r}: is to be compared with itself; leave out --against")
        is_inside |= any(os.path.commonpath((inner, each)) == each for each in outer)
    return is_inside


class _Folder(NamedTuple):
    """A folder to be entered.

    prefix: Prepended to a name in it, gives the path below the root: "" or "a/b/".
    device: The device of the root.
    rules: Rules of the .gitignore files from the root down to here.
    """

    path: str
    prefix: str
    depth: int
    device: int
    rules: tuple[Rules, ...] = ()


class _Walk:
    """One walk: its filters, and the files and folders seen so far under any root."""

    def __init__(self, filters: Filters) -> None:
        self.filters = filters
        # First path by device and inode, in two levels to save a tuple for each file. Its objects
        # are those of the Source, which most callers keep anyway; so it costs 50 bytes a file.
        self.files: dict[int, dict[int, str]] = {}
        self.folders: dict[tuple[int, int], tuple[str, int]] = {}
        # Whether a folder may yield more when it is reached nearer to a root; see `_enter`.
        self.place_matters = (
            filters.max_depth is not None
            or filters.gitignore
            or any("/" in glob.rstrip("/") for glob in filters.include + filters.exclude)
        )

    def under(self, root: str) -> Iterator[list[Found]]:
        """Yield what a root holds, or the root itself. A stack, since trees can be deep."""
        first = self._root(root)
        if not isinstance(first, _Folder):
            yield [first]
            return
        pending = [first]
        while pending:
            inner = list[_Folder]()
            yield from self._entries(pending.pop(), inner)
            pending += reversed(inner)

    def listed(self, path: str) -> Found:
        """Return the file that a line of a list names."""
        status = _status(path, follow=True)
        if not isinstance(status, Skipped) and stat.S_ISDIR(status.st_mode):
            return Skipped(path, Reason.SPECIAL, "folder")
        return self._named_file(path, status)

    def _root(self, path: str) -> Found | _Folder:
        status = _status(path, follow=True)
        if not isinstance(status, Skipped) and stat.S_ISDIR(status.st_mode):
            return self._enter(_Folder(path, "", 0, status.st_dev), status)
        return self._named_file(path, status)

    def _named_file(self, path: str, status: os.stat_result | Skipped) -> Found:
        if isinstance(status, Skipped):
            return status
        if matches_any(self.filters.exclude, path):
            return Skipped(path, Reason.EXCLUDED)
        return self._file(path, path, status)

    def _entries(self, folder: _Folder, inner: list[_Folder]) -> Iterator[list[Found]]:
        """Yield what lies in a folder, sorted by name; add the folders to be entered to `inner`."""
        try:
            names = _sorted(os.listdir(folder.path))
        except OSError as error:
            yield [_trouble(folder.path, error)]
            return
        if self.filters.gitignore and ".gitignore" in names:
            try:
                rules = read_rules(folder.path, len(folder.prefix))
                folder = folder._replace(rules=(*folder.rules, rules))
            except OSError as error:
                yield [_trouble(os.path.join(folder.path, ".gitignore"), error)]
        unwanted = self._unwanted(names, folder.prefix)
        start = os.path.join(folder.path, "")
        for begin in range(0, len(names), ENTRIES_AT_ONCE):
            found = [
                Skipped(start + name, unwanted[name])
                if name in unwanted
                else self._entry(folder, name, start + name)
                for name in names[begin : begin + ENTRIES_AT_ONCE]
            ]
            inner += [each for each in found if isinstance(each, _Folder)]
            yield [each for each in found if not isinstance(each, _Folder)]

    def _entry(self, folder: _Folder, name: str, path: str) -> Found | _Folder:
        """Return a file, a folder to enter, or why the entry is skipped; its name is no reason."""
        status = _status(path, follow=self.filters.follow_symlinks)
        if isinstance(status, Skipped):
            return status
        relative, is_folder = folder.prefix + name, stat.S_ISDIR(status.st_mode)
        if folder.rules and is_ignored(relative, folder.rules, is_folder=is_folder):
            return Skipped(path, Reason.IGNORED)
        if not is_folder:
            return self._file(path, relative, status)
        deeper = _Folder(path, relative + "/", folder.depth + 1, folder.device, folder.rules)
        return self._enter(deeper, status)

    def _unwanted(self, names: list[str], prefix: str) -> dict[str, Reason]:
        """The reasons for names in a folder that alone leave out their entries.

        If several reasons hold, NOISE counts before HIDDEN, and HIDDEN before EXCLUDED.
        """
        filters, found = self.filters, dict[str, Reason]()
        if filters.exclude:
            excluded = [name for name in names if matches_any(filters.exclude, prefix + name)]
            found |= dict.fromkeys(excluded, Reason.EXCLUDED)
        if not filters.hidden:
            found |= {name: Reason.HIDDEN for name in names if name[0] == "."}
        if not filters.noise:
            found |= dict.fromkeys(NOISE_FOLDERS.intersection(names), Reason.NOISE)
            found |= {name: Reason.NOISE for name in names if name.startswith(TRASH_OF_A_USER)}
        return found

    def _enter(self, folder: _Folder, status: os.stat_result) -> _Folder | Skipped:
        """Return the folder, unless it is too deep or was entered before.

        Filters that count from the root may let through more when the folder is reached nearer to
        a root, as in `walk(["a", "a/b"])` with a depth of 1. Then it is entered again, each time
        nearer, so that this ends even where links form a loop.
        """
        limit = self.filters.max_depth
        if self.filters.one_file_system and status.st_dev != folder.device:
            return Skipped(folder.path, Reason.OTHER_DEVICE)
        if limit is not None and folder.depth >= limit:
            return Skipped(folder.path, Reason.TOO_DEEP)
        key = status.st_dev, status.st_ino
        if key in self.folders:
            path, depth = self.folders[key]
            if not (self.place_matters and folder.depth < depth):
                return Skipped(folder.path, Reason.SAME_FILE, path)
        self.folders[key] = folder.path, folder.depth
        return folder

    def _file(self, path: str, relative: str, status: os.stat_result) -> Found:
        filters, size = self.filters, status.st_size
        if not stat.S_ISREG(status.st_mode):
            return Skipped(path, Reason.SPECIAL, _SPECIAL.get(stat.S_IFMT(status.st_mode), ""))
        if filters.include and not matches_any(filters.include, relative):
            return Skipped(path, Reason.EXCLUDED)
        if size < filters.min_size:
            return Skipped(path, Reason.TOO_SMALL)
        if filters.max_size is not None and size > filters.max_size:
            return Skipped(path, Reason.TOO_LARGE)
        device, inode = status.st_dev, status.st_ino
        paths = self.files.setdefault(device, {})
        if inode in paths:
            return Skipped(path, Reason.SAME_FILE, paths[inode])
        paths[inode] = path
        modified, changed, links = status.st_mtime_ns, status.st_ctime_ns, status.st_nlink
        return _new(Source, (path, size, modified, changed, device, inode, False, links, None))


def _sorted(names: list[str]) -> list[str]:
    """The names in the order of their bytes."""
    # Text sorts like its bytes unless it has surrogates, which stand for bytes that are no UTF-8.
    # Whether it is ASCII is known at once.
    is_plain = "".join(names).isascii()
    return sorted(names) if is_plain else sorted(names, key=os.fsencode)


def _status(path: str, *, follow: bool) -> os.stat_result | Skipped:
    """The status of a path, or why it cannot be taken."""
    try:
        status = os.stat(path, follow_symlinks=follow)
    except (OSError, ValueError) as error:
        if isinstance(error, OSError) and error.errno in _DANGLING and os.path.islink(path):
            return Skipped(path, Reason.SYMLINK, "dangling")
        return _trouble(path, error)
    return Skipped(path, Reason.SYMLINK) if stat.S_ISLNK(status.st_mode) else status


def _trouble(path: str, error: OSError | ValueError) -> Skipped:
    """Why a path is skipped. Raises the error again if no path is at fault."""
    if isinstance(error, OSError) and error.errno in SHORTAGES:
        raise error
    vanished = isinstance(error, FileNotFoundError)
    return Skipped(path, Reason.VANISHED if vanished else Reason.UNREADABLE, reason_of(error))
