"""What kind of document a file is."""

from __future__ import annotations

import makers
import pytest

from simdup.extract.readers import kind
from simdup.extract.sniff import Format, format_of

PLAIN = {
    "markdown with tags": b"# Title\n\n<p align='center'><img src='a.png'></p>\n",
    "markdown that begins with a tag": b"<p align='center'>\n<h1>Title</h1>\n",
    "markdown that begins with a comment": b"<!-- markdownlint-disable -->\n# Title\n<html>\n",
    "markdown about html": b"<html> is the root element.\n"[1:],
    "xml": b"<?xml version='1.0'?>\n<config><head>a</head></config>",
    "svg": b"<?xml version='1.0'?>\n<!DOCTYPE svg PUBLIC 'a' 'b'>\n<svg></svg>",
    "php": b"<?php echo 1 ?>\n<html></html>",
    "header of a page": b"<header>a</header>",
    "c": b"#include <head>\n",
    "latex": b"\\documentclass{article}\n{\\rtf",
    "about pdf": b"A file begins with %PDF-1.7\n",
    "notes to somebody": b"From: me\nTo: you\nSubject: tea\n\nAt four.\n",
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
    assert kind(data, "page.txt") is Format.HTML


@pytest.mark.parametrize(
    ("data", "name", "found"),
    [
        (b"<p>a fragment", "page.HTML", Format.HTML),
        (b"{% extends 'base' %}<p>", "page.html", None),
        (b"just text", "page.html", None),
        (b"just text", "paper.pdf", None),
        (b"\n\n%PDF-1.4", "paper.pdf", Format.PDF),
        (b"%PDF-1.4", "paper", Format.PDF),
        (b"<html>", "paper.pdf", Format.HTML),
        (b"{\\rtf1 a}", "letter.doc", Format.RTF),
        (b"From: me\nSubject: tea\n\nAt four.\n", "a.eml", Format.EML),
        (b"Received: a\n b\nMIME-Version: 1.0\n\nAt four.\n", "1723.host:2,S", Format.EML),
        (b"From a@b Mon\nFrom: a\nMIME-Version: 1.0\n\nb", "mail", Format.EML),
        (b"At four.\n", "a.eml", None),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "secret.docx", Format.DOCX),
        (b"PK\x03\x04 cut off", "a.docx", Format.DOCX),
        (b"PK\x03\x04 cut off", "a.zip", None),
        (b"PK\x03\x04 cut off", "a.pdf", None),
    ],
)
def test_the_name_breaks_ties(data, name, found):
    assert kind(data, name) is found


@pytest.mark.parametrize(
    ("type_", "found"),
    [
        ("text", Format.ODT),
        ("text-template", Format.ODT),
        ("spreadsheet", Format.ODS),
        ("presentation", Format.ODP),
    ],
)
def test_open_documents_say_what_they_are(type_, found):
    assert kind(makers.odf_of("", type_), "a") is found


def test_zip_members_are_not_listed_where_the_head_tells():
    def never():
        raise AssertionError

    assert format_of(makers.epub(["a"])[:1024], "a", never) is Format.EPUB
