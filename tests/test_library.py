"""`import simdup`: what it offers, and that its examples do what they say."""

from __future__ import annotations

import inspect
import subprocess
import sys
import types
from importlib.resources import files

import numpy as np
import pytest

import simdup
from simdup import hamming


def test_all_names_are_there_sorted_and_documented():
    assert simdup.__all__ == sorted(simdup.__all__)
    for name in simdup.__all__:
        assert inspect.getdoc(getattr(simdup, name)), name


def test_all_is_everything_public():
    public = {
        name
        for name in dir(simdup)
        if not name.startswith("_") and not isinstance(getattr(simdup, name), types.ModuleType)
    }

    assert public == set(simdup.__all__)


def test_it_is_typed():
    assert files("simdup").joinpath("py.typed").is_file()


def test_texts_have_a_row_each():
    rows = simdup.fingerprint_texts(["one two three", "", "中文文本"], bits=72)

    assert rows.shape == (3, 9)
    assert rows.dtype == np.uint8
    assert not rows[1].any()


def test_no_texts_have_no_rows():
    assert simdup.fingerprint_texts([], bits=64).shape == (0, 8)
    assert simdup.fingerprint_files([], bits=64).shape == (0, 8)


def test_options_reach_the_recipe():
    texts = ["one two three four"]

    assert (
        simdup.fingerprint_texts(texts, ngram=3) != simdup.fingerprint_texts(texts, ngram=2)
    ).any()
    with pytest.raises(ValueError, match="bits must be a multiple of 8 from 8 to 4096, not 12"):
        simdup.fingerprint_texts(texts, bits=12)


def test_files_and_their_texts_have_the_same_rows(tmp_path):
    texts = ["one two three", "四五六七八九十" * 30, ""]
    paths = [tmp_path / f"{i}.txt" for i in range(3)]
    for path, text, encoding in zip(paths, texts, ("utf-8", "gbk", "utf-8"), strict=True):
        path.write_bytes(text.encode(encoding))

    found = simdup.fingerprint_files(paths, bits=64)
    assert found.tolist() == simdup.fingerprint_texts(texts, bits=64).tolist()


def test_an_encoding_can_be_forced(tmp_path):
    path = tmp_path / "short.txt"
    path.write_bytes("短信".encode("big5"))

    found = simdup.fingerprint_files([path], encoding="big5")
    assert found.tolist() == simdup.fingerprint_texts(["短信"]).tolist()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("missing.txt", None, "not found"),
        ("binary.bin", b"a\0\1\2\3" * 50, "binary (NUL bytes)"),
        ("folder", "folder", "not a regular file (folder)"),
    ],
)
def test_a_file_without_text_is_named(tmp_path, name, content, message):
    path = tmp_path / name
    if content == "folder":
        path.mkdir()
    elif content is not None:
        path.write_bytes(content)

    with pytest.raises(simdup.InputError) as caught:
        simdup.fingerprint_files([path])
    assert str(caught.value).startswith(f"{str(path)!r}: {message}")


def test_stages_make_a_scan():
    texts = ["a b c d e f g h", "a b c d e f g x", "1 2 3 4 5 6 7 8", "a b c d e f g h"]

    rows = simdup.fingerprint_texts(texts)
    pairs = simdup.pairs_within(rows, 40)
    similar = simdup.exact_similarities(texts, pairs[:, 0], pairs[:, 1]) >= 0.5
    groups = simdup.group(pairs[similar], len(texts))
    assert [members.tolist() for members in groups] == [[0, 1, 3]]


def test_distances_are_those_of_the_rows():
    rows = simdup.fingerprint_texts(["a b c", "a b d"])

    assert simdup.hamming_distances is hamming.hamming_distances
    assert simdup.hamming_distances(rows, rows)[0, 1] == np.unpackbits(rows[0] ^ rows[1]).sum()


def test_scan_and_compare_are_functions_though_modules_have_their_names(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).write_text("the same text twice over", "utf-8")

    result = simdup.scan([tmp_path])
    assert [len(group.members) for group in result.groups] == [2]
    assert simdup.compare(tmp_path / "a", tmp_path / "b").kind.value == "identical bytes"


@pytest.mark.parametrize(
    ("i", "message"),
    [
        ([-1], "there is no text -1 among 2"),
        ([2], "there is no text 2 among 2"),
        ([0.5], "indices must be whole numbers, not float64"),
    ],
)
def test_an_index_that_is_no_text_is_refused(i, message):
    with pytest.raises(IndexError, match=message):
        simdup.exact_similarities(["a", "b"], i, [0])


def test_one_text_instead_of_several_is_refused():
    with pytest.raises(TypeError, match="texts must be a sequence of texts, not one text"):
        simdup.fingerprint_texts("a text")


def test_importing_the_package_imports_nothing_else():
    code = (
        "import sys, simdup; print([n for n in sys.modules if n.startswith(('simdup.', 'numpy'))])"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)

    assert done.stdout == b"[]\n"


def test_every_public_name_is_there_and_listed():
    code = (
        "import simdup; assert {*simdup.__all__} <= {*dir(simdup)};"
        " from simdup import *; import simdup.scan, simdup.compare, simdup.evaluate;"
        " assert all(map(callable, map(vars(simdup).get, simdup.__all__)))"
    )

    done = subprocess.run([sys.executable, "-c", code], check=False)

    assert done.returncode == 0


def test_a_name_that_is_not_public_is_an_error():
    with pytest.raises(AttributeError, match="module 'simdup' has no attribute 'nothing'"):
        simdup.nothing  # noqa: B018
