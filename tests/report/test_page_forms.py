"""The places of a form, as a page shows them."""

from __future__ import annotations

from simdup.recipe import Recipe
from simdup.report.page import forms
from simdup.report.page.forms import form_of

LINES = "For the boat {} the office lets berth {} for the season.\nThe rent is {}, due on {} April."
FILLED = [
    ("Seagull", "07", "1,180.00", "1"),
    ("Morning Star", "08", "940.00", "3"),
    ("Little Otter", "11", "760.50", "12"),
    ("Teal", "12", "1,420.00", "20"),
]
TEXTS = [LINES.format(*values) for values in FILLED]


def test_each_text_has_its_reading_at_each_place_whole_numbers_at_a_time():
    form = form_of(TEXTS, Recipe())

    assert form["places"] == 4
    assert form["rows"] == [list(values) for values in FILLED]


def test_the_pattern_is_the_first_text_with_numbers_for_its_readings():
    form = form_of(TEXTS, Recipe())

    assert form["pattern"][:4] == ["For the boat ", 0, " the office lets berth ", 1]
    told = "".join(
        part if isinstance(part, str) else form["rows"][0][part] for part in form["pattern"]
    )
    assert told == TEXTS[0]


def test_chinese_forms_have_places_too():
    pattern = "船只{}租用东港第{}号泊位，租金为每季{}元，须在船只下水之前付清。"
    filled = [("海鸥", "七", "940"), ("晨星", "八", "1180"), ("水獭", "九", "760")]

    rows = form_of([pattern.format(*values) for values in filled], Recipe())["rows"]

    assert [row[-1] for row in rows] == ["940", "1180", "760"]


def test_equal_texts_have_no_places():
    assert form_of([TEXTS[0], TEXTS[0]], Recipe()) is None


def test_only_the_places_that_most_texts_fill_in_are_shown(monkeypatch):
    monkeypatch.setattr(forms, "MOST_PLACES", 2)

    form = form_of(TEXTS, Recipe())

    assert form["places"] == 2
    assert all(len(row) == 2 for row in form["rows"])


def test_readings_are_printable_and_cut():
    long = [LINES.format(f"\u202e{'x' * 90}{number}", number, "1", "2") for number in range(3)]

    rows = form_of(long, Recipe())["rows"]

    assert all(len(row[0]) == forms.LONGEST_READING for row in rows)
    assert not any("\u202e" in row[0] for row in rows)
