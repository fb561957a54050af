"""Documents and the texts that they show, as data: the files in `extract/shown`."""

from __future__ import annotations

from pathlib import Path


def shown(name):
    """The pairs of a source and its text in `name.txt`, with "=>" between the two."""
    data = (Path(__file__).parent / "extract" / "shown" / f"{name}.txt").read_text("utf-8")
    return [tuple(each.split("\n=>\n")) for each in data.removesuffix("\n").split("\n----\n")]
