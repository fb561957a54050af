"""Items in, distinct texts out: items with equal features are one text.

An item is a document or a row of a corpus. A text with a thousand copies is searched once,
and read again once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from simdup.arrays import Digests, Hashes, Indices, Mask, Rows, Words
from simdup.fingerprint.sketch import Sketches, thinned
from simdup.search.distinct import distinct_rows


class Items(NamedTuple):
    """Items to be matched; all arrays by item.

    rows: Fingerprints: their first bits are compared, and all bits sieve chance candidates.
    counts: The number of features.
    digests: (items, 2): digests of the features.
    rank: Of the copies of a text, the one with the lowest rank goes first.
    is_reference: If there are references, only pairs of a reference and another item count.
    sketches: Large ones; None where exact similarities do not decide.
    own: Items with different numbers are different texts, even if their features are equal.
    """

    rows: Rows
    counts: Indices
    digests: Digests
    rank: Indices
    is_reference: Mask
    sketches: Sketches | None = None
    own: Indices | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Texts:
    """The distinct texts of some items; arrays by text unless said otherwise.

    by_text: (items,): text i has the items at begins[i]:begins[i + 1], lowest rank first.
    begins: (texts + 1,)
    rank: The rank of its first item.
    rows: The bits that are compared.
    wide: All bits, which sieve chance candidates; they begin with `rows`.
    counts: The number of features.
    digests: (texts, 2): digests of the features.
    content: (texts,): part of a digest, which decides between equally good texts.
    is_reference: A text of both references and other items is two texts, since only pairs between
        these two sides count.
    sketches: The usual sketches, by which candidates are compared.
    large: The large sketches, for exact similarities and own shares.
    """

    by_text: Indices
    begins: Indices
    rank: Indices
    rows: Rows
    wide: Rows
    counts: Indices
    digests: Digests
    content: Hashes
    is_reference: Mask
    sketches: Sketches | None
    large: Sketches | None = None

    def items_of(self, text: int) -> Indices:
        """The items that have this text, lowest rank first."""
        return self.by_text[self.begins[text] : self.begins[text + 1]]

    @property
    def first(self) -> Indices:
        """The item that stands for each text."""
        return self.by_text[self.begins[:-1]]

    @property
    def text_of(self) -> Indices:
        """The text of each item: (items,)."""
        found = np.empty(len(self.by_text), np.int64)
        found[self.by_text] = np.repeat(np.arange(len(self)), self.sizes)
        return found

    @property
    def sizes(self) -> Indices:
        """The number of items that have each text."""
        return np.diff(self.begins)

    def content_order(self, texts: Indices) -> Indices:
        """The places that sort these texts by digests, which no name or order of items changes."""
        return np.lexsort((self.content[texts], *self.digests[texts].T))

    def __len__(self) -> int:
        return len(self.rank)


def distinct_texts(items: Items, bits: int) -> Texts:
    """The texts of items, in the order in which they first occur; `bits` are compared."""
    keys = [items.digests, items.is_reference.astype(np.uint64)]
    if items.own is not None:
        keys.append(items.own.astype(np.uint64))
    text_of = numbered(np.column_stack(keys))
    by_text = np.lexsort((items.rank, text_of))
    begins = np.searchsorted(text_of[by_text], np.arange(text_of.max(initial=-1) + 2))
    first = by_text[begins[:-1]]
    wide, counts = items.rows[first], items.counts[first]
    large = None if items.sketches is None else items.sketches.take(first)
    return Texts(
        by_text,
        begins,
        items.rank[first],
        np.ascontiguousarray(wide[:, : bits // 8]),
        wide,
        counts,
        items.digests[first],
        contents(items.digests[first], None if items.own is None else items.own[first]),
        items.is_reference[first],
        None if large is None else thinned(large, counts),
        large,
    )


def contents(digests: Digests, own: Indices | None = None) -> Hashes:
    """The `content` of texts, from their digests (n, 2) and from `own` numbers (n,) if given."""
    return digests[:, 0] if own is None else digests[:, 0] + own.astype(np.uint64)


def numbered(keys: Words) -> Indices:
    """The number of each row, equal for equal rows, in the order in which they first occur."""
    distinct = distinct_rows(keys.view(np.uint8))
    first = distinct.members[distinct.offsets[:-1]]
    place = np.empty(len(first), np.int64)
    place[np.argsort(first)] = np.arange(len(first))
    numbers = np.empty(len(keys), np.int64)
    numbers[distinct.members] = np.repeat(place, distinct.sizes)
    return numbers
