"""What the content of a file says about it: alike by nature, or not what its author wrote.

Tables of numbers and redirections are alike by nature. A doubtful text is compared like any other,
but no command acts on its file.
"""

from __future__ import annotations

import re

from simdup.text.encodings import LOST

#: The values of `records.Document.noise`, which a store keeps.
NUMBERS, REDIRECTION = "numeric file", "redirection"

#: Raised whenever `is_numbers` or `is_redirection` may answer differently for the same file.
EDITION = 1

#: Why a text is doubtful: the values of `records.Document.doubt`, which a store keeps.
DOUBTS = DAMAGED, MANGLED, JUNK = "damaged characters", "mangled characters", "data after its end"

#: A text is doubtful if at least one character in ONE_IN is damaged.
ONE_IN = 20

# Two U+FFFD in UTF-8 read as GBK, and one read as windows-1252: traces of characters that were
# lost before the file was converted.
_TRACES = ("锟斤拷", "ï¿½")

# A table of numbers may have a heading, but needs at least this many digits for each letter.
_DIGITS_A_LETTER = 50

# Longer pages than this say something besides where to go.
_LONGEST_REDIRECTION = 2048

# So many characters are enough to see that most texts are not numbers.
_HEAD = 1024

# Every _STEP-th of these characters is looked at first: in prose many are letters, in numbers many
# are digits.
_STEP = 8
_FEW_DIGITS = 8
_MANY_LETTERS = re.compile(r"(?:[\W\d_]*[^\W\d_]){40}")
_ONE_DIGIT = re.compile(r"\d")

_DIGIT = re.compile(r"\d+")
_WORD = re.compile(r"[^\W\d_]+")
# An exponent, as in 1e-05, or "nan" or "inf" in place of a number.
_NUMERIC = re.compile(r"(?<=\d)[eE](?=[-+]?\d)|\b(?:nan|inf)\b", re.IGNORECASE)
# A redirection in HTML or reStructuredText.
_REFRESH = re.compile(rb"\bhttp-equiv\s*=\s*[\"']?refresh", re.IGNORECASE)
_ADDRESS = re.compile(rb"\burl\s*=", re.IGNORECASE)


def is_redirection(data: bytes) -> bool:
    """Whether the bytes of a file are a short page that only leads to another one.

    >>> is_redirection(b'<meta http-equiv="refresh" content="0; url=new.html">')
    True
    """
    if len(data) > _LONGEST_REDIRECTION or b"=" not in data:
        return False
    return _REFRESH.search(data) is not None and _ADDRESS.search(data) is not None


def is_numbers(text: str) -> bool:
    r"""Whether a text is numbers, apart from a comparatively short heading.

    >>> is_numbers("1.5e-05, 2.25, nan\n7, 8, 9\n"), is_numbers("12 eggs")
    (True, False)
    """
    head = text[:_HEAD]
    if _is_prose(head[::_STEP]):  # which takes a twentieth of the time
        return False
    letters, digits = _letters_and_digits(head)
    if letters > digits:
        return False
    letters, digits = _letters_and_digits(text)
    return letters * _DIGITS_A_LETTER <= digits > 0


def _is_prose(characters: str) -> bool:
    """Whether many of these characters are letters, and few of them digits."""
    digits = len(_ONE_DIGIT.findall(characters))
    return digits <= _FEW_DIGITS and _MANY_LETTERS.match(characters) is not None


def _letters_and_digits(text: str) -> tuple[int, int]:
    """The numbers of letters and of digits; letters within a number do not count."""
    return _length(_WORD, _NUMERIC.sub("", text)), _length(_DIGIT, text)


def _length(pattern: re.Pattern[str], text: str) -> int:
    """The number of characters in all matches of a pattern."""
    return sum(map(len, pattern.findall(text)))


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
