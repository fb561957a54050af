"""The whole result of a scan as bytes and back, for a scan that meets the very same files again.

Such a scan need not look into the store for each file, nor match texts. A store keeps the last
result of each question, with a digest of all files as they were. Its bytes name a file by its
place in the walk.
"""

from __future__ import annotations

import io
import json
from dataclasses import asdict
from hashlib import blake2b
from itertools import compress
from struct import Struct
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from simdup.match.results import CODE, candidates_from
from simdup.records import (
    Document,
    FolderPair,
    Group,
    Kind,
    Member,
    Part,
    Reason,
    ScanResult,
    Skipped,
    Source,
    Stats,
    Version,
    doubtful,
    without_text,
)
from simdup.storage.cached import LASTING, MOST_OF_RESULTS
from simdup.storage.codec import is_settled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from simdup.settings import Settings
    from simdup.storage.cached import RecipeCache
    from simdup.storage.codec import Outcome

# A fingerprint follows from the text, so one that is all 0 or all 1 is found again, too.
_LASTING = LASTING | {Reason.DEGENERATE}

_KINDS = tuple(Kind)
_PLACES: dict[Kind | None, int | None] = {None: None}
_PLACES |= {kind: place for place, kind in enumerate(_KINDS)}

# Bytes of a digest, and the lowest 64 bits of a number.
_DIGEST, _WORD = 16, (1 << 64) - 1

# The digests of a document: of its bytes, its text and its features.
_DIGESTS = Struct(3 * f"{_DIGEST}s")

# About what a document takes in the bytes of a result, besides its groups.
_BYTES_OF_A_DOCUMENT = 80


class Walked(NamedTuple):
    """What a walk found, in its order."""

    sources: Sequence[Source]
    skipped: Sequence[Skipped]


class LastResult:
    """What a store has of the last scan that asked the same question."""

    def __init__(self, cache: RecipeCache, asked: object, walked: Walked) -> None:
        """The `repr` of `asked` tells all that decides a result besides recipe, files and CODE."""
        self.cache, self.walked, self.state = cache, walked, state_of(walked)
        question = repr(asked).encode("utf-8", "surrogatepass")
        self.key = blake2b(CODE + question, digest_size=_DIGEST).digest()

    def unchanged(self, settings: Settings, roots: Iterable[str]) -> ScanResult | None:
        """Return the last result; None if there is none, or if files under the roots changed."""
        known = self.cache.result(self.key)
        if known is None or not known.startswith(self.state):
            return None
        self.cache.met_again(roots, len(self.walked.sources))
        return whole_from(known[len(self.state) :], self.walked, settings)

    def keep(self, result: ScanResult, outcomes: Sequence[Outcome]) -> None:
        """Keep a result if the same files would give it again. Outcomes are one for each source."""
        is_small = len(outcomes) * _BYTES_OF_A_DOCUMENT < MOST_OF_RESULTS
        if is_small and is_lasting(self.walked, outcomes, result, self.cache.began):
            self.cache.keep_result(self.key, self.state + whole_as_bytes(result, outcomes))


def state_of(walked: Walked) -> bytes:
    """A digest of what a walk found: the path, size, times and inode of each file, in order."""
    told = [f"{each.path}\0{each.reason.value}\0{each.detail}" for each in walked.skipped]
    columns = list(zip(*walked.sources, strict=True)) or [()] * len(Source._fields)
    paths, *numbers, archives = columns
    containers = [each.path if each else "" for each in archives]
    digest = blake2b(str(len(paths)).encode(), digest_size=_DIGEST)
    for each in (paths, containers, told):
        digest.update("\0".join(each).encode("utf-8", "surrogatepass") + b"\0\0")
    for column in numbers:
        digest.update(_words(column).data)
    return digest.digest()


def _words(numbers: Sequence[int]) -> NDArray[np.int64]:
    """The lowest 64 bits of each number; Windows has larger ones for inodes."""
    try:
        return np.array(numbers, np.int64)
    except OverflowError:
        return np.array([number & _WORD for number in numbers], np.uint64).view(np.int64)


def is_lasting(
    walked: Walked, outcomes: Sequence[Outcome], result: ScanResult, read_ns: int
) -> bool:
    """Whether the same files would give this result again; they were read from `read_ns` on."""
    return (
        len(result.skipped) == len(walked.skipped) + len(outcomes) - len(result.documents)
        and all(isinstance(each, Document) or each.reason in _LASTING for each in outcomes)
        and all(is_settled(each, read_ns) for each in walked.sources)
    )


