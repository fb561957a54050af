"""What programs and people add to the names of copies.

A name with a word for copies, or with what programs that synchronise leave beside a file, is that
of a copy: "letter (1).txt", "Copy of letter.txt", "letter - Kopie.txt", "letter副本.txt",
"letter.txt.bak", "letter-gbk.txt", "letter.sync-conflict-20250926-224656-C5H6PTH.txt",
"letter (Ada's conflicted copy 2025-08-14).txt". Weaker marks count only if another file has the
name without the mark: "letter 2.txt", "letter_2.txt", "letter.txt.1", "letter-DESKTOP-AB12.txt".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from unicodedata import normalize

# Words for a copy, in lower case. No letter stands beside them.
_WORDS = (
    "copy copies copie copia còpia cópia copii kopie kopia kopio kopi kopya kópia kopija kopje"
    " duplicate duplikat másolat копия копія копие αντίγραφο salinan backup bak old orig"
)
_CJK = (
    "副本|複本|复件|複件|复制|複製|拷贝|拷貝|备份|備份|コピー|バックアップ|사본|복사본|백업"
    "|สำเนา|نسخة|עותק|bản sao"
)
_ENCODINGS = (
    r"utf-?8(?:-?sig|-?bom)? utf-?16(?:-?[lb]e)? gbk gb2312 gb18030 big5(?:-?hkscs)? shift-?jis"
    r" s-?jis euc-?(?:jp|kr|cn) cp\d{3,4} windows-125\d latin-?1"
)
_CONFLICT = (
    r"(?:conflict|konflikt|conflit|conflict[oe]|conflitt[oi]|conflito|конфликт|конфлікт|冲突|衝突"
    r"|競合|충돌)"
)
# What stands before a word is looked at after its first letter, so that the search goes from one
# such letter to the next.
_OF_A_COPY = re.compile(
    "|".join(
        (
            *(rf"{word[0]}(?<![^\W\d_].){word[1:]}(?![^\W\d_])" for word in _WORDS.split()),
            *(rf"{name[0]}(?<=[\W_].){name[1:]}(?=\.[^.]*\Z|\Z)" for name in _ENCODINGS.split()),
            rf"\(\d{{1,2}}\)|{_CJK}|~\Z",
            rf"[(\[（【][^()\[\]（）【】]*{_CONFLICT}[^()\[\]（）【】]*[)\]）】]",
            rf"[._-](?:sync-)?{_CONFLICT}(?:ed)?(?:[-_. ]\d[-_\w]*)?(?=\.[^.]*\Z|\Z)",
        )
    )
)

# A number of a copy, as it stands behind a name.
_NUMBER = r"(?:[ ._-]\d{1,2}|[ ._-]?(?:\(\d{1,3}\)|\[\d{1,3}\]|\{\d{1,3}\})|~\d*)"
# The name of a computer, which some programs add.
_MACHINE = (
    r"-(?:(?=[A-Z\d-]*[A-Z])(?=[A-Z\d-]*(?:\d|-|PC))[A-Z\d][A-Z\d-]*"
    r"|[\w' -]*\b(?i:desktop|laptop|notebook|macbook|imac|mac|pc|thinkpad|surface|iphone|ipad"
    r"|phone|server|nas|workstation)\b[\w' -]*)"
)
_ENDING = r"\.[A-Za-z]\w{0,4}"
_WEAK = re.compile(
    rf"(.+?)(?:{_NUMBER}|{_MACHINE})(?:{_ENDING})?|(?:~\$?|\.~|#)(.+?)(?:{_ENDING})?[#~]?",
    re.DOTALL,
)
# Longer names, which only archives have, would take long.
_LONGEST = 255

_AT_END = re.compile(rf"(?<=.){_ENDING}\Z")


def is_name_of_copy(name: str) -> bool:
    """Whether the name of a file says by itself that it is a copy of another.

    >>> [is_name_of_copy(name) for name in ("a (1).txt", "信-副本.txt", "copyright.txt")]
    [True, True, False]
    """
    return _OF_A_COPY.search(name.lower()) is not None


def are_copies(names: Sequence[str]) -> list[bool]:
    """Which of these names of files with the same words are those of copies.

    >>> are_copies(["plan.txt", "plan 2.txt", "part 2.txt", "plan-DESKTOP-AB12.txt", "plan.txt.1"])
    [False, True, False, True, True]
    """
    stems = {_folded(name) for name in names}
    return [is_name_of_copy(name) or bool(_plain(name) & stems) for name in names]


def _plain(name: str) -> set[str]:
    """The name of a file without its ending and a weak mark, if it has one."""
    found = _WEAK.fullmatch(name) if len(name) <= _LONGEST else None
    return {_folded(stem) for stem in found.groups() if stem} if found else set()


def _folded(name: str) -> str:
    """A name without its ending, equal for names that differ in case or width of characters."""
    return normalize("NFKC", _AT_END.sub("", name)).casefold().strip()
