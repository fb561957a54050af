"""Time, peak memory and the largest groups of a scan of a large tree.

python tests/bench/tree.py FOLDER
"""

from __future__ import annotations

import resource
import sys
from collections import Counter

from simdup import scan


def main(folder: str) -> None:
    result = scan([folder], jobs=None)
    stats = result.stats
    own, workers = (
        resource.getrusage(who).ru_maxrss // 1024
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    print(f"{stats.found} files found, {stats.fingerprinted} fingerprinted")
    print(f"{stats.bytes / 1e6:.0f} MB of text, {len(result.groups)} groups")
    print(f"{stats.seconds:.1f} s; peak memory {own} MB, largest worker {workers} MB")
    print("skipped:", dict(Counter(each.reason.value for each in result.skipped)))
    print("candidates:", result.candidates)
    for group in sorted(result.groups, key=lambda group: -len(group.members))[:10]:
        least = min(member.similarity or 0 for member in group.members)
        first, *_, last = (member.document.path for member in group.members)
        head = f"{len(group.members):6} files, {group.kind.value}, at least {least:.2f}"
        print(f"{head}: {first} ... {last}")


if __name__ == "__main__":
    main(sys.argv[1])
