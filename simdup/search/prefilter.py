"""Every pair within k bits that is near in wider fingerprints too.

Most pairs that are within reach are so by chance: of a million unrelated texts, billions.
Where all are compared with all by compiled code, these are sorted out right there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simdup.compute.compiled import kernels_pay, load_kernels, loaded_kernels
from simdup.progress import silent
from simdup.search.distinct import distinct_rows
from simdup.search.hamming import paired_distances
from simdup.search.pairs import (
    compiled_pairs,
    expanded,
    iter_pairs,
    iter_pairs_between,
    method,
    plan,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simdup.progress import Progress
    from simdup.search.hamming import Rows
    from simdup.search.pairs import Pairs

# Collections with a smaller share of distinct rows have fewer pairs if equal ones are one.
DISTINCT = 0.9


def iter_sieved_pairs(
    wide: Rows, bits: int, k: int, most: int, progress: Progress = silent
) -> Iterator[Pairs]:
    """Pairs within k bits in the first `bits`, and within `most` in all; as `iter_pairs`.

    >>> rows = np.uint8([[0b1111_0000, 0], [0b1111_0001, 0], [0b1111_0000, 255]])
    >>> np.concatenate(list(iter_sieved_pairs(rows, 8, 1, 4))).tolist()
    [[0, 1, 1]]
    """
    distinct = distinct_rows(wide)
    rows = np.ascontiguousarray(distinct.rows[:, : bits // 8])
    if not _is_fused(rows, k):
        beginnings = np.ascontiguousarray(wide[:, : bits // 8])
        for pairs in iter_pairs(beginnings, k, progress=progress):
            yield pairs[paired_distances(wide, pairs[:, 0], pairs[:, 1]) <= most]
        return
    repeated = np.flatnonzero(distinct.sizes > 1)
    yield from expanded(distinct, np.column_stack((repeated, repeated, np.zeros_like(repeated))))
    sieve = (distinct.rows, distinct.rows, most)
    for pairs in compiled_pairs(rows, rows, k, progress, is_half=True, sieve=sieve):
        yield from expanded(distinct, pairs)


def iter_sieved_between(left: Rows, right: Rows, bits: int, k: int, most: int) -> Iterator[Pairs]:
    """Such pairs of a left and a right row: their indices in the two, and distance."""
    a, b = (np.ascontiguousarray(rows[:, : bits // 8]) for rows in (left, right))
    if kernels_pay(words=len(a) * len(b) * -(-bits // 64)):  # the search itself counts as work
        load_kernels()
    if loaded_kernels() is not None and not plan(
        len(a) + len(b), bits, k, (len(a), len(b)), is_compiled=True
    ):
        yield from compiled_pairs(a, b, k, is_half=False, sieve=(left, right, most))
        return
    both = np.concatenate((left, right))
    for pairs in iter_pairs_between(a, b, k):
        near = paired_distances(both, pairs[:, 0], pairs[:, 1] + len(left)) <= most
        yield pairs[near]


def _is_fused(rows: Rows, k: int) -> bool:
    """Whether the kernel that compares all with all is the one to sieve too."""
    if kernels_pay(words=len(rows) ** 2 * -(-rows.shape[1] // 8)):
        load_kernels()
    if loaded_kernels() is None or len(distinct_rows(rows).rows) < DISTINCT * len(rows):
        return False
    return not method(rows, k)
