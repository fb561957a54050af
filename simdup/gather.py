"""Files into an index: what is new or has changed is read, and put in a batch at a time.

walk -> what the index knows -> fingerprints -> batches
"""

from __future__ import annotations

import json
import os
import time
from collections import deque
from contextlib import suppress
from dataclasses import asdict, replace
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from simdup.catalogue.changes import (
    forget_empty_folders,
    put,
    set_about,
    set_places,
    take_out,
)
from simdup.catalogue.contents import at_or_under, documents, every_number, in_folder, places
from simdup.database import files_of
from simdup.entries import status
from simdup.errors import InputError
from simdup.fast import load_if_worth
from simdup.fingerprint import without_degenerate
from simdup.local import How, fingerprint_all, tasks
from simdup.read import edition
from simdup.records import Changes, Document, Reason, Skipped, Source
from simdup.walk import Filters, walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from simdup.catalogue.file import Catalogue
    from simdup.hamming import Rows
    from simdup.progress import Progress
    from simdup.segments import Numbers

# A batch is written when it has so many documents, or after so many seconds.
BATCH_DOCUMENTS, BATCH_SECONDS = 4096, 5.0

# A file that changed less than this before it is read may change again without a trace in its
# times: the next update reads it again.
SETTLED_NS = 2_000_000_000


