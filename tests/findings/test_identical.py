"""simdup.findings.identical: identical files are found as sets, wherever they stand in a group."""

from __future__ import annotations

import csv
import json
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdup import Settings, scan
from simdup.findings.identical import identical_bytes, with_sets
from simdup.records import Document, Group, Kind, Member, Source
from simdup.report import json_csv, text
from simdup.report.load import load


def member(path, text, content, kind=Kind.NEAR):
    digests = bytes([content]) * 16, bytes([text]) * 16, b"f" * 16
    document = Document(Source(path, 1, 0, 0, 0, 0), "utf-8", 1.0, 0, 100, *digests)
    return Member(document, bytes(8), kind, 3, 0.5)


def group(number, *members):
    return Group(number, Kind.NEAR, 3, tuple(members))


def shown(groups):
    return [[(m.document.path, m.set_id, m.set_kind) for m in each.members] for each in groups]


def test_worked_by_hand():
    groups = (
        group(
            1,
            member("a", 1, 1),
            member("b", 2, 2),
            member("c", 1, 3),
            member("d", 3, 4),
            member("e", 2, 2),
            member("f", 1, 1),
        ),
        group(2, member("g", 4, 5), member("h", 5, 6)),
        group(3, member("i", 6, 7), member("j", 6, 8)),
    )

    found, families = with_sets(groups, [group(4, member("b", 2, 2), member("x", 9, 9))])

    assert shown(found) == [
        [
            ("a", 1, Kind.IDENTICAL_TEXT),
            ("f", 1, Kind.IDENTICAL_TEXT),
            ("c", 1, Kind.IDENTICAL_TEXT),
            ("b", 2, Kind.IDENTICAL_BYTES),
            ("e", 2, Kind.IDENTICAL_BYTES),
            ("d", None, None),
        ],
        [("g", None, None), ("h", None, None)],
        [("i", 3, Kind.IDENTICAL_TEXT), ("j", 3, Kind.IDENTICAL_TEXT)],
    ]
    assert shown(families) == [[("b", 2, Kind.IDENTICAL_BYTES), ("x", None, None)]]


def test_without_digests_only_what_is_identical_to_the_first_is_known():
    unknown = [
        ("a", Kind.IDENTICAL_BYTES),
        ("b", Kind.NEAR),
        ("c", Kind.IDENTICAL_BYTES),
        ("d", Kind.NEAR),
    ]
    members = [member(path, 0, 0, kind) for path, kind in unknown]
    members = [
        each._replace(document=each.document._replace(bytes_digest=b"", text_digest=b""))
        for each in members
    ]

    (found,), _ = with_sets([group(1, *members)])

    assert shown([found]) == [
        [
            ("a", 1, Kind.IDENTICAL_BYTES),
            ("c", 1, Kind.IDENTICAL_BYTES),
            ("b", None, None),
            ("d", None, None),
        ]
    ]


# Groups of (text, bytes); the bytes of one text are bytes of no other.
contents = st.tuples(st.integers(0, 3), st.integers(0, 2)).map(lambda c: (c[0], 4 * c[1] + c[0]))


@given(st.lists(st.lists(contents, min_size=2, max_size=9), max_size=4))
def test_every_two_files_of_one_text_are_in_one_set_and_no_others(drawn):
    groups = [
        group(number, *(member(f"{number}/{i}", *each) for i, each in enumerate(members)))
        for number, members in enumerate(drawn, 1)
    ]
    found, _ = with_sets(groups)
    everyone = [each for one in found for each in one.members]

    for before, after in zip(groups, found, strict=True):
        assert before.members[0].document == after.members[0].document
        assert {m.document for m in before.members} == {m.document for m in after.members}
        # Whatever is equal stands together.
        for digest in ("text_digest", "bytes_digest"):
            row = [getattr(each.document, digest) for each in after.members]
            runs = [d for d, last in zip(row, [None, *row], strict=False) if d != last]
            assert len(runs) == len(set(runs))
    for one in everyone:
        same = [m for m in everyone if m.document.text_digest == one.document.text_digest]
        digests = {m.document.bytes_digest for m in same}
        if len(same) == 1:
            assert (one.set_id, one.set_kind) == (None, None)
        else:
            assert {m for m in everyone if m.set_id == one.set_id} == set(same)
            assert (one.set_kind is Kind.IDENTICAL_BYTES) == (len(digests) == 1)
    numbers = [m.set_id for m in everyone if m.set_id is not None]
    assert list(dict.fromkeys(numbers)) == list(range(1, len(set(numbers)) + 1))
    assert with_sets(found)[0] == found


