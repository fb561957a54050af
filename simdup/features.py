"""Texts in, features out: what votes in a fingerprint, and with which weight.

    texts -> Tokens (a hash each) -> Features (a hash and a weight for each distinct one)

Both are flat arrays with offsets by document (compressed sparse rows). A long
document comes in pieces and is counted in segments of SEGMENT tokens, so that
memory does not grow with its length.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from simdup.hashing import blake2b_hashes, gram_hashes, span_hashes, string_hashes
from simdup.recipe import FeatureKind, HashKind, Recipe, WeightKind
from simdup.unicode import HAN, MARK, SEPARATOR, SINGLE, WORD, code_points, fold, tables
from simdup.words import cutter, idf, keywords, read_stop_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from simdup.hashing import Hashes, Positions
    from simdup.unicode import CodePoints

    Weights = NDArray[np.int64] | NDArray[np.float64]

#: Tokens that are counted together. Part of the recipe: a change changes fingerprints.
SEGMENT = 1 << 20

# Characters that go through the arrays at once: more fall out of the cache (one
# million: 3 times slower), fewer pay numpy's overhead. Changes speed only.
PIECE = 200_000

# Texts in a batch at most: the table of votes of a batch (texts x 256 counts) is to
# stay in the cache. Changes speed only.
BATCH = 512

# Texts without a separator for this many characters are cut there, so that a file of one
# endless word needs bounded memory. More than PIECE. Part of the recipe.
LONGEST_WORD = 1 << 18

# Han runs are given to jieba in parts of at most this length: its memory grows
# with the run, and no sentence is as long. Part of the recipe.
LONGEST_HAN_RUN = 1 << 12

# Weights are whole multiples of 1 / UNIT, so that sums of them are exact.
UNIT = 1 << 16


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of some documents in order; document i has offsets[i]:offsets[i + 1]."""

    ids: Hashes
    """(t,): equal for equal tokens, and in practice only for these."""
    offsets: Positions
    """(documents + 1,)"""
    hashes: Hashes | None = None
    """(t, w): what votes instead of `ids`, when the recipe's hash is another one."""

    def slice(self, begin: int, end: int) -> Tokens:
        """Some of the tokens of a single document."""
        hashes = None if self.hashes is None else self.hashes[begin:end]
        ids = self.ids[begin:end]
        return Tokens(ids, np.array([0, len(ids)]), hashes)

    def followed_by(self, other: Tokens) -> Tokens:
        """The tokens of a single document and those that come after them."""
        ids = np.concatenate((self.ids, other.ids))
        hashes = None
        if self.hashes is not None and other.hashes is not None:
            hashes = np.concatenate((self.hashes, other.hashes))
        return Tokens(ids, np.array([0, len(ids)]), hashes)


@dataclass(frozen=True, slots=True)
class Features:
    """The distinct features of some documents; document i has offsets[i]:offsets[i + 1]."""

    ids: Hashes
    """(m,): equal for equal features, and in practice only for these."""
    weights: Weights | None
    """(m,): multiples of a unit that is the same for all, or floats; None: each weighs 1."""
    offsets: Positions
    """(documents + 1,)"""
    hashes: Hashes | None = None
    """(m, w): w words of 64 bits that vote, highest bit first; None: `ids` do."""

    @property
    def counts(self) -> Positions:
        """How many features each document has."""
        return np.diff(self.offsets)

    @property
    def weights_or_ones(self) -> Weights:
        """The weights, written out where each is 1."""
        return np.ones(len(self.ids), np.int64) if self.weights is None else self.weights


def features(texts: Sequence[str], recipe: Recipe) -> Features:
    """The features of a batch of texts, each no longer than PIECE characters.

    Raises ValueError for a longer text (which `segments` takes), InputError when
    a dictionary cannot be read.
    """
    if recipe.features is FeatureKind.KEYWORDS:
        return _keyword_features(texts, recipe)
    if max(map(len, texts), default=0) > PIECE:
        raise ValueError(f"a text of more than {PIECE} characters goes through `segments`")
    return _counted(_tokens(texts, recipe), recipe)


def segments(chunks: Iterable[str], recipe: Recipe) -> Iterator[Features]:
    """The features of one text that comes in chunks, a segment at a time.

    Where the chunks are cut makes no difference. They are to be no longer than
    PIECE. Nothing is yielded for a text without a token.
    """
    if recipe.features is FeatureKind.KEYWORDS:  # which are defined by the whole text
        yield _keyword_features(["".join(chunks)], recipe)
        return
    kept = _tokens([], recipe)
    for piece in _pieces(chunks, recipe):
        kept = kept.followed_by(_tokens([piece], recipe))
        while len(kept.ids) >= SEGMENT:
            yield _counted(kept.slice(0, SEGMENT), recipe)
            kept = kept.slice(SEGMENT, len(kept.ids))
    if len(kept.ids):
        yield _counted(kept, recipe)


