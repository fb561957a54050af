"""How the defaults were chosen: F1 of other features, thresholds and margins on labelled sets.

    python tests/bench/choices.py [FOLDER...] [--draws 8]

Folders and figures are those of accuracy.py. Tables: features (their weights and lengths) by
size, at the one threshold with the best mean over all sets; similarities and own shares for
verified scans, also leaving one set out; what makes a family; the size of sketches; margins for
short texts (the beginnings of our own) and for long ones (joined chapters of the folders);
where own shares fail, as where two forms lie alone, and how similar pairs are that are missed;
thresholds for bare scans; margins of candidates; the limit below which a text is short.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass, replace
from itertools import islice, product
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

import numpy as np
from accuracy import TOKEN, LabelledSet, curve, distances, f1, labelled_set, own_set, whole_set

import simdup
import simdup.evaluation.own_shares as own_shares_module
import simdup.match.own_share as own_share_module
from simdup.compute.hashing import gram_hashes
from simdup.evaluation.labels import UNJUDGED, labelled_pairs
from simdup.evaluation.own_shares import own_shares
from simdup.fingerprint import sketch
from simdup.fingerprint.features import Features, all_features
from simdup.fingerprint.simhash import simhash
from simdup.fingerprint.sketch import LEAST
from simdup.fingerprint.tokens import tokens
from simdup.match.own_share import FAMILY, SHORT_MARGIN, least_similarity
from simdup.match.verify import cosines
from simdup.recipe import Recipe
from simdup.records import SHORT
from simdup.settings import BARE_SIMILARITY, CHANCE, OWN_SHARE, SIMILARITY, Settings
from simdup.text.chunking import batches
from simdup.theory import UNRELATED, chance_distance, standard_error, threshold

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

SIZES = (16, 32, 64, 128, 256)
WIDEST = max(SIZES)
SIMILARITIES = np.arange(20, 91) / 100

# Own shares are computed of pairs that are at least so similar.
ASKED = 0.24

# Edits after which two texts need not begin alike.
MOVED = (
    *("sentences dropped", "sentences added", "sentences moved"),
    *("excerpt", "header and footer", "another format"),
)


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


@dataclass(frozen=True)
class Exact:
    """What the texts say of the judged pairs of a set; arrays by pair."""

    labelled: LabelledSet
    similar: np.ndarray
    counts: np.ndarray
    """The features of the shorter text."""
    shares: np.ndarray
    """Own shares of pairs that are at least ASKED similar, 0 of the others."""
    shares_again: Callable[[], np.ndarray]
    """Computes the shares, with what is different now."""

    def found(
        self, similarity: float, own_share: float, margin: float = SHORT_MARGIN
    ) -> np.ndarray:
        with patch.multiple(own_share_module, SHORT_MARGIN=margin, SIMILARITY=similarity):
            least = least_similarity(similarity, self.counts)
        return (self.similar >= least) & (self.shares >= own_share)

    def f1(self, similarity: float, own_share: float, margin: float = SHORT_MARGIN) -> float:
        return f1(self.labelled, self.found(similarity, own_share, margin))


def exact(labelled: LabelledSet) -> Exact:
    features = all_features(labelled.texts, Recipe())
    rows = simhash(features, Recipe(bits=WIDEST)).rows
    i, j = labelled.labels.pairs.T
    similar, judged = cosines(features, i, j), labelled.is_judged
    counts = np.minimum(features.counts[i], features.counts[j])[judged]

    def shares() -> np.ndarray:
        return own_shares(labelled.labels, features, rows, similar >= ASKED)[judged]

    return Exact(labelled, similar[judged], counts, shares(), shares)


def own_share_table(known: list[Exact]) -> None:
    """F1 by similarity and own share, and what the other sets would have chosen for each set."""
    similarities, shares = np.arange(25, 61, 5) / 100, (0, 0.5, 0.55, 0.57, 0.6, 0.65, 0.7)
    print(f"\nmean F1 by similarity (default {SIMILARITY}) and own share (default {OWN_SHARE})")
    every = f1_of_each(known, similarities, shares)
    print("      " + "".join(f"{share:>8}" for share in shares), flush=True)
    for similarity, row in zip(similarities, every.mean(axis=0), strict=True):
        print(f"{similarity:>6.2f}" + "".join(f"{f1:>8.4f}" for f1 in row))
    print(f"default: {values(each.f1(SIMILARITY, OWN_SHARE) for each in known)}")
    print("leaving one set out: what is best for the others, and the F1 of the set with that")
    families = ("sibling", "version", "other translation")
    sets = [
        part("families", known[0], families),
        part("our other pairs", known[0], families, others=True),
    ]
    sets += known[1:]
    every = f1_of_each(sets, similarities, shares)
    for at, left_out in enumerate(sets):
        others = np.delete(every, at, axis=0).mean(axis=0)
        for name, rated in (("cosine alone", others[:, :1]), ("own share", others)):
            s, r = np.unravel_index(rated.argmax(), rated.shape)
            best = f"{similarities[s]:.2f} and {shares[r]}"
            print(f"{left_out.labelled.name:<16} {name:<13} {best:<13} {every[at, s, r]:.4f}")
    for kind in ("sibling", "same template", "version", "rewritten heavily"):
        found = part(kind, known[0], (kind,)).found(SIMILARITY, OWN_SHARE)
        print(f"{kind}: {found.sum()} of {len(found)} found")


def f1_of_each(
    known: list[Exact], similarities: Sequence[float], shares: Sequence[float]
) -> np.ndarray:
    """The F1 of each set at each similarity and own share; (sets, similarities, shares)."""
    return np.array([[[each.f1(s, r) for r in shares] for s in similarities] for each in known])


def part(name: str, known: Exact, kinds: Sequence[str], *, others: bool = False) -> Exact:
    """The pairs of some kinds, or all others; own shares stay the ones within the whole set."""
    labelled = known.labelled
    of_pairs = np.array(labelled.labels.kinds)[labelled.labels.kind]
    labels = np.where(np.isin(of_pairs, kinds) ^ others, labelled.labels.labels, UNJUDGED)
    made = labelled_set(name, replace(labelled.labels, labels=labels))
    kept = made.is_judged[labelled.is_judged]
    shares = known.shares[kept]
    return Exact(made, known.similar[kept], known.counts[kept], shares, lambda: shares)


def values(figures: Iterable[float]) -> str:
    """Figures with four digits, and their mean in front."""
    every = list(figures)
    return f"{np.mean(every):.4f} ({' '.join(f'{each:.4f}' for each in every)})"


def family_table(known: list[Exact]) -> None:
    print(f"\nF1 by the cosine from which texts are one family (default {FAMILY}): mean (each set)")
    for family in (0.7, 0.8, 0.9, 0.95):
        with patch.object(own_shares_module, "FAMILY", family):
            made = (replace(each, shares=each.shares_again()) for each in known)
            figures = values(each.f1(SIMILARITY, OWN_SHARE) for each in made)
        print(f"{family:>6}  {figures}", flush=True)


def sketch_table(known: list[Exact]) -> None:
    print(f"\nF1 by the least size of a sketch (default {LEAST}): mean (each set)")
    for least in (32, 64, 128, 256, 1 << 20):
        with patch.object(sketch, "LEAST", least):
            made = (replace(each, shares=each.shares_again()) for each in known)
            figures = values(each.f1(SIMILARITY, OWN_SHARE) for each in made)
        print(f"{least if least < 1 << 20 else 'all':>6}  {figures}", flush=True)


def beginnings(labelled: LabelledSet, count: int) -> LabelledSet:
    """The first tokens of each text. Pairs do not count if an edit moves what stands there."""
    texts = []
    for text in labelled.texts:
        ends = [match.end() for match in islice(TOKEN.finditer(text), count)]
        texts.append(text[: ends[-1]])
    labels = labelled.labels
    is_moved = np.isin(np.array(labels.kinds)[labels.kind], MOVED)
    known = np.where(is_moved, UNJUDGED, labels.labels)
    return labelled_set(f"{count} tokens", replace(labels, texts=tuple(texts), labels=known))


def lone_table(own: LabelledSet) -> None:
    """How many pairs of forms are found where only so many forms of a template lie together."""
    print("\nforms of one template: forms that lie together, pairs, found of them")
    folders = [str(Path(path).parent) for path in own.labels.paths]
    forms = np.array(
        [int(Path(path).stem) if "template" in path else 0 for path in own.labels.paths]
    )
    template = np.unique(folders, return_inverse=True)[1]
    left, right = own.labels.pairs.T
    are_forms = (forms[left] > 0) & (forms[right] > 0) & (template[left] == template[right])
    for count in (2, 3, 4, 5, 6, 7):
        kept = are_forms & (np.maximum(forms[left], forms[right]) <= count)
        known = np.where(kept, own.labels.labels, UNJUDGED)
        # Other pairs are in a collection of their own, which makes no difference.
        collection = np.where(kept, 1 + template[left], 0)
        made = exact(labelled_set("", replace(own.labels, labels=known, collection=collection)))
        found = made.found(SIMILARITY, OWN_SHARE)
        print(f"{count:>3} {len(found):>5} {found.sum():>5}")


def hard_table(known: Exact) -> None:
    """How similar pairs are of the kinds that are missed."""
    print("\ncosine of pairs: least, median, highest")
    for kind in ("other translation", "rewritten heavily", "typos in 20 %", "excerpt"):
        labels = known.labelled.labels
        i, j = labels.pairs[np.array(labels.kinds)[labels.kind] == kind].T
        similar = np.sort(cosines(all_features(labels.texts, Recipe()), i, j))
        print(f"{kind:<20}" + " ".join(f"{each:.3f}" for each in similar[[0, len(i) // 2, -1]]))


def margin_of_short_table(own: LabelledSet) -> None:
    margins = (0, 2, 4, 8, 12)
    print(f"\nF1 of the beginnings of our own texts by the margin (default {SHORT_MARGIN} / n):")
    print("in a folder, and two files alone")
    print("tokens  " + "".join(f"{f'{margin} / n':>16}" for margin in margins))
    for count in (12, 17, 25, 41, 81, 161, 321):
        made = exact(beginnings(own, count))
        both = ([made.f1(SIMILARITY, r, m) for r in (OWN_SHARE, 0)] for m in margins)
        print(f"{count:>6}  " + "".join(f"{f'{a:.3f}  {b:.3f}':>16}" for a, b in both))


def long_table(folders: list[Path]) -> None:
    """The cosine of texts that share no chapter: chapters of one book, joined."""
    print("\nunrelated joined chapters: features, cosine (median, highest), what is asked, pairs")
    for folder, count in product(folders, (1, 5, 20, 60)):
        similar, sizes = [np.empty(0)], [np.empty(0, np.int64)]
        for book in books_of(folder):
            begins = range(0, len(book) - count + 1, count)
            joined = ["".join(book[at : at + count]) for at in begins]
            features = all_features(joined, Recipe())
            i, j = np.triu_indices(len(joined), 1)
            similar.append(cosines(features, i, j))
            sizes.append(np.minimum(features.counts[i], features.counts[j]))
        every, n = np.concatenate(similar), np.median(np.concatenate(sizes))
        asked = least_similarity(SIMILARITY, np.array([n]))[0]
        print(
            f"{folder.name:<10} {count:>3} chapters {n:>9,.0f}   {np.median(every):.3f}"
            f" {every.max():.3f}   {asked:.3f} {len(every):>7,}",
            flush=True,
        )


def books_of(folder: Path) -> Iterator[list[str]]:
    """The texts of each folder that has at least 120 of them, in the order of their names."""
    labels = labelled_pairs(str(folder / "pairs.csv"))
    by_folder: dict[Path, list[str]] = {}
    for path, text in sorted(zip(map(Path, labels.paths), labels.texts, strict=True)):
        by_folder.setdefault(path.parent, []).append(text)
    return (texts for texts in by_folder.values() if len(texts) >= 120)


def verified_table(known: list[Exact]) -> None:
    print("\nF1 by cosine alone: mean (each set)")
    every = np.array([curve(each.labelled, each.similar, SIMILARITIES) for each in known])
    for at in range(0, len(SIMILARITIES), 5):
        print(f"{SIMILARITIES[at]:>6.2f}  {cell(every[:, at : at + 1])}")


def bare_table(sets: list[LabelledSet], near: dict[int, list[np.ndarray]]) -> None:
    print("\nF1 of bare scans by the rule for k: k, mean (each set)")
    rules: dict[str, Callable[[int], int]] = {
        "default": lambda bits: Settings(Recipe(bits=bits), verified=False).distance,
        "similarity 0.5": lambda bits: threshold(0.5, bits),
        "similarity 0.6": lambda bits: threshold(0.6, bits),
        "similarity 0.7": lambda bits: threshold(0.7, bits),
    } | {
        f"chance {p:g}, {BARE_SIMILARITY}": lambda bits, p=p: min(
            threshold(BARE_SIMILARITY, bits), chance_distance(UNRELATED, bits, p)
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
    cells = []
    for bits in SIZES:
        ks = np.arange(bits + 1)
        every = np.array(
            [
                np.mean([curve(each, -draw, -ks) for draw in draws], axis=0)
                for each, draws in zip(sets, near[bits], strict=True)
            ]
        )
        cells.append(f"{every.mean(axis=0).argmax():>3} {cell(every)}")
    print(f"{'the best k':<20}" + "".join(f"{each:>34}" for each in cells))


def margin_table(known: list[Exact], near: dict[int, list[np.ndarray]]) -> None:
    print(f"\ncandidates within k + margin standard errors, similarity {SIMILARITY}:")
    print("recall of pairs that alike, and candidates a text, in each set")
    for bits in SIZES[2:]:
        for margin in (0, 1, 2, 3):
            k = threshold(SIMILARITY, bits) + int(margin * standard_error(SIMILARITY, bits))
            cells = []
            for each, draws in zip(known, near[bits], strict=True):
                alike = each.similar >= SIMILARITY
                recall = np.mean([(draw[alike] <= k).mean() for draw in draws])
                many = np.mean([(draw <= k).sum() for draw in draws]) / len(each.labelled.texts)
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
    known = [exact(each) for each in sets]
    verified_table(known)
    own_share_table(known)
    lone_table(sets[0])
    hard_table(known[0])
    margin_of_short_table(sets[0])
    if given.folders:
        long_table(given.folders)
    family_table(known)
    sketch_table(known)
    near: dict[int, list[np.ndarray]] = {bits: [] for bits in SIZES}
    for each in sets:
        rows = simdup.fingerprint_texts(each.texts, WIDEST * given.draws)
        for bits in SIZES:
            parts = np.split(rows, given.draws, axis=1)
            near[bits].append([distances(part[:, : bits // 8], each) for part in parts])
    bare_table(sets, near)
    margin_table(known, near)
    short_table()
    feature_table(sets, given.draws)
    print(f"\n{time.perf_counter() - began:.0f} seconds")


if __name__ == "__main__":
    main()
