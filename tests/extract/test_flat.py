"""Documents in one file of XML."""

from __future__ import annotations

import makers
import pytest

from simdup.extract.cleanup import NotReadable, unread_of
from simdup.extract.readers import READERS, kind
from simdup.extract.sniff import format_of

TEXT = "One line of a text.\nA second line, 中文."
BODY = "<text:p>One line.</text:p><text:p>中文</text:p>"


def read(data, name="a"):
    return READERS[kind(data, name)](data)


@pytest.mark.parametrize("make", [makers.docx, makers.pptx, makers.xlsx])
def test_a_flat_package_is_read_as_the_package(make):
    whole, flat = make(TEXT), makers.flat_opc(make(TEXT))

    assert kind(flat, "a.xml") == kind(whole, "a")
    assert read(flat) == read(whole) == TEXT
    assert {each.kind for each in unread_of(read(flat))} == {
        each.kind for each in unread_of(read(whole))
    }


@pytest.mark.parametrize(
    ("found", "ending", "name"),
    [("odt", "fodt", "text"), ("ods", "fods", "spreadsheet"), ("odp", "fodp", "presentation")],
)
def test_a_flat_open_document_is_read_as_the_packed_one(found, ending, name):
    flat = makers.flat_odf(BODY, name)

    assert kind(flat, f"a.{ending}") == kind(flat, "a.xml") == found
    assert read(flat) == read(makers.odf_of(BODY, name)) == "One line.\n中文"


def test_headers_pictures_and_objects_of_a_flat_open_document_are_other_content():
    def unread(header="above", picture="YQ==", author="Ada", inner="no"):
        inner = f"<draw:object><office:document><text:p>{inner}</text:p></office:document></draw:object>"
        drawn = (
            f"<draw:frame><office:binary-data>{picture}</office:binary-data>{inner}</draw:frame>"
        )
        found = read(
            makers.flat_odf(
                f"<text:p>one{drawn}</text:p>",
                master_styles=f"<text:p>{header}</text:p>",
                meta=f"<a>{author}</a>",
            )
        )
        assert found == "one"
        return {*unread_of(found)}

    for change, changed in (
        ({"header": "below"}, "headers and footers"),
        ({"picture": "Yg=="}, "pictures"),
        ({"author": "Bob"}, "metadata"),
        ({"inner": "yes"}, "hidden text"),
    ):
        assert {each.kind for each in unread() ^ unread(**change)} == {changed}


def test_a_flat_document_may_be_in_utf_16():
    flat = makers.flat_odf(BODY).decode().replace("UTF-8", "UTF-16").encode("utf-16")

    assert kind(flat, "a.fodt") == "odt"
    assert read(flat) == "One line.\n中文"


@pytest.mark.parametrize(
    "data",
    [
        b"<office:document><text:p>one",
        b"<?xml version='1.0'?><a><office:document office:mimetype='text/plain'/></a>",
        b"<package xmlns='http://schemas.microsoft.com/office/2006/xmlPackage'/>",
        b"<!--" * 20_000,
        b"<!-- --> " * 7_000,
    ],
)
def test_other_xml_is_plain_text(data):
    assert format_of(data, "a.xml") is None


def test_damaged_flat_documents_have_a_reason():
    flat = makers.flat_opc(makers.docx_of("<w:p/>", image=("media/a.png", b"x")))
    for data in (flat[:900], flat.replace(b"eA==", b"e")):
        with pytest.raises(NotReadable):
            READERS["docx"](data)


def test_entities_cannot_be_declared_in_a_flat_document():
    flat = makers.flat_odf("<text:p>&a;</text:p>").replace(
        b"<!-- a -->", b"<!DOCTYPE a [<!ENTITY a 'b'>]>"
    )

    with pytest.raises(NotReadable, match="entities"):
        READERS["odt"](flat)
