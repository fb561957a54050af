"""What is in an index, for people and for programs."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from simdup.report.json_csv import dumps, tool
from simdup.report.names import as_json, printable
from simdup.report.wording import size

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simdup.index.records import IndexInfo


def render(info: IndexInfo) -> Iterator[str]:
    """A line for each thing to know."""
    each = info.bytes / info.documents if info.documents else 0
    yield f"index      {printable(info.path)}"
    yield f"size       {size(info.bytes)}, {each:,.0f} bytes a document"
    batches = "1 batch" if info.batches == 1 else f"{info.batches:,} batches"
    yield f"documents  {info.documents:,}, changed by {batches}"
    for place, filters in zip(info.places, info.filters, strict=True):
        yield f"place      {printable(place)}{printable(_options(filters))}"
    for place in info.left_out:
        yield f"left out   {printable(place)}"
    recipe = ", ".join(f"{name} {value}" for name, value in info.about["key"].items())
    yield f"recipe     {printable(recipe)}"
    yield f"formats    {printable(', '.join(info.about['formats']) or 'text')}"
    if info.about["encoding"]:
        yield f"encoding   {printable(info.about['encoding'])}"
    for converter in info.about["convert"]:
        yield f"convert    {printable(converter)}"
    yield f"made by    simdup {printable(info.about['simdup'])}"


def _options(filters: dict[str, Any]) -> str:
    """Filters as they are written on the command line."""
    written = ""
    for name, value in filters.items():
        option = f" --{name.replace('_', '-')}"
        for each in value if isinstance(value, tuple) else (value,):
            if each:
                written += option if each is True else f"{option} {shlex.quote(str(each))}"
    return written


def render_json(info: IndexInfo) -> Iterator[str]:
    """One JSON object."""
    yield dumps(
        tool()
        | as_json(info.path)
        | {
            "bytes": info.bytes,
            "documents": info.documents,
            "batches": info.batches,
            "places": [
                as_json(place) | {"filters": filters}
                for place, filters in zip(info.places, info.filters, strict=True)
            ],
            "left_out": [as_json(place) for place in info.left_out],
            "made": info.about,
        },
        indent=1,
    )
