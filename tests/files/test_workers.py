"""simdup.files.workers: the same answer for any number of processes, and what a dead one costs."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import deque
from concurrent.futures.process import BrokenProcessPool

import numpy as np
import pytest

from simdup.compute.compiled import BYTES_WORTH_WORKERS
from simdup.files import workers as local
from simdup.files.fingerprint import FingerprintOptions
from simdup.files.walk import walk
from simdup.files.workers import fingerprint_all, tasks
from simdup.records import Reason, Skipped, Source
from simdup.settings import USUAL, Limits, Settings

pytestmark = pytest.mark.slow

OPTIONS = FingerprintOptions(Settings(formats=()))


def sized(*sizes):
    return [Source(str(index), size, 0, 0, 0, index) for index, size in enumerate(sizes)]


def packed(sources, limits):
    return [[source.size for source in task] for task in tasks(sources, limits)]


def dies_at_bad_files(sources, *how):
    """What a worker does with a task, but a file whose name begins with "bad" ends the process."""
    if any(os.path.basename(source.path).startswith("bad") for source in sources):
        os._exit(1)
    return local._sent(sources, *how)  # noqa: SLF001


def never(*_):
    raise AssertionError


@pytest.fixture
def sources(write, english, simplified):
    """Seven files, one of them binary."""
    for number in range(3):
        write(f"in/e{number}", english.replace("two", str(number)))
        write(f"in/c{number}", simplified.replace("四十", str(number)).encode("gbk"))
    write("in/d", bytes(9))
    return list(walk(["in"]))


# Tasks


def test_tasks_worked_by_hand():
    sources = sized(4, 6, 1, 50, 1, 1, 1, 1, 9)

    found = packed(sources, Limits(task_bytes=10, task_files=3))

    assert found == [[4, 6], [1], [50], [1, 1, 1], [1, 9]]


def test_every_source_is_in_one_task_in_order():
    sources = sized(*([1] * 1200), 1 << 23, *([1 << 21] * 3), 0)

    found = list(tasks(sources))

    assert [source for task in found for source in task] == sources
    assert all(found)
    assert max(map(len, found)) == USUAL.task_files


# Results


def test_any_number_of_processes_gives_the_same(sources):
    waiting, options = list(tasks(sources, Limits(task_files=2))), OPTIONS
    alone = list(fingerprint_all(deque(waiting), options, 1))

    together = list(fingerprint_all(deque(waiting), options, 2))

    assert len(alone) == len(together) == 4
    for (task, a), (same, b) in zip(alone, together, strict=True):
        assert task == same
        assert (a.documents, a.skipped) == (b.documents, b.skipped)
        assert (a.rows == b.rows).all()
    assert sum(len(each.documents) for _, each in together) == 6


def test_a_document_of_a_worker_has_the_very_source_of_its_task(sources):
    waiting = deque(tasks(sources, Limits(task_files=3)))

    for task, made in fingerprint_all(waiting, OPTIONS, 2):
        read = [each for each in made.found if not isinstance(each, Skipped)]
        assert {id(each.source) for each in read} <= {id(source) for source in task}
        assert [each.path for each in made.found] == [source.path for source in task]


def test_a_worker_may_find_no_document_at_all(write):
    write("in/a", bytes(9))
    write("in/b", bytes(8))

    ((_, made),) = fingerprint_all(deque(tasks(walk(["in"]))), OPTIONS, 2)

    assert [each.reason for each in made.found] == [Reason.BINARY] * 2
    assert (made.documents, len(made.rows)) == ((), 0)


def test_small_scans_start_no_worker(sources, monkeypatch):
    monkeypatch.setattr("simdup.compute.worker_pool._Worker", never)

    ((_, made),) = fingerprint_all(deque(tasks(sources)), OPTIONS)

    assert len(made.documents) == 6


def test_large_scans_start_as_many_workers_as_there_are_cores(monkeypatch):
    asked = []
    monkeypatch.setattr("simdup.compute.compiled.cores", lambda: 7)
    monkeypatch.setattr(local, "_pooled", lambda *arguments: asked.append(arguments[2]) or ())

    list(fingerprint_all(deque([sized(BYTES_WORTH_WORKERS, 1)]), OPTIONS))
    list(fingerprint_all(deque([sized(1, 2, 3)]), OPTIONS, 3))

    assert asked == [7, 3]


# Workers that die


def test_files_of_a_worker_that_dies_are_unreadable_and_the_rest_is_done(
    write, english, monkeypatch
):
    for name in ("a", "bad", "c", "d"):
        write(f"in/{name}", english)
    monkeypatch.setattr(local, "_sent", dies_at_bad_files)
    waiting = deque(tasks(walk(["in"]), Limits(task_files=1)))

    made = list(fingerprint_all(waiting, OPTIONS, 2))

    assert [document.path for _, each in made for document in each.documents] == [
        "in/a",
        "in/c",
        "in/d",
    ]
    (skipped,) = [each for _, part in made for each in part.skipped]
    assert (skipped.path, skipped.reason) == ("in/bad", Reason.UNREADABLE)
    assert skipped.detail == "the process reading it died"
    assert np.concatenate([each.rows for _, each in made]).shape == (3, 32)


def test_two_workers_that_die_cost_two_tasks(write, english, monkeypatch):
    for name in ("bad1", "bad2", "c"):
        write(f"in/{name}", english)
    monkeypatch.setattr(local, "_sent", dies_at_bad_files)
    waiting = deque(tasks(walk(["in"]), Limits(task_files=1)))

    made = list(fingerprint_all(waiting, OPTIONS, 2))

    assert [[each.path for each in part.skipped] for _, part in made] == [
        ["in/bad1"],
        ["in/bad2"],
        [],
    ]


def test_an_error_that_is_the_users_reaches_the_parent(sources):
    klingon = FingerprintOptions(Settings(encoding="klingon", formats=()))

    with pytest.raises(ValueError, match=r"^unknown encoding 'klingon'$"):
        list(fingerprint_all(deque(tasks(sources)), klingon, 2))


def test_tasks_that_were_done_are_not_done_again(monkeypatch):
    done = []

    def results(waiting, *_):
        for task in list(waiting):
            if task == ["bad"]:
                raise BrokenProcessPool
            done.append(task)
            yield task

    monkeypatch.setattr(local, "_results", results)
    monkeypatch.setattr(local, "_salvaged", lambda task, *_: [(task, "given up")])

    found = list(local._pooled(deque([["a"], ["bad"], ["c"]]), OPTIONS, 2))  # noqa: SLF001

    assert found == [(["a"], ["a"]), (["bad"], "given up"), (["c"], ["c"])]
    assert done == [["a"], ["c"]]


def test_a_script_without_a_main_guard_is_told_so(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).write_text("the same few words", "utf-8")
    script = tmp_path / "script.py"
    script.write_text("import simdup\nsimdup.scan(['a', 'b'], jobs=2)\n", "utf-8")

    done = subprocess.run(
        [sys.executable, str(script)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.endswith(
        "SimdupError: worker processes cannot start; in a script put the call under"
        ' `if __name__ == "__main__":`, or use jobs=1\n'
    )
