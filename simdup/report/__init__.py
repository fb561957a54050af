"""Results in, reports out: one module a format.

Text for people, JSON (whole, or a line a group) and CSV for programs, and the list of
file names that fdupes prints. Nothing here reads a file or prints.
"""
