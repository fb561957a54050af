"""Text files of which a part is read, whatever is wrong with them."""

from __future__ import annotations

from contextlib import closing, suppress

import makers
import pytest
from patience import grows_evenly

from simdup.extract.cleanup import NotReadable
from simdup.extract.readers import READERS, UNGUARDED, Readers
from simdup.extract.sniff import TEXTS, Format
from simdup.settings import FORMATS

MAKERS = {
    Format.SRT: makers.srt,
    Format.VTT: makers.vtt,
    Format.ASS: makers.ass,
    Format.MD: makers.markdown,
    Format.IPYNB: makers.notebook,
    Format.TEX: makers.tex,
    Format.MAN: makers.man,
}
PIECES = [
    *(
        *("\\", "{", "}", "{\\", "\\{", "\\}", "\\a{", "\\a[", "[", "\\verb|", "\\'", "\\'{", "$"),
        *("%", "%\n"),
    ),
    *(
        *("\\begin{comment}", "\\begin{verbatim}", "\\begin{a}", "\\def\\a", "\\title{"),
        *("\\cite{", "\\\\["),
    ),
    *(
        *(".if n \\{\\\n", ".if '", ".if ", ".ie ", ".el ", ".de a\n", ".TS\n", '.B "', '.B \\"'),
        *(".Nm ", "\\["),
    ),
    *("\\h'", "\\s", "\\f[", "\\*(", "\\C'", "'\n", ".\n", "\\\n", ".Fl ", ".Xr a ", "T{"),
    *(
        *("1\n", "0", "00:00:01,000 --> ", "00:00:01,000 --> 00:00:02,000\n", "-->", "1\n1\n"),
        *(" \n", " ", "\n"),
    ),
    *(
        *("<i", "<", "<v ", "&", "{\\p1", "Dialogue: ", "Dialogue: ,,,,,,,,,{", "[Events]\n"),
        "NOTE\n\n",
    ),
    *("---\n", "a:\n", "a", ":", "- ", "+++\n", '"', "[[", '{"a":', ",", "0,"),
]


def test_every_such_format_is_tested():
    assert set(MAKERS) == TEXTS


@pytest.mark.slow
@pytest.mark.parametrize("found", MAKERS)
@pytest.mark.parametrize("piece", PIECES)
def test_time_grows_with_the_file_and_no_faster(found, piece):
    """A good beginning and half of one, and then the same piece again and again."""
    head = MAKERS[found]("one\n\nthing").decode("utf-8-sig")

    def read(n):
        for start in (head, head[: len(head) // 2]):
            with suppress(NotReadable):
                READERS[found]((start + (piece * n)[:n]).encode())

    assert grows_evenly(read, 40_000)


def text(readers, data, name):
    """The text of a file of this name."""
    return readers.text(readers.identify(data, name), data)


@pytest.mark.parametrize("found", MAKERS)
def test_a_cut_file_is_read_as_far_as_it_goes_or_is_plain(found):
    data = MAKERS[found]("one\n\nthing\n\n" * 20)
    with closing(Readers(FORMATS)) as readers:
        for size in range(0, len(data), 29):
            read = text(readers, data[:size], f"a.{found.value}")

            assert read is None or read.strip()


def test_what_only_begins_like_one_is_plain():
    with closing(Readers(FORMATS)) as readers:
        assert text(readers, b'{"cells": [', "a.ipynb") is None
        assert text(readers, b"---\na: b\n---\n", "a.md") is None
        assert text(readers, b"1\n00:00:01,000 --> 00:00:02,000\n" + b"a\n" * 30, "a.srt") is None


def test_a_notebook_is_read_in_a_process_of_its_own():
    assert {Format.IPYNB} == TEXTS - UNGUARDED


def test_the_encoding_that_is_named_decides():
    data = makers.srt("喝茶", "big5")
    with closing(Readers(FORMATS, (), "big5")) as readers:
        assert text(readers, data, "a.srt") == "喝茶"
    with closing(Readers(FORMATS, (), "cp1252")) as readers:
        assert text(readers, data, "a.srt") == "³Ü¯ù"
