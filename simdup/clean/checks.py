"""Checks that two files are still what a plan says, right before one of them goes.

The two are opened in folders that are reached through no symbolic link, and stay open until the
action is over. Their bytes are read from the open descriptors, never again through the paths.

The yardstick of texts is always the same, for plans too: all formats, no converters, the default
recipe, and detected encodings unless the user's own command line names one. What a result or a
plan says of any of these may come from somebody else, and is ignored.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from errno import ELOOP, ENOENT, ENOTDIR
from functools import partial
from hashlib import blake2b
from typing import NamedTuple

import numpy as np

from simdup.clean.outcome import RefusedError
from simdup.clean.plan import Action, Consents, FileId
from simdup.clean.protection import is_noise
from simdup.clean.refusals import Refusal
from simdup.clean.system import Place
from simdup.clean.terms import document_refusal
from simdup.extract.readers import Readers
from simdup.files.read import ReadChunks, SkipError, StreamedText, is_streamed, read_open, read_text
from simdup.findings.keeper import is_under
from simdup.findings.versions import are_versions
from simdup.fingerprint.features import Features, all_features, concatenated, merged, segments
from simdup.fingerprint.signs import words_in_bytes
from simdup.match.verify import cosines
from simdup.recipe import Recipe
from simdup.records import Document, Kind, Reason, Source
from simdup.settings import FORMATS
from simdup.storage.opening import identity_of, reason_of
from simdup.text.facts import Facts, OtherFacts

_RECIPE = Recipe()


class FileRead(NamedTuple):
    """A document in a file, and the features and the facts of its text."""

    document: Document
    features: Features
    facts: Facts


class Reading:
    """Reads files as they are now; close it."""

    def __init__(self, encoding: str | None) -> None:
        """Take plain texts to be in this encoding; None: it is detected for each."""
        self._readers = Readers(FORMATS, encoding=encoding)
        self.close = self._readers.close

    def document(self, source: Source, read: ReadChunks | None = None) -> FileRead:
        """Read a file once. Raises SkipError."""
        facts = Facts()
        if is_streamed(source, self._readers, read):
            streamed = StreamedText(source, self._readers, read)
            features = merged(segments(facts.noted(streamed.pieces()), _RECIPE), _RECIPE)
            document = streamed.document()
        else:
            text, document = read_text(source, self._readers, read)
            features = all_features([*facts.noted([text])], _RECIPE)
        words = b"" if features.words is None else words_in_bytes(features.words)[0]
        count = int(features.counts[0])
        return FileRead(document._replace(features=count, words_digest=words), features, facts)

    def again(self, known: Document) -> FileRead | None:
        """A document as it is now; None if its file changed or is unreadable."""
        try:
            found = self.document(known.source)
        except SkipError:
            return None
        return found if found.document.bytes_digest == known.bytes_digest else None


def similarity(one: FileRead, other: FileRead) -> float:
    """The exact cosine of two texts."""
    found = cosines(concatenated([one.features, other.features]), np.array([0]), np.array([1]))
    return float(found[0])


def facts_refusal(one: FileRead, other: FileRead, *, is_chain: bool = True) -> str:
    """Why the facts of two near texts forbid to remove one of them; "" if they do not.

    They do if each text has facts that the other lacks, unless words in the names of both files
    make them versions. `is_chain` is false if the scan found that they are not versions.
    """
    facts = OtherFacts.of(one.facts, other.facts)
    if not facts.may_be_exchanged:
        return ""
    are_two = is_chain and are_versions(one.document, other.document)
    return "" if are_two else facts.in_words()


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
        if _state(now) != _state(self.status) or not self.is_at(self.place):
            raise self.refused(Refusal.CHANGING)

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


def held(file: FileId, *, is_kept: bool = False) -> Held:
    """Open a file of a plan, if it is what the plan says. Raises RefusedError and OSError.

    Its bytes are read by `check_same`, so its ctime proves nothing more.
    """
    behind_link = Refusal.LINK_IN_PATH
    refusal = (Refusal.KEPT_GONE, behind_link.value) if is_kept else (behind_link, "")
    try:
        place = place_at(file.path, *refusal)
    except ValueError:
        raise RefusedError(Refusal.BAD_PATH) from None
    with ExitStack() as unless_right:
        unless_right.callback(place.close)
        try:
            if not stat.S_ISREG(place.status().st_mode):
                raise RefusedError(_about(Refusal.NOT_A_FILE, is_kept=is_kept))
            descriptor = place.open()
            unless_right.callback(os.close, descriptor)
            found = Held(file, place, descriptor, os.fstat(descriptor), is_kept)
            _check_state(found)
        except FileNotFoundError:
            raise RefusedError(_about(Refusal.GONE, is_kept=is_kept)) from None
        unless_right.pop_all()
    return found


def place_at(path: str, refusal: Refusal, detail: str) -> Place:
    """Return the place with a path; its folder being gone or behind a link is a `refusal`.

    Raises RefusedError, ValueError and OSError.
    """
    try:
        return Place.of(path)
    except OSError as error:
        if error.errno in {ENOTDIR, ELOOP, ENOENT}:
            raise RefusedError(refusal, detail) from None
        raise


def _about(refusal: Refusal, *, is_kept: bool) -> Refusal:
    return refusal.of_kept if is_kept else refusal


def _check_state(found: Held) -> None:
    status = found.status
    if found.place.identity() != identity_of(status):
        raise found.refused(Refusal.CHANGING)
    if (*identity_of(status), *_state(status)[:-1]) != found.file.state[:-1]:
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


def check_same(
    action: Action, files: tuple[Held, Held], consents: Consents, reading: Reading
) -> None:
    """Read a file and the kept one whole. Raises RefusedError unless they are as planned.

    The planner's own functions decide, by the texts as they are now. Of the plan only the digests
    count: they choose what is asked, and those of bytes must be the ones that were read.
    """
    kind = action.kind
    if kind is Kind.IDENTICAL_BYTES:
        _check_bytes(*files)
        return
    reads = (_read(each, reading) for each in files)
    (one, *_), (other, *_) = file, kept = next(reads), next(reads)
    # Which of two near files is a newer version was decided when the plan was made.
    is_decided = action.is_reviewed or kind is Kind.NEAR
    why = document_refusal(action, one, other, replace(consents, hand=is_decided))
    if why and why.refusal in {Refusal.UNCERTAIN, Refusal.SHORT}:
        raise RefusedError(Refusal.UNFIT, str(why))
    if kind is Kind.IDENTICAL_TEXT and one.text_digest != other.text_digest:
        raise RefusedError(Refusal.NOT_THE_SAME, "their texts differ")
    if kind is Kind.SAME_WORDS and one.kind_with(other) is Kind.NEAR:
        differ = ", ".join(one.other_signs(other)) or "words"
        raise RefusedError(Refusal.NOT_THE_SAME, f"their {differ} differ")
    if why:
        raise RefusedError(Refusal.NOT_ALLOWED, str(why))
    if kind is Kind.NEAR:
        alike = similarity(file, kept)
        if consents.near is None or alike < consents.near:
            raise RefusedError(Refusal.NOT_ALIKE, f"{alike:.3f} alike")
        if not action.is_reviewed and (facts := facts_refusal(file, kept)):
            raise RefusedError(Refusal.NOT_ALIKE, facts)


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


def _read(held: Held, reading: Reading) -> FileRead:
    """Return the document in an open file. Raises RefusedError unless its bytes are as planned."""
    try:
        found = reading.document(held.source, partial(read_open, held.descriptor))
    except SkipError as skip:
        refusal = Refusal.CHANGED if skip.reason is Reason.CHANGED else Refusal.NO_TEXT
        raise held.refused(refusal, skip.detail or skip.reason.value) from None
    if found.document.bytes_digest != held.file.byte_digest:
        raise held.refused(Refusal.CHANGED)
    return found
