r"""The text of a TeX or LaTeX file, as far as it can be told without running TeX.

Commands are left out and the text in their braces stays, except for arguments that are not text
(of `\label`, `\usepackage`, definitions). Comments, drawings, the text of `\iffalse` and everything
before `\begin{document}` except the title are left out. Formulas stay, with the signs that commands
such as `\alpha` mean. `\input` is not followed.
"""

from __future__ import annotations

import re
import unicodedata

from simdup.extract.cleanup import TextBuilder, unless_empty, unwrapped
from simdup.extract.text_formats import characters, pairs, tables

_TOKEN = re.compile(
    r"""
    \\(?P<edge>begin|end)[ \t]*\{(?P<name>[^{}\n]{1,40})\}
  | \\(?P<accent>['"`^~=.]|[cvHukr](?![A-Za-z]))[ ]?
      (?:\{(?:\\?([ij]|[A-Za-z]))\}|\\([ij])(?![A-Za-z])[ ]?|([A-Za-z]))
  | \\(?P<word>[A-Za-z@]{1,40})\*?[ \t]*
  | \\(?P<symbol>[\s\S])
  | %.*(?:\n[ \t]*)?
  | (?P<sign>``|''|---?|[{}$~&])
    """,
    re.VERBOSE,
)
_BRACE = re.compile(r"\\[\s\S]|%.*|[{}]")
# The characters allowed between the arguments of a command.
_GAP = re.compile(r"[ \t]*(?:%.*)?\n?[ \t]*")
_OPTION = re.compile(r"\s*\[[^\[\]]{0,300}\]")
_VERB = re.compile(r"([^A-Za-z\s*])(.{0,1000}?)\1")

_TABLES = tables("tex")
# How many of the first arguments of a command or environment are not text; all others are text.
_ARGUMENTS = {word: count for count in (1, 2, 3) for word in _TABLES[f"arguments {count}"]}
_ENVIRONMENTS = {word: count for count in (1, 2) for word in _TABLES[f"environments {count}"]}
_DEFINITIONS = ("def", "edef", "gdef", "xdef")
_DEFINED = re.compile(r"\\[A-Za-z@]{1,40}[^{}\n]{0,40}(?=\{)")
_VERBATIM = ("verbatim", "verbatim*", "Verbatim", "lstlisting", "minted", "alltt")
_HIDDEN = ("comment", "tikzpicture", "pgfpicture", "picture", "filecontents", "filecontents*")

_ACCENTS = {mark: chr(int(code, 16)) for mark, code in pairs(_TABLES["accents"]).items()}
# Commands, each before its sign.
_SIGNS = pairs(_TABLES["signs"]) | {
    **dict.fromkeys(_TABLES["line ends"], "\n"),
    **dict.fromkeys(_TABLES["blanks"], " "),
}
_SYMBOLS = {"\\": "\n", " ": " ", "\n": " ", ",": " ", ";": " ", ":": " ", "-": "", "/": ""}
_SYMBOLS |= dict.fromkeys("!()[]@", "")
_CHARACTERS = {"``": "“", "''": "”", "---": "—", "--": "–", "~": " ", "&": " "}

_ABOUT = {"title", "subtitle", "author"}

# Conditions, of which `\fi` ends each; `\newif` declares more of them.
_BRANCH = re.compile(r"%.*|\\newif\s*\\[A-Za-z@]+|\\(if0(?!0)|[A-Za-z@]+|[\s\S])[ \t]*")
_NEW_CONDITION = re.compile(r"\\newif\s*\\([A-Za-z@]+)")
_NEVER, _ALWAYS = ("iffalse", "if0"), "iftrue"
_CONDITIONS = {*_TABLES["conditions"]}


def text(data: bytes) -> str:
    r"""The text of a TeX file. Raises NotReadable.

    >>> text(rb"\documentclass{article}\begin{document}\section{Tea}\label{t} 50\,\% M\"uller")
    'Tea 50 % Müller'
    """
    source = characters(data)
    reader = _Reader(source)
    begin, titles = reader.begin()
    for title in titles:
        reader.read(title, reader.after_group(title))
        reader.found.add("\n")
    reader.read(begin, len(source))
    return unless_empty(unwrapped(str(reader.found)))


def _partners(source: str) -> dict[int, int]:
    """Map the place of each opening brace to the place after the brace that closes it."""
    opened, closed = list[int](), dict[int, int]()
    for brace in _BRACE.finditer(source):
        if brace.group() == "{":
            opened.append(brace.start())
        elif brace.group() == "}" and opened:
            closed[opened.pop()] = brace.end()
    return closed


