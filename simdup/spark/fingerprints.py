"""Rows in, their fingerprints out: Arrow batches into the very functions of the local engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import functions as F  # noqa: N812  (everybody's name for it)

from simdup.compute.compiled import load_kernels_if_worth
from simdup.corpus.fingerprint import text_digests
from simdup.corpus.records import Fault
from simdup.errors import InputError
from simdup.fingerprint.simhash import are_degenerate, fingerprint_texts
from simdup.spark.arrow import binary

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pyspark.sql import Column, DataFrame

    from simdup.recipe import Recipe
    from simdup.spark.arrow import Batches, Task
    from simdup.spark.readers import Reader

#: Why a row is not compared that has all else; the other reasons are values of `Fault`.
NO_ID = "no id"

# What is found out about a row.
COLUMNS = {
    "fingerprint": "binary",
    "features": "long",
    "digest": "binary",
    "text_digest": "binary",
    "length": "long",
    "reason": "string",
}


@dataclass(frozen=True, slots=True)
class TextFrame:
    """Rows that are to be compared."""

    frame: DataFrame
    """Has `id`, what the reader takes, and what is carried."""
    reader: Reader
    carried: tuple[str, ...] = ()
    """Columns that are to be there when a row has its fingerprint, too."""


def column(name: str) -> Column:
    """The column of this very name, whatever stands in it."""
    return F.col(quoted(name))


def quoted(name: str) -> str:
    """A name as Spark takes it for that of a column, whatever stands in it."""
    return "`" + name.replace("`", "``") + "`"


def fingerprinted(source: TextFrame, recipe: Recipe, bits: int) -> DataFrame:
    """For each row id, fingerprint, features and their digest, text_digest, length, lazily.

    And `reason`, which says why a row has no fingerprint and is null where there is one; all
    of the first `bits` bits equal, for example. The length is in characters. Then what the
    reader makes and what is carried.
    """
    reader, kept = source.reader, ("id", *source.carried)
    schema = source.frame.select(*kept).schema
    for name, kind in (COLUMNS | reader.extras).items():
        schema = schema.add(name, kind)
    chosen = source.frame.select(*dict.fromkeys((*kept, *reader.inputs)))
    return chosen.mapInArrow(_printing(reader, kept, recipe, recipe.key(), bits), schema)


def _printing(reader: Reader, kept: tuple[str, ...], recipe: Recipe, key: str, bits: int) -> Task:
    def printing(batches: Batches) -> Batches:
        if recipe.key() != key:  # another version of Unicode's tables or of jieba, say
            raise InputError(f"a worker makes other fingerprints: {recipe.key()}, not {key}")
        characters = 0
        for each in batches:
            texts, extras = reader.read(each)
            characters += sum(len(text) for text in texts if text is not None)
            load_kernels_if_worth(characters=characters)
            made = _made(each.column("id"), texts, recipe, bits)
            taken = {name: each.column(name) for name in kept}
            yield pa.RecordBatch.from_pydict(taken | made | extras)

    return printing


def _made(ids: pa.Array, texts: list[str | None], recipe: Recipe, bits: int) -> dict[str, pa.Array]:
    there = [text or "" for text in texts]
    made = fingerprint_texts(there, recipe)
    reasons = np.full(len(texts), None, object)
    reasons[are_degenerate(made.rows, bits)] = Fault.DEGENERATE.value
    # What is said last holds.
    reasons[made.counts == 0] = Fault.EMPTY.value
    reasons[ids.is_null().to_numpy(zero_copy_only=False)] = NO_ID
    reason, nothing = pa.array(reasons, pa.string()), pa.scalar(None, pa.binary())
    return {
        "fingerprint": pc.if_else(reason.is_null(), binary(made.rows), nothing),
        "features": pa.array(made.counts),
        "digest": pc.if_else(reason.is_null(), _digests(made.digests), nothing),
        "text_digest": _digests(text_digests(there)),
        "length": pa.array(list(map(len, there)), pa.int64()),
        "reason": reason,
    }


def _digests(digests: NDArray[np.uint64]) -> pa.Array:
    return binary(np.ascontiguousarray(digests).view(np.uint8).reshape(-1, 16))
