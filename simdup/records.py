"""The records that stages pass on: frozen classes, one for each kind of thing.

Fingerprints alone are an array (n, bits // 8), with rows in the order of their documents.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from typing import NamedTuple

from simdup.arrays import Rows
from simdup.settings import FORMAT_ORDER, FORMATS, Settings
from simdup.theory import contained

#: What two documents with the same words may differ in: the sequences of `text.signs`.
DIFFERENCES = "signs", "punctuation", "letter case", "variants of characters"

#: File systems keep times in seconds of 64 bits, so that times in ns may take more.
MOST_TIME_NS = 2**63 * 10**9

#: The distance alone never decides about a text with fewer features; exact similarity does.
SHORT = 16


class Reason(Enum):
    """Why a file or folder has no fingerprint; the value is its name in reports."""

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
    ARCHIVE = "unpacked archive"  # its members are compared: see files.archives
    UNEXTRACTED = "no text extracted"  # an encrypted, damaged, scanned or too large document
    UNCONVERTED = "not converted"  # the converter failed or printed no text; it may do better later
    MISSING_EXTRA = "reader not installed"  # a document whose extra is missing
    DEGENERATE = "fingerprint all 0 or all 1"  # the features cancelled out: it would match anything
    CHANGED = "changed while read"
    VANISHED = "not found"
    UNREADABLE = "unreadable"

    @property
    def is_trouble(self) -> bool:
        """Whether the run could not do its task: `simdup scan` then exits with 3."""
        return self in {Reason.CHANGED, Reason.VANISHED, Reason.UNREADABLE}

    @property
    def is_lasting(self) -> bool:
        """Whether it follows from the bytes and the recipe alone, so that a store remembers it.

        Readers and programs may fail for lack of memory, room or time, so these files are tried
        again. An unchanged file that a reader cannot read has another recipe once the reader is
        there.
        """
        return self in {
            *(Reason.BINARY, Reason.EMPTY, Reason.UNEXTRACTED),
            *(Reason.MISSING_EXTRA, Reason.DEGENERATE),
        }


class Source(NamedTuple):
    """A file to be read, as the walk found it.

    path: As reached from the given root; other bytes than UTF-8 as `os.fsdecode` returns them.
    is_reference: Found under `--against`: compared only with files that are not.
    links: The number of its names (hard links); 0 if unknown, and then `device` is unknown too.
    archive: The archive with this file as a member, which gives it times and inode here; None for a
        file on the disk. The path of a member is the archive's, then "!/", then its name inside.
    """

    path: str
    size: int
    mtime_ns: int
    ctime_ns: int
    device: int
    inode: int
    is_reference: bool = False
    links: int = 0
    archive: Source | None = None


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file or folder that was passed over, and why.

    detail: The cause, for people: "31 % control bytes", "Permission denied"; may be empty.
    file: The document, if it was read and has no text (see `without_text`).
    """

    path: str
    reason: Reason
    detail: str = ""
    file: Document | None = field(default=None, compare=False)

    def __str__(self) -> str:
        """One line: which file (as `repr`, since a name may hold a newline), and why."""
        return f"{self.path!r}: {self.reason.value}" + (f" ({self.detail})" if self.detail else "")


class Kind(Enum):
    """How two documents are the same, strongest first.

    IDENTICAL_TEXT: Equal characters of two text files, all of them decoded; byte-order marks and
        line endings are ignored. The files may be packed.
    SAME_WORDS: The same words and signs in the same order, in another layout or format.
    SAME_PATTERN: Alike, but not duplicates: other documents share most of their common wording.
    """

    IDENTICAL_BYTES = "identical bytes"
    IDENTICAL_TEXT = "identical text"
    SAME_WORDS = "same words"
    NEAR = "near"
    SAME_PATTERN = "same pattern"


class Identity(NamedTuple):
    """What is equal in documents that are the same, as digests or what represents unknown ones.

    words: Equal for the same words in the same order, with the same signs.
    text: Equal for identical text. A document that a reader extracted has its bytes here, since a
        reader may overlook something.
    """

    words: object
    text: object
    bytes: object

    def kind_with(self, other: Identity) -> Kind:
        """The kind of a match with another document, at least a near-duplicate."""
        if self.bytes == other.bytes:
            return Kind.IDENTICAL_BYTES
        if self.text == other.text:
            return Kind.IDENTICAL_TEXT
        return Kind.SAME_WORDS if self.words == other.words else Kind.NEAR


