"""Checks arguments of the library: a wrong type raises a TypeError that names the argument.

Iterables such as generators become lists, and a string is never read as a list of letters.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import TypeAlias, TypeVar

from simdup.errors import BadValueError

AnyPath: TypeAlias = str | os.PathLike[str]

AnyItem = TypeVar("AnyItem")

# The longest value that a message shows, in characters.
SHOWN = 40


def text_list(value: Iterable[str], name: str = "texts") -> list[str]:
    """Texts as a list. A single string, a set and a mapping are refused.

    >>> text_list(word for word in ("a", "b"))
    ['a', 'b']
    >>> text_list("ab")
    Traceback (most recent call last):
    TypeError: texts must be a list of strings, not the string 'ab'; put it into a list
    """
    if isinstance(value, (Mapping, AbstractSet)):
        raise TypeError(f"{name} must be a list of strings, not a {type(value).__name__}")
    return list(tuple_of(value, name, str))


def path_list(value: AnyPath | Iterable[AnyPath], name: str = "paths") -> list[str]:
    """Paths as a list of strings; a single path is a list of one.

    >>> path_list("docs"), path_list(["docs"])
    (['docs'], ['docs'])
    """
    if isinstance(value, (str, bytes, os.PathLike)):
        return [os.fsdecode(value)]
    made = _listed(value, name, "paths")
    for place, each in enumerate(made):
        if not isinstance(each, (str, bytes, os.PathLike)):
            raise TypeError(f"{name}[{place}] must be a path, not {_shown(each)}")
    return [os.fsdecode(each) for each in made]


def number_list(value: Iterable[int], name: str) -> list[int]:
    """Whole numbers as a list. A single number or string is refused."""
    made = _listed(value, name, "whole numbers")
    for place, each in enumerate(made):
        check_whole(each, f"{name}[{place}]")
    return made


def check_whole(value: object, name: str) -> None:
    """Raise TypeError unless the value is a whole number."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name} must be a whole number, not {_shown(value)}")


def check_number(value: object, name: str) -> None:
    """Raise TypeError unless the value is a number."""
    if isinstance(value, bool) or not hasattr(value, "__float__"):
        raise TypeError(f"{name} must be a number, not {_shown(value)}")


def check_jobs(value: object) -> None:
    """Raise TypeError or ValueError unless the value is None or a number of processes.

    >>> check_jobs(0)
    Traceback (most recent call last):
    simdup.errors.BadValueError: jobs must be at least 1, not 0
    """
    if value is not None:
        check_whole(value, "jobs")
        if int(value) < 1:  # type: ignore[call-overload]
            raise BadValueError(f"jobs must be at least 1, not {value}")


def digest_pairs(value: Iterable[tuple[bytes, bytes]], name: str) -> list[tuple[bytes, bytes]]:
    """Pairs of digests as a list."""
    made = _listed(value, name, "pairs of digests")
    for place, each in enumerate(made):
        is_pair = isinstance(each, (tuple, list)) and len(each) == 2
        if not is_pair or not all(isinstance(digest, bytes) for digest in each):
            raise TypeError(f"{name}[{place}] must be two digests, as bytes, not {_shown(each)}")
    return made


def check_truth(value: object, name: str) -> None:
    """Raise TypeError unless the value is True or False."""
    if not isinstance(value, bool):
        raise TypeError(f"{name} must be True or False, not {_shown(value)}")


def tuple_of(value: Iterable[AnyItem], name: str, kind: type[AnyItem]) -> tuple[AnyItem, ...]:
    """Values of one type as a tuple."""
    made = tuple(_listed(value, name, "strings" if kind is str else f"{kind.__name__} objects"))
    for place, each in enumerate(made):
        check_type(each, f"{name}[{place}]", kind)
    return made


def check_type(value: object, name: str, kind: type) -> None:
    """Raise TypeError unless the value is of this type."""
    if not isinstance(value, kind):
        called = "string" if kind is str else kind.__name__
        raise TypeError(f"{name} must be a {called}, not {_shown(value)}")


def _listed(value: Iterable[AnyItem], name: str, what: str) -> list[AnyItem]:
    if isinstance(value, (str, bytes)):
        shown = f"the {_shown(value)}; put it into a list"
        raise TypeError(f"{name} must be a list of {what}, not {shown}")
    if not isinstance(value, Iterable):
        raise TypeError(f"{name} must be a list of {what}, not {_shown(value)}")
    return list(value)


def _shown(value: object) -> str:
    """The type of a value, and the value itself if it is written in few characters."""
    if value is None:
        return "None"
    kind = "string" if isinstance(value, str) else type(value).__name__
    written = repr(value)
    return kind + (f" {written}" if len(written) <= SHOWN else "")
