"""simdup.compute.kernels and simdup.compute.compiled.

Compiled loops give what numpy gives, bit for bit.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from conftest import of_each
from difficult import difficult_texts
from hypothesis import given, settings
from hypothesis import strategies as st
from patience import LONG

import simdup
from simdup.compute import buckets
from simdup.compute import compiled as fast
from simdup.compute.hashing import BASE, WORD_STEP
from simdup.fingerprint import features, simhash, tokens
from simdup.fingerprint.features import Features
from simdup.match import own_share, verify
from simdup.recipe import Recipe
from simdup.search import pairs as search
from simdup.versions import version

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("kernels")]


texts = st.lists(difficult_texts(), max_size=8)
recipes = st.builds(
    Recipe,
    ngram=st.sampled_from([1, 2, 3, 5, (1, 2), (2, 3), (1, 3, 4)]),
    bits=st.sampled_from([8, 16, 64, 72, 128, 256, 1024]),
    fold_variants=st.booleans(),
)


def by_numpy(function, *arguments):
    """The result of a function without kernels."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (tokens, features, simhash, verify, buckets, search.compiled):
            patch.setattr(module, "loaded_kernels", lambda: None)
        return function(*arguments)


def same(found, expected):
    return (
        (found.rows == expected.rows).all()
        and (found.counts == expected.counts).all()
        and (found.digests == expected.digests).all()
    )


def test_kernels_are_loaded_here(kernels):
    assert fast.loaded_kernels() is kernels


@pytest.mark.parametrize("plane", range(17))
def test_kernels_and_numpy_give_equal_tokens_for_every_character(plane):
    characters = map(chr, range(plane << 16, (plane + 1) << 16))
    every = ["".join(f"a{c}b {c} " for c in characters)]

    found, expected = tokens.tokens(every, Recipe()), by_numpy(tokens.tokens, every, Recipe())

    assert (found.ids == expected.ids).all()


def test_kernels_and_numpy_make_the_same_shingles_of_syllables_that_fold_to_korean():
    whole, parts = ["a\uac00 \ub098"], ["a\u1100\u1161 \u1102\u1161"]
    expected = by_numpy(simhash.fingerprint_texts, whole, Recipe())

    assert same(by_numpy(simhash.fingerprint_texts, parts, Recipe()), expected)
    assert same(simhash.fingerprint_texts(parts, Recipe()), expected)


@settings(max_examples=200)
@given(texts, recipes)
def test_kernels_and_numpy_give_equal_fingerprints(every, recipe):
    expected = by_numpy(simhash.fingerprint_texts, every, recipe)

    assert same(simhash.fingerprint_texts(every, recipe), expected)


@pytest.mark.parametrize("kind", ["words", "tokens", "keywords"])
@pytest.mark.parametrize("hash_kind", ["mix64", "blake2b", "string"])
def test_kernels_and_numpy_give_equal_fingerprints_of_weighted_features(kind, hash_kind):
    every = ["the cat the dog 中文 分词 中文", "", "a", "结巴分词做得很好 simdup " * 30]
    recipe = Recipe(features=kind, hash=hash_kind, bits=120)

    expected = by_numpy(simhash.fingerprint_texts, every, recipe)

    assert same(simhash.fingerprint_texts(every, recipe), expected)


def test_kernels_and_numpy_give_equal_fingerprints_of_many_segments(monkeypatch):
    monkeypatch.setattr(features, "SEGMENT", 1000)
    monkeypatch.setattr("simdup.text.chunking.PIECE", 3000)
    text = " ".join(f"w{i % 700}" for i in range(5000))

    expected = by_numpy(simhash.fingerprint_texts, [text], Recipe())

    assert same(simhash.fingerprint_texts([text], Recipe()), expected)


@given(
    st.lists(st.lists(st.integers(0, 30), max_size=20, unique=True), min_size=1, max_size=8),
    st.booleans(),
    st.randoms(use_true_random=False),
)
def test_kernels_and_numpy_give_equal_similarities(documents, is_weighted, random):
    ids = np.array([i for document in documents for i in document], np.uint64)
    weights = np.array([random.randrange(1, 1 << 20) for _ in ids], np.int64)
    offsets = np.cumsum([0, *map(len, documents)])
    made = Features(simhash.mix64(ids), weights if is_weighted else None, offsets)
    i, j = np.indices((len(documents), len(documents))).reshape(2, -1)

    found, expected = verify.cosines(made, i, j), by_numpy(verify.cosines, made, i, j)

    assert found == pytest.approx(expected, abs=1e-12)


