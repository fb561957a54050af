"""What corpora of rows cost on Spark: time, shuffled bytes and memory, beside the local engine.

    python tests/bench/spark.py [--rows 100000,1000000] [--bits 128] [-k 3] [--master 'local[2]']

Makes files of JSON Lines in a temporary folder unless --folder is given, as corpus_rows.py does.
Each run is a process of its own; that both find the same groups is checked. Seconds and
shuffled bytes are by what is checkpointed, from Spark's log of events; "rest" is all that runs in
between: counts, samples, the last joins. Memory is the most that the JVM and that all Python
workers together have had resident, looked at five times a second; core seconds are the processor
time of all of them.
"""

from __future__ import annotations

import json
import os
import threading
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

from corpus import Corpus, make_rows
from corpus_rows import by_simdup
from report import fresh, numbers, options, place, reported

import simdup

if TYPE_CHECKING:
    from collections.abc import Iterator

    from report import Report

# What Spark's jobs are called that `simdup.spark` checkpoints, and the columns of them.
STAGES = {
    "fingerprints": "prints",
    "texts, numbered": "texts",
    "texts": "texts",
    "near pairs": "compare",
    "lists": "lists",
    "near sketches": "sketches",
    "components": "parts",
    "parts": "parts",
    "frequencies": "own",
    "groups": "groups",
    "report": "report",
}
PHASES = tuple(dict.fromkeys(STAGES.values()))

COLUMNS = {
    "rows": ",",
    "MB": ",.0f",
    "seconds": ",.1f",
    "rows/s": ",.0f",
    "core s": ",.0f",
    "JVM s": ",.0f",
    "JVM MB": ",.0f",
    "Python MB": ",.0f",
    "task MB": ",.0f",
    "shuffled MB": ",.0f",
    "groups": ",",
    "same": "",
}
NAME_WIDTH = 24

# Larger groups are not compared with the ones of the local engine.
MOST_PAIRED = 1000

# Between two looks at the memory of workers.
INTERVAL_S = 0.2


@dataclass(frozen=True, slots=True)
class Run:
    """What a run on Spark took and found."""

    seconds: float
    core_seconds: float
    """Of all processes, and of them the JVM."""
    jvm_seconds: float
    jvm: float
    """MB at most."""
    workers: float
    """MB of all together at most."""
    task: float
    """MB of one of them at most, which runs one task at a time."""
    phases: dict[str, tuple[float, float]]
    """Seconds and shuffled MB."""
    groups: int
    pairs: set[tuple[int, int]]


@dataclass(slots=True)
class Watch:
    """The most memory of the processes below this one, and their time, while it is watched."""

    jvm: float = 0.0
    workers: float = 0.0
    task: float = 0.0
    stopped: threading.Event = field(default_factory=threading.Event)
    _spent: dict[int, float] = field(default_factory=dict)
    jvm_seconds: float = 0.0

    @property
    def core_seconds(self) -> float:
        """The processor time of all processes so far, also of those that have ended."""
        return sum(self._spent.values())

    def look(self) -> None:
        while not self.stopped.wait(INTERVAL_S):
            jvm = workers = 0.0
            for pid in below(os.getpid()):
                seen = seen_of(pid)
                self._spent[pid] = max(self._spent.get(pid, 0.0), seen.seconds)
                if seen.name == "java":
                    jvm += seen.size
                    self.jvm_seconds = seen.seconds
                elif seen.name.startswith("python"):
                    workers += seen.size
                    self.task = max(self.task, seen.size)
            self.jvm, self.workers = max(self.jvm, jvm), max(self.workers, workers)


class Seen(NamedTuple):
    """What a process is called, the MB that are its own (shared ones in part), and its time."""

    name: str
    size: float
    seconds: float


def below(pid: int) -> Iterator[int]:
    """The processes that a process has started, and those that these have."""
    try:
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                yield int(child)
                yield from below(int(child))
    except OSError:
        return  # it has ended


