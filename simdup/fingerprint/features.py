"""Tokens in, features out: the votes in a fingerprint, and the weight of each.

Features are flat arrays with offsets by document (compressed sparse rows): a hash and a weight
for each distinct feature. A long document is counted in segments of SEGMENT tokens, so that
memory does not grow with its length.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

import numpy as np

from simdup.arrays import Digests, Floats, Hashes, Indices
from simdup.compute.compiled import loaded_kernels
from simdup.compute.hashing import gram_hashes, mix64, span_hashes
from simdup.fingerprint.signs import sign_digests, with_signs
from simdup.fingerprint.tokens import (
    Tokens,
    shingled,
    token_ids,
    tokens,
    voting_hashes,
    word_digests,
)
from simdup.recipe import MAX_FIELD_WEIGHT, FeatureKind, Recipe, WeightKind
from simdup.text.chunking import batches, chunks_of, is_long, pieces, windows
from simdup.text.fields import separated
from simdup.text.jieba_words import idf, keywords
from simdup.text.spelling import respelled
from simdup.text.unicode import code_points

Weights = Indices | Floats

#: The most tokens counted together. Part of the recipe: a change changes fingerprints.
SEGMENT = 1 << 20

# Weights are whole multiples of 1 / UNIT, so that sums of them are exact.
UNIT = 1 << 16


class Features(NamedTuple):
    """The distinct features of some documents; document i has offsets[i]:offsets[i + 1].

    ids: (m,): equal for equal features, and in practice different for different ones.
    weights: (m,): whole multiples of one unit, or floats; None: each weighs 1.
    offsets: (documents + 1,)
    hashes: (m, w): w words of 64 bits that vote, highest bit first; None: `ids` vote.
    words: (documents, 6): `word_digests` and `sign_digests`; None for records with fields.
    """

    ids: Hashes
    weights: Weights | None
    offsets: Indices
    hashes: Hashes | None = None
    words: Digests | None = None

    @property
    def counts(self) -> Indices:
        """Number of features of each document."""
        return np.diff(self.offsets)

    @property
    def weights_or_ones(self) -> Weights:
        """The weights as an array, filled with ones where none are stored."""
        return np.ones(len(self.ids), np.int64) if self.weights is None else self.weights


def features(texts: Sequence[str], recipe: Recipe, *, has_words: bool = True) -> Features:
    """The features of a batch of texts, none of which is long (`chunking.is_long`).

    A long text is for `segments`. Without `has_words`, digests of words are left out. Raises
    InputError if a dictionary cannot be read.
    """
    if recipe.fields:
        return _field_features(texts, recipe)
    texts = _spelled(texts, recipe)
    is_keyword = recipe.features is FeatureKind.KEYWORDS
    found = None if is_keyword else tokens(texts, recipe)
    counted = _keyword_features(texts, recipe) if found is None else _counted(found, recipe)
    if not has_words:
        return counted
    words = word_digests(_words(texts, recipe, found)), sign_digests(*code_points(texts))
    return counted._replace(words=np.hstack(words))


def _spelled(texts: Sequence[str], recipe: Recipe) -> Sequence[str]:
    """The texts as they are compared; other programs define what words and keywords are."""
    is_ours = recipe.features in {FeatureKind.SHINGLES, FeatureKind.WORDS}
    return respelled(texts) if is_ours else texts


def _words(texts: Sequence[str], recipe: Recipe, found: Tokens | None = None) -> Tokens:
    """The folded tokens of texts, of which the recipe may make others: `found`."""
    if found is not None and recipe.features is FeatureKind.SHINGLES:
        return found
    return tokens(texts, Recipe(fold_variants=recipe.fold_variants))


def segments(chunks: Iterable[str], recipe: Recipe) -> Iterator[Features]:
    """The features of one text that comes in chunks, a segment at a time.

    Where the chunks are cut makes no difference; they must be no longer than the chunks of
    `chunks_of`. A text without a token yields nothing.
    The digests of the words and signs of all segments add up to the digests of the text.
    """
    if _needs_whole_text(recipe):
        yield features(["".join(chunks)], recipe)
        return
    kept, digest, count = tokens([], recipe), np.zeros((1, 6), np.uint64), 0
    spelled = chain.from_iterable(chunks_of(*_spelled([text], recipe)) for text in windows(chunks))
    for piece, signs in with_signs(pieces(spelled, recipe)):
        found = tokens([piece], recipe)
        words = _words([piece], recipe, found)
        digest = digest + np.hstack((word_digests(words, count), signs))
        count += len(words.ids)
        kept = kept.followed_by(found)
        while len(kept.ids) >= SEGMENT:
            yield _counted(kept.slice(0, SEGMENT), recipe)._replace(words=digest)
            kept, digest = kept.slice(SEGMENT, len(kept.ids)), np.zeros_like(digest)
    if len(kept.ids) or digest.any():
        yield _counted(kept, recipe)._replace(words=digest)


def all_features(texts: Sequence[str], recipe: Recipe) -> Features:
    """The features of texts of any length, in the order of the texts."""
    made = [_of_batch(batch, recipe) for batch in batches(texts)]
    return concatenated(made) if made else features([], recipe)


def concatenated(parts: Sequence[Features]) -> Features:
    """One `Features` with the documents of several, all of one recipe, in order."""
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
        joined_words([part.words for part in parts]),
    )


def joined_words(parts: Sequence[Digests | None]) -> Digests | None:
    """The digests of the words of several batches; None if one has none."""
    known = [each for each in parts if each is not None]
    return np.concatenate(known) if len(known) == len(parts) else None


def merged(parts: Iterable[Features], recipe: Recipe) -> Features:
    """The segments of one text as one document; the weights of equal features add up."""
    every = concatenated([features([], recipe), *parts])
    ids, first, inverse = np.unique(every.ids, return_index=True, return_inverse=True)
    weights = np.bincount(inverse, every.weights, len(ids)).astype(np.int64)
    hashes = None if every.hashes is None else every.hashes[first]
    words = None if every.words is None else every.words.sum(axis=0, keepdims=True)
    return Features(ids, weights, np.array([0, len(ids)]), hashes, words)


def _needs_whole_text(recipe: Recipe) -> bool:
    """Whether features depend on the whole text, so that it cannot come in parts."""
    return bool(recipe.fields) or recipe.features is FeatureKind.KEYWORDS


def _field_features(texts: Sequence[str], recipe: Recipe) -> Features:
    """The features of records: the features of each field, marked with its number.

    A field of weight w gives w copies of each of its features, so later steps count it w times.
    """
    fields = len(recipe.fields)
    parts = chain.from_iterable(separated(text, fields) for text in texts)
    plain = all_features(list(parts), replace(recipe, fields=()))
    field = np.repeat(np.arange(len(plain.counts)) % max(fields, 1), plain.counts)
    copies = np.array([weight for _, weight in recipe.fields], np.int64)[field]
    place = np.repeat(np.arange(len(plain.ids)), copies)
    ends = np.concatenate((np.zeros(1, np.int64), np.cumsum(copies)))
    copy = np.arange(len(place)) - ends[place]
    salt = mix64((field[place] * MAX_FIELD_WEIGHT + copy).astype(np.uint64) + np.uint64(1))
    weights = None if plain.weights is None else plain.weights[place]
    return Features(mix64(plain.ids[place] + salt), weights, ends[plain.offsets[::fields]])


def _of_batch(batch: list[str], recipe: Recipe) -> Features:
    """The features of a batch; a long text is a batch by itself."""
    if not is_long(batch[0]) or _needs_whole_text(recipe):
        return features(batch, recipe)
    return merged(segments(chunks_of(batch[0]), recipe), recipe)


def _counted(tokens: Tokens, recipe: Recipe) -> Features:
    """The distinct features of each document and their weights."""
    if recipe.features is FeatureKind.SHINGLES:
        tokens = tokens._replace(ids=shingled(tokens, recipe))
        ids, offsets = _distinct_shingles(tokens, recipe.ngram)
        return Features(ids, None, offsets)
    n = len(tokens.offsets) - 1
    documents = np.repeat(np.arange(n), np.diff(tokens.offsets))
    first, counts = _distinct(tokens.ids, documents)
    ids, offsets = tokens.ids[first], np.searchsorted(documents[first], np.arange(n + 1))
    hashes = None if tokens.hashes is None else tokens.hashes[first]
    if recipe.features is FeatureKind.TOKENS:
        return Features(ids, counts, offsets, hashes)
    weights = np.rint(np.sqrt(counts) * _idf_of(ids, recipe) * UNIT).astype(np.int64)
    return Features(ids, weights, offsets, hashes)


def _distinct_shingles(tokens: Tokens, lengths: tuple[int, ...]) -> tuple[Hashes, Indices]:
    """The distinct shingles of each document and their offsets; kernels use another order."""
    if kernels := loaded_kernels():
        found: tuple[Hashes, Indices] = kernels.distinct_shingles(
            tokens.ids, tokens.offsets, np.array(lengths, np.int64)
        )
        return found
    ids, documents = _shingles(tokens, lengths)
    bounds = np.searchsorted(documents, np.arange(len(tokens.offsets)))
    # Sorting in place, a document at a time, beats one sort of indices several times over.
    for begin, end in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        ids[begin:end].sort()
    is_new = np.ones(len(ids), bool)
    np.not_equal(ids[1:], ids[:-1], out=is_new[1:])
    is_new[bounds[:-1][bounds[:-1] < len(ids)]] = True
    before = np.concatenate((np.zeros(1, np.int64), np.cumsum(is_new)))
    return ids[is_new], before[bounds]


def _shingles(tokens: Tokens, lengths: tuple[int, ...]) -> tuple[Hashes, Indices]:
    """All shingles of these lengths and the document of each, by document.

    A document with fewer tokens than the shortest length has one shingle of all its tokens.
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


