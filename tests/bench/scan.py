"""How long whole scans take, and how much memory, beside a bare loop that only reads the files.

    python tests/bench/scan.py FOLDER [--runs 5] [--json FILE]
    python tests/bench/scan.py --files 25000,50000,100000,200000 [--folder DIRECTORY]
    python tests/bench/scan.py --one-file MEGABYTES [--folder DIRECTORY]
    python tests/bench/scan.py --store 100000 [--folder DIRECTORY]

A FOLDER is scanned as it is; --files makes trees of so many files, --one-file a single text, in a
temporary folder unless --folder is given, where they stay. Each scan is a process of its own, which
takes all cores. Seconds are also by phase; `rest` is what is in none. All files are in the page
cache, since the bare loop goes first.

--store makes such a tree too, and shows what the store costs a first scan and saves the next,
beside a bare loop that only asks for the status of each file. There `walk` includes recalling what
the store has.
"""

from __future__ import annotations

import os
import resource
import time
from contextlib import closing, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING

from corpus import make_file, make_tree
from report import Clock, Report, fresh, measured, numbers, options, peak_memory, place, reported

from simdup import scan
from simdup.storage.status import SETTLED_NS
from simdup.storage.store import Store

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Sequence

PHASES = ("walk", "read", "search", "verify")

COLUMNS = {
    "files": ",",
    "MB": ",.1f",
    "runs": "",
    "seconds": ",.2f",
    "x previous": ".2f",
    "x bare": ",.1f",
    "files/s": ",.0f",
    "MB/s": ",.1f",
    **dict.fromkeys((*PHASES, "rest"), ".2f"),
    "peak MB": ",.0f",
    "worker MB": ",.0f",
    "bytes/file more": ",.0f",
}

STORE_COLUMNS = {
    "files": ",",
    "known": ",",
    "runs": "",
    "seconds": ",.2f",
    **dict.fromkeys((*PHASES, "rest"), ".2f"),
    "x bare": ".2f",
    "bytes/file": ",.0f",
}

# Characters of the first column in tables of scans.
NAME_WIDTH = 10


@dataclass(frozen=True, slots=True)
class Scanned:
    """What a scan took."""

    seconds: float
    phases: tuple[float, ...]
    """Seconds of each of PHASES, and the rest."""
    peak: float
    """MB of the process itself."""
    worker: float
    """MB of its largest worker; at least what the process had when that began."""
    files: int
    megabytes: float
    store: tuple[int, int]
    """Files that the store knew, and its bytes."""


def scanned(path: str, at: Path | None = None) -> Scanned:
    """One scan of a folder or file by all cores, perhaps with a store."""
    clock, began, size = Clock(), perf_counter(), 0
    with closing(Store(at, print)) if at else nullcontext() as store:
        result = scan([path], jobs=None, store=store, progress=clock)
        seconds = perf_counter() - began
        if store is not None:
            size = store.info().bytes
    phases = [clock.seconds[phase] for phase in PHASES]
    return Scanned(
        seconds,
        (*phases, seconds - sum(phases)),
        peak_memory(),
        peak_memory(resource.RUSAGE_CHILDREN),
        result.stats.found,
        result.stats.bytes / 1e6,
        (result.stats.from_store, size),
    )


def scans(path: str, stores: Sequence[Path | None]) -> Scanned:
    """Medians of some scans, each in a process of its own, one for each place of a store."""
    found = [fresh(scanned, path, store) for store in stores]
    figures = [(each.seconds, *each.phases, each.peak, each.worker) for each in found]
    seconds, *phases, peak, worker = (median(column) for column in zip(*figures, strict=True))
    return replace(found[-1], seconds=seconds, phases=tuple(phases), peak=peak, worker=worker)


def bare(path: str) -> Callable[[], int]:
    return partial(read_all, path)


def read_all(path: str) -> int:
    """The bytes of all files below a path, or of one, each read at once."""
    folders = os.walk(path) if os.path.isdir(path) else [("", [], [path])]
    return sum(len(read(os.path.join(at, name))) for at, _, names in folders for name in names)


def read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def show(report: Report, path: str, runs: int, previous: Scanned | None = None) -> Scanned:
    """A row on the scan of a path."""
    loop = measured(partial(bare, path), runs)
    found = scans(path, [None] * runs)
    times = margin = None
    if previous is not None:
        times = found.seconds / previous.seconds
        margin = 1e6 * (found.peak - previous.peak) / (found.files - previous.files)
    report.row(
        Path(path).name,
        found.files,
        found.megabytes,
        runs,
        found.seconds,
        times,
        found.seconds / loop.seconds,
        found.files / found.seconds,
        found.megabytes / found.seconds,
        *found.phases,
        found.peak,
        found.worker,
        margin,
    )
    return found


def show_trees(report: Report, given: Namespace) -> None:
    report.table("trees of files of 0.5 to 4 kB", COLUMNS, NAME_WIDTH)
    previous = None
    for files in given.files:
        with place(given.folder) as folder:
            tree = Path(folder, f"{files}")
            fresh(make_tree, files, tree)
            previous = show(report, str(tree), given.runs, previous)


def show_file(report: Report, given: Namespace) -> None:
    report.table("one file, English and Chinese", COLUMNS, NAME_WIDTH)
    with place(given.folder) as folder:
        path = Path(folder, f"{given.one_file:g}.txt")
        fresh(make_file, given.one_file, path)
        show(report, str(path), given.runs)


def count_files(path: str) -> int:
    """How many files there are below a folder, after asking for the status of each."""
    paths = [os.path.join(at, name) for at, _, names in os.walk(path) for name in names]
    return len([os.stat(each) for each in paths])


def show_store(report: Report, given: Namespace) -> None:
    report.table("scans of one tree", STORE_COLUMNS, 24)
    with place(given.folder) as folder, TemporaryDirectory() as stores:
        tree = Path(folder, f"{given.store}")
        fresh(make_tree, given.store, tree)
        time.sleep(SETTLED_NS / 1e9)  # what has just been written is not remembered
        loop = measured(partial(partial, count_files, str(tree)), given.runs)
        report.row("walk and stat alone", loop.result, None, loop.runs, loop.seconds, *[None] * 7)
        places = [Path(stores, f"{run}") for run in range(given.runs)]
        for name, at in (
            ("without a store", [None] * given.runs),
            ("first, with a store", places),
            ("again, nothing changed", places),
        ):
            found = scans(str(tree), at)
            known, size = found.store
            ratio, per_file = found.seconds / loop.seconds, size / found.files or None
            figures = found.seconds, *found.phases, ratio, per_file
            report.row(name, found.files, known, given.runs, *figures)


def main() -> None:
    parser = options(__doc__, keeps=True)
    parser.add_argument("path", nargs="?", metavar="FOLDER")
    parser.add_argument("--files", type=numbers, default=[], help="rising numbers, by commas")
    parser.add_argument("--one-file", type=float, metavar="MEGABYTES")
    parser.add_argument("--store", type=int, metavar="FILES")
    given = parser.parse_args()
    if not (given.path or given.files or given.one_file or given.store):
        parser.error("give a FOLDER, --files, --one-file or --store")
    with reported(given) as report:
        if given.path:
            report.table("whole scans", COLUMNS, NAME_WIDTH)
            show(report, given.path, given.runs)
        if given.files:
            show_trees(report, given)
        if given.one_file:
            show_file(report, given)
        if given.store:
            show_store(report, given)


if __name__ == "__main__":
    main()
