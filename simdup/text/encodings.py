"""Bytes into text: which encoding a file is in, and its characters.

`detect` looks at a file's first bytes and answers `Encoding` or `NotText`. It
asks in turn, the surest sign first: byte order mark, escapes of ISO-2022, strict UTF-8, UTF-16
without a mark, signs of binary, damaged UTF-8, everyday East Asian characters, and last
chardet's statistics for the encodings of one country. Each stage answers None for "not mine".

`decode` and `decode_chunks` give the same text for the same bytes, however these are cut.
Decoding never fails: unreadable bytes become U+FFFD, and `count_lost` counts these. NULs
at the very end are padding and no part of the text; a NUL elsewhere cannot be read.
"""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Iterable, Iterator
from io import IncrementalNewlineDecoder
from itertools import chain
from typing import NamedTuple
from unicodedata import category

import numpy as np

from simdup.errors import BadValueError
from simdup.text.east_asian import EVERYDAY, clear_encoding, likelier_encoding
from simdup.text.escapes import iso_2022_jp, iso_2022_kr, utf_7, utf_16
from simdup.text.scripts import (
    are_words,
    in_one_script,
    is_big5,
    is_half_width_kana,
    is_single,
    is_thai,
)
from simdup.versions import version

#: Raised with every change that gives the same bytes another encoding or text.
EDITION = 7

LOST = "\ufffd"  # Unicode's character in place of an unreadable one
_BOM = "\ufeff"

# The longer mark first: UTF-32's begins with UTF-16's.
_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
    b"\x84\x31\x95\x33": "gb18030",  # spelled out, since its codec takes long to import
}
_MARK = re.compile(b"|".join(map(re.escape, _MARKS)))


def named(pairs: str) -> dict[str, str]:
    """Map names to names: "a=b c=d" has two pairs."""
    return dict(pair.split("=") for pair in pairs.split())


# Python's name of a codec -> ours. Subsets have the name of the larger one, and ISO-8859-9, -11 and
# -1 are read as their larger sisters on Windows, as browsers do it.
_NAMES = {f"cp{page}": f"windows-{page}" for page in range(1250, 1259)}
_NAMES |= {f"iso8859-{part}": f"iso-8859-{part}" for part in range(2, 17)}
_NAMES |= named(
    "ascii=utf-8 gb2312=gb18030 gbk=gb18030 iso8859-1=windows-1252 iso8859-9=windows-1254"
    " iso8859-11=cp874 tis-620=cp874 cp950=big5 cp932=shift_jis cp949=euc-kr euc_kr=euc-kr"
    " euc_jp=euc-jp euc_jis_2004=euc-jp iso2022_kr=iso-2022-kr"
)

# Labels of the WHATWG Encoding Standard, and some of old mails, that Python does not know, are in
# `labels.txt`; before them `_SPELLINGS` replaces the patterns that many labels have in common.
_SPELLINGS = (
    (re.compile(r"^(?:x-|cs)+"), ""),
    (re.compile(r"^iso[-_]?8859[-_]?(\d+)(?:-?[ei])?$"), r"iso8859-\1"),
    (re.compile(r"^isolatin"), "latin"),
    (re.compile(r"^(?:windows|dos)-(?=\d)"), "cp"),
)
with open(os.path.join(os.path.dirname(__file__), "labels.txt"), encoding="utf-8") as _file:
    _LABELS = {
        label: codec
        for codec, _, labels in (line.partition(":") for line in _file)
        for label in labels.split()
    }

# Our name -> the codec that decodes it, where a larger one does.
# Of the 13,706 characters of Python's big5, cp950 returns all but 11 rare signs
# and big5hkscs all but 249, kana and Cyrillic among them.
_CODECS = named("utf-8-sig=utf-8 big5=cp950 shift_jis=cp932 euc-kr=cp949 euc-jp=euc_jis_2004")

# The least number of bytes of a character, where it is not 1.
_UNITS = {"utf-16": 2, "utf-16-le": 2, "utf-16-be": 2, "utf-32-le": 4, "utf-32-be": 4}

