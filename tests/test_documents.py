"""Scans and comparisons of documents: the text in them decides, whatever the format."""

from __future__ import annotations

import json
import os
from collections import Counter
from contextlib import closing, suppress
from importlib.util import find_spec
from pathlib import Path

import makers
import pytest

from simdup.extract import documents
from simdup.extract.formats import Format
from simdup.extract.plain import NotReadable
from simdup.records import FORMATS

FILES = {
    "a.html": makers.html_page("one thing"),
    "a.epub": makers.epub(["<p>one thing"]),
    "a.docx": makers.docx_of("<w:p><w:t>one thing</w:t></w:p>"),
    "a.odt": makers.odf_of("<text:p>one thing</text:p>"),
    "a.ods": makers.odf_of("<text:p>one thing</text:p>", "spreadsheet"),
    "a.odp": makers.odf_of("<text:p>one thing</text:p>", "presentation"),
    "a.pptx": makers.pptx("one thing"),
    "a.xlsx": makers.xlsx("one thing"),
    "a.rtf": makers.rtf("one thing"),
    "a.pdf": makers.pdf([["one thing"]]),
    "a.eml": makers.eml("one thing"),
}
NO_EXTRA = "simdup.extract.documents.find_spec"


@pytest.fixture(scope="module")
def readers():
    with closing(documents.Readers(FORMATS)) as readers:
        yield readers


def test_formats_have_one_list():
    assert tuple(each.value for each in Format) == FORMATS
    assert set(documents.READERS) == set(Format)
    assert {documents.kind(data, "") for data in FILES.values()} == set(Format)


@pytest.mark.parametrize("name", [name for name in FILES if name != "a.pdf"])
def test_every_format_is_read(name, readers):
    assert readers.take(FILES[name][:4096], name)
    assert readers.text(FILES[name], name) == ("one thing", documents.kind(FILES[name], name).value)


@pytest.mark.parametrize("found", documents.READERS)
@pytest.mark.parametrize("name", FILES)
def test_any_reader_takes_any_bytes(found, name):
    if found is Format.PDF:
        pytest.importorskip("pypdfium2", reason="needs the extra 'docs'")
    with suppress(NotReadable):
        assert documents.READERS[found](FILES[name])


@pytest.fixture
def folder_of_one_text(write, english, simplified):
    """Each of two texts in many formats."""
    for name, text in (("en", english), ("zh", simplified)):
        write(f"in/{name}.txt", text)
        write(f"in/{name}.gbk.txt", text.encode("gb18030"))
        write(f"in/{name}.html", makers.html_page(text, "gbk"))
        write(f"in/{name}.docx", makers.docx(text))
        write(f"in/{name}.odt", makers.odt(text))
        write(f"in/{name}.epub", makers.ebooklib_epub(text))
        write(f"in/{name}.rtf", makers.rtf(text))
        write(f"in/{name}.eml", makers.eml(text))
    return "in"


def in_chinese_encoding(text):
    """In the first that has all of its characters."""
    for encoding in ("big5", "gbk", "gb18030"):
        with suppress(UnicodeEncodeError):
            return text.encode(encoding)
    raise AssertionError


WRITTEN = {
    "utf-8.txt": str.encode,
    "chinese.txt": in_chinese_encoding,
    "utf-8.html": makers.html_page,
    "gbk.html": lambda text: makers.html_page(text, "gbk"),
    "docx": makers.docx,
    "odt": makers.odt,
    "epub": makers.ebooklib_epub,
    "pdf": makers.printed,
}


