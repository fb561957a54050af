"""How the least own share and the least score of near texts were chosen: each set left out once.

    python tests/bench/choices.py [FOLDER...] [--tiers FOLDER] [--unrelated FOLDER...]

A FOLDER holds documents and a pairs.csv, as for accuracy.py. simdup's own pairs, its families and
texts like laws, half of whose clauses come from one pool, are sets too. For each set the own share
is the one with the best mean F1 on all other sets, and the table shows the F1 that it then has on
the set itself.

The folder of --tiers has collections and labels.csv (collection, left, right, label), pairs of
texts in one group of a scan: copies, formats, versions and parts are good. The least score is the
lowest one from which nine of ten near pairs are good, on the mean of the other sets.

The texts in each folder of --unrelated have nothing to do with each other, and the table shows how
similar they are all the same.
"""

from __future__ import annotations

import csv
import os
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from accuracy import LabelledSet, own_set, whole_set
from report import Report, options, reported

import simdup
from simdup.evaluation.evaluate import own_shares
from simdup.files.fingerprint import text_again
from simdup.fingerprint.features import all_features
from simdup.fingerprint.simhash import simhash
from simdup.fingerprint.sketch import sketches
from simdup.match.groups import components
from simdup.match.own_share import FAMILY, OwnShares, has_enough, least_similarity
from simdup.match.tiers import NEAR_SCORE, pair_scores
from simdup.match.verify import cosines
from simdup.recipe import Recipe
from simdup.settings import OWN_SHARE, SIMILARITY, Settings

sys.path.insert(0, str(Path(__file__).parent.parent / "match"))
from test_shared_clauses import laws

OWN, SCORES = np.arange(0, 91) / 100, np.arange(50, 100) / 100
GOOD = {"copy", "format", "version", "part"}
WANTED = 0.9


@dataclass(frozen=True)
class Judged:
    """Pairs of one set that are similar enough, and the number of duplicates in the whole set."""

    name: str
    similarities: np.ndarray
    shares: np.ndarray
    counts: np.ndarray
    is_duplicate: np.ndarray
    duplicates: int

    def f1s(self) -> np.ndarray:
        """F1 at each least own share of OWN."""
        found = np.array([has_enough(self.shares, self.similarities, each) for each in OWN])
        right = found[:, self.is_duplicate].sum(axis=1)
        return 2 * right / (found.sum(axis=1) + self.duplicates)

    def grouped(self) -> tuple[np.ndarray, np.ndarray]:
        """The scores of the pairs that a scan takes together, and which of them are good."""
        found = has_enough(self.shares, self.similarities, OWN_SHARE)
        scores = pair_scores(self.similarities, self.shares, self.counts)
        return scores[found], self.is_duplicate[found]


def of_labels(labelled: LabelledSet) -> list[Judged]:
    """The pairs of a set; of simdup's own, the families apart, each a collection by itself."""
    labels, (i, j) = labelled.labels, labelled.labels.pairs.T
    features = all_features(labelled.texts, Recipe())
    counts, similar = features.counts[labels.pairs], cosines(features, i, j)
    is_alike = similar >= least_similarity(SIMILARITY, counts.min(axis=1))
    shares = own_shares(labels, features, simhash(features, Recipe()).rows, is_alike)
    is_duplicate = np.zeros(len(i), bool)
    is_duplicate[labelled.is_judged] = labelled.is_duplicate
    largest = np.bincount(labels.collection).argmax()
    parts = {labelled.name: labels.collection == largest, "families": labels.collection != largest}
    made = []
    for name, is_part in parts.items():
        judged = is_part & labelled.is_judged
        of = judged & is_alike
        about = similar[of], shares[of], counts[of], is_duplicate[of]
        made.append(Judged(name, *about, int(is_duplicate[judged].sum())))
    return [each for each in made if each.duplicates]


def of_laws(texts: int = 400) -> Judged:
    """Texts like laws, of which every fifth is a version of another one."""
    features, versions = laws(np.random.default_rng(1), texts)
    pairs = np.column_stack(np.triu_indices(texts, 1))
    similar = cosines(features, *pairs.T)
    family = components(pairs[similar >= FAMILY], texts)
    of = similar >= least_similarity(SIMILARITY, features.counts[pairs].min(axis=1))
    shares = OwnShares.of_all(sketches(features), features.counts, family).of(pairs[of])
    is_version = np.zeros((texts, texts), bool)
    is_version[tuple(np.sort(versions, axis=1).T)] = True
    known = is_version[tuple(pairs[of].T)]
    return Judged(
        "like laws", similar[of], shares, features.counts[pairs[of]], known, len(versions)
    )


