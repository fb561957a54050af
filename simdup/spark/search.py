"""Texts with fingerprints in, pairs of near ones out: the distributed `simdup.search.pairs`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from pyspark.sql import functions as F  # noqa: N812

from simdup.match.candidates import SIEVE_BITS
from simdup.search.distinct import DistinctRows
from simdup.spark.arrow import PAIRS, emitted, lists_of, rows_of
from simdup.spark.blocks import MOST_CANDIDATES, candidates_of, joined_pairs, keyed, layout_for
from simdup.spark.distinct_texts import checkpointed
from simdup.spark.tiles import chunks_for, tiled_pairs

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from simdup.search.pairs import Reach
    from simdup.spark.arrow import Batches

# With fewer rows, comparing all with all takes less time than shuffling a join.
ROWS_WORTH_JOIN = 200_000


def near_pairs(texts: DataFrame, reach: Reach) -> DataFrame:
    """Every pair of texts within reach, each once, lazily: PAIRS.

    `texts` has the number and fingerprint of each text.
    """
    members = F.sort_array(F.collect_list("number")).alias("members")
    distinct = checkpointed(texts.groupBy("fingerprint").agg(members), "distinct fingerprints")
    repeated = distinct.where(F.size("members") > 1)
    copies = repeated.select("fingerprint", "members").mapInArrow(_copies, PAIRS)
    n = distinct.count()
    layout = layout_for(n, reach.bits, reach.k) if n >= ROWS_WORTH_JOIN else None
    if layout is not None:
        keys = keyed(distinct, reach, layout)
        candidates, most = candidates_of(keys)
        if 2 * candidates < MOST_CANDIDATES * n:
            return copies.unionAll(joined_pairs(keys, reach, layout, most))
    width = (reach.bits if reach.sieve is None else max(reach.bits, SIEVE_BITS)) // 8
    slots = texts.sparkSession.sparkContext.defaultParallelism
    return copies.unionAll(tiled_pairs(distinct, reach, chunks_for(n, width, slots)))


def _copies(batches: Batches) -> Batches:
    """Yield the pairs of texts with the same fingerprint."""
    for each in batches:
        members, offsets = lists_of(each.column("members"))
        distinct = DistinctRows(rows_of(each.column("fingerprint")), members, offsets)
        own = np.arange(len(each))
        yield from emitted(distinct, [np.column_stack((own, own, 0 * own))])
