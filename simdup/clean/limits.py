"""Plans that are so large that the user may not have meant them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simdup.clean.records import Plan


@dataclass(frozen=True, slots=True)
class Limits:
    """What a plan may do without being asked about."""

    most: int = 20
    """Files that go from one group."""
    most_files: int = 1000
    """Files that go in all. Also, no more than half of all files that the scan found, unless
    they are no more than `most`."""

    def excess(self, plan: Plan) -> str:
        """What is unusually large about a plan; "" if nothing is."""
        going = len(plan.actions)
        if going > self.most_files:
            return f"{going:,} files would go, more than --most-files {self.most_files:,}"
        if going > self.most and 2 * going > plan.header.found > 0:
            return f"{going:,} of the {plan.header.found:,} files of the scan would go"
        groups = Counter(each.group for each in plan.actions).most_common(1)
        group, files = groups[0] if groups else (0, 0)
        if files > self.most:
            return f"{files:,} files of group {group} would go, more than --most {self.most:,}"
        return ""
