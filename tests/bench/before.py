"""How long jobs take beside an older simdup, each in turn with it.

    python tests/bench/before.py --before ../older/.venv/bin/simdup [--runs 3]
    python tests/bench/before.py --before ... --files 20000,100000 --rows 100000,1000000

Makes trees of files and files of rows in a temporary folder unless --folder is given. A cold scan
has a new store; a job of its own says what a scan takes when one of its files has a new last line.
Seconds are medians of the clock, and programs take turns, so that other work meets both.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING

from corpus import make_rows, make_tree
from report import numbers, options, place, reported

from simdup.storage.status import SETTLED_NS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Job = tuple[str, "Callable[[str], float]"]

COLUMNS = {"seconds": ",.2f", "before": ",.2f", "x before": ".2f", "x the job above": ".2f"}


def seconds(*command: str, store: Path | None = None) -> float:
    """How long a command takes; `store` is a folder for what it remembers."""
    kept = {} if store is None else {"XDG_CACHE_HOME": str(store)}
    began = perf_counter()
    subprocess.run(command, env=os.environ | kept, capture_output=True, check=True)
    return perf_counter() - began


def jobs_of_files(tree: Path, stores: Path) -> Iterator[Job]:
    """Scans of a tree: cold, unchanged, and with one file edited."""
    names = f"{sum(map(len, (each[2] for each in os.walk(tree)))):,} files"
    edited = min(each for each in tree.rglob("*") if each.is_file())

    def scan(program: str, store: str) -> float:
        at = stores / store
        return seconds(program, "scan", str(tree), "--format", "names", store=at)

    def cold(program: str) -> float:
        with TemporaryDirectory(dir=stores) as new:
            return scan(program, new)

    def unchanged(program: str) -> float:
        time.sleep(2 * SETTLED_NS / 1e9)  # what changed just now is read again
        kept = f"{abs(hash(program))}"
        scan(program, kept)
        return scan(program, kept)

    def one_edited(program: str) -> float:
        unchanged(program)
        with edited.open("a", encoding="utf-8") as file:
            print(f"a line of {perf_counter()}", file=file)
        return scan(program, f"{abs(hash(program))}")

    yield f"{names}, cold", cold
    yield f"{names}, unchanged", unchanged
    yield f"{names}, one edited", one_edited


def jobs_of_rows(path: Path, rows: int) -> Iterator[Job]:
    """Scans of a file of rows, by one process and by two."""
    for jobs in ("1", "2"):
        command = "corpus", "scan", "--jobs", jobs, "--format", "csv", str(path)
        yield f"{rows:,} rows, --jobs {jobs}", lambda program, of=command: seconds(program, *of)


def main() -> None:
    parser = options(__doc__, keeps=True)
    parser.add_argument("--before", required=True, help="the command of the older simdup")
    parser.add_argument("--files", type=numbers, default=[20_000], help="of trees, by commas")
    parser.add_argument("--rows", type=numbers, default=[100_000], help="by commas")
    given = parser.parse_args()
    programs = str(Path(sys.executable).with_name("simdup")), os.path.abspath(given.before)
    with place(given.folder) as at, reported(given) as report, TemporaryDirectory() as stores:
        folder, jobs = Path(at), list[Job]()
        for files in given.files:
            tree = folder / f"tree-{files}"
            if not tree.exists():
                make_tree(files, tree)
            jobs += jobs_of_files(tree, Path(stores))
        for rows in given.rows:
            path = folder / f"rows-{rows}.jsonl"
            if not path.exists():
                make_rows(rows, 1000, path)
            jobs += jobs_of_rows(path, rows)
        report.table("jobs beside an older simdup", COLUMNS)
        above = None
        for name, job in jobs:
            turns = [[job(program) for program in programs] for _ in range(given.runs)]
            now, before = map(median, zip(*turns, strict=True))
            report.row(name, now, before, now / before, above and now / above)
            above = now


if __name__ == "__main__":
    main()
