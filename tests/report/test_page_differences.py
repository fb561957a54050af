"""What differs between two texts, as a page says it."""

from __future__ import annotations

import pytest

from simdup.report.page import differences
from simdup.report.page.differences import KeptText

KEPT = """The heating of the hall ran on 26 days. The amount is 412.50 euros, payable in May.
Questions are answered at the counter."""


def compared(other, kept=KEPT):
    """What differs in another text."""
    return KeptText(kept).differences(other)


@pytest.mark.parametrize(
    ("other", "counts"),
    [
        (KEPT, (0, 0, 0, 0)),
        (KEPT.replace(", payable", " - payable").replace("May.", "May!"), (0, 0, 0, 0)),
        (KEPT.replace("is", "IS"), (0, 0, 0, 0)),
        (KEPT.replace("412.50", "397.10"), (1, 0, 0, 1)),
        (KEPT.replace(" Questions", "\nQuestions"), (0, 0, 0, 0)),
        (KEPT.replace("Questions are answered at the counter.", ""), (0, 1, 0, 0)),
        (KEPT + "\nThis invoice replaces an earlier letter.", (0, 0, 1, 0)),
        (KEPT.replace("heating", "warming"), (0, 0, 0, 1)),
        ("Nothing in common", (2, 3, 1, 0)),
        ("", (2, 3, 0, 0)),
    ],
)
def test_facts_and_sentences_are_counted_by_where_they_stand(other, counts):
    found = compared(other)

    assert (found.facts, found.only_kept, found.only_other, found.changed) == counts
    assert found.is_nothing is not any(counts)


def test_facts_stand_side_by_side_and_the_first_sentence_of_the_other_is_told():
    found = compared(KEPT.replace("412.50", "397.10") + " Paid on 3 May by the new chair.")

    assert (found.kept_facts, found.other_facts) == (["412.50"], ["397.10", "3 May"])
    assert found.facts == 2
    assert found.sentence == "Paid on 3 May by the new chair."


def test_a_long_line_that_is_wrapped_is_one_sentence():
    line = "The crane is ordered at the office of the harbour a week ahead of the day"

    assert compared(f"{line}\nof the launch.", f"{line} of the launch.").is_nothing


def test_chinese_sentences_are_compared_by_their_characters():
    kept = "租金须在下水之前付清。起重机须提前一周预订。"

    found = compared("租金须在下水之前付清。起重机须提前两周预订。泊位不得转租。", kept)

    assert (found.only_kept, found.only_other, found.changed) == (0, 1, 1)
    assert found.sentence == "泊位不得转租。"


def test_hostile_texts_are_printable_and_cut():
    found = compared(KEPT + f"\n\u202e<b>{'x' * 500}</b> more")

    assert found.sentence.startswith("\\u202e<b>xxx")
    assert len(found.sentence) == differences.LONGEST


def test_texts_with_very_many_other_sentences_count_as_changed(monkeypatch):
    monkeypatch.setattr(differences, "MOST_PAIRS", 3)

    found = compared("One thing.\nOther words.", "Nothing else.\nAnd more.")

    assert (found.only_kept, found.only_other, found.changed) == (0, 0, 2)
