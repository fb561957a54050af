"""Matches paths with globs. Strangers write some of them, so time is linear in glob times path.

A glob is cut at its slashes, and so is a path. Each part of a glob is a function that tells whether
it matches a name. `**` stands for any number of names, so it cuts the parts into runs, whose names
follow one another. Each run takes the first place where it fits; no earlier choice is tried again.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from fnmatch import translate
from functools import cache
from itertools import groupby
from typing import TypeAlias

Part: TypeAlias = Callable[[str], object]
Runs: TypeAlias = tuple[tuple[Part, ...], ...]


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
