r"""The text of a man page as a terminal shows it: roff with the macros `man` or `mdoc`.

Requests, fonts, definitions and comments are left out; text, headings and the arguments of macros
stay, in their order. Conditions that ask for a terminal hold. Strings and registers that
a page defines for itself are left out.
"""

from __future__ import annotations

import re
import unicodedata

from simdup.extract.cleanup import TextBuilder, unless_empty, unwrapped
from simdup.extract.text_formats import characters, pairs, tables

_COMMENT = re.compile(r"\\[\"#].*")
_REQUEST = re.compile(r"[.'][ \t]*(\\?[^\s\\\"]{0,20})[ \t]*(.*)", re.DOTALL)
_ARGUMENT = re.compile(r'"((?:[^"]|"")*)"?|((?:[^\s\\]|\\.?)+)', re.DOTALL)
# A condition: a letter, two strings that may be equal, or anything else. Then the text that it
# rules, perhaps many lines.
_CONDITION = re.compile(
    r"(?P<not>!?)(?:(?P<letter>[nt])(?![A-Za-z])|'(?P<one>[^']*)'(?P<other>[^']*)'|\S+)"
    r"[ \t]*(?P<block>\\\{)?[ \t]*(?P<then>.*)",
    re.DOTALL,
)

# An escape: one with an argument in quotes, one with a name, one that gives a character.
_ESCAPE = re.compile(
    r"""
    \\(?:
      [hvwbDlLoXZNSHAB](?:'[^'\n]{0,200}')
    | s(?:[-+]?\(?\d{1,2}|[-+]?\[[^\]\n]{0,9}\]|'[^'\n]{0,9}')
    | [fFgkmMnVYO](?:\((?:..)|\[[^\]\n]{0,40}\]|[-+]?.)
    | \*?\((?P<two>..)
    | \*?\[(?P<long>[^\]\n]{0,40})\]
    | C'(?P<quoted>[^'\n]{0,40})'
    | \*(?P<string>.)
    | (?P<one>.|$)
    )
    """,
    re.VERBOSE | re.DOTALL,
)
_ONE = dict.fromkeys("&)%:/,c{}|^durapz!", "") | {"e": "\\", "~": " ", "0": " ", "t": "\t"}
# Named characters, each before its text.
_TABLES = tables("roff")
_GLYPHS = pairs(_TABLES["glyphs"])
_MARKS = {mark: chr(int(code, 16)) for mark, code in pairs(_TABLES["marks"]).items()}
_CODE_POINT = re.compile(r"u([0-9A-F]{4,6})|char(\d{1,7})")
# So many conditions may stand on one line.
_MOST_CONDITIONS = 20

# The option that sets the mark between the cells of a table; the marks of a cell of several lines.
_TABLE_MARK = re.compile(r"\btab[ ]?\((.)\)")
_TABLE_CELL = re.compile(r"(?<!\S)T\{|T\}(?!\S)")

# Requests that print nothing; their arguments are not text.
_SILENT = frozenset(_TABLES["silent"])
# Definitions, which end at a line of two dots, or of a dot and the name that they give.
_DEFINITIONS = frozenset(("de", "de1", "dei", "am1", "ig", "di", "da"))
# Macros of man whose arguments are set without blanks between them.
_TIGHT = frozenset(("BR", "RB", "BI", "IB", "IR", "RI"))

# The text that macros of mdoc put before each of their arguments.
_BEFORE = {"Fl": "-", "Pa": "", "Ev": ""}
_MDOC = frozenset(_TABLES["mdoc"])


def text(data: bytes) -> str:
    r"""The text of a man page. Raises NotReadable.

    >>> text(b'.TH TEA 1\n.SH NAME\ntea \\- makes tea\n.SH OPTIONS\n.BR \\-m , \\-\\-milk\n')
    'NAME\ntea - makes tea\nOPTIONS\n-m,--milk'
    """
    reader = _Reader()
    for line in characters(data).replace("\\\n", "").split("\n"):
        reader.read(line)
    return unless_empty(unwrapped(str(reader.found)))


