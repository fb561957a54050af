"""The text of documents made of XML in a zip file: DOCX, PPTX, XLSX, ODF and EPUB."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache, partial
from urllib.parse import unquote

from simdup.extract import eml, rtf
from simdup.extract import html as html_text
from simdup.extract.cleanup import NotReadable, TextBuilder, others_of, unless_empty, with_unread
from simdup.extract.places import Places
from simdup.extract.readers import kind
from simdup.extract.sheets import FORMATS, Sheets, place_of
from simdup.extract.sniff import TEXTS
from simdup.extract.text_formats import by_word, tables
from simdup.extract.workbooks import binary_sheets
from simdup.extract.zip_xml import Package, elements, inside, nothing

_MANIFEST, _CIPHERED = "META-INF/manifest.xml", "META-INF/encryption.xml"
_BODY = "content.xml"
_CONTAINER = "META-INF/container.xml"
_CHAPTER_ENDINGS = (".xhtml", ".html", ".htm")

_TAG = re.compile(r"<[!?/A-Za-z]")
_ESCAPE = re.compile("_x([0-9A-Fa-f]{4})_")
# Readers of the documents in a document, by format; None: plain text.
_Readers = dict[str | None, Callable[[bytes], str]]
_PICTURES = "pictures"
_LONGEST_INDEX = 9  # digits; more do not count shared strings


def docx(data: bytes, readers: _Readers | None = None) -> str:
    """The text of a Word document, notes and charts at its end; no headers, footers or deletions.

    `readers` read the documents in it; None: all do that may stand in one. Raises NotReadable, like
    the other functions here.
    """
    package = Package(data)
    main = _main_part(package)
    names = [main, *_related(package, main, "footnotes"), *_related(package, main, "endnotes")]
    flow = _Flow(_WORD, cache(lambda name: _chunk(package, name, readers or _CHUNKS)))
    for name in names:
        flow.parse(package, name)
    drawn = _flow(package, _drawn(package, main), _DRAWING)
    return _document(package, f"{flow}\n{drawn}", [*flow.others, *drawn.others])


def _chunk(package: Package, name: str, readers: _Readers) -> str:
    """The text of a file that a Word document takes in whole (altChunk); empty if it has none."""
    if name not in package:
        return ""
    data = package.read(name)
    read = readers.get(kind(data, name))
    with suppress(NotReadable):
        if read:
            return read(data)
    return with_unread("", [("unknown parts", data)])


def _page(markup: str) -> str:
    """The text of a page without its title, which is not shown as part of a larger document."""
    title, body, others = html_text.page(markup)
    return with_unread(body, [*others, ("metadata", title)])


# A document in a document may not take in documents, which could be the same one.
_PAGES: _Readers = {
    **dict.fromkeys((None, *TEXTS), html_text.decoded),
    "html": lambda data: _page(html_text.decoded(data)),
    "eml": eml.eml,
    "rtf": rtf.text,
}
_CHUNKS = _PAGES | {"docx": lambda data: docx(data, _PAGES)}


def pptx(data: bytes) -> str:
    """The text on the slides of a presentation, in their order, each before its charts."""
    package = Package(data)
    slides = _listed(package, "sldId")
    names = [name for slide in slides for name in (slide, *_drawn(package, slide))]
    flow = _flow(package, names, _DRAWING)
    return _document(package, str(flow), flow.others)


def xlsx(data: bytes) -> str:
    """The cells of a workbook: a line for a row, in the order of its sheets."""
    package = Package(data)
    main, shared = _main_part(package), _SharedStrings()
    if main.lower().endswith(".bin"):
        return _xlsb(package, main)
    for name in _related(package, main, "sharedStrings"):
        shared.parse(package, name)
    dates = [properties.get("date1904", "") for properties in elements(package, main, "workbookPr")]
    sheets = Sheets(_codes(package, main), is_1904=not {"1", "true"}.isdisjoint(dates))
    cells = _Cells(shared.strings, sheets)
    for name in _listed(package, "sheet"):
        cells.parse(package, name)
        sheets.end()
    return _document(package, str(sheets.text), [*shared.others, *cells.others, *sheets.others])


def _xlsb(package: Package, main: str) -> str:
    """The cells of a workbook in Excel's binary format, whose parts all count as not read."""
    read, targets = partial(package.read, is_text=False), _targets(package, main)
    names = [
        main,
        *(n for kind in ("styles", "sharedStrings") for n in _related(package, main, kind)),
    ]
    sheets = binary_sheets([*map(read, names)], lambda identifier: read(targets[identifier]))
    return _document(package, str(sheets.text), sheets.others)


