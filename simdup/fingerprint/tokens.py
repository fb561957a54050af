"""Texts in, tokens out: one hash a token, in one flat array with offsets by document.

No token is ever a string, unless a recipe hashes strings.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from simdup.arrays import CodePoints, Digests, Hashes, Indices, Mask
from simdup.compute.compiled import loaded_kernels
from simdup.compute.hashing import WORD_STEP, blake2b_hashes, mix64, span_hashes, string_hashes
from simdup.recipe import FeatureKind, HashKind, Recipe
from simdup.text import unicode
from simdup.text.jieba_words import cutter, read_stop_words
from simdup.text.spelling import respelled

# Runs of Han are given to jieba in parts of at most this length: its memory grows with the run,
# and no sentence is as long. Part of the recipe.
LONGEST_HAN_RUN = 1 << 12


#: Raised with every change of tokens, `word_digests` or `signs.sign_digests`.
WORDS_EDITION = 3


# How many further tokens a shingle takes in that has a token of a script with few characters: kana
# and syllables of Korean, and the letters of Thai, Lao, Burmese and Khmer.
_KANA, _LETTERS = 1, 2
_FEW: tuple[tuple[int, int, int], ...] = (
    (0x3041, 0x3100, _KANA),
    (0x0E01, 0x0F00, _LETTERS),
    (0x1000, 0x10A0, _LETTERS),
    (0x1780, 0x1800, _LETTERS),
    (0xAC00, 0xD7A4, _KANA),
)

# Other characters that fold to these: kana in squares and circles, and half-width ones.
_FOLDED = ((0x3100, 0x3400, 0), (0xFF65, 0xFFA0, 0), (0x1F200, 0x1F220, 0))


class Tokens(NamedTuple):
    """The tokens of some documents in order; document i has offsets[i]:offsets[i + 1].

    ids: (t,): equal for equal tokens, and in practice different for different ones.
    offsets: (documents + 1,)
    hashes: (t, w): the hashes that vote in place of `ids`, if the recipe's hash is not mix64.
    has_few: Whether there may be a token of a script with few characters.
    """

    ids: Hashes
    offsets: Indices
    hashes: Hashes | None = None
    has_few: bool = False

    def slice(self, begin: int, end: int) -> Tokens:
        """Tokens `begin` to `end` of a single document."""
        hashes = None if self.hashes is None else self.hashes[begin:end]
        ids = self.ids[begin:end]
        return Tokens(ids, np.array([0, len(ids)]), hashes, self.has_few)

    def followed_by(self, other: Tokens) -> Tokens:
        """The tokens of a single document, and then the other tokens."""
        ids = np.concatenate((self.ids, other.ids))
        hashes = None
        if self.hashes is not None and other.hashes is not None:
            hashes = np.concatenate((self.hashes, other.hashes))
        return Tokens(ids, np.array([0, len(ids)]), hashes, self.has_few or other.has_few)


def tokens(texts: Sequence[str], recipe: Recipe) -> Tokens:
    """The tokens of some texts, cut as the recipe says."""
    kernels = loaded_kernels()
    if kernels is not None and recipe.features is FeatureKind.SHINGLES:
        return _compiled_tokens(texts, recipe, kernels)
    return _plain_tokens(texts, recipe)


def _plain_tokens(texts: Sequence[str], recipe: Recipe) -> Tokens:
    """The result of `tokens`, computed by numpy."""
    if recipe.features is FeatureKind.TOKENS:
        codes, documents = unicode.code_points(texts)
        starts, ends = _runs(~unicode.tables(codes).space[codes])
    else:
        codes, documents = unicode.fold(texts, variants=recipe.fold_variants)
        starts, ends, is_han = _token_spans(codes)
        if recipe.features is FeatureKind.WORDS and is_han.any():
            starts, ends = _word_spans(codes, starts, ends, is_han, recipe)
    ids = span_hashes(codes, starts, ends)
    if recipe.stop_words is not None:
        words = read_stop_words(recipe.stop_words)
        kept = ~np.isin(ids, token_ids(words, variants=recipe.fold_variants))
        starts, ends, ids = starts[kept], ends[kept], ids[kept]
    hashes = voting_hashes(codes, starts, ends, ids, recipe)
    return Tokens(ids, np.searchsorted(starts, documents), hashes, _has_few(codes))


def word_digests(words: Tokens, before: int = 0) -> Digests:
    """128 bits that identify the sequence of tokens of each document; (documents, 2).

    The sum over tokens of a hash of token and place, so the digests of the parts of a document
    add up. `before` is the number of its tokens in earlier parts.
    """
    if kernels := loaded_kernels():
        return kernels.word_digests(words.ids, words.offsets, before)
    counts = np.diff(words.offsets)
    places = np.arange(before, before + len(words.ids)) - np.repeat(words.offsets[:-1], counts)
    mixed = mix64(words.ids + places.astype(np.uint64) * np.uint64(WORD_STEP))
    return sums_of(mixed, mixed * (mixed >> np.uint64(32)), words.offsets)


def sums_of(first: Hashes, second: Hashes, offsets: Indices) -> Digests:
    """The sums of two hashes over each document; (documents, 2)."""
    sums = np.zeros((len(first) + 1, 2), np.uint64)
    np.cumsum(first, out=sums[1:, 0])
    np.cumsum(second, out=sums[1:, 1])
    found: Digests = sums[offsets[1:]] - sums[offsets[:-1]]
    return found


def placed_tokens(text: str, recipe: Recipe) -> tuple[Hashes, Indices, Indices]:
    """The tokens that shingles are made of, and where each begins and ends in the text.

    Places are in characters. They are estimates where `fold_with_places` says so, and in a text
    that is compared in another spelling.
    """
    spelled = respelled([text])[0]
    codes, places = unicode.fold_with_places(spelled, variants=recipe.fold_variants)
    if spelled != text:
        places = places * len(text) // max(len(spelled), 1)
    starts, ends, _ = _token_spans(codes)
    ids = span_hashes(codes, starts, ends)
    found = Tokens(ids, np.array([0, len(ids)]), has_few=_has_few(codes))
    return shingled(found, recipe), places[starts], places[ends - 1] + 1


# A token of so many characters that ends with a digit is a number.
_SHORT_NUMBER = 4


def tokens_and_numbers(texts: Sequence[str]) -> tuple[Tokens, Mask]:
    """The tokens that shingles are made of, and which of them are numbers; (tokens,).

    These begin with a digit, or are short and end with one, such as v2 or FY23.
    """
    recipe = Recipe()
    codes, documents = unicode.fold(respelled(texts), variants=recipe.fold_variants)
    starts, ends, _ = _token_spans(codes)
    offsets = np.searchsorted(starts, documents)
    found = Tokens(span_hashes(codes, starts, ends), offsets, has_few=_has_few(codes))
    are_digits = codes - np.uint32(ord("0")) < 10
    ends_so = are_digits[ends - 1] & (ends - starts <= _SHORT_NUMBER)
    return found._replace(ids=shingled(found, recipe)), are_digits[starts] | ends_so


def shingled(found: Tokens, recipe: Recipe) -> Hashes:
    """The ids that shingles are made of: where a script has few characters, with the next tokens.

    Two kana in a row say next to nothing: unrelated Japanese texts have a third of their pairs in
    common. So a shingle of two tokens becomes one of three where a kana is among them.
    """
    if not found.has_few or len(found.ids) < 2 or recipe.ngram[0] == 1:
        return found.ids
    known, reaches = _few_ids()
    place = np.minimum(np.searchsorted(known, found.ids), len(known) - 1)
    reach = np.where(known[place] == found.ids, reaches[place], 0)
    last = np.repeat(found.offsets[1:] - 1, np.diff(found.offsets))
    left = last - np.arange(len(reach))
    reach[:-1] = np.maximum(reach[:-1], np.where(left[:-1] > 0, reach[1:], 0))
    reach, ids = np.minimum(reach, left), found.ids.copy()
    for step in range(1, _LETTERS + 1):
        at = np.flatnonzero(reach >= step)
        ids[at] = mix64(ids[at] * np.uint64(WORD_STEP) + found.ids[at + step])
    return ids


def _has_few(codes: CodePoints) -> bool:
    """Whether characters of scripts with few of them may be here, folded or not."""
    high = codes[codes >= _FEW[1][0]]  # the lowest
    return bool(_are_few()[high].any())


@lru_cache(maxsize=1)
def _are_few() -> Mask:
    """Whether each code point is a character of such a script, or folds to one."""
    found = np.zeros(sys.maxunicode + 1, bool)
    for first, end, _ in _FEW + _FOLDED:
        found[first:end] = True
    return found


@lru_cache(maxsize=1)
def _few_ids() -> tuple[Hashes, Indices]:
    """The ids of the tokens of scripts with few characters, ascending, and how far each reaches."""
    codes = np.concatenate([np.arange(first, end) for first, end, _ in _FEW])
    reach = np.concatenate([np.full(end - first, reach) for first, end, reach in _FEW])
    places = np.arange(len(codes))
    ids = span_hashes(codes.astype(np.uint32), places, places + 1)
    order = np.argsort(ids)
    return ids[order], reach[order]


def _compiled_tokens(
    texts: Sequence[str],
    recipe: Recipe,
    kernels: Any,  # noqa: ANN401
) -> Tokens:
    """Hash the tokens that shingles are made of by `kernels.token_hashes`."""
    codes, offsets = unicode.code_points(texts)
    table = unicode.tables(codes, variants=recipe.fold_variants)
    ids, ends, joins = kernels.token_hashes(codes, offsets, table)
    found = Tokens(ids, ends, has_few=_has_few(codes))
    if not joins.any():
        return found
    # Characters that compose or change places: numpy folds the texts that have any.
    others = np.flatnonzero(joins)
    folded = _plain_tokens([texts[text] for text in others.tolist()], recipe)
    of_texts = np.split(ids, ends[1:-1])
    for text, own in zip(others.tolist(), np.split(folded.ids, folded.offsets[1:-1]), strict=True):
        of_texts[text] = own
    offsets = np.cumsum([0, *map(len, of_texts)])
    has_few = found.has_few or folded.has_few
    return found._replace(ids=np.concatenate(of_texts), offsets=offsets, has_few=has_few)


def _runs(inside: Mask) -> tuple[Indices, Indices]:
    """The begin and the end of each run of True."""
    edges = np.flatnonzero(np.diff(inside, prepend=False, append=False))
    return edges[::2], edges[1::2]


def _token_spans(codes: CodePoints) -> tuple[Indices, Indices, Mask]:
    """The begin and end of each token of folded text, and whether it is one Han character.

    A run of word characters is a token; a Han character, a kana or a character of a
    script without spaces is one by itself, with the marks that follow it.
    """
    kind = unicode.tables(codes).kind[codes]
    is_mark = kind == unicode.MARK
    if is_mark.any():
        # A mark has the kind of the character it stands on; without one it is a word character.
        base = np.maximum.accumulate(np.where(is_mark, 0, np.arange(len(kind))))
        under = kind[base]
        under[(under == unicode.SEPARATOR) | (under == unicode.MARK)] = unicode.WORD
        kind = np.where(is_mark, under, kind)
    is_word, is_single = kind == unicode.WORD, kind >= unicode.SINGLE
    begins = is_single & ~is_mark
    begins[:1] |= is_word[:1]
    begins[1:] |= is_word[1:] & ~is_word[:-1]
    # The last code point is a newline, so every token ends before another position.
    ends = (kind[:-1] != unicode.SEPARATOR) & (begins[1:] | (kind[1:] == unicode.SEPARATOR))
    starts, stops = np.flatnonzero(begins), np.flatnonzero(ends) + 1
    return starts, stops, (kind[starts] == unicode.HAN) & (stops - starts == 1)


def _word_spans(
    codes: CodePoints, starts: Indices, ends: Indices, is_han: Mask, recipe: Recipe
) -> tuple[Indices, Indices]:
    """The token spans, where jieba joins single Han characters to words."""
    where = starts[is_han]
    index = np.arange(len(where))
    first = np.diff(where, prepend=-2) != 1
    run = np.maximum.accumulate(np.where(first, index, 0))
    breaks = np.flatnonzero((index - run) % LONGEST_HAN_RUN == 0)
    # All runs are one text with a newline before each: jieba joins nothing across newlines.
    where = np.insert(where, breaks, -1)
    text = _text(np.where(where < 0, ord("\n"), codes[where]).astype(np.uint32))
    cut = cutter(recipe.cutter, recipe.user_dict, variants=recipe.fold_variants)
    stops = np.cumsum(np.fromiter(map(len, cut(text)), np.int64))
    begins = np.concatenate((np.zeros(1, np.int64), stops[:-1]))
    is_word = where[begins] >= 0
    starts = np.concatenate((starts[~is_han], where[begins[is_word]]))
    ends = np.concatenate((ends[~is_han], where[stops[is_word] - 1] + 1))
    order = np.argsort(starts)
    return starts[order], ends[order]


def _text(codes: CodePoints) -> str:
    return codes.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")


def voting_hashes(
    codes: CodePoints, starts: Indices, ends: Indices, ids: Hashes, recipe: Recipe
) -> Hashes | None:
    """The recipe's hash of each span (t, words of 64 bits).

    None for mix64, where the token ids themselves vote.
    """
    if recipe.hash is HashKind.MIX64:
        return None
    _, first, inverse = np.unique(ids, return_index=True, return_inverse=True)
    starts, ends = starts[first], ends[first]
    if recipe.hash is HashKind.STRING:
        return _left_aligned(*string_hashes(codes, starts, ends), recipe.bits)[inverse]
    text = _text(codes)
    spans = zip(starts.tolist(), ends.tolist(), strict=True)
    return blake2b_hashes([text[start:end] for start, end in spans])[inverse, None]


def _left_aligned(high: Hashes, low: Hashes, bits: int) -> Hashes:
    """The low `bits` bits of 128-bit numbers, moved to the high end of 1 or 2 words: (n, words)."""
    shift = np.uint64(-bits % 64)
    if bits <= 64:
        return (low << shift)[:, None]
    carried = (low >> np.uint64(1)) >> (np.uint64(63) - shift)  # shifts of 64 are undefined
    return np.column_stack((high << shift | carried, low << shift))


def token_ids(texts: Sequence[str], *, variants: bool) -> Hashes:
    """The id of each text as one folded token."""
    codes, offsets = unicode.fold(texts, variants=variants)
    return span_hashes(codes, offsets[:-1], offsets[1:] - 1)
