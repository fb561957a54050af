"""The outcome of a plan or of an undo, and why files were left as they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from simdup.clean.plan import Action
from simdup.clean.refusals import Refusal
from simdup.interrupt import INTERRUPTED
from simdup.storage.opening import reason_of


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
