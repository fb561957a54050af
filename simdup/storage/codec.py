"""One document's entry as bytes, and back, for indexes; and the status of a file, for stores too.

An entry begins with the file's inode, size and times. A letter tells its `noise`. Then come its
confidence, damage, features and digests, the length of its sketch, the sketch, and its packing and
encoding, as in "gz, utf-8". A second line says why the text is doubtful, or is empty; others say
what was not read: count, digest and kind.
"""

from __future__ import annotations

import os
import struct
from functools import lru_cache

from simdup.records import Document, Source, Unread
from simdup.settings import PACKINGS
from simdup.text.noise import NUMBERS, REDIRECTION

# A file that changed less than this before it was read may change again and keep its times,
# which FAT counts in steps of two seconds.
SETTLED_NS = 2_000_000_000

_STATUS = struct.Struct("<Qqqq")
# What is written so: times beyond the year 2262 lose their first bit.
_WRITTEN, _BITS = struct.Struct("<QQQQ"), (1 << 64) - 1

#: The bytes of a `status`, with which an entry begins.
STATUS_SIZE = _STATUS.size

_DOCUMENT = struct.Struct("<dqq16s16s16s16s")
# The fields of a document that are packed so, before the digest of its words.
_PACKED = slice(Document._fields.index("confidence"), Document._fields.index("noise"))
_LENGTH = struct.Struct("<I")
_DOCUMENT_OF = {None: b"d", NUMBERS: b"n", REDIRECTION: b"r"}
_NOISE_OF = {letter: noise for noise, letter in _DOCUMENT_OF.items()}


def is_settled(source: Source, read_ns: int) -> bool:
    """Whether the times of a file that was read at `read_ns` would show any later change."""
    return max(source.mtime_ns, source.ctime_ns) < read_ns - SETTLED_NS


def folder_of(path: str) -> str:
    """Return a path up to its last separator, with it; nothing for a bare name."""
    return path[: path.rfind(os.sep) + 1]


def status(source: Source) -> bytes:
    """Return the packed inode, size, mtime and ctime of a file."""
    mtime_ns, ctime_ns = source.mtime_ns & _BITS, source.ctime_ns & _BITS
    return _WRITTEN.pack(source.inode & _BITS, source.size, mtime_ns, ctime_ns)


def status_in(data: bytes) -> tuple[int, int, int, int]:
    """Return the inode, size, mtime_ns and ctime_ns in an entry. Raises struct.error."""
    inode, size, mtime_ns, ctime_ns = _STATUS.unpack_from(data)
    return inode, size, mtime_ns, ctime_ns


def entry(document: Document, sketch: bytes) -> bytes:
    """Return the entry of a document."""
    numbers = _DOCUMENT.pack(*tuple(document)[_PACKED], document.words_digest)
    sketched = _LENGTH.pack(len(sketch)) + sketch
    unread = [f"{each.number} {each.digest} {each.kind}" for each in document.unread]
    written = "\n".join((_encoding(document), document.doubt or "", *unread)).rstrip("\n")
    letter = _DOCUMENT_OF[document.noise]
    return status(document.source) + letter + numbers + sketched + written.encode()


def _encoding(document: Document) -> str:
    """The packing of a document, if any, and its encoding, as in "gz, utf-8"."""
    return f"{document.packing}, {document.encoding}" if document.packing else document.encoding


@lru_cache
def _read_back(written: bytes) -> tuple[str, str | None, str | None, tuple[Unread, ...]]:
    """The encoding, packing, doubt and unread content in an entry, the same for many files."""
    line, doubt, *lines = *written.decode().split("\n"), ""
    packing, _, encoding = line.partition(", ")
    unread = tuple(_unread(each) for each in lines if each)
    if packing in PACKINGS and encoding:
        return encoding, packing, doubt or None, unread
    return line, None, doubt or None, unread


def _unread(line: str) -> Unread:
    count, digest, kind = line.split(" ", 2)
    return Unread(kind, int(count), digest)


def document_in(source: Source, data: bytes) -> tuple[Document, bytes]:
    """Return the document in an entry of a file, and its sketch.

    Raises ValueError and struct.error for bytes that are no entry.
    """
    at = _STATUS.size + 1
    *numbers, of_bytes, of_text, of_features, of_words = _DOCUMENT.unpack_from(data, at)
    if of_bytes == of_text:
        of_text = of_bytes  # one object for plain UTF-8, as when it is read
    middle = at + _DOCUMENT.size
    (length,), begin = _LENGTH.unpack_from(data, middle), middle + _LENGTH.size
    encoding, packing, doubt, unread = _read_back(data[begin + length :])
    letter = data[at - 1 : at]
    if letter not in _NOISE_OF:
        raise ValueError(f"no letter of a document: {letter!r}")
    digests, about = (of_bytes, of_text, of_features), (_NOISE_OF[letter], packing, doubt)
    words = of_words if any(of_words) else b""
    document = Document._make((source, encoding, *numbers, *digests, *about, words, unread))
    return document, data[begin : begin + length]