def all_features(texts: Sequence[str], recipe: Recipe) -> Features:
    """The features of texts of any length, in their order."""
    made = [_one(batch, recipe) for batch in batches(texts)]
    return concatenated(made) if made else features([], recipe)


def batches(texts: Sequence[str]) -> Iterator[list[str]]:
    """Consecutive texts that are handled together: PIECE characters, or one longer text."""
    batch: list[str] = []
    size = 0
    for text in texts:
        if batch and (size + len(text) > PIECE or len(batch) == BATCH):
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += len(text)
    if batch:
        yield batch


def chunks_of(text: str) -> Iterator[str]:
    """A long text in chunks of PIECE characters."""
    return (text[begin : begin + PIECE] for begin in range(0, len(text), PIECE))


def concatenated(parts: Sequence[Features]) -> Features:
    """The documents of several `Features` of one recipe, in order."""
    sizes = np.cumsum([0, *(len(part.ids) for part in parts)])
    ends = [part.offsets[1:] + size for part, size in zip(parts, sizes[:-1], strict=True)]
    weights = None
    if any(part.weights is not None for part in parts):
        weights = np.concatenate([part.weights_or_ones for part in parts])
    hashes = [part.hashes for part in parts if part.hashes is not None]
    return Features(
        np.concatenate([part.ids for part in parts]),
        weights,
        np.concatenate([np.zeros(1, np.int64), *ends]),
        np.concatenate(hashes) if hashes else None,
    )


def merged(parts: Iterable[Features], recipe: Recipe) -> Features:
    """The segments of one text as one document: equal features become one, weights add up."""
    whole = concatenated([features([], recipe), *parts])
    ids, first, inverse = np.unique(whole.ids, return_index=True, return_inverse=True)
    weights = np.bincount(inverse, whole.weights, len(ids)).astype(np.int64)
    hashes = None if whole.hashes is None else whole.hashes[first]
    return Features(ids, weights, np.array([0, len(ids)]), hashes)


def _one(batch: list[str], recipe: Recipe) -> Features:
    if len(batch[0]) <= PIECE or recipe.features is FeatureKind.KEYWORDS:
        return features(batch, recipe)
    return merged(segments(chunks_of(batch[0]), recipe), recipe)


def _pieces(chunks: Iterable[str], recipe: Recipe) -> Iterator[str]:
    """The same text, cut only where no token, Han run or composition goes across."""
    carry = ""
    for chunk in chunks:
        carry += chunk
        if len(carry) < PIECE:
            continue
        cut = _last_break(carry[:LONGEST_WORD], recipe)
        if cut == 0 and len(carry) > LONGEST_WORD:
            cut = LONGEST_WORD
        if cut:
            yield carry[:cut]
            carry = carry[cut:]
    yield carry


