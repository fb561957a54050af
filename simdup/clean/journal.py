"""Journals: they say on the disk what a run is about to do, and then what it has done.

A journal is JSON Lines: `begin`, a `planned` line for each action, and then for each action an
`intent`, synced before it is acted on, and a `done`, a `refused` or a `left`. Each line begins
with its CRC, so that a torn or damaged line is told from a whole one. Lines are only ever added.
"""

from __future__ import annotations

import json
import os
import re
from binascii import crc32
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime, timezone
from itertools import count
from pathlib import Path
from typing import Any

from simdup.clean import plan as plans
from simdup.clean.plan import Action, Header, action_fields, header_fields
from simdup.clean.system import NO_LINK, Place, sync_folder, write_all
from simdup.errors import InputError
from simdup.fields import Fields, WrongFieldError, path_fields, printable
from simdup.records import MOST_TIME_NS
from simdup.storage import opening
from simdup.storage.home import usual_place
from simdup.storage.opening import open_to_read, reason_of

#: Increased when the meaning of a line changes.
VERSION = 1

_LINE_BEGINS = b'{"crc": "'
_LINE = re.compile(rb'\{"crc": "([0-9a-f]{8})", (.*)\}\n', re.DOTALL)


class JournalFailedError(Exception):
    """The journal cannot be written: nothing more may be done. The message says why."""


@dataclass(frozen=True, slots=True)
class Intent:
    """The next step with the file of an action, noted before it is taken.

    line: The line of the action in its plan.
    target: Where the file will be; the path of the file itself if it stays where it is.
    folder_ns: The mtime of the file's folder before the step.
    trash: The trash folder that `target` is in.
    top: The folder that paths in that trash are relative to; None: they are absolute.
    aside: A free name for a file that is between two names for a moment.
    made: Folders that will be made for `target`, the highest first.
    there_ns: The mtime of the folder `there` before the step.
    mode: The permissions of a file that may go to a file system that cannot keep them; 0: unknown.
    """

    line: int
    target: str
    folder_ns: int
    trash: str | None = None
    top: str | None = None
    aside: str = ""
    made: tuple[str, ...] = ()
    there_ns: int = 0
    mode: int = 0

    @property
    def there(self) -> str:
        """The folder in which `target` gets its name, or the first folder made for it."""
        return os.path.dirname(self.made[0] if self.made else self.target)


@dataclass(frozen=True, slots=True)
class Done:
    """What was done with the file of an action.

    inode: Device and inode of the file at the target, or at its old path if that is a link now.
    ctime_ns: The ctime of the file; 0 if unknown.
    folder_ns: The mtime of the file's folder after the step; 0 if unknown.
    there_ns: The mtime of `Intent.there` after the step; 0 if unknown.
    mtime_ns: The mtime of a copy, as its file system keeps it; 0 if the file was not copied.
    """

    line: int
    device: int
    inode: int
    ctime_ns: int
    folder_ns: int
    there_ns: int = 0
    mtime_ns: int = 0


@dataclass(slots=True)
class Story:
    """What a journal says of one action.

    made: Folders that were made for the file, also by tries before the last.
    before: The mtimes of the folders in which names came or went, before the first try.
    """

    action: Action
    intent: Intent | None = None
    done: Done | None = None
    refused: str | None = None
    made: set[str] = field(default_factory=set)
    before: dict[str, int] = field(default_factory=dict)

    @property
    def folder(self) -> str:
        """The folder of the file."""
        return os.path.dirname(self.action.file.path)

    @property
    def after(self) -> dict[str, int]:
        """The mtimes of these folders right after the file was done, as far as they are known."""
        if self.intent is None or self.done is None:
            return {}
        return {self.intent.there: self.done.there_ns} | {self.folder: self.done.folder_ns}


