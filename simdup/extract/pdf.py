"""The text of a PDF, as close as possible to the text of the document it was made from.

PDFium gives the lines of each page. Lines that recur at the edges of pages are left out:
running headers, footers, page numbers. Words hyphenated at the end of a line are joined, and
lines of Chinese are joined without a space.

PDFium is C++ and cannot be trusted with hostile files: `sandbox` runs it in a process of its
own. The package pypdfium2 is an extra.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from ctypes import POINTER, c_float, c_ushort, cast, create_string_buffer
from dataclasses import dataclass
from itertools import islice
from logging import ERROR, getLogger
from math import hypot
from typing import Any, TypeAlias

from pypdfium2 import PdfDocument, PdfiumError, raw

from simdup.extract import cleanup
from simdup.text.noise import ONE_IN, is_mangled

# A document, page, note or object of PDFium; pypdfium2 has no types.
_Handle: TypeAlias = Any

# The longest real document, R's manual, has 3,500. Even an empty page costs 2 ms or more.
MOST_PAGES = 10_000

# Running lines are the first or last EDGE_LINES of a page, within EDGE of its height (TeX
# sets them within 12 %), and recur on REPEATED pages, or on two where there are only a FEW. One
# number in them may grow with the pages; if all could differ, rows of tables would go too. It is
# the label of the page or its number, or a smaller one where the first pages have none: others are
# serial numbers, of tickets and invoices.
EDGE_LINES, EDGE, REPEATED, FEW = 2, 0.2, 3, 5
_NUMBER = re.compile(r"(?<!\d)\d{1,5}(?!\d)")
# If less of the text than this were left, the running lines are kept too.
LEAST_KEPT = 0.25
# A picture that covers more of its page than this is a scan of it.
SCANNED, _SCANS = 0.5, "scanned pages"
# Numbers of a line that may be its page number: "Chapter 3, page 12 of 40".
MOST_NUMBERS = 6
# The heights of characters in one line differ by less than this, in points.
_LEVEL = 3

# PDFium leaves out text whose box is narrower than this, in points.
_NARROWEST = 0.01
# Forms may contain forms; `_give_boxes` looks no deeper than this.
_MOST_LEVELS = 15

# Bits of a note that is hidden, or not shown on screens; and of a field for a password.
_HIDDEN_NOTE, _PASSWORD_FIELD = 1 << 1 | 1 << 5, 1 << 13
# Of the options of a list, only the first ones are looked at.
_MOST_OPTIONS = 1000

# Of each page, up to this number of characters are checked for a map.
SAMPLED = 100

# A font's map of characters, its blocks of ranges, and how much of a stream is looked at.
_STREAM, _MAP = re.compile(rb"stream\r?\n"), b"begincmap"
_RANGES = re.compile(rb"beginbfrange(.{0,20000}?)endbfrange", re.DOTALL)
_RANGE = re.compile(rb"<([0-9a-fA-F]{1,8})>\s*<([0-9a-fA-F]{1,8})>\s*(?:<[^>]*>|\[[^\]]*\])")
_HEAD, _LONGEST_MAP = 1 << 10, 1 << 20

# PDFium's sign for a hyphen that parts a word. It joins the text after it: the rest of the
# word, or at the end of a page the footer. A hyphen that nothing follows stays a hyphen.
_PARTING = "\ufffe"
_LINE = re.compile(rf"[^\r\n{_PARTING}]+{_PARTING}?")
_PARTED = re.compile(rf"(?<![^\W\d_])([^\W\d_]+)(?:{_PARTING}|[-\u2010]\n)([^\W\d_]+)")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")

_PASSWORD, _SECURITY = 4, 5  # PDFium's FPDF_ERR_PASSWORD and FPDF_ERR_SECURITY


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of a page.

    keys: Running lines that belong together share a key; a line off the edges has none.
    """

    text: str
    keys: frozenset[str] = frozenset()


