"""Unicode as tables over code points: folding and token classes without a Python loop.

Folding is NFKC, then case folding: "ＡＢＣ", "Abc" and "abc" become one text; where a recipe
says so, traditional characters then become simplified ones. A text is a
uint32 array of code points, so that one gather looks up all its characters in a table. The
tables come from `unicodedata`, so they are as new as Python's.
Method: Unicode Standard Annex 15 (normalization forms), sections 9 and 13.
"""

from __future__ import annotations

import os
import unicodedata
from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain, compress, count
from operator import ne
from typing import NamedTuple

import numpy as np

from simdup.arrays import Bytes, CodePoints, Indices, Keys, Mask

#: The kinds of folded characters that the tokeniser distinguishes.
SEPARATOR, WORD, SINGLE, HAN, MARK = range(5)

#: Stand in a packed entry in place of a kind: SEVERAL if the character folds to several, JOINS
#: if it may compose or change places.
SEVERAL, JOINS = 5, 6
KIND_SHIFT = 24

#: Holds every character that jieba's dictionary and model know; other Han is SINGLE.
HAN_RANGE = (0x4E00, 0x9FD5)

# Characters that are tokens by themselves: Han outside HAN_RANGE, kana, syllables of Korean, where
# spaces are often optional, and the scripts of South-East Asia that write none (Thai, Lao, Burmese,
# Khmer).
SINGLE_RANGES = (
    *((0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x2E80, 0x2FDF), (0x3005, 0x3007)),
    *((0x3021, 0x3029), (0x3031, 0x3035), (0x3038, 0x30FF), (0x31F0, 0x31FF), (0x3400, 0x4DBF)),
    *((0x4E00, 0x9FFF), (0xA9E0, 0xA9FF), (0xAA60, 0xAA7F), (0xAC00, 0xD7A3), (0xF900, 0xFAFF)),
    *((0x16FF0, 0x16FFF), (0x1AFF0, 0x1B16F), (0x20000, 0x3FFFF)),
)

# Planes with assigned characters other than private ones.
_PLANES = (0, 1, 2, 3, 14)

# Tables cover the code points below the first of these sizes that suffices: Latin, Greek and
# Cyrillic letters; all before CJK; one plane; two; all. The first two take 3 and 17 ms to make, one
# plane 80 ms, which every start of the program would take without the smaller sizes.
_CJK = 0x2E80
_SIZES = (0x530, _CJK, 1 << 16, 2 << 16, 17 << 16)

# The kind of the characters of each category; those of all other categories are separators.
_KIND_OF = defaultdict(
    int,
    dict.fromkeys(("Lu", "Ll", "Lt", "Lm", "Lo", "Nd", "Nl", "No"), WORD)
    | dict.fromkeys(("Mn", "Mc", "Me"), MARK),
)

# A longer run of characters that compose or reorder is folded in parts of this
# length. Real text has a handful in a row (UAX 15 section 13 allows 30), and
# sorting a run costs its length squared, which a hostile file would use.
LONGEST_MARK_RUN = 1024


class Tables(NamedTuple):
    """Facts about each code point below `len(kind)`; arrays by code point or of forms.

    kind: SEPARATOR, WORD, SINGLE, HAN or MARK: the class of the character, if already folded.
    length: How many characters it folds to: 1 to 18.
    start: Where its folded form begins in `folded`.
    folded: The folded forms of all characters, end to end.
    joins: Whether it may compose or change places with characters before it; no table can fold
        that.
    breaks: Whether a text may be cut in front of it: it folds to separators only, and never joins.
    space: Whether it is white space to `str.split`.
    folded_kind: The kinds of the characters in `folded`, in their order.
    packed: The folded character, and from bit KIND_SHIFT on its kind, or SEVERAL, or JOINS.
    """

    kind: Bytes
    length: Bytes
    start: Keys
    folded: CodePoints
    joins: Mask
    breaks: Mask
    space: Mask
    folded_kind: Bytes
    packed: CodePoints


