"""Compound files that hold a given text: old Office files and Outlook's mails."""

from __future__ import annotations

import re
import struct
from itertools import accumulate

FREE, END, TABLE = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
SECTOR, SMALL, CUTOFF = 512, 64, 4096


def compound(streams):
    """A compound file of streams by their names; a dict is a storage, with streams of its own."""
    tables, bodies = {SECTOR: [], SMALL: []}, {SECTOR: b"", SMALL: b""}

    def put(data, unit):
        start, count = len(tables[unit]), -(-len(data) // unit)
        tables[unit] += [*range(start + 1, start + count), END][:count]
        bodies[unit] += data.ljust(count * unit, b"\0")
        return start if count else END

    entries = []

    def put_all(items):
        """The number of the first entry; each entry has the next one at its right."""
        following = FREE
        for name, content in sorted(items.items(), key=_order, reverse=True):
            is_storage = isinstance(content, dict)
            child = put_all(content) if is_storage else FREE
            small = not is_storage and len(content) < CUTOFF
            start = 0 if is_storage else put(content, SMALL if small else SECTOR)
            size = 0 if is_storage else len(content)
            entries.append((name, 1 if is_storage else 2, (following, child, start, size)))
            following = len(entries)
        return following

    child = put_all(streams)
    inner, size = put(bodies[SMALL], SECTOR), len(bodies[SMALL])
    lists = put(
        struct.pack(f"<{len(tables[SMALL])}I", *tables[SMALL]).ljust(SECTOR, b"\xff"), SECTOR
    )
    entries.insert(0, ("Root Entry", 5, (FREE, child, inner, size)))
    tree = put(b"".join(_entry(*each) for each in entries), SECTOR)
    number = -(-(len(tables[SECTOR]) + 1) // 127)
    first = len(tables[SECTOR])
    table = [*tables[SECTOR], *[TABLE] * number]
    table += [FREE] * (number * 128 - len(table))
    places = [*range(first, first + number), *[FREE] * (109 - number)]
    head = struct.pack(
        "<8s16xHHHHH6xII", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", 62, 3, 0xFFFE, 9, 6, 0, number
    )
    head += struct.pack("<IIIIIII109I", tree, 0, CUTOFF, lists, 1, END, 0, *places)
    return head + bodies[SECTOR] + struct.pack(f"<{len(table)}I", *table)


def _order(item):
    return len(item[0]), item[0].upper()


def _entry(name, kind, numbers):
    encoded = (name + "\0").encode("utf-16-le")
    about = struct.pack("<HBBIII36xIII", len(encoded), kind, 1, FREE, *numbers, 0)
    return encoded.ljust(64, b"\0") + about


def doc(*parts, flags=0, **others):
    """A Word document with these parts: text, notes, headers, macros, comments, end notes, boxes.

    Runs of ASCII are pieces with a byte for each character; other pieces are in UTF-16.
    """
    places, text = [], b""
    pieces = re.findall("[\0-\x7f]+|[^\0-\x7f]+", "".join(parts))
    for piece in pieces:
        place = 0x200 + len(text)
        places.append(place * 2 | 1 << 30 if piece.isascii() else place)
        text += piece.encode("ascii" if piece.isascii() else "utf-16-le")
    listed = struct.pack(f"<{len(pieces) + 1}I", 0, *accumulate(map(len, pieces)))
    listed += b"".join(struct.pack("<2xI2x", place) for place in places)
    table = b"\1\3\0abc\2" + struct.pack("<I", len(listed)) + listed
    main = bytearray(0x200)
    struct.pack_into("<H8xH", main, 0, 0xA5EC, 0x200 | flags)
    struct.pack_into("<8I", main, 0x4C, *map(len, parts), *[0] * (8 - len(parts)))
    struct.pack_into("<II", main, 0x1A2, 0, len(table))
    return compound({"WordDocument": bytes(main) + text, "1Table": table, **others})


def word_6(text, encoding, notes=""):
    """A document of Word 6 or 95, in an encoding of its time."""
    parts = [text.encode(encoding), notes.encode(encoding)]
    main = bytearray(0x300)
    struct.pack_into("<H12xH", main, 0, 0xA5DC, 0)
    struct.pack_into("<I", main, 0x18, 0x300)
    struct.pack_into("<2I", main, 0x34, *map(len, parts))
    return compound({"WordDocument": bytes(main) + b"".join(parts)})


def msg(body, subject="", encoding=None, html=None, attachments=(), *, codec=None):
    """A mail of Outlook, its properties in UTF-16, or in an encoding with a code page."""
    ending, codec = ("001E", codec or f"cp{encoding}") if encoding else ("001F", "utf-16-le")
    named = {"0037": subject, "1000": body}
    streams = {f"__substg1.0_{key}{ending}": value.encode(codec) for key, value in named.items()}
    if html is not None:
        streams["__substg1.0_10130102"] = html.encode()
    page = struct.pack("<IIII", 0x3FFD0003, 6, encoding or 1200, 0)
    for number, content in enumerate(attachments):
        streams[f"__attach_version1.0_#{number:08X}"] = {"__substg1.0_37010102": content}
    return compound({"__properties_version1.0": bytes(32) + page, **streams})


def _record(kind, content, instance=0, version=0):
    return struct.pack("<HHI", instance << 4 | version, kind, len(content)) + content


def ppt(*slides, stale="", token=0xE391C05F):
    """A presentation; a slide is a title in the outline, and the text of a box.

    `stale` is a slide that an edit replaced.
    """
    places, main = [], _record(1006, _record(4000, stale.encode("utf-16-le")), version=15)
    for slide in slides:
        places.append(len(main))
        box = _record(4000, slide[1].encode("utf-16-le"))
        main += _record(1006, _record(3998, struct.pack("<I", 1)) + box, version=15)
    listed = b"".join(
        _record(1011, struct.pack("<I16x", number))
        + _record(3999, bytes(4))
        + _record(3999, bytes(4))
        + _record(4000, title.encode("utf-16-le"))
        for number, (title, _) in enumerate(slides, 2)
    )
    places.insert(0, len(main))
    main += _record(1000, _record(4080, listed, version=15), version=15)
    directory = len(main)
    main += _record(6002, struct.pack(f"<{len(places) + 1}I", len(places) << 20 | 1, *places))
    edit = len(main)
    main += _record(4085, struct.pack("<8xIIIII", 0, directory, 1, 0, 0))
    user = _record(4086, struct.pack("<IIIHHI", 20, token, edit, 0, 0x3F4, 0))
    return compound({"PowerPoint Document": main, "Current User": user})


def xls(text):
    """A workbook with a cell for each line."""

    def record(kind, content):
        return struct.pack("<HH", kind, len(content)) + content

    def begin(kind):
        return record(0x809, struct.pack("<HHHHII", 0x600, kind, 0, 0, 0, 6))

    end = record(0x0A, b"")
    cells = b"".join(
        record(0x204, struct.pack("<HHHHB", row, 0, 0, len(line), 1) + line.encode("utf-16-le"))
        for row, line in enumerate(text.split("\n"))
    )
    name = struct.pack("<IBBBB", 0, 0, 0, 1, 0) + b"a"
    globals_size = len(begin(5)) + len(record(0x85, name)) + len(end)
    sheet = record(0x85, struct.pack("<I", globals_size) + name[4:])
    return compound({"Workbook": begin(5) + sheet + end + begin(0x10) + cells + end})
