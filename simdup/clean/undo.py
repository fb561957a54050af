"""Puts the files of a journal back where they were, or finishes the run of the journal."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import closing, suppress

from simdup.clean import journal as journals
from simdup.clean.acting import remove_folders
from simdup.clean.apply import Run, Stop, in_batches, prepared
from simdup.clean.journal import Done, History, Intent, Journal, Story
from simdup.clean.outcome import Outcome, RefusedError
from simdup.clean.plan import Action, Consents
from simdup.clean.settle import Settler
from simdup.clean.system import open_folder
from simdup.errors import InputError
from simdup.progress import Progress, silent


def undo(
    path: str | os.PathLike[str],
    *,
    apply: bool,
    journal: str | os.PathLike[str] | None = None,
    progress: Progress = silent,
) -> Outcome:
    """Put back the files of a run, the last one first, and return the outcome.

    Without `apply` nothing is changed, and `Outcome.done` counts the files that could be put back.
    Files that are at their place already count as `left`. Raises InputError for a journal that
    cannot be read or is of another user.
    """
    history = _history(path)
    stories = history.acted[::-1]
    outcome = Outcome(len(stories), damaged=history.damaged)
    with closing(Settler(history)) as settler:
        if not apply:
            for story in stories:
                _put_back(story, settler, outcome, act=False)
        elif stories:
            with journals.locked(journal, history.header.roots):
                actions = [each.action for each in stories]
                opened = journals.begun(journal, history.header, actions, undoes=history.path)
                outcome.journal = opened.path
                with closing(opened):
                    _undo(stories, settler, opened, outcome, progress)
    return outcome


def _history(path: str | os.PathLike[str]) -> History:
    history = journals.read_journal(os.fspath(path))
    if history.undoes is not None:
        raise InputError(f"{history.path!r} is the journal of an undo: clean again to act again")
    return history


def _undo(
    stories: Sequence[Story],
    settler: Settler,
    journal: Journal,
    outcome: Outcome,
    progress: Progress,
) -> None:
    folders = _Folders(stories)

    def put_back(batch: Sequence[Story], stop: Stop) -> None:
        for story in batch:
            journal.intend(Intent(story.action.line, story.action.file.path, 0))
        journal.sync()
        for story in batch:
            if not stop() and _put_back(story, settler, outcome, act=True):
                folders.note(story)
                file = story.action.file
                journal.finish(Done(story.action.line, *file.identity, file.ctime_ns, 0))
        journal.sync()

    in_batches(progress(stories, "Putting back", len(stories)), put_back, outcome)
    folders.restore()


def _put_back(story: Story, settler: Settler, outcome: Outcome, *, act: bool) -> bool:
    """Put one file back, and count the outcome; False if that was refused."""
    try:
        if settler.put_back(story, act=act):
            outcome.done += 1
    except RefusedError as refused:
        outcome.refused.append((story.action, str(refused)))
        return False
    return True


class _Folders:
    """The folders that the run made or changed, to leave them as they were before it."""

    def __init__(self, stories: Sequence[Story]) -> None:
        """Note the mtimes of the folders of these files; `stories` has the last file first."""
        self._made: set[str] = set()
        self._before: dict[str, int] = {}
        self._changed: set[str] = set()
        self._waiting = Counter(folder for story in stories for folder in story.before)
        for story in stories:
            for folder, after_ns in story.after.items():
                # Where a killed run acted last, nobody can tell its change from somebody else's.
                if folder not in self._before and after_ns:
                    with suppress(OSError):
                        if os.lstat(folder).st_mtime_ns != after_ns:
                            self._changed.add(folder)
            self._before |= story.before  # the first file of the run comes last

    def note(self, story: Story) -> None:
        """Take note of a file that is at its place."""
        self._waiting.subtract(list(story.before))
        self._made |= story.made

    def restore(self) -> None:
        """Remove the folders made for the files, if they are empty now, and restore mtimes.

        The mtime is restored of each folder that has all files back and nobody else changed.
        """
        remove_folders(self._made)
        for folder, before_ns in self._before.items():
            if before_ns and not self._waiting[folder] and folder not in self._changed:
                with suppress(OSError, ValueError):
                    _restore_time(folder, before_ns)


def _restore_time(folder: str, mtime_ns: int) -> None:
    descriptor = open_folder(folder)
    try:
        os.utime(descriptor, ns=(os.fstat(descriptor).st_atime_ns, mtime_ns))
    finally:
        os.close(descriptor)


def remaining(path: str | os.PathLike[str]) -> list[Action]:
    """Return the actions of a journal that are neither done nor refused. Raises InputError."""
    return [each.action for each in _history(path).waiting]


def resume(
    path: str | os.PathLike[str],
    consents: Consents,
    *,
    to: str | os.PathLike[str] | None = None,
    progress: Progress = silent,
) -> Outcome:
    """Finish a run that ended too early, in the same journal, and return the outcome.

    Only actions that the journal calls neither done nor refused are counted. `to` is the folder for
    `Act.MOVE`, which must be the one of the journal. Raises InputError as `undo` does.
    """
    history = _history(path)
    with journals.locked(history.path, history.header.roots):
        history = _history(path)  # nobody adds to it now
        stories = history.waiting
        folder = prepared([each.action for each in stories], to)
        if folder not in {None, history.to}:
            raise InputError(f"{history.path!r}: moves files to {history.to!r}, not to {folder!r}")
        outcome = Outcome(len(stories), journal=history.path, damaged=history.damaged)
        with closing(journals.continued(history)) as journal:
            try:
                _settle(history, stories, journal, outcome)
            except journals.JournalFailedError as failed:
                outcome.trouble = str(failed)
                return outcome
            every = [each.action for each in history.stories.values()]
            run = Run(every, history.header.roots, consents, outcome, journal, folder)
            run.take([each.action for each in history.waiting], progress)
    return outcome


def _settle(history: History, stories: Iterable[Story], journal: Journal, outcome: Outcome) -> None:
    """Find out how intents ended where the journal does not say; undo half-done steps."""
    with closing(Settler(history)) as settler:
        for story in stories:
            if story.intent is None:
                continue
            action = story.action
            if (done := settler.done_there(story)) is not None:
                story.done = done
                journal.finish(done)
                outcome.did(action)
                continue
            try:
                settler.put_back(story)
                journal.leave(action.line)
            except RefusedError as refused:
                story.refused = str(refused)
                journal.refuse(action.line, story.refused)
                outcome.refused.append((action, story.refused))
    journal.sync()
