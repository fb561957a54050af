"""simdup.text.facts: which numbers, dates and references a text has, and another one lacks."""

from __future__ import annotations

import time

import pytest

from simdup.text import facts
from simdup.text.facts import Facts, OtherFacts, other_facts


def written(text):
    return [*Facts([text]).written.values()]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Train 17 on 3 May 2025, seat B-14, booking QK7T2.", "17|3 May 2025|B-14|QK7T2"),
        ("Due: -40, (-7) or \u221240.5; pages 10-12 and x=-2", "-40|-7|\u221240.5|10-12|-2"),
        ("€12.50, 30 £, CHF 7 and 8 USD; -$3", "€12.50|30 £|CHF 7|8 USD|-$3"),
        ("5 % of 2.5% and 3‰", "5 %|2.5%|3‰"),
        ("On 2025-03-05 at 10:30; March 2024; May 3rd", "2025-03-05|10:30|March 2024|May 3rd"),
        ("Am 3. März 2025 und 4. Dez. 2024", "3. März 2025|4. Dez. 2024"),
        ("v1.2.3 of see/part-2, host 10.0.0.1.", "v1.2.3|see/part-2|10.0.0.1"),
        ("会议于三月五日召开，费用三百元，共8人", "三月五日|三百元|8"),
        ("２０２５年３月，第12号，500万元", "2025年3月|12号|500万元"),
        ("May we march on Mars, second to none? 一个统一的千万个", ""),
    ],
)
def test_facts_are_runs_with_a_digit_and_dates_in_words(text, expected):
    assert written(text) == [each for each in expected.split("|") if each]


@pytest.mark.parametrize(
    "spellings",
    [
        ("1,234.50", "1.234,50", "1'234.50", "1’234.50", "1234,50", "1234.50"),
        ("1,234,567", "1.234.567", "1'234'567", "1234567"),
        ("€5", "€ 5", "5 €", "5€"),
        ("10-12", "10–12", "10\u201112"),
        ("-5", "–5", "\u22125", "－５"),
        ("May 3, 2025", "May 3 2025", "May 3,\n    2025"),
        ("3. Mai 2025", "3 Mai 2025"),
        ("２０２５年５月３日", "2025年5月3日", "2025 年 5 月 3 日"),
        ("7 %", "7%", "７％"),
        ("qk7t2", "QK7T2"),
    ],
)
def test_a_fact_in_another_spelling_is_the_same_fact(spellings):
    for each in spellings[1:]:
        assert other_facts(f"x {spellings[0]} y", f"x {each} y").in_words() == ""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("500", "-500"),
        ("€500", "£500"),
        ("5", "5 %"),
        ("1.234", "1,234"),
        ("3.10", "3.1"),
        ("May 2025", "June 2025"),
        ("3 May 2025", "3 May 2024"),
        ("三月五日", "三月六日"),
        ("b14", "b-14"),
        ("A$80", "US$80"),
        ("80 CAD", "80 AUD"),
        ("租金叁仟元", "租金肆仟元"),
        ("壹万圆", "贰万圆"),
        ("百分之三", "百分之五"),
        ("第三条", "第五条"),
    ],
)
def test_facts_that_may_differ_are_two_facts(one, other):
    assert other_facts(f"x {one} y", f"x {other} y").may_be_exchanged


def test_facts_are_exchanged_only_if_each_text_has_one_of_its_own():
    assert other_facts("1 and 2", "1 and 3").may_be_exchanged
    assert not other_facts("1 and 2", "1").may_be_exchanged
    assert not other_facts("1", "1 and 2").may_be_exchanged
    assert not other_facts("2, 1", "1, 2 and 1").may_be_exchanged


def test_facts_are_named_in_their_order_and_the_others_counted():
    assert other_facts("7 then 5 then 6", "5, 9").in_words() == "other numbers: 7 / 9, 1 more"
    assert other_facts("5", "5, 9, 8, 7").in_words() == "other numbers: none / 9, 2 more"
    assert other_facts("1" * 300, "2").in_words() == f"other numbers: {'1' * 40} / 2"
    assert other_facts("5, 6", "5 and 6").in_words() == ""


def test_facts_in_each_others_places_are_exchanged():
    swapped = other_facts("Garden 80, sea 95, attic 60", "Garden 95, sea 80, attic 60")
    assert swapped.may_be_exchanged
    assert swapped.in_words() == "other numbers: 80 / 95, 1 more"
    # One more or less says that a text was added to.
    assert not other_facts("80, 95, 60", "95, 80, 60, 60").may_be_exchanged


def test_a_text_in_pieces_has_the_same_facts(monkeypatch):
    text = "Booking 3 May 2025 costs €1,234.50 at B-14.\nSeat 17 on 9 June 2025.\n" * 3
    whole = Facts([text]).written
    assert len(whole) == 5

    for size in range(1, len(text)):
        cut = [text[begin : begin + size] for begin in range(0, len(text), size)]
        assert Facts(cut).written == whole
        monkeypatch.setattr(facts, "PIECE", max(size, 60))
        assert Facts([text]).written == whole


def test_a_text_of_too_many_facts_says_so_and_keeps_none(monkeypatch):
    monkeypatch.setattr(facts, "_MOST_BYTES", 10_000)
    many = Facts(f"{begin} {begin + 1} " for begin in range(0, 1000, 2))

    other = OtherFacts.of(many, Facts(["1"]))

    assert many.written == {}
    assert other.may_be_exchanged
    assert other.in_words() == "more numbers than can be compared"


@pytest.mark.parametrize(
    "unit",
    ["a", "1", "a-", "1,", "1.234,", "1 ", "月", "5月", "$ ", "3 Mar ", "a" * 41 + "1", "-/"],
)
def test_hostile_texts_take_time_in_proportion_to_their_length(unit):
    def seconds(length):
        text = unit * (length // len(unit))
        begin = time.process_time()
        Facts([text])
        return time.process_time() - begin

    assert (
        min(seconds(200_000) for _ in range(3)) < 10 * min(seconds(50_000) for _ in range(3)) + 0.02
    )
