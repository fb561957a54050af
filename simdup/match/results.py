"""What `match` found, as bytes and back, and the key by which a store keeps it.

A scan that meets the same texts again, under the same settings, need not match them again.
"""

from __future__ import annotations

import io
import json
from dataclasses import asdict
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from simdup.match.match import Siblings, TextGroups
from simdup.records import Candidates, Interval

if TYPE_CHECKING:
    from simdup.match.distinct_texts import Texts
    from simdup.match.exclusions import Exclusions
    from simdup.settings import Settings

# The rooms whose code decides what is found, and the modules beside all rooms.
_DECIDING = ("*.py", "compute/*.py", "fingerprint/*.py", "match/*.py", "search/*.py")


def result_key(texts: Texts, settings: Settings, exclusions: Exclusions) -> bytes:
    """The key of what `match` finds: 16 bytes of a digest of all that decides it.

    That is the texts, in their order and with their precedence, the settings, the excluded pairs,
    and the code of simdup itself.
    """
    decided_by = (
        *(settings.recipe.key(), settings.similarity, settings.k, settings.verified),
        *(settings.linkage, settings.own_share, *texts.wide.shape),
    )
    digest = blake2b(code_digest(), digest_size=16)
    digest.update(json.dumps(decided_by).encode())
    by_text = (texts.rank, texts.sizes, texts.wide, texts.counts, texts.digests, texts.content)
    for array in (*by_text, texts.is_reference, *exclusions.entries):
        digest.update(np.ascontiguousarray(array).data)
    return digest.digest()


@cache
def code_digest() -> bytes:
    """A digest of the code that decides, so that no version believes what another one found."""
    package, digest = Path(__file__).parents[1], blake2b()
    for path in sorted(each for pattern in _DECIDING for each in package.glob(pattern)):
        digest.update(path.read_bytes())
    return digest.digest()


def result_as_bytes(found: TextGroups) -> bytes:
    """What was found, but for the own shares of all texts: a line of JSON, then arrays."""
    data = io.BytesIO()
    candidates = None if found.candidates is None else asdict(found.candidates)
    data.write(json.dumps([candidates, found.excluded]).encode() + b"\n")
    sizes = np.array([len(each) for each in found.groups], np.int64)
    members = np.concatenate([sizes[:0], *found.groups])
    for array in (sizes, members, found.similarities, found.own_shares, *found.siblings):
        np.save(data, array)
    return data.getvalue()


def result_from(data: bytes) -> TextGroups:
    """What `result_as_bytes` made these bytes from; `shares` is None."""
    file = io.BytesIO(data)
    candidates, excluded = json.loads(file.readline())
    if candidates is not None and candidates["recall"] is not None:
        candidates["recall"] = Interval(**candidates["recall"])
    arrays = [np.load(file) for _ in range(7)]
    sizes, members, similarities, own_shares, *siblings = arrays
    return TextGroups(
        tuple(np.split(members, np.cumsum(sizes)[:-1])) if len(sizes) else (),
        similarities,
        own_shares,
        Siblings(*siblings),
        None,
        None if candidates is None else Candidates(**candidates),
        excluded,
    )
