"""Fingerprint rows in, groups of texts out: SimHash proposes, similarity and own share decide.

Read `division` first: which steps need all texts, and which ones only a part, so that Spark can run
them anywhere. Then `engine`, which has five parts:

- `candidate_search` proposes pairs of texts; `candidates` says how far it searches, and
  `postings` finds pairs whose sketches share enough.
- `similarities` computes exact similarities with `verify`, also of the sample by which `recall`
  measures how many near-duplicates are found.
- `siblings` sets texts of one pattern aside by their `own_share`.
- `tiers` says which groups are near and which only related.
- `grouping` carries the representatives from round to round; `groups` makes stars or components.

`distinct_texts` collapses equal texts, `exclusions` holds the pairs that a user marked as not
duplicates, and `parts` finds texts that stand in larger ones.
"""
