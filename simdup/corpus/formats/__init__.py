"""Files in, chunks of rows out: JSON Lines, CSV, TSV and Parquet, plain or packed.

Read `table` first (what all formats have in common), then `open` (which format a file has), then
the formats. `streams` unpacks files and cuts them into lines.
"""
