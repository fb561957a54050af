"""Rows of files in, groups of rows out: what `simdup corpus scan` does.

Read `records` first, then `scan`. `formats/` reads JSON Lines, CSV and Parquet; `fingerprint`
and `groups` call the same engine as a scan of files; `rewrite` writes the rows that stay.
"""
