"""How accurate simdup is on labelled folders, beside other packages, each at its best threshold.

    python tests/bench/accuracy.py [FOLDER...] [--draws 8]

A FOLDER holds documents and a pairs.csv (left, right, duplicate): all its documents are
compared with all, and pairs that are not labelled as duplicates are wrong when found. The
first set are simdup's own labelled pairs, of which only the labelled ones count. F1 is shown
at the best threshold of each set and at the one threshold with the best mean over all sets.
"As it comes" is the rule of a scan: cosines and own shares, each at its default.
Other packages get the same tokens and the same pairs of neighbouring ones, unless said.
"""

from __future__ import annotations

import re
import time
import unicodedata
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from datasketch import MinHash
from rensa import RMinHash
from report import Report, options, reported
from simhash import Simhash

import simdup
from simdup.evaluation.evaluate import own_shares
from simdup.evaluation.labels import DUPLICATE, UNJUDGED, labelled_pairs, own_table
from simdup.fingerprint.features import all_features
from simdup.fingerprint.simhash import simhash
from simdup.match.candidates import search_distance
from simdup.match.own_share import has_enough, least_similarity
from simdup.match.verify import cosines
from simdup.recipe import Recipe
from simdup.search.hamming import paired_distances
from simdup.settings import OWN_SHARE, SIMILARITY

if TYPE_CHECKING:
    from collections.abc import Callable

    from simdup.evaluation.labels import Labels

SIMILARITIES = np.arange(0, 1001) / 1000
TOKEN = re.compile(r"[\u3400-\u9fff]|[^\W_\u3400-\u9fff]+")


@dataclass(frozen=True)
class LabelledSet:
    """Texts and the pairs of them that count."""

    name: str
    labels: Labels
    is_judged: np.ndarray
    i: np.ndarray
    j: np.ndarray
    is_duplicate: np.ndarray

    @property
    def texts(self) -> tuple[str, ...]:
        return self.labels.texts


def labelled_set(name: str, labels: Labels) -> LabelledSet:
    judged = labels.labels != UNJUDGED
    i, j = labels.pairs[judged].T
    return LabelledSet(name, labels, judged, i, j, labels.labels[judged] == DUPLICATE)


def own_set() -> LabelledSet:
    with own_table() as table:
        return labelled_set("simdup's own", labelled_pairs(table))


def whole_set(folder: Path) -> LabelledSet:
    labels = labelled_pairs(str(folder / "pairs.csv"))
    n = len(labels.texts)
    i, j = np.triu_indices(n, 1)
    is_duplicate = np.zeros((n, n), np.int8)
    left, right = labels.pairs[labels.labels == DUPLICATE].T
    is_duplicate[left, right] = is_duplicate[right, left] = DUPLICATE
    zeros = np.zeros(len(i), np.int64)
    every = replace(
        labels,
        pairs=np.column_stack((i, j)),
        labels=is_duplicate[i, j],
        kind=zeros,
        collection=zeros,
    )
    return labelled_set(folder.name, every)


def grams(text: str, n: int) -> set[str]:
    tokens = TOKEN.findall(unicodedata.normalize("NFKC", text).casefold())
    return {" ".join(tokens[at : at + n]) for at in range(max(1, len(tokens) - n + 1))}


def pairs_of(text: str) -> list[str]:
    return sorted(grams(text, 2))


