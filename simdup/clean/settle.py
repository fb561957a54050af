"""Puts files of a journal back where they were, each checked to be as simdup left it.

A journal is not trusted: a file is moved back only if it lies where simdup puts files,
has the inode, the times and the bytes that the journal gives, and nothing has its old name.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import closing, contextmanager, suppress
from typing import TYPE_CHECKING

from simdup.clean.acting import remove
from simdup.clean.checks import Held
from simdup.clean.copying import copy_to, digest_of_open
from simdup.clean.records import Act
from simdup.clean.refusals import Refusal, RefusedError
from simdup.clean.rules import is_under
from simdup.clean.system import Place, exchange, rename_new, sync_folder
from simdup.clean.trash import Trashes, is_trash
from simdup.storage.opening import identity_of, reason_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from simdup.clean.journal import History, Intent, Story
    from simdup.clean.records import FileId


class Settler:
    """Puts files back; `close` it."""

    def __init__(self, history: History) -> None:
        """Prepare for the files of a journal."""
        self._history = history
        self._trashes = Trashes()
        self._names: dict[tuple[int, int], list[str]] = {}
        for story in history.stories.values():
            if story.action.act is Act.LINK:
                file = story.action.file
                self._names.setdefault(file.identity, []).append(file.path)

    def put_back(self, story: Story, *, act: bool = True) -> bool:
        """Put the file of an action back; False if it is where it was already.

        Without `act`, only check whether that is possible. Raises RefusedError.
        """
        intent, file = story.intent, story.action.file
        if intent is None or story.action.act is Act.REFLINK:
            return False
        try:
            self._check_paths(story, intent)
            with _place(file.path) as place:
                if story.action.act is Act.LINK:
                    return self._unlinked(story, intent, place, act=act)
                return self._moved_back(story, intent, place, act=act)
        except FileExistsError:
            raise RefusedError(Refusal.NAME_TAKEN) from None
        except ValueError:
            raise RefusedError(Refusal.BAD_PATH) from None
        except OSError as error:
            raise RefusedError(Refusal.FAILED, reason_of(error)) from None

    def identity_there(self, story: Story) -> tuple[int, int] | None:
        """Device and inode of the file where the intent wants it; None unless all of it is done."""
        file, intent, keep = story.action.file, story.intent, story.action.keep
        if intent is None:
            return None
        try:
            self._check_paths(story, intent)
            with _place(file.path) as place, _place(intent.target) as target:
                aside = place.beside(intent.aside)
                if story.action.act is Act.LINK:
                    kept = keep.identity
                    return kept if _is(place, kept) and not aside.exists() else None
                if story.action.act not in {Act.TRASH, Act.MOVE} or place.exists():
                    return None
                if story.action.act is Act.MOVE and aside.exists():
                    return None
                with closing(_opened(target, file)) as found:
                    return found.identity if _as_left(found) else None
        except (RefusedError, OSError, ValueError):
            return None

    def _check_paths(self, story: Story, intent: Intent) -> None:
        """Raise RefusedError for an intent that simdup cannot have written."""
        act, path = story.action.act, story.action.file.path
        if act is Act.TRASH and intent.trash is None:
            raise RefusedError(Refusal.IN_BIN)
        is_inside = any(is_under(path, root) for root in self._history.header.roots)
        if not (is_inside and self._is_possible(act, path, intent)):
            raise RefusedError(Refusal.BAD_PATH, intent.target)

    def _is_possible(self, act: Act, path: str, intent: Intent) -> bool:
        """Whether a run could put the file with this path where the intent says."""
        aside, trash, to = intent.aside, intent.trash or "", self._history.to
        if act is Act.TRASH:
            files = os.path.join(trash, "files")
            return is_trash(trash, intent.top) and os.path.dirname(intent.target) == files
        if not aside.startswith(".simdup-") or "/" in aside:
            return False
        if act is Act.MOVE:
            places = intent.target, *intent.made
            return to is not None and all(is_under(each, to) for each in places)
        own = os.path.join(os.path.dirname(path), aside)
        return intent.target == (own if act is Act.DELETE else path)

    def _moved_back(self, story: Story, intent: Intent, place: Place, *, act: bool) -> bool:
        """Put back a file that was moved, or was going to be; False if it is at its place."""
        file = story.action.file
        if _is(place, file.identity):
            if act:
                self._clean_up(story, intent, place)
            return False
        if story.action.act is Act.MOVE:
            if self._from_aside(file, intent, place, act=act):
                return True
            if place.exists():
                self._is_back(story, place)
                if act:
                    self._clean_up_copy(intent, place, file)
                return False
        try:
            self._from_target(story, intent, place, act=act)
        except FileNotFoundError:
            self._is_back(story, place)
            return False
        return True

    def _from_target(self, story: Story, intent: Intent, place: Place, *, act: bool) -> None:
        """Put back what lies at the target. Raises FileNotFoundError if nothing does."""
        file, done = story.action.file, story.done
        with _place(intent.target) as target, closing(_opened(target, file)) as found:
            known = {file.identity} if done is None else {(done.device, done.inode)}
            if done is None and story.action.act is Act.MOVE:
                known.add(found.identity)  # it may be a copy, whose inode the journal does not have
            if found.identity not in known or not _as_left(found):
                raise RefusedError(Refusal.NOT_AS_LEFT, intent.target)
            _check_free(place)
            if act:
                self._return(found, target, place, intent)
        if act:
            self._forget(story, intent)

    def _from_aside(self, file: FileId, intent: Intent, place: Place, *, act: bool) -> bool:
        """Put back a file that was copied and about to be removed; False if there is none."""
        aside = place.beside(intent.aside)
        if not _is(aside, file.identity):
            return False
        if act:
            rename_new(aside, place)
            self._clean_up_copy(intent, place, file)
        return True

    def _return(self, found: Held, target: Place, place: Place, intent: Intent) -> None:
        """Move a file back, by a copy if it is on another file system."""
        try:
            rename_new(target, place)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            part = _part(intent, place)
            _remove_part(part)
            os.close(copy_to(found.descriptor, part, found.file.byte_digest))
            try:
                rename_new(part, place)
            except BaseException:
                part.unlink()
                raise
            sync_folder(place.folder)
            with closing(_opened(place, found.file)) as back:
                remove(found, back, target.beside(intent.aside))
        sync_folder(place.folder)
        sync_folder(target.folder)

    def _is_back(self, story: Story, place: Place) -> None:
        """Raise RefusedError unless a copy that an undo made is at the place of the file."""
        with suppress(FileNotFoundError), closing(_opened(place, story.action.file)) as found:
            if _as_left(found):
                return
            raise RefusedError(Refusal.NAME_TAKEN)
        is_deleted = story.action.act is Act.DELETE
        raise RefusedError(Refusal.NO_WAY_BACK if is_deleted else Refusal.LOST)

    def _clean_up(self, story: Story, intent: Intent, place: Place) -> None:
        """Remove the remains of a run that was killed before it moved the file."""
        if story.action.act is Act.TRASH:
            self._forget(story, intent)
        elif story.action.act is Act.MOVE:
            self._clean_up_copy(intent, place, story.action.file)

    def _clean_up_copy(self, intent: Intent, place: Place, file: FileId) -> None:
        """Remove a copy, or a part of one, of a file that is at its place, unless it changed."""
        with suppress(OSError, RefusedError), _place(intent.target) as target:
            part = target.beside(intent.aside)
            _remove_part(part)
            with closing(_opened(place, file)) as kept, closing(_opened(target, file)) as copy:
                if kept.identity != copy.identity and _as_left(kept) and _as_left(copy):
                    remove(copy, kept, part)

    def _forget(self, story: Story, intent: Intent) -> None:
        """Remove the note in the trash about a file that is not in the trash."""
        if story.action.act is not Act.TRASH or intent.trash is None:
            return
        with suppress(OSError):
            trash = self._trashes.trash_at(intent.trash, intent.top)
            name = os.path.basename(intent.target)
            if trash.notes(name, story.action.file.path) and not trash.place(name).exists():
                trash.forget(name)

    def _unlinked(self, story: Story, intent: Intent, place: Place, *, act: bool) -> bool:
        """Replace a link to the kept file by a file of its own."""
        file, keep = story.action.file, story.action.keep
        own, kept = file.identity, keep.identity
        aside, part = place.beside(intent.aside), _part(intent, place)
        if _is(place, own):
            if act:
                _remove_links((aside, part), place, story)
            return False
        if not _is(place, kept):
            with suppress(RefusedError):
                self._is_back(story, place)
                if act:
                    _remove_links((aside, part), place, story)
                return False
            raise RefusedError(Refusal.NOT_AS_LEFT, "it is no longer the link that was made")
        if not act:
            return True
        if _is(aside, own):
            _exchanged_or_replaced(aside, place)
        else:
            self._make_own(story, place, part)
        _remove_links((aside, part), place, story)
        sync_folder(place.folder)
        return True

    def _make_own(self, story: Story, place: Place, part: Place) -> None:
        """Exchange a link for a file with the same bytes, and with the names it had before."""
        file = story.action.file
        _remove_part(part)
        with closing(_opened(place, file)) as found:
            if digest_of_open(found.descriptor) != file.byte_digest:
                raise RefusedError(Refusal.NOT_AS_LEFT, "the text that both names show")
            if not self._linked_to_other_name(story, part):
                copy = copy_to(found.descriptor, part, file.byte_digest)
                try:
                    os.utime(copy, ns=(found.status.st_atime_ns, file.mtime_ns))
                    os.fsync(copy)
                finally:
                    os.close(copy)
            _exchanged(part, place, found)

    def _linked_to_other_name(self, story: Story, part: Place) -> bool:
        """Link `part` to another name of a file, or of its copy by an undo; False if none."""
        file, keep = story.action.file, story.action.keep
        own, kept = file.identity, keep.identity
        for path in self._names.get(own, ()):
            if path == file.path:
                continue
            with suppress(RefusedError, OSError), _place(path) as other:
                with closing(_opened(other, file)) as found:
                    is_copy = found.identity not in {own, kept} and _as_left(found)
                    is_copy |= found.identity == own
                if is_copy:
                    other.link_to(part)
                    return True
        return False

    def close(self) -> None:
        """Close the trash folders."""
        self._trashes.close()


def _exchanged_or_replaced(aside: Place, place: Place) -> bool:
    """Swap the names of a file and a link. Return False if the link was replaced instead."""
    if exchange(aside, place):
        return True
    aside.replace(place)
    return False


def _exchanged(aside: Place, place: Place, found: Held) -> None:
    """Let a new file take the name of a link. Raises RefusedError if that was another file."""
    if _exchanged_or_replaced(aside, place) and not found.is_at(aside):
        exchange(aside, place)
        aside.unlink()
        raise RefusedError(Refusal.CHANGING)


@contextmanager
def _place(path: str) -> Iterator[Place]:
    """Give the place with a path. Raises RefusedError if its folder is gone or behind a link."""
    try:
        place = Place.of(path)
    except OSError as error:
        if error.errno in {errno.ENOENT, errno.ENOTDIR, errno.ELOOP}:
            raise RefusedError(Refusal.FOLDER_GONE, os.path.dirname(path)) from None
        raise
    with closing(place):
        yield place


def _opened(place: Place, file: FileId) -> Held:
    """Open a regular file; closing it leaves its folder open. Raises OSError, RefusedError."""
    if not stat.S_ISREG(place.status().st_mode):
        raise RefusedError(Refusal.NOT_A_FILE, place.path)
    descriptor = place.open()
    inner = Place(None if place.folder is None else os.dup(place.folder), place.name, place.path)
    return Held(file, inner, descriptor, os.fstat(descriptor), is_kept=False)


def _as_left(found: Held) -> bool:
    """Whether an open file has the size, the mtime and the bytes that the plan says."""
    file, status = found.file, found.status
    if (status.st_size, status.st_mtime_ns) != (file.size, file.mtime_ns):
        return False
    return digest_of_open(found.descriptor) == file.byte_digest and found.is_whole()


def _part(intent: Intent, place: Place) -> Place:
    """Where an undo makes a copy: never under the name that a run gives to the file itself.

    A copy may have the inode that the file had, so only the name tells them apart.
    """
    return place.beside(f"{intent.aside}-back")


def _remove_links(asides: Iterable[Place], place: Place, story: Story) -> None:
    """Remove the links that were made to the kept file, unless the text would go with them."""
    for aside in asides:
        _remove_link(aside, place, story)


def _remove_link(aside: Place, place: Place, story: Story) -> None:
    file = story.action.file
    if not _is(aside, story.action.keep.identity):
        return
    digests = set()
    if aside.status().st_nlink == 1:  # the kept file itself is gone
        for each in (aside, place):
            with closing(_opened(each, file)) as found:
                digests.add(digest_of_open(found.descriptor))
    if digests <= {file.byte_digest}:
        aside.unlink()


def _remove_part(part: Place) -> None:
    """Remove the partial copy that a killed run left under this name, if there is one."""
    with suppress(FileNotFoundError):
        if stat.S_ISREG(part.status().st_mode):
            part.unlink()


def _check_free(place: Place) -> None:
    if place.exists():
        raise RefusedError(Refusal.NAME_TAKEN)


def _is(place: Place, identity: tuple[int, int]) -> bool:
    """Whether a name leads to the regular file with this device and inode."""
    try:
        status = place.status()
    except FileNotFoundError:
        return False
    return stat.S_ISREG(status.st_mode) and identity_of(status) == identity
