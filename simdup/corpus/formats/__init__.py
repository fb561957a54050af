"""Files in, chunks of rows out: JSON Lines, CSV and Parquet, plain or packed.

Read `base` first (what a chunk is), then `open` (which format a file has), then the formats.
`streams` unpacks and splits lines.
"""
