"""Documents of every format with one part changed: nothing changes without a remark."""

from __future__ import annotations

import re
from importlib.util import find_spec
from io import BytesIO
from random import Random
from zipfile import ZipFile

import makers
import pytest

from simdup.extract.cleanup import NotReadable, unread_of
from simdup.extract.readers import READERS
from simdup.fingerprint.simhash import fingerprint_texts
from simdup.recipe import Recipe

TEXT = "One line of a text that is long enough to be compared with any other.\nA second line.\n"
P = f"<w:p><w:r>{{}}<w:t>{TEXT}</w:t></w:r></w:p>".format
PAGE = f"""<html><head><meta name=author content='Ada'><style>p:before {{ content: 'Note' }}</style>
</head><body><!-- a remark --><p title='a tip'>{TEXT}<a href='http://a.org/place'>link</a>
<img src='tea.png' alt='cup'><input value='typed'><script>var answer = 42</script>
<noscript>no scripts</noscript><p onclick='send(77)' aria-label='spoken'>end
<annotation>sum</annotation></body>"""

# Documents with as many sorts of parts as there are, seen and unseen.
DOCUMENTS = {
    "docx": makers.docx(TEXT),
    "parts.docx": makers.docx_of(
        P(
            "<w:sym w:char='F061'/><w:instrText>DATE</w:instrText><wp:docPr descr='picture'/>"
            "<w:del><w:delText>gone</w:delText></w:del><w:checked w:val='11'/>"
        ),
        **dict.fromkeys(("footnotes", "comments", "header"), P("")),
        numbering="<w:lvlText w:val='Chapter %1'/>",
        settings="<w:docVar w:name='a' w:val='secret'/>",
        chart=("x.xml", "<x><t>Sales of tea</t><f>Sheet1!A1</f></x>"),
        customXml=("item1.xml", "<a>stored apart</a>"),
        image=("media/a.png", bytes(99)),
    ),
    "odt": makers.odt(TEXT),
    "parts.odt": makers.odf_of(
        "<form:text form:current-value='filled' form:value='default'/><form:password"
        " form:value='hidden'/><form:option form:label='beans'/><text:p><text:a xlink:href="
        f"'http://a.org/place'>link</text:a><office:annotation><text:p>comment</text:p>"
        f"</office:annotation>{TEXT}</text:p><draw:frame><svg:title>title</svg:title><svg:desc>"
        "picture</svg:desc></draw:frame><table:table table:name='sheet'><table:table-cell"
        " office:value='12.345' table:formula='of:=A11'><text:p>12</text:p></table:table-cell>"
        "</table:table>",
        **{
            "styles.xml": "<a><style:header><text:p>above</text:p></style:header></a>",
            "meta.xml": "<a>author</a>",
            "Pictures/a.png": bytes(99),
            "Object 1/content.xml": "<a>sum</a>",
        },
    ),
    "epub": makers.ebooklib_epub(TEXT),
    "parts.epub": makers.epub(
        [PAGE],
        **{
            "OEBPS/a.css": "p:before { content: 'Note' }",
            "OEBPS/toc.ncx": "<a>First chapter</a>",
            "OEBPS/nav.xhtml": PAGE,
            "META-INF/signatures.xml": "<a>signed</a>",
        },
    ),
    "pptx": makers.pptx(TEXT),
    "xlsx": makers.xlsx(TEXT),
    "parts.xlsx": makers.xlsx_of(
        ["<c><f>SUM(A11)</f><v>12</v></c><c t='e'><v>#REF!</v></c><c t='s'><v>0</v></c>"],
        f"<si><t>{TEXT}</t></si>",
    ),
    "html": PAGE.encode(),
    "rtf": makers.rtf(TEXT),
    "parts.rtf": (
        r"{\rtf1{\info{\author Ada}}{\header above}{\*\listtable{\list{\leveltext One}}}"
        rf"{{\*\private secret words}}{{\field{{\*\fldinst DATE}}{{\fldrslt today}}}}{TEXT}"
        r"{\v hidden}{\*\annotation comment}{\pict\pngblip 0a0b0c}}"
    ).encode(),
    "eml": makers.eml(TEXT, "The subject"),
    "mbox": makers.mbox(f"{TEXT}\n\n{TEXT}"),
    "ipynb": makers.notebook(TEXT),
    **{name: getattr(makers, name)(TEXT) for name in ("tex", "man", "srt", "vtt", "ass")},
    "md": makers.markdown(TEXT),
}
if find_spec("pypdfium2"):
    DOCUMENTS["pdf"] = makers.pdf_with_parts(TEXT)

