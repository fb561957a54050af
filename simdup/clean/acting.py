"""Moves, links or deletes one file of a plan, and checks that it was the right one.

`Acting.intent` says where the file will be; all it changes is to make a missing trash. `Acting.act`
acts on the file. Until its last name is gone, a file that turns out to be a wrong one is put back.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections import Counter
from contextlib import closing, contextmanager, suppress
from typing import TYPE_CHECKING

from simdup.clean import system_bin
from simdup.clean.copying import attributes, copy_to, share_blocks
from simdup.clean.journal import Done, Intent
from simdup.clean.records import Act
from simdup.clean.refusals import Refusal, RefusedError
from simdup.clean.system import Place, exchange, open_folder, rename_new, sync_folder
from simdup.clean.trash import Trashes
from simdup.storage.opening import identity_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simdup.clean.checks import Held
    from simdup.clean.records import Action

    _Identity = tuple[int, int]


class AstrayError(RefusedError):
    """A moved file, the planned one or another, cannot be put back; the message says where."""


class Acting:
    """Chooses where files go, and moves them there; `close` it."""

    def __init__(self, actions: Sequence[Action], to: str | None) -> None:
        """Prepare for these actions; `to` is the folder for `Act.MOVE`."""
        self._trashes, self._to = Trashes(), to
        moved = [os.path.dirname(each.file.path) for each in actions if each.act is Act.MOVE]
        self._above = os.path.commonpath(moved) if moved else "/"
        linked = (each.file for each in actions if each.act is Act.LINK)
        self._names = Counter(file.identity for file in linked)
        self._chosen: set[str] = set()
        self._touched: dict[str, int] = {}

    def intent(self, action: Action, tries: int = 0) -> Intent:
        """Return where the file of an action will be. Raises RefusedError and OSError.

        `tries` is how many names for it other programs have taken at the last moment.
        """
        path = action.file.path
        folder, name = os.path.split(path)
        above = os.lstat(folder)
        folder_ns = above.st_mtime_ns
        if action.act is Act.TRASH and not system_bin.IS_USED:
            trash = self._trashes.trash_for(path, above.st_dev)
            target = trash.place(trash.free_name(name, _leap(tries))).path
            return Intent(action.line, target, folder_ns, trash.path, trash.top)
        aside = f".simdup-{secrets.token_hex(6)}"
        if action.act is Act.MOVE:
            target = self._free_path(path, _leap(tries))
            return Intent(action.line, target, folder_ns, aside=aside, made=_missing(target))
        target = os.path.join(folder, aside) if action.act is Act.DELETE else path
        return Intent(action.line, target, folder_ns, aside=aside)

    def _free_path(self, path: str, leap: int) -> str:
        """Return a free path in the folder for moved files, after passing over `leap` numbers.

        Raises RefusedError.
        """
        if self._to is None:
            raise RefusedError(Refusal.NOT_ALLOWED, "move, without --to")
        wanted = os.path.join(self._to, os.path.relpath(path, self._above))
        stem, ending = os.path.splitext(wanted)
        number, found = 1 + leap, wanted
        while found in self._chosen or os.path.lexists(found):
            number += 1
            found = f"{stem} ({number}){ending}"
        self._chosen.add(found)
        return found

    def act(self, action: Action, intent: Intent, file: Held, kept: Held) -> Done:
        """Do what an intent says, with a file and the kept one that were just compared.

        Raises FileExistsError if the target has been taken, RefusedError and OSError. After any
        error but an AstrayError the file still has its name.
        """
        device, inode = {
            Act.TRASH: self._trash,
            Act.MOVE: self._move,
            Act.LINK: self._link,
            Act.REFLINK: self._reflink,
            Act.DELETE: self._delete,
        }[action.act](intent, file, kept)
        # It is done: whatever fails from here on does not change that.
        self._touch(os.path.dirname(file.file.path), file.place.folder)
        ctime_ns = folder_ns = 0
        with suppress(OSError):
            ctime_ns = os.fstat(file.descriptor).st_ctime_ns
            if file.place.folder is not None:
                folder_ns = os.fstat(file.place.folder).st_mtime_ns
        return Done(intent.line, device, inode, ctime_ns, folder_ns)

    def _trash(self, intent: Intent, file: Held, kept: Held) -> _Identity:
        if intent.trash is None:
            system_bin.throw_away(file, kept)
            return file.identity
        trash = self._trashes.trash_at(intent.trash, intent.top)
        name = os.path.basename(intent.target)
        trash.note(name, file.file.path)
        try:
            _rename(file, kept, trash.place(name))
        except AstrayError:
            raise
        except BaseException:
            trash.forget(name)
            raise
        self._touch(os.path.join(trash.path, "info"), trash.info)
        self._touch(os.path.join(trash.path, "files"), trash.files)
        return file.identity

    def _move(self, intent: Intent, file: Held, kept: Held) -> _Identity:
        for each in intent.made:
            make_folder(each)
        with closing(Place.of(intent.target)) as target:
            found = file.identity
            if _is_near(file, target):
                _rename(file, kept, target)
            else:
                found = self._copy_and_remove(intent, file, kept, target)
            self._touch(os.path.dirname(intent.target), target.folder)
            return found

    def _copy_and_remove(self, intent: Intent, file: Held, kept: Held, target: Place) -> _Identity:
        if file.status.st_nlink > 1:
            raise RefusedError(Refusal.OTHER_NAMES, "another file system would part them")
        part = target.beside(intent.aside)
        copy = copy_to(file.descriptor, part, file.file.byte_digest)
        try:
            try:
                made = os.fstat(copy)
                rename_new(part, target)
            except BaseException:
                part.unlink()
                raise
            try:
                sync_folder(target.folder)
                file.check_unchanged()
                remove(file, kept, file.place.beside(intent.aside))
            except BaseException:
                with suppress(OSError):
                    if os.path.samestat(made, target.status()):
                        target.unlink()
                raise
        finally:
            os.close(copy)
        return identity_of(made)

    def _delete(self, intent: Intent, file: Held, kept: Held) -> _Identity:
        remove(file, kept, file.place.beside(intent.aside))
        return file.identity

    def _link(self, intent: Intent, file: Held, kept: Held) -> _Identity:
        check_linkable(file, kept, self._names[file.identity])
        self._names[file.identity] -= 1
        made = file.place.beside(intent.aside)
        kept.place.link_to(made)
        try:
            _swap(file, kept, made)
        except AstrayError:
            raise
        except BaseException:
            with suppress(OSError):
                if made.status().st_nlink > 1 or _has_same_text(file, kept, file.place):
                    made.unlink()
            raise
        finally:
            with suppress(OSError):
                kept.look_again()
        return kept.identity

    def _reflink(self, intent: Intent, file: Held, kept: Held) -> _Identity:  # noqa: ARG002
        share_blocks(kept.descriptor, file.descriptor, file.status.st_size)
        return file.identity

    def _touch(self, path: str, folder: int | None) -> None:
        """Have a folder synced by the next `sync`."""
        if folder is None or path in self._touched:
            return
        try:
            self._touched[path] = os.dup(folder)
        except OSError:  # no descriptor is left
            with suppress(OSError):
                sync_folder(folder)

    def sync(self) -> None:
        """Make everything done so far survive a power cut. Raises OSError."""
        touched, self._touched = self._touched, {}
        try:
            for descriptor in touched.values():
                sync_folder(descriptor)
        finally:
            for descriptor in touched.values():
                os.close(descriptor)

    def close(self) -> None:
        """Close the folders that are open."""
        with suppress(OSError):
            self.sync()
        self._trashes.close()


def _leap(tries: int) -> int:
    """Return how many numbers to pass over for the next name.

    Runs that choose names at the same time choose the same names. After each failed try they leap
    at random, up to four times as far as before, so that they soon part.
    """
    return secrets.randbelow(4**tries)


def _rename(file: Held, kept: Held, target: Place) -> None:
    """Give a file the name `target`; if another file was renamed instead, put it back."""
    rename_new(file.place, target)
    if not _is_same(file, kept, target):
        _put_back(target, file.place)


def _put_back(target: Place, source: Place) -> None:
    """Rename back a file that was renamed by mistake. Raises RefusedError in any case."""
    with _astray(target, Refusal.REPLACED):
        rename_new(target, source)
    raise RefusedError(Refusal.REPLACED)


@contextmanager
def _astray(place: Place, refusal: Refusal) -> Iterator[None]:
    """Raise AstrayError if a file cannot be given its name again, and stays at this place."""
    try:
        yield
    except OSError as error:
        raise AstrayError(refusal, f"it is {place.path} now: {error.strerror}") from None


def remove(file: Held, kept: Held, aside: Place) -> None:
    """Remove a file: give it a name that only simdup knows, check it once more, unlink it."""
    _rename(file, kept, aside)
    try:
        aside.unlink()
    except OSError:
        with _astray(aside, Refusal.FAILED):
            rename_new(aside, file.place)
        raise


def _swap(file: Held, kept: Held, made: Place) -> None:
    """Swap the names of a file and a link to the kept one; unlink the file if it is the one."""
    if not kept.is_at(made):
        raise kept.refused(Refusal.CHANGING)
    if not exchange(made, file.place):
        file.check_unchanged()
        made.replace(file.place)
        return
    if not _is_same(file, kept, made):
        _swap_back(made, file.place, Refusal.REPLACED)
        raise RefusedError(Refusal.REPLACED)
    try:
        made.unlink()
    except OSError:
        _swap_back(made, file.place, Refusal.FAILED)
        raise


def _swap_back(made: Place, source: Place, refusal: Refusal) -> None:
    """Let a file and a link swap names once more. Raises AstrayError where they cannot."""
    with _astray(made, refusal):
        if not exchange(made, source):
            raise OSError(errno.ENOTSUP, os.strerror(errno.ENOTSUP))


def _is_same(file: Held, kept: Held, place: Place) -> bool:
    """Whether the file is at `place`, the kept one at its own, and both are as when compared.

    If two runs each remove the file that the other one keeps, at least one notices it here.
    """
    return kept.is_at(kept.place) and _has_same_text(file, kept, place)


def _has_same_text(file: Held, kept: Held, place: Place) -> bool:
    """Whether the file is at `place`, and it and the kept one are as when compared."""
    try:
        return file.is_at(place) and file.is_whole() and kept.is_whole()
    except OSError:
        return False


def check_linkable(file: Held, kept: Held, names: int) -> None:
    """Raise RefusedError if a file must not be replaced by a link to the kept one.

    `names` is how many names of the file are still to be replaced.
    """
    if file.status.st_dev != kept.status.st_dev:
        raise RefusedError(Refusal.OTHER_DEVICE)
    if file.status.st_nlink > names:
        raise RefusedError(Refusal.OTHER_NAMES, "which are not in the plan")
    states = [
        (each.status.st_uid, each.status.st_gid, stat.S_IMODE(each.status.st_mode))
        for each in (file, kept)
    ]
    if states[0] != states[1] or attributes(file.descriptor) != attributes(kept.descriptor):
        raise RefusedError(Refusal.OTHER_OWNER)


def make_folder(path: str) -> None:
    """Make a folder, and sync its parent, which is opened through no symbolic link.

    Do nothing if the name is taken already.
    """
    above = open_folder(os.path.dirname(path))
    try:
        with suppress(FileExistsError):
            os.mkdir(os.path.basename(path), dir_fd=above)
            sync_folder(above)
    finally:
        os.close(above)


def _missing(target: str) -> tuple[str, ...]:
    """Return the folders above a path that are not there, the highest first."""
    found, folder = list[str](), os.path.dirname(target)
    while not os.path.lexists(folder):
        found.append(folder)
        folder = os.path.dirname(folder)
    return tuple(reversed(found))


def _is_near(file: Held, target: Place) -> bool:
    """Whether a file and a place are on one file system, by their folders.

    On an overlay file system, as in a container, files have other devices than their folders.
    """
    folders = file.place.folder, target.folder
    devices = {os.fstat(each).st_dev for each in folders if each is not None}
    return len(devices) == 1
