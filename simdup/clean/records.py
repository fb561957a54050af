"""The records of plans: a file as it was seen, an action on it, a plan of actions."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from simdup.records import Identity, Kind


class Act(Enum):
    """What is done with a file; the value is the word in a plan file."""

    TRASH = "trash"
    MOVE = "move"
    LINK = "link"
    """Replace the file by a hard link to the kept one."""
    REFLINK = "reflink"
    """Let the file share the blocks of the kept one."""
    DELETE = "delete"

    @property
    def option(self) -> str:
        """The option that asks for the act, without its dashes; "" for the trash."""
        return {"trash": "", "move": "to", "delete": "permanently"}.get(self.value, self.value)

    @property
    def is_of_bytes(self) -> bool:
        """Whether the act takes identical bytes only, since other bytes could not be restored."""
        return self in {Act.LINK, Act.REFLINK, Act.DELETE}


@dataclass(frozen=True, slots=True)
class FileId:
    """A regular file exactly as a scan saw it."""

    path: str
    """Absolute, with no symbolic link among its folders when the plan was made."""
    device: int
    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int
    byte_digest: bytes
    """BLAKE2b of the bytes, 16 bytes long; as `Document.bytes_digest`."""
    text_digest: bytes
    """The digest of the text, as `Document.text_digest`."""
    links: int = 1
    """The number of hard links that the file had; with several, removing one frees nothing."""
    words_digest: bytes = b""
    """The digest of the words, as `Document.words_digest`; empty if unknown."""
    is_whole_text: bool = True
    """As `Document.is_whole_text`."""
    is_packed: bool = False
    """Whether the text is in a compressed file."""

    @property
    def identity(self) -> tuple[int, int]:
        """Device and inode, as `identity_of` returns them."""
        return self.device, self.inode

    @property
    def state(self) -> tuple[int, int, int, int, int]:
        """Device, inode, size and both times in ns, which tell whether the file changed."""
        return self.device, self.inode, self.size, self.mtime_ns, self.ctime_ns

    @property
    def is_plain(self) -> bool:
        """Whether it is plain text, as `Document.is_plain`, without damage."""
        return self.is_whole_text and not self.is_packed

    @property
    def content(self) -> Identity:
        """What decides how it is the same as another file, as `Document.identity`."""
        text = self.text_digest if self.is_whole_text else self.byte_digest
        return Identity(self.words_digest or text, text, self.byte_digest)

    def kind_with(self, other: FileId) -> Kind:
        """How the two files are the same by their digests.

        Two texts with the same words are only near: `a == b` and `a != b` differ in signs alone.
        """
        kind = self.content.kind_with(other.content)
        are_texts = self.is_whole_text and other.is_whole_text
        return Kind.NEAR if kind is Kind.SAME_WORDS and are_texts else kind


@dataclass(frozen=True, slots=True)
class Action:
    """A file that goes, and the one that stays in its place."""

    line: int
    """The line in the plan file; the header is line 1."""
    group: int
    """The number of the group in the result."""
    keep: FileId
    act: Act
    file: FileId
    kind: Kind
    """How the file is the same as the kept one, which need not be the group's representative."""
    similarity: float | None
    """The exact similarity to the kept file; None unless `kind` is NEAR."""
    why: str
    """The rule that chose the kept file, for people."""


@dataclass(frozen=True, slots=True)
class Left:
    """A file of a group that is neither kept nor acted on."""

    line: int
    """The line in the plan file."""
    group: int
    file: FileId
    why: str


@dataclass(frozen=True, slots=True)
class Header:
    """What a plan was made from, and how."""

    made: str
    """The time in UTC, as 2026-11-22T23:30:00+00:00."""
    of: str
    """The result that the plan was made from, as it was named."""
    of_digest: str
    """BLAKE2b of the result, 32 hexadecimal digits."""
    rules: tuple[str, ...]
    """The rules as they were typed, such as "--prefer newest"; for people."""
    roots: tuple[str, ...]
    """The folders and files that were searched: absolute, with no symbolic link."""
    found: int = 0
    """The number of files that the scan found."""
    protected: tuple[str, ...] = ()
    """Absolute paths that were protected when the plan was made, references among them."""
    only_under: tuple[str, ...] = ()
    """Absolute paths of folders outside of which nothing was acted on, if there were any."""
    protected_names: tuple[str, ...] = ()
    """Globs of the names of files that were protected."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What goes, what stays for it, and what is left as it is."""

    actions: tuple[Action, ...]
    left: tuple[Left, ...]
    header: Header


@dataclass(frozen=True, slots=True)
class Consents:
    """What the user allowed on the command line; a plan file cannot allow anything."""

    text: bool = False
    """Act on plain text with the same characters as the kept file, but other bytes."""
    formats: bool = False
    """Act on packed files with the same text as the kept file, and on files with the same words if
    a reader extracted one of the two."""
    near: float | None = None
    """Act on files at least this similar to the kept file; None: on no merely similar file."""
    encoding: str | None = None
    """The encoding of all plain texts, in the user's own word; None: it is detected for each."""
    to: bool = False
    """Act.MOVE is allowed; `apply` sets this if it is told the folder."""
    link: bool = False
    """Act.LINK is allowed."""
    reflink: bool = False
    """Act.REFLINK is allowed."""
    permanently: bool = False
    """Act.DELETE is allowed."""

    def lack(self, name: str) -> bool:
        """Whether the consent with this name was not given."""
        value: object = getattr(self, name)
        return value is None or value is False