def test_ids_that_compete_for_two_slots_are_all_found():
    ids = np.random.default_rng(0).integers(1 << 63, size=1_000_000, dtype=np.uint64)
    shift = np.uint64(64 - 6)  # as for 16 ids
    slots = np.column_stack([ids * np.uint64(factor) >> shift for factor in (BASE, WORD_STEP)])
    rivals = ids[(slots == [5, 6]).all(axis=1)][:16]
    made = Features(np.concatenate((rivals, rivals[::-1])), None, np.array([0, 16, 32]))

    assert verify.cosines(made, np.array([0]), np.array([1])).tolist() == [1]


def test_a_damaged_sketch_of_equal_values_shares_no_more_than_it_has():
    shared, _ = own_share.shared_and_kept(
        of_each([np.full(500, 7, np.uint32)] * 2), np.array([[0, 1]]), np.zeros(1, np.int64)
    )

    assert shared.tolist() == [500]


@given(
    st.integers(0, 60),
    st.sampled_from([1, 8, 9, 16, 32, 40]),
    st.integers(0, 330),
    st.integers(0, 99),
)
def test_kernels_and_numpy_give_equal_pairs(n, width, k, seed):
    rows = np.random.default_rng(seed).integers(0, 256, (n, width), np.uint8)

    found, expected = search.pairs_within(rows, k), by_numpy(search.pairs_within, rows, k)

    assert found.tolist() == expected.tolist()


@pytest.mark.parametrize("chunk", [1, 100, 1 << 20])
def test_a_buffer_that_is_full_loses_no_pair(monkeypatch, chunk):
    monkeypatch.setattr(search, "CHUNK", chunk)
    monkeypatch.setattr(search, "COLUMNS", 16)
    rows = np.random.default_rng(1).integers(0, 4, (150, 8), np.uint8)

    found = np.concatenate(list(search.all_pairs(rows, rows, 64, is_half=True)))

    assert len(found) == len(np.unique(found[:, :2], axis=0)) == 150 * 149 // 2


def test_scan_search_and_scan_again_in_one_process(tmp_path, monkeypatch):
    # As it would go wrong if threads of the kernels were alive when processes are started.
    monkeypatch.setattr("simdup.compute.compiled.BYTES_WORTH_WORKERS", 0)
    for name, text in (("a", "one two three four " * 20), ("b", "one two three four " * 20)):
        (tmp_path / name).write_text(text, "utf-8")

    first = simdup.scan([tmp_path], jobs=2)
    pairs = simdup.pairs_within(np.zeros((300, 16), np.uint8), 3)
    second = simdup.scan([tmp_path], jobs=2)

    assert len(pairs) == 300 * 299 // 2
    assert first.groups == second.groups
    assert len(first.groups) == 1


# Whether it pays


def modules_after(script):
    """The optional and heavy packages that a fresh process has imported after a script."""
    names = ("numba", "jieba", "rjieba", "matplotlib", "simdup.compute.kernels")
    code = f"{script}\nimport sys\nprint([n for n in {names!r} if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    return done.stdout.splitlines()[-1]


def test_a_small_job_loads_nothing_that_is_optional(tmp_path):
    (tmp_path / "a").write_text("one two three", "utf-8")
    path = str(tmp_path / "a")

    script = f"import simdup; simdup.compare({path!r}, {path!r}); simdup.scan([{path!r}])"

    assert modules_after(script) == "[]"


words = st.integers(0, (1 << 64) - 1)


@settings(max_examples=200)
@given(st.lists(words, max_size=40), words, st.integers(0, 3))
def test_kernels_and_numpy_sort_keys_alike(numbers, mask, times):
    # The mask leaves only some digits, and a key may occur several times.
    keys = np.array(numbers * times, np.uint64) & np.uint64(mask)

    found, expected = buckets.sorted_keys(keys.copy()), np.sort(keys)

    assert found.dtype == expected.dtype
    assert found.tolist() == expected.tolist()


