"""Tells whether the fonts of a PDF have mangled its text.

A font of a PDF draws numbered glyphs, and a map says which characters they are. Where the map is
missing or wrong, people see the right text, and programs read other characters: private ones,
letters in which no language is written, or Han that nobody uses.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from math import log2

# A text is mangled if at least one character in ONE_IN has no meaning.
ONE_IN = 20

# The frequency of letters in eleven European languages in per cent, on average. In a code made for
# these, a letter of a text in any of 80 languages (translations of free programs) takes 4.0 to 4.5
# bits, and 4.75 in the worst piece of 400 characters; in texts with their letters exchanged at
# random it takes 5.2.
_PER_CENT = dict(
    zip(
        "eainrtsoldumckpghbvfyzwjqx",
        (
            *(13.5, 9.5, 8, 7.5, 7, 7, 6.5, 6, 5, 4.2, 4, 3, 3, 2.2),
            *(2.3, 2, 2.5, 1.4, 1.6, 1.4, 1.2, 1.2, 1, 0.8, 0.4, 0.3),
        ),
        strict=True,
    )
)
_BITS = {letter: -log2(share / 100) for letter, share in _PER_CENT.items()}
_BITS_OF_OTHERS, MOST_BITS = 9, 4.85

# Fewer letters or Han characters tell nothing. Letters count in texts that are mostly Latin.
FEWEST_LETTERS, FEWEST_HAN, _LATIN_SHARE = 200, 100, 0.6

# The least share of Han characters on the first level of GB 2312, Big5 or JIS X 0208. The share is
# 95 % in Chinese and Japanese texts, and 40 % for all Han in Unicode's first block.
LEAST_EVERYDAY = 0.7
_FIRST_LEVELS = (("gb2312", 0xB0, 0xD7), ("big5", 0xA4, 0xC6), ("shift_jis", 0x88, 0x97))

_MEANINGLESS = {"Cc", "Cn", "Co", "Cs"}


def is_mangled(text: str) -> bool:
    """Whether the characters of a text can hardly be the ones that its author wrote."""
    counts = Counter(text)
    return _is_meaningless(counts) or _is_no_language(counts) or _is_rare(counts)


def _is_meaningless(counts: Counter[str]) -> bool:
    """Whether too many characters are controls, private or unassigned."""
    strange = sum(
        count
        for character, count in counts.items()
        if unicodedata.category(character) in _MEANINGLESS and not character.isspace()
    )
    return strange * ONE_IN >= counts.total() > 0


def _is_no_language(counts: Counter[str]) -> bool:
    """Whether the frequencies of the Latin letters fit no language."""
    letters = Counter[str]()
    latin = every = 0
    for character, count in counts.items():
        for each in unicodedata.normalize("NFD", character.casefold()):
            if each.isalpha():
                letters[each] += count
                every += count
                latin += count * unicodedata.name(each, "").startswith("LATIN")
    if latin < max(FEWEST_LETTERS, _LATIN_SHARE * every):
        return False
    bits = sum(_BITS.get(letter, _BITS_OF_OTHERS) * count for letter, count in letters.items())
    return bits > MOST_BITS * every


def _is_rare(counts: Counter[str]) -> bool:
    """Whether too few of the Han characters are everyday ones."""
    han = {each: count for each, count in counts.items() if "\u4e00" <= each <= "\u9fff"}
    everyday = sum(count for each, count in han.items() if _is_everyday(each))
    return sum(han.values()) >= FEWEST_HAN and everyday < LEAST_EVERYDAY * sum(han.values())


def _is_everyday(han: str) -> bool:
    return any(
        first <= (han.encode(encoding, "ignore") or b"\0")[0] <= last
        for encoding, first, last in _FIRST_LEVELS
    )
