"""What was made of a file as bytes, and back: what stores and indexes keep.

An entry is what the file system said, a letter, then what was made of the file. For a
document its confidence, damage, features and digests, the fingerprint (if it is kept there)
and the encoding's name; for a file that was skipped the reason and its detail, and before them
of a document without text the digest of its bytes and the encoding's name.
"""

from __future__ import annotations

import struct
import sys
from typing import TYPE_CHECKING, TypeAlias

from simdup.records import Document, Reason, Skipped, Source, without_text

if TYPE_CHECKING:
    Outcome: TypeAlias = Document | Skipped

_STATUS = struct.Struct("<Qqqq")
_DOCUMENT = struct.Struct("<dqq16s16s16s")
_IS_DOCUMENT, _IS_SKIPPED, _IS_WITHOUT_TEXT = b"d", b"s", b"t"
_DIGEST = 16


def entry(source: Source, outcome: Outcome, row: bytes) -> bytes:
    """The entry of a file; `row` is its fingerprint, if that is to be kept in it."""
    return status(source) + _content(outcome, row)


def status(source: Source) -> bytes:
    """By what a file is known besides its path."""
    inode = source.inode & (1 << 64) - 1
    return _STATUS.pack(inode, source.size, source.mtime_ns, source.ctime_ns)


def status_in(data: bytes) -> tuple[int, int, int, int]:
    """The inode, size, mtime_ns and ctime_ns that an entry has."""
    inode, size, mtime_ns, ctime_ns = _STATUS.unpack_from(data)
    return inode, size, mtime_ns, ctime_ns


def _content(made: Outcome, row: bytes) -> bytes:
    """The part of a record that says what was made of the file."""
    if isinstance(made, Skipped):
        why = f"{made.reason.value}\n{made.detail}"
        if made.file is None:
            return _IS_SKIPPED + why.encode()
        return _IS_WITHOUT_TEXT + made.file.bytes_digest + f"{made.file.encoding}\n{why}".encode()
    numbers = _DOCUMENT.pack(
        made.confidence,
        made.damaged,
        made.features,
        made.bytes_digest,
        made.text_digest,
        made.features_digest,
    )
    return _IS_DOCUMENT + numbers + row + made.encoding.encode()


def made_of(source: Source, data: bytes, width: int) -> tuple[Outcome, bytes | None]:
    """What an entry says of a source, and its fingerprint of `width` bytes if it is a document."""
    at = _STATUS.size + 1
    if data[at - 1 : at] == _IS_SKIPPED:
        reason, _, detail = data[at:].decode().partition("\n")
        return Skipped(source.path, Reason(reason), detail), None
    if data[at - 1 : at] == _IS_WITHOUT_TEXT:
        encoding, reason, detail = data[at + _DIGEST :].decode().split("\n", 2)
        file = without_text(source, encoding, data[at : at + _DIGEST])
        return Skipped(source.path, Reason(reason), detail, file), None
    confidence, damaged, features, *digests = _DOCUMENT.unpack_from(data, at)
    if digests[0] == digests[1]:
        digests[1] = digests[0]  # one object for plain UTF-8, as when it is read
    middle = at + _DOCUMENT.size + width
    encoding = sys.intern(data[middle:].decode())
    document = Document(source, encoding, confidence, damaged, features, *digests)
    return document, data[middle - width : middle]
