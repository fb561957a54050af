"""Pairs in, representatives out: `simdup.match.groups`, with each component in one task."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import functions as F  # noqa: N812

from simdup.match.groups import leaders
from simdup.spark.arrow import numbers, whole_runs
from simdup.spark.components import rooted

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pyspark.sql import DataFrame

    from simdup.spark.arrow import Batches, Task

    Indices = NDArray[np.int64]

# Pairs that are grouped in one task, however they hang together: 100 MB.
PAIRS_AT_ONCE = 1 << 21

SCHEMA = "number long, leader long, similarity double"


def led(pairs: DataFrame, copies: DataFrame, linkage: str) -> DataFrame:
    """The texts that are represented by another one, lazily: SCHEMA.

    `pairs`, which are checkpointed, have a, b and similarity, which may be null; `copies` the
    number of each text and how many rows have it. The similarity of a text to its leader is
    null if they are no pair.
    """
    if pairs.count() <= PAIRS_AT_ONCE:
        both = pairs.select("a", "b").select(F.explode(F.array("a", "b")).alias("number"))
        roots = both.distinct().withColumn("root", F.lit(0).cast("long"))
    else:
        roots = rooted(pairs)
    root_of = roots.withColumnRenamed("number", "a")
    edges = pairs.select("a", "b", "similarity").join(root_of, "a")
    own = root_of.join(copies.toDF("a", "copies"), "a")
    both = edges.unionByName(own, allowMissingColumns=True)
    together = both.repartition("root").sortWithinPartitions("root")
    return together.mapInArrow(_leading(linkage), SCHEMA)


def _leading(linkage: str) -> Task:
    """Many components at once, each of them whole."""

    def leading(batches: Batches) -> Batches:
        for table in whole_runs(batches, ("root",), PAIRS_AT_ONCE):
            yield _led_in(table, linkage)

    return leading


def _led_in(table: pa.Table, linkage: str) -> pa.RecordBatch:
    """SCHEMA, of the edges and texts of some components."""
    is_edge = table.column("b").is_valid()
    edges, own = table.filter(is_edge), table.filter(pc.invert(is_edge))
    number, copies = (numbers(own.column(name).combine_chunks()) for name in ("a", "copies"))
    order = np.argsort(number)
    number, n = number[order], len(number)
    a, b = (numbers(edges.column(name).combine_chunks()) for name in ("a", "b"))
    pairs = np.searchsorted(number, np.column_stack((a, b)))
    leader = leaders(pairs, n, linkage, np.arange(n), copies[order])
    others = np.flatnonzero(leader != np.arange(n))
    values = edges.column("similarity").combine_chunks()
    columns = {
        "number": number[others],
        "leader": number[leader[others]],
        "similarity": values.take(_places(pairs, others, leader[others], n)),
    }
    return pa.RecordBatch.from_pydict(columns)


def _places(pairs: Indices, i: Indices, j: Indices, n: int) -> pa.Array:
    """Where each pair i, j stands among pairs of lower and higher number; null if nowhere."""
    keys, asked = pairs[:, 0] * n + pairs[:, 1], np.minimum(i, j) * n + np.maximum(i, j)
    order = np.argsort(keys)
    place = order[np.minimum(np.searchsorted(keys[order], asked), len(keys) - 1)]
    return pa.array(place, mask=keys[place] != asked)
