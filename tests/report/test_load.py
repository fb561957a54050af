"""simdup.report.load: saved results are read again, and other files refused."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from hashlib import blake2b

import pytest
from conftest import filled_form
from hypothesis import given
from hypothesis import strategies as st

from simdup import Index, Recipe, Settings, scan
from simdup.errors import InputError
from simdup.records import Candidates, Interval, Kind, Reason, Version
from simdup.report import json_csv as data
from simdup.report import text
from simdup.report.load import load

pytestmark = pytest.mark.slow

RENDERED = {"json": data.render_json, "jsonl": data.render_jsonl}


def saved(result, form="json"):
    return "".join(f"{line}\n" for line in RENDERED[form](result)).encode()


def objects(report, form):
    """The values of a report as JSON, or as JSON Lines."""
    return list(map(json.loads, report.splitlines() if form == "jsonl" else [report]))


@pytest.fixture
def result(write, english, simplified):
    write("a.txt", english)
    write("b.txt", english.replace("grey", "brown"))
    write("c/gbk.txt", simplified.encode("gbk"))
    write("c/utf8.txt", simplified)
    write(b"c/\xff\x1b\n.txt", simplified)
    write("page.html", f"<p>{english}</p>")
    write("picture.png", b"\x89PNG\r\n\x1a\n\0\0")
    write("empty.txt", "")
    return scan(["."])


@pytest.mark.parametrize("form", RENDERED)
def test_a_saved_result_is_reported_as_the_scan_was(result, form):
    again = load(saved(result, form), "x")

    for render in (text.render, data.render_csv, text.in_groups):
        assert list(render(again)) == list(render(result))
    assert again.stats == result.stats._replace(seconds=round(result.stats.seconds, 3))
    assert set(again.skipped) == set(result.skipped)
    assert again.candidates == result.candidates
    assert again.complete


@pytest.mark.parametrize("form", RENDERED)
def test_a_saved_result_still_knows_which_files_are_references(write, english, form):
    write("new/a.txt", english)
    write("old/a.txt", english)
    write("old/b.txt", english)
    result = scan(["new"], against=["old"])

    again = load(saved(result, form), "x")

    assert text.closing(again)[1:] == text.closing(result)[1:]
    assert text.what_to_do(again) == [f"can be removed: 1 exact copy, {len(english):,} B"]


def test_a_saved_result_says_that_nothing_is_like_a_reference(write, english, simplified):
    write("new/a.txt", english)
    write("old/a.txt", simplified)

    again = load(saved(scan(["new"], against=["old"])), "x")

    assert text.closing(again)[0].startswith("no file holds the same text as a reference; ")


@pytest.mark.parametrize("form", RENDERED)
def test_families_of_siblings_are_loaded_if_they_were_saved(write, form):
    for number in range(10):
        write(f"{number}.txt", filled_form(number))
    result = scan(["."])
    whole = "".join(f"{line}\n" for line in RENDERED[form](result, siblings=True)).encode()

    again = load(whole, "x")

    assert again.stats.siblings == result.stats.siblings == 45
    assert len(again.patterns) == 1
    assert [*text.render(again, siblings=True)] == [*text.render(result, siblings=True)]
    assert load(saved(result, form), "x").patterns == ()


def versions_of(group):
    """A version for each member, of which the first has no changes and the next a quarter."""
    paths = enumerate(member.document.path for member in group.members)
    return tuple(Version(path, place / 4 or None) for place, path in paths)


CHANGED = {
    "as it is": lambda found: found,
    "versions": lambda found: replace(
        found, groups=tuple(group._replace(versions=versions_of(group)) for group in found.groups)
    ),
    "inexact diameters": lambda found: replace(
        found, groups=tuple(group._replace(is_diameter_exact=False) for group in found.groups)
    ),
    "interrupted": lambda found: replace(found, groups=(), candidates=None, complete=False),
    "narrowed": lambda found: replace(found, candidates=Candidates(7, 9, 11, 0.5)),
    "recall": lambda found: replace(
        found, candidates=Candidates(7, recall=Interval(0.75, 0.25, 1), sampled=12)
    ),
}


@pytest.mark.parametrize("form", RENDERED)
@pytest.mark.parametrize("what", CHANGED)
def test_saving_a_loaded_report_changes_nothing(result, form, what):
    once = saved(CHANGED[what](result), form)

    again = load(once, "x")

    assert objects(saved(again, form), form) == objects(once, form)
    assert again.complete == (what != "interrupted")


@pytest.mark.parametrize(
    "settings",
    [
        Settings(k=40),
        Settings(verified=False),
        Settings(Recipe(features="keywords", bits=64), 0.7, linkage="components", encoding="utf-8"),
        Settings(Recipe(ngram=(2, 3))),
        Settings(Recipe(fold_variants=False)),
        Settings(own_share=0.25),
    ],
)
def test_settings_are_loaded_as_saved(write, english, settings):
    write("a.txt", english)
    write("b.txt", english)
    found = scan(["."], settings)
    again = load(saved(found), "x").settings

    assert again.recipe == settings.recipe
    assert again.distance == settings.distance
    assert again.verified == settings.verified
    assert not again.verified or again.own_share == settings.own_share
    assert (again.linkage, again.encoding) == (settings.linkage, settings.encoding)


@pytest.mark.parametrize("form", RENDERED)
def test_a_result_says_exactly_which_files_it_saw(write, english, form):
    write("docs/a.txt", english)
    os.link("docs/a.txt", "elsewhere.txt")
    write(b"\xff/b.txt", english)
    write("old/c.txt", f"\ufeff{english}")
    result = scan(["docs", os.fsdecode(b"\xff")], against="old")

    again = load(saved(result, form), "x")

    assert again.base == result.base == os.getcwd()
    assert again.roots == result.roots == ("docs", os.fsdecode(b"\xff"))
    assert again.references == result.references == ("old",)
    assert len(again.documents) == 3
    for document in again.documents:
        status, source = os.stat(document.path), document.source
        assert (source.device, source.inode) == (status.st_dev, status.st_ino)
        assert (source.mtime_ns, source.ctime_ns) == (status.st_mtime_ns, status.st_ctime_ns)
        assert (source.size, source.links) == (status.st_size, status.st_nlink)
        with open(document.path, "rb") as file:
            assert document.bytes_digest == blake2b(file.read(), digest_size=16).digest()
    assert {each.source.links for each in again.documents} == {1, 2}


def test_a_result_of_listed_files_has_no_roots(write, english):
    write("a.txt", english)
    write("b.txt", english)
    result = scan(["a.txt", "b.txt"], are_files=True)

    assert json.loads(saved(result))["roots"] is None
    assert load(saved(result), "x").roots is None


def test_a_working_folder_that_is_gone_is_not_known(write, english, tmp_path, monkeypatch):
    write("docs/a.txt", english)
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    result = scan([tmp_path])

    assert json.loads(saved(result))["base"] is None
    assert load(saved(result), "x").base is None


def test_the_result_of_an_index_does_not_know_device_and_links(write, english):
    write("a.txt", english)
    write("b.txt", english)
    with Index.create("i.simdup") as index:
        index.add(["."])
        result = index.scan()
    report = json.loads(saved(result))

    for each in report["groups"][0]["members"]:
        assert (each["device"], each["links"], each["set"]) == (None, None, 1)
        assert each["inode"] == os.stat(each["path"]).st_ino
    assert report["base"] is report["roots"] is None
    assert all(each.source.links == 0 for each in load(saved(result), "x").documents)


def change(report, path, value):
    """Change one field of the report; `...` deletes it."""
    *way, last = path
    at = report
    for key in way:
        at = at[key]
    if value is ...:
        del at[last]
    else:
        at[last] = value


# Where a report is changed, how, and what the message says.
MEMBER_1 = ["groups", 0, "members", 1]
INVALID = [
    (["schema_version"], 3, "schema_version 3 is of another simdup; this one reads 2"),
    (["schema_version"], ..., "schema_version must be a whole number"),
    (["tool"], "fclones", "tool must be 'simdup'"),
    (["complete"], 1, "complete must be true or false"),
    (["settings"], [], "settings must be an object"),
    (["settings", "bits"], 12, "settings.recipe cannot be: bits must be a multiple of 8"),
    (["settings", "recipe", "ngram"], ["2"], "settings.recipe.ngram must be whole numbers"),
    (["settings", "similarity"], 2, "settings.similarity must be from 0 to 1"),
    (["stats", "found"], -1, "stats.found must be from 0"),
    (["stats", "seconds"], float("nan"), "stats.seconds must be from 0"),
    (["stats", "skipped"], {"binary": 5}, "stats.skipped counts others than are listed"),
    (["groups"], None, "groups must be a list"),
    (["groups", 0], 1, "groups[0] is not an object"),
    (["groups", 0, "kind"], "far", "groups[0].kind is unknown: 'far'"),
    (["groups", 0, "members"], [], "groups[0].members must be two or more"),
    ([*MEMBER_1, "path"], ..., "groups[0].members[1].path must be a text"),
    ([*MEMBER_1, "path"], "\ud800", "path must be valid Unicode"),
    ([*MEMBER_1, "path_base64"], "?", "path_base64 is not base64"),
    ([*MEMBER_1, "size"], True, "size must be a whole number"),
    ([*MEMBER_1, "mtime_ns"], 2**100, "mtime_ns must be from"),
    ([*MEMBER_1, "ctime_ns"], "1", "ctime_ns must be a whole number"),
    (["base"], 7, "base must be a text"),
    (["roots"], ["a"], "roots[0] is not an object"),
    ([*MEMBER_1, "format"], "a/b", "format is unknown: 'a/b'"),
    ([*MEMBER_1, "fingerprint"], "zz", "fingerprint is not a hexadecimal"),
    ([*MEMBER_1, "fingerprint"], "00", "fingerprint must have 256 bits"),
    ([*MEMBER_1, "distance"], 257, "distance must be from 0 to 256"),
    ([*MEMBER_1, "similarity"], 1.1, "similarity must be from 0 to 1"),
    ([*MEMBER_1, "encoding"], "zlib", "encoding is unknown: 'zlib'"),
    (["settings", "encoding"], "rot13", "settings.encoding is unknown"),
    (["skipped", 0, "reason"], "mood", "skipped[0].reason is unknown: 'mood'"),
    (["candidates", "k"], "1", "candidates.k must be a whole number"),
    (["candidates", "recall"], {"value": 1}, "candidates.recall.low must be a number"),
    *(
        ([*MEMBER_1, "text_digest"], digest, "must be 32 hexadecimal digits")
        for digest in ("", "A" * 32)
    ),
    ([*MEMBER_1, "byte_digest"], "g" * 32, "byte_digest must be 32 hexadecimal digits"),
    (["groups", 0, "versions"], "v1", "versions must be a list"),
    (["groups", 0, "versions"], [{"path": "x", "changed": None}], "must be members of the group"),
    (["groups", 0, "versions"], [{"path": "./a.txt", "changed": 2}], "changed must be from 0 to 1"),
]


def test_the_message_names_the_invalid_field(result):
    whole = saved(result)

    for path, value, message in INVALID:
        report = json.loads(whole)
        change(report, path, value)
        with pytest.raises(InputError) as refused:
            load(json.dumps(report).encode(), "r.json")
        line = str(refused.value)
        assert line.startswith("'r.json': not a result of `simdup scan`: ")
        assert message in line
        assert "\n" not in line


def as_floats(value):
    """The JSON value with a decimal point in every number that a float holds."""
    if isinstance(value, dict):
        return {key: as_floats(each) for key, each in value.items()}
    if isinstance(value, list):
        return list(map(as_floats, value))
    is_kept = isinstance(value, (bool, str, type(None))) or value > 2**53
    return value if is_kept else float(value)


# How tools like jq rewrite JSON.
REWRITTEN = {
    "jq -c": lambda value: json.dumps(value, separators=(",", ":"), ensure_ascii=False),
    "jq": lambda value: json.dumps(value, indent=2, ensure_ascii=False),
    "jq -S": lambda value: json.dumps(value, indent=2, sort_keys=True),
    "jq --tab": lambda value: json.dumps(value, indent="\t").replace("\n", "\r\n"),
    "other numbers": lambda value: json.dumps(as_floats(value)),
}


@pytest.mark.parametrize("form", RENDERED)
@pytest.mark.parametrize("way", REWRITTEN)
def test_a_report_rewritten_by_another_program_is_read(result, form, way):
    before = saved(result, form)
    after = "".join(f"{REWRITTEN[way](value)}\n" for value in objects(before, form)).encode()

    assert after != before
    assert saved(load(after, "x")) == saved(load(before, "x"))


def test_unknown_fields_are_ignored(result):
    report = json.loads(saved(result))
    report["mood"] = report["groups"][0]["mood"] = report["stats"]["mood"] = "good"

    assert load(json.dumps(report).encode(), "x").groups == load(saved(result), "x").groups


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"\xff\xfe", b"null", b"[1]", b"{}", b"[" * 100_000, b"Group 1: near", b"1" * 5000],
)
def test_a_file_that_is_not_a_report_is_refused_in_one_line(content):
    with pytest.raises(InputError, match=r"^'x': not a result of `simdup scan`: [^\n]*$"):
        load(content, "x")


def test_missing_or_foreign_lines_are_noticed(result):
    lines = saved(result, "jsonl").splitlines(keepends=True)

    with pytest.raises(InputError, match="is the file whole"):
        load(b"".join(lines[:-1]), "x")
    with pytest.raises(InputError, match="not JSON"):
        load(b"".join(lines)[:-9], "x")
    with pytest.raises(InputError, match="line 2 is of no known type"):
        load(lines[0] + b'{"type": "mood"}\n', "x")
    with pytest.raises(InputError, match="line 4 is of no known type"):
        load(lines[0] + b'\n\n{"type": ["group"]}\n', "x")
    with pytest.raises(InputError, match="not JSON"):
        load(lines[1] + lines[0], "x")


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.text(), st.lists))
def test_any_other_json_is_refused(value):
    with pytest.raises(InputError):
        load(json.dumps(value).encode(), "x")


def test_the_example_of_a_report_is_read():
    assert load(json.dumps(EXAMPLE).encode(), "x").candidates.sampled == 1


@given(st.data())
def test_a_report_with_any_value_anywhere_is_read_or_refused(draw):
    report = json.loads(json.dumps(EXAMPLE))
    at = report
    while True:
        key = draw.draw(st.sampled_from(list(at) if isinstance(at, dict) else range(len(at))))
        if isinstance(at[key], (dict, list)) and at[key] and draw.draw(st.booleans()):
            at = at[key]
        else:
            break
    at[key] = draw.draw(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats()
        | st.text()
        | st.just([])
        | st.just({})
    )
    try:
        again = load(json.dumps(report).encode(), "x")
    except InputError:
        return
    assert list(text.render(again, siblings=True)) is not None
    assert list(data.render_csv(again, siblings=True))


MEMBER = {
    "path": "a", "size": 1, "mtime_ns": 15 * 10**8, "format": "text", "encoding": "utf-8",
    "confidence": 1.0, "damaged": 0, "features": 9, "short": True, "fingerprint": "00" * 8,
    "kind": Kind.NEAR.value, "distance": 0, "similarity": 1.0, "own_share": 1.0, "estimate": 1.0,
    "representative": True, "reference": False,
}  # fmt: skip
GROUP = {
    "id": 1, "kind": "near", "diameter": 0, "diameter_exact": True, "members": [MEMBER, MEMBER],
    "versions": [],
}  # fmt: skip
EXAMPLE = {
    "schema_version": 2, "tool": "simdup", "version": "0.1.0", "complete": True,
    "settings": {
        "recipe": {"features": "shingles", "hash": "mix64", "bits": 64, "ngram": [2]}, "bits": 64,
        "similarity": 0.45, "own_share": 0.5, "k": 20, "verified": True, "linkage": "star",
        "encoding": None, "formats": [],
    },
    "stats": {
        "found": 2, "fingerprinted": 2, "from_store": 0, "skipped": {"binary": 1}, "bytes": 2,
        "seconds": 0.1, "ignored": 0, "siblings": 0, "identity_only": {},
    },
    "candidates": {
        "k": 20, "wanted": 20, "at_threshold": 0.9, "pairs": 1, "sampled": 1,
        "recall": {"value": 0.9, "low": 0.5, "high": 1.0},
    },
    "groups": [GROUP],
    "patterns": [GROUP | {"id": 2, "kind": "same pattern"}],
    "folders": [], "doubtful": [],
    "skipped": [{"path": "b", "reason": Reason.BINARY.value, "detail": ""}],
}  # fmt: skip
