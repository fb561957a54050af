"""simdup on Spark: DataFrames in, the groups that the local engine finds out.

    kept = simdup.spark.deduplicate(df, text="body", id="url")

`fingerprints` is lazy. The other functions make the fingerprints and find the groups when they are
called. Read the modules in the order of a run: dataframes, texts, search, parts; then, for
`simdup corpus scan --engine spark`, corpus, files.
"""

from simdup.errors import ExtraMissingError

try:
    from simdup.spark.dataframes import deduplicate, fingerprints, groups
except ModuleNotFoundError as missing:
    package = str(missing.name).partition(".")[0]
    raise ExtraMissingError(f"simdup.spark ({package} is missing)", "spark") from None

__all__ = ["deduplicate", "fingerprints", "groups"]
