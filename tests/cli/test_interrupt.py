"""Ctrl-C at any moment, from the first import to the last thing that Python does."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from patience import LONG

LINE = b"simdup: interrupted\n"
# What the line says too if the store knows the files by then, which wants files of some seconds.
REMEMBERED = re.compile(rb"; 2 more files remembered, the next scan goes on from there")
TAB = {"_SIMDUP_COMPLETE": "bash_complete", "COMP_WORDS": "simdup scan --f", "COMP_CWORD": "2"}

# The program, with Ctrl-C at the moment of this number; 0: it prints how many moments there are.
START = """
import builtins, os, signal, sys
from simdup.__main__ import main
moment, count = int(sys.argv.pop(1)), 0
def is_now():
    global count
    count += 1
    return 0 < count == moment
"""
# The signal comes during an import, also one by a compiled module, whose own words for an exception
# nobody can take back.
IMPORT = """
real = builtins.__import__
def importing(*arguments, **options):
    if is_now():
        signal.raise_signal(signal.SIGINT)
    return real(*arguments, **options)
builtins.__import__ = importing
"""
# The signal comes at the call of a function; the first call is that of `main`.
CALL = """
def calling(*_):
    if is_now():
        signal.raise_signal(signal.SIGINT)
sys.settrace(calling)
count -= 1
"""
RUN = """
try:
    main()
finally:
    sys.settrace(None)
    if moment == 0:
        print(count)
"""


def moments(count):
    """Numbers from 1 to `count`: all of the first, and then every so many."""
    number = 1
    while number <= count:
        yield number
        number += 1 + number // 2


@pytest.fixture
def ended(write, english):
    """`ended(code, moment, *arguments)`: the exit code, output and messages of a run."""
    write("in/a", english)
    write("in/b", english)

    def running(code, moment, *arguments, environment=None, **options):
        done = subprocess.run(
            [sys.executable, "-c", START + code + RUN, str(moment), *arguments],
            env=os.environ | (environment or {}),
            **{"capture_output": True} | options,
            check=False,
            timeout=LONG,
        )
        return done.returncode, done.stdout, done.stderr

    return running


@pytest.mark.slow
@pytest.mark.parametrize("code", [IMPORT, CALL], ids=["import", "call"])
@pytest.mark.parametrize(
    ("arguments", "environment", "said"),
    [(("scan", "in"), {}, LINE), ((), TAB, b"")],
    ids=["scan", "Tab"],
)
def test_an_interrupt_at_any_moment_has_its_answer(ended, code, arguments, environment, said):
    run = partial(ended, code, environment=environment)
    exit_code, out, _ = run(0, *arguments)
    count = int(out.split()[-1])
    assert (exit_code, count > 300) == (0, True)

    answers = {}
    for moment in moments(count):
        exit_code, out, err = run(moment, *arguments)
        answers[moment] = exit_code, out, REMEMBERED.sub(b"", err)

    assert answers == dict.fromkeys(answers, (130, b"", said))


def test_an_interrupt_while_python_ends_is_one_line(ended):
    code = "import atexit\natexit.register(lambda: signal.raise_signal(signal.SIGINT))\n"

    exit_code, out, said = ended(code, 1, "scan", "in", "-q", "--format", "fdupes")

    assert (exit_code, out, said) == (130, b"in/a\nin/b\n\n", LINE)


def test_an_interrupt_without_stderr_has_its_exit_code(ended):
    close = partial(os.close, 2)

    for moment in range(1, 6):
        exit_code, out, _ = ended(IMPORT, moment, "--version", preexec_fn=close)

        assert (exit_code, out) == (130, b"")


def test_an_interrupt_that_is_ignored_stays_ignored(ended):
    ignore = partial(signal.signal, signal.SIGINT, signal.SIG_IGN)

    for moment in (100, 1000, 10_000):
        exit_code, out, said = ended(CALL, moment, "--version", preexec_fn=ignore)

        assert (exit_code, out.split()[0], said) == (0, b"simdup,", b"")


def test_the_program_begins_in_a_module_that_imports_nothing():
    code = (
        "import sys; old = {*sys.modules}; import simdup.__main__; print(*({*sys.modules} - old))"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)

    assert set(done.stdout.split()) == {b"simdup", b"simdup.__main__"}
    project = Path(__file__).parents[2] / "pyproject.toml"
    assert '[project.scripts]\nsimdup = "simdup.__main__:main"\n' in project.read_text("utf-8")
