"""The text of PDF files."""

from __future__ import annotations

import re
import zlib

import makers
import pytest

from simdup.extract.cleanup import Mangled, NotReadable, unread_of

text = pytest.importorskip("simdup.extract.pdf", reason="needs the extra 'docs'").text

# Helvetica's own encoding will do: what is tested is the lines.
BODY = [
    [f"Line {row} of page {page} says something about topic {page * 7 + row}" for row in range(20)]
    for page in range(1, 7)
]


def plain(pages):
    return " ".join(line for page in pages for line in page)


def words(found):
    return " ".join(found.split())


@pytest.mark.parametrize("count", [2, 3, 6])
@pytest.mark.parametrize(
    ("header", "footer"),
    [
        ("The Larder Press", None),
        (None, "{}"),
        (None, "- {} -"),
        ("Chapter 3: Tea    page {} of 6", "Confidential"),
        ("{}", "{}"),
    ],
)
def test_running_lines_are_left_out(count, header, footer):
    assert words(text(makers.pdf(BODY[:count], header, footer))) == plain(BODY[:count])


def test_lines_on_one_page_stay():
    assert (
        words(text(makers.pdf(BODY[:1], "Title of it", "- {} -")))
        == f"Title of it {plain(BODY[:1])} - 1 -"
    )


def test_rows_of_a_table_stay_though_they_differ_in_numbers_alone():
    pages = [
        [f"Item {40 * page + row} at {7 * row} each" for row in range(30)] for page in range(8)
    ]

    assert words(text(makers.pdf(pages, "List", "{}"))) == plain(pages)


def test_running_lines_are_found_beside_characters_of_two_units():
    lines = [f"𠅤{row}" for row in "abcdefghijkl"]
    pages = ["\n".join(lines[begin : begin + 6] * 3) for begin in (0, 6)]

    assert text(makers.printed("\n".join(pages), makers.boxes)).split("\n") == [
        line for page in pages for line in page.split("\n")
    ]


def test_headers_of_left_and_right_pages():
    pages = [["Left" if number % 2 else "Right", *lines] for number, lines in enumerate(BODY)]

    assert words(text(makers.pdf(pages))) == plain(BODY)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"header": "Lease of Mr Smith"}, {"header": "Lease of Mrs Jones"}),
        ({"footer": "Draft {}"}, {"footer": "Signed {}"}),
        ({"header": "Total: 4,700"}, {}),
    ],
)
def test_running_lines_are_content_that_is_not_read(one, other):
    (words, headers), (same, others) = (
        (str(found), [each for each in unread_of(found) if each.kind == "headers and footers"])
        for found in (text(makers.pdf(BODY, **lines)) for lines in (one, other))
    )

    assert words == same
    assert headers != others


def test_page_numbers_are_the_same_running_lines_on_any_number_of_pages():
    counts = [
        [
            each
            for each in unread_of(text(makers.pdf(pages, "Lease", "- {} -")))
            if "head" in each.kind
        ]
        for pages in (BODY, BODY[:3])
    ]

    assert counts[0] == counts[1] != []


@pytest.mark.parametrize(
    "pages",
    [
        [[f"A label for the seedlings. Box {number}"] for number in (1, 2, 3)],
        [["The same ticket for everybody"]] * 4,
        [[f"Results of the whole society, part {page}", "Tea"[:page]] for page in range(1, 8)],
    ],
)
def test_pages_that_are_nearly_alike_keep_their_text(pages):
    (top,) = {lines[0][:9] for lines in pages}

    assert str(text(makers.pdf(pages))).count(top) == len(pages)


def test_links_and_pictures_that_change_places_are_other_content():
    from PIL import Image

    def draw(names, shades):
        def on(canvas):
            canvas.drawString(40, 300, "Approve or reject")
            for at, name, shade in zip((50, 90), names, shades, strict=True):
                canvas.linkURL(f"https://example.org/{name}", (at, 40, at + 20, 60))
                canvas.drawInlineImage(Image.new("L", (4, 6), shade), at, 100, 20, 20)

        return {each.kind: each for each in unread_of(text(makers.drawn(on, invariant=True)))}

    first = draw(("yes", "no"), (10, 200))

    assert first == draw(("yes", "no"), (10, 200))
    assert first["links"] != draw(("no", "yes"), (10, 200))["links"]
    assert first["pictures"] != draw(("yes", "no"), (200, 10))["pictures"]


def test_lines_in_the_middle_of_pages_stay_however_often_they_come():
    pages = [lines[:10] + ["the same"] + lines[10:] for lines in BODY]

    assert words(text(makers.pdf(pages))) == plain(pages)


