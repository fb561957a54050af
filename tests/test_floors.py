"""Imports inside simdup go down the floors: never up, never sideways."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import simdup

FLOORS = [
    {
        "errors",
        "memory",
        "opening",
        "installed",
        "progress",
        "given",
        "unicode",
        "hashing",
        "hamming",
    }
    | {"east_asian"},
    {"recipe", "gitignore", "home", "metrics", "kernels", "fast", "database", "distinct"}
    | {"buckets", "apart"},
    {"settings", "pool"},
    {"records", "measured"},
    {"corpora"},
    {"walk", "decode", "words", "pieces", "search", "groups", "candidates", "report", "ignored"}
    | {"store", "entries"},
    {"tokens", "extract", "saved", "shelf", "segments", "sieved", "rows"},
    {"read"},
    {"features", "labels", "catalogue"},
    {"simhash", "verify", "places"},
    {"fingerprint", "texts"},
    {"local", "match"},
    {"collect", "compare", "documents", "gather", "questions", "corpus"},
    {"scan", "answer"},
    {"evaluate", "index"},
    {"library", "spark"},
    {"cli"},
]
PACKAGES = {"report", "cli", "extract", "catalogue", "rows", "corpus", "spark"}
FLOOR = {name: level for level, names in enumerate(FLOORS) for name in names}
ROOT = Path(simdup.__file__).parent
FILES = [path for path in ROOT.rglob("*.py") if path.parent != ROOT or path.stem[:2] != "__"]


def room(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_imports_only_lower_floors(path):
    here, source = room(path), path.read_text("utf-8")

    assert not re.search(r"^\s*(import simdup|from simdup import|from \.)", source, re.MULTILINE)
    for there in re.findall(r"^\s*from simdup\.(\w+)", source, re.MULTILINE):
        assert FLOOR[there] < FLOOR[here] or (there == here and here in PACKAGES)


def test_every_room_has_its_floor():
    assert {room(path) for path in FILES} == set(FLOOR)
