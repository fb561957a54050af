import sys
import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdup.compute import compiled
from simdup.fingerprint import signs
from simdup.records import DIFFERENCES
from simdup.text import signs as table
from simdup.text.unicode import code_points

SIGNS, POINTS, CAPITALS, VARIANTS = ((each,) for each in DIFFERENCES)

MARKS = st.sampled_from(
    "ab1Z é-–−~,;.!=*+#>< \t\n/$€'\"()餘余，。2²½…·☐☑★\u0301\u30ac\uff76\uff9e①각"
)
TEXTS = st.text(st.one_of(MARKS, st.sampled_from("a1-*+>, =.!\t\n "), st.characters()), max_size=40)


@pytest.fixture(params=["numpy", "kernels"])
def by(request, monkeypatch):
    kernels = request.getfixturevalue("kernels") if request.param == "kernels" else None
    found = kernels and compiled.loaded_kernels()
    monkeypatch.setattr(signs, "loaded_kernels", lambda: found)


def digests(*texts):
    return signs.sign_digests(*code_points(texts)).astype(np.uint32)


def differing(one, other):
    """The sequences in which two texts with the same words differ."""
    a, b = digests(one, other)
    return tuple(name for name, x, y in zip(DIFFERENCES, a, b, strict=True) if x != y)


@pytest.mark.usefixtures("by")
@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("The balance is -500.", "The balance is 500.", SIGNS),
        ("The balance is - 500.", "The balance is 500.", SIGNS),
        ("It is -£500", "It is £500", SIGNS),
        ("It is \u2212x", "It is x", SIGNS),
        ("at a temperature of ≤ 60", "at a temperature of ≥ 60", SIGNS),
        ("£ 500", "€ 500", SIGNS),
        ("☑ yes ☐ no", "☐ yes ☑ no", SIGNS),
        ("● yes ○ no", "○ yes ● no", SIGNS),
        ("Paid: ○ yes", "Paid: ● yes", SIGNS),
        ("▲ 5 per cent", "▼ 5 per cent", SIGNS),
        ("due == 1", "due != 1", SIGNS),
        ("a > b", "a < b", SIGNS),
        ("5 %", "5 ‰", SIGNS),
        ("10⁶", "106", SIGNS),
        ("10⁶", "10₆", SIGNS),
        ("2*3", "2/3", SIGNS),
        ("C++", "C#", SIGNS),
        ("wait, then pour", "wait then pour", POINTS),
        ("下雨天，留客", "下雨天留客", POINTS),
        ("Really?", "Really!", POINTS),
        ("Polish it", "polish it", CAPITALS),
        ("MHz", "mHz", CAPITALS),
        ("餘先生", "余先生", VARIANTS),
        ("Wait, £5", "wait €5", (*SIGNS, *POINTS, *CAPITALS)),
    ],
)
def test_signs_that_change_the_meaning_differ(one, other, expected):
    assert differing(one, other) == expected


@pytest.mark.usefixtures("by")
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("“quoted” ‘words’ it’s", "\"quoted\" 'words' it's"),
        ("«quoted» 「words」", "quoted 'words'"),
        ("long – dash — well-known", "long - dash -- well known"),
        ("• 5 apples\n  ◦ 6 pears", "- 5 apples\n* 6 pears"),
        ("● 5 apples\n  ○ 6 pears", "- 5 apples\n■ 6 pears"),
        ("+ 5 apples\n– 6 pears", "5 apples 6 pears"),
        ("Head\n====\nText\n----------", "Head\nText\n______"),
        ("+---+---+\n| a | b |\n+===+===+", "a\tb"),
        ("*word* and _word_ **word**", "word and word word"),
        ("５％，６＝７！", "5%，6=7!"),
        ("餘，下", "餘,下"),
        ("換弦，調音、二根。", "換弦, 調音, 二根."),
        ("wait… then", "wait... then"),
        ("oﬃce", "office"),
        ("in\u00a0a\u3000line", "in a\n\nline"),
        ('name,12,40\n"Ann",5', "name\t12\t40\nAnn\t5"),
        ("name;12;40", "name 12 40"),
        ("pages 5–10, 5 – 10", "pages 5-10, 5 - 10"),
        ("-5 and --5", "−5 and −5"),
        ("> a letter\n> in answer", "a letter in answer"),
        ("CAFÉ ガ 각", unicodedata.normalize("NFD", "CAFÉ ガ 각")),
    ],
)
def test_what_typesetting_and_formats_choose_does_not_differ(one, other):
    assert differing(one, other) == ()


@pytest.mark.usefixtures("kernels")
@given(st.lists(TEXTS, max_size=4), st.integers(0, 9))
def test_kernels_and_numpy_give_equal_digests_of_signs(texts, before):
    compiled_digests = signs.sign_digests(*code_points(texts), before)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(signs, "loaded_kernels", lambda: None)
        plain = signs.sign_digests(*code_points(texts), before)

    assert (compiled_digests == plain).all()


@given(st.lists(TEXTS, max_size=6))
def test_where_a_text_is_cut_changes_no_digest_of_its_signs(pieces):
    parts = [found for _, found in signs.with_signs(pieces)]

    assert (sum(parts) == signs.sign_digests(*code_points(["".join(pieces)]))).all()


def test_every_code_point_has_an_entry_that_says_what_it_is():
    codes = np.arange(sys.maxunicode + 1, dtype=np.uint32)
    entries = table.sign_table(codes).astype(np.int64)

    kinds = entries >> table.KIND_AT & 15
    categories = np.array([unicodedata.category(chr(code)) for code in codes.tolist()])
    assert (kinds[categories == "Sc"][entries[categories == "Sc"] & 31 == 0] == table.SIGN).all()
    assert set(kinds[categories == "Zs"].tolist()) == {table.BLANK}
    assert set(kinds[categories == "Lu"].tolist()) == {table.CAPITAL}
    assert not kinds[np.isin(categories, ["Pi", "Pf", "Mn", "Mc", "Cf", "Cs", "Co", "Cn"])].any()
    assert (entries[categories == "Nd"] & table.DIGIT > 0).all()
    assert ((entries[categories == "Ll"] & table.LETTERS) > 0).sum() > 2000
    marked = np.flatnonzero(kinds > table.NEWLINE)
    assert (entries[marked] >> table.SIGN_AT > 0).all()


def test_the_first_signs_that_differ_are_named():
    assert signs.first_signs("a 5 € and -5", "a 5 € and 5") == ("-", "")
    assert signs.first_signs("a ≤ 5", "a ≥ 5 + 1") == ("≤", "≥")
    assert signs.first_signs("a + b", "a + b") == ("", "")


def test_the_ranges_without_marks_have_no_character_with_an_entry_of_its_own():
    for begin, end in table.LETTERS_ONLY:
        found = {unicodedata.category(chr(code)) for code in range(begin, end)}
        assert found <= table.UNMARKED
