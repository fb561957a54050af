"""The whole result of a scan as bytes and back, for a scan that meets the very same files again.

Such a scan need not look into the store for each file, nor match texts. A store keeps the last
result of each question, with a digest of all files as they were. Its bytes name a file by its
place in the walk.
"""

from __future__ import annotations

import io
import json
import marshal
from dataclasses import asdict
from functools import partial
from hashlib import blake2b
from itertools import chain, compress, islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

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
    Version,
    doubtful,
    without_text,
)
from simdup.storage.cached import MOST_OF_RESULTS
from simdup.storage.codec import is_settled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from simdup.settings import Settings
    from simdup.storage.cached import RecipeCache
    from simdup.storage.codec import Outcome

    Digests = tuple[list[bytes], list[bytes], list[bytes]]

# Each kind of a match as a number, and back.
_NUMBERS: dict[Kind | None, int | None] = {None: None}
_NUMBERS |= {kind: number for number, kind in enumerate(Kind)}
_KINDS: dict[Any, Any] = {number: kind for kind, number in _NUMBERS.items()}

# Makes a record in half the time of a call of its class.
_new = tuple.__new__

# Bytes of a digest.
_DIGEST = 16

# The place of the archive among the fields of a file.
_ARCHIVE = Source._fields.index("archive")

# The last version of marshal that writes equal objects as equal bytes. Later ones look at how often
# an object is referred to.
_OLD_MARSHAL = 2

# About what a document takes in the bytes of a result, besides its groups.
_BYTES_OF_A_DOCUMENT = 100


class Walked(NamedTuple):
    """What a walk found, in its order."""

    sources: Sequence[Source]
    skipped: Sequence[Skipped]


class LastResult:
    """What a store has of the last scan that asked the same question."""

    def __init__(self, cache: RecipeCache, asked: object, walked: Walked) -> None:
        """The `repr` of `asked` tells all that decides a result besides recipe and files."""
        self.cache, self.walked, self.state = cache, walked, state_of(walked)
        question = repr(asked).encode("utf-8", "surrogatepass")
        self.key = blake2b(question, digest_size=_DIGEST).digest()
        self.digest: str | None = None
        """Stands for the result: scans with equal digests found the same. None while there is no
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

    The arrays are: which documents have a digest of their text other than that of their bytes;
    then about each document its place in the list `abouts`, damaged characters, features and
    confidence; then the digests of the bytes of all documents, of the features of all, and of the
    texts of those of the first array; then fingerprints.
    """
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
        "groups": _told_groups(result.groups, places),
        "patterns": _told_groups(result.patterns, places),
        "parts": result.parts,
        "folders": result.folders,
        "candidates": None if result.candidates is None else asdict(result.candidates),
        "stats": [stats.bytes, stats.ignored, stats.siblings, stats.identity_only],
    }
    differing = [n for n, each in enumerate(documents) if each.text_digest != each.bytes_digest]
    digests = (
        *(each.bytes_digest for each in documents),
        *(each.features_digest for each in documents),
        *(documents[n].text_digest for n in differing),
    )
    data = io.BytesIO()
    data.write(json.dumps(told).encode() + b"\n")
    damaged, features = [each.damaged for each in documents], [e.features for e in documents]
    for column in (differing, about, damaged, features):
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


def _told_groups(groups: Sequence[Group], places: dict[int, int]) -> list[Any]:
    """A list about each group, and a list of each field with its value in every member."""
    about = [
        (
            *(each.id, _NUMBERS[each.kind], each.diameter, each.is_diameter_exact),
            *(len(each.members), each.versions),
        )
        for each in groups
    ]
    members = [
        (
            *(places[id(each.document)], _NUMBERS[each.kind], each.distance, each.similarity),
            *(each.own_share, each.set_id, _NUMBERS[each.set_kind]),
        )
        for group in groups
        for each in group.members
    ]
    return [about, list(zip(*members, strict=True))]


