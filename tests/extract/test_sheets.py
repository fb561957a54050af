"""Values of cells as number formats show them."""

from __future__ import annotations

import pytest

from simdup.extract.sheets import FORMATS, Sheets, plain, shown


@pytest.mark.parametrize(
    ("value", "code", "expected"),
    [
        (43831, "yyyy-mm-dd", "2020-01-01"),
        (43831, "d.m.yy", "1.1.20"),
        (43831, "[$-409]dddd, mmmm dd, yyyy;@", "Wednesday, January 01, 2020"),
        (43831, 'yyyy"年"m"月"d"日"', "2020年1月1日"),
        (43831.75, "m/d/yyyy h:mm AM/PM", "1/1/2020 6:00 PM"),
        (43831.999999999, "hh:mm:ss", "00:00:00"),
        (0.5, "h:mm", "12:00"),
        (0.5 + 1.25 / 86_400, "mm:ss.00", "00:01.25"),
        (1.5, "[h]:mm:ss", "36:00:00"),
        (1 / 24, "[mm]", "60"),
        (1, "yyyy-mm-dd", "1900-01-01"),
        (61, "yyyy-mm-dd", "1900-03-01"),
        (-1, "yyyy-mm-dd", "-1"),
        (0.125, "0.0%", "12.5%"),
        (0.125, "0%", "13%"),
        (1234.5, "#,##0.00", "1,234.50"),
        (1234.5, "$#,##0", "$1,235"),
        (-1234.5, '#,##0.00 "€"', "-1,234.50 €"),
        (-1234.5, "#,##0.00_);(#,##0.00)", "(1,234.50)"),
        (1234.5, "_-* #,##0.00 [$€-407]_-;-* #,##0.00", " 1,234.50 €"),
        (0, '0;-0;"none"', "none"),
        (0, "0;;", ""),
        (-0.001, "0.00", "0.00"),
        (7, "000", "007"),
        (12.5, ".00", "12.50"),
        (12.5, "0.##", "12.5"),
        (1_234_567, '#,##0,"k"', "1,235k"),
        (5_551_234_567, "(000) 000-0000", "5551234567"),
        (12345.678, "0.00E+00", "1.23E+04"),
        (0.5, "# ?/?", "0.5"),
        (5, "General", "5"),
        (5, "", "5"),
    ],
)
def test_numbers_are_shown_as_their_formats_say(value, code, expected):
    assert shown(value, code).strip() == expected.strip()


def test_days_of_the_macintosh_are_counted_from_1904_on():
    assert shown(42369, "yyyy-mm-dd", is_1904=True) == shown(43831, "yyyy-mm-dd")


@pytest.mark.parametrize("value", [0, 0.1, -7.25, 1e300, 5e-324, 43831.5, 2.5e9, float("nan")])
@pytest.mark.parametrize(
    "code",
    [*FORMATS.values(), '"', "[", "\\", "0.0.0", "%%", ",", "[h", "E+", "y.m", ";;;", "?" * 300],
)
def test_any_number_is_shown_in_any_format(value, code):
    assert isinstance(shown(value, code), str)
    assert plain(value)


def test_exact_values_and_filled_cells_are_noted():
    def noted(*cells):
        sheets = Sheets(["0%"], is_1904=False)
        for cell in cells:
            sheets.add(*cell)
        sheets.end()
        return str(sheets.text).split(), sheets.others

    one, other = noted((0, 0, 0.125), (0, 1, "May")), noted((0, 0, 0.126), (0, 1, "May"))
    moved = noted((0, 0, 0.125), (0, 2, "May"))

    assert one[0] == other[0] == moved[0] == ["13%", "May"]
    assert [kind for kind, _ in one[1]] == ["tables", "formulas and values"]
    assert one[1][0] == other[1][0] != moved[1][0]
    assert one[1][1] == moved[1][1] != other[1][1]
