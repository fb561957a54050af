"""Copies on file systems that keep less of a file than the one it comes from."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest
from plans import ACTS, TEXT, part, plan, reasons, tree, write

from simdup.clean import copying
from simdup.clean.apply import apply
from simdup.clean.journal import read_journal
from simdup.clean.plan import Act
from simdup.clean.undo import resume, undo

pytestmark = pytest.mark.usefixtures("folder", "data", "no_descriptor_is_left")
LOSES = "a copy there would lose what it has"


@pytest.fixture(autouse=True)
def _far(folder, monkeypatch):  # noqa: ARG001  (files are in `folder`)
    write(a=TEXT, in__b=TEXT)
    Path("in/b").chmod(0o644)
    part(monkeypatch)


def moved():
    return apply(plan(("a", "in/b"), act=Act.MOVE), ACTS, journal="journal", to="to")


def there(monkeypatch, name, function):
    """Let files in `to` have another system call: `function` gets the real one first."""
    real = getattr(os, name)

    def called(file, *given, **named):
        is_there = "/to/" in os.readlink(f"/proc/self/fd/{file}")
        return function(real, file, *given, **named) if is_there else real(file, *given, **named)

    monkeypatch.setattr(os, name, called)


def two_seconds(real, file, ns):
    """FAT keeps every second second."""
    real(file, ns=tuple(each - each % (2 * 10**9) for each in ns))


def as_mounted(real, file, _):
    """FAT gives all files the mode of the mount."""
    real(file, 0o755)


def lacking(*_):
    raise OSError(errno.ENOTSUP, os.strerror(errno.ENOTSUP))


def test_a_copy_with_a_coarse_time_is_put_back_with_its_own(monkeypatch):
    os.utime("in/b", ns=(0, 1_700_000_001_123_456_789))
    before = tree("in")
    there(monkeypatch, "utime", two_seconds)

    assert moved().done == 1

    (story,) = read_journal("journal").stories.values()
    assert story.done.mtime_ns == os.stat("to/b").st_mtime_ns == 1_700_000_000 * 10**9
    assert undo("journal", apply=True).done == 1
    assert tree("in") == before


def test_a_copy_that_was_changed_after_its_coarse_time_is_not_put_back(monkeypatch):
    with monkeypatch.context() as patched:
        there(patched, "utime", two_seconds)
        moved()
    os.utime("to/b", ns=(0, 1_800_000_000 * 10**9))

    back = undo("journal", apply=True)

    assert reasons(back) == [f"not as simdup left it ({os.path.realpath('to/b')})"]
    assert os.listdir("to") == ["b"]


def test_a_copy_whose_run_was_killed_is_known_by_its_bytes_whatever_its_time(monkeypatch):
    there(monkeypatch, "utime", two_seconds)
    moved()
    lines = Path("journal").read_bytes().splitlines(keepends=True)
    Path("journal").write_bytes(b"".join(lines[:-1]))

    assert resume("journal", ACTS, to="to").done == 1

    assert undo("journal", apply=True).done == 1


def test_a_copy_has_the_mode_of_its_mount_and_the_file_gets_its_own_back(monkeypatch):
    there(monkeypatch, "fchmod", as_mounted)
    before = tree("in")

    assert moved().done == 1

    assert stat.S_IMODE(os.stat("to/b").st_mode) == 0o755
    assert undo("journal", apply=True).done == 1
    assert tree("in") == before


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o4755])
def test_a_file_that_everybody_could_read_there_stays(monkeypatch, mode):
    there(monkeypatch, "fchmod", as_mounted)
    Path("in/b").chmod(mode)

    assert reasons(moved()) == [f"{LOSES} (mode)"]

    assert os.listdir("in") == ["b"]
    assert not os.path.exists("to")


@pytest.mark.parametrize("setxattr", [lacking, lambda *_: None], ids=["refused", "dropped"])
def test_a_file_whose_attributes_would_be_lost_stays(monkeypatch, setxattr):
    given = {"user.comment": b"mine"}
    real = copying.attributes
    monkeypatch.setattr(os, "setxattr", setxattr)
    monkeypatch.setattr(
        copying,
        "attributes",
        lambda file: given if os.path.samestat(os.fstat(file), os.stat("in/b")) else real(file),
    )

    assert reasons(moved()) == [f"{LOSES} (attributes)"]

    assert os.listdir("in") == ["b"]
    assert not os.path.exists("to")


def test_a_file_of_an_owner_that_a_copy_cannot_have_stays(monkeypatch):
    def refusing(*_):
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "fchown", refusing)
    monkeypatch.setattr(copying, "owner_of", lambda status: (status.st_uid, status.st_ino))

    assert reasons(moved()) == [f"{LOSES} (owner)"]

    assert os.listdir("in") == ["b"]


def test_labels_of_the_system_are_not_copied(monkeypatch):
    monkeypatch.setattr(copying, "attributes", lambda file: {"security.selinux": b"%d" % file})
    monkeypatch.setattr(os, "setxattr", lacking)

    assert moved().done == 1