def text(data: bytes) -> str:
    """The text of a PDF, `Mangled` if its fonts do not say which characters it has.

    Raises NotReadable.
    """
    getLogger("pypdfium2").setLevel(ERROR)  # it warns of forms that it reads in part
    unmapped = list[bool]()
    try:
        with closing(PdfDocument(data)) as document:
            with suppress(PdfiumError):
                document.init_forms()
            others = [*_others(document)]
            pages = list(_pages(document, unmapped, others))
    except PdfiumError as error:
        is_locked = error.err_code in {_PASSWORD, _SECURITY}
        raise cleanup.NotReadable("encrypted" if is_locked else "damaged PDF") from None
    are_scanned = any(kind == _SCANS for kind, _ in others)
    kept, running = _without_running_lines(pages, are_scanned=are_scanned)
    lines = (line if line.endswith(_PARTING) else f"{line}\n" for line in kept)
    others += [("headers and footers", key.encode("utf-8", "surrogatepass")) for key in running]
    found = cleanup.unless_empty(cleanup.unwrapped(_joined("".join(lines))), "no text on its pages")
    are_many = sum(unmapped) * ONE_IN >= len(unmapped) > 0
    is_doubtful = are_many or is_mangled(found) or any(map(_is_lost, _maps(data)))
    return cleanup.with_unread(cleanup.Mangled(found) if is_doubtful else found, others)


def _maps(data: bytes) -> Iterator[bytes]:
    """The maps of fonts in a PDF, from their codes to characters."""
    for found in _STREAM.finditer(data):
        head = data[found.end() : found.end() + _HEAD]
        with suppress(zlib.error):
            if _MAP in head or _MAP in zlib.decompressobj().decompress(head, _HEAD):
                stream = data[found.end() : found.end() + _LONGEST_MAP]
                if _MAP in head:
                    yield stream.partition(b"endstream")[0]
                else:
                    yield zlib.decompressobj().decompress(stream, _LONGEST_MAP)


def _is_lost(characters: bytes) -> bool:
    """Whether PDFium loses a part of a map: what follows a range over the end of a byte."""
    for ranges in _RANGES.findall(characters):
        ends = ((int(first, 16), int(last, 16)) for first, last in _RANGE.findall(ranges))
        if any(first >> 8 != last >> 8 and first & 255 > last & 255 for first, last in ends):
            return True
    return False


def _others(document: _Handle) -> Iterator[tuple[str, bytes]]:
    """What a PDF holds besides its pages: metadata, bookmarks, scripts and attachments."""
    if about := sorted(document.get_metadata_dict(skip_empty=True).items()):
        yield "metadata", repr(about).encode()
    for each in document.get_toc():
        title = each.get_title() if hasattr(each, "get_title") else each.title
        yield "bookmarks", title.encode("utf-8", "surrogatepass")
    for number in range(raw.FPDFDoc_GetJavaScriptActionCount(document)):
        script = raw.FPDFDoc_GetJavaScriptAction(document, number)
        yield "scripts", _bytes(raw.FPDFJavaScriptAction_GetScript, script)
        raw.FPDFDoc_CloseJavaScriptAction(script)
    for number in range(document.count_attachments()):
        with suppress(PdfiumError):
            yield "attachments", bytes(document.get_attachment(number).get_data())


def _drawn(page: _Handle, number: int) -> Iterator[tuple[str, bytes]]:
    """The pictures of a page with their places, and its drawings."""
    counted, drawings = 0, list[float]()
    box = [c_float() for _ in range(4)]
    for kind, each in _objects(page.raw):
        counted += kind == raw.FPDF_PAGEOBJ_TEXT
        if kind == raw.FPDF_PAGEOBJ_TEXT:
            continue
        raw.FPDFPageObj_GetBounds(each, *box)
        if kind == raw.FPDF_PAGEOBJ_IMAGE:
            buffer = create_string_buffer(raw.FPDFImageObj_GetImageDataRaw(each, None, 0))
            raw.FPDFImageObj_GetImageDataRaw(each, buffer, len(buffer))
            left, bottom, right, top = (side.value for side in box)
            share = (right - left) * (top - bottom) / (page.get_width() * page.get_height() or 1)
            place = repr((number, left, top)).encode()
            yield _SCANS if share > SCANNED else "pictures", place + buffer.raw
        elif kind in {raw.FPDF_PAGEOBJ_PATH, raw.FPDF_PAGEOBJ_SHADING}:
            drawings += [side.value for side in box]
            drawings.append(raw.FPDFPath_CountSegments(each))
    if drawings:
        yield "drawings", repr(drawings).encode()
    if not counted:
        yield "pages without text", b""


