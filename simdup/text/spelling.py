"""Texts as they are read in, texts as they are compared out.

`mended` repairs characters that were encoded twice, joins words that a hyphen breaks at the end of
a line, drops invisible characters and vowel points, and writes words of look-alike letters in one
script. `suspects` finds the few texts that need it, by pairs of neighbouring characters.
Fingerprints, digests of words and signs, and facts are those of the mended text. Reports show the
text as it is.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simdup.arrays import CodePoints, Indices
from simdup.text.unicode import code_points


class Mended(NamedTuple):
    """A text as it is compared.

    twice: How many characters had been encoded twice.
    look_alikes: How many words had letters of another script that look like their own; 0 if
        people have rather mistyped one or two, as happens on Cyrillic and Greek keyboards.
    """

    text: str
    twice: int = 0
    look_alikes: int = 0


# What UTF-8 looks like that was read as windows-1252 or Latin-1: the character of each byte. Leads
# begin a character of two bytes (Latin to Arabic), three or four; trails continue it.
_LATIN_1 = bytes(range(0x80, 0x100)).decode("latin-1")
_1252 = bytes(range(0x80, 0x100)).decode("cp1252", "replace")
_BYTES = {c: byte for byte, c in enumerate(_LATIN_1, 0x80)}
_BYTES |= {c: byte for byte, c in enumerate(_1252, 0x80) if c != "\ufffd"}
_TRAILS = "".join(c for c, byte in _BYTES.items() if byte < 0xC0)
_LEADS = _LATIN_1[0x42:0x75]
_TRAIL = f"[{re.escape(_TRAILS)}]"
# French writes a blank before a guillemet, also after é and à.
_TWICE = re.compile(
    rf"[\xc2-\xdb]{_TRAIL}|[\xe0-\xef](?!\xa0[«»]){_TRAIL}{{2}}|[\xf0-\xf4]{_TRAIL}{{3}}"
)
# No language writes these. Quotes and dashes may follow a capital Ã or Â at the end of a word.
_OPEN = "‚„…†‡ˆ‰‹›‘’“”•–—˜™«»"
_FIRM = f"[{re.escape(''.join(c for c in _TRAILS if c not in _OPEN))}]"
_CERTAIN = re.compile(rf"[ÂÃ](?:{_FIRM}|[{_OPEN}](?=[a-z]))|â[€‚„†]{_TRAIL}|ï»¿|ðŸ{_TRAIL}{{2}}")
# Powers of the ångström.
_UNIT = re.compile("Å[°±²³]")
_FEWEST_TWICE, _MOST_OTHERS = 3, 0.25
# A program that tidies blanks takes the second half of a twice-encoded à.
_CUT_A = re.compile("Ã(?= )")
_BEYOND_ASCII = re.compile(r"[^\W\d_a-zA-Z]")
_MOST_ROUNDS = 3

# A soft hyphen at the end of a line parts a word for certain, and so does the sign that programs
# put there which read scanned pages.
_CERTAIN_HYPHENS = "\u00ad\u00ac"
HYPHENS = f"-\u2010{_CERTAIN_HYPHENS}"
_HALF = rf"(?<![^\W\d_])([^\W\d_]+)([{HYPHENS}])[ \t]*\n[ \t]*"
# The second half may be the first half of the next word that is broken.
_BROKEN, _WHOLE = re.compile(rf"{_HALF}(?=([^\W\d_]+))"), re.compile(rf"{_HALF}[^\W\d_]+")
_ASCII_BREAKS = ("-\n", "- \n")
_WORD = re.compile(r"[^\W\d_]+")

# Characters that nobody sees: soft hyphens, zero widths, directions of writing, which shape a sign
# has, tags. Persian separates parts of words by U+200C, so between Arabic letters it is a blank.
_ARABIC = "\u0600-\u06ff\u0750-\u077f\u08a0-\u08ff\ufb50-\ufdff\ufe70-\ufefc"
_NOT_JOINED = re.compile(rf"(?<=[{_ARABIC}])\u200c(?=[{_ARABIC}])")
_UNSEEN = (
    "\u00ad\u034f\u061c\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\ufe00-\ufe0f\ufeff\U000e0000-\U000e0fff"
)
# Vowel points and accents of Arabic, Hebrew and Syriac, and the sign that stretches a word. The
# marks that make other letters (hamza, madda) are composed with their letters before.
_POINTS = (
    "\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u0652"
    "\u0656-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0711\u0730-\u074a"
    "\u08ca-\u08e1\u08e3-\u08ff\ufe70-\ufe72\ufe74\ufe76-\ufe7f"
)
# Hebrew letters that are one character with their points.
_POINTED = "\ufb1d\ufb1f\ufb2a-\ufb36\ufb38-\ufb3c\ufb3e\ufb40\ufb41\ufb43\ufb44\ufb46-\ufb4e"
# An alef with the sign that it is not spoken.
_WASLA = "\u0671"
_POINT = re.compile(f"[{_POINTS}{_POINTED}]")
_DROPPED = re.compile(f"[{_UNSEEN}{_POINTS}]")

# Letters that look alike, of Cyrillic or Greek and of Latin. No Slavic language uses the last
# ones, so they are in a word by mistake only if the word is Latin.
_RARE = dict(zip("ѕԁһԛԝӏЅԚԜ", "sdhqwlSQW", strict=True))
_CYRILLIC = dict(zip("аеокрсухіјАВЕКМНОРСТУХІЈ", "aeokpcyxijABEKMHOPCTYXIJ", strict=True))
_GREEK = dict(zip("οιΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "oiABEZHIKMNOPTYX", strict=True))
# Formulas have these beside Latin letters (TNFα, sin α): they count in longer words.
_SYMBOLS = dict(zip("αενρκυχ", "aevpkux", strict=True))
_LONGER, _GREEK_WORD = 4, 3
# Of 68 Russian and Ukrainian manuals, 9 have one or two words with a Latin letter, and none more.
_MOST_MISTYPED = 2
_LATIN_LETTERS, _OTHER_LETTERS = "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f", "\u0370-\u0529"
_MIXED = re.compile(
    rf"\b\w*?(?:[{_LATIN_LETTERS}][{_OTHER_LETTERS}]|[{_OTHER_LETTERS}][{_LATIN_LETTERS}])\w*"
)
_LATIN, _OTHER = re.compile(f"[{_LATIN_LETTERS}]"), re.compile(f"[{_OTHER_LETTERS}]")
_LOWER = re.compile("[a-z]")
_TO_LATIN = _CYRILLIC | _GREEK | _RARE
_TO_CYRILLIC, _TO_GREEK = (
    {latin: other for other, latin in pairs.items()} for pairs in (_CYRILLIC, _GREEK | _SYMBOLS)
)
_FIRST_CYRILLIC = "\u0400"

# What a character says about the one behind it, and eight bits higher about the one before it: two
# neighbours are suspicious if they share a bit.
_ENCODED, _FROM_LATIN, _FROM_OTHER, _DROP, _BREAK = (1 << bit for bit in range(5))
_LATER = 8
_NEWLINE, _FIRST_LETTER = ord("\n"), ord("A")

# UTF-8 of text that was encoded twice; and a letter for each character of one script.
_TWICE_BYTES = re.compile(rb"\xc3[\x82-\xb4](?:[\xc2\xc5\xc6\xcb]|\xe2[\x80\x82\x84])")
_SHAPE = bytearray(b" " * 256)
for _letter, _first in (b"L", rb"[A-Za-z\xc3-\xc9]"), (b"O", rb"[\xcd-\xd4]"):
    for _found in re.finditer(_first, bytes(range(256))):
        _SHAPE[_found.start()] = ord(_letter)
_CONTINUING = bytes(range(0x80, 0xC0))


def respelled(texts: Sequence[str]) -> list[str]:
    """The texts as they are compared."""
    spelled = list(texts)
    for number in suspects(texts):
        spelled[number] = mended(spelled[number]).text
    return spelled


def suspects(texts: Sequence[str]) -> list[int]:
    """The numbers of the texts that `mended` may change, ascending; it changes no other text."""
    broken = [i for i, text in enumerate(texts) if text.isascii() and _may_be_broken(text)]
    beyond = [i for i, text in enumerate(texts) if not text.isascii()]
    codes, offsets = code_points([texts[i] for i in beyond])
    places = np.searchsorted(offsets, _suspicious(codes), "right") - 1
    return sorted(broken + [beyond[place] for place in {*places.tolist()}])


def mended(text: str) -> Mended:
    """A text as it is compared, and what was mended in it."""
    is_twice = _TWICE_BYTES.search(text.encode("utf-8", "surrogatepass"))
    text, twice = _encoded_once(text) if is_twice else (text, 0)
    if "\n" in text:
        text = _without_breaks(text)
    if _POINT.search(text):
        text = unicodedata.normalize("NFC", text)
    text = _DROPPED.sub("", _NOT_JOINED.sub(" ", text)).replace(_WASLA, "\u0627")
    if not _is_mixed(text.encode("utf-8", "surrogatepass")):
        return Mended(text, twice)
    text, look_alikes = _in_one_script(text)
    return Mended(text, twice, look_alikes)


def flaws(text: str, encoded: bytes) -> Mended:
    """`mended` of a text in UTF-8, if it may have characters that are not its own."""
    may_have = not text.isascii() and (_TWICE_BYTES.search(encoded) or _is_mixed(encoded))
    return mended(text) if may_have else Mended(text)


def _may_be_broken(text: str) -> bool:
    """Whether a letter and a hyphen of ASCII are before the end of a line."""
    for ending in _ASCII_BREAKS:
        at = text.find(ending)
        while at >= 0:
            if text[at - 1 : at].isalpha():
                return True
            at = text.find(ending, at + 1)
    return False


def _is_mixed(encoded: bytes) -> bool:
    """Whether a Latin letter is beside one of Greek or Cyrillic."""
    shape = encoded.translate(_SHAPE, _CONTINUING)
    return b"LO" in shape or b"OL" in shape


def _suspicious(codes: CodePoints) -> Indices:
    """The places of characters after which, or at which, something may have to be mended."""
    bits = _neighbours().take(codes)
    shared = bits[:-1] & (bits[1:] >> _LATER)
    at = np.flatnonzero(shared)
    # A blank may be between the hyphen and the end of the line.
    is_line_end = (codes[at + 1] == _NEWLINE) | (
        codes[np.minimum(at + 2, len(codes) - 1)] == _NEWLINE
    )
    return at[(shared[at] != _BREAK) | is_line_end]


@lru_cache(maxsize=1)
def _neighbours() -> NDArray[np.uint16]:
    """The bits of each character for `_suspicious`."""
    bits = np.zeros(sys.maxunicode + 1, np.uint16)
    every = np.arange(len(bits)).astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")
    for pattern, before, after in (
        (f"[{re.escape(_LEADS)}]", _ENCODED, 0),
        (_TRAIL, 0, _ENCODED),
        (_LATIN.pattern, _FROM_LATIN, _FROM_OTHER),
        (_OTHER.pattern, _FROM_OTHER, _FROM_LATIN),
        (f"[{_UNSEEN}{_POINTS}{_POINTED}{_WASLA}]", _DROP, 0),
        (f"[{HYPHENS}]", _BREAK, 0),
        (r"[\n \t]", 0, _BREAK),
    ):
        places = [match.start() for match in re.finditer(pattern, every)]
        bits[places] |= before | after << _LATER
    bits |= _DROP << _LATER
    return bits


def _encoded_once(text: str) -> tuple[str, int]:
    """The text with characters repaired that were encoded twice or more, and their number."""
    first = 0
    for _ in range(_MOST_ROUNDS):
        pattern = _twice_encoded(text)
        if pattern is None:
            break
        before, (text, number) = text, pattern.subn(_repaired, text)
        if text == before:
            break
        text = _CUT_A.sub("à", text) if pattern is _TWICE else text
        first = first or number
    return text, first


def _twice_encoded(text: str) -> re.Pattern[str] | None:
    """The pattern of what is to be repaired: all that could be, what must be, or None for nothing.

    A text is repaired wholly if few letters beyond ASCII are outside such sequences.
    """
    number = len(_TWICE.findall(text))
    is_certain = number > 0 and _CERTAIN.search(text) is not None
    if is_certain or number - len(_UNIT.findall(text)) >= _FEWEST_TWICE:
        others = _CUT_A.sub("", _TWICE.sub("", text))
        if len(_BEYOND_ASCII.findall(others)) <= _MOST_OTHERS * number:
            return _TWICE
    return _CERTAIN if is_certain else None


def _repaired(sequence: re.Match[str]) -> str:
    """The character of which a sequence is the UTF-8; the sequence itself if it is of none."""
    try:
        return bytes(map(_BYTES.__getitem__, sequence.group())).decode()
    except UnicodeDecodeError:
        return sequence.group()


def _without_breaks(text: str) -> str:
    r"""The text with words joined that a hyphen breaks at the end of a line.

    The hyphen stays if the text elsewhere has the word with a hyphen, or both halves as words, and
    never the joined word; and before a capital letter.

    >>> _without_breaks("a col-\numn of well-\nknown words, known well")
    'a column of well-\nknown words, known well'
    """
    if not _BROKEN.search(text):
        return text
    rest = _WHOLE.sub(" ", text).lower()
    words = set(_WORD.findall(rest))

    def joined(broken: re.Match[str]) -> str:
        first, hyphen, last = broken.groups()
        one, other = first.lower(), last.lower()
        is_further = text.endswith("-", 0, broken.start())
        is_name = last[0].isupper() and not (len(first) > 1 and (first + last).isupper())
        are_words = one in words and other in words
        is_compound = is_name or is_further or are_words or f"{one}-{other}" in rest
        is_kept = is_compound and one + other not in words and hyphen not in _CERTAIN_HYPHENS
        return broken.group() if is_kept else first

    return _BROKEN.sub(joined, text)


def _in_one_script(text: str) -> tuple[str, int]:
    """The text with words of look-alike letters in one script, and the number of such words."""
    mixed = set(_MIXED.findall(text))
    if not mixed:
        return text, 0
    is_latin = len(_LATIN.findall(text)) >= len(_OTHER.findall(text))
    words = {word: _by_look(word, is_latin=is_latin) for word in mixed}
    number = sum(word != look for word, look in words.items())
    if not number:
        return text, 0
    text = _MIXED.sub(lambda word: words[word.group()], text)
    # Then a word of look-alike letters alone is no word of the other script either, unless that
    # has words of its own.
    pattern, pairs = (_OTHER, _TO_LATIN) if is_latin else (_LATIN, _TO_CYRILLIC)
    is_strange = {*pattern.findall(text)} <= pairs.keys()
    is_mistyped = not is_latin and number <= _MOST_MISTYPED
    return _exchanged(text, pairs) if is_strange else text, 0 if is_mistyped else number


def _by_look(word: str, *, is_latin: bool) -> str:
    """A word of two scripts in the script that has all its letters; as it is if neither has.

    If both have, `is_latin` says which is the script of the text.
    """
    latin, others = {*_LATIN.findall(word)}, {*_OTHER.findall(word)}
    is_longer = len(_LOWER.findall(word)) >= _LONGER
    to_latin = _TO_LATIN | _SYMBOLS if is_longer else _TO_LATIN
    is_cyrillic = min(others) >= _FIRST_CYRILLIC
    if not is_cyrillic and len(word) < _GREEK_WORD:
        return word
    to_other = _TO_CYRILLIC if is_cyrillic else _TO_GREEK
    may_be_other = latin <= to_other.keys() and (is_cyrillic or len(others) >= _GREEK_WORD)
    if others <= to_latin.keys() and (is_latin or not may_be_other):
        return _exchanged(word, to_latin)
    return _exchanged(word, to_other) if may_be_other else word


def _exchanged(text: str, pairs: Mapping[str, str]) -> str:
    return "".join(pairs.get(character, character) for character in text)