class Unread(NamedTuple):
    """What a document holds of one kind besides the text that its reader gives.

    kind: A word in the plural, such as "attachments".
    digest: 16 hexadecimal digits, equal for equal content.
    """

    kind: str
    number: int
    digest: str


@lru_cache(1 << 10)
def format_of(encoding: str) -> str:
    """The format of a document with this `encoding`, see `Document.format`."""
    is_text = encoding not in FORMATS and not encoding.startswith(".")
    return "text" if is_text else encoding.lstrip(".")


@lru_cache(1 << 10)
def place_of(encoding: str) -> int:
    """The place of a document's format, see `Document.format_place`."""
    known = format_of(encoding)
    return FORMAT_ORDER.index(known) if known in FORMAT_ORDER else len(FORMAT_ORDER)


class Document(NamedTuple):
    """A file whose text has a fingerprint: the row at the same index as the document.

    encoding: The encoding of plain text, or the format of a document whose text is extracted, or a
        dot and the ending of the name where a converter extracts the text.
    confidence: 0 to 1: how sure the encoding is; 1 for a byte-order mark and for valid UTF-8.
    damaged: Characters that could not be decoded: occurrences of U+FFFD in the text.
    features: The number of distinct features.
    text_digest: The digest of the text without a byte-order mark and with unified line endings.
    features_digest: Equal for equal features, which means a similarity of exactly 1.
    noise: The kind of file that its content shows, if this kind is compared for identity only: one
        of the names in `text.noise`.
    packing: How the file is packed: one of PACKINGS. All fields above except `bytes_digest`
        describe the file inside.
    doubt: Why the text may not be what its author wrote: one of the names in `text.noise`.
    words_digest: The digest of the sequence of folded tokens in 16 bytes, and of the four sequences
        of DIFFERENCES in 4 bytes each; results of earlier versions have 16 bytes.
        Empty if unknown.
    unread: The content that is not part of the text, by kind.
    """

    source: Source
    encoding: str
    confidence: float
    damaged: int
    features: int
    bytes_digest: bytes
    text_digest: bytes
    features_digest: bytes
    noise: str | None = None
    packing: str | None = None
    doubt: str | None = None
    words_digest: bytes = b""
    unread: tuple[Unread, ...] = ()

    @property
    def path(self) -> str:
        """The path of the file."""
        return self.source.path

    @property
    def format(self) -> str:
        """The kind of file: one of FORMATS, the ending of a converted file, or "text"."""
        return format_of(self.encoding)

    @property
    def format_place(self) -> int:
        """The place of the format in FORMAT_ORDER; after all of them if it is not there."""
        return place_of(self.encoding)

    @property
    def written_in(self) -> str:
        """The word that reports show: the encoding of plain text, the format of other documents.

        How the file is packed comes first, as "gz, utf-8".
        """
        return ", ".join(filter(None, (self.packing, self.encoding.lstrip("."))))

    @property
    def is_member(self) -> bool:
        """Whether this is a member of an archive, and no file of its own."""
        return self.source.archive is not None

    @property
    def untouchable(self) -> str | None:
        """Why no command may remove, move or replace the file; None if one may."""
        if self.is_member:
            return "member of an archive"
        return f"doubtful: {self.doubt}" if self.doubt else None

    @property
    def is_plain(self) -> bool:
        """Whether it is plain text, neither packed nor a document whose text is extracted."""
        return self.format == "text" and self.packing is None

    @property
    def is_certain(self) -> bool:
        """Whether simdup itself read the text, every character of it, and has no doubt."""
        return not (self.encoding.startswith(".") or self.damaged or self.doubt)

    @property
    def is_whole_text(self) -> bool:
        """Whether it is a text file, perhaps packed, with every character read."""
        return self.format == "text" and not self.damaged and not self.doubt

    @property
    def identity(self) -> Identity:
        """What decides how it is the same as another document."""
        text = self.text_digest if self.is_whole_text else self.bytes_digest
        return Identity(self.words_digest or text, text, self.bytes_digest)

    @property
    def bare_words(self) -> bytes:
        """Equal for the same words in the same order, whatever else differs."""
        return self.words_digest[:16] or self.text_digest

    @property
    def is_short(self) -> bool:
        """Whether the document has so few features that a distance says little."""
        return self.features < SHORT

    def kind_with(self, other: Document) -> Kind:
        """The kind of a match with another document, at least a near-duplicate."""
        return self.identity.kind_with(other.identity)

    def share_in(self, other: Document, similarity: float) -> float:
        """How much of this text stands in another one: see `theory.contained`."""
        return contained(similarity, self.features, other.features)

    def is_part_of(self, other: Document) -> bool:
        """Whether the other text, in which most of this one stands, is more than twice as long."""
        return other.features > 2 * self.features

    def other_signs(self, other: Document) -> tuple[str, ...]:
        """What differs from another document with the same words: some of `DIFFERENCES`."""
        one, two = self.words_digest, other.words_digest
        if one[:16] != two[:16] or len(one) != len(two):
            return ()
        places = range(16, len(one), 4)
        pairs = zip(DIFFERENCES, places, strict=False)
        return tuple(name for name, at in pairs if one[at : at + 4] != two[at : at + 4])

    def other_content(self, other: Document) -> tuple[str, ...]:
        """What differs from another document with the same words; empty if the words differ."""
        signs = self.other_signs(other)
        if signs or self.kind_with(other) is Kind.SAME_WORDS:
            return signs + self.other_unread(other)
        return ()

    def other_unread(self, other: Document) -> tuple[str, ...]:
        """The kinds of content that was not read and differs from another document's."""
        if self.bytes_digest == other.bytes_digest:
            return ()
        kinds = {each.kind for each in {*self.unread} ^ {*other.unread}}
        if self.damaged or other.damaged:
            kinds.add("damaged characters")
        return tuple(sorted(kinds))


