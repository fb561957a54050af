"""Matches paths with globs, of options and of .gitignore (https://git-scm.com/docs/gitignore).

Strangers write some of them, so time is linear in glob times path. A glob is cut at its slashes,
and so is a path. Each part of a glob is a function that tells whether it matches a name. `**`
stands for any number of names, so it cuts the parts into runs, whose names follow one another.
Each run takes the first place where it fits; no earlier choice is tried again.

In a .gitignore `?` and `[...]` stand for a character, where git takes a byte. Its globs are matched
with the characters of a name in the same way, where `*` stands for any number of characters.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Callable, Iterable, Sequence
from fnmatch import translate
from functools import cache, partial
from itertools import groupby
from typing import NamedTuple, TypeAlias

from simdup.storage.opening import open_to_read

Part: TypeAlias = Callable[[str], object]
Runs: TypeAlias = tuple[tuple[Part, ...], ...]

# Longer than any .gitignore written by hand; without a limit one hostile file fills memory.
GITIGNORE_LIMIT = 1 << 20

# The classes of characters, such as [:alpha:], that stand between other brackets.
_ALL_CLASSES = (
    r"alnum=a-zA-Z0-9 alpha=a-zA-Z blank=\x20\t cntrl=\x00-\x1f\x7f digit=0-9 graph=!-~"
    r" lower=a-z print=\x20-~ punct=!-/:-@\[-`{-~ space=\x20\t-\r upper=A-Z xdigit=0-9a-fA-F"
)
_CLASSES = dict(each.split("=") for each in _ALL_CLASSES.split())
# A class, a character of a set, or a range of them.
_MEMBER = re.compile(r"\[:(\w+):\]|\\?(.)(?:-(?!\])\\?(.))?", re.DOTALL)
_TOKEN = re.compile(
    rf"""
      (?P<stars>\*+) | (?P<any>\?) | (?P<slash>\\?/) | \\(?P<escaped>.) | (?P<plain>[^[\\])
    | \[ (?P<not>[!^]|(?![!^])) (?P<members>(?:\]|(?!\]))
         (?:\[:(?:{"|".join(_CLASSES)}):\] | \\. | (?!\[:[^]]{{0,20}}:\])[^]\\])*) \]
    | (?P<wrong>.+)
    """,
    re.DOTALL | re.VERBOSE,
)


def matches_any(globs: Iterable[str], path: str) -> bool:
    """Whether one of the globs, as `walk.Filters` has them, matches a path."""
    names = _parts(path.replace(os.sep, "/"))
    return any(in_step(names, _runs(glob)) for glob in globs)


@cache
def _runs(glob: str) -> Runs:
    """The runs of a glob of `fnmatch`, whose patterns never go back into what `*` took."""
    glob = glob.rstrip("/")
    if "/" not in glob:
        return runs_of((None, _of_name(glob)))
    return runs_of(None if part == "**" else _of_name(part) for part in _parts(glob))


def _of_name(glob: str) -> Part:
    """Tells whether a name matches a glob."""
    # A bracket that nothing closes means itself. `translate` would look for the end of each anew,
    # so NUL, which no name has, takes its place.
    end = glob.rfind("]") + 1
    pattern = translate(glob[:end] + glob[end:].replace("[", "\0"))
    return re.compile(pattern.replace("\0", r"\[")).match


def runs_of(parts: Iterable[Part | None]) -> Runs:
    """The runs between the parts that are None, which match any number of names, or none."""
    runs: list[tuple[Part, ...]] = [()]
    for is_any, run in groupby(parts, lambda part: part is None):
        if is_any:
            runs.append(())
        else:
            runs[-1] = tuple(part for part in run if part is not None)
    return tuple(runs)


def in_step(names: Sequence[str], runs: Runs) -> bool:
    """Whether the names match the first run, then any names, then the next run, and so on.

    >>> a, b = "a".__eq__, "b".__eq__
    >>> in_step("axyb", runs_of([a, None, b])), in_step("axyb", runs_of([a, b]))
    (True, False)
    """
    first, *others = runs
    if not others:
        return len(names) == len(first) and _fit(names, first, 0)
    *inner, last = others
    at, end = len(first), len(names) - len(last)
    if at > end or not (_fit(names, last, end) and _fit(names, first, 0)):
        return False
    for run in inner:
        places = range(at, end - len(run) + 1)
        found = next((place for place in places if _fit(names, run, place)), None)
        if found is None:
            return False
        at = found + len(run)
    return True


def _fit(names: Sequence[str], run: tuple[Part, ...], place: int) -> bool:
    """Whether the names from this place on match the parts of a run."""
    for number, part in enumerate(run, place):  # noqa: SIM110  (`all` takes twice as long)
        if not part(names[number]):
            return False
    return True


def _parts(path: str) -> list[str]:
    """A path or glob cut at slashes; "./a//b" is "a/b", as the system has it."""
    return [part for part in path.split("/") if part not in {"", "."}]


class Line(NamedTuple):
    """A line of a .gitignore."""

    runs: Runs
    is_negated: bool
    is_of_folders: bool


class Rules(NamedTuple):
    """The rules of one .gitignore.

    start: Where, in a path below the root, the part below this file's folder begins.
    """

    start: int
    lines: tuple[Line, ...]


def is_ignored(relative: str, rules: tuple[Rules, ...], *, is_folder: bool) -> bool:
    """Whether a path is ignored: the last matching line of the nearest .gitignore decides.

    Paths inside an ignored folder are never asked about, since it is not entered.
    """
    for each in reversed(rules):
        names = relative[each.start :].split("/")
        for line in reversed(each.lines):
            if (is_folder or not line.is_of_folders) and in_step(names, line.runs):
                return not line.is_negated
    return False


def read_rules(folder: str, start: int) -> Rules:
    """The .gitignore of a folder; `start` is the length of the folder's path below its root.

    Raises OSError.
    """
    text = os.fsdecode(_read_gitignore(os.path.join(folder, ".gitignore")))
    # Not splitlines(): a name may hold U+2028 or a form feed.
    lines = (line.removesuffix("\r") for line in text.removeprefix("\ufeff").split("\n"))
    return Rules(start, tuple(found for line in lines if (found := _line(line))))


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


def _line(text: str) -> Line | None:
    """What a line means; None for a comment, and for a pattern that matches nothing."""
    pattern = text.rstrip(" ")
    if (len(pattern) - len(pattern.rstrip("\\"))) % 2:
        pattern = text[: len(pattern) + 1]  # the last blank is escaped
    body = pattern.removeprefix("!").removesuffix("/")
    tokens = [*_TOKEN.finditer(body)]
    if pattern.startswith("#") or not tokens or tokens[-1]["wrong"]:
        return None
    parts = [*map(_part, _cut(tokens))]
    if "/" not in body:
        parts = [None, parts[0] or bool]
    elif parts[-1] is None:
        parts[-1:] = [bool, None]  # what lies in a folder, and not the folder itself
    return Line(runs_of(parts), pattern.startswith("!"), pattern.endswith("/"))


def _cut(tokens: list[re.Match[str]]) -> list[list[re.Match[str]]]:
    """The tokens of each part of a pattern. A slash at its beginning only says where it holds."""
    parts: list[list[re.Match[str]]] = [[]]
    for token in tokens[tokens[0][0] == "/" :]:
        if token["slash"]:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def _part(tokens: list[re.Match[str]]) -> Part | None:
    """Tells whether a name has these tokens; None for `**`, which matches any number of names."""
    if len(tokens) == 1 and len(tokens[0]["stars"] or "") > 1:
        return None
    plain = [token["plain"] or token["escaped"] or "" for token in tokens]
    if all(plain):
        return "".join(plain).__eq__
    return partial(in_step, runs=runs_of(map(_of_character, tokens)))


def _of_character(token: re.Match[str]) -> Part | None:
    """Tells whether a character is the one of a token; None for `*`."""
    if token["stars"] or token["any"]:
        return bool if token["any"] else None
    if token["members"] is None:
        return (token["plain"] or token["escaped"]).__eq__
    members = "".join(map(_member, _MEMBER.findall(token["members"])))
    return re.compile(f"[{'^' if token['not'] else ''}{members}]").match


def _member(found: tuple[str, str, str]) -> str:
    """A class, a character or a range as a regular expression has it.

    A range that runs backwards holds its first character, as in git.
    """
    name, first, last = found
    if name:
        return _CLASSES[name]
    return re.escape(first) + (f"-{re.escape(max(first, last))}" if last else "")
