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
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from functools import partial

from simdup.clean.checks import Held
from simdup.clean.copying import attributes, copy_to, digest_of_open, owner_of, share_blocks
from simdup.clean.journal import Done, Intent
from simdup.clean.outcome import RefusedError
from simdup.clean.plan import Act, Action
from simdup.clean.refusals import Refusal
from simdup.clean.system import SWAP, Place, make_folder, rename_at_once, rename_new, sync_folder
from simdup.clean.trash import Trashes, is_bin_used, throw_away
from simdup.storage.opening import identity_of


class AstrayError(RefusedError):
    """A moved file, the planned one or another, cannot be put back; the message says where."""


class Acting:
    """Chooses where files go, and moves them there; `close` it."""

    def __init__(self, actions: Sequence[Action], to: str | None) -> None:
        """Prepare for these actions; `to` is the folder for `Act.MOVE`."""
        self._trashes, self._to = Trashes(), to
        folders = [os.path.dirname(each.file.path) for each in actions if each.act is Act.MOVE]
        self._above = os.path.commonpath(folders) if folders else "/"
        linked = (each.file for each in actions if each.act is Act.LINK)
        self._names = Counter(file.identity for file in linked)
        self._chosen: set[str] = set()
        self._touched: dict[str, int] = {}

    def intent(self, action: Action, tries: int = 0) -> Intent:
        """Return where the file of an action will be. Raises RefusedError and OSError.

        `tries` is how many names for it other programs have taken at the last moment.
        """
        path, aside = action.file.path, f".simdup-{secrets.token_hex(6)}"
        folder, name = os.path.split(path)
        folder_ns = os.lstat(folder).st_mtime_ns
        if action.act is Act.TRASH and not is_bin_used():
            trash = self._trashes.trash_for(path)
            target = trash.place(trash.free_name(name, _leap(tries))).path
            intent = Intent(action.line, target, folder_ns, trash.path, trash.top, aside)
            if trash.made:
                return replace(intent, made=trash.made, there_ns=trash.above_ns)
        elif action.act is Act.MOVE:
            target = self._free_path(path, _leap(tries))
            made, mode = _missing(target), 0
            with suppress(FileNotFoundError):  # it will be refused as gone
                mode = stat.S_IMODE(os.lstat(path).st_mode)
            intent = Intent(action.line, target, folder_ns, aside=aside, made=made, mode=mode)
        else:
            target = os.path.join(folder, aside) if action.act is Act.DELETE else path
            intent = Intent(action.line, target, folder_ns, aside=aside)
        return replace(intent, there_ns=os.lstat(intent.there).st_mtime_ns)

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
        made = {
            Act.TRASH: self._trash,
            Act.MOVE: self._move,
            Act.LINK: self._link,
            Act.REFLINK: self._reflink,
            Act.DELETE: self._delete,
        }[action.act](intent, file, kept)
        # It is done: whatever fails from here on does not change that.
        self._touch(os.path.dirname(file.file.path), file.place.folder)
        ctime_ns = folder_ns = there_ns = 0
        with suppress(OSError):
            ctime_ns = os.fstat(file.descriptor).st_ctime_ns
            if file.place.folder is not None:
                folder_ns = os.fstat(file.place.folder).st_mtime_ns
            there_ns = os.lstat(intent.there).st_mtime_ns
        mtime_ns = made.st_mtime_ns if made and action.act is Act.MOVE else 0
        identity = identity_of(made or file.status)
        return Done(intent.line, *identity, ctime_ns, folder_ns, there_ns, mtime_ns)

    # Each act returns the status of the file that is there now if it is another one.

    def _trash(self, intent: Intent, file: Held, kept: Held) -> None:
        if intent.trash is None:
            throw_away(file, kept)
            return
        trash = self._trashes.trash_at(intent.trash, intent.top)
        name = os.path.basename(intent.target)
        trash.note(name, file.file.path)
        try:
            _rename(file, kept, trash.place(name), file.place.beside(intent.aside))
        except AstrayError:
            raise
        except BaseException:
            trash.forget(name)
            raise
        self._touch(os.path.join(trash.path, "info"), trash.info)
        self._touch(os.path.join(trash.path, "files"), trash.files)

    def _move(self, intent: Intent, file: Held, kept: Held) -> os.stat_result | None:
        made = None
        try:
            for each in intent.made:
                make_folder(each)
            with closing(Place.of(intent.target)) as target:
                try:
                    _rename(file, kept, target, file.place.beside(intent.aside))
                except OSError as error:
                    if error.errno != errno.EXDEV:
                        raise
                    made = self._copied(intent, file, kept, target)
                self._touch(os.path.dirname(intent.target), target.folder)
        except BaseException:
            remove_folders(intent.made)
            raise
        return made

    def _copied(self, intent: Intent, file: Held, kept: Held, target: Place) -> os.stat_result:
        if file.status.st_nlink > 1:
            raise RefusedError(Refusal.OTHER_NAMES, "another file system would part them")
        aside = file.place.beside(intent.aside)
        return moved_by_copy(file, target, aside, partial(_has_bytes, file, kept))

    def _delete(self, intent: Intent, file: Held, kept: Held) -> None:
        remove(file, kept, file.place.beside(intent.aside))

    def _link(self, intent: Intent, file: Held, kept: Held) -> os.stat_result:
        check_linkable(file, kept, self._names[file.identity])
        self._names[file.identity] -= 1
        made = file.place.beside(intent.aside)
        kept.place.link_to(made)
        try:
            _exchange(file, kept, made)
        except AstrayError as error:
            if kept.is_at(made):
                _unlink_again(file, kept, made, f"; {error}")
            raise
        except BaseException:
            _unlink_again(file, kept, made)
            raise
        finally:
            with suppress(OSError):
                kept.status = os.fstat(kept.descriptor)  # it has one name more or less
        return kept.status

    def _reflink(self, intent: Intent, file: Held, kept: Held) -> None:  # noqa: ARG002
        share_blocks(kept.descriptor, file.descriptor, file.status.st_size)

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


