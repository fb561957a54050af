"""Pairs of texts in, their exact similarities out, by joining the texts to the pairs.

Texts are cut into parts by their number, and pairs are put into cells of two parts. A cell gets
each text that one of its pairs needs once, and `simdup.match.verify` computes the cosines.
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
from simdup.spark.search import cell_of, parts_for

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pyspark.sql import DataFrame

    from simdup.recipe import Recipe
    from simdup.spark.arrow import Batches, Task
    from simdup.spark.distinct_texts import NumberedTexts
    from simdup.spark.fingerprints import TextFrame
    from simdup.spark.readers import Reader

    Indices = NDArray[np.int64]

# Pairs that are worth a task.
PAIRS_WORTH = 10_000


@dataclass(frozen=True, slots=True)
class Originals:
    """What is needed to read texts again and compute their features."""

    texts: NumberedTexts
    source: TextFrame
    recipe: Recipe


def with_similarities(pairs: DataFrame, count: int, originals: Originals) -> DataFrame:
    """`count` pairs of texts, a and b, with their exact similarities; a distance is kept.

    Lazily. When it runs, a row that no longer has its text raises InputError.
    """
    if count == 0:
        return pairs.withColumn("similarity", F.lit(None).cast("double"))
    texts, source = originals.texts, originals.source
    columns = [name for name in pairs.columns if name in {"a", "b", "distance"}]
    parts = F.lit(_parts(count, texts))
    cell = cell_of(F.pmod("a", parts), F.pmod("b", parts))
    placed = pairs.select(cell.alias("cell"), *columns)
    needed = placed.select("cell", F.explode(F.array("a", "b")).alias("number")).distinct()
    ids = texts.frame.select("number", "id", "text_digest")
    rows = source.frame.select("id", *source.reader.inputs)
    brought = needed.join(ids, "number").join(rows, "id").drop("id")
    both = placed.unionByName(brought.withColumnRenamed("number", "a"), allowMissingColumns=True)
    together = both.repartition("cell").sortWithinPartitions("cell")
    schema = pairs.select(*columns).schema.add("similarity", "double")
    return together.mapInArrow(_computing(source.reader, originals.recipe, columns), schema)


def _parts(pairs: int, texts: NumberedTexts) -> int:
    """The number of parts into which texts are cut, so that two parts fit in memory."""
    involved = min(1.0, 2 * pairs / max(texts.count, 1))
    for_memory = -(-2 * int(texts.features * involved) // FEATURES_AT_ONCE)
    slots = texts.frame.sparkSession.sparkContext.defaultParallelism
    return max(for_memory, parts_for(pairs // PAIRS_WORTH, slots))


def _computing(reader: Reader, recipe: Recipe, columns: list[str]) -> Task:
    """Compute the similarities of the pairs of each cell, from the texts that are in it too."""

    def computing(batches: Batches) -> Batches:
        characters = 0
        for _, table in runs(batches, "cell"):
            is_text = table.column("text_digest").is_valid()
            pairs, given = table.filter(pc.invert(is_text)), table.filter(is_text)
            texts = [text or "" for text in reader.read(given)[0]]
            characters += sum(map(len, texts))
            load_kernels_if_worth(characters=characters)
            i, j = _places(pairs, given, texts)
            similarity = pa.array(exact_similarities(texts, i, j, recipe))
            yield from pairs.select(columns).append_column("similarity", similarity).to_batches()

    return computing


def _places(pairs: pa.Table, given: pa.Table, texts: list[str]) -> tuple[Indices, Indices]:
    """The indices of the two texts of each pair. Raises InputError for a text that has changed."""
    a, b, number = map(numbers, (pairs["a"], pairs["b"], given["a"]))
    digests = b"".join(given.column("text_digest").to_pylist())
    is_gone = len(np.setdiff1d(np.append(a, b), number)) > 0
    if is_gone or text_digests(texts).tobytes() != digests:
        raise InputError("rows changed while they were compared")
    order = np.argsort(number)
    i, j = (order[np.searchsorted(number, each, sorter=order)] for each in (a, b))
    return i, j
