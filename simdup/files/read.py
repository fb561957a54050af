"""Sources in, bytes and text out: the only module that opens documents.

A file that changed since the walk is skipped, and none can make the reader hang.
"""

from __future__ import annotations

import os
import stat
from contextlib import closing
from dataclasses import dataclass
from errno import ENOENT, ENOTDIR
from hashlib import blake2b
from itertools import chain
from typing import TYPE_CHECKING

from simdup.errors import SHORTAGES
from simdup.extract.cleanup import NotReadable
from simdup.extract.readers import NotInstalled
from simdup.extract.readers import edition as edition_of_documents
from simdup.extract.sandbox import ReaderFailed
from simdup.records import Reason, Skipped, Source, without_text
from simdup.storage.opening import open_to_read, reason_of
from simdup.text.encodings import Encoding, NotText, decode, detect
from simdup.text.encodings import edition as edition_of_texts
from simdup.text.noise import NUMBERS, REDIRECTION, is_numbers, is_redirection

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence

    from simdup.extract.readers import Readers
    from simdup.records import Document
    from simdup.settings import Converter

    ReadChunks = Callable[[Source, int | None], Generator[bytes]]

# Longer files are streamed; their encoding is detected from this many first bytes.
WHOLE = 1 << 24

# Larger documents (as opposed to plain texts) are skipped.
LARGEST_DOCUMENT = 1 << 28

# Bytes read at once; few at first, since most binary files show there what they are.
HEAD, CHUNK = 1 << 16, 1 << 20


@dataclass(frozen=True, slots=True)
class Text:
    """The text of a file, how it was decoded, and digests of its bytes and its text."""

    text: str
    encoding: Encoding
    bytes_digest: bytes
    text_digest: bytes
    """The same object as `bytes_digest` for plain UTF-8, where text and bytes are one."""
    noise: str | None = None
    """See `records.Document`."""


class SkipError(Exception):
    """One file is skipped; raised where the reason is found, caught where the next is read."""

    def __init__(self, reason: Reason, detail: str = "", file: Document | None = None) -> None:
        super().__init__(reason, detail)
        self.reason, self.detail, self.file = reason, detail, file

    def at(self, path: str) -> Skipped:
        """Return the record of the file at this path."""
        return Skipped(path, self.reason, self.detail, self.file)


def edition(
    encoding: str | None, formats: Sequence[str], converters: Sequence[Converter]
) -> dict[str, str]:
    """Keys of all that decides the text of a file: they differ whenever it may be another."""
    return {
        "reader": edition_of_texts(encoding),
        "documents": edition_of_documents(formats, converters),
    }


def is_streamed(
    source: Source, readers: Readers | None = None, read: ReadChunks | None = None
) -> bool:
    """Whether a file is read in chunks: too large, and no document. Raises SkipError.

    `read` is what yields its bytes, here and below: `read_chunks`, or `read_open` of one file.
    """
    if source.size <= WHOLE or readers is None or readers.are_idle:
        return source.size > WHOLE
    with closing((read or read_chunks)(source, HEAD)) as chunks:
        return not _takes(readers, next(chunks, b""), source)


def read_text(
    source: Source,
    known: Encoding | None,
    readers: Readers | None = None,
    read: ReadChunks | None = None,
) -> Text:
    """The text of a file, read at once; `readers` extract the text of documents.

    `known` is the encoding of plain text, or None to detect it. Raises SkipError.
    """
    with closing((read or read_chunks)(source, None)) as chunks:
        head = next(chunks, b"")
        if readers is not None and _takes(readers, head, source):
            data = b"".join((head, *chunks))
            extracted = _extracted(data, source, readers)
            if extracted is not None:
                return extracted
        else:
            data = b"".join(_unless_binary(chain((head,), chunks), known))
    encoding = _encoding(data, known, complete=True)
    text, of_bytes = decode(data, encoding), digest(data)
    encoded = text.encode("utf-8", "surrogatepass")
    of_text = of_bytes if encoded == data else digest(encoded)
    noise = NUMBERS if is_numbers(text) else _redirection(data)
    return Text(text, encoding, of_bytes, of_text, noise)


