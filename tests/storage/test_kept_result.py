"""simdup.storage.kept_result: the result of a scan that finds all files unchanged."""

from __future__ import annotations

import gzip
import json
import os
import zipfile
from contextlib import closing
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

from simdup import Document, Filters, Kind, Recipe, Settings, Skipped, Source, Store, scan
from simdup.files import scan as scanning
from simdup.records import Reason
from simdup.settings import Converter, Limits
from simdup.storage import kept_result, status
from simdup.storage.cached import RecipeCache
from simdup.storage.kept_result import Walked, is_lasting, state_of

pytestmark = pytest.mark.usefixtures("settled")


@pytest.fixture
def place(new_folder):
    return new_folder("place") / "store.sqlite3"


@pytest.fixture
def tree(write, english, simplified):
    """Documents of many kinds, in many relations."""
    write("in/a", english)
    write("in/a.gbk", simplified.encode("gb18030"))
    write("in/a.utf-8", simplified)
    write("in/a.gz", gzip.compress(english.encode()))
    write("in/junk after.gz", gzip.compress(english.encode()) + b"more")
    write("in/page.html.gz", gzip.compress(f"<p>{english}</p>".encode()))
    write("in/form.rtf", b"{\\rtf1 " + english.encode() + b"}")
    write("in/more", f"{english} and more at the end")
    for version in (1, 2, 3):
        words = (f"word{i}{'x' if i < 9 * version else ''}" for i in range(200))
        write(f"in/report v{version}.txt", " ".join(words))
    chapter = " ".join(f"chapter{i}" for i in range(300))
    write("in/chapter", chapter)
    write("in/book", f"{' '.join(f'book{i}' for i in range(2000))} {chapter}")
    write(b"in/\xff", english)
    write("in/empty", b"")
    write("in/empty too", b"  \n")
    write("in/binary", bytes(range(256)) * 9)
    write("in/page.html", "<p> </p>")
    write("in/yarn.lock", " ".join(f"lock{i}" for i in range(50)))
    write("in/picture.rtf", rb"{\rtf1 {\pict 00}}")
    write("in/picture again.rtf", rb"{\rtf1 {\pict 00}}")
    write("in/.hidden", english)
    os.symlink("a", "in/link")
    for number in range(8):
        write(f"in/one/{number}", f"{english[number * 9 :]} {number}")
        write(f"in/two/{number}", f"{english[number * 9 :]} {number}")
    with zipfile.ZipFile("in/packed.zip", "w") as archive:
        archive.writestr("inner.txt", english)
    return "in"


@pytest.fixture
def lookups(monkeypatch):
    """Return the sources of which scans asked the store."""
    asked, real = [], RecipeCache.recall

    def recalling(self, sources, **options):
        asked.extend(each.path for each in sources)
        return real(self, sources, **options)

    monkeypatch.setattr(RecipeCache, "recall", recalling)
    return asked


def scanned(place, *paths, **options):
    with closing(Store(place, pytest.fail)) as store:
        return scan(paths, store=store, **options)


def told(result):
    """All fields of a result but how long it took and what the store knew."""
    every = {each.name: getattr(result, each.name) for each in fields(result)}
    stats = every.pop("stats")._replace(seconds=0, from_store=0)
    return every | {"rows": result.rows.tolist(), "stats": stats}


