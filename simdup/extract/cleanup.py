"""What the readers of documents share: why a file cannot be read, and how text is tidied.

Each reader turns the bytes of one kind of file into its text, or raises `NotReadable`:
nothing else leaves it, whatever the bytes are.
"""

from __future__ import annotations

import re

# A text is no longer than this, whatever the file: 3,500 pages of R's manual have 8 million
# characters. Small files that say little many times over (a string that every cell of a
# table refers to) end here.
LONGEST_TEXT = 1 << 25

# Characters that are not seen: soft hyphens, zero width spaces and controls. Zero width
# joiners stay, since they tell words apart in Persian.
_UNSEEN = re.compile("[\u00ad\u200b\u2060\ufeff\\x00-\\x08\\x0e-\\x1f\\x7f]")
_LINE_ENDS = re.compile(r"[\v\f\r\x85\u2028\u2029]")
# simdup folds ligatures by itself; this is for who reads the text.
_LIGATURES = dict(zip("ﬀﬁﬂﬃﬄﬅﬆ", ("ff", "fi", "fl", "ffi", "ffl", "st", "st"), strict=True))
_LIGATURE = re.compile(f"[{''.join(_LIGATURES)}]")

# Scripts written without spaces: a line that ends within them is joined without one.
# Radicals and symbols, kana, Han and its compatibility forms, full-width signs, planes 2 and 3.
UNSPACED = r"\u2e80-\u312f\u3190-\ua4cf\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\U00020000-\U0003ffff"
_WRAPPED = re.compile(rf"(?<=[{UNSPACED}])[ \t]*\n[ \t]*(?=[{UNSPACED}])")


class NotReadable(Exception):  # noqa: N818  (what a file is, rather than an error)
    """One file has no text for us; the message says why, for a reader."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def check_length(size: int) -> None:
    """Raise NotReadable for more characters than a text may have."""
    if size > LONGEST_TEXT:
        raise NotReadable(f"more than {LONGEST_TEXT:,} characters of text")


class Gathered:
    """Text that grows by pieces. Raises NotReadable when it becomes too long."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._size = 0

    def add(self, piece: str) -> None:
        """Append a piece."""
        self._size += len(piece)
        check_length(self._size)
        self._pieces.append(piece)

    def __str__(self) -> str:
        """All of it."""
        return "".join(self._pieces)


def tidied(text: str) -> str:
    r"""Remove what is not seen from a text: soft hyphens, controls, blank lines.

    >>> tidied("an of\u00adﬁce \r\n\r\n next door\n")
    'an office\nnext door'
    """
    seen = _LINE_ENDS.sub("\n", _UNSEEN.sub("", text))
    folded = _LIGATURE.sub(lambda found: _LIGATURES[found.group()], seen)
    lines = (line.strip() for line in folded.split("\n"))
    return "\n".join(filter(None, lines))


def unwrapped(text: str) -> str:
    r"""Remove the line breaks within Chinese or Japanese from a text.

    >>> unwrapped("春眠不\n觉晓 ab\ncd")
    '春眠不觉晓 ab\ncd'
    """
    return _WRAPPED.sub("", text)


def unless_empty(text: str, reason: str = "no text in it") -> str:
    """The tidied text. Raises NotReadable if nothing is left, or too much."""
    found = tidied(text)
    if not found:
        raise NotReadable(reason)
    check_length(len(found))
    return found