def _takes(readers: Readers, head: bytes, source: Source) -> bool:
    """Whether `readers` are asked for the text. Raises SkipError for too large a document.

    A zip file that large is taken for binary, since only its end tells what it holds.
    """
    if source.size <= LARGEST_DOCUMENT:
        return readers.take(head, source.path)
    if readers.know(head, source.path):
        raise SkipError(Reason.UNEXTRACTED, f"larger than {LARGEST_DOCUMENT:,} bytes")
    return False


def read_again(document: Document, readers: Readers | None) -> Text:
    """The text of a document, read in the same way as before. Raises SkipError."""
    if document.format != "text":
        return read_text(document.source, None, readers)
    return read_text(document.source, Encoding(document.encoding, document.confidence))


def _extracted(data: bytes, source: Source, readers: Readers) -> Text | None:
    """The text of a document; None if the file turns out not to be one. Raises SkipError."""
    try:
        found = readers.text(data, source.path)
    except NotInstalled as missing:
        file = _without_text(data, source, readers)
        raise SkipError(Reason.MISSING_EXTRA, missing.reason, file) from None
    except ReaderFailed as failed:
        raise SkipError(Reason.UNREADABLE, failed.reason) from None
    except NotReadable as trouble:
        file = _without_text(data, source, readers)
        raise SkipError(Reason.UNEXTRACTED, trouble.reason, file) from None
    if found is None:
        return None
    text, kind = found
    of_text = digest(text.encode("utf-8", "surrogatepass"))
    return Text(text, Encoding(kind, 1.0), digest(data), of_text, _redirection(data))


def _redirection(data: bytes) -> str | None:
    return REDIRECTION if is_redirection(data) else None


def _without_text(data: bytes, source: Source, readers: Readers) -> Document:
    """The record of a document whose text cannot be extracted."""
    kind = readers.kind(data, source.path) or ""  # always known of what a reader has refused
    return without_text(source, kind, digest(data))


def _encoding(head: bytes, known: Encoding | None, *, complete: bool) -> Encoding:
    found = known or detect(head, complete=complete)
    if isinstance(found, NotText):
        raise SkipError(Reason.BINARY, found.detail)
    return found


def encoding_of_large(source: Source, read: ReadChunks | None = None) -> Encoding:
    """The encoding of a large file, by its first WHOLE bytes. Raises SkipError."""
    with closing((read or read_chunks)(source, WHOLE)) as chunks:
        head = b"".join(_unless_binary(chunks, None))
    return _encoding(head, None, complete=False)


def _unless_binary(chunks: Iterator[bytes], known: Encoding | None) -> Iterator[bytes]:
    """Yield the chunks. Raises SkipError if the first chunk shows that the file is binary."""
    head = next(chunks, b"")
    if known is None and b"\0" in head:
        _encoding(head, None, complete=False)
    yield head
    yield from chunks


def read_chunks(source: Source, limit: int | None = None) -> Generator[bytes]:
    """Yield a file's bytes in chunks, the first `limit` or all.

    Raises SkipError if the file is not what the walk saw, before or after it is read.
    """
    try:
        descriptor = open_to_read(source.path)  # a FIFO may have taken the file's place
    except (OSError, ValueError) as error:
        raise _trouble(error) from None
    try:
        yield from read_open(descriptor, source, limit)
    finally:
        os.close(descriptor)


def read_open(descriptor: int, source: Source, limit: int | None = None) -> Generator[bytes]:
    """Yield what `read_chunks` does, of a file that is open and stays so. Raises SkipError."""
    try:
        _check(source, descriptor)
        os.lseek(descriptor, 0, os.SEEK_SET)
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


def _check(source: Source, descriptor: int) -> None:
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        raise SkipError(Reason.SPECIAL)
    if (status.st_size, status.st_mtime_ns) != (source.size, source.mtime_ns):
        raise SkipError(Reason.CHANGED)


def _trouble(error: OSError | ValueError) -> SkipError:
    """Why a file is skipped. Raises the error again if no file is at fault."""
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
