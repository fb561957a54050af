"""`import simdup`: what it offers, and that its examples do what they say."""

from __future__ import annotations

import inspect
import pydoc
import re
import subprocess
import sys
import types
from functools import partial
from importlib.resources import files

import numpy as np
import pytest

import simdup


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


def test_help_of_a_record_tells_what_its_fields_mean():
    for record, field in ((simdup.Document, "damaged"), (simdup.Member, "own_share")):
        assert f"\n{field}: " in inspect.getdoc(record)


@pytest.mark.parametrize("name", simdup.__all__)
def test_help_shows_defaults_as_words(name):
    signatures = re.findall(r"^.*\(.*= .*$", pydoc.render_doc(getattr(simdup, name)), re.MULTILINE)

    for each in signatures:
        assert not re.search(r"<|\b0x", each)


def test_the_package_is_typed():
    assert files("simdup").joinpath("py.typed").is_file()


def test_each_text_has_a_row():
    rows = simdup.fingerprint_texts(["one two three", "", "中文文本"], bits=72)

    assert rows.shape == (3, 9)
    assert rows.dtype == np.uint8
    assert not rows[1].any()


def test_the_number_of_a_text_has_the_bits_of_its_row():
    (row,) = simdup.fingerprint_texts(["one two three"], bits=72)

    number = simdup.simhash("one two three", bits=72)

    assert f"{number:072b}" == "".join(map(str, np.unpackbits(row)))


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


def test_the_stages_one_by_one_find_what_a_scan_finds():
    texts = ["a b c d e f g h", "a b c d e f g x", "1 2 3 4 5 6 7 8", "a b c d e f g h"]

    rows = simdup.fingerprint_texts(texts)
    pairs = simdup.pairs_within(rows, 40)
    similar = simdup.exact_similarities(texts, pairs[:, 0], pairs[:, 1]) >= 0.5
    groups = simdup.group(pairs[similar], len(texts))
    assert [members.tolist() for members in groups] == [[0, 1, 3]]


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
def test_a_text_number_out_of_range_is_refused(i, message):
    with pytest.raises(IndexError, match=message):
        simdup.exact_similarities(["a", "b"], i, [0])


@pytest.mark.parametrize(
    ("i", "message"),
    [
        (0, "i must be an array of shape (n,), not ()"),
        ([[0, 1]], "i must be an array of shape (n,), not (1, 2)"),
        ([[0], [0, 1]], "i must be an array of shape (n,), not rows of different lengths"),
        ([0, 1], "i and j must be equally long, not 2 and 1"),
    ],
)
def test_indices_of_a_wrong_shape_are_refused_by_name(i, message):
    with pytest.raises(ValueError) as caught:  # noqa: PT011  (the whole message is compared)
        simdup.exact_similarities(["a", "b"], i, [0])

    assert str(caught.value) == message


def test_importing_the_package_imports_nothing_else():
    code = (
        "import sys, simdup; print([n for n in sys.modules if n.startswith(('simdup.', 'numpy'))])"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)

    assert done.stdout == b"[]\n"


def test_a_name_that_is_not_public_is_an_error():
    with pytest.raises(AttributeError, match="module 'simdup' has no attribute 'nothing'"):
        simdup.nothing  # noqa: B018


def once(values):
    """An iterable that can be read only once."""
    return (value for value in values)


TEXTS = ["the cat sat on the mat", "the dog", "The cat sat on the mat!", "a text"]


def test_texts_may_come_from_a_generator():
    rows = simdup.fingerprint_texts(once(TEXTS))

    assert rows.tolist() == simdup.fingerprint_texts(TEXTS).tolist()
    assert simdup.group_texts(once(TEXTS)).members.tolist() == [0, 2]
    assert simdup.exact_similarities(once(TEXTS), [0, 0], [1, 2])[1] == 1