def _distinct(ids: Hashes, documents: Indices) -> tuple[Indices, Indices]:
    """For each document, where each distinct id first occurs, and how often it occurs."""
    order = np.lexsort((ids, documents))
    ordered = np.column_stack((documents[order].astype(np.uint64), ids[order]))
    is_new = np.ones(len(ids), bool)
    is_new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    first = np.flatnonzero(is_new)
    return order[first], np.diff(np.append(first, len(ids)))


def _keyword_features(texts: Sequence[str], recipe: Recipe) -> Features:
    """The keywords of each text as features; within a text, highest TF-IDF first."""
    extract = keywords(recipe.user_dict, recipe.stop_words)
    found = [extract(text, recipe.top) for text in texts]
    pairs = list(chain.from_iterable(found))
    codes, starts = code_points([word for word, _ in pairs])
    starts, ends = starts[:-1], starts[1:] - 1
    ids = span_hashes(codes, starts, ends)
    hashes = voting_hashes(codes, starts, ends, ids, recipe)
    weights = _rounded(np.array([weight for _, weight in pairs], np.float64), recipe.weights)
    offsets = np.cumsum([0, *map(len, found)])
    return Features(ids, weights, offsets, hashes)


def _rounded(weights: Floats, kind: WeightKind) -> Weights:
    """The weights, rounded as `WeightKind` describes."""
    if kind is WeightKind.FLOAT:
        return weights
    if kind is WeightKind.EXACT:
        return np.rint(weights * UNIT).astype(np.int64)
    return (weights * 10 if kind is WeightKind.INT10 else weights).astype(np.int64)


def _idf_of(ids: Hashes, recipe: Recipe) -> Floats:
    """The IDF of each word by jieba's table; an unknown word has the table's median."""
    known, values, median = _idf_table(recipe.fold_variants)
    where = np.minimum(np.searchsorted(known, ids), len(known) - 1)
    return np.where(known[where] == ids, values[where], median)


@lru_cache(maxsize=2)
def _idf_table(variants: bool) -> tuple[Hashes, Floats, float]:  # noqa: FBT001
    """Sorted ids of the words that jieba knows, their IDF, and its median (the upper one).

    If the table has several forms of a word, the IDF of its commonest form counts.
    """
    names, idfs = idf()
    values = np.array(idfs)
    order = np.argsort(values, kind="stable") if variants else np.arange(len(values))
    ids, first = np.unique(token_ids(names, variants=variants)[order], return_index=True)
    return ids, values[order[first]], float(np.sort(values)[len(values) // 2])
