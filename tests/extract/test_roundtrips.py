"""A text put into a file of any kind comes out again."""

from __future__ import annotations

import makers
import pytest
from makers import ORIGINALS

from simdup.extract.readers import READERS, kind
from simdup.fingerprint.simhash import fingerprint_texts
from simdup.recipe import Recipe

pytestmark = pytest.mark.slow


def gb18030_of_chinese(text):
    """An encoding that shows: English with a dash or two in GB18030 may be any other one."""
    return "gb18030" if "的" in text else "utf-8"


MAKERS = {
    "utf-8.html": ("html", makers.html_page),
    "gbk.html": ("html", lambda text: makers.html_page(text, "gbk")),
    "big5.html": ("html", lambda text: makers.html_page(text, "big5")),
    "utf-16.html": ("html", lambda text: makers.html_page(text, "utf-16")),
    "a.docx": ("docx", makers.docx),
    "a.odt": ("odt", makers.odt),
    "a.epub": ("epub", makers.ebooklib_epub),
    "a.pptx": ("pptx", makers.pptx),
    "a.xlsx": ("xlsx", makers.xlsx),
    "cp936.rtf": ("rtf", makers.rtf),
    "cp950.rtf": ("rtf", lambda text: makers.rtf(text, 950).replace(b"charset134", b"charset136")),
    "cp1252.rtf": ("rtf", lambda text: makers.rtf(text, 1252).replace(b"charset134", b"charset0")),
    "utf-8.eml": ("eml", makers.eml),
    "a.mbox": ("mbox", makers.mbox),
    "site.html": ("html", makers.site_page),
    "a.srt": ("srt", makers.srt),
    "gb18030.srt": ("srt", lambda text: makers.srt(text, gb18030_of_chinese(text))),
    "utf-16.srt": ("srt", lambda text: makers.srt(text, "utf-16")),
    "a.vtt": ("vtt", makers.vtt),
    "a.ass": ("ass", makers.ass),
    "a.md": ("md", makers.markdown),
    "a.ipynb": ("ipynb", makers.notebook),
    "a.tex": ("tex", makers.tex),
    "a.man": ("man", makers.man),
    "a.pdf": ("pdf", makers.printed),
    "gb18030.eml": ("eml", lambda text: makers.eml(text, charset="gb18030")),
}


@pytest.mark.parametrize("name", MAKERS)
def test_each_original_has_the_same_words_in_every_format(name):
    found, make = MAKERS[name]
    if found == "pdf":
        pytest.importorskip("pypdfium2", reason="needs the extra 'docs'")
    files = [make(text) for text in ORIGINALS.values()]

    name = name if found == "md" else "no name"
    assert {kind(data, name) for data in files} == {found}
    read = [READERS[found](data) for data in files]
    before, after = (fingerprint_texts(each, Recipe()) for each in (ORIGINALS.values(), read))
    assert (before.words == after.words).all()
