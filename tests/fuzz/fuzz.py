"""Look for bytes that break a target: coverage-guided, by atheris.

    python tests/fuzz/fuzz.py TARGET [-max_total_time=60] [FOLDER...]

Options and folders are libFuzzer's: the first folder collects inputs that reach new code, others
are read. What breaks a target is left in the current folder as crash-...; put it into
tests/fuzz/corpus, where the tests take it up.
"""

from __future__ import annotations

import sys
from pathlib import Path

import atheris

sys.path.insert(0, str(Path(__file__).parents[1]))  # tests import makers, and each other

with atheris.instrument_imports(include=["simdup"]):
    from targets import TARGETS

if __name__ == "__main__":
    name = sys.argv.pop(1)
    atheris.Setup(sys.argv, TARGETS[name])
    atheris.Fuzz()
