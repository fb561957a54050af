"""Parquet by pyarrow (extra `corpus`): one column of strings the text.

Read a batch of one row group at a time, and of the text's column alone where that is
enough, so that memory does not grow with the file.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from simdup.corpus.formats.base import Parsed, left_in, names
from simdup.corpus.formats.streams import UNPACKED, changed, status_of
from simdup.corpus.records import Fault, Flaw
from simdup.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from numpy.typing import NDArray
    from pyarrow.parquet import ParquetFile

    from simdup.corpus.formats.base import Chunk
    from simdup.corpus.formats.streams import Packed

    Indices = NDArray[np.int64]

# Bytes of a column that are read at once.
BUFFER = 1 << 20

# Rows that are decoded at once, and no more than about so many bytes of them.
ROWS, BYTES = 1024, 1 << 20


@dataclass(frozen=True, slots=True)
class Parquet:
    """A Parquet file."""

    file: Packed
    field: str
    columns: pa.Schema

    form: ClassVar[str] = "parquet"
    is_seekable: ClassVar[bool] = False

    @property
    def path(self) -> str:
        """Where the file is."""
        return self.file.path

    @property
    def size(self) -> int:
        """About how many bytes are in it."""
        return UNPACKED * self.file.status.size

    def chunks(self) -> Iterator[Chunk]:
        """All rows, decoded; what is left of a row group that cannot be read is a flaw."""
        with _opened(self.file) as file:
            number = 1
            for group in range(file.num_row_groups):
                end = number + file.metadata.row_group(group).num_rows
                try:
                    for batch in _batches(file, group, [self.field]):
                        yield _parsed(_column(batch, self.field), number)
                        number += len(batch)
                except _errors() as error:
                    detail = f"row group {group}: {_line(error)}"
                    flaw = Flaw(number, end - number, Fault.UNREADABLE, detail)
                    yield Parsed(flaws=[flaw])
                number = end

    def values(self, field: str, numbers: Indices, offsets: Indices) -> Iterator[Any]:  # noqa: ARG002
        """A column of some rows, as `corpora.Table`: read again where one is wanted.

        Raises InputError also where it is damaged, or has values that nothing can show.
        """
        with _opened(self.file) as file:
            end = 1
            for group in range(file.num_row_groups):
                begin, end = end, end + file.metadata.row_group(group).num_rows
                first, last = np.searchsorted(numbers, (begin, end))
                asked = numbers[first:last]
                try:
                    yield from _picked(file, group, field, asked - begin)
                except _errors() as error:
                    what = f"column {field!r} of row group {group}: {_line(error)}"
                    raise InputError(f"{self.path!r}: {what}") from None

    def head(self) -> bytes:
        """Nothing."""
        return b""

    def kept(self, left_out: Indices) -> Iterator[tuple[pa.RecordBatch, int]]:
        """Batches of all rows but some, as `corpora.Table`."""
        import pyarrow as pa  # noqa: PLC0415  (an extra)

        with _opened(self.file) as file:
            end = 1
            for group in range(file.num_row_groups):
                begin, end = end, end + file.metadata.row_group(group).num_rows
                if not left_in(np.arange(begin, end), left_out).any():
                    continue
                try:
                    for batch in _batches(file, group, None):
                        stays = left_in(np.arange(begin, begin + len(batch)), left_out)
                        if stays.any():
                            yield batch.filter(pa.array(stays)), int(stays.sum())
                        begin += len(batch)
                except _errors() as error:
                    # Whatever is refused of a group is at its end.
                    if left_in(np.arange(begin, end), left_out).any():
                        reason = f"row group {group}: {_line(error)}"
                        raise InputError(f"{self.path!r}: {reason}") from None

    def packings(self) -> dict[str, str]:
        """How each column is packed, by its path; of the first row group."""
        with _opened(self.file) as file:
            if not file.num_row_groups:
                return {}
            group = file.metadata.row_group(0)
            columns = (group.column(index) for index in range(group.num_columns))
            return {each.path_in_schema: _packing(each.compression) for each in columns}


@contextmanager
def _opened(file: Packed) -> Iterator[ParquetFile]:
    """What is in the file, which must not have changed by then or at the end."""
    from pyarrow.parquet import ParquetFile  # noqa: PLC0415

    with file.open() as source:
        try:
            content = ParquetFile(
                source, pre_buffer=False, buffer_size=BUFFER, page_checksum_verification=True
            )
        except _errors() as error:
            raise InputError(f"{file.path!r}: {_line(error)}") from None
        yield content
        if status_of(source) != file.status:
            raise changed(file.path)


def _packing(name: str) -> str:
    return {"UNCOMPRESSED": "NONE", "LZ4_RAW": "LZ4", "LZ4_HADOOP": "LZ4"}.get(name, name)


def _batches(file: ParquetFile, group: int, columns: list[str] | None) -> Iterator[pa.RecordBatch]:
    """A row group in batches, without views."""
    about = file.metadata.row_group(group)
    rows = max(1, min(ROWS, BYTES * about.num_rows // max(1, about.total_byte_size)))
    batches: Iterator[pa.RecordBatch] = file.iter_batches(
        rows, row_groups=[group], columns=columns, use_threads=False
    )
    for batch in batches:
        plain = _without_views(batch.schema)
        yield batch if plain == batch.schema else batch.cast(plain)


def _without_views(schema: pa.Schema) -> pa.Schema:
    """The schema with plain types for views, of which Arrow can neither take nor filter values."""
    for place, field in enumerate(schema):
        schema = schema.set(place, field.with_type(_plain(field.type)))
    return schema


def _plain(kind: pa.DataType) -> pa.DataType:
    """The type without views in it: each becomes the large type of strings or bytes."""
    import pyarrow as pa  # noqa: PLC0415

    if pa.types.is_string_view(kind):
        return pa.large_string()
    if pa.types.is_binary_view(kind):
        return pa.large_binary()
    return _nested(kind) if pa.types.is_nested(kind) else kind


def _nested(kind: pa.DataType) -> pa.DataType:
    """Replace the view types within a nested type by plain ones."""
    import pyarrow as pa  # noqa: PLC0415

    types = pa.types
    inner = [kind.field(place) for place in range(kind.num_fields)]
    inner = [field.with_type(_plain(field.type)) for field in inner]
    if types.is_struct(kind):
        return pa.struct(inner)
    if types.is_map(kind):
        entries = inner[0].type
        return pa.map_(entries.field(0), entries.field(1), kind.keys_sorted)
    if types.is_large_list(kind):
        return pa.large_list(*inner)
    if types.is_fixed_size_list(kind):
        return pa.list_(*inner, kind.list_size)
    return pa.list_(*inner) if types.is_list(kind) else kind


def _column(batch: pa.RecordBatch, field: str) -> pa.Array:
    """The column itself: asked for "a.b", Arrow also reads what a column "a" has as "b"."""
    return batch.column(batch.schema.get_field_index(field))


def _parsed(column: pa.Array, number: int) -> Parsed:
    """The texts of a column whose first row has this number."""
    parsed = Parsed()
    for row, text in enumerate(_texts(column), number):
        if isinstance(text, str):
            parsed.add(text, row, 0)
        elif text is None:
            parsed.flaws.append(Flaw(row, 1, Fault.EMPTY, "null"))
        else:
            parsed.flaws.append(Flaw(row, 1, Fault.NOT_UTF8))
    return parsed


def _texts(column: pa.Array) -> list[str | bytes | None]:
    """Its values; bytes for those that are no UTF-8, which Arrow does not check."""
    import pyarrow as pa  # noqa: PLC0415

    try:
        found: list[str | bytes | None] = column.to_pylist()
    except UnicodeDecodeError:
        plain = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
        found = [_decoded(value) for value in plain.cast(pa.large_binary()).to_pylist()]
    return found


def _decoded(value: bytes | None) -> str | bytes | None:
    try:
        return None if value is None else value.decode("utf-8")
    except UnicodeDecodeError:
        return value


def _picked(file: ParquetFile, group: int, field: str, places: Indices) -> Iterator[Any]:
    """The values at some places of a row group, in rising order."""
    begin = first = 0
    for batch in _batches(file, group, [field]) if len(places) else ():
        last = int(np.searchsorted(places, begin + len(batch)))
        if last > first:
            yield from _values(_column(batch, field).take(places[first:last] - begin))
        begin, first = begin + len(batch), last
        if first == len(places):
            return


def _values(column: pa.Array) -> list[Any]:
    """Its values; in Arrow's words those that Python has no kind for, as nanoseconds."""
    import pyarrow as pa  # noqa: PLC0415

    try:
        return _texts(column)
    except (ValueError, OverflowError, LookupError):
        return list(column.cast(pa.string()).to_pylist())


def _errors() -> tuple[type[Exception], ...]:
    """What a damaged file raises."""
    import pyarrow as pa  # noqa: PLC0415

    return (pa.ArrowException, OSError)


def _line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def parquet(file: Packed, field: str, wanted: str | None) -> Parquet:
    """The table of a file. Raises InputError if its footer cannot be read or a column lacks."""
    with _opened(file) as content:
        schema = content.schema_arrow
    for name in (field, wanted):
        if name is not None and schema.names.count(name) != 1:
            what = "no" if name not in schema.names else "more than one"
            raise InputError(f"{file.path!r}: {what} column {name!r}; {names(schema.names)}")
    kind = schema.field(field).type
    if not _is_string(kind):
        raise InputError(f"{file.path!r}: column {field!r} is {kind}, and no text")
    return Parquet(file, field, _without_views(schema))


def _is_string(kind: pa.DataType) -> bool:
    import pyarrow as pa  # noqa: PLC0415

    types = pa.types
    if types.is_dictionary(kind):
        kind = kind.value_type
    return bool(
        types.is_string(kind)
        or types.is_large_string(kind)
        or types.is_string_view(kind)
        or types.is_null(kind)
    )
