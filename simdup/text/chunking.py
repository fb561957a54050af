"""Texts of any length in, batches and pieces of about PIECE characters out.

Short texts are handled together, in batches. A long text is cut into pieces, and only where
that changes no token.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

import numpy as np

from simdup.recipe import FeatureKind, Recipe
from simdup.text.spelling import HYPHENS
from simdup.text.unicode import code_points, tables

Item = TypeVar("Item")

# Characters that numpy handles at once: more do not fit in the cache (one million: 3 times
# slower), and for fewer numpy's overhead is too large. Changes speed only.
PIECE = 200_000

# At most this many texts are in a batch, so that its table of votes (texts x 256 counts)
# stays in the cache. Changes speed only.
BATCH = 512

# A text without a separator for this many characters is cut there, so that a file of one
# endless word needs bounded memory. Must be more than PIECE. Part of the recipe.
LONGEST_WORD = 1 << 18

# A place to cut is searched from the end, in stretches of this many characters. Changes speed only.
_WINDOW = 4096

# More blanks than these after a hyphen at the end of a line are never looked through.
_BLANKS = 64


def is_long(text: str) -> bool:
    """Whether a text has to be cut into pieces."""
    return len(text) > PIECE


def batched(
    items: Iterable[Item], size: Callable[[Item], int], largest: int, most: int
) -> Iterator[list[Item]]:
    """Lists of consecutive items: at most `most` of `largest` size together, or one larger item."""
    batch, total = list[Item](), 0
    for item in items:
        own = size(item)
        if batch and (total + own > largest or len(batch) == most):
            yield batch
            batch, total = [], 0
        batch.append(item)
        total += own
    if batch:
        yield batch


def batches(texts: Sequence[str]) -> Iterator[list[str]]:
    """Batches of consecutive texts: at most PIECE characters each, or one longer text."""
    return batched(texts, len, PIECE, BATCH)


def chunks_of(text: str) -> Iterator[str]:
    """A long text in chunks of PIECE characters."""
    return (text[begin : begin + PIECE] for begin in range(0, len(text), PIECE))


def windows(chunks: Iterable[str]) -> Iterator[str]:
    """Cut a text at ends of lines, in the same places however it comes in chunks.

    A window has at most LONGEST_WORD characters. No hyphen stands where it ends, unless a line is
    longer than that.
    """
    carry = ""
    for chunk in chunks:
        carry += chunk
        while len(carry) > LONGEST_WORD:
            cut = _last_line_end(carry[:LONGEST_WORD]) or LONGEST_WORD
            yield carry[:cut]
            carry = carry[cut:]
    yield carry


def pieces(chunks: Iterable[str], recipe: Recipe) -> Iterator[str]:
    """Cut a text into pieces, but never within a token, a run of Han or a composed character."""
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


def _last_line_end(text: str) -> int:
    """The last place behind a line that ends without a hyphen; 0 if there is none."""
    end = text.rfind("\n")
    while end >= 0 and text[max(end - _BLANKS, 0) : end].rstrip().endswith(tuple(HYPHENS)):
        end = text.rfind("\n", 0, end)
    return end + 1


def _last_break(text: str, recipe: Recipe) -> int:
    """The last place where cutting the text changes no token; 0 if there is none."""
    for begin in reversed(range(0, len(text), _WINDOW)):
        codes, _ = code_points([text[begin : begin + _WINDOW]])
        table = tables(codes)
        is_break = table.space if recipe.features is FeatureKind.TOKENS else table.breaks
        found = np.flatnonzero(is_break[codes[:-1]])
        if len(found):
            return begin + int(found[-1])
    return 0
