"""Sources in, bytes and text out: the only module that opens documents.

A file that changed since the walk is skipped, and no file can make the reader hang.
"""

from __future__ import annotations

import os
import stat
from collections import deque
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, suppress
from errno import ENOENT, ENOTDIR
from functools import lru_cache
from hashlib import blake2b
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from simdup.errors import SHORTAGES
from simdup.extract.cleanup import Mangled, NotReadable, check_length, unread_of
from simdup.extract.packed import JunkError, in_blocks, inner_name, unpacked
from simdup.extract.readers import NO_READERS, Identified, Readers, check_unpacks, kind
from simdup.extract.readers import edition as edition_of_documents
from simdup.extract.sniff import TEXTS
from simdup.records import Document, Reason, Skipped, Source, without_text
from simdup.settings import Limits, Settings
from simdup.storage.opening import open_to_read, reason_of
from simdup.text import noise as signs
from simdup.text.chunking import chunks_of
from simdup.text.encodings import Encoding, NotText, count_lost, decode, decode_chunks, detect
from simdup.text.encodings import edition as edition_of_texts
from simdup.text.spelling import flaws

if TYPE_CHECKING:
    from simdup.extract.archives import Archive

ReadChunks: TypeAlias = Callable[[Source, int | None], Generator[bytes]]

# Stands between the path of an archive and the name of a member.
INSIDE = "!/"

# Bytes read at once; few at first, since most binary files show there what they are.
HEAD, CHUNK = 1 << 16, 1 << 20


class Text(NamedTuple):
    """The text of a file, and its document, which has no features yet.

    For plain UTF-8, where text and bytes are equal, both digests are the same object.
    """

    text: str
    document: Document


class SkipError(Exception):
    """One file is skipped; raised where the reason is found, caught where the next is read."""

    def __init__(self, reason: Reason, detail: str = "", file: Document | None = None) -> None:
        super().__init__(reason, detail)
        self.reason, self.detail, self.file = reason, detail, file

    def at(self, path: str) -> Skipped:
        """Return the record of the file at this path."""
        return Skipped(path, self.reason, self.detail, self.file)


def edition(settings: Settings) -> dict[str, str]:
    """Keys that differ whenever the text read from a file may differ."""
    return {
        "reader": edition_of_texts(settings.encoding),
        "documents": edition_of_documents(settings.formats, settings.converters),
    }


def is_streamed(
    source: Source, readers: Readers = NO_READERS, read: ReadChunks | None = None
) -> bool:
    """Whether a file is read in chunks: too large, and no document. Raises SkipError.

    `read` yields its bytes, here and below: `read_chunks`, or `read_open` of an open file.
    """
    is_long = source.size > readers.limits.whole_bytes
    if not is_long or readers.are_idle:
        return is_long
    with closing((read or read_chunks)(source, HEAD)) as chunks:
        found = readers.identify(next(chunks, b""), source.path, is_file=source.archive is None)
        return not (found.packing or _is_extracted(found, source.size, readers.limits))


def read_text(
    source: Source,
    readers: Readers = NO_READERS,
    read: ReadChunks | None = None,
    known: Encoding | None = None,
) -> Text:
    """The text of a file, read at once; `readers` unpack it and extract the text of documents.

    `known` is the encoding of plain text, if not the one that the readers have. Raises SkipError.
    """
    known = known or readers.encoding
    with closing((read or read_chunks)(source, None)) as chunks:
        head = next(chunks, b"")
        found = readers.identify(head, source.path, is_file=source.archive is None)
        whole = chain((head,), chunks)
        if found.packing:
            return _unpacked(whole, found.packing, source, known, readers)
        return _content(whole, found, source, known, readers)


