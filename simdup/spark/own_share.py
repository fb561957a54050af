"""Pairs of texts in, their own shares out: `simdup.match.own_share`, with the sketches joined.

The families that have each value are counted in one pass over the sketches. Texts that are a
family by themselves are counted where they lie; only texts of larger families are brought
together. The counters of all tasks are added, and are broadcast.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyspark.broadcast import Broadcast
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from simdup.arrays import Counters, Indices, Mask
from simdup.fingerprint.sketch import Sketches, of_each
from simdup.match.own_share import (
    FAMILY,
    MOST_COUNTED,
    CountedValues,
    OwnShares,
    count,
    estimated_cosines,
    least_similarity,
    may_be_alike,
    new_counters,
    values_of_families,
)
from simdup.spark.arrow import Batches, Task, binary, numbers, rows_of, sketches_of
from simdup.spark.cells import cells_of, in_cells
from simdup.spark.distinct_texts import NumberedTexts, checkpointed, job_description
from simdup.spark.linkage import led_texts

# The names of Spark's jobs, by the numbers that they compute.
FAMILIES, FREQUENCIES = "families", "frequencies"

# Counters are sent in blocks; blocks of zeros only are left out.
BLOCK = 1 << 16
BLOCKS = "block int, counters binary"


def perhaps_alike(
    pairs: DataFrame, count: int, texts: NumberedTexts, similarity: float
) -> DataFrame:
    """Of `count` pairs, keep the ones that may be similar enough by their sketches, lazily."""

    def may_be(sketches: Sketches, counts: Indices, places: Indices) -> Mask:
        least = least_similarity(similarity, counts[places].min(axis=1))
        return may_be_alike(sketches, counts, places, least)

    return _kept(pairs, count, texts, may_be)


def alike_by_sketches(pairs: DataFrame, count: int, texts: NumberedTexts) -> DataFrame:
    """Of `count` pairs, keep the ones with sketches as alike as in a family, lazily."""

    def are_family(sketches: Sketches, counts: Indices, places: Indices) -> Mask:
        return estimated_cosines(sketches, counts, places) >= FAMILY

    return _kept(pairs, count, texts, are_family)


def _kept(
    pairs: DataFrame,
    count: int,
    texts: NumberedTexts,
    rule: Callable[[Sketches, Indices, Indices], Mask],
) -> DataFrame:
    """Of `count` pairs, keep the ones that `rule` keeps, by sketches and numbers of features."""
    cells, columns = in_cells(pairs, count, texts, texts.values or 0), pairs.columns
    sketches = texts.frame.select("number", "features", "sketch")
    together = cells.with_texts(cells.needed.join(sketches, "number"))

    def keeping(batches: Batches) -> Batches:
        for each, owners, places in cells_of(batches):
            kept = rule(sketches_of(owners["sketch"]), numbers(owners["features"]), places)
            yield from each.select(columns).filter(pa.array(kept)).to_batches()

    return together.mapInArrow(keeping, pairs.schema)


@dataclass(frozen=True, slots=True)
class OwnShareFrames:
    """The own shares of pairs of some texts."""

    texts: NumberedTexts
    families: DataFrame
    """number and family of each text with others in its family; checkpointed."""
    frequencies: Broadcast[CountedValues]

    @classmethod
    def of_families(cls, texts: NumberedTexts, alike: DataFrame) -> OwnShareFrames:
        """Count in how many families each value is.

        `alike` (checkpointed) has pairs of texts of one family, with similarities.
        """
        led = led_in_families(texts, alike)
        leaders = led.select(F.col("family").alias("number"), "family").distinct()
        families = led.unionAll(leaders)
        frequencies = _frequencies(texts, families)
        context = texts.frame.sparkSession.sparkContext
        return cls(texts, families, context.broadcast(frequencies))

    def joined(self, pairs: DataFrame, count: int) -> DataFrame:
        """At most `count` pairs, a and b, with their `own_share`, lazily."""
        cells = in_cells(pairs, count, self.texts, self.texts.values or 0)
        sketches = self.texts.frame.select("number", "features", "sketch")
        brought = cells.needed.join(sketches, "number").join(self.families, "number", "left")
        brought = brought.withColumn("family", F.coalesce("family", "number"))
        schema = pairs.select("*").schema.add("own_share", "double")
        weighing = _weighing(self.frequencies, pairs.columns)
        return cells.with_texts(brought).mapInArrow(weighing, schema)


def led_in_families(texts: NumberedTexts, alike: DataFrame) -> DataFrame:
    """The number and family of each text, except the text that gives its family its number.

    `alike` (checkpointed) has pairs of texts of one family, with similarities.
    """
    pairs = alike.withColumn("own_share", F.lit(None).cast("double"))
    pairs = pairs.withColumn("closeness", F.col("similarity"))
    led = led_texts(pairs, texts.frame, "components")
    return checkpointed(led.select("number", F.col("leader").alias("family")), FAMILIES)


def _weighing(frequencies: Broadcast[CountedValues], columns: list[str]) -> Task:
    """Compute the own shares of the pairs of each cell."""

    def weighing(batches: Batches) -> Batches:
        for pairs, texts, places in cells_of(batches):
            counts, family = numbers(texts["features"]), numbers(texts["family"])
            shares = OwnShares(sketches_of(texts["sketch"]), counts, family, frequencies.value)
            own_share = pa.array(shares.of(places))
            yield from pairs.select(columns).append_column("own_share", own_share).to_batches()

    return weighing


def _frequencies(texts: NumberedTexts, families: DataFrame) -> CountedValues:
    """The number of families with each value."""
    counters = new_counters()
    sketches, n = texts.frame.select("number", "sketch"), len(counters)
    alone = sketches.join(families, "number", "left_anti")
    together = sketches.join(families, "number").repartition("family")
    counted = alone.mapInArrow(_counting_alone(n), BLOCKS).unionAll(
        together.sortWithinPartitions("family").mapInArrow(_counting_families(n), BLOCKS)
    )
    added = counted.repartition("block").mapInArrow(_adding(n), BLOCKS)
    with job_description(texts.frame.sparkSession, FREQUENCIES):
        found = added.toArrow()
    for each in found.to_batches():
        _add(counters, each)
    return CountedValues(counters)


def _counting_alone(n: int) -> Task:
    """Count the values of texts; each text is a family by itself."""

    def counting(batches: Batches) -> Batches:
        counters = np.zeros(n, np.uint8)
        for each in batches:
            count(counters, sketches_of(each["sketch"]))
        yield from _in_blocks(counters)

    return counting


def _counting_families(n: int) -> Task:
    """Count the values of families; the texts of a family follow each other."""

    def counting(batches: Batches) -> Batches:
        counters = np.zeros(n, np.uint8)
        parts = ((sketches_of(each["sketch"]), numbers(each["family"])) for each in batches)
        for values in values_of_families(part for part in parts if len(part[1])):
            count(counters, of_each([values]))
        yield from _in_blocks(counters)

    return counting


def _adding(n: int) -> Task:
    """Add the counters of blocks."""

    def adding(batches: Batches) -> Batches:
        counters = np.zeros(n, np.uint8)
        for each in batches:
            _add(counters, each)
        yield from _in_blocks(counters)

    return adding


def _in_blocks(counters: Counters) -> Iterator[pa.RecordBatch]:
    """Yield the BLOCKS of these counters with any number above 0."""
    rows = counters.reshape(-1, BLOCK)
    (there,) = np.nonzero(rows.any(axis=1))
    columns = {"block": there.astype(np.int32), "counters": binary(rows[there])}
    yield pa.RecordBatch.from_pydict(columns)


def _add(counters: Counters, blocks: pa.RecordBatch) -> None:
    """Add the counters of blocks to `counters`."""
    rows = counters.reshape(-1, BLOCK)
    for block, more in zip(numbers(blocks["block"]), rows_of(blocks["counters"]), strict=True):
        rows[block] = np.minimum(rows[block].astype(np.uint16) + more, MOST_COUNTED)
