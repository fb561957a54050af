"""A run that is killed before any system call that changes something.

Every file is whole under one of its two names, and the run can go on or be undone.
"""

from __future__ import annotations

import os
import re
import warnings
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path

import pytest
from calls import CHANGING, lacking, watch
from plans import ACTS, TEXT, part, plan, tree, write

from simdup.clean import acting, system
from simdup.clean.apply import apply
from simdup.clean.journal import read_journal
from simdup.clean.plan import Act, Plan
from simdup.clean.undo import resume, undo

pytestmark = pytest.mark.slow

KILLED = 86

# A file into the trash takes four calls: every third one is each of them in turn.
EVERY = 3


def killed_at(number, work):
    """Do some work in a child that dies before the system call of this number; whether it died."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forks, where threads are
        child = os.fork()
    if child == 0:
        code = 1
        try:
            watch(pytest.MonkeyPatch(), CHANGING, lambda each, _: each == number and _die())
            work()
            code = 0
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in {0, KILLED}
    return code == KILLED


def _die():
    os._exit(KILLED)


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Some targets are taken for another file system."""
    part(monkeypatch, re.compile(r"/to\d+/far/").search)
    return tmp_path


def made(place, number):
    """A tree of kept files and copies, and a plan of 14 actions on them."""
    root = place / str(number)
    os.environ["XDG_DATA_HOME"] = str(place / f"home{number}")
    pairs = []
    for each in range(14):
        kept, copy = root / f"keep/{each % 5}", root / f"{('in', 'far')[each % 2]}/copy{each}"
        for path in (kept, copy):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"The text of number {each % 5}, which has several copies.\n" * 20)
        pairs.append((str(kept), str(copy)))
    for first, second in ((10, 11), (12, 13)):  # two names of one file each
        one, two = (Path(pairs[each][1]) for each in (first, second))
        two.unlink()
        two.hardlink_to(one)
        pairs[second] = pairs[first][0], pairs[second][1]
    for each in (root, *root.rglob("*")):
        os.utime(each, ns=(0, 1_700_000_000_123_456_789 + each.stat().st_ino))
    whole = plan(*pairs, roots=[str(root)])
    acts = [Act.TRASH] * 5 + [Act.MOVE] * 5 + [Act.LINK] * 4
    actions = (replace(each, act=act) for each, act in zip(whole.actions, acts, strict=True))
    return root, Plan(tuple(actions), (), whole.header)


def run(place, number, whole):
    to = place / f"to{number}"
    outcome = apply(whole, ACTS, journal=place / f"journal{number}", to=to)
    assert (outcome.done, outcome.refused) == (14, [])


