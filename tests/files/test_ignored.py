"""simdup.files.ignored: the list of pairs that are no duplicates, and scans that know of it."""

from __future__ import annotations

import json
import os
import random
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simdup import Settings, scan
from simdup.errors import InputError
from simdup.files.ignored import (
    IgnoredTexts,
    default_place,
    entries_in,
    line_of,
    lines_in,
    without_ignored,
)
from simdup.findings.keeper import keys_of
from simdup.records import Kind
from simdup.report.json_csv import render_json
from simdup.report.load import load
from simdup.report.text import render
from simdup.settings import LINKAGES, Limits

pytestmark = pytest.mark.slow

A, B, C = ("a" * 32, "b" * 32, "c" * 32)
PAIR = IgnoredTexts((A, B), ("a.txt", "外婆的腌笃鲜.md"), "2026-11-21")
WORDS = [f"w{i}" for i in range(500)]


# The file


def test_a_line_worked_by_hand():
    assert line_of(PAIR) == (
        f'{{"texts": ["{A}", "{B}"], "names": ["a.txt", "外婆的腌笃鲜.md"], "added": "2026-11-21"}}'
    )


@given(st.tuples(st.text(), st.text()).map(lambda names: PAIR._replace(names=names)))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_file_names_survive_writing_and_reading(tmp_path, pair):
    path = tmp_path / "list"
    path.write_bytes((line_of(pair) + "\n").encode("utf-8", "backslashreplace"))

    assert entries_in(str(path)) == [pair]


def test_each_pair_comes_with_its_very_line(tmp_path):
    own = line_of(PAIR).replace("{", '{"why": "forms", ')
    (tmp_path / "list").write_text(f"\n{own}\r\n\n{line_of(PAIR)}", "utf-8")

    assert lines_in(str(tmp_path / "list")) == [(own, PAIR), (line_of(PAIR), PAIR)]


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda line: line[:-1], "no JSON"),
        (lambda _: "<<<<<<< HEAD", "no JSON"),
        (lambda _: "\0\0\0", "no JSON"),
        (lambda _: "[" * 100_000, "no JSON"),
        (lambda _: "[]", "no object"),
        (lambda line: line.replace('"texts"', '"text"'), "texts: no list of texts"),
        (lambda line: line.replace(f', "{B}"', ""), "texts: not 2 to 500 texts"),
        (lambda line: line.replace(f'"{B}"', "7"), "texts: no list of texts"),
        (lambda line: line.replace(f'"{B}"', f'"{B}", "{C}"'), "names: not as many as texts"),
        (
            lambda line: line.replace("b" * 32, "b" * 31),
            "texts: no digest of 32 hexadecimal digits",
        ),
        (lambda line: line.replace(B, A), "texts: twice the same"),
        (lambda line: line.replace('"a.txt"', "null"), "names: no list of texts"),
        (lambda line: line.replace("2026-11-21", "yesterday"), "added: no date such as 2026-11-21"),
    ],
)
def test_a_damaged_line_is_one_error_with_file_and_line(tmp_path, change, what):
    path = tmp_path / "list"
    path.write_text(f"{line_of(PAIR)}\n\n{change(line_of(PAIR))}\n", "utf-8")

    with pytest.raises(InputError) as refused:
        entries_in(str(path))

    assert str(refused.value) == f"{str(path)!r}, line 3: no entry of the list ({what})"


@given(st.binary())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_are_read_as_pairs_or_refused(tmp_path, data):
    path = tmp_path / "list"
    path.write_bytes(data)

    said = ""
    try:
        assert entries_in(str(path)) == []
    except InputError as refused:
        said = str(refused)

    assert said.isprintable()
    assert bool(said) == bool(data.strip())


def test_the_list_is_kept_among_data_and_not_in_the_cache(monkeypatch):
    monkeypatch.delenv("SIMDUP_IGNORED")
    monkeypatch.setattr("simdup.storage.home.sys.platform", "linux")
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    assert default_place() == "/data/simdup/ignored.jsonl"
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setenv("HOME", "/home/me")
    assert default_place() == "/home/me/.local/share/simdup/ignored.jsonl"
    monkeypatch.setattr("simdup.storage.home.sys.platform", "darwin")
    assert default_place() == "/home/me/Library/Application Support/simdup/ignored.jsonl"
    monkeypatch.setenv("SIMDUP_IGNORED", "mine")
    assert default_place() == "mine"


