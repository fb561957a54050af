"""Documents with fingerprints in, groups out.

equal features are one text -> pairs of texts within reach -> exact similarity
decides -> groups of texts -> groups of documents
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from simdup.candidates import affordable, recall, wanted
from simdup.errors import TooManyPairsError
from simdup.fingerprint import features_of
from simdup.groups import group
from simdup.hamming import diameter, paired_distances, similarity_at
from simdup.records import SHORT, Candidates, Document, Group, Kind, Member, Settings, Skipped
from simdup.search import MAX_PAIRS, iter_pairs
from simdup.verify import decide

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from numpy.typing import NDArray

    from simdup.features import Features
    from simdup.hamming import Rows
    from simdup.progress import Progress

    Indices = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Matches:
    """What matching some documents gave."""

    groups: tuple[Group, ...]
    candidates: Candidates | None
    """None when nothing was verified."""
    changed: tuple[Skipped, ...]
    """Files that were no longer what they were when their texts were read again."""


class Matching:
    """Some documents, what is known of their texts, and how they are to be compared.

    Documents with equal features are one text: a thousand copies of a file are
    searched for, and read again, once. References and other files stay apart, since
    only pairs between the two count.
    """

    def __init__(
        self,
        documents: Sequence[Document],
        rows: Rows,
        settings: Settings,
        progress: Progress,
    ) -> None:
        self.documents, self.settings, self.progress = documents, settings, progress
        self.changed: list[Skipped] = []
        rank = _ranks(documents)
        keys = [(d.features_digest, d.source.is_reference) for d in documents]
        numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
        self.text_of = np.array([numbers[key] for key in keys], np.int64)
        self.by_text = np.lexsort((rank, self.text_of))
        """Documents by text, the one with the shortest path first."""
        self.begins = np.searchsorted(self.text_of[self.by_text], np.arange(len(numbers) + 1))
        self.first = self.by_text[self.begins[:-1]]
        """(texts,): the document that stands for each text."""
        self.rank = rank[self.first]
        self.rows = rows[self.first]
        self.counts = np.array([documents[i].features for i in self.first], np.int64)
        self.is_reference = np.array([documents[i].source.is_reference for i in self.first], bool)

    def matches(self) -> Matches:
        """The groups of the documents, most similar first."""
        candidates = None
        if self.settings.verified:
            bits, similarity = self.settings.recipe.bits, self.settings.similarity
            want = wanted(similarity, bits)
            k = affordable(self.rows, want)
            pairs = self._pairs(k)
            candidates = Candidates(k, want, recall(similarity, bits, k), len(pairs))
            pairs, similarities = self._alike(pairs, similarity)
        else:
            pairs = self._pairs(self.settings.distance)
            pairs = pairs[self._short_ones_hold(pairs)]
            similarities = None
        groups = self._groups(pairs, similarities)
        return Matches(groups, candidates, tuple(dict.fromkeys(self.changed)))

    def _pairs(self, k: int) -> Indices:
        """Pairs of texts within k bits that may count: (m, 3) of i, j and distance."""
        found, count = [np.empty((0, 3), np.int64)], 0
        for pairs in self.progress(iter_pairs(self.rows, k), "compare", None):
            between = self.is_reference[pairs[:, 0]] != self.is_reference[pairs[:, 1]]
            found.append(pairs[between] if self.is_reference.any() else pairs)
            count += len(found[-1])
            if count > MAX_PAIRS:
                advice = "lower -k or --similarity, or take more --bits"
                raise TooManyPairsError(f"more than {MAX_PAIRS} pairs within {k} bits; {advice}")
        return np.concatenate(found)

    def _alike(self, pairs: Indices, least: float) -> tuple[Indices, NDArray[np.float64]]:
        """The pairs at least that similar, and their exact similarities."""
        similarities = self._similarities(pairs)
        alike = similarities >= least
        return pairs[alike], similarities[alike]

    def _short_ones_hold(self, pairs: Indices) -> NDArray[np.bool_]:
        """Which pairs stay in a bare scan: a short text's distance says too little by itself."""
        short = (self.counts[pairs[:, :2]] < SHORT).any(axis=1)
        least = similarity_at(self.settings.distance, self.settings.recipe.bits)
        holds = np.ones(len(pairs), bool)
        holds[short] = self._similarities(pairs[short]) >= least
        return holds

    def _similarities(self, pairs: Indices) -> NDArray[np.float64]:
        """The exact similarity of each pair of texts, these read again; (m,)."""
        similarities = np.zeros(len(pairs))
        parts = decide(pairs[:, 0], pairs[:, 1], self.counts, self._features)
        for part, values in self.progress(parts, "verify", None):
            similarities[part] = values
        return similarities

    def _features(self, texts: Indices) -> Features:
        copies = ((self.documents[i] for i in self._documents_of(text)) for text in texts)
        return features_of(copies, self.settings.recipe, self.changed)

    def _documents_of(self, text: int) -> Indices:
        """The documents that have a text, the one with the shortest path first."""
        return self.by_text[self.begins[text] : self.begins[text + 1]]

    def _groups(
        self, pairs: Indices, similarities: NDArray[np.float64] | None
    ) -> tuple[Group, ...]:
        """Groups of documents, most similar first, numbered from 1."""
        sizes = np.diff(self.begins)
        if self.is_reference.any():  # copies within one side are no match
            sizes = np.ones_like(sizes)
        found = group(pairs, len(self.first), self.settings.linkage, self.rank, sizes)
        spokes = np.array([(text, texts[0]) for texts in found for text in texts], np.int64)
        ends = np.cumsum([0, *map(len, found)])
        alike: list[float] | list[None] = [None] * len(spokes)
        if similarities is not None:
            alike = self._to_first(spokes.reshape(-1, 2), pairs, similarities).tolist()
        gone = {skipped.path for skipped in self.changed}
        groups = [
            self._group(texts, alike[begin:end], gone)
            for texts, begin, end in zip(found, ends[:-1], ends[1:], strict=True)
        ]
        whole = sorted((each for each in groups if len(each.members) > 1), key=_most_similar_first)
        return tuple(replace(each, id=number) for number, each in enumerate(whole, 1))

    def _to_first(
        self, spokes: Indices, pairs: Indices, similarities: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """The similarity of each (text, representative); those of no pair are computed."""
        n = len(self.first)
        known = np.append(pairs[:, :2].min(axis=1) * n + pairs[:, :2].max(axis=1), -1)
        values = np.append(similarities, np.nan)
        asked = spokes.min(axis=1) * n + spokes.max(axis=1)
        order = np.argsort(known)
        at = order[np.searchsorted(known, asked, sorter=order) % len(known)]
        alike = np.where(known[at] == asked, values[at], np.nan)
        alike[spokes[:, 0] == spokes[:, 1]] = 1
        missing = np.isnan(alike)
        alike[missing] = self._similarities(spokes[missing])
        return alike

    def _group(self, texts: Indices, alike: Sequence[float | None], gone: Container[str]) -> Group:
        """One group of documents, from texts with the representative first; its id is 0."""
        rows = self.rows[texts]
        distances = paired_distances(rows, np.broadcast_to(rows[:1], rows.shape)).tolist()
        there = [
            (position, document)
            for position, text in enumerate(texts)
            for document in (self.documents[index] for index in self._documents_of(text))
            if document.path not in gone
        ]
        members = [
            Member(
                document,
                rows[position].tobytes(),
                document.kind_with(there[0][1]),
                distances[position],
                alike[position],
            )
            for position, document in there
        ]
        members[1:] = sorted(members[1:], key=_closest_first)
        weakest = max((member.kind for member in members), key=list(Kind).index, default=Kind.NEAR)
        return Group(0, weakest, diameter(rows), tuple(members))


def _ranks(documents: Sequence[Document]) -> Indices:
    """The place of each document by length of its path, then the path."""
    paths = [document.path.encode("utf-8", "surrogateescape") for document in documents]
    rank = np.empty(len(paths), np.int64)
    rank[sorted(range(len(paths)), key=lambda i: (len(paths[i]), paths[i]))] = np.arange(len(paths))
    return rank


def _closest_first(member: Member) -> tuple[int, float, int, str]:
    kind = list(Kind).index(member.kind)
    return kind, -(member.similarity or 0), member.distance, member.document.path


def _most_similar_first(group: Group) -> tuple[int, float, int, int, str]:
    least = min(member.similarity or 0 for member in group.members)
    farthest = max(member.distance for member in group.members)
    kind, first = list(Kind).index(group.kind), group.members[0].document.path
    return kind, -least, farthest, -len(group.members), first
