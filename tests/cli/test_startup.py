"""How little of simdup is imported before a command needs it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from simdup.cli import SUMMARIES

HELP = {
    "simdup",
    "simdup.__main__",
    "simdup.cli",
    "simdup.cli.completion",
    "simdup.cli.output",
    "simdup.compute",
    "simdup.compute.memory",
    "simdup.errors",
    "simdup.fields",
    "simdup.interrupt",
    "simdup.progress",
    "simdup.report",
    "simdup.report.wording",
}
# What the options and the help of a command may import besides.
OPTIONS = HELP | {
    *(f"simdup.cli.{name}" for name in SUMMARIES),
    *("simdup.cli.command", "simdup.cli.options", "simdup.cli.relations", "simdup.cli.shown"),
    *("simdup.arguments", "simdup.recipe", "simdup.settings", "simdup.theory", "simdup.versions"),
    "simdup.report.page",
}
SLOW = (
    "numpy",
    "sqlite3",
    "multiprocessing",
    "logging",
    "concurrent",
    "chardet",
    "jieba",
    "asyncio",
    "hashlib",
)

# Every command, and one of each group.
GROUPS = {"cache": "info", "corpus": "scan", "ignore": "add", "index": "build"}
COMMANDS = tuple(f"{name} {GROUPS.get(name, '')}".rstrip() for name in SUMMARIES)

# What a scan of a few small files needs not; each takes as long to import as some of simdup.
UNUSED_BY_A_SMALL_SCAN = (
    *("asyncio", "chardet", "concurrent", "csv", "decimal", "difflib", "email"),
    *("importlib.metadata", "jieba", "logging", "multiprocessing", "numba", "numpy.ma"),
    *("numpy.random", "pathlib", "queue", "shutil", "socket", "subprocess", "tempfile"),
    *("urllib", "xml", "zipfile", "simdup.compute.worker_pool", "simdup.extract.convert"),
    *("simdup.cli.bars", "simdup.extract.sandbox", "simdup.index.index", "simdup.match.parts"),
)

# Dataclasses that a small scan may make; each takes about 1 ms, and a named tuple 0.2 ms.
MOST_DATACLASSES = 21


def imported(arguments, folder, **variables):
    """Return the modules that a run of the program has imported when it ends."""
    return set(at_the_end("*sys.modules", arguments, folder, **variables))


def at_the_end(shown, arguments, folder, **variables):
    """Return what a run of the program prints of itself when it ends, in words."""
    code = (
        "import atexit, gc, sys; from simdup.__main__ import main\n"
        f"atexit.register(lambda: print({shown}, file=sys.stderr))\n"
        "main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=folder,
        env=os.environ | variables,
        capture_output=True,
        check=True,
    )
    assert done.stdout
    return done.stderr.decode().splitlines()[-1].split()


def tab(shell, line):
    """The variables by which a shell asks about the last word of a line."""
    words = {"COMP_WORDS": f"simdup {line}", "COMP_CWORD": str(len(f"{line}.".split()))}
    return words | {"_SIMDUP_COMPLETE": f"{shell}_complete"}


@pytest.mark.parametrize(
    ("arguments", "variables", "allowed"),
    [
        (["--help"], {}, HELP),
        (["--version"], {}, HELP | {"simdup.versions"}),
        ([], tab("zsh", "sc"), HELP),
        ([], tab("bash", "completion "), HELP),
        *(([], tab("fish", f"{name} --"), OPTIONS) for name in COMMANDS),
        *(([*name.split(), "--help"], {}, OPTIONS) for name in COMMANDS),
    ],
)
def test_help_and_completion_import_nothing_that_a_command_runs(
    folder, arguments, variables, allowed
):
    found = imported(arguments, folder, **variables)

    assert {name for name in found if name.partition(".")[0] == "simdup"} <= allowed
    assert not found.intersection(SLOW)


@pytest.mark.parametrize("options", [(), ("--no-cache",)])
def test_a_small_scan_imports_only_what_it_uses(folder, write, english, options):
    for number in range(10):
        write(f"in/{number}", f"{english} {number % 2}")

    found = imported(["scan", "in", *options], folder)

    assert not found.intersection(UNUSED_BY_A_SMALL_SCAN)


def test_few_classes_of_a_small_scan_are_slow_to_make(folder, write, english):
    """A frozen dataclass takes five times as long to make as a named tuple."""
    for number in range(10):
        write(f"in/{number}", f"{english} {number}")
    slow = (
        "sum(hasattr(each, '__dataclass_fields__') for module in list(sys.modules.values())"
        " for each in vars(module).values() if isinstance(each, type)"
        " and each.__module__ == module.__name__)"
    )

    (found,) = at_the_end(slow, ["scan", "in"], folder)

    assert int(found) <= MOST_DATACLASSES


def test_what_a_scan_imports_is_never_searched_for_garbage(folder, write, english):
    write("a", english)
    write("b", english)

    frozen, is_searched = at_the_end("gc.get_freeze_count(), gc.isenabled()", ["scan", "."], folder)

    assert int(frozen) > 10_000
    assert is_searched == "True"
