"""Fingerprint rows in, groups of texts out: SimHash proposes, similarity and own share decide.

Read `match` first, then `rounds`, which it shares with Spark. `candidates` says how far to
search, `verify` computes exact similarities, `own_share` sets texts of one pattern aside, and
`groups` makes stars or components. `recall` measures on a sample how many near-duplicates are
found. `distinct_texts` collapses equal texts, and `exclusions` holds the pairs that a user marked
as not duplicates. `results` keeps what was found for the next scan of the same texts.
"""
