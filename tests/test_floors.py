"""Imports inside simdup go down the floors: never up, and sideways only within a room."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import simdup

# The top of the package is floor 0; what stands there may use each other without a circle.
FLOORS = [
    {"errors", "interrupt", "progress", "versions", "recipe", "settings", "records", "theory"}
    | {"arguments", "arrays", "fields"},
    {"text"},
    {"compute", "extract"},
    {"fingerprint", "search", "storage"},
    {"match"},
    {"findings"},
    {"files", "corpus"},
    {"index", "evaluation", "clean"},
    {"report"},
    {"spark"},
    {"cli"},
]
FLOOR = {name: level for level, names in enumerate(FLOORS) for name in names}
ROOT = Path(simdup.__file__).parent
FILES = [path for path in ROOT.rglob("*.py") if path.parent != ROOT or path.stem[:2] != "__"]


def room(path):
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def module(path):
    return ".".join(("simdup", *path.relative_to(ROOT).with_suffix("").parts))


def imported(path):
    """The modules of simdup that a file imports, by their whole names."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("simdup"):
            names = {f"{node.module}.{each.name}" for each in node.names}
            found |= {name if name in MODULES else node.module for name in names}
        if isinstance(node, ast.Import):
            found |= {each.name for each in node.names if each.name.startswith("simdup")}
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
    return found


MODULES = {module(path): path for path in FILES}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_room_imports_only_lower_floors(path):
    here = room(path)

    for there in (name.split(".")[1] for name in imported(path) if name != "simdup"):
        assert there == here or FLOOR[there] < FLOOR[here] or FLOOR[there] == FLOOR[here] == 0


def test_no_module_imports_itself_in_a_circle():
    imports = {name: imported(path) & set(MODULES) for name, path in MODULES.items()}
    settled = set()

    while ready := {name for name in imports.keys() - settled if imports[name] <= settled}:
        settled |= ready

    assert not imports.keys() - settled


def test_every_room_has_its_floor():
    assert {room(path) for path in FILES} == set(FLOOR)


def test_every_room_says_what_it_turns_into_what():
    rooms = [path for path in ROOT.iterdir() if path.is_dir() and path.name in FLOOR]

    assert rooms
    for path in rooms:
        docstring = ast.get_docstring(ast.parse((path / "__init__.py").read_text("utf-8")))
        assert docstring
        assert len(docstring.splitlines()) >= 3


UNCLEAR = ("The same", "Those", "These", "It ", "They ")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_docstring_can_be_understood_without_its_neighbour(path):
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef)
    found = [
        node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, kinds)
    ]

    assert [
        each for each in map(ast.get_docstring, found) if (each or "").startswith(UNCLEAR)
    ] == []
