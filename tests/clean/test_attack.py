"""Attacks on `clean --link`, `clean --to` and `undo`; the long form takes some minutes:

    SIMDUP_ATTACK_ROUNDS=500 python -m pytest tests/clean/test_attack.py -n 0 -s

In each round a run is killed at a random system call, or one of its calls fails, or neither, while
two others save new versions over the names of the plan: a process of its own in random moments, and
a save right before random calls of the run. Some rounds have no way to swap names, some no rename
that overwrites nothing, and in some the folder for moved files is on another file system. Then the
run is undone, or finished and undone. After each step, every version that no later save has
overwritten must be in a file that the journal or the report names.
"""

from __future__ import annotations

import errno
import json
import os
import re
import time
import traceback
import warnings
from collections import Counter
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from calls import CHANGING, LOOKING, lacking, watch
from plans import ACTS, TEXT, part, plan

from simdup.clean import system
from simdup.clean.apply import apply
from simdup.clean.plan import Act
from simdup.clean.undo import resume, undo
from simdup.errors import InputError

pytestmark = pytest.mark.slow

ROUNDS = int(os.environ.get("SIMDUP_ATTACK_ROUNDS", "15"))
NAMES = ("a", "in/b", "in/c")
ERRORS = (errno.EIO, errno.ENOSPC, errno.EACCES, errno.EXDEV, errno.EMFILE)
KILLED = 86
# The calls right before which a save can do the most harm.
NAMING = {"renameat2", "rename", "link", "unlink"}
ASIDE = re.compile(r"\.simdup-[0-9a-f]{12}")


class Saver:
    """Saves new versions over names as an editor does, and notes which one each save overwrote."""

    def __init__(self, name, random):
        """`name` tells its versions from those of others; what it does is noted in `log`."""
        self._log, self._name, self._random = (
            os.open("log", os.O_WRONLY | os.O_APPEND),
            name,
            random,
        )
        self._number = 0
        # The real ones: what a run is made to see does not count here.
        self._calls = os.write, os.unlink, os.link
        self._rename = system.renamer()

    def save(self):
        """Save a version under one of the names."""
        write, unlink, link = self._calls
        self._number += 1
        text = f"version {self._number} of {self._name}"
        path = self._random.choices(NAMES, (1, 5, 5))[0]
        new = f"{self._name}.new"
        Path(new).write_text(text)
        while True:
            # A rename that keeps what it overwrites, so that this can be noted.
            if self._rename(-100, new.encode(), -100, path.encode(), system.SWAP) == 0:
                over = Path(new).read_text()
                break
            with suppress(FileExistsError):
                link(new, path)
                over = None
                break
        write(self._log, (json.dumps([path, text, over]) + "\n").encode())
        unlink(new)


def saving(random):
    """Start a process that saves at random moments until the end of a pipe is closed.

    Return its id and this end.
    """
    reader, writer = os.pipe()
    if child := fork():
        os.close(reader)
        return child, writer
    with life_of_a_child():
        os.close(writer)
        os.set_blocking(reader, False)
        saver = Saver("another", random)
        while True:
            time.sleep(random.choice((0, 0.0005, 0.002, 0.01, 0.03)))
            with suppress(BlockingIOError):
                if not os.read(reader, 1):
                    break
            saver.save()


@contextmanager
def life_of_a_child():
    """A forked process ends with the block: well, or with a traceback and code 1."""
    try:
        yield
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        raise
    finally:
        os._exit(1)


def fork():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forks, where threads are
        return os.fork()


def attacked(work, random, what, is_far):
    """Do some work in a child with one fault and some saves; return how it ended.

    Its report is in the file `report`.
    """
    fault = random.choice(("kill", "kill", "kill", "error", "error", "none"))
    names, calls = (CHANGING, 25) if fault == "kill" else (CHANGING + LOOKING, 160)
    at, often = random.randrange(1, calls), random.choice((0, 0.1, 0.3, 0.6))
    error, chances = random.choice(ERRORS), Random(random.random())
    child = fork()
    if child == 0:
        with life_of_a_child(), pytest.MonkeyPatch.context() as patched:
            saver = Saver("the run", chances)

            def before(number, name):
                if name in NAMING and chances.random() < often:
                    saver.save()
                if number == at and fault == "kill":
                    os._exit(KILLED)
                if number == at and fault == "error":
                    raise OSError(error, os.strerror(error))

            lacking(patched, what)
            if is_far:
                part(patched, re.compile("/to/").search)
            watch(patched, names, before)
            report = reported(work)
            patched.undo()
            Path("report").write_text(report)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def reported(work):
    """What a run says of the files that it refused."""
    try:
        outcome = work()
    except InputError as error:
        return f"{error}\n"
    return "".join(f"{why}\n" for _, why in outcome.refused)


