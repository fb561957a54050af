"""simdup.index.

What is in the file of an index, batch by batch, and what damage does to it.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing, suppress
from itertools import count
from pathlib import Path

import numpy as np
import pytest
from conftest import by_sql
from failing import Failing
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simdup.errors import InputError
from simdup.files.walk import DEFAULTS
from simdup.fingerprint.sketch import read_back
from simdup.index import contents as changes
from simdup.index import segments as blocks
from simdup.index.connection import INDEX, IndexFile, checksum_of, create_file
from simdup.index.contents import (
    at_or_under,
    documents,
    every_number,
    everything,
    forget_empty_folders,
    problems,
    put,
    segments,
    take_out,
)
from simdup.index.entries import entry
from simdup.index.index import Index
from simdup.index.ingest import Places
from simdup.index.metadata import about, from_json, settings_of
from simdup.index.segments import BLOCKED_K, looked_up, pieces, within
from simdup.recipe import Recipe
from simdup.records import Document, Source
from simdup.settings import USUAL, Converter, Settings

pytestmark = pytest.mark.slow

# The folder serves all examples: each has a file of its own in it.
SHARED_FOLDER = settings(
    max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture
def place(new_folder):
    return str(new_folder("place") / "index")


@pytest.fixture
def small(monkeypatch):
    """Limit segments to five rows and pieces of blocks to three."""
    monkeypatch.setattr(changes, "SIZE", 5)
    monkeypatch.setattr(blocks, "MOST_IN_PIECE", 3)


def made(place, bits=64):
    create_file(place, about(Settings(Recipe(bits=bits))))
    return opened(place)


def opened(place, *, to_write=True):
    return closing(IndexFile(place, to_write=to_write))


def document(path, number=0, **fields):
    digests = (bytes([number]) * 16, bytes([number + 1]) * 16, bytes([number + 2]) * 16)
    source = Source(path, 10, 1_000, 2_000, 0, 77)._replace(**fields)
    return Document(source, "gb18030", 0.875, number, 100 + number, *digests)


def rows_of(*values, width=8):
    """A row for each number."""
    return np.array([list(value.to_bytes(width, "big")) for value in values], np.uint8).reshape(
        -1, width
    )


def sketch_of(value):
    """The bytes of a sketch, which has as many values as the number has ones, up to three."""
    return (value & 0xFFFF).to_bytes(4, "little") * min(value.bit_count(), 3)


def sketches_of(*values):
    return read_back(map(sketch_of, values))


def printed(*values):
    """A fingerprint and a sketch for each number."""
    return rows_of(*values), sketches_of(*values)


def keep(connection, paths, values):
    """Put documents of these paths with these fingerprints, in one batch."""
    with connection.writing():
        return put(connection, [document(path) for path in paths], *printed(*values))


def drop(connection, numbers):
    with connection.writing():
        take_out(connection, np.array(numbers, np.int64))


def held(connection):
    """Return the fingerprint of each path, from the segments; sketches must be theirs."""
    loaded = list(segments(connection, {}).values())
    made = everything(connection, loaded, USUAL, is_sketched=True)
    values = [int.from_bytes(row.tobytes(), "big") for row in made.rows]
    assert list(made.sketches.each()) == list(map(sketch_of, values))
    return {each.path: value for each, value in zip(made.documents, values, strict=True)}


def sizes(connection):
    return [len(each.documents) for each in segments(connection, {}).values()]


def whole(connection):
    return list(problems(connection)) == []


# Documents in and out


@pytest.mark.usefixtures("small")
def test_segments_are_filled_one_after_the_other(place):
    with made(place) as connection:
        for batch, expected in enumerate([[3], [5, 1], [5, 4], [5, 5, 2]]):
            keep(connection, [f"/{batch}-{i}" for i in range(3)], [batch, 100 + batch, 200])
            assert sizes(connection) == expected

        keep(connection, [f"/many-{i}" for i in range(14)], range(14))
        assert sizes(connection) == [5, 5, 5, 5, 5, 1]
        assert len(held(connection)) == len(connection) == 26
        assert whole(connection)


@pytest.mark.usefixtures("small")
def test_documents_are_taken_out_of_every_segment_and_their_room_is_used_again(place):
    with made(place) as connection:
        keep(connection, [f"/{i}" for i in range(17)], range(17))
        drop(connection, [1, 2, 3, 4, 5, 7, 17, 999])

        assert sizes(connection) == [4, 5, 1]
        assert sorted(held(connection).values()) == [5, *range(7, 16)]
        assert every_number(connection).tolist() == [6, *range(8, 17)]
        assert whole(connection)

        keep(connection, ["/new-1", "/new-2", "/new-3"], [1000, 2000, 3000])
        assert sizes(connection) == [5, 5, 3]
        assert max(every_number(connection)) == 20  # no number comes twice
        assert whole(connection)


@pytest.mark.usefixtures("small")
def test_removing_all_documents_leaves_empty_tables(place):
    with made(place) as connection:
        keep(connection, [f"/{i % 3}/{i}" for i in range(17)], range(17))
        drop(connection, range(1, 18))
        with connection.writing():
            forget_empty_folders(connection)

        assert (len(connection), sizes(connection), held(connection)) == (0, [], {})
        assert whole(connection)
    for table in ("documents", "segments", "folders", "block_0", "block_3"):
        assert by_sql(place, f"SELECT count(*) FROM {table}") == [(0,)]


@pytest.mark.usefixtures("small")
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(
            st.lists(st.tuples(st.integers(0, 9), st.integers(0, 2**64 - 1)), max_size=8),
            st.lists(st.integers(0, 9), max_size=4),
        ),
        max_size=6,
    )
)
def test_an_index_file_holds_what_a_dictionary_would(tmp_path_factory, steps):
    place, expected = str(tmp_path_factory.mktemp("catalogue") / "index"), {}
    with made(place) as connection:
        for new, old in steps:
            paths = [f"/{number % 3}/{number}" for number, _ in new]
            replaced = len(expected.keys() & set(paths))
            assert keep(connection, paths, [value for _, value in new]) == replaced
            expected |= dict(zip(paths, (value for _, value in new), strict=True))
            gone = [
                number
                for number, each in documents(connection, every_number(connection)).items()
                if int(os.path.basename(each.path)) in old
            ]
            drop(connection, gone)
            expected = {k: v for k, v in expected.items() if int(k.split("/")[2]) not in old}

            assert held(connection) == expected
            assert whole(connection)
            assert all(size <= 5 for size in sizes(connection))


def test_at_or_under_finds_a_document_and_all_in_a_folder(place):
    paths = ["/in", "/in/a", "/in/b/c", "/in/b/d/e", "in/a"]
    paths += ["/in0/a", "/in-/a", "/i/a", "/in\xff/a"]
    with made(place) as connection:
        keep(connection, paths, range(9))

        def found(path):
            numbers = at_or_under(connection, path)
            return sorted(each.path for each in documents(connection, numbers).values())

        assert found(b"/in") == ["/in", "/in/a", "/in/b/c", "/in/b/d/e"]
        assert found(b"/in/b") == ["/in/b/c", "/in/b/d/e"]
        assert found(b"/in/a") == ["/in/a"]
        assert found(b"in") == ["in/a"]
        assert found(b"/") == sorted(path for path in paths if path != "in/a")
        assert found(b"/in/gone") == found(b"a") == found(b"") == []


# Batches


def test_a_reader_sees_the_last_complete_batch(place):
    with made(place) as writer, opened(place, to_write=False) as reader:
        keep(writer, ["/a"], [1])
        with reader.reading():
            before = held(reader)
            keep(writer, ["/b"], [2])
            with writer.writing():
                put(writer, [document("/c")], *printed(3))
                assert held(reader) == before == {"/a": 1}
        assert held(reader) == {"/a": 1, "/b": 2, "/c": 3}
        assert reader.number("batches") == 3


def test_segments_that_did_not_change_are_not_read_again(place, monkeypatch):
    monkeypatch.setattr(changes, "SIZE", 5)
    with made(place) as connection:
        keep(connection, [f"/{i}" for i in range(12)], range(12))
        first = segments(connection, {})
        keep(connection, ["/new"], [99])
        second = segments(connection, first)

        assert [second[number] is first[number] for number in first] == [True, True, False]
        drop(connection, [1])
        third = segments(connection, second)
        assert [third[number] is second[number] for number in second] == [False, True, True]


def test_a_second_writer_is_told_to_try_again(place, monkeypatch):
    monkeypatch.setattr("simdup.storage.sqlite.PATIENCE", 0)
    with made(place) as first, opened(place) as second:
        with first.writing(), pytest.raises(InputError) as refused:
            keep(second, ["/a"], [1])

        assert str(refused.value) == f"{place!r}: another process is changing it; try again later"
        assert keep(second, ["/a"], [1]) == 0


# Tables of blocks


def test_a_piece_has_the_fingerprints_that_share_the_first_bits_of_a_block():
    # As they lie in the file the lower byte of a block comes first.
    rows = rows_of(0x0101_0200_0000_0000, 0x0001_3F00_0000_0001, 0xFF40_0000_0000_0000)
    (first, second) = pieces(0, 7, rows, np.array([300, 100, 200]))

    assert first[:2] == (7 * 1024 + 4, entries((rows[1], 0), (rows[0], 200)))
    assert second[:2] == (7 * 1024 + 0x40FF // 64, entries((rows[2], 100)))


def entries(*parts):
    return b"".join(row.tobytes() + number.to_bytes(4, "little") for row, number in parts)


def test_numbers_that_a_piece_cannot_hold_are_refused():
    with pytest.raises(InputError) as refused:
        list(pieces(0, 1, rows_of(1, 2), np.array([1, 1 + 2**32])))
    assert str(refused.value) == "numbers of documents are too far apart; build the index anew"


def flipped(value, *bits):
    for bit in bits:
        value ^= 1 << bit
    return value


EDGES = [0, 2**64 - 1, 2**63, 2**63 - 1, 0x8000800080008000, 0x7FFF7FFF7FFF7FFF, 1, 1 << 48]


@st.composite
def neighbourhoods(draw):
    """Numbers of 64 bits, many a few bits from one of them, and one to ask for."""
    middle = draw(st.sampled_from(EDGES) | st.integers(0, 2**64 - 1))
    bits = st.lists(st.integers(0, 63), max_size=5, unique=True)
    near = [flipped(middle, *each) for each in draw(st.lists(bits, max_size=12))]
    far = draw(st.lists(st.integers(0, 2**64 - 1), max_size=5))
    return [*near, *far], flipped(middle, *draw(bits))


@SHARED_FOLDER
@given(neighbourhoods())
def test_blocks_answer_as_comparing_with_all_does(tmp_path_factory, neighbourhood):
    values, asked = neighbourhood
    with made(str(tmp_path_factory.mktemp("catalogue") / "index")) as connection:
        keep(connection, [f"/{i}" for i in range(len(values))], values)
        drop(connection, [2, 3])
        every = list(segments(connection, {}).values())
        for k in range(BLOCKED_K + 1):
            found = looked_up(connection, rows_of(asked), k)

            assert found.tolist() == within(every, rows_of(asked), k).tolist()
        assert looked_up(connection, rows_of(asked), BLOCKED_K + 1) is None
        both = rows_of(asked, values[0] if values else 5)
        assert looked_up(connection, both, 3).tolist() == within(every, both, 3).tolist()


@pytest.mark.usefixtures("small")
def test_a_block_that_many_share_is_not_looked_up(place):
    with made(place) as connection:
        keep(connection, ["/a", "/b", "/c"], [1, 2, 3])  # as many as may be
        assert len(looked_up(connection, rows_of(0), 2)) == 3

        keep(connection, ["/d"], [0xFFFF])
        assert looked_up(connection, rows_of(0), 2) is None
        assert looked_up(connection, rows_of(0x1111111111111111, 0), 2) is None
        assert whole(connection)
        assert looked_up(connection, rows_of(0x1111111111111111), 2).size == 0


@pytest.mark.parametrize("bits", [8, 32, 128, 256])
def test_only_64_bits_have_blocks(place, bits):
    with made(place, bits) as connection:
        with connection.writing():
            put(connection, [document("/a")], np.zeros((1, bits // 8), np.uint8), sketches_of(0))

        assert looked_up(connection, np.zeros((1, bits // 8), np.uint8), 3) is None
        assert whole(connection)
    assert by_sql(place, "SELECT count(*) FROM sqlite_master WHERE name LIKE 'block%'") == [(0,)]


# Damage


VALUES = [(i * 0x9E3779B97F4A7C15) % 2**64 for i in range(9)]


@pytest.fixture
def filled(place, monkeypatch):
    """Nine documents in two segments."""
    monkeypatch.setattr(changes, "SIZE", 5)
    with made(place) as connection, connection.writing():
        known = [document(f"/{'ab'[i % 2]}/{i}", i) for i in range(9)]
        put(connection, known, *printed(*VALUES))
    return place


def asked_for_everything(place):
    """Return what every way to read the file gives, or the message of its error."""
    answers = []
    with opened(place, to_write=False) as connection:
        for look in (
            lambda: held(connection),
            lambda: documents(connection, np.arange(1, 10)),
            *(lambda v=v: looked_up(connection, rows_of(v), 3).tolist() for v in VALUES),
        ):
            try:
                answers.append(look())
            except InputError as error:
                answers.append(str(error))
    return answers


def assert_found_and_harmless(place, expected):
    """Assert that the damage is found, and that every answer given in spite of it is right."""
    for answer, right in zip(asked_for_everything(place), expected, strict=True):
        assert answer == right or (isinstance(answer, str) and answer.startswith(f"{place!r}: "))
    with opened(place, to_write=False) as connection:
        found = list(problems(connection))
    assert found
    assert all("\n" not in line for line in found)


FLIPS = [
    *(("documents", "entry", "id = 4", at, bit) for at in (1, 8, 33, 40, 90) for bit in range(8)),
    *(
        ("segments", name, "id = 2", at, 0)
        for name in ("rows", "documents")
        for at in (0, 7, 31, -1)
    ),
    *(
        (f"block_{block}", "entries", f"id = (SELECT id FROM block_{block} LIMIT 1 OFFSET 5)", *at)
        for block in range(4)
        for at in ((0, 0), (1, 7), (2, 0), (5, 0), (7, 6), (8, 0), (11, 7))
    ),
]


@pytest.mark.parametrize("flip", FLIPS, ids=str)
def test_a_flipped_bit_is_found(filled, flip):
    table, column, where, at, bit = flip
    expected = asked_for_everything(filled)
    ((data,),) = by_sql(filled, f"SELECT {column} FROM {table} WHERE {where}")
    wrong = bytearray(data)
    wrong[at] ^= 1 << bit
    by_sql(filled, f"UPDATE {table} SET {column} = ? WHERE {where}", bytes(wrong))

    assert_found_and_harmless(filled, expected)


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM {} WHERE id = (SELECT max(id) FROM {})",
        "UPDATE {} SET id = id + 1024 WHERE id = (SELECT min(id) FROM {})",
        "UPDATE {} SET id = id + 10240 WHERE id = (SELECT min(id) FROM {})",
        "UPDATE {} SET checksum = checksum + 1",
        "UPDATE {} SET entries = substr(entries, 13)",
    ],
)
@pytest.mark.parametrize("block", range(4))
def test_a_piece_that_is_lost_or_wrong_in_a_table_of_blocks_is_found(filled, block, change):
    expected = asked_for_everything(filled)
    by_sql(filled, change.replace("{}", f"block_{block}"))

    assert_found_and_harmless(filled, expected)


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM segments WHERE id = 1",
        "DELETE FROM documents WHERE id = 4",
        "DELETE FROM folders WHERE path = x'2f612f'",
        "UPDATE documents SET folder = 77 WHERE id = 4",
        "UPDATE documents SET name = x'78' WHERE id = 4",
        "UPDATE documents SET id = 77 WHERE id = 4",
        "UPDATE documents SET entry = (SELECT entry FROM documents WHERE id = 5) WHERE id = 4",
        "UPDATE folders SET path = x'2f632f' WHERE path = x'2f612f'",
        "UPDATE segments SET size = size + 1",
        "UPDATE segments SET low = low + 3 WHERE id = 1",
        "INSERT INTO block_1 VALUES (77777, NULL, 0)",
        "UPDATE segments SET high = high - 3 WHERE id = 2",
        "UPDATE about SET value = 3 WHERE name = 'next'",
    ],
)
def test_tables_that_disagree_are_reported(filled, change):
    by_sql(filled, change)

    with opened(filled, to_write=False) as connection:
        assert list(problems(connection))


@pytest.mark.parametrize("change", ["low = low + 3", "high = high - 3"])
def test_a_document_that_cannot_be_taken_out_whole_is_left_as_it_was(filled, change):
    by_sql(filled, f"UPDATE segments SET {change}")
    before = by_sql(filled, "SELECT id FROM documents ORDER BY id")

    with opened(filled) as connection:
        for number in range(1, 10):
            with suppress(InputError):
                drop(connection, [number])
                before.remove((number,))
    listed = by_sql(filled, "SELECT documents FROM segments")
    ids = sorted(number for (each,) in listed for number in np.frombuffer(each, "<i8").tolist())
    after = by_sql(filled, "SELECT id FROM documents ORDER BY id")
    assert after == before == [(number,) for number in ids]


@pytest.mark.parametrize("value", ["NULL", "'text'", "x'3f'", "1e300", "-1", "x''"])
@pytest.mark.parametrize(
    "column",
    [
        *("about.value", "about.name", "folders.path", "documents.name", "documents.entry"),
        *("documents.checksum", "documents.folder", "segments.batch", "segments.size"),
        *("segments.low", "segments.high", "segments.rows", "segments.documents"),
        *("segments.checksum", "places.path", "places.filters"),
        *(f"block_{block}.{name}" for block in (0, 3) for name in ("entries", "checksum")),
    ],
)
def test_a_value_of_a_wrong_type_is_an_error_that_names_the_file(filled, column, value):
    """A flipped bit in the header of a row does this."""
    with opened(filled) as connection, connection.writing():
        Places({b"/a": DEFAULTS}).write(connection)
    expected = asked_for_everything(filled)
    table, name = column.split(".")
    with suppress(sqlite3.IntegrityError):
        by_sql(filled, f"UPDATE OR IGNORE {table} SET {name} = {value}")

    try:
        found = asked_for_everything(filled)
        with opened(filled) as connection:
            list(problems(connection))
            len(connection), Places.of(connection), connection.number("batches")
            drop(connection, [4])
            keep(connection, ["/a/0", "/a/new"], [1, 2])
    except InputError as error:
        found = [str(error)] * len(expected)

    for answer, right in zip(found, expected, strict=True):
        assert answer == right or (isinstance(answer, str) and answer.startswith(f"{filled!r}: "))


def test_a_batch_that_fails_at_any_statement_changes_nothing(filled):
    for left in count():
        with opened(filled) as connection:
            before, inner = held(connection), connection.connection
            failing = connection.connection = Failing(inner, left)
            with suppress(InputError), connection.writing():
                put(connection, [document("/a/0", 9), document("/c")], *printed(1, left))
                take_out(connection, np.array([3]))
            connection.connection = inner
            inner.rollback()  # as when it is closed
            assert (held(connection) == before) == (failing.left < 0)
            assert whole(connection)
        if failing.left >= 0:
            break
    assert left > 10


@pytest.mark.parametrize("sketch", [b"abc", b"abcde"])
def test_a_sketch_that_is_cut_off_is_an_error(place, sketch):
    own = document("/a")
    with made(place) as connection:
        keep(connection, ["/a"], [1])
        data = entry(own, sketch)
        values = data, checksum_of(1, b"/", b"a", data)
        connection.execute("UPDATE documents SET entry = ?, checksum = ?", *values)

        with pytest.raises(InputError, match=r"the entry of '/a' is none of a document$"):
            held(connection)
        assert len(list(problems(connection))) == 1


# Which files are indexes


def foreign_database(place):
    by_sql(place, "CREATE TABLE books (title)")


def store_of_simdup(place):
    by_sql(place, "PRAGMA application_id = 1")
    by_sql(place, "CREATE TABLE files (folder)")


def newer_index(place):
    with made(place):
        pass
    by_sql(place, f"PRAGMA user_version = {INDEX.format + 1}")


def older_index(place):
    with made(place):
        pass
    by_sql(place, f"PRAGMA user_version = {INDEX.format - 1}")


def text_file(place):
    Path(place).write_text("my notes\n" * 99)


def empty_file(place):
    Path(place).touch()


def nothing(_place):
    pass


def dangling_link(place):
    os.symlink("gone", place)


def beginning_of_an_index(place):
    with made(place):
        pass
    os.truncate(place, 60)


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (foreign_database, "not an index of simdup"),
        (store_of_simdup, "not an index of simdup"),
        (text_file, "not an index of simdup"),
        (empty_file, "not an index of simdup"),
        (beginning_of_an_index, "not an index of simdup"),
        (newer_index, "made by a newer simdup"),
        (older_index, "made by an older simdup; delete it to begin anew"),
        (os.mkdir, "a folder, and not an index of simdup"),
        (os.mkfifo, "not a regular file"),
        (nothing, "there is no index; `simdup index build` makes one"),
        (dangling_link, "there is no index; `simdup index build` makes one"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
@pytest.mark.parametrize("to_write", [False, True])
def test_a_file_that_is_no_index_is_refused_by_name_and_unchanged(place, make, problem, to_write):
    make(place)
    before = [(each, os.lstat(each)) for each in files_beside(place)]
    content = Path(place).read_bytes() if os.path.isfile(place) else b""

    with pytest.raises(InputError) as refused:
        IndexFile(place, to_write=to_write)

    assert str(refused.value) == f"{place!r}: {problem}"
    after = [(each, os.lstat(each)) for each in files_beside(place)]
    assert [(each, known.st_mtime_ns) for each, known in after] == [
        (each, known.st_mtime_ns) for each, known in before
    ]
    assert (Path(place).read_bytes() if os.path.isfile(place) else b"") == content


def files_beside(place):
    folder = os.path.dirname(place)
    return sorted(os.path.join(folder, name) for name in os.listdir(folder))


@pytest.mark.parametrize("mask", [0, 0o022, 0o277])
def test_a_new_index_and_the_files_beside_it_are_for_their_user_only(place, mask):
    os.chmod(os.path.dirname(place), 0o755)
    before = os.umask(mask)
    try:
        with made(place) as connection:
            keep(connection, ["/a"], [1])
            modes = [stat.S_IMODE(os.stat(each).st_mode) for each in files_beside(place)]
    finally:
        os.umask(before)

    assert modes == [0o600] * 3


def test_an_index_that_its_user_has_opened_to_others_stays_so(filled):
    os.chmod(filled, 0o644)

    with opened(filled) as connection:
        keep(connection, ["/new"], [1])

    assert stat.S_IMODE(os.stat(filled).st_mode) == 0o644


def test_a_segment_that_only_an_index_of_its_table_names_is_damage(filled):
    expected = asked_for_everything(filled)
    sql = "SELECT rootpage FROM sqlite_master WHERE name = ?"
    ((root,),), ((other,),) = (by_sql(filled, sql, each) for each in ("segments", "block_0"))
    ((size,),) = by_sql(filled, "PRAGMA page_size")
    by_sql(filled, "DELETE FROM block_0")  # its page is that of an empty table
    data = bytearray(Path(filled).read_bytes())
    data[(root - 1) * size : root * size] = data[(other - 1) * size : other * size]
    Path(filled).write_bytes(data)

    assert_found_and_harmless(filled, expected)


# What somebody else may have put in

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i, i FROM n"

FOREIGN = {
    "a view for a table": (
        ["DROP TABLE about", f"CREATE VIEW about (name, value) AS {ENDLESS}"],
        "view 'about'",
    ),
    "a view beside the tables": ([f"CREATE VIEW more AS {ENDLESS}"], "view 'more'"),
    "a trigger": (
        ["CREATE TRIGGER more AFTER UPDATE ON about BEGIN DELETE FROM places; END"],
        "trigger 'more'",
    ),
    "a table": (["CREATE TABLE more (title)"], "table 'more'"),
    "a virtual table": (
        [
            "PRAGMA writable_schema = ON",
            "INSERT INTO sqlite_master VALUES"
            " ('table', 'more', 'more', 0, 'CREATE VIRTUAL TABLE more USING whatever(title)')",
        ],
        "table 'more'",
    ),
    "a column that is computed": (
        ["ALTER TABLE places ADD COLUMN more AS (zeroblob(1000000000))"],
        "table 'places'",
    ),
    "an index": (["CREATE INDEX more ON places (abs(path))"], "index 'more'"),
}


@pytest.mark.parametrize(("statements", "what"), FOREIGN.values(), ids=FOREIGN)
@pytest.mark.parametrize("to_write", [False, True])
def test_an_index_holds_its_own_tables_and_nothing_else(filled, statements, what, to_write):
    with closing(sqlite3.connect(filled, isolation_level=None)) as connection:
        for sql in statements:
            connection.execute(sql)
    before = state(filled)

    with pytest.raises(InputError) as refused:
        IndexFile(filled, to_write=to_write)

    said = str(refused.value)
    assert said.startswith(f"{filled!r}: damaged ({what}")
    assert said.endswith("' is not one of an index); build it anew")
    assert state(filled) == before


def in_circles(place, table, levels=8):
    """Give a table rows without an end: pages that lead to the next one 400 times, and so on."""
    ((root,),) = by_sql(place, "SELECT rootpage FROM sqlite_master WHERE name = ?", table)
    data = bytearray(Path(place).read_bytes())
    size = int.from_bytes(data[16:18], "big")
    first = len(data) // size + 1
    data += data[size * (root - 1) : size * root]  # the row that all lead to
    for level in range(levels):
        child = (first + level).to_bytes(4, "big")
        head = b"\5" + bytes(2) + (400).to_bytes(2, "big") + (size - 5).to_bytes(2, "big")
        page = bytearray(head + b"\0" + child + (size - 5).to_bytes(2, "big") * 400)
        page += bytes(size - 5 - len(page)) + child + b"\1"
        if level == levels - 1:
            data[size * (root - 1) : size * root] = page
        else:
            data += page
    data[28:32] = (len(data) // size).to_bytes(4, "big")
    Path(place).write_bytes(data)


@pytest.mark.parametrize(
    ("table", "ask"),
    [("documents", every_number), ("segments", lambda connection: segments(connection, {}))],
    ids=["documents", "segments"],
)
def test_a_table_whose_pages_form_a_circle_is_an_error(filled, table, ask):
    in_circles(filled, table)

    with opened(filled, to_write=False) as connection, pytest.raises(InputError) as refused:
        ask(connection)

    damage = "damaged (a statement found no end in it)"
    assert str(refused.value) == f"{filled!r}: {damage}; build it anew"


@pytest.mark.parametrize("depth", [17, 900, 100_000])
@pytest.mark.parametrize("what", ["about", "filters"])
def test_deep_json_is_an_error(filled, what, depth):
    deep = "[" * depth + "]" * depth
    if what == "about":
        ((said,),) = by_sql(filled, "SELECT value FROM about WHERE name = 'about'")
        by_sql(
            filled, "UPDATE about SET value = ? WHERE name = 'about'", f'{said[:-1]}, "x": {deep}}}'
        )
    else:
        by_sql(
            filled, "INSERT OR REPLACE INTO places VALUES (x'2f61', ?)", f'{{"include": {deep}}}'
        )

    with pytest.raises(InputError) as refused:
        Index(filled).info()

    assert str(refused.value).startswith(f"{filled!r}: damaged (")
    assert len(str(refused.value)) < len(filled) + 150


def test_long_json_is_an_error():
    with pytest.raises(ValueError, match=r"^1,048,577 characters of JSON$"):
        from_json("[" + " " * (1 << 20))


@pytest.mark.parametrize("path", [b"docs", b"../docs", b"", b"/do\0cs", "/docs", 5, None])
def test_a_place_that_is_no_absolute_path_is_an_error(filled, path):
    by_sql(filled, "INSERT INTO places VALUES (?, '{}')", path)

    with opened(filled, to_write=False) as connection, pytest.raises(InputError) as refused:
        Places.of(connection)

    damage = f"damaged (place {path!r}, which is not an absolute path)"
    assert str(refused.value) == f"{filled!r}: {damage}; build it anew"


# Reading leaves no trace


def state(place):
    known = os.stat(place)
    folder = os.stat(os.path.dirname(place))
    content = Path(place).read_bytes()
    kept = (known.st_mtime_ns, known.st_ctime_ns, known.st_ino, known.st_mode, content)
    return (*kept, folder.st_mtime_ns, files_beside(place))


def test_a_closed_index_is_one_file_in_one_piece(filled):
    assert files_beside(filled) == [filled]
    assert Path(filled).read_bytes()[18:20] == b"\1\1"  # no log beside it


@pytest.mark.parametrize("mode", [0o644, 0o444])
@pytest.mark.parametrize("folder_mode", [0o755, 0o555])
def test_reading_changes_neither_the_file_nor_its_folder(filled, mode, folder_mode):
    os.chmod(filled, mode)
    os.chmod(os.path.dirname(filled), folder_mode)
    before = state(filled)

    with opened(filled, to_write=False) as connection:
        with connection.reading():
            assert len(held(connection)) == 9
        during = files_beside(filled)
        assert whole(connection)

    assert during == [filled]
    assert state(filled) == before
    os.chmod(os.path.dirname(filled), 0o755)


@pytest.mark.parametrize("last", ["reader", "writer"])
def test_the_last_to_close_leaves_one_file_in_one_piece(filled, last):
    writer = IndexFile(filled, to_write=True)
    reader = IndexFile(filled)
    keep(writer, ["/new"], [1])
    assert len(held(reader)) == 10

    for each in (writer, reader) if last == "reader" else (reader, writer):
        each.close()

    test_a_closed_index_is_one_file_in_one_piece(filled)
    with opened(filled, to_write=False) as connection:
        assert len(held(connection)) == 10


@pytest.mark.parametrize("path", ["plain", "in/../link"])
def test_opening_an_index_takes_no_lock_away(place, tmp_path, path):
    """POSIX drops all locks of a process on a file when the process closes that file."""
    os.mkdir(tmp_path / "in")
    (tmp_path / "link").symlink_to(place)
    with made(place), opened(place, to_write=False) as reader, reader.reading():
        held(reader)
        with opened(place if path == "plain" else str(tmp_path / path), to_write=False) as other:
            held(other)
        lock = f"import sqlite3; sqlite3.connect({place!r}, timeout=0).execute('BEGIN EXCLUSIVE')"
        ended = subprocess.run([sys.executable, "-c", lock], capture_output=True, check=False)

    assert b"database is locked" in ended.stderr


# How it was made


def test_settings_survive_being_noted_and_read():
    recipe = Recipe(features="keywords", top=9, weights="int10", hash="string", bits=128)
    converters = (Converter.of("doc=cat {}"),)
    settings = Settings(recipe, encoding="gbk", formats=("html", "pdf"), converters=converters)

    found = settings_of("x", about(settings), Settings(converters=converters))

    assert found == Settings(recipe, encoding="gbk", formats=("html", "pdf"), converters=converters)


@pytest.mark.parametrize(
    "wrong",
    [
        *({"bits": value} for value in (None, "64", 7, 0, -8, 10**9, 128)),
        *({"recipe": value} for value in (None, {}, {"features": "x"}, {"bits": 64}, [], 5)),
        *({"key": value} for value in (None, 5, [])),
        *({"encoding": value} for value in (5, "no-such", ["x"], "undefined")),
        *({"formats": value} for value in (None, 5, "pdf", ["exe"], [[]])),
        *({"convert": value} for value in (None, 5, [5], "x")),
        {"recipe": {"features": "shingles", "ngram": "12", "bits": 64}},
        {"recipe": {"features": "shingles", "user_dict": "/etc/passwd", "bits": 64}},
        {"recipe": {"features": "words", "user_dict": "/etc/passwd", "bits": 64}},
    ],
    ids=str,
)
def test_any_wrong_metadata_is_an_error(wrong):
    written = about(Settings(Recipe(bits=64))) | wrong

    with pytest.raises(InputError) as refused:
        settings_of("x", written, Settings())

    assert str(refused.value).startswith("'x': ")
    assert "\n" not in str(refused.value)
