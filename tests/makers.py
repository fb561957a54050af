"""Files of every kind that hold a given text."""

from __future__ import annotations

import csv
import html
import json
import re
import string
import zipfile
from email.message import EmailMessage
from functools import cache, partial
from io import BytesIO
from pathlib import Path

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def saved(save):
    """The bytes that a function writes to a file."""
    out = BytesIO()
    save(out)
    return out.getvalue()


def pairs(members):
    """Names and contents, of a dictionary or a list in which a name may stand twice."""
    return members.items() if isinstance(members, dict) else members


def zipped(members, first=None, method=zipfile.ZIP_DEFLATED):
    """A zip file of names and contents; `first` is stored as its `mimetype`."""
    out = BytesIO()
    with zipfile.ZipFile(out, "w", method) as package:
        if first:
            package.writestr("mimetype", first, zipfile.ZIP_STORED)
        for name, content in pairs(members):
            package.writestr(name, content)
    return out.getvalue()


def changed_zip(data, name, content):
    """A zip file with other contents of one member."""
    with zipfile.ZipFile(BytesIO(data)) as package:
        return zipped({each: package.read(each) for each in package.namelist()} | {name: content})


def tar(members):
    """A tar file of members with these names; a value may be a TarInfo instead of a text."""
    import tarfile

    out = BytesIO()
    with tarfile.open(fileobj=out, mode="w") as file:
        for name, content in pairs(members):
            if isinstance(content, tarfile.TarInfo):
                file.addfile(content)
                continue
            data = content.encode() if isinstance(content, str) else content
            info = tarfile.TarInfo(name)
            info.size = len(data)
            file.addfile(info, BytesIO(data))
    return out.getvalue()


def html_page(text, encoding="utf-8", title="", declared=None):
    """A page with a paragraph for each line."""
    body = "\n".join(f"<p>{html.escape(line)}</p>" for line in text.split("\n"))
    page = (
        f'<!DOCTYPE html>\n<html><head><meta charset="{declared or encoding}">'
        f"<title>{html.escape(title)}</title><style>p {{ color: red }}</style></head>"
        f"<body>\n<script>if (a < b) {{ document.write('<p>unseen') }}</script>\n{body}\n</body></html>"
    )
    return page.encode(encoding, "xmlcharrefreplace")


def docx(text):
    import docx as library

    document = library.Document()
    document.sections[0].header.paragraphs[0].text = "a running header"
    for line in text.split("\n"):
        document.add_paragraph(line)
    return saved(document.save)


def office(main, relations, members):
    """An Office file by hand: its main part, the relationships of that, and its members by name."""
    folder, name = main.split("/")
    listed = "".join(
        f'<Relationship Id="r{key}" Type="{OFFICE}/{kind}" Target="{target}"/>'
        for key, (kind, target) in relations.items()
    )
    first = f'<Relationship Id="r1" Type="{OFFICE}/officeDocument" Target="{main}"/>'
    files = {
        "[Content_Types].xml": "<Types/>",
        "_rels/.rels": f'<Relationships xmlns="{RELATIONS}">{first}</Relationships>',
        f"{folder}/_rels/{name}.rels": f"<Relationships>{listed}</Relationships>",
    }
    return zipped(files | {f"{folder}/{name}": content for name, content in members.items()})


def docx_of(body, **parts):
    """A DOCX by hand: the XML of its body, and of other parts by their relation.

    A part that is no string is a name and contents, and lies beside the document as it is.
    """
    files = {name: parts.pop(name) for name, part in [*parts.items()] if not isinstance(part, str)}
    relations = {name: (name, f"{name}.xml") for name in parts}
    relations |= {name: (name, target) for name, (target, _) in files.items()}
    members = {
        f"{name}.xml": f'<w:{name} xmlns:w="{WORD}">{c}</w:{name}>' for name, c in parts.items()
    }
    space = f'xmlns:w="{WORD}" xmlns:mc="mc" xmlns:r="r"'
    members["document.xml"] = f"<w:document {space}><w:body>{body}</w:body></w:document>"
    return office("word/document.xml", relations, members | dict(files.values()))


