"""Acts on a plan: each file is noted in the journal, checked, and then moved or removed.

Actions are taken in batches. The journal on the disk says what a batch is going to do before the
first of its files is touched, and what the batch did before the next one begins. So the journal of
a killed run lacks the outcome of at most one batch; `simdup.clean.settle` finds it out.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from errno import EACCES, ENOTDIR
from itertools import islice
from typing import TypeAlias, TypeVar

from simdup.clean.acting import Acting
from simdup.clean.checks import Held, Reading, check_paths, check_same, held
from simdup.clean.journal import Intent, Journal, JournalFailedError, begun, locked
from simdup.clean.outcome import Outcome, RefusedError, refused_by
from simdup.clean.plan import Act, Action, Consents, FileId, Plan
from simdup.clean.protection import as_it_is
from simdup.clean.refusals import Refusal
from simdup.clean.system import HAS_FOLDERS
from simdup.clean.terms import consent_refusal
from simdup.clean.trash import check_installed
from simdup.errors import InputError
from simdup.progress import Progress, silent
from simdup.storage.opening import reason_of

Item = TypeVar("Item")

#: The number of intents synced together: after a power cut at most so many files are in doubt.
BATCH = 64

# How often another name is tried for a file whose name in the trash is taken at the last moment.
_TRIES = 8


def apply(
    plan: Plan,
    consents: Consents,
    *,
    journal: str | os.PathLike[str] | None = None,
    to: str | os.PathLike[str] | None = None,
    progress: Progress = silent,
) -> Outcome:
    """Act on a plan, and return the outcome.

    `to` is the folder for `Act.MOVE`, made if missing, and the consent to it. `journal` names the
    journal; None: a new one in the usual folder. Raises InputError, with nothing changed, if the
    run cannot begin.
    """
    if not plan.actions:
        return Outcome(0)
    folder = prepared(plan.actions, to)
    with locked(journal, plan.header.roots):
        # Acting, the journal and its undo know files by their present inodes.
        actions = [replace(a, file=as_it_is(a.file), keep=as_it_is(a.keep)) for a in plan.actions]
        with closing(begun(journal, plan.header, actions, to=folder)) as opened:
            outcome = Outcome(len(actions), journal=opened.path)
            run = Run(actions, plan.header.roots, consents, outcome, opened, folder)
            run.take(actions, progress)
    return outcome


def prepared(actions: Iterable[Action], to: str | os.PathLike[str] | None) -> str | None:
    """Return the folder for moved files, without links in its path. Raises InputError."""
    acts = {each.act for each in actions}
    if Act.TRASH in acts:
        check_installed()
    if not HAS_FOLDERS and acts != {Act.TRASH}:
        raise InputError("on this system files can only go to the bin")
    if Act.MOVE not in acts:
        return None
    if to is None:
        raise InputError("the plan moves files: --to DIR says where")
    folder = os.path.realpath(to)
    _check_target(folder)
    return folder


def _check_target(folder: str) -> None:
    """Raise InputError if the folder for moved files is not there and cannot be made."""
    above = folder
    while not os.path.lexists(above):
        above = os.path.dirname(above)
    if os.path.isdir(above) and os.access(above, os.W_OK | os.X_OK):
        return
    why = os.strerror(EACCES if os.path.isdir(above) else ENOTDIR)
    if above == folder and not os.path.isdir(above):
        why = "not a folder"
    raise InputError(f"cannot move files to {folder!r}: {why}")


#: Says whether Ctrl-C or a signal has come, so that the run ends after the file under way.
Stop: TypeAlias = Callable[[], bool]


@contextmanager
def _stopping() -> Iterator[Stop]:
    """Note Ctrl-C and signals to end instead of obeying them; yield a `Stop` that tells."""
    asked: list[int] = []
    restored: dict[int, object] = {}
    if threading.current_thread() is threading.main_thread():
        for name in ("SIGINT", "SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
                restored[number] = signal.signal(number, lambda got, _: asked.append(got))
    try:
        yield lambda: bool(asked)
    finally:
        for number, before in restored.items():
            signal.signal(number, before)  # type: ignore[arg-type]


def in_batches(
    waiting: Iterable[Item], take: Callable[[Sequence[Item], Stop], None], outcome: Outcome
) -> None:
    """Take a batch at a time; end early on a signal or without a journal, and note that."""
    found = iter(waiting)
    with _stopping() as stop:
        try:
            while (batch := list(islice(found, BATCH))) and not stop():
                take(batch, stop)
        except JournalFailedError as failed:
            outcome.trouble = str(failed)
        outcome.is_interrupted = stop()


@dataclass
class Run:
    """The state of a run: what it may do, what it changed itself, and the kept file it holds.

    every: All actions of the plan, which say what goes; `take` acts on all or some of them.
    to: The folder for `Act.MOVE`.
    """

    every: Sequence[Action]
    roots: Sequence[str]
    consents: Consents
    outcome: Outcome
    journal: Journal
    to: str | None

    def __post_init__(self) -> None:
        """Note which files go."""
        self.consents = replace(self.consents, to=self.to is not None)
        self.acting = Acting(self.every, self.to)
        self._going_paths = {each.file.path: each.line for each in self.every}
        self._going_files = {each.file.identity: each.line for each in self.every}
        self._kept: Held | None = None
        self._reading = Reading(self.consents.encoding)

    def take(self, actions: Sequence[Action], progress: Progress) -> None:
        """Act on these actions, a batch at a time; ends early on a signal or without a journal."""
        waiting = progress(actions, "Cleaning", len(actions))
        with closing(self._reading), closing(self.acting):
            in_batches(waiting, self._batch, self.outcome)

    def _batch(self, batch: Sequence[Action], stop: Stop) -> None:
        intents = [(each, intent) for each in batch if (intent := self._intent(each))]
        self.journal.sync()
        try:
            for action, intent in intents:
                if stop():
                    self.journal.leave(action.line)
                else:
                    self._one(action, intent)
        finally:
            self._let_go()
            try:
                self.acting.sync()
            except OSError as error:
                raise JournalFailedError(f"folders cannot be synced: {reason_of(error)}") from None
            self.journal.sync()

    def _intent(self, action: Action) -> Intent | None:
        """Return where the file of an action will be, or None after refusing the action."""
        try:
            check_paths(action, self.roots)
            if why := consent_refusal(action, self.consents):
                raise RefusedError(Refusal.NOT_ALLOWED, str(why))  # noqa: TRY301
            self._check_union(action)
            intent = self.acting.intent(action)
        except (RefusedError, OSError, ValueError) as error:
            self._refuse(action, error)
            return None
        self.journal.intend(intent)
        return intent

    def _check_union(self, action: Action) -> None:
        """Raise RefusedError if the kept file of an action is itself to go."""
        keep = action.keep
        line = self._going_paths.get(keep.path)
        if line is None and keep.inode:
            line = self._going_files.get(keep.identity)
        if line is not None:
            same = keep.identity == action.file.identity
            refusal = Refusal.SAME_FILE if same else Refusal.KEPT_GOES
            raise RefusedError(refusal, "" if same else f"by line {line}")

    def _one(self, action: Action, intent: Intent) -> None:
        """Check and act on one file, and note what came of it."""
        try:
            kept = self._hold(action.keep)
            with closing(held(action.file)) as file:
                if file.identity == kept.identity:
                    raise RefusedError(Refusal.SAME_FILE)  # noqa: TRY301
                check_same(action, (file, kept), self.consents, self._reading)
                self._act(action, intent, file, kept)
        except (RefusedError, OSError) as error:
            self._refuse(action, error)

    def _act(self, action: Action, intent: Intent, file: Held, kept: Held) -> None:
        for tries in range(1, _TRIES + 1):
            file.check_unchanged()
            kept.check_unchanged()
            try:
                done = self.acting.act(action, intent, file, kept)
            except FileExistsError:
                intent = self.acting.intent(action, tries)
                self.journal.intend(intent)
                self.journal.sync()
                continue
            self.journal.finish(done)
            self.outcome.did(action)
            self.outcome.frees_nothing += file.status.st_nlink > 1 and action.act is not Act.LINK
            return
        raise RefusedError(Refusal.NAME_TAKEN, intent.target)

    def _hold(self, file: FileId) -> Held:
        """Return the kept file, open; it stays open while the next actions keep it too."""
        if self._kept is not None and self._kept.file == file:
            self._kept.check_unchanged()
            return self._kept
        self._let_go()
        kept = held(file, is_kept=True)
        try:
            _check_unlocked(kept)
        except RefusedError:
            kept.close()
            raise
        self._kept = kept
        return kept

    def _let_go(self) -> None:
        if self._kept is not None:
            self._kept.close()
            self._kept = None

    def _refuse(self, action: Action, error: RefusedError | OSError | ValueError) -> None:
        why = str(refused_by(error))
        self.outcome.refused.append((action, why))
        self.journal.refuse(action.line, why)


def _check_unlocked(kept: Held) -> None:
    """Lock the kept file against writers that ask for locks. Raises RefusedError if one has."""
    with suppress(ImportError, OSError):  # Windows, or a file system without locks
        import fcntl  # noqa: PLC0415

        try:
            fcntl.lockf(kept.descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            raise RefusedError(Refusal.KEPT_LOCKED) from None
