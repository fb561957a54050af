"""Texts whose content shows that two of them are alike by nature: numbers alone, redirections."""

from __future__ import annotations

import re

#: What `content_kind` says of a text, as `records.Document.noise`; it decides what a store keeps.
NUMBERS, REDIRECTION = "numeric file", "redirection"

#: Raised whenever `content_kind` may say something else of a text.
EDITION = 1

# A table of numbers may have a heading: so many digits for each of its letters.
_DIGITS_A_LETTER = 50

# Longer pages than this say something besides where to go.
_LONGEST_REDIRECTION = 2048

# Enough of a text to see that it is none of numbers.
_HEAD = 1024

# Each so many characters of that, one is looked at first: prose has many letters then, and numbers
# have many digits.
_STEP = 8
_FEW_DIGITS = 8
_MANY_LETTERS = re.compile(r"(?:[\W\d_]*[^\W\d_]){40}")
_ONE_DIGIT = re.compile(r"\d")

_DIGIT = re.compile(r"\d+")
_WORD = re.compile(r"[^\W\d_]+")
# An exponent, as in 1e-05, or a number that is none.
_NUMERIC = re.compile(r"(?<=\d)[eE](?=[-+]?\d)|\b(?:nan|inf)\b", re.IGNORECASE)
# In HTML and in reStructuredText.
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
    r"""Whether a text is numbers, apart from a heading that is short in comparison.

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
    """How many of each; the letters that are part of a number do not count."""
    return _length(_WORD, _NUMERIC.sub("", text)), _length(_DIGIT, text)


def _length(pattern: re.Pattern[str], text: str) -> int:
    """The length of all that matches."""
    return sum(map(len, pattern.findall(text)))
