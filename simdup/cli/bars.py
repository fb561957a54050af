"""Progress bars on a terminal; a module of their own, because tqdm is slow to import."""

from __future__ import annotations

import sys
from contextlib import suppress
from threading import Event, Thread, current_thread
from typing import TYPE_CHECKING, Any, TypeVar

from tqdm import tqdm

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Item = TypeVar("Item")

# What each phase counts.
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
_COUNT = "{desc:<9}{done} {counted}{speed}, {elapsed} gone"
_SHARE = (
    "{desc:<8}{percentage:4.0f} % {bar} {done} of {end} {counted}{speed}"
    ", {elapsed} gone, {remaining} left"
)

# Seconds after which a bar is drawn again although nothing was counted.
TICK_S = 0.5

# The bars that are on the screen.
_open: set[_Bar] = set()


class _Bar(tqdm):  # type: ignore[type-arg]
    """A bar that writes numbers as reports do, and moves at least once a second.

    A thread draws it again, so that the time moves during a long batch. It ends with the bar.
    """

    monitor_interval = 0  # tqdm's own thread, for bars that stood still for ten seconds

    def __init__(self, label: str, total: float | None) -> None:
        self._closed = Event()
        self._clock = Thread(target=self._draw_again_and_again, daemon=True)
        _open.add(self)
        super().__init__(
            desc=label,
            total=total,
            bar_format=_SHARE if total else _COUNT,
            file=sys.stderr,
            leave=False,
            dynamic_ncols=True,
        )
        with suppress(RuntimeError):  # no thread can be started: only what is counted moves the bar
            self._clock.start()

    def _draw_again_and_again(self) -> None:
        with suppress(OSError, ValueError):  # the terminal is gone
            while not self._closed.wait(TICK_S):
                self.refresh()

    def refresh(self, *_: object, **__: object) -> None:
        """Draw the bar, unless it is closed; Ctrl-C meanwhile leaves tqdm's lock free."""
        with self.get_lock():  # type: ignore[no-untyped-call]
            if not self.disable:
                self.display()

    def close(self) -> None:
        """Take the bar off the screen, and return when nothing can draw it any more."""
        self._closed.set()
        super().close()
        # The thread may hold the last reference to the bar; deleting it would close it there.
        if self._clock.is_alive() and self._clock is not current_thread():
            self._clock.join(2 * TICK_S)
        _open.discard(self)

    @staticmethod
    def status_printer(file: Any) -> Callable[[str], None]:
        """Return a function that writes a line over the whole last one, even after Ctrl-C."""
        width = 0

        def show(line: str) -> None:
            nonlocal width
            width = max(width, len(line))
            file.write(f"\r{line:{width}}")
            file.flush()
            width = len(line)

        return show

    @property
    def format_dict(self) -> dict[str, Any]:
        """Return the values that a line may show: tqdm's and ours."""
        known = dict(super().format_dict)
        done, total, elapsed = known["n"], known["total"] or 0, known["elapsed"]
        rate = known["rate"] or (done / elapsed if elapsed else 0)
        counted = _UNITS.get(self.desc, "")
        return known | {
            "done": _short(done),
            "end": _short(total),
            "counted": counted,
            "speed": f", {_short(rate)}/s" if rate else "",
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
    """Return the items; a bar on stderr shows how many of them have been taken."""
    return items if total == 0 else _counted(items, label, total, amount)


def _counted(
    items: Iterable[Item],
    label: str,
    total: float | None,
    amount: Callable[[Item], float] | None,
) -> Iterable[Item]:
    """Yield the items; when the next one is asked for, count what the last one amounts to."""
    with _Bar(label, total) as bar:
        for item in items:
            yield item
            bar.update(1 if amount is None else amount(item))


def close_bars() -> None:
    """Take all bars off the screen, where Ctrl-C or an error left them."""
    for each in tuple(_open):
        each.close()
        if hasattr(each, "sp"):  # tqdm clears no bar that was not drawn or cleared to the end
            each.sp("")
            each.fp.write("\r")
