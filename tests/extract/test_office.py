"""The text of documents that are XML in a zip file."""

from __future__ import annotations

import zipfile
from io import BytesIO
from time import process_time

import makers
import pytest
from patience import patient
from shown import shown

from simdup.extract import office as zipped
from simdup.extract.cleanup import NotReadable, unread_of
from simdup.extract.readers import kind

P = "<w:p><w:r><w:t>{}</w:t></w:r></w:p>".format
RUN = "<r><t>{}</t></r>".format
ODT_NS = 'xmlns:text="t"'


def refused(reader, data):
    with pytest.raises(NotReadable) as caught:
        reader(data)
    return caught.value.reason


@pytest.mark.parametrize(("body", "expected"), shown("docx"))
def test_what_a_word_document_shows(body, expected):
    assert zipped.docx(makers.docx_of(body)) == expected


def test_notes_come_after_the_text_and_headers_not_at_all():
    data = makers.docx_of(
        P("body"), footnotes=P("foot"), endnotes=P("end"), header=P("unseen"), comments=P("unseen")
    )

    assert zipped.docx(data) == "body\nfoot\nend"


MAIL = "MIME-Version: 1.0\nContent-Type: "


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.html", "<title>no</title><p>one<p>caf&eacute;", "one\ncafé"),
        ("a.XHTML", "<?xml version='1.0'?><html><body>one</body></html>", "one"),
        ("a.mht", f"{MAIL}text/html\n\n<p>one", "one"),
        (
            "a.bin",
            f"{MAIL}multipart/related; boundary=b\n\n--b\nContent-Type: text/html; charset=utf-8\n"
            "Content-Transfer-Encoding: quoted-printable\n\n<p>caf=C3=A9\n--b--\n",
            "café",
        ),
        ("a.rtf", r"{\rtf1 one\par two}", "one\ntwo"),
        ("a.txt", "one\ntwo & three", "one\ntwo & three"),
        ("a.docx", makers.docx_of(P("one")), "one"),
        ("a.png", b"\x89PNG\r\n\x1a\n" + bytes(range(256)), ""),
    ],
)
def test_a_word_document_takes_in_files_of_other_formats(name, content, expected):
    data = makers.docx_of(
        P("before") + "<altChunk r:id='raFChunk'/>" + P("after"), aFChunk=(name, content)
    )

    assert zipped.docx(data) == "\n".join(filter(None, ["before", expected, "after"]))


def test_a_document_in_a_document_takes_in_no_third_one():
    chunk = "<altChunk r:id='raFChunk'/>"
    data = makers.docx_of(P("no"))
    for text in "cba":
        data = makers.docx_of(P(text) + chunk, aFChunk=("a.docx", data))

    assert zipped.docx(data) == "a\nb"


POINT = "<pt><prSet/><t><a:p><a:r><a:t>{}</a:t></a:r></a:p></t></pt>".format
DRAWINGS = [
    ("diagramData", POINT("bo<x/>ss") + "<pt type='pres'/>" + POINT("clerk"), "boss\nclerk"),
    (
        "chart",
        "<title><a:p><a:r><a:t>Sales</a:t></a:r></a:p></title><f>no</f><ser><tx><v>Tea</v></tx><cat>"
        "<strCache><ptCount val='2'/><pt><v>May</v></pt><pt><v>June</v></pt></strCache></cat><val>"
        "<numCache><formatCode>no</formatCode><pt><v>7</v></pt></numCache></val></ser>",
        "Sales\nTea\nMay\nJune\n7",
    ),
    (
        "chartEx",
        "<strDim><lvl><pt idx='0'>North</pt><pt idx='1'>South</pt></lvl></strDim>",
        "North\nSouth",
    ),
]


@pytest.mark.parametrize(("kind", "content", "expected"), DRAWINGS)
def test_diagrams_and_charts_of_a_word_document(kind, content, expected):
    data = makers.docx_of(P("a"), **{kind: ("x.xml", f"<x xmlns:a='a'>{content}</x>")})

    assert zipped.docx(data) == f"a\n{expected}"


@pytest.mark.parametrize(("kind", "content", "expected"), DRAWINGS)
def test_diagrams_and_charts_of_slides(kind, content, expected):
    with zipfile.ZipFile(BytesIO(makers.pptx("one\n\ntwo"))) as old:
        show = {name: old.read(name) for name in old.namelist()}
    relations = "ppt/slides/_rels/slide1.xml.rels"
    show["ppt/drawn/x.xml"] = f"<x>{content}</x>"
    show[relations] = show[relations].replace(
        b"</R", f"<Relationship Type='{makers.OFFICE}/{kind}' Target='../drawn/x.xml'/></R".encode()
    )

    assert zipped.pptx(makers.zipped(show)) == f"one\n{expected}\ntwo"


