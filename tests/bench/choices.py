"""How the defaults were chosen: F1 of other features, thresholds and margins on labelled sets.

    python tests/bench/choices.py [FOLDER...] [--draws 8]

Folders and figures are those of accuracy.py. Tables: features (their weights and lengths) by
size, at the one threshold with the best mean over all sets; similarities for verified scans;
thresholds for bare ones; margins of candidates; the limit below which a text is short.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from accuracy import LabelledSet, curve, distances, own_set, whole_set

import simdup
from simdup.compute.hashing import gram_hashes
from simdup.fingerprint.features import Features, all_features
from simdup.fingerprint.simhash import simhash
from simdup.fingerprint.tokens import tokens
from simdup.match.verify import cosines
from simdup.recipe import Recipe
from simdup.records import SHORT
from simdup.settings import CHANCE, SIMILARITY
from simdup.text.chunking import batches
from simdup.theory import UNRELATED, chance_distance, standard_error, threshold

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SIZES = (16, 32, 64, 128, 256)
WIDEST = max(SIZES)
SIMILARITIES = np.arange(20, 91) / 100


def tokens_of(texts: Sequence[str]) -> list[np.ndarray]:
    """The token hashes of each text."""
    made = []
    for batch in batches(texts):
        batch_tokens = tokens(batch, Recipe())
        made += np.split(batch_tokens.ids, batch_tokens.offsets[1:-1])
    return made


def grams(ids: np.ndarray, steps: Sequence[int]) -> np.ndarray:
    """A hash for each token with those that stand `steps` after it; another for each pattern."""
    starts = np.arange(max(0, len(ids) - steps[-1]))
    hashes = ids[starts]
    for step in steps[1:]:
        pair = np.column_stack((hashes, ids[starts + step])).ravel()
        hashes = gram_hashes(pair, np.arange(0, len(pair), 2), 2)
    return hashes + np.uint64(steps[-1])


def counted(texts: Sequence[str], patterns: Sequence[Sequence[int]], power: float) -> Features:
    """Distinct grams of several patterns, weighing their count to some power."""
    ids, weights, offsets = [], [], [0]
    for own in tokens_of(texts):
        hashes, counts = np.unique(
            np.concatenate([grams(own, p) for p in patterns]), return_counts=True
        )
        ids.append(hashes)
        weights.append(np.rint(counts**power * 65536).astype(np.int64))
        offsets.append(offsets[-1] + len(hashes))
    return Features(np.concatenate(ids), np.concatenate(weights), np.array(offsets))


def patterns(*steps: Sequence[int], power: float = 0) -> Callable[[Sequence[str]], Features]:
    return lambda texts: counted(texts, steps, power)


def recipe(**options: object) -> Callable[[Sequence[str]], Features]:
    return lambda texts: all_features(texts, Recipe(**options))


FEATURES = {
    "n = 1": recipe(ngram=1),
    "n = 2 (default)": recipe(ngram=2),
    "n = 3": recipe(ngram=3),
    "n = 1 and 2": recipe(ngram=(1, 2)),
    "n = 2 and 3": recipe(ngram=(2, 3)),
    "n = 1, 2 and 3": recipe(ngram=(1, 2, 3)),
    "n = 2, weight sqrt(count)": patterns((0, 1), power=0.5),
    "n = 2, weight count": patterns((0, 1), power=1),
    "skip one (a_c)": patterns((0, 2)),
    "n = 2 and skip one": patterns((0, 1), (0, 2)),
    "words, sqrt(count) x IDF": recipe(features="words"),
    "keywords, top 50": recipe(features="keywords"),
}


def size_curves(features: Features, labelled: LabelledSet, draws: int) -> dict[int, np.ndarray]:
    """The mean F1 at every k, by size."""
    rows = simhash(features, Recipe(bits=WIDEST * draws)).rows
    parts = np.split(rows, draws, axis=1)
    return {
        bits: np.mean(
            [
                curve(labelled, -distances(part[:, : bits // 8], labelled), -np.arange(bits))
                for part in parts
            ],
            axis=0,
        )
        for bits in SIZES
    }


def feature_table(sets: list[LabelledSet], draws: int) -> None:
    print("\nF1 at the one threshold that serves all sets best: mean (each set)")
    print(
        f"{'features':<28}" + "".join(f"{bits:>30}" for bits in SIZES) + f"{'exact similarity':>30}"
    )
    for name, make in FEATURES.items():
        by_size, exact = [], []
        for labelled in sets:
            features = make(labelled.texts)
            by_size.append(size_curves(features, labelled, draws))
            similar = cosines(features, labelled.i, labelled.j)
            exact.append(curve(labelled, similar, SIMILARITIES))
        cells = [np.array([each[bits] for each in by_size]) for bits in SIZES]
        print(
            f"{name:<28}" + "".join(f"{cell(each):>30}" for each in [*cells, np.array(exact)]),
            flush=True,
        )


def cell(every: np.ndarray) -> str:
    one = int(every.mean(axis=0).argmax())
    each = " ".join(f"{value:.3f}".removeprefix("0") for value in every[:, one])
    return f"{every[:, one].mean():.4f} ({each})"


def verified_table(sets: list[LabelledSet], known: list[np.ndarray]) -> None:
    print(f"\nF1 of verified scans by similarity (default {SIMILARITY}): mean (each set)")
    every = np.array(
        [curve(each, similar, SIMILARITIES) for each, similar in zip(sets, known, strict=True)]
    )
    for at in range(0, len(SIMILARITIES), 5):
        print(f"{SIMILARITIES[at]:>6.2f}  {cell(every[:, at : at + 1])}")


def bare_table(sets: list[LabelledSet], near: dict[int, list[np.ndarray]]) -> None:
    print("\nF1 of bare scans by the rule for k: k, mean (each set)")
    rules: dict[str, Callable[[int], int]] = {
        "similarity 0.5": lambda bits: threshold(0.5, bits),
        "similarity 0.6": lambda bits: threshold(0.6, bits),
        "similarity 0.7": lambda bits: threshold(0.7, bits),
    } | {
        f"chance {p:g}, 0.5": lambda bits, p=p: min(
            threshold(0.5, bits), chance_distance(UNRELATED, bits, p)
        )
        for p in (1e-3, 1e-4, CHANCE, 1e-6)
    }
    print(f"{'rule':<20}" + "".join(f"{bits:>34}" for bits in SIZES))
    for name, rule in rules.items():
        cells = []
        for bits in SIZES:
            k = rule(bits)
            of_sets = [
                np.mean([curve(each, -draw, np.array([-k])) for draw in draws], axis=0)
                for each, draws in zip(sets, near[bits], strict=True)
            ]
            cells.append(f"{k:>3} {cell(np.array(of_sets))}")
        print(f"{name:<20}" + "".join(f"{each:>34}" for each in cells))


def margin_table(
    sets: list[LabelledSet], known: list[np.ndarray], near: dict[int, list[np.ndarray]]
) -> None:
    print(f"\ncandidates within k + margin standard errors, similarity {SIMILARITY}:")
    print("recall of pairs that alike, and candidates a text, in each set")
    for bits in SIZES[2:]:
        for margin in (0, 1, 2, 3):
            k = threshold(SIMILARITY, bits) + int(margin * standard_error(SIMILARITY, bits))
            cells = []
            for labelled, similar, draws in zip(sets, known, near[bits], strict=True):
                alike = similar >= SIMILARITY
                recall = np.mean([(draw[alike] <= k).mean() for draw in draws])
                many = np.mean([(draw <= k).sum() for draw in draws]) / len(labelled.texts)
                cells.append(f"{recall:.4f} {many:>7.2f}")
            print(f"{bits:>5} bits, margin {margin}, k = {k:<4}" + "   ".join(cells))


def short_table() -> None:
    """How far the mean distance of two texts is from theory, by their number of features."""
    print(
        f"\nmean distance of two texts minus theory, in bits of 128 (short: below {SHORT} features)"
    )
    shares = (0.25, 0.5, 0.75)
    print(f"{'features':>9}" + "".join(f"{f'similarity {share}':>17}" for share in shares))
    random = np.random.default_rng(1)
    for count in (4, 8, 12, 16, 24, 32, 64, 256):
        cells = []
        for share in shares:
            same = round(share * count)
            pairs, error = 64, []
            ids = random.integers(0, 2**63, (pairs, 2 * count - same)).astype(np.uint64)
            both = np.concatenate([np.stack((each[:count], each[-count:])) for each in ids])
            offsets = np.arange(0, both.size + 1, count)
            rows = simhash(Features(both.ravel(), None, offsets), Recipe(bits=4096)).rows
            differing = np.bitwise_count(rows[::2] ^ rows[1::2]).sum(axis=1) / 4096
            error = differing.mean() - np.arccos(same / count) / np.pi
            cells.append(f"{128 * error:>+17.2f}")
        print(f"{count:>9}" + "".join(cells))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("folders", nargs="*", type=Path)
    options.add_argument("--draws", type=int, default=8)
    given = options.parse_args()
    began = time.perf_counter()
    sets = [own_set(), *map(whole_set, given.folders)]
    print("sets:", ", ".join(each.name for each in sets))
    feature_table(sets, given.draws)
    known = [simdup.exact_similarities(each.texts, each.i, each.j) for each in sets]
    near: dict[int, list[np.ndarray]] = {bits: [] for bits in SIZES}
    for each in sets:
        rows = simdup.fingerprint_texts(each.texts, WIDEST * given.draws)
        for bits in SIZES:
            parts = np.split(rows, given.draws, axis=1)
            near[bits].append([distances(part[:, : bits // 8], each) for part in parts])
    verified_table(sets, known)
    bare_table(sets, near)
    margin_table(sets, known, near)
    short_table()
    print(f"\n{time.perf_counter() - began:.0f} seconds")


if __name__ == "__main__":
    main()
