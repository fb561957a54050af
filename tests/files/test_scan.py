"""simdup.files.scan: whole runs from Python."""

from __future__ import annotations

import gc
from collections import Counter
from pathlib import Path
from random import Random

import makers
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from simdup import compare, fingerprint_files
from simdup.errors import InterruptedScan
from simdup.files import read as reading_room
from simdup.files.scan import scan
from simdup.match.candidates import search_distance
from simdup.recipe import Recipe
from simdup.records import Kind, Reason
from simdup.report import json_csv as data
from simdup.report import text
from simdup.report.load import load
from simdup.settings import Limits, Settings

pytestmark = pytest.mark.slow


def grouped(result):
    return [[member.document.path for member in group.members] for group in result.groups]


def when(label, act):
    """Progress that calls a function once, before the phase of that name."""
    waiting = [act]

    def progress(items, phase, total, amount=None):  # noqa: ARG001
        if phase == label and waiting:
            waiting.pop()()
        return items

    return progress


@pytest.fixture
def tree(write, english, simplified):
    """Two groups of two files, and a single file."""
    write("in/a", english)
    write("in/b", english.replace("widow", "baker"))
    write("in/c", simplified)
    write("in/d", simplified.encode("gbk"))
    write("in/e", "nothing here is like anything else")
    return "in"


@pytest.mark.parametrize("count", [1, 58, 512, 3000])
def test_a_text_with_nuls_at_its_end_is_identical_text(
    write, english, simplified, monkeypatch, count
):
    write("in/a", english)
    write("in/a-padded", english.encode() + bytes(count))
    write("in/b", simplified.encode("gbk"))
    write("in/b-padded", simplified.encode("gbk") + bytes(count))

    whole = scan(["in"])
    monkeypatch.setattr(reading_room, "HEAD", 100)
    monkeypatch.setattr(reading_room, "CHUNK", 100)
    streamed = scan(["in"], Settings(limits=Limits(whole_bytes=600)))

    for result in (whole, streamed):
        assert sorted(grouped(result)) == [["in/a", "in/a-padded"], ["in/b", "in/b-padded"]]
        assert {group.kind for group in result.groups} == {Kind.IDENTICAL_TEXT}
        assert {document.damaged for document in result.documents} == {0}
        assert result.skipped == ()


def test_stray_nuls_within_a_text_are_shown_as_damage(write, english):
    text = english.encode() * 9
    write("in/a", text)
    write("in/b", text[:2000] + bytes(1) + text[2000:])

    result = scan(["in"])

    assert [group.kind for group in result.groups] == [Kind.NEAR]
    assert {document.path: document.damaged for document in result.documents} == {
        "in/a": 0,
        "in/b": 1,
    }


@pytest.fixture
def textless(write, english):
    """Two copies each of documents without text, and of files that are no documents."""
    empty, signs = makers.docx_of(""), makers.docx_of("<w:p><w:r><w:t>* * *</w:t></w:r></w:p>")
    for copy in ("in/one", "in/two"):
        write(f"{copy}/text", english)
        write(f"{copy}/empty.docx", empty)
        write(f"{copy}/signs.docx", signs)
        write(f"{copy}/zero", b"")
        write(f"{copy}/signs.txt", "* * *")
        write(f"{copy}/binary", bytes(99))
    write("in/one/other.docx", makers.docx_of("<w:p/>"))
    write("in/one/z/empty-copy.docx", empty)
    return "in"


COPIES = [
    ["in/one/empty.docx", "in/two/empty.docx", "in/one/z/empty-copy.docx"],
    ["in/one/text", "in/two/text"],
    ["in/one/signs.docx", "in/two/signs.docx"],
]


