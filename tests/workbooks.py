"""One table of numbers with number formats, as a workbook of each kind."""

from __future__ import annotations

import struct

import makers
import old_office


def record(kind, content=b""):
    return struct.pack("<HH", kind, len(content)) + content


def begin(kind, version=0x600):
    return record(0x809, struct.pack("<HHHHII", version, kind, 0, 0, 0, 6))


def xls(rows, codes=(), *, within=b"", records=b"", table=None):
    """A workbook of Excel 97: strings are shared, and a number's format has the place in `codes`.

    `within` are records after the cells of the sheet, `records` some before the sheets, and `table`
    are other shared strings.
    """
    strings = [each for row in rows for each in row if isinstance(each, str)]
    listed = b"".join(struct.pack("<HB", len(s), 1) + s.encode("utf-16-le") for s in strings)
    table = table or record(0xFC, struct.pack("<II", len(strings), len(strings)) + listed)
    formats = b"".join(
        record(0x41E, struct.pack("<HHB", 200 + n, len(code), 1) + code.encode("utf-16-le"))
        for n, code in enumerate(codes)
    )
    styles = b"".join(record(0xE0, struct.pack("<HH16x", 0, 200 + n)) for n in range(len(codes)))
    cells, number = b"", 0
    for row, line in enumerate(rows):
        for column, value in enumerate(line):
            head = struct.pack("<HHH", row, column, column)
            if isinstance(value, str):
                cells += record(0xFD, head + struct.pack("<I", number))
                number += 1
            else:
                cells += record(0x203, head + struct.pack("<d", value))
    globals_ = begin(5) + records + formats + styles + table
    name = struct.pack("<BBBB", 0, 0, 1, 0) + b"a"
    place = struct.pack("<I", len(globals_) + 4 + 4 + len(name) + 4)
    book = globals_ + record(0x85, place + name) + record(0x0A)
    return old_office.compound({"Workbook": book + begin(0x10) + cells + within + record(0x0A)})


def _record_12(kind, content=b""):
    head = bytes([kind]) if kind < 128 else bytes([kind & 0x7F | 0x80, kind >> 7])
    size = len(content)
    return (
        head + (bytes([size]) if size < 128 else bytes([size & 0x7F | 0x80, size >> 7])) + content
    )


def _string_12(text):
    return struct.pack("<I", len(text)) + text.encode("utf-16-le")


def xlsb(rows, codes=()):
    """The same as a workbook in Excel's binary format."""
    cells = b""
    for row, line in enumerate(rows):
        cells += _record_12(0, struct.pack("<I13x", row))
        for column, value in enumerate(line):
            head, is_text = struct.pack("<II", column, column), isinstance(value, str)
            content = _string_12(value) if is_text else struct.pack("<d", value)
            cells += _record_12(6 if is_text else 5, head + content)
    formats = b"".join(
        _record_12(44, struct.pack("<H", 200 + n) + _string_12(code))
        for n, code in enumerate(codes)
    )
    listed = b"".join(_record_12(47, struct.pack("<HH12x", 0, 200 + n)) for n in range(len(codes)))
    of_others = _record_12(626) + _record_12(47, struct.pack("<HH12x", 0, 9)) + _record_12(627)
    styles = formats + of_others + _record_12(617, struct.pack("<I", len(codes))) + listed
    sheet = _record_12(156, bytes(8) + _string_12("r0") + _string_12("a"))
    members = {"workbook.bin": sheet, "worksheets/a.bin": cells, "styles.bin": styles}
    relations = {0: ("worksheet", "worksheets/a.bin"), 1: ("styles", "styles.bin")}
    return makers.office("xl/workbook.bin", relations, members)


def xlsx(rows, codes=()):
    """The same as a workbook of XML."""
    cells = [
        "".join(
            f"<c r='{'ABCDEFGH'[n]}{at}' t='inlineStr'><is><t>{value}</t></is></c>"
            if isinstance(value, str)
            else f"<c r='{'ABCDEFGH'[n]}{at}' s='{n}'><v>{value!r}</v></c>"
            for n, value in enumerate(line)
        )
        for at, line in enumerate(rows, 1)
    ]
    quoted = [code.replace("&", "&amp;").replace('"', "&quot;") for code in codes]
    formats = "".join(
        f'<numFmt numFmtId="{200 + n}" formatCode="{c}"/>' for n, c in enumerate(quoted)
    )
    listed = "".join(f"<xf numFmtId='{200 + n}'/>" for n in range(len(codes)))
    of_others = "<cellStyleXfs><xf numFmtId='9'/></cellStyleXfs>"
    styles = f"<s>{formats}{of_others}<cellXfs>{listed}</cellXfs></s>"
    return makers.xlsx_of(cells, styles=styles)
