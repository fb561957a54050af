"""Columns of a terminal: how many a text takes there, and how it is made to fit."""

from __future__ import annotations

from unicodedata import category, east_asian_width

ELLIPSIS = "…"


def width(text: str) -> int:
    """How many columns a printable text takes: two for a Chinese character, none for an accent.

    >>> width("abc"), width("三字经"), width("e\N{COMBINING ACUTE ACCENT}")
    (3, 6, 1)
    """
    return len(text) if text.isascii() else sum(map(_columns, text))


def _columns(character: str) -> int:
    # Marks stand on the character before them, vowels and finals of Korean syllables within it.
    if category(character) in {"Mn", "Me"} or "\u1160" <= character <= "\u11ff":
        return 0
    return 2 if east_asian_width(character) in {"W", "F"} else 1


def padded(text: str, columns: int) -> str:
    """The text with spaces behind it up to so many columns.

    >>> padded("换行", 6) + "|"
    '换行  |'
    """
    return text + " " * (columns - width(text))


def shortened(path: str, columns: int) -> str:
    """The path in so many columns, if its name fits: what is left out is the middle of its folder.

    >>> shortened("/srv/archive/2024/minutes/may.txt", 24)
    '/srv/ar…/minutes/may.txt'
    """
    folder, slash, name = path.rpartition("/")
    if width(path) <= columns or width(folder) <= width(ELLIPSIS):
        return path
    left = max(0, columns - width(ELLIPSIS + slash + name))
    begin, end = _fitting(folder, left // 2), _fitting(folder[::-1], left - left // 2)[::-1]
    return f"{begin}{ELLIPSIS}{end}{slash}{name}"


def _fitting(text: str, columns: int) -> str:
    """The longest beginning that takes no more columns."""
    taken = 0
    for place, character in enumerate(text):
        taken += _columns(character)
        if taken > columns:
            return text[:place]
    return text
