"""How the least own share was chosen: each set left out once.

    python tests/bench/choices.py [FOLDER...] [--unrelated FOLDER...]

A FOLDER holds documents and a pairs.csv, as for accuracy.py. simdup's own pairs, its families and
texts like laws, half of whose clauses come from one pool, are sets too. For each set the own share
is the one with the best mean F1 on all other sets, and the table shows the F1 that it then has on
the set itself.

The texts in each folder of --unrelated have nothing to do with each other, and the table shows how
similar they are all the same.
"""

from __future__ import annotations

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
from simdup.match.verify import cosines
from simdup.recipe import Recipe
from simdup.settings import OWN_SHARE, SIMILARITY, Settings

sys.path.insert(0, str(Path(__file__).parent.parent / "match"))
from test_shared_clauses import laws

OWN = np.arange(0, 91) / 100


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
    parser.add_argument("--unrelated", nargs="+", type=Path, metavar="FOLDER", default=[])
    given = parser.parse_args()
    with reported(given) as report:
        show_unrelated(report, given.unrelated)
        labelled = [own_set(), *map(whole_set, given.folders)]
        sets = [judged for each in labelled for judged in of_labels(each)] + [of_laws()]
        show_own(report, sets)


if __name__ == "__main__":
    main()
