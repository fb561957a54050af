"""The whole result of a scan as bytes and back, for a scan that meets the very same files again.

Such a scan need not look into the store for each file, nor match texts. A store keeps the last
result of each question, with a digest of all files as they were. Its bytes name a file by its
position in the walk.
"""

from __future__ import annotations

import io
import json
import marshal
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from functools import partial
from hashlib import blake2b
from itertools import chain, compress, islice
from math import isnan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simdup.records import (
    Candidates,
    Document,
    FolderPair,
    Group,
    Interval,
    Kind,
    Member,
    Part,
    Reason,
    ScanResult,
    Skipped,
    Source,
    Stats,
    Unread,
    Version,
    doubtful,
    without_text,
)
from simdup.settings import Settings
from simdup.storage.cached import MOST_OF_RESULTS, RecipeCache
from simdup.storage.codec import Outcome, is_settled

# Makes a record in half the time of a call of its class.
_new = tuple.__new__

# Bytes of a digest.
_DIGEST = 16
_VOID = f"V{_DIGEST}"

#: A document of a result: what is known of it besides the file.
DOCUMENT = np.dtype(
    [
        ("about", "<i4"),  # the number of its encoding, noise, packing, doubt and unread content
        ("text", "<i4"),  # the number of the digest of its text in a list; -1: as of its bytes
        ("confidence", "<f8"),
        ("damaged", "<i8"),
        ("features", "<i8"),
        ("bytes_digest", _VOID),
        ("features_digest", _VOID),
        ("words_digest", _VOID),  # zeros if unknown
    ]
)

#: A member of a group; its document is named by its position among the files.
MEMBER = np.dtype(
    [
        ("position", "<i8"),
        ("kind", "i1"),  # the position in _KINDS
        ("distance", "<i8"),
        ("similarity", "<f8"),  # NaN for None
        ("own_share", "<f8"),  # NaN for None
        ("set_id", "<i8"),  # 0 for None
        ("set_kind", "i1"),
    ]
)
_KINDS = [None, *Kind]
_NUMBERS: dict[Any, int] = {kind: number for number, kind in enumerate(_KINDS)}

# The position of the archive among the fields of a file.
_ARCHIVE = Source._fields.index("archive")

# The last version of marshal that writes equal objects as equal bytes. Later ones look at how often
# an object is referred to.
_OLD_MARSHAL = 2

# About what a document takes in the bytes of a result, besides its groups.
_BYTES_OF_A_DOCUMENT = 100


# The folders whose modules decide what is found; "" is the package itself.
_DECIDING = "", "compute", "files", "findings", "fingerprint", "match", "search", "storage"


def code_in(package: str) -> bytes:
    """A digest of the code in simdup's folder that decides what is found, and of numpy's version.

    Empty if there is no source code, as in a zip file.
    """
    places = [os.path.join(package, folder) for folder in _DECIDING]
    sources = list[bytes]()
    for place in filter(os.path.isdir, places):
        for name in sorted(os.listdir(place)):
            if name.endswith(".py"):
                with open(os.path.join(place, name), "rb") as file:
                    sources.append(file.read())
    return blake2b(b"".join((*sources, np.__version__.encode()))).digest() if sources else b""


#: Digest of the code of this process, so that no other version of simdup uses what this one found.
#: It is made at import, because the files may have changed when the scan has ended.
CODE = code_in(os.path.dirname(os.path.dirname(__file__)))


class Walked(NamedTuple):
    """The files and skipped entries that a walk found, in its order."""

    sources: Sequence[Source]
    skipped: Sequence[Skipped]


class KeptResult:
    """The result of the last scan that asked the same question, as a store keeps it."""

    def __init__(self, cache: RecipeCache, asked: object, walked: Walked) -> None:
        """The `repr` of `asked` tells all that decides a result besides recipe and files."""
        self.cache, self.walked, self.state = cache, walked, state_of(walked)
        question = repr(asked).encode("utf-8", "surrogatepass")
        self.key = blake2b(question, digest_size=_DIGEST).digest()
        self.digest: str | None = None
        """A digest of the result: scans with equal ones found the same. None while there is no
        result, and for a result that another scan of the same files may not find again."""

    def unchanged(self, settings: Settings, roots: Iterable[str]) -> ScanResult | None:
        """Return the last result; None if there is none, or if files under the roots changed."""
        known = self.cache.result(self.key)
        if known is None or not known.startswith(self.state):
            return None
        self.cache.met_again(roots, len(self.walked.sources))
        self.digest = self._digest()
        return whole_from(known[len(self.state) :], self.walked, settings)

    def keep(self, result: ScanResult, outcomes: Sequence[Outcome]) -> None:
        """Keep a result if the same files would give it again. Outcomes are one for each source."""
        is_small = len(outcomes) * _BYTES_OF_A_DOCUMENT < MOST_OF_RESULTS
        if is_small and is_lasting(self.walked, outcomes, result, self.cache.began):
            self.cache.keep_result(self.key, self.state + whole_as_bytes(result, outcomes))
            self.digest = self._digest()

    def _digest(self) -> str:
        return blake2b(
            self.cache.result_key(self.key) + self.state, digest_size=_DIGEST
        ).hexdigest()


