"""Scans and comparisons of documents: the text in them decides, whatever the format."""

from __future__ import annotations

import json
import os
import sys
from contextlib import closing, suppress
from importlib.util import find_spec
from pathlib import Path
from time import process_time

import makers
import old_office
import pytest
from patience import patient

from simdup.extract import readers as documents
from simdup.extract import sandbox as guarded
from simdup.extract.cleanup import NotReadable
from simdup.extract.readers import Readers
from simdup.settings import FORMATS, PACKINGS, Limits

pytestmark = pytest.mark.slow

FILES = {
    "a.html": makers.html_page("one thing"),
    "a.epub": makers.epub(["<p>one thing"]),
    "a.docx": makers.docx_of("<w:p><w:t>one thing</w:t></w:p>"),
    "a.odt": makers.odf_of("<text:p>one thing</text:p>"),
    "a.ods": makers.odf_of("<text:p>one thing</text:p>", "spreadsheet"),
    "a.odp": makers.odf_of("<text:p>one thing</text:p>", "presentation"),
    "a.pptx": makers.pptx("one thing"),
    "a.xlsx": makers.xlsx("one thing"),
    "a.doc": old_office.doc("one thing"),
    "a.xls": old_office.xls("one thing"),
    "a.ppt": old_office.ppt(("", "one thing")),
    "a.msg": old_office.msg("one thing"),
    "a.rtf": makers.rtf("one thing"),
    "a.pdf": makers.pdf([["one thing"]]),
    "a.eml": makers.eml("one thing"),
    "a.mbox": makers.mbox("one thing"),
    "a.srt": makers.srt("one thing"),
    "a.vtt": makers.vtt("one thing"),
    "a.ass": makers.ass("one thing"),
    "a.md": makers.markdown("one thing"),
    "a.ipynb": makers.notebook("one thing"),
    "a.tex": makers.tex("one thing"),
    "a.man": makers.man("one thing"),
}
NO_EXTRA = "simdup.extract.readers.find_spec"


@pytest.fixture(scope="module")
def readers():
    with closing(documents.Readers(FORMATS)) as readers:
        yield readers


def test_formats_have_one_list():
    wanted = {*FORMATS} - {*PACKINGS}

    assert {*documents.READERS} == wanted
    assert {documents.kind(data, name) for name, data in FILES.items()} == wanted


@pytest.mark.parametrize("name", [name for name in FILES if name != "a.pdf"])
def test_every_format_is_read(name, readers):
    found = readers.identify(FILES[name][:4096], name)

    assert found.format is documents.kind(FILES[name], name)
    assert readers.text(found, FILES[name]) == "one thing"


@pytest.mark.parametrize("found", documents.READERS)
@pytest.mark.parametrize("name", FILES)
def test_any_reader_takes_any_bytes(found, name):
    if found == "pdf":
        pytest.importorskip("pypdfium2", reason="needs the extra 'docs'")
    with suppress(NotReadable):
        assert documents.READERS[found](FILES[name])


def test_formats_that_are_switched_off_are_read_as_plain_text(report, write, english):
    write("in/a.txt", english)
    for name in ("a", "b"):
        write(f"in/{name}.docx", makers.docx(english))
        write(f"in/{name}.odt", makers.odt(english))

    found = report("in", "--formats", "docx")

    every = [each for group in found["groups"] for each in group["members"]]
    assert {each["format"] for each in every} == {"text", "docx"}
    assert found["stats"]["skipped"]["binary"] == 2


def test_without_an_extra_files_are_counted_and_it_is_named_once(run, write, monkeypatch):
    for name in ("a", "b"):
        write(f"in/{name}.pdf", FILES["a.pdf"])
    monkeypatch.setattr(NO_EXTRA, lambda _: None)

    ended = run("scan", "in", "--format", "json")

    assert ended.code == 0
    assert json.loads(ended.out)["stats"]["skipped"] == {"reader not installed": 2}
    assert ended.err.count(b"2 files left out: pip install 'simdup[docs]' reads them\n") == 1


# --- what must not get through ---


@pytest.mark.parametrize("name", [name for name in FILES if name not in {"a.pdf", "a.mbox"}])
def test_no_reader_gives_more_text_than_a_text_may_have(name, monkeypatch):
    monkeypatch.setattr("simdup.extract.cleanup.LONGEST_TEXT", 8)
    reader = documents.READERS[documents.kind(FILES[name], name)]

    with pytest.raises(NotReadable, match=r"^more than 8 characters of text$"):
        reader(FILES[name])


def test_a_mailbox_has_no_more_text_than_a_text_may_have(monkeypatch):
    monkeypatch.setattr("simdup.extract.cleanup.LONGEST_TEXT", 40)
    reader = documents.READERS["mbox"]

    assert reader(makers.mbox("one thing\n\ntwo")) == "one thing\ntwo"
    with pytest.raises(NotReadable, match=r"^more than 40 characters of text$"):
        reader(makers.mbox("one thing\n\nanother thing, and one more thing"))


