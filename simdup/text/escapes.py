"""Bytes in encodings that say by marks or escapes how to read what follows, into text.

These are ISO-2022-JP (RFC 1468 and 1554, JIS X 0213, and Windows' code pages 50220 to 50222),
ISO-2022-KR (RFC 1557) and UTF-7 (RFC 2152). Python's own decoders of ISO-2022 raise on damaged
bytes though told to replace them, and lack the characters that Windows adds.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable

import numpy as np

_SWITCH = re.compile(rb"(\x1b(?:\$[@AB]|\$\([@BCDOPQ]|\$\)C|\([ABHIJ])|[\x0e\x0f])")
_PAIRS = re.compile(rb"(?:[\x21-\x7e]{2})+")
# A pair of ISO-2022 is a pair of EUC, and a half-width kana a byte of Shift_JIS, without the high
# bit.
_HIGH = bytes(byte | 0x80 if 0x20 < byte < 0x7F else byte for byte in range(256))


def _high(data: bytes) -> bytes:
    return data.translate(_HIGH)


def _third_set(data: bytes) -> bytes:
    """The pairs of JIS X 0212 as EUC-JP has them."""
    return re.sub(rb"[\xa1-\xfe]{2}", b"\x8f\\g<0>", _high(data))


def _shift_jis(data: bytes) -> bytes:
    """The pairs of JIS X 0208 as Shift_JIS has them."""
    return _PAIRS.sub(lambda run: _shifted(run.group()), data)


def _shifted(pairs: bytes) -> bytes:
    rows, cells = np.frombuffer(pairs, np.uint8).reshape(-1, 2).T.astype(np.int64) - 0x21
    lead, trail = np.divmod(rows * 94 + cells, 188)
    both = lead + np.where(lead < 0x1F, 0x81, 0xC1), trail + np.where(trail < 0x3F, 0x40, 0x41)
    return np.stack(both, 1).astype(np.uint8).tobytes()


# The escape before characters of a set -> the bytes of them in a codec, and this codec.
_SETS: dict[bytes, tuple[Callable[[bytes], bytes], str]] = {
    **dict.fromkeys((b"\x1b$@", b"\x1b$B", b"\x1b$(@", b"\x1b$(B"), (_shift_jis, "cp932")),
    **dict.fromkeys((b"\x1b$(O", b"\x1b$(Q"), (_high, "euc_jis_2004")),
    b"\x1b$(P": (_third_set, "euc_jis_2004"),
    b"\x1b$(D": (_third_set, "euc_jp"),
    b"\x1b(I": (_high, "cp932"),
    b"\x1b$A": (_high, "gb18030"),
    b"\x1b$(C": (_high, "cp949"),
}
_SHIFT_OUT = b"\x0e"


def iso_2022_jp(data: bytes) -> str:
    r"""The text of bytes in ISO-2022-JP; U+FFFD stands for unreadable ones.

    >>> iso_2022_jp(b"\x1b$B2q5D\x1b(B 10:00")
    '会議 10:00'
    """
    return _switched(data, {**_SETS, _SHIFT_OUT: _SETS[b"\x1b(I"]}, "cp932")


def iso_2022_kr(data: bytes) -> str:
    """The text of bytes in ISO-2022-KR; U+FFFD stands for unreadable ones."""
    return _switched(data, {_SHIFT_OUT: (_high, "cp949")}, "cp949")


def _switched(
    data: bytes, sets: dict[bytes, tuple[Callable[[bytes], bytes], str]], other: str
) -> str:
    begin, *rest = _SWITCH.split(data)
    pieces = [begin.decode(other, "replace")]
    for switch, piece in zip(rest[::2], rest[1::2], strict=True):
        recoded, codec = sets.get(switch, (bytes, other))
        pieces.append(recoded(piece).decode(codec, "replace"))
    return "".join(pieces)


def utf_7(data: bytes) -> str:
    """The text of bytes in UTF-7; U+FFFD stands for unreadable ones and lone surrogates."""
    text = data.decode("utf-7", "replace")
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def utf_16(data: bytes) -> str:
    """The text of bytes in UTF-16 in the order of their mark; without one, as on Windows."""
    begins_with_mark = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return data.decode("utf-16" if begins_with_mark else "utf-16-le", "replace")
