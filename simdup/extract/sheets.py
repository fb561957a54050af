"""Cells of a workbook in, their text out: values as their number formats show them.

Number formats are codes such as `0.00%` and `yyyy-mm-dd` (ECMA-376, 18.8.30 and 18.8.31). Dates
are counts of days. Names of months are English, colours and conditions do not count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
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
_FIRST, _FIRST_OF_1904 = datetime(1899, 12, 30), datetime(1904, 1, 1)  # noqa: DTZ001 (as on paper)


class _Token(NamedTuple):
    """A piece of a format code: the name of a group of `_TOKEN`, and its characters."""

    kind: str
    text: str


_POINT, _COMMA, _PERCENT, _SLASH, _END = (_Token("other", sign) for sign in ".,%/;")
_WRITTEN = ("quoted", "escaped", "money", "digit", "other")
_PRECISE = Context(prec=400)  # digits of the largest number


@lru_cache(1 << 10)
def _sections(code: str) -> list[list[_Token]]:
    """The sections of a code: for positive numbers, for negative ones, and for 0."""
    sections = list[list[_Token]]([[]])
    for found in _TOKEN.finditer(code):
        token = _Token(found.lastgroup or "", found[found.lastgroup or 0])
        if token == _END:
            sections.append([])
        else:
            sections[-1].append(token)
    return sections


def shown(value: float, code: str, *, is_1904: bool = False) -> str:
    """A number as its format shows it.

    >>> shown(43831, "yyyy-mm-dd"), shown(0.125, "0.0%"), shown(-1234.5, '#,##0.00 "€"')
    ('2020-01-01', '12.5%', '-1,234.50 €')
    """
    sections = _sections(code)
    at = (value < 0) + 2 * (value == 0)
    tokens = sections[at] if at < len(sections) else sections[0]
    kinds = {token.kind for token in tokens}
    if "moment" in kinds and 0 <= value < _LAST_DAY:
        return "".join(_moment(value, tokens, is_1904=is_1904))
    if not code or not isfinite(value) or kinds & {"general", "moment"} or _SLASH in tokens:
        return plain(value)
    text = _number(Decimal(repr(abs(value))), tokens)
    return f"-{text}" if value < 0 and len(sections) == 1 and _NONZERO.search(text) else text


def plain(value: float) -> str:
    """A number without a format, in the digits that a spreadsheet has.

    >>> plain(12.0), plain(0.1 + 0.2), plain(1e20)
    ('12', '0.3', '1E+20')
    """
    return f"{value:.15g}".upper()


def _number(value: Decimal, tokens: list[_Token]) -> str:
    """A positive number in digits, among the other characters of its format."""
    point = tokens.index(_POINT) if _POINT in tokens else len(tokens)
    places = [at for at, token in enumerate(tokens) if token.kind == "digit"]
    whole, part = ([at for at in places if (at > point) is after] for after in (False, True))
    last = max(places, default=len(tokens))
    scale = 2 * tokens.count(_PERCENT)
    while tokens[last + 1 : last + 2] == [_COMMA]:
        scale, last = scale - 3, last + 1
    exponent = [at for at, token in enumerate(tokens) if token.kind == "exponent"]
    if exponent:
        part = [at for at in part if at < exponent[0]]
        return f"{float(value):.{len(part)}E}"
    rounded = value.scaleb(scale, _PRECISE).quantize(
        Decimal(1).scaleb(-len(part)), ROUND_HALF_UP, _PRECISE
    )
    left, _, right = f"{rounded:f}".partition(".")
    signs = "".join(tokens[at].text for at in places)
    left = left.lstrip("0").zfill(len(whole) - f"{signs[: len(whole)]}0".index("0"))
    if whole and _COMMA in tokens[whole[0] : whole[-1]]:
        left = f"{int(left or 0):,}" if left else ""
    least = signs.rfind("0") + 1 - len(whole)
    right = right[: max(least, 0)] + right[max(least, 0) :].rstrip("0")
    digits = [""] * (len(whole) - len(left)) + list(left)
    first = len(digits) - len(whole) + 1
    texts = dict(zip(whole, ["".join(digits[:first]), *digits[first:]], strict=False))
    texts |= {} if whole else {point: f"{left}."}
    texts |= dict.fromkeys(part, "") | dict(zip(part, right, strict=False))
    return "".join(
        texts.get(at, token.text)
        for at, token in enumerate(tokens)
        if token.kind in _WRITTEN and (token != _COMMA or not whole or at < whole[0])
    )


def _moment(value: float, tokens: list[_Token], *, is_1904: bool) -> Iterator[str]:
    """A date or a time, part by part."""
    parts = [token.text.lower() for token in tokens if token.kind == "moment"]
    seconds = round(value * _DAY, max(len(part.partition(".")[2]) for part in parts))
    moment = (_FIRST_OF_1904 if is_1904 else _FIRST) + timedelta(seconds=seconds)
    if not is_1904 and 1 <= value < _MISCOUNTED:
        moment += timedelta(1)
    is_half = any("/" in part for part in parts)
    at = 0
    for kind, text in tokens:
        if kind == "moment":
            before, after = parts[at - 1] if at else "", "".join(parts[at + 1 : at + 2])
            is_minute = before.strip("[").startswith("h") or after.startswith("s")
            yield _part(text, moment, seconds, is_minute=is_minute, is_half=is_half)
            at += 1
        elif kind in _WRITTEN:
            yield text


def _part(text: str, moment: datetime, seconds: float, *, is_minute: bool, is_half: bool) -> str:
    """A part of a moment, such as `yyyy`; `mm` may be a minute, and an hour one of 12."""
    name, _, after = text.lower().partition(".")
    if "/" in name:
        return text.split("/")[moment.hour >= 12]
    if name.startswith("["):
        unit = {"h": 3600, "m": 60, "s": 1}[name[1]]
        return f"{int(seconds // unit):0{len(name) - 2}}"
    if name in {"m", "mm"} and is_minute:
        name = name.replace("m", "n")
    if is_half:
        name = name.replace("h", "i")
    found = moment.strftime(_PARTS.get(name, ""))
    found = (found.lstrip("0") or "0") if len(name) == 1 else found
    return f"{found}.{moment.microsecond:06}"[: len(found) + 1 + len(after)] if after else found


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
