"""Progress bars on a terminal; a module of their own, because tqdm is slow to import."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from threading import Event, RLock, Thread

from tqdm import tqdm

from simdup.progress import Item
from simdup.records import Document

# What each phase counts.
_UNITS = {
    "walk": "files",
    "load": "functions",
    "read": "files",
    "rows": "rows",
    "search": "pairs",
    "verify": "pairs",
    "keep": "pairs",
    "texts": "groups",
    "evaluate": "rows",
}

#: How long compiling the kernels takes.
COMPILING_S = 15

# Seconds after which a bar is drawn again.
TICK_S = 0.25

# Which part of a run a phase is: where it begins and ends. Of 100,000 generated files (see
# tests/bench/corpus.py), 147 s passed until they were read, and 37 s after that.
_PART_OF_RUN = {"read": (0, 0.8), "list": (0.8, 0.82), "search": (0.82, 0.84), "verify": (0.84, 1)}

# The fewest documents of a scan that says what it knows before near-duplicates are searched.
WORTH_A_LINE = 2000

# The bars that are on the screen.
_open: set[_Bar] = set()


class _Bar:
    """A line on stderr that a thread of its own draws again and again."""

    def __init__(self, label: str, total: float | None, run: Bars) -> None:
        self.done, self._run = 0.0, run
        self._label, self._total = label, total
        self._begun, self._width = time.monotonic(), 0
        self._closed, self._lock = Event(), RLock()
        _open.add(self)
        self._draw()
        with suppress(RuntimeError):  # no thread can be started: the bar does not move
            Thread(target=self._draw_again_and_again, daemon=True).start()

    def _draw_again_and_again(self) -> None:
        with suppress(OSError, ValueError):  # the terminal is gone
            while not self._closed.wait(TICK_S):
                self._draw()

    def _draw(self) -> None:
        with self._lock:
            if not self._closed.is_set():
                left_s = self._run.left_s(self._label, self.done / (self._total or 1))
                elapsed_s = time.monotonic() - self._begun
                line = drawn(self._label, self._total, self.done, elapsed_s, left_s)
                self._show(line, max(self._width, len(line)))
                self._width = len(line)

    def _show(self, line: str, width: int, end: str = "") -> None:
        self._width = width  # even if Ctrl-C comes while it is written
        sys.stderr.write(f"\r{line:{width}}{end}")
        sys.stderr.flush()

    def close(self) -> None:
        """Take the bar off the screen; nothing draws it any more."""
        self._closed.set()
        with self._lock:
            if self in _open:
                self._show("", self._width, "\r")
                _open.discard(self)


def drawn(label: str, total: float | None, done: float, elapsed_s: float, left_s: float) -> str:
    """The line of a phase; `left_s` is how long the whole run goes on, as far as is known.

    >>> drawn("walk", None, 12_345, 75, 0)
    'walk     12,345 files, 165/s, 01:15 gone'
    """
    if label == "compile":
        return f"compiling, once: about {COMPILING_S} s, {tqdm.format_interval(elapsed_s)} so far"
    rate = done / elapsed_s if elapsed_s else 0
    begin, end = "{desc:<9}", ", {elapsed} gone"
    counted, speed = _UNITS.get(label, ""), f", {_short(rate)}/s" if rate else ""
    if total:
        left_s = max(left_s, elapsed_s * (total - done) / done if done else 0)
        left = tqdm.format_interval(left_s) if done or left_s else "?"
        begin, end = "{desc:<8}{percentage:4.0f} % {bar} ", f", {{elapsed}} gone, {left} left"
        counted = f"of {_short(total)} {counted}"
    return tqdm.format_meter(
        done,
        total,  # type: ignore[arg-type]  # None is allowed
        elapsed_s,
        ncols=_columns(),
        prefix=label,
        ascii="utf" not in (sys.stderr.encoding or "").lower(),
        bar_format=f"{begin}{_short(done)} {counted}{speed}{end}",
    )


def _columns() -> int:
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns
    except (OSError, ValueError):  # stderr is a file of Python alone
        return 80


def _short(number: float) -> str:
    """Write a number with at most seven digits, or with three and a letter: pairs may be billions.

    >>> _short(7.25), _short(20000), _short(49_950_000_000)
    ('7.2', '20,000', '50.0G')
    """
    if number >= 1e7:
        return tqdm.format_sizeof(number)
    return f"{number:,.0f}" if number >= 10 or number == int(number) else f"{number:.1f}"


class Bars:
    """Shows the phases of a run, and of a scan what is known early."""

    def __init__(self) -> None:
        self._begun, self._part = time.monotonic(), 0.0

    def left_s(self, label: str, share: float) -> float:
        """How long the run goes on if a phase is done to this share; 0 if nobody knows.

        A phase may come again: then the run is as far as it was.
        """
        begin, end = _PART_OF_RUN.get(label, (0.0, 0.0))
        self._part = max(self._part, begin + (end - begin) * min(share, 1.0))
        part = self._part if label in _PART_OF_RUN else 0.0
        return (time.monotonic() - self._begun) * (1 - part) / part if part else 0.0

    def __call__(
        self,
        items: Iterable[Item],
        label: str,
        total: float | None,
        amount: Callable[[Item], float] | None = None,
    ) -> Iterable[Item]:
        """Yield the items; a bar shows how many are done when the next one is asked for."""
        if total == 0:
            yield from items
            return
        bar = _Bar(label, total, self)
        try:
            for item in items:
                yield item
                bar.done += 1 if amount is None else amount(item)
        finally:
            bar.close()

    def tell_known(self, documents: Sequence[Document]) -> None:
        """Print a line on the copies among documents, if these are enough to be waited for."""
        from simdup.report.text import known_so_far

        close_bars()
        if len(documents) >= WORTH_A_LINE:
            sys.stderr.writelines(f"{line}\n" for line in known_so_far(documents))


def close_bars() -> None:
    """Take all bars off the screen, where Ctrl-C or an error left them."""
    for each in tuple(_open):
        each.close()
