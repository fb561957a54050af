"""The findings of earlier scans, kept in one SQLite file.

Read `sqlite` first (opening, locking, damage), then `status` (whether a file is as it was),
`outcomes` (what is known of files, as bytes), `store` (the file) and `cached` (how a scan uses it).
`kept_result` keeps the whole result of a scan, and `shown_groups` the groups that a user may name
by their numbers.
"""