# Scans


def text(edits=(), seed=0, length=300):
    """A text of `length` words; the words at `edits` are replaced."""
    words = random.Random(seed).choices(WORDS, k=length)
    for place in edits:
        words[place] = f"x{place}"
    return " ".join(words)


@pytest.fixture
def scanned(tmp_path):
    """`scanned(texts, pairs, ...)`: a scan of files by name, pairs of names ignored."""

    def scanning(texts, pairs=(), settings=None, **options):
        for name, content in texts.items():
            path = tmp_path / name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        every = scan([tmp_path], Settings(similarity=0.01))
        digest = {short(each, tmp_path): each.text_digest for each in every.documents}
        roots = options.pop("roots", None) or [""]
        options["against"] = [tmp_path / each for each in options.pop("against", ())]
        listed = [(digest[left], digest[right]) for left, right in pairs]
        return scan([tmp_path / each for each in roots], settings, ignored=listed, **options)

    scanning.root = tmp_path
    return scanning


def short(document, root):
    return os.path.relpath(document.path, root)


def names(result, root):
    return [[short(each.document, root) for each in group.members] for group in result.groups]


BARE = Settings(k=100)
COMPONENTS = Settings(linkage="components")
EVERY = [Settings(), BARE, COMPONENTS, Settings(k=100, linkage="components")]
ids = ["star", "bare star", "components", "bare components"]
every_scan = pytest.mark.parametrize("settings", EVERY, ids=ids)


@every_scan
def test_an_ignored_pair_is_no_group_and_is_counted(scanned, settings):
    texts = {"a": text(), "b": text([1, 50]), "c": text(seed=7), "d": text([3], seed=7)}

    plain = scanned(texts, settings=settings)
    result = scanned(texts, [("b", "a")], settings)

    assert (len(plain.groups), plain.stats.ignored) == (2, 0)
    assert names(result, scanned.root) == [["c", "d"]]
    assert result.stats.ignored == 1


@every_scan
def test_an_ignored_pair_that_was_not_found_is_not_counted(scanned, settings):
    texts = {"a": text(), "b": text(seed=7), "c": text([1])}

    result = scanned(texts, [("a", "b")], settings)

    assert names(result, scanned.root) == [["a", "c"]]
    assert result.stats.ignored == 0


@every_scan
def test_copies_and_other_encodings_of_either_side_are_ignored_too(scanned, settings):
    one, other = (f"{each} 钟表\n" for each in (text(), text([1, 50])))
    texts = {
        "a": one, "a-gbk": one.encode("gbk"), "moved/a": one.replace("\n", "\r\n"),
        "b": other, "b-16": other.encode("utf-16"),
    }  # fmt: skip

    result = scanned(texts, [("a", "b")], settings)

    found = sorted(map(sorted, names(result, scanned.root)))
    assert found == [["a", "a-gbk", "moved/a"], ["b", "b-16"]]
    assert result.stats.ignored == 1


@every_scan
def test_texts_that_differ_in_punctuation_alone_can_be_ignored(scanned, settings):
    texts = {"a": text() + " 1.000", "b": text() + " 1:000", "c": text() + " 1 000"}

    both = scanned(texts, settings=settings)
    result = scanned({name: texts[name] for name in "abc"}, [("a", "b")], settings)

    assert [len(group.members) for group in both.groups] == [3]
    # Both are like c, which nobody said they are not.
    assert names(result, scanned.root) == [["c", "a", "b"]]
    assert [member.similarity for member in result.groups[0].members] in ([1, 1, 1], [None] * 3)
    assert {member.kind for member in result.groups[0].members[1:]} == {Kind.NEAR}


@every_scan
def test_two_that_differ_in_punctuation_alone_are_no_group(scanned, settings):
    result = scanned({"a": text() + " 1,000", "b": text() + " 1.000"}, [("a", "b")], settings)

    assert (result.groups, result.stats.ignored) == ((), 1)


