"""simdup.match.results: what matching found comes back, and its key has all that decides it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import simdup
from simdup import Recipe, Settings
from simdup.match import results
from simdup.match.distinct_texts import Items, distinct_texts
from simdup.match.engine import TextGroups
from simdup.match.exclusions import NO_EXCLUSIONS, Exclusions
from simdup.match.results import (
    code_in,
    result_as_bytes,
    result_from,
    result_key,
    size_of_result,
)
from simdup.match.siblings import Siblings
from simdup.records import Candidates, Interval

FLOATS = st.floats(allow_infinity=False)
INTERVALS = st.builds(Interval, FLOATS, FLOATS, FLOATS)
CANDIDATES = st.builds(
    Candidates,
    st.integers(0, 10**12),
    st.none() | st.integers(0, 512),
    st.none() | st.integers(0, 512),
    st.none() | FLOATS,
    st.none() | INTERVALS,
    st.integers(0, 100),
)


@st.composite
def found(draw):
    sizes = draw(st.lists(st.integers(2, 5), max_size=5))
    members = np.random.default_rng(draw(st.integers(0, 99))).permutation(sum(sizes))
    pairs = draw(st.integers(0, 5))
    likenesses = st.floats(0, 1) | st.just(np.nan)
    columns = [
        draw(arrays(np.float64, size, elements=likenesses))
        for size in (len(members), len(members), pairs, pairs)
    ]
    siblings = Siblings(draw(arrays(np.int64, (pairs, 2))), *columns[2:])
    groups = np.split(members, np.cumsum(sizes)[:-1]) if sizes else ()
    candidates = draw(st.none() | CANDIDATES)
    return TextGroups(tuple(groups), *columns[:2], siblings, None, candidates, draw(st.integers()))


@given(found())
def test_what_was_found_comes_back(expected):
    result = result_from(result_as_bytes(expected))

    assert len(result.groups) == len(expected.groups)
    for one, other in zip(
        (*result.groups, result.similarities, result.own_shares, *result.siblings),
        (*expected.groups, expected.similarities, expected.own_shares, *expected.siblings),
        strict=True,
    ):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        assert one.tobytes() == other.tobytes()
    assert repr(result.candidates) == repr(expected.candidates)
    assert (result.excluded, result.shares) == (expected.excluded, None)


def texts(**changed):
    """Ten texts of twelve items; `changed` items are others."""
    rng = np.random.default_rng(1)
    items = Items(
        rng.integers(0, 256, (12, 64), np.uint8),
        rng.integers(1, 100, 12),
        rng.integers(0, 2**63, (12, 2), np.uint64),
        rng.permutation(12),
        np.zeros(12, bool),
    )
    items.rows[[5, 7]], items.counts[[5, 7]], items.digests[[5, 7]] = (
        each[3] for each in items[:3]
    )
    return distinct_texts(items._replace(**changed), 64)


def other(array, place=2):
    """The array with another value at one place."""
    array = array.copy()
    array.flat[place] ^= 1
    return array


def key(these=None, settings=None, exclusions=NO_EXCLUSIONS):
    return result_key(these or texts(), settings or Settings(), exclusions)


def test_the_key_is_that_of_equal_texts_under_equal_settings():
    assert key() == key(texts(), Settings(), Exclusions(np.empty((0, 2), int), np.empty(0, int), 9))
    assert len(key()) == 16


@pytest.mark.parametrize(
    "field", ["rank", "begins", "wide", "counts", "digests", "content", "is_reference"]
)
def test_the_key_has_all_of_each_text(field):
    every = texts()
    array = getattr(every, field)

    keys = {key(replace(every, **{field: other(array, place)})) for place in range(array.size)}

    # The last of the beginnings is where all texts end: it makes the last text larger.
    assert len(keys | {key()}) == array.size + 1


def test_the_key_has_the_order_of_texts():
    assert key(texts()) != key(texts(rank=np.arange(12)[::-1].copy()))


@pytest.mark.parametrize(
    "settings",
    [
        *(Settings(Recipe(bits=128)), Settings(similarity=0.5), Settings(k=3), Settings(k=4)),
        *(Settings(verified=False), Settings(linkage="components"), Settings(own_share=0.5)),
    ],
    ids=repr,
)
def test_the_key_has_each_setting_that_decides(settings):
    assert key(settings=settings) != key()


def test_the_key_has_the_excluded_pairs_and_their_entries():
    pairs = np.array([[1, 2], [3, 4], [1, 5]])
    exclusions = [
        *(NO_EXCLUSIONS, Exclusions(pairs[:2], np.array([1, 2]), 10)),
        *(Exclusions(pairs[:2], np.array([1, 1]), 10), Exclusions(pairs[1:], np.array([1, 2]), 10)),
        Exclusions(pairs, np.array([1, 2, 3]), 10),
    ]

    assert len({key(exclusions=each) for each in exclusions}) == 5


def test_settings_of_numpy_have_a_key():
    settings = Settings(similarity=np.float32(0.5), own_share=np.float32(0.5), k=np.int64(3))

    assert key(settings=settings) == key(settings=settings) != key()


def test_the_key_has_the_code_of_this_process(monkeypatch):
    before = key()
    monkeypatch.setattr(results, "CODE", b"another version")

    assert key() != before


def test_code_is_that_of_the_rooms_that_decide(tmp_path, monkeypatch):
    """Another version of simdup believes nothing of this one."""
    rooms = ["compute", "files", "findings", "fingerprint", "match", "report", "search", "storage"]
    names = ["theory.py", *(f"{room}/name.py" for room in rooms)]
    assert code_in(tmp_path) == b""
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("before")

    codes = [code_in(tmp_path)]
    for name in names:
        (tmp_path / name).write_text("after")
        codes.append(code_in(tmp_path))
    of_report = names.index("report/name.py") + 1
    monkeypatch.setattr(np, "__version__", "0")

    assert codes[of_report] == codes.pop(of_report - 1)
    assert len({*codes, code_in(tmp_path)}) == len(names) + 1
    assert code_in(Path(simdup.__file__).parent) != results.CODE


def test_the_size_of_a_result_is_about_right():
    siblings = Siblings(np.zeros((5000, 2), np.int64), np.zeros(5000), np.zeros(5000))
    groups = tuple(np.arange(2 * n, 2 * n + 2) for n in range(3000))
    found = TextGroups(groups, np.zeros(6000), np.ones(6000), siblings, None, None, 0)

    assert len(result_as_bytes(found)) == pytest.approx(size_of_result(found), rel=0.01)