def _last_break(text: str, recipe: Recipe, window: int = 4096) -> int:
    """The last place at which a text may be cut; 0 if there is none but its beginning."""
    for begin in range((len(text) - 1) // window * window, -1, -window):
        codes, _ = code_points([text[begin : begin + window]])
        table = tables(codes)
        may = table.space if recipe.features is FeatureKind.TOKENS else table.breaks
        found = np.flatnonzero(may[codes[:-1]])
        if len(found):
            return begin + int(found[-1])
    return 0


def _tokens(texts: Sequence[str], recipe: Recipe) -> Tokens:
    """The tokens of some texts as the recipe cuts them."""
    if recipe.features is FeatureKind.TOKENS:
        codes, documents = code_points(texts)
        starts, ends = _runs(~tables(codes).space[codes])
    else:
        codes, documents = fold(texts)
        starts, ends, is_han = _token_spans(codes)
        if recipe.features is FeatureKind.WORDS and is_han.any():
            starts, ends = _word_spans(codes, starts, ends, is_han, recipe)
    ids = span_hashes(codes, starts, ends)
    if recipe.features is FeatureKind.WORDS and recipe.stop_words is not None:
        kept = ~np.isin(ids, _ids(read_stop_words(recipe.stop_words)))
        starts, ends, ids = starts[kept], ends[kept], ids[kept]
    hashes = _voting_hashes(codes, starts, ends, ids, recipe)
    return Tokens(ids, np.searchsorted(starts, documents), hashes)


def _runs(inside: NDArray[np.bool_]) -> tuple[Positions, Positions]:
    """Where runs of True begin and end."""
    edges = np.flatnonzero(np.diff(inside, prepend=False, append=False))
    return edges[::2], edges[1::2]


def _token_spans(codes: CodePoints) -> tuple[Positions, Positions, NDArray[np.bool_]]:
    """Where the tokens of folded text begin and end, and which are one Han character.

    A run of word characters is a token; a Han character, a kana or a character of a
    script without spaces is one by itself, with the marks that follow it.
    """
    kind = tables(codes).kind[codes]
    is_mark = kind == MARK
    if is_mark.any():
        # A mark is of the kind of what it stands on; on nothing it is a word.
        base = np.maximum.accumulate(np.where(is_mark, 0, np.arange(len(kind))))
        under = kind[base]
        under[(under == SEPARATOR) | (under == MARK)] = WORD
        kind = np.where(is_mark, under, kind)
    is_word, is_single = kind == WORD, kind >= SINGLE
    begins = is_single & ~is_mark
    begins[:1] |= is_word[:1]
    begins[1:] |= is_word[1:] & ~is_word[:-1]
    # The last code point is a newline, so every token ends before another position.
    ends = (kind[:-1] != SEPARATOR) & (begins[1:] | (kind[1:] == SEPARATOR))
    starts, stops = np.flatnonzero(begins), np.flatnonzero(ends) + 1
    return starts, stops, (kind[starts] == HAN) & (stops - starts == 1)


def _word_spans(
    codes: CodePoints, starts: Positions, ends: Positions, is_han: NDArray[np.bool_], recipe: Recipe
) -> tuple[Positions, Positions]:
    """The token spans with single Han characters joined to words by jieba."""
    where = starts[is_han]
    index = np.arange(len(where))
    first = np.diff(where, prepend=-2) != 1
    run = np.maximum.accumulate(np.where(first, index, 0))
    breaks = np.flatnonzero((index - run) % LONGEST_HAN_RUN == 0)
    # All runs as one text with a newline before each: jieba never joins across one.
    where = np.insert(where, breaks, -1)
    text = _text(np.where(where < 0, ord("\n"), codes[where]).astype(np.uint32))
    cut = cutter(recipe.cutter, recipe.user_dict)
    stops = np.cumsum(np.fromiter(map(len, cut(text)), np.int64))
    begins = np.concatenate((np.zeros(1, np.int64), stops[:-1]))
    is_word = where[begins] >= 0
    starts = np.concatenate((starts[~is_han], where[begins[is_word]]))
    ends = np.concatenate((ends[~is_han], where[stops[is_word] - 1] + 1))
    order = np.argsort(starts)
    return starts[order], ends[order]


def _text(codes: CodePoints) -> str:
    return codes.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")


def _voting_hashes(
    codes: CodePoints, starts: Positions, ends: Positions, ids: Hashes, recipe: Recipe
) -> Hashes | None:
    """The recipe's own hash of each span (t, words of 64 bits), or None for mix64."""
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
    """The low `bits` of 128-bit numbers at the high end of one or two words: (n, words)."""
    shift = np.uint64(-bits % 64)
    if bits <= 64:
        return (low << shift)[:, None]
    carried = (low >> np.uint64(1)) >> (np.uint64(63) - shift)  # shifts of 64 are undefined
    return np.column_stack((high << shift | carried, low << shift))


def _counted(tokens: Tokens, recipe: Recipe) -> Features:
    """The distinct features of each document and their weights."""
    if recipe.features is FeatureKind.SHINGLES:
        return Features(*_distinct_shingles(tokens, recipe.ngram))
    n = len(tokens.offsets) - 1
    documents = np.repeat(np.arange(n), np.diff(tokens.offsets))
    first, counts = _distinct(tokens.ids, documents)
    ids, offsets = tokens.ids[first], np.searchsorted(documents[first], np.arange(n + 1))
    hashes = None if tokens.hashes is None else tokens.hashes[first]
    if recipe.features is FeatureKind.TOKENS:
        return Features(ids, counts, offsets, hashes)
    weights = np.rint(np.sqrt(counts) * _idf_of(ids) * UNIT).astype(np.int64)
    return Features(ids, weights, offsets, hashes)


def _distinct_shingles(tokens: Tokens, lengths: tuple[int, ...]) -> tuple[Hashes, None, Positions]:
    """The distinct shingles of each document, no weights, and the offsets of documents."""
    ids, documents = _shingles(tokens, lengths)
    bounds = np.searchsorted(documents, np.arange(len(tokens.offsets)))
    # Sorting in place, a document at a time, beats one sort of indices several times over.
    for begin, end in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        ids[begin:end].sort()
    is_new = np.ones(len(ids), bool)
    np.not_equal(ids[1:], ids[:-1], out=is_new[1:])
    is_new[bounds[:-1][bounds[:-1] < len(ids)]] = True
    before = np.concatenate((np.zeros(1, np.int64), np.cumsum(is_new)))
    return ids[is_new], None, before[bounds]


def _shingles(tokens: Tokens, lengths: tuple[int, ...]) -> tuple[Hashes, Positions]:
    """All shingles of these lengths and the document of each, by document.

    A document with fewer tokens than the shortest length has one shingle of them all.
    """
    counts = np.diff(tokens.offsets)
    documents = np.repeat(np.arange(len(counts)), counts)
    ids, owners = [], []
    for n in lengths:
        last = len(documents) - n + 1
        starts = np.flatnonzero(documents[: max(last, 0)] == documents[n - 1 :])
        ids.append(gram_hashes(tokens.ids, starts, n))
        owners.append(documents[starts])
    for n in range(1, lengths[0]):
        short = np.flatnonzero(counts == n)
        if len(short):
            ids.append(gram_hashes(tokens.ids, tokens.offsets[short], n))
            owners.append(short)
    if len(ids) == 1:
        return ids[0], owners[0]
    order = np.argsort(np.concatenate(owners), kind="stable")
    return np.concatenate(ids)[order], np.concatenate(owners)[order]


def _distinct(ids: Hashes, documents: Positions) -> tuple[Positions, Positions]:
    """Where each distinct id of each document stands, by document, and how often it occurs."""
    bits = np.uint64(int(documents.max(initial=0)).bit_length())
    keys = ids
    if bits:
        keys = (documents.astype(np.uint64) << (np.uint64(64) - bits)) | (ids >> bits)
    order = np.argsort(keys)
    keys, sorted_ids = keys[order], ids[order]
    is_new = np.ones(len(keys), bool)
    is_new[1:] = keys[1:] != keys[:-1]
    if not (is_new[1:] | (sorted_ids[1:] == sorted_ids[:-1])).all():
        # Two ids of a document differ only in the bits that gave way to its number.
        order = np.lexsort((ids, documents))
        sorted_ids, sorted_documents = ids[order], documents[order]
        is_new[1:] = sorted_ids[1:] != sorted_ids[:-1]
        is_new[1:] |= sorted_documents[1:] != sorted_documents[:-1]
    first = np.flatnonzero(is_new)
    return order[first], np.diff(np.append(first, len(keys)))


def _keyword_features(texts: Sequence[str], recipe: Recipe) -> Features:
    """The keywords of each text, in its order, highest TF-IDF first."""
    extract = keywords(recipe.user_dict, recipe.stop_words)
    found = [extract(text, recipe.top) for text in texts]
    pairs = list(chain.from_iterable(found))
    codes, starts = code_points([word for word, _ in pairs])
    starts, ends = starts[:-1], starts[1:] - 1
    ids = span_hashes(codes, starts, ends)
    hashes = _voting_hashes(codes, starts, ends, ids, recipe)
    weights = _rounded(np.array([weight for _, weight in pairs], np.float64), recipe.weights)
    offsets = np.cumsum([0, *map(len, found)])
    return Features(ids, weights, offsets, hashes)


def _rounded(weights: NDArray[np.float64], kind: WeightKind) -> Weights:
    if kind is WeightKind.FLOAT:
        return weights
    if kind is WeightKind.EXACT:
        return np.rint(weights * UNIT).astype(np.int64)
    return (weights * 10 if kind is WeightKind.INT10 else weights).astype(np.int64)


def _ids(texts: Sequence[str]) -> Hashes:
    """The id of each text as one folded token."""
    codes, offsets = fold(texts)
    return span_hashes(codes, offsets[:-1], offsets[1:] - 1)


def _idf_of(ids: Hashes) -> NDArray[np.float64]:
    """IDF of words by jieba's table; an unknown word has the table's median."""
    known, values, median = _idf_table()
    where = np.minimum(np.searchsorted(known, ids), len(known) - 1)
    return np.where(known[where] == ids, values[where], median)


@lru_cache(maxsize=1)
def _idf_table() -> tuple[Hashes, NDArray[np.float64], float]:
    """Sorted ids of the words that jieba knows, their IDF, and its median (the upper one)."""
    names, idfs = idf()
    values = np.array(idfs)
    ids, first = np.unique(_ids(names), return_index=True)
    return ids, values[first], float(np.sort(values)[len(values) // 2])