@every_scan
def test_both_may_be_like_a_third_but_neither_represents_the_other(scanned, settings):
    # a has most neighbours, copies of its own, and would represent b.
    texts = {"a": text(), "a2": text(), "a3": text(), "b": text([1]), "between": text([2])}

    result = scanned(texts, [("a", "b")], settings)

    found = names(result, scanned.root)
    assert result.stats.ignored == 1
    for group in found:
        assert not (group[0].startswith("a") and "b" in group)
        assert not (group[0] == "b" and "a" in group)
    assert any("between" in group for group in found)


@pytest.mark.parametrize("linkage", LINKAGES)
@given(st.data())
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_member_is_a_pair_with_its_representative_whatever_is_ignored(scanned, linkage, data):
    texts = {str(n): text([n, n + 1]) for n in range(6)}
    every = [(i, j) for i in texts for j in texts if i < j]
    pairs = data.draw(st.lists(st.sampled_from(every), unique=True, max_size=8))

    result = scanned(texts, pairs, Settings(linkage=linkage))

    for first, *others in names(result, scanned.root):
        assert not any(tuple(sorted((first, other))) in pairs for other in others)
    assert result.stats.ignored <= len(pairs)
    if not pairs:
        assert [len(group.members) for group in result.groups] == [6]


def test_pairs_of_both_sides_are_ignored_with_references(scanned):
    texts = {"new/a": text(), "new/b": text([1]), "old/a": text(), "old/c": text([1, 2])}
    where = {"roots": ["new"], "against": ["old"]}

    plain = scanned(texts, **where)
    result = scanned(texts, [("new/a", "old/c"), ("new/b", "old/c")], **where)

    assert any("old/c" in group for group in names(plain, scanned.root)) or plain.groups
    assert all("old/c" not in group for group in names(result, scanned.root))
    assert names(result, scanned.root) == [["old/a", "new/a", "new/b"]]


def test_a_pair_is_ignored_in_every_round_of_a_narrowed_search(scanned):
    narrow = Settings(limits=Limits(candidates=3, candidates_per_text=0))
    texts = {str(n): text([n, n + 1, n + 2]) for n in range(12)}
    pairs = [("0", str(n)) for n in range(1, 12)]

    result = scanned(texts, pairs, narrow)

    assert all("0" not in group for group in names(result, scanned.root))
    assert sum(map(len, names(result, scanned.root))) > 1


def test_the_very_same_text_cannot_be_ignored(scanned):
    result = scanned({"a": text(), "b": text()}, [("a", "b")])

    assert names(result, scanned.root) == [["a", "b"]]
    assert result.stats.ignored == 0


def test_a_group_says_which_of_its_files_the_user_called_different(scanned):
    texts = {"a": text(), "b": text([1]), "c": text([2]), "d": text([3])}
    plain = scanned(texts)
    ((first, *others),) = names(plain, scanned.root)

    found = scanned(texts, [(others[0], others[2])])

    (group,) = found.groups
    paths = [short(each.document, scanned.root) for each in group.members]
    ((one, other),) = group.not_duplicates
    assert paths[0] == first
    assert {os.path.basename(each) for each in (one, other)} == {others[0], others[2]}
    line = next(each for each in render(found) if "not duplicates" in each)
    assert line == f"  not duplicates of each other, as you said: {one} and {other}"
    (entry,) = json.loads("".join(render_json(found)))["groups"][0]["not_duplicates"]
    assert entry == {"path": one, "other": other}
    assert plain.groups[0].not_duplicates == ()


def test_a_saved_result_names_a_pair_once_in_whatever_order_its_files_are(scanned):
    found = scanned({"a": text(), "b": text([1]), "c": text([2])}, [("b", "c")])
    first, *others = found.groups[0].members
    group = found.groups[0]._replace(members=(first, *reversed(others)))
    pair = [each.document.text_digest for each in others]

    known = without_ignored(replace(found, groups=(group,)), [pair])

    assert len(others) == 2
    assert known.groups[0].not_duplicates == found.groups[0].not_duplicates