def _codes(package: Package, main: str) -> list[str]:
    """The number formats of the styles of cells; damaged ones are none."""
    codes, styles = {f"{number}": code for number, code in FORMATS.items()}, list[str]()

    def start(name: str, attributes: dict[str, str]) -> None:
        if name == "numFmt":
            codes[attributes.get("numFmtId", "")] = attributes.get("formatCode", "")
        elif name == "cellXfs":  # after formats of other uses
            styles.clear()
        elif name == "xf":
            styles.append(attributes.get("numFmtId", ""))

    with suppress(NotReadable):
        for name in _related(package, main, "styles"):
            package.parse(name, start, nothing, nothing, is_text=False)
    return [codes.get(style, "") for style in styles]


def odt(data: bytes) -> str:
    """The text of an OpenDocument file, with the notes and the values of forms at its end."""
    package = Package(data)
    if "encrypted-package" in package or elements(package, _MANIFEST, "encryption-data"):
        raise NotReadable("encrypted")
    flow = _Document(_OPEN_DOCUMENT)
    flow.parse(package, _BODY)
    return _document(package, str(flow), flow.others)


ods = odp = odt


def epub(data: bytes) -> str:
    """The chapters of a book in reading order, without the titles of their files."""
    package = Package(data)
    chapters = _chapters(package)
    ciphered = elements(package, _CIPHERED, "CipherReference")
    if {unquote(each.get("URI", "")) for each in ciphered}.intersection(chapters):
        raise NotReadable("encrypted")
    text, others = TextBuilder(), list[tuple[str, bytes]]()
    for name in chapters:
        chapter = _chapter(package.read(name))
        text.add(f"{chapter}\n")
        others += others_of(chapter)
    return _document(package, str(text), others)


def _chapter(data: bytes) -> str:
    """The text of a chapter: a page, or plain text without any tag; empty for a picture."""
    try:
        markup = html_text.decoded(data)
    except NotReadable:
        return with_unread("", [("unknown parts", data)])
    return _page(markup) if _TAG.search(markup) else markup


# Readings above characters, which repeat them, and elements that place a drawing.
_SKIPPED = (
    *("rt", "rPh", "ruby-text", "posOffset", "align", "attrName"),
    *("pctWidth", "pctHeight", "pctPosHOffset", "pctPosVOffset"),
)


class Vocabulary:
    """The meaning of a format's elements for its text.

    parts: Elements "shown", which hold text at any depth; "hidden", which hold no text of the
        document, even within them; "aside", which interrupt a paragraph, like a footnote, so that
        their text goes to the end; and "skipped".
    gaps: Characters that the end of an element adds.
    """

    def __init__(self, gaps: dict[str, str], **parts: Sequence[str]) -> None:
        self.gaps = gaps
        self.parts = by_word(parts | {"skipped": _SKIPPED})


_WORD = Vocabulary(
    {"p": "\n", "br": "\n", "cr": "\n", "tab": "\t", "tc": "\t", "noBreakHyphen": "-"},
    shown=("t",),
    # Deleted and moved text, the formatting of paragraphs, and substitutes for older programs.
    hidden=("del", "moveFrom", "pPr", "Fallback"),
    aside=("txbxContent",),
)
# Slides, and the diagrams and charts of Word documents and slides.
_DRAWING = Vocabulary(
    {"p": "\n", "br": "\n", "tc": "\t", "v": "\n", "pt": "\n"},
    shown=("t", "v", "pt"),
    hidden=("Fallback",),
)
_DRAWN = ("diagramData", "chart", "chartEx")
_OPEN_DOCUMENT = Vocabulary(
    {"p": "\n", "h": "\n", "line-break": "\n", "tab": "\t", "s": " ", "table-cell": "\t"},
    shown=("p", "h"),
    hidden=(
        *("tracked-changes", "annotation", "note-citation", "notes", "svg:desc"),
        *("object", "binary-data"),
    ),
    aside=("note", "text-box"),
)
# Right within these elements a title is a field; elsewhere it describes a drawing.
_LINES = ("p", "h", "span", "a", "ruby-base", "meta", "meta-field")
_CAPTION, _DESCRIPTION = ("title", "desc"), "svg:desc"
# Elements that styles may mark, properties of styles that do, and what may be repeated.
_STYLED = ("p", "h", "span", "a", "table")
_MEANT = ("line-through-style", "line-through-type", "position")
_REPEATED = ("columns", "rows")
# Further copies of a row or cell with text are not read.
_MOST_REPEATED = 1000
# The controls of forms, and among them those whose value is shown: others have one for programs.
_VALUED = (
    *("text", "textarea", "formatted-text", "combobox", "number", "date", "time"),
    "value-range",
)
_CONTROLS = (*_VALUED, "checkbox", "radio", "option", "fixed-text", "button", "frame")


