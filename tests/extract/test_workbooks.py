"""The cells of binary workbooks."""

from __future__ import annotations

import struct
from random import Random

import makers
import old_office
import pytest
import workbooks

from simdup.extract.cleanup import NotReadable, unread_of
from simdup.extract.readers import READERS, kind

ROWS = [["Member", "Joined", "Share", "Fee"], ["Ada 中文", 43831.0, 0.125, -1234.5]]
CODES = ["General", "yyyy-mm-dd", "0.0%", '#,##0.00 "€"']
SHOWN = ["Member", "Joined", "Share", "Fee", "Ada", "中文", "2020-01-01", "12.5%", "-1,234.50", "€"]


def read(data):
    return READERS[kind(data, "a")](data)


@pytest.mark.parametrize("make", [workbooks.xlsx, workbooks.xls, workbooks.xlsb])
def test_one_table_has_the_same_words_in_every_workbook(make):
    found = read(make(ROWS, CODES))

    assert found.split() == SHOWN
    assert {each for each in unread_of(found) if each.kind == "tables"} == {
        each for each in unread_of(read(workbooks.xlsx(ROWS, CODES))) if each.kind == "tables"
    }


def test_an_open_document_has_the_words_of_the_workbook():
    cells = "".join(
        f"<table:table-cell><text:p>{word}</text:p></table:table-cell>" for word in SHOWN
    )

    assert (
        read(makers.odf_of(f"<table:table>{cells}</table:table>", "spreadsheet")).split() == SHOWN
    )


@pytest.mark.parametrize("make", [workbooks.xlsx, workbooks.xls, workbooks.xlsb])
@pytest.mark.parametrize(
    ("at", "value"), [((0, 1), "Left"), ((1, 1), 43831.25), ((1, 2), 0.1251), ((1, 3), 1234.5)]
)
def test_another_value_is_another_text_or_other_content(make, at, value):
    rows = [list(row) for row in ROWS]
    rows[at[0]][at[1]] = value
    one, other = read(make(ROWS, CODES)), read(make(rows, CODES))

    assert (one, unread_of(one)) != (other, unread_of(other))


def test_a_chart_overwrites_no_cells():
    values = workbooks.record(0x203, struct.pack("<HHHd", 0, 0, 0, 7.0))
    chart = workbooks.begin(0x20) + values + workbooks.record(0x0A)

    assert read(workbooks.xls(ROWS, CODES, within=chart)).split() == SHOWN


def test_cells_of_every_type():
    def cell(kind, row, content):
        return workbooks.record(kind, struct.pack("<HHH", row, 0, 0) + content)

    cells = (
        cell(0x27E, 1, struct.pack("<i", 12345 << 2 | 3)),  # 123.45
        cell(0x27E, 2, struct.pack("<i", -7 << 2 | 2)),
        workbooks.record(0xBD, struct.pack("<HHHiHiH", 3, 0, 0, 1 << 2 | 2, 0, 2 << 2 | 2, 1)),
        cell(0x06, 4, struct.pack("<d", 2.5)),
        cell(0x06, 5, b"\0\0\0\0\0\0\xff\xff") + workbooks.record(0x207, b"\4\0\0made"),
        cell(0x06, 6, b"\1\0\1\0\0\0\xff\xff"),
        cell(0x205, 7, b"\0\0"),
        cell(0x205, 8, b"\7\1"),
        cell(0x204, 9, b"\3\0\0one"),
    )

    found = read(workbooks.xls([["first"]], within=b"".join(cells)))

    assert found.split() == [
        "first",
        "123.45",
        "-7",
        "1",
        "2",
        "2.5",
        "made",
        "TRUE",
        "FALSE",
        "one",
    ]


CUT = [
    (b"\5\0\0", b"\0caf\xe9s"),
    (b"\5\0\0caf", b"\0\xe9s"),
    (b"\5\0\0caf", b"\1" + "és".encode("utf-16-le")),
    (b"\5\0\1" + "ca".encode("utf-16-le"), b"\0f\xe9s"),
    (b"\5\0\x08\1\0caf\xe9s\0", b"\0\0\0"),
    (b"\5\0\x0c\1\0\6\0\0\0caf\xe9s" + bytes(7), bytes(3)),
    (b"\5\0\0caf\xe9s", b""),
]


@pytest.mark.parametrize(("first", "second"), CUT)
def test_shared_strings_go_on_in_the_next_record(first, second):
    table = workbooks.record(0xFC, struct.pack("<II", 2, 2) + first)
    table += workbooks.record(0x3C, second + b"\3\0\0end")
    cells = [workbooks.record(0xFD, struct.pack("<HHHI", 0, n, 0, n)) for n in range(2)]

    assert read(workbooks.xls([], within=b"".join(cells), table=table)).split() == ["cafés", "end"]


@pytest.mark.parametrize(("page", "codec"), [(936, "gbk"), (1251, "cp1251"), (0x8000, "mac-roman")])
def test_strings_of_excel_5_are_in_the_code_page_of_the_book(page, codec):
    word = {"gbk": "预算", "cp1251": "бюджет", "mac-roman": "café"}[codec]
    label = struct.pack("<HHHH", 0, 0, 0, len(word.encode(codec))) + word.encode(codec)
    globals_ = workbooks.begin(5, 0x500) + workbooks.record(0x42, struct.pack("<H", page))
    sheet = workbooks.begin(0x10, 0x500) + workbooks.record(0x204, label) + workbooks.record(0x0A)
    listed = struct.pack("<IBBB", len(globals_) + 4 + 8 + 4, 0, 0, 1) + b"a"
    book = globals_ + workbooks.record(0x85, listed) + workbooks.record(0x0A) + sheet

    assert read(old_office.compound({"Book": book})) == word


def test_a_workbook_with_a_password_is_encrypted():
    with pytest.raises(NotReadable, match="^encrypted$"):
        read(workbooks.xls(ROWS, CODES, records=workbooks.record(0x2F, bytes(6))))


@pytest.mark.parametrize("make", [workbooks.xls, workbooks.xlsb])
def test_damage_ends_in_a_text_or_a_reason(make):
    random, whole = Random(41), make(ROWS, CODES)
    for _ in range(200):
        data = bytearray(whole)
        for place in random.sample(range(len(data)), 20):
            data[place] = random.choice((0, 1, 2, 255))
        try:
            READERS["xls" if make is workbooks.xls else "xlsx"](bytes(data))
        except NotReadable as trouble:
            assert trouble.reason
