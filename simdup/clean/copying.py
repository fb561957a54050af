"""Copies a file whole to another file system, or lets two files on one share blocks."""

from __future__ import annotations

import errno
import os
import stat
import struct
from functools import partial
from hashlib import blake2b

from simdup.clean.outcome import RefusedError
from simdup.clean.refusals import Refusal
from simdup.clean.system import Place, write_all

_CHUNK = 1 << 20

# Linux's ioctl FIDEDUPERANGE, and struct file_dedupe_range with one target.
_DEDUPE = 0xC0189436
_RANGE, _TARGET = struct.Struct("=QQHHI"), struct.Struct("=qQQiI")
_DIFFERS = 1

# btrfs shares this many bytes at once.
_SHARED_AT_ONCE = 1 << 24


def copy_to(
    source: int, target: Place, digest: bytes, mtime_ns: int | None = None, mode: int | None = None
) -> int:
    """Copy an open file to a new one, read that back, and return the descriptor of the copy.

    Owner, attributes, mode and times are copied too, but for a time or mode that is given. The copy
    is synced to the disk. Raises RefusedError if the copy has another digest than `digest` or
    cannot have what the file has, and OSError; after an error there is no copy.
    """
    made = target.create()
    try:
        os.lseek(source, 0, os.SEEK_SET)
        while chunk := os.read(source, _CHUNK):
            write_all(made, chunk)
        status = os.fstat(source)
        wanted = stat.S_IMODE(status.st_mode) if mode is None else mode
        copy_metadata(source, made, wanted)
        mtime_ns = status.st_mtime_ns if mtime_ns is None else mtime_ns
        os.utime(made, ns=(status.st_atime_ns, mtime_ns))
        os.fsync(made)
        _check_copy(made, digest)
        _check_metadata(source, made, wanted)
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


def copy_metadata(source: int, target: int, mode: int) -> None:
    """Give an open file the owner and attributes of another, and a mode.

    What a file system forbids or lacks is left out: `_check_metadata` finds it.
    """
    owner, given = owner_of(os.fstat(source)), _given(source)
    is_own = owner_of(os.fstat(target)) == owner
    steps = [] if is_own else [partial(os.fchown, target, *owner)]
    from_folder = _given(target).keys() - given.keys()
    steps += [partial(os.removexattr, target, name) for name in from_folder]
    steps += [partial(os.setxattr, target, name, value) for name, value in given.items()]
    for step in (*steps, partial(os.fchmod, target, mode)):
        try:
            step()
        except OSError as error:
            if error.errno not in {errno.ENOTSUP, errno.EPERM, errno.EACCES, errno.EINVAL}:
                raise


def _check_metadata(source: int, made: int, mode: int) -> None:
    """Raise RefusedError if a copy lacks something that somebody gave to the file.

    A file system such as FAT has no modes of its own: other bits are fine there if the file is as
    private and as executable as before. `simdup undo` gives it its mode back.
    """
    before, now = os.fstat(source), os.fstat(made)
    lost = []
    if owner_of(now) != owner_of(before):
        lost.append("owner")
    if _given(made) != _given(source):
        lost.append("attributes")
    has = stat.S_IMODE(now.st_mode)
    if has & ~mode & _OF_OTHERS or mode & ~has & _NOT_TO_LOSE:
        lost.append("mode")
    if lost:
        raise RefusedError(Refusal.LOSES, " and ".join(lost))


# What others may do with a file; what the owner wants to be able to do with it.
_OF_OTHERS = 0o066
_NOT_TO_LOSE = stat.S_ISUID | stat.S_ISGID | stat.S_ISVTX | stat.S_IRUSR | stat.S_IXUSR


def owner_of(status: os.stat_result) -> tuple[int, int]:
    """Return the user and the group that own a file."""
    return status.st_uid, status.st_gid


# Attributes by which the system itself labels and seals a file: they belong to its place.
_OF_THE_SYSTEM = ("security.selinux", "security.ima", "security.evm")


def _given(descriptor: int) -> dict[str, bytes]:
    """Return the attributes that users give to a file."""
    found = attributes(descriptor)
    return {name: value for name, value in found.items() if name not in _OF_THE_SYSTEM}


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
