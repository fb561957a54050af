"""simdup.storage.store.

What is known of files and pairs, when it is forgotten, and what trouble costs.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
import stat
from contextlib import closing, contextmanager, suppress
from errno import EACCES, EIO, ENOTDIR
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from conftest import by_sql
from failing import Failing
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from simdup.files import scan as scanning
from simdup.files.scan import scan
from simdup.files.walk import DEFAULTS, Filters
from simdup.fingerprint.sketch import laid_out
from simdup.match.engine import LocalEngine
from simdup.recipe import Recipe
from simdup.records import Document, Reason, Skipped, Source
from simdup.settings import USUAL, Limits, Settings
from simdup.storage import cached
from simdup.storage import status as of_files
from simdup.storage import store as room
from simdup.storage.cached import RecipeCache
from simdup.storage.sqlite import files_of
from simdup.storage.store import Store, default_place

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("settled")]

# The reasons that follow from the bytes and the recipe alone.
LASTING = [Reason.BINARY, Reason.EMPTY, Reason.UNEXTRACTED]
LASTING += [Reason.MISSING_EXTRA, Reason.DEGENERATE]
WIDTH = 4
WORDS = [f"{first}{second}" for first in "bcdfghklmnprst" for second in ("a", "olo", "ent", "iru")]

# The folder serves all examples: each has a store of its own in it.
SHARED_FOLDER = settings(
    max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture
def place(new_folder):
    return new_folder("place") / "store.sqlite3"


@contextmanager
def opened(place, said=None, **options):
    """A store; a warning is a failure unless there is a list for it."""
    with closing(Store(place, pytest.fail if said is None else said.append, **options)) as store:
        yield store


def source(path="in/a", **fields):
    return Source(path, 10, 1_000, 2_000, 5, 77)._replace(**fields)


def document(path="in/a", number=0, **fields):
    digests = (bytes([number]) * 16, bytes([number + 1]) * 16, bytes([number + 2]) * 16)
    return Document(source(path, **fields), "gb18030", 0.875, number, 100 + number, *digests)


def row(number=0):
    return bytes(range(number, number + WIDTH))


def sketch(number=0):
    return bytes(4 * number)


def keep(place, *outcomes, key="recipe", **fields):
    """Remember outcomes, documents with the row and the sketch of their number (`damaged`)."""
    numbers = [each.damaged for each in outcomes if isinstance(each, Document)]
    rows = [list(row(number)) for number in numbers]
    sources = [
        each.source if isinstance(each, Document) else source(each.path, **fields)
        for each in outcomes
    ]
    with opened(place) as store:
        made = np.array(rows, np.uint8).reshape(-1, WIDTH)
        RecipeCache(store, key, WIDTH).keep(sources, outcomes, made, *sketches(*numbers))


def sketches(*numbers):
    """The sizes and values of the sketches of these numbers."""
    return np.array(numbers, np.int64), np.zeros(sum(numbers), np.uint32)


def known_of(cache, sources, **options):
    """Return the outcome, row and sketch that a store has for each source; None for no document."""
    found = [(None, None, None)] * len(sources)
    for known in cache.recall(sources, **options):
        prints = zip(
            map(bytes, known.rows), laid_out(known.values, known.sizes).each(), strict=True
        )
        for at, outcome in zip(known.positions, known.outcomes, strict=True):
            is_document = isinstance(outcome, Document)
            found[at] = outcome, *(next(prints) if is_document else (None, None))
        assert not list(prints)
    return found


def recalled(place, *sources, key="recipe", is_list=False):
    """Return the outcome and the row that the store has for each source.

    Sketches must be the ones that were kept.
    """
    with opened(place) as store:
        found = known_of(RecipeCache(store, key, WIDTH), sources, is_list=is_list)
    for outcome, _, sketched in found:
        assert sketched == (sketch(outcome.damaged) if isinstance(outcome, Document) else None)
    return [(outcome, kept) for outcome, kept, _ in found]


UNKNOWN = (None, None)


def scanned(place, *paths, said=None, filters=DEFAULTS, are_files=False, **chosen):
    """A scan with a store; a warning is a failure unless there is a list for it."""
    with opened(place, said) as store:
        return scan(paths, Settings(**chosen), filters, are_files=are_files, store=store)


def known_files(place):
    return by_sql(place, "SELECT total(files) FROM batches")[0][0]


@pytest.fixture
def tree(write, english, simplified):
    """Ten files in three folders: copies, look-alikes, one binary and one empty."""
    for number in range(4):
        write(f"in/e{number}", english.replace("ninth", "9" * number))
        write(f"in/deep/c{number}", simplified.replace("四十", "十" * number).encode("gbk"))
    write("in/deep/deeper/binary", bytes(99))
    write("in/deep/deeper/empty", b"")
    return "in"


# What is known


def test_a_file_is_recalled_however_its_path_is_written(place, folder):
    keep(place, document("in/a"))

    for path in ("./in/a", "in//a", "in/./a", f"{folder}/in/a"):
        assert recalled(place, source(path)) == [(document(path), row())]


def test_a_reference_file_is_recalled_too(place):
    keep(place, document())

    ((found, _),) = recalled(place, source(is_reference=True))

    assert found.source.is_reference


@pytest.mark.parametrize(
    "fields",
    [
        {"inode": 2**64 - 1},
        {"inode": 2**63},
        {"mtime_ns": -1, "ctime_ns": -(2**62)},
        {"size": 2**62},
        {"size": 0, "mtime_ns": 0, "ctime_ns": 0, "inode": 0},
    ],
)
def test_numbers_that_file_systems_give_are_kept(place, fields):
    keep(place, document(**fields))

    assert recalled(place, source(**fields)) == [(document(**fields), row())]


def test_a_file_of_a_later_century_is_not_the_one_that_was_kept(place):
    keep(place, document())

    assert recalled(place, source(mtime_ns=2**63 + 1_000, ctime_ns=2**63)) == [UNKNOWN]


@SHARED_FOLDER
@given(
    st.binary(min_size=1, max_size=255)
    .filter(lambda name: not {*b"\0/"} & {*name})
    .map(os.fsdecode)
)
def test_a_file_of_any_name_is_recalled(tmp_path_factory, name):
    place = tmp_path_factory.mktemp("store") / "s"
    keep(place, document(f"in/{name}"))

    assert recalled(place, source(f"in/{name}")) == [(document(f"in/{name}"), row())]
    assert recalled(place, source(f"in/{name}x")) == [UNKNOWN]


@pytest.mark.parametrize("reason", LASTING)
@pytest.mark.parametrize("detail", ["", "31 % control bytes", "two\nlines"])
def test_the_reason_a_file_has_no_text_is_recalled(place, reason, detail):
    skipped = Skipped("in/a", reason, detail)
    keep(place, skipped)

    assert recalled(place, source()) == [(skipped, None)]


@pytest.mark.parametrize("reason", [each for each in Reason if each not in LASTING])
def test_files_that_could_not_be_read_are_not_kept(place, reason):
    keep(place, Skipped("in/a", reason, "it happens"))

    assert recalled(place, source()) == [UNKNOWN]
    assert known_files(place) == 0


@pytest.mark.parametrize("time", ["mtime_ns", "ctime_ns"])
@pytest.mark.parametrize(("later_ns", "is_known"), [(-1, True), (0, False), (10**12, False)])
def test_a_file_modified_just_before_the_scan_is_not_kept(
    place, monkeypatch, time, later_ns, is_known
):
    monkeypatch.setattr(of_files, "SETTLED_NS", 2_000_000_000)
    with opened(place) as store:
        cache = RecipeCache(store, "recipe", WIDTH)
        made = document(**{time: cache.began - 2_000_000_000 + later_ns})
        cache.keep([made.source], [made], np.array([list(row())], np.uint8), *sketches(0))

    assert recalled(place, made.source) == [(made, row()) if is_known else UNKNOWN]


# What similarities are known


def digests(*numbers):
    return np.array([[number, number + 1] for number in numbers], np.uint64)


@pytest.mark.parametrize("other", [[1, 9], [9, 2]])
def test_a_similarity_is_that_of_whole_digests(place, other):
    left, right = np.array([[1, 2]], np.uint64), np.array([[3, 4]], np.uint64)
    with opened(place) as store:
        cache = RecipeCache(store, "recipe", WIDTH)
        cache.keep_similarities(left, right, np.array([0.5]))

        assert cache.similarities(left, right).tolist() == [0.5]
        assert np.isnan(cache.similarities(np.array([other], np.uint64), right)).all()


@SHARED_FOLDER
@given(
    st.dictionaries(
        st.frozensets(st.integers(0, 2**64 - 2), min_size=1, max_size=2),
        st.floats(0, 1),
        max_size=30,
    )
)
def test_similarities_are_those_of_a_dictionary(tmp_path_factory, kept):
    left = digests(*map(min, kept)).reshape(-1, 2)
    right = digests(*map(max, kept)).reshape(-1, 2)
    with opened(tmp_path_factory.mktemp("store") / "s") as store:
        cache = RecipeCache(store, "recipe", WIDTH)
        cache.keep_similarities(left, right, np.array(list(kept.values()), np.float64))

        other = RecipeCache(store, "another recipe", WIDTH)
        assert cache.similarities(left, right).tolist() == list(kept.values())
        assert cache.similarities(right, left).tolist() == list(kept.values())
        assert np.isnan(cache.similarities(left + np.uint64(1), right)).all() or len(kept) > 1
        assert np.isnan(other.similarities(left, right)).all()


def results(place, key="recipe", limits=USUAL):
    """Keep and recall results by the numbers of their keys, in a store that is opened each time."""

    def keep(number, data):
        with opened(place) as store:
            RecipeCache(store, key, WIDTH, limits).keep_result(bytes([number]) * 16, data)

    def recall(*numbers):
        with opened(place) as store:
            cache = RecipeCache(store, key, WIDTH)
            return [cache.result(bytes([number]) * 16) for number in numbers]

    return keep, recall


def test_a_result_is_recalled_by_its_key_and_recipe_only(place):
    keep, recall = results(place)
    keep(1, b"one")
    keep(2, b"")

    assert recall(1, 2, 3) == [b"one", b"", None]
    assert results(place, "other")[1](1) == [None]
    keep(1, b"new")
    assert recall(1) == [b"new"]


def test_the_newest_results_stay_up_to_a_size_in_all(place):
    keep, recall = results(place, limits=Limits(result_bytes=10))
    for number, size in enumerate([2, 5, 3, 2]):
        keep(number, bytes(size))
    assert recall(*range(4)) == [None, bytes(5), bytes(3), bytes(2)]

    keep(4, bytes(11))
    assert recall(*range(5)) == [None, bytes(5), bytes(3), bytes(2), None]
    keep(1, bytes(6))  # kept anew, so it is the newest
    keep(5, bytes(1))
    assert recall(*range(6)) == [None, bytes(6), None, bytes(2), None, bytes(1)]
    keep(6, bytes(10))
    assert recall(*range(7)) == [None] * 6 + [bytes(10)]


def test_no_flipped_bit_of_a_result_is_believed(place):
    keep, recall = results(place)
    keep(1, b"found")
    ((entry, checksum),) = by_sql(place, "SELECT entry, checksum FROM results")

    for bit in range(8 * len(entry)):
        flipped = bytearray(entry)
        flipped[bit // 8] ^= 1 << bit % 8
        by_sql(place, "UPDATE results SET entry = ?", bytes(flipped))
        assert recall(1) == [None]
    for bit in range(32):
        sql = "UPDATE results SET entry = ?, checksum = ?"
        by_sql(place, sql, entry, checksum ^ 1 << bit)
        assert recall(1) == [None]


def test_the_results_used_last_stay(place):
    keep, recall = results(place, limits=Limits(result_bytes=10))
    for number in range(3):
        keep(number, bytes(3))
    by_sql(place, "UPDATE results SET used = used - 9")
    assert recall(0) == [bytes(3)]
    keep(3, bytes(3))

    assert recall(*range(4)) == [bytes(3), None, bytes(3), bytes(3)]


def test_a_result_in_the_place_of_another_is_not_believed(place):
    keep, recall = results(place)
    keep(1, b"one")
    keep(2, b"two")
    by_sql(place, "UPDATE results SET entry = (SELECT entry FROM results WHERE number = 1)")

    assert recall(1, 2) == [b"one", None]


def test_pairs_beyond_one_lookup_are_all_recalled(place, monkeypatch):
    monkeypatch.setattr(cached, "KEYS_AT_ONCE", 7)
    left, values = digests(*range(100)), np.linspace(0, 1, 100)
    with opened(place) as store:
        cache = RecipeCache(store, "recipe", WIDTH)
        cache.keep_similarities(left[::2], left[::2] + np.uint64(500), values[::2])
        found = cache.similarities(left, left + np.uint64(500))

    assert found[::2].tolist() == values[::2].tolist()
    assert np.isnan(found[1::2]).all()


# A dictionary as oracle


class StoreAndDictionary(RuleBasedStateMachine):
    """Files that come, change and go; after every step both know the same of each."""

    KEYS = ("one", "two")
    NAMES = ("a", "b", "in/a", "in/deep/a", "in/deep/b")
    # Every scan meets these, so that it reads every folder's records.
    ALWAYS = ("z", "in/z", "in/deep/z")
    NUMBERS = st.dictionaries(st.sampled_from(NAMES), st.integers(0, 4), min_size=1)

    def __init__(self):
        super().__init__()
        self.folder = TemporaryDirectory()
        os.makedirs(self.at("in/deep"))
        self.store = self.reopened()
        self.kept = {}
        self.now = {name: source(self.at(name)) for name in (*self.NAMES, *self.ALWAYS)}
        for name in self.ALWAYS:
            Path(self.at(name)).touch()

    def at(self, name):
        return os.path.join(self.folder.name, name)

    def reopened(self):
        return Store(Path(self.at("store")), pytest.fail)

    @rule(key=st.sampled_from(KEYS), numbers=NUMBERS)
    def keep(self, key, numbers):
        sources, found, rows = [], [], []
        for name, number in numbers.items():
            now, reason = self.now[name], Reason.EMPTY if number == 3 else Reason.UNREADABLE
            Path(now.path).touch()
            sources.append(now)
            skipped, known = Skipped(now.path, reason, "why"), (None, None)
            found.append(document(number=number)._replace(source=now) if number < 3 else skipped)
            if number < 3:
                rows.append(list(row(number)))
                known = row(number), sketch(number)
            if number < 4:
                self.kept[key, name, now] = found[-1], *known
        made = np.array(rows, np.uint8).reshape(-1, WIDTH)
        made_of = sketches(*(number for number in numbers.values() if number < 3))
        RecipeCache(self.store, key, WIDTH).keep(sources, found, made, *made_of)

    @rule(
        name=st.sampled_from(NAMES),
        field=st.sampled_from(["size", "mtime_ns", "ctime_ns", "inode"]),
        value=st.integers(10, 11),
    )
    def change(self, name, field, value):
        self.now[name] = self.now[name]._replace(**{field: value})

    @rule(name=st.sampled_from(NAMES))
    def remove(self, name):
        Path(self.at(name)).unlink(missing_ok=True)
        there = [each for each in self.now.values() if os.path.exists(each.path)]
        for key in self.KEYS:
            cache = RecipeCache(self.store, key, WIDTH)
            known_of(cache, there)
            cache.finish([self.folder.name])
        self.kept = {  # what has changed is forgotten too
            of: kept for of, kept in self.kept.items() if of[1] != name and of[2] == self.now[of[1]]
        }
        assert self.store.info().files == len(self.kept)

    @rule()
    def reopen(self):
        self.store.close()
        self.store = self.reopened()

    @invariant()
    def both_know_the_same(self):
        for key in self.KEYS:
            for is_list in (False, True):
                cache = RecipeCache(self.store, key, WIDTH)
                in_order = sorted(self.now.values())[:: -1 if is_list else 1]
                found = known_of(cache, in_order, is_list=is_list)
                for now, known in zip(in_order, found, strict=True):
                    name = os.path.relpath(now.path, self.folder.name)
                    assert known == self.kept.get((key, name, now), (None, None, None))

    def teardown(self):
        self.store.close()
        self.folder.cleanup()


def test_a_store_recalls_what_a_dictionary_would():
    run_state_machine_as_test(
        StoreAndDictionary, settings=settings(max_examples=40, stateful_step_count=20)
    )


# What is forgotten


def interrupted(*_, **__):
    raise KeyboardInterrupt


def test_a_deleted_folder_is_forgotten_with_all_below(place, tree):
    scanned(place, tree)
    shutil.rmtree("in/deep")

    scanned(place, tree)

    assert known_files(place) == 4
    assert by_sql(place, "SELECT count(*) FROM folders") == [(1,)]


@pytest.mark.usefixtures("matched_again")
def test_of_files_kept_together_only_the_gone_and_the_changed_are_forgotten(place, tree, write):
    scanned(place, tree)
    Path("in/e0").unlink()
    write("in/e1", "other words")

    assert scanned(place, tree).stats.from_store == 8
    assert known_files(place) == 9
    assert scanned(place, tree).stats.from_store == 9


@pytest.mark.parametrize(
    "filters",
    [
        Filters(exclude=("e*", "deep")),
        Filters(include=("e1",)),
        Filters(max_depth=1),
        Filters(min_size=900),
        Filters(max_size=1),
    ],
    ids=["exclude", "include", "max_depth", "min_size", "max_size"],
)
def test_files_a_filter_leaves_out_are_not_forgotten(place, tree, filters):
    scanned(place, tree)

    scanned(place, tree, filters=filters)

    assert known_files(place) == 10
    assert scanned(place, tree).stats.from_store == 10


def test_files_under_a_missing_root_are_not_forgotten(place, tree):
    scanned(place, tree)
    os.rename(tree, "unplugged")

    with opened(place) as store:
        RecipeCache(store, "recipe", WIDTH).finish([tree])

    assert known_files(place) == 10


def test_a_scan_elsewhere_forgets_nothing(place, tree, write):
    write("in more/a", "some other words")
    write("in0/b", "and others yet")
    scanned(place, tree)
    scanned(place, "in more", "in0")
    shutil.rmtree("in more")
    shutil.rmtree("in0")

    scanned(place, tree)

    assert known_files(place) == 12


@pytest.mark.parametrize("paths", [["./in/e0", "in/e1", "in/e2"], ["in"]], ids=["list", "folder"])
def test_an_edited_file_has_one_entry_however_often_it_is_scanned(place, tree, write, paths):
    scanned(place, tree)
    for number in range(3):
        write("in/e1", f"{number} words")
        scanned(place, *paths, are_files=len(paths) > 1)

        assert known_files(place) == 10
    assert by_sql(place, "SELECT count(*) FROM batches") == [(4,)]  # three folders, and the file


def test_a_damaged_batch_is_dropped(place, tree):
    scanned(place, tree)
    by_sql(place, "UPDATE batches SET checksum = checksum + 1")
    by_sql(place, "DELETE FROM results")

    assert scanned(place, tree).stats.from_store == 0
    assert known_files(place) == 10


def test_a_list_forgets_nothing(place, tree):
    scanned(place, tree)
    Path("in/e0").unlink()
    shutil.rmtree("in/deep")

    scanned(place, "in/e0", "in/e1", are_files=True)

    assert known_files(place) == 10


def test_an_interrupted_scan_forgets_nothing(place, tree, monkeypatch):
    scanned(place, tree)
    Path("in/e0").unlink()

    monkeypatch.setattr("simdup.match.engine.LocalEngine.groups", interrupted)
    with pytest.raises(KeyboardInterrupt):
        scanned(place, tree)

    assert known_files(place) == 10


@pytest.mark.parametrize("code", [EACCES, EIO, ENOTDIR])
def test_files_in_an_unreadable_folder_are_not_forgotten(place, tree, monkeypatch, code):
    scanned(place, tree)
    shutil.rmtree("in/deep")
    Path("in/e0").unlink()

    def failing(path):
        raise OSError(code, os.strerror(code), path)

    monkeypatch.setattr("simdup.storage.cached.os.lstat", failing)
    scanned(place, tree)

    assert known_files(place) == 10


# What is in a store


def test_info_counts_what_is_there(place, tree):
    first = scanned(place, tree)
    with opened(place) as store:
        info = store.info()

    assert (info.path, info.files, info.folders) == (str(place), 10, 3)
    assert info.bytes >= place.stat().st_size > 0
    assert (info.asked, info.known) == (10, 0)
    assert info.similarities == 0  # sketches tell them
    assert info.results == 1
    ((key, files),) = info.recipes
    assert json.loads(key).keys() == {
        *("recipe", "sketches", "noise", "reader", "words", "documents")
    }
    assert files == 10
    assert first.stats.from_store == 0


def test_info_counts_what_the_last_scan_found_in_the_store(place, tree):
    scanned(place, tree)
    scanned(place, "in/deep")

    with opened(place) as store:
        assert (store.info().asked, store.info().known) == (6, 6)


def test_a_new_store_is_empty(place):
    with opened(place) as store:
        info = store.info()

    empty = info._replace(files=0, folders=0, similarities=0, results=0, recipes=())
    assert info == empty._replace(asked=0, known=0)


def test_nothing_is_counted_once_a_store_is_closed(place, tree):
    scanned(place, tree)
    with opened(place) as store:
        assert store.info().results == 1
    info = store.info()

    assert (info.files, info.folders, info.similarities, info.results) == (0, 0, 0, 0)
    assert store.number_of_recipe("any") == 0


def emptied(place):
    return [
        by_sql(place, f"SELECT count(*) FROM {table}")[0][0]
        for table in ("batches", "folders", "similarities", "results", "recipes", "scans", "groups")
    ] == [0] * 7


def test_clear_forgets_everything_and_shrinks_the_file(place, write):
    for number in range(300):
        write(f"in/{number:>060}", f"the same words and one more {number}")
    scanned(place, "in")
    full = place.stat().st_size

    with opened(place) as store:
        store.clear()
        assert place.with_name(place.name + "-wal").stat().st_size == 0

    assert emptied(place)
    assert place.stat().st_size < full / 2
    assert scanned(place, "in").stats.from_store == 0


def test_clear_forgets_what_an_interrupted_scan_kept_while_the_clock_was_ahead(
    place, tree, monkeypatch
):
    monkeypatch.setattr("simdup.match.engine.LocalEngine.groups", interrupted)
    with pytest.raises(KeyboardInterrupt):
        scanned(place, tree)
    for sql in (*AGE, "UPDATE recipes SET used = used - ?"):
        by_sql(place, sql, -400)

    with opened(place) as store:
        store.clear()

    assert emptied(place)


AGE = (
    "UPDATE folders SET used = used - ?",
    "UPDATE similarities SET made = made - ?",
    "UPDATE results SET used = used - ?",
)


def test_clear_forgets_records_unused_for_some_days(place, tree, write):
    scanned(place, tree)
    for sql in AGE:
        by_sql(place, sql, 30)
    write("new/a", "a text that the first scan did not see")
    scanned(place, "new")

    with opened(place) as store:
        store.clear(30)
        assert (store.info().files, store.info().results) == (11, 2)

        store.clear(29)
        info = store.info()

    assert (info.files, info.folders, info.similarities, info.results) == (1, 1, 0, 1)
    assert info.asked == 1
    assert scanned(place, "new").stats.from_store == 1


@pytest.mark.parametrize(("second", "day"), [(0, 20_000), (-1, 19_999), (86_399, 20_000)])
def test_a_day_lasts_from_midnight_to_midnight(place, monkeypatch, second, day):
    monkeypatch.setattr(room.time, "time", lambda: 20_000 * 24 * 60 * 60 + second)

    with opened(place) as store:
        assert store.today == day


def test_records_that_are_used_again_are_not_cleared_by_age(place, tree):
    scanned(place, tree)
    for sql in (*AGE, "UPDATE recipes SET used = used - ?"):
        by_sql(place, sql, 30)
    scanned(place, tree)

    with opened(place) as store:
        store.clear(10)

    assert known_files(place) == 10


def test_clear_forgets_recipes_that_were_not_used(place, tree):
    scanned(place, tree)
    by_sql(place, "UPDATE recipes SET used = used - 30")
    scanned(place, tree, recipe=Recipe(ngram=3))

    with opened(place) as store:
        store.clear(10)
        ((key, files),) = store.info().recipes

    assert json.loads(key)["recipe"]["ngram"] == [3]
    assert files == 10


# Damage


def test_no_flipped_bit_of_a_batch_is_believed(place):
    keep(place, document(number=5))
    ((data, checksum),) = by_sql(place, "SELECT data, checksum FROM batches")

    for bit in range(8 * len(data)):
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        by_sql(place, "UPDATE batches SET data = ?", bytes(flipped))
        assert recalled(place, source()) == [UNKNOWN]
    for bit in range(63):
        sql = "UPDATE batches SET data = ?, checksum = ?"
        by_sql(place, sql, data, checksum ^ 1 << bit)
        assert recalled(place, source()) == [UNKNOWN]


@pytest.mark.parametrize(
    "sql",
    ["UPDATE batches SET folder = 2", "UPDATE batches SET recipe = 2"],
    ids=["folder", "recipe"],
)
def test_a_batch_in_the_place_of_another_is_not_believed(place, sql):
    with opened(place) as store:
        RecipeCache(store, "one", WIDTH)
        RecipeCache(store, "two", WIDTH)
    keep(place, document("in/a", number=5), key="one")
    by_sql(place, "INSERT INTO folders (path) VALUES (?)", os.fsencode(os.path.abspath("on")))
    by_sql(place, sql)

    for key in ("one", "two"):
        for path in ("in/a", "in/b", "on/a"):
            assert recalled(place, source(path), key=key) == [UNKNOWN]


@pytest.mark.parametrize("column", ["key", "value", "checksum"])
def test_no_flipped_bit_of_a_similarity_is_believed(place, column):
    for bit in range(63):
        with opened(place) as store:
            cache = RecipeCache(store, "recipe", WIDTH)
            cache.keep_similarities(digests(1), digests(2), np.array([0.5]))
            flip = f"UPDATE similarities SET {column} = ({column} | ?1) - ({column} & ?1)"
            store.execute(flip, 1 << bit)

            assert np.isnan(cache.similarities(digests(1), digests(2))).all()
            store.execute("DELETE FROM similarities")


@pytest.mark.parametrize("value", ["NULL", "'text'", "x'3f'", "1e300"])
@pytest.mark.parametrize(
    "column",
    [
        *(
            "batches.data",
            "batches.files",
            "folders.path",
            "recipes.key",
            "scans.value",
            "scans.name",
        ),
        *("similarities.value", "similarities.checksum", "similarities.made"),
        *("batches.checksum", "folders.used", "recipes.used"),
        *("results.key", "results.entry", "results.checksum", "results.used"),
    ],
)
def test_a_value_of_a_wrong_type_changes_no_answer(place, tree, column, value):
    """A flipped bit in the header of a row does this."""
    expected = scanned(place, tree)
    table, name = column.split(".")
    if table != "results":
        by_sql(place, "DELETE FROM results")  # so that texts are matched again
    with suppress(sqlite3.IntegrityError):
        by_sql(place, f"UPDATE OR IGNORE {table} SET {name} = {value}")

    said = []
    result = scanned(place, tree, said=said)

    assert (result.groups, result.skipped) == (expected.groups, expected.skipped)
    assert len(said) <= 1


@pytest.mark.parametrize("value", ["NULL", "'text'", "x'ff'", "CAST(x'ff' AS TEXT)", "1e300"])
@pytest.mark.parametrize("column", ["recipes.key", "scans.value", "scans.name", "batches.files"])
def test_a_value_of_a_wrong_type_does_not_crash_info(place, tree, run, column, value):
    scanned(place, tree)
    table, name = column.split(".")
    by_sql(place, f"UPDATE OR IGNORE {table} SET {name} = {value}")

    ended = run("cache", "info", "--cache", place)

    assert ended.code == 0
    assert ended.out.startswith(b"store ")
    assert not ended.err


# Trouble


ERRORS = [
    sqlite3.OperationalError("disk I/O error"),
    sqlite3.DatabaseError("database disk image is malformed"),
]


@pytest.mark.parametrize("filled", ["", "batches, similarities", "batches, similarities, results"])
def test_a_store_may_fail_at_any_statement(place, tree, write, filled):
    """There is one warning, and the answer is that of a scan without a store."""
    if is_filled := bool(filled):
        scanned(place, tree)
        if "results" not in filled:
            by_sql(place, "DELETE FROM results")
            write("in/e1", "words that the store does not have")  # so that a batch is outdated
    expected = scan([tree])
    data = place.read_bytes() if is_filled else b""
    for left in count():
        for each in place.parent.iterdir():
            each.unlink()
        place.write_bytes(data)
        said = []
        with opened(place, said) as store:
            failing = store.connection = Failing(store.connection, left, ERRORS[left % 2])
            result = scan([tree], store=store)

        assert (result.groups, result.skipped) == (expected.groups, expected.skipped)
        assert len(said) == (failing.left < 0)
        if failing.left >= 0:
            break
    assert left > 10


def test_a_scan_goes_on_without_a_locked_store(place, tree, monkeypatch):
    scanned(place, tree)
    monkeypatch.setattr("simdup.storage.sqlite.PATIENCE", 0)
    with closing(sqlite3.connect(place, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        said = []
        result = scanned(place, tree, said=said)

    assert len(result.groups) == 2
    assert said == [f"'{place}': database is locked; going on without the store"]


def test_a_failed_transaction_keeps_nothing(place):
    with opened(place) as store:
        cache = RecipeCache(store, "recipe", WIDTH)
        with suppress(ZeroDivisionError), store.writing():
            store.execute("INSERT INTO scans VALUES ('asked', 1)")
            raise ZeroDivisionError
        assert store.info().asked == 0

        cache.finish([])
        assert by_sql(place, "SELECT count(*) FROM scans") == [(2,)]


# Which files are stores


@pytest.mark.parametrize(
    ("platform", "place"),
    [
        ("linux", "/home/ada/.cache"),
        ("darwin", "/home/ada/Library/Caches"),
        ("win32", "/home/ada/AppData/Local"),
    ],
)
def test_the_usual_place_of_a_store_is_that_of_the_system(monkeypatch, platform, place):
    monkeypatch.setenv("SIMDUP_CACHE", "/named")
    assert default_place() == "/named"

    for name in ("SIMDUP_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("simdup.storage.home.sys.platform", platform)
    monkeypatch.setenv("HOME", "/home/ada")
    assert default_place() == f"{place}/simdup/store.sqlite3"


def test_a_store_counts_the_files_that_it_kept(place, tree):
    with opened(place) as store:
        assert store.kept == 0
        scan([tree], Settings(), DEFAULTS, store=store)
        assert store.kept == 10


@pytest.mark.parametrize("mask", [0, 0o022, 0o277])
def test_a_store_and_the_files_beside_it_are_for_their_user_only(place, mask):
    place.parent.chmod(0o755)
    before = os.umask(mask)
    try:
        with opened(place) as store:
            store.number_of_recipe("recipe")
            files = map(Path, files_of(place))
            modes = {each.name: stat.S_IMODE(each.stat().st_mode) for each in files}
    finally:
        os.umask(before)

    assert modes == {f"store.sqlite3{end}": 0o600 for end in ("", "-wal", "-shm")}


def test_the_folder_that_is_made_for_a_store_is_for_its_user_only(tmp_path):
    with opened(tmp_path / "new/er/store"):
        pass

    assert stat.S_IMODE((tmp_path / "new/er").stat().st_mode) == 0o700


def test_a_store_that_others_could_read_is_closed_to_them(place):
    with opened(place):
        pass
    place.chmod(0o644)

    with opened(place) as store:
        store.number_of_recipe("recipe")
        modes = [stat.S_IMODE(each.stat().st_mode) for each in place.parent.iterdir()]

    assert modes == [0o600] * 3


def test_a_closed_store_is_one_file(place, tree):
    scanned(place, tree)

    assert os.listdir(place.parent) == [place.name]


def test_a_store_that_has_failed_counts_no_file_as_kept(place):
    with opened(place, []) as store:
        cache = RecipeCache(store, "recipe", WIDTH)
        store.close()
        made = np.array([list(row(0))], np.uint8)
        cache.keep([source()], [document()], made, *sketches(0))

        assert store.kept == 0


def text_file(place):
    place.write_text("my notes\n" * 99, "utf-8")


def replaced(place, sound, damaged):
    data = place.read_bytes()
    assert sound in data
    place.write_bytes(data.replace(sound, damaged))


DAMAGE = {
    "schema": lambda place: replaced(place, b"CREATE TABLE f", b"CREATE \xff\xfeBLE f"),
    # SQLite can still read this schema.
    "name in the schema": lambda place: replaced(place, b" value INT", b" v\xe1lue INT"),
    "content": lambda place: place.write_bytes(place.read_bytes()[:100] + bytes(9999)),
    "view": lambda place: by_sql(place, "CREATE VIEW more AS SELECT 1"),
    "trigger": lambda place: by_sql(
        place, "CREATE TRIGGER more AFTER INSERT ON batches BEGIN DELETE FROM folders; END"
    ),
    "table": lambda place: by_sql(place, "CREATE TABLE more (title)"),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
@pytest.mark.parametrize("is_named", [False, True])
def test_a_damaged_store_is_moved_aside_with_a_warning(place, tree, damage, is_named):
    expected = scanned(place, tree)
    damage(place)
    before, said = place.read_bytes(), []

    with opened(place, said, is_named=is_named):
        pass

    (line,) = said
    assert line.startswith(f"'{place}': ")
    assert line.endswith("; it is now 'store.sqlite3.damaged', and what it knew is found out again")
    assert place.with_name("store.sqlite3.damaged").read_bytes() == before
    assert scanned(place, tree).groups == expected.groups
    assert scanned(place, tree).stats.from_store == 10


def test_a_store_that_becomes_something_else_while_it_is_open_is_left_alone(place, tree):
    said = []
    with opened(place, said) as store:
        place.unlink()
        text_file(place)
        error = sqlite3.DatabaseError("database disk image is malformed")
        store.connection = Failing(store.connection, 0, error)
        result = scan([tree], store=store)

    assert len(result.groups) == 2
    assert said == [f"'{place}': {error}; going on without the store"]
    assert place.read_bytes().startswith(b"my notes")


def test_a_damaged_store_that_cannot_be_moved_aside_stays_and_is_done_without(place, monkeypatch):
    with opened(place):
        pass
    place.write_bytes(place.read_bytes()[:100] + bytes(9999))
    before, said = place.read_bytes(), []

    def refused(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "replace", refused)
    with opened(place, said) as store:
        assert not store.is_open

    (line,) = said
    assert line.endswith(", and cannot be moved aside (Permission denied)")
    assert place.read_bytes() == before


def test_a_store_moved_aside_before_is_not_overwritten(place):
    damaged = []
    for number in range(2):
        with opened(place):
            pass
        place.write_bytes(place.read_bytes()[:100] + bytes([number]) * 9999)
        damaged.append(place.read_bytes())
        with opened(place, []):
            pass

    assert [
        place.with_name(place.name + end).read_bytes() for end in (".damaged", ".damaged1")
    ] == (damaged)


def test_no_log_of_a_store_that_was_moved_aside_stays(place):
    with opened(place):
        pass
    seen = []

    # Whoever else has the store open keeps its log there.
    with closing(sqlite3.connect(place)) as other:
        other.execute("CREATE TABLE more (title)")
        assert len(os.listdir(place.parent)) == 3
        with closing(Store(place, lambda _: seen.append(os.listdir(place.parent)))):
            assert seen == [["store.sqlite3.damaged"]]


@pytest.mark.usefixtures("matched_again")
def test_the_table_of_an_older_version_goes(place, tree):
    files = "CREATE TABLE files ( folder INTEGER, recipe INTEGER, name BLOB, record BLOB,"
    files += " checksum INTEGER, PRIMARY KEY (folder, recipe, name) ) WITHOUT ROWID"
    with opened(place):
        pass
    by_sql(place, files)

    scanned(place, tree)

    assert scanned(place, tree).stats.from_store == 10
    assert not by_sql(place, "SELECT name FROM sqlite_master WHERE name = 'files'")


def test_an_empty_file_becomes_a_store(place, tree):
    place.touch()

    scanned(place, tree)

    assert scanned(place, tree).stats.from_store == 10


def test_a_store_may_be_in_the_current_folder(place, monkeypatch):
    monkeypatch.chdir(place.parent)

    with opened(place.name) as store:
        assert store.is_open

    assert place.is_file()


# Scans


CHOICES = {
    **{f"{bits} bits": {"recipe": Recipe(bits=bits)} for bits in (8, 16, 32, 64, 128, 256)},
    **{f"k {k}": {"k": k} for k in (0, 3, 100)},
    **{f"similarity {least}": {"similarity": least} for least in (0.3, 0.8, 1)},
    "not verified": {"verified": False},
    "components": {"linkage": "components"},
    "all at once": {"recipe": Recipe(bits=64), "k": 3, "linkage": "components"},
}


@pytest.fixture
def matchings(monkeypatch):
    """Return the list of the texts of each matching, which grows from scan to scan."""
    made, real = [], LocalEngine.groups

    def noting(engine):
        made.append(len(engine.texts))
        return real(engine)

    monkeypatch.setattr(LocalEngine, "groups", noting)
    return made


@pytest.mark.parametrize("chosen", CHOICES.values(), ids=CHOICES)
def test_another_size_or_threshold_reads_no_file_and_has_a_result_of_its_own(
    place, tree, matchings, chosen
):
    scanned(place, tree)
    expected = scan([tree], Settings(**chosen))
    matchings.clear()

    for _ in range(2):
        result = scanned(place, tree, **chosen)

        assert result.stats.from_store == result.stats.found == 10
        assert (result.groups, result.skipped) == (expected.groups, expected.skipped)
        assert result.candidates == expected.candidates
        assert (result.rows == expected.rows).all()
    assert len(matchings) == (Settings(**chosen) != Settings())


def test_another_edition_of_the_reader_reads_every_file(place, tree, monkeypatch):
    scanned(place, tree)
    monkeypatch.setattr("simdup.text.encodings.EDITION", 999)

    assert scanned(place, tree).stats.from_store == 0


LOCKED = {
    "pdf": ("readers.find_spec", b"%PDF-1.4 nothing"),
    "zst": ("readers.can_unpack", b"\x28\xb5\x2f\xfd" + bytes(20)),
}


@pytest.mark.parametrize("what", LOCKED.values(), ids=LOCKED)
def test_a_reader_that_was_installed_since_reads_every_file(place, tree, write, monkeypatch, what):
    looked_for, data = what
    locked = write("in/locked", data)
    with monkeypatch.context() as without:
        without.setattr(f"simdup.extract.{looked_for}", lambda _: None)
        scanned(place, tree)
        again = scanned(place, tree)
        assert again.stats.from_store == again.stats.found == 11
        assert Reason.MISSING_EXTRA in {each.reason for each in again.skipped}
    monkeypatch.setattr(f"simdup.extract.{looked_for}", lambda _: True)
    monkeypatch.setattr("simdup.extract.readers.version", lambda _: "1")
    Path(locked).unlink()  # the reader may not be here in truth

    assert scanned(place, tree).stats.from_store == 0


def test_another_dictionary_of_the_same_name_reads_every_file(place, tree, write):
    chosen = {"recipe": Recipe(features="words", stop_words="stop")}
    write("stop", "the\n")
    scanned(place, tree, **chosen)
    write("stop", "the\nand\n")
    chosen = {"recipe": Recipe(features="words", stop_words="stop")}

    assert scanned(place, tree, **chosen).stats.from_store == 0


def test_no_result_is_taken_or_kept_where_the_code_is_not_known(
    place, tree, matchings, monkeypatch
):
    scanned(place, tree)
    monkeypatch.setattr(scanning, "CODE", b"")
    for _ in range(2):
        scanned(place, tree, similarity=0.8)
        scanned(place, tree)

    assert matchings == [7] * 5
    with opened(place) as store:
        assert store.info().results == 1


def test_a_change_that_keeps_size_and_times_is_seen_when_compared_and_no_result_is_kept(
    place, tree, write, monkeypatch
):
    for module in (cached, of_files):
        monkeypatch.setattr(module, "status", lambda source: f"{source.size:<32}".encode())
    tokens = Recipe(features="tokens")  # whose texts are read again
    scanned(place, tree, recipe=tokens)
    status, text = Path("in/e0").stat(), Path("in/e0").read_text("utf-8")
    write("in/e0", text[::-1])
    os.utime("in/e0", ns=(status.st_atime_ns, status.st_mtime_ns))
    for table in ("similarities", "results"):
        by_sql(place, f"DELETE FROM {table}")

    result = scanned(place, tree, recipe=tokens)

    grouped = {member.document.path for group in result.groups for member in group.members}
    assert grouped >= {"in/e1", "in/e2", "in/e3"}
    assert "in/e0" not in grouped
    assert [(each.path, each.reason) for each in result.skipped if each.reason.is_trouble] == [
        ("in/e0", Reason.CHANGED)
    ]
    assert by_sql(place, "SELECT count(*) FROM results") == [(0,)]


def test_a_store_takes_less_than_430_bytes_a_file_and_4_a_sampled_feature(place, write):
    words = random.Random(1)
    for number in range(2000):
        text = " ".join(words.choices(WORDS, k=60))
        write(f"in/{number % 20:02}/document-{number:05}.txt", text)

    result = scanned(place, "in")

    assert result.stats.fingerprinted == 2000
    values = sum(document.features for document in result.documents)
    assert place.stat().st_size < 430 * 2000 + 4 * values


def test_clearing_a_store_that_another_process_holds_is_an_error(run, write, english, monkeypatch):
    write("in/a", english)
    run("scan", "in", "--cache", "store")
    monkeypatch.setattr("simdup.storage.sqlite.PATIENCE", 0)

    with closing(sqlite3.connect("store", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        ended = run("cache", "clear", "--cache", "store")

    assert ended.code == 2
    assert b"forgot" not in ended.out
    assert ended.err.endswith(b"'store': it could not be cleared; try again later\n")
