"""A Python that lacks what only POSIX has, as on Windows, gives the same results.

Every process of the program begins without these names. `signal.SIGKILL` stays, since here
Python's own `subprocess` needs it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import makers
import pytest

pytestmark = pytest.mark.slow

LACKING = """
import os, signal, sys
for name in (
    "O_NONBLOCK O_CLOEXEC O_NOCTTY O_NOFOLLOW O_DIRECTORY O_SYNC fchmod fchown chown getuid geteuid"
    " getgid fork forkpty killpg setsid getpgid sched_getaffinity sysconf statvfs mkfifo pread"
).split():
    vars(os).pop(name, None)
for name in (
    "SIGALRM SIGPROF SIGXCPU SIGXFSZ SIGPIPE SIGHUP alarm setitimer ITIMER_PROF pthread_sigmask"
    " SIG_BLOCK SIG_SETMASK SIG_UNBLOCK"
).split():
    vars(signal).pop(name, None)
for name in ("fcntl", "resource", "pwd", "grp", "termios"):
    sys.modules[name] = None
"""

IMPORT_ALL = """
import os, sys
from importlib import import_module
from pkgutil import walk_packages
import simdup
assert not hasattr(os, "O_NONBLOCK")
found = [each.name for each in walk_packages(simdup.__path__, "simdup.")]
for name in found:
    # Spark does not run there, and numba may need the names.
    skipped = {"simdup.compute.kernels", "simdup.__main__"}
    if not name.startswith("simdup.spark") and name not in skipped:
        import_module(name)
print(len(found))
"""


@pytest.fixture
def lacking(tmp_path_factory):
    """The environment of such a Python."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "sitecustomize.py").write_text(LACKING)
    return {"PYTHONPATH": str(folder)}


def test_every_module_can_be_imported(lacking):
    done = subprocess.run(
        [sys.executable, "-c", IMPORT_ALL],
        env=os.environ | lacking,
        check=True,
        capture_output=True,
    )

    assert int(done.stdout) > 100


def test_a_scan_gives_the_same(simdup, write, english, lacking):
    for number in range(4):
        write(f"in/{number}.txt", english.replace("herring", f"herring {number // 2}"))
        write(f"in/{number}.old", f"{number // 2} {english[::-1]}")
        write(f"in/{number}.docx", makers.docx_of(f"<w:p><w:r><w:t>{english}</w:t></w:r></w:p>"))
    write("in/damaged.docx", makers.docx_of("<w:p>"))
    write("in/binary", b"\0\1\2" * 999)
    os.symlink("0.txt", "in/link")

    def scanned(environment, target, jobs):
        options = ("--format", "json", "-o", target, "--convert", "old=cat {}", "--jobs", jobs)
        ended = [
            simdup("scan", "in", "-q", *options, *more, environment=environment)
            for more in (["--no-cache"], ["--cache", f"{target}.store"])
        ]
        assert {each.returncode for each in ended} == {0}, ended
        with open(target, encoding="utf-8") as file:
            found = json.load(file)
        return found["groups"], found["skipped"], found["stats"]["skipped"]

    expected = scanned({}, "here", "1")
    assert len(expected[0]) > 1
    for jobs in "12":
        assert scanned(lacking, f"there-{jobs}", jobs) == expected


def test_a_pair_is_ignored_there_too(simdup, write, english, lacking):
    write("in/a", english)
    write("in/b", english.replace("herring", "salmon"))
    options = {"environment": lacking | {"SIMDUP_IGNORED": "list"}}

    added = simdup("ignore", "add", "in/a", "in/b", **options)
    ended = simdup("scan", "in", "--no-cache", **options)

    assert (added.returncode, ended.returncode, ended.stdout) == (0, 0, b"")


def test_a_gitignore_that_is_a_link_is_not_followed_there_either(simdup, write, english, lacking):
    write("rules", "*.txt")
    write("in/a.txt", english)
    write("in/b.txt", english)
    os.symlink("../rules", "in/.gitignore")

    here, there = (
        simdup("scan", "in", "--gitignore", "--format", "json", "--no-cache", environment=each)
        for each in ({}, lacking)
    )

    assert (here.returncode, len(json.loads(here.stdout)["groups"])) == (3, 1)
    assert there.returncode == 3
    assert json.loads(there.stdout)["groups"] == json.loads(here.stdout)["groups"]
    assert json.loads(there.stdout)["skipped"] == json.loads(here.stdout)["skipped"]