def test_an_index_takes_generators_and_single_paths(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text(TEXTS[0], "utf-8")
    with simdup.Index.create(tmp_path / "x") as index:
        assert index.add_texts(once("abc"), once(TEXTS[:3])).added == 3
        assert index.add(path).added == 1
        assert index.add(str(path)).added == 0
        found = [[m.document.path for m in each.matches] for each in index.query_many(once(TEXTS))]
        assert sorted(found[0]) == sorted(found[2])
        assert {"a", "c", str(path)} == set(found[0])
        answers, skipped = index.query_texts(once(TEXTS[:2]))
        assert (len(answers), skipped) == (2, ())
        assert len(index.query_files(path)[0]) == len(index.query_files(once([path]))[0]) == 1
        assert index.remove(path).removed == 1


def test_a_single_path_is_one_path(tmp_path):
    for name in ("docs/a", "docs/b", "old/c"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(TEXTS[0], "utf-8")
    (tmp_path / "rows.jsonl").write_text('{"text": "the cat"}\n' * 3, "utf-8")
    docs, old = tmp_path / "docs", tmp_path / "old"

    for path in (docs, str(docs), bytes(docs), [docs], once([docs])):
        assert [len(group.members) for group in simdup.scan(path).groups] == [2]
    (group,) = simdup.scan(str(docs), against=str(old)).groups
    assert len(group.members) == 3
    for path in (docs / "a", str(docs / "a"), once([docs / "a"])):
        assert simdup.fingerprint_files(path).shape == (1, 32)
    for path in (tmp_path / "rows.jsonl", str(tmp_path / "rows.jsonl")):
        assert len(simdup.scan_rows(path).rows) == 3


LIST = "a list of {}, not the string 'docs'; put it into a list"
STRINGS = LIST.format("strings")
NO_NUMBER, NO_TRUTH = "a whole number, not string 'docs'", "True or False, not string 'docs'"


@pytest.mark.parametrize(
    ("call", "name", "wanted"),
    [
        (simdup.fingerprint_texts, "texts", STRINGS),
        (simdup.group_texts, "texts", STRINGS),
        (partial(simdup.exact_similarities, i=[0], j=[1]), "texts", STRINGS),
        *((simdup.Filters, name, STRINGS) for name in ("include", "exclude")),
        (simdup.Settings, "formats", STRINGS),
        (simdup.evaluate, "sizes", LIST.format("whole numbers")),
        (simdup.evaluate, "recipes", LIST.format("Recipe objects")),
        *((simdup.Filters, "max_size", NO_NUMBER), (simdup.Filters, "hidden", NO_TRUTH)),
        *((simdup.Settings, "k", NO_NUMBER), (simdup.Settings, "verified", NO_TRUTH)),
        (simdup.evaluate, "k", NO_NUMBER),
        (simdup.Settings, "recipe", "a Recipe, not string 'docs'"),
        (simdup.Settings, "similarity", "a number, not string 'docs'"),
    ],
)
def test_a_wrong_type_is_refused_by_name(call, name, wanted):
    with pytest.raises(TypeError) as caught:
        call(**{name: "docs"})
    assert str(caught.value) == f"{name} must be {wanted}"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: simdup.Settings(converters=["docs"]),
            "converters[0] must be a Converter, not string 'docs'",
        ),
        (lambda: simdup.scan(["docs", 5]), "paths[1] must be a path, not int 5"),
        (lambda: simdup.scan("docs", against=7), "against must be a list of paths, not int 7"),
        (lambda: simdup.fingerprint_files({1: 1}.values()), "paths[0] must be a path, not int 1"),
        (lambda: simdup.scan_rows(4), "files must be a list of paths, not int 4"),
    ],
)
def test_a_wrong_part_of_a_list_is_refused_by_name(call, message):
    with pytest.raises(TypeError) as caught:
        call()
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("method", "arguments", "message"),
    [
        ("query", (["docs"],), "text must be a string, not list ['docs']"),
        ("query_many", ("docs",), f"texts must be {STRINGS}"),
        ("query_texts", ("docs",), f"texts must be {STRINGS}"),
        ("query_files", (3,), "paths must be a list of paths, not int 3"),
        ("add", ([None],), "paths[0] must be a path, not None"),
        ("remove", (3,), "paths must be a list of paths, not int 3"),
        ("add_texts", ("docs", ["a"]), f"names must be {STRINGS}"),
        ("add_texts", (["a"], "docs"), f"texts must be {STRINGS}"),
    ],
)
def test_a_wrong_type_for_an_index_is_refused_by_name(tmp_path, method, arguments, message):
    with simdup.Index.create(tmp_path / "x") as index, pytest.raises(TypeError) as caught:
        getattr(index, method)(*arguments)
    assert str(caught.value) == message


def test_lists_are_as_good_as_tuples_in_settings_and_filters():
    assert simdup.Filters(include=["*.md"]) == simdup.Filters(include=("*.md",))
    assert simdup.Settings(formats=["pdf"]) == simdup.Settings(formats=("pdf",))
    assert simdup.Filters(exclude=once(["a"])).exclude == ("a",)


ROWS = simdup.fingerprint_texts(["a b c d", "e f g h"])


@pytest.mark.parametrize("wrong", [ROWS.astype(float), ROWS.astype(int), ROWS[0], ROWS.tolist()])
@pytest.mark.parametrize(
    "called",
    [
        lambda rows: simdup.pairs_within(rows, 3),
        lambda rows: simdup.iter_pairs(rows, 3),
        lambda rows: simdup.hamming_distances(rows, rows),
    ],
    ids=["pairs_within", "iter_pairs", "hamming_distances"],
)
def test_an_array_that_holds_no_fingerprints_is_refused(called, wrong):
    with pytest.raises(TypeError, match=r"must be an array \(n, bytes\) of uint8, not "):
        called(wrong)


def test_a_distance_beyond_all_bits_finds_every_pair_at_once():
    found = simdup.pairs_within(ROWS, 10**12)

    assert found[:, :2].tolist() == [[0, 1]]


@pytest.mark.parametrize("jobs", [0, -1])
def test_zero_jobs_are_refused_at_once(tmp_path, jobs):
    (tmp_path / "rows.jsonl").write_text('{"text": "the cat"}\n' * 3, "utf-8")
    with simdup.Index.create(tmp_path / "x") as index:
        for called in (simdup.scan, simdup.scan_rows, index.add):
            with pytest.raises(ValueError, match=f"^jobs must be at least 1, not {jobs}$"):
                called(tmp_path / "rows.jsonl", jobs=jobs)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"settings": {"k": 3}}, "settings must be a Settings, not dict {'k': 3}"),
        ({"filters": simdup.Settings()}, "filters must be a Filters, not Settings"),
        ({"ignored": [("ab", "cd")]}, r"ignored[0] must be two digests, as bytes, not tuple"),
        ({"ignored": "ab"}, "ignored must be a list of pairs of digests, not the string 'ab'"),
        ({"jobs": "2"}, "jobs must be a whole number, not string '2'"),
    ],
)
def test_a_scan_refuses_a_wrong_type_before_it_reads_anything(tmp_path, options, message):
    with pytest.raises(TypeError, match=f"^{re.escape(message)}"):
        simdup.scan(tmp_path, **options)


def test_names_of_fields_are_strings(tmp_path):
    (tmp_path / "rows.jsonl").write_text('{"text": "the cat"}\n', "utf-8")

    with pytest.raises(TypeError, match=r"^text_field must be a string, not int 3$"):
        simdup.scan_rows(tmp_path / "rows.jsonl", text_field=3)
