"""Benchmarks as modules, for tests of what these measure."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

BENCH = Path(__file__).parent / "bench"


def bench(name):
    """The benchmark of this name; what it imports lies beside it."""
    path = BENCH / f"{name}.py"
    specification = importlib.util.spec_from_file_location(f"bench_{name}", path)
    module = sys.modules[specification.name] = importlib.util.module_from_spec(specification)
    sys.path.insert(0, str(BENCH))
    try:
        specification.loader.exec_module(module)
    finally:
        sys.path.remove(str(BENCH))
    return module