@pytest.mark.parametrize(("body", "expected"), shown("odt"))
def test_what_an_open_document_shows(body, expected):
    assert zipped.odt(makers.odf_of(body)) == expected


def test_chapters_come_in_reading_order_without_titles_of_files():
    assert (
        zipped.epub(makers.epub(["<p>one", "<p>two&nbsp;&eacute;", "<p>three"]))
        == "one\ntwo\xa0é\nthree"
    )


@pytest.mark.parametrize(
    "media", ["TEXT/HTML", "text/html; charset=utf-8", "application/x-dtbook+xml", "", "image/png"]
)
def test_chapters_are_read_whatever_their_media_type(media):
    assert zipped.epub(makers.epub(["<p>one", "<p>two"], media)) == "one\ntwo"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"two\nlines & <3", "two\nlines & <3"),
        ("<svg xmlns='s'><style>no</style><text>café</text></svg>".encode("utf-16"), "café"),
        (b"<dtbook><book><level1><p>one<br/>two</p></level1></book></dtbook>", "one\ntwo"),
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)), ""),
        (b"\xff\xd8\xff\xe0\0\x10JFIF\0" + bytes(range(256)) * 9, ""),
    ],
)
def test_chapters_are_read_by_their_contents(content, expected):
    book = makers.epub(["<p>before", "", "<p>after"], **{"OEBPS/text/ch 1.xhtml": content})

    assert zipped.epub(book) == "\n".join(filter(None, ["before", expected, "after"]))


def test_a_book_whose_outline_is_lost_is_read_as_it_is_stored():
    data = makers.zipped(
        {"book/b.html": "<p>one", "book/a.xhtml": "<p>two"}, "application/epub+zip"
    )

    assert zipped.epub(data) == "one\ntwo"


def test_cells_of_every_type():
    data = makers.xlsx_of(
        [
            "<c t='s'><v>1</v></c><c><v>2.5</v></c>",
            "<c t='inlineStr'><is><t>in</t><t>line</t></is></c><c t='b'><v>1</v></c>",
            "<c t='str'><f>A1</f><v>made</v></c><c t='e'><v>#REF!</v></c><c t='s'><v>9</v></c><c t='s'><v>-1</v></c><c t='s'><v>x</v></c>",
        ],
        "<si><t>no</t></si><si><r><t>sha</t></r><r><t>red</t></r><rPh><t>reading</t></rPh></si>",
    )

    assert zipped.xlsx(data) == "shared\t2.5\ninline\tTRUE\nmade"


def test_formulas_are_no_hidden_text():
    found = zipped.xlsx(makers.xlsx_of(["<c><f>SUM(A1)</f><v>12</v></c>"]))

    assert {each.kind for each in unread_of(found)} == {
        *("formulas and values", "sheet names", "tables")
    }


@pytest.mark.parametrize(
    ("styles", "is_same"),
    [
        ("<s>\n <h>\n  <b>Acme</b>\n <b>Page</b></h></s>", True),
        ("<s><h><b>Acme</b>\n<b/><b>Page</b></h></s>", True),
        ("<s><h><b>Acme</b>Page</h></s>", True),
        ("<s><h><b>Acme</b><b>Pages</b></h></s>", False),
        ("<s><h><b>AcmeP</b><b>age</b></h></s>", False),
    ],
)
def test_words_of_headers_are_the_same_however_they_are_indented(styles, is_same):
    def unread(styles):
        return unread_of(
            zipped.odt(makers.odf_of("<text:p>one</text:p>", **{"styles.xml": styles}))
        )

    assert (unread("<s><h><b>Acme</b><b>Page</b></h></s>") == unread(styles)) is is_same


def test_unread_content_does_not_depend_on_where_it_lies():
    def unread(blanks):
        deleted = f"<w:del><w:delText>{'deleted words ' * 10}</w:delText></w:del>"
        return unread_of(zipped.docx(makers.docx_of(f"<w:t>one</w:t>{' ' * blanks}{deleted}")))

    assert len({unread(blanks) for blanks in range(65_000, 65_536, 40)}) == 1


