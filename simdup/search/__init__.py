"""Fingerprint rows in, pairs within k bits out.

Read `hamming` first (distances), then `pairs`, which finds every pair within k bits, and can
drop pairs near by chance. `distinct` collapses equal rows.
"""
