"""Labelled pairs in, accuracy by fingerprint size out.

Read `labels` first (the table of pairs), then `evaluate`. `metrics` holds the formulas, and
`results` what comes back.
"""
