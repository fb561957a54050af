"""What a person sees: progress on a terminal only, warnings, and what a report looks like there."""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

import click
from tqdm import tqdm

from simdup.progress import silent
from simdup.report.look import Look
from simdup.report.names import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from simdup.progress import Progress
    from simdup.records import Skipped

Item = TypeVar("Item")

# Exit code after Ctrl-C: 128 and the number of the signal, as for programs that it kills.
INTERRUPTED = 130

# Warnings about single files before the rest is only counted.
MOST_WARNINGS = 10

#: Values of --color.
COLOR = ("auto", "always", "never")


def look(color: str, target: str | None = None) -> Look:
    """How a report for people looks that goes to stdout, or to a file.

    `color` is one of COLOR. Only on a terminal are lines fitted to its width, which the
    variable COLUMNS overrules.
    """
    is_terminal = target is None and sys.stdout.isatty()
    # The console of Windows may show the codes instead of obeying them. https://no-color.org
    takes_colours = is_terminal and os.name != "nt" and os.environ.get("TERM") != "dumb"
    is_wanted = takes_colours and not os.environ.get("NO_COLOR")
    columns = shutil.get_terminal_size().columns if is_terminal else None
    return Look(color == "always" or (color == "auto" and is_wanted), columns)


def progress(*, quiet: bool) -> Progress:
    """Bars on stderr, if it is a terminal and they are wanted."""
    return silent if quiet or not sys.stderr.isatty() else _bar


# What is counted in a phase.
_UNITS = {
    "walk": "files",
    "compile": "kernels",
    "read": "files",
    "rows": "rows",
    "search": "pairs",
    "verify": "pairs",
    "texts": "groups",
    "evaluate": "rows",
}

# A phase whose end is not known, and one whose end is.
_COUNT = "{desc:<9}{done} {counted}{speed}"
_SHARE = "{desc:<8}{percentage:4.0f} % {bar} {done} of {end} {counted}{speed}, {remaining} left"


class _Bar(tqdm):  # type: ignore[type-arg]
    """A bar that writes numbers as reports do."""

    @property
    def format_dict(self) -> dict[str, Any]:
        """What a line is made of, and what ours says besides."""
        known = dict(super().format_dict)
        done, total, elapsed = known["n"], known["total"] or 0, known["elapsed"]
        rate = known["rate"] or (done / elapsed if elapsed else 0)
        counted = _UNITS.get(self.desc, "")
        return known | {
            "done": _short(done),
            "end": _short(total),
            "counted": counted,
            "speed": f", {_short(rate)} {counted}/s" if rate else "",
        }


def _short(number: float) -> str:
    """A number of at most seven digits, or of three and a letter: there are billions of pairs.

    >>> _short(7.25), _short(20000), _short(49_950_000_000)
    ('7.2', '20,000', '50.0G')
    """
    if number >= 1e7:
        return tqdm.format_sizeof(number)
    return f"{number:,.0f}" if number >= 10 or number == int(number) else f"{number:.1f}"


def _bar(
    items: Iterable[Item],
    label: str,
    total: float | None,
    amount: Callable[[Item], float] | None = None,
) -> Iterable[Item]:
    if total == 0:
        return items
    bar = _Bar(
        items,
        desc=label,
        total=total,
        bar_format=_SHARE if total else _COUNT,
        file=sys.stderr,
        leave=False,
        dynamic_ncols=True,
    )
    return bar if amount is None else _counted(bar, items, amount)


def _counted(bar: _Bar, items: Iterable[Item], amount: Callable[[Item], float]) -> Iterable[Item]:
    """The items, each counted as what it amounts to when it is done with."""
    with bar:
        for item in items:
            yield item
            bar.update(amount(item))


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