# Elements whose attributes are content, and attributes that are content, in any format.
_ATTRIBUTES, _ELEMENTS = tables("office"), "elements of "
_MARKS, _STRUCTURE = _ATTRIBUTES.pop("marks"), frozenset(_ATTRIBUTES.pop("structure of formulas"))
_FIELDS = {
    word: title.removeprefix(_ELEMENTS)
    for title in [title for title in _ATTRIBUTES if title.startswith(_ELEMENTS)]
    for word in _ATTRIBUTES.pop(title)
}
_KINDS = by_word(_ATTRIBUTES)
# The attributes that refer to pictures and links, and values by which words have no mark.
_REFERENCES = ("id", "embed", "link", "href")
_OFF = ("0", "false", "off", "none", "baseline", "noStrike")

# The values of cells and the strings they refer to.
_SHEET = Vocabulary({}, shown=("v", "t"))
_DECIMAL = re.compile(r"-?[0-9]{1,20}(?:\.[0-9]{1,20})?(?:[Ee][+-]?[0-9]{1,2})?")
# Elements of a sheet whose attributes are no content, by far the most.
_PLAIN = ("c", "v")
# A formula of a cell, and those that check or format cells.
_FORMULAS = ("f", "formula", "formula1", "formula2")


def _flow(package: Package, names: Sequence[str], vocabulary: Vocabulary) -> _Flow:
    flow = _Flow(vocabulary)
    for name in names:
        flow.parse(package, name)
    return flow


def _document(package: Package, text: str, others: Sequence[tuple[str, bytes]]) -> str:
    """The tidied text of a package, with all that was not read."""
    of_parts = [
        (kind, f"{identifier} {_content(package, kind, target)}")
        for part in package
        if not package.is_read(part)
        for identifier, (kind, target) in _placed(package, part).items()
    ]
    return with_unread(unless_empty(text), [*package.unread(), *of_parts, *others])


