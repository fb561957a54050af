"""Content that is not words counts with its place: links, pictures, cells, marks on words."""

from __future__ import annotations

from functools import partial

import makers
import pytest

from simdup.extract.cleanup import unread_of
from simdup.extract.places import MARKED
from simdup.extract.readers import READERS

P = "<w:p>{}</w:p>".format
R = "<w:r><w:rPr>{1}</w:rPr><w:t>{0}</w:t></w:r>".format
LINK = "<w:hyperlink r:id='{}'><w:r><w:t>{}</w:t></w:r></w:hyperlink>".format
PICTURE = "<w:r><w:drawing><a:blip r:embed='r{}'/></w:drawing></w:r>".format
SPAN = "<text:span text:style-name='{1}'>{0}</text:span>".format
STYLE = "<style:style style:name='{}'><style:{} {}/></style:style>".format


def rows(row, cell, table, *lines):
    """A table in XML, of elements with these names; a cell has one word."""
    inner = "".join(
        f"<{row}>{''.join(f'<{cell}>{word}</{cell}>' for word in line)}</{row}>" for line in lines
    )
    return f"<{table}>{inner}</{table}>"


word_table = partial(rows, "w:tr", "w:tc", "w:tbl")
odf_table = partial(rows, "table:table-row", "table:table-cell", "table:table")
html_table = partial(rows, "tr", "td", "table")


def with_pictures(*names):
    files = {f"image{n}": (f"media/{name}.png", f"picture {name}") for n, name in enumerate(names)}
    body = P(R("before", "")) + P(PICTURE("image0")) + P(R("after", "")) + P(PICTURE("image1"))
    return makers.docx_of(body, **files)


def with_links(*names):
    with_relations = makers.office(
        "word/document.xml",
        {},
        {"document.xml": f"<w:d>{P(LINK('a', 'yes') + LINK('b', 'no'))}</w:d>"},
    )
    return makers.changed_zip(
        with_relations,
        "word/_rels/document.xml.rels",
        "<Relationships>"
        + "".join(
            f"<Relationship Id='{key}' Type='hyperlink' Target='http://a.org/{name}'"
            " TargetMode='External'/>"
            for key, name in zip("ab", names, strict=True)
        )
        + "</Relationships>",
    )


def styled(style, *words):
    return makers.odf_of(f"{style}<text:p>{' '.join(words)}</text:p>")


STRUCK = STYLE("T1", "text-properties", "style:text-line-through-style='solid'")
RAISED = STYLE("T1", "text-properties", "style:text-position='super 58%'")
FLAT = STYLE("T1", "text-properties", "style:text-position='0% 100%'")
NOTES = "<w:footnote w:id='1'><w:t>one</w:t></w:footnote><w:footnote w:id='2'><w:t>two</w:t></w:footnote>"
REFERENCE = "<w:r><w:footnoteReference w:id='{}'/></w:r>".format
NUMBERED = P(
    "<w:pPr><w:numPr><w:ilvl w:val='0'/><w:numId w:val='{}'/></w:numPr></w:pPr>" + R("x", "")
).format
OF_LIST = (
    "<w:lvl><w:start w:val='{}'/><w:numFmt w:val='{}'/><w:lvlText w:val='§ %1'/></w:lvl>".format
)

