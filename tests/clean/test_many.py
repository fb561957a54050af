"""Many actions need no more memory and no more open files than a few."""

from __future__ import annotations

import os
import tracemalloc
from pathlib import Path

import pytest
from plans import plan, seen, write

from simdup.clean.apply import apply
from simdup.clean.plan import Consents

pytestmark = pytest.mark.slow


def test_memory_and_descriptors_do_not_grow_with_the_actions(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    root = Path(os.path.realpath(tmp_path), "tree")
    root.mkdir()
    monkeypatch.chdir(root)
    for number in range(900):
        write(**{f"keep{number // 10}": (text := f"{number // 10} " * 900), f"copy{number}": text})
    kept, after = [seen(f"keep{number}") for number in range(90)], {}
    made = plan(*((kept[number // 10], f"copy{number}") for number in range(900)))

    def watched(actions, *_):
        for number, each in enumerate(actions):
            if number % 300 == 299:
                memory, _ = tracemalloc.get_traced_memory()
                after[number + 1] = memory, len(os.listdir("/proc/self/fd"))
            yield each

    tracemalloc.start()
    try:
        outcome = apply(made, Consents(), journal=tmp_path / "journal", progress=watched)
    finally:
        tracemalloc.stop()

    assert (outcome.done, outcome.refused) == (900, [])
    assert after[900][0] - after[300][0] < 600 * 400  # bytes for each action, of which names
    assert after[900][1] <= after[300][1] + 2
