"""The texts of a form in, the places at which they differ out, and the pattern around these."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from simdup.arrays import Indices
from simdup.fields import printable
from simdup.fingerprint.tokens import Tokens, placed_tokens
from simdup.match.places import SHORT_READING, Readings, readings
from simdup.recipe import Recipe

#: The most texts of a form that are compared, and the most places that are shown.
MOST_TEXTS, MOST_PLACES = 60, 8

#: The most characters of a reading, and of the pattern.
LONGEST_READING, LONGEST_PATTERN = 60, 6_000

# What belongs to a number beside the token that differs, as ".00" behind "760".
_BEFORE, _BEHIND = re.compile(r"(?:\d+[.,:/-])+\Z"), re.compile(r"(?:[.,:/-]\d+)+")


def form_of(texts: Sequence[str], recipe: Recipe) -> dict[str, Any] | None:
    """The places of a form as the page reads it in forms.js; None if the texts differ nowhere.

    `rows` has what each text has at each place, and `pattern` the first text in pieces: a string
    that stands between places, or the number of a place, of which a row has the reading.
    """
    texts = [text[: 2 * LONGEST_PATTERN] for text in texts[:MOST_TEXTS]]
    placed = [placed_tokens(text, recipe) for text in texts]
    sizes = [len(ids) for ids, _, _ in placed]
    offsets = np.insert(np.cumsum(sizes), 0, 0)
    tokens = Tokens(np.concatenate([ids for ids, _, _ in placed]), offsets)
    read = readings(tokens, np.zeros(len(texts), np.int64))
    spans = [
        _spans(text, span, _of_text(read, number, offsets[number]))
        for number, (text, (_, *span)) in enumerate(zip(texts, placed, strict=True))
    ]
    shown = _shown(read.place, read.size, len(texts))
    if not shown:
        return None
    rows = [
        [printable(text[slice(*of_text[place])])[:LONGEST_READING] for place in shown]
        for text, of_text in zip(texts, spans, strict=True)
    ]
    pattern = _pattern(texts[0], [spans[0][place] for place in shown])
    return {"places": len(shown), "rows": rows, "pattern": pattern}


def _of_text(read: Readings, text: int, offset: int) -> list[tuple[int, int, int]]:
    """The places of a text, each with the first token of its reading and the one behind it."""
    chosen = read.text == text
    first = read.begin[chosen] - offset
    places = read.place[chosen].tolist()
    return list(zip(places, first.tolist(), (first + read.size[chosen]).tolist(), strict=True))


def _spans(
    text: str, ends: Sequence[Indices], readings: Iterable[tuple[int, int, int]]
) -> dict[int, tuple[int, int]]:
    """Where the reading of each place begins and ends in the text, whole numbers at a time."""
    spans = dict[int, tuple[int, int]]()
    for place, first, behind in readings:
        if behind == first:
            spans[place] = 0, 0
            continue
        begin, end = int(ends[0][first]), int(ends[1][behind - 1])
        if text[begin : begin + 1].isdigit() and (before := _BEFORE.search(text[:begin])):
            begin = before.start()
        if text[end - 1 : end].isdigit() and (more := _BEHIND.match(text, end)):
            end = more.end()
        spans[place] = begin, end
    return spans


def _shown(place: Indices, size: Indices, texts: int) -> list[int]:
    """The places that are short in most texts, in the order of the text; the most filled first."""
    short = np.bincount(place, size <= SHORT_READING) * 2 > texts
    filled = np.bincount(place, size > 0) * short
    best = np.argsort(-filled, kind="stable")[:MOST_PLACES]
    return sorted(int(number) for number in best if filled[number])


def _pattern(text: str, spans: Sequence[tuple[int, int]]) -> list[str | int]:
    """The text in pieces, with the number of each place instead of what stands there."""
    pieces, end = list[str | int](), 0
    for number, (begin, after) in enumerate(spans):
        if after > begin >= end:
            pieces += [text[end:begin], number]
            end = after
    return [*pieces, text[end : end + LONGEST_PATTERN]]
