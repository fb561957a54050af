"""The cells of binary workbooks: of Excel 5 to 2003 (XLS), and of newer ones (XLSB).

Both are rows of records, each with a kind and a size. Sources: [MS-XLS], [MS-XLSB], and for Excel
5 and 95 "Microsoft Excel File Format" of the OpenOffice project.
"""

from __future__ import annotations

import struct
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator

from simdup.extract.cleanup import NotReadable, unless_empty, with_unread
from simdup.extract.old_office import Compound
from simdup.extract.sheets import FORMATS, Sheets
from simdup.extract.text_formats import pairs, tables
from simdup.text.encodings import decode, encoding_named, known_encoding

_KINDS = {
    title: {int(kind, 16): method for kind, method in pairs(words).items()}
    for title, words in tables("workbooks").items()
}
# The record that begins a part, and how it says that strings have characters of up to two bytes.
_BEGIN, _END, _WIDE = 0x809, 0x0A, b"\0\6"
_CODECS = ("latin-1", "utf-16-le")
_MACINTOSH = 0x8000


class _Book(ABC):
    """What a workbook says before its cells, and the cells; a method takes each kind of record."""

    def __init__(self, kinds: str) -> None:
        self.codes, self.styles, self.strings = dict(FORMATS), list[int](), list[str]()
        self._kinds, self._is_1904, self._cell = _KINDS[kinds], False, (0, 0, 0)
        self._sheets = Sheets((), is_1904=False)

    def take(self, records: Iterable[tuple[int, bytes]]) -> None:
        for kind, body in records:
            if method := self._kinds.get(kind):
                getattr(self, method)(body)

    def begin(self) -> Sheets:
        codes = [self.codes.get(style, "") for style in self.styles]
        self._sheets = Sheets(codes, is_1904=self._is_1904)
        return self._sheets

    def entered(self, body: bytes) -> bytes:
        """Note where a cell is, and return what the cell holds."""
        self._cell = struct.unpack_from("<HHH", body)
        return body[6:]

    @abstractmethod
    def written(self, body: bytes) -> str:
        """Return the string at the beginning of a record."""

    def add(self, value: float | str) -> None:
        row, column, style = self._cell
        self._sheets.add(row, column, value, style)

    def dates(self, body: bytes) -> None:
        self._is_1904 = bool(body[0] & 1)

    def format(self, body: bytes) -> None:
        self.codes[int.from_bytes(body[:2], "little")] = self.written(body[2:])

    def style(self, body: bytes) -> None:
        self.styles.append(int.from_bytes(body[2:4], "little"))

    def shared(self, body: bytes) -> None:
        self.add(self.strings[int.from_bytes(self.entered(body)[:4], "little")])

    def number(self, body: bytes) -> None:
        self.add(*struct.unpack_from("<d", self.entered(body)))

    def rk(self, body: bytes) -> None:
        self.add(_rk(*struct.unpack_from("<i", self.entered(body))))

    def truth(self, body: bytes) -> None:
        self.add(str(bool(self.entered(body)[0])).upper())

    def text(self, body: bytes) -> None:
        self.add(self.written(self.entered(body)))


def _rk(value: int) -> float:
    """A number in 32 bits: 30 bits, as a whole number or half of a float, perhaps of hundredths."""
    (half,) = struct.unpack("<d", struct.pack("<4xi", value & ~3))
    number = value >> 2 if value & 2 else half
    return float(number / 100 if value & 1 else number)


class _Xls(_Book):
    """A book of Excel 5 to 2003. In older ones strings are bytes of a code page."""

    def __init__(self, whole: bytes) -> None:
        super().__init__("xls")
        self._encoding = None if whole[4:6] == _WIDE else encoding_named("cp1252")
        self._table, self._whole, self.places = deque[bytes](), whole, list[int]()

    def written(self, body: bytes, size: int = 2) -> str:
        length, body = int.from_bytes(body[:size], "little"), body[size:]
        if self._encoding:
            return decode(body[:length], self._encoding)
        is_wide = body[0] & 1
        return body[1 : 1 + length * (1 + is_wide)].decode(_CODECS[is_wide], "replace")

    def locked(self, _: bytes) -> None:
        raise NotReadable("encrypted")

    def page(self, body: bytes) -> None:
        if self._encoding:
            page = int.from_bytes(body[:2], "little")
            label = "mac-roman" if page == _MACINTOSH else f"cp{page}"
            self._encoding = known_encoding(label) or self._encoding

    def sheet(self, body: bytes) -> None:
        if body[5] == 0:  # others are charts and macros
            self.places.append(int.from_bytes(body[:4], "little"))

    def format(self, body: bytes) -> None:
        number = int.from_bytes(body[:2], "little")
        self.codes[number] = self.written(body[2:], 1 if self._encoding else 2)

    def table(self, body: bytes) -> None:
        self._table = deque((body,))

    def further(self, body: bytes) -> None:
        self._table.append(body)

    def begin(self) -> Sheets:
        self.strings = list(_shared_strings(self._table)) if self._table else []
        return super().begin()

    def many_rk(self, body: bytes) -> None:
        row, column = struct.unpack_from("<HH", body)
        for number, (style, value) in enumerate(struct.iter_unpack("<Hi", body[4:-2])):
            self._cell = row, column + number, style
            self.add(_rk(value))

    def formula(self, body: bytes) -> None:
        if body[12:14] != b"\xff\xff":
            self.number(body)
        elif body[6] == 1:
            self.truth(body[:6] + body[8:9] + bytes(1))
        self.entered(body)  # a text follows

    def result(self, body: bytes) -> None:
        self.add(self.written(body))

    def truth(self, body: bytes) -> None:
        if body[7] == 0:  # no error
            super().truth(body)

    def part(self, place: int) -> Iterator[tuple[int, bytes]]:
        """The kind and the content of each record of a part, but not of charts within it."""
        depth, whole = 0, self._whole
        while place + 4 <= len(whole):
            kind, size = struct.unpack_from("<HH", whole, place)
            depth += (kind == _BEGIN) - (kind == _END)
            if depth == 0:
                return
            if depth == 1:
                yield kind, whole[place + 4 : place + 4 + size]
            place += 4 + size


