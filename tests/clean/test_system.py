"""Names in folders, paths without links, and renames that overwrite nothing."""

from __future__ import annotations

import errno
import os
from contextlib import closing
from pathlib import Path

import pytest

from simdup.clean import system
from simdup.clean.acting import exchange
from simdup.clean.system import Place, open_folder, parts_of, rename_new

pytestmark = pytest.mark.usefixtures("folder")


def place(path):
    return Place.of(os.path.realpath(path))


@pytest.fixture(params=["renameat2", "link and unlink"])
def either_way(request, monkeypatch):
    """Renames by the system call, and as on a system that lacks it."""
    if request.param == "link and unlink":
        monkeypatch.setattr(system, "renamer", lambda: None)


@pytest.mark.usefixtures("either_way")
def test_a_file_gets_a_name_that_nothing_has():
    Path("a").write_text("one")
    Path("in").mkdir()

    with closing(place("a")) as source, closing(place("in/b")) as target:
        rename_new(source, target)

    assert Path("in/b").read_text() == "one"
    assert not os.path.lexists("a")


@pytest.mark.usefixtures("either_way")
def test_a_name_that_is_taken_is_left_alone():
    Path("a").write_text("one")
    Path("b").write_text("two")
    Path("c").symlink_to("nowhere")

    for name in ("b", "c"):
        with closing(place("a")) as source, pytest.raises(FileExistsError):
            rename_new(source, source.beside(name))

    assert [Path(name).read_text() for name in "ab"] == ["one", "two"]
    assert os.readlink("c") == "nowhere"


def test_two_files_swap_their_names():
    Path("a").write_text("one")
    Path("b").write_text("two")

    with closing(place("a")) as one:
        exchange(one, one.beside("b"))

    assert [Path(name).read_text() for name in "ab"] == ["two", "one"]


def test_a_folder_is_reached_through_no_link():
    here = os.path.realpath(".")
    Path("real/deep").mkdir(parents=True)
    Path("link").symlink_to("real")
    Path("file").touch()

    descriptor = open_folder(f"{here}/real/deep")

    try:
        assert os.fstat(descriptor).st_ino == os.stat("real/deep").st_ino
    finally:
        os.close(descriptor)
    for path in ("link", "link/deep", "file", "file/deep"):
        with pytest.raises(OSError, match=r"directory|symbolic") as raised:
            open_folder(f"{here}/{path}")
        assert raised.value.errno in {errno.ENOTDIR, errno.ELOOP}
    with pytest.raises(FileNotFoundError):
        open_folder(f"{here}/missing/deep")


def test_a_folder_on_the_way_with_the_name_of_the_last_one_is_only_passed_through(monkeypatch):
    here = os.path.realpath(".")
    Path("a/b/a").mkdir(parents=True)
    flags, real = [], os.open

    def noting(path, given, *others, **named):
        flags.append((path, bool(given & os.O_PATH)))
        return real(path, given, *others, **named)

    monkeypatch.setattr(os, "open", noting)
    os.close(open_folder(f"{here}/a/b/a"))

    assert flags[-3:] == [("a", True), ("b", True), ("a", False)]


def test_no_descriptor_is_left_open():
    before = len(os.listdir("/proc/self/fd"))

    for path in ("/etc/missing/deep", "/etc/passwd/deep"):
        with pytest.raises(OSError, match=r"directory"):
            open_folder(path)

    assert len(os.listdir("/proc/self/fd")) == before


@pytest.mark.parametrize("path", ["", "/", "a/b", "/a/../b", "/a/./b", "/a//b", "/a/", "/a\0b"])
def test_what_is_no_plain_absolute_path_is_no_path(path):
    with pytest.raises(ValueError, match="no absolute path"):
        parts_of(path)


def test_a_link_in_place_of_a_file_is_not_opened():
    Path("a").write_text("secret")
    Path("b").symlink_to("a")

    with closing(place("a")) as real:
        link = real.beside("b")
        with pytest.raises(OSError, match="symbolic"):
            link.open()
        assert link.status().st_size == len("a")


def test_a_folder_that_cannot_be_synced_is_no_trouble_and_a_broken_disk_is(monkeypatch):
    def fails(number):
        def fsync(_):
            raise OSError(number, os.strerror(number))

        return fsync

    monkeypatch.setattr(os, "fsync", fails(errno.EINVAL))
    system.sync_folder(3)
    monkeypatch.setattr(os, "fsync", fails(errno.EIO))
    with pytest.raises(OSError, match="Input/output"):
        system.sync_folder(3)
