"""Text as readers collect it in, tidied text out; `NotReadable` says why there is none.

A reader turns the bytes of one kind of file into its text, or raises `NotReadable`, and no
other error, whatever the bytes are. If the file holds more than this text, the text comes
`with_unread` content.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from io import StringIO
from itertools import groupby
from operator import itemgetter
from typing import TypeAlias

from simdup.records import Reason, Unread

# The longest text of a file, in characters: 3,500 pages of R's manual have 8 million. It stops
# small files that repeat little text many times (a string that every cell refers to).
LONGEST_TEXT = 1 << 25

# Invisible characters: soft hyphens, zero width spaces, controls, and which shape a sign has. Zero
# width joiners stay, since they tell words apart in Persian.
_UNSEEN = re.compile("[\u00ad\u200b\u2060\ufe00-\ufe0f\ufeff\\x00-\\x08\\x0e-\\x1f\\x7f]")
_LINE_ENDS = re.compile(r"[\v\f\r\x85\u2028\u2029]")
# Fingerprints fold ligatures anyway; this is for people who read the text.
_LIGATURES = dict(zip("ﬀﬁﬂﬃﬄﬅﬆ", ("ff", "fi", "fl", "ffi", "ffl", "st", "st"), strict=True))
_LIGATURE = re.compile(f"[{''.join(_LIGATURES)}]")

# Scripts written without spaces: lines of them are joined without one.
# Radicals and symbols, kana, Han and its compatibility forms, full-width signs, planes 2 and 3.
UNSPACED = r"\u2e80-\u312f\u3190-\ua4cf\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\U00020000-\U0003ffff"
_WRAPPED = rf"(?<=[{UNSPACED}])[ \t]*\n[ \t]*(?=[{UNSPACED}])"  # slow to compile


class Extracted(str):  # noqa: SLOT000  (attributes)
    """A text, and what the document holds besides it.

    others: The kind and digest of each other content, unless the text comes from another process.
    """

    unread: tuple[Unread, ...] = ()
    others: Sequence[tuple[str, bytes]] = ()


class Mangled(Extracted):
    """A text that may not be what the document shows: its fonts do not say which characters."""


#: Content that is not part of the text: its kind, a word in the plural, and its bytes or text.
Others: TypeAlias = Iterable[tuple[str, str | bytes | bytearray]]


def with_unread(text: str, others: Others) -> Extracted:
    """The text with other content; the order of things of one kind does not count."""
    made = type(text)(text) if isinstance(text, Extracted) else Extracted(text)
    made.others = sorted((kind, _digest(content).digest()) for kind, content in others)
    by_kind = groupby(made.others, itemgetter(0))
    digests = ((kind, [digest for _, digest in group]) for kind, group in by_kind)
    made.unread = tuple(
        Unread(kind, len(each), _digest(b"".join(each)).hexdigest()) for kind, each in digests
    )
    return made


def _digest(content: str | bytes | bytearray) -> blake2b:
    data = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    return blake2b(data, digest_size=8)


def unread_of(text: str) -> tuple[Unread, ...]:
    """What a document holds besides its text, as its reader says."""
    return text.unread if isinstance(text, Extracted) else ()


def others_of(text: str) -> Sequence[tuple[str, bytes]]:
    """What a part of a document holds besides its text, for `with_unread` of the document."""
    return text.others if isinstance(text, Extracted) else ()


class NotReadable(Exception):  # noqa: N818  (a property of one file, not a fault)
    """No text can be had of a file; `reason` tells the user why, and `kind` is the sort."""

    kind = Reason.UNEXTRACTED

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class ReaderFailed(NotReadable):
    """The reader of a document hung or died; reading it may succeed another time."""

    kind = Reason.UNREADABLE


def check_length(size: int) -> None:
    """Raise NotReadable if a text has more characters than LONGEST_TEXT."""
    if size > LONGEST_TEXT:
        raise NotReadable(f"more than {LONGEST_TEXT:,} characters of text")


class TextBuilder(StringIO):
    """A text that grows by pieces. Raises NotReadable when it becomes too long."""

    def add(self, piece: str) -> None:
        """Append a piece."""
        check_length(self.tell() + len(piece))
        self.write(piece)

    def __str__(self) -> str:
        """The whole text."""
        return self.getvalue()


def tidied(text: str) -> str:
    r"""The text without invisible characters, blank lines and blanks around lines.

    >>> tidied("an of\u00adﬁce \r\n\r\n next door\n")
    'an office\nnext door'
    """
    seen = _LINE_ENDS.sub("\n", _UNSEEN.sub("", text))
    folded = _LIGATURE.sub(lambda found: _LIGATURES[found.group()], seen)
    lines = (line.strip() for line in folded.split("\n"))
    return "\n".join(filter(None, lines))


def unwrapped(text: str) -> str:
    r"""The text without the line breaks within Chinese or Japanese.

    >>> unwrapped("春眠不\n觉晓 ab\ncd")
    '春眠不觉晓 ab\ncd'
    """
    return re.sub(_WRAPPED, "", text)


def unless_empty(text: str, reason: str = "no text in it") -> str:
    """The tidied text. Raises NotReadable if nothing is left, or too much."""
    found = tidied(text)
    if not found:
        raise NotReadable(reason)
    check_length(len(found))
    return found