# Encodings of which a whole file is decoded at once: what a piece means is said before it.
_WHOLE = {"iso-2022-jp": iso_2022_jp, "iso-2022-kr": iso_2022_kr, "utf-7": utf_7, "utf-16": utf_16}
# The first escape of such a text, and how ISO-2022-KR begins.
_ESCAPE = re.compile(rb"\x1b\$(?:[@B]|\([@BDOQ])(?:[\x21-\x7e]{2})+|\x1b\$\)C")
_KOREAN = b"\x1b$)C"

# Not for files: escapes that can spell lone surrogates, and host names.
_REFUSED = {"unicode-escape", "raw-unicode-escape", "idna", "punycode"}

# The candidates chardet chooses from, by Python's names: common ones, more of Western Europe, more
# Latin ones, and others.
_COMMON = (*EVERYDAY, "cp1252", "cp1251", "koi8-r")
_WESTERN = ("cp850", "cp437", "mac-roman")
_LATIN = ("cp1250", "iso8859-2", "cp852", "iso8859-16", "cp1254")
_OTHERS = (
    *("cp1253", "cp1255", "cp1256", "cp1257", "cp1258", "cp855", "cp866", "cp874", "koi8-u"),
    *("iso8859-5", "iso8859-6", "iso8859-7", "mac-cyrillic"),
)
_CANDIDATES = (*_COMMON, *_WESTERN, *_LATIN, *_OTHERS)

# A rare encoding needs at least this many different characters beyond ASCII, one more in all, and a
# lead in chardet's confidence over the likeliest common one. Western languages share most of their
# bytes, so over windows-1252 the lead counts by the share of bytes beyond ASCII.
_FEWEST_LATIN, _FEWEST_OTHERS = 2, 4
_LEAST_LEAD, _LEAD_OF_EACH, _LEAD_OF_ALL = 0.003, 0.12, 0.6
# With fewer bytes beyond ASCII, chardet's East Asian guess counts more than a rare alphabet.
_FEWEST_PAIRED = 24

# No sample has more bytes.
_LONG = 1 << 16
# The confidence of an encoding where chardet has no answer; its weak guesses have less.
_UNSURE = 0.1
# The confidence where the order of the bytes is a script's own.
_SURE = 0.9
# Text in windows-1252 has accented letters beside a plain one, or alone. Bytes without any are
# more likely Chinese between spaces and signs.
_ACCENT = re.compile(
    rb"[A-Za-z][\x80-\xff]|[\x80-\xff][A-Za-z]|(?<![\x80-\xff])[\x80-\xff](?![\x80-\xff])"
)
# A sample begins with up to _CONTEXT ASCII bytes before the first other byte: they show the word
# that an accent is in.
_CONTEXT = 64

# Control bytes, except TAB, LF, VT, FF, CR, ESC (colours) and BS (overstruck man pages).
_CONTROLS = bytes({*range(0x20), 0x7F} - {*b"\b\t\n\v\f\r\x1b"})
# The largest share of them in strict UTF-8, in itself a sign of text; one text had 22 %
# (ISO-2022-KR).
_MOST_CONTROLS_UTF8 = 0.30
# The largest share in other texts: random bytes have 10 %. Of 500 texts on a Debian system that
# are not UTF-8, three have any.
_MOST_CONTROLS = 0.02

# UTF-16 without a mark must fit one of these sets of everyday characters. Of 25 characters, at
# least 92 % fit in real text, and 32 % (at most 52 %) in random bytes.
_EVERYDAY = ("gb2312", "big5", "shift_jis", "euc_kr", "cp1252", "cp1250", "cp1251", "cp1253")
_LEAST_EVERYDAY = 0.85
_UTF16_SAMPLE = 1 << 10

# NULs within a text, as a share of its bytes: random bytes have 0.4 %. A run as long as this is
# no stray byte but the layout of a format; a tar archive of texts has one of 100 in each header.
_MOST_NULS, _LONG_RUN = 0.001, 8
# A long run of NULs within a file is yielded in pieces of this many bytes.
_NULS_AT_ONCE = 1 << 16

# As signed numbers, bytes beyond ASCII are below 0. In UTF-8 the lower ones continue a character,
# and the ones from here on begin one.
_FIRST_BYTES = -0x40
# The largest share of characters lost in damaged UTF-8.
_MOST_LOST = 0.05
# Signs beyond ASCII in a single-byte text: random bytes have 13 to 37 %, texts 4 % at most.
_MOST_SIGNS = 0.10

