"""Signs that bytes or characters are of one script."""

from __future__ import annotations

import codecs
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

# Two and more of the everyday characters of Big5 in a row; encodings whose pairs look like these.
_BIG5 = re.compile(rb"(?:[\xa4-\xc6][\x40-\x7e\xa1-\xfe]){2,}")
_PAIRS = ("gb2312", "euc_kr", "euc_jp")

# A sign between two letters, or a byte without a meaning, shows that letters are in another
# encoding. Apostrophes, dashes, points and marks may stand there.
_MARKS = "\u0300-\u036f\u0591-\u05c7\u064b-\u0670\u0e30-\u0e4f"
_ODD_SIGN = re.compile(
    rf"(?<=[^\W\d_])[^\x00-\x7f\w’–—…·\xad{_MARKS}](?=[^\W\d_])|\ufffd|[\x80-\x9f]"
    # And no word has letters of Latin and of another alphabet.
    "|[A-Za-z](?=[\u0370-\u0e7f])|[\u0370-\u0e7f](?=[A-Za-z])"
)
_MOST_ODD = 1 / 8
_ACCENTED = re.compile(rb"[A-Za-z]?[\x80-\xff](?:[\x80-\xff]|[A-Za-z](?=[\x80-\xff]))*[A-Za-z]?")
_FEWEST_RUNS = 4  # GB18030 has two in a rare character
_RUN = re.compile(rb"[\x80-\xff]+")
_BEYOND_ASCII = bytes(range(0x80, 0x100))

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


def is_big5(sample: bytes) -> bool:
    """Whether all characters beyond ASCII are everyday ones of Big5, and no other pairs of bytes.

    Two Chinese words in an English text suffice.
    """
    rest = _BIG5.sub(b"", sample)
    return len(rest) < len(sample) and rest[:-1].isascii() and not _is_of_pairs(sample)


def _is_of_pairs(sample: bytes) -> bool:
    """Whether an encoding of `_PAIRS` has all characters; one may be cut at the end."""
    decoders = (codecs.getincrementaldecoder(codec)("replace") for codec in _PAIRS)
    return any("\ufffd" not in decoder.decode(sample) for decoder in decoders)


def is_single(sample: bytes) -> bool:
    """Whether most bytes beyond ASCII stand alone between others, as accented letters do."""
    lengths = list(map(len, _RUN.findall(sample)))
    return len(lengths) >= _FEWEST_RUNS and 2 * lengths.count(1) > len(lengths)


def are_words(sample: bytes, codec: str) -> bool:
    """Whether the letters of the sample may make words in an encoding of single bytes."""
    words = b" ".join(_ACCENTED.findall(sample))
    beyond = len(words) - len(words.translate(None, _BEYOND_ASCII))
    return len(_ODD_SIGN.findall(words.decode(codec, "replace"))) <= _MOST_ODD * beyond


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