def whole_as_bytes(result: ScanResult, outcomes: Sequence[Outcome]) -> bytes:
    """A result as bytes: a line of JSON, then arrays. `outcomes` has one for each source."""
    documents = result.documents
    files = (each if isinstance(each, Document) else each.file for each in outcomes)
    places = {id(each): place for place, each in enumerate(files)}
    abouts: dict[tuple[str | None, ...], int] = {}
    about = [abouts.setdefault(_about(each), len(abouts)) for each in documents]
    stats = result.stats
    told = {
        "abouts": list(abouts),
        "skipped": [
            [place, *_told_skipped(each)]
            for place, each in enumerate(outcomes)
            if isinstance(each, Skipped)
        ],
        "groups": [_told_group(each, places) for each in result.groups],
        "patterns": [_told_group(each, places) for each in result.patterns],
        "parts": result.parts,
        "folders": result.folders,
        "candidates": None if result.candidates is None else asdict(result.candidates),
        "stats": [stats.ignored, stats.siblings, stats.identity_only],
    }
    digests = (
        digest
        for each in documents
        for digest in (each.bytes_digest, each.text_digest, each.features_digest)
    )
    data = io.BytesIO()
    data.write(json.dumps(told).encode() + b"\n")
    for column in (about, [each.damaged for each in documents], [e.features for e in documents]):
        np.save(data, np.array(column, np.int64))
    np.save(data, np.array([each.confidence for each in documents], np.float64))
    np.save(data, np.frombuffer(b"".join(digests), np.uint8))
    np.save(data, np.ascontiguousarray(result.rows))
    return data.getvalue()


def _about(document: Document) -> tuple[str | None, ...]:
    return document.encoding, document.noise, document.packing, document.doubt


def _told_skipped(skipped: Skipped) -> list[Any]:
    file = skipped.file
    about = None if file is None else [file.encoding, file.bytes_digest.hex(), file.packing]
    return [skipped.reason.value, skipped.detail, about]


def _told_group(group: Group, places: dict[int, int]) -> list[Any]:
    members = [
        (
            *(places[id(each.document)], _PLACES[each.kind], each.distance, each.similarity),
            *(each.own_share, each.set_id, _PLACES[each.set_kind]),
        )
        for each in group.members
    ]
    about = group.id, _PLACES[group.kind], group.diameter, group.is_diameter_exact
    return [*about, members, group.versions]


def whole_from(data: bytes, walked: Walked, settings: Settings) -> ScanResult:
    """The result that `whole_as_bytes` made these bytes from; it took no seconds."""
    file = io.BytesIO(data)
    told = json.loads(file.readline())
    columns: list[NDArray[Any]] = [np.load(file) for _ in range(6)]
    *numbers, digests, rows = columns
    skipped = {place: _skipped(walked.sources[place], *each) for place, *each in told["skipped"]}
    are_documents = np.ones(len(walked.sources), bool)
    are_documents[list(skipped)] = False
    sources = list(compress(walked.sources, are_documents.tolist()))
    documents = tuple(_documents(sources, told["abouts"], numbers, digests.tobytes()))
    at = (np.cumsum(are_documents) - 1).tolist()

    def found(place: int) -> tuple[Document | None, bytes]:
        """A document by the place of its source, and its fingerprint."""
        if place in skipped:
            return skipped[place].file, bytes(rows.shape[1])
        return documents[at[place]], rows[at[place]].tobytes()

    ignored, siblings, identity_only = told["stats"]
    counts = len(walked.sources), len(documents), sum(each.size for each in sources)
    kinds = tuple((name, count) for name, count in identity_only)
    return ScanResult(
        settings,
        documents,
        rows,
        tuple(_group(each, found) for each in told["groups"]),
        (*walked.skipped, *skipped.values()),
        candidates_from(told["candidates"]),
        Stats(*counts, 0.0, len(walked.sources), ignored, siblings, kinds),
        patterns=tuple(_group(each, found) for each in told["patterns"]),
        parts=tuple(Part(*each) for each in told["parts"]),
        folders=tuple(
            FolderPair(*each)._replace(groups=tuple(each[-1])) for each in told["folders"]
        ),
        doubtful=doubtful(documents),
    )


def _skipped(source: Source, reason: str, detail: str, about: list[Any] | None) -> Skipped:
    file = None
    if about is not None:
        encoding, digest, packing = about
        file = without_text(source, encoding, bytes.fromhex(digest), packing)
    return Skipped(source.path, Reason(reason), detail, file)


def _documents(
    sources: list[Source], abouts: list[list[Any]], numbers: list[NDArray[Any]], digests: bytes
) -> Iterable[Document]:
    """Yield the document of each source."""
    if not sources:
        return ()
    about, damaged, features, confidence = (each.tolist() for each in numbers)
    of_bytes, of_text, of_features = zip(*_DIGESTS.iter_unpack(digests), strict=True)
    # One object for plain UTF-8, as when it is read.
    of_text = tuple(
        one if one == text else text for one, text in zip(of_bytes, of_text, strict=True)
    )
    of_each = of_bytes, of_text, of_features
    encoding, *others = zip(*map(abouts.__getitem__, about), strict=True)
    return map(Document, sources, encoding, confidence, damaged, features, *of_each, *others)


def _group(told: list[Any], found: Callable[[int], tuple[Any, bytes]]) -> Group:
    number, kind, diameter, is_exact, members, versions = told
    made = (
        Member(
            *(*found(place), _KINDS[alike], distance, similarity),
            *(own_share, set_id, None if of_set is None else _KINDS[of_set]),
        )
        for place, alike, distance, similarity, own_share, set_id, of_set in members
    )
    chain = tuple(Version(*each) for each in versions)
    return Group(number, _KINDS[kind], diameter, tuple(made), is_exact, chain)
