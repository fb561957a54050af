"""What kind of document a file is."""

from __future__ import annotations

import makers
import pytest
from patience import grows_evenly
from shown import shown

from simdup.extract.readers import kind
from simdup.extract.sniff import format_of

PLAIN = {
    **{name: text.encode() for name, text in shown("plain")},
    "yaml": b"name: a\nMIME: b\n\n",
    "empty": b"",
    "an ordinary zip file": makers.zipped({"a.txt": "a"}),
    "a jar": makers.zipped({"META-INF/MANIFEST.MF": "a", "A.class": "b"}),
    "an unknown OpenDocument": makers.odf_of("", "graphics"),
    "old Office file": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600),
}


@pytest.mark.parametrize("name", PLAIN)
def test_is_no_document(name):
    assert kind(PLAIN[name], "file") is None


HTML = [
    b"<!DOCTYPE html>\n<p>a",
    b"\xef\xbb\xbf  \n<!doctype HTML public>",
    b"<!-- saved from url -->\n<!-- b -->\n<HTML lang=zh>",
    b"<?xml version='1.0' encoding='utf-8'?>\n<!DOCTYPE html PUBLIC 'a' 'b'>",
    b"<head>",
    b"<body\nclass='a'>",
    b"<meta charset=gbk>",
    "<html>".encode("utf-16"),
]


@pytest.mark.parametrize("data", HTML)
def test_is_html_whatever_its_name(data):
    assert kind(data, "page.txt") == "html"


@pytest.mark.parametrize(
    ("data", "name", "found"),
    [
        (b"<p>a fragment", "page.HTML", "html"),
        (b"{% extends 'base' %}<p>", "page.html", None),
        (b"just text", "page.html", None),
        (b"just text", "paper.pdf", None),
        (b"\n\n%PDF-1.4", "paper.pdf", "pdf"),
        (b"%PDF-1.4", "paper", "pdf"),
        (b"<html>", "paper.pdf", "html"),
        (b"{\\rtf1 a}", "letter.doc", "rtf"),
        (b"From: me\nSubject: tea\n\nAt four.\n", "a.eml", "eml"),
        (b"Received: a\n b\nMIME-Version: 1.0\n\nAt four.\n", "1723.host:2,S", "eml"),
        (b"From a@b Mon\nFrom: a\nMIME-Version: 1.0\n\nb", "mail", "mbox"),
        (b"From a@b Mon Jan  1 10:00:00 2024\nFrom: a\nDate: b\n\nc", "a.txt", "mbox"),
        (b"From - Mon Jan 1 10:00:00 2024\r\nMIME-Version: 1.0\r\n\r\nc", "a", "mbox"),
        (b"At four.\n", "a.eml", None),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "secret.docx", "docx"),
        (b"PK\x03\x04 cut off", "a.docx", "docx"),
        (b"PK\x03\x04 cut off", "a.zip", None),
        (b"PK\x03\x04 cut off", "a.pdf", None),
    ],
)
def test_the_name_breaks_ties(data, name, found):
    assert kind(data, name) == found


SRT = "1\n00:00:01,000 --> 00:00:02,000\nTea?\n"
TEXTS = [
    *((text, *named.split()) for named, text in shown("texts")),
    (SRT.replace("\n", "\r\n"), "a.srt", "srt"),
    ("\n" + SRT, "a", "srt"),
    ("---\r\ntitle: a\r\n---\r\nb", "A.MARKDOWN", "md"),
    ("--- \nA rule above.\n", "a.md", "plain"),
]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize(("text", "name", "found"), TEXTS)
def test_texts_of_which_a_part_is_read(text, name, found, encoding):
    assert kind(text.encode(encoding), name) == (None if found == "plain" else found)


def test_subtitles_in_gbk():
    assert kind(SRT.replace("Tea?", "喝茶吗？").encode("gbk"), "a.txt") == "srt"


@pytest.mark.parametrize(
    "piece",
    [
        *("%\n", " \n", "%", "\\", ".TH \n", ".TH", "'\n", ".\n", "1\n", "1", "{ ", "---\na:\n"),
        *("%\\d", "WEBVTT"),
    ],
)
def test_time_to_tell_grows_with_the_file_and_no_faster(piece):
    def tell(n):
        head = (piece * n)[: 4 * n].encode()
        for name in ("a.tex", "a.md", "a.ipynb", "a.1"):
            format_of(head, name)

    assert grows_evenly(tell, 64_000)


@pytest.mark.parametrize(
    ("type_", "found"),
    [("text", "odt"), ("text-template", "odt"), ("spreadsheet", "ods"), ("presentation", "odp")],
)
def test_open_documents_say_what_they_are(type_, found):
    assert kind(makers.odf_of("", type_), "a") == found


def test_zip_members_are_not_listed_where_the_head_tells():
    def never():
        raise AssertionError

    assert format_of(makers.epub(["a"])[:1024], "a", never) == "epub"
