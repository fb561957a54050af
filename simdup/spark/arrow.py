"""Arrow columns in, numpy arrays out, and back: the form in which Spark hands rows to a task.

These functions, and all tasks made for `mapInArrow`, run in Spark's Python workers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from simdup.arrays import Indices, Rows
from simdup.fingerprint.sketch import Sketches, read_back
from simdup.search.distinct import DistinctRows
from simdup.search.pairs import expanded

Pairs: TypeAlias = Indices
Batches: TypeAlias = Iterator[pa.RecordBatch]
#: An argument of `mapInArrow`: a function from the batches of one partition to batches.
Task: TypeAlias = Callable[[Batches], Batches]


def binary(rows: Rows) -> pa.Array:
    """A binary column of rows (n, width)."""
    n, width = rows.shape
    data = pa.py_buffer(np.ascontiguousarray(rows))
    return pa.Array.from_buffers(pa.binary(width), n, [None, data]).cast(pa.binary())


def rows_of(column: pa.Array | pa.ChunkedArray) -> Rows:
    """The rows of a binary column without nulls, all of one width: (n, width)."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    n = len(column)
    if n == 0:
        return np.empty((0, 0), np.uint8)
    column = column.cast(pa.large_binary())
    _, positions, data = column.buffers()
    offsets = np.frombuffer(positions, np.int64)[column.offset :]
    return np.frombuffer(data, np.uint8)[offsets[0] : offsets[n]].reshape(n, -1)


def numbers(column: pa.Array | pa.ChunkedArray) -> Indices:
    """The integers of a column without nulls: (n,)."""
    return column.to_numpy(zero_copy_only=False).astype(np.int64, copy=False)


def sketch_column(sketches: Sketches) -> pa.Array:
    """A binary column of sketches."""
    return pa.array(list(sketches.each()), pa.binary())


def sketches_of(column: pa.Array | pa.ChunkedArray) -> Sketches:
    """The sketches of a column that `sketch_column` made."""
    return read_back(column.to_pylist())


def lists_of(column: pa.Array | pa.ChunkedArray) -> tuple[Indices, Indices]:
    """The values of a column of lists of integers, end to end, and where each list begins."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    return numbers(column.flatten()), np.append(0, np.cumsum(numbers(column.value_lengths())))


def strings(values: Iterable[str | None]) -> pa.Array:
    """A column of strings, in which halves of surrogate pairs are escaped."""
    encoded = [
        None if each is None else each.encode("utf-8", "backslashreplace") for each in values
    ]
    return pa.array(encoded, pa.binary()).cast(pa.string())


def runs(batches: Iterable[pa.RecordBatch], key: str) -> Iterator[tuple[Any, pa.Table]]:
    """Each value of a sorted column, with the table of its rows."""
    for table in whole_runs(batches, (key,), 1):
        for begin, end in pairwise([*begins_of(table, (key,)).tolist(), len(table)]):
            yield table[key][begin].as_py(), table.slice(begin, end - begin)


def whole_runs(
    batches: Iterable[pa.RecordBatch], keys: Sequence[str], at_once: int
) -> Iterator[pa.Table]:
    """Tables of at least `at_once` rows; the last one may have fewer.

    Rows must be sorted by the keys. Rows with equal keys are in one table.
    """
    waiting, size = list[pa.RecordBatch](), 0
    for each in filter(len, batches):
        waiting.append(each)
        size += len(each)
        if size < at_once or all(waiting[0][key][0] == each[key][-1] for key in keys):
            continue
        table = pa.Table.from_batches(waiting)
        last = int(begins_of(table, keys)[-1])
        yield table.slice(0, last)
        waiting, size = table.slice(last).to_batches(), len(table) - last
    if waiting:
        yield pa.Table.from_batches(waiting)


def begins_of(table: pa.Table, keys: Sequence[str]) -> Indices:
    """The indices of the rows that differ in a key from the row before, and of the first row."""
    is_new = np.zeros(len(table), bool)
    is_new[:1] = True
    for key in keys:
        values = numbers(table.column(key))
        is_new[1:] |= values[1:] != values[:-1]
    return np.flatnonzero(is_new)


def emitted(distinct: DistinctRows, pairs: Iterable[Pairs]) -> Batches:
    """Yield the pairs of texts for pairs (i, j, distance) of distinct rows, as `search.PAIRS`."""
    for each in pairs:
        for part in expanded(distinct, each):
            a, b, distance = np.ascontiguousarray(part.T)
            yield pa.RecordBatch.from_pydict({"a": a, "b": b, "distance": distance})
