"""Facts about texts, part by part in, one array of each fact out; scans collect fingerprints so."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from simdup.arrays import Indices
from simdup.fingerprint.sketch import Sketches, SketchPile


class Collected:
    """Columns, each a fact about all texts, and the sketches of the texts; see `SketchPile`."""

    def __init__(self, *columns: NDArray[Any], is_sketched: bool) -> None:
        """Begin each column with an array that has no text yet."""
        self._pile = SketchPile() if is_sketched else None
        # With sketches, two more columns: where each begins in the pile, and its size.
        none = np.empty(0, np.int64)
        self._added = 0
        self._parts = [[each] for each in (*columns, *([none, none] if is_sketched else []))]

    def add(self, sketches: Sketches | None, *columns: NDArray[Any]) -> None:
        """Add some texts: an array for each column, and sketches if these are collected."""
        if self._pile is not None and sketches is not None:
            columns = (*columns, self._pile.add(sketches), sketches.sizes)
        for parts, column in zip(self._parts, columns, strict=True):
            parts.append(column)
        self._added += 1

    def columns(self) -> list[NDArray[Any]]:
        """Return each column, without the sketches.

        The parts of one column are freed before the next column is joined, since the columns of a
        corpus may take half of the memory.
        """
        for parts in self._parts:
            if len(parts) > 1:  # Ctrl-C may have come between two columns, here or in `add`
                parts[:] = [np.concatenate(parts[: self._added + 1])]
        joined = [each for (each,) in self._parts]
        return joined if self._pile is None else joined[:-2]

    def sketches(self, texts: Indices | slice = slice(None)) -> Sketches | None:
        """Return the sketches of these texts (default: all), after `columns`.

        None if sketches are not collected.
        """
        if self._pile is None:
            return None
        (begins,), (sizes,) = self._parts[-2:]
        return self._pile.pooled(begins[texts], sizes[texts])
