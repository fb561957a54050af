"""Folders in, groups of files out: what `simdup scan` and `simdup compare` do.

Read `scan` first. It calls `walk`, `collect` (which asks the store and reads the rest through
`workers` and `fingerprint`), then `group_files`. `read` opens files, and nothing else does.
"""
