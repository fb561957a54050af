"""The status of a file: by it stores and indexes tell whether a file is as it was when it was read.

It has the inode, the size and both times of change.
"""

from __future__ import annotations

import os
import struct

from simdup.records import Source

# A file that changed less than this before it was read may change again and keep its times,
# which FAT counts in steps of two seconds.
SETTLED_NS = 2_000_000_000

_STATUS, _BITS = struct.Struct("<QQQQ"), (1 << 64) - 1
# Times from this one on, in 1901, are read as they were: 2**64 ns later they begin again.
_FIRST_TIME_NS = -(2**31) * 10**9

#: The bytes of a `status`.
STATUS_SIZE = _STATUS.size


def is_settled(source: Source, read_ns: int) -> bool:
    """Whether the times of a file that was read at `read_ns` would show any later change."""
    return max(source.mtime_ns, source.ctime_ns) < read_ns - SETTLED_NS


def folder_of(path: str) -> str:
    """Return a path up to its last separator, with it; nothing for a bare name."""
    return path[: path.rfind(os.sep) + 1]


def status(source: Source) -> bytes:
    """Return the packed inode, size, mtime and ctime of a file."""
    mtime_ns, ctime_ns = source.mtime_ns & _BITS, source.ctime_ns & _BITS
    return _STATUS.pack(source.inode & _BITS, source.size, mtime_ns, ctime_ns)


def status_in(data: bytes) -> tuple[int, int, int, int]:
    """Return the inode, size, mtime_ns and ctime_ns that data begins with. Raises struct.error."""
    inode, size, *times = _STATUS.unpack_from(data)
    mtime_ns, ctime_ns = (((time - _FIRST_TIME_NS) & _BITS) + _FIRST_TIME_NS for time in times)
    return inode, size, mtime_ns, ctime_ns
