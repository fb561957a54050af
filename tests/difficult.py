"""Texts that folding and tokens could get wrong: one hypothesis strategy for every oracle test.

Do not write `st.text(st.characters() | st.sampled_from(...))`: hypothesis merges such an alphabet
into one set of 1.1 million characters, from which the difficult ones are hardly ever drawn. A
list whose elements are drawn from a choice of strategies is not merged.
"""

from __future__ import annotations

import sys
import unicodedata

from hypothesis import strategies as st

PLAIN = "aZ9é \n\t.,_-中文国人々かアガ한글дกခא😀，。"
MARKS = (
    "\u0301\u0308\u0316\u0327\u0345\u20dd\u3099\u309a\u0e31\u0f39\u05b0\u064b\u0d57\ufe0f\U0001d165"
)
JAMO = "\u1100\u1161\u11a8\u1160\u1176\u11a7\u11c3\u115f\uac00\uac01\u3131\uffa1\uffc2"
EXPANDING = "\ufdfa\ufdfb㍿㌖ﷺ½…ﬁﬃⅫ①㈱\u0f77\u0149\u1e9e\U0001f14a"
SAME_AS_OTHERS = "ａＺ９ｶﾞﾟ\u2126\u212b\uf900\ufa6c\U0002f800\U0001d518\U0001d7ff\u00a0\u3000"
CASE_FOLDING = "ßẞİıſΣς\u0390\u1f52\u1fb7\u01f0\u0587\u13a0\uab70\U00010400"
# The ends of the ranges of Han, and Han, kana, Thai, Khmer and Tangut that are tokens alone.
SINGLES = "〇\u4dbf\u4e00\u9fd5\u9fd6\U00020000\u31f0\U0001b000กิน\u1780\u1799\U00017000後发裏𱃗"
# Characters of no width, separators of lines, controls, and the last of a plane.
INVISIBLE = "\u200b\u200d\ufeff\u00ad\u034f\u061c\u2028\u0085\x00\x1c\ufffe\U000e0100\U0010ffff"
SURROGATES = "\ud800\udbff\udc00\udfff"


def is_difficult(c: str) -> bool:
    """Whether a character beyond ASCII joins its neighbours or changes when it is folded."""
    if c.isascii():
        return False
    return (
        "\u1100" <= c <= "\u11ff"
        or "\ud800" <= c <= "\udfff"
        or unicodedata.category(c)[0] == "M"
        or unicodedata.decomposition(c) != ""
        or c.casefold() != c
    )


def _pieces() -> st.SearchStrategy[str]:
    """Characters, plain and difficult ones, and pieces that become one character again.

    By chance a letter hardly ever meets a mark that it takes.
    """
    difficult = [c for c in map(chr, range(sys.maxunicode + 1)) if is_difficult(c)]
    composing = [
        unicodedata.normalize("NFD", c)
        for c in (*difficult, *map(chr, range(0xAC00, 0xD7A4, 7)))
        if unicodedata.is_normalized("NFC", c) and not unicodedata.is_normalized("NFD", c)
    ]
    return st.one_of(
        *map(st.sampled_from, (PLAIN, PLAIN, MARKS, JAMO, EXPANDING, SAME_AS_OTHERS)),
        *map(st.sampled_from, (CASE_FOLDING, SINGLES, INVISIBLE, SURROGATES)),
        *map(st.sampled_from, (difficult, composing)),
        st.characters(),
    )


# Made when it is first drawn from: that takes a second.
_PIECES = st.deferred(_pieces)


def difficult_texts() -> st.SearchStrategy[str]:
    """Texts of up to 30 pieces, plain and difficult ones in any order; some begin with a mark."""
    return st.lists(_PIECES, max_size=30).map("".join)
