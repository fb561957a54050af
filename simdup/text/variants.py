"""Traditional, simplified and other forms of Chinese characters as one character.

`variants.txt` has a class on each line, whose first character represents the others. It comes
from Unihan (`fixtures/variants.py`); `variants.LICENSE` is the licence of these data.
"""

from __future__ import annotations

import os
from functools import lru_cache
from unicodedata import category


@lru_cache(maxsize=1)
def representatives() -> dict[int, int]:
    """The folded code points, and the one that replaces each; for `str.translate`.

    Characters that Python's Unicode does not have yet stay as they are.

    >>> "後漢書，發髮，干乾幹".translate(representatives())
    '后汉书，发发，干干干'
    """
    with open(os.path.join(os.path.dirname(__file__), "variants.txt"), encoding="utf-8") as file:
        lines = file.read().splitlines()
    classes = [line for line in lines if not line.startswith("#")]
    known = ["".join(each for each in one if category(each) == "Lo") for one in classes]
    return {
        ord(each): ord(one[0])
        for one, whole in zip(known, classes, strict=True)
        if one[:1] == whole[0]
        for each in one[1:]
    }
