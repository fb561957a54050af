"""Copies a file whole to another file system, or lets two files on one share blocks."""

from __future__ import annotations

import errno
import os
import struct
from contextlib import suppress
from hashlib import blake2b
from typing import TYPE_CHECKING

from simdup.clean.refusals import Refusal, RefusedError
from simdup.clean.system import write_all

if TYPE_CHECKING:
    from simdup.clean.system import Place

_CHUNK = 1 << 20

# Linux's ioctl FIDEDUPERANGE, and struct file_dedupe_range with one target.
_DEDUPE = 0xC0189436
_RANGE, _TARGET = struct.Struct("=QQHHI"), struct.Struct("=qQQiI")
_DIFFERS = 1

# btrfs shares this many bytes at once.
_SHARED_AT_ONCE = 1 << 24


def copy_to(source: int, target: Place, digest: bytes) -> int:
    """Copy an open file to a new one, read that back, and return the descriptor of the copy.

    Mode, times, attributes and, where allowed, the owner are copied too. The copy is synced to the
    disk. Raises RefusedError if the copy has another digest than `digest`, and OSError; after an
    error there is no copy.
    """
    made = target.create()
    try:
        os.lseek(source, 0, os.SEEK_SET)
        while chunk := os.read(source, _CHUNK):
            write_all(made, chunk)
        copy_metadata(source, made)
        os.fsync(made)
        _check_copy(made, digest)
    except BaseException:
        os.close(made)
        target.unlink()
        raise
    return made


def _check_copy(made: int, digest: bytes) -> None:
    """Read a copy back, from the disk if possible. Raises RefusedError if it differs."""
    if hasattr(os, "posix_fadvise"):
        os.posix_fadvise(made, 0, 0, os.POSIX_FADV_DONTNEED)
    if digest_of_open(made) != digest:
        raise RefusedError(Refusal.CHANGING, "the copy differs")


def copy_metadata(source: int, target: int) -> None:
    """Give an open file the owner (if allowed), mode, attributes and times of another."""
    status = os.fstat(source)
    if hasattr(os, "fchown"):
        with suppress(PermissionError):
            os.fchown(target, status.st_uid, status.st_gid)
        os.fchmod(target, status.st_mode & 0o7777)
    for name, value in attributes(source).items():
        try:
            os.setxattr(target, name, value)
        except OSError as error:
            if error.errno not in {errno.ENOTSUP, errno.EPERM}:
                raise
    os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))


def attributes(descriptor: int) -> dict[str, bytes]:
    """Return the extended attributes of an open file; access control lists are among them."""
    if not hasattr(os, "listxattr"):
        return {}
    try:
        return {name: os.getxattr(descriptor, name) for name in os.listxattr(descriptor)}
    except OSError as error:
        if error.errno == errno.ENOTSUP:
            return {}
        raise


def digest_of_open(descriptor: int) -> bytes:
    """Return the digest of the bytes of an open file, as `Document.bytes_digest`."""
    of_bytes = blake2b(digest_size=16)
    os.lseek(descriptor, 0, os.SEEK_SET)
    while chunk := os.read(descriptor, _CHUNK):
        of_bytes.update(chunk)
    return of_bytes.digest()


def share_blocks(kept: int, file: int, size: int) -> None:
    """Let two files with the same bytes share their blocks; the kernel compares them first.

    Raises RefusedError if the kernel finds a difference or the file system cannot share.
    """
    import fcntl  # noqa: PLC0415  (not on Windows)

    at = 0
    while at < size:
        length = min(size - at, _SHARED_AT_ONCE)
        request = bytearray(_RANGE.pack(at, length, 1, 0, 0) + _TARGET.pack(file, at, 0, 0, 0))
        try:
            fcntl.ioctl(kept, _DEDUPE, request)
        except OSError as error:
            raise RefusedError(Refusal.CANNOT_SHARE, os.strerror(error.errno or 0)) from None
        *_, shared, status, _ = _TARGET.unpack_from(request, _RANGE.size)
        if status == _DIFFERS:
            raise RefusedError(Refusal.NOT_THE_SAME, "the kernel finds other bytes")
        if status < 0 or shared == 0:
            raise RefusedError(Refusal.CANNOT_SHARE, os.strerror(-status))
        at += shared
