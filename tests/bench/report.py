"""What the benchmarks share: options, medians in fresh processes, tables, the record of a run.

Memory is the most that a process ever had resident, in MB of a million bytes. Linux counts
what the process that started it had until then as well; so what starts them stays small.
"""

from __future__ import annotations

import json
import os
import platform
import resource
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, strftime
from typing import TYPE_CHECKING, Any, TypeVar

from simdup.compute import compiled as fast

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from contextlib import AbstractContextManager

Result, Item = TypeVar("Result"), TypeVar("Item")

RUNS = 5

# What takes longer than this runs once.
LONG_S = 10

# What getrusage counts memory in.
RSS_BYTES = 1 if sys.platform == "darwin" else 1024

PACKAGES = ("simdup", "numpy", "jieba", "chardet", "rjieba", "numba")

# Characters of the first column unless told, and the fewest of each other one.
NAME_WIDTH, CELL_WIDTH = 46, 7


class Clock:
    """Progress that nobody sees: how long each phase took by a timer, in seconds."""

    def __init__(self, timer: Callable[[], float] = perf_counter) -> None:
        self.timer = timer
        self.seconds: defaultdict[str, float] = defaultdict(float)

    def __call__(
        self,
        items: Iterable[Item],
        label: str,
        total: float | None,  # noqa: ARG002
        amount: Callable[[Item], float] | None = None,  # noqa: ARG002
    ) -> Iterator[Item]:
        began = self.timer()
        try:
            yield from items
        finally:
            self.seconds[label] += self.timer() - began


def numbers(text: str) -> list[int]:
    """Whole numbers that commas part."""
    return [int(each) for each in text.split(",")]


def place(folder: Path | None) -> AbstractContextManager[Path | str]:
    """The folder that was given, or else one for a while."""
    return nullcontext(folder) if folder else TemporaryDirectory()


def options(description: str | None, *, keeps: bool = False) -> ArgumentParser:
    """The options that every benchmark takes; with `keeps`, a folder for what it makes, too."""
    parser = ArgumentParser(
        description=description, formatter_class=RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--runs", type=int, default=RUNS, help="take the median of this many")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write everything there")
    if keeps:
        parser.add_argument("--folder", type=Path, help="keep what is made here")
    return parser


class Report:
    """Prints tables row by row, and keeps them."""

    def __init__(self) -> None:
        self.columns: Mapping[str, str] = {}
        self.width = 0
        self.tables: list[dict[str, Any]] = []

    def table(self, title: str, columns: Mapping[str, str], width: int = NAME_WIDTH) -> None:
        """Begin a table; `columns` are its headings, each with the format of its cells.

        `width` is that of the first one, which has no heading.
        """
        self.columns, self.width = columns, width
        self.tables.append({"title": title, "rows": []})
        print(f"\n{title}")
        self._print("", columns)

    def row(self, name: str, *cells: object) -> None:
        """A row of the table: a cell for each column, None for an empty one."""
        named = dict(zip(self.columns, cells, strict=True))
        self.tables[-1]["rows"].append({"name": name, **named})
        formats = self.columns.values()
        texts = (
            "" if cell is None else format(cell, each)
            for cell, each in zip(cells, formats, strict=True)
        )
        self._print(name, texts)

    def _print(self, name: str, cells: Iterable[str]) -> None:
        widths = (max(len(column), CELL_WIDTH) for column in self.columns)
        line = " ".join(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
        print(f"{name:<{self.width}} {line}".rstrip(), flush=True)


@contextmanager
def reported(given: Namespace, peers: Iterable[str] = ()) -> Iterator[Report]:
    """A report for a script to fill; what it was measured on is printed first, `--json` last."""
    report = Report()
    record: dict[str, Any] = {
        "script": Path(sys.argv[0]).name,
        "options": vars(given),
        "date": strftime("%Y-%m-%d"),
        "machine": machine(),
        "versions": versions((*PACKAGES, *peers)),
        "tables": report.tables,
    }
    print(", ".join(record["machine"].values()))
    print(", ".join(" ".join(each) for each in record["versions"].items()))
    try:
        yield report
    finally:
        if given.json is not None:
            text = json.dumps(record, indent=2, ensure_ascii=False, default=str)
            given.json.write_text(text + "\n", "utf-8")


def machine() -> dict[str, str]:
    """What the figures were measured on."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return {
        "cpu": cpu(),
        "cores": f"{fast.cores()} cores",
        "memory": f"{memory / 1e9:.1f} GB",
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
    }


def cpu() -> str:
    """The name of the processor, as far as the system tells."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or "unknown processor")


def versions(packages: Iterable[str]) -> dict[str, str]:
    """The version of each package, or that there is none."""
    found = {}
    for package in packages:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


@dataclass(frozen=True, slots=True)
class Measured:
    """What some runs of the same work gave."""

    seconds: float
    """The median."""
    runs: int
    peak: float
    """The most memory until the end, in MB."""
    result: Any
    """Of the last run."""


def measured(prepare: Callable[[], Callable[[], object]], runs: int) -> Measured:
    """Time and memory, in a fresh process, of what `prepare` returns; that itself is not timed."""
    return fresh(_measured, prepare, runs)


def _measured(prepare: Callable[[], Callable[[], object]], runs: int) -> Measured:
    work = prepare()
    times, result = list[float](), None
    while len(times) < runs and not (times and times[0] > LONG_S):
        began = perf_counter()
        result = work()
        times.append(perf_counter() - began)
    return Measured(median(times), len(times), peak_memory(), result)


def fresh(work: Callable[..., Result], *given: object) -> Result:
    """What `work` returns in a process of its own."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(work, *given).result()


def peak_memory(who: int = resource.RUSAGE_SELF) -> float:
    """The most memory that this process ever had, or its largest child, in MB."""
    return resource.getrusage(who).ru_maxrss * RSS_BYTES / 1e6


def choose_kernels(*, compiled: bool) -> None:
    """Let this process use the compiled kernels from the start, or numpy alone to the end."""
    if compiled:
        fast.load_kernels()
    else:
        sys.modules["numba"] = None  # type: ignore[assignment]  # as if it were not installed
