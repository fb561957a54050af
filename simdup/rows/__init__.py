"""Files of rows in, texts out: JSON Lines, CSV and Parquet, one module a format.

A file is read in streams, as often as needed, and never written. A row that cannot be
used becomes a `Flaw` with its place.
"""
