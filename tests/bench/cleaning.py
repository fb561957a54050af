"""How long `simdup clean` takes beside reading the files, and how much memory it needs.

    python tests/bench/cleaning.py [--files 100000] [--folder /dev/shm]

Each action is a copy of 2 kB that goes to the trash of its file system and comes back.
"""

from __future__ import annotations

import os
import time
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from report import Report, options, peak_memory, reported

from simdup.clean.apply import apply
from simdup.clean.plan import Act, Action, Consents, FileId, Header, Plan
from simdup.clean.undo import undo
from simdup.files.read import digest
from simdup.records import Kind

if TYPE_CHECKING:
    from collections.abc import Callable

COLUMNS = {"seconds": ",.1f", "of processor": ",.1f", "MB at most": ",.0f"}

# Copies of one kept file, as a group of a scan has them.
COPIES = 10


def made(root: Path, files: int) -> Plan:
    """A tree of groups, and the plan by which all copies go."""
    actions: list[Action] = []
    for number in range(files):
        folder = root / str(number // 1000)
        folder.mkdir(exist_ok=True)
        data = f"The text of group {number // COPIES}.\n".encode() * 60
        if number % COPIES == 0:
            keep = seen(folder / f"{number}-keep", data)
        file = seen(folder / f"{number}", data)
        about = Kind.IDENTICAL_BYTES, None, "first"
        actions.append(Action(number + 2, number // COPIES, keep, Act.TRASH, file, *about))
    header = Header("now", "found.json", "00" * 16, (), (str(root),))
    return Plan(tuple(actions), (), header)


def seen(path: Path, data: bytes) -> FileId:
    """A new file, as a scan sees it."""
    path.write_bytes(data)
    now = path.stat()
    times = now.st_mtime_ns, now.st_ctime_ns
    of_bytes = digest(data)
    return FileId(str(path), now.st_dev, now.st_ino, now.st_size, *times, of_bytes, of_bytes)


def read(plan: Plan) -> None:
    """Read both files of each action, as a run does at least."""
    for each in plan.actions:
        for file in (each.keep, each.file):
            with open(file.path, "rb") as opened:
                digest(opened.read())


def timed(report: Report, label: str, work: Callable[[], object]) -> None:
    """A row with how long some work takes, and the memory of the process then."""
    begin, busy = time.perf_counter(), time.process_time()
    work()
    report.row(label, time.perf_counter() - begin, time.process_time() - busy, peak_memory())


def main() -> None:
    """Print the table."""
    parser = options(__doc__)
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--folder")
    given = parser.parse_args()
    with reported(given) as report, TemporaryDirectory(dir=given.folder) as folder:
        root = Path(os.path.realpath(folder))
        os.environ["XDG_DATA_HOME"] = str(root / "home")
        (root / "tree").mkdir()
        plan, journal = made(root / "tree", given.files), root / "journal"
        report.table(f"{given.files:,} files", COLUMNS)
        report.row("the plan is in memory", None, None, peak_memory())
        timed(report, "read", partial(read, plan))
        timed(report, "clean", partial(apply, plan, Consents(), journal=journal))
        report.row("the journal, in MB", None, None, journal.stat().st_size / 1e6)
        timed(report, "undo", partial(undo, journal, apply=True, journal=root / "back"))


if __name__ == "__main__":
    main()
