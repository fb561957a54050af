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


class TerminalStyle(NamedTuple):
    """Whether a report has colours, how wide its lines may be, and whether it has all figures.

    columns: Width of the terminal; None when lines go elsewhere and nothing is shortened.
    is_verbose: Whether the report says how many bits fingerprints are apart.
    alike: How many folders all paths of a group have in common, at the beginning and at the end.
    dates: How the times of files are written, for `strftime`; "" if they are left out.
    """

    is_coloured: bool = False
    columns: int | None = None
    is_verbose: bool = False
    alike: tuple[int, int] | None = None
    dates: str = ""

    def painted(self, text: str, colour: str) -> str:
        """The text in a colour, if colours are wanted."""
        return f"\x1b[{colour}m{text}\x1b[0m" if self.is_coloured and text else text

    def fitted(self, path: str, taken: int) -> str:
        """The path, shortened to fit a line of which `taken` columns are used already."""
        return path if self.columns is None else shortened(path, self.columns - taken, self.alike)


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


def shortened(path: str, columns: int, alike: tuple[int, int] | None = None) -> str:
    """The path without folders, if it has to be shorter to fit; its name stays.

    `alike` says how many folders at the beginning, and then at the end, may go; the others tell
    the path from paths near it. Without it all may go, the last one after the others.

    >>> shortened("/srv/archive/2024/minutes/may.txt", 24)
    '/srv/…/minutes/may.txt'
    >>> shortened("/srv/archive/2024/minutes/may.txt", 20, (3, 1))
    '…/2024/…/may.txt'
    """
    *folders, name = path.split("/")
    first, last = alike or (max(0, len(folders) - 1), min(1, len(folders)))
    begin, end = folders[:first], folders[len(folders) - last :]
    middle, texts = folders[first : len(folders) - last], [path]
    for gone in range(1, first + last + 1):
        at_begin, at_end = min(gone, first), max(0, gone - first)
        kept = [*begin[: first - at_begin], *[ELLIPSIS] * (first > 0), *middle]
        kept += [*[ELLIPSIS] * (at_end > 0), *end[at_end:], name]
        texts.append("/".join(kept).replace(f"{ELLIPSIS}/{ELLIPSIS}", ELLIPSIS))
    return next((each for each in texts if width(each) <= columns), min(texts, key=width))
