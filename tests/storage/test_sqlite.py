"""simdup.storage.sqlite: how a file of ours comes to be there."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys

import pytest

from simdup.storage.sqlite import new_file

# What is killed in the first instant of a build, by name: before there is anything in the file,
# and before the file has its name.
KILL = """
import os, signal, sys
import {module}
{module}.{name} = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
from simdup.cli import main
main(sys.argv[1:])
"""


@pytest.mark.parametrize(
    ("module", "name"),
    [("simdup.index.file.connection", "_fill"), ("simdup.storage.sqlite", "_give_name")],
)
def test_a_build_that_is_killed_in_its_first_instant_can_be_run_again(run, write, module, name):
    write("in/a", "one text in the index")
    code = KILL.format(module=module, name=name)

    command = [sys.executable, "-c", code, "index", "build", "x", "in"]
    killed = subprocess.run(command, check=False)

    assert killed.returncode == -signal.SIGKILL
    assert not os.path.lexists("x")
    assert run("index", "build", "x", "in").code == 0
    assert run("index", "verify", "x").out == b"whole: 1 document\n"


def filled(path):
    with new_file(path) as part, open(part, "wb") as file:
        assert not os.path.lexists(path)
        file.write(b"all of it")


@pytest.mark.parametrize("has_links", [True, False])
def test_a_file_appears_whole_and_private(folder, monkeypatch, has_links):
    if not has_links:
        monkeypatch.setattr(os, "link", refusing)

    filled("new")

    assert os.listdir() == ["new"]
    assert (folder / "new").read_bytes() == b"all of it"
    assert stat.S_IMODE(os.stat("new").st_mode) == 0o600


def refusing(*_):
    raise OSError(errno.EPERM, "Operation not permitted")


@pytest.mark.parametrize("has_links", [True, False])
@pytest.mark.parametrize("is_there_before", [True, False])
def test_a_file_takes_the_name_of_no_other(folder, monkeypatch, has_links, is_there_before):
    if not has_links:
        monkeypatch.setattr(os, "link", refusing)
    if is_there_before:
        (folder / "old").write_bytes(b"notes")

    with pytest.raises(FileExistsError), new_file("old"):
        (folder / "old").write_bytes(b"notes")

    assert os.listdir() == ["old"]
    assert (folder / "old").read_bytes() == b"notes"
