"""simdup.storage.sqlite: how a file of ours comes to be there."""

from __future__ import annotations

import errno
import os
import signal
import sqlite3
import stat
import struct
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from simdup.storage.sqlite import connect, new_file
from simdup.storage.store import STORE, Store

pytestmark = pytest.mark.slow

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
    [("simdup.index.connection", "connect"), ("simdup.storage.sqlite", "_give_name")],
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


# What is killed between two writes of a store's first header.
KILL_IN_HEADER = """
import os, signal, sqlite3, sys
from simdup.storage import sqlite, store
real = sqlite.connect
class Killing(sqlite3.Connection):
    def execute(self, sql, *parameters):
        if "user_version = " in sql:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().execute(sql, *parameters)
sqlite.connect = lambda path, options, factory: real(path, options, Killing)
store.Store(store.default_place(), print)
"""


def test_a_store_is_made_anew_after_a_kill_within_its_header(tmp_path, monkeypatch):
    place = tmp_path / "store"
    monkeypatch.setenv("SIMDUP_CACHE", str(place))

    killed = subprocess.run([sys.executable, "-c", KILL_IN_HEADER], check=False)

    assert killed.returncode == -signal.SIGKILL
    assert place.exists()
    warnings = []
    with closing(Store(place, warnings.append, is_named=True)) as store:
        assert store.is_open
    assert warnings == []


def filled(path):
    with new_file(path) as part, open(part, "wb") as file:
        assert not os.path.lexists(path)
        file.write(b"all of it")


@pytest.mark.parametrize("has_links", [True, False])
def test_a_new_file_appears_complete_and_private(folder, monkeypatch, has_links):
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
def test_a_new_file_never_replaces_another(folder, monkeypatch, has_links, is_there_before):
    if not has_links:
        monkeypatch.setattr(os, "link", refusing)
    if is_there_before:
        (folder / "old").write_bytes(b"notes")

    with pytest.raises(FileExistsError), new_file("old"):
        (folder / "old").write_bytes(b"notes")

    assert os.listdir() == ["old"]
    assert (folder / "old").read_bytes() == b"notes"


def journal_that_names(victim, place):
    """Lay a journal beside a database that makes SQLite delete a file when it opens that."""
    data = place.read_bytes()
    size, magic = int.from_bytes(data[16:18], "big"), bytes.fromhex("d9d505f920a163d7")
    head = magic + struct.pack(">5I", 0, 1, len(data) // size, 512, size)
    name = os.fsencode(victim)
    tail = struct.pack(">I", 2**30 // size + 1) + name + struct.pack(">2I", len(name), sum(name))
    Path(f"{os.path.realpath(place)}-journal").write_bytes(head.ljust(512, b"\0") + tail + magic)


def test_sqlite_deletes_the_file_that_a_journal_names(tmp_path):
    """Without this the next test would show nothing."""
    place, victim = tmp_path / "x", tmp_path / "victim"
    with closing(sqlite3.connect(place)) as connection:
        connection.execute("CREATE TABLE books (title)")
    victim.write_text("letters")
    journal_that_names(victim, place)

    with closing(sqlite3.connect(place)) as connection:
        connection.execute("SELECT * FROM books")

    assert not victim.exists()


@pytest.mark.parametrize("is_link", [False, True])
@pytest.mark.parametrize(
    "command",
    [
        *("query PLACE a", "index add PLACE a", "index info PLACE", "scan --index PLACE"),
        *("scan --cache PLACE a", "cache info --cache PLACE", "cache clear --cache PLACE"),
    ],
)
def test_a_database_beside_a_journal_that_names_a_file_is_not_opened(
    run, write, tmp_path, command, is_link
):
    write("a", "one text in the index")
    place, victim = Path("x"), Path("victim")
    run(
        *(
            ["index", "build", "x", "a"]
            if "--cache" not in command
            else ["scan", "a", "--cache", "x"]
        )
    )
    victim.write_text("letters")
    journal_that_names(victim.absolute(), place)
    before = place.read_bytes()
    if is_link:
        place = tmp_path / "link"
        place.symlink_to(Path("x").absolute())

    ended = run(*command.replace("PLACE", str(place)).split())

    problem = "'x-journal' beside it would make SQLite delete another file; remove it first"
    assert ended.err.decode() == f"simdup: {str(place)!r}: {problem}\n"
    assert ended.code == 2
    assert (victim.read_text(), Path("x").read_bytes()) == ("letters", before)


def test_a_store_at_its_usual_place_beside_such_a_journal_is_done_without(tmp_path):
    place, victim = tmp_path / "store", tmp_path / "victim"
    warnings = []
    Store(place, warnings.append).close()
    victim.write_text("letters")
    journal_that_names(victim, place)

    with closing(Store(place, warnings.append)) as store:
        assert not store.is_open

    problem = "'store-journal' beside it would make SQLite delete another file; remove it first"
    assert warnings == [f"{str(place)!r}: {problem}; going on without it"]
    assert victim.exists()


@pytest.mark.parametrize(
    "name", [":memory:", "file:x?mode=memory", "50 %?mode=ro#x", "档案.db", "-x", "a\udcff\n"]
)
def test_a_database_is_the_file_of_exactly_its_name(folder, name):  # noqa: ARG001  (that holds it)
    Path(name).touch()

    with closing(connect(name, "mode=rw", sqlite3.Connection)) as connection:
        connection.execute("CREATE TABLE made (it)")

    assert os.path.getsize(name)
    assert os.listdir(".") == [name]


@pytest.mark.skipif(sys.platform == "win32", reason="the current folder cannot be deleted")
def test_a_database_is_opened_where_the_current_folder_was_deleted(folder, monkeypatch):
    (folder / "a.db").touch()
    (folder / "gone").mkdir()
    monkeypatch.chdir("gone")
    os.rmdir(folder / "gone")

    with closing(connect(str(folder / "a.db"), "mode=ro", sqlite3.Connection)) as connection:
        assert not connection.execute("SELECT * FROM sqlite_master").fetchall()


def test_an_empty_fifo_that_has_just_taken_the_place_of_a_file_is_none_of_ours(
    tmp_path, monkeypatch
):
    place = str(tmp_path / "fifo")
    os.mkfifo(place)
    writer = os.open(place, os.O_RDWR)
    monkeypatch.setattr("os.path.isfile", lambda _: True)

    is_ours = STORE.has_header(place)

    os.close(writer)
    assert not is_ours