def odt(text):
    from odf.opendocument import OpenDocumentText
    from odf.teletype import addTextToElement
    from odf.text import P

    document = OpenDocumentText()
    for line in text.split("\n"):
        paragraph = P()
        addTextToElement(paragraph, line)
        document.text.addElement(paragraph)
    return saved(document.write)


def odf_of(body, kind="text", **members):
    """An OpenDocument file by hand: the XML within office:body."""
    content = (
        '<office:document-content xmlns:office="o" xmlns:text="t" xmlns:table="b" xmlns:draw="d"'
        f' xmlns:svg="s" xmlns:dc="dc" xmlns:form="f" xmlns:style="y" xmlns:xlink="x"><office:body>{body}</office:body></office:document-content>'
    )
    first = f"application/vnd.oasis.opendocument.{kind}"
    return zipped({"content.xml": content, **members}, first)


def epub(chapters, media="application/xhtml+xml", **members):
    """A book by hand, whose files are not stored in reading order."""
    manifest = "".join(
        f'<item id="c{n}" href="text/ch%20{n}.xhtml" media-type="{media}"/>'
        for n in range(len(chapters))
    )
    spine = "".join(f'<itemref idref="c{n}"/>' for n in range(len(chapters)))
    pages = {
        f"OEBPS/text/ch {n}.xhtml": '<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE html PUBLIC '
        '"-//W3C//DTD XHTML 1.1//EN" "http://www.w3.org/TR/xhtml11/DTD/xhtml11.dtd">'
        '<html xmlns="http://www.w3.org/1999/xhtml"><head><title>same title</title>'
        f'<script src="a.js"/></head><body>{chapter}</body></html>'
        for n, chapter in reversed(list(enumerate(chapters)))
    }
    return zipped(
        {
            **pages,
            "META-INF/container.xml": '<container><rootfiles><rootfile full-path="OEBPS/book.opf"/>'
            "</rootfiles></container>",
            "OEBPS/book.opf": f"<package><manifest>{manifest}</manifest><spine>{spine}</spine></package>",
            **members,
        },
        "application/epub+zip",
    )


def ebooklib_epub(text):
    from ebooklib import epub as library

    book = library.EpubBook()
    book.set_title("a title")
    chapter = library.EpubHtml(title="chapter", file_name="one.xhtml")
    chapter.content = "".join(f"<p>{html.escape(line)}</p>" for line in text.split("\n") if line)
    book.add_item(chapter)
    book.add_item(library.EpubNcx())
    book.spine = [chapter]
    return saved(lambda out: library.write_epub(out, book))


def pptx(text):
    from pptx import Presentation
    from pptx.util import Inches

    show = Presentation()
    for block in text.split("\n\n"):
        slide = show.slides.add_slide(show.slide_layouts[6])
        frame = slide.shapes.add_textbox(Inches(1), Inches(1), Inches(8), Inches(5)).text_frame
        frame.text = block
    return saved(show.save)


def xlsx(text):
    from openpyxl import Workbook

    book = Workbook()
    for line in text.split("\n"):
        book.active.append(["'" + line if line.startswith("=") else line])
    return saved(book.save)


def xlsx_of(cells, shared="", styles=""):
    """A workbook by hand: the XML of its rows, of the strings that cells refer to, and of styles."""
    rows = "".join(f"<row>{row}</row>" for row in cells)
    relations = {
        0: ("worksheet", "/xl/worksheets/a.xml"),
        1: ("sharedStrings", "sharedStrings.xml"),
    }
    sheet = '<sheet name="a" sheetId="7" r:id="r0"/>'
    members = {
        "workbook.xml": f'<workbook xmlns:r="r"><sheets>{sheet}</sheets></workbook>',
        "sharedStrings.xml": f"<sst>{shared}</sst>",
        "worksheets/a.xml": f"<worksheet><sheetData>{rows}</sheetData></worksheet>",
    }
    if styles:
        relations[2], members["styles.xml"] = ("styles", "styles.xml"), styles
    return office("xl/workbook.xml", relations, members)