@pytest.mark.parametrize("how", [{}, {"verified": False}, {"k": 200}, {"linkage": "components"}])
def test_documents_without_text_are_grouped_by_their_bytes_alone(textless, how):
    result = scan([textless], Settings(**how))

    assert sorted(map(sorted, grouped(result))) == sorted(map(sorted, COPIES))
    assert {group.kind for group in result.groups} == {Kind.IDENTICAL_BYTES}
    assert [group.id for group in result.groups] == [1, 2, 3]
    assert len(result.documents) == result.stats.fingerprinted == 2
    assert result.stats.found == len(result.documents) + len(result.skipped) == 14
    found = Counter((each.reason.value, Path(each.path).name) for each in result.skipped)
    without = dict.fromkeys(("other.docx", "empty-copy.docx"), 1) | {"empty.docx": 2}
    nothing = dict.fromkeys(("signs.docx", "signs.txt", "zero"), 2)
    assert found == {
        **{("no text extracted", name): count for name, count in without.items()},
        **{("empty", name): count for name, count in nothing.items()},
        ("binary", "binary"): 2,
    }


@pytest.mark.parametrize("form", [data.render_json, data.render_jsonl])
def test_groups_of_documents_without_text_are_saved_and_shown_again(textless, form):
    result = scan([textless])
    saved = "".join(f"{line}\n" for line in form(result)).encode()

    again = load(saved, "x")
    assert grouped(again) == grouped(result)
    assert list(text.render(again)) == list(text.render(result))
    assert any("in/two/empty.docx  (no text to compare)" in line for line in text.render(result))


@pytest.mark.usefixtures("textless")
def test_documents_without_text_are_grouped_across_references_alone():
    across = scan(["in/one"], against=["in/two"])
    assert sorted(grouped(across)) == [
        ["in/two/empty.docx", "in/one/empty.docx", "in/one/z/empty-copy.docx"],
        ["in/two/signs.docx", "in/one/signs.docx"],
        ["in/two/text", "in/one/text"],
    ]
    assert grouped(scan(["in/one/z"], against=["in/one/other.docx"])) == []
    Path("in/two/empty.docx").unlink()
    assert "in/one/empty.docx" not in str(grouped(scan(["in/one"], against=["in/two"])))


def test_worked_by_hand(tree):
    result = scan([tree])

    assert grouped(result) == [["in/c", "in/d"], ["in/a", "in/b"]]
    assert [group.kind for group in result.groups] == [Kind.IDENTICAL_TEXT, Kind.NEAR]
    assert [group.id for group in result.groups] == [1, 2]
    assert (result.stats.found, result.stats.fingerprinted, result.skipped) == (5, 5, ())
    assert result.stats.bytes == sum(path.stat().st_size for path in Path("in").iterdir())
    assert result.rows.shape == (5, 32)
    assert result.complete
    assert not result.has_trouble


def test_rows_stand_in_the_order_of_documents(tree):
    result = scan([tree])

    row = {document.path: result.rows[i].tobytes() for i, document in enumerate(result.documents)}
    members = [member for group in result.groups for member in group.members]
    assert all(member.fingerprint == row[member.document.path] for member in members)
    assert (result.rows == fingerprint_files(list(row))).all()


@pytest.mark.parametrize("bits", [8, 64, 256, 1024])
@pytest.mark.parametrize("features", ["shingles", "words", "tokens", "keywords"])
def test_copies_are_found_at_any_width_by_any_recipe(tree, bits, features):
    settings = Settings(Recipe(features=features, bits=bits), similarity=0.99)

    assert ["in/c", "in/d"] in grouped(scan([tree], settings))


def test_nothing_gives_an_empty_result(folder):
    result = scan([folder])

    assert (result.documents, result.groups, result.skipped) == ((), (), ())
    assert result.rows.shape == (0, 32)


# Files that change during the scan


def test_a_file_that_vanishes_before_its_text_is_read_again_is_skipped(tree):
    result = scan([tree], progress=when("search", Path("in/b").unlink))

    assert grouped(result) == [["in/c", "in/d"]]
    assert [(each.path, each.reason) for each in result.skipped] == [("in/b", Reason.VANISHED)]


def test_a_copy_stands_in_for_a_file_that_vanished(tree, write, english):
    write("in/copy-of-a", english)

    result = scan([tree], progress=when("search", Path("in/a").unlink))

    (group,) = [set(group) for group in grouped(result) if "in/b" in group]
    assert "in/copy-of-a" in group


