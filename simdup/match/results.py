"""The result of `match` as bytes and back, and the key by which a store keeps it.

A scan that meets the same texts again, under the same settings, need not match them again.
"""

from __future__ import annotations

import io
import json
import os
from dataclasses import asdict
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np

from simdup.match.engine import TextGroups
from simdup.match.siblings import Siblings
from simdup.storage.kept_result import candidates_from

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simdup.match.distinct_texts import Texts
    from simdup.match.exclusions import Exclusions
    from simdup.settings import Settings

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


def result_key(texts: Texts, settings: Settings, exclusions: Exclusions) -> bytes:
    """The key of the result of `match` for texts of one recipe: a digest of all that decides it.

    These are the texts, in their order and with their precedence, the settings, the excluded
    pairs, and CODE. Sketches follow from the digests of the texts.
    """
    decided_by = (
        *(settings.recipe.bits, settings.similarity, settings.k, settings.verified),
        *(settings.linkage, settings.own_share, *texts.wide.shape),
    )
    digest = blake2b(CODE, digest_size=16)
    digest.update(json.dumps(decided_by, default=float).encode())  # float: for numbers of numpy
    by_text = (texts.rank, texts.sizes, texts.wide, texts.counts, texts.digests, texts.content)
    for array in (*by_text, texts.is_reference, *exclusions.entries):
        digest.update(np.ascontiguousarray(array).data)
    return digest.digest()


def _arrays(found: TextGroups) -> list[NDArray[Any]]:
    sizes = np.array([len(each) for each in found.groups], np.int64)
    members = np.concatenate([sizes[:0], *found.groups])
    return [sizes, members, found.similarities, found.own_shares, *found.siblings]


def size_of_result(found: TextGroups) -> int:
    """About how many bytes `result_as_bytes` makes."""
    return sum(array.nbytes for array in _arrays(found))


def result_as_bytes(found: TextGroups) -> bytes:
    """The result as a line of JSON, then arrays; `shares`, the own shares of all texts, is lost."""
    data = io.BytesIO()
    candidates = None if found.candidates is None else asdict(found.candidates)
    data.write(json.dumps([candidates, found.excluded]).encode() + b"\n")
    for array in _arrays(found):
        np.save(data, array)
    return data.getvalue()


def result_from(data: bytes) -> TextGroups:
    """The result from the bytes that `result_as_bytes` made; `shares` is None."""
    file = io.BytesIO(data)
    candidates, excluded = json.loads(file.readline())
    sizes, members, similarities, own_shares, *siblings = (np.load(file) for _ in range(7))
    return TextGroups(
        tuple(np.split(members, np.cumsum(sizes)[:-1])) if len(sizes) else (),
        similarities,
        own_shares,
        Siblings(*siblings),
        None,
        candidates_from(candidates),
        excluded,
    )
