"""The outcome of a plan or of an undo, and why files were left as they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

from simdup.clean.plan import Action
from simdup.interrupt import INTERRUPTED
from simdup.storage.opening import reason_of


class Refusal(Enum):
    """Why a file was left as it is; the value is what people read."""

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


class RefusedError(Exception):
    """A file stays as it is; raised by a check, and caught where the next file is taken."""

    def __init__(self, refusal: Refusal, detail: str = "") -> None:
        super().__init__(refusal, detail)
        self.refusal, self.detail = refusal, detail

    def __str__(self) -> str:
        return f"{self.refusal.value} ({self.detail})" if self.detail else self.refusal.value


def refused_by(error: RefusedError | OSError | ValueError) -> RefusedError:
    """The error itself, or why a file stays of which the system refused something."""
    if isinstance(error, RefusedError):
        return error
    return RefusedError(Refusal.FAILED, reason_of(error))


#: Exit codes besides 0 and INTERRUPTED: some files were left as they are; the journal failed.
SOME_REFUSED, JOURNAL_FAILED = 3, 4


@dataclass(slots=True)
class Outcome:
    """How many files were planned, done, refused and left: the last three add up to the first.

    refused: Each action that was refused, and why.
    journal: Where the journal is; None if nothing was to be done.
    undoable: How many of the done files can be put back by `simdup undo`: all but deleted files and
        files that only share blocks now.
    frees_nothing: How many of the done files have other names, so that their space stays in use.
    damaged: The lines of the journal that are damaged, so that nothing is known of their files.
    trouble: Why the journal could not be written, so that the run stopped.
    """

    planned: int
    done: int = 0
    refused: list[tuple[Action, str]] = field(default_factory=list)
    journal: str | None = None
    undoable: int = 0
    frees_nothing: int = 0
    damaged: Sequence[int] = ()
    trouble: str | None = None
    is_interrupted: bool = False

    def did(self, action: Action) -> None:
        """Count an action that was done."""
        self.done += 1
        self.undoable += action.act.can_come_back

    @property
    def left(self) -> int:
        """How many actions were neither done nor refused."""
        return self.planned - self.done - len(self.refused)

    @property
    def code(self) -> int:
        """The exit code of the run."""
        if self.trouble is not None:
            return JOURNAL_FAILED
        if self.is_interrupted:
            return INTERRUPTED
        return SOME_REFUSED if self.refused or self.damaged else 0
