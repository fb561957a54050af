"""Text in, fingerprint rows out.

Read `tokens` first, then `features` (what votes, and with which weight), then `simhash`,
which adds up the votes. `sketch` takes a sample of the features.
"""
