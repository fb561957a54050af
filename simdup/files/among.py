"""Compares two files, and measures their own share among the files of some folders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from simdup.arguments import AnyPath
from simdup.errors import InputError
from simdup.files.compare import compare
from simdup.files.group_files import own_share_of
from simdup.files.scan import fingerprint_paths
from simdup.progress import Progress, silent
from simdup.records import Comparison, Source
from simdup.settings import Settings


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

    Near-duplicates must have an own share of `settings.own_share` among all files. `jobs`
    processes read the folders. Raises InputError for a file without text, and for a folder that
    cannot be read.
    """
    found = compare(left, right, settings)
    made = fingerprint_paths((*folders, left, right), settings, jobs=jobs, progress=progress)
    positions = {_identity(each.source): position for position, each in enumerate(made.documents)}
    try:
        pair = positions[_identity(found.left.source)], positions[_identity(found.right.source)]
    except KeyError:
        raise InputError(f"{left!r} or {right!r} changed while the folders were read") from None
    own = own_share_of(made, pair, settings, progress)
    kind = found.kind if own >= settings.own_share else None
    return replace(found, kind=kind, own_share=own, among=len(made.documents))


def _identity(source: Source) -> tuple[int, int]:
    return source.device, source.inode
