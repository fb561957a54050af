"""Pair precision and recall of the groups of a scan, against labelled pairs.

    python tests/bench/labelled.py FOLDER

FOLDER holds documents and a pairs.csv with the columns left, right, duplicate. Every pair
of documents counts: one that is not labelled as duplicate is a wrong one if a group has it.
"""

from __future__ import annotations

import csv
import sys
from itertools import combinations
from pathlib import Path

from simdup import Filters, Settings, scan

RULES = {
    "verified, similarity 0.4": Settings(similarity=0.4),
    "verified, similarity 0.5": Settings(similarity=0.5),
    "verified, similarity 0.6": Settings(similarity=0.6),
    "verified, similarity 0.7": Settings(similarity=0.7),
    "bare, k = 32 of 128 bits": Settings(k=32),
    "verified, 0.5, components": Settings(linkage="components"),
    "bare, k = 32, components": Settings(k=32, linkage="components"),
}


def main(folder: Path) -> None:
    with (folder / "pairs.csv").open(encoding="utf-8") as file:
        labelled = {
            frozenset((row["left"], row["right"]))
            for row in csv.DictReader(file)
            if row["duplicate"] == "1"
        }
    print(f"{len(labelled)} duplicate pairs in {folder.name}")
    print(f"{'rule':<26} {'precision':>9} {'recall':>7} {'F1':>7} {'seconds':>8}")
    for rule, settings in RULES.items():
        result = scan([folder], settings, Filters(exclude=("pairs.csv",)), jobs=None)
        names = [
            [Path(m.document.path).relative_to(folder).as_posix() for m in g.members]
            for g in result.groups
        ]
        found = {frozenset(pair) for group in names for pair in combinations(group, 2)}
        right = len(found & labelled)
        precision, recall = right / max(len(found), 1), right / len(labelled)
        f1 = 2 * right / (len(found) + len(labelled))
        print(f"{rule:<26} {precision:9.4f} {recall:7.4f} {f1:7.4f} {result.stats.seconds:8.1f}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
