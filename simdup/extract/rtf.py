r"""The text of an RTF file, by its specification 1.9.1.

Groups, control words and characters are read in one pass. Bytes beyond ASCII, written `\'hh`,
are collected and decoded together, by the encoding of their font or else of the file. `\u`
gives a character's code point; the bytes after it are for older readers.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass, replace

from simdup.extract.cleanup import NotReadable, TextBuilder, unless_empty
from simdup.text.encodings import Encoding, decode, encoding_named

_TOKEN = re.compile(
    rb"""
    \\(?P<word>[a-zA-Z]{1,32})(?P<number>-?[0-9]{1,10})?[ ]?
  | (?P<hex>(?:\\'[0-9a-fA-F]{2}){1,1000})
  | \\(?P<symbol>[^a-zA-Z])
  | (?P<brace>[{}])
  | [\r\n\0]+
  | (?P<bytes>[^\\{}\r\n\0]+)
    """,
    re.DOTALL | re.VERBOSE,
)

# Groups that hold no text of the document; groups that begin with \* hold none either.
_HIDDEN = frozenset(
    b"fonttbl colortbl stylesheet info pict object header headerl headerr headerf footer footerl"
    b" footerr footerf listtable listoverridetable revtbl rsidtbl themedata colorschememapping"
    b" datastore latentstyles xmlnstbl fldinst filetbl generator bkmkstart bkmkend nonshppict"
    b" listtext pntext".split()
)
_CHARACTERS = {
    **dict.fromkeys((b"par", b"sect", b"page", b"line", b"row"), "\n"),
    **dict.fromkeys((b"tab", b"cell"), "\t"),
    **dict.fromkeys((b"emspace", b"enspace", b"qmspace"), " "),
    **dict(zip((b"lquote", b"rquote", b"ldblquote", b"rdblquote"), "‘’“”", strict=True)),
    **dict(zip((b"emdash", b"endash", b"bullet"), "—–•", strict=True)),
}
_SYMBOLS = {b"\\": "\\", b"{": "{", b"}": "}", b"~": " ", b"_": "-", b"\n": "\n", b"\r": "\n"}
# Encodings by a font's \fcharset; 0, "ANSI", means the encoding of the file.
_CHARSETS = {
    77: "mac-roman",
    128: "cp932",
    129: "cp949",
    134: "gb18030",
    136: "cp950",
    161: "cp1253",
    162: "cp1254",
    163: "cp1258",
    177: "cp1255",
    178: "cp1256",
    186: "cp1257",
    204: "cp1251",
    222: "cp874",
    238: "cp1250",
}
# How deep groups may be nested: real files have up to 15 levels.
_DEEPEST = 10_000


@dataclass(frozen=True, slots=True)
class _State:
    """The properties that hold until a group ends."""

    is_hidden: bool = False
    is_fonts: bool = False
    """Whether this is the table of fonts, which names their encodings."""
    is_unseen: bool = False
    """Whether the characters are not shown."""
    font: int | None = None
    """The font's number; None: the file's default font."""
    fallback: int = 1
    """Number of characters after \\u that older readers show in its place."""


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
    return unless_empty(reader.text())


def _binary(token: re.Match[bytes]) -> int:
    r"""Number of bytes after a token that are not RTF; `\bin` gives it."""
    return max(int(token["number"] or 0), 0) if token["word"] == b"bin" else 0


class _Reader:
    """Turns tokens into text."""

    def __init__(self) -> None:
        self._state, self._outer = _State(), list[_State]()
        self._ansi, self._encodings = encoding_named("cp1252"), dict[int | None, Encoding]()
        self._default_font: int | None = None
        self._text, self._bytes = TextBuilder(), bytearray()
        self._fallback_left = 0

    def text(self) -> str:
        """The text read so far."""
        self._decode_bytes()
        # Characters beyond the first 65,536 come as two halves.
        return str(self._text).encode("utf-16", "surrogatepass").decode("utf-16", "replace")

    def read(self, token: re.Match[bytes]) -> None:
        """Carry out one token."""
        if token["bytes"]:
            self._add_bytes(token["bytes"])
        elif token["hex"]:
            self._add_bytes(bytes.fromhex(token["hex"].decode("ascii").replace("\\'", "")))
        elif token["brace"]:
            self._fallback_left = 0
            self._begin() if token["brace"] == b"{" else self._end()
        elif token["symbol"]:
            self._symbol(token["symbol"])
        elif token["word"]:
            self._word(token["word"], int(token["number"] or 1))

    def _begin(self) -> None:
        if len(self._outer) == _DEEPEST:
            raise NotReadable("nested too deep")
        self._outer.append(self._state)

    def _end(self) -> None:
        self._change(self._outer.pop() if self._outer else _State())

    def _change(self, state: _State) -> None:
        self._decode_bytes()
        self._state = state

    def _symbol(self, symbol: bytes) -> None:
        if symbol == b"*":
            self._change(replace(self._state, is_hidden=True))
        else:
            self._add(_SYMBOLS.get(symbol, ""))

    def _word(self, word: bytes, number: int) -> None:
        state = self._state
        if word == b"u":
            self._add(chr(number & 0xFFFF))
            self._fallback_left = state.fallback
        elif word == b"uc":
            self._change(replace(state, fallback=max(number, 0)))
        elif word == b"f":
            self._change(replace(state, font=number))
        elif word == b"deff":
            self._default_font = number
        elif word == b"v":
            self._change(replace(state, is_unseen=number != 0))
        elif word == b"plain":
            self._change(replace(state, font=None, is_unseen=False))
        elif word == b"ansicpg":
            self._ansi = _encoding(f"cp{number}", self._ansi)
        elif word == b"fcharset" and state.is_fonts and number in _CHARSETS:
            self._encodings[state.font] = encoding_named(_CHARSETS[number])
        elif word in _HIDDEN:
            self._change(replace(state, is_hidden=True, is_fonts=word == b"fonttbl"))
        else:
            self._add(_CHARACTERS.get(word, ""))

    def _add_bytes(self, found: bytes) -> None:
        r"""Collect bytes of text, except the ones that replace `\u` in older readers."""
        skipped = min(self._fallback_left, len(found))
        self._fallback_left -= skipped
        if not self._is_hidden():
            self._bytes += found[skipped:]

    def _add(self, found: str) -> None:
        if found and not self._is_hidden():
            self._decode_bytes()
            self._text.add(found)

    def _is_hidden(self) -> bool:
        return self._state.is_hidden or self._state.is_unseen

    def _decode_bytes(self) -> None:
        """Decode the bytes collected, by the encoding of their font or else of the file."""
        if self._bytes:
            font = self._default_font if self._state.font is None else self._state.font
            encoding = self._encodings.get(font, self._ansi)
            self._text.add(decode(bytes(self._bytes), encoding))
            self._bytes.clear()


def _encoding(name: str, default: Encoding) -> Encoding:
    """The encoding of a code page, or the default if it is unknown."""
    try:
        codecs.lookup(name)
        return encoding_named(name)
    except (LookupError, ValueError):
        return default
