"""Features in, fingerprints out.

Every feature is a hash with a weight. For each bit, the features with a 1 there vote for 1
with their weight and the others for 0; a fingerprint holds the winners. Texts that share most
of their features agree in most bits: if theta is the angle between two weighted feature
vectors, a bit differs with probability theta / pi. Source: Charikar, "Similarity estimation
techniques from rounding algorithms", 2002.

A collection is one uint8 array (n, bits // 8), first bit highest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from simdup.arrays import Digests, Floats, Indices, Mask, Rows
from simdup.compute.compiled import loaded_kernels
from simdup.compute.hashing import mix64, widened
from simdup.fingerprint.features import Features, features, joined_words, segments
from simdup.fingerprint.sketch import Sketches, joined, sampled, sketches
from simdup.fingerprint.tokens import sums_of
from simdup.recipe import FeatureKind, HashKind, Recipe
from simdup.text.chunking import batches, chunks_of, is_long

# +1 where a byte has a 1, -1 where it has a 0, highest bit first.
_SIGNS = 2.0 * np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1) - 1

# From this width on, a fingerprint whose bits are all equal is refused: chance gives one in 2**31
# texts, and features that cancel out or weigh nothing give one far more often.
MIN_BITS_TO_REFUSE = 32


class Fingerprints(NamedTuple):
    """The fingerprints of n texts with their counts, digests and sketches; all arrays by text.

    rows: (n, bits // 8): the fingerprints; a text without a feature has all zeros.
    counts: (n,): number of features of each text; a long text has the sum over its segments.
    digests: (n, 2): equal for texts with the same features and weights, else different.
    sketches: None unless they were asked for.
    words: (n, 6): see `signs.words_in_bytes`; None for records with fields.
    """

    rows: Rows
    counts: Indices
    digests: Digests
    sketches: Sketches | None = None
    words: Digests | None = None


def fingerprint_texts(
    texts: Sequence[str], recipe: Recipe, levels: int | None = None, *, has_words: bool = True
) -> Fingerprints:
    """The fingerprints of texts of any length, in their order.

    `levels` says how dense their sketches are, see `sketch`; None: there are no sketches. Without
    `has_words`, digests of words may be left out.
    """
    made = [_of_batch(batch, recipe, levels, has_words=has_words) for batch in batches(texts)]
    if not made:
        return simhash(features([], recipe), recipe, levels)
    columns = map(np.concatenate, zip(*(each[:3] for each in made), strict=True))
    sketched = [each.sketches for each in made if each.sketches is not None]
    words = joined_words([each.words for each in made])
    return Fingerprints._make([*columns, None if levels is None else joined(sketched), words])


def fingerprint_chunks(
    chunks: Iterable[str], recipe: Recipe, levels: int | None = None
) -> Fingerprints:
    """The fingerprint of one text that comes in chunks, none longer than a chunk of `chunks_of`."""
    sums, count, digest = np.zeros((1, recipe.bits)), 0, np.zeros((1, 2), np.uint64)
    kept, words = np.empty(0, np.uint64), np.zeros((1, 6), np.uint64)
    for segment in segments(chunks, recipe):
        sums += votes(segment, recipe.bits)
        count += len(segment.ids)
        digest += digests(segment)
        if segment.words is not None:
            words += segment.words
        if levels is not None:
            kept = sampled(np.concatenate((kept, segment.ids)), count, levels)
    counts, sketch = np.array([count]), None
    if levels is not None:
        sketch = sketches(Features(kept, None, np.array([0, len(kept)])), counts, levels)
    return from_votes(sums, counts, digest, recipe)._replace(words=words, sketches=sketch)


def simhash(features: Features, recipe: Recipe, levels: int | None = None) -> Fingerprints:
    """The fingerprints of documents, from their features; with `levels`, their sketches too."""
    sums = votes(features, recipe.bits)
    made = from_votes(sums, features.counts, digests(features), recipe)
    sketched = None if levels is None else sketches(features, most_levels=levels)
    return made._replace(words=features.words, sketches=sketched)


def votes(features: Features, bits: int) -> Floats:
    """The weights of votes for 1 minus the weights of votes for 0, by document and bit.

    Returns shape (documents, bits). Sums of whole weights are exact (they stay below
    2**53), so nothing depends on order, batch or platform. Sums of float weights are
    added in the order of the features.

    The assignment's example, 100101 with weight 4 and 101011 with weight 5:

    >>> hashes = np.array([0b100101 << 58, 0b101011 << 58], np.uint64)
    >>> two = Features(ids=hashes, weights=np.array([4, 5]), offsets=np.array([0, 2]))
    >>> sums = votes(two, bits=8)[0, :6]
    >>> sums.astype(int).tolist(), "".join("1" if vote > 0 else "0" for vote in sums)
    ([9, -9, 1, -1, 1, 9], '101011')
    """
    if features.weights is not None and features.weights.dtype == np.float64:
        return _float_votes(features, bits)
    kernels = loaded_kernels()
    if kernels is not None and features.weights is None and features.hashes is None:
        return kernels.votes_of_ones(features.ids, features.offsets, bits)
    n = len(features.offsets) - 1
    first_bin = np.repeat(np.arange(n) * 256, features.counts)
    sums = np.empty((n, bits))
    for index, byte in enumerate(_hash_bytes(features, bits)):
        tally = np.bincount(first_bin + byte, features.weights, n * 256).reshape(n, 256)
        sums[:, 8 * index : 8 * index + 8] = tally @ _SIGNS
    return sums


def _float_votes(features: Features, bits: int) -> Floats:
    """The votes of a few features with float weights, added one after the other."""
    n = len(features.offsets) - 1
    hashed = np.column_stack(list(_hash_bytes(features, bits)))
    signed = (2.0 * np.unpackbits(hashed, axis=1) - 1) * features.weights_or_ones[:, None]
    bins = np.repeat(np.arange(n) * bits, features.counts)[:, None] + np.arange(bits)
    sums = np.bincount(bins.ravel(), signed.ravel(), n * bits).astype(np.float64)
    return sums.reshape(n, bits)


def _hash_bytes(features: Features, bits: int) -> Iterator[Rows]:
    """The first bits // 8 bytes of every feature's hash, one array (m,) a byte."""
    own = features.ids[:, None] if features.hashes is None else features.hashes
    for word in range(-(-bits // 64)):
        hashes = own[:, word] if word < own.shape[1] else widened(own[:, 0], word)
        # Highest byte first, whatever the byte order of the machine.
        columns = hashes.astype(">u8").view(np.uint8).reshape(-1, 8).T
        yield from columns[: bits // 8 - 8 * word]


def from_votes(sums: Floats, counts: Indices, digests: Digests, recipe: Recipe) -> Fingerprints:
    """Fingerprints of summed votes (n, bits). A tie goes by `tie_pattern`.

    If all votes are ties, as when every weight was rounded to 0, nothing tells the text from
    others: the fingerprint is all zeros, as for a text without a feature. (The assignment's
    English program gives all ones for it.)
    """
    bits = (sums > 0) | ((sums == 0) & tie_pattern(recipe))
    is_empty = counts == 0
    if recipe.hash is not HashKind.STRING:
        is_empty = (sums == 0).all(axis=1)
    bits[is_empty] = False
    return Fingerprints(np.packbits(bits, axis=1), counts, digests)


def are_degenerate(rows: Rows, bits: int) -> Mask:
    """Which fingerprints have the same value in all of their first `bits` bits; (n,).

    None of them if `bits` is below MIN_BITS_TO_REFUSE.
    """
    first = rows[:, : bits // 8]
    if bits < MIN_BITS_TO_REFUSE:
        return np.zeros(len(rows), bool)
    # np.isin would import numpy.ma for an empty array.
    return ((first[:, 0] == 0) | (first[:, 0] == 255)) & (first == first[:, :1]).all(axis=1)


def tie_pattern(recipe: Recipe) -> Mask:
    """The bit that a tie gives, at each position; shape (bits,).

    0101... so that ties favour neither value; the assignment's English program
    (features "tokens", hash "string") has 1 everywhere, its Chinese one 0.
    """
    if recipe.hash is HashKind.STRING:
        return np.full(recipe.bits, recipe.features is FeatureKind.TOKENS)
    return np.arange(recipe.bits) % 2 == 1


def digests(features: Features) -> Digests:
    """128 bits that identify the features and weights of each document; (documents, 2).

    The sum over features of a hash of id and weight, so the order does not matter.
    """
    if kernels := loaded_kernels():
        weights = np.ones(1, np.int64) if features.weights is None else features.weights
        return kernels.digests(features.ids, weights.view(np.uint64), features.offsets)
    mixed = mix64(features.ids + mix64(features.weights_or_ones.view(np.uint64)))
    return sums_of(mixed, widened(mixed, 1), features.offsets)


def _of_batch(
    batch: list[str], recipe: Recipe, levels: int | None, *, has_words: bool
) -> Fingerprints:
    """The fingerprints of a batch; a long text is a batch by itself."""
    if is_long(batch[0]):
        return fingerprint_chunks(chunks_of(batch[0]), recipe, levels)
    return simhash(features(batch, recipe, has_words=has_words), recipe, levels)
