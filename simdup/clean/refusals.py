"""Why files are kept, and what a user can consent to: enumerations, each with words for people."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class Consent(Enum):
    """What the user allows on the command line; the value is a field of `plan.Consents`.

    HAND: A person was shown both files and decided.
    """

    TEXT = "text"
    FORMATS = "formats"
    NEAR = "near"
    NEWEST = "newest"
    TO = "to"
    LINK = "link"
    REFLINK = "reflink"
    PERMANENTLY = "permanently"
    HAND = "hand"

    @property
    def option(self) -> str:
        """The option that gives this consent."""
        names = {"formats": "formats-too", "newest": "newest-too", "hand": "review"}
        return f"--{names.get(self.value, self.value)}"


class Refusal(Enum):
    """Why a file is kept; the value is what people read."""

    # Decided when planning, from the documents of a scan.
    PREFERRED = "it is the one to keep"
    TEXT = "identical text, other bytes: needs --text"
    PACKED = "identical text, packed: needs --formats-too"
    WORDS = "same words, another layout or format: needs --formats-too"
    NEAR = "near: needs --near FLOOR such as 0.95, or --review"
    LAYOUT = "same words, another layout: needs --near FLOOR such as 0.95, or --review"
    NEAR_FORMATS = "near, a document or packed: needs --near FLOOR and --formats-too"
    NEAR_DOCUMENT = "near, a document or packed: needs --formats-too"
    NEWEST = "the newest version: needs --newest-too"
    ORIGINAL = "it can be edited, and the other file was made for print: needs --review"
    BELOW = "near, and less of it in the kept file than --near asks for"
    PART = "a part: the kept text is more than twice as long; needs --review"
    FACTS = "near, but with other facts (--review asks)"
    BYTES_ONLY = "not identical in bytes"
    UNCERTAIN = "its text is damaged, doubtful or came from --convert"
    OTHER_CONTENT = "same words, other content"
    NEAR_OTHER_CONTENT = "similar, other content"
    SHORT = "near, and too short to tell"
    DIFFERENT = "you called the two different: see `simdup ignore list`"
    RELATED = "only related: perhaps two texts of one series, and not versions of one text"
    PARTED = "its folder is removed whole or not at all, and has a file that is kept"
    ACT = "not consented"

    # Protected by its place or by what it is.
    AGAINST = "protected: --against"
    PROTECTED = "protected"
    PROTECTED_NAME = "protected by its name"
    WORK_TREE = "in a work tree: needs --work-trees-too"
    PACKAGE = "part of an installed package: needs --work-trees-too"
    SAVED_PAGE = "part of a saved web page: needs --work-trees-too"
    NOT_UNDER = "outside --only-under"
    MEMBER = "member of an archive"
    DOUBTFUL = "doubtful"

    # Answered in a review.
    REVIEWED = "reviewed: kept"
    NO_DUPLICATE = "reviewed: no duplicate"
    NOT_REVIEWED = "not reviewed"
    NOT_COMPARED = "it cannot be compared with the kept file"

    # Found when a file was about to be removed or put back.
    GONE = "gone already"
    LINK_IN_PATH = "reached through a symbolic link, or a folder of its path is gone"
    BAD_PATH = "its path is none that a plan can name"
    OUTSIDE = "outside the folders of the scan"
    NOISE = "in a folder of a trash, a cache, snapshots or version control"
    NOT_A_FILE = "no longer a regular file"
    CHANGED = "changed since the scan"
    CHANGING = "changed while it was looked at"
    SAME_FILE = "the kept file itself, under another name"
    KEPT_GONE = "the kept file is gone"
    KEPT_CHANGED = "the kept file changed since the scan"
    KEPT_GOES = "the kept file is itself acted on"
    KEPT_LOCKED = "another program has locked the kept file"
    NOT_THE_SAME = "not what the plan says of it and the kept file"
    NOT_ALIKE = "not similar enough to the kept file"
    NOT_ALLOWED = "not allowed on the command line"
    UNFIT = "one of the texts proves nothing"
    NO_TEXT = "its text could not be read again"
    NO_TRASH = "no trash on its file system"
    OTHER_DEVICE = "on another file system than the kept file"
    OTHER_OWNER = "owner, mode or attributes differ from the kept file's"
    LOSES = "a copy there would lose what it has"
    OTHER_NAMES = "it has other hard links"
    REPLACED = "another program replaced it at the last moment"
    CANNOT_SHARE = "the file system cannot share blocks"
    ASIDE = "another version of it is beside it"
    COPY_STAYS = "it has its name again; its copy stays"
    NAME_TAKEN = "its name has been taken"
    LOST = "neither under its name nor where it was put; was the trash emptied?"
    NOT_AS_LEFT = "not as simdup left it"
    FOLDER_GONE = "its folder is gone"
    NO_WAY_BACK = "deleted for good"
    IN_BIN = "in the bin of the system: take it out there"
    FAILED = "the system refused it"

    # In a plan of another simdup.
    UNKNOWN = "another reason"

    @property
    def is_of_whole(self) -> bool:
        """Whether the file is part of a work tree, an installed package or a saved page."""
        return self in {Refusal.WORK_TREE, Refusal.PACKAGE, Refusal.SAVED_PAGE}

    @property
    def is_open(self) -> bool:
        """Whether a person who sees both files may decide otherwise."""
        return self in _OPEN

    @property
    def of_kept(self) -> Refusal:
        """The reason where it is the kept file that is gone or changed."""
        return _OF_KEPT.get(self, self)


_OPEN = {
    *(Refusal.TEXT, Refusal.PACKED, Refusal.WORDS, Refusal.NEAR, Refusal.NEAR_FORMATS),
    *(Refusal.NEAR_DOCUMENT, Refusal.ORIGINAL, Refusal.BELOW, Refusal.FACTS, Refusal.PART),
    *(Refusal.BYTES_ONLY, Refusal.LAYOUT, Refusal.NOT_REVIEWED),
}

_OF_KEPT = {
    Refusal.GONE: Refusal.KEPT_GONE,
    Refusal.NOT_A_FILE: Refusal.KEPT_GONE,
    Refusal.CHANGED: Refusal.KEPT_CHANGED,
    Refusal.CHANGING: Refusal.KEPT_CHANGED,
    Refusal.LINK_IN_PATH: Refusal.KEPT_GONE,
}

_BY_WORDS = {refusal.value: refusal for refusal in Refusal}
# What plans had before a similarity or other numbers.
_BY_WORDS |= {"near": Refusal.BELOW, "reviewed: stays": Refusal.REVIEWED}


class Why(NamedTuple):
    """Why a file is kept.

    detail: What belongs to this file alone, such as its similarity; may be empty.
    """

    refusal: Refusal
    detail: str = ""

    def __str__(self) -> str:
        """The reason in words, as a plan has it."""
        if self.refusal is Refusal.UNKNOWN:
            return self.detail
        return f"{self.refusal.value}: {self.detail}" if self.detail else self.refusal.value

    @classmethod
    def read(cls, words: str) -> Why:
        """The reason that these words of a plan give."""
        if whole := _BY_WORDS.get(words):
            return cls(whole)
        name, _, detail = words.partition(": ")
        return cls(_BY_WORDS[name], detail) if name in _BY_WORDS else cls(Refusal.UNKNOWN, words)
