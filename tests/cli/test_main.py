"""simdup.cli: whatever is wrong is one line and exit code 2, and a fault of our own is shown."""

from __future__ import annotations

import os
import subprocess
import sys
from errno import EMFILE

import pytest

import simdup.cli.scan
from simdup.cli import main


def failing(error):
    def scan(*_arguments, **_options):
        raise error

    return scan


def import_error():
    error = ImportError("a page\n\nof advice")
    error.__cause__ = ImportError("numpy.so: failed to map segment")
    return error


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (MemoryError(), "out of memory"),
        (import_error(), "cannot be loaded: numpy.so: failed to map segment"),
        (
            RuntimeError("can't start new thread"),
            "cannot start a thread: too many processes run, or memory is out",
        ),
        (OSError(EMFILE, os.strerror(EMFILE)), "Too many open files"),
    ],
    ids=lambda each: type(each).__name__,
)
def test_what_the_machine_lacks_is_one_line(run, monkeypatch, error, line):
    monkeypatch.setattr(simdup.cli.scan, "scan", failing(error))

    ended = run("scan", ".")

    assert (ended.code, ended.out, ended.err) == (2, b"", f"simdup: {line}\n".encode())


def test_a_fault_of_our_own_is_shown_with_its_place(folder, monkeypatch):
    monkeypatch.setattr(simdup.cli.scan, "scan", failing(RuntimeError("no such state")))

    with pytest.raises(RuntimeError, match="no such state"):
        main(["scan", str(folder)])


def test_files_are_not_to_blame_when_descriptors_are_out(run, write, english, monkeypatch):
    real, paths = os.open, [write("in/a", english), write("in/b", english)]

    def opening(path, *arguments, **options):
        if path in paths:
            raise OSError(EMFILE, os.strerror(EMFILE))
        return real(path, *arguments, **options)

    monkeypatch.setattr(os, "open", opening)

    ended = run("scan", "in", "--no-cache", "--jobs", "1")

    assert (ended.code, ended.err) == (2, b"simdup: Too many open files\n")


def test_the_program_begins_without_numpy():
    code = "import sys, simdup.cli, simdup.__main__; print('numpy' in sys.modules)"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)

    assert done.stdout == b"False\n"
