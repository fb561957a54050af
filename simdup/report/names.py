"""File names as they can be shown: nothing in them may act on a terminal or break a line."""

from __future__ import annotations

import os
from base64 import b64encode


def printable(path: str) -> str:
    r"""The path with everything that is not printable written as an escape.

    Bytes that are not UTF-8 become \xff, control and invisible characters \n, \x1b,
    \u202e; a backslash stays one, so that ordinary names stay as they are.

    >>> printable("a\nb\x1b[31m\udcff")
    'a\\nb\\x1b[31m\\xff'
    """
    return "".join(c if c.isprintable() else _escaped(c) for c in path)


def as_json(path: str) -> dict[str, str]:
    """`path`, printable and valid UTF-8, and `path_base64` where that is not the very name."""
    shown = printable(path) if _has_stray_bytes(path) else path
    return {"path": shown} | (
        {"path_base64": b64encode(os.fsencode(path)).decode()} if shown != path else {}
    )


def _has_stray_bytes(path: str) -> bool:
    return any("\udc80" <= c <= "\udcff" for c in path)


def _escaped(character: str) -> str:
    if "\udc80" <= character <= "\udcff":
        return f"\\x{ord(character) - 0xDC00:02x}"
    return character.encode("unicode_escape").decode()