@pytest.mark.parametrize("n", [10_000, 300_000])
def test_kernels_sort_many_keys_too(n):
    keys = np.random.default_rng(n).integers(0, 1 << 62, n).astype(np.uint64)

    assert (buckets.sorted_keys(keys.copy()) == np.sort(keys)).all()


@pytest.mark.parametrize(
    "call",
    [
        lambda: simdup.fingerprint_texts(["one two three"]),
        lambda: simdup.fingerprint_files(["a"]),
        lambda: simdup.exact_similarities(["one two three", "one two"], [0], [1]),
        lambda: simdup.pairs_within(np.arange(320).astype(np.uint8).reshape(20, 16), 3),
    ],
)
def test_small_jobs_load_the_kernels_once_they_would_have_paid(write, monkeypatch, call):
    write("a", "one two three")
    monkeypatch.delitem(sys.modules, "simdup.compute.kernels")
    monkeypatch.setattr(fast, "CHARACTERS_WORTH", 100)
    monkeypatch.setattr(fast, "WORDS_WORTH", 5000)
    monkeypatch.setattr(fast, "are_compiled", lambda: True)

    for _ in range(2):
        call()
    assert fast.loaded_kernels() is None
    for _ in range(18):
        call()
    assert fast.loaded_kernels() is not None


def test_characters_and_words_count_together(monkeypatch):
    monkeypatch.setattr(fast, "load_kernels", lambda _: None)
    monkeypatch.setattr(fast, "are_compiled", lambda: True)

    fast.load_kernels_if_worth(characters=int(0.4 * fast.CHARACTERS_WORTH))
    fast.load_kernels_if_worth(words=int(0.4 * fast.WORDS_WORTH))

    assert not fast.kernels_pay(words=int(0.1 * fast.WORDS_WORTH))
    assert fast.kernels_pay(words=int(0.3 * fast.WORDS_WORTH))


@pytest.fixture
def source(monkeypatch, tmp_path):
    """A source of two kernels, whose cache is wherever the environment says."""
    monkeypatch.setattr(fast, "__file__", str(tmp_path / "compute" / "compiled.py"))
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    for name in ("XDG_CACHE_HOME", "HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    (tmp_path / "compute").mkdir()
    path = tmp_path / "compute" / "kernels.py"
    path.write_text("\n@_compiled(1)\ndef a(): ...\n\n@_compiled(2)\ndef b(): ...\n", "utf-8")
    return path


PYTHON = f"py{sys.version_info.major}{sys.version_info.minor}"


def indexed(folder, *kernels, numba=None, python=PYTHON):
    """Write the indices of compiled kernels as numba names them."""
    os.makedirs(folder, exist_ok=True)
    for name in kernels:
        head = pickle.dumps(numba or version("numba"))
        (Path(folder) / f"kernels.{name}-12.{python}.nbi").write_bytes(head + b"...")


def test_kernels_that_must_be_compiled_take_more_work_to_pay(source):
    work = int(1.1 * fast.WORDS_WORTH)

    assert not fast.kernels_pay(words=work)
    assert not fast.kernels_pay(words=work * fast.COMPILING // 2)
    assert fast.kernels_pay(words=work * fast.COMPILING)
    indexed(source.parent / "__pycache__", "a", "b")
    assert fast.kernels_pay(words=work)


def test_an_empty_cache_that_the_user_named_has_no_kernels(source, monkeypatch, tmp_path):
    indexed(source.parent / "__pycache__", "a", "b")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))

    assert not fast.are_compiled()
    (folder,) = fast.caches()
    indexed(folder, "a", "b")
    assert fast.are_compiled()


@pytest.mark.usefixtures("source")
def test_the_cache_of_the_user_counts_where_the_program_cannot_be_written():
    indexed(fast.caches()[1], "a", "b")

    assert fast.are_compiled()