def test_every_phase_shows_its_progress_to_its_end(tree):
    phases = []

    def progress(items, label, total, amount=None):
        phase = [label, total, 0]
        phases.append(phase)
        for item in items:
            yield item
            phase[2] += 1 if amount is None else amount(item)

    scan([tree], progress=progress)

    assert phases[:4] == [["walk", None, 5], ["read", 5, 5], ["search", 6, 6], ["verify", 1, 1]]


# Two files


def near_copy(seed, size, share):
    """Two texts of `size` words of their own, of which about this share is the same."""
    random = Random(seed)
    left = [f"w{number}" for number in random.choices(range(10 * size), k=size)]
    right = [word if random.random() < share else f"{word}x" for word in left]
    return " ".join(left), " ".join(right)


@pytest.mark.parametrize(
    "chosen",
    [{}, {"similarity": 0.7}, {"recipe": Recipe(bits=64), "verified": False}, {"k": 75}],
    ids=str,
)
@given(
    st.integers(0, 1000),
    st.sampled_from([3, 15, 17, 25, 60, 200, 300, 1000, 20_000]),
    st.floats(0.4, 1),
)
@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=15, derandomize=True
)
def test_a_scan_of_two_files_says_what_compare_says(folder, chosen, seed, size, share):
    for name, content in zip("ab", near_copy(seed, size, share), strict=True):
        (folder / name).write_text(content)
    options = Settings(**chosen)

    pair, groups = compare("a", "b", options), scan(["a", "b"], options).groups
    # One pair in fifty that is just similar enough is further away than a scan looks.
    reach = search_distance(options.similarity, options.recipe.bits)
    assume(not options.verified or pair.distance <= reach)

    assert bool(groups) == (pair.kind is not None)
    for group in groups:
        assert group.members[1].kind == pair.kind
        if options.verified:
            assert group.members[1].similarity == pytest.approx(pair.similarity)


@pytest.mark.parametrize(
    ("size", "shared", "is_near"),
    [(17, 9, False), (17, 17, True), (100, 75, True), (400, 180, True), (1 << 17, 59_000, False)],
)
def test_short_files_and_very_long_ones_must_be_more_alike(write, size, shared, is_near):
    """The others are near from .35 or a little more; these ask for .6 and for .5."""
    words = [f"w{number}" for number in range(size)]
    write("a", " ".join(words))
    write("b", " ".join(words[:shared] + [f"x{number}" for number in range(size - shared)]))

    pair = compare("a", "b")
    assert pair.similarity == pytest.approx((shared - 1) / (size - 1))
    assert (pair.kind is not None) == is_near
    assert bool(scan(["a", "b"]).groups) == is_near


def test_ctrl_c_while_sketches_go_to_a_temporary_file_ends_in_a_result(write, monkeypatch):
    write("in/a", "some words of a text")

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("simdup.fingerprint.sketch.mmap.mmap", interrupted)

    with pytest.raises(InterruptedScan) as caught:
        scan(["in"], Settings(limits=Limits(sketch_bytes=1)))

    assert not caught.value.result.complete
    assert len(caught.value.result.documents) == 1


@pytest.mark.parametrize("few", [0, 10**9])
@pytest.mark.parametrize("was_enabled", [True, False])
@pytest.mark.parametrize("was_frozen", [True, False])
def test_the_garbage_collector_is_left_as_it_was(  # noqa: PLR0917
    write, english, monkeypatch, was_enabled, was_frozen, few
):
    write("in/a", english)
    monkeypatch.setattr("simdup.files.scan.FEW", few)
    enabled_here = gc.isenabled()
    try:
        (gc.enable if was_enabled else gc.disable)()
        (gc.freeze if was_frozen else gc.unfreeze)()
        scan(["in"])

        assert gc.isenabled() == was_enabled
        assert (gc.get_freeze_count() > 0) == was_frozen
    finally:
        gc.freeze()  # as tests/conftest.py does
        (gc.enable if enabled_here else gc.disable)()
