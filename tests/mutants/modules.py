"""Which modules `make mutants` changes, the tests that must notice, and what these may not."""

from __future__ import annotations

from pathlib import Path

ACCEPTED = Path(__file__).with_name("accepted.txt")

MODULES = {
    "simdup/fingerprint/tokens.py": [
        "tests/fingerprint/test_tokens.py",
        "tests/fingerprint/test_features.py",
    ],
    "simdup/match/groups.py": ["tests/match/test_groups.py"],
    "simdup/match/verify.py": ["tests/match/test_verify.py"],
    "simdup/match/parts.py": ["tests/match/test_parts.py"],
    "simdup/match/own_share.py": ["tests/match/test_own_share.py"],
    "simdup/match/candidates.py": ["tests/match/test_candidates.py"],
    "simdup/match/engine.py": [
        "tests/match/test_match.py",
        "tests/match/test_own_share.py",
        "tests/match/test_recall.py",
    ],
    "simdup/match/candidate_search.py": [
        "tests/match/test_match.py",
        "tests/match/test_postings.py",
    ],
    "simdup/match/siblings.py": ["tests/match/test_match.py", "tests/match/test_own_share.py"],
    "simdup/match/grouping.py": ["tests/match/test_match.py"],
    "simdup/match/postings.py": ["tests/match/test_postings.py"],
    "simdup/match/division.py": ["tests/match/test_division.py", "tests/match/test_rounds.py"],
    "simdup/match/exclusions.py": ["tests/match/test_exclusions.py"],
    "simdup/search/pairs.py": ["tests/search/test_pairs.py"],
    "simdup/storage/kept_result.py": ["tests/storage/test_kept_result.py"],
    "simdup/text/encodings.py": ["tests/text/test_encodings.py"],
    "simdup/corpus/rewrite.py": ["tests/corpus/test_scan.py"],
    "simdup/storage/store.py": ["tests/storage/test_store.py"],
    "simdup/storage/cached.py": ["tests/storage/test_store.py"],
    "simdup/storage/outcomes.py": ["tests/storage/test_store.py"],
    "simdup/clean/rules.py": ["tests/clean/test_rules.py", "tests/clean/test_planning.py"],
    "simdup/clean/protection.py": ["tests/clean/test_planning.py", "tests/clean/test_apply.py"],
    "simdup/clean/decide.py": ["tests/clean/test_decide.py", "tests/clean/test_planning.py"],
    "simdup/clean/terms.py": ["tests/clean/test_terms.py", "tests/clean/test_planning.py"],
    "simdup/findings/exports.py": ["tests/findings/test_exports.py"],
    "simdup/clean/checks.py": [
        "tests/clean/test_checks.py",
        "tests/clean/test_apply.py",
        "tests/clean/test_planning.py",
        "tests/clean/test_peers.py",
    ],
    "simdup/clean/acting.py": [
        "tests/clean/test_acting.py",
        "tests/clean/test_checks.py",
        "tests/clean/test_apply.py",
        "tests/clean/test_system_bin.py",
        "tests/clean/test_peers.py",
        "tests/clean/test_injected.py",
        "tests/clean/test_adversary.py",
    ],
}


def accepted() -> dict[str, str]:
    """Mutants that no test can notice, and why: the indented lines below one or several."""
    reasons, waiting, last = {}, [], ""
    for line in ACCEPTED.read_text("utf-8").splitlines():
        if line.startswith("    "):
            last = f"{last} {line.strip()}".lstrip()
            reasons |= dict.fromkeys(waiting, last)
        elif line and not line.startswith("#"):
            waiting = [line] if last else [*waiting, line]
            last = ""
    return reasons
