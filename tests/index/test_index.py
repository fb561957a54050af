"""simdup.index.index.

An index answers as comparing with all would, whatever was added and taken out.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import threading
import unicodedata
from contextlib import ExitStack, closing, suppress
from dataclasses import asdict, dataclass, replace
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from conftest import by_sql
from hypothesis import settings as examples
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from simdup.errors import InputError
from simdup.files import workers as local
from simdup.files.scan import scan
from simdup.files.walk import DEFAULTS, Filters
from simdup.fingerprint.simhash import fingerprint_texts
from simdup.index import contents, ingest
from simdup.index import index as room
from simdup.index.index import Index
from simdup.index.query import reach
from simdup.index.records import Changes
from simdup.match.own_share import least_similarity
from simdup.match.verify import exact_similarities
from simdup.recipe import Recipe
from simdup.records import SHORT, Kind, Reason, Skipped
from simdup.settings import USUAL, Limits, Settings
from simdup.storage import status as of_files
from simdup.theory import similarity_at

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("settled")]

NARROW = Settings(Recipe(bits=64))


def words(seed, *, count=60, edits=0):
    """A text of made-up words, the first of them others."""
    return " ".join(f"{'e' if place < edits else 'w'}{seed}x{place}" for place in range(count))


@pytest.fixture
def place(new_folder):
    return str(new_folder("place") / "index")


@pytest.fixture
def index(place):
    with Index.create(place) as made:
        yield made


@pytest.fixture
def limited(place):
    """`limited(batch_documents=1)`: an index of a run with these limits."""
    with ExitStack() as made:
        yield lambda **limits: made.enter_context(
            Index.create(place, Settings(limits=Limits(**limits)))
        )


@pytest.fixture
def narrow(place):
    """An index of 64 bits."""
    with Index.create(place, NARROW) as made:
        yield made


@pytest.fixture
def untouchable(monkeypatch):
    """Return `untouchable(path)`, which lets opening the path, or anything in it, fail."""
    real, paths = os.open, []

    def opening(path, *arguments, **options):
        whole = os.path.realpath(path)
        assert not any(whole == each or whole.startswith(each + os.sep) for each in paths), whole
        return real(path, *arguments, **options)

    monkeypatch.setattr("simdup.files.read.os.open", opening)
    return lambda path: paths.append(os.path.realpath(path))


def at(name):
    return os.path.abspath(name)


def inside(index):
    """Return what an index holds: paths below the current folder, and names of texts."""
    paths, _ = index.pairs(0)
    return sorted(os.path.relpath(path) if os.path.isabs(path) else path for path in paths)


def found(matches):
    return [os.path.relpath(m.document.path) for m in matches]


def whole(index):
    return index.problems() == []


# A dictionary as oracle


FIRST = words(1)
POOL = {
    "first": FIRST.encode(),
    "edited": words(1, edits=4).encode(),
    "edited more": words(1, edits=25).encode(),
    "in UTF-16": FIRST.encode("utf-16"),
    "by lines": FIRST.replace(" ", "\r\n").encode(),
    "by lines of Unix": FIRST.replace(" ", "\n").encode(),
    "other": words(2).encode(),
    "short": b"one two three four",
    "short too": b"one two three five six",
    "empty": b"...",
    "binary": bytes(99),
}
TEXTS = {
    name: data.decode("utf-16" if name == "in UTF-16" else "utf-8")
    for name, data in POOL.items()
    if name not in {"empty", "binary"}
}


@dataclass(frozen=True)
class Known:
    """A document as it was when it was read."""

    text: str
    data: bytes
    written: int
    """When, by the clock of the machine; -1: it is no file."""

    def kind_with(self, text):
        if self.data == text.encode():
            return Kind.IDENTICAL_BYTES
        unified = [each.replace("\r\n", "\n") for each in (self.text, text)]
        if unified[0] == unified[1]:
            return Kind.IDENTICAL_TEXT
        return Kind.SAME_WORDS if self.words == text.split() else Kind.NEAR

    @property
    def words(self):
        return self.text.split()


class IndexAndDictionary(RuleBasedStateMachine):
    """Files that come, change and go; after every step both hold the same, and answer the same."""

    NAMES = ("a.txt", "b.md", "in/c.txt", "in/d.md", "in/deep/e.txt", "in/deep/f.md")
    FOLDERS = (".", "in", "in/deep")
    TEXT_NAMES = ("a.txt", "text", "in/text")
    FILTERS = (
        DEFAULTS,
        Filters(include=("*.txt",)),
        Filters(exclude=("deep",)),
        Filters(max_depth=1),
    )

    def __init__(self):
        super().__init__()
        self.before = os.getcwd()
        self.folder = TemporaryDirectory()
        os.chdir(self.folder.name)
        os.makedirs("root/in/deep")
        os.chdir("root")
        self.index = Index.create("../index", NARROW)
        self.files, self.known, self.places, self.clock = {}, {}, {}, count(1)

    def teardown(self):
        self.index.close()
        os.chdir(self.before)
        self.folder.cleanup()

    # The files

    @rule(name=st.sampled_from(NAMES), what=st.sampled_from(sorted(POOL)))
    def write(self, name, what):
        moment = next(self.clock)
        Path(name).write_bytes(POOL[what])
        os.utime(name, ns=(moment * 10**9, moment * 10**9))
        self.files[name] = (what, moment)

    @rule(name=st.sampled_from(NAMES))
    def delete(self, name):
        Path(name).unlink(missing_ok=True)
        self.files.pop(name, None)

    # The index

    @rule(
        roots=st.lists(st.sampled_from([*FOLDERS, "a.txt", "in/deep/e.txt"]), min_size=1),
        filters=st.sampled_from(FILTERS),
    )
    def add(self, roots, filters):
        if any(root not in self.files and root not in self.FOLDERS for root in roots):
            with pytest.raises(InputError):
                self.index.add(roots, filters)
            return
        for root in roots:
            self.forget_places(root)
        self.places |= dict.fromkeys(roots, filters)
        expected = self.taken_in(
            {name for root in roots for name in self.files if takes(root, filters, name)}
        )

        assert self.done(self.index.add(roots, filters)) == expected

    @rule()
    def update(self):
        there = {name for name in self.files if self.is_watched(name)}
        expected = self.taken_in(there)
        gone = [at(name) for name in self.NAMES if name not in there and at(name) in self.known]
        for path in gone:
            del self.known[path]
        expected["removed"] += len(gone)

        assert self.done(self.index.update()) == expected

    @rule(name=st.sampled_from(sorted({*NAMES, *FOLDERS, *TEXT_NAMES, "gone"})))
    def remove(self, name):
        under = [path for path in self.known if is_at_or_under(path, at(name))]
        named = [path for path in self.known if is_at_or_under(path, name)]
        if not under and not named and name not in self.places:
            with pytest.raises(InputError):
                self.index.remove([name])
            return
        if not named:
            self.forget_places(name)
            if self.place_of(name) is not None:
                self.places[name] = None
        for path in named or under:
            del self.known[path]

        assert self.index.remove([name]) == Changes(removed=len(named or under))

    @rule(given=st.lists(st.tuples(st.sampled_from(TEXT_NAMES), st.sampled_from(sorted(TEXTS)))))
    def add_texts(self, given):
        made = {name: Known(TEXTS[what], TEXTS[what].encode(), -1) for name, what in given}
        replaced = len(made.keys() & self.known.keys())

        changes = self.index.add_texts(
            [name for name, _ in given], [TEXTS[what] for _, what in given]
        )

        assert (changes.added, changes.replaced) == (len(made) - replaced, replaced)
        self.known |= made

    @rule()
    def reopen(self):
        self.index.close()
        self.index = Index("../index")

    # Questions

    @rule(
        whats=st.lists(st.sampled_from(sorted(TEXTS)), min_size=1, max_size=3),
        least=st.sampled_from([0.2, 0.45, 0.8, 1]) | st.integers(0, 12),
        bits=st.sampled_from([64, 64, 32]),
        top=st.sampled_from([None, None, 1, 3]),
    )
    def query(self, whats, least, bits, top):
        is_bare = isinstance(least, int) and least != 1
        chosen = {"k": least} if is_bare else {"similarity": float(least)}
        settings = Settings(Recipe(bits=bits), **chosen)

        answers = self.index.query_many([TEXTS[what] for what in whats], settings, top)

        assert [answer.question for answer in answers] == [str(i) for i in range(len(whats))]
        for answer, what in zip(answers, whats, strict=True):
            assert told(answer.matches) == self.in_sets(self.alike(TEXTS[what], settings)[:top])

    @rule(what=st.sampled_from(sorted(TEXTS)), top=st.integers(1, 9))
    def nearest(self, what, top):
        matches = told(self.index.query(TEXTS[what], top=top))

        every = self.alike(TEXTS[what], Settings(Recipe(bits=64), k=64), is_any_alike=True)
        distances = sorted(distance for *_, distance, _, _ in every)[:top]
        assert sorted(distance for *_, distance, _, _ in matches) == distances
        assert self.in_sets([each for each in every if each in matches]) == matches

    @invariant()
    def both_hold_the_same(self):
        assert len(self.index) == len(self.known)
        assert sorted(self.index.pairs(0)[0]) == sorted(self.known)
        assert whole(self.index)

    # The dictionary

    def taken_in(self, names):
        """What an index is to say of reading some files, and the same done to the dictionary."""
        done = {"added": 0, "replaced": 0, "removed": 0, "unchanged": 0}
        for name in names:
            what, written = self.files[name]
            before = self.known.get(at(name))
            if before and before.written == written:
                done["unchanged"] += 1
            elif what in TEXTS:
                done["replaced" if before else "added"] += 1
                self.known[at(name)] = Known(TEXTS[what], POOL[what], written)
            elif before:
                done["removed"] += 1
                del self.known[at(name)]
        return done

    @staticmethod
    def done(changes):
        return {
            name: getattr(changes, name) for name in ("added", "replaced", "removed", "unchanged")
        }

    def forget_places(self, root):
        self.places = {
            each: filters
            for each, filters in self.places.items()
            if not is_at_or_under(at(each), at(root))
        }

    def place_of(self, name):
        """The nearest place at or above a path."""
        above = [each for each in self.places if is_at_or_under(at(name), at(each))]
        return max(above, key=lambda each: len(at(each)), default=None)

    def is_watched(self, name):
        place = self.place_of(name)
        filters = None if place is None else self.places[place]
        return filters is not None and takes(place, filters, name)

    def alike(self, asked, settings, *, is_any_alike=False):
        """What is like a text, one document at a time: as `told`."""
        bits, k = settings.recipe.bits, reach(settings, len(self.known))
        rows = []
        for path, known in self.known.items():
            made = fingerprint_texts([asked, known.text], settings.recipe)
            distance = int(np.bitwise_count(made.rows[0] ^ made.rows[1]).sum())
            if distance > k:
                continue
            exact = None
            is_there = self.files.get(os.path.relpath(path), ("", 0))[1] == known.written
            is_wanted = settings.verified or is_any_alike or (made.counts < SHORT).any()
            if not os.path.isabs(path):
                exact = 1.0 if (made.digests[0] == made.digests[1]).all() else None
            elif is_there and is_wanted:
                texts, ends = [asked, known.text], (np.array([0]), np.array([1]))
                exact = float(exact_similarities(texts, *ends, settings.recipe)[0])
            if settings.verified:
                holds = distance <= replace(settings, verified=False).distance
                least = least_similarity(settings.similarity, made.counts.min(keepdims=True))
                holds = holds if exact is None else exact >= least[0]
            else:
                holds = exact is None or exact >= similarity_at(settings.k, bits)
            if holds or is_any_alike:
                alike = max(similarity_at(distance, bits), 0) if exact is None else exact
                kind = known.kind_with(asked)
                rows.append((kind, round(alike, 9), distance, exact is not None, path))
        strength = list(Kind)
        return sorted(rows, key=lambda each: (strength.index(each[0]), -each[1], each[2], each[4]))

    def in_sets(self, rows):
        """The rows, with the same words behind the first ones, then the same text, then bytes."""
        words_at, text_at, data_at = {}, {}, {}
        contents = []
        for place, (*_, path) in enumerate(rows):
            known = self.known[path]
            text = known.text.replace("\r\n", "\n")
            contents.append(
                (
                    words_at.setdefault(tuple(known.words), place),
                    text_at.setdefault(text, place),
                    data_at.setdefault(known.data, place),
                )
            )
        return [rows[place] for place in sorted(range(len(rows)), key=contents.__getitem__)]


def told(matches):
    return [
        (m.kind, round(m.similarity, 9), m.distance, m.is_exact, m.document.path) for m in matches
    ]


def is_at_or_under(path, root):
    return path == root or path.startswith(os.path.join(root, ""))


def takes(root, filters, name):
    """Whether a walk of the root finds the file."""
    if not is_at_or_under(at(name), at(root)):
        return False
    below = [] if root == name else os.path.relpath(name, root).split("/")
    if filters.include and not name.endswith(".txt"):
        return False
    if filters.exclude and "deep" in below[:-1]:
        return False
    return filters.max_depth is None or len(below) <= filters.max_depth


def test_an_index_answers_as_a_dictionary_would():
    run_state_machine_as_test(
        IndexAndDictionary, settings=examples(max_examples=25, stateful_step_count=20)
    )


# What is added


def test_update_reads_only_changed_files(index, write, monkeypatch):
    for name in "abc":
        write(f"in/{name}", words(ord(name)))
    index.add(["in"])
    write("in/b", words(5))
    asked, real = [], local.fingerprint_sources

    def noting(sources, *arguments):
        asked.extend(os.path.relpath(each.path) for each in sources)
        return real(sources, *arguments)

    monkeypatch.setattr("simdup.files.workers.fingerprint_sources", noting)
    changes = index.update()

    assert asked == ["in/b"]
    assert (changes.replaced, changes.unchanged) == (1, 2)
    assert found(index.query(words(5))) == ["in/b"]


def test_update_reads_every_file_when_the_readers_have_changed(index, write, monkeypatch):
    for name in "abc":
        write(f"in/{name}", words(ord(name)))
    index.add(["in"])
    index.add_texts(["text"], [words(9)])
    assert not index.is_outdated

    monkeypatch.setattr("simdup.text.encodings.EDITION", 99)
    assert index.is_outdated
    changes = index.update()

    assert (changes.added, changes.replaced, changes.unchanged) == (0, 3, 0)
    assert inside(index) == ["in/a", "in/b", "in/c", "text"]
    with Index(index.path) as again:
        assert not again.is_outdated
    assert not index.is_outdated
    assert index.update().unchanged == 3


@pytest.mark.parametrize("is_met", [True, False])
def test_a_file_that_could_not_be_reread_is_read_by_the_next_update(
    index, write, monkeypatch, is_met
):
    def without(reading, *, path):
        def some(first, *rest):
            for each in reading(first, *rest):
                is_it = os.path.relpath(each.path) == path
                yield Skipped(each.path, Reason.UNREADABLE) if is_it else each

        return some

    def without_b(sources, *how):
        there = [each for each in sources if os.path.basename(each.path) != "b"]
        done = real(there, *how)
        lost = [Skipped(each.path, Reason.UNREADABLE) for each in sources if each not in there]
        return replace(done, found=(*done.found, *lost))

    for name in "abc":
        write(f"in/{name}", words(ord(name)))
    index.add(["in"])
    monkeypatch.setattr("simdup.text.encodings.EDITION", 99)
    real = local.fingerprint_sources
    with monkeypatch.context() as without_one:
        if is_met:
            without_one.setattr("simdup.files.workers.fingerprint_sources", without_b)
        else:
            without_one.setattr("simdup.index.ingest.walk", without(ingest.walk, path="in/b"))
        assert index.update().replaced == 2

    assert not index.is_outdated
    again = index.update()
    assert (again.replaced, again.unchanged) == (1, 2)
    assert index.update().unchanged == 3


def test_an_interrupted_reread_is_resumed(limited, write, monkeypatch):
    index = limited(batch_documents=1, task_files=1)
    for name in "abc":
        write(f"in/{name}", words(ord(name)))
    index.add(["in"])
    monkeypatch.setattr("simdup.text.encodings.EDITION", 99)

    def until_b(sources, *how):
        if os.path.basename(sources[0].path) == "b":
            raise KeyboardInterrupt
        return real(sources, *how)

    real = local.fingerprint_sources
    with monkeypatch.context() as interrupted:
        interrupted.setattr("simdup.files.workers.fingerprint_sources", until_b)
        with pytest.raises(KeyboardInterrupt):
            index.update()

    changes = index.update()
    assert (changes.replaced, changes.unchanged) == (2, 1)


def test_an_index_that_notes_no_readers_is_outdated(index, write):
    write("in/a", FIRST)
    index.add(["in"])
    with closing(sqlite3.connect(index.path)) as file, file:
        file.execute(
            "UPDATE about SET value = json_remove(value, '$.readers') WHERE name = 'about'"
        )

    with Index(index.path) as old:
        assert old.is_outdated
        assert old.update().replaced == 1
        assert not old.is_outdated


@pytest.mark.parametrize("later_ns", [-1, 0])
def test_a_file_modified_just_before_it_was_read_is_read_again(index, write, monkeypatch, later_ns):
    monkeypatch.setattr(of_files, "SETTLED_NS", 2_000_000_000)
    write("in/a", FIRST)
    status = os.stat("in/a")
    latest = max(status.st_mtime_ns, status.st_ctime_ns)
    monkeypatch.setattr(
        "simdup.index.ingest.time.time_ns", lambda: latest + 2_000_000_000 - later_ns
    )
    index.add(["in"])

    changes = index.update()

    assert (changes.replaced, changes.unchanged) == ((0, 1) if later_ns else (1, 0))


def test_the_index_does_not_contain_its_own_files(folder, write):
    write("in/text", FIRST)
    with Index.create("in/index") as index:
        first = index.add([folder])
        again = index.update()
        assert inside(index) == ["in/text"]

    assert [each.path for each in first.skipped if each.reason.is_trouble] == []
    assert (again.unchanged, again.replaced) == (1, 0)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_batch_has_batch_documents_documents(limited, write, jobs):
    # A busy machine starts processes slowly.
    index = limited(task_files=2, batch_documents=4, batch_seconds=1e9)
    for number in range(11):
        write(f"in/{number:02}", words(number))

    index.add(["in"], jobs=jobs)

    assert (len(index), index.batches) == (11, 1 + 3)  # the first notes where to look again
    assert whole(index)


def test_a_slow_batch_is_written_after_some_seconds(limited, write):
    index = limited(task_files=2, batch_seconds=0)
    for number in range(6):
        write(f"in/{number}", words(number))

    index.add(["in"])

    assert (len(index), index.batches) == (6, 1 + 3)


# Where it looks again


def test_a_missing_path_is_skipped_and_its_documents_stay(index, write):
    """The path may be on a drive that is not mounted."""
    write("in/a", FIRST)
    write("drive/b", words(2))
    index.add(["in"])
    index.add(["drive"], Filters(hidden=True))
    shutil.rmtree("drive")
    write("in/new", words(3))

    changes = index.update()

    (skipped,) = changes.skipped
    assert str(skipped) == f"{at('drive')!r}: not found (`simdup index remove` forgets it)"
    assert (changes.added, changes.removed) == (1, 0)
    assert inside(index) == ["drive/b", "in/a", "in/new"]
    index.remove(["drive"])
    assert index.update().skipped == ()


def test_an_unreadable_folder_keeps_its_documents(index, write, monkeypatch):
    for name in ("in/a", "in/b/c", "in/b/d/e", "in/bc"):
        write(name, words(hash(name)))
    index.add(["in"])
    real = os.listdir

    def failing(path):
        if path == at("in/b"):
            raise PermissionError(13, "Permission denied", path)
        return real(path)

    monkeypatch.setattr("simdup.files.walk.os.listdir", failing)
    Path("in/bc").unlink()
    changes = index.update()

    assert inside(index) == ["in/a", "in/b/c", "in/b/d/e"]
    assert changes.removed == 1
    trouble = [each for each in changes.skipped if each.reason.is_trouble]
    assert [(each.path, each.detail) for each in trouble] == [(at("in/b"), "Permission denied")]


def test_a_file_that_cannot_be_read_stays_as_it_was(index, write, refused):
    write("in/a", FIRST)
    write("in/b", words(2))
    index.add(["in"])
    write("in/a", words(3))
    refused(at("in/a"))

    changes = index.update()

    assert [each.path for each in changes.skipped] == [at("in/a")]
    assert (changes.unchanged, changes.removed, changes.replaced) == (1, 0, 0)
    (match,) = index.query(FIRST)
    assert (found([match]), match.similarity, match.is_exact) == (["in/a"], 1, False)


def test_an_empty_path_is_not_the_current_folder(index, write):
    write("in/a", FIRST)
    index.add(["in"])

    for change in (index.add, index.remove):
        with pytest.raises(InputError, match=r"^'': "):
            change([""])

    assert (inside(index), index.info().places) == (["in/a"], (at("in"),))


@pytest.fixture
def meanwhile(index, place, monkeypatch):  # noqa: ARG001 (the index is there)
    """Return `meanwhile`: once that function has returned, another process adds `other`."""

    def arranging(owner, name):
        real, is_done = getattr(owner, name), []

        def answering(file):
            found = real(file)
            if not is_done:
                is_done.append(True)
                with Index(place) as another:
                    another.add(["other"])
            return found

        monkeypatch.setattr(owner, name, answering)

    with closing(sqlite3.connect(place)) as log:  # while that is there, nobody waits for readers
        log.execute("PRAGMA journal_mode = WAL")
        log.execute("SELECT 1 FROM about").fetchall()
        yield arranging


@pytest.mark.parametrize("asked", [(ingest.Places, "of"), (contents, "every_number")])
def test_documents_another_process_adds_meanwhile_stay(index, write, meanwhile, asked):
    write("in/a", FIRST)
    write("other/b", words(2))
    index.add(["in"])
    meanwhile(*asked)

    write("in/c", words(3))
    index.update()
    assert inside(index) == ["in/a", "in/c", "other/b"]
    assert index.info().places == (at("in"), at("other"))
    assert index.update().unchanged == 3


def test_paths_that_two_processes_add_at_once_are_both_kept(index, write, meanwhile):
    write("in/a", FIRST)
    write("other/b", words(2))
    meanwhile(ingest.Places, "of")

    index.add(["in"])

    assert index.info().places == (at("in"), at("other"))
    assert index.update().unchanged == 2


def test_paths_another_process_removes_during_an_update_stay_out(index, write, monkeypatch):
    for name in ("in/a", "in/out/b", "in/out/c"):
        write(name, words(ord(name[-1])))
    index.add(["in"])
    write("in/out/b", words(7))
    write("in/d", words(8))
    real = local.fingerprint_sources

    def removing(sources, *how):
        with Index(index.path) as another:
            if any("out" in path for path in inside(another)):
                another.remove(["in/out"])
        return real(sources, *how)

    monkeypatch.setattr("simdup.files.workers.fingerprint_sources", removing)
    changes = index.update()

    assert (changes.added, changes.replaced) == (1, 0)
    assert inside(index) == ["in/a", "in/d"]


def test_an_index_that_replaces_another_file_is_queried_from_then_on(index, place):
    index.add_texts(["a", "b"], [words(1), words(2)])
    assert found(index.query(words(1))) == ["a"]
    with Index.create(f"{place}-2") as other:
        other.add_texts(["c", "d"], [words(2), words(1)])

    os.replace(f"{place}-2", place)

    assert [m.document.path for m in index.query(words(1), top=1)] == ["d"]
    assert len(index.query_many([words(2), words(1)], Settings(k=40))) == 2
    os.unlink(place)
    with pytest.raises(InputError, match="there is no index"):
        index.query(words(1))
    with Index.create(place) as new:
        new.add_texts(["e"], [words(1)])
    assert [m.document.path for m in index.query(words(1), top=1)] == ["e"]
    os.unlink(place)
    Index.create(place, NARROW).close()
    with pytest.raises(InputError, match="made in another way has taken its place; open it anew"):
        index.query(words(1))


@pytest.mark.parametrize(
    "filters",
    [
        *("5", "{", "{}", "null", '{"include": "abc"}'),
        *(json.dumps({"max_depth": each}) for each in ("5", -1, True, 1.5)),
        *(json.dumps({"include": each}) for each in ("abc", [1], None)),
        *(json.dumps({"min_size": each}) for each in (None, "1")),
        json.dumps({"hidden": 1}),
        json.dumps(asdict(DEFAULTS)).encode(),
    ],
)
def test_any_wrong_filters_in_the_file_are_an_error(index, write, filters):
    write("in/a", FIRST)
    index.add(["in"])
    is_some = isinstance(filters, str) and ":" in filters
    usual = json.dumps(asdict(DEFAULTS) | json.loads(filters)) if is_some else filters
    with closing(sqlite3.connect(index.path)) as file, file:
        file.execute("UPDATE places SET filters = ?", [usual])

    for asking in (index.update, index.info):
        with pytest.raises(InputError, match=r"index': damaged \(filters "):
            asking()
    (problem,) = index.problems()
    assert problem.startswith(f"{index.path!r}: damaged (filters ")


def test_a_file_under_two_paths_with_different_filters_is_one_document(index, write):
    write("in/a", FIRST)
    os.mkdir("other")
    os.link("in/a", "other/b")
    index.add(["in"])
    index.add(["other"], Filters(hidden=True))

    changes = index.update()

    assert inside(index) == ["in/a"]
    assert [each.reason for each in changes.skipped] == [Reason.SAME_FILE]


def test_dot_dot_after_a_link_leads_out_of_its_target(index, write):
    write("real/x", FIRST)
    write("real/sub/y", words(2))
    write("x", words(3))
    os.symlink("real/sub", "link")

    index.add(["link/../x", "real/../x"])

    assert inside(index) == ["real/x", "x"]


# Texts by name


@pytest.mark.parametrize("name", ["", "/etc/passwd", "\ud800"], ids=repr)
def test_an_impossible_name_is_refused(index, name):
    with pytest.raises(ValueError, match=r"name|surrogates"):
        index.add_texts(["good", name], [FIRST, FIRST])

    assert len(index) == 0


@pytest.mark.parametrize("name", ["a", "in/a", "../a", "."])
def test_no_file_is_opened_for_a_text_of_its_name(index, write, untouchable, name):
    write("a", "one two three")
    write("in/a", FIRST)
    index.add_texts([name, "other"], ["one two three", "one two three four"])
    for path in ("a", "in/a", "../a"):
        untouchable(path)

    for settings in (None, Settings(similarity=0.1), Settings(k=256), Settings(verified=False)):
        assert index.query("one two three five", settings) is not None
        assert index.scan(settings).settings
    assert index.query("one two three five", top=2)


def test_texts_with_degenerate_fingerprints_are_refused(place):
    """Weights cut to whole numbers turn long texts into nothing, all the same nothing."""
    recipe = Recipe(features="keywords", weights="int", hash="string", bits=64)
    texts = [" ".join(f"word{i}{seed}" for i in range(400)) for seed in "ab"]
    with Index.create(place, Settings(recipe)) as index:
        changes = index.add_texts(["a"], texts[:1])

        assert [each.reason for each in changes.skipped] == [Reason.DEGENERATE]
        assert (changes.added, len(index)) == (0, 0)
        assert index.query(texts[1]) == ()


def test_fingerprints_of_another_size_are_refused(index):
    with pytest.raises(ValueError, match="64 bits where 256 are asked for"):
        index.query_rows(np.zeros((1, 8), np.uint8))


# Questions


@pytest.mark.parametrize("is_verified", [True, False])
def test_a_copy_is_exact_only_while_the_file_is_unchanged(index, write, is_verified):
    write("in/a", FIRST)
    index.add(["in"])

    def asked():
        (match,) = index.query(FIRST, Settings(verified=is_verified))
        return match.kind, match.similarity, match.is_exact

    assert asked() == (Kind.IDENTICAL_BYTES, 1, is_verified)
    write("in/a", words(9))
    assert asked() == (Kind.IDENTICAL_BYTES, 1, False)
    Path("in/a").unlink()
    assert asked() == (Kind.IDENTICAL_BYTES, 1, False)


def test_exact_similarities_equal_those_of_a_scan_and_estimates_follow_distance(index, write):
    write("in/a", FIRST)
    write("in/b", words(1, edits=10))
    index.add(["in"])
    (group,) = scan(["in"]).groups
    exact = group.members[1].similarity

    (match,) = index.query_files(["in/a"])[0][0].matches[1:]
    assert (match.similarity, match.is_exact) == (exact, True)

    for change in (
        lambda: os.utime("in/b", ns=(1, 1)),
        lambda: write("in/b", words(1, edits=11)),
        lambda: Path("in/b").unlink(),
    ):
        change()
        (match,) = index.query_files(["in/a"])[0][0].matches[1:]
        assert (match.similarity, match.is_exact) == (similarity_at(match.distance, 256), False)


def test_a_replaced_file_of_equal_size_and_time_is_no_exact_copy(index, write):
    write("in/a", FIRST)
    index.add(["in"])
    times = os.stat("in/a").st_atime_ns, os.stat("in/a").st_mtime_ns
    os.chmod("in/a", 0o600)
    assert [m.is_exact for m in index.query_files(["in/a"])[0][0].matches] == [True]

    write("q", FIRST)
    write("in/a", FIRST.replace("w1x0", "w1y0"))
    os.utime("in/a", ns=times)

    assert [m.is_exact for m in index.query_files(["q"])[0][0].matches] == [False]
    index.add(["q"])
    assert [each.reason for each in index.scan().skipped] == [Reason.CHANGED]


def test_estimates_reach_no_further_than_an_unverified_scan(narrow, write):
    bare, far = replace(NARROW, k=None, verified=False).distance, Settings(Recipe(bits=64))
    first = fingerprint_texts([FIRST], far.recipe).rows[0]
    for edits in range(60):
        row = fingerprint_texts([words(1, edits=edits)], far.recipe).rows[0]
        if bare < np.bitwise_count(first ^ row).sum() <= far.distance:
            break
    write("in/a", words(1, edits=edits))
    narrow.add(["in"])
    assert found(narrow.query(FIRST)) == ["in/a"]

    Path("in/a").unlink()

    assert narrow.query(FIRST) == ()
    assert found(narrow.query(FIRST, top=1)) == ["in/a"]


def test_short_texts_must_be_more_alike(index, write):
    """Of 16 pairs of words 8 are shared, which is too little; of 160 as large a share is not."""
    write("in/short", words(1, count=17))
    write("in/long", words(2, count=161))
    index.add(["in"])

    assert index.query(words(1, count=17, edits=8)) == ()
    (match,) = index.query(words(2, count=161, edits=80))
    assert (match.similarity, match.is_exact) == (0.5, True)
    settings = Settings(k=110)
    assert found(index.query(words(1, count=17, edits=4), settings)) == ["in/short"]


@pytest.mark.parametrize("top", [0, -1])
def test_top_must_be_at_least_one(index, top):
    with pytest.raises(ValueError, match=f"^top must be at least 1, not {top}$"):
        index.query(FIRST, top=top)


def test_a_file_read_differently_before_is_still_compared_exactly(index, write):
    write("in/a", words(1, edits=3))
    write("in/b", words(1, edits=6))
    index.add(["in"])
    write("in/a", FIRST)

    (answer,), _ = index.query_files([at("in/a")])

    exact = {os.path.relpath(m.document.path): m.is_exact for m in answer.matches}
    assert exact == {"in/a": False, "in/b": True}


def test_a_query_file_that_changes_meanwhile_gets_estimates(index, write, monkeypatch):
    write("in/a", words(1, edits=3))
    write("q", FIRST)
    index.add(["in"])
    real = room.query.answered

    def changing(*arguments):
        write("q", words(7))
        return real(*arguments)

    monkeypatch.setattr(room.query, "answered", changing)
    (answer,), _ = index.query_files(["q"])

    assert [m.is_exact for m in answer.matches] == [False]


def test_a_file_queried_twice_is_answered_twice(index, write):
    write("in/a", FIRST)
    index.add(["in"])
    os.link("in/a", "again")

    answers, skipped = index.query_files(["in/a", "in/a", "again", "gone", "in"])

    assert [answer.question for answer in answers] == ["in/a", "in/a", "again"]
    assert [found(answer.matches) for answer in answers] == [["in/a"]] * 3
    assert [(each.path, each.reason) for each in skipped] == [
        ("gone", Reason.VANISHED),
        ("in", Reason.SPECIAL),
    ]


@pytest.mark.parametrize("settings", [None, Settings(verified=False), Settings(Recipe(bits=64))])
def test_top_without_settings_gives_the_nearest_however_unlike(index, write, settings, untouchable):
    write("in/1", words(1, edits=9))
    write("in/2", words(2))
    index.add(["in"])
    if settings and not settings.verified:
        untouchable("in")

    matches = index.query(FIRST, settings, top=9, is_any_alike=settings is not None)

    assert found(matches) == ["in/1", "in/2"]
    assert matches[1].similarity < 0.3
    assert [m.is_exact for m in matches] == [settings is None or settings.verified] * 2
    with pytest.raises(ValueError, match="unless top says how many"):
        index.query(FIRST, is_any_alike=True)


def test_a_text_without_a_letter_matches_nothing(index):
    index.add_texts(["a"], [FIRST])

    answers = index.query_many(["...", FIRST, ""])

    assert [len(answer.matches) for answer in answers] == [0, 1, 0]


def test_fingerprints_are_matched_by_distance_alone(index, write, untouchable):
    write("in/a", FIRST)
    index.add(["in"])
    untouchable("in")
    row = fingerprint_texts([FIRST], Recipe()).rows

    (answer,) = index.query_rows(row)

    assert answer.question == row[0].tobytes().hex()
    assert [(m.kind, m.distance, m.similarity, m.is_exact) for m in answer.matches] == [
        (Kind.NEAR, 0, 1, False)
    ]


def rewritten(place, part, name, value):
    """Return the index with other metadata."""
    ((written,),) = by_sql(place, "SELECT value FROM about WHERE name = 'about'")
    about = json.loads(written)
    about[part][name] = value
    by_sql(place, "UPDATE about SET value = ? WHERE name = 'about'", json.dumps(about))


@pytest.mark.parametrize(
    ("name", "there", "here"),
    [
        ("unicode", "1.1.5", unicodedata.unidata_version),
        ("ngram", [3], [2]),
        ("format", 0, 2),
        ("variants", "Unihan 99.0.0", json.loads(Recipe().key())["variants"]),
    ],
)
def test_an_index_of_another_recipe_is_refused_by_name(place, name, there, here):
    with Index.create(place) as index:
        index.add_texts(["a"], [FIRST])
    rewritten(place, "key", name, there)

    with Index(place) as other:
        for use in (
            lambda: other.query(FIRST),
            lambda: other.add(["."]),
            lambda: other.add_texts(["b"], [FIRST]),
            other.update,
            other.scan,
            lambda: other.pairs(0),
        ):
            with pytest.raises(InputError) as refused:
                use()
            problem = f"made with {name} {there}, and here it is {here}; build the index anew"
            assert str(refused.value) == f"{place!r}: {problem}"
        assert (len(other), whole(other)) == (1, True)  # but it can be looked into
        assert other.info().about["key"][name] == there


def test_an_index_older_than_folding_keeps_variants_apart(index, write, simplified):
    traditional = simplified.translate(str.maketrans("个时这为们", "個時這為們"))
    write("in/a", simplified)
    place = "older"
    with Index.create(place, Settings(Recipe(fold_variants=False))) as made:
        made.add(["in"])
    ((written,),) = by_sql(place, "SELECT value FROM about WHERE name = 'about'")
    about = json.loads(written)
    assert "variants" not in about["key"]
    del about["recipe"]["fold_variants"]
    by_sql(place, "UPDATE about SET value = ? WHERE name = 'about'", json.dumps(about))

    with Index(place) as old:
        assert old.settings.recipe == Recipe(fold_variants=False)
        (apart,) = old.query(traditional)
        old.update()
    index.add(["in"])
    (folded,) = index.query(traditional)
    assert (apart.distance > 0, folded.distance) == (True, 0)


# Groups


@pytest.mark.parametrize("limit", [USUAL.sketch_bytes, 100])
def test_index_scan_sets_texts_of_one_pattern_aside(limited, write, monkeypatch, limit):
    """The index keeps sketches of files, replaced files and texts of earlier batches."""
    index = limited(sketch_bytes=limit)
    monkeypatch.setattr(contents, "NUMBERS_AT_ONCE", 5)
    form = words(0, count=100)
    for number in range(12):
        write(f"in/{number}", f"{form} {words(number + 1)}")
        write(f"later/{number}", words(number + 1))
    index.add(["in", "later"])
    for number in range(12):
        own = words(number + 1 if number < 2 else number + 51)
        write(f"later/{number}", f"{form} {own} end")
    index.update()

    result = index.scan()

    paths = [[os.path.relpath(m.document.path) for m in group.members] for group in result.groups]
    assert sorted(map(sorted, paths)) == [["in/0", "later/0"], ["in/1", "later/1"]]
    assert shown(result) == shown(scan([at("in"), at("later")]))
    assert len(index.scan(Settings(own_share=0)).groups[0].members) == 24
    assert len(index.query(f"{form} {words(1)}")) == 24  # a query asks for no own share


def shown(result):
    return [
        (group.kind, group.diameter, [(m.document.path, *shown_of(m)) for m in group.members])
        for group in result.groups
    ]


def shown_of(member):
    return member.fingerprint, member.kind, member.distance, member.similarity


@pytest.mark.parametrize("is_near", [True, False], ids=["look-alikes", "copies"])
def test_index_scan_skips_changed_files(index, write, is_near):
    for name in "abcd":
        write(f"in/{name}", words(1, edits=(ord(name) - 97) * is_near))
    index.add(["in"])
    write("in/b", words(2))
    Path("in/c").unlink()
    index.add_texts(["text"], [FIRST])

    result = index.scan()

    (group,) = result.groups
    assert [os.path.relpath(m.document.path) for m in group.members] == ["in/a", "in/d"]
    reasons = {os.path.relpath(each.path): each.reason for each in result.skipped}
    assert reasons == {"in/b": Reason.CHANGED, "in/c": Reason.VANISHED, "text": Reason.VANISHED}


def test_an_unverified_index_scan_opens_no_file(index, write, untouchable):
    for name in "abcd":
        write(f"in/{name}", words(1, edits=ord(name) - 97))
    index.add(["in"])
    index.add_texts(["text"], [FIRST])
    untouchable("in")

    (group,) = index.scan(Settings(k=80)).groups

    assert len(group.members) == 5


def test_pairs_are_every_pair_within_k(narrow):
    texts = [words(seed, edits=edits) for seed in range(5) for edits in (0, 1, 3)]
    narrow.add_texts([f"{number:02}" for number in range(15)], texts)
    narrow.remove(["03"])

    paths, pairs = narrow.pairs(20)

    kept = [text for number, text in enumerate(texts) if number != 3]
    rows = fingerprint_texts(kept, NARROW.recipe).rows
    distances = np.bitwise_count(rows[:, None] ^ rows).sum(axis=2, dtype=np.int64)
    i, j = np.nonzero(np.triu(distances <= 20, 1))
    assert paths == [f"{number:02}" for number in range(15) if number != 3]
    assert pairs.tolist() == np.column_stack((i, j, distances[i, j])).tolist()
    assert len(pairs) >= 10


# Several at once


def test_threads_may_query_while_another_changes_the_index(narrow):
    """Each batch adds nine equal texts: a count that is no multiple of nine is half a batch."""
    problems, counts, is_done = [], [[] for _ in range(4)], threading.Event()

    def asking(kept):
        try:
            while not is_done.is_set():
                before = narrow.batches
                found = len(narrow.query(FIRST, Settings(Recipe(bits=64), k=3 + len(kept) % 2)))
                kept.append(found)
                if found % 9 or found < 9 * before:
                    problems.append((before, found))
        except BaseException as error:  # noqa: BLE001  (a thread's would be lost)
            problems.append(error)

    threads = [threading.Thread(target=asking, args=[kept]) for kept in counts]
    for thread in threads:
        thread.start()
    try:
        for batch in range(40):
            narrow.add_texts([f"{batch}-{number}" for number in range(9)], [FIRST] * 9)
    finally:
        is_done.set()
        for thread in threads:
            thread.join()

    assert problems == []
    for kept in counts:
        assert kept == sorted(kept)
    assert len(narrow.query(FIRST)) == 360
    assert whole(narrow)


def test_connections_are_reused_between_threads(narrow, monkeypatch):
    narrow.add_texts(["a"], [FIRST])
    opened, real = [], contents.IndexFile
    monkeypatch.setattr(contents, "IndexFile", lambda path: opened.append(path) or real(path))

    for _ in range(20):
        thread = threading.Thread(target=narrow.query, args=[FIRST])
        thread.start()
        thread.join()

    assert len(opened) <= 2


def test_a_closed_index_reopens_when_it_is_queried(index, place):
    index.add_texts(["a"], [FIRST])
    index.close()
    index.close()

    assert found(index.query(FIRST)) == ["a"]
    index.close()
    assert os.listdir(os.path.dirname(place)) == ["index"]


def test_a_failed_query_leaves_no_open_transaction(index, monkeypatch):
    index.add_texts(["a"], [FIRST])

    def failing(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(room, "documents", failing)
        with suppress(KeyboardInterrupt):
            index.query(FIRST)

    assert found(index.query(FIRST)) == ["a"]


# What is in it
