"""Rows of files in, groups of rows out: what `simdup corpus scan` does.

Read `records` first, then `scan`. `formats/` reads JSON Lines, CSV, TSV and Parquet;
`fingerprint` and `reread` read rows for the first and the second time; `rewrite` chooses the rows
to drop and writes the others.
"""
