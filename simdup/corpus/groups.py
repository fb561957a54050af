"""Groups of texts in, groups of rows out: whole arrays, since there may be a million."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simdup.corpus.records import Prints, RowGroups
from simdup.match.distinct_texts import Items, distinct_texts
from simdup.match.match import match
from simdup.search.hamming import paired_distances

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simdup.fingerprint.features import Features
    from simdup.match.distinct_texts import Texts
    from simdup.match.match import FeatureSource, TextGroups
    from simdup.progress import Progress
    from simdup.records import Candidates
    from simdup.settings import Settings

    Indices = NDArray[np.int64]


def texts_of(prints: Prints, bits: int) -> Texts:
    """The distinct texts of some rows; of rows with equal features the first stands for all."""
    n = len(prints.rows)
    items = Items(prints.rows, prints.counts, prints.digests, np.arange(n), np.zeros(n, bool))
    return distinct_texts(items, bits)


def grouped(
    texts: Texts,
    text_digests: NDArray[np.uint64],
    settings: Settings,
    again: FeatureSource,
    progress: Progress,
) -> tuple[RowGroups, Prints, Candidates | None]:
    """The groups of rows that have these texts, most similar first.

    And what is known of each member, and how the groups were found. `again` is asked by row,
    not by text.
    """
    matched = match(texts, settings, ByRow(again, texts.first), progress)
    groups = _row_groups(texts, matched, text_digests)
    text_of = np.empty(len(texts.by_text), np.int64)
    text_of[texts.by_text] = np.repeat(np.arange(len(texts)), texts.sizes)
    text = text_of[groups.members]
    prints = Prints(
        texts.rows[text], texts.counts[text], texts.digests[text], text_digests[groups.members]
    )
    return groups, prints, matched.candidates


class ByRow:
    """Features of texts, from those of the rows that stand for them, which rise."""

    def __init__(self, again: FeatureSource, first: Indices) -> None:
        self.again, self.first = again, first

    def expect(self, texts: Indices) -> None:
        """Say it of the rows that stand for the texts."""
        self.again.expect(self.first[texts])

    def features(self, texts: Indices) -> Features:
        """Return the features of these distinct texts, from the first row that has each."""
        return self.again.features(self.first[texts])


def _row_groups(texts: Texts, matched: TextGroups, text_digests: NDArray[np.uint64]) -> RowGroups:
    """Groups of rows, in order and sorted within."""
    members = np.concatenate([np.empty(0, np.int64), *matched.groups])
    counts = list(map(len, matched.groups))
    first = np.repeat(np.array([each[0] for each in matched.groups], np.int64), counts)
    # A text is as many rows as have it.
    sizes = texts.sizes[members]
    before = np.cumsum(sizes) - sizes
    rows = texts.by_text[np.repeat(texts.begins[members] - before, sizes) + np.arange(sizes.sum())]
    group = np.repeat(np.repeat(np.arange(len(counts)), counts), sizes)
    leader = np.repeat(texts.first[first], sizes)
    distances = np.repeat(paired_distances(texts.rows, members, first).astype(np.int64), sizes)
    alike = np.repeat(matched.similarities, sizes)
    same = (text_digests[rows] == text_digests[leader]).all(axis=1)
    order = np.lexsort((rows, distances, -np.nan_to_num(alike), ~same, rows != leader, group))
    made = RowGroups(
        rows[order],
        np.searchsorted(group, np.arange(len(counts) + 1)),
        same[order],
        alike[order],
        distances[order],
    )
    return _most_similar_first(made)


def _most_similar_first(groups: RowGroups) -> RowGroups:
    """Sort groups as reports show them: the most similar first."""
    if not len(groups):
        return groups
    begins, sizes = groups.offsets[:-1], np.diff(groups.offsets)
    is_near = ~np.logical_and.reduceat(groups.are_identical, begins)
    least = np.minimum.reduceat(np.nan_to_num(groups.similarities), begins)
    farthest = np.maximum.reduceat(groups.distances, begins)
    order = np.lexsort((groups.members[begins], -sizes, farthest, -least, is_near))
    offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes[order])))
    at = np.repeat(begins[order] - offsets[:-1], sizes[order]) + np.arange(offsets[-1])
    return RowGroups(
        groups.members[at],
        offsets,
        groups.are_identical[at],
        groups.similarities[at],
        groups.distances[at],
    )
