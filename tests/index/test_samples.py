"""simdup.index.samples.

The inverted list of an index for parts: what it answers, what is left after changes, and damage.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress

import numpy as np
import pytest
from conftest import by_sql, of_each

from simdup.errors import InputError
from simdup.index import samples
from simdup.index.connection import IndexFile, checksum_of, create_file
from simdup.index.contents import problems, put, take_out
from simdup.index.metadata import about
from simdup.index.samples import HIGHEST, holders, looked_up, runs
from simdup.records import Document, Source
from simdup.settings import Settings

NONE = np.empty(0, np.int64)


@pytest.fixture
def place(tmp_path):
    path = str(tmp_path / "index")
    create_file(path, about(Settings(parts=0.8)))
    return path


@pytest.fixture
def small(monkeypatch):
    """Runs have up to twelve texts, and three of one size become one."""
    monkeypatch.setattr(samples, "SIZE", 12)
    monkeypatch.setattr(samples, "RUNS_AT_ONCE", 3)


def opened(place):
    return closing(IndexFile(place, to_write=True))


def keep(connection, sketches):
    """Put texts with these sketches (by path), in one batch; return their numbers by path."""
    first = connection.number("next")
    known = [
        Document(Source(path, 1, 2, 3, 0, 4), "utf-8", 1.0, 0, 1000, *([bytes(16)] * 3))
        for path in sketches
    ]
    values = [np.unique(np.array(each, np.uint32)) for each in sketches.values()]
    with connection.writing():
        put(connection, known, np.zeros((len(known), 32), np.uint8), of_each(values))
    return dict(zip(sketches, range(first, first + len(known)), strict=True))


def drop(connection, numbers):
    with connection.writing():
        take_out(connection, np.array(numbers, np.int64))


def answers(connection, values):
    """What the index says each text shares, and how many hashes of it are kept."""
    found = looked_up(connection, runs(connection), np.array(values, np.uint32))
    columns = zip(*(column.tolist() for column in found), strict=True)
    return {number: (shared, kept) for number, shared, kept in columns}


def test_hashes_that_dense_sketches_may_lack_are_not_kept(place):
    with opened(place) as connection:
        (a,) = keep(connection, {"a": [1, HIGHEST + 1]}).values()

        assert answers(connection, [1, HIGHEST + 1]) == {a: (1, 1)}


def test_holders_are_counted_without_those_left_out(place):
    with opened(place) as connection:
        a, b, c = keep(connection, {"a": [1, 5], "b": [5, 7], "c": [5, 7]}).values()
        held = holders(
            connection,
            runs(connection),
            np.array([1, 5, 7], np.uint32),
            np.array([c, a]),
            np.array([b]),
        )

    assert held.counts.tolist() == [1, 2, 1]
    # c is the first text that was asked for.
    assert sorted(held.pairs.tolist()) == [[0, 1], [0, 2], [1, 0], [1, 1]]


def test_what_was_taken_out_is_held_by_nobody(place):
    with opened(place) as connection:
        a, b, _ = keep(connection, {"a": [1, 5], "b": [1, 5], "c": [5]}).values()
        drop(connection, [b])
        asked = np.array([1, 5], np.uint32)
        held = holders(connection, runs(connection), asked, np.array([a]), NONE)

        assert held.counts.tolist() == [1, 2]
        assert by_sql(place, "SELECT size, live FROM runs") == [(3, 2)]
        assert list(problems(connection)) == []


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("seed", range(2))
def test_an_index_knows_what_a_dictionary_would(place, seed):
    random = np.random.default_rng(seed)
    expected: dict[int, list[int]] = {}
    with opened(place) as connection:
        for batch in range(8):
            sizes = random.integers(0, 9, random.integers(1, 7))
            made = [random.integers(0, 40, size) * (HIGHEST // 39) for size in sizes]
            numbers = keep(connection, {f"{batch}-{n}": each for n, each in enumerate(made)})
            expected |= dict(
                zip(numbers.values(), (set(each.tolist()) for each in made), strict=True)
            )
            gone = random.choice(sorted(expected), len(expected) // 3, replace=False).tolist()
            drop(connection, gone)
            expected = {number: each for number, each in expected.items() if number not in gone}

            values = np.unique(random.integers(0, 40, 6)) * (HIGHEST // 39)
            right = {
                number: (len(each & set(values.tolist())), len(each))
                for number, each in expected.items()
                if each & set(values.tolist())
            }
            assert answers(connection, values) == right
            assert list(problems(connection)) == []


def test_many_small_batches_make_few_runs(place):
    with opened(place) as connection:
        for batch in range(25):
            keep(connection, {f"{batch}": [batch]})
        for batch in range(10):  # of two sizes in turn
            keep(connection, {f"{batch}-{n}": [n] for n in range(1 + 7 * (batch % 2))})

        ((count,),) = connection.execute("SELECT count(*) FROM runs")
        assert count <= 8
        assert len(answers(connection, list(range(25)))) == 25 + 5 + 5 * 8


def test_what_was_taken_out_is_written_no_more_when_half_of_a_run_is_gone(place):
    with opened(place) as connection:
        numbers = list(keep(connection, {f"{n}": [n, 1 << 20] for n in range(10)}).values())
        drop(connection, numbers[:5])
        before = by_sql(place, "SELECT size, live FROM runs")
        drop(connection, numbers[5:6])

        assert (before, by_sql(place, "SELECT size, live FROM runs")) == ([(10, 5)], [(4, 4)])
        assert (
            sorted(looked_up(connection, runs(connection), np.array([1 << 20], np.uint32)).numbers)
            == numbers[6:]
        )
        drop(connection, numbers[6:])

    for table in ("runs", "samples"):
        assert by_sql(place, f"SELECT count(*) FROM {table}") == [(0,)]


# Damage


@pytest.fixture
def filled(place):
    """Six texts in two runs."""
    with opened(place) as connection:
        for batch in range(2):
            keep(connection, {f"{batch}-{n}": [n, 7, batch << 20] for n in range(3)})
    return place


def all_answers(place):
    with opened(place) as connection:
        try:
            held = holders(
                connection, runs(connection), np.array([0, 1, 7], np.uint32), np.array([2, 5]), NONE
            )
            return answers(connection, [0, 7, 1 << 20]), held.counts.tolist(), held.pairs.tolist()
        except InputError as error:
            return str(error)


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM samples WHERE id = (SELECT max(id) FROM samples)",
        "DELETE FROM runs WHERE id = 1",
        "UPDATE samples SET id = id + 1",
        "UPDATE samples SET id = id + 1000000",
        "UPDATE samples SET checksum = checksum + 1",
        "UPDATE samples SET entries = substr(entries, 2)",
        "UPDATE samples SET entries = x''",
        "UPDATE samples SET entries = 'text'",
        "UPDATE runs SET id = 1099511627776 WHERE id = 1",
        "UPDATE runs SET low = low + 1",
        "UPDATE runs SET low = 'x'",
        "UPDATE runs SET high = high - 1",
        "UPDATE runs SET size = 2",
        "UPDATE runs SET size = 100000000000",
        "UPDATE runs SET live = 0",
        "UPDATE runs SET live = 2",
        "UPDATE runs SET documents = (SELECT counts FROM runs WHERE id = 2)",
        "UPDATE runs SET counts = x'000000000000000000000000'",
        "UPDATE runs SET checksum = 5",
        "UPDATE runs SET counts = x'ffffffffffffffffffffffff'",
        "DELETE FROM documents WHERE id = 2",
        "DROP TABLE samples",
        "DROP TABLE runs",
    ],
)
def test_damage_is_found_and_gives_an_error_or_a_right_answer(filled, change):
    with suppress(sqlite3.IntegrityError):
        by_sql(filled, change)

    found = all_answers(filled)
    assert not isinstance(found, str) or found.startswith(f"{filled!r}: ")
    with opened(filled) as connection:
        try:
            lines = list(problems(connection))
        except InputError as error:
            lines = [str(error)]
        with suppress(InputError):
            drop(connection, [1, 4])
    assert lines
    assert all("\n" not in line for line in lines)


@pytest.mark.parametrize("bit", [0, 15, 16, 31, 40])
def test_a_flipped_bit_of_a_piece_is_an_error(filled, bit):
    ((place, data),) = by_sql(filled, "SELECT id, entries FROM samples LIMIT 1")
    wrong = bytearray(data)
    wrong[bit // 8] ^= 1 << bit % 8
    by_sql(filled, "UPDATE samples SET entries = ? WHERE id = ?", bytes(wrong), place)

    assert all_answers(filled) == f"{filled!r}: a piece of run 1 is damaged; build the index anew"


def test_a_piece_that_names_no_text_is_an_error_whatever_its_checksum(filled):
    data = np.array([(0, 3)], samples.ENTRY).tobytes()
    ((place,),) = by_sql(filled, "SELECT min(id) FROM samples")
    checksum = checksum_of(place, data)
    by_sql(
        filled, "UPDATE samples SET entries = ?, checksum = ? WHERE id = ?", data, checksum, place
    )

    assert all_answers(filled) == f"{filled!r}: a piece of run 1 is damaged; build the index anew"
