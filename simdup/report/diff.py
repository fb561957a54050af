"""A unified diff of two texts by sentence, with long runs and long lines folded."""

from __future__ import annotations

import re
from difflib import unified_diff
from itertools import groupby
from typing import TYPE_CHECKING

from simdup.report.terminal import ADDED, HEADING, PLACE, PLAIN, REMOVED
from simdup.report.wording import count, printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simdup.report.terminal import TerminalStyle

# The most lines shown of a run with the same sign, and the most characters of a line.
LONGEST_RUN = 12
LONGEST_LINE = 160

_COLOURS = {"-": REMOVED, "+": ADDED, "@": PLACE}

# Texts are compared by sentence, since line ends inside a sentence are only layout. A sentence
# ends at the end of a line, after a Chinese full stop and the brackets or quotes that close
# there, or after a Western full stop that is followed by a space.
_BETWEEN_SENTENCES = re.compile(
    r"\n|(?<=[。！？])(?![」』”’）。！？])|(?<=[。！？][」』”’）])|(?<=[.!?])\s+"
)

# A line this long whose next one begins with a letter was only wrapped. Chinese lines are
# joined without a space.
_WRAPPED = re.compile(r"(?<=[^\n]{50})(?<![。！？])\n(?=\w)")
_WRAPPED_HAN = re.compile(
    r"(?<=[^\n]{24}[\u3000-\u9fff\uff00-\uffef])(?<![。！？])\n(?=[\u3000-\u9fff])"
)


def render(
    left: str, right: str, names: tuple[str, str], look: TerminalStyle = PLAIN
) -> Iterator[str]:
    """The lines of the diff; none if the sentences of both texts are the same."""
    a, b = _sentences(left), _sentences(right)
    lines = unified_diff(a, b, printable(names[0]), printable(names[1]), n=1, lineterm="")
    for number, (sign, run) in enumerate(groupby(lines, key=lambda line: line[:1])):
        # The first two lines are the names of the files, and begin like changes.
        colour = HEADING if number < len(names) else _COLOURS.get(sign)
        for line in _shown(sign, list(run)):
            yield look.painted(line, colour) if colour else line


def _shown(sign: str, run: list[str]) -> Iterator[str]:
    """The first lines of a run with the same sign, and the number of the others."""
    yield from map(_folded, run[:LONGEST_RUN])
    if len(run) > LONGEST_RUN:
        yield f"{sign}... {count(len(run) - LONGEST_RUN, 'more line')}"


def _sentences(text: str) -> list[str]:
    """The sentences of a text without the white space around them."""
    text = _WRAPPED.sub(" ", _WRAPPED_HAN.sub("", text))
    return [stripped for part in _BETWEEN_SENTENCES.split(text) if (stripped := part.strip())]


def _folded(line: str) -> str:
    """A printable line; the middle of a long one is left out."""
    line = printable(line)
    if len(line) <= LONGEST_LINE:
        return line
    half = LONGEST_LINE // 2
    return f"{line[:half]} ...({len(line) - 2 * half:,} characters)... {line[-half:]}"
