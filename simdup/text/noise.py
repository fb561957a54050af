"""What the content of a file says about it: alike by nature, or not what its author wrote.

Tables of numbers and redirections are alike by nature. A doubtful text is compared like any other,
but no command acts on its file.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections import Counter
from math import log2

from simdup.text.encodings import LOST, named

#: The values of `records.Document.noise`, which a store keeps.
NUMBERS, REDIRECTION = "numeric file", "redirection"

#: Raised whenever `is_numbers` or `is_redirection` may answer differently for the same file.
EDITION = 4

#: Why a text is doubtful: the values of `records.Document.doubt`, which a store keeps.
DOUBTS = DAMAGED, MANGLED, JUNK, LOOK_ALIKE = (
    *("damaged characters", "mangled characters", "data after its end", "look-alike letters"),
)

#: A text is doubtful if at least one character in ONE_IN is damaged.
ONE_IN = 20

# Two U+FFFD in UTF-8 read as GBK, and one read as windows-1252: traces of characters that were
# lost before the file was converted.
_TRACES = ("锟斤拷", "ï¿½")

# A table of numbers may have a heading, but needs at least this many digits for each letter.
_DIGITS_A_LETTER = 50

# Longer pages than this say something besides where to go.
_LONGEST_REDIRECTION = 2048

# So many characters are enough to see that most texts are not numbers.
_HEAD = 1024

# The share of a long text, one in so many characters, that mostly shows that it is no table.
_BEGINNING = 16

# Every _STEP-th of these characters is looked at first: in prose many are letters, in numbers many
# are digits.
_STEP = 16
_MANY_LETTERS = re.compile(r"(?:[\W\d_]*[^\W\d_]){20}")
_FEW_DIGITS = 4
_ONE_DIGIT = re.compile(r"\d")

_DIGIT = re.compile(r"\d+")
_WORD = re.compile(r"[^\W\d_]+")
# An exponent, as in 1e-05, or "nan" or "inf" in place of a number. All begin with one of a few
# letters, so that `re` goes from one such letter to the next. Turkish has two more letters i.
_NUMERIC = re.compile(
    r"[eEnNiIİı](?:(?<=\d[eE])(?=[-+]?\d)|(?<=\b[nN])[aA][nN]\b|(?<=\b[iIİı])[nN][fF]\b)"
)
# The letters and digits of ASCII.
_LETTERS, _DIGITS = string.ascii_letters.encode(), string.digits.encode()
# A redirection in HTML or reStructuredText.
_REFRESH = re.compile(rb"\bhttp-equiv\s*=\s*[\"']?refresh", re.IGNORECASE)
_ADDRESS = re.compile(rb"\burl\s*=", re.IGNORECASE)

# The frequency of letters in eleven European languages in per cent, on average. In a code made for
# these, a letter of a text in any of 80 languages (translations of free programs) takes 4.0 to 4.5
# bits, and 4.75 in the worst piece of 400 characters; in texts with their letters exchanged at
# random it takes 5.2.
_PER_CENT = (
    "e=13.5 a=9.5 i=8 n=7.5 r=7 t=7 s=6.5 o=6 l=5 d=4.2 u=4 m=3 c=3 k=2.2 p=2.3 g=2 h=2.5 b=1.4"
    " v=1.6 f=1.4 y=1.2 z=1.2 w=1 j=0.8 q=0.4 x=0.3"
)
_BITS = {letter: -log2(float(share) / 100) for letter, share in named(_PER_CENT).items()}
_BITS_OF_OTHERS, MOST_BITS = 9, 4.85

# Fewer letters or Han characters tell nothing. Letters count in texts that are mostly Latin.
FEWEST_LETTERS, FEWEST_HAN, _LATIN_SHARE = 200, 100, 0.6

# The least share of Han characters on the first level of GB 2312, Big5 or JIS X 0208. The share is
# 95 % in Chinese and Japanese texts, and 40 % for all Han in Unicode's first block.
LEAST_EVERYDAY = 0.7
_FIRST_LEVELS = (("gb2312", 0xB0, 0xD7), ("big5", 0xA4, 0xC6), ("shift_jis", 0x88, 0x97))

_MEANINGLESS = {"Cc", "Cn", "Co", "Cs"}


def is_redirection(data: bytes) -> bool:
    """Whether the bytes of a file are a short page that only leads to another one.

    >>> is_redirection(b'<meta http-equiv="refresh" content="0; url=new.html">')
    True
    """
    if len(data) > _LONGEST_REDIRECTION or b"=" not in data:
        return False
    return _REFRESH.search(data) is not None and _ADDRESS.search(data) is not None


def is_numbers(text: str) -> bool:
    r"""Whether a text is numbers, apart from a comparatively short heading.

    >>> is_numbers("1.5e-05, 2.25, nan\n7, 8, 9\n"), is_numbers("12 eggs")
    (True, False)
    """
    head = text[:_HEAD]
    if _is_prose(head[::_STEP]):  # which takes a fortieth of the time
        return False
    letters, digits = _letters_and_digits(head)
    if letters > digits:
        return False
    # A beginning may have more letters than all characters outweigh, even if its last "nan" is cut.
    for beginning in (len(head), len(text) // _BEGINNING, len(text)):
        if beginning > len(head):
            letters, digits = _letters_and_digits(text[:beginning])
        if (letters - 3) * _DIGITS_A_LETTER > len(text):
            return False
    return letters * _DIGITS_A_LETTER <= digits > 0


def _is_prose(characters: str) -> bool:
    """Whether many of these characters are letters, and few of them digits."""
    digits = len(_ONE_DIGIT.findall(characters))
    return digits <= _FEW_DIGITS and _MANY_LETTERS.match(characters) is not None


def _letters_and_digits(text: str) -> tuple[int, int]:
    """The numbers of letters and of digits; letters within a number do not count."""
    others = _NUMERIC.sub("", text)
    if text.isascii():  # which bytes tell sooner
        return _count(others.encode(), _LETTERS), _count(text.encode(), _DIGITS)
    return _length(_WORD, others), _length(_DIGIT, text)


def _count(text: bytes, counted: bytes) -> int:
    """The number of these bytes in a text."""
    return len(text) - len(text.translate(None, counted))


def _length(pattern: re.Pattern[str], text: str) -> int:
    """The number of characters in all matches of a pattern."""
    return sum(map(len, pattern.findall(text)))


def damage(text: str) -> int:
    r"""The number of characters that could not be read, now or in an earlier conversion.

    >>> damage("tea at f\ufffdur, 锟斤拷")
    4
    """
    if text.isascii():
        return 0
    return text.count(LOST) + sum(len(trace) * text.count(trace) for trace in _TRACES)


def is_damaged(damaged: int, length: int) -> bool:
    """Whether a text of this length is doubtful with this number of damaged characters."""
    return damaged * ONE_IN >= length > 0


def is_mangled(text: str) -> bool:
    """Whether the characters of a text can hardly be the ones that its author wrote.

    A font of a PDF draws numbered glyphs, and a map says which characters they are. Where the map
    is missing or wrong, people see the right text, and programs read other characters: private
    ones, letters in which no language is written, or Han that nobody uses.
    """
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
