"""Texts in, digests of their signs out: what texts with the same words differ in.

Marks (signs, punctuation, capital letters, variants of characters) are found by the table and the
rule of `text.signs`. The place of a mark is the number of letters before it, so that no layout
counts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import chain

import numpy as np

from simdup.arrays import CodePoints, Digests, Indices, Keys, Mask
from simdup.compute.compiled import loaded_kernels
from simdup.compute.hashing import WORD_STEP, mix64
from simdup.records import DIFFERENCES
from simdup.text import signs
from simdup.text.spelling import respelled
from simdup.text.unicode import code_points


def sign_digests(codes: CodePoints, offsets: Indices, before: int = 0) -> Digests:
    """The digests of the four sequences of marks in texts: (texts, 4), 32 bits that add up.

    Text i is codes[offsets[i] : offsets[i + 1]], and `before` is the number of letters before it in
    earlier parts. Characters around the texts are looked at, not counted.
    """
    table = signs.sign_table(codes)
    if kernels := loaded_kernels():
        return kernels.sign_digests(codes, offsets, table, before)
    at, letters, sequence, sign = _marks(codes, table, offsets)
    text = np.searchsorted(offsets, at, "right") - 1
    places = (letters[at] - letters[offsets[text]] + before).astype(np.uint64)
    mixed = mix64(places * np.uint64(WORD_STEP) + sign)
    sums = np.zeros((len(offsets) - 1, len(DIFFERENCES) + 1), np.uint64)
    np.add.at(sums, (text, sequence), mixed >> np.uint64(32))
    return sums[:, :-1]


def first_signs(one: str, other: str) -> tuple[str, str]:
    """The signs of two texts with the same words at the first place where these differ, or ""."""
    found = list[dict[int, str]]()
    for text in respelled((one, other)):
        codes, offsets = code_points([text])
        at, letters, sequence, sign = _marks(codes, signs.sign_table(codes), offsets)
        here = defaultdict[int, str](str)
        for place, each in zip(letters[at[sequence == 0]], sign[sequence == 0], strict=True):
            here[int(place)] += chr(each)
        found.append(here)
    a, b = found
    first = min((place for place in {*a, *b} if a.get(place) != b.get(place)), default=-1)
    return a.get(first, ""), b.get(first, "")


def _marks(
    codes: CodePoints, table: Keys, offsets: Indices
) -> tuple[Indices, Indices, Indices, Keys]:
    """The marks between the first offset and the last one.

    Returns where each is, the number of letters before each character of `codes`, and of each mark
    the number of its sequence and the sign.
    """
    edge = np.full(signs.AHEAD, signs.NEWLINE << signs.KIND_AT, np.uint32)
    entries, starts = np.concatenate((edge, table[codes], edge)), offsets + signs.AHEAD
    at = starts[0] + np.flatnonzero(entries[starts[0] : starts[-1]] >= signs.FIRST_MARK)
    kinds = ((entries[at] >> signs.KIND_AT) & 15).astype(np.int64)
    is_simple = (entries[at - 1] != entries[at]) & (entries[at + 1] != entries[at])
    sequence = kinds - np.where(kinds < signs.SIGN, signs.OTHERS_AT, signs.SIGN)
    others = np.flatnonzero((kinds >= signs.SIGN) & ~(is_simple & (kinds < signs.DASH)))
    around = [entries[at[others] + step].astype(np.int64) for step in range(-2, 5)]
    sequence[others] = signs.sequence_of(around, _are_first(entries, at[others]))
    of_each = entries[signs.AHEAD :] & signs.LETTERS
    return at - signs.AHEAD, np.cumsum(of_each) - of_each, sequence, entries[at] >> signs.SIGN_AT


def _are_first(entries: Keys, at: Indices) -> Mask:
    """Whether only blanks are before each of these characters on its line, and not very many."""
    where = at - 1
    for _ in range(signs.MOST_BLANKS):
        is_blank = entries[where] == signs.BLANK << signs.KIND_AT
        if not is_blank.any():
            break
        where -= is_blank
    return entries[where] == signs.NEWLINE << signs.KIND_AT


def with_signs(pieces: Iterable[str]) -> Iterator[tuple[str, Digests]]:
    """Yield the pieces of a text, and with each the digests of signs that are complete by then."""
    text, begin, before = "", 0, 0
    for piece in chain(pieces, ("\n" * signs.AHEAD,)):
        text += piece
        end = max(len(text) - signs.AHEAD, begin)
        codes, _ = code_points([text])
        yield piece, sign_digests(codes, np.array([begin, end]), before)
        before += int((signs.sign_table(codes)[codes[begin:end]] & signs.LETTERS).sum())
        cut = max(end - signs.BEHIND, 0)
        text, begin = text[cut:], end - cut


def words_in_bytes(words: Digests) -> list[bytes]:
    """The digest of the words of each text and those of its signs, of shape (n, 6), as 32 bytes."""
    of_words = np.ascontiguousarray(words[:, :2]).view(np.uint32)
    data = np.column_stack((of_words, words[:, 2:].astype(np.uint32))).tobytes()
    return [data[begin : begin + 32] for begin in range(0, len(data), 32)]
