"""Connections to an index for those who ask, and what was read last, which all of them share."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from simdup.index.file.connection import Catalogue
from simdup.index.file.metadata import check
from simdup.index.file.snapshot import segments
from simdup.index.segments import cut

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simdup.index.segments import Segment


class Readers:
    """One connection for each thread that asks, kept for the next; to be closed.

    Another file that takes the name of the first is asked from then on, if it is an index that
    is made alike. Every method raises InputError for a file that is damaged or cannot be used.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        #: How the index was made, as it was written when it was opened last.
        self.about: dict[str, Any] = {}
        self._lock = threading.Lock()
        self._idle: list[Catalogue] = []
        # Those that were read last, and of which file.
        self._segments: tuple[object, dict[int, Segment]] = (None, {})
        with self.one():
            pass  # says whether it can be opened

    def close(self) -> None:
        """Let go of the file, in other threads when they have their answers."""
        with self._lock:
            idle, self._idle = self._idle, []
            self._segments = (None, {})
        for reader in idle:
            reader.close()

    @contextmanager
    def one(self) -> Iterator[Catalogue]:
        """A connection that no other thread has meanwhile, to the file that is there now."""
        with self._lock:
            idle = self._idle
            reader = idle.pop() if idle else None
        if reader is None or not reader.is_there():
            if reader is not None:
                reader.close()
            reader = self._opened()
        try:
            yield reader
        except BaseException:
            reader.close()
            raise
        with self._lock:
            is_open = idle is self._idle
            if is_open:
                idle.append(reader)
        if not is_open:
            reader.close()

    def _opened(self) -> Catalogue:
        reader = Catalogue.open(self.path)
        try:
            check(self.path, reader.about, self.about)
        except BaseException:
            reader.close()
            raise
        self.about = reader.about
        return reader

    def loaded(self, reader: Catalogue, bits: int) -> list[Segment]:
        """The segments as they are now; what has not changed since the last time is not read."""
        identity, known = self._segments
        found = segments(reader, known if identity == reader.identity else {})
        self._segments = (reader.identity, found)
        return cut(list(found.values()), bits)