# The rule: members and attributes that only say how a document looks or is packed may change.
FORMATTING = re.compile(r"theme|rels$|Content_Types|mimetype|/container|/manifest|printer")
ATTRIBUTES = (
    r"lvlText w:val|docVar w:name='a' w:val|sheet name|table:name|author content|[\w:]*(?:descr"
    r"|char|href|value|(?<!a )label|formula|src|alt|onclick|aria-label|title)"
)
IN_MARKUP = (
    rf"""(?<!style>)(?<=>)[^<>]+(?=<)|<!--.*?-->|\bcontent: [^;}}]+"""
    rf"""|\b(?:{ATTRIBUTES})=(?:'[^']*'|"[^"]*")"""
)
MAIL = (
    rb"^(?:From|To|Subject): [^\n]*|filename=[^\n]*"
    rb"|(?<=\n\n)(?!--|From ).+?(?=\n\n?--=|\n\nFrom |\Z)"
)
CONTENT = {
    "html": re.compile(IN_MARKUP.encode(), re.DOTALL),
    "rtf": re.compile(rb"(?<=[ }])[^\\{}]{3,}(?=[\\{}])"),
    "eml": re.compile(MAIL, re.MULTILINE | re.DOTALL),
    "pdf": re.compile(rb"(?<!/D[VA] \()(?<!/T \()(?<=\()(?!opensource)[^()]+(?=\))"),
    "ipynb": re.compile(rb'(?<=: ")(?!code)[^"]+|(?<=\[")[^"]+'),
}
CONTENT["mbox"] = CONTENT["eml"]
WORD = re.compile(rb"[A-Za-z]{3,}|[0-9]{2,}")
NEXT = bytes.maketrans(
    b"abcdefghijklmnopqrstuvwxyz0123456789", b"bcdefghijklmnopqrstuvwxyza1234567890"
)


def changed(data, content, random):
    """The data with another word in one of the places that have content; None without any."""
    places = [
        word.span()
        for place in content.finditer(data)
        for word in WORD.finditer(
            data, data.find(b"=", *place.span()) + 1 or place.start(), place.end()
        )
    ]
    if not places:
        return None
    begin, end = random.choice(places)
    return data[:begin] + data[begin:end].lower().translate(NEXT) + data[end:]


def changed_package(data, random):
    """The package with another word or byte in one of its members."""
    with ZipFile(BytesIO(data)) as file:
        members = {each: file.read(each) for each in file.namelist()}
    name = random.choice([each for each in members if not FORMATTING.search(each)])
    is_markup = name.endswith(("ml", "css", "opf", "ncx"))
    members[name] = (
        changed(members[name], CONTENT["html"], random) if is_markup else members[name] + b"x"
    )
    first = members.pop("mimetype", None)
    return name, members[name] and makers.zipped(members, first)


def identity(kind, data):
    """The words of a document, and what else it holds; None if it cannot be read."""
    try:
        text = READERS[kind](data)
    except NotReadable:
        return None
    return fingerprint_texts([text], Recipe()).words.tobytes(), unread_of(text)


RUBY = "<w:ruby><w:rubyBase><w:t>東京</w:t></w:rubyBase><w:rt><w:t>{}</w:t></w:rt></w:ruby>"
ODF_RUBY = (
    "<text:p><text:ruby><text:ruby-base>東京</text:ruby-base><text:ruby-text>{}</text:ruby-text>"
    "</text:ruby></text:p>"
)
# What is read, or says the same again, with a place for it.
READ = {
    "docx": lambda each: makers.docx_of(f"<w:p><w:r>{RUBY.format(each)}</w:r></w:p>"),
    "odt": lambda each: makers.odf_of(ODF_RUBY.format(each)),
    "xlsx": lambda each: makers.xlsx_of(
        ["<c t='s'><v>0</v></c>"], f"<si><t>東京</t><rPh><t>{each}</t></rPh></si>"
    ),
    "html": lambda each: f"<p><ruby>東京<rt>{each}</ruby>".encode(),
    "form.odt": lambda each: makers.odf_of(
        f"<form:text form:current-value='{each}'/><form:checkbox form:label='{each}'"
        f" form:current-state='checked'/><form:option form:label='{each}' form:selected='true'/>"
    ),
    "form.pdf": makers.pdf_form,
}


@pytest.mark.parametrize("name", READ)
def test_readings_above_characters_and_values_that_are_read_are_no_unread_content(name):
    reader = READERS[name.split(".")[-1]]
    if name.endswith("pdf"):
        pytest.importorskip("pypdfium2")

    one, other = (reader(READ[name](each)) for each in ("tou", "kyou"))

    assert {each.kind for each in unread_of(one)} <= {"metadata", "sheet names", "tables"}
    assert unread_of(one) == unread_of(other)


@pytest.mark.parametrize("name", ["word/styles.xml", "word/numbering.xml", "a.css"])
def test_damaged_formatting_spoils_no_document_and_counts(name):
    with ZipFile(BytesIO(makers.docx_of(P("")))) as file:
        members = {each: file.read(each) for each in file.namelist()}
    whole, *damaged = (
        READERS["docx"](makers.zipped(members | {name: content}))
        for content in ("<a/>", "<a>content:'b'", "<!DOCTYPE a [<!ENTITY b 'c'>]><a>content:'c'")
    )

    assert {*damaged} == {whole}
    assert len({unread_of(each) for each in (whole, *damaged)}) == 3


def assert_changes_are_seen(seeds):
    before = {name: identity(name.split(".")[-1], data) for name, data in DOCUMENTS.items()}
    made = 0
    for seed in seeds:
        random = Random(seed)
        name = [*DOCUMENTS][seed % len(DOCUMENTS)]
        ending, data, member = name.split(".")[-1], DOCUMENTS[name], ""
        if data.startswith(b"PK"):
            member, data = changed_package(data, random)
        else:
            data = changed(data, CONTENT.get(ending, re.compile(b".+", re.DOTALL)), random)
        made += data is not None
        assert data is None or identity(ending, data) != before[name], (seed, name, member)
    assert made > 0.7 * len(seeds)


def test_no_change_of_content_goes_unseen():
    assert_changes_are_seen(range(48))


@pytest.mark.slow
def test_no_change_of_content_goes_unseen_at_many_places():
    assert_changes_are_seen(range(48, 500))
