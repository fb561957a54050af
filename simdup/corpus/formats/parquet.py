"""Parquet by pyarrow (extra `corpus`): one or more columns of strings have the texts.

A batch of one row group is read at a time, and only the columns of the texts where they are
enough, so that memory does not grow with the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from pyarrow.compute import struct_field
from pyarrow.parquet import ParquetFile, ParquetWriter

from simdup.arrays import Indices
from simdup.corpus.flaws import Fault, Flaw
from simdup.corpus.formats.streams import Packed, changed, status_of
from simdup.corpus.formats.table import Chunk, Parsed, Table, check_columns
from simdup.errors import InputError
from simdup.text.chunking import batched
from simdup.text.fields import joined

# Bytes of a column that are read at once.
BUFFER = 1 << 20

# Rows that are decoded at once, and about the most bytes that they have together.
ROWS, BYTES = 1024, 1 << 20

# A row group of a new file ends when it has this many rows or bytes.
GROUP_ROWS, GROUP_BYTES = 1 << 17, 1 << 25

# Errors that a damaged file raises.
_ERRORS = (pa.ArrowException, OSError)

# Names of compressions in a footer that `ParquetWriter` knows by another name.
_PACKING_NAMES = {"UNCOMPRESSED": "NONE", "LZ4_RAW": "LZ4", "LZ4_HADOOP": "LZ4"}


@dataclass(frozen=True, slots=True)
class Parquet(Table):
    """A Parquet file."""

    form: ClassVar[str] = "parquet"

    @property
    def is_seekable(self) -> bool:
        """False: rows are found by reading through their row group."""
        return False

    def chunks(self) -> Iterator[Chunk]:
        """Yield all rows, decoded; the rest of a row group that cannot be read is one flaw."""
        with _opened(self.file) as file:
            for group, number, end in _row_groups(file):
                try:
                    for batch in _batches(file, group, list(self.fields)):
                        columns = [_column(batch, field) for field in self.fields]
                        yield parsed_columns(columns, number)
                        number += len(batch)  # noqa: PLW2901
                except _ERRORS as error:
                    detail = f"row group {group}: {_line(error)}"
                    yield Parsed(flaws=[Flaw(number, end - number, Fault.UNREADABLE, detail)])

    def values(
        self,
        field: str | None,
        numbers: Indices,
        offsets: Indices,  # noqa: ARG002
    ) -> Iterator[Any]:
        """Yield a column of these rows, or their texts, from row groups that have some of them.

        Also raises InputError if the column is damaged, or if its values cannot be written as text.
        """
        fields = self.fields if field is None else (field,)
        with _opened(self.file) as file:
            for group, begin, end in _row_groups(file):
                first, last = np.searchsorted(numbers, (begin, end))
                try:
                    yield from _values_at(file, group, fields, numbers[first:last] - begin)
                except _ERRORS as error:
                    what = f"column {', '.join(fields)!r} of row group {group}: {_line(error)}"
                    raise InputError(f"{self.path!r}: {what}") from None

    def kept(self, left_out: Indices) -> Iterator[tuple[pa.RecordBatch, int]]:
        """Yield batches of all rows but those with these numbers."""
        with _opened(self.file) as file:
            for group, begin, end in _row_groups(file):
                stays = np.isin(np.arange(begin, end), left_out, invert=True)
                done = 0
                try:
                    for batch in _batches(file, group, None) if stays.any() else ():
                        own = stays[done : done + len(batch)]
                        if own.any():
                            yield batch.filter(pa.array(own)), int(own.sum())
                        done += len(batch)
                except _ERRORS as error:
                    # The rows that were refused are at the end of their group.
                    if stays[done:].any():
                        reason = f"row group {group}: {_line(error)}"
                        raise InputError(f"{self.path!r}: {reason}") from None

    def written(self, batches: Iterable[pa.RecordBatch], packing: str) -> Iterator[bytes]:  # noqa: ARG002
        """Yield the content of a new file, with the schema and the column packings of this one."""
        sink = _Sink()
        with ParquetWriter(sink, self.columns, compression=self._packings() or "snappy") as writer:
            for group in batched(batches, _weight, GROUP_BYTES, GROUP_ROWS):
                rows = pa.Table.from_batches(group, self.columns)
                writer.write_table(rows, row_group_size=GROUP_ROWS)
                yield sink.taken()
        yield sink.taken()

    def _packings(self) -> dict[str, str]:
        """How each column is packed in the first row group, by the column's path."""
        with _opened(self.file) as file:
            groups = [file.metadata.row_group(0)] if file.num_row_groups else []
            columns = (each.column(index) for each in groups for index in range(each.num_columns))
            packings = {each.path_in_schema: each.compression for each in columns}
            return {path: _PACKING_NAMES.get(name, name) for path, name in packings.items()}


class _Sink(BytesIO):
    """A file for pyarrow to write to, which counts for itself how many bytes it has written."""

    def taken(self) -> bytes:
        """Return the bytes written since the last call."""
        found = self.getvalue()
        self.seek(0)
        self.truncate()
        return found


