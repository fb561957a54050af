"""What kind of document a file is."""

from __future__ import annotations

import makers
import pytest
from patience import grows_evenly

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
    "about latex": b"\\documentclass begins a file in LaTeX\n"[1:],
    "a chapter of latex that is not named so": b"\\chapter{One}\nText\n",
    "a class of latex": b"% a comment\n\\ProvidesClass{a}\n",
    "about subtitles": b"A cue has a number:\n\n1\n00:00:01,000 --> 00:00:02,000\nTea\n",
    "a list of times": b"1\n00:00:01 tea\n",
    "about vtt": b"WEBVTT is a format.\n"[:6] + b"-files\n",
    "settings": b"[Script]\nInfo=1\n",
    "other json": b'{"cells": 7, "nbformat": 4}',
    "front matter of an unknown text": b"---\ntitle: a\n---\nb\n",
    "restructured text": b".. note::\n\n   .TH is the title of a man page.\n",
    "a list with dots": b".profile\n.bashrc\n.TH\n",
    "dots": b"...and then?\n",
    "a page that includes another": b".so man1/ls.1\n",
    "percents": b"%PATH% holds folders\n",
    "about pdf": b"A file begins with %PDF-1.7\n",
    "notes to somebody": b"From: me\nTo: you\nSubject: tea\n\nAt four.\n",
    "a letter from somebody": b"From Paris, 12:30\n\nDear Ann,\n",
    "an entry of a diary": b"From Ann 12:30\nFrom: the train\nTo: you\n\nDear Ann,\n",
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
        (b"From a@b Mon\nFrom: a\nMIME-Version: 1.0\n\nb", "mail", Format.MBOX),
        (b"From a@b Mon Jan  1 10:00:00 2024\nFrom: a\nDate: b\n\nc", "a.txt", Format.MBOX),
        (b"From - Mon Jan 1 10:00:00 2024\r\nMIME-Version: 1.0\r\n\r\nc", "a", Format.MBOX),
        (b"At four.\n", "a.eml", None),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "secret.docx", Format.DOCX),
        (b"PK\x03\x04 cut off", "a.docx", Format.DOCX),
        (b"PK\x03\x04 cut off", "a.zip", None),
        (b"PK\x03\x04 cut off", "a.pdf", None),
    ],
)
def test_the_name_breaks_ties(data, name, found):
    assert kind(data, name) is found


SRT = "1\n00:00:01,000 --> 00:00:02,000\nTea?\n"
TEXTS = [
    (SRT, "a.srt", Format.SRT),
    (SRT, "a.txt", Format.SRT),
    (SRT.replace("\n", "\r\n"), "a.srt", Format.SRT),
    (SRT[2:], "a.srt", Format.SRT),
    ("\n" + SRT, "a", Format.SRT),
    ("WEBVTT\n\n00:01.000 --> 00:02.000\nTea?", "a", Format.VTT),
    ("WEBVTT Kind: captions\n", "a", Format.VTT),
    ("[Script Info]\n; a\n", "a", Format.ASS),
    ('{\n "cells": [\n', "a", Format.IPYNB),
    ('{"metadata": {}, "cells": []}', "a.ipynb", Format.IPYNB),
    ('{"metadata": {}, "cells": []}', "a.json", None),
    ("\\documentclass{a}\n", "a", Format.TEX),
    ("% a\n\n  % b\n\\documentstyle[a]{b}", "a", Format.TEX),
    ("Some words, and then\n\\section{One}\n", "a.tex", Format.TEX),
    ("Some words, and then\n\\section{One}\n", "a.txt", None),
    ("Only words\n", "a.tex", None),
    ("---\ntitle: a\n---\nb", "a.md", Format.MD),
    ("---\r\ntitle: a\r\n---\r\nb", "A.MARKDOWN", Format.MD),
    ("---\n标题: a\n---\nb", "a.md", Format.MD),
    ("+++\ntitle = 'a'\n+++\nb", "a.md", Format.MD),
    ("---\n\nA rule above.\n", "a.md", None),
    ("--- \nA rule above.\n", "a.md", None),
    (".TH A 1\n.SH NAME\n", "a", Format.MAN),
    ('.\\" a\n.Dd 1 May 2024\n.Dt A 1\n.Sh NAME\n', "a.1", Format.MAN),
    ("'\\\" t\n.de Sp\n..\n.TH A 1\n.SH NAME\n", "a", Format.MAN),
    ('\\" a comment\n.TH A 1\n.SH NAME\n', "a", Format.MAN),
    (".TH A 1\nno section\n", "a.1", None),
]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize(("text", "name", "found"), TEXTS)
def test_texts_of_which_a_part_is_read(text, name, found, encoding):
    assert kind(text.encode(encoding), name) is found


def test_subtitles_in_gbk():
    assert kind(SRT.replace("Tea?", "喝茶吗？").encode("gbk"), "a.txt") is Format.SRT


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
