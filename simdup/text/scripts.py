"""Signs that bytes or characters are of one script."""

from __future__ import annotations

import re
from collections import Counter
from unicodedata import category, name

import numpy as np

# Of half-width kana the last column has the fewest: 15 % in names, with the voiced marks.
_LEAST_KANA, _FEWEST_KANA = 0.05, 16
# The pairs of EUC and GBK leave no odd number of bytes between ASCII characters, but one at a cut.
_ODD = re.compile(rb"(?<![\x80-\xff])[\x80-\xff](?:[\x80-\xff]{2})*(?![\x80-\xff])")

# A consonant of Thai, with the vowel before it and the vowel and the tone above or below it, and
# these vowels and tones anywhere; bytes that mean nothing in Thai.
_CLUSTER = re.compile(
    rb"[\xe0-\xe4]?[\xa1-\xce](?:[\xd1\xd4-\xd9\xe7][\xe8-\xec]?|[\xda\xe8-\xee])?"
)
_DEPENDENT = bytes((0xD1, *range(0xD4, 0xDB), *range(0xE0, 0xE5), *range(0xE7, 0xEF)))
_NO_THAI = re.compile(rb"[\x81-\x84\x86-\x90\x98-\x9f\xdb-\xde\xfc-\xff]")
# Thai has one such vowel or tone for every three bytes; 2 of 100 may be misplaced by damage.
_LEAST_DEPENDENT, _MOST_MISPLACED = 6, 0.02

# Random bytes in UTF-16 are letters of these; marks go with letters of all scripts.
_OF_NO_SCRIPT = frozenset(("CJK", "HANGUL", "COMBINING"))
# Fewer different characters are rather a pattern of bytes, such as 00 01 00 01, than a text.
_FEWEST_DIFFERENT = 4


def is_half_width_kana(sample: bytes) -> bool:
    """Whether all bytes beyond ASCII are half-width kana of Shift_JIS, from all columns.

    No alphabet spreads over these columns: most leave one empty or go on beyond them.
    """
    codes = np.frombuffer(sample, np.uint8)
    columns = np.bincount(codes >> 4, minlength=16)[8:]
    if columns.sum() < _FEWEST_KANA or columns[[0, 1, 6, 7]].any():
        return False
    is_spread = columns[3:6].min() > _LEAST_KANA * columns.sum()
    return bool(is_spread) and len(_ODD.findall(sample)) > 1


def is_thai(sample: bytes) -> bool:
    """Whether vowels and tones stand where they do in Thai, if the bytes are of TIS-620."""
    total = len(sample) - len(sample.translate(None, _DEPENDENT))
    if total < _LEAST_DEPENDENT or _NO_THAI.search(sample):
        return False
    rest = _CLUSTER.sub(b"", sample)
    return len(rest) - len(rest.translate(None, _DEPENDENT)) <= _MOST_MISPLACED * total


def in_one_script(text: str) -> int:
    """How many characters are letters of the commonest script, or signs between these.

    The names of characters begin with their script. A few characters, repeated, are no text.
    """
    if len(set(text)) < _FEWEST_DIFFERENT:
        return 0
    scripts = Counter(name(c, "").partition(" ")[0] for c in text if category(c)[0] in "LM")
    found = [count for script, count in scripts.items() if script not in _OF_NO_SCRIPT]
    letters = max(found, default=0) + scripts["COMBINING"]
    signs = sum(category(c)[0] in "PNZ" for c in text)
    return letters + min(signs, letters)
