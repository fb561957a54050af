"""Records of an index: its answers, its contents, its changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from simdup.records import Document, Match, Skipped
from simdup.settings import Settings


@dataclass(frozen=True, slots=True)
class FoundPart:
    """A document of an index in which a query stands, or which stands in a query.

    is_whole: Whether the document is the larger text, and the query the part.
    share: The share of the distinct shingles of the part that the larger text has, from 0 to 1.
    start: Where the part begins in the larger text, in characters, from 0; None if not exact.
    end: Where it ends: the first character after it.
    is_exact: Whether `share` was computed from the texts; if not, it is estimated from samples.
    """

    document: Document
    is_whole: bool
    share: float
    start: int | None = None
    end: int | None = None
    is_exact: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """The documents of an index that are like one query.

    question: The path of a file, the index of a text, or a fingerprint in hexadecimal.
    matches: Most similar first, and documents with the same text beside each other.
    document: The document of the text that was asked for; None for a mere fingerprint.
    parts: Larger documents first, the ones with the largest share before others; then documents
        that stand in the query, in the order of their places. Empty unless asked for.
    unread: How many more documents may be such parts, by their samples: too many to read them all.
    """

    question: str
    matches: tuple[Match, ...]
    document: Document | None = None
    parts: tuple[FoundPart, ...] = ()
    unread: int = 0


@dataclass(frozen=True, slots=True)
class Searched:
    """How an index was searched for some queries.

    documents: The number of documents in the index.
    top: The most matches kept for each query; None: all.
    k: The distance within which documents were looked at; None: the nearest, however far.
    wanted: The distance that `similarity` asks for, with its margin; None if nothing is verified.
        More than `k` if `k` was cut because too many documents lie within it by chance.
    recall: The probability that a document just at the threshold was looked at, by theory.
    """

    settings: Settings
    documents: int
    top: int | None
    k: int | None
    wanted: int | None = None
    recall: float | None = None


@dataclass(frozen=True, slots=True)
class IndexInfo:
    """The contents of an index.

    places: The paths that were added, and that an update walks again.
    left_out: The paths that were taken out of these places.
    filters: The fields of `files.walk.Filters` for each of `places`.
    about: How it was made: see `index.metadata`.
    """

    path: str
    bytes: int
    documents: int
    batches: int
    places: tuple[str, ...]
    left_out: tuple[str, ...]
    filters: tuple[dict[str, Any], ...]
    about: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Changes:
    """How many documents a change of an index added, replaced and so on.

    refiltered: Paths added before with other filters; the next update drops files that are now
        excluded.
    """

    added: int = 0
    replaced: int = 0
    removed: int = 0
    unchanged: int = 0
    skipped: tuple[Skipped, ...] = ()
    refiltered: tuple[str, ...] = ()
