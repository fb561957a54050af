"""Candidate pairs in, exact similarities out.

A fingerprint estimates the cosine of two weighted feature vectors. This module computes it
from the features themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from simdup.arrays import Indices, Similarities
from simdup.compute.compiled import in_threads, loaded_kernels, parts
from simdup.fingerprint.features import Features, all_features, concatenated
from simdup.match.groups import components
from simdup.recipe import Recipe
from simdup.search.distinct import distinct_numbers

# Features held at once while candidates are verified, in two blocks: some 500 MB.
FEATURES_AT_ONCE = 1 << 22

# Features multiplied at once, of the candidates of one document.
PRODUCTS_AT_ONCE = 1 << 21


def exact_similarities(
    texts: Sequence[str], i: Indices, j: Indices, recipe: Recipe
) -> Similarities:
    """The cosine of texts i[p] and j[p] over the recipe's weighted features; shape (m,).

    From 0 (nothing shared) to 1 (the same features in the same proportions). A text
    without a feature has similarity 0 to everything.
    """
    return cosines(all_features(texts, recipe), np.asarray(i, np.int64), np.asarray(j, np.int64))


def cosines(features: Features, i: Indices, j: Indices) -> Similarities:
    """The cosine of documents i[p] and j[p]; shape (m,), from 0 to 1."""
    n, dots = len(features.offsets) - 1, products(features, i, j)
    weights = features.weights_or_ones.astype(np.float64)
    squares = np.bincount(np.repeat(np.arange(n), features.counts), weights**2, n)
    lengths = np.sqrt(squares[i] * squares[j])
    return np.minimum(np.divide(dots, lengths, out=np.zeros(len(i)), where=lengths > 0), 1)


def products(features: Features, i: Indices, j: Indices) -> Similarities:
    """The dot product of the weighted features of documents i[p] and j[p]; (m,)."""
    if kernels := loaded_kernels():
        return _compiled_dots(features, i, j, kernels)
    return _dots(features, i, j)


def _compiled_dots(features: Features, i: Indices, j: Indices, kernels: Any) -> Similarities:  # noqa: ANN401
    """The dot products that `products` returns, by compiled code in one thread for each core."""
    weights = np.empty(0) if features.weights is None else features.weights.astype(np.float64)
    order, dots = np.argsort(i, kind="stable"), np.empty(len(i))
    left, right, found = i[order], j[order], np.empty(len(i))

    def fill(part: slice) -> None:
        kernels.shared_products(
            features.ids, weights, features.offsets, left[part], right[part], found[part]
        )

    in_threads(fill, parts(len(i)))
    dots[order] = found
    return dots


def _dots(features: Features, i: Indices, j: Indices) -> Similarities:
    """The dot products that `products` returns, by numpy."""
    weights = features.weights_or_ones.astype(np.float64)
    _, columns = np.unique(features.ids, return_inverse=True)
    dots = np.zeros(len(i))
    # One document's weights are laid out by feature, and the features of all its candidates
    # are looked up there. The loop is over documents, not over pairs.
    table = np.zeros(int(columns.max(initial=-1)) + 1)
    order = np.argsort(i, kind="stable")
    begins = np.flatnonzero(np.diff(i[order], prepend=-1))
    for pairs in np.split(order, begins[1:]) if len(order) else []:
        own = slice(*features.offsets[i[pairs[0]] : i[pairs[0]] + 2])
        table[columns[own]] = weights[own]
        for part, owner, theirs in _others(features, pairs, j):
            products = table[columns[theirs]] * weights[theirs]
            dots[part] = np.bincount(owner, products, len(part))
        table[columns[own]] = 0
    return dots


def _others(
    features: Features, pairs: Indices, j: Indices
) -> Iterator[tuple[Indices, Indices, Indices | slice]]:
    """Yield the right documents of some pairs in batches that fit in memory.

    Each batch has three arrays: the pairs; for each feature of their right documents, the place
    of its pair in the batch; and the places of these features in `features`.
    """
    counts = features.counts[j[pairs]]
    batch = (np.cumsum(counts) - counts) // PRODUCTS_AT_ONCE
    for part in np.split(pairs, np.flatnonzero(np.diff(batch)) + 1):
        counts = features.counts[j[part]]
        owner = np.repeat(np.arange(len(part)), counts)
        if (np.diff(j[part]) == 1).all():  # as where all pairs are asked for
            theirs = slice(features.offsets[j[part[0]]], features.offsets[j[part[-1]] + 1])
            yield part, owner, theirs
        else:
            ends = np.cumsum(counts)
            begins = features.offsets[j[part]] - (ends - counts)
            yield part, owner, np.arange(ends[-1]) + begins[owner]


def decide(
    pairs: Indices,
    counts: Indices,
    load: Callable[[Indices], Features],
    at_once: int = FEATURES_AT_ONCE,
    measure: Callable[[Features, Indices, Indices], Similarities] = cosines,
) -> Iterator[tuple[Indices, Similarities]]:
    """Yield the exact similarities of candidate pairs (m, 2) in parts: which pairs, and the values.

    `counts` (n,) is the number of features of each document, and `load` returns the features
    of the documents it is given, in their order. `measure` computes the similarities. Documents
    are loaded in blocks, so memory stays bounded; connected candidates are in one block if they
    fit, and then loaded once.
    """
    i, j = pairs.T
    block = _blocks(pairs, counts, at_once // 2)
    left, right = np.minimum(block[i], block[j]), np.maximum(block[i], block[j])
    for a in distinct_numbers(left):
        of_a, own = np.flatnonzero(left == a), np.flatnonzero(block == a)
        first = load(own)
        for b in distinct_numbers(right[of_a]):
            part = of_a[right[of_a] == b]
            documents, features = own, first
            if b != a:
                asked = distinct_numbers(np.concatenate((i[part], j[part])))
                more = asked[block[asked] == b]
                documents, features = np.append(own, more), concatenated([first, load(more)])
            position = np.empty(len(counts), np.int64)
            position[documents] = np.arange(len(documents))
            yield part, measure(features, position[i[part]], position[j[part]])


def _blocks(pairs: Indices, counts: Indices, size: int) -> Indices:
    """The block of each document that is in a pair, -1 for the others; (n,).

    A block has up to twice `size` features, or one document with more. Documents connected by
    pairs are in one block, unless they have more than `size` features together.
    """
    n = len(counts)
    block = np.full(n, -1, np.int64)
    documents = distinct_numbers(pairs)
    label = components(pairs, n)[documents]
    documents = documents[np.argsort(label, kind="stable")]
    label = np.sort(label)
    before = np.cumsum(counts[documents]) - counts[documents]
    first = np.searchsorted(label, label, side="left")
    last = np.searchsorted(label, label, side="right") - 1
    total = before[last] + counts[documents[last]] - before[first]
    block[documents] = np.where(total <= size, before[first], before) // size
    return block
