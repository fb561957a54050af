"""Tests wait as long as the environment says, and nothing is fast or slow by the wall clock."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
TESTS = sorted([*HERE.glob("*.py"), *HERE.glob("*/test_*.py")])
# A wait that ends after a number of seconds (0 is no wait), and a deadline of the wall clock.
FIXED = re.compile(
    r"\b(?:timeout|seconds)=[\d.]*[1-9]|\.wait\(\d|_timeout\(\d|monotonic\(\) \+ \d"
    r"|(?:monotonic|perf_counter)\(\) - \w+ < \d"
)


@pytest.mark.parametrize("path", TESTS, ids=lambda path: path.name)
def test_no_test_waits_for_a_fixed_time(path):
    if path.name != Path(__file__).name:
        assert FIXED.findall(path.read_text("utf-8")) == []


@pytest.mark.parametrize(("factor", "seconds"), [("1", "300.0"), ("2.5", "750.0")])
def test_the_environment_says_how_patient_tests_are(monkeypatch, factor, seconds):
    monkeypatch.setenv("SIMDUP_PATIENCE", factor)

    told = subprocess.run(
        [sys.executable, "-c", "import patience; print(patience.LONG)"],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=True,
    )

    assert told.stdout.strip() == seconds