def without_text(
    source: Source, encoding: str, bytes_digest: bytes, packing: str | None = None
) -> Document:
    """A document with an empty or unreadable text.

    It has no fingerprint, and matches only documents with the same bytes.
    """
    digests = bytes_digest, bytes_digest, bytes_digest
    return Document(source, encoding, 1.0, 0, 0, *digests, packing=packing)


class Member(NamedTuple):
    """A document in a group, seen from the group's representative.

    similarity: Exact cosine; None when nothing was verified.
    own_share: The part of its wording in common with the representative that no other has, 0 to 1;
        None if unknown.
    set_id: The number of its set: all documents in groups with the same words; see
        `findings.identical`. None if no other document has these words.
    set_kind: The weakest kind among the documents of that set: bytes, text or words.
    tier: Near or related: of the first member the tier of its group; see `findings.near`. None in a
        family of siblings, and before it is decided.
    near_because: The name of the evidence that makes it near, one of `match.tiers.EVIDENCE`; "" if
        it is only related, or the first one.
    """

    document: Document
    fingerprint: bytes
    kind: Kind
    distance: int
    similarity: float | None
    own_share: float | None = None
    set_id: int | None = None
    set_kind: Kind | None = None
    tier: str | None = None
    near_because: str = ""

    @property
    def is_exact(self) -> bool:
        """Whether the similarity was computed from the texts."""
        return self.similarity is not None


class Match(NamedTuple):
    """A document of an index that is like a query.

    is_exact: Whether `similarity` was computed from the texts; if not, it is estimated from
        `distance`.
    contained: How much of the question stands in the document, from 0 to 1; None for a mere
        fingerprint, and where features weigh differently.
    set_id: The number of its set: all documents found that have the same words. None if no other
        has them.
    set_kind: The weakest kind among the documents of that set: bytes, text or words.
    """

    document: Document
    kind: Kind
    distance: int
    similarity: float
    is_exact: bool
    contained: float | None = None
    set_id: int | None = None
    set_kind: Kind | None = None

    @property
    def share(self) -> float:
        """The number beside the document: `contained`, or else the similarity."""
        return self.similarity if self.contained is None else self.contained

    @property
    def own_share(self) -> None:
        """Unknown: a query looks at no other documents."""

    @property
    def fingerprint(self) -> None:
        """Unknown: an answer does not tell it."""