def tables(codes: CodePoints, *, variants: bool = False) -> Tables:
    """The smallest tables that cover `codes`: most text needs one plane, emoji a second.

    With `variants` they also fold Chinese characters that are variants of each other.
    """
    largest = codes.max(initial=0)
    size = next(size for size in _SIZES if largest < size)
    # Characters before CJK never fold to CJK characters.
    return _variant_tables(size) if variants and size > _CJK else _tables(size)


def code_points(texts: Sequence[str]) -> tuple[CodePoints, Indices]:
    """All texts as one array with a newline after each, and where each begins.

    Returns code points (c,) and offsets (len(texts) + 1,): text i is
    codes[offsets[i] : offsets[i + 1] - 1]. Lone surrogates stay as they are.
    """
    joined = "\n".join(chain(texts, [""]))
    codes = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), np.uint32)
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    return codes, _offsets(lengths + 1)


def fold(texts: Sequence[str], *, variants: bool = False) -> tuple[CodePoints, Indices]:
    r"""`code_points` of the texts after NFKC and case folding.

    Equals `unicodedata.normalize("NFKC", text).casefold()` for every text in
    which no more than LONGEST_MARK_RUN characters in a row compose or reorder;
    longer runs, which no language has, are folded in parts. With `variants`,
    `representatives` then replaces Chinese characters.

    >>> codes, offsets = fold(["ＡＢｃ…", "Straße"])
    >>> "".join(map(chr, codes)), offsets.tolist()
    ('abc...\nstrasse\n', [0, 7, 15])
    """
    codes, offsets = code_points(texts)
    table = tables(codes, variants=variants)
    joins = table.joins[codes]
    if not joins.any():
        return _fold_each(codes, offsets, table.length[codes], table)
    slow = np.add.reduceat(joins, offsets[:-1], dtype=np.int64) > 0
    exact = [
        _fold_exactly(text, joins[begin:], variants=variants) if is_slow else text
        for text, begin, is_slow in zip(texts, offsets, slow, strict=False)
    ]
    codes, offsets = code_points(exact)
    table = tables(codes, variants=variants)
    done = np.repeat(slow, np.diff(offsets))
    return _fold_each(codes, offsets, np.where(done, 0, table.length[codes]), table)


def fold_with_places(text: str, *, variants: bool = False) -> tuple[CodePoints, Indices]:
    r"""The folded text with a newline after it, and for each character its place in `text`.

    In a line in which characters compose or change places, places are estimates.

    >>> codes, places = fold_with_places("Ａ…b")
    >>> "".join(map(chr, codes)), places.tolist()
    ('a...b\n', [0, 1, 1, 1, 2, 3])
    """
    codes, offsets = code_points([text])
    table = tables(codes, variants=variants)
    if table.joins[codes].any():
        return _lines_with_places(text, variants=variants)
    lengths = table.length[codes]
    folded, _ = _fold_each(codes, offsets, lengths, table)
    return folded, np.repeat(np.arange(len(codes)), lengths)


