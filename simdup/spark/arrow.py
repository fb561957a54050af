"""Arrow columns in, numpy arrays out, and back: what Spark hands to a task and takes from it.

Everything here and in the functions made for `mapInArrow` runs in Spark's Python workers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from simdup.search.pairs import expanded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import TypeAlias

    from numpy.typing import NDArray

    from simdup.search.distinct import DistinctRows
    from simdup.search.hamming import Rows

    Pairs: TypeAlias = NDArray[np.int64]
    Batches: TypeAlias = Iterator[pa.RecordBatch]
    #: What `mapInArrow` takes: the batches of one partition in, batches out.
    Task: TypeAlias = Callable[[Batches], Batches]

#: The columns of every frame of pairs of texts: their numbers, the lower one first, and bits.
PAIRS = "a long, b long, distance long"


def binary(rows: Rows) -> pa.Array:
    """A binary column of rows (n, width)."""
    n, width = rows.shape
    offsets = np.arange(n + 1, dtype=np.int64) * width
    data = pa.py_buffer(np.ascontiguousarray(rows))
    # Rows of one batch stay far below the 2 GB that 32 bits of offsets can tell.
    return pa.Array.from_buffers(
        pa.binary(), n, [None, pa.py_buffer(offsets.astype(np.int32)), data]
    )


def rows_of(column: pa.Array) -> Rows:
    """The rows of a binary column without nulls, all of one width: (n, width)."""
    n = len(column)
    if n == 0:
        return np.empty((0, 0), np.uint8)
    wide = column.type == pa.large_binary()
    _, places, data = column.buffers()
    offsets = np.frombuffer(places, np.int64 if wide else np.int32)[column.offset :]
    return np.frombuffer(data, np.uint8)[offsets[0] : offsets[n]].reshape(n, -1)


def numbers(column: pa.Array) -> NDArray[np.int64]:
    """The whole numbers of a column without nulls: (n,)."""
    return column.to_numpy(zero_copy_only=False).astype(np.int64, copy=False)


def lists_of(column: pa.Array) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The values of a column of lists of whole numbers, end to end, and where each begins."""
    sizes = numbers(column.value_lengths())
    return numbers(column.flatten()), np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes)))


def batch(**columns: object) -> pa.RecordBatch:
    """A batch of named columns."""
    return pa.RecordBatch.from_pydict(columns)


def runs(batches: Iterable[pa.RecordBatch], key: str) -> Iterator[tuple[int, pa.Table]]:
    """The rows of each value of a sorted column, one value after the other."""
    waiting: list[pa.RecordBatch] = []
    last = -1
    for each in batches:
        values = numbers(each.column(key))
        begins = np.flatnonzero(np.diff(values, prepend=values[:1] - 1))
        ends = np.append(begins[1:], len(values))
        for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
            if waiting and values[begin] != last:
                yield last, pa.Table.from_batches(waiting)
                waiting = []
            last = int(values[begin])
            waiting.append(each.slice(begin, end - begin))
    if waiting:
        yield last, pa.Table.from_batches(waiting)


def whole_runs(
    batches: Iterable[pa.RecordBatch], keys: Sequence[str], at_once: int
) -> Iterator[pa.Table]:
    """Some `at_once` rows each of sorted columns, none with the values of a row of another one."""
    waiting, enough = list[pa.RecordBatch](), at_once
    for each in batches:
        waiting.append(each)
        if sum(map(len, waiting)) < enough:
            continue
        table, enough = pa.Table.from_batches(waiting), at_once
        last = int(begins_of(table, keys)[-1])
        if last:
            yield table.slice(0, last)
            waiting = table.slice(last).to_batches()
        else:
            enough = 2 * len(table)
    if waiting:
        yield pa.Table.from_batches(waiting)


def begins_of(table: pa.Table, keys: Sequence[str]) -> NDArray[np.int64]:
    """Where rows begin that have other values than the row before."""
    is_new = np.zeros(len(table), bool)
    is_new[:1] = True
    for key in keys:
        values = numbers(table.column(key))
        is_new[1:] |= values[1:] != values[:-1]
    return np.flatnonzero(is_new)


def emitted(distinct: DistinctRows, pairs: Iterable[Pairs]) -> Batches:
    """Yield the pairs of texts that pairs (i, j, distance) of distinct rows stand for, as PAIRS."""
    for each in pairs:
        for part in expanded(distinct, each):
            a, b, distance = np.ascontiguousarray(part.T)
            yield pa.RecordBatch.from_pydict({"a": a, "b": b, "distance": distance})
