"""Files into an index: what is new or has changed is read, and written a batch at a time.

walk -> what the index knows -> fingerprints -> batches
"""

from __future__ import annotations

import os
import time
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby

import numpy as np

from simdup.arrays import Indices
from simdup.compute.compiled import load_kernels_if_worth
from simdup.files.fingerprint import Fingerprinted, without_degenerate
from simdup.files.read import edition
from simdup.files.walk import Filters, walk
from simdup.files.workers import FingerprintOptions, fingerprint_all, tasks
from simdup.index.file.connection import IndexFile
from simdup.index.file.snapshot import at_or_under, documents, every_number, in_folder
from simdup.index.file.write import forget_empty_folders, put, set_about, set_places, take_out
from simdup.index.records import Changes
from simdup.index.roots import Places, absolute_path
from simdup.progress import Progress
from simdup.records import Document, Reason, Skipped, Source
from simdup.settings import Settings
from simdup.storage.codec import is_settled, status
from simdup.storage.sqlite import files_of

# A batch is written when it has this many documents, or after these seconds.
BATCH_DOCUMENTS, BATCH_SECONDS = 4096, 5.0

# It is also written when its sketches have this many values, which are 16 MB.
BATCH_VALUES = 1 << 22


class Ingestion:
    """One change of an index by the files found under some paths."""

    def __init__(
        self, file: IndexFile, settings: Settings, jobs: int | None, progress: Progress
    ) -> None:
        self.file, self.settings, self.jobs, self.progress = file, settings, jobs, progress
        self.counts = Counter[str]()
        self.skipped: list[Skipped] = []
        # Numbers of documents whose files the walk found; by path, of those that have changed.
        self.present: list[int] = []
        self.changed: dict[bytes, int] = {}
        self.began = time.time_ns()

    def add(self, paths: Sequence[str], filters: Filters) -> Changes:
        """Read what is under some paths, unless the index knows it unchanged."""
        roots = [absolute_path(path) for path in paths]
        found = self.progress(walk(roots, filters), "walk", None)  # raises for unusable roots
        before = Places.of(self.file)
        if before.with_roots(roots, filters) != before:
            with self.file.writing():  # another process may have added places meanwhile
                before = Places.of(self.file)
                set_places(self.file, before.with_roots(roots, filters).known)
        self._ingest(found)
        return self._changes(before.with_other_filters(roots, filters))

    def update(self) -> Changes:
        """Walk all places again, and drop documents that are no longer there.

        Unchanged files are read too, if another edition of the readers read them before.
        """
        self._note_readers()
        with self.file.reading():  # what another process adds meanwhile stays
            places, before = Places.of(self.file), every_number(self.file)
        walking = partial(self.progress, label="walk", total=None)
        self._ingest(places.found(walking, self._is_deleted_file))
        gone = self._gone(np.setdiff1d(before, np.array(self.present, np.int64)))
        self._take_out(gone, has_left_folders=True)
        return self._changes()

    def _changes(self, refiltered: tuple[str, ...] = ()) -> Changes:
        return Changes(**self.counts, skipped=tuple(self.skipped), refiltered=refiltered)

    def _note_readers(self) -> None:
        """Note today's readers if they are new: other ones read all documents so far."""
        about = self.file.about
        settings = self.settings
        own = edition(settings.encoding, settings.formats, settings.converters)
        if about.get("readers") != own:
            with self.file.writing():
                read_from = self.file.number("next")
                set_about(self.file, about | {"readers": own, "read_from": read_from})

    def _is_deleted_file(self, place: bytes) -> bool:
        """Whether a missing place was a single file; a missing folder may be an unmounted drive."""
        has_folder = os.path.isdir(os.path.dirname(place))
        return has_folder and not len(at_or_under(self.file, os.path.join(place, b"")))

    def _ingest(self, found: Iterable[Source | Skipped]) -> None:
        """Read what the index does not know, and write it in batches."""
        waiting = deque(tasks(self._unknown(self._without_own(found))))
        size = sum(source.size for task in waiting for source in task)
        count = sum(map(len, waiting))
        load_kernels_if_worth(characters=size, progress=self.progress)
        batch, last = list[Fingerprinted](), time.monotonic()
        is_dense = self.file.has_samples
        options = FingerprintOptions.of(self.settings, is_sketched=True, is_dense=is_dense)
        parts = fingerprint_all(waiting, options, self.jobs)
        for _, part in self.progress(parts, "read", count, lambda done: len(done[0])):
            batch.append(without_degenerate(part, self.settings.recipe.bits))
            self._skip(batch[-1].skipped)
            if _is_full(batch) or time.monotonic() - last > BATCH_SECONDS:
                self._put(batch)
                batch, last = [], time.monotonic()
        self._put(batch)

    def _without_own(self, found: Iterable[Source | Skipped]) -> Iterator[Source | Skipped]:
        """Skip the files of the index itself, which change while it is written."""
        own = {os.path.realpath(each) for each in files_of(self.file.path)}
        names = {os.path.basename(each) for each in own}
        for each in found:
            is_own = os.path.basename(each.path) in names and os.path.realpath(each.path) in own
            yield Skipped(each.path, Reason.NOISE, "the index itself") if is_own else each

    def _unknown(self, found: Iterable[Source | Skipped]) -> Iterator[Source]:
        """Yield the sources that are new or have changed; note the others."""
        read_from = self.file.about.get("read_from", 0)
        for folder, in_it in groupby(found, lambda each: os.path.dirname(each.path)):
            known = in_folder(self.file, os.path.join(os.fsencode(folder), b""))
            for each in in_it:
                if isinstance(each, Skipped):
                    self.skipped.append(each)
                    continue
                path = os.fsencode(each.path)
                number, data = known.get(os.path.basename(path), (None, b""))
                if number is not None:
                    self.present.append(number)
                    if number >= read_from and data.startswith(status(each)):
                        self.counts["unchanged"] += 1
                        continue
                    self.changed[path] = number
                yield each

    def _skip(self, skipped: Sequence[Skipped]) -> None:
        """Take out documents whose files have no text now, but not those that cannot be read."""
        self.skipped += skipped
        lost = (os.fsencode(each.path) for each in skipped if not each.reason.is_trouble)
        self._take_out([self.changed[path] for path in lost if path in self.changed])

    def _take_out(self, gone: Sequence[int], *, has_left_folders: bool = False) -> None:
        if gone:
            with self.file.writing():
                take_out(self.file, np.array(gone, np.int64))
                if has_left_folders:
                    forget_empty_folders(self.file)
            self.counts["removed"] += len(gone)

    def _put(self, batch: Sequence[Fingerprinted]) -> None:
        made = Fingerprinted.joined(batch, self.settings.recipe.bits, is_sketched=True)
        if not made.documents or made.sketches is None:
            return
        with self.file.writing():
            places = Places.of(self.file)  # another process may have removed some meanwhile
            are_kept = np.array([places.contains(each.path) for each in made.documents], bool)
            kept = np.flatnonzero(are_kept)
            documents = [self._unless_settled(made.documents[place]) for place in kept.tolist()]
            replaced = put(self.file, documents, made.rows[kept], made.sketches.take(kept))
        self.counts.update(added=len(kept) - replaced, replaced=replaced)

    def _unless_settled(self, document: Document) -> Document:
        """Return the document, without a ctime if that is too recent to be trusted."""
        if is_settled(document.source, self.began):
            return document
        return document._replace(source=document.source._replace(ctime_ns=0))

    def _gone(self, missed: Indices) -> list[int]:
        """Return which documents the walk missed though it could have found them."""
        trouble = {each.path for each in self.skipped if each.reason.is_trouble}
        inside = tuple(os.path.join(path, "") for path in trouble)
        with self.file.reading():  # another process may have dropped some meanwhile
            there = np.intersect1d(missed, every_number(self.file))
            known = documents(self.file, there)
        return [
            number
            for number, document in known.items()
            if os.path.isabs(document.path)
            and document.path not in trouble
            and not document.path.startswith(inside)
        ]


def _is_full(batch: Sequence[Fingerprinted]) -> bool:
    """Whether a batch has enough documents, or enough values of sketches, to be written."""
    values = sum(int(each.sizes.sum()) for each in (part.sketches for part in batch) if each)
    return sum(len(part.rows) for part in batch) >= BATCH_DOCUMENTS or values >= BATCH_VALUES
