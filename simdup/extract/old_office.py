"""The text of Word documents of 1993 to 2003, of Outlook's mails, and of old slides.

They are compound files. A compound file is a small disk: a table chains its sectors, small streams
share the sectors of one stream in units of 64 bytes, and a tree of entries names the streams.

Sources: [MS-CFB], [MS-DOC], [MS-OXMSG], and for Word 6 and 95 Microsoft's "Word 6.0 Binary File
Format". `workbooks` reads old workbooks.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Sequence
from itertools import accumulate, groupby, pairwise

import numpy as np
from numpy.typing import NDArray

from simdup.extract import html as html_text
from simdup.extract.cleanup import NotReadable, TextBuilder, unless_empty, with_unread
from simdup.extract.text_formats import kind_of, tables
from simdup.extract.zip_xml import check_members
from simdup.text.encodings import declared_or_likely, decode

_HEADER, _SMALL, _IN_HEADER, _NOWHERE = 512, 64, 109, 0xFFFFFFFE
_ENTRY = np.dtype(
    [
        *[("name", "V64"), ("length", "<u2"), ("type", "u1"), ("color", "u1")],
        *[("left", "<u4"), ("right", "<u4"), ("child", "<u4"), ("about", "V36")],
        *[("start", "<u4"), ("size", "<u4"), ("high", "<u4")],
    ]
)
_STREAM = 2
# The most characters in the paths of all entries: real files have up to some 100,000.
_MOST_CHARACTERS = 1 << 21

_KINDS = tables("old_office")

# The header of a Word document has these flags: edits follow the text, it is ciphered, which stream
# has the list of pieces, and characters of an old document have two bytes.
_WORD_97 = 0xA5EC
_EDITED, _CIPHERED, _FIRST_TABLE, _WIDE = 0x0004, 0x0100, 0x0200, 0x1000
# The character set of an old document; others are Windows'.
_OF_MACINTOSH = 256
# The list of pieces comes after others; a piece with this bit has a byte for each character.
_PIECES, _NARROW = b"\2", 1 << 30

# A field begins, its result begins, which is shown, and it ends: "PAGE" and "3".
_BEGIN, _RESULT, _END = "\x13\x14\x15"
_FIELD_MARK, _ENDS_OF_CODE = re.compile(f"([{_BEGIN}{_RESULT}{_END}])"), (_RESULT, _END)
# The ends of cells, hyphens that do not break, and hyphens that may.
_SIGNS = {0x07: "\n", 0x1E: "-", 0x1F: None}
_CONTROLS = re.compile(rb"[\0-\x08\x0e-\x1f]")

# A property of a mail is a stream with this name, then the property's number and its type. Others
# have their values in a list: the code pages of the body and of the mail.
_PROPERTY = "__substg1.0_"
_BODY_PAGE, _PAGE = 0x3FDE0003, 0x3FFD0003

# Records of a presentation: a list of slides, a slide in it, the start of a text in its outline,
# a reference to that text, and texts. A text without characters has only a start.
_LIST, _SLIDE, _START, _OUTLINED = 4080, 1011, 3999, 3998
_TEXTS = {4000: "utf-16-le", 4008: "latin-1"}
_CIPHERED_SLIDES = 0xF3D1C4DF


class Compound:
    """The streams of a compound file, by their paths in small letters, such as "objectpool/_1"."""

    def __init__(self, data: bytes) -> None:
        """Raises NotReadable for damage, too many streams and too long paths."""
        size = 1 << data[30] if len(data) >= _HEADER and data[30] in {9, 12} else 0
        if not size or len(data) <= size:
            raise NotReadable("damaged: it is cut short")
        header = np.frombuffer(data[:_HEADER], "<u4")
        self._lacking = -len(data) % size
        whole = np.frombuffer(data + bytes(self._lacking), np.uint8)
        self._sectors, self._cutoff = whole.reshape(-1, size)[1:], int(header[14])
        self._table = self._sectors_of_table(header).view("<u4").ravel().tolist()
        tree = self._units(int(header[12]), _ENTRY.itemsize).view(_ENTRY).ravel()
        check_members(len(tree))
        self._streams = _streams(tree)
        self._small = self._units(int(tree["start"][0]) if len(tree) else _NOWHERE, _SMALL)
        self._small_table = self._units(int(header[15]), 4).view("<u4").ravel().tolist()

    def _sectors_of_table(self, header: NDArray[np.uint32]) -> NDArray[np.uint8]:
        """The sectors with the table: the header lists the first, a chain of lists the others."""
        lists, following, total = [header[19:]], int(header[17]), len(self._sectors)
        while following < total and len(lists) * _IN_HEADER <= total:
            *_, following = (found := self._sectors[following].view("<u4")).tolist()
            lists.append(found[:-1])
        numbers = np.concatenate(lists)
        return self._sectors[numbers[numbers < total][: total // _IN_HEADER + 1]]

    def _units(self, start: int, size: int) -> NDArray[np.uint8]:
        """The whole units of this many bytes in the sectors from `start` on."""
        found = self._chained(start, self._sectors.size)
        return found[: found.size // size * size].reshape(-1, size)

    def _chained(self, start: int, most: int) -> NDArray[np.uint8]:
        """The bytes of the sectors from `start` on; the last sector of the file may be cut."""
        numbers = _numbers(self._table, start, len(self._sectors), most / self._sectors.shape[1])
        found = self._sectors[numbers].ravel()
        is_cut = numbers[-1:] == [len(self._sectors) - 1]
        return found[: found.size - self._lacking * is_cut]

    def __iter__(self) -> Iterator[str]:
        """The paths of the streams."""
        return iter(self._streams)

    def read(self, name: str) -> bytes:
        """The bytes of a stream; none if there is no such stream. Raises NotReadable if cut."""
        found = self._rest(name)
        if len(found) < self._streams.get(name, (0, 0))[1]:
            raise NotReadable("damaged: it is cut short")
        return found

    def _rest(self, name: str) -> bytes:
        """The bytes of a stream, as many of them as are there."""
        start, size = self._streams.get(name, (0, 0))
        if size >= self._cutoff:
            return self._chained(start, size)[:size].tobytes()
        numbers = _numbers(self._small_table, start, len(self._small), size / _SMALL)
        return self._small[numbers].tobytes()[:size]

    def unread(self, *read: str) -> Iterator[tuple[str, bytes]]:
        """The kind and bytes of each stream but those that were read.

        The streams of one kind are one thing, and so are those of a storage, as of an attachment.
        """
        names = (name for name in self._streams if not name.startswith(read))
        for (kind, _), group in groupby(sorted(names, key=_kind_and_storage), _kind_and_storage):
            content = (name.encode("utf-8", "replace") + self._rest(name) for name in sorted(group))
            yield kind, b"".join(content)


def _kind_and_storage(name: str) -> tuple[str, str]:
    """The kind of content in a stream of this name, and the storage that it is in, if any."""
    return kind_of(name, _KINDS), name.rpartition("/")[0].partition("/")[0]


def _streams(tree: NDArray[np.void]) -> dict[str, tuple[int, int]]:
    """Where each stream starts and its size, by its path; the root is the first entry.

    Raises NotReadable if the paths are too long, as of thousands of nested storages.
    """
    found, seen, characters = dict[str, tuple[int, int]](), set[int](), 0
    waiting = [(int(child), "") for child in tree["child"][:1]]
    while waiting:
        number, folder = waiting.pop()
        if number >= len(tree) or number in seen:
            continue
        seen.add(number)
        name, length, kind, _, left, right, child, _, start, size, _ = tree[number].item()
        path = folder + name[: max(length - 2, 0)].decode("utf-16-le", "replace").lower()
        characters += len(path)
        if characters > _MOST_CHARACTERS:
            raise NotReadable("damaged: nested too deep")
        waiting += [(left, folder), (right, folder), (child, f"{path}/")]
        if kind == _STREAM:
            found[path] = start, size
    return found


def _numbers(table: Sequence[int], start: int, rows: int, most: float) -> list[int]:
    """The numbers of up to `most` rows from `start` on: the table names the one after each."""
    numbers, last = list[int](), min(len(table), rows)
    while start < last and len(numbers) < most:
        numbers.append(start)
        start = table[start]
    return numbers


def doc(data: bytes) -> str:
    """The text of a Word document, its notes and text boxes at the end; deleted text is in it.

    Raises NotReadable, like the other functions here.
    """
    file = Compound(data)
    try:
        parts = [_shown(part) for part in _parts(file, file.read("worddocument"))]
    except struct.error:
        raise NotReadable("damaged: it is cut short") from None
    body, notes, headers, _, comments, end_notes, boxes, others = parts
    hidden = (("headers and footers", headers + others), ("comments", comments))
    unread = ((kind, text) for kind, text in hidden if text.strip())
    shown = unless_empty(f"{body}\n{notes}\n{end_notes}\n{boxes}")
    return with_unread(shown, [*unread, *file.unread()])


def _parts(file: Compound, main: bytes) -> Sequence[str]:
    """The text, and then notes, headers, macros, comments, end notes and two sorts of boxes."""
    magic, flags = struct.unpack_from("<H8xH", main)
    if flags & _CIPHERED:
        raise NotReadable("encrypted")
    is_old = magic != _WORD_97
    counts = struct.unpack_from("<8I", main, 0x34 if is_old else 0x4C)
    if is_old and not flags & _EDITED:
        pieces = [(sum(counts), struct.unpack_from("<I", main, 0x18)[0])]
    else:
        table = main if is_old else file.read("1table" if flags & _FIRST_TABLE else "0table")
        found = struct.unpack_from("<II", main, 0x160 if is_old else 0x1A2)
        pieces = list(_pieces(table, *found))
    width = 2 if flags & _WIDE or not is_old else 1
    whole = b"".join(_piece(main, number, place, width) for number, place in pieces)
    parts = [
        whole[2 * start : 2 * end].decode("utf-16-le", "replace")
        for start, end in pairwise(accumulate(counts, initial=0))
    ]
    if width == 2:
        return parts
    (characters,) = struct.unpack_from("<H", main, 0x14)
    return _decoded(parts, "mac-roman" if characters == _OF_MACINTOSH else None)


def _pieces(table: bytes, start: int, size: int) -> Iterator[tuple[int, int]]:
    """The number of characters of each piece of a text, and its place in the file."""
    last = start + size
    while start < last and table[start : start + 1] != _PIECES:
        start += 3 + struct.unpack_from("<H", table, start + 1)[0]
    (size,) = struct.unpack_from("<I", table, start + 1)
    number = max(size - 4, 0) // 12
    ends = struct.unpack_from(f"<{number + 1}I", table, start + 5)
    places = struct.unpack_from("<" + number * "2xI2x", table, start + 9 + 4 * number)
    return zip((end - begin for begin, end in pairwise(ends)), places, strict=True)


def _piece(main: bytes, number: int, place: int, width: int) -> bytes:
    """The characters of a piece in UTF-16."""
    is_narrow = width == 2 and place & _NARROW
    start = (place ^ _NARROW) // 2 if is_narrow else place
    size = number if is_narrow else width * number
    found = main[start : start + max(size, 0)]
    if number < 0 or len(found) < size:
        raise NotReadable("damaged: a piece of its text is missing")
    codec = "cp1252" if is_narrow else ("latin-1", "utf-16-le")[width - 1]
    return found.decode(codec, "replace").encode("utf-16-le", "surrogatepass")


def _decoded(parts: Sequence[str], label: str | None) -> list[str]:
    """Texts of bytes, as characters of the encoding that they have in common."""
    raw = [part.encode("latin-1") for part in parts]
    encoding = declared_or_likely(_CONTROLS.sub(b" ", b"".join(raw)), label)
    return [decode(part, encoding) for part in raw]


def _shown(text: str) -> str:
    """A part of a Word document as it shows it: fields have their results."""
    shown, codes = list[str](), list[int | None]()  # where the code of each open field begins
    for piece in _FIELD_MARK.split(text):
        if piece == _BEGIN:
            codes.append(len(shown))
        elif piece in _ENDS_OF_CODE and codes:
            if (begin := codes.pop()) is not None:
                code = "".join(shown[begin:])
                shown[begin:] = [_under_reading(code)] if piece == _END else []
            if piece == _RESULT:
                codes.append(None)
        else:
            shown.append(piece)
    return "".join(shown).translate(_SIGNS)


def _under_reading(code: str) -> str:
    r"""The characters that a field of only code sets under their reading: EQ \o\ad(reading,x)."""
    is_reading = code.lstrip(" ").startswith("EQ ") and r"\o\a" in code and code.endswith(")")
    return code[:-1].rpartition(",")[2] if is_reading else ""


def msg(data: bytes) -> str:
    """The subject of a mail and its body."""
    file = Compound(data)
    properties = file.read("__properties_version1.0")[32:]
    pages = dict(struct.iter_unpack("<I4xI4x", properties[: len(properties) // 16 * 16]))
    label = f"cp{pages.get(_BODY_PAGE) or pages.get(_PAGE)}"
    body, read, unseen = _property(file, "1000", label), ["0037", "1000"], list[tuple[str, bytes]]()
    if not body.strip():
        html = file.read(f"{_PROPERTY}10130102")
        markup = html_text.decoded(html) if html else _property(file, "1013", label)
        title, body, unseen = html_text.page(markup)
        body = f"{title}\n{body}"
        read.append("1013")
    shown = unless_empty(f"{_property(file, '0037', label)}\n{body}")
    return with_unread(shown, [*unseen, *file.unread(*(_PROPERTY + number for number in read))])


def _property(file: Compound, number: str, label: str) -> str:
    """A property of a mail, in UTF-16 or in bytes of this encoding."""
    raw = file.read(f"{_PROPERTY}{number}001e")
    wide = file.read(f"{_PROPERTY}{number}001f").decode("utf-16-le", "replace")
    return wide or decode(raw, declared_or_likely(raw, label))


def ppt(data: bytes) -> str:
    """The text on the slides of a presentation, in their order."""
    file, text = Compound(data), TextBuilder()
    main = file.read("powerpoint document")
    left = len(main)
    try:
        for place, outline in _slides(main, file.read("current user")):
            left -= struct.unpack_from("<I", main, place + 4)[0]
            if left < 0:
                raise NotReadable("damaged: slides overlap")
            text.add("\n".join(_on_slide(main, place, outline)) + "\n")
    except (struct.error, LookupError):
        raise NotReadable("damaged, or of PowerPoint 95") from None
    return with_unread(unless_empty(str(text)), file.unread())


def _slides(main: bytes, user: bytes) -> list[tuple[int, list[str]]]:
    """The place of each slide, and the texts in its outline."""
    token, edit = struct.unpack_from("<II", user, 12)
    if token == _CIPHERED_SLIDES:
        raise NotReadable("encrypted")
    (document,) = struct.unpack_from("<I", main, edit + 24)
    places, newer = dict[int, int](), len(main)
    while 0 < edit < newer:
        newer = edit
        edit, directory = struct.unpack_from("<II", main, newer + 16)
        places = _directory(main, directory) | places
    found, is_slides = list[tuple[int, list[str]]](), False
    for kind, instance, body in _records(main, places[document]):
        if kind == _LIST:
            is_slides = instance == 0
        elif is_slides and kind == _SLIDE:
            found.append((places[struct.unpack_from("<I", body)[0]], []))
        elif is_slides and kind == _START:
            found[-1][1].append("")
        elif is_slides and kind in _TEXTS:
            found[-1][1][-1] += body.decode(_TEXTS[kind], "replace")
    return found


def _directory(main: bytes, place: int) -> dict[int, int]:
    """Where the records of an edit are, by their numbers."""
    (size,) = struct.unpack_from("<I", main, place + 4)
    numbers, found = iter(struct.unpack_from(f"<{size // 4}I", main, place + 8)), dict[int, int]()
    for number in numbers:
        first = number & 0xFFFFF
        found.update(zip(range(first, first + (number >> 20)), numbers, strict=False))
    return found


def _records(main: bytes, place: int) -> Iterator[tuple[int, int, bytes]]:
    """The kind, instance and content of each record within another, at any depth."""
    last = place + 8 + struct.unpack_from("<I", main, place + 4)[0]
    place += 8
    while place < last:
        head, kind, size = struct.unpack_from("<HHI", main, place)
        has_records = head & 0xF == 0xF
        yield kind, head >> 4, b"" if has_records else main[place + 8 : place + 8 + size]
        place += 8 if has_records else 8 + size


def _on_slide(main: bytes, place: int, outline: list[str]) -> Iterator[str]:
    """The texts on a slide, in the order of its shapes; some of them are in the outline."""
    for kind, _, body in _records(main, place):
        if kind == _OUTLINED:
            yield outline[struct.unpack_from("<I", body)[0]]
        elif kind in _TEXTS:
            yield body.decode(_TEXTS[kind], "replace")
