"""One document's entry as bytes, and back.

An entry begins with the file's inode, size and times. A letter tells its `noise`. Then come its
confidence, damage, features and digests, the length of its sketch, the sketch, and its packing and
encoding, as in "gz, utf-8". A second line says why the text is doubtful, or is empty; others say
what was not read: count, digest and kind.
"""

from __future__ import annotations

import struct
from functools import lru_cache

from simdup.records import Document, Source, Unread
from simdup.settings import PACKINGS
from simdup.storage.status import STATUS_SIZE, status
from simdup.text.noise import NUMBERS, REDIRECTION

_DOCUMENT = struct.Struct("<dqq16s16s16s32s")
# The fields of a document that are packed so, before the digest of its words.
_PACKED = slice(Document._fields.index("confidence"), Document._fields.index("noise"))
_LENGTH = struct.Struct("<I")
_DOCUMENT_OF = {None: b"d", NUMBERS: b"n", REDIRECTION: b"r"}
_NOISE_OF = {letter: noise for noise, letter in _DOCUMENT_OF.items()}


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
    at = STATUS_SIZE + 1
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