def _lines_with_places(text: str, *, variants: bool) -> tuple[CodePoints, Indices]:
    """Do the work of `fold_with_places` line by line, with estimated places."""
    parts, places, begin = [], [], 0
    for line in text.split("\n"):
        codes, _ = fold([line], variants=variants)
        parts.append(codes)
        places.append(begin + np.arange(len(codes)) * len(line) // max(len(codes) - 1, 1))
        begin += len(line) + 1
    return np.concatenate(parts), np.concatenate(places)


def _fold_each(
    codes: CodePoints, offsets: Indices, lengths: Bytes, table: Tables
) -> tuple[CodePoints, Indices]:
    """Replace every code point by its folded form; with the length 0 it stays as it is."""
    starts = table.start[codes]
    folded = table.folded[starts]
    if not lengths.all():
        folded = np.where(lengths, folded, codes)
    longer = np.flatnonzero(lengths > 1)
    if not len(longer):
        return folded, offsets
    # The first character of each form is in place; its others are inserted behind it.
    more = lengths[longer].astype(np.int64) - 1
    before = _offsets(more)
    further = np.arange(before[-1]) + np.repeat(starts[longer] + 1 - before[:-1], more)
    folded = np.insert(folded, np.repeat(longer + 1, more), table.folded[further])
    return folded, offsets + before[np.searchsorted(longer, offsets)]


def _fold_exactly(text: str, joins: Mask, *, variants: bool) -> str:
    """The text folded by `unicodedata`, very long runs of joining characters in parts."""
    runs = np.flatnonzero(np.diff(joins[: len(text)], prepend=False, append=False)).reshape(-1, 2)
    cuts = [
        cut
        for begin, end in runs[np.diff(runs, axis=1)[:, 0] > LONGEST_MARK_RUN]
        for cut in range(begin, end, LONGEST_MARK_RUN)
    ]
    parts = [text[begin:end] for begin, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    folded = "".join(unicodedata.normalize("NFKC", part).casefold() for part in parts)
    return folded.translate(representatives()) if variants else folded


@lru_cache(maxsize=len(_SIZES))
def _tables(size: int) -> Tables:
    """The tables of all code points below `size`."""
    kind, joins, space = np.zeros(size, np.uint8), np.zeros(size, bool), np.zeros(size, bool)
    changed: dict[int, str] = {}
    for plane in (plane for plane in _PLANES if plane << 16 < size):
        here = slice(plane << 16, min((plane + 1) << 16, size))
        characters = list(map(chr, range(here.start, here.stop)))
        kind[here], joins[here] = _kinds(characters), _joins(characters)
        space[here] = np.frombuffer(bytes(map(str.isspace, characters)), bool)
        forms = _folded_forms(characters)
        numbered = zip(count(here.start), forms, strict=False)
        changed.update(compress(numbered, map(ne, characters, forms)))
    length, start, folded = _laid_out(size, changed)
    folded_kind = _kinds_of(folded, kind)
    separators, ends = _offsets(folded_kind == SEPARATOR), start.astype(np.int64) + length
    breaks = (separators[ends] - separators[start] == length) & ~joins
    packed = _packed(folded, folded_kind, length, start, joins)
    return Tables(kind, length, start, folded, joins, breaks, space, folded_kind, packed)


@lru_cache(maxsize=len(_SIZES))
def _variant_tables(size: int) -> Tables:
    """`_tables` with the variants in `folded` replaced by their representatives."""
    plain = _tables(size)
    changed = np.array(sorted(representatives().items()), np.uint32)
    place = np.minimum(np.searchsorted(changed[:, 0], plain.folded), len(changed) - 1)
    is_variant = changed[place, 0] == plain.folded
    folded = np.where(is_variant, changed[place, 1], plain.folded)
    kinds = _kinds_of(folded, plain.kind)
    packed = _packed(folded, kinds, plain.length, plain.start, plain.joins)
    return plain._replace(folded=folded, folded_kind=kinds, packed=packed)


def _kinds_of(folded: CodePoints, kind: Bytes) -> Bytes:
    """The kinds of some characters, looked up in `kind` where it is long enough."""
    kinds = kind[np.minimum(folded, len(kind) - 1)]
    is_beyond = folded >= len(kind)
    kinds[is_beyond] = _kinds(list(map(chr, folded[is_beyond].tolist())))
    return kinds


def _packed(
    folded: CodePoints, folded_kind: Bytes, length: Bytes, start: Keys, joins: Mask
) -> Keys:
    """Make the array `packed` of Tables from its other arrays."""
    several = np.where(joins, JOINS, np.where(length > 1, SEVERAL, folded_kind[start]))
    return folded[start] | several.astype(np.uint32) << np.uint32(KIND_SHIFT)


def _laid_out(size: int, changed: dict[int, str]) -> tuple[Bytes, Keys, CodePoints]:
    """Make `length`, `start`, `folded` of Tables; `folded` has all characters, then other forms."""
    codes = np.fromiter(changed, np.int64, len(changed))
    lengths = np.fromiter(map(len, changed.values()), np.int64, len(changed))
    length, start = np.ones(size, np.uint8), np.arange(size, dtype=np.uint32)
    length[codes], start[codes] = lengths, size + np.cumsum(lengths) - lengths
    forms = code_points(["".join(changed.values())])[0][:-1]
    return length, start, np.concatenate((np.arange(size, dtype=np.uint32), forms))


def _folded_forms(characters: list[str]) -> list[str]:
    """The folded form of each character alone, by one call for all."""
    # A newline between two characters keeps them from composing or reordering.
    # Surrogates and newlines fold to themselves; neither may stand in the joined text.
    alone = characters.copy()
    if characters[0] == "\0":
        alone[ord("\n")] = ""
        alone[0xD800:0xE000] = [""] * len(alone[0xD800:0xE000])
    forms = unicodedata.normalize("NFKC", "\n".join(alone)).casefold().split("\n")
    return [form or c for form, c in zip(forms, characters, strict=True)]


def _kinds(characters: list[str]) -> Bytes:
    """The kind of each character; all but letters, digits and marks are separators."""
    categories = map(unicodedata.category, characters)
    kinds = np.fromiter(map(_KIND_OF.__getitem__, categories), np.uint8, len(characters))
    code = np.fromiter(map(ord, characters), np.uint32, len(characters))
    for low, high in SINGLE_RANGES:
        kinds[(kinds == WORD) & (low <= code) & (code <= high)] = SINGLE
    kinds[(kinds == SINGLE) & (HAN_RANGE[0] <= code) & (code <= HAN_RANGE[1])] = HAN
    return kinds


def _joins(characters: list[str]) -> Mask:
    """Whether each character may compose or change places with characters before it.

    The first character of its decomposition decides.
    """
    pieces = {
        i: tuple(mapping.split())
        for i, mapping in enumerate(map(unicodedata.decomposition, characters))
        if mapping
    }
    second = {
        chr(int(pair[1], 16)) for pair in pieces.values() if len(pair) == 2 and pair[0][0] != "<"
    }
    # Hangul vowels and final consonants compose by arithmetic, not by table.
    second.update(map(chr, chain(range(0x1161, 0x1176), range(0x11A8, 0x11C3))))
    joins = np.fromiter(map(unicodedata.combining, characters), np.uint8, len(characters)) != 0
    joins |= np.fromiter(map(second.__contains__, characters), bool, len(characters))
    for i in pieces:
        first = unicodedata.normalize("NFKD", characters[i])[0]
        joins[i] = unicodedata.combining(first) != 0 or first in second
    return joins


def _offsets(lengths: Indices | Mask) -> Indices:
    """Where each of consecutive pieces begins, and the end: shape (len(lengths) + 1,)."""
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))


@lru_cache(maxsize=1)
def representatives() -> dict[int, int]:
    """The variants of Chinese characters, and the one that replaces each; for `str.translate`.

    `variants.txt` has a class on each line, whose first character represents the others. It comes
    from Unihan (`fixtures/variants.py`); `variants.LICENSE` is the licence of these data.
    Characters that Python's Unicode does not have yet stay as they are.

    >>> "後漢書，發髮，干乾幹".translate(representatives())
    '后汉书，发发，干干干'
    """
    with open(os.path.join(os.path.dirname(__file__), "variants.txt"), encoding="utf-8") as file:
        lines = file.read().splitlines()
    classes = [line for line in lines if not line.startswith("#")]
    known = ["".join(each for each in one if unicodedata.category(each) == "Lo") for one in classes]
    return {
        ord(each): ord(one[0])
        for one, whole in zip(known, classes, strict=True)
        if one[:1] == whole[0]
        for each in one[1:]
    }