class Gathering:
    """One change of an index by what is found under some paths."""

    def __init__(
        self, catalogue: Catalogue, how: How, jobs: int | None, progress: Progress
    ) -> None:
        self.catalogue, self.how, self.jobs, self.progress = catalogue, how, jobs, progress
        self.changes = Changes()
        self.skipped: list[Skipped] = []
        # Whether what has not changed is read too, because other readers have read it.
        self.reads_all = False
        # Documents that were found again, and by path those of them that have changed.
        self.met: list[int] = []
        self.changed: dict[bytes, int] = {}
        self.began = time.time_ns()

    def add(self, paths: Sequence[str], filters: Filters) -> Changes:
        """Read what is under some paths, and what the index knows of it only if it changed."""
        roots = [_whole(path) for path in paths]
        found = self.progress(walk(roots, filters), "walk", None)  # refuses what is not there
        self._note_places(roots, json.dumps(asdict(filters)))
        self._gather(found)
        return replace(self.changes, skipped=tuple(self.skipped))

    def _note_places(self, roots: Sequence[str], written: str) -> None:
        """Remember where to look again, and with which filters."""

        def wanted() -> dict[bytes, str | None]:
            left = _without(places(self.catalogue), roots)
            return left | {os.fsencode(root): written for root in roots}

        if wanted() != places(self.catalogue):
            with self.catalogue.writing():  # another process may have noted its own meanwhile
                set_places(self.catalogue, wanted())

    def update(self) -> Changes:
        """Read all places again, and drop documents that are no longer there.

        What other readers have read, or other editions of these, is read whether or not it has
        changed; until all of it has been, the next update does the same.
        """
        own = edition(self.how.encoding, self.how.formats, self.how.converters)
        self.reads_all = self.catalogue.about.get("readers") != own
        with self.catalogue.reading():  # what another process adds meanwhile stays
            known, before = places(self.catalogue), every_number(self.catalogue)
        self._gather(self._found_again(known))
        gone, is_any_unread = self._gone(np.setdiff1d(before, np.array(self.met, np.int64)))
        if len(gone):
            with self.catalogue.writing():
                take_out(self.catalogue, gone)
                forget_empty_folders(self.catalogue)
        if self.reads_all and not is_any_unread:
            with self.catalogue.writing():
                set_about(self.catalogue, self.catalogue.about | {"readers": own})
        removed = self.changes.removed + len(gone)
        return replace(self.changes, removed=removed, skipped=tuple(self.skipped))

    def remove(self, paths: Sequence[str]) -> Changes:
        """Take out what is at or under some paths, and never add it again by an update.

        Raises InputError for a path of which there is nothing.
        """
        numbers, roots, known = [np.empty(0, np.int64)], list[str](), places(self.catalogue)
        for name in paths:
            # A name that is no path is that of a text.
            path = _whole(name)
            under, named = (at_or_under(self.catalogue, os.fsencode(each)) for each in (path, name))
            if len(under) or os.fsencode(path) in known:
                roots.append(path)
            elif not len(named):
                raise InputError(f"{name!r}: there is nothing of it in the index")
            numbers += [under, named]
        gone = np.unique(np.concatenate(numbers))
        with self.catalogue.writing():
            take_out(self.catalogue, gone)
            forget_empty_folders(self.catalogue)
            left = _without(places(self.catalogue), roots)
            encoded = (os.fsencode(path) for path in roots)
            out: dict[bytes, str | None] = {
                path: None for path in encoded if nearest_place(path, left) is not None
            }
            set_places(self.catalogue, left | out)
        return Changes(removed=len(gone))

    def _found_again(self, known: dict[bytes, str | None]) -> Iterator[Source | Skipped]:
        """What is in the places of the index, each file for the place that is nearest above it."""
        nearest = lru_cache(1 << 12)(lambda path: nearest_place(path, known))
        by_filters: dict[str, list[bytes]] = {}
        for path, written in known.items():
            if written is not None and not self._is_deleted_file(path):
                by_filters.setdefault(written, []).append(path)
        for written, roots in by_filters.items():
            found = walk([os.fsdecode(root) for root in roots], _filters(written))
            for each in self.progress(found, "walk", None):
                path = os.fsencode(each.path)
                if isinstance(each, Skipped) and each.detail == each.path:
                    continue  # met on the way from a place above
                place = path if path in known else nearest(os.path.dirname(path))
                if place is not None and known[place] == written:
                    yield each

    def _is_deleted_file(self, place: bytes) -> bool:
        """Whether nothing but a file was there; a folder may be a drive that is not there today."""
        has_folder = os.path.isdir(os.path.dirname(place)) and not os.path.exists(place)
        return has_folder and not len(at_or_under(self.catalogue, os.path.join(place, b"")))

    def _gather(self, found: Iterable[Source | Skipped]) -> None:
        """Read what the index does not know, and put it in by batches."""
        waiting = deque(tasks(self._unknown(self._without_own(found))))
        size = sum(source.size for task in waiting for source in task)
        count = sum(map(len, waiting))
        load_if_worth(characters=size, progress=self.progress)
        batch: list[Document] = []
        rows: list[Rows] = []
        last = time.monotonic()
        parts = fingerprint_all(waiting, self.how, self.jobs)
        for _, part in self.progress(parts, "read", count, lambda done: len(done[0])):
            kept = without_degenerate(part, self.how.recipe.bits)
            self._skip(kept.skipped)
            batch += kept.documents
            rows.append(kept.rows)
            if len(batch) >= BATCH_DOCUMENTS or time.monotonic() - last > BATCH_SECONDS:
                self._put(batch, rows)
                batch, rows, last = [], [], time.monotonic()
        if batch:
            self._put(batch, rows)

    def _without_own(self, found: Iterable[Source | Skipped]) -> Iterator[Source | Skipped]:
        """The same without the files of the index, which change while it is written."""
        own = {os.path.realpath(each) for each in files_of(Path(self.catalogue.path))}
        names = {os.path.basename(each) for each in own}
        for each in found:
            is_own = os.path.basename(each.path) in names and os.path.realpath(each.path) in own
            yield Skipped(each.path, Reason.NOISE, "the index itself") if is_own else each

    def _unknown(self, found: Iterable[Source | Skipped]) -> Iterator[Source]:
        """The sources that are new or have changed."""
        unchanged = 0
        for folder, each_in in groupby(found, lambda each: os.path.dirname(each.path)):
            known = in_folder(self.catalogue, os.path.join(os.fsencode(folder), b""))
            for each in each_in:
                if isinstance(each, Skipped):
                    self.skipped.append(each)
                    continue
                path = os.fsencode(each.path)
                number, data = known.get(os.path.basename(path), (None, b""))
                if number is not None:
                    self.met.append(number)
                if data.startswith(status(each)) and not self.reads_all:
                    unchanged += 1
                    continue
                if number is not None:
                    self.changed[path] = number
                yield each
        self.changes = replace(self.changes, unchanged=self.changes.unchanged + unchanged)

    def _skip(self, skipped: Sequence[Skipped]) -> None:
        """Files that have no text now: what they were is taken out, unless they were not read."""
        self.skipped += skipped
        lost = (os.fsencode(each.path) for each in skipped if not each.reason.is_trouble)
        gone = [self.changed[path] for path in lost if path in self.changed]
        if gone:
            with self.catalogue.writing():
                take_out(self.catalogue, np.array(gone, np.int64))
            self.changes = replace(self.changes, removed=self.changes.removed + len(gone))

    def _put(self, batch: Sequence[Document], rows: Sequence[Rows]) -> None:
        documents = [self._unless_settled(each) for each in batch]
        with self.catalogue.writing():
            replaced = put(self.catalogue, documents, np.concatenate(rows))
        before = self.changes
        self.changes = replace(
            before,
            added=before.added + len(batch) - replaced,
            replaced=before.replaced + replaced,
        )

    def _unless_settled(self, document: Document) -> Document:
        """The document; known by no time of change if that is too recent to be trusted."""
        source = document.source
        if max(source.mtime_ns, source.ctime_ns) < self.began - SETTLED_NS:
            return document
        return replace(document, source=replace(source, ctime_ns=0))

    def _gone(self, missed: Numbers) -> tuple[Numbers, bool]:
        """Of documents that the walk has not met, those that it could have.

        And whether any of the others, or of those that it has met, could not be read.
        """
        trouble = {each.path for each in self.skipped if each.reason.is_trouble}
        inside = tuple(os.path.join(path, "") for path in trouble)
        with self.catalogue.reading():  # another process may have dropped some meanwhile
            there = np.intersect1d(missed, every_number(self.catalogue))
            known = documents(self.catalogue, there)
        files = {n: each.path for n, each in known.items() if os.path.isabs(each.path)}
        gone = [
            n for n, path in files.items() if path not in trouble and not path.startswith(inside)
        ]
        unread = any(os.fsencode(path) in self.changed for path in trouble)
        return np.array(gone, np.int64), unread or len(gone) < len(files)


def _whole(path: str) -> str:
    """The absolute path; nothing stays nothing, which is not the current folder."""
    return os.path.abspath(path) if path else path


def nearest_place(path: bytes, known: dict[bytes, str | None]) -> bytes | None:
    """The place at or above a path that is nearest; None if there is none."""
    while path not in known:
        above = os.path.dirname(path)
        if above == path:
            return None
        path = above
    return path


def _without(known: dict[bytes, str | None], roots: Sequence[str]) -> dict[bytes, str | None]:
    """The places that are not at or under some roots."""
    exact = {os.fsencode(root) for root in roots}
    inside = tuple(os.path.join(root, b"") for root in exact)
    return {
        path: written
        for path, written in known.items()
        if path not in exact and not path.startswith(inside)
    }


def _filters(written: str) -> Filters:
    """Filters from their JSON. Raises InputError if they are none of this simdup."""
    with suppress(ValueError, TypeError, AttributeError):
        values: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in json.loads(written).items()
        }
        return Filters(**values)
    raise InputError(f"the filters of the index are damaged: {written!r}; build it anew")
