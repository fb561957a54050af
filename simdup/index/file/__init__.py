"""The file of an index: one SQLite database, changed a batch at a time.

Read `connection` first, then `metadata` (how it was made), `snapshot` (reading and
checking) and `write` (changing).
"""