def flat_opc(data):
    """A document of Office in one file of XML, with the members of this one."""
    import base64

    parts = ""
    with zipfile.ZipFile(BytesIO(data)) as package:
        for name in package.namelist():
            content = package.read(name)
            if name.endswith((".xml", ".rels")):
                xml = re.sub(r"<\?xml[^>]*>", "", content.decode())
                inner = f"<pkg:xmlData>{xml}</pkg:xmlData>"
            else:
                coded = base64.encodebytes(content).decode()
                inner = f"<pkg:binaryData>{coded}</pkg:binaryData>"
            parts += f'<pkg:part pkg:name="/{name}" pkg:contentType="a">{inner}</pkg:part>'
    return (
        '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n<?mso-application progid="a"?>\n'
        f'<pkg:package xmlns:pkg="http://schemas.microsoft.com/office/2006/xmlPackage">{parts}'
        "</pkg:package>"
    ).encode()


def flat_odf(body, kind="text", **parts):
    """A flat OpenDocument file: the XML within office:body, and other parts by their element."""
    others = "".join(
        f"<office:{name.replace('_', '-')}>{content}</office:{name.replace('_', '-')}>"
        for name, content in parts.items()
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<!-- a -->\n<office:document xmlns:office="o" '
        'xmlns:text="t" xmlns:draw="d" xmlns:table="b" office:version="1.3" '
        f'office:mimetype="application/vnd.oasis.opendocument.{kind}">{others}'
        f"<office:body>{body}</office:body></office:document>"
    ).encode()


def rtf(text, codepage=936):
    """RTF as WordPad writes it: bytes of a code page, \\u for what it lacks."""
    lines = ("".join(_rtf_character(c, codepage) for c in line) for line in text.split("\n"))
    return (
        rf"{{\rtf1\ansi\ansicpg{codepage}\deff0{{\fonttbl{{\f0\fnil\fcharset134 \'cb\'ce\'cc\'e5;}}}}"
        r"{\colortbl;\red0\green0\blue0;}{\*\generator unseen;}\uc1\f0\fs24 "
        + "\\par\r\n".join(lines)
        + "}"
    ).encode("ascii")


def _rtf_character(c, codepage):
    if c in "\\{}":
        return "\\" + c
    if c.isascii():
        return c
    try:
        return "".join(f"\\'{byte:02x}" for byte in c.encode(f"cp{codepage}"))
    except UnicodeEncodeError:
        units = c.encode("utf-16-le")
        return "".join(
            f"\\u{int.from_bytes(units[i : i + 2], 'little', signed=True)}?"
            for i in range(0, len(units), 2)
        )


def eml(text, subject="", charset="utf-8"):
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = "a@example.org", "b@example.org", subject
    mail.set_content(text, charset=charset)
    mail.add_alternative("<p>the same, shown otherwise</p>", subtype="html")
    mail.add_attachment(b"unseen", maintype="text", subtype="plain", filename="notes.txt")
    return mail.as_bytes()


def mbox(text):
    """A mailbox with a mail for each block of text."""
    mails = (
        f"From a@b Mon Jan  1 10:0{n % 10}:00 2024\n".encode() + eml(block).replace(b"\r\n", b"\n")
        for n, block in enumerate(text.split("\n\n"))
    )
    return b"\n\n".join(mails)


def drawn(draw, font=None, **options):
    """A PDF that `draw(canvas)` draws, beginning with this font."""
    from reportlab.pdfgen.canvas import Canvas

    out = BytesIO()
    canvas = Canvas(out, **{"pagesize": (400, 600)} | options)
    if font:
        canvas.setFont(font, 11)
    draw(canvas)
    canvas.showPage()
    canvas.save()
    return out.getvalue()


def pdf(pages, header=None, footer=None, **options):
    """A PDF whose pages have these lines, and a header and footer with {} for the page."""

    def draw(canvas):
        for number, lines in enumerate(pages, 1):
            if number > 1:
                canvas.showPage()
            if header:
                canvas.drawString(40, 570, header.format(number))
            for row, line in enumerate(lines):
                canvas.drawString(40, 520 - 14 * row, line)
            if footer:
                canvas.drawString(190, 25, footer.format(number))

    return drawn(draw, **options)


