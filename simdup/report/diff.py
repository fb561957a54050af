"""A unified diff of two texts by sentence, or by line if the texts have the same words.

Each line has its number in the text. The words that changed within a line are marked, in Chinese
and Japanese the characters. Long runs and long unchanged passages are folded.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from difflib import Match, SequenceMatcher
from itertools import accumulate, groupby, repeat
from operator import itemgetter
from typing import NamedTuple

from simdup.report.terminal import ADDED, HEADING, PLACE, PLAIN, REMOVED, TerminalStyle
from simdup.report.wording import count, printable

# The most lines shown of a run with the same sign, and the most characters of an unmarked line or
# of a passage between two marks.
LONGEST_RUN = 12
LONGEST_LINE = 160

# The most sentences of two texts that are compared at once; more are cut in two where they agree.
SHORT_STRETCH = 1000

_COLOURS = {"-": REMOVED, "+": ADDED}

# What became of a passage, and where it stands in both texts (difflib's opcodes).
_Opcode = tuple[str, int, int, int, int]

# Texts are compared by sentence, since line ends inside a sentence are only layout. A sentence
# ends at the end of a line, after a Chinese full stop and the brackets or quotes that close
# there, or after a Western full stop that is followed by a space and does not belong to the number
# of an item.
_BETWEEN_SENTENCES = re.compile(
    r"(?m)\n|(?<=[。！？])(?![」』”’）。！？])|(?<=[。！？][」』”’）])"
    r"|(?<=[.!?])(?<!^\d\.)(?<!^\d\d\.)\s+"
)

# A line this long whose next one begins with a letter, or a number that counts no item, was only
# wrapped. Chinese lines are joined without a space.
_WRAPPED = re.compile(r"(?<=[^\n]{50})(?<![。！？])\n(?=\w)(?!\d\d?\.\s)")
_WRAPPED_HAN = re.compile(
    r"(?<=[^\n]{24}[\u3000-\u9fff\uff00-\uffef])(?<![。！？])\n(?=[\u3000-\u9fff])"
)

# Stands for a line end between Chinese lines that are joined. No text has carriage returns.
_JOINT = "\r"

# The parts of a line: a Chinese or Japanese character, another word, blanks, a sign.
_PART = re.compile(
    r"[\u2e80-\u9fff\uf900-\ufaff]|[^\W\u2e80-\u9fff\uf900-\ufaff]+|\n|[^\S\n]+|[^\w\s]"
)

# Changed lines are not marked if they have more characters than this, or if less than this share
# of the words of the shorter side stands in the other: then hardly more than "the" is common.
_LONGEST_MARKED = 50_000
_LEAST_COMMON = 0.5


class _Lines(NamedTuple):
    """The sentences or lines of a text, and the number of the line in which each begins."""

    texts: Sequence[str]
    numbers: Sequence[int]

    def range(self, begin: int, end: int) -> str:
        """The lines of the text from `begin` to before `end`, as a unified diff names them."""
        if begin == end:
            return f"{self.numbers[begin - 1] if begin else 0},0"
        first, last = self.numbers[begin], self.numbers[end - 1] + self.texts[end - 1].count("\n")
        return f"{first},{last - first + 1}" if last > first else str(first)

    def rows(
        self, sign: str, begin: int, end: int, shown: Sequence[str]
    ) -> Iterator[tuple[str, int, str]]:
        """What is shown of the lines from `begin` to before `end`, with the sign and numbers."""
        pairs = zip(self.numbers[begin:end], self.texts[begin:end], strict=True)
        numbers = (first + place for first, text in pairs for place in range(text.count("\n") + 1))
        return zip(repeat(sign), numbers, shown, strict=False)


def render(
    left: str,
    right: str,
    names: tuple[str, str],
    look: TerminalStyle = PLAIN,
    *,
    same: str = "",
) -> Iterator[str]:
    """The lines of the diff; none if the sentences of both texts are the same.

    `same` is a line for texts with the same words, whose lines are compared; "" for others.
    """
    a, b = (_by_line(each) if same else _sentences(each) for each in (left, right))
    if same:
        yield same
    width = len(str(max((*a.numbers, *b.numbers), default=0)))
    for number, hunk in enumerate(_Matcher(None, a.texts, b.texts).get_grouped_opcodes(1)):
        if number == 0:
            yield look.painted(f"--- {printable(names[0])}", HEADING)
            yield look.painted(f"+++ {printable(names[1])}", HEADING)
        (_, i, _, j, _), (_, _, i_end, _, j_end) = hunk[0], hunk[-1]
        yield look.painted(f"@@ -{a.range(i, i_end)} +{b.range(j, j_end)} @@", PLACE)
        for sign, run in groupby(_rows(a, b, hunk), key=itemgetter(0)):
            for line in _shown(sign, width, [*run]):
                yield look.painted(line, _COLOURS[sign]) if sign in _COLOURS else line


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


def _rows(a: _Lines, b: _Lines, hunk: Iterable[_Opcode]) -> Iterator[tuple[str, int, str]]:
    """The lines of a hunk: sign, number in its own text, and the line with its marks."""
    for tag, i, i_end, j, j_end in hunk:
        old, new = "\n".join(a.texts[i:i_end]), "\n".join(b.texts[j:j_end])
        if tag == "equal":
            yield from a.rows(" ", i, i_end, [_folded(each) for each in old.split("\n")])
        else:
            of_old, of_new = _marked(old, new)
            yield from a.rows("-", i, i_end, of_old)
            yield from b.rows("+", j, j_end, of_new)


def _marked(old: str, new: str) -> tuple[list[str], list[str]]:
    r"""The lines of two passages, with marks around what differs: [-old-] and {+new+}.

    >>> _marked("Wait, then pour.", "Wait then pour!")
    (['Wait[-,-] then pour[-.-]'], ['Wait then pour{+!+}'])
    >>> _marked("Boil it.\nStir.", "Boil it.\nPour milk.\nStir very well.")
    (['Boil it.', 'Stir.'], ['Boil it.', 'Pour milk.', 'Stir{+ very well+}.'])
    """
    a, b = _PART.findall(old), _PART.findall(new)
    codes = list[_Opcode]()
    if len(old) + len(new) <= _LONGEST_MARKED:
        codes += _Matcher(None, a, b).get_opcodes()
    common = sum(_words(a[i:i_end]) for tag, i, i_end, _, _ in codes if tag == "equal")
    if not codes or common < _LEAST_COMMON * min(_words(a), _words(b)):
        codes = [("equal", 0, len(a), 0, len(b))]
    of_old = [(tag == "equal", "".join(a[i:i_end])) for tag, i, i_end, _, _ in codes]
    of_new = [(tag == "equal", "".join(b[j:j_end])) for tag, _, _, j, j_end in codes]
    return _joined(of_old, "[-{}-]"), _joined(of_new, "{{+{}+}}")


def _words(parts: Sequence[str]) -> int:
    """How many of these parts are words or characters, and not blanks or signs."""
    return sum(map(str.isalnum, parts))


def _joined(pieces: Iterable[tuple[bool, str]], marks: str) -> list[str]:
    """The lines of a passage from its pieces (is it common, text), with marks around the others.

    Changes with only a blank between them are one change. A line that is new as a whole has no
    marks.
    """
    lines = list[list[tuple[bool, str]]]([[]])
    for _, group in groupby(pieces, lambda piece: piece[0] and bool(piece[1].strip(" "))):
        run = [(is_common, text) for is_common, text in group if text]
        is_common = all(each for each, _ in run)
        first, *others = "".join(text for _, text in run).split("\n")
        lines[-1] += [(is_common, first)] if first else []
        lines += [[(is_common, each)] if each else [] for each in others]
    return [
        "".join(
            _folded(text) if is_common or len(line) == 1 else marks.format(_folded(text))
            for is_common, text in line
        )
        for line in lines
    ]


def _shown(sign: str, width: int, run: Sequence[tuple[str, int, str]]) -> Iterator[str]:
    """The first lines of a run with the same sign, and the number of the others."""
    for _, number, line in run[:LONGEST_RUN]:
        yield f"{sign}{number:>{width}} {line}"
    if len(run) > LONGEST_RUN:
        yield f"{sign}... {count(len(run) - LONGEST_RUN, 'more line')}"


def _by_line(text: str) -> _Lines:
    """The lines of a text, each with the blank lines after it, which alone would match anywhere."""
    lines = re.split(r"\n(?=[^\n])", text.rstrip("\n"))
    before = accumulate((line.count("\n") + 1 for line in lines[:-1]), initial=1)
    return _Lines(lines, [*before])


def _sentences(text: str) -> _Lines:
    """The sentences of a text without the white space around them."""
    ends = [match.start() for match in re.finditer("\n", text)]
    text = _WRAPPED.sub(" ", _WRAPPED_HAN.sub(_JOINT, text))
    found, begin = list[tuple[str, int]](), 0
    for between in (*_BETWEEN_SENTENCES.finditer(text), None):
        end = between.start() if between else len(text)
        part = text[begin:end]
        if stripped := part.strip():
            first = begin + len(part) - len(part.lstrip())
            found.append((stripped.replace(_JOINT, ""), bisect_left(ends, first) + 1))
        begin = between.end() if between else end
    return _Lines([part for part, _ in found], [number for _, number in found])


def _folded(line: str) -> str:
    """A printable line; the middle of a long one is left out."""
    line = printable(line)
    if len(line) <= LONGEST_LINE:
        return line
    half = LONGEST_LINE // 2
    return f"{line[:half]} ...({len(line) - 2 * half:,} characters)... {line[-half:]}"
