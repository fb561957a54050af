"""Records of an index: its answers, its contents, its changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from simdup.records import Document, Match, Skipped
from simdup.settings import Settings


@dataclass(frozen=True, slots=True)
class FoundPart:
    """A document of an index in which a query stands, or which stands in a query."""

    document: Document
    is_whole: bool
    """Whether the document is the larger text, and the query the part."""
    share: float
    """The share of the distinct shingles of the part that the larger text has, from 0 to 1."""
    start: int | None = None
    """Where the part begins in the larger text, in characters, from 0; None if not exact."""
    end: int | None = None
    """Where it ends: the first character after it."""
    is_exact: bool = False
    """Whether `share` was computed from the texts; if not, it is estimated from samples."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The documents of an index that are like one query."""

    question: str
    """The path of a file, the index of a text, or a fingerprint in hexadecimal."""
    matches: tuple[Match, ...]
    """Most similar first, and documents with the same text beside each other."""
    document: Document | None = None
    """The document of the text that was asked for; None for a mere fingerprint."""
    parts: tuple[FoundPart, ...] = ()
    """Larger documents first, the ones with the largest share before others; then documents that
    stand in the query, in the order of their places. Empty unless asked for."""
    unread: int = 0
    """How many more documents may be such parts, by their samples: too many to read them all."""


@dataclass(frozen=True, slots=True)
class Searched:
    """How an index was searched for some queries."""

    settings: Settings
    documents: int
    """The number of documents in the index."""
    top: int | None
    """The most matches kept for each query; None: all."""
    k: int | None
    """The distance within which documents were looked at; None: the nearest, however far."""
    wanted: int | None = None
    """The distance that `similarity` asks for, with its margin; None if nothing is verified.

    More than `k` if `k` was cut because too many documents lie within it by chance."""
    recall: float | None = None
    """The probability that a document just at the threshold was looked at, by theory."""


@dataclass(frozen=True, slots=True)
class IndexInfo:
    """The contents of an index."""

    path: str
    bytes: int
    documents: int
    batches: int
    places: tuple[str, ...]
    """The paths that were added, and that an update walks again."""
    left_out: tuple[str, ...]
    """The paths that were taken out of these places."""
    filters: tuple[dict[str, Any], ...]
    """The fields of `files.walk.Filters` for each of `places`."""
    about: dict[str, Any]
    """How it was made: see `index.metadata`."""


@dataclass(frozen=True, slots=True)
class Changes:
    """How many documents a change of an index added, replaced and so on."""

    added: int = 0
    replaced: int = 0
    removed: int = 0
    unchanged: int = 0
    skipped: tuple[Skipped, ...] = ()
    refiltered: tuple[str, ...] = ()
    """Paths added before with other filters; the next update drops files that are now excluded."""
