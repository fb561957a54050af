"""Rows of files in, groups of them out, or the rows that stay: `scan` for corpora.

Fingerprints stay in memory, texts do not: those of candidates are read again.
"""