def pdf_form(value):
    """A PDF with a field and a note of this value, and a box that is ticked."""

    def draw(canvas):
        canvas.drawString(40, 500, "A form")
        canvas.acroForm.textfield(name="field", value=value, x=40, y=300)
        canvas.acroForm.checkbox(name="box", checked=True, x=40, y=350)
        canvas.freeTextAnnotation(value, "/Helv 9 Tf", Rect=[40, 300, 200, 320])

    return drawn(draw, invariant=True)


def pdf_with_parts(text):
    """A PDF with a bookmark, a link, fields, a note and a drawing beside its text."""

    def draw(canvas):
        canvas.setAuthor("Ada")
        canvas.bookmarkPage("first")
        canvas.addOutlineEntry("The first chapter", "first")
        for row, line in enumerate(text.split("\n")):
            canvas.drawString(40, 500 - 14 * row, line)
        canvas.linkURL("http://a.org/place", (40, 40, 90, 60))
        canvas.textAnnotation("a note", (10, 10, 20, 20))
        canvas.acroForm.textfield(name="field", value="filled in", x=40, y=300, width=200)
        canvas.acroForm.checkbox(name="box", checked=True, x=40, y=350)
        canvas.rect(40, 400, 50, 20)

    return drawn(draw, pageCompression=0)


def many_pages(count):
    """A small file whose page tree names one page many times."""
    kids = "3 0 R " * count
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Count {count} /Kids [{kids}] >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] >>",
    ]
    body, offsets = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        offsets.append(len(body))
        body += f"{number} 0 obj\n{content}\nendobj\n".encode()
    table = "".join(f"{offset:010d} 00000 n \n" for offset in offsets)
    return (
        body
        + f"xref\n0 4\n0000000000 65535 f \n{table}trailer << /Size 4 /Root 1 0 R >>\nstartxref\n{len(body)}\n%%EOF".encode()
    )


@cache
def boxes():
    """The name of a font for PDF, embedded: the same square for every character of ORIGINALS."""
    from fontTools.pens.ttGlyphPen import TTGlyphPen

    pen = TTGlyphPen(None)
    pen.moveTo((100, 0))
    for corner in ((100, 800), (900, 800), (900, 0)):
        pen.lineTo(corner)
    pen.closePath()
    return embedded("boxes", pen.glyph())


@cache
def invisible():
    """The name of a font for PDF, embedded, without outlines, as programs that scan paper use."""
    from fontTools.pens.ttGlyphPen import TTGlyphPen

    return embedded("invisible", TTGlyphPen(None).glyph())


def embedded(name, outline):
    """The name of a font for PDF that draws every character of ORIGINALS in one way."""
    from fontTools.fontBuilder import FontBuilder
    from reportlab.pdfbase import ttfonts
    from reportlab.pdfbase.pdfmetrics import registerFont

    ttfonts.makeToUnicodeCMap = partial(map_of_characters, ttfonts.makeToUnicodeCMap)
    characters = sorted(set(string.printable).union(*ORIGINALS.values()))
    glyphs = [".notdef", *(f"u{ord(each):04X}" for each in characters)]
    font = FontBuilder(1000, isTTF=True)
    font.setupGlyphOrder(glyphs)
    font.setupCharacterMap(dict(zip(map(ord, characters), glyphs[1:], strict=True)))
    font.setupGlyf(dict.fromkeys(glyphs, outline))
    font.setupHorizontalMetrics(dict.fromkeys(glyphs, (1000, 100)))
    font.setupHorizontalHeader(ascent=800, descent=-200)
    font.setupNameTable({"familyName": name, "styleName": "Regular"})
    font.setupOS2()
    font.setupPost()
    registerFont(ttfonts.TTFont(name, BytesIO(saved(font.save))))
    return name