def needed():
    """The texts that no save has overwritten, wherever a file of the text had to be."""
    saves = [json.loads(line) for line in Path("log").read_text().splitlines()]
    every = Counter([TEXT] * len(NAMES)) + Counter(text for _, text, _ in saves)
    # A file that became a link to the kept one is overwritten under each of its names.
    over = {(path, text) for path, _, text in saves if text == TEXT}
    gone = Counter(text for _, text in over) + Counter(
        text for *_, text in saves if text not in {None, TEXT}
    )
    return set(every - gone)


def check(told, *, is_over):
    """Every text that is needed is in a file that the plan, a journal or a report names."""
    said = told + "".join(each.read_text() for each in Path().glob("journal*"))
    found = {}
    for each in (path for path in Path().rglob("*") if path.is_file()):
        if each.parent != Path() or each.name in NAMES:
            found.setdefault(each.read_text(), []).append(each)
    for text in needed():
        named = [each for each in found.get(text, ()) if is_named(each, said)]
        assert named, (text, found.get(text), told)
    if is_over:
        for each in Path().rglob(".simdup-*"):
            refused = [line for line in said.splitlines() if "intent" not in line]
            assert any(os.path.abspath(each) in line for line in refused), (each, told)


def is_named(path, said):
    if path.as_posix() in NAMES or f'"{os.path.abspath(path)}"' in said:
        return True
    aside = ASIDE.match(path.name)
    return os.path.abspath(path) in said or bool(aside and aside[0] in said)


def one_round(kind, seed):
    """One round; returns how the attacked run ended. Raises AssertionError if a text is lost."""
    random = Random(seed)
    with TemporaryDirectory() as place, pytest.MonkeyPatch.context() as patched:
        patched.chdir(place)
        patched.setenv("XDG_DATA_HOME", f"{place}/home")
        Path("in").mkdir()
        Path("log").touch()
        for each in NAMES:
            Path(each).write_text(TEXT)
        act = {"link": Act.LINK, "to": Act.MOVE, "undo": random.choice((Act.LINK, Act.MOVE))}[kind]
        whole = plan(*((NAMES[0], each) for each in NAMES[1:]), act=act)
        what, is_far = random.choice(("nothing", "nothing", "swap", "all")), random.random() < 0.5

        def acted():
            return apply(whole, ACTS, journal="journal", to="to")

        def undone(name="journal-back"):
            return undo("journal", apply=True, journal=name)

        if kind == "undo":
            acted()
        child, end = saving(Random(random.random()))
        ended = attacked(undone if kind == "undo" else acted, random, what, is_far)
        os.close(end)
        assert os.waitpid(child, 0)[1] == 0
        assert ended in {0, KILLED}
        told = Path("report").read_text() if ended == 0 else ""
        check(told, is_over=False)
        lacking(patched, random.choice(("nothing", what)))
        if not Path("journal").exists() or not Path("journal").stat().st_size:
            return ended
        if kind != "undo" and random.random() < 0.5:
            told += reported(lambda: resume("journal", ACTS, to="to" if act is Act.MOVE else None))
            check(told, is_over=False)
        for number in (1, 2):
            told += reported(lambda number=number: undone(f"journal-{number}"))
            check(told, is_over=True)
        return ended


@pytest.mark.parametrize("kind", ["link", "to", "undo"])
def test_no_version_is_lost_by_kills_and_errors_while_others_save(kind):
    ends = Counter(one_round(kind, f"{kind} {number}") for number in range(ROUNDS))

    print(f"{kind}: {ends[KILLED]} of {ROUNDS} rounds killed")
    assert ends.total() == ROUNDS
