"""The visible text of pages."""

from __future__ import annotations

import tracemalloc
from time import process_time

import pytest
from patience import grows_evenly, patient
from shown import shown

from simdup.extract import html as html_text
from simdup.extract.cleanup import NotReadable
from simdup.extract.html import text

pytestmark = pytest.mark.slow


def read(markup):
    return text(markup.encode())


@pytest.mark.parametrize(
    ("markup", "expected"), [*shown("html"), ("co&shy;op&#8203;erate\u00ad", "cooperate")]
)
def test_what_a_page_shows(markup, expected):
    assert read(markup) == expected


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


@pytest.mark.parametrize(("markup", "expected"), shown("xhtml"))
def test_entities_and_cdata_sections_of_xhtml(markup, expected):
    assert read(markup) == expected


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


@pytest.mark.parametrize(
    "part",
    [
        '<p onclick="if (a>1) pay({})">',
        "<input value='a>{}'>",
        "<a href='x?a<{}'>",
        "<a b='c>' href={}>",
        '<textarea placeholder="say {}"></textarea>',
        "<style onload='go({})'>p {{}}</style>",
        "<!--> <a href={}>",
        "<!---> <a href='{}'>",
        "<!-- a --!> <a href={}>",
        '"<a href="{}">',
        "<ruby>東<rt><!-- {} --></ruby>",
        "<!remark {}>",
        "<ruby>東<rt title={}>x</ruby>",
        "<title>a</title><svg><title>{}</title></svg>",
        "<iframe srcdoc='a>b' title={}></iframe>",
    ],
)
def test_pages_with_other_attributes_or_comments_have_other_unread_content(part):
    one, other = (read(f"<p>Tea.</p>{part.format(number)}") for number in (1, 9))

    assert one == other
    assert one.unread != other.unread


@pytest.mark.parametrize("end", ["<!-->", "<!--->", "<!-- a --!>"])
def test_text_after_a_short_comment_is_seen_and_no_unread_content(end):
    one, other = (read(f"<p>Tea.</p>{end}{word}") for word in ("one", "other"))

    assert one != other
    assert one.unread == other.unread


@pytest.mark.parametrize("tag", ["title lang='a>b'", "textarea data-x='a>b'", "script x='a>b'"])
def test_the_tag_of_a_raw_element_ends_after_its_quoted_values(tag):
    name = tag.split()[0]

    found = read(f"<{tag}></{name}><p>Tea.</p>")

    assert found == "Tea."


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
    *("\n ", " \n\t", "=", "= ", "一\n", "<p\n", " title='", "title ", "<a title=", '<rt>"', "on"),
]


@pytest.mark.parametrize("start", ["", "<script>", "<a x='", "<a ", "<title>", "<rt>"])
@pytest.mark.parametrize("piece", HOSTILE)
def test_time_grows_with_the_page_and_no_faster(start, piece):
    def read(n):
        html_text.page((start + piece * n)[:100_000])

    assert grows_evenly(read, 25_000)


@pytest.mark.parametrize("piece", ["<!--", " "])
def test_time_to_find_a_declared_encoding_grows_with_the_page_and_no_faster(piece):
    def read(n):
        text(f"<p>one<meta charset={(piece * n)[:n]}".encode())

    assert grows_evenly(read, 8_000)


def test_a_hundred_thousand_levels():
    assert read("<div>" * 100_000 + "a" + "</div>" * 100_000) == "a"


@pytest.mark.parametrize("piece", ["=", "<a=", " a", "= 'b' ", "a=b "])
def test_a_tag_without_end_takes_little_memory(piece):
    markup = "<a x=' " + piece * (1_000_000 // len(piece))
    tracemalloc.start()
    html_text.page(markup)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak < 40 * len(markup)


@pytest.mark.parametrize("reference", ["&#" + "9" * 5000, "&#x" + "f" * 5000 + ";"])
def test_references_without_end_are_one_character(reference):
    assert text(f"<p>{reference}<a href='http://a.org'>x</a>".encode()) == "\ufffdx"
