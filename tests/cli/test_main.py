"""simdup.cli: an error is one line and exit code 2, a fault of simdup itself exit code 70."""

from __future__ import annotations

import os
from errno import EAGAIN, EFBIG, EMFILE

import pytest

import simdup


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
        (SystemError("f returned NULL without setting an exception"), "out of memory"),
        (import_error(), "cannot be loaded: numpy.so: failed to map segment"),
        (
            RuntimeError("can't start new thread"),
            "cannot start a process or thread: too many run, or memory is out",
        ),
        (
            BlockingIOError(EAGAIN, os.strerror(EAGAIN)),
            "cannot start a process or thread: too many run, or memory is out",
        ),
        (OSError(EMFILE, os.strerror(EMFILE)), "Too many open files"),
        (
            OSError(EFBIG, "File too large"),
            "File too large, perhaps for temporary files: TMPDIR names another folder",
        ),
    ],
    ids=lambda each: type(each).__name__,
)
def test_what_the_machine_lacks_is_one_line(run, monkeypatch, error, line):
    monkeypatch.setattr(simdup, "scan", failing(error))

    ended = run("scan", ".")

    assert (ended.code, ended.out, ended.err) == (2, b"", f"simdup: {line}\n".encode())


@pytest.mark.parametrize(
    ("error", "shown"),
    [
        (RuntimeError("no such state"), "RuntimeError: no such state"),
        (ValueError("not enough values\nto unpack"), "ValueError: not enough values to unpack"),
        (OSError("not said by the system"), "OSError: not said by the system"),
        (ImportError("cannot import", name="simdup.files"), "ImportError: cannot import"),
        (AssertionError(), "AssertionError"),
    ],
    ids=lambda each: type(each).__name__,
)
def test_a_fault_of_simdup_is_one_line_that_asks_for_a_report(run, monkeypatch, error, shown):
    monkeypatch.delenv("SIMDUP_DEBUG", raising=False)
    monkeypatch.setattr(simdup, "scan", failing(error))

    ended = run("scan", ".")

    ask = "please report this with the output of `simdup --debug ...`"
    line = f"simdup: a fault of simdup: {shown}; {ask}\n"
    assert (ended.code, ended.out, ended.err) == (70, b"", line.encode())


@pytest.mark.parametrize(("option", "variable"), [(["--debug"], ""), ([], "1")])
def test_debug_shows_where_a_fault_came_up(run, monkeypatch, option, variable):
    monkeypatch.setenv("SIMDUP_DEBUG", variable)
    monkeypatch.setattr(simdup, "scan", failing(RuntimeError("no such state")))

    ended = run(*option, "scan", ".")

    first, *_, raised, last = ended.err.decode().splitlines()
    assert (ended.code, first) == (70, "Traceback (most recent call last):")
    assert raised == "RuntimeError: no such state"
    assert last == "simdup: a fault of simdup: RuntimeError: no such state"


def test_debug_shows_where_an_error_in_one_line_came_up(run):
    ended = run("--debug", "scan", "missing")

    *_, raised, last = ended.err.decode().splitlines()
    assert ended.code == 2
    assert raised == f"simdup.errors.InputError: {last.removeprefix('simdup: ')}"


def test_files_are_not_to_blame_when_descriptors_are_out(run, write, english, monkeypatch):
    real, paths = os.open, [write("in/a", english), write("in/b", english)]

    def opening(path, *arguments, **options):
        if path in paths:
            raise OSError(EMFILE, os.strerror(EMFILE))
        return real(path, *arguments, **options)

    monkeypatch.setattr(os, "open", opening)

    ended = run("scan", "in", "--no-cache", "--jobs", "1")

    assert (ended.code, ended.err) == (2, b"simdup: Too many open files\n")