def test_escapes_and_booleans_of_cells():
    data = makers.xlsx_of(
        [
            "<c t='b'><v>true</v></c><c t='b'><v> TRUE </v></c><c t='b'><v>false</v></c>",
            "<c t='inlineStr'><is><t>a_x0009_b_x0020_c</t></is></c><c t='str'><v>_x00E9_</v></c>",
            "<c t='s'><v>0</v></c>",
        ],
        "<si><t>one_x000D_\ntwo _x005F_x0041_ _xD83D__xDE00_ _x41_</t></si>",
    )

    assert zipped.xlsx(data).split("\n") == [
        "TRUE\tTRUE\tFALSE",
        "a\tb c\té",
        "one",
        "two _x0041_ 😀 _x41_",
    ]


READERS = {
    "docx": zipped.docx,
    "pptx": zipped.pptx,
    "xlsx": zipped.xlsx,
    "odf": zipped.odt,
    "epub": zipped.epub,
}

# --- what must not get through ---


BOMB = (
    "<!DOCTYPE x [<!ENTITY a '"
    + "a" * 1000
    + "'>"
    + "".join(f"<!ENTITY {chr(98 + n)} '{f'&{chr(97 + n)};' * 10}'>" for n in range(9))
    + "]>"
)
OUTSIDE = "<!DOCTYPE x [<!ENTITY passwd SYSTEM 'file:///etc/passwd'>]>"
PARAMETER = "<!DOCTYPE x [<!ENTITY % a SYSTEM 'file:///etc/passwd'> %a;]>"


@pytest.mark.parametrize(
    ("declared", "used"), [(BOMB, "&j;"), (OUTSIDE, "&passwd;"), (PARAMETER, "")]
)
def test_entities_cannot_be_declared(declared, used):
    data = makers.zipped(
        {"content.xml": f"<?xml version='1.0'?>{declared}<x {ODT_NS}><p>a{used}</p></x>"},
        "application/vnd.oasis.opendocument.text",
    )
    begin = process_time()

    assert refused(zipped.odt, data) == "XML that declares entities"
    assert process_time() - begin < patient(5)


@pytest.mark.parametrize(
    "doctype",
    [
        "<!DOCTYPE x SYSTEM 'file:///etc/passwd'>",
        "<!DOCTYPE x PUBLIC 'a' 'http://localhost:1/a.dtd'>",
    ],
)
def test_a_document_type_is_not_fetched(doctype):
    data = makers.zipped(
        {"content.xml": f"{doctype}<x {ODT_NS}><p>a&nbsp;b</p></x>"},
        "application/vnd.oasis.opendocument.text",
    )

    assert zipped.odt(data) == "ab"


def test_entities_in_the_chapters_of_a_book_are_not_expanded():
    page = f"{OUTSIDE}<html><body>a &passwd; b</body></html>"

    assert zipped.epub(makers.epub([page])) == "a &passwd; b"


@pytest.mark.parametrize("declared", [BOMB, OUTSIDE])
@pytest.mark.parametrize("reader", ["docx", "xlsx", "epub"])
def test_entities_cannot_be_declared_in_what_lists_the_members_either(reader, declared):
    listing = {
        "docx": "word/_rels/document.xml.rels",
        "xlsx": "xl/sharedStrings.xml",
        "epub": "OEBPS/book.opf",
    }[reader]
    whole = {
        "docx": makers.docx_of(P("a")),
        "xlsx": makers.xlsx_of(["<c><v>1</v></c>"]),
        "epub": makers.epub(["<p>a"]),
    }[reader]
    with zipfile.ZipFile(BytesIO(whole)) as package:
        members = {name: package.read(name).decode() for name in package.namelist()}
    members[listing] = declared + members[listing]

    assert refused(READERS[reader], makers.zipped(members)) == "XML that declares entities"


def test_members_that_unpack_to_too_much_together():
    chapter = "<p>a" + " " * 3_000_000
    assert refused(zipped.epub, makers.epub([chapter] * 12)) == "unpacks to too much"


def test_too_many_members():
    assert (
        refused(zipped.odt, makers.zipped({str(n): "" for n in range(10_001)}))
        == "more than 10,000 members"
    )


@pytest.mark.parametrize("reader", [zipped.docx, zipped.odt])
def test_a_hundred_thousand_levels(reader):
    deep = "<x>" * 100_000 + "<p><t>a</t></p>" + "</x>" * 100_000
    data = (
        makers.docx_of(deep)
        if reader is zipped.docx
        else makers.odf_of(deep.replace("w:", "text:"))
    )

    assert reader(data) == "a"


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "damaged zip file"),
        (b"PK\x03\x04 cut off", "damaged zip file"),
        (b"\xd0\xcf\x11\xe0" + "EncryptedPackage".encode("utf-16-le"), "encrypted"),
        (b"\xd0\xcf\x11\xe0" + bytes(100), "old Office file"),
    ],
)
def test_files_that_are_no_zip_file(reader, data, reason):
    assert refused(reader, data) == reason


