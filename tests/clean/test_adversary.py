"""Another program changes the files between any two system calls of a run: no text is lost."""

from __future__ import annotations

import os
from contextlib import suppress
from itertools import count
from pathlib import Path

import pytest
from calls import CHANGING, LOOKING, lacking, watch
from plans import ACTS, place_of_its_own, plan

from simdup.clean.apply import apply
from simdup.clean.plan import Act
from simdup.clean.undo import undo

pytestmark = pytest.mark.slow

TEXT, NEW, OTHER = "the text of both\n", "a newer version\n", "somebody else's text\n"
TARGETS = ("home/Trash/files/b", "home/Trash/info/b.trashinfo", "to/b")
TAKEN = set()


def edit():
    with open("in/b", "r+") as file:
        file.truncate()
        file.write(NEW)


def replace():
    Path("new").write_text(NEW)
    os.replace("new", "in/b")


def replace_by_as_old_and_long():
    status = os.stat("in/b")
    Path("new").write_text(NEW.ljust(len(TEXT)))
    os.utime("new", ns=(0, status.st_mtime_ns))
    os.replace("new", "in/b")


def save_under_another_name():
    os.rename("in/b", "in/c")


def remove():
    os.unlink("in/b")


def swap_folder():
    os.rename("in", "was-in")
    os.symlink("elsewhere", "in")


def swap_for_link():
    os.rename("in/b", "in/c")
    os.symlink("../elsewhere/b", "in/b")


def take_targets():
    for path in TARGETS:
        with suppress(OSError), open(path, "x") as file:
            file.write(OTHER)
            TAKEN.add(os.path.abspath(path))


def replace_kept():
    Path("new").write_text(NEW)
    os.replace("new", "a")


def edit_kept():
    with open("a", "r+") as file:
        file.truncate()
        file.write(NEW)


def swap_kept_for_link():
    os.rename("a", "was-a")
    os.symlink("elsewhere/b", "a")


def remove_kept():
    os.unlink("a")


MISCHIEF = (
    *(edit, replace, replace_by_as_old_and_long, save_under_another_name, remove, swap_folder),
    *(swap_for_link, take_targets, replace_kept, swap_kept_for_link, remove_kept),
    edit_kept,
)

# After a file is deleted or made a link the kept one is the only copy: who removes it then, or
# edits it, has seen that.
OF_KEPT = {replace_kept, remove_kept, edit_kept, edit}


def mischief_at(number, mischief, monkeypatch):
    """Let it happen once, before the system call of this number; says whether it came to that."""
    happened = []

    def before(each, _):
        if each == number:
            happened.append(number)
            with suppress(OSError):
                mischief()
                happened.append(mischief)

    watch(monkeypatch, (*CHANGING, *LOOKING, "close"), before)
    return happened


def everything():
    """All that can be read below the current folder without following a link."""
    found = []
    for folder, _, files in os.walk("."):
        found += [
            Path(folder, name).read_text() for name in files if not Path(folder, name).is_symlink()
        ]
    return [each.strip() for each in found]


@pytest.mark.parametrize("act", [*Act, "far"], indirect=True)
@pytest.mark.parametrize("mischief", MISCHIEF, ids=lambda each: each.__name__)
def test_nothing_is_lost_whatever_another_program_does_meanwhile(
    tmp_path, monkeypatch, mischief, act
):
    for number in count(1 + MISCHIEF.index(mischief) % 2, 2):  # before each call, half of them
        texts = {"a": TEXT, "in__b": TEXT, "elsewhere__b": OTHER}
        with place_of_its_own(tmp_path, number, monkeypatch, **texts) as patched:
            made = plan(("a", "in/b"), act=act)
            with patched.context() as watching:
                happened = mischief_at(number, mischief, watching)
                outcome = apply(made, ACTS, journal="journal", to="to")
            if not happened:
                break
            check(number, happened, act, outcome)
    assert number > 30


def check(number, happened, act, outcome):
    mischief = happened[-1]
    assert outcome.planned == outcome.done + len(outcome.refused), number
    assert outcome.trouble is None, number
    # What is new is not acted on; an edit through a link that was just made is in the kept file.
    new = {replace, replace_by_as_old_and_long} | ({edit} if act is not Act.LINK else set())
    if mischief in new:
        assert Path("in/b").read_text().strip() == NEW.strip(), number
    for back in ("back", "back-again"):
        left = everything()
        assert Path("elsewhere/b").read_text() == OTHER, number
        if act in {Act.TRASH, Act.MOVE} or mischief not in OF_KEPT:
            assert TEXT.strip() in left, number
        if mischief in {edit, replace, replace_by_as_old_and_long, replace_kept, edit_kept}:
            assert NEW.strip() in left, number
        for path in filter(os.path.exists, map(os.path.abspath, TARGETS)):
            assert path not in TAKEN or Path(path).read_text() == OTHER, number
        assert TAKEN & {*map(os.path.abspath, TARGETS)} <= {*filter(os.path.exists, TAKEN)}
        assert not [*Path().rglob(".simdup*")], number
        undo("journal", apply=True, journal=back)


@pytest.mark.parametrize("lacks", ["nothing", "swap", "all"])
@pytest.mark.parametrize("act", [Act.TRASH, Act.MOVE, Act.LINK, "far"], indirect=True)
@pytest.mark.parametrize("is_undo", [False, True], ids=["clean", "undo"])
def test_a_save_before_any_call_has_its_name_and_what_it_replaced_is_named(
    tmp_path, monkeypatch, is_undo, act, lacks
):
    for number in count(1):
        with place_of_its_own(tmp_path, number, monkeypatch, a=TEXT, in__b=TEXT) as patched:
            made = plan(("a", "in/b"), act=act)
            if is_undo:
                apply(made, ACTS, journal="journal", to="to")
            with patched.context() as watching:
                lacking(watching, lacks)
                happened = mischief_at(number, replace, watching)
                if is_undo:
                    outcome = undo("journal", apply=True, journal="back")
                else:
                    outcome = apply(made, ACTS, journal="journal", to="to")
            if not happened:
                break
            assert Path("in/b").read_text() == NEW, number
            assert TEXT.strip() in everything(), number
            for each in Path().rglob(".simdup*"):
                assert os.path.abspath(each) in str(outcome.refused), number
    assert number > 30


@pytest.mark.parametrize("act", [Act.TRASH, Act.MOVE, Act.LINK, Act.DELETE, "far"], indirect=True)
def test_of_two_runs_at_once_that_keep_what_the_other_takes_one_copy_stays(
    tmp_path, monkeypatch, act
):
    for number in count(1):
        with place_of_its_own(tmp_path, number, monkeypatch, a=TEXT, in__b=TEXT) as patched:
            os.mkdir("journals")
            made = plan(("a", "in/b"), act=act)
            # Neither run locks a folder that the other one locks.
            other = plan(("in/b", "a"), act=act, roots=("a", "in/b"))

            def run_other(other=other):
                apply(other, ACTS, journal="journals/other", to="to")

            with patched.context() as watching:
                happened = mischief_at(number, run_other, watching)
                outcome = apply(made, ACTS, journal="journal", to="to")
            assert os.path.exists("a") or os.path.exists("in/b"), number
            assert not [name for name in os.listdir("in") if name.startswith(".simdup")], number
        if not happened:
            break
        assert outcome.planned == outcome.done + len(outcome.refused), number
    assert number > 30
