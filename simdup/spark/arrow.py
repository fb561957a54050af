"""Arrow columns in, numpy arrays out, and back: the form in which Spark hands rows to a task.

Many numbers travel in one row, a parcel, since Spark takes far longer for a row than numpy for a
number. These functions, and all tasks made for `mapInArrow`, run in Spark's Python workers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from simdup.arrays import Indices, Rows

#: The rows of one partition, as functions for `mapInArrow` take and yield them.
Batches: TypeAlias = Iterator[pa.RecordBatch]

#: The columns of parcels: two numbers of each entry, `left` and `right`, many in one row. The
#: parcels of a bucket meet in one task. `origin` sorts them there.
PARCELS = "kind int, bucket long, origin long, left binary, right binary"


def binary(rows: Rows) -> pa.Array:
    """A binary column of rows (n, width)."""
    return pa.array([row.tobytes() for row in rows], pa.binary())


def rows_of(column: pa.Array | pa.ChunkedArray) -> Rows:
    """The rows of a binary column without nulls, all of one width: (n, width)."""
    n, data = len(column), np.frombuffer(b"".join(column.to_pylist()), np.uint8)
    return data.reshape(n, len(data) // max(n, 1))


def numbers(column: pa.Array | pa.ChunkedArray) -> Indices:
    """The integers of a column without nulls: (n,)."""
    return column.to_numpy(zero_copy_only=False).astype(np.int64, copy=False)


def strings(values: Iterable[str | None]) -> pa.Array:
    """A column of strings, in which halves of surrogate pairs are escaped."""
    encoded = [each and each.encode("utf-8", "backslashreplace") for each in values]
    return pa.array(encoded, pa.binary()).cast(pa.string())


def encoded(texts: Iterable[str]) -> pa.Array:
    """A binary column of texts, which may have halves of surrogate pairs."""
    return pa.array([text.encode("utf-8", "surrogatepass") for text in texts], pa.binary())


def decoded(column: pa.Array | pa.ChunkedArray) -> list[str]:
    """The texts of a column of `encoded`; empty where it is null."""
    return [(text or b"").decode("utf-8", "surrogatepass") for text in column.to_pylist()]


def parcels(
    kind: int, bucket: Indices, left: NDArray[Any], right: Indices, origin: int = 0
) -> pa.RecordBatch:
    """The PARCELS of numbers of 64 bits (n,), each of which goes to a `bucket` (n,) of 16 bits."""
    order = np.argsort(bucket.astype(np.uint16), kind="stable")  # numpy then sorts by radix
    bucket = bucket[order]
    begins = np.flatnonzero(np.diff(bucket, prepend=-1))
    n = len(begins)
    columns = {"kind": pa.array(np.full(n, kind, np.int32)), "bucket": bucket[begins]}
    columns["origin"] = np.full(n, origin)
    for name, values in (("left", left), ("right", right)):
        parts = np.split(values[order], begins[1:])[:n]
        # Byte by byte, since the high bytes of neighbours are alike, and so take little room.
        packed = [part.view(np.uint8).reshape(-1, 8).T.tobytes() for part in parts]
        columns[name] = pa.array(packed, pa.binary())
    return pa.RecordBatch.from_pydict(columns)


def opened(column: pa.Array | pa.ChunkedArray) -> Indices:
    """The numbers in a column of parcels, one parcel after the other."""
    parts = [np.frombuffer(each, np.uint8).reshape(8, -1).T for each in column.to_pylist()]
    every = np.concatenate([np.empty((0, 8), np.uint8), *parts])
    return every.view(np.int64).ravel()


def pieces(
    batches: Iterable[pa.RecordBatch], key: str
) -> Iterator[tuple[Any, Iterator[pa.RecordBatch]]]:
    """Each value of a sorted column, with the batches of its rows."""

    def each_run() -> Iterator[tuple[Any, pa.RecordBatch]]:
        for each in batches:
            values = numbers(each[key])
            begins = np.flatnonzero(np.diff(values, prepend=values[:1] - 1)).tolist()
            for begin, end in pairwise([*begins, len(each)]):
                yield values[begin].item(), each.slice(begin, end - begin)

    for value, found in groupby(each_run(), itemgetter(0)):
        yield value, (piece for _, piece in found)


def runs(batches: Iterable[pa.RecordBatch], key: str) -> Iterator[tuple[Any, pa.Table]]:
    """Each value of a sorted column, with the table of its rows."""
    return ((value, pa.Table.from_batches(found)) for value, found in pieces(batches, key))


def whole(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """All rows of a task as one table, if there are any."""
    if filled := list(filter(len, batches)):
        yield pa.Table.from_batches(filled)
