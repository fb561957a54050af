"""Bars on a terminal that show how far a run is; apart, because tqdm is slow to import."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TypeVar

from tqdm import tqdm

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Item = TypeVar("Item")

# What a phase counts.
_UNITS = {
    "walk": "files",
    "compile": "kernels",
    "read": "files",
    "rows": "rows",
    "search": "pairs",
    "verify": "pairs",
    "keep": "pairs",
    "texts": "groups",
    "evaluate": "rows",
}

# The line of a phase whose end is unknown, and of one whose end is known.
_COUNT = "{desc:<9}{done} {counted}{speed}"
_SHARE = "{desc:<8}{percentage:4.0f} % {bar} {done} of {end} {counted}{speed}, {remaining} left"


class _Bar(tqdm):  # type: ignore[type-arg]
    """A bar that writes numbers as reports do, and short ones where they are huge."""

    @property
    def format_dict(self) -> dict[str, Any]:
        """Return the values that a line may show: those of tqdm, and ours."""
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
    """Write a number with at most seven digits, or with three and a letter: pairs may be billions.

    >>> _short(7.25), _short(20000), _short(49_950_000_000)
    ('7.2', '20,000', '50.0G')
    """
    if number >= 1e7:
        return tqdm.format_sizeof(number)
    return f"{number:,.0f}" if number >= 10 or number == int(number) else f"{number:.1f}"


def bar(
    items: Iterable[Item],
    label: str,
    total: float | None,
    amount: Callable[[Item], float] | None = None,
) -> Iterable[Item]:
    """Return the items, which show on stderr how many of them have been taken."""
    if total == 0:
        return items
    shown = _Bar(
        items,
        desc=label,
        total=total,
        bar_format=_SHARE if total else _COUNT,
        file=sys.stderr,
        leave=False,
        dynamic_ncols=True,
    )
    return shown if amount is None else _counted(shown, items, amount)


def _counted(bar: _Bar, items: Iterable[Item], amount: Callable[[Item], float]) -> Iterable[Item]:
    """Yield the items; when the next one is asked for, count what the last one amounts to."""
    with bar:
        for item in items:
            yield item
            bar.update(amount(item))
