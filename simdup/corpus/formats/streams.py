"""A file in, its bytes out, unpacked; and these in whole lines."""

from __future__ import annotations

import os
import re
import stat
import zlib
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import IO, TYPE_CHECKING, NamedTuple, Protocol

from simdup.corpus.records import Fault, Flaw
from simdup.errors import ExtraMissingError, InputError
from simdup.storage.opening import open_to_read

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator

# Bytes that are handed on together: a task for a worker, which outweighs sending it.
BLOCK = 1 << 20

# Packed bytes that are unpacked at once. zstandard may make 30,000 times as much of them.
PACKED = 1 << 12

# What a packed file is taken to hold, times its size.
UNPACKED = 4

# A longer row is refused, so that a file without a line end needs bounded memory.
LONGEST_ROW = 1 << 27

# The largest window that zstandard knows: files packed with --long say so.
ZSTD_WINDOW = 1 << 31

_BOM = b"\xef\xbb\xbf"

#: How a file may be packed, by the end of its name.
PACKINGS = (".gz", ".zst")

# Bytes that tell how a file is packed; no more than PACKED.
MARK = 4

_TOOLS = {".gz": "gzip", ".zst": "zstandard"}

# How what is packed begins; the frames of zstandard that begin otherwise have no content.
_HEADS = {
    ".gz": re.compile(rb"\x1f\x8b"),
    ".zst": re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18"),
}

# What a packed file raises that is not whole, and a disk that fails.
_BROKEN = (EOFError, OSError)


class CutShortError(Exception):
    """What follows in a file cannot be unpacked; the message says why."""

    fault = Fault.CUT_SHORT


class JunkError(CutShortError):
    """What was packed is whole, and something else follows."""

    fault = Fault.JUNK


class Status(NamedTuple):
    """What tells whether a file is still the same."""

    device: int
    inode: int
    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class Packed:
    """A file that may be packed. It may be read as often as it stays what it was."""

    path: str
    packing: str
    """One of PACKINGS, or nothing."""
    status: Status

    @property
    def is_seekable(self) -> bool:
        """Whether bytes of its content are where they are in the file."""
        return not self.packing

    @property
    def content(self) -> int:
        """About how many bytes are in it, unpacked."""
        return self.status.size * (UNPACKED if self.packing else 1)

    def open(self) -> IO[bytes]:
        """The file as it is on the disk. Raises InputError if it is another one by now."""
        file = opened(self.path)
        if status_of(file) != self.status:
            file.close()
            raise changed(self.path)
        return file

    def blocks(self) -> Generator[bytes]:
        """Its content. Raises CutShortError where it cannot be unpacked, InputError if it changed.

        That it did not is checked before and after.
        """
        with self.open() as file:
            yield from unpacked(file, self.packing)
            if status_of(file) != self.status:
                raise changed(self.path)


def packed(path: str, packing: str) -> Packed:
    """The file, looked at. Raises InputError if it cannot be opened or is not packed so.

    ExtraMissingError if unpacking needs the extra `corpus`.
    """
    if packing == ".zst" and find_spec("zstandard") is None:
        raise ExtraMissingError(f"{path!r}: .zst", "corpus")
    with opened(path) as file:
        head = file.read(MARK)
        if packing and head and not _HEADS[packing].match(head):
            raise InputError(f"{path!r}: not a {_TOOLS[packing]} file; name it without {packing}")
        return Packed(path, packing, status_of(file))


def opened(path: str) -> IO[bytes]:
    """The file, opened. Raises InputError if it cannot be, or is no regular file."""
    try:
        descriptor = open_to_read(path)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "no possible name of a file"
        raise InputError(f"{path!r}: {reason}") from None
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return os.fdopen(descriptor, "rb")
    os.close(descriptor)
    what = "a folder; name its files"
    if not os.path.isdir(path):
        what = "no regular file, and rows are read more than once; name a file"
    raise InputError(f"{path!r}: {what}")


