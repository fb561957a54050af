"""A text put into a file of any kind comes out again."""

from __future__ import annotations

import makers
import pytest
from makers import ORIGINALS

from simdup.extract.readers import READERS, kind
from simdup.extract.sniff import Format
from simdup.fingerprint.simhash import fingerprint_texts
from simdup.recipe import Recipe

pytestmark = pytest.mark.slow


def gb18030_of_chinese(text):
    """An encoding that shows: English with a dash or two in GB18030 may be any other one."""
    return "gb18030" if "的" in text else "utf-8"


MAKERS = {
    "utf-8.html": (Format.HTML, makers.html_page),
    "gbk.html": (Format.HTML, lambda text: makers.html_page(text, "gbk")),
    "big5.html": (Format.HTML, lambda text: makers.html_page(text, "big5")),
    "utf-16.html": (Format.HTML, lambda text: makers.html_page(text, "utf-16")),
    "a.docx": (Format.DOCX, makers.docx),
    "a.odt": (Format.ODT, makers.odt),
    "a.epub": (Format.EPUB, makers.ebooklib_epub),
    "a.pptx": (Format.PPTX, makers.pptx),
    "a.xlsx": (Format.XLSX, makers.xlsx),
    "cp936.rtf": (Format.RTF, makers.rtf),
    "cp950.rtf": (
        Format.RTF,
        lambda text: makers.rtf(text, 950).replace(b"charset134", b"charset136"),
    ),
    "cp1252.rtf": (
        Format.RTF,
        lambda text: makers.rtf(text, 1252).replace(b"charset134", b"charset0"),
    ),
    "utf-8.eml": (Format.EML, makers.eml),
    "a.mbox": (Format.MBOX, makers.mbox),
    "site.html": (Format.HTML, makers.site_page),
    "a.srt": (Format.SRT, makers.srt),
    "gb18030.srt": (Format.SRT, lambda text: makers.srt(text, gb18030_of_chinese(text))),
    "utf-16.srt": (Format.SRT, lambda text: makers.srt(text, "utf-16")),
    "a.vtt": (Format.VTT, makers.vtt),
    "a.ass": (Format.ASS, makers.ass),
    "a.md": (Format.MD, makers.markdown),
    "a.ipynb": (Format.IPYNB, makers.notebook),
    "a.tex": (Format.TEX, makers.tex),
    "a.man": (Format.MAN, makers.man),
    "a.pdf": (Format.PDF, makers.printed),
    "gb18030.eml": (Format.EML, lambda text: makers.eml(text, charset="gb18030")),
}


@pytest.mark.parametrize("name", MAKERS)
def test_each_original_has_the_same_words_in_every_format(name):
    found, make = MAKERS[name]
    if found is Format.PDF:
        pytest.importorskip("pypdfium2", reason="needs the extra 'docs'")
    files = [make(text) for text in ORIGINALS.values()]

    name = name if found is Format.MD else "no name"
    assert {kind(data, name) for data in files} == {found}
    read = [READERS[found](data) for data in files]
    before, after = (fingerprint_texts(each, Recipe()) for each in (ORIGINALS.values(), read))
    assert (before.words == after.words).all()
