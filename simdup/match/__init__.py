"""Fingerprint rows in, groups of texts out: SimHash proposes, the exact similarity decides.

Read `match` first, then `rounds`, which it shares with Spark. `candidates` says how far to
search, `verify` computes exact similarities, and `groups` makes stars or components.
`distinct_texts` collapses equal texts, and `exclusions` holds the pairs that a user marked as
not duplicates.
"""