def state_of(walked: Walked) -> bytes:
    """A digest of what a walk found: all that it knows of each file, and what it skipped."""
    told = [f"{each.path}\0{each.reason.value}\0{each.detail}" for each in walked.skipped]
    fields: list[Any] = [*chain.from_iterable(walked.sources)]
    # A member has the times and the inode of its archive, and marshal writes no records.
    archives = slice(_ARCHIVE, None, len(Source._fields))
    fields[archives] = [each and each.path for each in fields[archives]]
    return blake2b(marshal.dumps([fields, told], _OLD_MARSHAL), digest_size=_DIGEST).digest()


def is_lasting(
    walked: Walked, outcomes: Sequence[Outcome], result: ScanResult, read_ns: int
) -> bool:
    """Whether the same files would give this result again; they were read from `read_ns` on."""
    return (
        len(result.skipped) == len(walked.skipped) + len(outcomes) - len(result.documents)
        and all(isinstance(each, Document) or each.reason.is_lasting for each in outcomes)
        and all(is_settled(each, read_ns) for each in walked.sources)
    )


def whole_as_bytes(result: ScanResult, outcomes: Sequence[Outcome]) -> bytes:
    """A result as bytes: a line of JSON, then arrays. `outcomes` has one for each source.

    The arrays are: the documents, the digests of texts that differ from their bytes, the
    fingerprints, the members of all groups, and the members of all patterns.
    """
    files = (each if isinstance(each, Document) else each.file for each in outcomes)
    position_of = {id(each): position for position, each in enumerate(files)}
    documents, texts, abouts = _told_documents(result.documents)
    stats = result.stats
    told = {
        "abouts": abouts,
        "skipped": [
            [position, *_told_skipped(each)]
            for position, each in enumerate(outcomes)
            if isinstance(each, Skipped)
        ],
        "groups": _told_groups(result.groups),
        "patterns": _told_groups(result.patterns),
        "parts": result.parts,
        "folders": result.folders,
        "candidates": None if result.candidates is None else asdict(result.candidates),
        "stats": [stats.bytes, stats.ignored, stats.siblings, stats.identity_only],
    }
    data = io.BytesIO()
    data.write(json.dumps(told).encode() + b"\n")
    members = (_told_members(each, position_of) for each in (result.groups, result.patterns))
    for array in (documents, texts, np.ascontiguousarray(result.rows), *members):
        np.save(data, array)
    return data.getvalue()


def whole_from(data: bytes, walked: Walked, settings: Settings) -> ScanResult:
    """The result that `whole_as_bytes` made these bytes from; it took no seconds."""
    file = io.BytesIO(data)
    told = json.loads(file.readline())
    records, texts, rows, members, of_patterns = (np.load(file) for _ in range(5))
    skipped = {at: _skipped(walked.sources[at], *each) for at, *each in told["skipped"]}
    are_documents = np.ones(len(walked.sources), bool)
    are_documents[list(skipped)] = False
    sources = list(compress(walked.sources, are_documents.tolist()))
    documents = tuple(_documents(sources, records, texts, told["abouts"]))
    row_of = np.cumsum(are_documents) - 1
    fingerprints = np.zeros((len(row_of), rows.shape[1]), np.uint8)
    fingerprints[are_documents] = rows

    def files_at(positions: NDArray[np.int64]) -> tuple[list[Any], list[bytes]]:
        """The documents of the sources at these positions, and their fingerprints."""
        own = [
            skipped[position].file if position in skipped else documents[row]
            for position, row in zip(positions.tolist(), row_of[positions].tolist(), strict=True)
        ]
        return own, fingerprints[positions].view(f"V{rows.shape[1]}").ravel().tolist()

    size, ignored, siblings, identity_only = told["stats"]
    counts = len(walked.sources), len(documents), size
    kinds = tuple((name, count) for name, count in identity_only)
    return ScanResult(
        settings,
        documents,
        rows,
        tuple(_groups(told["groups"], members, files_at)),
        (*walked.skipped, *skipped.values()),
        candidates_from(told["candidates"]),
        Stats(*counts, 0.0, len(walked.sources), ignored, siblings, kinds),
        patterns=tuple(_groups(told["patterns"], of_patterns, files_at)),
        parts=tuple(Part(*each) for each in told["parts"]),
        folders=tuple(
            FolderPair(*each)._replace(groups=tuple(each[-1])) for each in told["folders"]
        ),
        doubtful=doubtful(documents),
    )


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


