r"""The text of an RTF file, by its specification 1.9.1.

Groups, control words and characters are read in one pass. Bytes beyond ASCII, written `\'hh`,
are collected and decoded together, by the encoding of their font or else of the file. `\u`
gives a character's code point; the bytes after it are for older readers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from simdup.extract.cleanup import NotReadable, TextBuilder, unless_empty, with_unread
from simdup.extract.places import MARKED
from simdup.extract.text_formats import by_word, pairs, tables
from simdup.text.encodings import Encoding, decode, encoding_named, known_encoding

_TOKEN = re.compile(
    rb"""
    \\(?P<word>[a-zA-Z]{1,32})(?P<number>-?[0-9]{1,10})?[ ]?
  | (?P<hex>(?:\\'[0-9a-fA-F]{2}){1,1000})
  | \\(?P<symbol>[^a-zA-Z])
  | (?P<brace>[{}])(?P<star>(?<=\{)[\r\n]*\\\*[\r\n]*(?:\\(?!bin)(?P<starred>[a-zA-Z]{1,32})[ ]?)?)?
  | [\r\n\0]+
  | (?P<bytes>[^\\{}\r\n\0]+)
    """,
    re.DOTALL | re.VERBOSE,
)

_TABLES = tables("rtf")
# Encodings by a font's \fcharset, the Macintosh's up to 89; 0, "ANSI", means that of the file.
_CHARSETS = {int(number): name for number, name in pairs(_TABLES.pop("charsets")).items()}
# Groups that hold no text of the document; other groups that begin with \* hold none either, and
# of drawings only the text boxes are read. All others' characters than layout's count as unread.
_LAYOUT, _HIDDEN_TEXT = (
    frozenset(word.encode() for word in _TABLES.pop(title)) for title in ("layout", "hidden")
)
_HIDDEN = _LAYOUT | _HIDDEN_TEXT
_DRAWINGS, _BOXES = (b"shpinst", b"do"), (b"shptxt", b"dptxbxtext", b"footnote")
_SHOWN_STARRED = (b"nesttableprops",)
_UNSEEN = frozenset((b"v", b"deleted", b"mvf"))
# The kinds of content in hidden groups; in others it is hidden text.
_CONTENT = dict.fromkeys(_LAYOUT, "") | {
    word.encode(): kind for word, kind in by_word(_TABLES).items()
}
_CHARACTERS = {
    **dict.fromkeys(b"par sect page line row nestrow column lbr".split(), "\n"),
    **dict.fromkeys((b"tab", b"cell", b"nestcell"), "\t"),
    **dict.fromkeys((b"emspace", b"enspace", b"qmspace"), " "),
    **dict(zip((b"lquote", b"rquote", b"ldblquote", b"rdblquote"), "‘’“”", strict=True)),
    **dict(zip((b"emdash", b"endash", b"bullet"), "—–•", strict=True)),
    **dict.fromkeys((b"ltrmark", b"rtlmark", b"zwbo"), ""),
    **dict(zip((b"zwj", b"zwnj"), "\u200d\u200c", strict=True)),
}
_BREAKS = ("\n", "\t")
# Marks of characters, with the ones that they replace; and the ends of cells and rows.
_MARKS = dict.fromkeys((b"strike", b"striked"), frozenset((b"strike", b"striked"))) | dict.fromkeys(
    (b"super", b"sub", b"nosupersub"), frozenset((b"super", b"sub"))
)
_CELLS = (b"cell", b"nestcell", b"row", b"nestrow")
_ENCODINGS = (b"deff", b"ansicpg", b"cpg", b"fcharset")
_SYMBOLS = {b"\\": "\\", b"{": "{", b"}": "}", b"~": " ", b"_": "-", b"\n": "\n", b"\r": "\n"}
_HEADS = {b"ansi": "cp1252", b"mac": "mac-roman", b"pc": "cp437", b"pca": "cp850"}
# How deep groups may be nested: real files have up to 15 levels.
_DEEPEST = 10_000


@dataclass(frozen=True, slots=True)
class _State:
    r"""The properties that hold until a group ends.

    is_fonts: Whether this is the table of fonts, which names their encodings.
    is_drawing: Whether this is a drawing, outside of its text boxes.
    is_box: Whether this is a text box or a note, whose text goes to the end.
    unseen: The properties for which the characters are not shown.
    marks: The marks on characters that change their meaning, as striking out.
    kind: The kind of content in a hidden group; "" for layout.
    font: The font's number; None: the file's default font.
    fallback: Number of characters after \u that older readers show in its place.
    """

    is_hidden: bool = False
    is_fonts: bool = False
    is_drawing: bool = False
    is_box: bool = False
    unseen: frozenset[bytes] = frozenset()
    marks: frozenset[bytes] = frozenset()
    kind: str = ""
    font: int | None = None
    fallback: int = 1


def text(data: bytes) -> str:
    r"""The text of an RTF file. Raises NotReadable.

    >>> text(rb"{\rtf1\ansi\ansicpg936 {\info x}\b \'b4\'ba\b0  \u26149?\par tea}")
    '春 春\ntea'
    """
    if not data.startswith(b"{\\rtf"):
        raise NotReadable("damaged: no RTF")
    reader = _Reader()
    position = 0
    while token := _TOKEN.search(data, position):
        reader.read(token)
        position = token.end() + _binary(token)
        reader.note(data[token.end() : position])
    return with_unread(unless_empty(reader.text()), reader.others.items())


def _binary(token: re.Match[bytes]) -> int:
    r"""Number of bytes after a token that are not RTF; `\bin` gives it."""
    return max(int(token["number"] or 0), 0) if token["word"] == b"bin" else 0


class _Reader:
    """Turns tokens into text."""

    def __init__(self) -> None:
        self._state, self._outer = _State(), list[_State]()
        self._ansi, self._encodings = encoding_named("cp1252"), dict[int | None, Encoding]()
        self._default_font: int | None = None
        self._text, self._boxes, self._bytes = TextBuilder(), TextBuilder(), bytearray()
        self._fallback_left = 0
        self.others: dict[str, bytearray] = {}
        """The content that is not shown, by kind."""

    def note(self, found: bytes) -> None:
        """Keep bytes of a hidden group, unless it is layout."""
        kind = "hidden text" if self._state.unseen else self._state.kind
        if kind and found.strip():
            self.others.setdefault(kind, bytearray()).extend(found)

    def text(self) -> str:
        """The text read so far."""
        self._decode_bytes()
        # Characters beyond the first 65,536 come as two halves.
        halves = f"{self._text}\n{self._boxes}".encode("utf-16", "surrogatepass")
        return halves.decode("utf-16", "replace")

    def read(self, token: re.Match[bytes]) -> None:
        """Carry out one token."""
        if token["bytes"]:
            self._add_bytes(token["bytes"])
        elif token["hex"]:
            self._add_bytes(bytes.fromhex(token["hex"].decode("ascii").replace("\\'", "")))
        elif token["brace"]:
            self._fallback_left = 0
            self._begin(token) if token["brace"] == b"{" else self._end()
        elif token["symbol"]:
            self._add_character(_SYMBOLS.get(token["symbol"], ""))
        elif token["word"]:
            self._word(token["word"], int(token["number"] or 1))

    def _begin(self, token: re.Match[bytes]) -> None:
        if len(self._outer) == _DEEPEST:
            raise NotReadable("nested too deep")
        self._outer.append(self._state)
        if token["starred"] in _DRAWINGS:
            self._change(replace(self._state, is_drawing=True, kind="drawings"))
        elif token["starred"] in _BOXES:
            self._change(_after(self._state, token["starred"], 1))
        elif token["star"] and token["starred"] not in _SHOWN_STARRED:
            kind = self._state.kind or _CONTENT.get(token["starred"], "hidden text")
            self._change(replace(self._state, is_hidden=True, kind=kind))

    def _end(self) -> None:
        self._change(self._outer.pop() if self._outer else _State())

    def _change(self, state: _State) -> None:
        self._decode_bytes()
        if state.marks != self._state.marks:
            self._note_place(MARKED, *state.marks)
        self._state = state

    def _note_place(self, kind: str, *marks: bytes) -> None:
        place = b"%d" % self._flow().tell()
        self.others.setdefault(kind, bytearray()).extend(b" ".join((place, *sorted(marks), b"")))

    def _word(self, word: bytes, number: int) -> None:
        if word == b"u":
            self._add(chr(number & 0xFFFF))
            self._fallback_left = self._state.fallback
        elif word in _CHARACTERS:
            self._add_character(_CHARACTERS[word])
            if word in _CELLS:
                self._note_place("tables", word)
        elif word in _HEADS or word in _ENCODINGS:
            self._note_encoding(word, number)
        elif (state := _after(self._state, word, number)) is not self._state:
            self._change(state)

    def _note_encoding(self, word: bytes, number: int) -> None:
        r"""Note the encoding of the file or of a font; `\cpg` is more exact than `\fcharset`."""
        font = self._state.font
        if word == b"deff":
            self._default_font = number
        elif word in _HEADS:
            self._ansi = encoding_named(_HEADS[word])
        elif word == b"ansicpg":
            self._ansi = known_encoding(f"cp{number}") or self._ansi
        elif self._state.is_fonts and word == b"cpg":
            self._encodings[font] = known_encoding(f"cp{number}") or self._ansi
        elif self._state.is_fonts and number in _CHARSETS:
            self._encodings.setdefault(font, encoding_named(_CHARSETS[number]))

    def _add_bytes(self, found: bytes) -> None:
        r"""Collect bytes of text, except the ones that replace `\u` in older readers."""
        if self._is_hidden():
            self.note(found)
        skipped = min(self._fallback_left, len(found))
        self._fallback_left -= skipped
        if not self._is_hidden():
            self._bytes += found[skipped:]

    def _add_character(self, found: str) -> None:
        r"""Add a character, unless it replaces `\u` in older readers."""
        if self._fallback_left and found not in _BREAKS:
            self._fallback_left -= 1
        else:
            self._fallback_left = 0
            self._add(found)

    def _add(self, found: str) -> None:
        if found and self._is_hidden():
            self.note(found.encode("utf-8", "surrogatepass"))
        elif found:
            self._decode_bytes()
            self._flow().add(found)

    def _is_hidden(self) -> bool:
        state = self._state
        return state.is_hidden or state.is_drawing or bool(state.unseen)

    def _flow(self) -> TextBuilder:
        return self._boxes if self._state.is_box else self._text

    def _decode_bytes(self) -> None:
        """Decode the bytes collected, by the encoding of their font or else of the file."""
        if self._bytes:
            font = self._default_font if self._state.font is None else self._state.font
            encoding = self._encodings.get(font, self._ansi)
            self._flow().add(decode(bytes(self._bytes), encoding))
            self._bytes.clear()


def _after(state: _State, word: bytes, number: int) -> _State:  # noqa: PLR0911  (a table)
    """The properties that hold after a control word."""
    if word == b"uc":
        return replace(state, fallback=max(number, 0))
    if word == b"f":
        return replace(state, font=number)
    if word == b"plain":
        return replace(state, font=None, unseen=frozenset(), marks=frozenset())
    if word in _MARKS:
        is_on = number and word != b"nosupersub"
        return replace(state, marks=state.marks - _MARKS[word] | ({word} if is_on else set()))
    if word in _UNSEEN:
        others = state.unseen - {word}
        return replace(state, unseen=others | {word} if number else others)
    if word in _BOXES:
        return replace(state, is_drawing=False, is_box=True)
    if word not in _HIDDEN and not (state.is_hidden and word in _CONTENT):
        return state
    kind, is_fonts = _CONTENT.get(word, "hidden text"), word == b"fonttbl"
    return replace(state, is_hidden=True, is_fonts=is_fonts, kind=kind)
