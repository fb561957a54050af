"""Parts of larger files: the labelled ones of fixtures/parts.py, the store, and reports."""

from __future__ import annotations

import csv
import io
import json
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from benches import bench

from simdup.files import scan as scanning
from simdup.files.read import read_text
from simdup.files.scan import scan
from simdup.files.walk import listed
from simdup.fingerprint.sketch import LEAST
from simdup.report.json_csv import render_csv, render_json, render_jsonl
from simdup.report.load import load
from simdup.report.order import View
from simdup.report.text import render, summary
from simdup.settings import PARTS, Limits, Settings
from simdup.storage.store import Store

sys.path.insert(0, str(Path(__file__).parents[2] / "fixtures"))
import parts as labelled

SETTINGS = Settings(parts=PARTS)

measured = bench("parts").measured


# The labelled parts


@pytest.fixture(scope="module")
def labels(tmp_path_factory):
    made = tmp_path_factory.mktemp("parts")
    labelled.write(made)
    return made


@pytest.fixture(scope="module", params=labelled.LANGUAGES)
def counts(labels, request):
    """What a scan of the files of a language finds of its labelled pairs."""
    root = labels / request.param
    result = scan(root, SETTINGS)
    return measured(labelled.Collection(request.param), root, result.parts, result.groups)


def test_there_are_enough_labels_half_of_them_chinese_and_from_200_characters_up():
    rows = [row for each in labelled.collections() for row in each.rows()]
    positive, negative = ([row for row in rows if row[2] == label] for label in (1, 0))
    lengths = [len(each.files[row[0]]) for each in labelled.collections() for row in each.rows()]

    assert len(positive) >= 60
    assert len(negative) >= 200
    assert len(labelled.collections()) == 2
    assert 130 <= min(lengths) <= 220


def test_labelled_parts_are_found(counts):
    assert counts["found"] == counts["parts"]
    # Most of them only as parts.
    assert counts["listed"] > 0.8 * counts["parts"]


def test_no_labelled_other_text_is_found(counts):
    assert counts["wrong"] == 0


def test_labelled_parts_are_found_in_their_places(counts):
    assert counts["in whole"] == counts["listed"] > 50
    # In a register two forms of one kind stand one after the other, and share half of their words.
    assert counts["in part"] >= 0.95 * counts["listed"]


def test_every_label_is_what_it_says(labels):
    for collection in labelled.collections():
        for whole in collection.wholes:
            (source,) = listed([labels / collection.language / whole.path])
            text = read_text(source).text
            assert text == whole.text
            ends = [place for places in whole.places.values() for place in places]
            assert ends == sorted(ends)
            assert ends[-1] <= len(text)


# Files of our own


@pytest.fixture
def book(write):
    """A long file, a part of it, and another file."""
    chapters = [" ".join(f"c{n}w{word}" for word in range(500)) for n in range(12)]
    write("in/book.txt", "\n\n".join(chapters))
    write("in/chapter.txt", chapters[7])
    write("in/other.txt", " ".join(f"o{word}" for word in range(400)))
    return "in"


def test_parts_are_found_only_if_asked_for(book):
    assert scan(book).parts == ()
    (part,) = scan(book, SETTINGS).parts

    text = Path(part.whole).read_text()
    assert (part.path, part.whole, part.share) == ("in/chapter.txt", "in/book.txt", 1)
    assert text[part.start : part.end] == Path(part.path).read_text()


def test_of_identical_files_one_is_listed(book, write):
    write("in/copy of chapter.txt", Path("in/chapter.txt").read_text())
    write("in/copy of book.txt", Path("in/book.txt").read_text())
    result = scan(book, SETTINGS)

    assert [(part.path, part.whole) for part in result.parts] == [("in/chapter.txt", "in/book.txt")]
    assert len(result.groups) == 2


def test_groups_are_the_same_with_parts_and_without(labels):
    with_parts, without = scan(labels, SETTINGS), scan(labels)

    assert with_parts.groups == without.groups
    assert with_parts.patterns == without.patterns


@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize("language", labelled.LANGUAGES)
def test_parts_are_the_same_where_the_store_has_the_groups(labels, tmp_path, language):
    """They are told from what many texts share, which the store does not have."""
    usual, asked = Settings(own_share=1), Settings(own_share=1, parts=PARTS)
    with closing(Store(tmp_path / "store", pytest.fail)) as store:
        first, *again = (
            scan(labels / language, each, store=store) for each in (usual, asked, asked)
        )

    expected = scan(labels / language, asked)
    assert [each.parts for each in again] == [expected.parts] * 2
    assert [each.groups for each in (first, *again)] == [expected.groups] * 3


