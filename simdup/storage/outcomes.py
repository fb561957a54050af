"""Outcomes of files as bytes and back, for the batches of a store and for results.

What many documents share (encoding, packing, doubts) is written once and numbered. The rest of each
document is a record of fixed size. The caller supplies the files.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Iterator, Sequence
from itertools import compress
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from simdup.arrays import Indices, Mask, Rows, Values
from simdup.records import Document, Reason, Skipped, Source, Unread, without_text
from simdup.storage.status import STATUS_SIZE

Outcome: TypeAlias = Document | Skipped

# Makes a record in half the time of a call of its class.
_new = tuple.__new__

# A document without its file: the number of what it has in common with others, its confidence, its
# damaged characters, its features, and four digests; that of its words is zeros if it is unknown.
_DOCUMENT = struct.Struct("<idqq16s16s16s32s")
_FIELDS = slice(Document._fields.index("confidence"), Document._fields.index("noise"))
_RECORD = f"V{_DOCUMENT.size}"

# The size of the JSON of a batch, and the numbers of its files and documents.
_HEAD = struct.Struct("<III")
_STATUS = f"V{STATUS_SIZE}"
_SIZE, _VALUE = np.dtype("<u8"), np.dtype("<u4")


def packed(outcomes: Sequence[Outcome]) -> tuple[dict[str, Any], bytes]:
    """What is known of files, besides the files: fields for JSON, and the records of documents."""
    abouts: dict[tuple[object, ...], int] = {}
    records, skipped = list[bytes](), list[list[Any]]()
    for position, each in enumerate(outcomes):
        if isinstance(each, Skipped):
            skipped.append([position, *_told_skipped(each)])
        else:
            said = each.encoding, each.noise, each.packing, each.doubt, each.unread
            about = abouts.setdefault(said, len(abouts))
            records.append(_DOCUMENT.pack(about, *tuple(each)[_FIELDS], each.words_digest))
    return {"abouts": list(abouts), "skipped": skipped}, b"".join(records)


def unpacked(sources: Iterable[Source], told: dict[str, Any], records: bytes) -> Iterator[Outcome]:
    """Yield the outcome of each source, from what `packed` returned."""
    known = [[*each, tuple(Unread(*one) for one in unread)] for *each, unread in told["abouts"]]
    skipped = {at: each for at, *each in told["skipped"]}
    each_record = _DOCUMENT.iter_unpack(records)
    for at, source in enumerate(sources):
        if at in skipped:
            yield _skipped(source, *skipped[at])
            continue
        about, sure, damaged, features, of_bytes, of_text, of_features, of_words = next(each_record)
        encoding, noise, packing, doubt, unread = known[about]
        text = of_bytes if of_text == of_bytes else of_text  # one object takes less memory
        words = of_words if any(of_words) else b""
        numbers = encoding, sure, damaged, features
        digests = of_bytes, text, of_features
        yield _new(Document, (source, *numbers, *digests, noise, packing, doubt, words, unread))


def _told_skipped(skipped: Skipped) -> list[Any]:
    file = skipped.file
    about = None if file is None else [file.encoding, file.bytes_digest.hex(), file.packing]
    return [skipped.reason.value, skipped.detail, about]


def _skipped(source: Source, reason: str, detail: str, about: list[Any] | None) -> Skipped:
    file = None
    if about is not None:
        encoding, digest, packing = about
        file = without_text(source, encoding, bytes.fromhex(digest), packing)
    return Skipped(source.path, Reason(reason), detail, file)


class Batch(NamedTuple):
    """Files of one folder, and what is known of them.

    names: The name of each file, without the folder.
    statuses: The `status` of each file when it was read.
    told, records: What `packed` returns.
    rows: The fingerprints of the documents.
    sizes, values: Those of the sketches of the documents; values stand one after the other.
    """

    names: Sequence[str]
    statuses: Sequence[bytes]
    told: dict[str, Any]
    records: bytes
    rows: Rows
    sizes: Indices
    values: Values

    def take(self, kept: Mask) -> Batch:
        """The batch of some of the files; `kept` (files,)."""
        is_document, place = np.ones(len(kept), bool), np.cumsum(kept) - 1
        is_document[[at for at, *_ in self.told["skipped"]]] = False
        skipped = [[int(place[at]), *each] for at, *each in self.told["skipped"] if kept[at]]
        are_kept = kept[is_document]
        return Batch(
            list(compress(self.names, kept)),
            list(compress(self.statuses, kept)),
            self.told | {"skipped": skipped},
            np.frombuffer(self.records, _RECORD)[are_kept].tobytes(),
            self.rows[are_kept],
            self.sizes[are_kept],
            self.values[np.repeat(are_kept, self.sizes)],
        )

    def as_bytes(self) -> bytes:
        """Return the batch as bytes: sizes, JSON, statuses, records, and then the arrays."""
        told = json.dumps(["\0".join(self.names), self.told]).encode()
        sketches = self.sizes.astype(_SIZE), self.values.astype(_VALUE)
        parts = (each.tobytes() for each in (self.rows, *sketches))
        head = _HEAD.pack(len(told), len(self.names), len(self.rows))
        return b"".join((head, told, *self.statuses, self.records, *parts))


def batch_from(data: bytes, width: int) -> Batch:
    """The batch that these bytes were made of; its fingerprints have `width` bytes."""
    length, files, documents = _HEAD.unpack_from(data)
    at = _HEAD.size + length
    names, told = json.loads(data[_HEAD.size : at])
    statuses = np.frombuffer(data, _STATUS, files, at)
    at += statuses.nbytes
    records = data[at : at + documents * _DOCUMENT.size]
    rows = np.frombuffer(data, f"V{width}", documents, at := at + len(records))
    sizes = np.frombuffer(data, _SIZE, documents, at := at + rows.nbytes)
    values = np.frombuffer(data, _VALUE, -1, at + sizes.nbytes).astype(np.uint32, copy=False)
    arrays = rows.view(np.uint8).reshape(-1, width), sizes.astype(np.int64), values
    return Batch(names.split("\0"), statuses.tolist(), told, records, *arrays)