class Part(NamedTuple):
    """A file whose text stands in a larger one, and is in no group with it.

    whole: The file with the larger text.
    share: The share of the distinct shingles of the part that the larger text has, from 0 to 1.
    start: Where the part begins in the larger text, in characters, from 0; None if unknown.
    end: Where it ends: the first character after it.
    """

    path: str
    whole: str
    share: float
    start: int | None
    end: int | None


class Version(NamedTuple):
    """A text in a chain of versions.

    path: The path of the group member that represents the text.
    changed: How much changed since the version before: 1 minus their exact similarity. None for the
        oldest one, and where it is not known.
    """

    path: str
    changed: float | None


class Group(NamedTuple):
    """Documents that belong together, the representative first, then most similar first.

    Members of one identical set follow each other, and within a set members with the same bytes.

    kind: The weakest kind among its members.
    diameter: The largest distance between two members, in bits, or an upper bound of it.
    is_diameter_exact: False for a very large group, where the diameter is an upper bound.
    versions: Its texts from the oldest to the newest, if they look like versions of one document.
    why: Why its first member would be kept: one of `findings.keeper.WORDS`.
    score: How surely any two of its texts are versions of one, whatever their files are called; see
        `match.tiers`. None if nothing was verified.
    not_duplicates: Paths of two members each, whose texts the user called different; both are like
        another text of the group, which leads it.
    aside: How many members a report leaves out, since they are only related to the first one.
    """

    id: int
    kind: Kind
    diameter: int
    members: tuple[Member, ...]
    is_diameter_exact: bool = True
    versions: tuple[Version, ...] = ()
    why: str = ""
    score: float | None = None
    not_duplicates: tuple[tuple[str, str], ...] = ()
    aside: int = 0

    @property
    def tier(self) -> str | None:
        """Near if any member is, else related; None for a family of siblings."""
        # "near" comes before "related".
        return min(filter(None, (each.tier for each in self.members)), default=None)

    @property
    def near_because(self) -> str:
        """The name of the evidence that makes it near: of its first near member."""
        return next(filter(None, (each.near_because for each in self.members)), "")


class FolderPair(NamedTuple):
    """A folder, and another one with copies of most of its files at the same relative paths.

    other: The other folder, with at least as many files.
    files: The files in the folder `path` that were compared, at any depth.
    other_files: The files in the folder `other` that were compared, at any depth.
    copies: The files of `path` with a file of their group at the same place in `other`.
    identical: How many of these copies have the same text.
    not_compared: The files and folders in `path` that were not compared, such as images and hidden
        folders; files without any text do not count.
    newer: The folder with the last change among the copies that differ; None if there are none.
    groups: The numbers of the groups that the pair represents: all their files lie in folders that
        are joined by pairs.
    """

    path: str
    other: str
    files: int
    other_files: int
    copies: int
    identical: int
    not_compared: int
    newer: str | None
    groups: tuple[int, ...] = ()


class Doubtful(NamedTuple):
    """A file whose text may not be what its author wrote.

    doubt: See `Document`.
    """

    path: str
    doubt: str


def doubtful(documents: Iterable[Document]) -> tuple[Doubtful, ...]:
    """The documents whose text is doubtful, in their order."""
    return tuple(Doubtful(each.path, each.doubt) for each in documents if each.doubt)