def of_groups(folder: Path) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """The scores of labelled pairs in one group, and which are good, by collection.

    A chain of versions is near by its names, so its pairs do not count.
    """
    with open(folder / "labels.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    os.chdir(folder)
    made = {}
    for name in sorted({row["collection"] for row in rows}):
        groups = simdup.scan([name]).groups
        group_of = {each.document.path: group for group in groups for each in group.members}
        met = [
            (group.score, row["label"] in GOOD)
            for row in rows
            if row["collection"] == name and (group := group_of.get(row["left"])) is not None
            if group is group_of.get(row["right"]) and not group.versions
        ]
        scores, good = np.array(met, float).reshape(-1, 2).T
        made[name] = scores, good == 1
    return made


def precisions(scores: np.ndarray, good: np.ndarray) -> np.ndarray:
    """The share of good pairs among those with at least each of SCORES; NaN if there are none."""
    found = scores >= SCORES[:, None]
    with np.errstate(invalid="ignore"):
        return (found & good).sum(axis=1) / found.sum(axis=1)


def without(values: np.ndarray, place: int) -> np.ndarray:
    """The mean of all rows but one, where they are known."""
    return np.nanmean(np.delete(values, place, axis=0), axis=0)


def show_own(report: Report, sets: list[Judged]) -> None:
    """The least own share that the other sets choose, and what it gives here."""
    report.table("least own share", {
        "chosen without it": ".2f", "F1": ".3f", f"F1 at {OWN_SHARE:g}": ".3f", "best F1": ".3f"
    }, 20)  # fmt: skip
    found = np.array([each.f1s() for each in sets])
    usual = int(np.abs(OWN - OWN_SHARE).argmin())
    for place, (each, f1) in enumerate(zip(sets, found, strict=True)):
        chosen = int(without(found, place).argmax())
        report.row(each.name, OWN[chosen], f1[chosen], f1[usual], f1.max())
    best = int(found.mean(axis=0).argmax())
    mean = found.mean(axis=0)
    report.row("all, mean", OWN[best], mean[best], mean[usual], found.max(axis=1).mean())


def show_scores(report: Report, sets: dict[str, tuple[np.ndarray, np.ndarray]]) -> None:
    """The least score of near texts that the other sets choose, and how good these are here."""
    usual = f"near at {NEAR_SCORE:g}"
    report.table("least score of near texts", {
        "pairs": ",", "good": ".1%", "chosen without it": ".2f", "near": ",", "good of them": ".1%",
        usual: ",", "good of these": ".1%", "of all good ones": ".1%",
    }, 20)  # fmt: skip
    found = np.array([precisions(*each) for each in sets.values()])
    for place, (name, (scores, good)) in enumerate(sets.items()):
        is_enough = without(found, place) >= WANTED
        chosen = SCORES[is_enough.argmax()]
        parts = [good[scores >= least] for least in (chosen, NEAR_SCORE)]
        near = [cell for part in parts for cell in (len(part), part.mean() if len(part) else None)]
        kept = parts[1].sum() / good.sum() if good.any() else None
        report.row(name, len(good), good.mean(), chosen, *near, kept)


def show_unrelated(report: Report, folders: list[Path]) -> None:
    """How similar the texts of each folder are to each other."""
    columns = {"texts": ",", "features": ",.0f", "median": ".3f", "95 of 100": ".3f", "99": ".3f"}
    report.table("cosines of unrelated texts, and the median number of features", columns, 20)
    for folder in folders:
        documents = simdup.scan([folder]).documents
        features = all_features(
            ["".join(text_again(each, Settings())) for each in documents], Recipe()
        )
        similar = cosines(features, *np.triu_indices(len(documents), 1))
        shown = np.quantile(similar, [0.5, 0.95, 0.99])
        report.row(folder.name, len(documents), np.median(features.counts), *shown)


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--tiers", type=Path, metavar="FOLDER")
    parser.add_argument("--unrelated", nargs="+", type=Path, metavar="FOLDER", default=[])
    given = parser.parse_args()
    with reported(given) as report:
        show_unrelated(report, given.unrelated)
        labelled = [own_set(), *map(whole_set, given.folders)]
        sets = [judged for each in labelled for judged in of_labels(each)] + [of_laws()]
        show_own(report, sets)
        groups = {} if given.tiers is None else of_groups(given.tiers)
        show_scores(report, groups | {each.name: each.grouped() for each in sets})


if __name__ == "__main__":
    main()
