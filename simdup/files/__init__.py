"""Folders in, groups of files out: what `simdup scan` and `simdup compare` do.

Read `scan` first. It calls `walk`, asks the store what it knows, reads the other files through
`workers` and `fingerprint`, and calls `group_files`. Only `read` opens documents.
`versions` finds the groups that are chains of versions. `unchanged` gives the result of the
last scan again if every file is as it was.
"""
