"""Which trash a file goes to, and what is noted there."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from shutil import which

import pytest

from simdup.clean import trash
from simdup.clean.outcome import RefusedError
from simdup.clean.system import Place, mount_of, rename_new
from simdup.clean.trash import Trashes, top_folder

UID = os.getuid()


@pytest.fixture
def trashes():
    with closing(Trashes()) as opened:
        yield opened


@pytest.fixture
def top(tmp_path, monkeypatch):
    """A folder taken for the top of a file system on which the home folder is not."""
    monkeypatch.setattr("simdup.clean.trash.home_trash", lambda: "/proc/self/Trash")
    monkeypatch.setattr("simdup.clean.trash.top_folder", lambda *_: str(tmp_path / "top"))
    (tmp_path / "top").mkdir()
    return tmp_path / "top"


def throw(trashes, path):
    """Put a file into the trash as a run does, and return where it is then."""
    trash = trashes.trash_for(str(path))
    name = trash.free_name(path.name)
    trash.note(name, str(path))
    with closing(Place.of(os.path.realpath(path))) as source:
        rename_new(source, trash.place(name))
    return Path(trash.place(name).path)


def test_a_file_on_the_device_of_the_home_folder_goes_to_its_trash(data, tmp_path, trashes):
    file = tmp_path / "50 % 中\n.txt"
    file.write_text("text")

    there = throw(trashes, file)

    assert there == data / "Trash/files" / file.name
    assert there.read_text() == "text"
    info = (data / "Trash/info" / f"{file.name}.trashinfo").read_text().splitlines()
    assert info[0] == "[Trash Info]"
    assert info[1] == f"Path={tmp_path}/50%20%25%20%E4%B8%AD%0A.txt"
    assert info[2].startswith("DeletionDate=20")
    assert len(info[2]) == len("DeletionDate=2026-11-22T12:00:00")
    assert stat.S_IMODE((data / "Trash").stat().st_mode) == 0o700
    assert stat.S_IMODE((data / "Trash/info" / f"{file.name}.trashinfo").stat().st_mode) == 0o600


@pytest.mark.usefixtures("data")
def test_files_of_one_name_all_stay(tmp_path, trashes):
    for number in range(5):
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / "a.txt").write_text(str(number))

    places = [throw(trashes, tmp_path / str(number) / "a.txt") for number in range(5)]

    assert [each.name for each in places] == ["a.txt", *(f"a.{n}.txt" for n in (2, 3, 4, 5))]
    assert [each.read_text() for each in places] == list("01234")


def test_a_name_that_another_run_took_is_passed_over(data, tmp_path, trashes):
    (tmp_path / "a").write_text("mine")
    (data / "Trash/files").mkdir(parents=True)
    (data / "Trash/info").mkdir(parents=True)
    (data / "Trash/files/a").write_text("theirs")
    (data / "Trash/info/a.2.trashinfo").write_text("an orphan")

    assert throw(trashes, tmp_path / "a").name == "a.3"

    assert (data / "Trash/files/a").read_text() == "theirs"
    assert (data / "Trash/info/a.2.trashinfo").read_text() == "an orphan"


@pytest.mark.usefixtures("data")
def test_the_longest_name_is_shortened_so_that_its_note_fits(tmp_path, trashes):
    files = [tmp_path / folder / ("中" * 82 + "é" + ".tex") for folder in "ab"]
    for each in files:
        each.parent.mkdir()
        each.write_text(str(each))

    places = [throw(trashes, each) for each in files]

    assert [each.read_text() for each in places] == [str(each) for each in files]
    assert all(len(os.fsencode(each.name)) == 245 for each in places)
    assert places[1].name.endswith(".2.tex")


def test_another_file_system_has_its_trash_at_its_top(top, trashes):
    (top / "in").mkdir()
    (top / "in/a").write_text("text")

    there = throw(trashes, top / "in/a")

    assert there == top / f".Trash-{UID}/files/a"
    assert "Path=in/a" in (top / f".Trash-{UID}/info/a.trashinfo").read_text().splitlines()
    assert stat.S_IMODE((top / f".Trash-{UID}").stat().st_mode) == 0o700


def test_a_sticky_trash_of_all_users_is_taken_first(top, trashes):
    (top / "a").touch()
    (top / ".Trash").mkdir()
    (top / ".Trash").chmod(0o1777)

    assert throw(trashes, top / "a") == top / f".Trash/{UID}/files/a"


@pytest.mark.parametrize("kind", ["not sticky", "link", "file"])
def test_a_trash_of_all_users_that_is_unsafe_is_passed_over(top, trashes, kind):
    (top / "a").touch()
    if kind == "not sticky":
        (top / ".Trash").mkdir()
        (top / ".Trash").chmod(0o777)
    elif kind == "link":
        (top / "elsewhere").mkdir()
        (top / "elsewhere").chmod(0o1777)
        (top / ".Trash").symlink_to("elsewhere")
    else:
        (top / ".Trash").touch()

    assert throw(trashes, top / "a") == top / f".Trash-{UID}/files/a"


@pytest.mark.parametrize("kind", ["link", "file", "of another user"])
def test_without_a_safe_trash_the_file_stays(top, trashes, kind, monkeypatch):
    (top / "a").touch()
    (top / "elsewhere").mkdir()
    own = top / f".Trash-{UID}"
    if kind == "link":
        own.symlink_to("elsewhere")
    elif kind == "file":
        own.touch()
    else:
        own.mkdir()
        monkeypatch.setattr(os, "getuid", lambda: 12345)
        own.rename(top / ".Trash-12345")

    with pytest.raises(RefusedError, match="no trash on its file system"):
        throw(trashes, top / "a")

    assert (top / "a").exists()
    assert not any((top / "elsewhere").iterdir())


def test_a_link_in_place_of_a_folder_of_the_trash_is_not_followed(
    data, tmp_path, trashes, monkeypatch
):
    # Or the trash of the whole device would have the file after the test.
    monkeypatch.setattr(trash, "top_folder", lambda *_: str(tmp_path))
    (tmp_path / "a").touch()
    (tmp_path / "elsewhere").mkdir()
    (data / "Trash").mkdir(parents=True)
    (data / "Trash/files").symlink_to(tmp_path / "elsewhere")

    try:
        assert not throw(trashes, tmp_path / "a").is_relative_to(data)
    except RefusedError:
        assert (tmp_path / "a").exists()

    assert not any((tmp_path / "elsewhere").iterdir())


def test_the_top_is_where_the_mount_changes():
    assert top_folder("/proc/self/status", mount_of("/proc/self")) == "/proc"


@pytest.mark.usefixtures("data")
def test_a_note_is_of_one_path(tmp_path, trashes):
    (tmp_path / "a").touch()
    trash = trashes.trash_for(str(tmp_path / "a"))

    trash.note("a", "/some/a")

    assert trash.notes("a", "/some/a")
    assert not trash.notes("a", "/other/a")
    trash.forget("a")
    trash.forget("a")
    assert not trash.notes("a", "/some/a")


def program(name):
    """The path of a program that may be installed beside Python, or skip the test by its name."""
    found = which(name, path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def test_trash_cli_lists_and_restores_what_is_in_the_trash(data, tmp_path, trashes):
    lister, restorer = program("trash-list"), program("trash-restore")
    file = tmp_path / "50 % 中.txt"
    file.write_text("text")
    throw(trashes, file)

    listed = subprocess.run([lister], capture_output=True, text=True, check=True).stdout
    assert not file.exists()
    subprocess.run(
        [restorer, str(file)], input="0\n", capture_output=True, text=True, check=True, cwd=tmp_path
    )

    assert listed.splitlines()[0].endswith(f" {file}")
    assert file.read_text() == "text"
    assert not any((data / "Trash/info").iterdir())