def _unpacked(
    chunks: Iterator[bytes], packing: str, source: Source, known: Encoding | None, readers: Readers
) -> Text:
    """The text packed in a file. Raises SkipError."""
    if source.size > readers.limits.document_bytes:
        raise _too_large(readers.limits)
    of_bytes, junk = blake2b(digest_size=16), list[str]()
    raw = _hashed(chunks, of_bytes)
    try:
        check_unpacks(packing)
        parts = in_blocks(_until_junk(unpacked(raw, packing, source.size), junk), HEAD)
        head = next(parts, b"")
        inner = readers.identify(head, inner_name(source.path), is_file=False)
        found = _content(chain((head,), parts), inner, source, known, readers)
        check_length(len(found.text))
    except (SkipError, NotReadable) as error:
        skip = error if isinstance(error, SkipError) else _no_text(error, source, packing, b"")
        if skip.reason is Reason.BINARY:
            skip.detail = f"{packing}, {skip.detail}"
        if skip.file:
            form, outer = skip.file.encoding, None if skip.file.encoding == packing else packing
            deque(raw, maxlen=0)  # for the digest
            skip.file = without_text(source, form, of_bytes.digest(), outer)
        raise skip from None
    deque(raw, maxlen=0)
    document = found.document._replace(bytes_digest=of_bytes.digest(), packing=packing)
    return found._replace(document=document._replace(doubt=signs.JUNK) if junk else document)


def _hashed(chunks: Iterator[bytes], of_bytes: blake2b) -> Iterator[bytes]:
    """Yield the chunks, and add each to a hash."""
    for chunk in chunks:
        of_bytes.update(chunk)
        yield chunk


def _until_junk(parts: Iterator[bytes], junk: list[str]) -> Iterator[bytes]:
    """Yield what is packed; if something else follows, add to `junk` what that is."""
    try:
        yield from parts
    except JunkError as error:
        junk.append(str(error))


def _content(
    chunks: Iterator[bytes],
    found: Identified,
    source: Source,
    known: Encoding | None,
    readers: Readers,
) -> Text:
    """The text of some data in a file. Raises SkipError."""
    if _is_extracted(found, source.size, readers.limits):
        data = b"".join(chunks)
        extracted = _extracted(data, readers.settled(found, data), source, readers)
        if extracted is not None:
            return extracted
    else:
        head = next(chunks, b"")
        _check_head(head, known)
        data = b"".join((head, *chunks))
    encoding = _encoding(data, known, complete=True)
    text = decode(data, encoding)
    noise = signs.NUMBERS if signs.is_numbers(text) else None
    return _text(text, encoding, data, source, noise)


def _text(
    text: str, encoding: Encoding, data: bytes, source: Source, noise: str | None = None
) -> Text:
    """The record of a text in some data."""
    encoded, of_bytes = text.encode("utf-8", "surrogatepass"), digest(data)
    of_text = of_bytes if encoded == data else digest(encoded)
    noise = noise or (signs.REDIRECTION if signs.is_redirection(data) else None)
    flaw = flaws(text, encoded)
    doubt = signs.MANGLED if isinstance(text, Mangled) else None
    doubt = signs.LOOK_ALIKE if flaw.look_alikes else doubt
    doubt = signs.DAMAGED if signs.is_damaged(signs.damage(text) + flaw.twice, len(text)) else doubt
    lost = count_lost(text) + flaw.twice
    about = *encoding, lost, 0, of_bytes, of_text, b"", noise, None, doubt
    return Text(str(text), Document(source, *about, unread=unread_of(text)))


def _is_extracted(found: Identified, size: int, limits: Limits) -> bool:
    """Whether readers are asked for the text. Raises SkipError for too large a document.

    A package that large counts as binary, since only its end tells what it holds. Text files
    that are streamed are plain text, whatever else is in them.
    """
    if size > limits.whole_bytes and found.format in TEXTS:
        return False
    is_large = size > limits.document_bytes
    if is_large and found.written_as:
        raise _too_large(limits)
    return found.written_as is not None or (found.is_package and not is_large)


def _too_large(limits: Limits) -> SkipError:
    return SkipError(Reason.UNEXTRACTED, f"larger than {limits.document_bytes:,} bytes")


