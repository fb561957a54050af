"""Pairs of texts in, their exact similarities out, from texts that are joined to them.

Texts are in parts by their number, pairs in cells of two parts. A cell gets each text that
one of its pairs needs, once, and computes features and cosines as `simdup.match.verify` does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import functions as F  # noqa: N812

from simdup.compute.compiled import load_kernels_if_worth
from simdup.corpus.fingerprint import text_digests
from simdup.errors import InputError
from simdup.match.verify import FEATURES_AT_ONCE, exact_similarities
from simdup.spark.arrow import numbers, runs
from simdup.spark.tiles import parts_for

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pyspark.sql import DataFrame

    from simdup.recipe import Recipe
    from simdup.spark.arrow import Batches, Task
    from simdup.spark.fingerprints import Reader

    Indices = NDArray[np.int64]

# Pairs that are worth a task.
PAIRS_WORTH = 10_000


@dataclass(frozen=True, slots=True)
class Originals:
    """Where texts are to be had again."""

    ids: DataFrame
    """number, id and text_digest of each text"""
    rows: DataFrame
    """id of each row, and what the reader takes"""
    reader: Reader
    count: int
    """Texts."""
    features: int
    """Of all of them together."""
    recipe: Recipe


def with_similarities(pairs: DataFrame, count: int, originals: Originals) -> DataFrame:
    """So many pairs, a and b, with the exact similarity of each, and distance if they have one.

    Lazily; a row that is no longer there then raises InputError.
    """
    if count == 0:
        return pairs.withColumn("similarity", F.lit(None).cast("double"))
    columns = [name for name in pairs.columns if name in {"a", "b", "distance"}]
    parts = F.lit(_parts(count, originals))
    a, b = F.pmod("a", parts), F.pmod("b", parts)
    high, low = F.greatest(a, b), F.least(a, b)
    cell = (high * (high + 1) / 2).cast("long") + low
    placed = pairs.select(cell.alias("cell"), *columns)
    needed = placed.select("cell", F.explode(F.array("a", "b")).alias("number")).distinct()
    brought = needed.join(originals.ids, "number").join(originals.rows, "id").drop("id")
    both = placed.unionByName(brought.withColumnRenamed("number", "a"), allowMissingColumns=True)
    together = both.repartition("cell").sortWithinPartitions("cell")
    schema = pairs.select(*columns).schema.add("similarity", "double")
    return together.mapInArrow(_deciding(originals.reader, originals.recipe, columns), schema)


def _parts(pairs: int, originals: Originals) -> int:
    """In how many parts texts are cut, so that those of two parts fit in memory."""
    involved = min(1.0, 2 * pairs / max(originals.count, 1))
    for_memory = -(-2 * int(originals.features * involved) // FEATURES_AT_ONCE)
    slots = originals.ids.sparkSession.sparkContext.defaultParallelism
    return max(for_memory, parts_for(pairs // PAIRS_WORTH, slots))


def _deciding(reader: Reader, recipe: Recipe, columns: list[str]) -> Task:
    def deciding(batches: Batches) -> Batches:
        characters = 0
        for _, table in runs(batches, "cell"):
            is_text = table.column("text_digest").is_valid()
            pairs, given = table.filter(pc.invert(is_text)), table.filter(is_text)
            texts = [text or "" for text in reader.texts(given)]
            characters += sum(map(len, texts))
            load_kernels_if_worth(characters=characters)
            i, j = _places(pairs, given, texts)
            similarity = pa.array(exact_similarities(texts, i, j, recipe))
            decided = pairs.select(columns).append_column("similarity", similarity)
            yield from decided.to_batches()

    return deciding


def _places(pairs: pa.Table, given: pa.Table, texts: list[str]) -> tuple[Indices, Indices]:
    """Where the two texts of each pair are among those given. Raises InputError if not there."""
    a, b, numbered = (
        numbers(column.combine_chunks())
        for column in (pairs.column("a"), pairs.column("b"), given.column("a"))
    )
    digests = b"".join(given.column("text_digest").to_pylist())
    is_gone = len(np.setdiff1d(np.append(a, b), numbered)) > 0
    if is_gone or text_digests(texts).tobytes() != digests:
        raise InputError("rows changed while they were compared")
    order = np.argsort(numbered)
    ordered = numbered[order]
    return order[np.searchsorted(ordered, a)], order[np.searchsorted(ordered, b)]
