"""A file in, its unpacked bytes out, or these cut into whole lines."""

from __future__ import annotations

import os
import stat
import zlib
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from shutil import copyfileobj
from tempfile import NamedTemporaryFile
from typing import IO, Any, BinaryIO, NamedTuple

from simdup.corpus.flaws import Fault, Flaw
from simdup.errors import ExtraMissingError, InputError, SimdupError
from simdup.extract.packed import (
    MARK,
    PIECE,
    CutShortError,
    JunkError,
    in_blocks,
    members,
    packing_of,
)
from simdup.storage.opening import open_to_read, reason_of

# Bytes handed on together, as one task for a worker: enough to outweigh sending them.
BLOCK = 1 << 20

# Longer rows are refused, so that a file without line ends needs bounded memory.
LONGEST_ROW = 1 << 27

# The largest window that zstandard knows: files packed with --long ask for it.
ZSTD_WINDOW = 1 << 31

_BOM = b"\xef\xbb\xbf"

#: How a file may be packed, by the end of its name.
PACKINGS = (".gz", ".zst")

_TOOLS = {".gz": "gzip", ".zst": "zstandard"}


class Status(NamedTuple):
    """Device, inode, size and time of a file: if one differs, the file changed."""

    device: int
    inode: int
    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class Packed:
    """A file, packed or not, which may be read again as long as it does not change.

    packing: One of PACKINGS, or empty.
    copy: The path of the copy of a stream, which can be read only once; `path` is what reports say.
    """

    path: str
    packing: str
    status: Status
    copy: str = ""

    def open(self) -> IO[bytes]:
        """Open the file as it lies on the disk. Raises InputError if it changed."""
        file = _opened(self.copy or self.path)
        if status_of(file) != self.status:
            file.close()
            raise changed(self.path)
        return file

    def blocks(self) -> Generator[bytes]:
        """Yield the content, unpacked.

        Raises CutShortError where it cannot be unpacked, and InputError if the file changed
        before or while it was read.
        """
        with self.open() as file:
            yield from unpacked(file, self.packing)
            if status_of(file) != self.status:
                raise changed(self.path)


def packed(path: str, packing: str) -> Packed:
    """Return a file to read, after a look at its first bytes.

    Raises InputError if it cannot be opened or its name promises another packing, and
    ExtraMissingError if unpacking needs the extra `corpus`.
    """
    check_packing(path, packing)
    with _opened(path) as file:
        head = file.read(MARK)
        if packing and head and packing_of(head) != packing[1:]:
            raise InputError(f"{path!r}: not a {_TOOLS[packing]} file; name it without {packing}")
        return Packed(path, packing, status_of(file))


def packed_stream(path: str, copy: str) -> Packed:
    """Return the copy of a stream, which reports call `path`; its first bytes show its packing."""
    with _opened(copy) as file:
        found = packing_of(file.read(MARK))
        packing = f".{found}" if found and f".{found}" in PACKINGS else ""
        check_packing(path, packing)
        return Packed(path, packing, status_of(file), copy)


@contextmanager
def copy_of(stream: BinaryIO) -> Iterator[str]:
    """The path of a temporary copy of the rest of a stream. Raises SimdupError without room."""
    with NamedTemporaryFile(prefix="simdup-") as file:
        try:
            copyfileobj(stream, file, BLOCK)
            file.flush()
        except OSError as error:
            raise no_room("standard input", error) from None
        yield file.name


def no_room(what: str, error: OSError) -> SimdupError:
    """The error for data that find no room in a temporary file."""
    where = "in the folder of temporary files (TMPDIR names another)"
    return SimdupError(f"{what} cannot be put aside {where}: {error.strerror}")


def check_packing(path: str, packing: str) -> None:
    """Raise ExtraMissingError if this packing needs the extra `corpus`."""
    if packing == ".zst" and find_spec("zstandard") is None:
        raise ExtraMissingError(f"{path!r}: .zst", "corpus")


def _opened(path: str) -> IO[bytes]:
    """Open a file. Raises InputError if that fails or it is not a regular file."""
    try:
        descriptor = open_to_read(path)
    except (OSError, ValueError) as error:
        raise InputError(f"{path!r}: {reason_of(error)}") from None
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return os.fdopen(descriptor, "rb")
    os.close(descriptor)
    raise InputError(f"{path!r}: no regular file, and rows are read more than once; name a file")


