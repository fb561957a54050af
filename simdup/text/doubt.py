"""Why the text of a file may not be what its author wrote.

Such a text is compared like any other, but no command acts on its file.
"""

from __future__ import annotations

from simdup.text.encodings import LOST

#: Why a text is doubtful: the values of `records.Document.doubt`, which a store keeps.
DOUBTS = DAMAGED, MANGLED, JUNK = "damaged characters", "mangled characters", "data after its end"

#: A text is doubtful if at least one character in ONE_IN is damaged.
ONE_IN = 20

# Two U+FFFD in UTF-8 read as GBK, and one read as windows-1252: traces of characters that were
# lost before the file was converted.
_TRACES = ("锟斤拷", "ï¿½")


def damage(text: str) -> int:
    r"""The number of characters that could not be read, now or in an earlier conversion.

    >>> damage("tea at f\ufffdur, 锟斤拷")
    4
    """
    if text.isascii():
        return 0
    return text.count(LOST) + sum(len(trace) * text.count(trace) for trace in _TRACES)


def is_damaged(damaged: int, length: int) -> bool:
    """Whether a text of this length is doubtful with this number of damaged characters."""
    return damaged * ONE_IN >= length > 0