#: What follows the name of a file put aside, in the name of its copy until that is whole.
PART = "-part"


def part_of(aside: str, target: Place) -> Place:
    """Return where a copy is made before it gets its name; nothing else ever lies there."""
    return target.beside(aside + PART)


def moved_by_copy(
    file: Held,
    target: Place,
    aside: Place,
    is_right: Callable[[Place], bool],
    **changes: int | None,
) -> os.stat_result:
    """Move a file to another file system, and return the status it has there.

    Its copy gets the name `target` while the file has the name `aside`: after a run was killed,
    this name tells that the copy was made by simdup. The file is unlinked if `is_right` says of its
    place that it is the right one. `changes` are for `copy_to`. Raises what `moved` raises.
    """
    part = part_of(aside.name, target)
    copy = copy_to(file.descriptor, part, file.file.byte_digest, **changes)
    try:
        made = os.fstat(copy)
        moved(file.place, aside, aside, file.is_at)
        with _named_again(aside, file.place):
            rename_new(part, target)
            try:
                sync_folder(target.folder)
                if not is_right(aside):
                    raise RefusedError(Refusal.REPLACED)  # noqa: TRY301
                aside.unlink()
            except BaseException:
                _remove_copy(identity_of(made), target, target.beside(aside.name))
                raise
    except BaseException:
        with suppress(FileNotFoundError):
            part.unlink()
        raise
    finally:
        os.close(copy)
    return made


@contextmanager
def _named_again(aside: Place, place: Place) -> Iterator[None]:
    """Give a file its name again after an error. Raises AstrayError if that fails too."""
    try:
        yield
    except BaseException:
        with _astray(aside, Refusal.FAILED):
            rename_new(aside, place)
        raise


def _remove_copy(copy: tuple[int, int], target: Place, aside: Place) -> None:
    """Remove a copy, whose device and inode are given, unless another file has its name now.

    Raises AstrayError if another file cannot have its name again.
    """
    try:
        set_aside(target, aside)
    except OSError:
        return
    with _astray(aside, Refusal.REPLACED):
        if aside.identity() == copy:
            aside.unlink()
        else:
            rename_new(aside, target)


def _unlink_again(file: Held, kept: Held, made: Place, why: str = "") -> None:
    """Unlink a link to the kept file. Raises AstrayError if it is the only name of its text now.

    `why` goes with the message.
    """
    with _astray(made, Refusal.FAILED):
        is_needless = kept.is_at(made) and _has_bytes(file, file, file.place)
        if made.status().st_nlink == 1 and not is_needless:
            raise AstrayError(Refusal.KEPT_GONE, f"it is {made.path} now{why}")
        made.unlink()


def _rename(file: Held, kept: Held, target: Place, aside: Place) -> None:
    moved(file.place, target, aside, partial(_is_same, file, kept))


def moved(source: Place, target: Place, aside: Place, is_right: Callable[[Place], bool]) -> None:
    """Give a file the name `target`, if `is_right` says of its place that it was the right one.

    Otherwise, and after an error, it gets its name back. Where the system has no rename that
    overwrites nothing, the file has the name `aside` in between, which only simdup knows. Raises
    FileExistsError, RefusedError and OSError.
    """
    now = target
    if not rename_at_once(source, target):
        set_aside(source, aside)
        now = aside
    if not is_right(now):
        _put_back(now, source)
    if now != target:
        with _named_again(now, source):
            rename_new(now, target)


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
    moved(file.place, aside, aside, partial(_has_bytes, file, kept))
    with _named_again(aside, file.place):
        aside.unlink()


