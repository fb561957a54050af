"""A collection that is kept in a file and can be queried for texts like a given one.

Read `index` first, the class that programs use, then `query` (answers), `parts` (which larger
text a page is from), `ingest` (documents in), `roots` (where they come from), `segments` (search in
memory) and `samples` (the inverted list for parts). `file/` is the file.
"""
