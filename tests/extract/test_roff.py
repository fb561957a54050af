"""What man pages read like."""

from __future__ import annotations

import shutil
import subprocess

import makers
import numpy as np
import pytest
from patience import grows_evenly
from shown import shown

from simdup import exact_similarities
from simdup.extract.cleanup import NotReadable
from simdup.extract.roff import text

HEAD = ".TH UNSEEN 1\n.SH NAME\n"


@pytest.mark.parametrize(("source", "expected"), shown("man"))
def test_man(source, expected):
    shown = text((HEAD + source).encode())

    assert [" ".join(line.split()) for line in shown.split("\n")] == ["NAME", *expected.split("\n")]


def test_mdoc():
    ((source, expected),) = shown("mdoc")

    assert text(source.encode()) == expected


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