def _exchange(file: Held, kept: Held, made: Place) -> None:
    """Swap the names of a file and a link to the kept one; unlink the file if it is the one."""
    if not kept.is_at(made):
        raise kept.refused(Refusal.CHANGING)
    swap(made, file.place, kept, partial(_has_bytes, file, kept))
    try:
        made.unlink()
    except OSError:
        _swap_back(made, file.place, kept, Refusal.FAILED)
        raise


def swap(new: Place, place: Place, held: Held, is_right: Callable[[Place], bool]) -> None:
    """Let the file at `new` have the name `place`, and the file there, if it `is_right`, this one.

    After the swap the other file is looked at, and a wrong one gets its name again. `held` is the
    file at `new`. Raises RefusedError and OSError.
    """
    if not exchange(new, place):
        _swap_by_steps(new, place, is_right)
    elif not is_right(new):
        _swap_back(new, place, held, Refusal.REPLACED)
        raise RefusedError(Refusal.REPLACED)


def _swap_by_steps(new: Place, place: Place, is_right: Callable[[Place], bool]) -> None:
    """Swap two names where the system cannot do that at once, if the file at `place` `is_right`.

    It has a third name in between. Raises RefusedError and OSError.
    """
    out = new.beside(f"{new.name}-out")
    set_aside(place, out)
    if not is_right(out):
        _put_back(out, place)
    with _named_again(out, place):
        rename_new(new, place)
    with _astray(out, Refusal.FAILED):
        rename_new(out, new)


def _swap_back(new: Place, place: Place, held: Held, refusal: Refusal) -> None:
    """Swap two names again, until what was saved last has the name `place`.

    Raises AstrayError if the file at `new` is not `held` then.
    """
    put = held.identity
    with _astray(new, refusal):
        for _ in range(_SWAPS):
            taken = new.identity()
            if not exchange(new, place):
                raise OSError(errno.ENOTSUP, os.strerror(errno.ENOTSUP))
            if new.identity() == put:
                break
            put = taken  # another program saved once more, and that lies at `new`
    if not held.is_at(new):
        raise AstrayError(refusal, f"an earlier version is {new.path} now")


# How often other programs may save within the few microseconds between two swaps.
_SWAPS = 100


def _is_same(file: Held, kept: Held, place: Place) -> bool:
    """Whether the file is at `place`, the kept one at its own, and both are as when compared.

    If two runs each remove the file that the other one keeps, at least one notices it here.
    """
    try:
        return kept.is_at(kept.place) and file.is_at(place) and file.is_whole() and kept.is_whole()
    except OSError:
        return False


def _has_bytes(file: Held, kept: Held, place: Place) -> bool:
    """Whether `_is_same`, and the bytes of both are those of the plan, so that one may go."""
    try:
        return _is_same(file, kept, place) and all(
            digest_of_open(each.descriptor) == each.file.byte_digest for each in (file, kept)
        )
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
    states = {(*owner_of(each.status), stat.S_IMODE(each.status.st_mode)) for each in (file, kept)}
    if len(states) > 1 or attributes(file.descriptor) != attributes(kept.descriptor):
        raise RefusedError(Refusal.OTHER_OWNER)


def set_aside(source: Place, aside: Place) -> None:
    """Give a file a free name that only simdup knows. Raises FileExistsError and OSError."""
    if source == aside or rename_at_once(source, aside):
        return
    if aside.exists():
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), aside.path)
    os.rename(source.name, aside.name, src_dir_fd=source.folder, dst_dir_fd=aside.folder)


def exchange(one: Place, other: Place) -> bool:
    """Let two files swap names in one step; False where the system cannot. Raises OSError."""
    return rename_at_once(one, other, SWAP)


def remove_folders(paths: Iterable[str]) -> None:
    """Remove those of the folders that are empty."""
    for path in sorted(paths, key=len, reverse=True):
        with suppress(OSError, ValueError), closing(Place.of(path)) as place:
            os.rmdir(place.name, dir_fd=place.folder)


def _missing(target: str) -> tuple[str, ...]:
    """Return the folders above a path that are not there, the highest first."""
    found, folder = list[str](), os.path.dirname(target)
    while not os.path.lexists(folder):
        found.append(folder)
        folder = os.path.dirname(folder)
    return tuple(reversed(found))