@pytest.mark.usefixtures("settled")
def test_only_long_files_are_read_again_when_parts_are_first_asked_for(book, tmp_path, monkeypatch):
    # So that the book is long enough for a usual sketch that lacks values.
    monkeypatch.setattr("simdup.fingerprint.sketch.KEPT", LEAST)
    with closing(Store(tmp_path / "store", pytest.fail)) as store:
        scan(book, store=store)
        read = []
        fingerprint = scanning.fingerprint_all

        def noted(waiting, *options):
            read.extend(source.path for task in waiting for source in task)
            return fingerprint(waiting, *options)

        monkeypatch.setattr(scanning, "fingerprint_all", noted)
        first, again = (scan(book, SETTINGS, store=store) for _ in range(2))
        usual = scan(book, store=store)

    assert read == ["in/book.txt"]
    assert len(first.parts) == 1
    assert again.parts == first.parts
    assert usual.groups == scan(book).groups
    assert usual.stats.from_store == 3


def test_a_file_that_changes_before_it_is_read_again_is_no_part(book, monkeypatch):
    match = scanning.match_documents

    def changing(*args, **options):
        Path("in/chapter.txt").write_text("something else")
        return match(*args, **options)

    monkeypatch.setattr(scanning, "match_documents", changing)
    result = scan(book, SETTINGS)

    assert result.parts == ()
    assert [each.path for each in result.skipped] == ["in/chapter.txt"]


def test_a_file_too_large_to_be_read_at_once_has_parts(book):
    (part,) = scan(book, replace(SETTINGS, limits=Limits(whole_bytes=10_000))).parts

    text = Path(part.whole).read_text()
    assert text[part.start : part.end] == Path(part.path).read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"parts": 0}, "parts must be above 0 and at most 1, not 0"),
        ({"parts": 1.5}, "parts must be above 0 and at most 1, not 1.5"),
        ({"k": 3}, "parts need exact shares; leave out k and ask for verification"),
        ({"verified": False}, "parts need exact shares; leave out k and ask for verification"),
    ],
)
def test_settings_with_which_there_are_no_parts_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        Settings(**{"parts": 0.8} | options)


# Reports


def test_reports_list_parts(book):
    result = scan(book, SETTINGS)
    (part,) = result.parts
    fields = {"path": part.path, "of": part.whole, "share": 1.0}
    fields |= {"start": part.start, "end": part.end}

    assert list(render(result)) == [
        "Parts of in/book.txt:",
        f"    100 % of in/chapter.txt, characters {part.start:,} to {part.end:,}",
        "",
    ]
    assert "1 part of larger files (at least 80.0 % in them)" in summary(result)
    assert json.loads("\n".join(render_json(result)))["parts"] == [fields]
    assert {"type": "part", **fields} in [json.loads(line) for line in render_jsonl(result)]
    (line,) = csv.DictReader(io.StringIO("\n".join(render_csv(result))))
    assert {name: value for name, value in line.items() if value} == {
        "kind": "part",
        "similarity": "1.000000",
        "path": part.path,
        "of": part.whole,
        "start": str(part.start),
        "end": str(part.end),
    }


def test_a_scan_that_was_not_asked_says_nothing_of_parts(book):
    result = scan(book)

    assert "parts" not in json.loads("\n".join(render_json(result)))
    assert not any("part" in line for line in summary(result))
    assert "of" not in next(render_csv(result)).split(",")


@pytest.mark.parametrize("renderer", [render_json, render_jsonl])
def test_a_saved_report_has_the_parts(book, renderer):
    result = scan(book, SETTINGS)
    loaded = load("\n".join(renderer(result)).encode(), "saved")

    assert (loaded.parts, loaded.settings.parts) == (result.parts, 0.8)


def test_a_terminal_shows_some_parts_and_counts_the_others(labels):
    result = scan(labels / "en", SETTINGS)
    lines = list(render(result, view=View(is_brief=True)))

    assert lines[0].startswith("Parts of ")
    assert f"and {len(result.parts) - 8} more parts" in lines


def test_chapters_that_are_grouped_with_their_book_are_parts_in_one_list(write):
    words = [f"w{word}" for word in range(3000)]
    write("in/book", " ".join(words))
    chapters = {"in/a": words[:1950], "in/b": words[1950:2500], "in/c": words[2500:]}
    for name, text in chapters.items():
        write(name, " ".join(text))
    result = scan("in", SETTINGS)

    lines = list(render(result))

    assert {each.document.path for each in result.groups[0].members} == {"in/book", *chapters}
    assert [part.path for part in result.parts] == [*chapters]
    assert lines[0] == "Parts of in/book:"
    assert [line.split(", ")[0].split()[-1] for line in lines[1:4]] == [*chapters]
    assert not any("mostly in" in line for line in lines)


def test_a_group_says_how_much_of_a_member_is_in_the_first(write):
    words = [f"w{word}" for word in range(300)]
    write("in/long", " ".join(words))
    write("in/short", " ".join(words[:120]))
    result = scan("in")

    (line,) = [each for each in render(result) if "in/short" in each]
    assert line.startswith("    100 % ")
    (group,) = json.loads("\n".join(render_json(result)))["groups"]
    _, member = group["members"]
    shares = sorted([member["contained"], member["contains"]])
    assert shares == [pytest.approx(119 / 299), pytest.approx(1)]
