"""Texts in, facts out: the numbers, amounts, dates, references and identifiers in a text.

Two texts can share nearly all of their words and still be two invoices: then each has facts that
the other lacks. A fact is a run of characters with a digit in it, such as B-14 or 10:30, with its
sign, currency or per cent, or a date in words. Facts that are written in two ways are equal only
where that is certain: 1.234,50 is 1,234.50, but 1.234 may be either number.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple
from unicodedata import normalize

from simdup.fields import printable
from simdup.text.chunking import PIECE, chunks_of
from simdup.text.spelling import respelled

# Facts of a text are compared if they take no more memory than this, with _OVERHEAD for each and
# _REFERENCE wherever it is written.
_MOST_BYTES, _OVERHEAD, _REFERENCE = 1 << 26, 200, 8

# The most characters that are shown of a fact.
_LONGEST = 40

_MONTH = (  # in English and German
    r"(?:Jan(?:uary?)?|Feb(?:ruary?)?|März?|Mar(?:ch)?|Apr(?:il)?|Ma[iy]|June?|Juni|Jul[iy]?"
    r"|Aug(?:ust)?|Sept?(?:ember)?|O[ck]t(?:ober)?|Nov(?:ember)?|De[cz](?:ember)?)\b\.?"
)
_GAP = r"\s{1,8}"
_DAY = r"\d{1,2}(?:st|nd|rd|th|\.)?"
_SIGN = r"[^\W\u2e80-\u9fff\uf900-\ufaff]"  # a letter or digit that is not Chinese
_CHINESE = "[〇零一二两三四五六七八九十百千万亿壹贰叁肆伍陆柒捌玖拾佰仟]"
_CURRENCY = (
    r"[$€£¥₹₩₽₺₫₴฿¢]|\b(?:US|AU?|CA?|NZ|HK|SG?)\$|\b(?:EUR|USD|GBP|CHF|CNY|RMB|JPY|AUD|CAD|NZD|HKD"
    r"|SGD|SEK|NOK|DKK|PLN|CZK|INR|BRL|KRW|kr|zł)\b"
)

# A run has a digit among its first characters, so that no text takes long.
_FACT = re.compile(
    rf"""
      (?<!\w){_DAY}{_GAP}{_MONTH}(?:,?{_GAP}\d{{4}}\b)?
    | (?<!\w){_MONTH}{_GAP}(?:{_DAY}(?!\w)(?:,?{_GAP}\d{{4}}\b)?|\d{{4}}\b)
    | (?:(?:\d{{1,4}}|{_CHINESE}{{1,12}})\ ?(?:[年月号]|日(?!元))\ ?){{1,3}}
    | {_CHINESE}{{1,12}}[美欧日港]?[元圆]
    | 百分之{_CHINESE}{{1,12}}|第{_CHINESE}{{1,12}}[条章节期届]
    | (?P<minus>(?<![\w.)\]])[-–\u2212])?(?:(?P<before>{_CURRENCY})\ ?)?
      (?P<run>(?<!{_SIGN})(?={_SIGN}(?:{_SIGN}|[-/]){{0,40}}(?<=\d))
        {_SIGN}+(?:(?:[-\u2010-\u2013/]|(?<=\d)[.,:'’\u2044](?=\d)){_SIGN}+)*)
      (?:\ ?(?P<after>[%‰]|{_CURRENCY}|[万亿]?[美欧日港]?[元圆]))?
    """,
    re.VERBOSE,
)
# Every fact has one of these, and begins at most _BEFORE characters before the first of them.
_TELLING, _BEFORE = re.compile(r"[\d年月日号元圆第]|百分之"), 48

# Typesetting has several dashes and apostrophes; an apostrophe stands between thousands.
_PLAIN = str.maketrans("\u2010\u2011\u2012–", "----", "'’")

_POINTS = re.compile(r"\d{1,3}(?:,\d{3})+\.\d+|\d{1,3}(?:,\d{3}){2,}")
_COMMAS = re.compile(r"\d{1,3}(?:\.\d{3})+,\d+|\d{1,3}(?:\.\d{3}){2,}|\d+,\d\d?")


class Facts:
    """The facts of a text, each as it is first written.

    order: The keys of all facts, in order of appearance.
    are_too_many: Whether the text has more facts than can be compared.
    """

    def __init__(self, pieces: Iterable[str] = ()) -> None:
        """Take the facts of a text in pieces."""
        self.written: dict[str, str] = {}
        self.order: list[str] = []
        self.are_too_many = False
        self._room = _MOST_BYTES
        for _ in self.noted(pieces):
            pass

    def lacking_in(self, other: Facts) -> list[str]:
        """The facts that another text lacks."""
        return [fact for key, fact in self.written.items() if key not in other.written]

    def moved_from(self, other: Facts) -> list[str]:
        """The facts where another text has other ones, if it has the same ones as often."""
        if self.order == other.order or Counter(self.order) != Counter(other.order):
            return []
        both = zip(self.order, other.order, strict=True)
        return [self.written[one] for one, two in both if one != two]

    def noted(self, pieces: Iterable[str]) -> Iterator[str]:
        """Yield the pieces of a text, and note the facts in them."""
        rest = ""
        for piece in pieces:
            for chunk in chunks_of(piece):
                rest += chunk
                if len(rest) >= PIECE:
                    cut = rest.rfind("\n") + 1 or rest.rfind(" ") + 1 or len(rest)
                    self._note(rest[:cut])
                    rest = rest[cut:]
            yield piece
        self._note(rest)

    def _note(self, text: str) -> None:
        for found in () if self.are_too_many else _found(normalize("NFKC", *respelled([text]))):
            key = _key(found)
            if key not in self.written:
                self.written[key] = found.group().strip()
                self._room -= len(key) + len(self.written[key]) + _OVERHEAD
            self.order.append(sys.intern(key))
            self._room -= _REFERENCE
        if self._room < 0:
            self.are_too_many, self.written, self.order = True, {}, []


class OtherFacts(NamedTuple):
    """The facts that only the left and only the right one of two texts has, or has elsewhere.

    Facts that are exchanged, such as two prices, are facts of both.
    """

    left: Sequence[str] = ()
    right: Sequence[str] = ()
    are_too_many: bool = False

    @classmethod
    def of(cls, left: Facts, right: Facts) -> OtherFacts:
        """Compare the facts of two texts; nothing is known of a text with too many."""
        if left.are_too_many or right.are_too_many:
            return cls(are_too_many=True)
        lacking = left.lacking_in(right), right.lacking_in(left)
        return (
            cls(*lacking) if any(lacking) else cls(left.moved_from(right), right.moved_from(left))
        )

    @property
    def may_be_exchanged(self) -> bool:
        """Whether each text has a fact that the other lacks, as far as can be told."""
        return self.are_too_many or bool(self.left and self.right)

    def shown(self) -> tuple[str, str, int] | None:
        """The first fact of either text, "" for none, and how many more there are; None for none.

        Facts are counted in pairs, of the left and the right text.
        """
        one, other = (printable(each[0])[:_LONGEST] if each else "" for each in self[:2])
        more = max(len(self.left), len(self.right)) - 1
        return None if more < 0 else (one, other, more)

    def in_words(self) -> str:
        """The first fact that only the one and only the other text has; "" if there is none.

        >>> OtherFacts(["412.50", "3 May", "7"], ["397.10"]).in_words()
        'other numbers: 412.50 / 397.10, 2 more'
        """
        if (shown := self.shown()) is None:
            return "more numbers than can be compared" * self.are_too_many
        one, other, more = shown
        rest = f", {more:,} more" if more else ""
        return f"other numbers: {one or 'none'} / {other or 'none'}{rest}"


def other_facts(left: str, right: str) -> OtherFacts:
    """Compare the facts of two texts."""
    return OtherFacts.of(Facts([left]), Facts([right]))


def _found(text: str) -> Iterator[re.Match[str]]:
    """Yield the matches of _FACT; prose is skipped up to the next digit."""
    at = 0
    while (telling := _TELLING.search(text, at)) and (
        fact := _FACT.search(text, max(at, telling.start() - _BEFORE))
    ):
        yield fact
        at = fact.end()


def _key(fact: re.Match[str]) -> str:
    """What a fact means: equal for facts that certainly are the same."""
    if fact["run"] is None:
        return "".join(filter(str.isalnum, fact.group())).casefold()
    run, minus = fact["run"].translate(_PLAIN), "-" * (fact["minus"] is not None)
    if _POINTS.fullmatch(run):
        run = run.replace(",", "")
    elif _COMMAS.fullmatch(run):
        run = run.replace(".", "").replace(",", ".")
    return f"{minus}{run} {fact['before'] or fact['after'] or ''}".casefold()
