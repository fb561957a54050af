"""Turns labelled pairs into accuracy by fingerprint size.

Read `labels` first (tables of labelled pairs), then `evaluate`, which does the work. `metrics`
has the records that come back, and the formulas.
"""