OPTIONS = {
    "nothing": {},
    "128 bits": {"settings": Settings(Recipe(bits=128))},
    "by distance": {"settings": Settings(verified=False, k=8)},
    "words": {"settings": Settings(Recipe(features="words"), similarity=0.5)},
    "parts": {"settings": Settings(parts=0.5)},
    "an encoding": {"settings": Settings(encoding="gb18030")},
    "families": {"settings": Settings(own_share=0.9)},
    "noise": {"filters": Filters(noise=True)},
    "hidden files": {"filters": Filters(hidden=True)},
    "archives": {"archives": True},
    "references": {"against": ["in/one"]},
    "ignored pairs": {"ignored": [(b"a" * 16, b"b" * 16)]},
}


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_each_question_has_its_own_answer_which_is_found_again_without_asking_for_any_file(
    place, tree, lookups, options, monkeypatch
):
    plain, expected = told(scanned(place, tree)), told(scan([tree], **options))
    assert told(scanned(place, tree, **options)) == expected
    lookups.clear()
    with monkeypatch.context() as patched:
        patched.setattr(scanning, "match_documents", pytest.fail)
        again = scanned(place, tree, **options)

    assert lookups == []
    assert told(again) == expected
    assert again.stats.from_store == again.stats.found > 20
    assert again.stats.seconds > 0
    assert again.groups
    assert told(scanned(place, tree)) == plain


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_where_no_result_is_kept_all_files_are_known_and_none_is_read(
    place, tree, options, monkeypatch
):
    expected = told(scanned(place, tree, **options))
    with closing(Store(place, pytest.fail)) as store:
        store.execute("DELETE FROM results")
    monkeypatch.setattr("simdup.files.workers.fingerprint_sources", pytest.fail)
    if options != OPTIONS["parts"]:  # these are looked for in the texts again
        monkeypatch.setattr("simdup.files.group_files._RereadDocuments.features", pytest.fail)

    again = scanned(place, tree, **options)

    assert told(again) == expected
    assert again.stats.from_store == again.stats.found


def test_the_tree_has_all_that_a_result_may_say(tree):
    found = scan([tree], Settings(parts=0.5))

    members = [member for group in found.groups for member in group.members]
    assert found.folders
    assert found.parts
    assert found.candidates
    assert found.stats.identity_only
    assert {group.kind for group in found.groups} >= {Kind.IDENTICAL_BYTES, Kind.NEAR}
    assert any(group.versions for group in found.groups)
    assert any(member.document.packing for member in members)
    assert {each.document.format for each in members} == {"text", "html", "rtf"}
    assert found.doubtful
    assert any(member.own_share is not None for member in members)
    assert {member.set_id is None for member in members} == {True, False}
    assert any(member.document.features == 0 for member in members)
    assert {each.reason for each in found.skipped} >= {
        *(Reason.HIDDEN, Reason.SYMLINK, Reason.EMPTY, Reason.BINARY, Reason.UNEXTRACTED)
    }


def test_families_of_siblings_are_found_again(place, write, lookups):
    frame = " ".join(f"frame{i}" for i in range(200))
    for number in range(30):
        write(f"in/{number}", f"{frame} {' '.join(f'own{number}x{i}' for i in range(60))}")
    expected = scan(["in"])
    scanned(place, "in")
    lookups.clear()

    again = scanned(place, "in")

    assert told(again) == told(expected)
    assert again.patterns
    assert lookups == []


def test_groups_with_an_ignored_pair_are_found_again(place, tree, lookups):
    texts = {each.path: each.text_digest for each in scan([tree]).documents}
    ignored = [(texts["in/one/3"], texts["in/one/7"])]
    expected = scan([tree], ignored=ignored)
    scanned(place, tree)
    scanned(place, tree, ignored=ignored)
    lookups.clear()

    assert told(scanned(place, tree, ignored=ignored)) == told(expected)
    assert any(each.not_duplicates for each in expected.groups)
    assert lookups == []


def test_the_same_path_in_another_folder_is_another_question(place, write, monkeypatch, english):
    write("x/in/a", english)
    write("y/in/a", english)
    write("y/in/b", english)
    for name in ("x", "y"):
        with monkeypatch.context() as here:
            here.chdir(name)
            assert told(scanned(place, "in")) == told(scan(["in"]))


def test_only_the_last_result_of_a_question_is_kept(place, tree, write):
    scanned(place, tree)
    write("in/new", "a new text")
    scanned(place, tree)

    with closing(Store(place, pytest.fail)) as store:
        kept = store.execute("SELECT count(*) FROM results WHERE length(entry) > 2000")
    assert kept == [(1,)]


@pytest.mark.usefixtures("tree")
def test_a_list_of_files_is_looked_up_file_by_file(place, lookups):
    for _ in range(2):
        scanned(place, "in/a", "in/more", are_files=True)

    assert lookups == ["in/a", "in/more"] * 2


