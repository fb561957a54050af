"""Compares two files: each is read, and their fingerprints are matched, as in a scan of the two.

`compare_among` also measures their own share among the files of some folders.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace

import numpy as np

from simdup.arguments import AnyPath
from simdup.arrays import Rows
from simdup.errors import InputError
from simdup.extract.readers import Readers
from simdup.files.fingerprint import FingerprintOptions, fingerprint_sources, without_degenerate
from simdup.files.group_files import own_share_of
from simdup.files.read import SkipError, read_again
from simdup.files.scan import fingerprint_paths
from simdup.files.walk import listed
from simdup.fingerprint.features import all_features
from simdup.match.own_share import has_enough, least_similarity, shares_in_others
from simdup.match.parts import shares_of
from simdup.match.tiers import best_score
from simdup.match.verify import cosines
from simdup.progress import Progress, silent
from simdup.records import Comparison, Document, Group, InOthers, Kind, Member, Skipped, Source
from simdup.search.hamming import hamming_distances
from simdup.settings import Settings
from simdup.theory import similarity_at


def compare(left: AnyPath, right: AnyPath, settings: Settings | None = None) -> Comparison:
    """Measure how similar two files are, and whether they are near or related.

    The exact similarity decides, as in a scan of the two files alone: short texts and very long
    ones must be more alike. No other texts are known, so the own share counts as 1. If the
    settings have a `k` or verify nothing, the distance decides unless a text is short. Raises
    InputError for a file without text, or with nothing to compare in it.
    """
    settings = settings or Settings()
    (a, row_a), (b, row_b) = (document_at(each, settings) for each in (left, right))
    texts = _text(a, settings), _text(b, settings)
    features, both = all_features(texts, settings.recipe), np.arange(2)
    similarity = float(cosines(features, both[:1], both[1:])[0])
    of_left, of_right = shares_of(features, both, both[::-1]).tolist()
    distance = int(hamming_distances(row_a, row_b)[0, 0])
    near = a.features_digest == b.features_digest or _is_near(a, b, distance, similarity, settings)
    kind = a.kind_with(b) if near else None
    rows = row_a.tobytes(), row_b.tobytes()
    found = Comparison(settings, a, b, rows, kind, distance, similarity, texts)
    return _with_tier(replace(found, contained=(of_left, of_right)))


def compare_among(  # noqa: PLR0913  (the last two have an answer)
    left: AnyPath,
    right: AnyPath,
    folders: Sequence[AnyPath],
    settings: Settings,
    *,
    jobs: int | None = 1,
    progress: Progress = silent,
) -> Comparison:
    """Compare two files as a scan of them and these folders would.

    Near and related texts have an own share of `settings.own_share` or more among all files, and
    are not of one form. `jobs` processes read the folders. Raises InputError for a file without
    text, and for a folder that cannot be read.
    """
    found = compare(left, right, settings)
    made = fingerprint_paths((*folders, left, right), settings, jobs=jobs, progress=progress)
    positions = {_identity(each.source): position for position, each in enumerate(made.documents)}
    try:
        pair = positions[_identity(found.left.source)], positions[_identity(found.right.source)]
    except KeyError:
        raise InputError(f"{left!r} or {right!r} changed while the folders were read") from None
    own = own_share_of(made, pair, settings, progress)
    both = np.array([own]), np.array([found.similarity])
    kind = found.kind if has_enough(*both, settings.own_share).all() else None
    counts = np.array([document.features for document in made.documents])
    shares = shares_in_others(made.sketches, counts, pair) if made.sketches else np.empty(0)
    found = replace(found, in_others=InOthers.of(shares.tolist()), among=len(made.documents))
    return _with_tier(replace(found, kind=kind, own_share=own))


def _with_tier(found: Comparison) -> Comparison:
    """The comparison with the score and the tier that a group of the two files has."""
    from simdup.findings.near import Tiers  # noqa: PLC0415  slow to import
    from simdup.findings.versions import Names, with_versions  # noqa: PLC0415  slow to import

    if found.kind is None:
        return replace(found, score=None, tier=None, near_because="")
    alike = found.similarity if found.settings.verified else None
    sides, kinds = (found.left, found.right), (Kind.IDENTICAL_BYTES, found.kind)
    pair = tuple(
        Member(document, row, kind, found.distance, alike, found.own_share)
        for document, row, kind in zip(sides, found.fingerprints, kinds, strict=True)
    )
    recipe = found.settings.recipe
    score = best_score(pair, recipe)
    group = Group(1, found.kind, found.distance, pair, score=score)
    names = Names([group], sides)
    (group,) = with_versions([group], names)
    group = Tiers([group], names, recipe).decided(group)
    return replace(found, score=score, tier=group.tier, near_because=group.near_because)


def _identity(source: Source) -> tuple[int, int]:
    return source.device, source.inode


def _is_near(
    a: Document, b: Document, distance: int, similarity: float, settings: Settings
) -> bool:
    if settings.verified:
        shorter = np.array([min(a.features, b.features)])
        return similarity >= float(least_similarity(settings.similarity, shorter)[0])
    if distance > settings.distance:
        return False
    least = similarity_at(settings.distance, settings.recipe.bits)
    return similarity >= least if a.is_short or b.is_short else True


def document_at(path: AnyPath, settings: Settings) -> tuple[Document, Rows]:
    """The document in one file, and its fingerprint: (1, bits // 8). Raises InputError."""
    found = next(iter(listed([path])))
    if isinstance(found, Skipped):
        raise _refusal(found)
    made = fingerprint_sources([found], FingerprintOptions(settings))
    made = without_degenerate(made, settings.recipe.bits)
    if made.skipped:
        raise _refusal(made.skipped[0])
    return made.documents[0], made.rows


def _text(document: Document, settings: Settings) -> str:
    try:
        with closing(Readers(*settings.reading)) as readers:
            return read_again(document, readers).text
    except SkipError as skip:
        raise _refusal(skip.at(document.path)) from None


def _refusal(skipped: Skipped) -> InputError:
    advice = "; `simdup scan` takes folders" if os.path.isdir(skipped.path) else ""
    return InputError(f"{skipped}{advice}")