_ASCII = bytes(range(0x80))
_CONTROL_CHARACTERS = re.compile(f"[{re.escape(_CONTROLS.decode())}]")


# The encoding that a file of XML declares, within its first bytes.
_XML = re.compile(rb"\s*<\?xml\b[^>]{0,300}?\bencoding\s{0,20}=\s{0,20}[\"']([\w:.+-]+)")

# How common binary formats begin. A PDF can pass for text; the others are here so that
# messages name them, and because looking for UTF-16 in them takes a hundred times longer.
_SIGNATURES = {
    b"%PDF-": "PDF",
    b"\x1f\x8b": "gzip",
    b"\x89PNG\r\n\x1a\n": "PNG",
    b"\xff\xd8\xff": "JPEG",
    b"PK\x03\x04": "ZIP",
    b"\x7fELF": "ELF",
    b"\xfd7zXZ\0": "xz",
    b"BZh91AY&SY": "bzip2",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "old Office file",
    b"SQLite format 3\0": "SQLite",
}
_SIGNATURE = re.compile(b"|".join(map(re.escape, _SIGNATURES)))
# Where a tar file has its signature.
_TAR, _TAR_AT = b"ustar", 257


class Encoding(NamedTuple):
    """How a file's bytes are to be read.

    name: For reports and for `decode`, lower case: "utf-8", "gb18030", "windows-1252".
    confidence: 0 to 1; 1.0 for a byte order mark, strict UTF-8 and an encoding that the user named.
    """

    name: str
    confidence: float


class NotText(NamedTuple):
    """Why a file is taken for binary.

    detail: For people: "NUL bytes", "31 % control bytes", "PDF".
    """

    detail: str


def detect(head: bytes, *, complete: bool = True) -> Encoding | NotText:
    """The encoding of the file that begins with `head`, or why it is not text.

    `complete` says that `head` is the whole file; else a character may be cut at
    its end. An empty file is UTF-8.

    >>> detect("你好".encode("utf-8-sig"))
    Encoding(name='utf-8-sig', confidence=1.0)
    >>> detect(bytes(8))
    NotText(detail='NUL bytes')
    """
    unpadded = head.rstrip(b"\0")
    return (
        _by_signature(head)
        or _by_mark(head)
        or (_by_escapes(head) if b"\x1b" in head else None)
        or _as_utf8(unpadded or head, complete=complete)
        or _as_utf16(head[: len(unpadded) + len(unpadded) % 2])
        or _unless_nuls(unpadded)
        or _of_bytes(unpadded.replace(b"\0", b""), complete=complete)
    )


def _of_bytes(head: bytes, *, complete: bool) -> Encoding | NotText:
    """The encoding of bytes without a mark and without NULs, or why they are not text."""
    if found := _as_utf8(head, complete=complete) or _unless_controls(head, _MOST_CONTROLS):
        return found
    sample = _sample(head, _LONG)
    return (
        _as_declared(head)
        or _as_damaged_utf8(head, sample)
        or _as_east_asian(head, sample)
        or _by_script(sample)
        or _by_statistics(head, sample)
        or NotText("no known encoding")
    )


def _by_signature(head: bytes) -> NotText | None:
    """NotText if the file begins with a binary format's signature or a tar header; else None."""
    if head.startswith(_TAR, _TAR_AT):
        return NotText("tar")
    found = _SIGNATURE.match(head)
    return NotText(_SIGNATURES[found.group()]) if found else None


def edition(known: str | None) -> str:
    """A string that changes whenever the same bytes may give another text.

    `known` is the encoding that the user names; None: it is detected.
    """
    by = f"chardet {version('chardet')}" if known is None else encoding_named(known).name
    return f"edition {EDITION}, {by}"