def test_a_result_is_used_as_often_as_it_is_met(place, tree):
    """What is in use is not forgotten: neither the result nor the folders of its files."""
    first = scanned(place, tree)
    with closing(Store(place, pytest.fail)) as store:
        for table in ("folders", "results"):
            store.execute(f"UPDATE {table} SET used = used - 30")
        before = store.execute("SELECT count(*) FROM folders WHERE used = ?", store.today)

    scanned(place, tree)

    with closing(Store(place, pytest.fail)) as store:
        today = store.execute("SELECT count(*) FROM folders WHERE used = ?", store.today)
        assert (before, today) == ([(0,)], [(3,)])
        assert (store.info().asked, store.info().known) == (first.stats.found, first.stats.found)
        used = store.execute("SELECT used = ? FROM results ORDER BY number", store.today)
    assert used == [(1,)]


@pytest.mark.usefixtures("tree")
def test_a_named_file_keeps_its_folder_in_use(place):
    scanned(place, "in/a", "in/more")
    with closing(Store(place, pytest.fail)) as store:
        store.execute("UPDATE folders SET used = used - 30")

    scanned(place, "in/a", "in/more")

    with closing(Store(place, pytest.fail)) as store:
        assert store.execute("SELECT used FROM folders") == [(store.today,)]


@pytest.mark.parametrize("between", [None, "another tree", "a change"])
def test_groups_of_the_last_scan_stay_if_nothing_changed(place, tree, write, monkeypatch, between):
    scanned(place, tree)
    if between == "another tree":
        write("other/a", "some text")
        scanned(place, "other")
    elif between == "a change":
        write("in/a", "some text")
    written, real = [], Store.execute_many

    def noting(self, statement, rows):
        rows = [*rows]
        written.extend(rows if "groups" in statement else ())
        return real(self, statement, rows)

    monkeypatch.setattr(Store, "execute_many", noting)
    scanned(place, tree)

    assert (len(written) > 1) == bool(between)  # the first is on the scan itself


def test_groups_of_the_last_scan_are_new_if_other_readers_read_the_same_files(
    place, write, english
):
    write("in/a", english)
    write("in/b.foo", f"{english} and more")
    results = set()
    for program in ("cat", "cat -u"):
        settings = Settings(converters=(Converter.of(f"foo={program} {{}}"),))
        scanned(place, "in", settings=settings)
        with closing(Store(place, pytest.fail)) as store:
            ((about,),) = store.execute("SELECT entry FROM groups WHERE number = 0")
        _, result = json.loads(about)
        results.add(result)

    assert len(results - {None}) == 2


# What a walk found


def source(path="a", **changed):
    return Source(path, 10, 1_000, 2_000, 5, 77, links=1)._replace(**changed)


CHANGED_FIELDS = {
    "path": "b",
    "size": 11,
    "mtime_ns": -1_000,
    "ctime_ns": 2_001,
    "device": (1 << 64) - 1,
    "inode": 1 << 100,
    "is_reference": True,
    "links": 2,
    "archive": source("z"),
}
STATES = [
    *(([source(**{field: value})], []) for field, value in CHANGED_FIELDS.items()),
    *(([source(each)], []) for each in ("", "a", "a\nb", "\udcff")),
    ([source(mtime_ns=2_000, ctime_ns=1_000)], []),
    *(([source(one), source(other)], []) for one, other in ("ab", "ba")),
    ([source("a"), source("b", archive=source("z"))], []),
    ([source("a", archive=source("z")), source("b")], []),
    *(([], [Skipped(*each)]) for each in (("a", Reason.HIDDEN), ("b", Reason.HIDDEN))),
    *(([], [Skipped(*each)]) for each in (("a", Reason.NOISE), ("a", Reason.HIDDEN, "x"))),
    ([], [Skipped("a", Reason.HIDDEN), Skipped("b", Reason.HIDDEN)]),
    ([], []),
]


def test_each_state_of_files_has_its_digest():
    assert CHANGED_FIELDS.keys() == {*Source._fields}
    assert len({state_of(Walked(*each)) for each in STATES}) == len(STATES)


# What is kept


def document(each):
    return Document(each, "utf-8", 1.0, 0, 9, b"a" * 16, b"b" * 16, b"c" * 16)


