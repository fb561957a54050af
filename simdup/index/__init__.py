"""A collection that is kept in a file and asked for texts like a given one.

Read `index` first, the class that programs use, then `query` (answers), `ingest` (documents
in), `roots` (where they come from) and `segments` (search in memory). `file/` is the file.
"""