def curve(labelled: LabelledSet, scores: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
    """F1 when pairs with at least each of the thresholds are found."""
    right, wrong = (
        len(found) - np.searchsorted(found, thresholds)
        for found in (
            np.sort(scores[labelled.is_duplicate]),
            np.sort(scores[~labelled.is_duplicate]),
        )
    )
    return 2 * right / (right + wrong + labelled.is_duplicate.sum())


def f1(labelled: LabelledSet, found: np.ndarray) -> float:
    """F1 if these pairs are found."""
    right = (found & labelled.is_duplicate).sum()
    return float(2 * right / (found.sum() + labelled.is_duplicate.sum()))


def bare(bits: int, draws: int) -> Callable[[LabelledSet], tuple[np.ndarray, np.ndarray]]:
    """Curves of SimHash: minus the thresholds, and the mean F1 over independent draws."""

    def curves(labelled: LabelledSet) -> tuple[np.ndarray, np.ndarray]:
        rows, thresholds = simdup.fingerprint_texts(labelled.texts, bits * draws), np.arange(bits)
        parts = np.split(rows, draws, axis=1)
        made = [curve(labelled, -distances(part, labelled), -thresholds) for part in parts]
        return thresholds, np.mean(made, axis=0)

    return curves


def distances(rows: np.ndarray, labelled: LabelledSet) -> np.ndarray:
    return paired_distances(rows, labelled.i, labelled.j).astype(np.int64)


def verified(bits: int, draws: int) -> Callable[[LabelledSet], tuple[np.ndarray, np.ndarray]]:
    """Curves of exact similarities among the candidates that fingerprints propose."""

    def curves(labelled: LabelledSet) -> tuple[np.ndarray, np.ndarray]:
        thresholds = SIMILARITIES[200:951:10]
        similar = simdup.exact_similarities(labelled.texts, labelled.i, labelled.j)
        rows = simdup.fingerprint_texts(labelled.texts, bits * draws)
        made = []
        for part in np.split(rows, draws, axis=1):
            near = distances(part, labelled)
            found = ((near <= search_distance(s, bits)) & (similar >= s) for s in thresholds)
            made.append([f1(labelled, each) for each in found])
        return thresholds, np.mean(made, axis=0)

    return curves


def by_default(bits: int, draws: int) -> Callable[[LabelledSet], tuple[np.ndarray, np.ndarray]]:
    """The F1 of what a scan reports, at its one threshold."""

    def curves(labelled: LabelledSet) -> tuple[np.ndarray, np.ndarray]:
        features = all_features(labelled.texts, Recipe())
        rows = simhash(features, Recipe(bits=bits * draws)).rows
        i, j = labelled.labels.pairs.T
        counts = np.minimum(features.counts[i], features.counts[j])
        similar = cosines(features, i, j)
        found = similar >= least_similarity(SIMILARITY, counts)
        shares = own_shares(labelled.labels, features, rows, found)
        found &= has_enough(shares, similar, OWN_SHARE)
        found, k = found[labelled.is_judged], search_distance(SIMILARITY, bits)
        parts = np.split(rows, draws, axis=1)
        made = [f1(labelled, found & (distances(part, labelled) <= k)) for part in parts]
        return np.array([SIMILARITY]), np.array([np.mean(made)])

    return curves


def by_signature(
    sign: Callable[[str], np.ndarray],
) -> Callable[[LabelledSet], tuple[np.ndarray, np.ndarray]]:
    """Curves of MinHash: the share of equal numbers in two signatures."""

    def curves(labelled: LabelledSet) -> tuple[np.ndarray, np.ndarray]:
        signatures = np.array([sign(text) for text in labelled.texts], np.uint32)
        scores = np.zeros(len(labelled.i))
        for column in signatures.T:
            scores += column[labelled.i] == column[labelled.j]
        scores /= signatures.shape[1]
        return SIMILARITIES, curve(labelled, scores, SIMILARITIES)

    return curves


def datasketch(n: int) -> Callable[[str], np.ndarray]:
    def sign(text: str) -> np.ndarray:
        made = MinHash(128)
        made.update_batch([gram.encode() for gram in grams(text, n)])
        return made.hashvalues

    return sign


def rensa(n: int) -> Callable[[str], np.ndarray]:
    def sign(text: str) -> np.ndarray:
        made = RMinHash(128, 1)
        made.update(sorted(grams(text, n)))
        return np.array(made.digest())

    return sign


def other_simhash(
    bits: int, features: Callable[[str], object]
) -> Callable[[LabelledSet], tuple[np.ndarray, np.ndarray]]:
    def curves(labelled: LabelledSet) -> tuple[np.ndarray, np.ndarray]:
        made = [Simhash(features(text), f=bits).value for text in labelled.texts]
        rows = np.frombuffer(b"".join(each.to_bytes(bits // 8, "big") for each in made), np.uint8)
        thresholds = np.arange(bits)
        found = distances(rows.reshape(-1, bits // 8), labelled)
        return thresholds, curve(labelled, -found, -thresholds)

    return curves


def methods(draws: int) -> dict[str, tuple[int | None, Callable]]:
    """Bytes a document and the curves of each method; those of the text itself have no bytes."""
    return {
        "simdup, verified, as it comes": (32, by_default(256, draws)),
        "simdup, cosine alone (256 bits)": (32, verified(256, draws)),
        "simdup, bare, 64 bits": (8, bare(64, draws)),
        "simdup, bare, 128 bits": (16, bare(128, draws)),
        "simdup, bare, 256 bits": (32, bare(256, draws)),
        "1e0ng/simhash, 64 bits, as it comes": (8, other_simhash(64, str)),
        "1e0ng/simhash, 128 bits, as it comes": (16, other_simhash(128, str)),
        "1e0ng/simhash, 128 bits, same pairs": (16, other_simhash(128, pairs_of)),
        "datasketch MinHash(128)": (512, by_signature(datasketch(2))),
        "datasketch MinHash(128), triples": (512, by_signature(datasketch(3))),
        "rensa RMinHash(128)": (512, by_signature(rensa(2))),
        "rensa RMinHash(128), triples": (512, by_signature(rensa(3))),
    }


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--draws", type=int, default=8)
    given = parser.parse_args()
    sets = [own_set(), *map(whole_set, given.folders)]
    with reported(given, ("simhash", "datasketch", "rensa")) as report:
        report.table("sets", {"texts": ",", "pairs": ",", "duplicates": ","})
        for each in sets:
            report.row(each.name, len(each.texts), len(each.i), each.is_duplicate.sum())
        show(report, sets, given.draws)


def show(report: Report, sets: list[LabelledSet], draws: int) -> None:
    """F1 and threshold where each set is best, and where the mean of all is."""
    columns: dict[str, str] = {"bytes": ""}
    for each in sets:
        columns |= {each.name: ".4f", f"at ({each.name})": "g"}
    columns |= {"one for all": "g"} | {f"F1 ({each.name})": ".4f" for each in sets}
    report.table("F1 at thresholds", columns | {"mean": ".4f", "seconds": ",.0f"}, 38)
    for name, (size, curves) in methods(draws).items():
        began = time.perf_counter()
        thresholds, every = zip(*(curves(each) for each in sets), strict=True)
        known, f1s = thresholds[0], np.array(every)
        best = [part for each in f1s for part in (each.max(), known[each.argmax()])]
        at = int(f1s.mean(axis=0).argmax())
        one = known[at], *f1s[:, at], f1s[:, at].mean()
        report.row(name, size, *best, *one, time.perf_counter() - began)


if __name__ == "__main__":
    main()
