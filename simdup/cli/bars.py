"""Progress bars on a terminal: one line on stderr, drawn over the last one."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from contextlib import closing, suppress
from threading import Event, Lock, Thread, current_thread
from time import monotonic as time
from typing import TypeVar

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

# Seconds after which a bar is drawn again although nothing was counted, and the least between two
# times that counting draws it.
TICK_S, PAUSE_S = 0.5, 0.1

# The bars that are on the screen.
_open: set[_Bar] = set()


class _Bar:
    """A bar that moves at least once a second.

    A thread draws it again, so that the time moves during a long batch. It ends with the bar.
    """

    def __init__(self, label: str, total: float | None) -> None:
        self._label, self._total, self._done, self._width = label, total, 0.0, 0
        self._closed, self._lock = Event(), Lock()
        self._clock = Thread(target=self._refresh_again_and_again, daemon=True)
        self._begun = self._drawn = time()
        _open.add(self)
        self.refresh(self._begun)
        with suppress(RuntimeError):  # no thread can be started: only what is counted moves the bar
            self._clock.start()

    def _refresh_again_and_again(self) -> None:
        with suppress(OSError, ValueError):  # the terminal is gone
            while not self._closed.wait(TICK_S):
                self.refresh(time())

    def add(self, amount: float) -> None:
        """Count some more, and draw the bar unless it was drawn just now."""
        self._done += amount
        if (now := time()) - self._drawn >= PAUSE_S:
            self.refresh(now)

    def refresh(self, now: float) -> None:
        """Draw the bar, unless it is closed."""
        with self._lock:
            if not self._closed.is_set():
                self._drawn = now
                self._show(self._line(now - self._begun))

    def _show(self, line: str) -> None:
        """Write a line over the whole last one, even after Ctrl-C."""
        self._width = max(self._width, len(line))
        sys.stderr.write(f"\r{line:{self._width}}")
        sys.stderr.flush()
        self._width = len(line)

    def _line(self, elapsed: float) -> str:
        """Return the bar as a line that fits the terminal."""
        columns, done, total = _columns(), self._done, self._total or 0
        rate = done / elapsed if elapsed else 0
        speed = f", {_short(rate)}/s" if rate else ""
        counted = f"{_UNITS.get(self._label, '')}{speed}, {_minutes(elapsed)} gone"
        if not total:
            return f"{self._label:<9}{_short(done)} {counted}"[:columns]
        left = _minutes((total - done) / rate) if rate else "?"
        before = f"{self._label:<8}{100 * done / total:4.0f} % "
        after = f" {_short(done)} of {_short(total)} {counted}, {left} left"
        room = max(0, columns - len(before) - len(after))
        block = "█" if (sys.stderr.encoding or "").lower().startswith("utf") else "#"
        return f"{before}{block * min(room, int(room * done / total)):{room}}{after}"[:columns]

    def close(self) -> None:
        """Take the bar off the screen, and return when nothing can draw it any more."""
        self._closed.set()
        if self._clock.is_alive() and self._clock is not current_thread():
            self._clock.join(2 * TICK_S)
        if self in _open:
            self._show("")
            sys.stderr.write("\r")
            _open.discard(self)


def _columns() -> int:
    """Return the longest line that does not wrap."""
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns - 1
    except (OSError, ValueError):
        return 79


def _minutes(seconds: float) -> str:
    """Write a duration.

    >>> _minutes(75.5), _minutes(3675)
    ('01:15', '1:01:15')
    """
    hours, rest = divmod(int(seconds), 3600)
    return f"{hours}:" * bool(hours) + f"{rest // 60:02}:{rest % 60:02}"


def _short(number: float) -> str:
    """Write a number with at most seven digits, or with three and a letter: pairs may be billions.

    >>> _short(7.25), _short(20000), _short(49_950_000_000)
    ('7.2', '20,000', '50.0G')
    """
    if number < 1e7:
        return f"{number:,.0f}" if number >= 10 or number == int(number) else f"{number:.1f}"
    letters = iter("MGTPE")
    letter, number = next(letters), number / 1e6
    while number >= 999.5:
        letter, number = next(letters), number / 1e3
    return f"{number:#.3g}".rstrip(".") + letter


def bar(
    items: Iterable[Item],
    label: str,
    total: float | None,
    amount: Callable[[Item], float] | None = None,
) -> Iterable[Item]:
    """Return the items; a bar on stderr shows how many of them have been taken."""
    return items if total == 0 else _counted(items, label, total, amount)


def _counted(
    items: Iterable[Item], label: str, total: float | None, amount: Callable[[Item], float] | None
) -> Iterable[Item]:
    """Yield the items; when the next one is asked for, count what the last one amounts to."""
    with closing(_Bar(label, total)) as bar:
        for item in items:
            yield item
            bar.add(1 if amount is None else amount(item))


def close_bars() -> None:
    """Take all bars off the screen, where Ctrl-C or an error left them."""
    for each in tuple(_open):
        each.close()
