"""Which modules `make mutants` changes, and the tests of each that must notice."""

from __future__ import annotations

MODULES = {
    "simdup/fingerprint/tokens.py": [
        "tests/fingerprint/test_tokens.py",
        "tests/fingerprint/test_features.py",
    ],
    "simdup/match/groups.py": ["tests/match/test_groups.py"],
    "simdup/match/verify.py": ["tests/match/test_verify.py"],
    "simdup/match/candidates.py": ["tests/match/test_candidates.py"],
    "simdup/match/match.py": ["tests/match/test_match.py"],
    "simdup/match/postings.py": ["tests/match/test_postings.py"],
    "simdup/match/rounds.py": ["tests/match/test_match.py"],
    "simdup/match/exclusions.py": ["tests/match/test_exclusions.py"],
    "simdup/search/pairs.py": ["tests/search/test_pairs.py"],
    "simdup/text/encodings.py": ["tests/text/test_encodings.py"],
    "simdup/corpus/rewrite.py": ["tests/corpus/test_scan.py"],
    "simdup/storage/store.py": ["tests/storage/test_store.py"],
    "simdup/storage/cached.py": ["tests/storage/test_store.py"],
}
