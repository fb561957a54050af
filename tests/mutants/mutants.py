"""Change one thing in a module at a time, and see whether the module's own tests notice.

    python tests/mutants/mutants.py [--module tokens] [--only TEXT] [--sample 40] [--seed 1]

Every mutant (`changes.py`) of the modules (`modules.py`) is tested in a copy of the repository,
until the first test fails. Prints those that no test notices; ends with 1 if one of these is not
in `accepted.txt`, where it is argued that it makes no difference that a test could see, or if
that file has a mutant which today's code has not.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from changes import Mutant, mutants_of
from enclosed import enclose
from hypothesis import Phase, settings
from modules import MODULES, accepted

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]

# Loaded once, before the processes that test a mutant are forked.
SLOW_TO_LOAD = ("numpy", "numba", "jieba", "rjieba", "chardet", "pyarrow.parquet", "click", "tqdm")

# A mutant may take so many times the processor time, or the time, of the unchanged module.
PATIENCE = 5

OPTIONS = [
    *("-x", "-q", "-n", "0", "-p", "no:randomly", "-p", "no:cacheprovider"),
    *("-W", "ignore::pytest.PytestAssertRewriteWarning"),  # hypothesis is loaded already
]


class Plain:
    """Hypothesis draws the same examples in every run, and shows the first that fails.

    Tests run in the order of the seconds that they took without a mutant. That run, for which
    there is no file of durations, writes it.
    """

    def __init__(self, durations: Path) -> None:
        self.path = durations
        self.known = json.loads(durations.read_text()) if durations.exists() else {}
        self.seen: Counter[str] = Counter()

    def pytest_collection_modifyitems(self, items):
        items.sort(key=lambda item: self.known.get(item.nodeid, 0.0))

    def pytest_runtest_logreport(self, report):
        self.seen[report.nodeid] += report.duration

    def pytest_sessionfinish(self):
        if not self.known:
            self.path.write_text(json.dumps(self.seen))

    def pytest_sessionstart(self):
        phases = [Phase.explicit, Phase.generate]
        settings.register_profile(
            "mutants", deadline=None, derandomize=True, database=None, phases=phases
        )
        settings.load_profile("mutants")


@dataclass(frozen=True)
class Ended:
    """How the tests of a mutant ended: 0 if all passed."""

    code: int
    processor_s: float
    elapsed_s: float


@dataclass
class Worker:
    """A copy of the repository in which one mutant at a time is tested.

    All workers share one file of `durations`, which says how long each test takes.
    """

    folder: Path
    durations: Path
    pid: int = 0
    began: float = 0.0
    started: int = 0

    def start(self, module: str, source: str, tests: list[str], processor_s: float) -> None:
        """Test a source in the place of the module's, in a process of its own."""
        path = self.folder / module
        path.write_text(source, "utf-8")
        for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
            compiled.unlink()
        self.began = time.monotonic()
        self.started += 1
        self.pid = os.fork()
        if not self.pid:
            self._test(tests, processor_s)

    @property
    def made(self) -> Path:
        """Where the tests of this mutant make their files."""
        return self.folder.with_name(f"{self.folder.name}-{self.started}")

    def _test(self, tests: list[str], processor_s: float) -> None:
        """What the forked process does; it never returns."""
        code = 3
        try:
            os.setsid()
            enclose()
            os.chdir(self.folder)
            sys.path.insert(0, str(self.folder))
            os.environ |= {"PYTHONPATH": str(self.folder), "PYTHONDONTWRITEBYTECODE": "1"}
            sys.dont_write_bytecode = True
            log = os.open(self.folder / "log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(log, 1)
            os.dup2(log, 2)
            limit = int(processor_s) + 1
            resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
            # A folder of its own: what a mutant that was ended left behind fails no other's tests.
            place = f"--basetemp={self.made}"
            code = pytest.main([*OPTIONS, place, *tests], plugins=[Plain(self.durations)])
        except BaseException:  # noqa: BLE001
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)

    def ended(self, most_s: float) -> Ended | None:
        """How the process ended, None while it runs; ended by force after `most_s` seconds."""
        pid, status, usage = os.wait4(self.pid, os.WNOHANG)
        elapsed = time.monotonic() - self.began
        if not pid:
            if elapsed > most_s:
                self.stop()
            return None
        self.stop()  # what the tests may have left running
        shutil.rmtree(self.made, ignore_errors=True)
        self.pid = 0
        processor = usage.ru_utime + usage.ru_stime
        return Ended(os.waitstatus_to_exitcode(status), processor, elapsed)

    def stop(self) -> None:
        """End the process and those that it started."""
        if self.pid:
            with suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)