@pytest.mark.parametrize("name", ["a.html", "a.rtf"])
def test_large_pages_are_read_in_the_guarded_process_too(name, monkeypatch):
    monkeypatch.setattr("simdup.extract.sandbox.Guard.text", lambda *_: "guarded")

    for more, expected in ((-1, "guarded"), (0, "one thing")):
        readers = Readers(FORMATS, limits=Limits(unguarded_bytes=len(FILES[name]) + more))
        assert readers.text(readers.identify(FILES[name], name), FILES[name]) == expected


def test_a_zip_file_of_a_million_members_is_not_listed():
    member = b"PK\x01\x02" + bytes(24) + b"\1" + bytes(17) + b"a"
    end = b"PK\x05\x06" + bytes(4) + b"\xff\xff\xff\xff" + (47 * 10**6).to_bytes(4, "little")
    data = b"PK\x03\x04" + bytes(26) + member * 10**6 + end + (30).to_bytes(4, "little") + bytes(2)
    began = process_time()

    assert documents.kind(data, "a.zip") is None
    assert documents.kind(data, "a.docx") == "docx"
    assert process_time() - began < patient(2)


def test_any_damage_to_a_zip_file_is_no_error():
    data = makers.zipped({"[Content_Types].xml": "", "word/document.xml": "<a"})
    for at in range(len(data)):
        for byte in (0, 1, 0x7F, 0xFF):
            documents.kind(data[:at] + bytes([byte]) + data[at + 1 :], "a.bin")


SAYS_MUCH = "<c t='s'><v>0</v></c>" * 100_000
HOSTILE = {
    "bomb.odt": (makers.odf_of(" " * 20_000_000), "unpacks to too much"),
    "much.xlsx": (
        makers.xlsx_of([SAYS_MUCH], f"<si><t>{'a b ' * 1000}</t></si>"),
        "more than 33,554,432 characters of text",
    ),
    "locked.docx": (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le"),
        "encrypted",
    ),
    "cut.epub": (FILES["a.epub"][:-40], "damaged zip file"),
    "empty.html": (b"<html><p> </p></html>", "no text in it"),
}
HOSTILE_PDF = {
    "long.pdf": (makers.many_pages(100_000), "more than 10,000 pages"),
    "locked.pdf": (makers.pdf([["a secret"]], encrypt="password"), "encrypted"),
    "cut.pdf": (b"%PDF-1.7\n", "damaged PDF"),
}


def test_hostile_files_are_skipped_by_reason_and_the_others_are_found(report, write, english):
    files = HOSTILE | (HOSTILE_PDF if find_spec("pypdfium2") else {})
    for name, (data, _) in files.items():
        write(f"in/{name}", data)
    for name in ("in/a.odt", "in/z.odt"):
        write(name, makers.odf_of(f"<text:p>{english}</text:p>"))

    found = report("in")

    assert {os.path.basename(each["path"]): each["detail"] for each in found["skipped"]} == {
        name: reason for name, (_, reason) in files.items()
    }
    assert {each["reason"] for each in found["skipped"]} == {"no text extracted"}
    ((*_, group),) = (group["members"] for group in found["groups"])
    assert group["path"] == "in/z.odt"


def test_a_reader_that_hangs_crashes_or_eats_costs_its_file_alone(
    report, write, english, monkeypatch
):
    program = guarded._PROGRAM.replace("simdup.extract.readers", "guard_readers")  # noqa: SLF001
    monkeypatch.setattr(guarded, "_PROGRAM", program)
    monkeypatch.setattr(sys, "path", [str(Path(__file__).parents[1]), *sys.path])
    real = guarded.Guard.text

    def text(guard, found, data):
        monkeypatch.setattr(guard, "_seconds", 1 if found == "epub" else 60)
        return real(guard, found, data)

    monkeypatch.setattr(guarded.Guard, "text", text)
    monkeypatch.setattr(guarded, "PATIENCE", 1000)
    for ending in ("epub", "odt", "ods", "odp", "pptx"):
        write(f"in/a.{ending}", FILES[f"a.{ending}"])
    write("in/a.txt", english)
    write("in/b.txt", english)
    write("in/b.ods", FILES["a.ods"])

    found = report("in", code=3)

    assert {each["path"]: (each["reason"], each["detail"]) for each in found["skipped"]} == {
        "in/a.epub": ("no text extracted", "takes more than 1 seconds of processor time to read"),
        "in/a.odt": ("unreadable", "its reader crashed or ran out of memory"),
        "in/a.ods": ("unreadable", "takes too much memory to read"),
        "in/b.ods": ("unreadable", "takes too much memory to read"),
        "in/a.odp": ("no text extracted", "damaged: KeyError"),
        "in/a.pptx": ("no text extracted", "encrypted"),
    }
    assert [{each["path"] for each in group["members"]} for group in found["groups"]] == [
        {"in/a.txt", "in/b.txt"},
        {"in/a.ods", "in/b.ods"},
    ]


