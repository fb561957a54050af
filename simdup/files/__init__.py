"""Folders in, groups of files out: what `simdup scan` and `simdup compare` do.

Read `scan` first: it has a line for each stage. `walk` finds the files, `workers` and
`fingerprint` read them, and `group_files` makes the groups. Only `read` opens documents.
"""