def text(data: bytes) -> str:
    """The cells of a workbook: a line for a row, in the order of its sheets."""
    file = Compound(data)
    book = _Xls(file.read("workbook") or file.read("book"))
    try:
        book.take(book.part(0))
        sheets = book.begin()
        for place in book.places:
            book.take(book.part(place))
            sheets.end()
    except (struct.error, LookupError):
        raise NotReadable("damaged workbook") from None
    # The whole book counts as not read: it holds formulas, layout and charts too.
    return with_unread(unless_empty(str(sheets.text)), [*sheets.others, *file.unread()])


def _shared_strings(parts: deque[bytes]) -> Iterator[str]:
    """The shared strings of a book; a string may go on in the next part, with another width."""
    number = int.from_bytes(parts[0][4:8], "little")
    rest = parts.popleft()[8:]
    for _ in range(number):
        rest = rest or parts.popleft()
        length, flags = struct.unpack_from("<HB", rest)
        sizes = f"<3x{'H' * bool(flags & 8)}{'I' * bool(flags & 4)}"
        more, rest = struct.unpack_from(sizes, rest), rest[struct.calcsize(sizes) :]
        skipped = (4 * more[0] if flags & 8 else 0) + (more[-1] if flags & 4 else 0)
        text = ""
        while length:
            if not rest:
                flags, rest = parts[0][0], parts.popleft()[1:]
            is_wide = flags & 1
            piece, rest = rest[: length << is_wide], rest[length << is_wide :]
            text += piece.decode(_CODECS[is_wide], "replace")
            length -= len(piece) >> is_wide
        while len(rest) < skipped:
            skipped, rest = skipped - len(rest), parts.popleft()
        rest = rest[skipped:]
        yield text


class _Xlsb(_Book):
    """A book in the binary format of newer Excel: cells follow their row."""

    def __init__(self) -> None:
        super().__init__("xlsb")
        self.identifiers = list[str]()

    def entered(self, body: bytes) -> bytes:
        column, style = struct.unpack_from("<II", body)
        self._cell = self._cell[0], column, style & 0xFFFFFF
        return body[8:]

    def written(self, body: bytes) -> str:
        length = int.from_bytes(body[:4], "little")
        return body[4 : 4 + 2 * length].decode("utf-16-le", "replace")

    def row(self, body: bytes) -> None:
        self._cell = int.from_bytes(body[:4], "little"), 0, 0

    def cell_styles(self, _: bytes) -> None:
        self.styles.clear()  # they were of other uses

    def string(self, body: bytes) -> None:
        self.strings.append(self.written(body[1:]))

    def sheet(self, body: bytes) -> None:
        self.identifiers.append(self.written(body[8:]))


def binary_sheets(parts: Iterable[bytes], sheet: Callable[[str], bytes]) -> Sheets:
    """The cells of an XLSB workbook, of its main part, its styles and its shared strings.

    `sheet` is the part of a sheet with an identifier. Raises NotReadable.
    """
    book = _Xlsb()
    try:
        for part in parts:
            book.take(_records(part))
        sheets = book.begin()
        for identifier in book.identifiers:
            book.take(_records(sheet(identifier)))
            sheets.end()
    except (struct.error, LookupError):
        raise NotReadable("damaged workbook") from None
    return sheets


def _records(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The kind and the content of each record of XLSB; kinds and sizes have seven bits a byte."""
    at, numbers = 0, [0, 0]
    while at < len(data):
        for which, most in enumerate((2, 4)):
            numbers[which] = 0
            for place in range(most):
                numbers[which] |= (data[at] & 0x7F) << 7 * place
                at += 1
                if data[at - 1] < 0x80:
                    break
        kind, size = numbers
        yield kind, data[at : at + size]
        at += size
