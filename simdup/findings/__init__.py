"""Groups of files in, what they mean out: versions, copied folders, identical sets, machine files.

Read `identical` first, which numbers the sets of equal files in a result. `versions` finds the
groups that are chains of versions, `near` says which members are near the first one and why,
`folders` finds the folders that are copies of others, and `noise` the files that are alike by
nature, such as lock files. `keeper` says which file is kept, `marks` knows the names of copies, and
`exports` the files made for print. Nothing here opens a file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from simdup.findings.identical import with_sets
from simdup.findings.keeper import Matching, with_keepers
from simdup.match.tiers import NEAR, RELATED
from simdup.records import Group, ScanResult

if TYPE_CHECKING:
    from simdup.findings.near import Tiers


def with_findings(result: ScanResult, roots: Sequence[str], matching: Matching) -> ScanResult:
    """The result with identical sets, chains of versions and, under the roots, copied folders.

    The file that a person would keep leads each group. Groups of related texts come last.

    Only names of documents that were compared in full can contradict a chain of versions.
    """
    if not result.groups:
        return replace(result, patterns=with_sets((), result.patterns)[1])
    from simdup.findings.folders import folder_pairs  # noqa: PLC0415  slow to import
    from simdup.findings.near import Tiers  # noqa: PLC0415  slow to import
    from simdup.findings.versions import with_versions  # noqa: PLC0415  slow to import

    compare = matching.similarities if result.settings.verified else None
    groups = with_versions(result.groups, matching.documents, compare)
    tiers = Tiers(groups, result.documents, result.settings.recipe)
    in_order = sorted(map(tiers.decided, groups), key=lambda group: group.tier == RELATED)
    groups = tuple(group._replace(id=number) for number, group in enumerate(in_order, 1))
    folders = folder_pairs(groups, result.documents, result.skipped, roots) if roots else ()
    result = replace(result, groups=groups, folders=folders)
    groups, patterns = with_sets(_led(result, matching, tiers), result.patterns)
    return replace(result, groups=groups, patterns=patterns)


def _led(result: ScanResult, matching: Matching, tiers: Tiers) -> tuple[Group, ...]:
    """The groups, each led by the file that is kept of all near ones.

    With another leader other members may be near. Then one of them may be kept instead.
    """
    while True:
        led = with_keepers(result, matching)
        both = zip(led, result.groups, strict=True)
        groups = tuple(
            new if new.members[0] is old.members[0] else tiers.decided(new) for new, old in both
        )
        if not any(map(_has_nearer, groups, led)):
            return groups
        result = replace(result, groups=groups)


def _has_nearer(now: Group, before: Group) -> bool:
    """Whether a member is near that was only related."""
    pairs = zip(now.members, before.members, strict=True)
    return now is not before and any(one.tier == NEAR != other.tier for one, other in pairs)