@pytest.fixture(autouse=True)
def _home(monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", "")


def killed_runs(place, every=1):
    """Runs that are killed at one system call after the other, until one ends before its call.

    Each comes with its number, its tree, its journal and what was in the tree before, and has to
    be undone when the next one is asked for.
    """
    for number in count(1, every):
        root, whole = made(place, number)
        before = tree(root)
        if not killed_at(number, partial(run, place, number, whole)):
            return
        yield number, root, place / f"journal{number}", before
        assert tree(root) == before, number
        assert_nothing_else(place, number)


@pytest.mark.long
def test_a_run_killed_anywhere_can_be_undone(place):
    for number, _, journal, _ in killed_runs(place):
        if journal.exists() and journal.stat().st_size:
            check_whole(number, journal)
            outcome = undo(journal, apply=True)
            assert outcome.refused == []
    assert number > 70


def test_a_killed_run_can_be_undone_where_names_cannot_be_swapped(place, monkeypatch):
    aside = 0
    for number, root, journal, _ in killed_runs(place, EVERY):
        if not (journal.exists() and journal.stat().st_size):
            continue
        aside += any(".simdup-" in each for each in tree(root))
        with monkeypatch.context() as lacking:
            lacking.setattr(system, "renamer", lambda: None)
            assert undo(journal, apply=True).refused == [], number
    assert aside


def check_whole(number, journal):
    """Every file of the plan is whole under its name or the one that the journal gives."""
    for story in stories(journal).values():
        file, intent = story.action.file, story.intent
        names = [file.path]
        if intent is not None:
            names += [intent.target]
            if intent.aside:
                names += [os.path.join(os.path.dirname(file.path), intent.aside)]
        kept = Path(story.action.keep.path).read_bytes()
        there = [Path(each).read_bytes() for each in names if os.path.exists(each)]
        assert kept in there, (number, story)


def assert_nothing_else(place, number):
    """Neither the trash nor the folder of moved files has anything left."""
    assert not [p for p in (place / f"home{number}").rglob("*") if p.is_file()], number
    assert not [p for p in (place / f"to{number}").rglob("*") if p.is_file()], number


def test_a_run_killed_anywhere_can_go_on(place):
    for number, root, journal, before in killed_runs(place, EVERY):
        if not journal.exists() or len(stories(journal)) < 14:
            assert tree(root) == before
            continue
        outcome = resume(journal, ACTS, to=place / f"to{number}")
        assert (outcome.refused, outcome.left) == ([], 0), number
        assert all(each.done for each in stories(journal).values())
        assert len(list(root.rglob("copy*"))) == 4
        assert undo(journal, apply=True).refused == []


def test_an_undo_killed_anywhere_can_be_done_again(place):
    for number in count(1, EVERY):
        root, whole = made(place, number)
        before = tree(root, times=False)
        run(place, number, whole)
        journal = place / f"journal{number}"
        if not killed_at(number, partial(undo, journal, apply=True, journal=f"{journal}-2")):
            break
        assert not copies_taken_for_files(journal), number
        assert undo(journal, apply=True).refused == [], number
        assert tree(root, times=False) == before, number
        assert_nothing_else(place, number)


def copies_taken_for_files(journal):
    """The copies under names of files that were put aside: inodes do not tell them apart."""
    put_aside = [
        os.path.join(os.path.dirname(story.action.file.path), story.intent.aside)
        for story in stories(journal).values()
        if story.action.act is Act.LINK and story.intent is not None
    ]
    return [each for each in put_aside if os.path.exists(each)]


def stories(journal):
    return read_journal(str(journal)).stories if journal.stat().st_size else {}


@pytest.mark.parametrize("again", ["undo", "resume"])
@pytest.mark.parametrize(
    ("step", "is_undo"),
    [
        ((Act.LINK, acting, "exchange"), False),
        ((Act.LINK, acting, "set_aside"), False),
        ((Act.DELETE, acting, "rename_at_once"), False),
        ((Act.LINK, acting, "exchange"), True),
        ((Act.LINK, acting, "set_aside"), True),
    ],
)
def test_a_version_saved_right_before_a_run_was_killed_has_its_name_again(
    place, monkeypatch, step, is_undo, again
):
    monkeypatch.chdir(place)
    write(a=TEXT, in__b=TEXT)
    act, *where = step
    whole = plan(("a", "in/b"), act=act)
    function = getattr(*where)
    if is_undo:
        apply(whole, ACTS, journal="journal")

    def saved_and_killed(*given):
        write(new="a newer version")
        os.replace("new", "in/b")
        function(*given)
        os._exit(KILLED)

    def work():
        patched = pytest.MonkeyPatch()
        lacking(patched, "swap" if "set_aside" in where else "nothing")
        patched.setattr(*where, saved_and_killed)
        undo("journal", apply=True, journal="-") if is_undo else run_here(whole)

    assert killed_at(0, work)
    if again == "resume" and not is_undo:
        outcome = resume("journal", ACTS)
    else:
        outcome = undo("journal", apply=True)

    assert Path("in/b").read_text() == "a newer version"
    assert Path("a").read_text() == TEXT
    assert os.listdir("in") == ["b"]
    ((_, why),) = outcome.refused
    assert why == "another program replaced it at the last moment (it has its name again)"


def run_here(whole):
    apply(whole, ACTS, journal="journal")
