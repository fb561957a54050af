"""The result of matching in, the same result with findings about its groups out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from simdup.findings.identical import with_sets
from simdup.records import Document, ScanResult

#: Computes the exact similarities of pairs of documents, whose texts it reads again.
Similarities = Callable[[Sequence[tuple[Document, Document]]], Sequence[float]]


def with_findings(
    result: ScanResult,
    roots: Sequence[str],
    compared: Sequence[Document],
    similarities: Similarities | None,
) -> ScanResult:
    """The result with identical sets, chains of versions and, under the roots, copied folders.

    Only the names of files that were `compared` in full can contradict a chain of versions, whose
    `similarities` of neighbours may have to be computed; see `with_versions`.
    """
    groups, patterns = with_sets(result.groups, result.patterns)
    if not groups:
        return replace(result, patterns=patterns)
    from simdup.findings.folders import folder_pairs  # noqa: PLC0415  slow to import
    from simdup.findings.versions import with_versions  # noqa: PLC0415  slow to import

    groups = with_versions(groups, compared, similarities)
    folders = folder_pairs(groups, result.documents, result.skipped, roots) if roots else ()
    return replace(result, groups=groups, patterns=patterns, folders=folders)