@pytest.mark.parametrize("reason", Reason, ids=lambda each: each.name)
def test_a_result_lasts_if_each_file_would_be_skipped_again(write, english, reason):
    write("in/a", english)
    result = replace(scan(["in"]), skipped=(Skipped("b", reason),))
    walked = Walked([source("a"), source("b")], [])

    lasts = is_lasting(walked, [document(source("a")), *result.skipped], result, 10**18)

    assert lasts == reason.is_lasting


@pytest.mark.parametrize("field", ["mtime_ns", "ctime_ns"])
def test_a_result_does_not_last_if_a_file_may_change_unseen(write, english, field, monkeypatch):
    monkeypatch.setattr(status, "SETTLED_NS", 100)
    write("in/a", english)
    write("in/b", english)
    about = [[document(source())] * 2, scan(["in"]), 10_000]

    assert is_lasting(Walked([source(), source(**{field: 9_899})], []), *about)
    assert not is_lasting(Walked([source(), source(**{field: 9_900})], []), *about)


def test_a_result_does_not_last_if_a_file_had_changed_when_it_was_read_again(write, english):
    write("in/a", english)
    result = scan(["in"])
    changed = replace(result, skipped=(Skipped("in/a", Reason.CHANGED),))
    about = Walked([source()], []), (document(source()),)

    assert is_lasting(*about, result, 10**18)
    assert not is_lasting(*about, changed, 10**18)


def test_a_result_that_does_not_last_is_not_kept(place, tree, lookups, monkeypatch):
    for settled, kept in ((10**18, False), (-(10**18), True)):
        monkeypatch.setattr(status, "SETTLED_NS", settled)
        scanned(place, tree)
        lookups.clear()
        scanned(place, tree)
        assert (not lookups) == kept


@pytest.mark.parametrize("more", [0, 1])
def test_a_result_of_too_many_files_is_not_kept(place, tree, lookups, monkeypatch, more):
    found = scan([tree]).stats.found
    monkeypatch.setattr(kept_result, "_BYTES_OF_A_DOCUMENT", 1000)
    settings = Settings(limits=Limits(result_bytes=1000 * found + more))
    scanned(place, tree, settings=settings)
    lookups.clear()

    scanned(place, tree, settings=settings)

    assert (not lookups) == bool(more)


FEW = {
    "none": [],
    "empty": [""],
    "one text": ["", "one text"],
    "only copies without text": [b"%PDF-1.4 nothing"] * 2,
    "copies without text between others": ["one", b"%PDF-1.4 nothing", "two"] * 2,
}


@pytest.mark.parametrize("texts", FEW.values(), ids=FEW)
def test_a_tree_with_hardly_any_text_is_found_again(place, folder, write, lookups, texts):
    (folder / "in").mkdir()
    for number, text in enumerate(texts):
        write(f"in/{number}", text)
    expected = told(scan(["in"]))
    scanned(place, "in")
    lookups.clear()

    assert told(scanned(place, "in")) == expected
    assert lookups == []


def test_equal_digests_are_one_object_which_takes_less_memory(place, tree):
    scanned(place, tree)

    (plain,) = [each for each in scanned(place, tree).documents if each.path == "in/a"]

    assert plain.bytes_digest is plain.text_digest
    assert plain.text_digest != plain.features_digest


def test_other_code_believes_nothing(place, tree, lookups, monkeypatch):
    scanned(place, tree)
    lookups.clear()
    monkeypatch.setattr(scanning, "CODE", b"another version")

    scanned(place, tree)

    assert lookups


def test_code_is_that_of_the_rooms_that_decide(tmp_path, monkeypatch):
    """Another version of simdup believes nothing of this one."""
    rooms = ["compute", "files", "findings", "fingerprint", "match", "report", "search", "storage"]
    names = ["theory.py", *(f"{room}/name.py" for room in rooms)]
    assert kept_result.code_in(tmp_path) == b""
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("before")

    codes = [kept_result.code_in(tmp_path)]
    for name in names:
        (tmp_path / name).write_text("after")
        codes.append(kept_result.code_in(tmp_path))
    of_report = names.index("report/name.py") + 1
    monkeypatch.setattr(np, "__version__", "0")

    assert codes[of_report] == codes.pop(of_report - 1)
    assert len({*codes, kept_result.code_in(tmp_path)}) == len(names) + 1
    assert kept_result.code_in(Path(kept_result.__file__).parents[1]) != kept_result.CODE
