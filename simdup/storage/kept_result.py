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
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from hashlib import blake2b
from itertools import chain
from typing import Any, NamedTuple

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
    ScanResult,
    Skipped,
    Source,
    Stats,
    Version,
    doubtful,
)
from simdup.settings import Settings
from simdup.storage.cached import RecipeCache
from simdup.storage.outcomes import Outcome, packed, unpacked
from simdup.storage.status import is_settled

# Makes a record in half the time of a call of its class.
_new = tuple.__new__

# Bytes of a digest.
_DIGEST = 16

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
        is_small = len(outcomes) * _BYTES_OF_A_DOCUMENT < self.cache.limits.result_bytes
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

    The arrays are the documents and the fingerprints.
    """
    files = (each if isinstance(each, Document) else each.file for each in outcomes)
    position_of = {id(each): position for position, each in enumerate(files)}
    fields, records = packed(outcomes)
    stats = result.stats
    told = fields | {
        "groups": [_told_group(each, position_of) for each in result.groups],
        "patterns": [_told_group(each, position_of) for each in result.patterns],
        "parts": result.parts,
        "folders": result.folders,
        "candidates": None if result.candidates is None else asdict(result.candidates),
        "stats": [stats.bytes, stats.ignored, stats.siblings, stats.identity_only],
    }
    data = io.BytesIO()
    data.write(json.dumps(told).encode() + b"\n")
    for array in (np.frombuffer(records, np.uint8), np.ascontiguousarray(result.rows)):
        np.save(data, array)
    return data.getvalue()


def whole_from(data: bytes, walked: Walked, settings: Settings) -> ScanResult:
    """The result that `whole_as_bytes` made these bytes from; it took no seconds."""
    file = io.BytesIO(data)
    told = json.loads(file.readline())
    records, rows = np.load(file), np.load(file)
    outcomes = tuple(unpacked(walked.sources, told, records.tobytes()))
    documents = tuple(each for each in outcomes if isinstance(each, Document))
    skipped = (each for each in outcomes if isinstance(each, Skipped))
    width = rows.shape[1]
    prints = iter(rows.view(f"V{width}").ravel().tolist())
    files = [
        (each, next(prints)) if isinstance(each, Document) else (each.file, bytes(width))
        for each in outcomes
    ]
    size, ignored, siblings, identity_only = told["stats"]
    counts = len(walked.sources), len(documents), size
    kinds = tuple((name, count) for name, count in identity_only)
    return ScanResult(
        settings,
        documents,
        rows,
        tuple(_group(each, files) for each in told["groups"]),
        (*walked.skipped, *skipped),
        candidates_from(told["candidates"]),
        Stats(*counts, 0.0, len(walked.sources), ignored, siblings, kinds),
        patterns=tuple(_group(each, files) for each in told["patterns"]),
        parts=tuple(Part(*each) for each in told["parts"]),
        folders=tuple(
            FolderPair(*each)._replace(groups=tuple(each[-1])) for each in told["folders"]
        ),
        doubtful=doubtful(documents),
    )


def _told_group(group: Group, position_of: dict[int, int]) -> list[Any]:
    """The fields of a group; a document is named by its position among the files."""
    number, kind, diameter, members, *others = group
    told = [
        (position_of[id(document)], _NUMBERS[of_member], *figures, _NUMBERS[of_set], tier, because)
        for document, _, of_member, *figures, of_set, tier, because in members
    ]
    return [number, _NUMBERS[kind], diameter, told, *others]


def _group(told: list[Any], files: Sequence[tuple[Document | None, bytes]]) -> Group:
    """The group of these fields; `files` has the document and fingerprint at each position."""
    group_id, kind, diameter, members, is_exact, versions, why, score, apart, aside = told
    made = tuple(
        _new(Member, (*files[at], _KINDS[of_member], *figures, _KINDS[of_set], tier, because))
        for at, of_member, *figures, of_set, tier, because in members
    )
    in_order, pairs = tuple(Version(*each) for each in versions), tuple(map(tuple, apart))
    about = is_exact, in_order, why, score, pairs, aside
    return _new(Group, (group_id, _KINDS[kind], diameter, made, *about))


def candidates_from(fields: dict[str, Any] | None) -> Candidates | None:
    """The candidates with these fields, as `asdict` returns them."""
    if fields is None:
        return None
    recall = fields["recall"]
    return Candidates(**fields | {"recall": None if recall is None else Interval(**recall)})