def tested(
    module: str, source: str, mutants: list[Mutant], workers: list[Worker]
) -> Iterator[tuple[Mutant, Ended]]:
    """Mutants of a module as their tests end, and how they did."""
    tests = MODULES[module]
    workers[0].durations.unlink(missing_ok=True)
    workers[0].start(module, source, tests, 3600)
    while (plain := workers[0].ended(3600)) is None:
        time.sleep(0.05)
    if plain.code:
        log = (workers[0].folder / "log").read_text("utf-8", "replace")
        sys.exit(f"{log}\nthe tests of {module} fail without any change")
    processor_s, most_s = PATIENCE * plain.processor_s + 10, PATIENCE * plain.elapsed_s + 60
    waiting, running, free = mutants[::-1], [], list(workers)
    while waiting or running:
        while waiting and free:
            worker, mutant = free.pop(), waiting.pop()
            worker.start(module, mutant.applied(source), tests, processor_s)
            running.append((worker, mutant))
        time.sleep(0.02)
        for worker, mutant in running[:]:
            if ended := worker.ended(most_s):
                running.remove((worker, mutant))
                free.append(worker)
                yield mutant, ended
    for worker in workers:
        (worker.folder / module).write_text(source, "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--module", action="append", help="only modules with this in their path")
    parser.add_argument("--only", default="", help="only mutants whose line has this in it")
    parser.add_argument("--sample", type=int, help="so many mutants of each module, at random")
    parser.add_argument("--seed", type=int, default=1, help="which of them (1)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="mutants at a time")
    chosen = parser.parse_args()
    for name in SLOW_TO_LOAD:
        try:
            import_module(name)
        except ImportError:
            continue
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
        durations = Path(place, "durations.json")
        workers = [Worker(Path(place, str(number)), durations) for number in range(chosen.jobs)]
        for worker in workers:
            shutil.copytree(ROOT, worker.folder, ignore=shutil.ignore_patterns(".*"))
        modules = [each for each in MODULES if any(p in each for p in chosen.module or [""])]
        try:
            new = [of_module(module, chosen, workers) for module in modules]
        finally:
            for worker in workers:
                worker.stop()
    stale = accepted().keys() - {each.text for path in MODULES for each in mutants_at(path)}
    for text in sorted(stale):
        print(f"  of no module any more: {text}")
    sys.exit(any(new) or bool(stale))


def mutants_at(module: str) -> list[Mutant]:
    """Every mutant of a module of the repository."""
    return mutants_of((ROOT / module).read_text("utf-8"))


def of_module(module: str, chosen: argparse.Namespace, workers: list[Worker]) -> int:
    """Test the mutants of one module and print those that survive; how many are not accepted."""
    source = (workers[0].folder / module).read_text("utf-8")
    every, reasons = mutants_of(source), accepted()
    some = [mutant for mutant in every if chosen.only in mutant.text]
    if chosen.sample is not None:
        some = random.Random(chosen.seed).sample(some, min(chosen.sample, len(some)))
    print(f"{module}: {len(some)} of {len(every)} mutants", flush=True)
    began, alive, new = time.monotonic(), 0, 0
    for mutant, ended in tested(module, source, some, workers):
        if not ended.code:
            alive += 1
            new += mutant.text not in reasons
            said = "accepted" if mutant.text in reasons else "SURVIVES"
            print(f"  {said} {module}:{mutant.line} {mutant.text}", flush=True)
    minutes = (time.monotonic() - began) / 60
    print(f"  {len(some) - alive} noticed, {alive - new} accepted, {new} not; {minutes:.1f} min")
    return new


if __name__ == "__main__":
    main()