def read_again(document: Document, readers: Readers) -> Text:
    """The text of a document, read in the same way as before. Raises SkipError."""
    if document.format != "text":
        return read_text(document.source, readers)
    known = Encoding(document.encoding, document.confidence)
    return read_text(document.source, readers if document.packing else NO_READERS, known=known)


def _extracted(data: bytes, found: Identified, source: Source, readers: Readers) -> Text | None:
    """The text of a document; None if the data turns out to be none. Raises SkipError."""
    form = found.written_as or ""
    try:
        text = readers.text(found, data)
    except NotReadable as trouble:
        raise _no_text(trouble, source, form, data) from None
    return None if text is None else _text(text, Encoding(form, 1.0), data, source)


def _no_text(trouble: NotReadable, source: Source, form: str, data: bytes) -> SkipError:
    """The error that skips a file whose text cannot be extracted."""
    return SkipError(trouble.kind, trouble.reason, without_text(source, form, digest(data)))


def _encoding(head: bytes, known: Encoding | None, *, complete: bool) -> Encoding:
    found = known or detect(head, complete=complete)
    if isinstance(found, NotText):
        raise SkipError(Reason.BINARY, found.detail)
    return found


class StreamedText:
    """A large file that is decoded in chunks, with digests and counts of what was read."""

    def __init__(self, source: Source, readers: Readers, read: ReadChunks | None = None) -> None:
        """Find the encoding, unless the readers have one; `read` as for `is_streamed`.

        Raises SkipError.
        """
        self._source, self._read = source, read or read_chunks
        self._encoding = readers.encoding or self._detected(readers.limits.whole_bytes)
        self._of_bytes, self._of_text = blake2b(digest_size=16), blake2b(digest_size=16)
        self._damaged = self._length = self._lost = 0
        self._has_numbers, self._has_look_alikes = True, False

    def _detected(self, size: int) -> Encoding:
        """The encoding by the first `size` bytes. Raises SkipError."""
        with closing(self._read(self._source, size)) as chunks:
            first = next(chunks, b"")
            _check_head(first, None)
            return _encoding(b"".join((first, *chunks)), None, complete=False)

    def pieces(self) -> Iterator[str]:
        """Yield the text in pieces. Raises SkipError."""
        chunks = _hashed(self._read(self._source, None), self._of_bytes)
        for text in decode_chunks(chunks, self._encoding):
            encoded = text.encode("utf-8", "surrogatepass")
            self._of_text.update(encoded)
            flaw = flaws(text, encoded)
            self._has_look_alikes = self._has_look_alikes or flaw.look_alikes > 0
            self._lost += count_lost(text) + flaw.twice
            self._damaged += signs.damage(text) + flaw.twice
            self._length += len(text)
            # The last piece is empty.
            self._has_numbers = self._has_numbers and (not text or signs.is_numbers(text))
            yield from chunks_of(text)

    def document(self) -> Document:
        """Return the document, which has no features yet, once all pieces were taken."""
        noise = signs.NUMBERS if self._has_numbers and self._length else None
        doubt = signs.LOOK_ALIKE if self._has_look_alikes else None
        doubt = signs.DAMAGED if signs.is_damaged(self._damaged, self._length) else doubt
        digests = self._of_bytes.digest(), self._of_text.digest(), b""
        about = *self._encoding, self._lost, 0, *digests, noise, None, doubt
        return Document(self._source, *about)


def _check_head(head: bytes, known: Encoding | None) -> None:
    """Raise SkipError if the first bytes of a file show that it is binary."""
    if known is None and b"\0" in head:
        _encoding(head, None, complete=False)


def read_chunks(source: Source, limit: int | None = None) -> Generator[bytes]:
    """Yield a file's bytes in chunks, the first `limit` or all.

    Raises SkipError if the file is not what the walk saw, before or after it is read.
    """
    if source.archive is not None:
        yield from _member_chunks(source, source.archive, limit)
        return
    try:
        descriptor = open_to_read(source.path)  # a FIFO may have taken the file's place
    except (OSError, ValueError) as error:
        raise _trouble(error) from None
    try:
        yield from _bytes_of(descriptor, source, limit)
    finally:
        os.close(descriptor)


