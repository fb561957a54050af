"""Groups of files in, what they mean out: versions, copied folders, identical sets, machine files.

Read `identical` first, which numbers the sets of equal files in a result. `versions` finds the
groups that are chains of versions, `folders` the folders that are copies of others, and `noise`
the files that are alike by nature, such as lock files. Nothing here opens a file.
"""