@dataclass(frozen=True, slots=True)
class Interval:
    """A figure and its 95 % interval; all three are NaN if the figure is undefined."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Candidates:
    """How the candidate pairs, whose exact similarity was computed, were found.

    pairs: The number of candidate pairs.
    k: Pairs within this many bits were candidates; None if pairs that share rare features were.
    wanted: The distance that `similarity` asks for, with its margin; more than `k` if the search
        was narrowed because it would have given too many pairs.
    at_threshold: The theoretical probability that a pair just at the threshold was within k bits.
    recall: The share of the near-duplicates of sampled texts that were candidates or are in one
        group; None if it was not measured or no sampled text has a near-duplicate.
    sampled: The sampled texts with near-duplicates: `recall` is the average over these.
    """

    pairs: int
    k: int | None = None
    wanted: int | None = None
    at_threshold: float | None = None
    recall: Interval | None = None
    sampled: int = 0

    @property
    def narrowed(self) -> tuple[int, int, float] | None:
        """The distance wanted, the one searched and the recall at the threshold, if they differ."""
        if self.k is None or self.wanted is None or self.at_threshold is None:
            return None
        return (self.wanted, self.k, self.at_threshold) if self.k < self.wanted else None


class Stats(NamedTuple):
    """Counts of a run.

    found: Files that the walk found.
    bytes: The size of all fingerprinted files together.
    from_store: Files that the store knew from an earlier scan.
    ignored: Pairs marked as not duplicates that excluded at least one pair of similar texts.
    siblings: Pairs of similar texts whose common wording is in too many other texts.
    identity_only: The kinds of files that were compared for identity only, as `findings.noise`
        names them, and the number of files of each.
    """

    found: int
    fingerprinted: int
    bytes: int
    seconds: float
    from_store: int = 0
    ignored: int = 0
    siblings: int = 0
    identity_only: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class ScanResult:
    """Everything a report can show.

    rows: (len(documents), bits // 8)
    candidates: None when nothing was verified.
    complete: False if the scan was interrupted; then there are no groups.
    patterns: Families of siblings: each member is similar to the first, but no near-duplicate of
        it. A text with several copies is listed once. Families are numbered after the groups.
    base: The absolute folder to which relative paths refer; None if unknown.
    roots: The paths that were searched; None if unknown, or if the files were named one by one.
    references: The paths that were searched for references.
    keep_under: Folders whose files the user rather keeps, the most important one first.
    let_go_under: Folders whose files the user rather lets go.
    parts: Texts that stand in larger ones, ordered by larger text and place; empty unless asked
        for. One file represents all files with the same text.
    folders: Folders with most of their files in another folder, the most copies first.
    doubtful: The files among `documents` whose text is doubtful.
    """

    settings: Settings
    documents: tuple[Document, ...]
    rows: Rows
    groups: tuple[Group, ...]
    skipped: tuple[Skipped, ...]
    candidates: Candidates | None
    stats: Stats
    complete: bool = True
    patterns: tuple[Group, ...] = ()
    base: str | None = None
    roots: tuple[str, ...] | None = None
    references: tuple[str, ...] = ()
    keep_under: tuple[str, ...] = ()
    let_go_under: tuple[str, ...] = ()

    parts: tuple[Part, ...] = ()

    folders: tuple[FolderPair, ...] = ()
    doubtful: tuple[Doubtful, ...] = ()

    @property
    def in_folders(self) -> frozenset[int]:
        """The numbers of the groups that pairs of folders represent."""
        return frozenset(number for pair in self.folders for number in pair.groups)

    @property
    def has_trouble(self) -> bool:
        """Whether an input could not be read."""
        return any(skipped.reason.is_trouble for skipped in self.skipped)


class InOthers(NamedTuple):
    """How many other files have the wording that two texts have in common.

    nearly_all: The number of files with 95 % of it or more.
    half: The number of files with half of it or more.
    most: The largest share of it that any of these files has.
    """

    nearly_all: int
    half: int
    most: float

    @classmethod
    def of(cls, shares: Sequence[float]) -> InOthers | None:
        """Count the files by their shares; None without any."""
        nearly_all, half = (sum(share >= least for share in shares) for least in (0.95, 0.5))
        return cls(nearly_all, half, max(shares)) if shares else None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two documents side by side.

    kind: None: not near-duplicates.
    similarity: Exact cosine.
    own_share: Their own share among `among` files; None if unknown.
    in_others: How many of these files have their common wording too; None if unknown.
    contained: The share of the distinct features of the left text that the right one has, and of
        the right text that the left one has; None if unknown.
    score: How surely they are versions of one text, see `match.tiers`; None if nothing was
        verified or they are not alike.
    tier: Near or related, as a group of the two; None if they are not alike.
    near_because: The name of the evidence that makes them near; "" if they are not.
    """

    settings: Settings
    left: Document
    right: Document
    fingerprints: tuple[bytes, bytes]
    kind: Kind | None
    distance: int
    similarity: float
    texts: tuple[str, str]
    own_share: float | None = None
    among: int = 0
    in_others: InOthers | None = None
    contained: tuple[float, float] | None = None
    score: float | None = None
    tier: str | None = None
    near_because: str = ""
