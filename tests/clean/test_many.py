"""Many actions need no more memory and no more open files than a few."""

from __future__ import annotations

import os
import sys
import tracemalloc
from pathlib import Path

import pytest

from simdup.clean.apply import apply
from simdup.clean.plan import Consents

sys.path.insert(0, str(Path(__file__).parents[1] / "bench"))
from cleaning import made

pytestmark = pytest.mark.slow


def test_memory_and_descriptors_do_not_grow_with_the_actions(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    root = Path(os.path.realpath(tmp_path), "tree")
    root.mkdir()
    plan, after = made(root, 1500), {}

    def watched(actions, *_):
        for number, each in enumerate(actions):
            if number % 500 == 499:
                memory, _ = tracemalloc.get_traced_memory()
                after[number + 1] = memory, len(os.listdir("/proc/self/fd"))
            yield each

    tracemalloc.start()
    try:
        outcome = apply(plan, Consents(), journal=tmp_path / "journal", progress=watched)
    finally:
        tracemalloc.stop()

    assert (outcome.done, outcome.refused) == (1500, [])
    assert after[1500][0] - after[500][0] < 1000 * 400  # bytes for each action, of which names
    assert after[1500][1] <= after[500][1] + 2
