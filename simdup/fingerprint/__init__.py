"""Text in, fingerprint rows out.

Read `tokens` first, then `features` (the votes and their weights), then `simhash`,
which adds up the votes. `sketch` takes a sample of the features, and collects fingerprints and
samples of many texts.
"""
