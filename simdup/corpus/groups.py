"""Groups of texts in, groups of rows out: whole arrays, since there may be a million."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simdup.corpus.records import RowGroups, TextFingerprints
from simdup.match.match import match
from simdup.search.hamming import paired_distances

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simdup.match.distinct_texts import Texts
    from simdup.match.match import FeatureSource, TextGroups
    from simdup.progress import Progress
    from simdup.records import Candidates
    from simdup.settings import Settings

    Indices = NDArray[np.int64]
    Digests = NDArray[np.uint64]


def group_rows(
    texts: Texts,
    text_digests: Digests,
    settings: Settings,
    again: FeatureSource,
    progress: Progress,
) -> tuple[RowGroups, TextFingerprints, Candidates | None]:
    """Group the rows that have these texts; `text_digests` has one for each row.

    Returns the groups, what is kept of each member, and how candidates were found.
    """
    matched = match(texts, settings, again, progress)
    groups = _most_similar_first(_row_groups(texts, matched, text_digests))
    text_of = np.empty(len(texts.by_text), np.int64)
    text_of[texts.by_text] = np.repeat(np.arange(len(texts)), texts.sizes)
    text = text_of[groups.members]
    prints = TextFingerprints(
        texts.rows[text], texts.counts[text], texts.digests[text], text_digests[groups.members]
    )
    return groups, prints, matched.candidates


def _row_groups(texts: Texts, matched: TextGroups, text_digests: Digests) -> RowGroups:
    """Groups of rows from groups of texts, each sorted: representative, identical, most similar."""
    lengths = list(map(len, matched.groups))
    members = np.concatenate([np.empty(0, np.int64), *matched.groups])
    first = np.repeat(np.array([each[0] for each in matched.groups], np.int64), lengths)
    # Arrays by text become arrays by row: each text is as many rows as have it.
    sizes = texts.sizes[members]
    group = np.repeat(np.repeat(np.arange(len(lengths)), lengths), sizes)
    representative = np.repeat(texts.first[first], sizes)
    distances = np.repeat(paired_distances(texts.rows, members, first).astype(np.int64), sizes)
    similarities = np.repeat(matched.similarities, sizes)
    rows = texts.by_text[_ranges(texts.begins[members], sizes)]
    same = (text_digests[rows] == text_digests[representative]).all(axis=1)
    closeness = -np.nan_to_num(similarities)
    order = np.lexsort((rows, distances, closeness, ~same, rows != representative, group))
    offsets = np.searchsorted(group, np.arange(len(lengths) + 1))
    return RowGroups(rows[order], offsets, same[order], similarities[order], distances[order])


def _most_similar_first(groups: RowGroups) -> RowGroups:
    """The groups in the order of reports: the most similar first."""
    if not len(groups):
        return groups
    begins, sizes = groups.offsets[:-1], np.diff(groups.offsets)
    is_near = ~np.logical_and.reduceat(groups.are_identical, begins)
    least = np.minimum.reduceat(np.nan_to_num(groups.similarities), begins)
    farthest = np.maximum.reduceat(groups.distances, begins)
    order = np.lexsort((groups.members[begins], -sizes, farthest, -least, is_near))
    at = _ranges(begins[order], sizes[order])
    return RowGroups(
        groups.members[at],
        np.append(0, np.cumsum(sizes[order])),
        groups.are_identical[at],
        groups.similarities[at],
        groups.distances[at],
    )


def _ranges(begins: Indices, sizes: Indices) -> Indices:
    """The numbers begins[0], begins[0] + 1, ... (sizes[0] of them), then those from begins[1]."""
    before = np.cumsum(sizes) - sizes
    return np.repeat(begins - before, sizes) + np.arange(sizes.sum())