class _Flow:
    """Collects the text that a vocabulary shows, and counts the open elements of each sort."""

    def __init__(self, vocabulary: Vocabulary, chunk: Callable[[str], str] | None = None) -> None:
        """`chunk` is the text of another member that an altChunk takes in."""
        self.main, self.aside, self.places = TextBuilder(), TextBuilder(), Places()
        self._package: Package
        self._targets: dict[str | None, str] = {}
        self._placed: dict[str | None, tuple[str, str]] = {}
        self._vocabulary, self._chunk = vocabulary, chunk
        self._open = Counter(shown=0, hidden=0, aside=0, skipped=0)
        self.unseen = "hidden text"
        """The kind of the characters that are not shown."""

    def __str__(self) -> str:
        """The running text, and after it the asides."""
        return f"{self.main}\n{self.aside}"

    @property
    def others(self) -> Sequence[tuple[str, bytes]]:
        """All content that is not part of the text."""
        return self.places.noted()

    def parse(self, package: Package, name: str) -> None:
        """Add the text of a member. Raises NotReadable."""
        self._package, self._placed = package, _placed(package, name)
        self._targets = _targets(package, name)
        package.parse(name, self.start, self.characters, self.end)

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Enter an element."""
        self._enter(name, 1)
        self.places.begin(name, self._times(attributes))
        if name == "altChunk" and self._chunk:
            chunk = self._chunk(self._targets.get(_identifier(attributes), ""))
            self._add(f"{chunk}\n")
            self.places.others += others_of(chunk)
        if not self._open["hidden"]:
            self._mark(name, attributes)
        self._note_attributes(name, attributes)

    def end(self, name: str) -> None:
        """Add the element's gap, and leave the element."""
        if name in self._vocabulary.gaps:
            self._add(self._vocabulary.gaps[name])
        self.places.end(name)
        self._enter(name, -1)

    def characters(self, data: str) -> None:
        """Add characters of a visible element; note all others."""
        if self._open["shown"] and not self._open["hidden"]:
            self._add(data)
        elif not self._open["skipped"] and not data.isspace():
            self.note(self.unseen, data)

    def _mark(self, name: str, attributes: dict[str, str]) -> None:
        """Note how an element changes the meaning of words, as by striking them out."""
        if name in _MARKS:
            value = next((v for key, v in attributes.items() if key.endswith(":val")), "true")
            self.places.mark("" if value in _OFF else f"{name} {value}".removesuffix(" true"))
        elif name == "rPr":
            marks = (f"{key} {attributes.get(key, '0')}" for key in ("strike", "baseline"))
            self.places.mark(" ".join(mark for mark in marks if mark.split()[1] not in _OFF))

    def _note_attributes(self, name: str, attributes: dict[str, str]) -> None:
        if kind := _FIELDS.get(name):
            contents = ((key, self._placed.get(value)) for key, value in attributes.items())
            self.note(kind, " ".join(f"{placed or attributes[key]}" for key, placed in contents))
            return
        if name in _STRUCTURE:
            self.note("formulas", name)
        for key, value in attributes.items():
            local = key.rpartition(":")[2]
            kind = _KINDS.get(key) or _KINDS.get(local)
            if value in self._placed and local in _REFERENCES:
                kind, target = self._placed[value]
                self.note(kind, _content(self._package, kind, target))
            # An anchor or a member of the package is no link.
            elif kind and (kind != "links" or ":" in value):
                self.note(kind, value)

    def note(self, kind: str, content: str) -> None:
        """Note content that is not shown, with its place."""
        self.places.note(kind, content)

    def taken(self) -> str:
        """Return the running text so far, and begin anew."""
        text, self.main = str(self.main), TextBuilder()
        return text

    def _times(self, attributes: dict[str, str]) -> int:  # noqa: ARG002  (of spreadsheets alone)
        """How many times an element stands there in a row."""
        return 1

    def _enter(self, name: str, step: int) -> None:
        if part := self._vocabulary.parts.get(name):
            self._open[part] += step

    def _add(self, piece: str) -> None:
        if not self._open["hidden"] and not self._open["skipped"]:
            (self.aside if self._open["aside"] else self.main).add(piece)
            self.places.passed(piece)


class _Document(_Flow):
    """The text of an OpenDocument file: fields are text, titles of drawings are none."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        super().__init__(vocabulary)
        self._path, self._begun = list[str](), list[tuple[int, int]]()
        self._marks, self._style = dict[str, str](), ""

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Enter an element."""
        if name in _CAPTION and not (self._path and self._path[-1] in _LINES):
            name = _DESCRIPTION
        self._path.append(name)
        self._begun.append((self.main.tell(), self._times(attributes)))
        self.unseen = "pictures" if name == "binary-data" else "hidden text"
        super().start(name, attributes)

    def end(self, name: str) -> None:  # noqa: ARG002  (the path has it, or what it means)
        """Leave an element; a cell or row that stands there several times is read as often."""
        super().end(self._path.pop())
        begin, times = self._begun.pop()
        if times > 1:
            self.main.seek(begin)
            if (piece := self.main.read()).strip():
                for _ in range(min(times, _MOST_REPEATED) - 1):
                    self._add(piece)

    def _mark(self, name: str, attributes: dict[str, str]) -> None:
        """Note which styles change the meaning of words, and where these words are."""
        if name == "style":
            self._style = attributes.get("style:name", "")
        elif name.endswith("-properties") and (meaning := _meaning(attributes)):
            self._marks[self._style] = meaning
        elif name in _STYLED:
            named = (attributes.get(f"{family}:style-name", "") for family in ("text", "table"))
            self.places.mark(self._marks.get("".join(named), ""))

    def _times(self, attributes: dict[str, str]) -> int:
        """How many times a row or cell of a spreadsheet stands there in a row."""
        times = (attributes.get(f"table:number-{what}-repeated", "") for what in _REPEATED)
        return next((int(number) for number in times if number.isdecimal() and len(number) < 9), 1)

    def _note_attributes(self, name: str, attributes: dict[str, str]) -> None:
        """Add the value of a form's control, and note all others."""
        shown = _control(name, attributes) if name in _CONTROLS else ""
        self.aside.add(shown)
        is_shown = {
            key: key.startswith("form:") and each in shown for key, each in attributes.items()
        }
        super()._note_attributes(name, {k: v for k, v in attributes.items() if not is_shown[k]})