def random_tree(seed, texts, write):
    """Copies, recoded copies and edits of some texts, in random folders: the content by path."""
    random = Random(seed)
    written = {}
    for number in range(random.randint(5, 40)):
        text = random.choice(texts)
        if random.random() < 0.5:  # an edit, the same one now and then
            words = text.split(" ")
            words[random.randrange(3) * 7 % len(words)] = random.choice(["brown", "green"])
            text = " ".join(words)
        content = text.encode(random.choice(["utf-8", "utf-8", "utf-8", "utf-16"]))
        if random.random() < 0.2:
            content = content.replace(b"\n", b"\r\n") if b"\0" not in content else content
        path = f"{random.choice('xyz')}/{random.choice('mn')}/{number}.txt"
        written[path] = content
    for path, content in written.items():
        write(path, content)
    return written


@pytest.fixture(params=range(8))
def tree(request, write, english, simplified):
    """The content of each file of a random tree."""
    texts = [english, simplified, english[: len(english) // 2]]
    return random_tree(request.param, texts, write)


def copies_in(written):
    """The paths of files with the same bytes, found by comparing them."""
    copies = {}
    for path, content in written.items():
        copies.setdefault(content, set()).add(f"./{path}")
    return {frozenset(paths) for paths in copies.values() if len(paths) > 1}


def paragraphs(out):
    """The lines of each paragraph, as fdupes prints a set."""
    return {frozenset(each.split("\n")) for each in out.strip("\n").split("\n\n") if each}


def in_text(lines):
    """The byte-identical sets in a text report: lines that say so, below a line of another file."""
    found, last = [], None
    for line in lines:
        path = line[line.find("./") :].split("  (")[0] if "  ./" in line else None
        if path is not None and line[11:17].strip() == "bytes":
            found[-1] = {*found[-1], last, path}
        elif path is not None:
            found.append(set())
        last = path
    return {frozenset(each) for each in found if each}


def by_digest(members):
    """The byte-identical sets among members of JSON or rows of CSV."""
    found = {}
    for each in members:
        found.setdefault((each["set"], each["byte_digest"]), set()).add(each["path"])
    return {frozenset(paths) for paths in found.values() if len(paths) > 1}


@pytest.mark.parametrize("settings", [Settings(), Settings(k=60), Settings(linkage="components")])
def test_every_format_shows_the_sets_that_comparing_bytes_finds(tree, settings):
    expected = copies_in(tree)
    result = scan(".", settings)

    saved = "\n".join(json_csv.render_json(result))
    for found in (result, load(saved.encode(), "saved")):
        assert in_text(text.render(found)) == expected
        assert paragraphs("\n".join(text.names(identical_bytes(found.groups)))) == expected
        rows = list(csv.DictReader(json_csv.render_csv(found)))
        assert by_digest(rows) == expected
        (objects,) = map(json.loads, json_csv.render_json(found))
        assert by_digest(m for group in objects["groups"] for m in group["members"]) == expected
        lines = map(json.loads, json_csv.render_jsonl(found))
        groups = [each for each in lines if each["type"] == "group"]
        assert by_digest(m for group in groups for m in group["members"]) == expected
    assert all(len(paths) > 1 for paths in expected)
    # Sets are told by their numbers too, and a set of one kind has the same bytes throughout.
    sets = {}
    for member in (m for group in objects["groups"] for m in group["members"] if m["set"]):
        sets.setdefault((member["set"], member["set_kind"]), set()).add(member["byte_digest"])
    assert all((kind == "bytes") == (len(digests) == 1) for (_, kind), digests in sets.items())
