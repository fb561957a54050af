"""What fuzzing found, and its seeds: every input in tests/fuzz/corpus holds for every target."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

CORPUS = Path(__file__).parent / "fuzz" / "corpus"

sys.path.insert(0, str(CORPUS.parent))
from targets import TARGETS  # noqa: E402  (no package: fuzz.py imports it the same way)

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("target", TARGETS.values(), ids=list(TARGETS))
@pytest.mark.parametrize("path", sorted(CORPUS.iterdir()), ids=lambda path: path.name)
def test_an_input_of_the_corpus_holds(target, path):
    target(path.read_bytes())


@pytest.mark.parametrize("name", ["decoding", "fingerprinting", "naming", "indexing", "cleaning"])
def test_any_bytes_hold(name):
    @settings(max_examples=100)
    @given(st.binary(max_size=300))
    def holds(data):
        TARGETS[name](data)

    holds()