@pytest.mark.parametrize(
    ("header", "first"),
    [("Raffle ticket no. {}", 501), ("{}", 7), ("Invoice {} of May", 1001), ("No. {}", 200_501)],
)
@pytest.mark.parametrize("count", [2, 6])
def test_serial_numbers_are_no_page_numbers(header, first, count):
    pages = [[header.format(first + page), *lines] for page, lines in enumerate(BODY[:count])]

    assert words(text(makers.pdf(pages))) == plain(pages)


def test_numbers_that_begin_on_a_later_page_are_page_numbers():
    pages = [BODY[0], *([f"- {page} -", *lines] for page, lines in enumerate(BODY[1:], 1))]

    assert words(text(makers.pdf(pages))) == plain(BODY)


def test_numbers_are_page_numbers_if_the_file_labels_its_pages_so():
    def draw(canvas):
        canvas.addPageLabel(0, "ARABIC", 133)
        for number in (133, 134, 135):
            canvas.drawString(40, 570, f"Annals of Tea {number}")
            canvas.drawString(40, 300, f"{number} cups")
            if number < 135:
                canvas.showPage()

    assert text(makers.drawn(draw)) == "133 cups\n134 cups\n135 cups"


def filled_in(canvas):
    form, place = canvas.acroForm, {"x": 40, "y": 400}
    form.textfield(name="name", value="Ada Miller", **place)
    form.textfield(name="why", value="beans\rand bees", fieldFlags="multiline", **place)
    form.textfield(name="secret", value="unseen", fieldFlags="password", **place)
    form.textfield(name="hidden", value="unseen", annotationFlags="hidden", **place)
    form.choice(name="choice", value="b", options=[("Tea", "a"), ("Milk", "b")], **place)
    form.checkbox(name="yes", checked=True, **place)
    form.checkbox(name="no", checked=False, **place)
    form.radio(name="plot", value="north", selected=True, **place)
    form.radio(name="plot", value="south", selected=False, **place)


def noted(canvas):
    canvas.freeTextAnnotation("Ask Ben\rabout the café", "/Helv 9 Tf", Rect=[40, 300, 200, 320])
    canvas.textAnnotation("unseen", Rect=[40, 340, 60, 360])


@pytest.mark.parametrize(
    ("draw", "expected"),
    [
        (filled_in, ["Ada Miller", "beans", "and bees", "Milk", "Yes", "north"]),
        (noted, ["Ask Ben", "about the café"]),
    ],
)
def test_forms_that_are_filled_in_and_notes_are_read(draw, expected):
    found = text(makers.drawn(draw))

    assert found.split("\n") == expected


@pytest.mark.parametrize("form", [b"/AcroForm", b"/Fields"])
def test_a_field_is_read_though_no_form_knows_it(form):
    whole = makers.drawn(lambda canvas: canvas.acroForm.textfield(name="a", value="Ben", x=9, y=9))

    assert text(whole.replace(form, form[:-1] + b"x")) == "Ben"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["a note on stir-", "ring tea"], "a note on stirring tea"),
        (["the brothers-in-", "law of a by-", "stander"], "the brothers-in-law of a bystander"),
        (
            ["it is well-known here", "and well-", "known there"],
            "it is well-known here\nand well-known there",
        ),
    ],
)
def test_words_parted_by_a_line_end_are_joined(lines, expected):
    assert words(text(makers.pdf([lines]))) == words(expected)


def test_words_parted_by_a_page_end_are_joined():
    pages = [[*BODY[0], "and so the last word is sepa-"], ["rated from itself", *BODY[1]]]

    assert "is separated from itself" in words(text(makers.pdf(pages, "Header", "{}")))


LINES = ["镇上的人过河改坐面包车，两块钱。", "a b", "不用等谁谁 by night", "桥一座……"]


def drawn(draw, font="Helvetica", text=LINES):
    """A PDF with a page that `draw(canvas, lines)` draws in a font."""
    return makers.drawn(lambda canvas: draw(canvas, text), font)


def lines_whole(canvas, lines):
    for row, line in enumerate(lines):
        canvas.drawString(40, 500 - 20 * row, line)


def in_parts(canvas, lines, parts="."):
    """Each part of a line is a text of its own; most programs that print Chinese do this."""
    for row, line in enumerate(lines):
        for part in re.finditer(parts, line):
            before = canvas.stringWidth(line[: part.start()])
            canvas.drawString(40 + before, 500 - 20 * row, part.group())


def in_scripts(canvas, lines):
    in_parts(canvas, lines, "[ -~]+|[^ -~]+")


def with_a_pen_of_no_width(canvas, lines):
    canvas.setLineWidth(0)
    in_parts(canvas, lines)


def turned(canvas, lines):
    canvas.rotate(90)
    canvas.translate(0, -500)
    lines_whole(canvas, lines)