def map_of_characters(made, font, subset):
    """The map of a font's glyphs to characters; reportlab forgets that some take two units."""
    found = made(font, subset)
    for code in {each for each in subset if each > 0xFFFF}:
        found = found.replace(f"<{code:04X}>", f"<{chr(code).encode('utf-16-be').hex()}>")
    return found


@cache
def only_named(*, is_vertical=False):
    """The name of a Chinese font for PDF that is not embedded: a machine may have none for it."""
    from reportlab.pdfbase.cidfonts import UnicodeCIDFont
    from reportlab.pdfbase.pdfmetrics import registerFont

    font = UnicodeCIDFont("STSong-Light", isVertical=is_vertical)
    font.name = font.fontName = "vertical" if is_vertical else "horizontal"
    registerFont(font)
    return font.name


def printed(text, chinese=boxes):
    """A PDF of a text as word processors print it: wrapped, with hyphens, on numbered pages.

    Each text has at least two pages, so that their header is known as one.
    What Helvetica lacks is in the font that `chinese` names.
    """
    font = "Helvetica" if text.encode("cp1252", "ignore").decode("cp1252") == text else chinese()
    lines = [part for line in text.split("\n") for part in wrapped(line)]

    def draw(canvas):
        for page, first in enumerate(range(0, len(lines), ROWS), 1):
            if page > 1:
                canvas.showPage()
            canvas.setFont(font, 11)
            canvas.drawString(60, 800, "A running header")
            for row, line in enumerate(lines[first : first + ROWS]):
                canvas.drawString(60, 760 - 22 * row, line)
            canvas.drawString(290, 30, f"- {page} -")

    return drawn(draw, pagesize=(595, 842))


# What a line does not end within: a word, or a single character of Chinese.
PIECE = re.compile("[a-z]+-(?=[a-z])|[^\\s\u2e80-\U000fffff]+\\s*|[\u2e80-\U000fffff]|\\s+")
COLUMNS, ROWS = 56, 15
# The parts of a long word between which a hyphen stands at the end of a line.
PARTED = re.compile("([a-z]{3,5})([a-z]{3,}\\W*)")


def wrapped(line):
    """A paragraph in lines of COLUMNS, of which a Chinese character takes two."""
    lines, left = [""], COLUMNS
    for piece in PIECE.findall(line):
        size = sum(1 + (character >= "\u2e80") for character in piece.rstrip())
        if size > left > 6 and (parted := PARTED.fullmatch(piece)):
            lines[-1] += f"{parted[1]}-"
            lines.append(parted[2])
            left = COLUMNS - len(parted[2])
            continue
        if size > left and lines[-1]:
            lines.append("")
            left = COLUMNS
        lines[-1] += piece
        left -= size + len(piece) - len(piece.rstrip())
    return lines


def originals():
    """The texts of our own that the labelled pairs are made of, by name."""
    pairs = Path(__file__).parent.parent / "fixtures" / "pairs"
    with (pairs / "documents.csv").open(encoding="utf-8") as table:
        rows = [row for row in csv.DictReader(table) if row["path"].startswith("originals/")]
    return {
        Path(row["path"]).stem: (pairs / row["path"]).read_text(row["encoding"]).lstrip("\ufeff")
        for row in rows
    }


ORIGINALS = originals()


def _times(index, mark=","):
    """When the line of this number is shown, for subtitles."""
    begin, end = 2.5 * index, 2.5 * index + 2.25
    return [
        f"{int(at // 3600):02}:{int(at // 60) % 60:02}:{at % 60:06.3f}".replace(".", mark)
        for at in (begin, end)
    ]


def _lines(text):
    return [line.strip() for line in text.split("\n") if line.strip()]


def srt(text, encoding="utf-8"):
    """Subtitles with a cue for each line, every third one in italics."""
    return "\n".join(
        f"{number}\n{' --> '.join(_times(number))}\n"
        + (f"<i>{line}</i>\n" if number % 3 == 0 else f"{line}\n")
        for number, line in enumerate(_lines(text), 1)
    ).encode(encoding)


