"""Fingerprint rows in, groups of texts out: SimHash proposes, the exact similarity decides.

Read `match` first: it runs the rounds. `candidates` says how far to look, `verify` computes
exact similarities, `groups` makes stars or components. `distinct_texts` collapses equal
texts, and `exclusions` holds the pairs that a user marked as not duplicates.
"""
