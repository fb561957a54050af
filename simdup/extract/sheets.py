"""Cells of a workbook in, their text out: values as their number formats show them.

Number formats are codes such as `0.00%` and `yyyy-mm-dd` (ECMA-376, 18.8.30 and 18.8.31). Dates
are counts of days. Names of months are English, colours and conditions do not count.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import lru_cache, reduce
from math import isfinite
from typing import NamedTuple

from simdup.extract.cleanup import TextBuilder
from simdup.extract.text_formats import pairs, tables

_TABLES = tables("sheets")
#: The codes of the formats that have a number alone.
FORMATS = {
    int(number): code.replace("␣", " ") for number, code in pairs(_TABLES["formats"]).items()
}
# The parts of a moment as `strftime` has them, which knows English names; i is an hour of 12, n a
# minute.
_PARTS = pairs(_TABLES["parts of moments"])

_TOKEN = re.compile(
    r"""
    "(?P<quoted>[^"]*)"? | \\(?P<escaped>.) | \[\$(?P<money>[^\]-]*)[^\]]*\] | [_*].
  | (?P<moment>\[(?:h+|m+|s+)\]|AM/PM|A/P|上午/下午|y+|e(?![+-])|m+|d+|h+|s+(?:\.0+)?)
  | \[[^\]]*\] | (?P<general>General|@) | (?P<exponent>E[+-]) | (?P<digit>[#0?]) | (?P<other>.)
    """,
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
# Dates are at most in the year 9999; before March 1900 a day is counted that never was.
_LAST_DAY, _MISCOUNTED, _DAY = 2_958_466, 60, 86_400
_REFERENCE = re.compile("([A-Z]{1,3})([0-9]{1,7})")
_LONGEST_CODE = 255  # characters, as in Excel
_NONZERO = re.compile("[1-9]")
_FIRST, _DAYS_BEFORE_1904 = datetime(1899, 12, 30), 1462  # noqa: DTZ001 (as on paper)


class _Token(NamedTuple):
    """A piece of a format code: the name of a group of `_TOKEN`, and its characters."""

    kind: str
    text: str


_POINT, _PERCENT, _END = (_Token("other", sign) for sign in ".%;")
_WRITTEN = ("quoted", "escaped", "money", "digit", "exponent", "other")
# The digits of a format: before and after the point, and of an exponent.
_DIGITS = re.compile(r"([#0?,]*)(\.?)([#0?]*)(E[+-][#0?]+)?", re.IGNORECASE)
_PRECISE = Context(prec=400)  # digits of the largest number


class _Number(NamedTuple):
    """A section of a code that shows digits: what is before and after them, and how they are."""

    before: str
    whole: str
    point: str
    part: str
    exponent: str | None
    after: str
    scale: int

    def shown(self, value: float) -> str:
        """A number that is not negative."""
        if self.exponent:
            return f"{self.before}{value:.{len(self.part)}E}{self.after}"
        scaled = Decimal(repr(value)).scaleb(self.scale, _PRECISE)
        rounded = scaled.quantize(Decimal(1).scaleb(-len(self.part)), ROUND_HALF_UP, _PRECISE)
        left, _, right = f"{rounded:{',' * (',' in self.whole)}f}".partition(".")
        least = self.part.rfind("0") + 1
        right = right[:least] + right[least:].rstrip("0")
        left = left.lstrip("0,").zfill(self.whole.count("0") if self.whole else 1)
        return f"{self.before}{left}{self.point}{right}{self.after}"


class _Moment(NamedTuple):
    """A section of a code that shows a date or a time.

    template: The characters around the parts of the moment, for `str.format`.
    codes: The parts for `strftime`.
    others: The places of the parts that `strftime` does not show, and how they are written.
    """

    template: str
    codes: list[str]
    others: list[tuple[int, str]]

    def shown(self, value: float) -> str:
        """A moment, as a number of days."""
        if not 0 <= value < _LAST_DAY:
            return plain(value)
        digits = max((len(name.partition(".")[2]) for _, name in self.others), default=0)
        seconds = round(value * _DAY, digits)
        moment = _FIRST + timedelta(seconds=seconds, days=1 <= value < _MISCOUNTED)
        parts = moment.strftime("\x1f".join(self.codes)).split("\x1f")
        for at, name in self.others:
            parts[at] = _part(name, parts[at], moment, seconds)
        return self.template.format(*parts)


@lru_cache(1 << 10)
def _sections(code: str) -> list[_Number | _Moment | str | None]:
    """The sections of a code: for positive numbers, for negative ones, and for 0.

    A section may be a text for all numbers; None: it shows the plain number.
    """
    sections = list[list[_Token]]([[]])
    for found in _TOKEN.finditer(code):
        token = _Token(found.lastgroup or "", found[found.lastgroup or 0])
        if token == _END:
            sections.append([])
        else:
            sections[-1].append(token)
    return [_section(tokens) for tokens in sections]


def _section(tokens: list[_Token]) -> _Number | _Moment | str | None:
    """The meaning of the tokens of a section."""
    kinds = [token.kind for token in tokens]
    if "moment" in kinds:
        return _moment(tokens)
    if "general" in kinds:
        return None
    texts = [token.text if token.kind in _WRITTEN else "" for token in tokens]
    if "digit" not in kinds:
        return "".join(texts)
    begin, end = kinds.index("digit"), len(kinds) - kinds[::-1].index("digit")
    begin -= tokens[begin - 1 : begin] == [_POINT]
    before, digits, after = (
        "".join(texts[a:b]) for a, b in ((0, begin), (begin, end), (end, None))
    )
    thousands = len(after) - len(after.lstrip(","))
    scale = 2 * tokens.count(_PERCENT) - 3 * thousands
    if not (found := _DIGITS.fullmatch(digits)):
        return None
    whole, point, part, exponent = found.groups()
    return _Number(before, whole, point, part, exponent, after[thousands:], scale)


def _moment(tokens: list[_Token]) -> _Moment:
    """The parts of a moment, and what stands around them."""
    template, names = "", list[str]()
    for kind, text in tokens:
        if kind == "moment":
            names.append(text if "/" in text else text.lower())
        is_text = kind in _WRITTEN
        template += (
            "{}" if kind == "moment" else text.replace("{", "{{").replace("}", "}}") * is_text
        )
    is_half = any("/" in name for name in names)
    for at, name in enumerate(names):
        follows_hour = at > 0 and names[at - 1].strip("[")[:1] in {"h", "i"}
        if name in {"m", "mm"} and (follows_hour or "".join(names[at + 1 : at + 2])[:1] == "s"):
            names[at] = name.replace("m", "n")
        elif is_half and name in {"h", "hh"}:
            names[at] = name.replace("h", "i")
    codes = [_PARTS.get(name.partition(".")[0], "") for name in names]
    others = [(at, name) for at, name in enumerate(names) if len(name) == 1 or not name.isalpha()]
    return _Moment(template, codes, others)


def _part(name: str, text: str, moment: datetime, seconds: float) -> str:
    """A part of a moment that `strftime` does not show so."""
    if "/" in name:
        return name.split("/")[moment.hour >= 12]
    if name.startswith("["):
        unit = {"h": 3600, "m": 60, "s": 1}[name[1]]
        return f"{int(seconds // unit):0{len(name) - 2}}"
    if digits := len(name.partition(".")[2]):
        return f"{text}.{moment.microsecond:06}"[: len(text) + 1 + digits]
    return text.lstrip("0") or "0"


@lru_cache(1 << 14)
def shown(value: float, code: str, *, is_1904: bool = False) -> str:
    """A number as its format shows it.

    >>> shown(43831, "yyyy-mm-dd"), shown(0.125, "0.0%"), shown(-1234.5, '#,##0.00 "€"')
    ('2020-01-01', '12.5%', '-1,234.50 €')
    """
    sections = _sections(code) if code and isfinite(value) else [None]
    at = (value < 0) + 2 * (value == 0)
    section = sections[at] if at < len(sections) else sections[0]
    if isinstance(section, _Moment):
        return section.shown(value + _DAYS_BEFORE_1904 * is_1904)
    if isinstance(section, _Number):
        text = section.shown(abs(value))
        return f"-{text}" if value < 0 and len(sections) == 1 and _NONZERO.search(text) else text
    return plain(value) if section is None else section


def plain(value: float) -> str:
    """A number without a format, in the digits that a spreadsheet has.

    >>> plain(12.0), plain(0.1 + 0.2), plain(1e20)
    ('12', '0.3', '1E+20')
    """
    return f"{value:.15g}".upper()


def place_of(reference: str) -> tuple[int, int] | None:
    """The row and column of a cell such as B3, from 0 on; None if it is none.

    >>> place_of("B3"), place_of("AA1"), place_of("3")
    ((2, 1), (0, 26), None)
    """
    if not (found := _REFERENCE.fullmatch(reference)):
        return None
    return int(found[2]) - 1, reduce(lambda n, c: 26 * n + ord(c) - 64, found[1], 0) - 1


class Sheets:
    """The text of the cells of a workbook: a line for each row."""

    def __init__(self, codes: Sequence[str], *, is_1904: bool) -> None:
        """`codes` are the number formats of the styles of cells."""
        self.text, self.others = TextBuilder(), list[tuple[str, bytes]]()
        self._codes = [code if len(code) <= _LONGEST_CODE else "" for code in codes]
        self._is_1904, self._row = is_1904, -1
        self._filled, self._values = list[str](), list[str]()

    def add(self, row: int, column: int, value: float | str, style: int = 0) -> None:
        """Add a cell; rows come in their order."""
        if row != self._row:
            self.text.add("\n")
            self._row = row
        text = exact = f"{value}".removesuffix(".0") if isinstance(value, float) else value
        if not isinstance(value, str):
            code = self._codes[style] if 0 <= style < len(self._codes) else ""
            text = shown(value, code, is_1904=self._is_1904)
        if text != exact:
            self._values.append(f"{row},{column} {exact}")
        if text.strip():
            self._filled.append(f"{row},{column}")
        self.text.add(f"{text}\t")

    def end(self) -> None:
        """End a sheet: note which cells have text, and exact values that are shown otherwise."""
        for kind, noted in (("tables", self._filled), ("formulas and values", self._values)):
            if noted:
                self.others.append((kind, " ".join(noted).encode("utf-8", "surrogatepass")))
            noted.clear()
        self._row = -1
        self.text.add("\n")
