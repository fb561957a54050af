"""Names of files in, tables out: what a file is, the end of its name says."""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import TYPE_CHECKING

from simdup.arguments import path_list
from simdup.corpus.formats.csv import comma_separated
from simdup.corpus.formats.jsonl import json_lines
from simdup.corpus.formats.parquet import parquet
from simdup.corpus.formats.streams import PACKINGS, packed
from simdup.errors import ExtraMissingError, InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simdup.corpus.formats.base import ReadableTable

#: Formats by the end of a name; each but Parquet may be followed by one of PACKINGS.
FORMS = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".csv": "csv",
    ".parquet": "parquet",
}

# Names for what is open already, which may be a pipe.
_STREAMS = ("/dev/stdin", "/dev/fd/", "/proc/self/fd/")


def form_of(path: str) -> tuple[str | None, str]:
    """The format of a file and how it is packed, by its name; None where that does not tell.

    >>> form_of("rows.JSONL.gz"), form_of("rows.txt")
    (('jsonl', '.gz'), (None, ''))
    """
    stem, suffix = os.path.splitext(path.lower())
    packing = suffix if suffix in PACKINGS else ""
    return FORMS.get(os.path.splitext(stem)[1] if packing else suffix), packing


def tables(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    field: str,
    wanted: str | None = None,
) -> tuple[ReadableTable, ...]:
    """The tables of some files, each opened once to see that it can be read.

    `field` has the texts; the field `wanted` is looked for as well: one of the columns, or what
    some row of JSON Lines has. Raises InputError for a file that cannot be read, or is there twice,
    ExtraMissingError for one that needs the extra `corpus`.
    """
    found: dict[tuple[int, int], str] = {}
    made: list[ReadableTable] = []
    for path in path_list(paths, "files"):
        if path == "-" or path.startswith(_STREAMS):
            raise InputError(f"{path!r}: rows are read more than once; name a file")
        form, packing = form_of(path)
        if form is None or (form == "parquet" and packing):
            raise InputError(f"{path!r}: by its name no {_known()}")
        file = packed(path, packing)
        place = file.status.device, file.status.inode
        if place in found:
            raise InputError(f"{path!r}: the same file as {found[place]!r}")
        found[place] = path
        if form == "jsonl":
            made.append(json_lines(file, field, wanted))
        elif form == "csv":
            made.append(comma_separated(file, field, wanted))
        elif find_spec("pyarrow") is None:
            raise ExtraMissingError(f"{path!r}: Parquet", "corpus")
        else:
            made.append(parquet(file, field, wanted))
    return tuple(made)


def _known() -> str:
    *text, last = FORMS
    return f"{', '.join(text)} ({' or '.join(PACKINGS)} may follow) or {last}"