def decode(data: bytes, encoding: Encoding) -> str:
    r"""The text of a whole file: no BOM, lines end in "\n", U+FFFD for unreadable bytes.

    >>> decode("一\r\n二".encode("gb18030"), Encoding("gb18030", 1.0))
    '一\n二'
    """
    if encoding.name != "utf-8":
        return "".join(decode_chunks((data,), encoding))
    # In one step: of a small file, pieces take longer.
    text = data.rstrip(b"\0").decode("utf-8", "replace").removeprefix(_BOM).replace("\0", LOST)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def decode_chunks(chunks: Iterable[bytes], encoding: Encoding) -> Iterator[str]:
    """Decode a file from chunks of any size, and yield its text in pieces."""
    pieces = _pieces(_unpadded(chunks, _UNITS.get(encoding.name, 1)), encoding.name)
    for first in filter(None, pieces):
        yield first.removeprefix(_BOM)
        break
    yield from pieces


def count_lost(text: str) -> int:
    """Number of characters that could not be read, now or when the file was written."""
    return text.count(LOST)


def encoding_named(name: str) -> Encoding:
    """The encoding that somebody names, whatever the bytes look like.

    Any label of the WHATWG Encoding Standard or name of Python's will do. GBK and GB2312 are
    read as GB18030, ISO-8859-1 as windows-1252. Raises ValueError for a name that neither knows or
    that cannot mean a text file.
    """
    codec = _codec(name) or _codec(_respelled(name))
    if not codec or codec in _REFUSED:
        raise BadValueError(f"unknown encoding {name!r}")
    if codec == "utf-32":
        raise BadValueError(f"{name!r} leaves the byte order open: say {codec}-le or {codec}-be")
    if codec.startswith("iso2022_jp"):
        codec = "iso-2022-jp"
    return Encoding(_NAMES.get(codec, codec), 1.0)


def declared_or_detected(data: bytes, label: str | None) -> Encoding | NotText:
    """The encoding of a document that declares one: UTF if its bytes look so, else the declared.

    The bytes come first since a document that was saved anew in UTF-8 often declares its old
    encoding. Where it declares ASCII or UTF without reason, or an unknown encoding, the bytes
    decide alone.
    """
    declared = known_encoding(label)
    if declared and declared.name in _WHOLE and declared.name != "utf-16" and data.isascii():
        return declared
    found = detect(data)
    is_utf = isinstance(found, Encoding) and found.name.startswith("utf-")
    if is_utf and not data.isascii():
        return found
    if declared and not declared.name.startswith("utf-"):
        return declared
    is_sure = isinstance(found, Encoding) and found.confidence > _UNSURE
    # Browsers read windows-1252 where a page declares ASCII.
    return found if is_sure or not label or "ascii" not in label.lower() else encoding_named("l1")


def declared_or_likely(data: bytes, label: str | None) -> Encoding:
    """`declared_or_detected`, or windows-1252 for bytes that are no text."""
    found = declared_or_detected(data, label)
    return found if isinstance(found, Encoding) else encoding_named("windows-1252")


def known_encoding(label: str | None) -> Encoding | None:
    """The encoding of this label; None if there is no such encoding."""
    try:
        return encoding_named(label) if label else None
    except ValueError:
        return None


def _codec(name: str) -> str:
    """Python's name of its codec of this name; "" if it has none for texts."""
    try:
        codec = codecs.lookup(name).name
        b"a".decode(codec, "replace")
    except (LookupError, ValueError):  # ValueError: a NUL in the name, or "undefined"
        return ""
    return codec


def _respelled(label: str) -> str:
    """A label as Python spells it."""
    name = label.strip().lower()
    for pattern, spelling in _SPELLINGS:
        name = pattern.sub(spelling, name)
    return _LABELS.get(name, name)


def _decoder(name: str) -> codecs.IncrementalDecoder:
    """A decoder that takes bytes piece by piece and never raises."""
    errors = _EURO if name == "gb18030" else "replace"
    return codecs.getincrementaldecoder(_CODECS.get(name, name))(errors)


