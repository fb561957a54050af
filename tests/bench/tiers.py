"""How good near pairs are, by collection, and what its constants would be without each collection.

    python tests/bench/tiers.py FOLDER... [--good 0.92]

A FOLDER has collections and labels.csv (collection, left, right, label), pairs of files that were
read and judged: copies, formats, versions and parts are good. A pair is near if both files are,
or one of them leads the group.

The second table has a row for each constant of simdup.match.tiers and simdup.findings.near. For
each collection the value is chosen that keeps the most good pairs of all other collections near,
where at least --good of their near pairs are good. The row says how often each value was chosen,
and how good the near pairs of all collections are with the values chosen without them.
"""

from __future__ import annotations

import csv
import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from report import Report, options, reported

import simdup
from simdup.findings import near
from simdup.findings.versions import Names
from simdup.match import tiers
from simdup.records import ScanResult

GOOD = {"copy", "format", "version", "part"}

VALUES = {
    "NEAR_SCORE": (0.7, 0.75, 0.8, 0.85, 0.9),
    "FEW_NEAR_SCORE": (0.8, 0.85, 0.9, 0.95, 0.97, 0.99),
    "MANY_NEAR": (0.1, 0.2, 0.25, 0.3, 0.4, 0.5),
    "ENOUGH_AROUND": (10, 15, 20, 30),
    "SHORT": (0, 30, 60, 90, 120),
    "SHORT_SCORE": (0.8, 0.9, 0.95, 1),
    "CONTAINED": (0.95, 0.97, 0.99, 1),
    "NAME_SCORE": (0.4, 0.5, 0.6, 0.7, 0.8),
    "MOST_OF_A_NAME": (5, 10, 20),
    "GAP_SCORE": (0.5, 0.6, 0.7, 0.8, 1),
    "MOST_IN_GAP": (0, 0.03, 0.05, 0.1, 0.2),
}


@dataclass(frozen=True)
class Collection:
    """A scan of one collection, and its labelled pairs in one group: two paths, and if it is good.

    apart: How many labelled pairs are in no group, and how many of them are good.
    """

    name: str
    result: ScanResult
    names: Names
    pairs: list[tuple[str, str, bool]]
    apart: tuple[int, int]

    def near(self) -> tuple[int, int]:
        """How many labelled pairs are near with the constants as they are now, and good ones."""
        groups = self.result.groups
        decided = near.Tiers(groups, self.names, self.result.settings.recipe)
        tier = {
            member.document.path: member.tier
            for group in map(decided.decided, groups)
            for member in group.members
        }
        are_good = [good for *paths, good in self.pairs if {*map(tier.get, paths)} == {tiers.NEAR}]
        return len(are_good), sum(are_good)


def collections(folder: Path) -> Iterator[Collection]:
    """Scan the collections of a folder."""
    with open(folder / "labels.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    os.chdir(folder)
    for name in sorted({row["collection"] for row in rows}):
        result = simdup.scan([name])
        group_of = {
            member.document.path: group.id for group in result.groups for member in group.members
        }
        pairs = [
            (row["left"], row["right"], row["label"] in GOOD)
            for row in rows
            if row["collection"] == name
        ]
        inside = [pair for pair in pairs if group_of.get(pair[0], -1) == group_of.get(pair[1], -2)]
        apart = len(pairs) - len(inside), sum(good for *_, good in set(pairs) - set(inside))
        names = Names(result.groups, result.documents)
        yield Collection(name, result, names, inside, apart)


@contextmanager
def set_to(name: str, value: float) -> Iterator[None]:
    """Give a constant this value, in each module that has it."""
    modules = [module for module in (tiers, near) if hasattr(module, name)]
    before = getattr(modules[0], name)
    try:
        for module in modules:
            setattr(module, name, value)
        yield
    finally:
        for module in modules:
            setattr(module, name, before)


def show_collections(report: Report, scanned: list[Collection]) -> None:
    """The near pairs of each collection."""
    report.table("near pairs by collection", {
        "pairs": ",", "good": ",", "near": ",", "good of near": ".1%", "near of good": ".1%",
        "apart": ",", "good of apart": ",",
    }, 20)  # fmt: skip
    rows = [
        (one.name, len(one.pairs), sum(pair[2] for pair in one.pairs), *one.near(), *one.apart)
        for one in scanned
    ]
    for name, pairs, good, number, right, apart, good_apart in [*rows, ("all", *sums(rows))]:
        precision, recall = share(right, number), share(right, good)
        report.row(name, pairs, good, number, precision, recall, apart, good_apart)


def sums(rows: list[tuple[Any, ...]]) -> list[int]:
    return [sum(column) for column in list(zip(*rows, strict=True))[1:]]


def share(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def show_constants(report: Report, scanned: list[Collection], least_good: float) -> None:
    """What leaving each collection out would choose for each constant, all others as they are."""
    report.table("constants, each collection left out once", {
        "is": "g", "chosen, and how often": "", "near": ",", "good of near": ".1%",
        "near of good": ".1%",
    }, 20)  # fmt: skip
    good = sum(pair[2] for collection in scanned for pair in collection.pairs)
    for name, values in VALUES.items():
        current = getattr(tiers, name, None) or getattr(near, name)
        counts = np.empty((len(values), len(scanned), 2), int)
        for place, value in enumerate(values):
            with set_to(name, value):
                counts[place] = [collection.near() for collection in scanned]
        others = counts.sum(axis=1, keepdims=True) - counts
        precise = others[..., 1] >= least_good * others[..., 0]
        distance = np.abs(np.array(values) - current)[:, None]
        chosen = np.where(precise, others[..., 1] - distance / 1000, -1 - distance).argmax(axis=0)
        number, right = counts[chosen, np.arange(len(scanned))].sum(axis=0)
        times = Counter(values[place] for place in chosen.tolist())
        words = " ".join(f"{value:g}x{times[value]}" for value in sorted(times))
        report.row(name, current, words, number, share(right, number), share(right, good))


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--good", type=float, default=0.92)
    given = parser.parse_args()
    with reported(given) as report:
        folders = [folder.resolve() for folder in given.folders]
        scanned = [collection for folder in folders for collection in collections(folder)]
        show_collections(report, scanned)
        show_constants(report, scanned, given.good)


if __name__ == "__main__":
    main()