# Two documents with the same words, and the kind of the content in which they differ.
PAIRS = {
    "links.docx": (with_links("yes", "no"), with_links("no", "yes"), "links"),
    "pictures.docx": (with_pictures("a", "b"), with_pictures("b", "a"), "pictures"),
    "notes.docx": (
        makers.docx_of(P(REFERENCE(1) + R("a", "") + REFERENCE(2)), footnotes=NOTES),
        makers.docx_of(P(REFERENCE(2) + R("a", "") + REFERENCE(1)), footnotes=NOTES),
        "notes",
    ),
    "cells.docx": (
        makers.docx_of(word_table([R("May", ""), R("7", ""), ""])),
        makers.docx_of(word_table([R("May", ""), "", R("7", "")])),
        "tables",
    ),
    "struck.docx": (
        makers.docx_of(P(R("do ", "") + R("not", "<w:strike/>") + R(" keep", ""))),
        makers.docx_of(P(R("do ", "") + R("not", "") + R(" keep", "<w:strike/>"))),
        MARKED,
    ),
    "power.docx": (
        makers.docx_of(P(R("10", "") + R("6", "<w:vertAlign w:val='superscript'/>"))),
        makers.docx_of(P(R("10", "") + R("6", "<w:vertAlign w:val='baseline'/>"))),
        MARKED,
    ),
    "formula.docx": (
        makers.docx_of(P("<m:sSup><m:t>x</m:t><m:t>2</m:t></m:sSup>")),
        makers.docx_of(P("<m:sSub><m:t>x</m:t><m:t>2</m:t></m:sSub>")),
        "formulas",
    ),
    "lists.docx": (
        makers.docx_of(NUMBERED(1), numbering=OF_LIST(1, "decimal")),
        makers.docx_of(NUMBERED(1), numbering=OF_LIST(7, "decimal")),
        "numbering",
    ),
    "figures.docx": (
        makers.docx_of(NUMBERED(1), numbering=OF_LIST(1, "decimal")),
        makers.docx_of(NUMBERED(1), numbering=OF_LIST(1, "upperRoman")),
        "numbering",
    ),
    "items.docx": (makers.docx_of(NUMBERED(1)), makers.docx_of(NUMBERED(2)), "numbering"),
    "struck.odt": (styled(STRUCK, SPAN("not", "T1")), styled(STRUCK, SPAN("not", "T2")), MARKED),
    "power.odt": (
        styled(RAISED, "10", SPAN("6", "T1")),
        styled(FLAT, "10", SPAN("6", "T1")),
        MARKED,
    ),
    "cells.ods": (
        makers.odf_of(odf_table(["<text:p>7</text:p>", ""]), "spreadsheet"),
        makers.odf_of(odf_table(["", "<text:p>7</text:p>"]), "spreadsheet"),
        "tables",
    ),
    "rows.ods": (
        makers.odf_of("<table:table-row/><text:p>7</text:p>"),
        makers.odf_of("<table:table-row table:visibility='collapse'/><text:p>7</text:p>"),
        "hidden rows and columns",
    ),
    "names.ods": (
        makers.odf_of("<table:table table:name='May'/><text:p>7</text:p>"),
        makers.odf_of("<table:table table:name='June'/><text:p>7</text:p>"),
        "sheet names",
    ),
    "pictures.odt": tuple(
        makers.odf_of(
            f"<text:p>a<draw:image xlink:href='Pictures/{one}.png'/>b"
            f"<draw:image xlink:href='Pictures/{other}.png'/></text:p>",
            **{"Pictures/1.png": b"one", "Pictures/2.png": b"two"},
        )
        for one, other in ("12", "21")
    )
    + ("pictures",),
    "slides.pptx": tuple(
        makers.changed_zip(
            makers.pptx("one"), "ppt/slides/slide1.xml", f"<p:sld {show}><a:t>one</a:t></p:sld>"
        )
        for show in ("", "show='0'")
    )
    + ("hidden slides",),
    "struck.pptx": tuple(
        makers.changed_zip(
            makers.pptx("x"),
            "ppt/slides/slide1.xml",
            f"<s><a:r><a:rPr {strike}/><a:t>x</a:t></a:r></s>",
        )
        for strike in ("strike='noStrike'", "strike='sngStrike'")
    )
    + (MARKED,),
    "struck.rtf": (rb"{\rtf1 do {\strike not} keep}", rb"{\rtf1 do {\strike not keep}}", MARKED),
    "power.rtf": (rb"{\rtf1 10\super 6}", rb"{\rtf1 10\super\nosupersub 6}", MARKED),
    "cells.rtf": (
        rb"{\rtf1 May\cell 7\cell\cell\row}",
        rb"{\rtf1 May\cell\cell 7\cell\row}",
        "tables",
    ),
    "pictures.epub": (
        makers.epub(["<p>one<img src='a.png'>two<img src='b.png'>"]),
        makers.epub(["<p>one<img src='b.png'>two<img src='a.png'>"]),
        "pictures",
    ),
    "cells.xlsx": tuple(
        makers.xlsx_of([f"<c r='A1' t='str'><v>May</v></c><c r='{at}'><v>7</v></c>"])
        for at in ("B1", "C1")
    )
    + ("tables",),
    "rows.xlsx": tuple(
        makers.changed_zip(
            makers.xlsx_of([]),
            "xl/worksheets/a.xml",
            f"<worksheet><sheetData><row r='1'{hidden}><c r='A1'><v>7</v></c></row></sheetData>"
            "</worksheet>",
        )
        for hidden in ("", " hidden='1'")
    )
    + ("hidden rows and columns",),
    "columns.xlsx": tuple(
        makers.changed_zip(
            makers.xlsx_of([]),
            "xl/worksheets/a.xml",
            f"<worksheet><cols><col min='{number}' max='2' hidden='1'/></cols><sheetData><row><c><v>7"
            "</v></c></row></sheetData></worksheet>",
        )
        for number in "12"
    )
    + ("hidden rows and columns",),
    "hidden.xlsx": tuple(
        makers.changed_zip(
            makers.xlsx_of(["<c><v>7</v></c>"]),
            "xl/workbook.xml",
            f"<workbook xmlns:r='r'><sheets><sheet name='a'{state} r:id='r0'/></sheets></workbook>",
        )
        for state in ("", " state='hidden'")
    )
    + ("sheet names",),
    "formulas.xlsx": tuple(
        makers.xlsx_of([f"<c r='A1'><f>{one}</f><v>7</v></c><c r='B1'><f>{other}</f><v>7</v></c>"])
        for one, other in (("C1", "D1"), ("D1", "C1"))
    )
    + ("formulas and values",),
    "header.docx": tuple(
        makers.changed_zip(
            makers.docx_of(
                P(R("one", "")),
                header="<a:blip r:embed='a'/><a:blip r:embed='b'/>",
                image1=("media/1.png", "one"),
                image2=("media/2.png", "two"),
            ),
            "word/_rels/header.xml.rels",
            "<Relationships>"
            + "".join(
                f"<Relationship Id='{key}' Type='image' Target='media/{name}.png'/>"
                for key, name in zip("ab", names, strict=True)
            )
            + "</Relationships>",
        )
        for names in ("12", "21")
    )
    + ("pictures",),
    "links.html": (
        b"<p><a href=http://a.org/yes>yes</a> <a href=http://a.org/no>no</a>",
        b"<p><a href=http://a.org/no>yes</a> <a href=http://a.org/yes>no</a>",
        "links",
    ),
    "pictures.html": (
        b"<p>one<img src=a.png>two<img src=b.png>",
        b"<p>one<img src=b.png>two<img src=a.png>",
        "pictures",
    ),
    "cells.html": (
        html_table(["May", "7", ""]).encode(),
        html_table(["May", "", "7"]).encode(),
        "tables",
    ),
    "struck.html": (b"<p>do <s>not</s> keep", b"<p>do <s>not keep</s>", MARKED),
    "power.html": (b"<p>10<sup>6</sup>", b"<p>106", MARKED),
    "hidden.html": (b"<p style='display: none'>one", b"<p style='color: red'>one", MARKED),
    "hidden2.html": (b"<p hidden>one", b"<p>one", MARKED),
    "list.html": (b"<ol start=1><li>one</ol>", b"<ol start=7><li>one</ol>", "numbering"),
    "figures.html": (b"<ol type=1><li>one</ol>", b"<ol type=a><li>one</ol>", "numbering"),
    "formula.html": (
        b"<math><msup><mi>x</mi><mn>2</mn>",
        b"<math><msub><mi>x</mi><mn>2</mn>",
        "formulas",
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_what_stands_at_another_place_is_other_content(name):
    one, other, kind = PAIRS[name]
    read = READERS[name.rpartition(".")[2]]
    first, second = read(one), read(other)

    assert first.split() == second.split()
    assert {each.kind for each in {*unread_of(first)} ^ {*unread_of(second)}} == {kind}


SAME = {
    "runs.docx": (
        makers.docx_of(P(R("not keep", "<w:strike/>"))),
        makers.docx_of(P(R("not", "<w:strike/>") + R(" keep", "<w:strike w:val='true'/><w:b/>"))),
    ),
    "off.docx": (
        makers.docx_of(P(R("not", "<w:strike w:val='0'/><w:b/>"))),
        makers.docx_of(P(R("not", ""))),
    ),
    "blanks.html": (
        b"<p>one two <a href=http://a.org>x</a>",
        b"<p>one&nbsp;\n two <a href=http://a.org>x</a>",
    ),
    "layout.html": (b"<p style='color: red'>one", b"<p style='color: blue'>one"),
    "table.html": (
        b"<table><tr><td>a<td>b</table>",
        b"<table><tr><td>a</td><td>b</td></tr></table>",
    ),
}


@pytest.mark.parametrize("name", SAME)
def test_layout_alone_is_no_other_content(name):
    one, other = (READERS[name.rpartition(".")[2]](data) for data in SAME[name])

    assert " ".join(one.split()) == " ".join(other.split())
    assert unread_of(one) == unread_of(other)


def test_one_table_has_the_same_cells_in_every_format():
    lines = [["May", "", "7"], ["", "8", ""]]
    tables = [
        READERS["docx"](
            makers.docx_of(word_table(*([R(w, "") * bool(w) for w in line] for line in lines)))
        ),
        READERS["html"](html_table(*lines).encode()),
        READERS["ods"](
            makers.odf_of(odf_table(*([f"<text:p>{w}</text:p>" for w in line] for line in lines)))
        ),
    ]

    assert (
        len({each for found in tables for each in unread_of(found) if each.kind == "tables"}) == 1
    )


@pytest.mark.parametrize(
    ("repeated", "expected"),
    [
        ("<table:table-cell table:number-columns-repeated='3'>{}</table:table-cell>", ["7"] * 3),
        (
            "<table:table-row table:number-rows-repeated='2'><table:table-cell>{0}</table:table-cell>"
            "<table:table-cell>{0}</table:table-cell></table:table-row>",
            ["7"] * 4,
        ),
        (
            "<table:table-row table:number-rows-repeated='2'><table:table-cell"
            " table:number-columns-repeated='2'>{0}</table:table-cell></table:table-row>",
            ["7"] * 4,
        ),
        ("<table:table-cell table:number-columns-repeated='1048576'/>{}", ["7"]),
        (
            "<table:table-cell table:number-columns-repeated='1048576'>{}</table:table-cell>",
            ["7"] * 1000,
        ),
    ],
)
def test_cells_and_rows_of_spreadsheets_are_read_as_often_as_they_stand_there(repeated, expected):
    body = f"<table:table>{repeated.format('<text:p>7</text:p>')}</table:table>"

    assert READERS["ods"](makers.odf_of(body, "spreadsheet")).split() == expected