def _euro(error: UnicodeError) -> tuple[str, int]:
    """The euro sign in place of the byte that has it in GBK of Windows; U+FFFD for others."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    begin, end = error.start, error.end
    if error.object[begin] != _EURO_BYTE:
        return LOST, end
    if end < len(error.object):
        return "€", begin + 1
    # An incremental decoder does not go on after an error at the end of a file.
    return "€" + error.object[begin + 1 :].decode("gb18030", _EURO), end


_EURO, _EURO_BYTE = "simdup.euro", 0x80  # the name by which decoders know `_euro`
codecs.register_error(_EURO, _euro)


def _unpadded(chunks: Iterable[bytes], unit: int) -> Iterator[bytes]:
    """Drop the NULs at the end of a file, except those that complete its last `unit` of bytes.

    NULs that may turn out to be at the end are counted, not stored, so they cost no memory.
    """
    size = held = 0
    for chunk in chunks:
        content = chunk.rstrip(b"\0")
        if content:
            yield from _nuls(held)
            yield content
            size, held = size + held + len(content), 0
        held += len(chunk) - len(content)
    yield from _nuls(min(held, -size % unit))


def _nuls(count: int) -> Iterator[bytes]:
    """Yield this number of NULs, in pieces of bounded size."""
    for begin in range(0, count, _NULS_AT_ONCE):
        yield bytes(min(_NULS_AT_ONCE, count - begin))


def _pieces(chunks: Iterable[bytes], name: str) -> Iterator[str]:
    """Decode chunks, unify newlines and mark NULs as lost; the decoder's rest comes last."""
    whole = _WHOLE.get(name)
    newlines = IncrementalNewlineDecoder(None if whole else _decoder(name), translate=True)
    parts: Iterable[str | bytes] = [whole(b"".join(chunks))] if whole else chunks
    for part in chain(parts, ("" if whole else b"",)):
        yield newlines.decode(part, final=not part).replace("\0", LOST)


def _by_mark(head: bytes) -> Encoding | NotText | None:
    """The encoding of a byte order mark; NotText if more NULs follow than a text may have."""
    found = _MARK.match(head)
    if found is None:
        return None
    name = _MARKS[found.group()]
    if _has_nuls(_decoder(name).decode(head).removeprefix(_BOM)):
        return NotText("NUL characters")
    return Encoding(name, 1.0)


def _by_escapes(head: bytes) -> Encoding | None:
    """The encoding that has these escapes, if they spell text and are no terminal's."""
    escape = _ESCAPE.search(head) if b"\x1b$" in head else None
    if not escape or not head.isascii() or _unless_controls(head, _MOST_CONTROLS_UTF8):
        return None
    name = "iso-2022-kr" if escape.group() == _KOREAN else "iso-2022-jp"
    text = _WHOLE[name](head)
    lost = count_lost(text) / len(text) if text else 1.0
    return Encoding(name, 1 - lost) if lost <= _MOST_LOST else None


def _as_utf8(head: bytes, *, complete: bool) -> Encoding | None:
    """UTF-8 if every byte is valid; a character may be cut at the end."""
    if b"\0" in head:
        return None
    try:
        text, used = codecs.utf_8_decode(head, "strict", False)  # noqa: FBT003 takes no keywords
    except UnicodeDecodeError:
        return None
    if complete and used < len(head) and text.isascii():
        return None  # the only other byte is the last: rather an accent than a cut character
    return None if _unless_controls(head, _MOST_CONTROLS_UTF8) else Encoding("utf-8", 1.0)


def _as_utf16(head: bytes) -> Encoding | None:
    """UTF-16 without a mark, in the byte order that gives everyday characters.

    In UTF-16 every second byte of English is NUL and every twentieth of Chinese a control
    byte; without these it is another encoding. (GBK read as UTF-16 is everyday Korean.)
    """
    if _count(head, _CONTROLS) <= _MOST_CONTROLS * len(head):
        return None
    sample = head[:_UTF16_SAMPLE]
    orders = ("utf-16-le", "utf-16-be")
    shares = {name: _everyday(sample.decode(name, "replace")) for name in orders}
    name = max(orders, key=shares.__getitem__)
    if shares[name] < _LEAST_EVERYDAY or _has_nuls(head.decode(name, "replace")):
        return None
    return Encoding(name, shares[name])


def _everyday(text: str) -> float:
    """The largest share of the characters of a text that one everyday set or one script holds."""
    clean = _CONTROL_CHARACTERS.sub("", text)
    kept = (clean.encode(codec, "ignore").decode(codec, "ignore") for codec in _EVERYDAY)
    return max(*map(len, kept), in_one_script(clean)) / len(text)


