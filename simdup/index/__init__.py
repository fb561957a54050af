"""A collection that is kept in a file and can be queried for texts like a given one.

Read `index` first, the class that programs use, then `query` (answers), `parts` (larger texts in
which a query stands), `ingest` (documents in, and where they come from), `segments` (search in
fingerprints) and `samples` (the inverted list for parts). The file is one SQLite database:
`connection` opens it, `metadata` says how it was made, `entries` has a document as bytes, and
`contents` reads, checks and changes it.
"""
