"""What passes between stages: frozen records, one class a noun.

A record describes one thing; many fingerprints are one array (n, bits // 8)
whose rows stand in the order of their documents.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

from simdup.hamming import UNRELATED, chance_distance, threshold
from simdup.recipe import Recipe

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from simdup.metrics import Accuracy, Interval

#: A text with fewer features is decided by exact similarity, never by distance alone.
SHORT = 16

#: From this exact cosine on, two documents are near-duplicates unless the user says otherwise.
#: Measured by tests/bench/choices.py: reworded texts ask for 0.35, filled-in forms for 0.6.
SIMILARITY = 0.45

#: Bare SimHash goes no further than where one in 1 / CHANCE pairs of cosine UNRELATED is found:
#: 35 of 128 bits, 85 of 256. With ten times as many, small fingerprints do a little better on
#: a thousand texts, but among ten thousand there would be five thousand false pairs.
CHANCE = 1e-5

#: How pairs become groups: see `groups`.
LINKAGES = ("star", "components")


#: Kinds of documents whose text is extracted, by their usual ending; all others are plain text.
FORMATS = ("html", "epub", "docx", "odt", "ods", "odp", "pptx", "xlsx", "rtf", "pdf", "eml")


class Reason(Enum):
    """Why a file or folder has no fingerprint; the value is what reports print."""

    HIDDEN = "hidden"
    NOISE = "excluded by default"  # version control, caches, trash: walk.NOISE_FOLDERS
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


@dataclass(frozen=True, slots=True)
class Converter:
    """A program that prints the text of files with a certain ending.

    >>> Converter.of("doc=antiword -m UTF-8.txt {}").command
    ('antiword', '-m', 'UTF-8.txt', '{}')
    """

    ending: str
    """Of the name, in lower case, without its dot."""
    command: tuple[str, ...]
    """The program and its arguments; in these, {} stands for the file's path."""

    @classmethod
    def of(cls, text: str) -> Converter:
        """The converter that EXT=COMMAND names. Raises ValueError for what is none."""
        ending, _, command = text.partition("=")
        ending = ending.strip().lstrip(".").lower()
        if not ending or "/" in ending or not command.strip():
            raise ValueError(f"{text!r} is no EXT=COMMAND such as 'doc=antiword {{}}'")
        try:
            return cls(ending, tuple(shlex.split(command)))
        except ValueError as error:
            raise ValueError(f"{text!r}: {str(error).lower()}") from None

    def __str__(self) -> str:
        """EXT=COMMAND."""
        return f"{self.ending}={shlex.join(self.command)}"


@dataclass(frozen=True, slots=True)
class Settings:
    """What decides the answer of a scan or a comparison. Wrong values raise ValueError."""

    recipe: Recipe = field(default_factory=Recipe)
    similarity: float = SIMILARITY
    """Exact cosine from which two documents are near-duplicates."""
    k: int | None = None
    """Bits within which two documents are near-duplicates, when nothing verifies; None: see
    `distance`."""
    verified: bool = True
    """Whether exact similarities decide. A `k` that is given decides by itself."""
    linkage: str = "star"
    encoding: str | None = None
    """Decode every plain text as this, instead of detecting."""
    formats: tuple[str, ...] = FORMATS
    """The documents whose text is extracted."""
    converters: tuple[Converter, ...] = ()
    """Programs that extract others; they come before `formats`."""

    def __post_init__(self) -> None:
        """Refuse what cannot be, and let a `k` that is given decide."""
        if not 0 < self.similarity <= 1:
            raise ValueError(f"similarity must be above 0 and at most 1, not {self.similarity}")
        if self.k is not None and not 0 <= self.k <= self.recipe.bits:
            raise ValueError(f"k must be from 0 to the {self.recipe.bits} bits, not {self.k}")
        if self.linkage not in LINKAGES:
            raise ValueError(f"linkage must be one of {', '.join(LINKAGES)}, not {self.linkage!r}")
        if unknown := next((name for name in self.formats if name not in FORMATS), None):
            raise ValueError(f"formats must be among {', '.join(FORMATS)}, not {unknown!r}")
        object.__setattr__(self, "verified", self.verified and self.k is None)

    @property
    def distance(self) -> int:
        """`k` if it is given, else what `similarity` stands for.

        Where nothing verifies, no more than what keeps unrelated texts apart.
        """
        if self.k is not None:
            return self.k
        bits = self.recipe.bits
        k = threshold(self.similarity, bits)
        return k if self.verified else min(k, chance_distance(UNRELATED, bits, CHANCE))


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
    """The largest distance between any two members, in bits."""
    members: tuple[Member, ...]


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
    about: dict[str, Any]
    """How it was made: see `catalogue.about`."""


@dataclass(frozen=True, slots=True)
class Changes:
    """What a change of an index did, in documents."""

    added: int = 0
    replaced: int = 0
    removed: int = 0
    unchanged: int = 0
    skipped: tuple[Skipped, ...] = ()


@dataclass(frozen=True, slots=True)
class GroupScores:
    """How well the groups of a scan match labelled clusters."""

    precision: float
    """Of the pairs within groups; NaN if there are none."""
    recall: float
    f1: float
    rand: float
    """The adjusted Rand index: 1 for the very clusters, about 0 for groups at random."""


@dataclass(frozen=True, slots=True)
class Recommended:
    """The farthest thresholds that keep a precision that was asked for; None where none does."""

    precision: float
    k: int | None
    similarity: float | None
    """For scans that verify, in steps of 0.01."""


@dataclass(frozen=True, slots=True, eq=False)
class Evaluated:
    """How accurate one recipe is at one size."""

    settings: Settings
    """With the recipe; `distance` is the default threshold."""
    curve: tuple[Accuracy, ...] = field(repr=False)
    """(bits + 1,): what each k gives."""
    predicted: NDArray[np.float64] = field(repr=False)
    """(4, bits + 1): precision, recall, F1 and accuracy that theory expects at each k."""
    auc: Interval
    verified: Accuracy
    """What exact similarities among the candidates give."""
    tally: NDArray[np.float64] = field(repr=False)
    """(2, bits + 1): pairs at each distance, others first, then duplicates; a mean over draws."""
    found: NDArray[np.float64]
    """(kinds,): pairs of each kind within the default threshold; a mean over draws."""
    found_verified: NDArray[np.float64]
    """(kinds,): the same for verified."""
    without: int
    """Texts without a feature, which nothing can find."""
    groups: tuple[GroupScores, GroupScores] | None
    """Of a bare and of a verified scan; None unless clusters were labelled."""
    recommended: Recommended | None

    @property
    def k(self) -> int:
        """The default threshold, in bits."""
        return self.settings.distance

    @property
    def best_k(self) -> int:
        """The threshold with the highest F1, in bits; the lowest of several."""
        return max(range(len(self.curve)), key=lambda k: (self.curve[k].f1.value, -k))


@dataclass(frozen=True, slots=True)
class Evaluation:
    """How accurate recipes are on labelled pairs."""

    table: str | None
    """Where the labels stand; None: simdup's own."""
    texts: int
    repeated: int
    """Lines of the table that repeated a pair; these count once."""
    kinds: tuple[Labelled, ...]
    draws: int
    rows: tuple[Evaluated, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class Labelled:
    """A kind of pairs in a table of labels."""

    kind: str
    duplicate: bool | None
    """None: only reported."""
    pairs: int