def seen_of(pid: int) -> Seen:
    """What a process has and took; nothing once it has ended."""
    try:
        name = Path(f"/proc/{pid}/comm").read_text().strip()
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        times = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    except OSError:
        return Seen("", 0.0, 0.0)
    (size,) = (int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return Seen(name, size * 1024 / 1e6, sum(map(int, times)) / os.sysconf("SC_CLK_TCK"))


def by_spark(bits: int, k: int | None, path: str, master: str, conf: dict[str, str]) -> Run:
    from simdup.spark import corpus, files  # noqa: PLC0415

    with TemporaryDirectory() as log:
        watch = Watch()
        threading.Thread(target=watch.look, daemon=True).start()
        logged = {"spark.eventLog.enabled": "true", "spark.eventLog.compress": "false"}
        on = corpus.start(master, {**conf, **logged, "spark.eventLog.dir": Path(log).as_uri()})
        began, before = perf_counter(), (watch.core_seconds, watch.jvm_seconds)
        opened = files.read(on, {path: path}, None, "text", None)
        found, _ = corpus.scan(opened, simdup.Settings(simdup.Recipe(bits=bits), k=k))
        groups = found.groups.select("id", "representative").toArrow().to_pydict()
        seconds, core_seconds = perf_counter() - began, watch.core_seconds - before[0]
        jvm_seconds = watch.jvm_seconds - before[1]
        watch.stopped.set()
        on.stop()
        phases = phases_of(log)
    members = defaultdict(list)
    for member, first in zip(groups["id"], groups["representative"], strict=True):
        members[first].append(member - 1)  # of one file the position, counted from 1
    small = (sorted(each) for each in members.values() if len(each) < MOST_PAIRED)
    pairs = {pair for each in small for pair in combinations(each, 2)}
    memory = watch.jvm, watch.workers, watch.task
    return Run(seconds, core_seconds, jvm_seconds, *memory, phases, len(members), pairs)


def phases_of(log: str) -> dict[str, tuple[float, float]]:
    """Seconds and shuffled MB by phase, from the events of a session."""
    jobs: dict[int, dict[str, Any]] = {}
    job_of: dict[int, int] = {}
    shuffled: dict[int, float] = defaultdict(float)
    for path in sorted(Path(log).rglob("*")):
        for line in path.read_text("utf-8").splitlines() if path.is_file() else ():
            event = json.loads(line) if line.startswith("{") else {"Event": ""}
            if event["Event"] == "SparkListenerJobStart":
                called = (event.get("Properties") or {}).get("spark.job.description", "")
                phase = STAGES.get(called.removeprefix("simdup: "), "rest")
                jobs[event["Job ID"]] = {"phase": phase, "begin": event["Submission Time"]}
                job_of.update(dict.fromkeys(event["Stage IDs"], event["Job ID"]))
            elif event["Event"] == "SparkListenerJobEnd":
                jobs[event["Job ID"]]["end"] = event["Completion Time"]
            elif event["Event"] == "SparkListenerStageCompleted":
                info = event["Stage Info"]
                for each in info["Accumulables"]:
                    if each["Name"] == "internal.metrics.shuffle.write.bytesWritten":
                        shuffled[job_of[info["Stage ID"]]] += int(each["Value"]) / 1e6
    found: dict[str, tuple[float, float]] = {}
    for phase in (*PHASES, "rest"):
        own = [number for number, job in jobs.items() if job["phase"] == phase]
        spans = sorted((jobs[number]["begin"], jobs[number]["end"]) for number in own)
        found[phase] = covered(spans) / 1000, sum(shuffled[number] for number in own)
    return found


def covered(spans: list[tuple[float, float]]) -> float:
    """How long at least one of some spans lasts."""
    total, end = 0.0, 0.0
    for begin, until in spans:
        total += max(0.0, until - max(begin, end))
        end = max(end, until)
    return total


def make_skewed(rows: int, size: int, path: Path) -> None:
    """JSON Lines of which half end in the same sentences, and a tenth are versions of one text."""
    corpus, lines = Corpus(6), []
    footer, original = corpus.english(size // 3), corpus.english(size)
    for number in range(rows):
        if number % 10 == 0:
            text = corpus.replaced(original, 0.02)
        else:
            text = corpus.english(size - number % 2 * len(footer)) + number % 2 * f" {footer}"
        lines.append(json.dumps({"text": text}))
    path.write_text("\n".join(lines), "utf-8")


def show(report: Report, folder: Path, given: dict[str, Any]) -> None:
    runs: dict[str, Run] = {}
    conf = {"spark.driver.memory": given["memory"]}
    conf |= dict(each.split("=", 1) for each in given["conf"])
    bits, k = given["bits"], given["k"]
    how = "similarity" if k is None else f"k = {k}"
    report.table(f"corpora of rows, {bits} bits, {how}", COLUMNS, NAME_WIDTH)
    for rows in given["rows"]:
        path = folder / f"{rows}-{given['size']}{'-skewed' * given['skewed']}.jsonl"
        if not path.exists():
            fresh(make_skewed if given["skewed"] else make_rows, rows, given["size"], path)
        size = path.stat().st_size / 1e6
        pairs = None
        if not given["skewed"]:
            local = fresh(by_simdup, bits, str(path), k)
            about = rows, size, local.seconds, rows / local.seconds, local.cpu, None, None
            report.row("local", *about, max(local.peak, local.worker), None, None, None, None)
            pairs = local.pairs
        run = runs[f"{rows:,}"] = fresh(by_spark, bits, k, str(path), given["master"], conf)
        report.row(
            f"Spark, {given['master']}",
            *(rows, size, run.seconds, rows / run.seconds, run.core_seconds, run.jvm_seconds),
            *(run.jvm, run.workers, run.task),
            sum(megabytes for _, megabytes in run.phases.values()),
            run.groups,
            None if pairs is None else "yes" if run.pairs == pairs else "NO",
        )
    for position, (what, form) in enumerate((("seconds", ",.1f"), ("shuffled MB", ",.0f"))):
        columns = dict.fromkeys((*PHASES, "rest"), form)
        report.table(f"{what} of Spark", columns, NAME_WIDTH)
        for name, run in runs.items():
            report.row(name, *(run.phases[phase][position] for phase in columns))


def main() -> None:
    parser = options(__doc__, keeps=True)
    parser.add_argument("--rows", type=numbers, default=[100_000, 1_000_000], help="by commas")
    parser.add_argument("--bits", type=int, default=128)
    parser.add_argument("-k", type=int, help="go by distance alone")
    parser.add_argument("--size", type=int, default=1000, help="bytes of a text")
    parser.add_argument("--skewed", action="store_true", help="see make_skewed")
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--memory", default="4g", help="of the driver, which does all if local")
    parser.add_argument("--conf", action="append", default=[], metavar="NAME=VALUE")
    given = parser.parse_args()
    with place(given.folder) as folder, reported(given, ["pyspark", "pyarrow"]) as report:
        show(report, Path(folder), vars(given))


if __name__ == "__main__":
    main()
