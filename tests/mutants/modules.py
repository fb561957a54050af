"""Which modules `make mutants` changes, and the tests of each that must notice."""

from __future__ import annotations

MODULES = {
    "simdup/tokens.py": ["tests/test_tokens.py", "tests/test_features.py"],
    "simdup/groups.py": ["tests/test_groups.py"],
    "simdup/verify.py": ["tests/test_verify.py"],
    "simdup/candidates.py": ["tests/test_candidates.py"],
    "simdup/match.py": ["tests/test_match.py"],
    "simdup/search.py": ["tests/test_search.py"],
    "simdup/decode.py": ["tests/test_decode.py"],
    "simdup/corpus/keep.py": ["tests/test_corpus.py"],
    "simdup/store.py": ["tests/test_store.py"],
    "simdup/shelf.py": ["tests/test_store.py"],
}
