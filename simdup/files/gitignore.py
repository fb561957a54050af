"""Finds which files .gitignore leaves out, with the optional package `pathspec`."""

from __future__ import annotations

import errno
import os
import re
import stat
from typing import TYPE_CHECKING, NamedTuple

from simdup.errors import ExtraMissingError
from simdup.storage.opening import open_to_read

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

# Longer than any .gitignore written by hand; without a limit one hostile file fills memory.
GITIGNORE_LIMIT = 1 << 20


class Rules(NamedTuple):
    """The rules of one .gitignore."""

    start: int
    """Where, in a path below the root, the part below this file's folder begins."""
    spec: GitIgnoreSpec


def is_ignored(relative: str, rules: tuple[Rules, ...], *, is_folder: bool) -> bool:
    """Whether a path is ignored: the last matching line of the nearest .gitignore decides.

    Paths inside an ignored folder are never asked about, since it is not entered.
    """
    for each in reversed(rules):
        path = relative[each.start :]
        for line in reversed(each.spec.patterns):
            if line.regex is not None and _matches(line.regex, path, is_folder=is_folder):
                return bool(line.include)
    return False


def _matches(line: re.Pattern[str], path: str, *, is_folder: bool) -> bool:
    """Whether a line of .gitignore matches the path itself.

    In pathspec a line also covers everything below a folder (its group `ps_d` is the slash), so
    that "*", "!*/", "!*.txt" would leave out everything in folders. Git asks about one file or
    folder at a time, and so do we.
    """
    if "ps_d" not in line.groupindex:
        return line.search(path) is not None
    asked = path + "/" if is_folder else path
    return any(found.end() == len(asked) for found in line.finditer(asked))


def read_rules(folder: str, start: int) -> Rules:
    """The .gitignore of a folder; `start` is the length of the folder's path below its root.

    Raises OSError, and ExtraMissingError where pathspec is not installed.
    """
    text = os.fsdecode(_read_gitignore(os.path.join(folder, ".gitignore")))
    # Not splitlines(): a name may hold U+2028 or a form feed.
    lines = [line.removesuffix("\r") for line in text.removeprefix("\ufeff").split("\n")]
    return Rules(start, git_ignore_spec().from_lines(line for line in lines if _is_valid(line)))


def _read_gitignore(path: str) -> bytes:
    """The bytes of a .gitignore; none if it is no regular file. A link is an error, as for git."""
    file = open_to_read(path, follow=False)
    try:
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode):
            return b""
        if status.st_size > GITIGNORE_LIMIT:
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
        return os.read(file, GITIGNORE_LIMIT)
    finally:
        os.close(file)


def _is_valid(line: str) -> bool:
    """Whether pathspec understands a line; other lines are passed over, as git does."""
    try:
        git_ignore_spec().from_lines([line])
    except (ValueError, re.error):
        return False
    return True


def git_ignore_spec() -> type[GitIgnoreSpec]:
    """The class of pathspec that reads .gitignore files. Raises ExtraMissingError."""
    try:
        from pathspec import GitIgnoreSpec  # noqa: PLC0415 - optional
    except ImportError:
        raise ExtraMissingError("--gitignore", "gitignore") from None
    return GitIgnoreSpec