def test_a_file_that_was_called_different_leads_no_group_whatever_its_name(scanned):
    texts = {"a": text(), "b copy": text([1]), "c copy": text([2])}
    ((first, *_),) = names(scanned(texts), scanned.root)

    found = scanned(texts, [("a", "b copy")])

    (group,) = found.groups
    assert first == "a"
    assert os.path.basename(group.members[0].document.path) == "c copy"
    assert group.why == "like all others"
    saved = load("".join(render_json(found)).encode(), "x")
    assert saved.groups[0].not_duplicates == group.not_duplicates


def test_a_forged_result_may_name_a_file_twice_in_a_group_with_an_ignored_pair(scanned):
    found = scanned({"a": text(), "b": text([1]), "c": text([2])}, [("a", "b")])
    members = found.groups[0].members
    group = found.groups[0]._replace(members=(*members, members[1]))

    (keys,) = keys_of(replace(found, groups=(group,)))

    assert keys[3] == keys[1]


def test_other_groups_do_not_hinder_a_scan_with_ignored_pairs(tmp_path):
    """A group of files that are compared for identity only has no texts to ask about."""
    numbers = "\n".join(str(n / 7) for n in range(500))
    for folder, name, content in (
        *(("A", "n.csv", numbers), ("B", "n.csv", numbers)),
        *(("A", "x", text()), ("A", "y", text([1]))),
    ):
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / name).write_text(content, "utf-8")
    digests = [
        each.text_digest for each in scan(tmp_path).documents if each.source.path[-1] in "xy"
    ]

    found = scan(tmp_path, ignored=[tuple(digests)], keep_under=[tmp_path / "B"])

    (group,) = found.groups
    assert [each.document.path for each in group.members] == [
        str(tmp_path / folder / "n.csv") for folder in "BA"
    ]


# Results that were made before


def test_a_saved_result_loses_members_and_groups_and_counts_the_pairs(scanned):
    texts = {"a": text(), "b": text([1]), "c": text([1, 2]), "d": text(seed=5), "e": text([1], 5)}
    result = scanned(texts)
    digest = {short(each, scanned.root): each.text_digest for each in result.documents}
    ((first, other, last),) = (group for group in names(result, scanned.root) if "a" in group)

    left = without_ignored(
        result, [(digest[other], digest[first]), (digest["e"], digest["d"]), (b"1", b"2")]
    )

    assert names(left, scanned.root) == [[first, last]]
    (group,) = left.groups
    assert group.kind is group.members[1].kind
    assert group.diameter == group.members[1].distance
    assert left.stats.ignored == 2
    assert without_ignored(result, []) == result


def test_a_chain_that_loses_a_version_is_no_chain(folder, english):
    for name, word in (("v1", "grey"), ("v2", "brown"), ("v3", "white")):
        (folder / f"{name}.txt").write_text(english.replace("grey", word))
    found = scan(folder)
    (group,) = found.groups
    first, second, _ = (member.document.text_digest for member in group.members)

    assert len(group.versions) == 3
    assert without_ignored(found, [(first, b"x")]).groups == found.groups
    (smaller,) = without_ignored(found, [(first, second)]).groups
    assert len(smaller.members) == 2
    assert smaller.versions == ()


def test_a_group_that_loses_members_says_anew_why_its_first_is_kept_and_numbers_its_sets(
    folder, english
):
    for name, word in (("a", "grey"), ("b", "brown"), ("c", "brown"), ("d-copy", "white")):
        (folder / f"{name}.txt").write_text(english.replace("grey", word))
    (folder / "e-copy.txt").write_text(english.replace("grey", "white"))
    found = scan(folder)
    (group,) = found.groups
    digest = {member.document.path[-5]: member.document.text_digest for member in group.members}
    first = group.members[0].document

    (smaller,) = without_ignored(found, [(digest["a"], digest["b"])]).groups

    assert (first.path[-5], group.why) == ("a", "order of names")
    assert smaller.why == "its name has no mark of a copy"
    assert [member.set_id for member in smaller.members] == [None, 1, 1]