def _weight(batch: pa.RecordBatch) -> int:
    """How many bytes of a row group of a new file this batch fills, as rows fill it too."""
    return max(batch.nbytes, len(batch) * (GROUP_BYTES // GROUP_ROWS))


@contextmanager
def _opened(file: Packed) -> Iterator[ParquetFile]:
    """Open a file. Raises InputError if it is damaged, or changes before it is closed."""
    with file.open() as source:
        try:
            content = ParquetFile(
                source, pre_buffer=False, buffer_size=BUFFER, page_checksum_verification=True
            )
        except _ERRORS as error:
            raise InputError(f"{file.path!r}: {_line(error)}") from None
        yield content
        if status_of(source) != file.status:
            raise changed(file.path)


def _row_groups(file: ParquetFile) -> Iterator[tuple[int, int, int]]:
    """Yield each row group: its index, its first row's number, and the next group's first."""
    end = 1
    for group in range(file.num_row_groups):
        begin, end = end, end + file.metadata.row_group(group).num_rows
        yield group, begin, end


def _batches(file: ParquetFile, group: int, columns: list[str] | None) -> Iterator[pa.RecordBatch]:
    """Yield a row group in batches, with plain types in place of views."""
    about = file.metadata.row_group(group)
    rows = max(1, min(ROWS, BYTES * about.num_rows // max(1, about.total_byte_size)))
    batches: Iterator[pa.RecordBatch] = file.iter_batches(
        rows, row_groups=[group], columns=columns, use_threads=False
    )
    for batch in batches:
        plain = _without_views(batch.schema)
        yield batch if plain == batch.schema else batch.cast(plain)


def _without_views(schema: pa.Schema) -> pa.Schema:
    """The schema with plain types for views, whose values Arrow can neither take nor filter."""
    return pa.schema([_plain(field) for field in schema], schema.metadata)


def _plain(part: Any) -> Any:  # noqa: ANN401  (fields and types of Arrow)
    """A field, a type or a part of a type, with large strings or bytes in place of views."""
    if isinstance(part, list):
        return [_plain(each) for each in part]
    if isinstance(part, pa.Field):
        return part.with_type(_plain(part.type))
    if part == pa.string_view():
        return pa.large_string()
    if part == pa.binary_view():
        return pa.large_binary()
    if not (isinstance(part, pa.DataType) and pa.types.is_nested(part)):
        return part
    make, parts = part.__reduce__()  # as pickle would make the type again
    return make(*map(_plain, parts))


def _column(batch: pa.RecordBatch, field: str) -> pa.Array:
    """The column of this very name, or else the field "b" of the column "a" for "a.b"."""
    index = batch.schema.get_field_index(field)
    if index >= 0:
        return batch.column(index)
    head, *names = field.split(".")
    return struct_field(batch.column(batch.schema.get_field_index(head)), names)


def parsed_columns(columns: list[pa.Array], number: int) -> Parsed:
    """The texts of some columns, whose first row has this number."""
    parsed = Parsed()
    for row, texts in enumerate(zip(*map(_texts, columns), strict=True), number):
        if any(isinstance(text, bytes) for text in texts):
            parsed.flaws.append(Flaw(row, 1, Fault.NOT_UTF8))
        elif all(text is None for text in texts):
            parsed.flaws.append(Flaw(row, 1, Fault.EMPTY, "null"))
        else:
            parsed.add(_joined(texts), row, 0)
    return parsed


def _joined(values: Iterable[Any]) -> str:
    """The text that the values of some columns make."""
    return joined([value if isinstance(value, str) else "" for value in values])


def _texts(column: pa.Array) -> list[str | bytes | None]:
    """The texts of a column; bytes where they are not UTF-8, which Arrow does not check."""
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


def _values_at(
    file: ParquetFile, group: int, fields: tuple[str, ...], asked: Indices
) -> Iterator[Any]:
    """Yield the values of these rows of a group (ascending); of several fields, the text."""
    begin = first = 0
    for batch in _batches(file, group, list(fields)) if len(asked) else ():
        last = int(np.searchsorted(asked, begin + len(batch)))
        if last > first:
            chosen = asked[first:last] - begin
            found = [_values(_column(batch, field).take(chosen)) for field in fields]
            yield from map(_joined, zip(*found, strict=True)) if found[1:] else found[0]
        begin, first = begin + len(batch), last
        if first == len(asked):
            return


def _values(column: pa.Array) -> list[Any]:
    """The values of a column; as text if Python has no type for them, as for nanoseconds."""
    try:
        return _texts(column)
    except (ValueError, OverflowError, LookupError):
        return list(column.cast(pa.string()).to_pylist())


def _line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def parquet(file: Packed, fields: tuple[str, ...], wanted: str | None) -> Parquet:
    """The table of a Parquet file.

    Raises InputError if its footer cannot be read, or a column is missing or has no strings.
    """
    with _opened(file) as content:
        schema = content.schema_arrow
    texts = [each for each in fields if _inner(schema, each) is None]
    id_field = None if wanted is not None and _inner(schema, wanted) else wanted
    check_columns(file.path, schema.names, texts, id_field)
    for field in fields:
        kind = (_inner(schema, field) or schema.field(field)).type
        if not _is_string(kind):
            raise InputError(f"{file.path!r}: column {field!r} is {kind}, and no text")
    return Parquet(file, fields, _without_views(schema))


def _inner(schema: pa.Schema, field: str) -> pa.Field | None:
    """The field "b" of a column "a" for "a.b", if there is one and no column of that very name."""
    head, *names = field.split(".")
    if field in schema.names or schema.names.count(head) != 1:
        return None
    found = schema.field(head)
    for name in names:
        index = found.type.get_field_index(name) if pa.types.is_struct(found.type) else -1
        if index < 0:
            return None
        found = found.type.field(index)
    return found


def _is_string(kind: pa.DataType) -> bool:
    plain = kind.value_type if pa.types.is_dictionary(kind) else kind
    return plain in {pa.string(), pa.large_string(), pa.string_view(), pa.null()}
