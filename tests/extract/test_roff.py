"""What man pages read like."""

from __future__ import annotations

import shutil
import subprocess

import makers
import numpy as np
import pytest
from patience import grows_evenly

from simdup import exact_similarities
from simdup.extract.cleanup import NotReadable
from simdup.extract.roff import text

HEAD = ".TH UNSEEN 1\n.SH NAME\n"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("tea \\- makes \\fItea\\fP\n", "tea - makes tea"),
        (
            '.B bold words\n.I "in italics"\n.BR tea (1), milk\n',
            "bold words\nin italics\ntea(1),milk",
        ),
        (".TP\n.B \\-m\nwith milk\n.IP \\(bu 4\nhot\n", "-m\nwith milk\n•\nhot"),
        ('.\\" no\n\'\\" no\ntea \\" no\n\\# no\n', "tea"),
        (".de no\nno\n..\n.ig\nno\n..\n.ds no no\ntea\n", "tea"),
        (".if t no\n.if n tea\n.ie n hot\n.el no\n.ie t no\n.el milk\n", "tea\nhot\nmilk"),
        (".if n \\{\\\ntea\n.\\}\n.if t \\{\\\nno\n.if n \\{\\\nno\n.\\}\n.\\}\nhot\n", "tea\nhot"),
        (".if !'a'b' tea\n.if 'a'b' no\n.if 'a'a' \\&  hot\n", "tea\nhot"),
        ("caf\\['e] \\(em \\[u4E2D]\\*(lqa\\(rq \\s-2b\\s0 \\N'65'\\e\n", "café — 中“a” b \\"),
        (".TS\ntab(@) box;\nl l\nl l.\na@b\nT{\nc\nT}@d\n.TE\ne@f\n", "a b\nc\nd\ne@f"),
        (".ie n \\{\\\n\\h'-04'\\(bu\\h'+03'\\c\n.\\}\nisn\\*(Aqt\n", "•\nisn't"),
        (".nf\na\n  b\n.fi\n.br\n.sp 2\n", "a\nb"),
        (".ie n \\{\\\n. ftr V CR\n.\\}\n.fcolor red\na\\\nb\n", "ab"),
        (".UR http://example.org\ntea\n.UE .\n", "http://example.org\ntea\n."),
        ("春眠不\n觉晓\n", "春眠不觉晓"),
    ],
)
def test_man(source, expected):
    shown = text((HEAD + source).encode())

    assert [" ".join(line.split()) for line in shown.split("\n")] == ["NAME", *expected.split("\n")]


def test_mdoc():
    source = """.Dd 1 May 2024
.Dt TEA 1
.Os
.Sh NAME
.Nm tea
.Nd makes tea
.Sh SYNOPSIS
.Nm
.Op Fl m Ar milk
.Bl -tag -width Ds
.It Fl h , Fl -hot
See
.Xr cup 1 .
.El
"""

    assert text(source.encode()).split("\n") == [
        *("NAME", "tea", "makes tea", "SYNOPSIS", "tea", "-m milk", "-h , --hot", "See", "cup(1) .")
    ]


def test_a_page_without_text():
    with pytest.raises(NotReadable, match="^no text in it$"):
        text(b".TH A 1\n.SH\n")


def test_many_sections_of_one_reference_take_time_in_proportion():
    assert grows_evenly(lambda n: text(f"{HEAD}.Xr a{' 1' * n}".encode()), 160_000)


@pytest.mark.skipif(not shutil.which("groff"), reason="groff is not installed")
def test_groff_shows_the_same():
    pages = [makers.man(each) for each in list(makers.ORIGINALS.values())[:12]]
    command = ["groff", "-k", "-man", "-Tutf8", "-P-cbou", "-rLL=1000n", "-rHY=0"]
    shown = [
        subprocess.run(command, input=page, capture_output=True, check=True).stdout.decode()
        for page in pages
    ]
    n = np.arange(len(pages))

    assert exact_similarities([*map(text, pages), *shown], n, n + len(n)).min() > 0.9
