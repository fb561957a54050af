"""Files into an index: what is new or has changed is read, and put in a batch at a time.

walk -> what the index knows -> fingerprints -> batches
"""

from __future__ import annotations

import os
import time
from collections import deque
from dataclasses import replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from simdup.compute.compiled import load_kernels_if_worth
from simdup.files.fingerprint import without_degenerate
from simdup.files.read import edition
from simdup.files.walk import Filters, walk
from simdup.files.workers import How, fingerprint_all, tasks
from simdup.index.file.snapshot import at_or_under, documents, every_number, in_folder
from simdup.index.file.write import forget_empty_folders, put, set_about, set_places, take_out
from simdup.index.records import Changes
from simdup.index.roots import Places, whole
from simdup.records import Document, Reason, Skipped, Source
from simdup.storage.codec import status
from simdup.storage.sqlite import files_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from simdup.index.file.connection import Catalogue
    from simdup.index.segments import Numbers
    from simdup.progress import Progress
    from simdup.search.hamming import Rows

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
        # Documents that were found again, and by path those of them that have changed.
        self.met: list[int] = []
        self.changed: dict[bytes, int] = {}
        self.began = time.time_ns()

    def add(self, paths: Sequence[str], filters: Filters) -> Changes:
        """Read what is under some paths, and what the index knows of it only if it changed."""
        roots = [whole(path) for path in paths]
        found = self.progress(walk(roots, filters), "walk", None)  # refuses what is not there
        before = Places.of(self.catalogue)
        if before.with_roots(roots, filters) != before:
            with self.catalogue.writing():  # another process may have noted its own meanwhile
                before = Places.of(self.catalogue)
                set_places(self.catalogue, before.with_roots(roots, filters).known)
        self._gather(found)
        refiltered = tuple(before.with_other_filters(roots, filters))
        return replace(self.changes, skipped=tuple(self.skipped), refiltered=refiltered)

    def update(self) -> Changes:
        """Read all places again, and drop documents that are no longer there.

        What other readers have read, or other editions of these, is read whether or not it has
        changed.
        """
        self._note_readers()
        with self.catalogue.reading():  # what another process adds meanwhile stays
            places, before = Places.of(self.catalogue), every_number(self.catalogue)
        walking = partial(self.progress, label="walk", total=None)
        self._gather(places.found(walking, self._is_deleted_file))
        gone = self._gone(np.setdiff1d(before, np.array(self.met, np.int64)))
        if len(gone):
            with self.catalogue.writing():
                take_out(self.catalogue, gone)
                forget_empty_folders(self.catalogue)
        removed = self.changes.removed + len(gone)
        return replace(self.changes, removed=removed, skipped=tuple(self.skipped))

    def _note_readers(self) -> None:
        """From now on documents of lower numbers than the next are those of other readers."""
        about = self.catalogue.about
        own = edition(self.how.encoding, self.how.formats, self.how.converters)
        if about.get("readers") != own:
            with self.catalogue.writing():
                read_from = self.catalogue.number("next")
                set_about(self.catalogue, about | {"readers": own, "read_from": read_from})

    def _is_deleted_file(self, place: bytes) -> bool:
        """Whether nothing but a file was there; a folder may be a drive that is not there today."""
        has_folder = os.path.isdir(os.path.dirname(place))
        return has_folder and not len(at_or_under(self.catalogue, os.path.join(place, b"")))

    def _gather(self, found: Iterable[Source | Skipped]) -> None:
        """Read what the index does not know, and put it in by batches."""
        waiting = deque(tasks(self._unknown(self._without_own(found))))
        size = sum(source.size for task in waiting for source in task)
        count = sum(map(len, waiting))
        load_kernels_if_worth(characters=size, progress=self.progress)
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
        """Skip the files of the index itself, which change while it is written."""
        own = {os.path.realpath(each) for each in files_of(Path(self.catalogue.path))}
        names = {os.path.basename(each) for each in own}
        for each in found:
            is_own = os.path.basename(each.path) in names and os.path.realpath(each.path) in own
            yield Skipped(each.path, Reason.NOISE, "the index itself") if is_own else each

    def _unknown(self, found: Iterable[Source | Skipped]) -> Iterator[Source]:
        """The sources that are new or have changed."""
        unchanged, read_from = 0, self.catalogue.about.get("read_from", 0)
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
                is_fresh = number is not None and number >= read_from
                if is_fresh and data.startswith(status(each)):
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
            places = Places.of(self.catalogue)  # another process may have removed some meanwhile
            kept = [place for place, each in enumerate(batch) if places.have(each.path)]
            kept_rows = np.concatenate(rows)[kept]
            replaced = put(self.catalogue, [documents[place] for place in kept], kept_rows)
        before = self.changes
        self.changes = replace(
            before,
            added=before.added + len(kept) - replaced,
            replaced=before.replaced + replaced,
        )

    def _unless_settled(self, document: Document) -> Document:
        """The document; known by no time of change if that is too recent to be trusted."""
        source = document.source
        if max(source.mtime_ns, source.ctime_ns) < self.began - SETTLED_NS:
            return document
        return replace(document, source=replace(source, ctime_ns=0))

    def _gone(self, missed: Numbers) -> Numbers:
        """Of documents that the walk has not met, those that it could have."""
        trouble = {each.path for each in self.skipped if each.reason.is_trouble}
        inside = tuple(os.path.join(path, "") for path in trouble)
        with self.catalogue.reading():  # another process may have dropped some meanwhile
            there = np.intersect1d(missed, every_number(self.catalogue))
            known = documents(self.catalogue, there)
        gone = [
            number
            for number, document in known.items()
            if os.path.isabs(document.path)
            and document.path not in trouble
            and not document.path.startswith(inside)
        ]
        return np.array(gone, np.int64)
