"""Items in, distinct texts out: items with equal features are one text.

An item is a document or a row of a corpus. A thousand copies of a text are searched for,
and read again, once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simdup.search.distinct import distinct_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simdup.search.hamming import Rows

    Indices = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Items:
    """What is to be known of items to match them; all arrays by item."""

    rows: Rows
    """Fingerprints; their first bits are those that are compared, all of them sort out
    candidates that are near by chance."""
    counts: Indices
    """Features."""
    digests: NDArray[np.uint64]
    """(items, 2): of the features."""
    rank: Indices
    """Of copies the one with the lowest stands for all, of texts it comes first."""
    is_reference: NDArray[np.bool_]
    """Only pairs of a reference and another item count, if there are any."""
    own: Indices | None = None
    """Where it is not 0, only items with the same number are one text."""


@dataclass(frozen=True, slots=True, eq=False)
class Texts:
    """The distinct texts of some items; arrays by text unless said otherwise."""

    by_text: Indices
    """(items,): those of text i at begins[i]:begins[i + 1], lowest rank first."""
    begins: Indices
    """(texts + 1,)"""
    rank: Indices
    """That of the first item."""
    rows: Rows
    wide: Rows
    """With the bits that sort out chance candidates; `rows` are their beginning."""
    counts: Indices
    """Features."""
    digests: NDArray[np.uint64]
    """(texts, 2): of the features."""
    is_reference: NDArray[np.bool_]
    """A text that references and other items have is two, since only pairs between the two
    count."""

    def items_of(self, text: int) -> Indices:
        """The items that have a text, the one with the lowest rank first."""
        return self.by_text[self.begins[text] : self.begins[text + 1]]

    @property
    def first(self) -> Indices:
        """The item of each text that stands for it."""
        return self.by_text[self.begins[:-1]]

    @property
    def sizes(self) -> Indices:
        """How many items have each text."""
        return np.diff(self.begins)

    def __len__(self) -> int:
        return len(self.rank)


def distinct_texts(items: Items, bits: int) -> Texts:
    """The texts of items, in the order in which they first occur; `bits` are compared."""
    apart = [items.is_reference] if items.own is None else [items.is_reference, items.own]
    text_of = numbered(
        np.column_stack((items.digests, *(each.astype(np.uint64) for each in apart)))
    )
    by_text = np.lexsort((items.rank, text_of))
    begins = np.searchsorted(text_of[by_text], np.arange(text_of.max(initial=-1) + 2))
    first = by_text[begins[:-1]]
    wide = items.rows[first]
    return Texts(
        by_text,
        begins,
        items.rank[first],
        np.ascontiguousarray(wide[:, : bits // 8]),
        wide,
        items.counts[first],
        items.digests[first],
        items.is_reference[first],
    )


def numbered(keys: NDArray[np.uint64]) -> Indices:
    """The number of each row, equal for equal rows, in the order in which they first occur."""
    distinct = distinct_rows(keys.view(np.uint8))
    first = distinct.members[distinct.offsets[:-1]]
    place = np.empty(len(first), np.int64)
    place[np.argsort(first)] = np.arange(len(first))
    numbers = np.empty(len(keys), np.int64)
    numbers[distinct.members] = np.repeat(place, distinct.sizes)
    return numbers
