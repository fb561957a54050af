"""Checks that two files are still what a plan says, right before one of them goes.

The two are opened in folders that are reached through no symbolic link, and stay open until the
action is over. Their bytes are read from the open descriptors, never again through the paths.
"""

from __future__ import annotations

import os
import stat
from collections import deque
from contextlib import ExitStack, closing
from dataclasses import dataclass
from errno import ELOOP, ENOENT, ENOTDIR
from functools import partial
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

from simdup.clean.protection import is_noise
from simdup.clean.records import Act
from simdup.clean.refusals import Refusal, RefusedError
from simdup.clean.rules import is_under
from simdup.clean.system import Place
from simdup.files.read import (
    SkipError,
    StreamedText,
    encoding_of_large,
    is_streamed,
    read_open,
    read_text,
)
from simdup.fingerprint.features import all_features, concatenated, merged, segments
from simdup.match.verify import cosines
from simdup.records import Kind, Reason, Source
from simdup.settings import FORMATS
from simdup.storage.opening import identity_of, reason_of
from simdup.text.encodings import encoding_named

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from simdup.clean.records import Action, Consents, FileId
    from simdup.extract.readers import Readers
    from simdup.fingerprint.features import Features
    from simdup.recipe import Recipe
    from simdup.settings import Settings


@dataclass(slots=True)
class Held:
    """A file of a plan that is open, and is the one that the plan means; `close` it."""

    file: FileId
    place: Place
    descriptor: int
    status: os.stat_result
    is_kept: bool

    def refused(self, refusal: Refusal, detail: str = "") -> RefusedError:
        """The error to raise about this file; it says so if it is the kept one."""
        return RefusedError(_about(refusal, is_kept=self.is_kept), detail)

    def check_unchanged(self) -> None:
        """Raise RefusedError if the file or its name changed since it was opened."""
        now = os.fstat(self.descriptor)
        if _state(now) != _state(self.status):
            raise self.refused(Refusal.CHANGING)
        if not self.is_at(self.place):
            raise self.refused(Refusal.CHANGING)

    def look_again(self) -> None:
        """Update `status` after this run changed the number of names of the file."""
        self.status = os.fstat(self.descriptor)

    @property
    def identity(self) -> tuple[int, int]:
        """Device and inode of the open file."""
        return identity_of(self.status)

    def is_at(self, place: Place) -> bool:
        """Whether a name leads to this very file."""
        try:
            return place.identity() == self.identity
        except OSError:
            return False

    def is_whole(self) -> bool:
        """Whether its size and mtime are still as in `status`; its names may have changed."""
        now = os.fstat(self.descriptor)
        return (now.st_size, now.st_mtime_ns) == (self.status.st_size, self.status.st_mtime_ns)

    @property
    def source(self) -> Source:
        """The open file as the `Source` that readers of text take."""
        status = self.status
        times = status.st_mtime_ns, status.st_ctime_ns
        return Source(self.file.path, status.st_size, *times, status.st_dev, status.st_ino)

    def close(self) -> None:
        """Close the file and its folder."""
        os.close(self.descriptor)
        self.place.close()


_OF_KEPT = {
    Refusal.GONE: Refusal.KEPT_GONE,
    Refusal.NOT_A_FILE: Refusal.KEPT_GONE,
    Refusal.CHANGED: Refusal.KEPT_CHANGED,
    Refusal.CHANGING: Refusal.KEPT_CHANGED,
}


def held(file: FileId, changed: Mapping[tuple[int, int], int], *, is_kept: bool = False) -> Held:
    """Open a file of a plan, if it is what the plan says. Raises RefusedError and OSError.

    `changed` has the ctime of files that this run changed itself, by device and inode.
    """
    place = _place(file, is_kept=is_kept)
    with ExitStack() as unless_right:
        unless_right.callback(place.close)
        try:
            descriptor = _opened(place, is_kept=is_kept)
            unless_right.callback(os.close, descriptor)
            found = Held(file, place, descriptor, os.fstat(descriptor), is_kept)
            _check_state(found, changed)
        except FileNotFoundError:
            raise RefusedError(_about(Refusal.GONE, is_kept=is_kept)) from None
        unless_right.pop_all()
    return found


def _place(file: FileId, *, is_kept: bool) -> Place:
    """Return the place of a file. Raises RefusedError and OSError."""
    try:
        return Place.of(file.path)
    except ValueError:
        raise RefusedError(Refusal.BAD_PATH) from None
    except OSError as error:
        if error.errno not in {ENOTDIR, ELOOP, ENOENT}:
            raise
        if is_kept:
            raise RefusedError(Refusal.KEPT_GONE, Refusal.LINK_IN_PATH.value) from None
        raise RefusedError(Refusal.LINK_IN_PATH) from None


def _about(refusal: Refusal, *, is_kept: bool) -> Refusal:
    return _OF_KEPT.get(refusal, refusal) if is_kept else refusal


def _opened(place: Place, *, is_kept: bool) -> int:
    """Open a regular file. Raises RefusedError for anything else, and OSError."""
    if not stat.S_ISREG(place.status().st_mode):
        raise RefusedError(_about(Refusal.NOT_A_FILE, is_kept=is_kept))
    return place.open()


def _check_state(found: Held, changed: Mapping[tuple[int, int], int]) -> None:
    status, file = found.status, found.file
    if found.place.identity() != identity_of(status):
        raise found.refused(Refusal.CHANGING)
    ctime_ns = changed.get(identity_of(status), file.ctime_ns)
    if (*identity_of(status), *_state(status)) != (*file.state[:-1], ctime_ns):
        raise found.refused(Refusal.CHANGED)


