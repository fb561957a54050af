"""The visible text of pages."""

from __future__ import annotations

import tracemalloc
from time import process_time

import pytest
from patience import grows_evenly, patient

from simdup.extract import html as html_text
from simdup.extract.cleanup import NotReadable
from simdup.extract.html import text

pytestmark = pytest.mark.slow


def shown(markup):
    return text(markup.encode())


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<p>one<p>two", "one\ntwo"),
        ("a<b>b</b>c<i>d</i> e", "abcd e"),
        ("a<br>b<hr/>c<div>d</div>e", "a\nb\nc\nd\ne"),
        ("<tr><td>1<td>2<tr><th>3</th><th>4</th>", "1 2\n3 4"),
        (
            "a &amp;lt; b &lt;i&gt; &eacute;&#20320;&#x597D; &unknown; &",
            "a &lt; b <i> é你好 &unknown; &",
        ),
        ("&#0;&#xD800;&#1114112;&#99999999999999999999;a", "\ufffd\ufffd\ufffd\ufffda"),
        ("co&shy;op&#8203;erate\u00ad", "cooperate"),
        ("love \u2764\ufe0f &#8617;&#xFE0E;", "love \u2764 ↩"),
        ("a <!-- b <p> --> c <!--> d <!-- e", "a c d"),
        ("1 < 2 <3 a<b>c", "1 < 2 <3 ac"),
        ("<a title='>'>x</a><a title=\"a'>\">y</a><a title=don't>z</a>", "xyz"),
        ('<p title="not closed>a<p>b', "a\nb"),
        ("<script>'</p>'</script>a<SCRIPT src=b></SCRIPT >c<style>d", "ac"),
        ("<script>a</scripts>b</script>c", "c"),
        ("<noscript>a</noscript><template><p>b</template><iframe>c</iframe>d", "d"),
        ("<textarea><b>a</textarea><xmp><i></xmp>", "<b>a<i>"),
        ("<script src='a'/>b<title/>c", "bc"),
        ("<ruby>漢<rp>(</rp><rt>かん</rt><rp>)</rp>字<rt>じ</ruby>です", "漢字です"),
        ("春眠不\n   觉晓\tab\n cd", "春眠不觉晓 ab cd"),
        ("<pre>a\n  b</pre>", "a b"),
        ("<p>a</p><title>the title</title><svg><title>b</title></svg>", "the title\na"),
        ("<img alt='a'>b<input value=c>", "b"),
        ("<x:y>a</x:y><custom-element>b</custom-element>", "ab"),
        ("</p>a</ b></>c", "a</ b></>c"),
    ],
)
def test_what_a_page_shows(markup, expected):
    assert shown(markup) == expected


@pytest.mark.parametrize(
    ("head", "encoding"),
    [
        ("<meta charset=gb2312>", "gb18030"),
        ("<META http-equiv=Content-Type content='text/html; charset=GBK'>", "gbk"),
        ("<?xml version='1.0' encoding='big5'?><html>", "big5"),
        ("<!-- <meta charset=koi8-r> --><meta charset='windows-1251'>", "cp1251"),
        ("<meta charset='utf-8'>", "utf-8"),
        ("<meta charset=shift_jis>", "cp932"),
    ],
)
def test_the_declared_encoding_is_used(head, encoding):
    word = {"cp1251": "Привет", "cp932": "日本"}.get(encoding, "中文")

    assert text(f"{head}<p>{word}".encode(encoding)) == word


SUBSET = """<?xml version="1.0"?>\n<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "x.dtd" [
<!-- > ]] --><!ENTITY tea "green &amp; <b>black</b>"> <!ENTITY % more SYSTEM "x"> %more;
<!ELEMENT tea (#PCDATA)> <!ENTITY cup 'a "cup"'>\n] >\n"""


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        (f"{SUBSET}<html><p>&cup; of &tea; &more; &eacute;", 'a "cup" of green & black &more; é'),
        ("<!DOCTYPE html[<!ENTITY a 'b>]'>]><html xmlns='x'><p>&a;", "b>]"),
        (
            "<?xml version='1.0'?><p>a <![CDATA[<b> & ]] > &lt;]]> c<![CDATA[]]>d",
            "a <b> & ]] > &lt; cd",
        ),
        (
            "<html xmlns='x'><script>//<![CDATA[\n'</p>'//]]></script><style>/*<![CDATA[*/a</style>b"
            "<![CDATA[ <i>c</i>]]>",
            "b <i>c</i>",
        ),
        ("<html><p>a<![CDATA[ b > c ]]></p>", "a c ]]>"),
    ],
)
def test_entities_and_cdata_sections_of_xhtml(markup, expected):
    assert shown(markup) == expected