def _unless_nuls(unpadded: bytes) -> NotText | None:
    """NotText if there are more NULs than damage leaves in a text, many in a row, or NULs alone."""
    is_stray = unpadded.count(b"\0") <= _MOST_NULS * len(unpadded)
    if unpadded and is_stray and bytes(_LONG_RUN) not in unpadded:
        return None
    return NotText("NUL bytes")


def _has_nuls(text: str) -> bool:
    """Whether a text in UTF-16 or UTF-32 has more NULs than `_unless_nuls` allows."""
    if "\0" not in text:
        return False
    return _unless_nuls(text.rstrip("\0").encode("utf-8", "replace")) is not None


def _unless_controls(head: bytes, most: float) -> NotText | None:
    """NotText if the share of control bytes is over `most`; one byte is always allowed."""
    controls = _count(head, _CONTROLS)
    if controls <= max(1, most * len(head)):
        return None
    return NotText(f"{100 * controls / len(head):.0f} % control bytes")


def xml_label(head: bytes) -> str | None:
    """The encoding that a file of XML declares at its beginning; None if it does not."""
    found = _XML.match(head)
    return found.group(1).decode("latin-1") if found else None


def _as_declared(head: bytes) -> Encoding | None:
    """The encoding that XML declares, if it can read the bytes; UTF-8 was tried before."""
    declared = known_encoding(xml_label(head))
    if declared is None or declared.name.startswith("utf-") or declared.name in _WHOLE:
        return None
    return declared if _lost(head, declared.name) <= _MOST_LOST else None


def _as_damaged_utf8(head: bytes, sample: bytes) -> Encoding | None:
    """UTF-8 if all but a few of the characters beyond ASCII can be read."""
    # The sample comes first: it may rule out UTF-8, and the head may be long.
    if _least_lost(sample) > _MOST_LOST:
        return None
    lost = _lost(head, "utf-8")
    return Encoding("utf-8", 1 - lost) if lost <= _MOST_LOST else None


def _as_east_asian(head: bytes, sample: bytes) -> Encoding | None:
    """The East Asian encoding in which the characters are clearly everyday ones."""
    found = clear_encoding(sample)
    return _reported(head, Encoding(*found)) if found else None


def _by_script(sample: bytes) -> Encoding | None:
    """Shift_JIS if it has half-width kana alone, Big5 if its pairs are no others, or Thai.

    Thai is read as on Windows, which has all of TIS-620.
    """
    if is_half_width_kana(sample):
        return Encoding("shift_jis", _SURE)
    if is_big5(sample):
        return Encoding("big5", _SURE)
    return Encoding("cp874", _SURE) if is_thai(sample) else None


def _count(data: bytes, what: bytes) -> int:
    """Number of bytes of `data` among the bytes `what`."""
    return len(data) - len(data.translate(None, what))


def _lost(data: bytes, name: str) -> float:
    """Share of the characters beyond ASCII that cannot be read, but for one cut at the end."""
    text = _decoder(name).decode(data)
    beyond = len(text) - len(text.encode("ascii", "ignore"))
    return count_lost(text) / beyond if beyond else 1.0


def _least_lost(data: bytes) -> float:
    """A lower bound of `_lost` for UTF-8 without decoding, which would be slow for GBK.

    Every byte beyond ASCII that does not continue a character begins one, or is lost. A character
    that no byte continues is lost too, except at the end, where it may be cut.
    """
    signed = np.frombuffer(data, np.int8)
    continuing = int(np.count_nonzero(signed < _FIRST_BYTES))
    begun = int(np.count_nonzero(signed < 0)) - continuing - 1
    return (begun - continuing) / begun if begun > 0 else 0.0


def _sample(head: bytes, size: int) -> bytes:
    """About `size` bytes that tell encodings apart: from the first byte beyond ASCII.

    Whatever the encoding, a character begins there. Control bytes, which belong to no
    character, are left out, since chardet gives no answer if there are more than 1 %.
    """
    try:
        first = len(head.decode("ascii"))
    except UnicodeDecodeError as error:
        first = error.start
    return head[max(first - _CONTEXT, 0) : first + size].translate(None, _CONTROLS + b"\b\x1b")


