"""File names alone, as fdupes prints them: a name a line, an empty line after each group."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from simdup.report.names import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simdup.records import ScanResult


def render(result: ScanResult) -> Iterator[str]:
    """The names of every group, the representative first, made printable."""
    for group in result.groups:
        yield from (printable(member.document.path) for member in group.members)
        yield ""


def render_null(result: ScanResult) -> Iterator[bytes]:
    """The very bytes of the names, each ended by a NUL, and one more NUL after each group."""
    for group in result.groups:
        yield from (os.fsencode(member.document.path) + b"\0" for member in group.members)
        yield b"\0"
