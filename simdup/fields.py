"""Reads JSON objects that a person or a program may have changed, and checks every field.

Also writes a path as JSON fields, since the name of a file need not be valid Unicode.
"""

from __future__ import annotations

import os
import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from typing import Any, TypeVar

Value = TypeVar("Value")
Name = TypeVar("Name", bound=Enum)


_SURROGATE = re.compile("[\ud800-\udfff]")


class WrongFieldError(Exception):
    """Raised for a field that is wrong; its message says which, and why."""


class Fields:
    """A JSON object. Its methods return a checked field, or raise WrongFieldError."""

    def __init__(self, value: object, where: str = "") -> None:
        if not isinstance(value, dict):
            raise WrongFieldError(f"{where or 'it'} is not an object")
        self.value, self._where = value, where

    def _of(self, key: str, what: str, *types: type) -> Any:  # noqa: ANN401
        value = self.value.get(key)
        # To Python a bool is an int, to JSON it is not a number.
        if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
            raise self.wrong(key, f"must be {what}")
        return value

    def wrong(self, key: str, what: str) -> WrongFieldError:
        """The error to raise about this field."""
        return WrongFieldError(f"{self._place(key)} {what}")

    def _place(self, key: str) -> str:
        return f"{self._where}.{key}" if self._where else key

    def has(self, key: str) -> bool:
        """Whether the field is there and not null."""
        return self.value.get(key) is not None

    def text(self, key: str) -> str:
        """The field, which must be a string of valid Unicode."""
        value: str = self._of(key, "a text", str)
        if not value.isascii() and _SURROGATE.search(value):
            raise self.wrong(key, "must be valid Unicode")
        return value

    def truth(self, key: str) -> bool:
        """The field, which must be true or false."""
        return bool(self._of(key, "true or false", bool))

    def count(self, key: str, most: int = 2**63 - 1, least: int = 0) -> int:
        """The field, a whole number within these limits; some programs write 1 as 1.0."""
        value = self._of(key, "a whole number", int, float)
        if not is_whole(value):
            raise self.wrong(key, "must be a whole number")
        if not least <= value <= most:
            raise self.wrong(key, f"must be from {least} to {most}")
        return int(value)

    def known(self, key: str, least: int = 0, most: int = 2**64 - 1) -> int:
        """The field, a whole number within these limits; 0 if it is missing or null."""
        return self.count(key, most, least) if self.has(key) else 0

    def digest(self, key: str, *more: int) -> bytes:
        """The field, 32 or `more` hexadecimal digits as bytes; empty if it is missing or null."""
        if not self.has(key):
            return b""
        digest = self.text(key)
        if len(digest) not in {32, *more} or not re.fullmatch(r"[0-9a-f]*", digest):
            raise self.wrong(key, "must be 32 hexadecimal digits")
        return bytes.fromhex(digest)

    def number(self, key: str, least: float, most: float) -> float:
        """The field, which must be a number within these limits."""
        value = self._of(key, "a number", int, float)
        if not least <= value <= most:
            raise self.wrong(key, f"must be from {least:g} to {most:g}")
        return float(value)

    def numbers(self, key: str) -> tuple[int, ...]:
        """The field, which must be a list of whole numbers."""
        values = self._of(key, "a list", list)
        if not all(map(is_whole, values)):
            raise self.wrong(key, "must be whole numbers")
        return tuple(map(int, values))

    def texts(self, key: str) -> tuple[str, ...]:
        """The field, which must be a list of printable strings."""
        values = self._of(key, "a list", list)
        if not all(isinstance(each, str) and each.isprintable() for each in values):
            raise self.wrong(key, "must be printable texts")
        return tuple(values)

    def only(self, *known: str) -> None:
        """Raise WrongFieldError if the object has any other field."""
        if unknown := sorted({*self.value} - {*known}):
            raise self.wrong(unknown[0], "is unknown")

    def share(self, key: str) -> float:
        """The field, a number from 0 to 1; one that rounding put just above 1 counts as 1."""
        return min(1.0, self.number(key, 0, 1 + 1e-6))

    def choice(self, key: str, kind: type[Name]) -> Name:
        """The field as a member of an enumeration, whose value it must be."""
        try:
            return kind(self.text(key))
        except ValueError:
            raise self.wrong(key, f"is unknown: {self.value[key]!r}") from None

    def one_of(self, key: str, known: Iterable[str]) -> str:
        """The field, which must be one of these texts."""
        value = self.text(key)
        if value not in known:
            raise self.wrong(key, f"is unknown: {value!r}")
        return value

    def inner(self, key: str) -> Fields:
        """The field, which must be an object."""
        return Fields(self._of(key, "an object", dict), self._place(key))

    def each(self, key: str) -> Iterator[Fields]:
        """The objects in the field, which must be a list of them."""
        for index, value in enumerate(self._of(key, "a list", list)):
            yield Fields(value, f"{self._place(key)}[{index}]")

    def each_if_any(self, key: str) -> Iterator[Fields]:
        """The objects in the field, a list of them; none if it is missing or null."""
        return self.each(key) if self.has(key) else iter(())

    def maybe(self, key: str, read: Callable[[str], Value]) -> Value | None:
        """The field, read by the method `read` of this object; None if it is missing or null."""
        return read(key) if self.has(key) else None

    def path(self, key: str = "path") -> str:
        """The path in this field, or in `{key}_base64` if that has the exact bytes."""
        if not self.has(f"{key}_base64"):
            return self.text(key)
        try:
            return os.fsdecode(b64decode(self.text(f"{key}_base64"), validate=True))
        except ValueError:
            raise self.wrong(f"{key}_base64", "is not base64") from None

    def paths(self, key: str) -> tuple[str, ...] | None:
        """The paths of the objects in the field; None if it is missing or null."""
        return tuple(each.path() for each in self.each(key)) if self.has(key) else None


