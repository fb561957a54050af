"""What makes two fingerprints near, and the pairs of texts that near fingerprints stand for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from simdup.search.pairs import expanded

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from simdup.search.distinct import DistinctRows
    from simdup.search.hamming import Rows
    from simdup.spark.arrow import Batches

    Pairs = NDArray[np.int64]

#: Of every frame of pairs of texts: their numbers, the lower one first, and bits.
PAIRS = "a long, b long, distance long"


@dataclass(frozen=True, slots=True)
class Near:
    """Which pairs of fingerprints a search is to find."""

    bits: int
    k: int
    """At most so many of the first `bits` bits differ."""
    sieve: int | None
    """And at most so many of all bits; None where there are no more."""

    def compared(self, rows: Rows) -> Rows:
        """The bits of rows that `k` is about."""
        return np.ascontiguousarray(rows[:, : self.bits // 8])


def emitted(distinct: DistinctRows, pairs: Iterable[Pairs]) -> Batches:
    """The pairs of texts that pairs (i, j, distance) of distinct rows stand for: PAIRS."""
    for each in pairs:
        for part in expanded(distinct, each):
            a, b, distance = np.ascontiguousarray(part.T)
            yield pa.RecordBatch.from_pydict({"a": a, "b": b, "distance": distance})
