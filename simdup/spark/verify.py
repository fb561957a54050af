"""Pairs of texts in, their exact similarities out, by joining the texts to the pairs.

Pairs are put into cells (see `simdup.spark.cells`) together with their texts, and
`simdup.match.verify` computes the cosines.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from simdup.compute.compiled import load_kernels_if_worth
from simdup.corpus.fingerprint import text_digests
from simdup.errors import InputError
from simdup.match.own_share import least_similarity
from simdup.match.verify import exact_similarities
from simdup.settings import Settings
from simdup.spark.arrow import Batches, Task, numbers
from simdup.spark.cells import CHANGED, cells_of, in_cells
from simdup.spark.distinct_texts import NumberedTexts
from simdup.spark.fingerprints import TextFrame
from simdup.spark.readers import Reader


@dataclass(frozen=True, slots=True)
class Originals:
    """The frames and settings with which texts are read again for their features."""

    texts: NumberedTexts
    source: TextFrame
    settings: Settings


def with_similarities(pairs: DataFrame, count: int, originals: Originals) -> DataFrame:
    """`count` pairs of texts, a and b, with their exact similarities; a distance is kept.

    `least` is the similarity from which the two texts may be near-duplicates. Nothing is computed
    yet. When Spark computes it, a row that no longer has its text raises InputError.
    """
    columns = [name for name in pairs.columns if name in {"a", "b", "distance"}]
    if count == 0:
        nothing = F.lit(None).cast("double")
        return pairs.select(*columns, nothing.alias("similarity"), nothing.alias("least"))
    texts, source = originals.texts, originals.source
    placed = in_cells(pairs.select(*columns), count, texts, texts.features)
    ids = texts.frame.select("number", "id", "text_digest", "features")
    rows = source.frame.select("id", *source.reader.inputs)
    together = placed.with_texts(placed.needed.join(ids, "number").join(rows, "id").drop("id"))
    schema = pairs.select(*columns).schema.add("similarity", "double").add("least", "double")
    return together.mapInArrow(_computing(source.reader, originals.settings, columns), schema)


def _computing(reader: Reader, settings: Settings, columns: list[str]) -> Task:
    """Compute the similarities of the pairs of each cell from the texts in the same cell."""

    def computing(batches: Batches) -> Batches:
        characters = 0
        for pairs, given, places in cells_of(batches):
            texts = [text or "" for text in reader.read(given)[0]]
            characters += sum(map(len, texts))
            load_kernels_if_worth(characters=characters)
            if text_digests(texts).tobytes() != b"".join(given["text_digest"].to_pylist()):
                raise InputError(CHANGED)
            similarity = exact_similarities(texts, places[:, 0], places[:, 1], settings.recipe)
            shorter = numbers(given["features"])[places].min(axis=1)
            least = least_similarity(settings.similarity, shorter)
            found = pairs.select(columns).append_column("similarity", pa.array(similarity))
            yield from found.append_column("least", pa.array(least)).to_batches()

    return computing
