"""Packed bytes in, unpacked bytes out: gzip, xz, bzip2 and zstandard.

Data is unpacked piece by piece in the process that reads the file: these decoders are small, and
a process of their own would take longer than they do. The output is counted and limited.
"""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

from simdup.extract.cleanup import NotReadable
from simdup.settings import PACKINGS

# Bytes that one file may unpack to: the XML of real documents has 10 MB.
LARGEST = 200_000_000
# Unpacked bytes for each packed one, beyond LITTLE: real documents reach 20, deflate can reach
# 1032 and the others far more.
RATIO, LITTLE = 250, 1 << 24

# Packed bytes unpacked at a time, which may become 120 MB.
PIECE = 1 << 12

#: Bytes that tell how a file is packed; no more than PIECE.
MARK = 10

# Memory that a decoder may take for its window. `xz -9` and `zstd --ultra` need half of it.
WINDOW = 1 << 27

# How packed data begins; zstandard frames that begin in the second way have no content.
_HEADS = {
    "gz": re.compile(rb"\x1f\x8b\x08"),
    "xz": re.compile(rb"\xfd7zXZ\0"),
    "bz2": re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)"),
    "zst": re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18"),
}
_HEAD = re.compile(b"|".join(b"(?P<%b>%b)" % (k.encode(), v.pattern) for k, v in _HEADS.items()))
_TOOLS = dict(zip(PACKINGS, ("gzip", "xz", "bzip2", "zstandard"), strict=True))

# How zlib and zstandard say that memory is out; the other decoders raise MemoryError. No decoder
# says so of data that asks for more than its limit.
_NO_MEMORY = re.compile(r"^Error -4\b|not enough memory")

# Looked for once.
_found = cache(find_spec)

# Endings that replace two, and the one left when the file is unpacked.
_SHORT = dict.fromkeys((".tgz", ".taz", ".txz", ".tbz", ".tbz2", ".tzst"), ".tar")
_SHORT[".svgz"] = ".svg"


class CutShortError(Exception):
    """The rest of the data cannot be unpacked; the message says why."""


class JunkError(CutShortError):
    """All packed data was whole, and something else follows it."""


class _Decoder(NamedTuple):
    """A way to unpack.

    begin: Makes an object that unpacks one member or frame.
    broken: The error that the object raises for damaged data.
    """

    begin: Callable[[], Any]
    broken: type[Exception]


def packing_of(head: bytes) -> str | None:
    """How the data that begins with `head` is packed: one of PACKINGS; None if it is not.

    >>> packing_of(bytes.fromhex("1f8b0800")), packing_of(b"BZh9 is no bzip2")
    ('gz', None)
    """
    found = _HEAD.match(head)
    return found.lastgroup if found else None


def inner_name(path: str) -> str:
    """The name of the content packed in a file of this name.

    >>> inner_name("man/ls.1.gz"), inner_name("src.tgz"), inner_name("notes")
    ('man/ls.1', 'src.tar', 'notes')
    """
    stem, ending = os.path.splitext(path)
    ending = ending.lower()
    return stem + _SHORT.get(ending, "") if ending[1:] in PACKINGS or ending in _SHORT else path


def can_unpack(packing: str) -> bool:
    """Whether there is a decoder: only zstandard may need a package."""
    return packing != "zst" or _has_zstd_module() or _found("zstandard") is not None


def allowance(size: int) -> int:
    """The bytes that a file of this size may unpack to."""
    return min(LARGEST, max(LITTLE, RATIO * size))


def unpacked(chunks: Iterable[bytes], packing: str, size: int) -> Iterator[bytes]:
    """Unpack a file of this size from chunks; yield its content.

    Raises NotReadable for damage and for too much, and JunkError at the end of the packed data
    if something else follows it.
    """
    left = allowance(size)
    pieces = (chunk[at : at + PIECE] for chunk in chunks for at in range(0, len(chunk), PIECE))
    try:
        for part in members(pieces, packing):
            left -= len(part)
            if left < 0:
                raise NotReadable("unpacks to too much")
            yield part
    except JunkError:
        raise
    except CutShortError as error:
        raise NotReadable(f"damaged {_TOOLS[packing]} file: {error}") from None


def members(pieces: Iterator[bytes], packing: str, window: int = WINDOW) -> Iterator[bytes]:
    """Yield the content of all gzip members, xz streams or zstandard frames, in small parts.

    Pieces have up to PIECE packed bytes; `window` is the memory that a decoder may take. Zeros
    after a member are skipped. Raises JunkError where something else follows, CutShortError where
    a member is damaged or lacks its end.
    """
    decoder, member, is_first = _decoder(packing, window), None, True
    for piece in pieces:
        data = piece
        while data := data if member else data.lstrip(b"\0"):
            if member is None:
                while len(data) < MARK and (more := next(pieces, b"")):
                    data += more
                if not _HEADS[packing].match(data):
                    what = f"not a {_TOOLS[packing]} file"
                    raise CutShortError(what) if is_first else JunkError(f"{what} from here on")
                member, is_first = decoder.begin(), False
            try:
                yield member.decompress(data)
            except decoder.broken as error:
                if _NO_MEMORY.search(str(error)):
                    raise MemoryError from None
                raise CutShortError(str(error)) from None
            data, member = (member.unused_data, None) if member.eof else (b"", member)
    if member is not None:
        raise CutShortError("it ends inside the packed content")


def in_blocks(parts: Iterator[bytes], least: int) -> Iterator[bytes]:
    """Join parts into blocks of at least this number of bytes; the last one is the rest.

    If getting the next part fails, the block so far is yielded before the error is raised.
    """
    block = bytearray()
    try:
        for part in parts:
            block += part
            if len(block) >= least:
                yield bytes(block)
                block.clear()
    except (CutShortError, OSError):
        yield bytes(block)
        raise
    yield bytes(block)


def _decoder(packing: str, window: int) -> _Decoder:
    if packing == "gz":  # not the module gzip, which reports junk and damage alike
        return _Decoder(partial(zlib.decompressobj, 16 + zlib.MAX_WBITS), zlib.error)
    if packing == "bz2":
        return _Decoder(import_module("bz2").BZ2Decompressor, OSError)
    if packing == "xz":
        lzma = import_module("lzma")
        form = {"format": lzma.FORMAT_XZ, "memlimit": window}
        return _Decoder(partial(lzma.LZMADecompressor, **form), lzma.LZMAError)
    if _has_zstd_module():
        zstd = import_module("compression.zstd")
        most = {zstd.DecompressionParameter.window_log_max: window.bit_length() - 1}
        return _Decoder(partial(zstd.ZstdDecompressor, options=most), zstd.ZstdError)
    zstandard = import_module("zstandard")
    tool = zstandard.ZstdDecompressor(max_window_size=window)
    return _Decoder(tool.decompressobj, zstandard.ZstdError)


def _has_zstd_module() -> bool:
    """Whether Python itself unpacks zstandard, as it does from 3.14 on."""
    return _found("compression") is not None and _found("compression.zstd") is not None