def whole_from(data: bytes, walked: Walked, settings: Settings) -> ScanResult:
    """The result that `whole_as_bytes` made these bytes from; it took no seconds."""
    file = io.BytesIO(data)
    told = json.loads(file.readline())
    columns: list[NDArray[Any]] = [np.load(file) for _ in range(7)]
    differing, *numbers, digests, rows = columns
    skipped = {place: _skipped(walked.sources[place], *each) for place, *each in told["skipped"]}
    are_documents = np.ones(len(walked.sources), bool)
    are_documents[list(skipped)] = False
    sources = list(compress(walked.sources, are_documents.tolist()))
    each_digest = _digests(digests, differing, len(sources))
    documents = tuple(_documents(sources, told["abouts"], numbers, each_digest))
    at = np.cumsum(are_documents) - 1
    fingerprints = np.zeros((len(at), rows.shape[1]), np.uint8)
    fingerprints[are_documents] = rows

    def found(places: list[int]) -> tuple[list[Any], list[bytes]]:
        """The documents of the sources at these places, and their fingerprints."""
        own = [
            skipped[place].file if place in skipped else documents[row]
            for place, row in zip(places, at[places].tolist(), strict=True)
        ]
        return own, fingerprints[places].view(f"V{rows.shape[1]}").ravel().tolist()

    size, ignored, siblings, identity_only = told["stats"]
    counts = len(walked.sources), len(documents), size
    kinds = tuple((name, count) for name, count in identity_only)
    return ScanResult(
        settings,
        documents,
        rows,
        tuple(_groups(told["groups"], found)),
        (*walked.skipped, *skipped.values()),
        candidates_from(told["candidates"]),
        Stats(*counts, 0.0, len(walked.sources), ignored, siblings, kinds),
        patterns=tuple(_groups(told["patterns"], found)),
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
    sources: list[Source],
    abouts: list[list[Any]],
    numbers: list[NDArray[Any]],
    digests: Digests,
) -> Iterable[Document]:
    """Yield the document of each source."""
    if not sources:
        return ()
    about, damaged, features, confidence = (each.tolist() for each in numbers)
    encoding, *others = zip(*map(abouts.__getitem__, about), strict=True)
    fields = zip(sources, encoding, confidence, damaged, features, *digests, *others, strict=True)
    return map(partial(_new, Document), fields)


def _digests(digests: NDArray[np.uint8], differing: NDArray[np.int64], count: int) -> Digests:
    """The digests of the bytes, the text and the features of each of `count` documents."""
    every = digests.view(f"V{_DIGEST}").tolist()
    of_bytes, of_features, others = every[:count], every[count : 2 * count], every[2 * count :]
    of_text = of_bytes.copy()  # the same objects, as of plain UTF-8, take less memory
    for document, digest in zip(differing.tolist(), others, strict=True):
        of_text[document] = digest
    return of_bytes, of_text, of_features


def _groups(
    told: list[Any], found: Callable[[list[int]], tuple[list[Any], list[bytes]]]
) -> Iterator[Group]:
    """Yield the groups from the lists of `_told_groups`.

    `found` returns the documents and fingerprints at some places.
    """
    about, columns = told
    if not about:
        return
    places, kinds, distances, similarities, own_shares, sets, kinds_of_sets = columns
    fields = zip(
        *(*found(places), map(_KINDS.get, kinds), distances, similarities),
        *(own_shares, sets, map(_KINDS.get, kinds_of_sets)),
        strict=True,
    )
    made = map(partial(_new, Member), fields)
    for number, kind, diameter, is_exact, size, versions in about:
        members, in_order = tuple(islice(made, size)), tuple(Version(*each) for each in versions)
        yield _new(Group, (number, _KINDS[kind], diameter, members, is_exact, in_order))


def candidates_from(fields: dict[str, Any] | None) -> Candidates | None:
    """The candidates with these fields, as `asdict` returns them."""
    if fields is None:
        return None
    recall = fields["recall"]
    return Candidates(**fields | {"recall": None if recall is None else Interval(**recall)})