def _told_documents(
    documents: Sequence[Document],
) -> tuple[NDArray[Any], NDArray[Any], list[tuple[object, ...]]]:
    """The records of documents, the digests of texts other than of bytes, and the `abouts`."""
    abouts: dict[tuple[object, ...], int] = {}
    texts: list[bytes] = []
    records = np.empty(len(documents), DOCUMENT)
    for number, each in enumerate(documents):
        said = each.encoding, each.noise, each.packing, each.doubt, each.unread
        about = abouts.setdefault(said, len(abouts))
        text = -1
        if each.text_digest != each.bytes_digest:
            text = len(texts)
            texts.append(each.text_digest)
        numbers = each.confidence, each.damaged, each.features
        digests = each.bytes_digest, each.features_digest, each.words_digest or bytes(_DIGEST)
        records[number] = about, text, *numbers, *digests
    return records, np.frombuffer(b"".join(texts), _VOID), list(abouts)


def _documents(
    sources: list[Source], records: NDArray[Any], texts: NDArray[Any], abouts: list[list[Any]]
) -> Iterable[Document]:
    """Yield the document of each source."""
    if not sources:
        return ()
    about, text, *numbers, of_bytes, of_features, of_words = _columns(records)
    others = texts.tolist()
    of_text = of_bytes.copy()  # the same objects, as of plain UTF-8, take less memory
    for position in np.flatnonzero(records["text"] >= 0).tolist():
        of_text[position] = others[text[position]]
    known = [[*each, tuple(Unread(*one) for one in unread)] for *each, unread in abouts]
    encoding, *more, unread = zip(*map(known.__getitem__, about), strict=True)
    words = [each if any(each) else b"" for each in of_words]
    columns = encoding, *numbers, of_bytes, of_text, of_features, *more, words, unread
    return map(partial(_new, Document), zip(sources, *columns, strict=True))


def _columns(records: NDArray[Any]) -> list[list[Any]]:
    """The values of each field of some records."""
    return [records[field].tolist() for field in records.dtype.names or ()]


def _told_groups(groups: Sequence[Group]) -> list[Any]:
    """A list about each group, without its members."""
    return [
        (
            *(each.id, _NUMBERS[each.kind], each.diameter, each.is_diameter_exact),
            *(len(each.members), each.versions, each.why),
        )
        for each in groups
    ]


def _told_members(groups: Sequence[Group], position_of: dict[int, int]) -> NDArray[Any]:
    """The records of the members of all groups; numpy turns an unknown share, None, into NaN."""
    return np.array(
        [
            (
                *(position_of[id(each.document)], _NUMBERS[each.kind], each.distance),
                *(each.similarity, each.own_share, each.set_id or 0, _NUMBERS[each.set_kind]),
            )
            for group in groups
            for each in group.members
        ],
        MEMBER,
    )


def _groups(
    told: list[Any],
    records: NDArray[Any],
    files_at: Callable[[NDArray[np.int64]], tuple[list[Any], list[bytes]]],
) -> Iterator[Group]:
    """Yield the groups, from the lists of `_told_groups` and the records of their members.

    `files_at` returns the documents and fingerprints at some positions.
    """
    _, kinds, distances, similarities, own_shares, sets, kinds_of_sets = _columns(records)
    shares = (
        [None if isnan(value) else value for value in each] for each in (similarities, own_shares)
    )
    fields = zip(
        *(*files_at(records["position"]), map(_KINDS.__getitem__, kinds), distances, *shares),
        *((number or None for number in sets), map(_KINDS.__getitem__, kinds_of_sets)),
        strict=True,
    )
    made = map(partial(_new, Member), fields)
    for number, kind, diameter, is_exact, size, versions, why in told:
        members, in_order = tuple(islice(made, size)), tuple(Version(*each) for each in versions)
        yield _new(Group, (number, _KINDS[kind], diameter, members, is_exact, in_order, why))


def candidates_from(fields: dict[str, Any] | None) -> Candidates | None:
    """The candidates with these fields, as `asdict` returns them."""
    if fields is None:
        return None
    recall = fields["recall"]
    return Candidates(**fields | {"recall": None if recall is None else Interval(**recall)})
