"""A record of several fields as one text, and back.

So records take the same way as plain texts, and their fields are told apart where features are
made (`fingerprint.features`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from simdup.errors import BadValueError

if TYPE_CHECKING:
    from collections.abc import Sequence

# Stands between two fields: the control character that ASCII has for that.
_MARK = "\x1e"


def named_fields(text: str) -> tuple[tuple[str, int], ...]:
    r"""Fields and their weights from a list with commas, where ^ stands before a weight.

    A backslash makes a comma or ^ part of a name. Raises ValueError for a field without a name.

    >>> named_fields("title^3,body"), named_fields(r"a\,b")
    ((('title', 3), ('body', 1)), (('a,b', 1),))
    """
    fields = []
    for part in re.split(r"(?<!\\),", text):
        weighted = re.fullmatch(r"(.*)(?<!\\)\^(\d{1,9})", part, re.DOTALL)
        name, weight = (weighted[1], int(weighted[2])) if weighted else (part, 1)
        if not name:
            raise BadValueError(f"{text!r} is no list of fields such as 'title^3,body'")
        fields.append((re.sub(r"\\([,^])", r"\1", name), weight))
    return tuple(fields)


def joined(values: Sequence[str]) -> str:
    r"""One text with all values; a single value is the text itself.

    >>> joined(["a title", "its body"])
    'a title\x1eits body'
    """
    if len(values) == 1:
        return values[0]
    return _MARK.join(each.replace(_MARK, " ") for each in values)


def separated(text: str, count: int) -> list[str]:
    """The values of so many fields; what the text does not have is empty."""
    values = text.split(_MARK, count - 1)
    return values + [""] * (count - len(values))
