"""What earlier scans found out, kept in one SQLite file.

Read `sqlite` first (opening, locking, damage), then `codec` (an entry as bytes), `store`
(the file) and `cached` (what a scan asks of it).
"""