@pytest.mark.parametrize(
    "piece", ["<![CDATA[", "]]>", "] ", "<!ENTITY a 'b'>", "<!ENTITY a '", "&a;"]
)
def test_a_megabyte_of_hostile_xhtml_takes_no_time(piece):
    page = f"<?xml version='1.0'?><!DOCTYPE html [<!ENTITY a '{'x' * 20}'>{piece}]><p>one"
    began = process_time()
    html_text.decoded((page + piece * (1_000_000 // len(piece))).encode())

    assert process_time() - began < patient(10)


def test_entities_that_make_too_much_text_are_refused():
    bomb = f"<?xml version='1.0'?><!DOCTYPE html [<!ENTITY a '{'x' * 9_000}'>]>{'&a;' * 9_000}"

    with pytest.raises(NotReadable, match="characters of text"):
        text(bomb.encode())


@pytest.mark.parametrize("declared", ["gb2312", "iso-8859-1", "no-such-thing", "utf-16"])
def test_utf8_shows_whatever_the_page_declares(declared):
    page = f"<meta charset={declared}><p>这一页后来另存为另一种编码，声明却忘了改。"

    assert text(page.encode()) == "这一页后来另存为另一种编码，声明却忘了改。"


def test_gbk_shows_though_the_page_declares_utf8():
    page = "<meta charset=utf-8><p>" + "这一页后来另存为另一种编码，声明却忘了改。" * 8

    assert text(page.encode("gbk")).startswith("这一页后来另存为")


@pytest.mark.parametrize("data", [b"", b"<html><title> </title></html>", b"<script>a</script>"])
def test_a_page_without_text(data):
    with pytest.raises(NotReadable, match="^no text in it$"):
        text(data)


def test_a_binary_page():
    with pytest.raises(NotReadable, match="^not text: NUL bytes$"):
        text(b"<html>" + bytes(100) + b"<p>one</p>")


HOSTILE = [
    *("<", "<!--", "<a ", "<![CDATA[", "</", '<a b="', "<a b='\"", "<a=", "<a = ", "&#", "&#1"),
    *("&am", "<!", "<?", "</scrip", "<div>", "<script>", "<rt>", "<title>", "<textarea>a", " "),
    *("\n ", " \n\t", "=", "= ", "一\n", "<p\n"),
]


@pytest.mark.parametrize("start", ["", "<script>", "<a x='", "<a ", "<title>", "<rt>"])
@pytest.mark.parametrize("piece", HOSTILE)
def test_time_grows_with_the_page_and_no_faster(start, piece):
    def read(n):
        html_text.title_and_body((start + piece * n)[:400_000])

    assert grows_evenly(read, 100_000)


@pytest.mark.parametrize("piece", ["<!--", " "])
def test_time_to_find_a_declared_encoding_grows_with_the_page_and_no_faster(piece):
    def read(n):
        text(f"<p>one<meta charset={(piece * n)[:n]}".encode())

    assert grows_evenly(read, 8_000)


def test_a_hundred_thousand_levels():
    assert shown("<div>" * 100_000 + "a" + "</div>" * 100_000) == "a"


@pytest.mark.parametrize("piece", ["=", "<a=", " a", "= 'b' ", "a=b "])
def test_a_tag_without_end_takes_little_memory(piece):
    markup = "<a x=' " + piece * (1_000_000 // len(piece))
    tracemalloc.start()
    html_text.title_and_body(markup)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak < 40 * len(markup)