def _skips(source: str) -> dict[int, int]:
    r"""Map the place of each `\iffalse`, and `\else` of `\iftrue`, to the end of their text."""
    conditions = _CONDITIONS.union(_NEW_CONDITION.findall(source))
    opened, skips = list[tuple[str, int]](), dict[int, int]()
    for token in _BRANCH.finditer(source):
        if token[1] in conditions:
            opened.append((token[1], token.start()))
        elif token[1] in {"else", "fi"} and opened:
            condition, place = opened.pop()
            if condition in _NEVER:
                skips[place] = token.end()
            if token[1] == "else":
                opened.append((_NEVER[0] if condition == _ALWAYS else "", token.start()))
    return skips


class _Reader:
    """Collects the text of a source."""

    def __init__(self, source: str) -> None:
        self.found = TextBuilder()
        self._source, self._partners, self._skips = source, _partners(source), _skips(source)
        self._ends: dict[str, int] = {}

    def read(self, begin: int, end: int) -> None:
        """Add the text from `begin` to `end`."""
        source, found = self._source, self.found
        while token := _TOKEN.search(source, begin, end):
            found.add(source[begin : token.start()])
            begin = self._after(token)
        found.add(source[begin:end])

    def begin(self) -> tuple[int, list[int]]:
        r"""The place after `\begin{document}` and the places of the title before it.

        A source without that line begins at once.
        """
        place, titles, found = 0, list[int](), False
        while not found and (token := _TOKEN.search(self._source, place)):
            place = self._after(token)
            found = token["edge"] == "begin" and token["name"] == "document"
            if token["word"] in _ABOUT and self.after_group(place) > place:
                titles.append(place)
                place = self.after_group(place)
        self.found, self._ends = TextBuilder(), {}
        return (place, titles) if found else (0, [])

    def after_group(self, place: int) -> int:
        """The place after the group in braces that begins here; this place if none does."""
        return self._partners.get(place, place)

    def _after(self, token: re.Match[str]) -> int:
        """Add the text of a token; return where to go on."""
        if token.start() in self._skips:
            return self._skips[token.start()]
        if token["word"]:
            return self._after_command(token["word"], token.end())
        if token["edge"]:
            return self._after_edge(token)
        if token["accent"]:
            letter = next(filter(None, token.groups()[3:6]))
            self.found.add(unicodedata.normalize("NFC", letter + _ACCENTS[token["accent"]]))
        elif symbol := token["symbol"]:
            self.found.add(_SYMBOLS.get(symbol, symbol))
            return self._after_options(token.end()) if symbol == "\\" else token.end()
        else:
            self.found.add(_CHARACTERS.get(token["sign"], ""))
        return token.end()

    def _after_command(self, word: str, place: int) -> int:
        """Add the sign of a command, and skip its arguments without text."""
        if word in {"verb", "lstinline"} and (verb := _VERB.match(self._source, place)):
            self.found.add(verb[2])
            return verb.end()
        if word in _DEFINITIONS:
            defined = _DEFINED.match(self._source, place)
            return self.after_group(defined.end()) if defined else place
        self.found.add(_SIGNS.get(word, ""))
        if word == "item" or word in _SIGNS:
            return place
        return self._after_arguments(place, 1 if "cite" in word else _ARGUMENTS.get(word, 0))

    def _after_arguments(self, place: int, count: int) -> int:
        """The place after options and this number of arguments; a command may be an argument."""
        place = self._after_options(place)
        for _ in range(count):
            gap = _GAP.match(self._source, place)
            start = gap.end() if gap else place
            after = self.after_group(start)
            if after == start and (command := _DEFINED.match(self._source, start)):
                after = command.end()
            place = self._after_options(after) if after != start else place
        return place

    def _after_options(self, place: int) -> int:
        """The place after all options in square brackets that begin here."""
        while option := _OPTION.match(self._source, place):
            place = option.end()
        return place

    def _after_edge(self, token: re.Match[str]) -> int:
        """Add a line end where an environment begins or ends; skip one without text."""
        self.found.add("\n")
        name, place = token["name"], token.end()
        if token["edge"] == "end":
            return len(self._source) if name == "document" else place
        if name in _VERBATIM or name in _HIDDEN:
            end = self._end_of(name, place)
            if end < 0:
                return place
            if name in _VERBATIM:
                self.found.add(self._source[self._after_options(place) : end])
            return end
        return self._after_arguments(place, _ENVIRONMENTS.get(name, 0))

    def _end_of(self, name: str, place: int) -> int:
        """The place where the environment that begins here ends; -1 if it does not end.

        The places asked for ascend, so that the source is searched once, however many environments
        begin.
        """
        if 0 <= self._ends.get(name, 0) < place:
            self._ends[name] = self._source.find(f"\\end{{{name}}}", place)
        return self._ends[name]
