"""How tests are collected: a test file that cannot be imported is an error, never passed over."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from patience import patient

TESTS = Path(__file__).parent


@pytest.mark.slow
def test_a_test_file_that_cannot_be_imported_is_an_error(tmp_path):
    folder = tmp_path / "tests"
    shutil.copytree(TESTS / "texts", folder / "texts")
    for name in ("conftest.py", "patience.py"):
        (folder / name).write_text((TESTS / name).read_text("utf-8"), "utf-8")
    (folder / "test_broken.py").write_text("from simdup import nothing_of_this_name\n", "utf-8")
    options = ["-n", "0", "-q", "-p", "no:cacheprovider", "--doctest-modules"]
    options += ["--doctest-ignore-import-errors", "--import-mode=importlib", "-c", "/dev/null"]

    ended = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "--rootdir", tmp_path, folder],
        capture_output=True,
        text=True,
        timeout=patient(60),
        check=False,
        env={"PYTHONPATH": str(folder), "PATH": ""},
    )

    assert "nothing_of_this_name" in ended.stdout
    assert ended.returncode == 2
