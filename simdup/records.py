"""What passes between stages: frozen records, one class a noun.

A record describes one thing; many fingerprints are one array (n, bits // 8)
whose rows stand in the order of their documents.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from simdup.settings import FORMATS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from simdup.settings import Settings

#: A text with fewer features is decided by exact similarity, never by distance alone.
SHORT = 16


class Reason(Enum):
    """Why a file or folder has no fingerprint; the value is what reports print."""

    HIDDEN = "hidden"
    NOISE = "excluded by default"  # version control, caches, trash: files.walk.NOISE_FOLDERS
    EXCLUDED = "excluded"  # by --include, --exclude
    IGNORED = "git-ignored"
    TOO_DEEP = "too deep"
    TOO_SMALL = "too small"
    TOO_LARGE = "too large"
    SYMLINK = "symbolic link"
    SPECIAL = "not a regular file"
    SAME_FILE = "same file again"  # one (device, inode) is one document
    OTHER_DEVICE = "other file system"
    BINARY = "binary"
    EMPTY = "empty"  # no token: nothing to compare
    UNEXTRACTED = "no text extracted"  # a document that is encrypted, damaged, scanned or too much
    MISSING_EXTRA = "reader not installed"  # a PDF without the extra "docs"
    DEGENERATE = "fingerprint all 0 or all 1"  # the features cancelled out: it would match anything
    CHANGED = "changed while read"
    VANISHED = "not found"
    UNREADABLE = "unreadable"

    @property
    def is_trouble(self) -> bool:
        """Whether the run could not do what was asked: `simdup scan` then exits with 3."""
        return self in {Reason.CHANGED, Reason.VANISHED, Reason.UNREADABLE}


@dataclass(frozen=True, slots=True)
class Source:
    """A file to be read, as the walk found it."""

    path: str
    """As reached from the root that was given; bytes that are not UTF-8 as `os.fsdecode` gives."""
    size: int
    mtime_ns: int
    ctime_ns: int
    device: int
    inode: int
    is_reference: bool = False
    """Found under `--against`: only compared with files that are not."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file or folder that was passed over, and why."""

    path: str
    reason: Reason
    detail: str = ""
    """What was found, for a reader: "31 % control bytes", "Permission denied"; may be empty."""
    file: Document | None = field(default=None, compare=False)
    """A document that was read and has no text (see `without_text`); None: any other file."""

    def __str__(self) -> str:
        """One line: which file, and why. The name as `repr`, since it may hold a newline."""
        return f"{self.path!r}: {self.reason.value}" + (f" ({self.detail})" if self.detail else "")


class Kind(Enum):
    """How two documents are the same, strongest first."""

    IDENTICAL_BYTES = "identical bytes"
    IDENTICAL_TEXT = "identical text"
    """After decoding, without a byte-order mark, whatever the newlines."""
    NEAR = "near"


@dataclass(frozen=True, slots=True)
class Document:
    """A file whose text has a fingerprint; the row with the same index is it."""

    source: Source
    encoding: str
    """Of plain text; of a document whose text is extracted, its format; of one that a converter
    has extracted, a dot and the ending of its name."""
    confidence: float
    """0 to 1: how sure the encoding is; 1 for a byte-order mark and for valid UTF-8."""
    damaged: int
    """Characters that could not be decoded, now or before: U+FFFD in the text."""
    features: int
    """How many distinct features voted."""
    bytes_digest: bytes
    text_digest: bytes
    """Of the text without a byte-order mark, lines ended by a newline alone."""
    features_digest: bytes
    """Equal for equal features: such documents are exactly 1 alike."""

    @property
    def path(self) -> str:
        """Where the file is."""
        return self.source.path

    @property
    def format(self) -> str:
        """What kind of file it is: one of FORMATS, the ending of a converted one, or "text"."""
        is_text = self.encoding not in FORMATS and not self.encoding.startswith(".")
        return "text" if is_text else self.encoding.lstrip(".")

    @property
    def written_in(self) -> str:
        """What reports show of it: the encoding of plain text, the format of all others."""
        return self.encoding.lstrip(".")

    @property
    def is_short(self) -> bool:
        """Whether so few features voted that the distance says little."""
        return self.features < SHORT

    def kind_with(self, other: Document) -> Kind:
        """How two documents that are near-duplicates at least are the same."""
        if self.bytes_digest == other.bytes_digest:
            return Kind.IDENTICAL_BYTES
        return Kind.IDENTICAL_TEXT if self.text_digest == other.text_digest else Kind.NEAR


def without_text(source: Source, encoding: str, bytes_digest: bytes) -> Document:
    """A document of which the bytes are known and the text is not, or says nothing.

    It has no fingerprint; nothing but a document of the same bytes is like it.
    """
    return Document(source, encoding, 1.0, 0, 0, bytes_digest, bytes_digest, bytes_digest)


@dataclass(frozen=True, slots=True)
class Member:
    """A document in a group, seen from the group's representative."""

    document: Document
    fingerprint: bytes
    kind: Kind
    distance: int
    similarity: float | None
    """Exact cosine; None when nothing was verified."""


@dataclass(frozen=True, slots=True)
class Group:
    """Documents that are the same, the representative first, then most similar first."""

    id: int
    kind: Kind
    """The weakest kind among its members."""
    diameter: int
    """No two members are further apart than this, in bits."""
    members: tuple[Member, ...]
    is_diameter_exact: bool = True
    """Whether two members are that far apart; of a very large group it is a bound."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """How the candidate pairs were found that exact similarity then decided."""

    k: int
    """Pairs within this many bits were decided."""
    wanted: int
    """The distance that `similarity` asks for, with its margin; more than `k` if that would
    have given too many pairs."""
    recall: float
    """The probability that a pair just at the threshold was a candidate, by theory."""
    pairs: int
    """How many there were."""


@dataclass(frozen=True, slots=True)
class Stats:
    """What a run did."""

    found: int
    """Files that the walk gave."""
    fingerprinted: int
    bytes: int
    """Of the files that were fingerprinted."""
    seconds: float
    from_store: int = 0
    """Files of which all was known from an earlier scan."""
    ignored: int = 0
    """Pairs of texts that were left out because someone said that they are no duplicates."""


@dataclass(frozen=True, slots=True)
class ScanResult:
    """Everything a report can show."""

    settings: Settings
    documents: tuple[Document, ...]
    rows: NDArray[np.uint8]
    """(len(documents), bits // 8)"""
    groups: tuple[Group, ...]
    skipped: tuple[Skipped, ...]
    candidates: Candidates | None
    """None when nothing was verified."""
    stats: Stats
    complete: bool = True
    """False where the scan was interrupted: then there are no groups."""

    @property
    def has_trouble(self) -> bool:
        """Whether some input could not be read."""
        return any(skipped.reason.is_trouble for skipped in self.skipped)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two documents side by side."""

    settings: Settings
    left: Document
    right: Document
    fingerprints: tuple[bytes, bytes]
    kind: Kind | None
    """None: not near-duplicates."""
    distance: int
    similarity: float
    """Exact cosine."""
    texts: tuple[str, str]