def with_flag(data, flag):
    """The same zip file with a flag set for each member."""
    out = bytearray(data)
    for sign, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = -1
        while (at := out.find(sign, at + 1)) >= 0:
            out[at + offset] |= flag
    return bytes(out)


@pytest.mark.parametrize(
    ("reader", "data"),
    [
        (zipped.docx, with_flag(makers.docx_of(P("a")), 1)),
        (zipped.odt, with_flag(makers.odf_of("<p>a</p>"), 1)),
        (
            zipped.odt,
            makers.odf_of(
                "",
                **{
                    "META-INF/manifest.xml": "<m:manifest xmlns:m='m'><m:file-entry><m:encryption-data/></m:file-entry></m:manifest>"
                },
            ),
        ),
        (zipped.odt, makers.zipped({"encrypted-package": "x"})),
        (
            zipped.epub,
            makers.epub(
                ["<p>a"],
                **{
                    "META-INF/encryption.xml": "<e xmlns:enc='e'><enc:CipherReference URI='OEBPS/text/ch%200.xhtml'/></e>"
                },
            ),
        ),
    ],
)
def test_encrypted(reader, data):
    assert refused(reader, data) == "encrypted"


def test_encrypted_by_office():
    offcrypto = pytest.importorskip("msoffcrypto.format.ooxml")
    out = BytesIO()
    offcrypto.OOXMLFile(BytesIO(makers.docx("a secret"))).encrypt("password", out)

    assert refused(zipped.docx, out.getvalue()) == "encrypted"


def test_obfuscated_fonts_do_not_make_a_book_encrypted():
    data = makers.epub(
        ["<p>a"],
        **{
            "META-INF/encryption.xml": "<e xmlns:enc='e'><enc:CipherReference URI='OEBPS/font.otf'/></e>"
        },
    )

    assert zipped.epub(data) == "a"


@pytest.mark.parametrize(
    ("reader", "data"),
    [
        (zipped.docx, makers.docx("a b c " * 1000)),
        (zipped.odt, makers.odf_of("<p>a b c</p>" * 1000)),
        (zipped.epub, makers.epub(["<p>a"])),
        (zipped.xlsx, makers.xlsx("a b")),
        (zipped.pptx, makers.pptx("a b")),
    ],
)
def test_cut_off_anywhere(reader, data):
    for n in range(0, len(data), max(1, len(data) // 50)):
        assert refused(reader, data[:n]) == "damaged zip file"


def test_a_member_that_is_no_xml():
    assert (
        refused(zipped.odt, makers.zipped({"content.xml": "<a><b></a>"}))
        == "damaged: content.xml, mismatched tag"
    )


def test_a_member_that_is_missing():
    assert refused(zipped.odt, makers.zipped({"a": "b"})) == "damaged: content.xml is missing"
    assert refused(zipped.docx, makers.zipped({"a": "b"})) == "damaged: no document in it"


@pytest.mark.parametrize(
    "written",
    [
        lambda name: name.replace("/", "\\"),
        str.upper,
        lambda name: name.lower().replace("/", "\\"),
        lambda name: f"./{name.title()}",
    ],
)
@pytest.mark.parametrize(
    ("ending", "data"),
    [("docx", makers.docx_of(P("a"))), ("xlsx", makers.xlsx_of(["<c><v>a</v></c>"]))],
)
def test_names_of_parts_may_be_written_in_any_way(written, ending, data):
    with zipfile.ZipFile(BytesIO(data)) as old:
        renamed = makers.zipped({written(name): old.read(name) for name in old.namelist()})

    assert kind(renamed, "a") == ending
    assert READERS[ending](renamed) == "a"


def test_a_part_is_referred_to_with_backslashes_and_in_capitals():
    data = makers.xlsx_of(["<c><v>a</v></c>"])
    with zipfile.ZipFile(BytesIO(data)) as old:
        members = {name: old.read(name) for name in old.namelist()}
    relations = members["xl/_rels/workbook.xml.rels"]
    members["xl/_rels/workbook.xml.rels"] = relations.replace(b"/xl/worksheets/a", b"WorkSheets\\A")

    assert zipped.xlsx(makers.zipped(members)) == "a"
