"""Sketches in, candidate pairs out: `simdup.match.postings`, with each list of texts in one task.

A value that all texts have does no harm: Spark counts how long a list is while it sorts,
and only short lists, and the values of one text, are handed to Python as a whole.

A text is listed by its entry: its number and, in the lowest bits, how much it must share.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.window import Window

from simdup.arrays import Hashes, Indices
from simdup.match.postings import (
    LEAST_SHARED,
    MOST_TOGETHER,
    RELISTED,
    depths_of,
    key_of,
    listed_values,
    needed_of,
    neighbours,
    sharing_enough,
)
from simdup.search.distinct import distinct_numbers
from simdup.search.pairs import ranges
from simdup.spark.arrow import Batches, Task, begins_of, lists_of, numbers, sketches_of, whole_runs

# The columns of lists, of the texts that follow a text in a list, and of pairs of entries.
LISTED = "value long, entry long"
FOLLOWING = "entry long, others array<long>, weight int"
ENTRIES = "a long, b long"

# The bits of an entry that say how many values more than LEAST_SHARED the text needs.
NEEDED_BITS = 2

# Rows that a task holds at once.
ROWS_AT_ONCE = 1 << 18


def texts_together(texts: DataFrame) -> DataFrame:
    """The pairs of texts that share enough rare shingles, lazily: a, b and is_star.

    `texts` have number, features and sketch; see `spark.texts`. Each pair is there
    once, the lower number as a. `is_star` is true if one of the two is the first of a long list.
    """
    listed = texts.select("number", "features", "sketch").mapInArrow(_listing, LISTED)
    lists = _counted(listed)
    following, long = _short(lists, 1), None
    for _ in range(RELISTED):
        of_texts = _long(lists).repartition("entry").sortWithinPartitions("entry")
        lists = _counted(of_texts.mapInArrow(_by_neighbours, LISTED))
        following = following.unionAll(_short(lists, 2))
        long = long.unionAll(_long(lists)) if long else _long(lists)
    of_texts = following.repartition("entry").sortWithinPartitions("entry")
    sharing = of_texts.mapInArrow(_sharing, ENTRIES).withColumn("is_star", F.expr("false"))
    pairs = sharing.unionAll(_stars(long).withColumn("is_star", F.expr("true")))
    numbered = pairs.select(_number("a").alias("a"), _number("b").alias("b"), "is_star")
    return numbered.where("a != b").groupBy("a", "b").agg(F.max("is_star").alias("is_star"))


def _listing(batches: Batches) -> Batches:
    """List texts under values of their sketches: LISTED."""
    for each in batches:
        counts = numbers(each["features"])
        entries = numbers(each["number"]) << NEEDED_BITS | needed_of(counts) - LEAST_SHARED
        for keys in listed_values(sketches_of(each["sketch"]), depths_of(counts)):
            yield _listed(keys >> np.uint64(32), entries[_low(keys)])


def _by_neighbours(batches: Batches) -> Batches:
    """List texts, each given with all its common values, under pairs of these: LISTED."""
    for table in whole_runs(batches, ("entry",), ROWS_AT_ONCE):
        begins = begins_of(table, ("entry",))
        own = np.repeat(np.arange(len(begins)), np.diff(begins, append=len(table)))
        keys = neighbours(key_of(own, numbers(table["value"])))
        yield _listed(keys >> np.uint64(32), numbers(table["entry"])[begins[_low(keys)]])


def _low(keys: Hashes) -> Indices:
    """The low half of each key."""
    return (keys & np.uint64((1 << 32) - 1)).astype(np.int64)


def _listed(values: Hashes, entries: Indices) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict({"value": values.astype(np.int64), "entry": entries})


def _counted(listed: DataFrame) -> DataFrame:
    """Each entry of some lists with the `size` of its list, the entries of a list together."""
    size = F.count("*").over(Window.partitionBy("value"))
    return listed.withColumn("size", size)


def _long(lists: DataFrame) -> DataFrame:
    """The entries of long lists: LISTED."""
    return lists.where(F.col("size") > MOST_TOGETHER).select("value", "entry")


def _short(lists: DataFrame, weight: int) -> DataFrame:
    """The texts after each one in short lists; two of a list share `weight` values: FOLLOWING."""
    short = lists.where(F.col("size").between(2, MOST_TOGETHER)).select("value", "entry")
    # They are sorted by now, so this costs nothing.
    return short.sortWithinPartitions("value").mapInArrow(_following(weight), FOLLOWING)


def _following(weight: int) -> Task:
    """A task that says which entries follow each one in its list, in ascending order."""

    def following(batches: Batches) -> Batches:
        for table in whole_runs(batches, ("value",), ROWS_AT_ONCE):
            entries = numbers(table["entry"])
            entries = entries[np.lexsort((entries, numbers(table["value"])))]
            begins, after = begins_of(table, ("value",)), np.arange(1, len(table) + 1)
            sizes = np.diff(begins, append=len(table))
            counts = np.repeat(begins + sizes, sizes) - after
            others = np.concatenate([serial for _, serial in ranges(after, counts)])
            is_followed = counts > 0
            counts = counts[is_followed]
            offsets = pa.array(np.append(0, np.cumsum(counts)), pa.int32())
            columns = {
                "entry": entries[is_followed],
                "others": pa.ListArray.from_arrays(offsets, entries[others]),
                "weight": np.full(len(counts), weight, np.int32),
            }
            yield pa.RecordBatch.from_pydict(columns)

    return following


def _sharing(batches: Batches) -> Batches:
    """Find the pairs that share enough, from the texts after each one in all lists: ENTRIES."""
    for table in whole_runs(batches, ("entry",), ROWS_AT_ONCE):
        others, begins = lists_of(table["others"])
        counts = np.diff(begins)
        weights = np.repeat(numbers(table["weight"]), counts)
        left = np.repeat(numbers(table["entry"]), counts)
        entries = distinct_numbers(np.concatenate((left, others)))
        i, j = np.searchsorted(entries, left), np.searchsorted(entries, others)
        needed = LEAST_SHARED + (entries & (1 << NEEDED_BITS) - 1)
        a, b = np.ascontiguousarray(entries[sharing_enough(i, j, weights, needed)].T)
        yield pa.RecordBatch.from_pydict({"a": a, "b": b})


def _stars(lists: DataFrame) -> DataFrame:
    """Pairs of the first text of each long list with the others, if they share enough: ENTRIES."""
    first = F.min("entry").over(Window.partitionBy("value"))
    spokes = lists.select("entry", first.alias("first")).where("entry != first")
    low, high = F.least("entry", "first").alias("a"), F.greatest("entry", "first").alias("b")
    shared = spokes.groupBy(low, high).agg((2 * F.count("*")).alias("shared"))
    return shared.where(F.col("shared") >= F.least(_needed("a"), _needed("b"))).select("a", "b")


def _number(entry: str) -> Column:
    """The number of the text of an entry."""
    return F.shiftright(entry, NEEDED_BITS)


def _needed(entry: str) -> Column:
    """How many values a candidate of this text must share."""
    return LEAST_SHARED + F.col(entry).bitwiseAND((1 << NEEDED_BITS) - 1)
