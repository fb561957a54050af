"""Groups of files in, what they mean out: versions, copied folders, identical sets, machine files.

Read `identical` first, which numbers the sets of equal files in a result. `versions` finds the
groups that are chains of versions, `folders` the folders that are copies of others, and `noise`
the files that are alike by nature, such as lock files. Nothing here opens a file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from simdup.findings.identical import with_sets
from simdup.findings.keeper import Matching, with_keepers
from simdup.match.tiers import RELATED, tier
from simdup.records import ScanResult


def with_findings(result: ScanResult, roots: Sequence[str], matching: Matching) -> ScanResult:
    """The result with identical sets, chains of versions and, under the roots, copied folders.

    The file that a person would keep leads each group. Groups of related texts come last.

    Only names of documents that were compared in full can contradict a chain of versions.
    """
    if not result.groups:
        return replace(result, patterns=with_sets((), result.patterns)[1])
    from simdup.findings.folders import folder_pairs  # noqa: PLC0415  slow to import
    from simdup.findings.versions import with_versions  # noqa: PLC0415  slow to import

    compare = matching.similarities if result.settings.verified else None
    groups = with_versions(result.groups, matching.documents, compare)
    in_order = sorted(groups, key=lambda group: tier(group) == RELATED)
    groups = tuple(group._replace(id=number) for number, group in enumerate(in_order, 1))
    folders = folder_pairs(groups, result.documents, result.skipped, roots) if roots else ()
    result = replace(result, groups=groups, folders=folders)
    groups, patterns = with_sets(with_keepers(result, matching), result.patterns)
    return replace(result, groups=groups, patterns=patterns)
