"""simdup.compute.worker_pool: results in the order of the tasks, few of them under way."""

from __future__ import annotations

import os
import sys
import threading
from concurrent.futures.process import BrokenProcessPool
from importlib import import_module
from pathlib import Path
from time import monotonic, sleep
from types import ModuleType

import pytest
from patience import LONG

from simdup.compute import worker_pool
from simdup.compute.worker_pool import AHEAD, _Crew, check_that_workers_start, results
from simdup.errors import ExtraMissingError
from simdup.progress import silent

pytestmark = pytest.mark.slow


def doubled(number, wait=0.0):
    sleep(wait)
    return 2 * number


def failing(number):
    if number == 3:
        raise ValueError(f"not {number}")
    return number


def dying(number):
    if number == 3:
        os._exit(1)
    return number


def process(wait):
    sleep(wait)
    return os.getpid()


@pytest.mark.parametrize(("jobs", "forks"), [(1, False), (2, False), (2, sys.platform == "linux")])
def test_results_come_in_the_order_of_the_tasks(jobs, forks, monkeypatch):
    monkeypatch.setattr(worker_pool, "_FORKS", forks)
    tasks = ((number, 0.05 * (number % 3 == 0)) for number in range(20))

    assert list(results(doubled, tasks, jobs)) == [2 * number for number in range(20)]


def test_no_tasks_are_no_results():
    assert list(results(doubled, [], 2)) == []


def test_only_a_few_tasks_are_taken_ahead():
    taken = []

    def tasks():
        for number in range(100):
            taken.append(number)
            yield (number,)

    with_results = results(doubled, tasks(), 2)
    for done in range(10):
        assert next(with_results) == 2 * done
        assert len(taken) <= done + 2 + 2 * AHEAD
    with_results.close()
    assert len(taken) < 30


def test_a_process_that_takes_part_does_tasks_until_others_are_ready_and_beside_them():
    done = []

    def tasks():
        while len({*done}) < 2:
            yield (0.01,)

    for each in results(process, tasks(), 2, takes_part=True):
        done.append(each)  # noqa: PERF402  (`tasks` looks at it meanwhile)

    assert done[0] == os.getpid()
    assert len({*done}) == 2


def test_an_error_reaches_the_caller():
    made = results(failing, ((number,) for number in range(9)), 2)

    assert [next(made) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(ValueError, match="not 3"):
        next(made)


def test_an_error_says_where_in_the_worker_it_arose():
    with pytest.raises(ValueError, match="not 3") as caught:
        list(results(failing, [(3,)], 1))

    assert "in failing" in str(caught.value.__cause__)


def test_a_failed_import_in_a_worker_is_an_error(monkeypatch):
    nowhere = ModuleType("nowhere")
    exec("def function(): pass", nowhere.__dict__)
    monkeypatch.setitem(sys.modules, "nowhere", nowhere)

    with pytest.raises(ModuleNotFoundError, match="No module named 'nowhere'"):
        list(results(nowhere.function, [(), ()], 2))


def test_no_thread_is_needed(monkeypatch):
    def failing_start(_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", failing_start)

    assert list(results(doubled, ((number,) for number in range(9)), 2)) == [*range(0, 18, 2)]


def upper(data):
    return data.upper()


@pytest.mark.parametrize("size", [1 << 10, 1 << 18])
def test_tasks_and_results_of_any_size_pass(size):
    tasks = [(bytes(size) * 2,) for _ in range(9)]

    assert [len(each) for each in results(upper, tasks, 2)] == 9 * [2 * size]


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nothing forks")
def test_a_worker_that_cannot_be_forked_is_an_error(tmp_path, monkeypatch):
    (tmp_path / "noforks.py").write_text(
        "import os\ndef fork(): raise BlockingIOError(11, 'no process')\nos.fork = fork\n"
        "def function(): pass\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(os, "fork", os.fork)

    with pytest.raises((BlockingIOError, BrokenProcessPool)):
        list(results(import_module("noforks").function, [()] * 9, 2))


def test_a_worker_that_dies_is_an_error():
    with pytest.raises(BrokenProcessPool):
        list(results(dying, ((number,) for number in range(9)), 2))


def test_workers_end_when_the_generator_is_closed():
    made = results(process, [(0,)] * 50, 1)
    worker = next(made)
    made.close()

    with pytest.raises(ProcessLookupError):
        os.kill(worker, 0)


def busy(path):
    Path(path).write_text(str(os.getpid()))
    return sum(range(10**12))  # no other thread of the worker has a turn meanwhile


def has_ended(process):
    try:
        return " (zombie)" in Path(f"/proc/{process}/status").read_text()
    except FileNotFoundError:
        return True


def until(condition):
    end = monotonic() + LONG
    while not condition():
        assert monotonic() < end
        sleep(0.01)


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_all_workers_end_however_busy_they_are(tmp_path):
    told = [tmp_path / str(number) for number in range(3)]
    crew = _Crew(busy, 3, 0, silent)
    for path in told:
        crew.send(0, (path,))
    until(lambda: all(path.exists() and path.read_text() for path in told))

    crew.end()

    until(lambda: all(has_ended(path.read_text()) for path in told))


def test_workers_start():
    check_that_workers_start()


class Unreceivable:
    """A task that no worker can receive: unpickling it fails, as without memory."""

    def __init__(self, size):
        self.content = bytes(size)

    def __setstate__(self, state):
        raise MemoryError("no room")


def size_of(task):
    return len(task)


@pytest.mark.parametrize(
    "tasks",
    [[(Unreceivable(5_000_000),)] * 6, [(Unreceivable(10),), *[(bytes(5_000_000),)] * 6]],
    ids=["large", "small, and large ones behind it"],
)
def test_a_task_that_cannot_be_received_is_an_error_and_no_hang(tasks):
    failed = []

    def run():
        try:
            list(results(size_of, tasks, 2))
        except MemoryError as error:
            failed.append(str(error))

    running = threading.Thread(target=run, daemon=True)
    running.start()
    running.join(LONG)

    assert failed == ["no room"]


class NeedsTwoError(Exception):
    def __init__(self, one, two):  # noqa: ARG002
        super().__init__(one)


def raising(kind):
    if kind == "two":
        raise NeedsTwoError("it is", "gone")
    if kind == "extra":
        raise ExtraMissingError("PDF", "docs")
    error = ValueError("it is gone")
    error.why = lambda: None
    raise error


@pytest.mark.parametrize(
    ("kind", "expected", "message"),
    [
        ("two", RuntimeError, "^NeedsTwoError: it is$"),
        ("lambda", RuntimeError, "^ValueError: it is gone$"),
        ("extra", ExtraMissingError, "^PDF needs an optional package"),
    ],
)
def test_an_error_that_cannot_be_sent_as_it_is_keeps_its_name(kind, expected, message):
    with pytest.raises(expected, match=message):
        list(results(raising, [(kind,)], 1))