@dataclass(slots=True)
class History:
    """What a whole journal says.

    path: Absolute.
    to: The folder of `Act.MOVE`.
    undoes: The journal whose actions this one undid; None: it acted on a plan.
    stories: By the line of the action in its plan, in the order in which they were planned.
    damaged: Numbers of lines that are not as they were written.
    whole: The size without a last line that was cut off when the run was killed, in bytes.
    """

    path: str
    header: Header
    to: str | None
    undoes: str | None
    stories: dict[int, Story] = field(default_factory=dict)
    damaged: list[int] = field(default_factory=list)
    whole: int = 0

    @property
    def acted(self) -> list[Story]:
        """What is told of the actions that changed a file, or may have if the run was killed."""
        told = self.stories.values()
        return [each for each in told if each.intent is not None and each.refused is None]

    @property
    def waiting(self) -> list[Story]:
        """What is told of the actions that are neither done nor refused."""
        told = self.stories.values()
        return [each for each in told if each.done is None and each.refused is None]


def default_folder() -> Path:
    """Return the folder of journals: SIMDUP_JOURNALS, or in the system's folder for data.

    Raises NoHomeError.
    """
    return Path(usual_place("data", "journals", "SIMDUP_JOURNALS"))


class Journal:
    """A journal that is being written; `close` it."""

    def __init__(self, path: str, descriptor: int) -> None:
        """Write to an open file; see `begun` and `continued`."""
        self.path, self._descriptor = path, descriptor
        self._waiting: list[bytes] = []

    def planned(self, action: Action) -> None:
        """Add an action of the plan."""
        self._add("planned", {"line": action.line, "plan": action_fields(action)})
        if len(self._waiting) >= 1024:
            self.sync(at_once=False)

    def intend(self, intent: Intent) -> None:
        """Add what is going to be done; nothing may be done before `sync`."""
        given: dict[str, Any] = {"line": intent.line, **path_fields(intent.target, "target")}
        given |= {name: getattr(intent, name) for name in ("folder_ns", "there_ns", "mode")}
        for name in ("trash", "top", "aside"):
            if path := getattr(intent, name):
                given |= path_fields(path, name)
        if intent.made:
            given["made"] = [path_fields(each) for each in intent.made]
        self._add("intent", given)

    def finish(self, done: Done) -> None:
        """Add what has been done."""
        file = [done.device, done.inode, done.ctime_ns]
        times = {name: getattr(done, name) for name in _TIMES}
        self._add("done", {"line": done.line, "file": file, **times})

    def refuse(self, line: int, why: str) -> None:
        """Add that the file of an action was left as it is."""
        self._add("refused", {"line": line, "why": printable(why)})

    def leave(self, line: int) -> None:
        """Add that nothing came of an intent, since the run was asked to end."""
        self._add("left", {"line": line})

    def _add(self, event: str, fields: dict[str, Any]) -> None:
        whole = json.dumps({"event": event, **fields}, ensure_ascii=False, allow_nan=False)
        rest = whole[1:].encode("utf-8")  # the CRC comes before it
        self._waiting.append(b'{"crc": "%08x", %s\n' % (crc32(rest[:-1]), rest))

    def sync(self, *, at_once: bool = True) -> None:
        """Write everything added so far; `at_once` to the disk. Raises JournalFailedError."""
        data, self._waiting = b"".join(self._waiting), []
        try:
            write_all(self._descriptor, data)
            if at_once:
                os.fsync(self._descriptor)
        except OSError as error:
            raise JournalFailedError(f"{self.path!r}: {reason_of(error)}") from None

    def close(self) -> None:
        """Close the file, without what was added after the last `sync`."""
        os.close(self._descriptor)


def begun(
    place: str | os.PathLike[str] | None,
    header: Header,
    actions: Sequence[Action],
    *,
    to: str | None = None,
    undoes: str | None = None,
) -> Journal:
    """Return a new journal with a plan in it, on the disk. Raises InputError.

    `place` names the file, which must not be there; None: a new one in the usual folder, which
    `locked` makes.
    """
    journal = _created(place, "-undo" if undoes else "")
    journal._add(  # noqa: SLF001  (the functions that make one)
        "begin",
        {
            "simdup": "journal",
            "version": VERSION,
            "made": datetime.now(timezone.utc).isoformat(timespec="seconds"),
            "user": _user(),
            "plan": header_fields(header),
        }
        | ({} if to is None else path_fields(to, "to"))
        | ({} if undoes is None else path_fields(undoes, "undoes")),
    )
    try:
        for each in actions:
            journal.planned(each)
        journal.sync()
    except JournalFailedError as failed:
        journal.close()
        with suppress(OSError):
            os.unlink(journal.path)
        raise InputError(str(failed)) from None
    return journal