class _Reader:
    """Collects the text of a page, line by line."""

    def __init__(self) -> None:
        self.found = TextBuilder()
        self._definition_end: str | None = None
        self._hidden_depth = 0
        self._has_held = True
        self._is_table_head = False
        self._table_mark: str | None = None
        self._name = ""

    def read(self, line: str) -> None:
        """Add the text of a line, without the conditions at its beginning."""
        left: str | None = line
        for _ in range(_MOST_CONDITIONS):
            if left is not None:
                left = self._after(left)

    def _after(self, line: str) -> str | None:
        """Add the text of a line; return the rest of the line after a condition that holds."""
        if self._definition_end is not None:
            if line.rstrip() == self._definition_end:
                self._definition_end = None
        elif self._hidden_depth:
            self._hidden_depth += line.count("\\{") - line.count("\\}")
        elif self._is_table_head:
            option = _TABLE_MARK.search(line)
            self._table_mark = option[1] if option else self._table_mark
            self._is_table_head = not line.rstrip().endswith((".", ".TE"))
        elif line.startswith((".", "'")):
            return self._carry_out(line)
        elif not line.startswith('\\"'):
            self._add(line)
        return None

    def _add(self, text: str) -> None:
        if self._table_mark:
            text = _TABLE_CELL.sub(" ", text.replace(self._table_mark, " "))
        self.found.add(_plain(text) + "\n")

    def _carry_out(self, line: str) -> str | None:
        """Add the text of a line that begins with a dot; return the rest after a condition."""
        request = _REQUEST.match(line)
        name, rest = (request[1], request[2]) if request else ("", "")
        if name in {"if", "ie", "el"}:
            return self._decide(name, rest)
        if name in _DEFINITIONS:
            words = rest.split()
            ends = words[:1] if name == "ig" else words[1:2]
            self._definition_end = f".{ends[0] if ends else '.'}"
        elif name in {"TS", "TE"}:
            self._is_table_head = name == "TS"
            self._table_mark = "\t" if name == "TS" else None
        elif name and name not in _SILENT and not name.startswith("\\"):
            self._add(self._macro(name, _arguments(_COMMENT.sub("", rest))))
        return None

    def _decide(self, name: str, rest: str) -> str | None:
        """Return the rest of the line if a condition holds; else hide the lines that it rules."""
        if name == "el":
            rest = f"{'!n' if self._has_held else 'n'} {rest}"
        found = _CONDITION.match(rest)
        if found is None:
            return None
        holds = _holds(found)
        if name == "ie":
            self._has_held = holds
        if holds:
            return str(found["then"])
        if found["block"]:
            inner = found["then"].count("\\{") - found["then"].count("\\}")
            self._hidden_depth = max(1 + inner, 0)
        return None

    def _macro(self, name: str, arguments: list[str]) -> str:
        """The text of a macro."""
        if name in _TIGHT:
            return "".join(arguments)
        if name in {"IP", "TP"}:  # the last one may be an indentation
            return arguments[0] if name == "IP" and arguments else ""
        if name == "Nm" and not (arguments and arguments[0] not in _MDOC):
            arguments = [self._name, *arguments]
        elif name == "Nm":
            self._name = self._name or arguments[0]
        return _mdoc(name, arguments) if name in _MDOC else " ".join(arguments)


def _holds(condition: re.Match[str]) -> bool:
    """Whether a condition holds on a terminal; an unknown one does not."""
    if condition["letter"]:
        return (condition["letter"] == "n") != bool(condition["not"])
    if condition["one"] is None:
        return False
    return (condition["one"] == condition["other"]) != bool(condition["not"])


def _arguments(rest: str) -> list[str]:
    """The arguments of a macro; quotes hold blanks together."""
    return [
        quoted.replace('""', '"') or bare
        for quoted, bare in _ARGUMENT.findall(rest)
        if quoted or bare
    ]


def _mdoc(name: str, arguments: list[str]) -> str:
    """The text of a macro of mdoc: its arguments, some of which are macros themselves."""
    if name in {"Sh", "Ss", "Nd", "Dl", "Em"} and not _MDOC.intersection(arguments):
        return " ".join(arguments)
    found, before = list[str](), _BEFORE.get(name, "")
    if name == "Fl" and not arguments:
        return "-"
    reference = name == "Xr"
    for word in arguments:
        if word in _MDOC:
            before, reference = _BEFORE.get(word, ""), word == "Xr"
        elif reference and len(word) < 4 and word[0].isdigit() and found:
            found.append(f"({word})")
        else:
            found += (" ", before + word if word not in ".,:;()[]?!|" else word)
    return "".join(found[1:])


def _plain(text: str) -> str:
    """The text of a line without escapes."""
    return _ESCAPE.sub(_escaped, _COMMENT.sub("", text)) if "\\" in text else text


def _escaped(found: re.Match[str]) -> str:
    """The text of an escape."""
    if (one := found["one"]) is not None:
        return _ONE.get(one, one)
    name = found["two"] or found["long"] or found["quoted"] or found["string"] or ""
    if point := _CODE_POINT.fullmatch(name):
        code = int(point[1], 16) if point[1] else int(point[2])
        return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else ""
    if len(name) == 2 and name[0] in _MARKS and name[1].isalpha():
        return unicodedata.normalize("NFC", name[1] + _MARKS[name[0]])
    return _GLYPHS.get(name, "")
