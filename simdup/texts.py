"""Documents in, distinct texts out; and back again, with groups of texts to groups of documents.

Documents with equal features are one text: a thousand copies of a file are searched
for, and read again, once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from simdup.hamming import diameter, paired_distances
from simdup.records import Document, Group, Kind, Member

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from numpy.typing import NDArray

    from simdup.hamming import Rows

    Indices = NDArray[np.int64]

_STRENGTH = {kind: place for place, kind in enumerate(Kind)}


@dataclass(frozen=True, slots=True)
class Texts:
    """The distinct texts of some documents; arrays by text unless said otherwise."""

    documents: Sequence[Document]
    by_text: Indices
    """(documents,): indices of documents, those of text i at begins[i]:begins[i + 1], the one
    with the shortest path first."""
    begins: Indices
    """(texts + 1,)"""
    rank: Indices
    """Texts with a shorter path, then a lower one, come first."""
    rows: Rows
    counts: Indices
    """Features."""
    digests: NDArray[np.uint64]
    """(texts, 2): of the features."""
    is_reference: NDArray[np.bool_]
    """A text that references and other files have is two, since only pairs between the two
    count."""

    def documents_of(self, text: int) -> list[Document]:
        """The documents that have a text, the one with the shortest path first."""
        part = self.by_text[self.begins[text] : self.begins[text + 1]]
        return [self.documents[index] for index in part]

    def __len__(self) -> int:
        return len(self.rank)


def distinct_texts(documents: Sequence[Document], rows: Rows) -> Texts:
    """The texts of documents, in the order in which they first occur."""
    rank = _ranks(documents)
    digests = _digests(documents)
    is_reference = np.array([each.source.is_reference for each in documents], bool)
    text_of = _numbered(np.column_stack((digests, is_reference.astype(np.uint64))))
    by_text = np.lexsort((rank, text_of))
    begins = np.searchsorted(text_of[by_text], np.arange(text_of.max(initial=-1) + 2))
    first = by_text[begins[:-1]]
    return Texts(
        documents,
        by_text,
        begins,
        rank[first],
        rows[first],
        np.array([documents[index].features for index in first], np.int64),
        digests[first],
        is_reference[first],
    )


def _digests(documents: Sequence[Document]) -> NDArray[np.uint64]:
    """Those of the features: (documents, 2)."""
    joined = b"".join(document.features_digest for document in documents)
    return np.frombuffer(joined, np.uint64).reshape(-1, 2)


def _numbered(keys: NDArray[np.uint64]) -> Indices:
    """The number of each row, equal for equal rows, in the order in which they first occur."""
    _, first, inverse = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    place = np.empty(len(first), np.int64)
    place[np.argsort(first)] = np.arange(len(first))
    return place[inverse.ravel()]


def _ranks(documents: Sequence[Document]) -> Indices:
    """The place of each document by length of its path, then the path."""
    paths = [document.path.encode("utf-8", "surrogateescape") for document in documents]
    rank = np.empty(len(paths), np.int64)
    rank[sorted(range(len(paths)), key=lambda i: (len(paths[i]), paths[i]))] = np.arange(len(paths))
    return rank


def groups_of(
    texts: Texts, groups: Sequence[Indices], alike: Sequence[float | None], gone: Container[str]
) -> tuple[Group, ...]:
    """Groups of documents from groups of texts, most similar first, numbered from 1.

    Each group of texts begins with its representative; `alike` has, for all groups one
    after the other, how similar each text is to it. Documents whose paths are in `gone`
    are left out, and groups of which no two are left.
    """
    ends = np.cumsum([0, *map(len, groups)]).tolist()
    made = (
        _group(texts, members, alike[begin:end], gone)
        for members, begin, end in zip(groups, ends[:-1], ends[1:], strict=True)
    )
    whole = sorted((each for each in made if len(each.members) > 1), key=_most_similar_first)
    return tuple(replace(each, id=number) for number, each in enumerate(whole, 1))


def _group(
    texts: Texts, members: Indices, alike: Sequence[float | None], gone: Container[str]
) -> Group:
    """One group of documents; its id is 0."""
    there = [
        (position, document)
        for position, text in enumerate(members.tolist())
        for document in texts.documents_of(text)
        if document.path not in gone
    ]
    if not there:
        return Group(0, Kind.NEAR, 0, ())
    rows = texts.rows[members]
    (first, representative), *_ = there
    distances = paired_distances(rows, np.arange(len(rows)), np.array([first])).tolist()
    made = [
        Member(
            document,
            rows[position].tobytes(),
            document.kind_with(representative),
            distances[position],
            # What is known is how alike they are to a representative that is no longer there.
            alike[position] if first == 0 else None,
        )
        for position, document in there
    ]
    made[1:] = sorted(made[1:], key=_closest_first)
    weakest = max((member.kind for member in made), key=_STRENGTH.__getitem__)
    return Group(0, weakest, diameter(rows), tuple(made))


def _closest_first(member: Member) -> tuple[int, float, int, str]:
    similarity = member.similarity or 0
    return _STRENGTH[member.kind], -similarity, member.distance, member.document.path


def _most_similar_first(group: Group) -> tuple[int, float, int, int, str]:
    least = min(member.similarity or 0 for member in group.members)
    farthest = max(member.distance for member in group.members)
    path = group.members[0].document.path
    return _STRENGTH[group.kind], -least, farthest, -len(group.members), path
