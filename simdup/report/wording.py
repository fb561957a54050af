"""How reports write sizes, shares, counts and file names."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable
from datetime import datetime

from simdup.fields import in_kept as in_kept  # noqa: PLC0414  (others import it from here)
from simdup.fields import path_fields as path_fields  # noqa: PLC0414
from simdup.fields import percent as percent  # noqa: PLC0414
from simdup.fields import printable as printable  # noqa: PLC0414

#: Why siblings with an own share of 0 are no duplicates.
FORM = "filled in from one form"

# The weight of a shingle that is in a thousand other files; `whose` names no larger number.
_LEAST_WEIGHT = 2 / 1002


def size(number: int) -> str:
    """Bytes in at most four digits and a unit.

    >>> size(0), size(999), size(1_234), size(5_678_901)
    ('0 B', '999 B', '1.2 kB', '5.7 MB')
    """
    amount, unit = float(number), "B"
    for larger in ("kB", "MB", "GB", "TB"):
        if amount < 999.5:
            break
        amount, unit = amount / 1000, larger
    return f"{amount:.0f} {unit}" if unit == "B" or amount >= 99.5 else f"{amount:.1f} {unit}"


def date(mtime_ns: int, form: str = "%Y-%m-%d %H:%M") -> str:
    """A time on this machine's clock; "no date" if no calendar has it."""
    try:
        return f"{datetime.fromtimestamp(mtime_ns // 10**9).astimezone():{form}}"
    except (OverflowError, ValueError, OSError):
        return "no date"


def as_typed(words: Iterable[str]) -> str:
    r"""Words as a user types them in a shell, even if a word has bytes that cannot be shown.

    Such a word is quoted as bash does it, with the bytes in octal.

    >>> print(as_typed(["simdup", "undo", "my journal", "it's \udcff"]))
    simdup undo 'my journal' $'it\'s \377'
    """
    return " ".join(shlex.quote(each) if each.isprintable() else _octal(each) for each in words)


def _octal(word: str) -> str:
    escaped = word.replace("\\", r"\\").replace("'", r"\'")
    shown = (
        each if each.isprintable() else "".join(f"\\{byte:03o}" for byte in os.fsencode(each))
        for each in escaped
    )
    return f"$'{''.join(shown)}'"


def set_aside(pairs: int) -> str:
    """How many pairs were left out of all groups because they only have a pattern in common.

    >>> set_aside(21)
    'set aside 21 pairs of one pattern'
    """
    return f"set aside {count(pairs, 'pair')} of one pattern"


def count(number: int, noun: str) -> str:
    """A number and the noun that it counts, in the plural where needed.

    >>> count(1, "file"), count(2000, "file"), count(2, "copy")
    ('1 file', '2,000 files', '2 copies')
    """
    plural = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
    return f"{number:,} {noun if number == 1 else plural}"


def whose(similarity: float, own_share: float) -> str:
    """Words for why two siblings are no duplicates.

    The number of other files is an estimate. It is right if all that the two share stands in
    equally many other files: each shingle of it then has the same weight, and the own share follows
    from the weight and the similarity (see `match.own_share`).

    >>> whose(0.58, 0.48)
    'half of it shared with about 5 other files'
    >>> whose(0.62, 0.12)
    'nearly all of it shared with about 39 other files'
    >>> whose(0.98, 0)
    'filled in from one form'
    """
    part, number = sharing(similarity, own_share)
    return f"{part} of it shared with about {count(number, 'other file')}" if part else FORM


def sharing(similarity: float, own_share: float) -> tuple[str, int]:
    """Words for a part of the shared wording, and the number of other files that have it too.

    No words for an own share of 0, which texts of one form have. See `whose`.
    """
    if not own_share:
        return "", 0
    bounds = ((0.6, "some"), (0.45, "half"), (0.2, "most"), (0, "nearly all"))
    part = next(part for bound, part in bounds if own_share >= bound)
    others = 1 - own_share * similarity
    weight = max(own_share * (1 - similarity) / others, _LEAST_WEIGHT) if others > 0 else 1
    return part, max(1, round(2 / weight - 2))