def _meaning(attributes: dict[str, str]) -> str:
    """How a style changes the meaning of words: it strikes, raises, lowers or hides them."""
    marks = [attributes.get(f"style:text-{what}", "none") for what in _MEANT]
    hidden = {"none", "false"} & {attributes.get("text:display"), attributes.get("table:display")}
    return " ".join([*(mark for mark in marks if not mark.startswith(("none", "0%"))), *hidden])


def _control(name: str, attributes: dict[str, str]) -> str:
    """The text that a control of a form shows: its label, and the value that is filled in."""
    found = {k.removeprefix("form:"): v for k, v in attributes.items() if k.startswith("form:")}
    chosen = found.get("current-selected", found.get("selected"))
    if name == "option" and chosen != "true":
        return ""
    state = found.get("current-state", found.get("state"))
    mark = "[x] " if state == "checked" or (name == "radio" and chosen == "true") else ""
    value = found.get("current-value", found.get("value", "")) if name in _VALUED else ""
    return f"{mark}{found.get('label', '')}\n{value}\n"


class _SharedStrings(_Flow):
    """The strings that cells refer to by number."""

    def __init__(self) -> None:
        super().__init__(_SHEET)
        self.strings: list[str] = []

    def end(self, name: str) -> None:
        """Keep the string that ends."""
        super().end(name)
        if name == "si":
            self.strings.append(_unescaped(self.taken()))


def _unescaped(text: str) -> str:
    """A text of a workbook, whose characters that XML cannot hold are written `_x000D_`.

    >>> _unescaped("a_x005F_x0041_ _x00e9__xD83D__xDE00_")
    'a_x0041_ é😀'
    """
    if "_x" not in text:
        return text
    found = _ESCAPE.sub(lambda escape: chr(int(escape[1], 16)), text)
    return found.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


class _Cells(_Flow):
    """The cells of a workbook: formulas by their last result."""

    def __init__(self, strings: list[str], sheets: Sheets) -> None:
        super().__init__(_SHEET)
        self._sheets, self._strings = sheets, strings
        self._type, self._style, self._row, self._column = "", 0, -1, -1

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Note the place and the type of a cell, and whether a formula begins."""
        if name == "c":
            row, self._column = place_of(attributes.get("r", "")) or (self._row, self._column + 1)
            self._row, self._type = max(row, self._row), attributes.get("t", "")
            self._style = _index(attributes.get("s", "0"))
        if name in _PLAIN:
            self._enter(name, 1)
            return
        super().start(name, attributes)
        self.unseen = "formulas and values" if name in _FORMULAS else "hidden text"
        if name == "row":
            self._row, self._column = self._row + 1, -1

    def end(self, name: str) -> None:
        """Add a cell, or end a sheet."""
        if name == "c":
            value = self._shown_as(self.taken())
            self._sheets.add(self._row, self._column, value, self._style)
        if name in _PLAIN:
            self._enter(name, -1)
            return
        super().end(name)
        if name == "sheetData":
            self._row = -1

    def note(self, kind: str, content: str) -> None:
        """Note content with the cell that it belongs to."""
        self.places.note(kind, content, (self._row, self._column))

    def _note_attributes(self, name: str, attributes: dict[str, str]) -> None:
        """Note attributes; hidden rows and columns with their numbers."""
        if name in {"row", "col"} and attributes.get("hidden", "0") not in _OFF:
            numbers = [attributes.get(name, "") for name in ("r", "min", "max")]
            self.note("hidden rows and columns", " ".join(numbers))
        elif name not in {"row", "col"}:
            super()._note_attributes(name, attributes)

    def _shown_as(self, value: str) -> str | float:
        """The value of a cell; empty for an error or a missing shared string."""
        if self._type == "b":
            return "TRUE" if value.strip().lower() in {"1", "true"} else "FALSE"
        if self._type == "e":
            self.note("formulas and values", value)
            return ""
        if self._type != "s":
            number = value if self._type in {"", "n"} else ""
            return float(number) if _DECIMAL.fullmatch(number) else _unescaped(value)
        index = _index(value)
        return self._strings[index] if 0 <= index < len(self._strings) else ""


def _index(value: str) -> int:
    """A number in an attribute; -1 if it is none."""
    is_index = value.isascii() and value.isdecimal() and len(value) <= _LONGEST_INDEX
    return int(value) if is_index else -1


def _related_elements(package: Package, part: str) -> list[dict[str, str]]:
    """The relationships of a part of an Office file."""
    folder, name = posixpath.split(part)
    return elements(package, posixpath.join(folder, "_rels", f"{name}.rels"), "Relationship")


def _relations(package: Package, part: str) -> list[tuple[str | None, str, str]]:
    """The relationships of a part: identifier, kind, and a member's name."""
    found = _related_elements(package, part)
    return [(e.get("Id"), e.get("Type", ""), inside(part, e.get("Target", ""))) for e in found]