def continued(history: History) -> Journal:
    """Return the journal that was read, to add to it. Raises InputError.

    A line that was cut off when the run was killed is cut away.
    """
    try:
        descriptor = os.open(history.path, os.O_WRONLY | os.O_APPEND | NO_LINK)
        os.ftruncate(descriptor, history.whole)
    except OSError as error:
        raise InputError(f"{history.path!r}: {reason_of(error)}") from None
    return Journal(history.path, descriptor)


def _created(place: str | os.PathLike[str] | None, tail: str) -> Journal:
    """Return an empty journal. Raises InputError."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | NO_LINK
    try:
        folder = os.path.dirname(os.path.abspath(place)) if place else str(default_folder())
        stem = f"{datetime.now().astimezone():%Y-%m-%dT%H%M%S}-{os.getpid()}"
        names = (f"{stem}-{number}" if number > 1 else stem for number in count(1))
        paths = (os.path.join(folder, f"{name}{tail}.jsonl") for name in names)
        path = os.fspath(place or next(each for each in paths if not os.path.lexists(each)))
        descriptor = os.open(path, flags, 0o600)
        with closing(Place.of(os.path.realpath(path))) as made:
            sync_folder(made.folder)
    except (OSError, ValueError) as error:
        raise InputError(
            f"cannot make the journal {os.fspath(place or folder)!r}: {reason_of(error)}"
        ) from None
    return Journal(os.path.abspath(path), descriptor)


@contextmanager
def locked(journal: str | os.PathLike[str] | None, roots: Iterable[str]) -> Iterator[None]:
    """Keep other runs out of the folder of journals and these roots. Raises InputError at once.

    A root that is no folder, or that nobody may read, is not locked: its files are refused one by
    one.
    """
    folder = os.path.dirname(os.path.abspath(journal)) if journal else str(default_folder())
    readable = [each for each in roots if os.path.isdir(each) and os.access(each, os.R_OK)]
    with ExitStack() as held:
        try:
            if journal is None:
                os.makedirs(folder, mode=0o700, exist_ok=True)
            held.enter_context(opening.locked([folder, *readable], is_waiting=False))
        except BlockingIOError:
            raise InputError("another `simdup clean` or `undo` is under way here") from None
        except OSError as error:
            raise InputError(f"{error.filename or folder!r}: {reason_of(error)}") from None
        yield


def _user() -> int:
    return os.getuid() if hasattr(os, "getuid") else 0


def read_journal(path: str) -> History:
    """Return what a journal says. Raises InputError for one of another user.

    A line that is damaged is noted in `damaged`, and the others count without it.
    """
    try:
        with open(open_to_read(path), "rb") as file:
            if hasattr(os, "getuid") and os.fstat(file.fileno()).st_uid != os.getuid():
                raise InputError(f"{path!r} is the journal of another user")
            return _history(file, path)
    except (OSError, ValueError) as error:
        raise InputError(f"{path!r}: {reason_of(error)}") from None


def last_runs(most: int) -> list[tuple[History, list[Action]]]:
    """The last runs that acted on files, newest first, each with what can still be undone of it.

    They are the runs on plans whose journals are in the default folder. Journals that cannot be
    read are passed over.
    """
    found, undone = list[History](), defaultdict[str, set[int]](set)
    for path in sorted(default_folder().glob("*.jsonl"), reverse=True):
        with suppress(InputError):
            history = read_journal(str(path))
            if history.undoes is not None:  # the line of an action is that in the plan here, too
                done = (line for line, story in history.stories.items() if story.done)
                undone[history.undoes].update(done)
            elif history.acted:
                found.append(history)
        if len(found) == most:
            break
    return [(run, list(_undoable(run, undone[run.path]))) for run in found]


def _undoable(run: History, undone: set[int]) -> Iterator[Action]:
    for action in (story.action for story in run.acted):
        if action.act.can_come_back and action.line not in undone:
            yield action


def _history(lines: Iterable[bytes], path: str) -> History:
    numbered = enumerate(lines, 1)
    _, first = next(numbered, (1, b""))
    try:
        history = _begin(_event(first), path)
    except WrongFieldError as wrong:
        raise InputError(f"{path!r}, line 1: no journal: {wrong}") from None
    history.path, history.whole = os.path.abspath(path), len(first)
    for number, line in numbered:
        if not line.endswith(b"\n"):
            break
        history.whole += len(line)
        try:
            _tell(_event(line), history)
        except WrongFieldError:
            history.damaged.append(number)
    return history


def _event(line: bytes) -> Fields:
    """Return the object in a line. Raises WrongFieldError for a line that is not as written."""
    if not line.startswith(_LINE_BEGINS):
        raise WrongFieldError("`simdup clean --apply` writes no such line")
    found = _LINE.fullmatch(line)
    if found is None or int(found[1], 16) != crc32(found[2]):
        raise WrongFieldError("it is damaged")
    return plans.json_object(b"{" + found[2] + b"}")


def _begin(fields: Fields, path: str) -> History:
    if fields.value.get("event") != "begin" or fields.value.get("simdup") != "journal":
        raise fields.wrong("simdup", "must be 'journal'")
    if (version := fields.count("version")) != VERSION:
        raise fields.wrong("version", f"is {version}, and only {VERSION} is known")
    if fields.count("user") != _user():
        raise InputError(f"{path!r} is the journal of another user")
    header = plans.header_of(fields.inner("plan"))
    named = {key: fields.maybe(key, fields.path) for key in ("to", "undoes")}
    return History(path, header, named["to"], named["undoes"])


def _tell(fields: Fields, history: History) -> None:
    """Add what one line says to a history. Raises WrongFieldError."""
    event, line = fields.text("event"), fields.count("line")
    if event == "planned":
        if line in history.stories:
            raise fields.wrong("line", "is there twice")
        history.stories[line] = Story(plans.action_of(fields.inner("plan"), line))
        return
    if (story := history.stories.get(line)) is None:
        raise fields.wrong("line", "is not planned")
    match event:
        case "intent":
            _tell_intent(fields, story)
        case "done":
            _tell_done(fields, story)
        case "refused":
            story.refused = fields.text("why")
        case "left":
            story.intent = None
        case _:
            raise fields.wrong("event", "is unknown")


def _tell_intent(fields: Fields, story: Story) -> None:
    paths = {key: fields.path(key) for key in ("trash", "top", "aside") if fields.has(key)}
    made = fields.paths("made") or ()
    line, target = story.action.line, fields.path("target")
    folder_ns, there_ns = (_time(fields, name) for name in ("folder_ns", "there_ns"))
    mode = fields.known("mode", most=0o7777)
    intent = Intent(line, target, folder_ns, **paths, made=made, there_ns=there_ns, mode=mode)
    story.intent, story.done, story.refused = intent, None, None
    # After the first try, folders may have been made, and others have new times.
    story.made |= {*made}
    for folder, before_ns in ((story.folder, folder_ns), (intent.there, there_ns)):
        story.before.setdefault(folder, before_ns)


def _tell_done(fields: Fields, story: Story) -> None:
    file = fields.numbers("file")
    if len(file) != 3 or story.intent is None:
        raise fields.wrong("file", "must be device, inode, ctime_ns")
    story.done = Done(story.action.line, *file, *(_time(fields, name) for name in _TIMES))


# The times in a `done`.
_TIMES = ("folder_ns", "there_ns", "mtime_ns")


def _time(fields: Fields, name: str) -> int:
    return fields.known(name, -MOST_TIME_NS, MOST_TIME_NS)
