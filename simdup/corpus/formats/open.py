"""Names of files in, tables out: the end of a name says which format the file has."""

from __future__ import annotations

import os
from collections.abc import Iterable
from importlib.util import find_spec

from simdup.arguments import path_list
from simdup.corpus.formats.csv import CommaSeparated, TabSeparated
from simdup.corpus.formats.jsonl import JsonLines
from simdup.corpus.formats.streams import PACKINGS, Packed, packed, packed_stream
from simdup.corpus.formats.table import Table
from simdup.errors import ExtraMissingError, InputError
from simdup.settings import ROW_FORMATS

JSONL, CSV, TSV, PARQUET = ROW_FORMATS

#: Formats by the end of a name; each but Parquet may be followed by one of PACKINGS.
FORMS = {
    ".jsonl": JSONL,
    ".ndjson": JSONL,
    ".json": JSONL,
    ".csv": CSV,
    ".tsv": TSV,
    ".parquet": PARQUET,
}

TEXT_TABLES: dict[str, type[JsonLines | CommaSeparated]] = {
    each.form: each for each in (JsonLines, CommaSeparated, TabSeparated)
}

# Names of files that are open already, and may be pipes.
_STREAMS = ("/dev/stdin", "/dev/fd/", "/proc/self/fd/")


def form_of(path: str) -> tuple[str | None, str]:
    """The format of a file (None if its name does not tell) and how it is packed, by its name.

    >>> form_of("rows.JSONL.gz"), form_of("rows.txt")
    (('jsonl', '.gz'), (None, ''))
    """
    stem, suffix = os.path.splitext(path.lower())
    packing = suffix if suffix in PACKINGS else ""
    return FORMS.get(os.path.splitext(stem)[1] if packing else suffix), packing


def tables(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    fields: str | tuple[str, ...],
    wanted: str | None = None,
    stdin: tuple[str, str] | None = None,
) -> tuple[Table, ...]:
    """The tables of some files, each opened once to see that it can be read.

    `fields` have the texts. A field `wanted` must exist too: as a column, or in some row of JSON
    Lines. `stdin` is the path of a copy of standard input, for which "-" stands among `paths`, and
    the format of its rows. Raises InputError for a file that cannot be read or is named twice,
    ExtraMissingError for one that needs the extra `corpus`.
    """
    names = (fields,) if isinstance(fields, str) else fields
    made: dict[tuple[int, int], Table] = {}
    for path in path_list(paths, "files"):
        if path == "-" and stdin is not None:
            copy, form = stdin
            file = packed_stream(path, copy)
        else:
            form, file = _looked_at(path)
        identity = file.status[:2]
        if identity in made:
            raise InputError(f"{path!r}: the same file as {made[identity].path!r}")
        made[identity] = _opened(form, file, names, wanted)
    return tuple(made.values())


def _opened(form: str, file: Packed, fields: tuple[str, ...], wanted: str | None) -> Table:
    if form in TEXT_TABLES:
        return TEXT_TABLES[form].opened(file, fields, wanted)
    if find_spec("pyarrow") is None:
        raise ExtraMissingError(f"{file.path!r}: Parquet", "corpus")
    from simdup.corpus.formats.parquet import parquet  # noqa: PLC0415  (an extra)

    return parquet(file, fields, wanted)


def _looked_at(path: str) -> tuple[str, Packed]:
    """The format of a file by its name, and the file. Raises InputError."""
    if path == "-" or path.startswith(_STREAMS):
        raise InputError(f"{path!r}: rows are read more than once; name a file")
    if os.path.isdir(path):
        raise InputError(f"{path!r}: a folder; name its files")
    form, packing = form_of(path)
    if form is None or (form == PARQUET and packing):
        *text, last = FORMS
        known = f"{', '.join(text)} ({' or '.join(PACKINGS)} may follow) or {last}"
        how = "rename it, or hand its rows to - with --input-format"
        raise InputError(f"{path!r}: by its name no {known}; {how}")
    return form, packed(path, packing)