LARGE = {
    "page.html": b"<html><p>a page",
    "letter.rtf": b"{\\rtf1 a letter",
    "mail.eml": b"From: a\nMIME-Version: 1.0\n\na mail",
    "paper.pdf": b"%PDF-1.7\n",
    "book.epub": makers.epub(["<p>a book"])[:1000],
    "text.docx": b"PK\x03\x04",
}


@pytest.mark.parametrize("whole", [1000, 100_000])
def test_documents_that_are_too_large_are_skipped_by_reason(report, write, limited, whole):
    limited(whole_bytes=whole, document_bytes=10_000)
    for name, head in {**LARGE, "archive.zip": b"PK\x03\x04"}.items():
        write(f"in/{name}", head.ljust(10_001))

    found = report("in")

    skipped = {each["path"]: (each["reason"], each["detail"]) for each in found["skipped"]}
    assert skipped.pop("in/archive.zip") == ("binary", "ZIP")
    assert skipped == {
        f"in/{name}": ("no text extracted", "larger than 10,000 bytes") for name in LARGE
    }


def test_the_largest_document_is_read(report, write, limited):
    page = makers.html_page("春眠不觉晓，处处闻啼鸟。" * 10)
    limited(document_bytes=len(page))
    for name in ("in/a.html", "in/b.html"):
        write(name, page)
    write("in/c.html", page + b" ")

    found = report("in")

    assert [len(group["members"]) for group in found["groups"]] == [2]
    assert [each["path"] for each in found["skipped"]] == ["in/c.html"]


def texts_of_one(text):
    """Text files that hold the same text, and other things around it."""
    return {
        "a.txt": text,
        "a.srt": makers.srt(text, in_chinese),
        "a.vtt": makers.vtt(text),
        "a.ass": makers.ass(text),
        "a.md": makers.markdown(text),
        "a.ipynb": makers.notebook(text),
        "a.tex": makers.tex(text),
        "a.1": makers.man(text),
        "a.html": makers.site_page(text),
    }


in_chinese = "gb18030"


def test_text_files_are_compared_without_what_is_around_their_text(report, write, simplified):
    for name, data in texts_of_one(simplified).items():
        write(f"in/{name}", data)

    found = report("in")

    [group] = found["groups"]
    formats = {os.path.basename(each["path"]): each["format"] for each in group["members"]}
    kinds = {"a.txt": "text", "a.1": "man"}
    assert formats == {
        name: kinds.get(name, name.split(".")[1]) for name in texts_of_one(simplified)
    }
    assert all(each["similarity"] > 0.99 for each in group["members"])


def test_front_matter_makes_no_difference_and_its_file_is_no_plain_text(report, write, english):
    write("in/a.md", makers.markdown(english))
    write("in/b.md", makers.markdown(english).replace(b"unseen", b"something"))
    write("in/c.md", english.encode())

    [group] = report("in")["groups"]

    assert {each["kind"] for each in group["members"][1:]} == {"same words"}
    assert [each["format"] for each in group["members"]].count("md") == 2


def test_a_text_file_is_read_as_it_is_if_its_format_is_not_wanted(report, write, english):
    write("in/a.md", makers.markdown(english))
    write("in/b.md", english)

    [group] = report("in", "--formats", "text")["groups"]

    assert [each["kind"] for each in group["members"]][1:] == ["near"]
    assert {each["format"] for each in group["members"]} == {"text"}


def test_a_long_text_file_is_plain_text_and_is_streamed(report, write, english, limited):
    limited(whole_bytes=100)
    write("in/a.tex", makers.tex(english))
    write("in/b.tex", makers.tex(english) + b"\n")

    [group] = report("in")["groups"]

    assert {each["format"] for each in group["members"]} == {"text"}


def test_the_named_encoding_holds_for_text_files_again_when_they_are_verified(run, write):
    text = "".join(map(chr, range(0x4E00, 0x4E00 + 400)))
    write("a.srt", makers.srt(text, "gb18030"))
    write("b.srt", makers.srt(text[:-20], "gb18030"))

    right, wrong = (
        json.loads(run("compare", "a.srt", "b.srt", "--encoding", name, "--format", "json").out)
        for name in ("gb18030", "koi8-r")
    )

    assert [each["format"] for each in (*right["files"], *wrong["files"])] == ["srt"] * 4
    assert right["files"][0]["features"] == 399
    assert wrong["files"][0]["text_digest"] != right["files"][0]["text_digest"]
    assert right["kind"] == wrong["kind"] == "near"
    assert abs(right["similarity"] - (379 / 399) ** 0.5) < 0.01
