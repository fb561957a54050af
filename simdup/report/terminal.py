"""Lines for a terminal: how many columns they take, and their colours."""

from __future__ import annotations

from typing import NamedTuple
from unicodedata import category, east_asian_width

from simdup.records import Kind

ELLIPSIS = "…"

# Numbers of "select graphic rendition", ECMA-48 section 8.3.117, that every palette has.
HEADING, ASIDE, REMARK = "1", "2", "35"
REMOVED, ADDED, PLACE = "31", "32", "36"
KINDS = {
    Kind.IDENTICAL_BYTES: "32",
    Kind.IDENTICAL_TEXT: "36",
    Kind.SAME_WORDS: "35",
    Kind.NEAR: "33",
    Kind.SAME_PATTERN: "34",
}


def kind_in_words(kind: Kind) -> str:
    """The name of a kind, with an explanation where the name does not say enough."""
    return kind.value + ", another layout or format" * (kind is Kind.SAME_WORDS)


class TerminalStyle(NamedTuple):
    """Whether a report has colours, how wide its lines may be, and whether it has all figures."""

    is_coloured: bool = False
    columns: int | None = None
    """Width of the terminal; None when lines go elsewhere and nothing is shortened."""
    is_verbose: bool = False
    """Whether the report says how many bits fingerprints are apart."""

    def painted(self, text: str, colour: str) -> str:
        """The text in a colour, if colours are wanted."""
        return f"\x1b[{colour}m{text}\x1b[0m" if self.is_coloured and text else text

    def fitted(self, path: str, taken: int) -> str:
        """The path, shortened to fit a line of which `taken` columns are used already."""
        return path if self.columns is None else shortened(path, self.columns - taken)


PLAIN = TerminalStyle()


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
    """The text followed by spaces up to this many columns.

    >>> padded("换行", 6) + "|"
    '换行  |'
    """
    return text + " " * (columns - width(text))


def shortened(path: str, columns: int) -> str:
    """The path with the middle of its folder left out so that it fits; its name stays whole.

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
    """The longest beginning of the text that takes at most this many columns."""
    taken = 0
    for place, character in enumerate(text):
        taken += _columns(character)
        if taken > columns:
            return text[:place]
    return text