def status_of(file: IO[bytes]) -> Status:
    """What the file is now."""
    found = os.fstat(file.fileno())
    return Status(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


def changed(path: str) -> InputError:
    """The error about a file that is no longer what it was."""
    return InputError(f"{path!r}: changed while it was read; run again")


def unpacked(file: IO[bytes], packing: str) -> Iterator[bytes]:
    """The content of an open file. Raises CutShortError where it cannot be unpacked."""
    try:
        yield from _UNPACKED[packing](file)
    except _BROKEN as error:
        reason = error.strerror if isinstance(error, OSError) else None
        raise CutShortError(reason or str(error)) from None


def _plain(file: IO[bytes]) -> Iterator[bytes]:
    while block := file.read(BLOCK):
        yield block


def _gunzipped(file: IO[bytes]) -> Iterator[bytes]:
    # Not the module gzip, which says the same of junk as of damage.
    window = 16 + zlib.MAX_WBITS  # 16: with the header of gzip
    begin = partial(zlib.decompressobj, window)
    yield from _joined(_members(file, ".gz", begin, zlib.error))


def _unzstd(file: IO[bytes]) -> Iterator[bytes]:
    from zstandard import ZstdDecompressor, ZstdError  # noqa: PLC0415  (an extra)

    tool = ZstdDecompressor(max_window_size=ZSTD_WINDOW)
    yield from _joined(_members(file, ".zst", tool.decompressobj, ZstdError))


def _joined(small: Iterator[bytes]) -> Iterator[bytes]:
    """Parts put together, up to the one that cannot be had."""
    parts, size = list[bytes](), 0
    try:
        for part in small:
            parts.append(part)
            size += len(part)
            if size >= BLOCK:
                yield b"".join(parts)
                parts, size = [], 0
    except (*_BROKEN, JunkError):
        yield b"".join(parts)
        raise
    yield b"".join(parts)


class _Unpacker(Protocol):
    """Unpacks one member of a file, whatever the pieces that it is given."""

    @property
    def eof(self) -> bool:
        """Whether its end has come."""

    @property
    def unused_data(self) -> bytes:
        """What came after its end."""

    def decompress(self, data: bytes, /) -> bytes:
        """The content of the next piece."""


def _members(
    file: IO[bytes], packing: str, begin: Callable[[], _Unpacker], broken: type[Exception]
) -> Iterator[bytes]:
    """What is in the members of gzip, or the frames of zstandard, in small parts.

    Zeros after a member are skipped. Raises JunkError where something else follows, EOFError
    where a member is `broken` or lacks its end.
    """
    member, is_first = None, True
    while data := file.read(PACKED):
        while data := data if member else data.lstrip(b"\0"):
            if member is None:
                if len(data) < MARK:
                    data += file.read(PACKED)
                if not _HEADS[packing].match(data):
                    what = f"not a {_TOOLS[packing]} file"
                    raise EOFError(what) if is_first else JunkError(f"{what} from here on")
                member, is_first = begin(), False
            try:
                yield member.decompress(data)
            except broken as error:
                raise EOFError(str(error)) from None
            data, member = (member.unused_data, None) if member.eof else (b"", member)
    if member is not None:
        raise EOFError("it ends inside what is packed")


_UNPACKED = {"": _plain, ".gz": _gunzipped, ".zst": _unzstd}


@dataclass(frozen=True, slots=True)
class Streamed:
    """A file of rows, one after the other: what its formats have in common."""

    file: Packed
    field: str
    """The one that is the text."""

    @property
    def path(self) -> str:
        """Where the file is."""
        return self.file.path

    @property
    def is_seekable(self) -> bool:
        """Whether rows are read again by their offset."""
        return self.file.is_seekable

    @property
    def size(self) -> int:
        """About how many bytes are in it."""
        return self.file.content


@dataclass(frozen=True, slots=True)
class Lines:
    """Some consecutive lines of a file."""

    data: bytes
    """Whole lines; the last one of a file may lack its end."""
    number: int
    """Of the first, from 1."""
    offset: int
    """Of the first byte in the content."""

    @property
    def count(self) -> int:
        """How many there are."""
        return self.data.count(b"\n") + (not self.data.endswith(b"\n"))


def lines_of(blocks: Iterable[bytes]) -> Generator[Lines | Flaw]:
    """The content in whole lines, without a byte-order mark.

    A line that is too long is a flaw, and so is whatever cannot be unpacked at the end.
    """
    at, parts, size, passed = _At(1, 0), list[bytes](), 0, 0
    end: CutShortError | None = None
    try:
        for block in blocks:
            data = block
            if at.offset == 0 and not (size or passed) and block.startswith(_BOM):
                at, data = _At(1, len(_BOM)), block[len(_BOM) :]
            cut = data.rfind(b"\n") + 1
            first = data.find(b"\n") + 1
            if first and passed + size + first - 1 > LONGEST_ROW:
                yield too_long(at.number)
                at = _At(at.number + 1, at.offset + passed + size + first)
                parts, size, passed, data, cut = [], 0, 0, data[first:], cut - first
            if cut:
                whole = b"".join((*parts, data[:cut]))
                yield Lines(whole, *at)
                at = _At(at.number + whole.count(b"\n"), at.offset + len(whole))
                parts, size = [], 0
            parts.append(data[cut:])
            size += len(data) - cut
            if size > LONGEST_ROW:
                parts, size, passed = [], 0, passed + size
    except CutShortError as error:
        end = error
    is_whole = end is None or end.fault is Fault.JUNK
    if is_whole and (passed or size):
        yield too_long(at.number) if passed else Lines(b"".join(parts), *at)
        at = _At(at.number + 1, at.offset + size)
    if end is not None:
        yield Flaw(at.number, 1, end.fault, f"{end}; what comes after is lost")


class _At(NamedTuple):
    """The place of a line: its number and its first byte."""

    number: int
    offset: int


def too_long(number: int) -> Flaw:
    """What stands for a row that is refused for its length."""
    return Flaw(number, 1, Fault.TOO_LONG, f"more than {LONGEST_ROW >> 20} MB")