def status_of(file: IO[bytes]) -> Status:
    """The present status of an open file."""
    found = os.fstat(file.fileno())
    return Status(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


def changed(path: str) -> InputError:
    """The error for a file that changed after it was first opened."""
    return InputError(f"{path!r}: changed while it was read; run again")


def unpacked(file: IO[bytes], packing: str) -> Iterator[bytes]:
    """Yield the content of an open file. Raises CutShortError where it cannot be unpacked."""
    try:
        if packing:
            pieces = iter(partial(file.read, PIECE), b"")
            yield from in_blocks(members(pieces, packing[1:], ZSTD_WINDOW), BLOCK)
        else:
            yield from iter(partial(file.read, BLOCK), b"")
    except OSError as error:
        raise CutShortError(error.strerror or str(error)) from None


def pack(content: Iterable[bytes], packing: str) -> Iterator[bytes]:
    """Yield the content, packed."""
    if not packing:
        yield from content
        return
    packer: Any = zlib.compressobj(wbits=31)  # with the head and the end of gzip
    if packing == ".zst":
        from zstandard import ZstdCompressor  # noqa: PLC0415  (an extra)

        packer = ZstdCompressor().compressobj()
    for piece in content:
        yield packer.compress(piece)
    yield packer.flush()


@dataclass(frozen=True, slots=True)
class Lines:
    """Some consecutive lines of a file.

    data: Whole lines; the last line of a file may lack its end.
    number: The number of the first line, from 1.
    offset: Where the first line begins in the content.
    """

    data: bytes
    number: int
    offset: int


def lines_of(blocks: Iterable[bytes]) -> Generator[Lines | Flaw]:
    """Yield the content in whole lines, without a byte-order mark.

    A line that is too long is a flaw, and so is the end of a file that cannot be unpacked.
    """
    cutter = _LineCutter()
    try:
        for block in blocks:
            yield from cutter.whole_lines(block)
    except CutShortError as error:
        fault = Fault.JUNK if isinstance(error, JunkError) else Fault.CUT_SHORT
        if fault is Fault.JUNK:  # then the line under way is whole
            yield from cutter.last_line()
        yield Flaw(cutter.number, 1, fault, f"{error}; what comes after is lost")
    else:
        yield from cutter.last_line()


class _LineCutter:
    """Cuts blocks into whole lines, and keeps the beginning of the line under way."""

    def __init__(self) -> None:
        # The line under way: its number, where it begins, the bytes that are kept, and how many of
        # its bytes were dropped because it is too long.
        self.number, self.offset = 1, 0
        self.kept, self.size, self.dropped = list[bytes](), 0, 0

    def whole_lines(self, block: bytes) -> Iterator[Lines | Flaw]:
        """Yield the lines that the next block completes."""
        if not (self.offset or self.kept or self.dropped) and block.startswith(_BOM):
            self.offset, block = len(_BOM), block[len(_BOM) :]
        end = block.find(b"\n") + 1
        if end and self.dropped + self.size + end - 1 > LONGEST_ROW:
            yield _too_long(self.number)
            self._begin_line(self.number + 1, self.offset + self.dropped + self.size + end)
            block = block[end:]
        end = block.rfind(b"\n") + 1
        if end:
            whole = b"".join((*self.kept, block[:end]))
            yield Lines(whole, self.number, self.offset)
            self._begin_line(self.number + whole.count(b"\n"), self.offset + len(whole))
        self.kept.append(block[end:])
        self.size += len(block) - end
        if self.size > LONGEST_ROW:
            self.kept, self.size, self.dropped = [], 0, self.dropped + self.size

    def last_line(self) -> Iterator[Lines | Flaw]:
        """Yield the line under way, which lacks its end, if there is anything on it."""
        if self.dropped:
            yield _too_long(self.number)
        elif self.size:
            yield Lines(b"".join(self.kept), self.number, self.offset)
        self._begin_line(self.number + bool(self.dropped or self.size), 0)

    def _begin_line(self, number: int, offset: int) -> None:
        self.number, self.offset = number, offset
        self.kept, self.size, self.dropped = [], 0, 0


def _too_long(number: int) -> Flaw:
    """The flaw of a row that is too long."""
    return Flaw(number, 1, Fault.TOO_LONG, f"more than {LONGEST_ROW >> 20} MB")
