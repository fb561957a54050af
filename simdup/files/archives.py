"""Replaces the archives among some sources by their members.

A member is a source of its own: its path is the archive's, "!/" and its name, and it has the
times and the inode of the archive. So a store remembers members as long as their archive stays as
it is; but every scan opens the archive itself again.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import closing

from simdup.extract.archives import is_archive, is_mail
from simdup.files.read import HEAD, INSIDE, SkipError, archive_in, read_chunks
from simdup.files.walk import Found
from simdup.records import Reason, Skipped, Source


def with_members(found: Iterable[Found], most: int) -> Iterator[Found]:
    """Yield what a walk found, and in place of each archive of at most `most` bytes its members.

    The archive itself becomes a Skipped, and so does a member that cannot be read. A mail stands
    before what is attached to it.
    """
    for each in found:
        head = _head(each) if isinstance(each, Source) else b""
        if isinstance(each, Source) and is_mail(head, each.path):
            yield each
            yield from (one for one in _members(each, most) if one.path != each.path)
        elif isinstance(each, Source) and is_archive(head):
            yield from _members(each, most)
        else:
            yield each


def _head(source: Source) -> bytes:
    """The first bytes of a file; empty if it cannot be read."""
    try:
        with closing(read_chunks(source, HEAD)) as chunks:
            return next(chunks, b"")
    except SkipError:
        return b""  # the reader of documents says why


def _members(source: Source, most: int) -> Iterator[Found]:
    if source.size > most:
        yield Skipped(source.path, Reason.UNEXTRACTED, f"larger than {most:,} bytes")
        return
    try:
        archive = archive_in(source)
    except SkipError as skip:
        yield skip.at(source.path)
        return
    if archive is None:
        yield source
        return
    number = len(archive)
    yield Skipped(source.path, Reason.ARCHIVE, f"{number:,} member{'s' * (number != 1)}")
    # Folder by folder, as a walk does and a store expects.
    for member in sorted(archive.values(), key=lambda each: os.path.split(each.name)):
        path = source.path + INSIDE + member.name
        if member.trouble:
            yield Skipped(path, Reason.UNEXTRACTED, member.trouble)
        else:
            yield source._replace(path=path, size=member.size, archive=source)
