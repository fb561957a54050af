"""simdup.findings.marks: which names are those of copies."""

from __future__ import annotations

import pytest

from simdup.findings.marks import are_copies, is_name_of_copy


@pytest.mark.parametrize(
    "name",
    [
        *(
            "letter (1).txt",
            "Copy of letter.txt",
            "letter.txt~",
            "letter.txt.bak",
            "letter副本.txt",
        ),
        *("日记 utf-8-sig.txt", "letter_GBK.txt", "letter - Kopie.txt", "lettre - copie (2).odt"),
        *("carta - copia.docx", "carta - Cópia.docx", "list kopia.txt", "kirje kopio.txt"),
        *("письмо — копия.txt", "手紙 - コピー.txt", "편지 - 복사본.txt", "levél - másolat.odt"),
        "letter (Ada Miller's conflicted copy 2025-08-14).txt",
        "letter (In Konflikt stehende Kopie von Ada 2025-08-14).txt",
        "lettre (copie en conflit de Ada 2025-08-14).txt",
        *("letter (Case Conflict).txt", "letter [Conflict].txt", "信 (Ada 的冲突副本 2025).txt"),
        *("letter (SFConflict ada@example.org 2025-08-14-10-11-12).txt", "letter.conflict.txt"),
        "letter.sync-conflict-20250926-224656-C5H6PTH.txt",
        "letter_conflict-20250823-151712.txt",
    ],
)
def test_words_and_conflicts_make_a_name_that_of_a_copy(name):
    assert is_name_of_copy(name)


@pytest.mark.parametrize(
    "name",
    [
        *("~letter", "copyright.txt", "bold.txt", "letter (a).txt", "gbk.txt", "letter 2.txt"),
        *("conflict.txt", "Conflict of interest.txt", "inner conflict.txt", "copybook.txt"),
    ],
)
def test_names_that_merely_resemble_those_of_copies_are_no_copies(name):
    assert not is_name_of_copy(name)


@pytest.mark.parametrize(
    "name",
    [
        *("letter 2.txt", "letter_2.txt", "letter-2.txt", "letter [1].txt", "letter{3}.txt"),
        *("letter.txt.1", "letter.txt (2)", "letter.txt 2", "letter.txt~1", "letter~.txt"),
        *("letter-DESKTOP-AB12.txt", "letter-LAPTOP-9QX1.txt", "letter-ANNA-PC.txt"),
        *("letter-Anna's MacBook Pro.txt", "letter-Annas-iMac.docx", "Letter 3.odt"),
        *("~$letter.txt", "#letter.txt#", ".~letter.txt"),
    ],
)
def test_weak_marks_count_beside_the_name_without_them(name):
    assert are_copies(["letter.txt", name]) == [False, True]
    assert are_copies(["report.txt", name]) == [False, False] or is_name_of_copy(name)


def test_names_that_differ_in_more_than_a_mark_are_no_copies():
    names = ["letter.txt", "letter 2024.txt", "letter-final.txt", "letter to Ann.txt", "lett 2.txt"]

    assert are_copies(names) == [False] * 5
    assert are_copies(["letter.txt", "letter-FINAL.txt"]) == [False, False]
    assert are_copies(["chapter 1.txt", "chapter 2.txt"]) == [False, False]
    assert are_copies(["a.txt", "Copy of b.txt"]) == [False, True]
    assert are_copies(["a\nb.txt", "a\nb 2.txt", "\n"]) == [False, True, False]
