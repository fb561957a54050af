"""The cells of a Jupyter notebook: prose and code, without output, pictures and metadata.

Both versions in use are read, 3 and 4 (`nbformat`); version 3 has its cells in worksheets.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from simdup.extract.cleanup import NotReadable, TextBuilder, unless_empty, with_unread
from simdup.extract.text_formats import characters

if TYPE_CHECKING:
    from collections.abc import Iterator


def text(data: bytes) -> str:
    """The source of all cells. Raises NotReadable for anything but a notebook."""
    try:
        found = json.loads(characters(data))
    except (ValueError, RecursionError):
        raise NotReadable("no notebook") from None
    if not isinstance(found, dict) or not isinstance(found.get("nbformat"), int):
        raise NotReadable("no notebook")
    cells = TextBuilder()
    for cell in _cells(found):
        cells.add(_source(cell) + "\n\n")
    return with_unread(unless_empty(str(cells)), _others(found))


def _others(notebook: dict[str, object]) -> Iterator[tuple[str, bytes]]:
    """The outputs and attachments of all cells, and the metadata."""
    for cell in _cells(notebook):
        for kind in ("outputs", "attachments"):
            if value := cell.get(kind):
                yield kind, json.dumps(value, sort_keys=True).encode()
    metadata = [each.get("metadata") for each in (notebook, *_cells(notebook))]
    if any(metadata):
        yield "metadata", json.dumps(metadata, sort_keys=True).encode()


def _cells(notebook: dict[str, object]) -> Iterator[dict[str, object]]:
    """The cells of a notebook, or of its worksheets."""
    yield from _objects(notebook.get("cells"))
    for sheet in _objects(notebook.get("worksheets")):
        yield from _objects(sheet.get("cells"))


def _objects(value: object) -> list[dict[str, object]]:
    """The JSON objects in a list; none for another value."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _source(cell: dict[str, object]) -> str:
    """The source of a cell, stored as a string or as a list of lines."""
    source = cell.get("source", cell.get("input"))
    if isinstance(source, list):
        return "".join(line for line in source if isinstance(line, str))
    return source if isinstance(source, str) else ""
