"""One file's entry as bytes, and back, for stores and indexes.

An entry begins with the file's inode, size and times. A letter says what follows:

- a document; the letter also says its `noise`. Then come its confidence, damage, features
  and digests, its fingerprint if that is kept here, the length of its sketch, the sketch, and its
  packing and encoding, as in "gz, utf-8". A second line says why the text is doubtful, or is empty;
  others say what was not read: count, digest and kind.
- a skipped file: the reason and its detail.
- a document without text: the digest of its bytes, its encoding, and then the reason and detail.
"""

from __future__ import annotations

import os
import struct
from functools import lru_cache
from typing import TypeAlias

from simdup.records import Document, Reason, Skipped, Source, Unread, without_text
from simdup.settings import PACKINGS
from simdup.text.noise import NUMBERS, REDIRECTION

Outcome: TypeAlias = Document | Skipped
# A file that changed less than this before it was read may change again and keep its times,
# which FAT counts in steps of two seconds.
SETTLED_NS = 2_000_000_000

_STATUS = struct.Struct("<Qqqq")

#: The bytes of a `status`, with which an entry begins.
STATUS_SIZE = _STATUS.size

_DOCUMENT = struct.Struct("<dqq16s16s16s16s")
#: The fields of a document that are packed so, before the digest of its words.
PACKED = slice(Document._fields.index("confidence"), Document._fields.index("noise"))
_LENGTH = struct.Struct("<I")
_IS_SKIPPED, _IS_WITHOUT_TEXT = b"s", b"t"
_DOCUMENT_OF = {None: b"d", NUMBERS: b"n", REDIRECTION: b"r"}
_NOISE_OF = {letter: noise for noise, letter in _DOCUMENT_OF.items()}
_DIGEST = 16


def is_settled(source: Source, read_ns: int) -> bool:
    """Whether the times of a file that was read at `read_ns` would show any later change."""
    return max(source.mtime_ns, source.ctime_ns) < read_ns - SETTLED_NS


def folder_of(path: str) -> str:
    """Return a path up to its last separator, with it; nothing for a bare name."""
    return path[: path.rfind(os.sep) + 1]


def status(source: Source) -> bytes:
    """Return the packed inode, size, mtime and ctime of a file."""
    inode = source.inode & (1 << 64) - 1
    return _STATUS.pack(inode, source.size, source.mtime_ns, source.ctime_ns)


def status_in(data: bytes) -> tuple[int, int, int, int]:
    """Return the inode, size, mtime_ns and ctime_ns in an entry. Raises struct.error."""
    inode, size, mtime_ns, ctime_ns = _STATUS.unpack_from(data)
    return inode, size, mtime_ns, ctime_ns


def entry(source: Source, outcome: Outcome, row: bytes, sketch: bytes = b"") -> bytes:
    """Return the entry of a file; `row` is its fingerprint, or empty to keep none."""
    if isinstance(outcome, Skipped):
        why = f"{outcome.reason.value}\n{outcome.detail}"
        if outcome.file is None:
            return status(source) + _IS_SKIPPED + why.encode()
        named = f"{_encoding(outcome.file)}\n{why}".encode()
        return status(source) + _IS_WITHOUT_TEXT + outcome.file.bytes_digest + named
    numbers = _DOCUMENT.pack(*tuple(outcome)[PACKED], outcome.words_digest)
    sketched = _LENGTH.pack(len(sketch)) + sketch
    unread = [f"{each.number} {each.digest} {each.kind}" for each in outcome.unread]
    written = "\n".join((_encoding(outcome), outcome.doubt or "", *unread)).rstrip("\n")
    letter = _DOCUMENT_OF[outcome.noise]
    return status(source) + letter + numbers + row + sketched + written.encode()


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


def outcome_in(source: Source, data: bytes, width: int) -> tuple[Outcome, bytes | None, bytes]:
    """Return the outcome in an entry of a file, and for a document its fingerprint and sketch.

    The fingerprint has `width` bytes. Raises ValueError and struct.error for bytes that are no
    entry.
    """
    at = _STATUS.size + 1
    letter = data[at - 1 : at]
    if letter == _IS_SKIPPED:
        reason, _, detail = data[at:].decode().partition("\n")
        return Skipped(source.path, Reason(reason), detail), None, b""
    if letter == _IS_WITHOUT_TEXT:
        written, why = data[at + _DIGEST :].split(b"\n", 1)
        encoding, packing, *_ = _read_back(written)
        file = without_text(source, encoding, data[at : at + _DIGEST], packing)
        reason, detail = why.decode().split("\n", 1)
        return Skipped(source.path, Reason(reason), detail, file), None, b""
    *numbers, of_bytes, of_text, of_features, of_words = _DOCUMENT.unpack_from(data, at)
    if of_bytes == of_text:
        of_text = of_bytes  # one object for plain UTF-8, as when it is read
    middle = at + _DOCUMENT.size + width
    (length,), begin = _LENGTH.unpack_from(data, middle), middle + _LENGTH.size
    encoding, packing, doubt, unread = _read_back(data[begin + length :])
    digests, about = (of_bytes, of_text, of_features), (_NOISE_OF.get(letter), packing, doubt)
    words = of_words if any(of_words) else b""
    fields = source, encoding, *numbers, *digests, *about, words, unread
    document = Document._make(fields)
    return document, data[middle - width : middle], data[begin : begin + length]
