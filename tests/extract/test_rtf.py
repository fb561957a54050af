"""The text of RTF."""

from __future__ import annotations

import makers
import pytest

from simdup.extract.cleanup import NotReadable
from simdup.extract.rtf import text


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (r"{\rtf1 one\par two\line three\tab four}", "one\ntwo\nthree\tfour"),
        (r"{\rtf1 {\b bo}{\i ld}}", "bold"),
        (r"{\rtf1 a\{b\}\\c\~d\_e\-f}", "a{b}\\c\xa0d-ef".replace("\xa0", " ")),
        (r"{\rtf1\ansi caf\'e9 \'80}", "café €"),
        (r"{\rtf1\ansi\ansicpg1251 \'cf\'f0\'e8}", "При"),
        (r"{\rtf1\ansi\ansicpg936 \'d6\'d0\'ce\'c4}", "中文"),
        (
            r"{\rtf1\ansi\ansicpg1252{\fonttbl{\f0 Times;}{\f1\fcharset134 SimSun;}}\f1 \'d6\'d0\f0 \'e9}",
            "中é",
        ),
        (
            r"{\rtf1\ansi\ansicpg1252{\fonttbl{\f0 Times;}{\f1\fcharset134 SimSun;}}{\f1 \'d6\'d0}\'e9}",
            "中é",
        ),
        (
            r"{\rtf1\ansi\ansicpg1252{\fonttbl{\f3\fcharset128 Mincho;}}\f3 \'93\'fa\'96\'7b}",
            "日本",
        ),
        (r"{\rtf1\ansi \u20013?\u25991?}", "中文"),
        (r"{\rtf1\ansi \uc2\u20013\'d6\'d0\u25991 xy}", "中文"),
        (r"{\rtf1\ansi {\uc0\u20013 a}\u25991 ?b}", "中a文b"),
        (r"{\rtf1\ansi \u-10179?\u-8704?}", "😀"),
        (r"{\rtf1{\info{\title t}}{\*\unknown u}{\pict 010203}{\header h}{\footer f}body}", "body"),
        (r"{\rtf1 a{\*\footnote {\super 1} of a\par} b{\footnote of b}}", "a b\n1 of a\nof b"),
        (r"{\rtf1{\field{\*\fldinst HYPERLINK x}{\fldrslt link}}}", "link"),
        (r"{\rtf1\trowd 1\cell 2\cell\row 3\cell\row}", "1\t2\n3"),
        (r"{\rtf1\ansi \lquote a\rquote\emdash b\bullet}", "‘a’—b•"),
        ("{\\rtf1 a\r\nb\\\nc}", "ab\nc"),
        (r"{\rtf1 \bin3 {}{ a}", "a"),
        (r"{\rtf1 {\pict\bin3 {{{}a}", "a"),
        (r"{\rtf1 {\pict\bin5 }}b\x} a}", "a"),
        (r"{\rtf1 a{\pict\bin9999 }", "a"),
        (r"{\rtf1 {\pict\bin-5 x}\bin b}", "b"),
        (r"{\rtf1 a{\v b\par\'e9\u99?}c\v d\v0 e\v1 f\plain g}", "aceg"),
        (
            r"{\rtf1\ansi\ansicpg1252\deff1{\fonttbl{\f0 Times;}{\f1\fcharset134 SimSun;}}\'d6\'d0{\f0 \'e9}\'ce\'c4}",
            "中é文",
        ),
        (
            r"{\rtf1\ansi\deff1{\fonttbl{\f0 Times;}{\f1\fcharset134 SimSun;}}\f0\'e9\plain\'d6\'d0}",
            "é中",
        ),
        (r"{\rtf1\ansi\deff7{\fonttbl{\f0\fcharset134 SimSun;}}\'e9}", "é"),
        (r"{\rtf1 a", "a"),
        (r"{\rtf1 a}}}b}", "ab"),
        (r"{\rtf1 {\b\*\cs7\f0 a}{ \*b}{\*\cs7 c}{\*d}{\*\bin2 }}e}f}", "a bf"),
        ("{\\rtf1 {\r\n\\*\\unknown a}{\\i\\*\\unknown b}}", "b"),
        (
            r"{\rtf1 a{\shp{\*\shpinst\shpleft0{\sp{\sn no}{\sv 1}}{\shptxt \b box\par}}{\shprslt no}} b}",
            "a b\nbox",
        ),
        (r"{\rtf1 {\*\do\dobxpage{\dptxbxtext\pard caf\'e9\par}no}a}", "a\ncafé"),
        (r"{\rtf1 {\header{\shp{\*\shpinst{\shptxt no}}}}a{\*\shppict{\pict 00}}}", "a"),
        (r"{\rtf1\mac caf\'8e}", "café"),
        (r"{\rtf1\pc{\fonttbl{\f0\fcharset0 A;}}\f0 \'84\'94}", "äö"),
        (r"{\rtf1\pca \'9b\'d1}", "øÐ"),
        (r"{\rtf1\ansi\ansicpg10007 \'8f\'f0\'e8}", "При"),
        (
            r"{\rtf1\ansi{\fonttbl{\f0\cpg932\fcharset0 A;}{\f1\fcharset204\cpg936 B;}}\f0 \'93\'fa\f1 \'d6\'d0}",
            "日中",
        ),
        (r"{\rtf1\ansi{\fonttbl{\f0\fcharset77 A;}{\f1\cpg99999 B;}}\f0 \'8e\f1 \'e9}", "éé"),
        (r"{\rtf1 \u8226\bullet a\u8217\rquote b\uc2\u8212\endash\~c}", "•a’b—c"),
        (r"{\rtf1 \u20013\par a\u25991\b ?b}", "中\na文b"),
        (
            r"{\rtf1 1\nestcell 2\nestcell{\*\nesttableprops \trowd\nestrow}{\nonesttables\par no}3\cell\row}",
            "1\t2\n3",
        ),
        (r"{\rtf1 a\column b\lbr3 c}", "a\nb\nc"),
        (
            r"{\rtf1 a{\deleted b\v c\v0 d}{\xe e}{\tc f}\deleted g\deleted0 h{\mvf i}\v j\plain k}",
            "ahk",
        ),
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
