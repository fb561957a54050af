"""Puts files of a journal back where they were, each checked to be as simdup left it.

A journal is not trusted: a file is moved back only if it lies where simdup puts files, has the
time and the bytes that the journal gives, and nothing has its old name.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress

from simdup.clean.acting import PART, moved, moved_by_copy, part_of, remove, swap
from simdup.clean.checks import Held, place_at
from simdup.clean.copying import copy_to, digest_of_open
from simdup.clean.journal import Done, History, Intent, Story
from simdup.clean.outcome import RefusedError, refused_by
from simdup.clean.plan import Act, Action, FileId
from simdup.clean.refusals import Refusal
from simdup.clean.system import Place, rename_new, sync_folder
from simdup.clean.trash import Trashes, folders_of, is_trash
from simdup.findings.keeper import is_under


class Settler:
    """Puts files back; `close` it."""

    def __init__(self, history: History) -> None:
        """Prepare for the files of a journal."""
        self._history = history
        self._trashes = Trashes()
        self.close = self._trashes.close
        self._names: dict[tuple[int, int], list[str]] = {}
        for story in history.stories.values():
            if story.action.act is Act.LINK:
                file = story.action.file
                self._names.setdefault(file.identity, []).append(file.path)

    def put_back(self, story: Story, *, act: bool = True) -> bool:
        """Put the file of an action back; False if it is where it was already.

        Without `act`, only check whether that is possible. Raises RefusedError, which names each
        version of the file that a killed run put aside and that has no other name now.
        """
        intent, file = story.intent, story.action.file
        if intent is None or story.action.act is Act.REFLINK:
            return False
        try:
            self._check_paths(story, intent)
            with _place(file.path) as place, _telling_what_is_aside(intent, place, act=act):
                if act:
                    _remove_parts(intent, place)
                if story.action.act is Act.LINK:
                    return self._unlinked(story, intent, place, act=act)
                return self._moved_back(story, intent, place, act=act)
        except ValueError:
            raise RefusedError(Refusal.BAD_PATH) from None
        except OSError as error:
            raise refused_by(error) from None

    def done_there(self, story: Story) -> Done | None:
        """What a run did before it was killed; None unless all of the intent is done."""
        intent = story.intent
        if intent is None:
            return None
        try:
            self._check_paths(story, intent)
            with _place(story.action.file.path) as place, _place(intent.target) as target:
                if _aside(intent, place):
                    return None
                if story.action.act is not Act.LINK:
                    return _moved(story, place, target)
                keep = story.action.keep
                return Done(intent.line, *keep.identity, 0, 0) if _is(place, keep) else None
        except (RefusedError, OSError, ValueError):
            return None

    def _check_paths(self, story: Story, intent: Intent) -> None:
        """Raise RefusedError for an intent that simdup cannot have written."""
        act, path = story.action.act, story.action.file.path
        if act is Act.TRASH and intent.trash is None:
            raise RefusedError(Refusal.IN_BIN)
        is_inside = any(is_under(path, root) for root in self._history.header.roots)
        if not (is_inside and self._is_possible(story, path, intent)):
            raise RefusedError(Refusal.BAD_PATH, intent.target)

    def _is_possible(self, story: Story, path: str, intent: Intent) -> bool:
        """Whether a run could put the file with this path where the intent says."""
        act, trash, to = story.action.act, intent.trash or "", self._history.to
        if not intent.aside.startswith(".simdup-") or "/" in intent.aside:
            return False
        if act is Act.TRASH:
            folders = folders_of(trash)
            is_inside = os.path.dirname(intent.target) == folders[1]
            return is_inside and is_trash(trash, intent.top) and story.made <= {*folders}
        if act is Act.MOVE:
            if to is None or not is_under(intent.target, to):
                return False
            return all(is_under(each, to) or is_under(to, each) for each in story.made)
        own = os.path.join(os.path.dirname(path), intent.aside)
        return intent.target == (own if act is Act.DELETE else path)

    def _moved_back(self, story: Story, intent: Intent, place: Place, *, act: bool) -> bool:
        """Put back a file that was moved, or was going to be; False if it is at its place."""
        file, aside = story.action.file, place.beside(intent.aside)
        if place.exists():
            if not _is(place, file):
                self._check_back(story, place)
            if act:
                self._clean_up(story, intent, place)
            _check_no_copy(intent, file)
            return False
        if aside.exists():
            if act:
                self._take_back(story, intent, aside, place)
            return True
        try:
            self._from_target(story, intent, place, act=act)
        except FileNotFoundError:
            self._check_back(story, place)
            return False
        return True

    def _take_back(self, story: Story, intent: Intent, aside: Place, place: Place) -> None:
        """Give a file that a killed run put aside its name again. Raises RefusedError if it is new.

        A file that another program saved right before is not the one of the plan.
        """
        file, is_right = story.action.file, False
        with suppress(RefusedError), closing(_opened(aside, file)) as found:
            is_right = _as_left(found, file.mtime_ns)
            is_cut_off = story.done is None and story.action.act in {Act.TRASH, Act.MOVE}
            if is_right and is_cut_off:
                _remove_copy(intent, found)
        rename_new(aside, place)
        sync_folder(place.folder)
        if not is_right:
            raise RefusedError(Refusal.REPLACED, "it has its name again")
        self._clean_up(story, intent, place)
        _check_no_copy(intent, file)

    def _from_target(self, story: Story, intent: Intent, place: Place, *, act: bool) -> None:
        """Put back what lies at the target. Raises FileNotFoundError if nothing does."""
        file = story.action.file
        with _place(intent.target) as target:
            hidden = target.beside(intent.aside)
            there = hidden if hidden.exists() and not target.exists() else target
            with closing(_opened(there, file)) as found:
                if not _as_left(found, _left_ns(story)):
                    raise RefusedError(Refusal.NOT_AS_LEFT, intent.target)
                if act:
                    if there == hidden:
                        rename_new(hidden, target)
                        found.place = found.place.beside(target.name)
                    self._return(found, place, intent)
                    sync_folder(target.folder)
        if act:
            self._forget(story, intent)

    def _return(self, found: Held, place: Place, intent: Intent) -> None:
        """Move a file back, by a copy if it is on another file system."""
        file, aside = found.file, found.place.beside(intent.aside)
        try:
            # What another program saves under the name right after keeps it.
            moved(found.place, place, aside, lambda there: there == place or found.is_at(there))
            if not found.is_at(place):
                raise RefusedError(Refusal.REPLACED, "that version keeps the name")
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            changes = {"mtime_ns": file.mtime_ns, "mode": intent.mode or None}
            moved_by_copy(found, place, aside, lambda _: _as_left(found, None), **changes)
        sync_folder(place.folder)

    def _check_back(self, story: Story, place: Place) -> None:
        """Raise RefusedError unless a copy that an undo made is at the place of the file."""
        if place.exists():
            with suppress(RefusedError):
                if _is_as_left(place, story.action.file, story.action.file.mtime_ns):
                    return
            raise RefusedError(Refusal.NAME_TAKEN)
        is_deleted = story.action.act is Act.DELETE
        raise RefusedError(Refusal.NO_WAY_BACK if is_deleted else Refusal.LOST)

    def _clean_up(self, story: Story, intent: Intent, place: Place) -> None:
        """Remove the remains of a run that was killed, of a file that is at its place."""
        _discard(_aside(intent, place), place, story.action)
        if story.action.act is Act.TRASH:
            self._forget(story, intent)
        elif story.action.act is Act.MOVE:
            with suppress(OSError, RefusedError), _place(intent.target) as target:
                _discard(_aside(intent, target), place, story.action)

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
        action, aside = story.action, _aside(intent, place)
        own = [each for each in aside if not _is(each, action.keep)]
        self._restore_newer(aside, story, place, act=act)
        if place.exists() and not _is(place, action.keep):
            if not _is(place, action.file):
                self._check_unlinked(story, place)
            if act:
                _discard(aside, place, action)
            return False
        if not place.exists() and not own:
            raise RefusedError(Refusal.LOST)
        if not act:
            return True
        if place.exists():
            self._make_own(story, place, own, intent)
        else:
            rename_new(own[0], place)
        _discard(_aside(intent, place), place, action)
        sync_folder(place.folder)
        return True

    def _check_unlinked(self, story: Story, place: Place) -> None:
        try:
            self._check_back(story, place)
        except RefusedError:
            why = "it is no longer the link that was made"
            raise RefusedError(Refusal.NOT_AS_LEFT, why) from None

    def _restore_newer(
        self, aside: Sequence[Place], story: Story, place: Place, *, act: bool
    ) -> None:
        """Give a version that was saved right before a run was killed its name again.

        Raises RefusedError if there is one.
        """
        file = story.action.file
        for each in aside:
            with closing(_opened(each, file)) as newer:
                is_link = _is(each, story.action.keep)
                if is_link or digest_of_open(newer.descriptor) == file.byte_digest:
                    continue
                if act and not place.exists():
                    rename_new(each, place)
                elif act and _is_ours(place, story.action):
                    swap(each, place, newer, lambda there: _is_ours(there, story.action))
                if newer.is_at(place):
                    _discard([each for each in aside if each.exists()], place, story.action)
                again = "it has its name again" * newer.is_at(place)
                raise RefusedError(Refusal.REPLACED, again)

    def _make_own(self, story: Story, place: Place, own: Sequence[Place], intent: Intent) -> None:
        """Exchange a link for a file with the same bytes, and with the names it had before."""
        file, part = story.action.file, part_of(intent.aside, place)
        with closing(_opened(place, file)) as found:

            def has_bytes() -> bool:
                return digest_of_open(found.descriptor) == file.byte_digest

            if not has_bytes():
                raise RefusedError(Refusal.NOT_AS_LEFT, "the text that both names show")
            new = own[0] if own else place.beside(f"{intent.aside}-back")
            if not own and not self._linked_to_other_name(story, new):
                os.close(copy_to(found.descriptor, part, file.byte_digest, file.mtime_ns))
                rename_new(part, new)
            with closing(_opened(new, file)) as made:
                try:
                    swap(new, place, made, lambda there: found.is_at(there) and has_bytes())
                except BaseException:
                    if made.is_at(new) and os.fstat(found.descriptor).st_nlink and has_bytes():
                        new.unlink()
                    raise

    def _linked_to_other_name(self, story: Story, part: Place) -> bool:
        """Link `part` to another name of a file, or of its copy by an undo; False if none."""
        file, keep = story.action.file, story.action.keep
        for path in self._names.get(file.identity, ()):
            if path == file.path:
                continue
            with suppress(RefusedError, OSError), _place(path) as other:
                is_own = not _is(other, keep)
                if _is(other, file) or (is_own and _is_as_left(other, file, file.mtime_ns)):
                    other.link_to(part)
                    return True
        return False


def _moved(story: Story, place: Place, target: Place) -> Done | None:
    if story.action.act not in {Act.TRASH, Act.MOVE} or place.exists():
        return None
    with closing(_opened(target, story.action.file)) as found:
        if not _as_left(found, None):
            return None
        mtime_ns = found.status.st_mtime_ns
        return Done(story.action.line, *found.identity, 0, 0, mtime_ns=mtime_ns)


def _place(path: str) -> closing[Place]:
    """Give the place with a path. Raises RefusedError if its folder is gone or behind a link."""
    return closing(place_at(path, Refusal.FOLDER_GONE, os.path.dirname(path)))


def _opened(place: Place, file: FileId) -> Held:
    """Open a regular file; closing it leaves its folder open. Raises OSError, RefusedError."""
    if not stat.S_ISREG(place.status().st_mode):
        raise RefusedError(Refusal.NOT_A_FILE, place.path)
    descriptor = place.open()
    inner = Place(None if place.folder is None else os.dup(place.folder), place.name, place.path)
    return Held(file, inner, descriptor, os.fstat(descriptor), is_kept=False)


def _left_ns(story: Story) -> int | None:
    """The mtime with which a run left a file where it is now; None if it may have any."""
    if story.action.act is Act.MOVE and story.done is None:
        return None  # it may be a copy
    return (story.done and story.done.mtime_ns) or story.action.file.mtime_ns


def _as_left(found: Held, mtime_ns: int | None) -> bool:
    """Whether an open file has the bytes that the plan says, and this mtime unless it is None.

    Device and inode do not count: a file system such as FAT gives others when it is mounted again.
    """
    if mtime_ns not in {None, found.status.st_mtime_ns}:
        return False
    return digest_of_open(found.descriptor) == found.file.byte_digest and found.is_whole()


def _is_as_left(place: Place, file: FileId, mtime_ns: int | None) -> bool:
    """Whether a file is at a place as simdup left it; see `_opened` and `_as_left`."""
    with closing(_opened(place, file)) as found:
        return _as_left(found, mtime_ns)


# What follows the name of a file put aside, in the order in which a file is looked for: another
# name where names cannot be swapped, and both of the file that an undo made.
_TAILS = ("", "-out", "-back", "-back-out")


def _aside(intent: Intent, place: Place, tails: Sequence[str] = _TAILS) -> list[Place]:
    """Return the names in the folder of a file that a killed run may have left there."""
    names = [place.beside(intent.aside + tail) for tail in tails]
    return [each for each in names if each.exists()]


@contextmanager
def _telling_what_is_aside(intent: Intent, place: Place, *, act: bool) -> Iterator[None]:
    """Raise RefusedError if files stay aside, also if all else was done; name them."""
    refused = None
    try:
        yield
    except FileExistsError:
        refused = RefusedError(Refusal.NAME_TAKEN)
    except (RefusedError, OSError) as error:
        refused = refused_by(error)
    tails = (*_TAILS, *([PART] if act else []))
    found = _aside(intent, place, tails)
    with suppress(RefusedError, OSError), _place(intent.target) as target:
        found += _aside(intent, target, tails)
    paths = " and ".join(sorted({each.path for each in found}))
    if refused is not None:
        detail = [refused.detail] * bool(refused.detail)
        detail += [f"a version of it is {paths}"] * bool(paths)
        raise RefusedError(refused.refusal, "; ".join(detail)) from None
    if paths and act:
        raise RefusedError(Refusal.ASIDE, paths)


def _is_ours(place: Place, action: Action) -> bool:
    """Whether a name leads to the link that a run made, or to the file that an undo made of it."""
    return _is(place, action.keep) or _is_as_left(place, action.file, action.file.mtime_ns)


def _discard(asides: Iterable[Place], place: Place, action: Action) -> None:
    """Unlink names of files whose bytes the file at `place` or the kept file has, too."""
    for each in asides:
        with closing(_opened(each, action.file)) as found:
            is_link = _is(each, action.keep) and found.status.st_nlink > 1
            if is_link or any(_has_bytes_of(found, it) for it in (place.path, action.keep.path)):
                each.unlink()


def _has_bytes_of(found: Held, path: str) -> bool:
    try:
        with _place(path) as place, closing(_opened(place, found.file)) as other:
            return digest_of_open(found.descriptor) == digest_of_open(other.descriptor)
    except (OSError, RefusedError):
        return False


def _remove_parts(intent: Intent, place: Place) -> None:
    """Remove the partial copies that killed runs left, beside the file and where it was to go."""
    with suppress(FileNotFoundError, RefusedError), _place(intent.target) as target:
        wholes = [each for there in (place, target) for each in (there, there.beside(intent.aside))]
        for part in (part_of(intent.aside, place), part_of(intent.aside, target)):
            if part.exists() and any(_begins(part, whole) for whole in wholes):
                part.unlink()


def _remove_copy(intent: Intent, aside: Held) -> None:
    """Remove the copy of a file that a run put aside: it was killed before the file was removed."""
    with (
        suppress(OSError, RefusedError),
        _place(intent.target) as target,
        closing(_opened(target, aside.file)) as copy,
    ):
        if copy.identity != aside.identity or copy.status.st_nlink > 1:
            remove(copy, aside, target.beside(intent.aside))


def _check_no_copy(intent: Intent, file: FileId) -> None:
    """Raise RefusedError if a copy of a file that has its name again is where the file was put."""
    is_copy = False
    with suppress(OSError, RefusedError), _place(intent.target) as target:
        is_copy = _is_as_left(target, file, None)
    if is_copy:
        raise RefusedError(Refusal.COPY_STAYS, intent.target)


def _begins(part: Place, whole: Place) -> bool:
    """Whether all bytes of a file are the first ones of another: a journal may name any file."""
    try:
        with open(part.open(), "rb") as one, open(whole.open(), "rb") as other:
            while chunk := one.read(1 << 20):
                if other.read(len(chunk)) != chunk:
                    return False
    except OSError:
        return False
    return True


def _is(place: Place, file: FileId) -> bool:
    """Whether a name leads to the regular file with this inode.

    Its device may have another number than before the computer was started again.
    """
    try:
        status = place.status()
    except FileNotFoundError:
        return False
    return stat.S_ISREG(status.st_mode) and status.st_ino == file.inode
