"""Texts in, counters out: in how many families each value is; see `simdup.match.own_share`.

Families are inside parts, so they are counted where the parts lie, and texts without a part
where these lie. The counters of all tasks are added.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame

from simdup.arrays import Counters
from simdup.fingerprint.sketch import of_each
from simdup.match.own_share import (
    MOST_COUNTED,
    CountedValues,
    count,
    new_counters,
    values_of_families,
)
from simdup.spark.arrow import Batches, Task, binary, numbers, rows_of, sketches_of, whole_runs
from simdup.spark.distinct_texts import job_description

# Counters are sent in blocks; blocks of zeros only are left out.
BLOCK = 1 << 16
BLOCKS = "block int, counters binary"

# Rows that a task holds at once, unless a part has more.
ROWS_AT_ONCE = 1 << 14


def frequencies(alone: DataFrame, families: DataFrame) -> CountedValues:
    """The number of families with each value.

    `alone` has the `sketch` of each text without a part, which is a family by itself. `families`
    has root, family and sketch of the texts in parts, part by part; rows without a sketch are
    passed over.
    """
    counters = new_counters()
    n = len(counters)
    counted = alone.select("sketch").mapInArrow(_counting_alone(n), BLOCKS)
    together = families.select("root", "family", "sketch")
    counted = counted.unionAll(together.mapInArrow(_counting_families(n), BLOCKS))
    added = counted.repartition("block").mapInArrow(_adding(n), BLOCKS)
    with job_description(families.sparkSession, "frequencies"):
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
        yield _blocks(counters)

    return counting


def _counting_families(n: int) -> Task:
    """Count the values of the families of parts."""

    def counting(batches: Batches) -> Batches:
        counters = np.zeros(n, np.uint8)
        for table in whole_runs(batches, ("root",), ROWS_AT_ONCE):
            texts = table.filter(pc.is_valid(table["sketch"]))
            sketches, family = sketches_of(texts["sketch"]), numbers(texts["family"])
            order = np.argsort(family, kind="stable")
            for values in values_of_families([(sketches.take(order), family[order])]):
                count(counters, of_each([values]))
        yield _blocks(counters)

    return counting


def _adding(n: int) -> Task:
    """Add the counters of blocks."""

    def adding(batches: Batches) -> Batches:
        counters = np.zeros(n, np.uint8)
        for each in batches:
            _add(counters, each)
        yield _blocks(counters)

    return adding


def _blocks(counters: Counters) -> pa.RecordBatch:
    """The BLOCKS of these counters with any number above 0."""
    rows = counters.reshape(-1, BLOCK)
    (there,) = np.nonzero(rows.any(axis=1))
    columns = {"block": there.astype(np.int32), "counters": binary(rows[there])}
    return pa.RecordBatch.from_pydict(columns)


def _add(counters: Counters, blocks: pa.RecordBatch) -> None:
    """Add the counters of blocks to `counters`."""
    rows = counters.reshape(-1, BLOCK)
    for block, more in zip(numbers(blocks["block"]), rows_of(blocks["counters"]), strict=True):
        rows[block] = np.minimum(rows[block].astype(np.uint16) + more, MOST_COUNTED)