def _state(status: os.stat_result) -> tuple[int, int, int]:
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns


def check_paths(action: Action, roots: Iterable[str]) -> None:
    """Raise RefusedError for a file outside the roots, or in a folder that is never cleaned."""
    for file in (action.file, action.keep):
        if not any(is_under(file.path, root) for root in roots):
            raise RefusedError(Refusal.OUTSIDE, file.path)
        if is_noise(file.path):
            raise RefusedError(Refusal.NOISE, file.path)


def check_consents(action: Action, consents: Consents) -> None:
    """Raise RefusedError for an act that the user did not allow, as far as the plan shows it."""
    kind = action.file.kind_with(action.keep)
    if action.act is Act.DELETE and not consents.permanently:
        raise RefusedError(Refusal.NOT_ALLOWED, "delete, without --permanently")
    if action.act.is_of_bytes and kind is not Kind.IDENTICAL_BYTES:
        raise RefusedError(Refusal.NOT_ALLOWED, f"{action.act.value} takes identical bytes only")
    if kind is Kind.NEAR and consents.near is None:
        raise RefusedError(Refusal.NOT_ALLOWED, "near, without --near")
    if kind is Kind.IDENTICAL_TEXT and not (consents.text or consents.formats):
        raise RefusedError(Refusal.NOT_ALLOWED, "identical text, without --text or --formats-too")


def check_same(
    action: Action,
    files: tuple[Held, Held],
    consents: Consents,
    settings: Settings,
    readers: Readers,
) -> None:
    """Read a file and the kept one whole. Raises RefusedError unless they are as planned."""
    kind = action.file.kind_with(action.keep)
    if kind is Kind.IDENTICAL_BYTES:
        _check_bytes(*files)
        return
    is_near = kind is Kind.NEAR
    wanted = settings.recipe if is_near else None
    readings = [_reading(each, settings, readers, wanted) for each in files]
    is_document = any(each.is_document for each in readings)
    if is_document and not consents.formats:
        what = "near, a document" if is_near else "identical text"
        raise RefusedError(Refusal.NOT_ALLOWED, f"{what}, without --formats-too")
    if is_near:
        _check_alike(readings, consents)
    elif not (is_document or consents.text):
        raise RefusedError(Refusal.NOT_ALLOWED, "identical text, without --text")


def _check_alike(readings: Iterable[_Reading], consents: Consents) -> None:
    """Raise RefusedError unless two texts are as similar as the user wants them to be."""
    features = concatenated([each.features for each in readings if each.features is not None])
    similarity = float(cosines(features, np.array([0]), np.array([1]))[0])
    if consents.near is None or similarity < consents.near:
        raise RefusedError(Refusal.NOT_ALIKE, f"{similarity:.3f} alike")


def _check_bytes(file: Held, kept: Held) -> None:
    """Raise RefusedError unless two files are the same, byte for byte, and as planned."""
    of_bytes, at = blake2b(digest_size=16), 0
    try:
        with closing(read_open(file.descriptor, file.source)) as chunks:
            for chunk in chunks:
                of_bytes.update(chunk)
                if _read_at(kept, len(chunk), at) != chunk:
                    raise RefusedError(Refusal.NOT_THE_SAME, "their bytes differ")
                at += len(chunk)
    except SkipError as skip:
        raise file.refused(Refusal.CHANGED, skip.reason.value) from None
    if of_bytes.digest() != file.file.byte_digest or at != kept.status.st_size:
        raise RefusedError(Refusal.NOT_THE_SAME, "its bytes are not those of the plan")


def _read_at(kept: Held, size: int, at: int) -> bytes:
    """Return bytes of the kept file, or fewer at its end. Raises RefusedError."""
    found = b""
    try:
        os.lseek(kept.descriptor, at, os.SEEK_SET)
        while more := os.read(kept.descriptor, size - len(found)):
            found += more
    except OSError as error:
        raise kept.refused(Refusal.CHANGED, reason_of(error)) from None
    return found


@dataclass(frozen=True, slots=True)
class _Reading:
    """Whether a file that was read again is a document, and the features of its text."""

    is_document: bool
    features: Features | None
    """None unless they were asked for."""


def _reading(held: Held, settings: Settings, readers: Readers, recipe: Recipe | None) -> _Reading:
    """Read the text of an open file; with a recipe, its features too.

    Raises RefusedError unless bytes and text are as planned.
    """
    known = None if settings.encoding is None else encoding_named(settings.encoding)
    read, source = partial(read_open, held.descriptor), held.source
    features = None
    try:
        if is_streamed(source, readers, read):
            streamed = StreamedText(source, known or encoding_of_large(source, read), read)
            if recipe is None:
                deque(streamed.pieces(), maxlen=0)
            else:
                features = merged(segments(streamed.pieces(), recipe), recipe)
            text = streamed.about()
        else:
            text = read_text(source, known, readers, read)
            features = all_features([text.text], recipe) if recipe else None
    except SkipError as skip:
        refusal = Refusal.CHANGED if skip.reason is Reason.CHANGED else Refusal.NO_TEXT
        raise held.refused(refusal, skip.detail or skip.reason.value) from None
    if text.bytes_digest != held.file.byte_digest:
        raise held.refused(Refusal.CHANGED)
    if text.text_digest != held.file.text_digest:
        raise held.refused(Refusal.NOT_THE_SAME, "its text is not that of the plan")
    if text.doubt is not None:
        raise held.refused(Refusal.NO_TEXT, text.doubt)
    is_document = text.encoding.name in FORMATS or text.packing is not None
    return _Reading(is_document, features)
