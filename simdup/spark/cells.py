"""Pairs of texts in, cells out: each has some of the pairs, and once each text that they need.

Texts are cut into parts by their number, and a cell has the pairs of two parts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from simdup.arrays import Indices
from simdup.errors import InputError
from simdup.match.verify import FEATURES_AT_ONCE
from simdup.spark.arrow import Batches, numbers, runs
from simdup.spark.distinct_texts import NumberedTexts
from simdup.spark.search import cell_of, parts_for

# The number of pairs worth a task of their own.
PAIRS_WORTH = 10_000

#: The message of the error for a row that no longer has its text.
CHANGED = "rows changed while they were compared"


@dataclass(frozen=True, slots=True)
class Cells:
    """Pairs in cells, and which texts these need."""

    pairs: DataFrame
    """The pairs, with their `cell`."""
    needed: DataFrame
    """cell and number: each text once for every cell that needs it."""

    def with_texts(self, texts: DataFrame) -> DataFrame:
        """Pairs and `texts`, which are `needed` with more columns, in one frame for `cells_of`."""
        given = texts.withColumnRenamed("number", "a")
        both = self.pairs.unionByName(given, allowMissingColumns=True)
        return both.repartition("cell").sortWithinPartitions("cell")


def in_cells(pairs: DataFrame, count: int, texts: NumberedTexts, size: int) -> Cells:
    """Put `count` pairs (a, b) into cells; all texts have `size` features or sketch values."""
    parts = F.lit(_parts(count, texts, size))
    cell = cell_of(F.pmod("a", parts), F.pmod("b", parts))
    placed = pairs.select(cell.alias("cell"), *pairs.columns)
    needed = placed.select("cell", F.explode(F.array("a", "b")).alias("number")).distinct()
    return Cells(placed, needed)


def _parts(pairs: int, texts: NumberedTexts, size: int) -> int:
    """The number of parts into which texts are cut, so that two parts fit in memory."""
    involved = min(1.0, 2 * pairs / max(texts.count, 1))
    for_memory = -(-2 * int(size * involved) // FEATURES_AT_ONCE)
    slots = texts.frame.sparkSession.sparkContext.defaultParallelism
    return max(for_memory, parts_for(pairs // PAIRS_WORTH, slots))


def cells_of(batches: Batches) -> Iterator[tuple[pa.Table, pa.Table, Indices]]:
    """Yield for each cell its pairs, its texts, and the two indices of each pair in these; (m, 2).

    Raises InputError if a text is not there.
    """
    for _, table in runs(batches, "cell"):
        is_text = pc.is_null(table["b"])
        pairs, texts = table.filter(pc.invert(is_text)), table.filter(is_text)
        number = numbers(texts["a"])
        asked = np.column_stack([numbers(pairs[side]) for side in ("a", "b")])
        if len(np.setdiff1d(asked, number)):
            raise InputError(CHANGED)
        order = np.argsort(number)
        yield pairs, texts, order[np.searchsorted(number, asked, sorter=order)]
