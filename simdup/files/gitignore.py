"""What .gitignore files leave out, by `pathspec`, which is an extra."""

from __future__ import annotations

import errno
import os
import re
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING

from simdup.errors import ExtraMissingError
from simdup.storage.opening import open_to_read

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

# Longer than any .gitignore written by hand; without a limit one hostile file fills the memory.
GITIGNORE_LIMIT = 1 << 20


@dataclass(frozen=True, slots=True)
class Rules:
    """One .gitignore."""

    start: int
    """Where in a path below the root the path below this .gitignore begins."""
    spec: GitIgnoreSpec


def is_ignored(relative: str, rules: tuple[Rules, ...], *, is_folder: bool) -> bool:
    """What the last line that is meant says, of the nearest .gitignore that has one.

    Everything in an ignored folder is ignored, without more ado: it is not entered.
    """
    for each in reversed(rules):
        path = relative[each.start :]
        for line in reversed(each.spec.patterns):
            if line.regex is not None and _is_meant(line.regex, path, is_folder=is_folder):
                return bool(line.include)
    return False


def _is_meant(line: re.Pattern[str], path: str, *, is_folder: bool) -> bool:
    """Whether a line of .gitignore means the path itself.

    pathspec also lets a line cover all that lies below a folder (its group `ps_d` is the
    slash), after which "*", "!*/", "!*.txt" would leave out everything in folders. Git
    asks a line about one file or folder at a time, as we do.
    """
    if "ps_d" not in line.groupindex:
        return line.search(path) is not None
    whole = path + "/" if is_folder else path
    return any(found.end() == len(whole) for found in line.finditer(whole))


def read_rules(folder: str, start: int) -> Rules:
    """The .gitignore of a folder; `start` is the length of the folder's path below its root.

    Raises OSError, and ExtraMissingError where pathspec is not installed.
    """
    text = os.fsdecode(_read_gitignore(os.path.join(folder, ".gitignore")))
    # Not splitlines(): a name may hold U+2028 or a form feed.
    lines = [line.removesuffix("\r") for line in text.removeprefix("\ufeff").split("\n")]
    return Rules(start, git_ignore_spec().from_lines(line for line in lines if _is_sound(line)))


def _read_gitignore(path: str) -> bytes:
    """What it holds; nothing if it is not a regular file. A link is an error, as for git."""
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


def _is_sound(line: str) -> bool:
    """Whether pathspec understands a line. Git passes over those it doesn't, and so do we."""
    try:
        git_ignore_spec().from_lines([line])
    except (ValueError, re.error):
        return False
    return True


def git_ignore_spec() -> type[GitIgnoreSpec]:
    """The class of pathspec that reads such files. Raises ExtraMissingError."""
    try:
        from pathspec import GitIgnoreSpec  # noqa: PLC0415 - optional
    except ImportError:
        raise ExtraMissingError("--gitignore", "gitignore") from None
    return GitIgnoreSpec
