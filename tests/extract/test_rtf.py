"""The text of RTF."""

from __future__ import annotations

import makers
import pytest
from shown import shown

from simdup.extract.cleanup import NotReadable
from simdup.extract.rtf import text


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        *shown("rtf"),
        ("{\\rtf1 a\r\nb\\\nc}", "ab\nc"),
        ("{\\rtf1 {\r\n\\*\\unknown a}{\\i\\*\\unknown b}}", "b"),
    ],
)
def test_what_a_file_shows(source, expected):
    assert text(source.encode("latin-1")) == expected


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "damaged: no RTF"),
        (b"{\\rtf1}", "no text in it"),
        (b"{\\rtf1" + b"{" * 100_000, "nested too deep"),
    ],
)
def test_what_cannot_be_read(data, reason):
    with pytest.raises(NotReadable, match=f"^{reason}$"):
        text(data)


@pytest.mark.slow
def test_a_hundred_thousand_groups_one_after_another():
    assert text(b"{\\rtf1 " + b"{\\b a}" * 100_000 + b"}") == "a" * 100_000


def test_cut_off_anywhere():
    data = makers.rtf("春眠不觉晓，处处闻啼鸟。")

    for n in range(data.index(b"\\fs24 ") + 14, len(data)):
        assert text(data[:n]).startswith("春")
