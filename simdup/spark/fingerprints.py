"""Rows in, their fingerprints out, made by the functions of the local engine."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812  (everybody's name for it)

from simdup.arrays import Digests
from simdup.compute.compiled import load_kernels_if_worth
from simdup.corpus.fingerprint import text_digests
from simdup.corpus.flaws import Fault
from simdup.errors import InputError
from simdup.fingerprint.simhash import are_degenerate, fingerprint_texts
from simdup.fingerprint.sketch import LEVELS
from simdup.recipe import Recipe
from simdup.spark.arrow import Batches, Task, binary, sketch_column
from simdup.spark.readers import Reader

#: The reason of a row without an id; other reasons are values of `Fault`.
NO_ID = "no id"

# The columns that fingerprinting adds to a row.
COLUMNS = {
    "fingerprint": "binary",
    "features": "long",
    "digest": "binary",
    "text_digest": "binary",
    "length": "long",
    "reason": "string",
}

#: The column of sketches, as `fingerprint.sketch.Sketches.each` gives them.
SKETCH = {"sketch": "binary"}


@dataclass(frozen=True, slots=True)
class TextFrame:
    """Rows to compare, and how to find their texts."""

    frame: DataFrame
    """Has `id`, the inputs of the reader, and the carried columns."""
    reader: Reader
    carried: tuple[str, ...] = ()
    """Columns that a row keeps when it gets its fingerprint."""


def column(name: str) -> Column:
    """The column with exactly this name, whatever characters are in it."""
    return F.col("`" + name.replace("`", "``") + "`")


def fingerprinted(
    source: TextFrame, recipe: Recipe, bits: int, *, is_sketched: bool = False
) -> DataFrame:
    """Each row: id, the carried columns, COLUMNS, and the extras of the reader; lazily.

    `digest` identifies the features; the length is in characters. `reason` says why a row has no
    fingerprint (for example because its first `bits` bits are all equal), and is null if it has
    one. Rows have SKETCH too if `is_sketched`.
    """
    reader, kept = source.reader, ("id", *source.carried)
    schema = source.frame.select(*kept).schema
    made = COLUMNS | SKETCH if is_sketched else COLUMNS
    for name, kind in (made | reader.extras).items():
        schema = schema.add(name, kind)
    chosen = source.frame.select(*dict.fromkeys((*kept, *reader.inputs)))
    task = _fingerprinting(reader, kept, recipe, bits, is_sketched=is_sketched)
    return chosen.mapInArrow(task, schema)


def _fingerprinting(
    reader: Reader, kept: tuple[str, ...], recipe: Recipe, bits: int, *, is_sketched: bool
) -> Task:
    """Fingerprint rows. Raises InputError in a worker for which the recipe has another key."""
    key = recipe.key()

    def fingerprinting(batches: Batches) -> Batches:
        if recipe.key() != key:  # another version of Unicode's tables or of jieba, say
            raise InputError(f"a worker makes other fingerprints: {recipe.key()}, not {key}")
        characters = 0
        for each in batches:
            texts, extras = reader.read(each)
            characters += sum(len(text) for text in texts if text is not None)
            load_kernels_if_worth(characters=characters)
            made = _columns(each.column("id"), texts, recipe, bits, is_sketched=is_sketched)
            taken = {name: each.column(name) for name in kept}
            yield pa.RecordBatch.from_pydict(taken | made | extras)

    return fingerprinting


def _columns(
    ids: pa.Array, texts: list[str | None], recipe: Recipe, bits: int, *, is_sketched: bool
) -> dict[str, pa.Array]:
    """COLUMNS, and SKETCH if asked, for the texts of a batch."""
    there = [text or "" for text in texts]
    made = fingerprint_texts(there, recipe, LEVELS if is_sketched else None)
    reasons = np.full(len(texts), None, object)
    # If there are several reasons, the last one is given.
    reasons[are_degenerate(made.rows, bits)] = Fault.DEGENERATE.value
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
        **({} if made.sketches is None else {"sketch": sketch_column(made.sketches)}),
    }


def _digests(digests: Digests) -> pa.Array:
    """Digests of two words each as a binary column."""
    return binary(np.ascontiguousarray(digests).view(np.uint8).reshape(-1, 16))