@lru_cache(maxsize=1)
def archive_in(source: Source) -> Archive | None:
    """The archive in a file; None if it is a document such as DOCX. Raises SkipError.

    The archive opened last stays in memory until `forget_archive`, since members are read one
    after another.
    """
    from simdup.extract.archives import opened  # noqa: PLC0415  imports zipfile and tarfile

    with closing(read_chunks(source)) as chunks:
        data = b"".join(chunks)
    if kind(data, source.path) not in {None, "mbox", "eml"}:
        return None
    try:
        return opened(data, source.path)
    except NotReadable as trouble:
        raise SkipError(trouble.kind, trouble.reason) from None


def forget_archive() -> None:
    """Free the memory of the archive that was opened last."""
    archive_in.cache_clear()


def _member_chunks(member: Source, source: Source, limit: int | None) -> Iterator[bytes]:
    """Yield the bytes of a member of the archive at a source. Raises SkipError."""
    archive = archive_in(source) or {}
    found = archive.get(member.path[len(source.path) + len(INSIDE) :])
    if found is None:
        raise SkipError(Reason.CHANGED)
    try:
        data = found.read()
    except NotReadable as trouble:
        raise SkipError(trouble.kind, trouble.reason) from None
    if len(data) != member.size:
        raise SkipError(Reason.UNEXTRACTED, "damaged member of an archive")
    yield data[:limit]


def read_open(descriptor: int, source: Source, limit: int | None = None) -> Generator[bytes]:
    """Yield the bytes of a file that is open already, and leave it open. Raises SkipError."""
    with suppress(OSError):  # not a regular file, which is refused below
        os.lseek(descriptor, 0, os.SEEK_SET)
    yield from _bytes_of(descriptor, source, limit)


def _bytes_of(descriptor: int, source: Source, limit: int | None) -> Iterator[bytes]:
    """Yield the bytes of an open file from where it stands. Raises SkipError."""
    try:
        _check(source, descriptor)
        left, most = source.size if limit is None else min(limit, source.size), HEAD
        while left > 0:
            chunk = os.read(descriptor, min(left, most))
            if not chunk:
                raise SkipError(Reason.CHANGED, "shorter than before")
            left, most = left - len(chunk), CHUNK
            yield chunk
        _check(source, descriptor)
    except OSError as error:
        raise _trouble(error) from None


def check_unchanged(source: Source) -> None:
    """Raise SkipError if a file, or the archive that it is in, is not what the walk saw."""
    source = source.archive or source
    try:
        _check(source, source.path)
    except (OSError, ValueError) as error:
        raise _trouble(error) from None


def _check(source: Source, file: int | str) -> None:
    status = os.stat(file)
    if not stat.S_ISREG(status.st_mode):
        raise SkipError(Reason.SPECIAL)
    if (status.st_size, status.st_mtime_ns) != (source.size, source.mtime_ns):
        raise SkipError(Reason.CHANGED)


def _trouble(error: OSError | ValueError) -> SkipError:
    """The SkipError for an error about a file. Raises the error itself if it is a shortage."""
    if isinstance(error, OSError) and error.errno in SHORTAGES:
        raise error
    if isinstance(error, OSError) and error.errno in {ENOENT, ENOTDIR}:
        return SkipError(Reason.VANISHED)
    return SkipError(Reason.UNREADABLE, reason_of(error))


def digest_of(source: Source) -> bytes:
    """The `digest` of a file's bytes. Raises SkipError."""
    of_bytes = blake2b(digest_size=16)
    with closing(read_chunks(source)) as chunks:
        for chunk in chunks:
            of_bytes.update(chunk)
    return of_bytes.digest()


def digest(data: bytes) -> bytes:
    """128 bits that stand for the data, by BLAKE2b."""
    return blake2b(data, digest_size=16).digest()
