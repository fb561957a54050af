"""simdup on Spark: the recipe, kernels and groups of `simdup.scan`, for rows of a DataFrame.

    kept = simdup.spark.deduplicate(df, text="body", id="url")

`fingerprints` is lazy from end to end. The others count and checkpoint in between: fingerprints
are made, pairs found and components connected when they are called. Read the rooms in the
order of a run: texts, search (tiles, blocks), verify, linkage, match, frames.
"""

from simdup.errors import ExtraMissingError

try:
    from simdup.spark.dataframes import deduplicate, fingerprints, groups, pairs
except ModuleNotFoundError as missing:
    package = str(missing.name).partition(".")[0]
    raise ExtraMissingError(f"simdup.spark ({package} is missing)", "spark") from None

__all__ = ["deduplicate", "fingerprints", "groups", "pairs"]
