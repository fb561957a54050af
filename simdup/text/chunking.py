"""Texts of any length in, texts of a handy length out.

Short texts go through the arrays together, in batches; a long one goes in pieces, cut
only where it makes no difference.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simdup.recipe import FeatureKind, Recipe
from simdup.text.unicode import code_points, tables

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

# Characters that go through the arrays at once: more fall out of the cache (one
# million: 3 times slower), fewer pay numpy's overhead. Changes speed only.
PIECE = 200_000

# Texts in a batch at most: the table of votes of a batch (texts x 256 counts) is to
# stay in the cache. Changes speed only.
BATCH = 512

# Texts without a separator for this many characters are cut there, so that a file of one
# endless word needs bounded memory. More than PIECE. Part of the recipe.
LONGEST_WORD = 1 << 18


def is_long(text: str) -> bool:
    """Whether a text goes in pieces."""
    return len(text) > PIECE


def batches(texts: Sequence[str]) -> Iterator[list[str]]:
    """Consecutive texts that are handled together: PIECE characters, or one longer text."""
    batch: list[str] = []
    size = 0
    for text in texts:
        if batch and (size + len(text) > PIECE or len(batch) == BATCH):
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += len(text)
    if batch:
        yield batch


def chunks_of(text: str) -> Iterator[str]:
    """A long text in chunks of PIECE characters."""
    return (text[begin : begin + PIECE] for begin in range(0, len(text), PIECE))


def pieces(chunks: Iterable[str], recipe: Recipe) -> Iterator[str]:
    """Cut a text into pieces, only where no token, Han run or composition goes across."""
    carry = ""
    for chunk in chunks:
        carry += chunk
        if len(carry) < PIECE:
            continue
        cut = _last_break(carry[:LONGEST_WORD], recipe)
        if cut == 0 and len(carry) > LONGEST_WORD:
            cut = LONGEST_WORD
        if cut:
            yield carry[:cut]
            carry = carry[cut:]
    yield carry


def _last_break(text: str, recipe: Recipe, window: int = 4096) -> int:
    """The last place at which a text may be cut; 0 if there is none but its beginning."""
    for begin in range((len(text) - 1) // window * window, -1, -window):
        codes, _ = code_points([text[begin : begin + window]])
        table = tables(codes)
        may = table.space if recipe.features is FeatureKind.TOKENS else table.breaks
        found = np.flatnonzero(may[codes[:-1]])
        if len(found):
            return begin + int(found[-1])
    return 0