def scaled(canvas, lines):
    canvas.scale(40, 40)
    canvas.translate(0, -9)
    canvas.setFont(canvas._fontname, 0.3)  # noqa: SLF001
    for row, line in enumerate(lines):
        canvas.drawString(1, 20 - row, line[:1])
        canvas.drawString(1 + canvas.stringWidth(line[:1]), 20 - row, line[1:])


def in_a_form(canvas, lines):
    font = canvas._fontname  # noqa: SLF001
    canvas.beginForm("inner")
    canvas.setFont(font, 11)
    in_parts(canvas, lines)
    canvas.endForm()
    canvas.beginForm("outer")
    canvas.doForm("inner")
    canvas.endForm()
    canvas.doForm("outer")


@pytest.mark.parametrize("font", [makers.boxes, makers.invisible, makers.only_named])
@pytest.mark.parametrize(
    "draw", [lines_whole, in_parts, in_scripts, with_a_pen_of_no_width, turned, scaled, in_a_form]
)
def test_text_is_found_whatever_its_font_draws_and_wherever_that_is(draw, font):
    assert text(drawn(draw, font())).split("\n") == LINES


def test_a_column_of_a_font_that_is_only_named_is_found():
    data = drawn(lines_whole, makers.only_named(is_vertical=True), LINES[:1])

    assert text(data) == LINES[0]


@pytest.mark.parametrize("name", makers.ORIGINALS)
def test_a_text_printed_in_a_font_that_is_only_named_is_its_source(name):
    source = makers.ORIGINALS[name].encode("gbk", "ignore").decode("gbk")

    found = text(makers.printed(source, makers.only_named))

    assert found.split() == source.split() or name.startswith("zh")
    assert "".join(found.split()) == "".join(source.split())


def refused(data):
    with pytest.raises(NotReadable) as caught:
        text(data)
    return caught.value.reason


@pytest.mark.parametrize("is_packed", [False, True])
@pytest.mark.parametrize(
    ("ranges", "is_lost"),
    [
        (b"<19ff><1a00><63cf>\n<1c00><1c00><4eca>", True),
        (b"<1c00> <1c0f> <4eca>\n<20f0> <2110> [<63cf> <63d0>]", True),
        (b"<0000><ffff><0000>", False),
        (b"<1c00><1cff><4eca>", False),
        (b"<00><ff><4e00>", False),
    ],
)
def test_a_font_whose_map_pdfium_loses_is_doubtful(ranges, is_lost, is_packed):
    lines = b"/CIDInit begincmap\n1 beginbfrange\n%b\nendbfrange\nendcmap" % ranges
    stream = b"stream\n%b\nendstream\n" % (zlib.compress(lines) if is_packed else lines)
    whole = makers.pdf([["one line of text"]])

    found = text(whole.replace(b"xref\n", b"9 0 obj\n" + stream + b"endobj\nxref\n", 1))

    assert found == "one line of text"
    assert isinstance(found, Mangled) is is_lost


def test_no_text():
    assert refused(makers.pdf([[], []])) == "no text on its pages"


@pytest.mark.parametrize("line", ["", "Scanned by SomeScanner"])
def test_a_scanned_page_without_text(line):
    from PIL import Image

    def draw(canvas):
        canvas.drawString(40, 570, line)
        canvas.drawInlineImage(Image.new("L", (40, 60), 100), 0, 0, 400, 600)
        canvas.showPage()
        canvas.drawString(40, 570, line)
        canvas.drawInlineImage(Image.new("L", (40, 60), 200), 0, 0, 400, 600)

    assert refused(makers.drawn(draw)) == "no text on its pages"


def test_more_text_than_a_text_may_have(monkeypatch):
    monkeypatch.setattr("simdup.extract.cleanup.LONGEST_TEXT", 1000)

    assert refused(makers.pdf(BODY)) == "more than 1,000 characters of text"


def test_locked_against_printing_only_is_read():
    from reportlab.lib.pdfencrypt import StandardEncryption

    lock = StandardEncryption("", "owner", canPrint=0, canCopy=0)

    assert text(makers.pdf([["no secret"]], encrypt=lock)) == "no secret"


@pytest.mark.parametrize("data", [b"", b"%PDF-1.7\n", b"%PDF-1.7\n" + bytes(1000), b"hello"])
def test_damaged(data):
    assert refused(data) == "damaged PDF"


def test_cut_off_anywhere_is_read_or_refused():
    data = makers.pdf(BODY)
    for n in range(0, len(data), 97):
        try:
            text(data[:n])
        except NotReadable as trouble:
            assert trouble.reason in {
                "damaged PDF",
                "no text on its pages",
                "damaged PDF: no page can be read",
            }


def test_pages_that_are_one_page():
    assert refused(makers.many_pages(3_000)) == "no text on its pages"
