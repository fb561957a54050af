"""Texts in, pairs of texts out that are candidates, or whose fingerprints are near.

Candidates are found by `simdup.match.postings`, with each list of texts in one task. A value that
all texts have does no harm: a task reads its list piece by piece, and keeps no more than the first
texts of it. Texts are listed by their entries: the number of a text and, in the lowest bits, how
much it must share.

Fingerprints are compared by `simdup.search.pairs`. They are cut into chunks by a hash of their
bits, and a task searches one chunk, or all pairs between two.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from simdup.arrays import Hashes, Indices
from simdup.compute.compiled import load_kernels_if_worth
from simdup.fingerprint.features import all_features
from simdup.fingerprint.sketch import read_back
from simdup.match import postings
from simdup.match.postings import LEAST_SHARED, MOST_TOGETHER, TEXTS_AT_ONCE
from simdup.search.pairs import iter_pairs, iter_pairs_between, ranges
from simdup.settings import Settings
from simdup.spark.texts import (
    PARCELS,
    Batches,
    NumberedTexts,
    Reader,
    checkpointed,
    numbers,
    opened,
    parcels,
    pieces,
    rows_of,
    runs,
)

# The kinds of parcels: values and entries; pairs of entries that share one value, or two; pairs of
# the first entry of a long list and another one.
LISTED, SINGLE, DOUBLE, STAR = range(4)

# The bits of an entry that say how many values more than LEAST_SHARED the text needs, and all bits
# in which the entries of a bucket differ.
NEEDED_BITS = 2
BUCKET_BITS = (TEXTS_AT_ONCE - 1).bit_length() + NEEDED_BITS

# Entries that a task holds at once, unless as many are in lists that are not long.
ENTRIES_AT_ONCE = 1 << 22

# The bits of all fingerprints in a chunk: two million of 64 bits. A task holds two chunks.
CHUNK_BITS = 1 << 27

_HALF, _LOW = np.uint64(32), np.uint64((1 << 32) - 1)


def texts_together(texts: NumberedTexts) -> DataFrame:
    """The pairs of texts that share enough rare shingles, lazily: a, b and is_star.

    Each pair is there once, the lower number as a. `is_star` is true if one of the two is the
    first of a long list.
    """
    size, pairs = texts.size, None
    listed = texts.firsts.select("id", "number", "features", "sketch")
    if is_whole := size >= texts.settings.limits.whole_hashes_from:
        listed = texts.source.frame.join(listed.drop("sketch"), "id")
        listing = partial(_by_hashes, texts.source.read, texts.settings, size)
        listed = listed.mapInArrow(listing, PARCELS)
    else:
        listed = listed.mapInArrow(partial(_by_sketches, size), PARCELS)
    for weight in (SINGLE, *[DOUBLE] * postings.RELISTED):
        found = _by_bucket(listed).mapInArrow(partial(_splitting, weight), PARCELS)
        found = checkpointed(found, "lists")
        paired = found.where(F.col("kind") != LISTED)
        pairs = pairs.unionAll(paired) if pairs else paired
        common = _by_bucket(found.where(F.col("kind") == LISTED))
        listed = common.mapInArrow(partial(_by_neighbours, size, is_whole), PARCELS)
    return _by_bucket(pairs).mapInArrow(_sharing, "a long, b long, is_star boolean")


def _by_bucket(frame: DataFrame) -> DataFrame:
    """The parcels of each bucket together, in the order of their origins."""
    return frame.repartition("bucket").sortWithinPartitions("bucket", "origin")


def _entries(batch: pa.RecordBatch) -> tuple[Indices, Indices]:
    """The entries of some texts, and how often each text halves the range of its values."""
    counts = numbers(batch["features"])
    needed = postings.needed_of(counts) - LEAST_SHARED
    return numbers(batch["number"]) << NEEDED_BITS | needed, postings.depths_of(counts)


def _listed(values: Hashes, entries: Indices, size: int, origin: int = 0) -> pa.RecordBatch:
    """Parcels of the entries of some of `size` texts, to the bucket of the value of each."""
    bucket = (values % np.uint64(size // TEXTS_AT_ONCE + 1)).astype(np.int64)
    return parcels(LISTED, bucket, values, entries, origin)


def _by_sketches(size: int, batches: Batches) -> Batches:
    """List texts under values of their sketches."""
    for each in batches:
        entries, depths = _entries(each)
        sketches = read_back(each["sketch"].to_pylist())
        load_kernels_if_worth(words=postings.WORDS_OF_A_VALUE * int(sketches.sizes.sum()))
        for keys in postings.listed_values(sketches, depths):
            yield _listed(keys >> _HALF, entries[(keys & _LOW).astype(np.int64)], size)


def _by_hashes(read: Reader, settings: Settings, size: int, batches: Batches) -> Batches:
    """List texts under the whole hashes of which sketches have the high halves."""
    for each in batches:
        entries, depths = _entries(each)
        found = [text for _, texts in read(iter([each])) for text in texts]
        features = all_features(found, settings.recipe)
        limits = np.uint64((1 << 64) - 1) >> depths.astype(np.uint64)
        is_listed = features.ids <= np.repeat(limits, features.counts)
        owners = np.repeat(entries, features.counts)
        yield _listed(features.ids[is_listed], owners[is_listed], size)


def _by_neighbours(size: int, is_whole: bool, batches: Batches) -> Batches:  # noqa: FBT001
    """List some of `size` texts, each given with all its common values, under pairs of these."""
    for bucket, table in runs(batches, "bucket"):
        begin, values = bucket << BUCKET_BITS, opened(table["left"]).view(np.uint64)
        own = (opened(table["right"]) - begin).view(np.uint64)
        if is_whole:
            order = np.lexsort((values, own))
            hashes, own = postings.hashes_of_neighbours(own[order], values[order], size)
        else:
            keys = postings.neighbours(postings.key_of(own, values), size)
            hashes, own = keys >> _HALF, keys & _LOW
        yield _listed(hashes, own.view(np.int64) + begin, size, bucket)


def _splitting(weight: int, batches: Batches) -> Batches:
    """Split lists: short ones into pairs that share `weight` values, long ones by their texts."""
    for _, found in pieces(batches, "bucket"):
        values, entries, most = np.empty(0, np.int64), np.empty(0, np.int64), ENTRIES_AT_ONCE
        for piece in found:
            values = np.append(values, opened(piece["left"]))
            entries = np.append(entries, opened(piece["right"]))
            if len(values) > most:
                lists = Lists(values, entries)
                yield from lists.of_long(weight, MOST_TOGETHER + 1)
                values, entries = lists.begun()
                most = ENTRIES_AT_ONCE + 2 * len(values)
        lists = Lists(values, entries)
        yield from lists.of_long(weight)
        yield from lists.of_short(weight)


class Lists:
    """Lists of entries, each ascending; the entries of a list have one value."""

    def __init__(self, values: Indices, entries: Indices) -> None:
        """Take the value of each entry (n,)."""
        order = np.argsort(entries)
        self._values, self._entries = values[order], entries[order]
        half = self._values
        if half.view(np.uint64).max(initial=0) > _LOW:
            half = np.unique(half, return_inverse=True)[1]
        keys = postings.key_of(half, np.arange(len(order)))
        self._short, others, sizes = postings.split_lists(keys)
        self._long, begins = (others & _LOW).astype(np.int64), np.cumsum(sizes) - sizes
        self._first = np.repeat(self._long[begins], sizes)
        self._place = np.arange(len(self._long)) - np.repeat(begins, sizes)

    def of_long(self, weight: int, begin: int = 0) -> Batches:
        """Yield the entries of long lists, each from a place on: with their values, and stars."""
        taken = self._place >= begin
        entries, first = (self._entries[each[taken]] for each in (self._long, self._first))
        yield parcels(LISTED, entries >> BUCKET_BITS, self._values[self._long[taken]], entries)
        if weight == DOUBLE:
            yield from _paired(STAR, first, entries)

    def begun(self) -> tuple[Indices, Indices]:
        """The values and entries without the ones that `of_long` yields from a place on."""
        is_left = np.ones(len(self._entries), bool)
        is_left[self._long[self._place > MOST_TOGETHER]] = False
        return self._values[is_left], self._entries[is_left]

    def of_short(self, weight: int) -> Batches:
        """Yield the pairs of entries of short lists."""
        entries, sizes = self._entries[self._short.texts], self._short.sizes
        after = np.arange(1, len(entries) + 1)
        ends = np.repeat(np.cumsum(sizes), sizes)
        for at, serial in ranges(after, ends - after):
            yield from _paired(weight, entries[at], entries[serial])


def _paired(kind: int, left: Indices, right: Indices) -> Iterator[pa.RecordBatch]:
    """Parcels of pairs; a text may be twice in one list, and is no pair with itself."""
    differ = left != right
    yield parcels(kind, right[differ] >> BUCKET_BITS, left[differ], right[differ])


def _sharing(batches: Batches) -> Batches:
    """Find the pairs of texts that share enough."""
    for bucket, table in runs(batches, "bucket"):
        begin, is_star = bucket << BUCKET_BITS, pc.equal(table["kind"], STAR)
        kinds = (is_star, pc.invert(is_star))
        stars, others = (_enough(table.filter(each), begin) for each in kinds)
        keys = np.sort(np.concatenate((stars << 1, others << 1 | 1)))
        keys = keys[np.flatnonzero(np.diff(keys >> 1, prepend=-1))]
        a, right = keys >> 1 + BUCKET_BITS + NEEDED_BITS, keys >> 1 & (1 << BUCKET_BITS) - 1
        b = (begin | right) >> NEEDED_BITS
        yield pa.RecordBatch.from_pydict({"a": a, "b": b, "is_star": keys & 1 == 0})


def _enough(table: pa.Table, begin: int) -> Indices:
    """The pairs that share enough values, as numbers: two entries, the right one from `begin` on.

    The values that a pair shares in several parcels are added up.
    """
    sizes = numbers(pc.binary_length(table["right"])) // 8
    weights = np.repeat(np.minimum(numbers(table["kind"]), DOUBLE), sizes)
    pairs = opened(table["left"]) << BUCKET_BITS | opened(table["right"]) - begin
    keys = np.sort(pairs << 2 | weights)
    begins = np.flatnonzero(np.diff(keys >> 2, prepend=-1))
    shared = np.add.reduceat(keys & 3, begins) if len(keys) else keys
    pairs = keys[begins] >> 2
    more = np.minimum(pairs & 3, pairs >> BUCKET_BITS & 3)
    return pairs[shared >= LEAST_SHARED + more]


def near_pairs(texts: DataFrame, bits: int, k: int) -> DataFrame:
    """Every pair of texts within k of the first `bits` bits, each once, lazily: a, b, distance.

    The lower number is a. `texts` have number and fingerprint.
    """
    chunks = 1 + texts.count() * bits // CHUNK_BITS
    other = f"explode(sequence(0, {chunks - 1})) other"
    rows = texts.selectExpr("number", f"substring(fingerprint, 1, {bits // 8}) fingerprint", other)
    rows = rows.selectExpr("*", f"pmod(xxhash64(fingerprint), {chunks}) own")
    rows = rows.selectExpr("*", f"{chunks} * least(own, other) + greatest(own, other) cell")
    cells = rows.repartition("cell").sortWithinPartitions("cell", "own")
    return cells.mapInArrow(partial(_by_cells, k), "a long, b long, distance long")


def _by_cells(k: int, batches: Batches) -> Batches:
    """Compare the two sides of each cell, or all fingerprints of a cell of one chunk."""
    for _, table in runs(batches, "cell"):
        # A copy can be written to; for read-only arrays the kernels would be compiled again.
        rows, number = rows_of(table["fingerprint"]).copy(), numbers(table["number"])
        own, other = (numbers(table[each]) for each in ("own", "other"))
        left = np.searchsorted(own, own[-1])
        is_one, sides = own[0] == other[0], (rows[:left], rows[left:])
        found = iter_pairs(rows, k) if is_one else iter_pairs_between(*sides, k)
        for i, j, distance in (pairs.T for pairs in found):
            a, b = np.sort((number[i], number[left + j]), axis=0)
            yield pa.RecordBatch.from_pydict({"a": a, "b": b, "distance": distance})
