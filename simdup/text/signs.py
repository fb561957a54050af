"""The signs between words as a table over code points, and the rule which of them count.

Two texts with the same words may differ in four ways: in signs that change the meaning (minus,
comparison, currency, ticked boxes), in punctuation, in the case of letters, and in variants of
characters (traditional and simplified). What typesetting or a format chooses is none of these:
quotes, dashes, bullets, rules, emphasis, blanks, ellipses, the width of characters.

An entry of the table packs, from its lowest bit on: the number of folded letters and digits in the
character, whether it is a decimal digit or a letter from Han to Hangul, what it is (one of the
kinds below), and which sign.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from simdup.arrays import CodePoints, Indices, Keys, Mask
from simdup.text.unicode import MARK, SEPARATOR, representatives, tables

# The kinds of characters that stand for themselves: other ones, blanks, ends of lines, capital
# letters, variants, signs, punctuation. The others count in some places only; see `sequence_of`.
PLAIN, BLANK, NEWLINE, CAPITAL, VARIANT, SIGN, POINT = range(7)
# Dashes and the tilde; commas of one byte; asterisks; signs that may begin a line; "!".
DASH, COMMA, STAR, LEADING, EXCLAMATION = range(7, 12)

LETTERS, DIGIT, WIDE, KIND_AT, SIGN_AT = 31, 32, 64, 7, 11
#: The smallest entry of a character that may be a mark.
FIRST_MARK = CAPITAL << KIND_AT

#: The sequences of marks are numbered as in DIFFERENCES; 4 is for marks that count for nothing.
#: A capital letter and a variant are in the sequence of this number less than their kind.
OTHERS_AT, _POINTS, _NONE = 1, 1, 4

#: A line begins after at most this many blanks.
MOST_BLANKS = 64
_EQUALS, _DOT = SIGN << KIND_AT | ord("=") << SIGN_AT, POINT << KIND_AT | ord(".") << SIGN_AT

# So many characters before a mark and behind it decide whether it counts.
BEHIND, AHEAD = MOST_BLANKS + 2, 4

_KINDS = {
    **dict.fromkeys("\n\v\f\r\x85", NEWLINE),
    "\t": BLANK,
    **dict.fromkeys("-‐‒–~", DASH),
    **dict.fromkeys(",;", COMMA),
    "*": STAR,
    "!": EXCLAMATION,
    **dict.fromkeys("+#>−➔➢➤❑❒❖→⇒○●◉◎◯◌◐◑◒◓◔◕", LEADING),
    **dict.fromkeys(("..", "...", *"_|'\"·•‣⁃∙・‧※†‡′″‴…‥⋯↩「」『』〝〞〟\ufffd"), PLAIN),
    **dict.fromkeys("&@^□%‰‱٪/", SIGN),
}
# The letters of Chinese and its neighbours begin here.
_FIRST_WIDE = 0x2E80

# Several characters for one sign.
_SAME = str.maketrans("−‐‒–□✓✔✅✗✘❌。、", "----☐☑☑☑☒☒☒.,")
_OF_CATEGORY = {
    **dict.fromkeys(("Sm", "Sc", "So"), SIGN),
    **dict.fromkeys(("Po", "Ps", "Pe"), POINT),
    **dict.fromkeys(("Zl", "Zp"), NEWLINE),
    "Zs": BLANK,
}
# Of the lines, blocks and geometric shapes, which are drawings and bullets, these are signs: a box,
# what points up or down, and circles, of which one is chosen.
_DRAWN = re.compile("(?![□▲△▼▽○●◉◎◯◌◐◑◒◓◔◕])[\u2500-\u25ff\u2800\U0001fb00-\U0001fbff]")
_RAISED = re.compile("[\u2070-\u209f\u00b2\u00b3\u00b9]")
#: Categories of characters without an entry of their own: most letters, marks, what nobody sees.
UNMARKED = frozenset(("Lo", "Ll", "Cn", "Co", "Cs", "Mn", "Mc", "Me", "Cf"))

#: Ranges of such characters alone, over which no time is spent.
LETTERS_ONLY = (
    *((0x3400, 0x4DC0), (0x4E00, 0xA000), (0xAC00, 0xD7A4), (0xD800, 0xF900), (0x20000, 0xE0000)),
)


def sign_table(codes: CodePoints) -> Keys:
    """The entries of the characters up to the largest of `codes`, and of some more."""
    return _sign_table(len(tables(codes).kind))


@lru_cache(maxsize=8)
def _sign_table(size: int) -> Keys:
    table = tables(np.array([size - 1], np.uint32))
    is_letter = (table.folded_kind != SEPARATOR) & (table.folded_kind != MARK)
    letters = np.concatenate((np.zeros(1, np.int64), np.cumsum(is_letter)))
    starts = table.start.astype(np.int64)
    # A character that may compose with the one before it counts with that one.
    entries = np.where(table.joins, 0, letters[starts + table.length] - letters[starts])
    folded = table.folded[starts].astype(np.int64)
    if size > _FIRST_WIDE:
        entries[_FIRST_WIDE:][entries[_FIRST_WIDE:] > 0] |= WIDE
        is_variant = np.zeros(sys.maxunicode + 1, bool)
        is_variant[[*representatives()]] = True
        is_variant = is_variant[folded] & (table.length == 1)
        entries[is_variant] |= VARIANT << KIND_AT | folded[is_variant] << SIGN_AT
    may_be_marked = np.ones(size, bool)
    for begin, end in LETTERS_ONLY:
        may_be_marked[begin:end] = False
    for code in np.flatnonzero(may_be_marked).tolist():
        category = unicodedata.category(character := chr(code))
        if category not in UNMARKED:
            entries[code] |= _entry(character, category, has_letters=entries[code] > 0)
    return entries.astype(np.uint32)


def _entry(character: str, category: str, *, has_letters: bool) -> int:
    """The entry of a character without its letters."""
    folded = unicodedata.normalize("NFKC", character)
    kind, sign = _OF_CATEGORY.get(category, PLAIN), folded.strip()[:1].translate(_SAME)
    if has_letters:
        is_sign = _RAISED.match(character) or "<fraction>" in unicodedata.decomposition(character)
        kind = SIGN if is_sign else CAPITAL if folded != folded.lower() else PLAIN
        sign = character if is_sign else "A"
    elif _DRAWN.match(character):
        kind = PLAIN
    elif character == folded or folded not in ",;":
        kind = _KINDS.get(folded, _KINDS.get(character, kind))
    entry = kind << KIND_AT | DIGIT * (category == "Nd")
    return entry | ord(sign) << SIGN_AT if kind > NEWLINE else entry


def sequence_of(around: Sequence[Indices], first: Mask) -> Indices:
    """The number of the sequence that has a sign or point, 0 or 1; 4 if it does not count.

    `around` has the entries of the two characters before the mark, of the mark, and of the four
    behind it. `first` says that only blanks are before it on its line. Kernels pass numbers.
    """
    b2, b1, entry, a1, a2, a3, a4 = around
    kind, before = (entry >> KIND_AT) & 15, (b1 >> KIND_AT) & 15
    one, two, three = (a1 >> KIND_AT) & 15, (a2 >> KIND_AT) & 15, (a3 >> KIND_AT) & 15
    is_between, ends = (before == BLANK) & (first == 0), (one == BLANK) | (one == NEWLINE)
    # Three in a row are drawn, and so are the corners of a table.
    is_drawn = ((entry == a1) & (entry == a2)) | ((entry == b1) & ((entry == a1) | (entry == b2)))
    is_drawn = is_drawn & (kind >= SIGN) & ((entry >> SIGN_AT) < 0x2000)
    is_drawn = is_drawn | ((kind == LEADING) & (first & (ends | (a1 == entry))))
    is_ruler = ((b1 == b2) & ((before == DASH) | (b1 == _EQUALS))) | (
        (a1 == a2) & ((one == DASH) | (a1 == _EQUALS))
    )
    # An arrow may be written with two dashes, which typesetting makes one.
    is_drawn = is_drawn | ((kind == LEADING) & (is_ruler | (before == DASH)))
    # A comma with neither a blank nor Han beside it parts the cells of a table. A line may end
    # between Han and the comma.
    is_wide = ((b1 & WIDE) > 0) | ((before == NEWLINE) & ((b2 & WIDE) > 0))
    comma = (kind == COMMA) & (ends | is_wide)
    star = ((b1 & LETTERS) > 0) & ((a1 & LETTERS) > 0)
    star = (kind == STAR) & (star | (is_between & (one == BLANK) & ((a2 & LETTERS) > 0)))
    # A dash, or the first of two, is a minus if no word is before it and a number behind it. A
    # blank may be on both sides, but not after a number: that is a range, or a difference.
    number_1 = ((a1 & DIGIT) > 0) | (((one == SIGN) | (a1 == _DOT)) & ((a2 & DIGIT) > 0))
    number_2 = ((a2 & DIGIT) > 0) | (((two == SIGN) | (a2 == _DOT)) & ((a3 & DIGIT) > 0))
    number_3 = ((a3 & DIGIT) > 0) | (((three == SIGN) | (a3 == _DOT)) & ((a4 & DIGIT) > 0))
    is_apart = is_between & ((b2 & DIGIT) == 0)
    minus = (one != DASH) & (number_1 | ((one == BLANK) & is_apart & number_2))
    minus = minus | ((one == DASH) & (number_2 | ((two == BLANK) & is_apart & number_3)))
    minus = (kind == DASH) & minus & ((b1 & LETTERS) == 0) & (before != DASH)
    is_counted = (kind < DASH) | (kind >= LEADING) | minus | comma | star
    is_point = (kind == POINT) | comma | ((kind == EXCLAMATION) & (a1 != _EQUALS))
    is_counted = is_counted & (is_drawn == 0)
    return is_point * is_counted * _POINTS + (is_counted == 0) * _NONE