def test_kernels_of_another_numba_or_python_or_source_or_only_some_do_not_count(source):
    cache = source.parent / "__pycache__"

    indexed(cache, "a", "b", python="py27")
    indexed(cache, "a", "b", numba="0.1.2")
    assert not fast.are_compiled()
    indexed(cache, "a")
    assert not fast.are_compiled()
    indexed(cache, "b")
    assert fast.are_compiled()
    later = time.time() + 60
    os.utime(source, (later, later))
    assert not fast.are_compiled()


def test_the_cache_that_numba_writes_is_the_one_that_is_looked_at(kernels):
    assert kernels is not None
    assert fast.are_compiled()


def test_without_numba_there_are_no_kernels(monkeypatch):
    monkeypatch.setattr(fast, "find_spec", lambda _: None)
    monkeypatch.delitem(sys.modules, "simdup.compute.kernels")

    assert fast.load_kernels() is None
    assert fast.loaded_kernels() is None


BROKEN = [ImportError, OSError, AttributeError, RuntimeError, SystemError, ValueError]


@pytest.mark.parametrize("error", BROKEN)
def test_a_numba_that_does_not_load_counts_as_missing_and_is_tried_once(monkeypatch, error):
    tried = []

    def broken(name):
        tried.append(name)
        raise error(name)

    monkeypatch.setattr(fast, "import_module", broken)
    monkeypatch.delitem(sys.modules, "simdup.compute.kernels")

    assert [fast.load_kernels(), fast.load_kernels()] == [None, None]
    assert not fast.kernels_pay(words=2 * fast.WORDS_WORTH)
    assert len(tried) == 1


@pytest.mark.parametrize("error", BROKEN)
def test_kernels_that_do_not_compile_count_as_missing(kernels, monkeypatch, error):
    def broken():
        raise error

    monkeypatch.setattr(kernels, "warmed", broken)
    monkeypatch.setattr(fast, "loaded_kernels", lambda: sys.modules.get("broken kernels"))
    monkeypatch.setattr(fast, "import_module", lambda _: kernels)

    assert fast.load_kernels() is None
    assert "simdup.compute.kernels" not in sys.modules


@pytest.mark.parametrize("said", ["0", "many"])
def test_an_invalid_numba_num_threads_is_ignored(said):
    code = "from simdup.compute import compiled as fast; print(fast.load_kernels() is not None)"

    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"NUMBA_NUM_THREADS": said},
        capture_output=True,
        check=True,
    )

    assert (done.stdout, done.stderr) == (b"True\n", b"")


def test_the_next_item_is_made_while_threads_work(monkeypatch):
    monkeypatch.setattr(fast, "threads", lambda: 2)
    is_made = threading.Event()

    def items():
        yield from (0, 1)
        is_made.set()
        yield 2

    found = fast.each_in_threads(lambda number: (number, is_made.wait(LONG)), items())

    assert [*found] == [(0, True), (1, True), (2, True)]


def test_loading_reports_progress(kernels):
    seen = []

    def progress(items, label, total):
        seen.append((label, total))
        return items

    with pytest.MonkeyPatch.context() as patch:
        patch.delitem(sys.modules, "simdup.compute.kernels")
        patch.setattr(fast, "import_module", lambda _: kernels)
        fast.load_kernels(progress)

    assert seen == [("load", len(kernels.EVERY))]


@pytest.mark.parametrize("text", ["\ufdfa" * 999, "㍿" * 999, "ﷺ a " * 99 + "e\u0301\u0327" * 99])
def test_characters_that_unfold_to_many_tokens_have_room(text):
    texts = [text, "plain", text * 3]
    found, expected = tokens.tokens(texts, Recipe()), by_numpy(tokens.tokens, texts, Recipe())

    assert found.ids.tolist() == expected.ids.tolist()
    assert found.offsets.tolist() == expected.offsets.tolist()


@pytest.mark.parametrize(
    ("said", "threads"),
    [
        *(("1", 1), ("0", None), ("two", None), ("", None), ("²", None), ("-1", None)),
        ("9" * 5000, None),
    ],
)
def test_threads_are_no_more_than_omp_num_threads(monkeypatch, said, threads):
    monkeypatch.setenv("OMP_NUM_THREADS", said)

    assert fast.threads() == (threads or fast.cores())
