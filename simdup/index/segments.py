"""The fingerprints of an index, packed: which of them are within k bits of a question.

Rows lie in segments, and within one by columns of 64-bit words, so that a question is a
handful of vector operations on arrays that fit in the cache, or one call of a compiled loop.
Many questions at once go to `search`, which picks its method by their number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simdup.compute.compiled import load_kernels_if_worth, loaded_kernels
from simdup.search.hamming import words
from simdup.search.pairs import iter_pairs_between

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from simdup.search.hamming import Rows

    Numbers = NDArray[np.int64]

#: Rows in a full segment: 1 MB of 128 bits.
SIZE = 1 << 16

# From this many questions on, they are one search of pairs: a pass for each would take longer.
QUESTIONS_WORTH_A_SEARCH = 24


@dataclass(frozen=True, slots=True, eq=False)
class Segment:
    """Up to SIZE fingerprints and whose they are."""

    batch: int
    """The batch that wrote it last."""
    rows: Rows
    """(n, width)"""
    columns: NDArray[np.uint64]
    """(words, n): the same bits."""
    documents: Numbers
    """(n,): the numbers of their documents."""


def segment(batch: int, rows: Rows, documents: Numbers) -> Segment:
    """The segment of some fingerprints."""
    # Copied also where that changes nothing: what is read-only would be compiled for again.
    return Segment(batch, rows, np.array(words(rows).T, order="C"), documents)


def cut(segments: Sequence[Segment], bits: int) -> list[Segment]:
    """Cut the fingerprints of segments to their first `bits` bits."""
    if not segments or 8 * segments[0].rows.shape[1] == bits:
        return list(segments)
    return [segment(each.batch, each.rows[:, : bits // 8], each.documents) for each in segments]


def within(segments: Sequence[Segment], questions: Rows, k: int) -> Numbers:
    """Every fingerprint at most k bits from a question; (m, 3).

    The index of the question, the number of the document, their distance; in the order of
    questions, distances, documents.
    """
    n = sum(len(each.documents) for each in segments)
    load_kernels_if_worth(words=len(questions) * n * -(-questions.shape[1] // 8))
    if len(questions) >= QUESTIONS_WORTH_A_SEARCH:
        found = _searched(segments, questions, k)
    else:
        compared = _compared_by_kernel if loaded_kernels() else _compared
        found = compared(segments, questions, k)
    return in_order(np.concatenate([np.empty((0, 3), np.int64), *found]))


def _searched(segments: Sequence[Segment], questions: Rows, k: int) -> Iterator[Numbers]:
    """What is within k of many questions, in no order."""
    for each in segments:
        for pairs in iter_pairs_between(questions, each.rows, k):
            yield np.column_stack((pairs[:, 0], each.documents[pairs[:, 1]], pairs[:, 2]))


def _compared(segments: Sequence[Segment], questions: Rows, k: int) -> Iterator[Numbers]:
    """What is within k of a few questions, in no order."""
    for index, distances in _passes(segments, questions):
        for each, part in zip(segments, distances, strict=True):
            if part.min() <= k:
                near = np.flatnonzero(part <= k)
                same = np.full(len(near), index)
                yield np.column_stack((same, each.documents[near], part[near]))


def _compared_by_kernel(segments: Sequence[Segment], questions: Rows, k: int) -> Iterator[Numbers]:
    """`_compared` by `kernels.near_pairs`."""
    columns, k = np.array(words(questions)[:, :, None]), min(k, 8 * questions.shape[1])
    found, near_pairs, is_half = np.empty((SIZE, 3), np.int64), loaded_kernels().near_pairs, False
    for index, question in enumerate(columns):
        for each in segments:
            whole = 0, len(each.documents)
            _, count = near_pairs(question, each.columns, whole, 0, is_half, k, found)
            if count:
                same, near = np.full(count, index), found[:count]
                yield np.column_stack((same, each.documents[near[:, 1]], near[:, 2]))


def nearest(segments: Sequence[Segment], questions: Rows, count: int) -> Numbers:
    """The `count` nearest fingerprints to each question, as `within`; of equally near the first.

    All that are at no distance stay, however many: which of them are the same text is not to be
    seen here.
    """
    found = [np.empty((0, 3), np.int64)]
    documents = np.concatenate([np.empty(0, np.int64), *(each.documents for each in segments)])
    for index, parts in _passes(segments, questions):
        distances = np.concatenate([np.empty(0, np.uint16), *parts])
        last = min(count, len(distances)) - 1
        if last < 0:
            continue
        near = np.flatnonzero(distances <= np.partition(distances, last)[last])
        same = np.full(len(near), index)
        rows = np.column_stack((same, documents[near], distances[near]))
        found.append(in_order(rows)[: max(count, np.count_nonzero(rows[:, 2] == 0))])
    return np.concatenate(found)


def in_order(found: Numbers) -> Numbers:
    """Rows of question, document and distance: by question, then nearest first."""
    return found[np.lexsort((found[:, 1], found[:, 2], found[:, 0]))]


def _passes(
    segments: Sequence[Segment], questions: Rows
) -> Iterator[tuple[int, Iterator[NDArray[np.uint16]]]]:
    """For each question its distances to the fingerprints of every segment, as they come."""
    scratch = np.empty(SIZE, np.uint64)  # one for all: fresh memory is half of the time
    for index, question in enumerate(words(questions)):
        yield index, (_distances(each.columns, question, scratch) for each in segments)


def _distances(
    columns: NDArray[np.uint64], question: NDArray[np.uint64], scratch: NDArray[np.uint64]
) -> NDArray[np.uint16]:
    """Differing bits between one fingerprint and each of a segment; (n,)."""
    scratch = scratch[: columns.shape[1]]
    total = np.bitwise_count(np.bitwise_xor(columns[0], question[0], out=scratch))
    if len(columns) > 1:
        # Of less than 256 bits a byte holds the sum.
        total = total.astype(np.uint8 if len(columns) < 4 else np.uint16)
        for column, word in zip(columns[1:], question[1:], strict=True):
            np.bitwise_xor(column, word, out=scratch)
            total += np.bitwise_count(scratch)
    return total
