"""Disks that are full, broken, read-only or elsewhere; journals that end; locks and signals."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
from itertools import count
from pathlib import Path

import pytest
from calls import CHANGING, LOOKING, watch
from plans import ACTS, TEXT, place_of_its_own, plan, seen, tree, write

from simdup.clean import system
from simdup.clean.apply import apply
from simdup.clean.journal import begun, locked, read_journal
from simdup.clean.plan import Act, Consents
from simdup.clean.undo import resume, undo
from simdup.errors import InputError
from simdup.report.clean import undo_lines

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("folder", "data")]


def fail_at(number, code, monkeypatch):
    """Let the system call of this number fail, once; says whether it came to that."""
    failed = []

    def before(each, name):
        if each == number:
            failed.append(name)
            raise OSError(code, os.strerror(code))

    watch(monkeypatch, CHANGING + LOOKING, before)
    return failed


@pytest.mark.parametrize("code", ["ENOSPC", "EIO", "EACCES", "EROFS", "EXDEV", "EMFILE"])
@pytest.mark.parametrize("act", [*Act, "far"], indirect=True)
def test_whatever_call_fails_nothing_is_lost_and_it_is_said(tmp_path, monkeypatch, act, code):
    for number in count(1, 2):
        texts = {"a": TEXT, "in__b": TEXT, "in__c": TEXT}
        with place_of_its_own(tmp_path, number, monkeypatch, **texts) as patched:
            made, before = plan(("a", "in/b"), ("a", "in/c"), act=act), tree("in")
            with patched.context() as failing:
                failed = fail_at(number, getattr(errno, code), failing)
                outcome = attempted(made)
            if not failed:
                break
            check(number, outcome, act, before)
    assert number > 20


def attempted(made):
    """Return what came of a plan; None if the run did not begin."""
    try:
        return apply(made, ACTS, journal="journal", to="to")
    except InputError:
        return None


def check(number, outcome, act, before):
    assert Path("a").read_text() == TEXT
    if outcome is None or (outcome.done == 0 and act is not Act.REFLINK):
        assert names(tree("in")) == names(before), number
    if outcome is None:
        return
    if act is not Act.REFLINK:
        assert outcome.code or outcome.done == 2, number
        gone = 2 - len(os.listdir("in"))
        assert act is Act.LINK or gone == outcome.done, number
    undone = undo("journal", apply=True, journal="back")
    if act is not Act.DELETE:
        assert undone.refused == [], number
        assert names(tree("in")) == names(before), number
    assert not [*Path().rglob(".simdup*")], number


def names(found):
    return {path: what for path, (_, what, _) in found.items() if path != "in/"}


def test_a_journal_that_cannot_be_written_midway_stops_the_run(monkeypatch):
    write(**{f"in__{number}": TEXT for number in range(200)})
    made = plan(*(("in/0", f"in/{number}") for number in range(1, 200)))
    sync, syncs = os.fsync, count(1)
    journal = os.path.abspath("journal")

    def fsync(descriptor):
        if os.readlink(f"/proc/self/fd/{descriptor}") == journal and next(syncs) == 4:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        sync(descriptor)

    with monkeypatch.context() as full:
        full.setattr(os, "fsync", fsync)
        outcome = apply(made, Consents(), journal=journal)

    assert outcome.code == 4
    assert outcome.trouble == f"{journal!r}: No space left on device"
    assert (outcome.planned, outcome.done, outcome.left) == (199, 64, 135)
    assert len(os.listdir("in")) == 200 - 64


def test_folders_that_cannot_be_synced_stop_the_run(monkeypatch):
    write(a=TEXT, b=TEXT)
    made = plan(("a", "b"))

    def sync(_):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr("simdup.clean.acting.sync_folder", sync)

    outcome = apply(made, Consents())

    assert outcome.code == 4
    assert outcome.trouble == "folders cannot be synced: Input/output error"


def test_one_run_at_a_time(folder):
    write(a=TEXT, b=TEXT)
    made = plan(("a", "b"))
    (folder / "journals").mkdir()

    (folder / "elsewhere").mkdir()
    for journal, roots in (("journals/other", []), ("elsewhere/other", [*made.header.roots, "no"])):
        with locked(journal, roots), pytest.raises(InputError, match="another `simdup clean`"):
            apply(made, Consents(), journal="journals/mine")

    assert Path("b").exists()
    assert not Path("journals/mine").exists()
    assert apply(made, Consents(), journal="journals/mine").done == 1
    assert os.listdir("journals") == ["mine"]


def test_a_journal_may_lie_in_the_scanned_folder():
    write(a=TEXT, b=TEXT)

    assert apply(plan(("a", "b")), Consents(), journal="journal").done == 1
    assert sorted(os.listdir()) == ["a", "journal"]


def test_a_kept_file_that_another_program_has_locked_is_not_relied_on():
    write(a=TEXT, b=TEXT)
    script = "from fcntl import *; f = open('a', 'r+'); lockf(f, LOCK_EX); print(); input()"
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        other.stdout.readline()
        outcome = apply(plan(("a", "b")), Consents())
        other.communicate(b"\n")

    assert [why for _, why in outcome.refused] == ["another program has locked the kept file"]


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_signal_ends_the_run_after_the_file_under_way_and_resume_goes_on(monkeypatch, name):
    write(**{f"in__{number}": TEXT for number in range(20)})
    made = plan(*(("in/0", f"in/{number}") for number in range(1, 20)))
    before, link, notes = signal.getsignal(signal.SIGINT), system.rename_at_once, count(1)

    def rename(source, target):
        link(source, target)
        if next(notes) == 5:
            os.kill(os.getpid(), getattr(signal, name))
        return True

    monkeypatch.setattr("simdup.clean.acting.rename_at_once", rename)
    outcome = apply(made, Consents(), journal="journal")

    assert (outcome.done, outcome.left, outcome.code) == (5, 14, 130)
    assert signal.getsignal(signal.SIGINT) is before
    rest = resume("journal", Consents())
    assert (rest.planned, rest.done, rest.code) == (14, 14, 0)
    assert undo("journal", apply=True).done == 19


def test_a_journal_cut_off_before_any_intent_says_that_nothing_was_done():
    write(a=TEXT, b=TEXT, c=TEXT)
    made = plan(("a", "b"), ("a", "c"))
    begun("journal", made.header, made.actions).close()
    whole = Path("journal").read_bytes()
    Path("journal").write_bytes(whole[:-20])

    assert len(read_journal("journal").stories) == 1
    assert undo("journal", apply=True).planned == 0


def test_a_damaged_line_is_named_and_the_others_are_undone():
    write(a=TEXT, b=TEXT, c=TEXT)
    outcome = apply(plan(("a", "b"), ("a", "c")), Consents(), journal="journal")
    lines = Path("journal").read_bytes().splitlines(keepends=True)
    lines[1] = lines[1].replace(b"trash", b"trush")
    Path("journal").write_bytes(b"".join(lines))

    back = undo("journal", apply=True)

    assert outcome.done == 2
    assert (back.done, back.code) == (1, 3)
    assert "note: a damaged line of the journal: 2, 4, 6" in undo_lines(back, is_applied=True)
    assert Path("c").exists()


@pytest.mark.parametrize("kind", ["tmpfs", "bind"])
def test_the_trash_of_another_mount_is_used_there(tmp_path, kind):
    """A real one, where this system lets us mount it; a bind mount has the device of the rest."""
    if shutil.which("mount") is None:
        pytest.skip("there is no program to mount with")
    place = tmp_path / "mounted"
    place.mkdir()
    (tmp_path / "source").mkdir()
    options = ["--bind", tmp_path / "source"] if kind == "bind" else ["-t", "tmpfs", "tmpfs"]
    mounted = subprocess.run(["mount", *options, place], capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip("only root can mount a file system")
    try:
        os.chdir(place)
        write(a=TEXT, in__b=TEXT, in__c=TEXT)
        made, whole = plan(("a", "in/b")), tree(".")
        outcome = apply(made, Consents(), journal=tmp_path / "journal")
        assert Path(f".Trash-{os.getuid()}/files/b").read_text() == TEXT
        assert undo(outcome.journal, apply=True).done == 1
        assert tree(".") == whole
        before = tree("in")
        far = plan(("a", "in/b"), ("a", "in/c"), act=Act.MOVE)
        outcome = apply(far, Consents(), journal=tmp_path / "far", to=tmp_path / "to")
        assert outcome.done == 2
        assert os.listdir("in") == []
        assert seen(tmp_path / "to/b").mtime_ns == made.actions[0].file.mtime_ns
        assert undo(outcome.journal, apply=True).done == 2
        assert names(tree("in")) == names(before)
        assert tree("in")["in/b"] == before["in/b"]
        assert not os.path.exists(tmp_path / "to")
        assert tree(".") == whole
    finally:
        os.chdir(tmp_path)
        subprocess.run(["umount", place], check=True)
