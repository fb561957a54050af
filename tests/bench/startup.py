"""What simdup takes to start, in processor time, beside importing click and numpy.

    python tests/bench/startup.py [--runs 9]

Each run is a process of its own; the runs of all commands take turns, so that a busy machine
slows all of them alike. `Tab` is what a shell asks for; the scans are of ten files of 60 to 100
bytes.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from report import options, reported

if TYPE_CHECKING:
    from collections.abc import Mapping

RUNS = 9
COLUMNS = {"ms": ",.0f", "x click": ".2f", "- numpy": "+,.0f"}
COMMANDS = {
    "python -c 'import click'": ("-c", "import click"),
    "python -c 'import numpy'": ("-c", "import numpy"),
    "simdup --help": ("-m", "simdup", "--help"),
    "simdup --version": ("-m", "simdup", "--version"),
    "Tab after `simdup sc`": ("-m", "simdup"),
    "Tab after `simdup scan --f`": ("-m", "simdup"),
    "simdup scan --help": ("-m", "simdup", "scan", "--help"),
    "simdup scan FOLDER, known from before": ("-m", "simdup", "scan", "files"),
    "simdup scan FOLDER --no-cache": ("-m", "simdup", "scan", "files", "--no-cache"),
}


def seconds(command: tuple[str, ...], folder: str, environment: Mapping[str, str]) -> float:
    """Return the processor time of Python with these arguments."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        env=os.environ | environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def variables(name: str, folder: str) -> dict[str, str]:
    """Return the variables of a command: where its store is, and what a shell asks for."""
    found = {"SIMDUP_CACHE": f"{folder}/store.sqlite3", "PYTHONPATH": str(Path.cwd())}
    found["PYTHONDONTWRITEBYTECODE"] = ""  # modules are compiled once, as where they are installed
    if name.startswith("Tab"):
        line = name.split("`")[1]
        found |= {"COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))}
        found["_SIMDUP_COMPLETE"] = "bash_complete"
    return found


def measure(runs: int) -> dict[str, float]:
    """Return the median of each command."""
    times: dict[str, list[float]] = {name: [] for name in COMMANDS}
    with TemporaryDirectory() as folder:
        (Path(folder) / "files").mkdir()
        for number in range(10):
            text = (
                f"The harbour master kept ledger {number} for himself.\n" + "tar, rope; " * number
            )
            (Path(folder) / "files" / f"{number}.txt").write_text(text, "utf-8")
        for is_counted in [False] + [True] * runs:  # at first modules are compiled
            for name, command in COMMANDS.items():
                taken = seconds(command, folder, variables(name, folder))
                times[name] += [taken] * is_counted
    return {name: median(each) for name, each in times.items()}


def main() -> None:
    parser = options(__doc__)
    parser.set_defaults(runs=RUNS)
    given = parser.parse_args()
    with reported(given) as report:
        medians = measure(given.runs)
        click, numpy = list(medians.values())[:2]
        report.table("Processor time of a process", COLUMNS)
        for name, taken in medians.items():
            report.row(name, taken * 1000, taken / click, (taken - numpy) * 1000)


if __name__ == "__main__":
    main()