def vtt(text):
    cues = "\n\n".join(
        f"cue-{number}\n{' --> '.join(_times(number, '.'))} align:start line:80%\n"
        f"<v Ann>{html.escape(line, quote=False)}</v>"
        for number, line in enumerate(_lines(text), 1)
    )
    return f"WEBVTT - unseen\n\nNOTE unseen\n\nSTYLE\n::cue {{ color: red }}\n\n{cues}\n".encode()


def ass(text):
    head = (
        "[Script Info]\nTitle: unseen\n\n[V4+ Styles]\nFormat: Name, Fontname\nStyle: Default,Arial\n\n"
        "[Events]\nFormat: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text\n"
        "Comment: 0,0:00:00.00,0:00:01.00,Default,,0,0,0,,unseen\n"
    )
    events = (
        f"Dialogue: 0,{','.join(at[1:-1] for at in _times(number, '.'))},Default,,0,0,0,,{{\\i1}}{line}{{\\i0}}\n"
        for number, line in enumerate(_lines(text), 1)
    )
    return (head + "".join(events)).encode("utf-8-sig")


def markdown(text):
    front = 'title: "unseen: a title"\ndate: 2024-05-06\ntags:\n  - unseen\nothers:\n- also'
    return f"---\n{front}\n---\n\n{text}".encode()


def notebook(text):
    """A notebook with a cell for each block of text."""
    code = {"cell_type": "code", "metadata": {}, "execution_count": None}
    output = {"output_type": "stream", "name": "stdout", "text": ["unseen\n"]}
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": block.splitlines(keepends=True)}
        for block in text.split("\n\n")
    ]
    cells[::2] = [
        {**code, "source": "".join(each["source"]), "outputs": [output]} for each in cells[::2]
    ]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}).encode()


_IN_TEX = {c: f"\\{c}" for c in "&%$#_{}"} | {
    "\\": "\\textbackslash{}",
    "~": "\\textasciitilde{}",
    "^": "\\^{}",
    "é": "\\'e",
    "ü": '\\"{u}',
    "“": "``",
    "”": "''",
    "—": "---",
    "–": "--",
}


def tex(text):
    body = "".join(_IN_TEX.get(c, c) for c in text)
    head = (
        "% unseen\n\\documentclass[12pt]{article}\n\\usepackage[utf8]{inputenc}\n"
        "\\newcommand{\\unseen}[1]{unseen #1}\n\\begin{document}\n\\label{unseen} % unseen\n"
    )
    return f"{head}{body}\n\\end{{document}}\nunseen\n".encode()


def man(text):
    lines = (line.replace("\\", "\\e").replace("-", "\\-") for line in text.split("\n"))
    shown = "\n".join(f"\\&{line}" if line[:1] in {".", "'"} else line for line in lines)
    head = '.\\" unseen\n.de unseen\nunseen\n..\n.TH UNSEEN 1 "unseen"\n.SH "'
    first, _, rest = shown.partition("\n")
    return f'{head}{first.replace(chr(34), chr(34) * 2)}"\n{rest}\n'.encode()


def site_page(text, title="", number=1):
    """A page of a site: the same navigation, search box and footer around every text."""
    links = "".join(
        f'<li><a href="{n}.html">Unseen chapter {n} of the handbook</a></li>' for n in range(60)
    )
    body = "\n".join(f"<p>{html.escape(line)}</p>" for line in text.split("\n"))
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title></head><body>
<a href="#main">Unseen: skip to the text</a>
<header><a href="/">Unseen Handbook</a><nav><ul>{links[:2000]}</ul></nav>
<form action="/search"><label>Unseen: search</label><button>Search</button></form></header>
<div class="columns"><div role="navigation"><div><ul>{links}</ul></div></div>
<main id="main"><nav aria-label="breadcrumbs">Unseen &gt; page {number}</nav>
<article><header><h1>{html.escape(title)}</h1></header>
{body}
</article><nav><a href="{number + 1}.html">Unseen: next</a></nav></main>
<aside><h2>Unseen news</h2><ul>{links[:1000]}</ul></aside></div>
<footer>Unseen: all rights reserved by the makers of the handbook. Imprint. Cookies.</footer>
</body></html>""".encode()
