"""Groups of files in, what they mean out: versions, copied folders, identical sets, machine files.

Read `identical` first, which numbers the sets of equal files in a result. `versions` finds the
groups that are chains of versions, `folders` the folders that are copies of others, and `noise`
the files that are alike by nature, such as lock files. Nothing here opens a file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from simdup.findings.identical import with_sets
from simdup.records import Document, ScanResult


class Matching(Protocol):
    """The documents that were compared in full."""

    @property
    def documents(self) -> Sequence[Document]:
        """Return these documents."""

    def similarities(self, pairs: Sequence[tuple[Document, Document]]) -> Sequence[float]:
        """Compute the exact similarities of some of these documents, whose texts are read again."""


def with_findings(result: ScanResult, roots: Sequence[str], matching: Matching) -> ScanResult:
    """The result with identical sets, chains of versions and, under the roots, copied folders.

    Only names of documents that were compared in full can contradict a chain of versions.
    """
    groups, patterns = with_sets(result.groups, result.patterns)
    if not groups:
        return replace(result, patterns=patterns)
    from simdup.findings.folders import folder_pairs  # noqa: PLC0415  slow to import
    from simdup.findings.versions import with_versions  # noqa: PLC0415  slow to import

    compare = matching.similarities if result.settings.verified else None
    groups = with_versions(groups, matching.documents, compare)
    folders = folder_pairs(groups, result.documents, result.skipped, roots) if roots else ()
    return replace(result, groups=groups, patterns=patterns, folders=folders)