def is_whole(value: object) -> bool:
    """Whether a value of JSON is a whole number."""
    return type(value) is int or (isinstance(value, float) and value.is_integer())


def percent(share: float) -> str:
    """A share in per cent, cut instead of rounded, so that only 1 itself is shown as 100 %.

    >>> percent(0.9999), percent(1.0), percent(0.5), percent(0.57)
    ('99.9 %', '100 %', '50.0 %', '57.0 %')
    """
    # 0.57 x 1000 is a little less than 570; the addend mends that and is far below a digit.
    return "100 %" if share == 1 else f"{min(999, int(share * 1000 + 1e-9)) / 10:.1f} %"


def in_kept(share: float) -> str:
    """How much of a file stands in the kept one.

    >>> in_kept(0.96)
    '96.0 % of it is in the kept file'
    """
    return f"{percent(share)} of it is in the kept file"


def printable(path: str) -> str:
    r"""The path with every unprintable character escaped, so that it cannot control a terminal.

    Bytes that are not UTF-8 become \xff, control and invisible characters \n, \x1b or
    \u202e. A backslash is left alone, so that ordinary names stay as they are.

    >>> printable("a\nb\x1b[31m\udcff")
    'a\\nb\\x1b[31m\\xff'
    """
    if path.isprintable():
        return path
    return "".join(c if c.isprintable() else _escaped(c) for c in path)


def path_fields(path: str, key: str = "path") -> dict[str, str]:
    """The JSON fields of a path: `path`, and `path_base64` if the name is not valid UTF-8.

    `path` is always valid UTF-8; `path_base64` has the exact bytes.
    """
    if path.isascii() or not _SURROGATE.search(path):
        return {key: path}
    return {key: printable(path), f"{key}_base64": b64encode(os.fsencode(path)).decode()}


def _escaped(character: str) -> str:
    if "\udc80" <= character <= "\udcff":
        return f"\\x{ord(character) - 0xDC00:02x}"
    return character.encode("unicode_escape").decode()
