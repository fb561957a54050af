"""Fingerprint rows in, pairs within k bits out.

Read `hamming` first (distances), then `pairs`, which finds every pair within k bits, by
comparing all with all or by `multi_index`. `distinct` collapses equal rows, and `prefilter`
drops pairs that are near by chance.
"""