def _placed(package: Package, part: str) -> dict[str | None, tuple[str, str]]:
    """The links and pictures that a part refers to, with addresses and members.

    Office files refer by identifiers, OpenDocument files by names of members.
    """
    found = dict[str | None, tuple[str, str]]()
    if part == _BODY:
        found |= {name: (_PICTURES, name) for name in package if package.kind(name) == _PICTURES}
    for each in _related_elements(package, part):
        target = each.get("Target", "")
        if each.get("TargetMode") == "External":
            found[each.get("Id")] = "links", target
        elif package.kind(name := inside(part, target)) == _PICTURES and name in package:
            found[each.get("Id")] = _PICTURES, name
    return found


def _content(package: Package, kind: str, target: str) -> str:
    """What tells a link or a picture from another one."""
    return package.counted(target) if kind == _PICTURES else target


def _related(package: Package, part: str, kind: str) -> list[str]:
    """The existing members that a part refers to as `kind`."""
    found = _relations(package, part)
    return [name for _, each, name in found if each.endswith(f"/{kind}") and name in package]


def _drawn(package: Package, part: str) -> list[str]:
    """The members with the text of the diagrams and charts of a part."""
    found = [name for kind in _DRAWN for name in _related(package, part, kind)]
    return [*found, *(n for each in found for n in _related(package, each, "chartUserShapes"))]


def _targets(package: Package, part: str) -> dict[str | None, str]:
    """The members that a part refers to, by the identifiers of the relationships."""
    return {identifier: name for identifier, _, name in _relations(package, part)}


def _main_part(package: Package) -> str:
    """The member that holds the document itself."""
    for name in _related(package, "", "officeDocument"):
        return name
    raise NotReadable("damaged: no document in it")


def _listed(package: Package, element: str) -> list[str]:
    """The existing members that the main part lists in these elements, in order."""
    main = _main_part(package)
    targets = _targets(package, main)
    listed = map(_identifier, elements(package, main, element))
    names = (targets[each] for each in listed if each in targets)
    return [name for name in dict.fromkeys(names) if name in package]


def _identifier(attributes: dict[str, str]) -> str | None:
    """The attribute r:id, whatever its prefix; `id` without a prefix is a different attribute."""
    return next((value for name, value in attributes.items() if name.endswith(":id")), None)


def _chapters(package: Package) -> list[str]:
    """The chapters of a book in reading order; if it gives none, in the order of the zip file."""
    for root in elements(package, _CONTAINER, "rootfile"):
        chapters = _spine(package, unquote(root.get("full-path", "")))
        if chapters:
            return chapters
    return [name for name in package if name.lower().endswith(_CHAPTER_ENDINGS)]


def _spine(package: Package, outline: str) -> list[str]:
    """The members in the spine of a book's outline (OPF), each once."""
    items = {
        each.get("id"): inside(outline, unquote(each.get("href", "")))
        for each in elements(package, outline, "item")
    }
    order = (items.get(each.get("idref"), "") for each in elements(package, outline, "itemref"))
    return [name for name in dict.fromkeys(order) if name in package]