def test_every_original_is_one_group_in_whatever_format_it_is_written(run, write):
    for name, text in makers.ORIGINALS.items():
        for ending, make in WRITTEN.items():
            write(f"in/{name}.{ending}", make(text))

    found = json.loads(run("scan", "in", "--format", "json").out)

    groups = [
        {tuple(os.path.basename(each["path"]).split(".", 1)) for each in group["members"]}
        for group in found["groups"]
    ]
    assert len(groups) == len(makers.ORIGINALS) == 48
    assert all(len({name for name, _ in group}) == 1 for group in groups)
    count = Counter(ending for group in groups for _, ending in group)
    pdf = count.pop("pdf", 0)
    assert count == {ending: 48 for ending in WRITTEN if ending != "pdf"}
    if find_spec("pypdfium2"):
        assert pdf >= 0.95 * 48
        assert found["stats"]["skipped"] == {}
    else:
        assert found["stats"]["skipped"] == {"reader not installed": 48}


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_one_text_in_eight_formats_is_one_group(run, folder_of_one_text, jobs):
    ended = run("scan", folder_of_one_text, "--format", "json", "--jobs", jobs)

    groups = json.loads(ended.out)["groups"]
    assert [len(group["members"]) for group in groups] == [8, 8]
    formats = {each["format"] for each in groups[0]["members"]}
    assert formats == {"text", "html", "docx", "odt", "epub", "rtf", "eml"}
    assert all(each["similarity"] == 1 for group in groups for each in group["members"])


def test_formats_that_are_not_wanted_are_read_as_they_stand(run, folder_of_one_text):
    ended = run("scan", folder_of_one_text, "--format", "json", "--formats", "docx")

    found = json.loads(ended.out)
    every = [each for group in found["groups"] for each in group["members"]]
    assert {each["format"] for each in every} == {"text", "docx"}
    assert found["stats"]["skipped"]["binary"] == 4
    assert run("scan", ".", "--formats", "docx,txt").code == 2


def test_two_formats_can_be_compared(run, folder_of_one_text):
    ended = run("compare", f"{folder_of_one_text}/en.docx", f"{folder_of_one_text}/en.html")

    assert ended.code == 0
    assert b"similarity   100 %, exact" in ended.out


def test_without_the_extra_pdf_files_are_counted_and_the_extra_is_named(run, write, monkeypatch):
    for name in ("a", "b"):
        write(f"in/{name}.pdf", FILES["a.pdf"])
    monkeypatch.setattr(NO_EXTRA, lambda _: None)

    ended = run("scan", "in", "--format", "json")

    assert ended.code == 0
    assert json.loads(ended.out)["stats"]["skipped"] == {"reader not installed": 2}
    assert b"2 PDF files left out: pip install 'simdup[docs]' reads them\n" in ended.err


def test_a_document_without_text_is_listed_with_its_reason(run, write):
    write("in/a.docx", makers.zipped({"[Content_Types].xml": "", "word/document.xml": "<a"}))

    found = json.loads(run("scan", "in", "--format", "json").out)

    (skipped,) = found["skipped"]
    assert skipped["reason"] == "no text extracted"
    assert skipped["detail"].startswith("damaged")


def test_a_second_scan_reads_no_document_again(run, folder_of_one_text, monkeypatch):
    monkeypatch.setattr("simdup.shelf.SETTLED_NS", -(10**18))
    first = json.loads(run("scan", folder_of_one_text, "--format", "json").out)
    before = {name: os.stat(Path("in", name)).st_atime_ns for name in os.listdir("in")}
    monkeypatch.setattr("simdup.extract.documents.Readers.text", None)

    again = json.loads(run("scan", folder_of_one_text, "--format", "json").out)

    assert again["stats"]["from_store"] == len(before) == 16
    assert again["groups"] == first["groups"]


def in_every_font(text):
    """Without white space, and without characters that many a Chinese font lacks."""
    return "".join(text.split()).encode("gbk", "ignore").decode("gbk")


@pytest.mark.parametrize("name", makers.ORIGINALS)
def test_a_pdf_is_its_source(name, readers):
    pytest.importorskip("pypdfium2", reason="needs the extra 'docs'")
    text = makers.ORIGINALS[name]

    found, kind = readers.text(makers.printed(text), "a.pdf")

    assert kind == "pdf"
    own = found.replace("A running header", "").replace("- 1 -", "")
    if name.startswith("en"):
        assert own.split() == text.split()
    assert in_every_font(own) == in_every_font(text)
