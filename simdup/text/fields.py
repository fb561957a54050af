"""A record of several fields as one text, and back.

So the same code handles records and plain texts. Where features are made
(`fingerprint.features`), the fields are separated again.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from simdup.errors import BadValueError
from simdup.recipe import check_field_weight

# Stands between two fields: the control character that ASCII has for that.
_MARK = "\x1e"


def named_fields(text: str) -> tuple[tuple[str, int], ...]:
    r"""Fields and their weights from a list with commas, where ^ stands before a weight.

    A backslash makes a comma or ^ part of a name. Raises ValueError for a field without a name,
    and for an invalid weight.

    >>> named_fields("title^3,body"), named_fields(r"a\,b")
    ((('title', 3), ('body', 1)), (('a,b', 1),))
    """
    fields = []
    for part in re.split(r"(?<!\\),", text):
        written, *given = re.split(r"(?<!\\)\^", part, maxsplit=1)
        if not written:
            raise BadValueError(f"{text!r} is not a list of fields such as 'title^3,body'")
        name = re.sub(r"\\([,^])", r"\1", written)
        fields.append((name, _weight(name, given[0]) if given else 1))
    return tuple(fields)


def _weight(name: str, typed: str) -> int:
    """The weight that was typed after the name of a field. Raises ValueError."""
    weight = int(typed) if re.fullmatch(r"\d{1,9}", typed) else typed
    return check_field_weight(name, weight)


def joined(values: Sequence[str]) -> str:
    r"""One text with all values; a single value is the text itself.

    >>> joined(["a title", "its body"])
    'a title\x1eits body'
    """
    if len(values) == 1:
        return values[0]
    return _MARK.join(each.replace(_MARK, " ") for each in values)


def separated(text: str, count: int) -> list[str]:
    """The values of this number of fields; a missing field has an empty value."""
    values = text.split(_MARK, count - 1)
    return values + [""] * (count - len(values))
