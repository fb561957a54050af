"""What the store costs a first scan and saves the next, beside a bare loop that only asks for stat.

    python tests/bench/store.py [--files 100000] [--folder DIRECTORY]

A tree of so many files is made in a temporary folder unless --folder is given, where it stays.
Each scan is a process of its own, which takes all cores; all files are in the page cache.
Seconds are also by phase: `walk` includes what is recalled from the store.
"""

from __future__ import annotations

import os
import time
from contextlib import closing, nullcontext
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING

from corpus import make_tree
from report import Report, fresh, measured, options, place, reported
from scan import PHASES, Clock

from simdup import scan
from simdup.storage.codec import SETTLED_NS
from simdup.storage.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable

COLUMNS = {
    "files": ",",
    "known": ",",
    "runs": "",
    "seconds": ",.2f",
    **dict.fromkeys((*PHASES, "rest"), ".2f"),
    "walk x bare": ".2f",
    "bytes/file": ",.0f",
}


def scanned(folder: Path, place: Path | None) -> tuple[list[float], int, int, float]:
    """Seconds of a scan, whole and by phase; files, those known before, and bytes of the store."""
    clock, began, size = Clock(), perf_counter(), 0
    with closing(Store(place, print)) if place else nullcontext() as store:
        result = scan([folder], jobs=None, store=store, progress=clock)
        seconds = perf_counter() - began
        if store is not None:
            size = store.info().bytes
    phases = [clock.seconds[phase] for phase in PHASES]
    stats = result.stats
    return [seconds, *phases, seconds - sum(phases)], stats.found, stats.from_store, size


def walk(folder: Path) -> Callable[[], int]:
    return partial(count_files, folder)


def count_files(folder: Path) -> int:
    """How many files there are below a folder, after asking for the status of each."""
    found = 0
    for at, _, names in os.walk(folder):
        for name in names:
            os.stat(os.path.join(at, name))
            found += 1
    return found


def show(report: Report, name: str, folder: Path, bare: float, places: list[Path | None]) -> None:
    """A row of medians, one scan for each of the places of a store."""
    runs = [fresh(scanned, folder, place) for place in places]
    seconds = [median(column) for column in zip(*(run[0] for run in runs), strict=True)]
    _, files, known, size = runs[-1]
    per_file = size / files if size else None
    report.row(name, files, known, len(runs), *seconds, seconds[1] / bare, per_file)


def main() -> None:
    parser = options(__doc__, keeps=True)
    parser.add_argument("--files", type=int, default=100_000)
    given = parser.parse_args()
    with reported(given) as report, place(given.folder) as folder, TemporaryDirectory() as stores:
        tree = Path(folder, f"{given.files}")
        fresh(make_tree, given.files, tree)
        time.sleep(SETTLED_NS / 1e9)  # what has just been written is not remembered
        report.table("scans of one tree", COLUMNS, 24)
        loop = measured(partial(walk, tree), given.runs)
        report.row("walk and stat alone", loop.result, None, loop.runs, loop.seconds, *[None] * 7)
        places = [Path(stores, f"{run}") for run in range(given.runs)]
        show(report, "without a store", tree, loop.seconds, [None] * given.runs)
        show(report, "first, with a store", tree, loop.seconds, [*places])
        show(report, "again, nothing changed", tree, loop.seconds, [*places])


if __name__ == "__main__":
    main()
