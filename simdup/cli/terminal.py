"""What a person sees while a command runs: stderr only, and progress on a terminal only."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

import click
from tqdm import tqdm

from simdup.progress import silent
from simdup.report.names import printable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simdup.progress import Progress
    from simdup.records import Skipped

Item = TypeVar("Item")

# Exit code after Ctrl-C: 128 and the number of the signal, as for programs that it kills.
INTERRUPTED = 130

# Warnings about single files before the rest is only counted.
MOST_WARNINGS = 10


def progress(*, quiet: bool) -> Progress:
    """Bars on stderr, if it is a terminal and they are wanted."""
    return silent if quiet or not sys.stderr.isatty() else _bar


# What the items of a phase are.
_UNITS = {
    "walk": " files",
    "compile": " kernels",
    "read": " batches",
    "compare": " chunks",
    "verify": " blocks",
    "evaluate": " rows",
}


def _bar(items: Iterable[Item], label: str, total: int | None) -> Iterable[Item]:
    return tqdm(
        items,
        desc=label,
        total=total,
        unit=_UNITS.get(label, ""),
        file=sys.stderr,
        leave=False,
        dynamic_ncols=True,
    )


def warn_of(skipped: tuple[Skipped, ...]) -> None:
    """A line for each file that could not be read; of very many, the number."""
    trouble = [each for each in skipped if each.reason.is_trouble]
    for each in trouble[:MOST_WARNINGS]:
        detail = f" ({printable(each.detail)})" if each.detail else ""
        tell(f"simdup: {printable(each.path)}: {each.reason.value}{detail}")
    if len(trouble) > MOST_WARNINGS:
        tell(f"simdup: and {len(trouble) - MOST_WARNINGS:,} more that could not be read")


def tell(line: str) -> None:
    """A line on stderr, if anybody is there to read it."""
    with suppress(OSError):
        click.echo(line, err=True)