def _by_statistics(head: bytes, sample: bytes) -> Encoding | None:
    """The encoding whose letters and pairs of letters look most like a language.

    chardet tells alphabets apart well and East Asian encodings less well. So unless its guess is
    an alphabet, everyday East Asian characters decide once more, however few they are.
    """
    guess = _likeliest(sample)
    if guess and _is_alphabet(sample, guess.name):
        return _reported(head, guess)
    name = likelier_encoding(sample, guess.name if guess else None)
    if name is None or not (name in EVERYDAY or _is_of_letters(sample, name)):
        return None
    return _reported(head, Encoding(name, guess.confidence if guess else _UNSURE))


def _likeliest(sample: bytes) -> Encoding | None:
    """The likeliest candidate in which letters make words, by Python's name; None if none is.

    Rare encodings have to be clearly likelier than the common ones.
    """
    answers = _answers(sample, _CANDIDATES)
    known = [answer for answer in answers if answer.name in _COMMON]
    best = next((answer for answer in answers if _may_be_words(sample, answer.name)), None)
    if best is None or best.name in _COMMON:
        return best or next(iter(known), None)
    text = sample.decode(best.name, "replace")
    for answer in known:
        if sample.decode(answer.name, "replace") == text:
            return answer
    beyond = sample.translate(None, _ASCII)
    fewest = _FEWEST_OTHERS if best.name in _OTHERS else _FEWEST_LATIN
    if len({*beyond}) < fewest or len(beyond) <= fewest:
        usual = _answers(sample, _COMMON)
        otherwise = usual[0] if usual and len(beyond) <= fewest else best
        words = (answer for answer in usual if _may_be_words(sample, answer.name))
        return next(words, otherwise)
    is_short = len(beyond) < _FEWEST_PAIRED and not is_single(sample)
    if known and known[0].name in EVERYDAY and is_short:
        return known[0]
    alphabets = (answer for answer in known if answer.name not in EVERYDAY)
    common = next((answer for answer in alphabets if are_words(sample, answer.name)), None)
    least = _LEAST_LEAD
    if common and common.name == "cp1252":
        least = (_LEAD_OF_EACH * len(beyond) + _LEAD_OF_ALL) / len(sample)
    return common if common and best.confidence - common.confidence < least else best


def _may_be_words(sample: bytes, codec: str) -> bool:
    return codec in EVERYDAY or are_words(sample, codec)


def _answers(sample: bytes, candidates: tuple[str, ...]) -> list[Encoding]:
    """The candidates by chardet's confidence in them, by Python's names."""
    from chardet import detect_all  # noqa: PLC0415 slow to load, seldom needed

    answers = detect_all(
        sample, ignore_threshold=True, include_encodings=candidates, compat_names=False
    )
    named = ((answer["encoding"], answer["confidence"]) for answer in answers)
    return [Encoding(name, confidence) for name, confidence in named if name]


def _reported(head: bytes, guess: Encoding) -> Encoding:
    """The guess by our name; Hong Kong's Big5 only where Taiwan's loses much more.

    (Hong Kong's has characters for most noise: of 20 random bytes it loses 5, Taiwan's 8.)
    """
    name = _NAMES.get(guess.name, guess.name)
    if name == "big5hkscs" and _lost(head, "big5") <= 4 * _lost(head, name):
        name = "big5"
    return Encoding(name, guess.confidence)


def _is_alphabet(sample: bytes, name: str) -> bool:
    """Whether this is an encoding of single bytes, and the sample looks like words in it."""
    if name in EVERYDAY or (name == "cp1252" and not _ACCENT.search(sample)):
        return False
    return _is_of_letters(sample, name)


def _is_of_letters(sample: bytes, name: str) -> bool:
    """Whether few characters are signs beyond ASCII. Marks belong to their letters.

    Single-byte encodings accept almost any bytes, so chardet's word is not enough.
    """
    text = sample.decode(name, "replace")
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    distinct, counts = np.unique(codes, return_counts=True)
    signs = sum(
        count
        for character, count in zip(map(chr, distinct.tolist()), counts.tolist(), strict=True)
        if not (character.isascii() or character.isalpha() or category(character) == "Mn")
    )
    return signs <= _MOST_SIGNS * len(text)
