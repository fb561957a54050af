"""How long `simdup clean` takes beside reading the files, and how much memory it needs.

    python tests/bench/cleaning.py [--files 100000] [--folder /dev/shm]

Each action is a copy of 2 kB that goes to the trash of its file system and comes back.
"""

from __future__ import annotations

import argparse
import os
import resource
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from simdup.clean.apply import apply
from simdup.clean.records import Act, Action, Consents, FileId, Header, Plan
from simdup.clean.undo import undo
from simdup.files.read import digest
from simdup.records import Kind

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


def peak() -> float:
    """The most memory of this process until now, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def timed(label: str, work: object, *given: object, **named: object) -> None:
    """Print how long some work takes, and the memory of the process then."""
    begin, busy = time.perf_counter(), time.process_time()
    work(*given, **named)  # type: ignore[operator]
    seconds, busy = time.perf_counter() - begin, time.process_time() - busy
    print(f"{label:12} {seconds:7.1f} s, {busy:7.1f} s of processor, {peak():6.0f} MB at most")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--folder")
    given = parser.parse_args()
    with TemporaryDirectory(dir=given.folder) as folder:
        root = Path(os.path.realpath(folder))
        os.environ["XDG_DATA_HOME"] = str(root / "home")
        (root / "tree").mkdir()
        plan, journal = made(root / "tree", given.files), root / "journal"
        print(f"{given.files:,} files; the plan is in memory: {peak():.0f} MB")
        timed("read", read, plan)
        timed("clean", apply, plan, Consents(), journal=journal)
        print(f"{'journal':12} {journal.stat().st_size / 1e6:7.1f} MB")
        timed("undo", undo, journal, apply=True, journal=root / "back")


if __name__ == "__main__":
    main()
