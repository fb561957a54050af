"""What an index answers, and what it says of itself and of its changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simdup.records import Document, Kind, Skipped
    from simdup.settings import Settings


@dataclass(frozen=True, slots=True)
class Match:
    """A document of an index that is like a question."""

    document: Document
    kind: Kind
    distance: int
    similarity: float
    is_exact: bool
    """Whether `similarity` was computed from the texts; else it is what the distance stands for."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What an index has that is like one question."""

    question: str
    """The path of a file, or what else was asked for."""
    matches: tuple[Match, ...]
    """Most similar first."""


@dataclass(frozen=True, slots=True)
class Searched:
    """How an index was searched for what is like some questions."""

    settings: Settings
    documents: int
    """How many the index has."""
    top: int | None
    """So many of each answer were kept at most; None: all."""
    k: int | None
    """Documents within so many bits were looked at; None: the nearest, however far."""
    wanted: int | None = None
    """The distance that `similarity` asks for, with its margin; more than `k` if chance would
    have brought too many. None where nothing verifies."""
    recall: float | None = None
    """The probability that a document just at the threshold was looked at, by theory."""


@dataclass(frozen=True, slots=True)
class IndexInfo:
    """What is in an index."""

    path: str
    bytes: int
    documents: int
    batches: int
    places: tuple[str, ...]
    """What was added, and is looked at again by an update."""
    left_out: tuple[str, ...]
    """What was taken out of these places."""
    filters: tuple[dict[str, Any], ...]
    """Of each of `places`: see `files.walk.Filters`."""
    about: dict[str, Any]
    """How it was made: see `index.file.metadata`."""


@dataclass(frozen=True, slots=True)
class Changes:
    """What a change of an index did, in documents."""

    added: int = 0
    replaced: int = 0
    removed: int = 0
    unchanged: int = 0
    skipped: tuple[Skipped, ...] = ()
    refiltered: tuple[str, ...] = ()
    """What had been added before with other filters, of which an update drops what these leave
    out."""
