"""Measures how accurate recipes are on labelled pairs, at each fingerprint size.

labels -> fingerprints, exact similarities, own shares -> distances -> tallies -> accuracy
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import nan, pi
from time import perf_counter

import numpy as np

from simdup.arguments import AnyPath, check_whole, number_list, tuple_of
from simdup.arrays import Floats, Indices, Mask, Rows, Shares
from simdup.corpus.scan import TextsInMemory
from simdup.errors import BadValueError
from simdup.evaluation import labels as tables
from simdup.evaluation import metrics
from simdup.evaluation.labels import DUPLICATE, UNJUDGED, Labels
from simdup.evaluation.metrics import Accuracy, Evaluated, Evaluation, GroupScores, Labelled
from simdup.files.scan import scan
from simdup.fingerprint.features import Features, all_features
from simdup.fingerprint.simhash import digests, simhash
from simdup.fingerprint.sketch import sketches
from simdup.match.candidates import search_distance
from simdup.match.distinct_texts import Items, distinct_texts
from simdup.match.forms import LEVELS, forms_of
from simdup.match.groups import components
from simdup.match.own_share import FAMILY, OwnShares, has_enough, least_similarity
from simdup.match.tiers import are_near, pair_scores
from simdup.match.verify import cosines
from simdup.progress import Progress, silent
from simdup.recipe import MAX_BITS, MAX_STRING_HASH_BITS, SIZES, HashKind, Recipe
from simdup.search.distinct import distinct_numbers
from simdup.search.hamming import paired_distances
from simdup.search.pairs import Reach, iter_near_pairs
from simdup.settings import OWN_SHARE, SIMILARITY, Settings

# Bootstrap resamples: fewer for more than MANY pairs, where each takes long.
RESAMPLES, RESAMPLES_OF_MANY, MANY = 1000, 200, 50_000

# Similarities that a recommendation is chosen from.
STEPS = np.arange(1, 101) / 100


def evaluate(  # noqa: PLR0913  (one argument a question; each has an answer)
    pairs: AnyPath | None = None,
    recipes: Sequence[Recipe] = (Recipe(),),
    sizes: Iterable[int] | None = None,
    *,
    clusters: AnyPath | None = None,
    similarity: float = SIMILARITY,
    own_share: float = OWN_SHARE,
    k: int | None = None,
    draws: int = 1,
    precision: float | None = None,
    progress: Progress = silent,
) -> Evaluation:
    """Measure how accurately recipes tell duplicates from other texts, at several sizes in bits.

    `sizes` defaults to SIZES, or with a `k` to all SIZES of at least k bits; sizes that a recipe
    cannot have are left out. The labels come from a table of `pairs` (None: simdup's
    own), or are all pairs of a table of `clusters`. `similarity` and `own_share` are the
    thresholds of verified scans; `k`, or the distance that fits `similarity`, is the
    threshold of bare scans. Own shares are measured within the collection of each pair. Figures
    are means over `draws` independent fingerprints, the recipe's own among them. With `precision`
    the farthest thresholds that keep it are recommended. Raises InputError for broken labels,
    ValueError for impossible arguments.
    """
    began = perf_counter()
    if pairs is not None and clusters is not None:
        raise BadValueError("pairs and clusters are two kinds of labels; give one")
    given = _sizes(sizes, k)
    settings = [
        [Settings(each, similarity, k, verified=False, own_share=own_share) for each in same]
        for recipe in tuple_of(recipes, "recipes", Recipe)
        if (same := _at_each_size(recipe, given))
    ]
    _check(settings, draws, precision)
    if clusters is not None:
        labels = tables.labelled_clusters(os.fsdecode(clusters))
    elif pairs is not None:
        labels = tables.labelled_pairs(os.fsdecode(pairs))
    else:
        with tables.own_table() as table:
            labels = tables.labelled_pairs(table)
    evaluator = _Evaluator(labels, draws, precision)
    rows = (row for each in settings for row in evaluator.rows(each))
    total = sum(map(len, settings))
    return Evaluation(
        None if pairs is None and clusters is None else labels.table,
        len(labels.texts),
        labels.repeated,
        evaluator.kinds(),
        draws,
        tuple(progress(rows, "evaluate", total)),
        perf_counter() - began,
    )


def _sizes(asked: Iterable[int] | None, k: int | None) -> list[int]:
    """The sizes asked for, or by default all SIZES of at least k bits."""
    if asked is not None:
        return number_list(asked, "sizes")
    if k is None:
        return [*SIZES]
    check_whole(k, "k")
    if k > SIZES[-1]:
        raise BadValueError(
            f"k is {k}, but the usual sizes have {SIZES[-1]} bits at most; give sizes"
        )
    return [size for size in SIZES if size >= k]


def _at_each_size(recipe: Recipe, sizes: Iterable[int]) -> list[Recipe]:
    """The recipe at each size that its hash can have."""
    possible = list(dict.fromkeys(sizes))
    if recipe.hash is HashKind.STRING:
        possible = [size for size in possible if size <= MAX_STRING_HASH_BITS]
    return [replace(recipe, bits=size) for size in possible]


def _check(settings: Sequence[Sequence[Settings]], draws: int, precision: float | None) -> None:
    """Raise ValueError for settings, draws or a precision that cannot be evaluated."""
    if not settings:
        raise BadValueError("there is no recipe with any of these sizes")
    if draws < 1:
        raise BadValueError(f"draws must be at least 1, not {draws}")
    if precision is not None and not 0 < precision <= 1:
        raise BadValueError(f"precision must be above 0 and at most 1, not {precision}")
    for same in settings:
        widest = max(each.recipe.bits for each in same)
        if draws > 1 and same[0].recipe.hash is HashKind.STRING:
            raise BadValueError("hash 'string' gives a text one fingerprint, so draws must be 1")
        if draws * widest > MAX_BITS:
            raise BadValueError(f"{draws} draws of {widest} bits: together {MAX_BITS} bits at most")


class _Evaluator:
    """Labels, prepared once, to measure each recipe on them."""

    def __init__(self, labels: Labels, draws: int, precision: float | None) -> None:
        self.labels, self.draws, self.precision = labels, draws, precision
        self.is_judged = labels.labels != UNJUDGED
        self.is_duplicate = labels.labels[self.is_judged] == DUPLICATE
        # Versions of one text vary together, so resampling draws them together.
        versions = components(labels.pairs[labels.labels == DUPLICATE], len(labels.texts))
        self.units = np.unique(versions, return_inverse=True)[1][labels.pairs[self.is_judged]]
        self.resamples = RESAMPLES if len(self.units) <= MANY else RESAMPLES_OF_MANY
        # A kind whose pairs have several labels counts as several kinds.
        both = np.column_stack((labels.kind, -labels.labels.astype(np.int64)))
        self.kind_labels, self.kind = np.unique(both, axis=0, return_inverse=True)

    def kinds(self) -> tuple[Labelled, ...]:
        """The kinds of pairs, in the order of the table."""
        counts = np.bincount(self.kind).tolist()
        return tuple(
            Labelled(self.labels.kinds[kind], None if -label == UNJUDGED else label != 0, count)
            for (kind, label), count in zip(self.kind_labels.tolist(), counts, strict=True)
        )

    def rows(self, settings: Sequence[Settings]) -> Iterator[Evaluated]:
        """The figures for each of the settings, which differ in the size of fingerprints only."""
        widest = max((each.recipe for each in settings), key=lambda recipe: recipe.bits)
        features, (i, j) = all_features(self.labels.texts, widest), self.labels.pairs.T
        similarities = cosines(features, i, j)
        is_empty = features.counts == 0
        # A text without features is never found: it counts as far from all, whatever its bits.
        is_unlike = is_empty[i] | is_empty[j]
        p = np.where(is_unlike, 1, np.arccos(np.clip(similarities, -1, 1)) / pi)
        wide = simhash(features, replace(widest, bits=self.draws * widest.bits)).rows
        exact = self._exact(settings[0], features, wide, similarities)
        parts = np.split(wide, self.draws, axis=1)
        for each in settings:
            size = each.recipe.bits // 8
            # Narrower fingerprints are the last bits for hash 'string', else the first bits.
            cut = slice(-size, None) if each.recipe.hash is HashKind.STRING else slice(size)
            distances = np.array([paired_distances(part[:, cut], i, j) for part in parts], np.int64)
            distances[:, is_unlike] = each.recipe.bits
            yield self._row(each, distances, exact, p, int(is_empty.sum()))

    def _exact(
        self, settings: Settings, features: Features, rows: Rows, similarities: Floats
    ) -> _Exact:
        """The exact similarities of all pairs, and own shares where these may matter."""
        counts, ones = features.counts[self.labels.pairs], np.ones(len(similarities))
        exact = _Exact(similarities, counts, ones, settings)
        if not settings.own_share:
            return exact
        least = settings.similarity if self.precision is None else STEPS[0]
        asked = exact.are_alike(least)
        shares = own_shares(self.labels, features, rows, asked, settings.recipe)
        return replace(exact, own_shares=shares)

    def _row(
        self, settings: Settings, distances: Indices, exact: _Exact, p: Floats, without: int
    ) -> Evaluated:
        """All figures for one size, from the distances (draws, m) of the pairs.

        A bit of a pair differs with probability `p` (m,); `without` texts have no feature.
        """
        bits, judged = settings.recipe.bits, self.is_judged
        is_alike = exact.are_alike(settings.similarity)
        is_alike = is_alike & (distances <= search_distance(settings.similarity, bits))
        is_verified = is_alike & exact.are_own
        bare = self._tally(distances[:, judged], bits + 1)
        curve = bare.curve()
        return Evaluated(
            settings,
            curve,
            metrics.predicted(p[judged], self.is_duplicate, bits),
            bare.auc(),
            self._accuracy(is_alike),
            self._accuracy(is_verified),
            self._accuracy(is_verified & exact.are_near),
            np.array([bare.others[0].mean(axis=0), bare.duplicates[0].mean(axis=0)]),
            self._found(distances <= settings.distance),
            self._found(is_alike),
            self._found(is_verified),
            without,
            self._groups(settings),
            self._recommended(curve, distances, exact),
        )

    def _tally(self, distances: Indices, size: int) -> metrics.Tally:
        weights = metrics.resamples(self.units, self.resamples)
        return metrics.tally(distances, self.is_duplicate, weights, size)

    def _accuracy(self, is_found: Mask) -> Accuracy:
        """The accuracy if these pairs are found, in each draw (draws, m)."""
        # In this tally the found pairs are at "distance" 0 and all others at 1.
        return self._tally(1 - is_found[:, self.is_judged].astype(np.int64), 2).curve()[0]

    def _found(self, is_found: Mask) -> Floats:
        """The number of pairs found of each kind: a mean over draws."""
        shares = is_found.mean(axis=0, dtype=np.float64)
        return np.bincount(self.kind, shares, len(self.kind_labels)).astype(np.float64)

    def _groups(self, settings: Settings) -> tuple[GroupScores, GroupScores] | None:
        """How well the groups of a bare and of a verified scan match the clusters, if any."""
        clusters = self.labels.clusters
        if clusters is None:
            return None
        verified = Settings(settings.recipe, settings.similarity, own_share=settings.own_share)
        return self._scan_scores(settings, clusters), self._scan_scores(verified, clusters)

    def _scan_scores(self, settings: Settings, clusters: Indices) -> GroupScores:
        """How well the groups that a scan finds in the labelled files match their clusters."""
        paths = self.labels.paths
        # Several paths may be one file, which a scan takes as one document.
        first = dict[tuple[int, int], int]()
        files = [(status.st_dev, status.st_ino) for status in map(os.stat, paths)]
        numbers = [first.setdefault(each, at) for at, each in enumerate(files)]
        # The last group takes files that were replaced meanwhile, whose inodes no label knows.
        groups = np.arange(len(paths) + 1)
        for group in scan(paths, settings, are_files=True, jobs=None).groups:
            sources = [member.document.source for member in group.members]
            members = [first.get((each.device, each.inode), -1) for each in sources]
            groups[members] = max(members)
        return GroupScores(*metrics.clustering(clusters, groups[numbers]))

    def _recommended(
        self, curve: Sequence[Accuracy], distances: Indices, exact: _Exact
    ) -> metrics.Recommended | None:
        """The farthest thresholds that keep the precision asked for, if one was."""
        if self.precision is None:
            return None
        k = farthest(np.array([each.precision.value for each in curve]), self.precision)
        bits, steps = len(curve) - 1, STEPS[::-1]
        precisions = [self._verified_precision(s, bits, distances, exact) for s in steps]
        step = farthest(np.array(precisions), self.precision)
        return metrics.Recommended(self.precision, k, None if step is None else float(steps[step]))

    def _verified_precision(
        self, similarity: float, bits: int, distances: Indices, exact: _Exact
    ) -> float:
        """The precision of scans verified at this similarity; NaN if they find nothing."""
        are_verified = exact.are_alike(similarity) & exact.are_own & self.is_judged
        is_found = distances[:, are_verified] <= search_distance(similarity, bits)
        found = is_found.sum(axis=1)
        right = is_found[:, self.labels.labels[are_verified] == DUPLICATE].sum(axis=1)
        shares = right[found > 0] / found[found > 0]
        return float(shares.mean()) if len(shares) else nan


@dataclass(frozen=True, slots=True, eq=False)
class _Exact:
    """Exact similarities and own shares of labelled pairs; arrays by pair.

    counts: (m, 2): the numbers of features of both texts.
    own_shares: 1 where they are not asked for, and 0 where they cannot matter.
    """

    similarities: Floats
    counts: Indices
    own_shares: Shares
    settings: Settings

    @property
    def are_own(self) -> Mask:
        """Whether the own share of each pair is large enough."""
        return has_enough(self.own_shares, self.similarities, self.settings.own_share)

    @property
    def are_near(self) -> Mask:
        """Whether pairs are near and not only related, if they belong together."""
        counts = self.counts * self.settings.recipe.has_equal_weights
        found = pair_scores(self.similarities, self.own_shares, counts)
        return are_near(found, self.similarities, counts)

    def are_alike(self, similarity: float) -> Mask:
        """Whether pairs are similar enough where the user asks for this similarity."""
        return self.similarities >= least_similarity(similarity, self.counts.min(axis=1))


def farthest(precision: Floats, least: float) -> int | None:
    """The last threshold up to which precision is never below `least`; None if there is none.

    Precision is NaN where nothing is found, which does not count as below.

    >>> farthest(np.array([np.nan, 1.0, 0.99, 0.9, 0.99]), 0.95)
    2
    """
    falls = np.flatnonzero(precision < least)
    end = int(falls[0]) if len(falls) else len(precision)
    return None if np.isnan(precision[:end]).all() else end - 1


def own_shares(
    labels: Labels, features: Features, rows: Rows, asked: Mask, recipe: Recipe
) -> Shares:
    """The own share of each pair that `asked` (m,) marks, and 0 for the other pairs; (m,).

    `features` and `rows` (texts, bytes) are given for all texts. A scan takes texts with equal
    features as one text, so their share is 1.
    """
    shares, sketched, digest = np.zeros(len(asked)), sketches(features), digests(features)
    is_one = (digest[labels.pairs[:, 0]] == digest[labels.pairs[:, 1]]).all(axis=1)
    shares[asked & is_one] = 1
    bits, none = 8 * rows.shape[1], np.empty((0, 2), np.int64)
    reach = Reach(bits, search_distance(LEVELS[-1], bits), None)
    pairs_of = [np.flatnonzero(labels.collection == each) for each in np.unique(labels.collection)]
    texts_of = [distinct_numbers(labels.pairs[each]) for each in pairs_of]
    found = [iter_near_pairs(rows[texts], reach) for texts in texts_of]
    near = [np.concatenate([none, *(pairs[:, :2] for pairs in chunks)]) for chunks in found]
    # All at once, since `cosines` goes through the features of all texts.
    both = np.concatenate([texts[pairs] for texts, pairs in zip(texts_of, near, strict=True)])
    alike = np.split(cosines(features, *both.T), np.cumsum(list(map(len, near)))[:-1])
    for own, texts, pairs, similarities in zip(pairs_of, texts_of, near, alike, strict=True):
        chosen = own[(asked & ~is_one)[own]]
        family = components(pairs[similarities >= FAMILY], len(texts))
        every, of_texts = np.arange(len(texts)), (features.counts[texts], digest[texts])
        kept = Items(rows[texts], *of_texts, every, every < 0, sketched.take(texts), every)
        source = TextsInMemory(labels.texts, texts, recipe)
        distinct = distinct_texts(kept, bits)
        large = sketched.take(texts)
        form, family = forms_of(distinct, large, family, (pairs, similarities), source)
        among = OwnShares.of_all(large, features.counts[texts], family)
        among.form = form
        shares[chosen] = among.of(np.searchsorted(texts, labels.pairs[chosen]))
    return shares