def _are_unmapped(text_page: _Handle) -> list[bool]:
    """Whether the fonts have no map for each of some characters, spread over a page."""
    size, is_unmapped = text_page.count_chars(), raw.FPDFText_HasUnicodeMapError
    return [is_unmapped(text_page.raw, at) == 1 for at in range(0, size, size // SAMPLED + 1)]


def _pages(
    document: _Handle, unmapped: list[bool], others: list[tuple[str, bytes]]
) -> Iterator[list[_Line]]:
    """The lines of each page that can be read; what else is on it goes to `others`.

    Raises NotReadable.
    """
    # pypdfium2 also asserts, and recurses for each character that it leaves out.
    trouble = (PdfiumError, AssertionError, RecursionError, ValueError)
    if len(document) > MOST_PAGES:
        raise cleanup.NotReadable(f"more than {MOST_PAGES:,} pages")
    size = broken = 0
    for number in range(len(document)):
        try:
            with closing(document[number]) as page:
                others += _drawn(page, number)
                lines = _lines(page, number, unmapped)
                lines += _filled_in(document, page, others)
        except trouble:
            broken += 1
            others.append(("pages without text", b""))
            continue
        size += sum(len(line.text) for line in lines)
        cleanup.check_length(size)
        yield lines
    if broken and broken == len(document):
        raise cleanup.NotReadable("damaged PDF: no page can be read")


def _lines(page: _Handle, number: int, unmapped: list[bool]) -> list[_Line]:
    """The lines of a page in PDFium's order; the lines at its edges have keys."""
    _give_boxes(page)
    with closing(page.get_textpage()) as text_page:
        unmapped += _are_unmapped(text_page)
        found = list(_LINE.finditer(text_page.get_text_range()))
        heights = {} if page.get_rotation() else _heights(text_page, found)
    _, bottom, _, top = page.get_bbox()
    margin = EDGE * (top - bottom)
    lines, label = [_Line(line.group()) for line in found], page.pdf.get_page_label(number)
    for index in _outermost({index: top - y for index, y in heights.items()}, margin):
        lines[index] = _at_edge("^", found[index].group(), number, label)
    for index in _outermost({index: y - bottom for index, y in heights.items()}, margin):
        lines[index] = _at_edge("_", found[index].group(), number, label)
    return lines


def _filled_in(
    document: _Handle, page: _Handle, others: list[tuple[str, bytes]]
) -> Iterator[_Line]:
    """The values of the form fields of a page, and the notes that are written right on it.

    Whatever else belongs to a note or field goes to `others`.
    """
    size = 0
    for index in range(raw.FPDFPage_GetAnnotCount(page)):
        note = raw.FPDFPage_GetAnnot(page, index)
        if not note:
            continue
        kind, found = raw.FPDFAnnot_GetSubtype(note), ""
        if raw.FPDFAnnot_GetFlags(note) & _HIDDEN_NOTE:
            pass
        elif kind == raw.FPDF_ANNOT_FREETEXT:
            found = _string(raw.FPDFAnnot_GetStringValue, note, b"Contents")
        elif kind == raw.FPDF_ANNOT_WIDGET:
            found = _value(document.formenv, note)
        kind_of = "links" if kind == raw.FPDF_ANNOT_LINK else "notes and fields"
        if about := b"\n".join(_about(document, note, found)):
            others.append((kind_of, about))
        raw.FPDFPage_CloseAnnot(note)
        size += len(found)
        cleanup.check_length(size)
        yield from map(_Line, _LINE.findall(found))


def _about(document: _Handle, note: _Handle, read: str) -> Iterator[bytes]:
    """What belongs to a note or field besides the text of it that was read."""
    drawn = _string(raw.FPDFAnnot_GetAP, note, raw.FPDF_ANNOT_APPEARANCEMODE_NORMAL)
    if not read:
        yield str(raw.FPDFAnnot_GetSubtype(note)).encode()
        for key in (b"T", b"TU", b"Contents", b"V", b"AS"):
            yield _bytes(raw.FPDFAnnot_GetStringValue, note, key)
    is_drawn_so = all(word in drawn for word in read.split()) or _is_button(document.formenv, note)
    if not read or not is_drawn_so:
        yield drawn.encode()
    if link := raw.FPDFAnnot_GetLink(note):
        raw.FPDFAnnot_GetRect(note, place := raw.FS_RECTF())
        target = raw.FPDFDest_GetDestPageIndex(document, raw.FPDFLink_GetDest(document, link))
        yield repr((place.left, place.top, target)).encode()
        yield _bytes(raw.FPDFAction_GetURIPath, document, raw.FPDFLink_GetAction(link))


def _is_button(form: object, field: object) -> bool:
    """Whether a form's field is a box to tick."""
    kinds = {raw.FPDF_FORMFIELD_CHECKBOX, raw.FPDF_FORMFIELD_RADIOBUTTON}
    return form is not None and raw.FPDFAnnot_GetFormFieldType(form, field) in kinds


def _value(form: object, field: object) -> str:
    """The value of a form's field as it is shown: a button only if it is pressed."""
    kind = raw.FPDFAnnot_GetFormFieldType(form, field) if form else -1
    if _is_button(form, field):
        is_checked = raw.FPDFAnnot_IsChecked(form, field)
        return _string(raw.FPDFAnnot_GetFormFieldExportValue, form, field) if is_checked else ""
    if kind in {raw.FPDF_FORMFIELD_COMBOBOX, raw.FPDF_FORMFIELD_LISTBOX}:
        chosen = [
            _string(raw.FPDFAnnot_GetOptionLabel, form, field, option)
            for option in range(min(raw.FPDFAnnot_GetOptionCount(form, field), _MOST_OPTIONS))
            if raw.FPDFAnnot_IsOptionSelected(form, field, option)
        ]
        if chosen:
            return "\n".join(chosen)
    if kind == raw.FPDF_FORMFIELD_PUSHBUTTON:
        return ""
    if kind < 0:  # the form does not know of this field
        return _string(raw.FPDFAnnot_GetStringValue, field, b"V")
    is_secret = raw.FPDFAnnot_GetFormFieldFlags(form, field) & _PASSWORD_FIELD
    return "" if is_secret else _string(raw.FPDFAnnot_GetFormFieldValue, form, field)


def _string(get: Callable[..., int], *of: object) -> str:
    """The string that a function of PDFium writes."""
    return _bytes(get, *of).decode("utf-16-le", "replace").rstrip("\0")


def _bytes(get: Callable[..., int], *of: object) -> bytes:
    """The bytes that a function of PDFium writes to a buffer of the size that it asks for."""
    size = get(*of, None, 0)
    cleanup.check_length(size // 2)
    buffer = create_string_buffer(size)
    get(*of, cast(buffer, POINTER(c_ushort)), size)
    return buffer.raw


def _give_boxes(page: _Handle) -> None:
    """Give a box as high as its font to each text of a page whose glyphs have none.

    Glyphs have no boxes if the file only names a Chinese font that this machine lacks, or if
    they are meant to be invisible. PDFium would then take a column, or a character drawn by
    itself, to be zero wide and leave it out, and could not tell the lines of other such texts
    apart. A stroke gives a text a box, since PDFium's boxes include the stroke.
    """
    left, bottom, right, top, size = (c_float() for _ in range(5))
    matrix = raw.FS_MATRIX()
    for kind, each in _objects(page.raw):
        if kind != raw.FPDF_PAGEOBJ_TEXT:
            continue
        raw.FPDFPageObj_GetBounds(each, left, bottom, right, top)
        if min(right.value - left.value, top.value - bottom.value) < _NARROWEST:
            raw.FPDFTextObj_GetFontSize(each, size)
            raw.FPDFPageObj_GetMatrix(each, matrix)
            raw.FPDFPageObj_SetStrokeWidth(each, size.value * hypot(matrix.c, matrix.d))
            raw.FPDFTextObj_SetTextRenderMode(each, raw.FPDF_TEXTRENDERMODE_STROKE)
            raw.FPDFPageObj_Transform(each, 1, 0, 0, 1, 0, 0)  # has the box computed anew


def _objects(holder: object, level: int = 0) -> Iterator[tuple[int, _Handle]]:
    """The kind and PDFium's handle of each object of a page, or of a form from level 1 on.

    Forms themselves are left out. pypdfium2's own `get_objects` takes twice as long.
    """
    count = raw.FPDFFormObj_CountObjects if level else raw.FPDFPage_CountObjects
    get = raw.FPDFFormObj_GetObject if level else raw.FPDFPage_GetObject
    for index in range(count(holder)):
        found = get(holder, index)
        kind = raw.FPDFPageObj_GetType(found)
        if kind != raw.FPDF_PAGEOBJ_FORM:
            yield kind, found
        elif level < _MOST_LEVELS:
            yield from _objects(found, level + 1)


def _heights(text_page: _Handle, lines: list[re.Match[str]]) -> dict[int, float]:
    """The height of each line on its page, by the line's index; blank lines are left out."""
    heights = {}
    at = units = 0  # a place in Python's text; and in PDFium's, with two units for some characters
    for index, line in enumerate(lines):
        characters = line.group().lstrip()
        begin = line.end() - len(characters)
        units += len(line.string[at:begin].encode("utf-16-le", "surrogatepass")) // 2
        at, first = begin, raw.FPDFText_GetCharIndexFromTextIndex(text_page.raw, units)
        if characters and first >= 0:
            heights[index] = text_page.get_charbox(first, loose=True)[1]
    return heights


def _outermost(depths: dict[int, float], margin: float) -> set[int]:
    """The lines on the outermost EDGE_LINES levels, at most as deep as a margin."""
    chosen: set[int] = set()
    levels: list[float] = []
    for index, depth in sorted(depths.items(), key=lambda item: item[1]):
        is_new = not levels or depth - levels[-1] > _LEVEL
        if depth > margin or (is_new and len(levels) == EDGE_LINES):
            break
        if is_new:
            levels.append(depth)
        chosen.add(index)
    return chosen


def _at_edge(edge: str, line: str, number: int, label: str) -> _Line:
    """A line with keys: its words, and its words around a number that may be the page number.

    A line of signs alone, such as a ruler, has none: it often recurs by chance.
    """
    words = line.strip()
    if not any(map(str.isalnum, words)):
        return _Line(line)
    counted = (
        f"{words[: found.start()]}\0{int(found.group()) - number}\0{words[found.end() :]}"
        for found in islice(_NUMBER.finditer(words), MOST_NUMBERS)
        if int(found.group()) <= number + 1 or found.group() == label
    )
    return _Line(line, frozenset(edge + key for key in (words, *counted)))


def _without_running_lines(
    pages: list[list[_Line]], *, are_scanned: bool
) -> tuple[list[str], set[str]]:
    """The lines of all pages, and the keys of the lines left out: they recur at edges of pages.

    If little text would be left, the pages are labels or slides that say nearly the same, and keep
    all their lines, unless `are_scanned`.
    """
    seen = Counter(key for page in pages for key in {key for line in page for key in line.keys})
    needed = REPEATED if len(pages) > FEW else 2
    running = {key for key, count in seen.items() if count >= needed}
    whole = [line for page in pages for line in page]
    kept = [line.text for line in whole if running.isdisjoint(line.keys)]
    least = LEAST_KEPT * sum(len(line.text) for line in whole)
    if sum(map(len, kept)) < least and not are_scanned:
        return [line.text for line in whole], set()
    return kept, running


def _joined(text: str) -> str:
    """Join the words of a text that were hyphenated at the end of a line.

    The hyphen stays if the text elsewhere has the word with a hyphen, and never without, and if
    another stands before it, as in "brothers-in-law".
    """
    if not _PARTED.search(text):
        return text.replace(_PARTING, "-")
    words = set(_WORD.findall(text.lower()))

    def join(parted: re.Match[str]) -> str:
        first, last = parted.groups()
        with_hyphen, is_further = f"{first}-{last}", text.endswith("-", 0, parted.start())
        is_known = with_hyphen.lower() in words
        is_compound = (is_known or is_further) and (first + last).lower() not in words
        return with_hyphen if is_compound else first + last

    return _PARTED.sub(join, text).replace(_PARTING, "-")
