"""The outcome of a plan or of an undo."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from simdup.clean.records import Act
from simdup.interrupt import INTERRUPTED

if TYPE_CHECKING:
    from simdup.clean.records import Action

#: Exit codes besides 0 and INTERRUPTED: some files were left as they are; the journal failed.
SOME_REFUSED, JOURNAL_FAILED = 3, 4


@dataclass(slots=True)
class Outcome:
    """How many files were planned, done, refused and left: the last three add up to the first."""

    planned: int
    done: int = 0
    refused: list[tuple[Action, str]] = field(default_factory=list)
    """Each action that was refused, and why."""
    journal: str | None = None
    """Where the journal is; None if nothing was to be done."""
    undoable: int = 0
    """How many of the done files can be put back by `simdup undo`: all but deleted files and files
    that only share blocks now."""
    bytes: int = 0
    """The size of the files that were done."""
    frees_nothing: int = 0
    """How many of the done files have other names, so that their space stays in use."""
    notes: list[str] = field(default_factory=list)
    """Other deviations from the plan, in words for people."""
    trouble: str | None = None
    """Why the journal could not be written, so that the run stopped."""
    is_interrupted: bool = False

    def did(self, action: Action) -> None:
        """Count an action that was done."""
        self.done += 1
        self.undoable += action.act not in {Act.DELETE, Act.REFLINK}
        self.bytes += action.file.size

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
        return SOME_REFUSED if self.refused or self.notes else 0
