"""A unified diff of two texts by sentence, with long runs and long lines folded.

Texts with the same words are compared by line, and the words in which lines differ are marked.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import Match, SequenceMatcher
from itertools import groupby

from simdup.report.terminal import ADDED, HEADING, PLACE, PLAIN, REMOVED, TerminalStyle
from simdup.report.wording import count, printable

# The most lines shown of a run with the same sign, and the most characters of a line.
LONGEST_RUN = 12
LONGEST_LINE = 160

# The most sentences of two texts that are compared at once; more are cut in two where they agree.
SHORT_STRETCH = 1000

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


# The parts of a line: a Chinese or Japanese character, another word, blanks, a sign. Longer lines
# are not marked.
_PART = re.compile(r"[\u2e80-\u9fff\uf900-\ufaff]|[^\W\u2e80-\u9fff\uf900-\ufaff]+|\s+|[^\w\s]")
_LONGEST_MARKED = 10_000


def render(
    left: str,
    right: str,
    names: tuple[str, str],
    look: TerminalStyle = PLAIN,
    *,
    by_line: bool = False,
) -> Iterator[str]:
    """The lines of the diff; none if the sentences of both texts are the same.

    With `by_line` the texts have the same words: a line says so, and lines are compared.
    """
    a, b = (each.split("\n") if by_line else _sentences(each) for each in (left, right))
    if by_line:
        differ = "only layout or punctuation differs" if a != b else "the same layout too"
        yield f"the same words in the same order; {differ}"
    lines = _unified(a, b, (printable(names[0]), printable(names[1])), is_marked=by_line)
    for number, (sign, run) in enumerate(groupby(lines, key=lambda line: line[:1])):
        # The first two lines are the names of the files, and begin like changes.
        colour = HEADING if number < len(names) else _COLOURS.get(sign)
        for line in _shown(sign, list(run)):
            yield look.painted(line, colour) if colour else line


class _Matcher(SequenceMatcher[str]):
    """Finds the common parts of two lists of sentences in nearly linear time.

    Of two long lists the longest match may be a single sentence at the beginning, and so again for
    the rest. So long lists are cut near the middle, at a sentence that stands once in each.
    """

    a: Sequence[str]
    b: Sequence[str]

    def find_longest_match(
        self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None
    ) -> Match:
        """The match at which the stretches a[alo:ahi] and b[blo:bhi] are cut."""
        a_end, b_end = len(self.a) if ahi is None else ahi, len(self.b) if bhi is None else bhi
        if a_end - alo + b_end - blo > SHORT_STRETCH:
            both = _in_both(self.a[alo:a_end], self.b[blo:b_end])
            if both:
                i, j = both[len(both) // 2]
                return Match(alo + i, blo + j, 1)
        return super().find_longest_match(alo, a_end, blo, b_end)


def _in_both(a: Sequence[str], b: Sequence[str]) -> list[tuple[int, int]]:
    """Places (in a, in b) of sentences that stand once in each: the most that ascend in both."""
    once = {each for each, number in Counter(b).items() if number == 1}
    once &= {each for each, number in Counter(a).items() if number == 1}
    places = {each: place for place, each in enumerate(b) if each in once}
    pairs = [(place, places[each]) for place, each in enumerate(a) if each in once]
    ends, lasts, before = list[int](), list[int](), list[int]()
    for place, (_, j) in enumerate(pairs):
        at = bisect_left(ends, j)
        ends[at : at + 1], lasts[at : at + 1] = [j], [place]
        before.append(lasts[at - 1] if at else -1)
    found, place = list[tuple[int, int]](), lasts[-1] if lasts else -1
    while place >= 0:
        found.append(pairs[place])
        place = before[place]
    return found[::-1]


def _unified(
    a: Sequence[str], b: Sequence[str], names: tuple[str, str], *, is_marked: bool
) -> Iterator[str]:
    """The lines of a unified diff with one line around changes; no lines if nothing differs."""
    groups = _Matcher(None, a, b).get_grouped_opcodes(1)
    for number, group in enumerate(groups):
        if number == 0:
            yield from (f"--- {names[0]}", f"+++ {names[1]}")
        (_, a_begin, _, b_begin, _), (_, _, a_end, _, b_end) = group[0], group[-1]
        yield f"@@ -{_range(a_begin, a_end)} +{_range(b_begin, b_end)} @@"
        for tag, i, i_end, j, j_end in group:
            if tag == "equal":
                yield from (f" {each}" for each in a[i:i_end])
            else:
                old, new = a[i:i_end], b[j:j_end]
                if is_marked and len(old) == len(new):
                    old, new = zip(*map(_marked, old, new), strict=True)
                yield from (f"-{each}" for each in old)
                yield from (f"+{each}" for each in new)


def _marked(old: str, new: str) -> tuple[str, str]:
    """Two lines, with marks around what differs: [-old-] and {+new+}.

    >>> _marked("Wait, then pour.", "Wait then pour!")
    ('Wait[-,-] then pour[-.-]', 'Wait then pour{+!+}')
    """
    if len(old) + len(new) > _LONGEST_MARKED:
        return old, new
    a, b = _PART.findall(old), _PART.findall(new)
    lines = "", ""
    for tag, i, i_end, j, j_end in _Matcher(None, a, b).get_opcodes():
        pieces = "".join(a[i:i_end]), "".join(b[j:j_end])
        if tag != "equal":
            pieces = pieces[0] and f"[-{pieces[0]}-]", pieces[1] and f"{{+{pieces[1]}+}}"
        lines = lines[0] + pieces[0], lines[1] + pieces[1]
    return lines


def _range(begin: int, end: int) -> str:
    """Lines from `begin` to before `end`, as a unified diff names them."""
    if end - begin == 1:
        return str(end)
    return f"{begin + (end > begin)},{end - begin}"


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
